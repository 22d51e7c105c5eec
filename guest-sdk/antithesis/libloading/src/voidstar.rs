//! The one library that there is.

use std::env;
use std::ffi::{OsStr, c_char, c_void};
use std::fmt;
use std::fs::File;
use std::io::Write;
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::OnceLock;

/// Where the SDK looks for it.
const VOIDSTAR: &str = "/usr/lib/libvoidstar.so";
/// The variable that names the file for its lines.
const OUTPUT: &str = "ANTITHESIS_SDK_LOCAL_OUTPUT";

/// Why a library or a symbol of it was not found.
#[derive(Debug)]
pub struct Error(());

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WebAssembly loads no libraries")
    }
}

impl std::error::Error for Error {}

/// The library.
#[derive(Debug)]
pub struct Library(());

/// A function of it.
#[derive(Debug)]
pub struct Symbol<'lib, T> {
    function: *const c_void,
    of: PhantomData<&'lib T>,
}

impl Library {
    /// Finds the one that there is.
    ///
    /// # Safety
    /// Nothing is loaded.
    ///
    /// # Errors
    /// For any other.
    pub unsafe fn new<P: AsRef<OsStr>>(path: P) -> Result<Library, Error> {
        if path.as_ref() == VOIDSTAR { Ok(Library(())) } else { Err(Error(())) }
    }

    /// Finds a function of it.
    ///
    /// # Safety
    /// `T` is the type of the function of that name.
    ///
    /// # Errors
    /// When it has none of that name.
    pub unsafe fn get<T>(&self, symbol: &[u8]) -> Result<Symbol<'_, T>, Error> {
        assert_eq!(size_of::<T>(), size_of::<*const c_void>(), "a function is asked for");
        let function: *const c_void = match symbol {
            b"fuzz_json_data\0" => fuzz_json_data as *const c_void,
            b"fuzz_get_random\0" => fuzz_get_random as *const c_void,
            b"fuzz_flush\0" => fuzz_flush as *const c_void,
            _ => return Err(Error(())),
        };
        Ok(Symbol { function, of: PhantomData })
    }
}

impl<T> Deref for Symbol<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: `get` has checked the size, and who called it vouches for the type.
        unsafe { &*(&raw const self.function).cast::<T>() }
    }
}

unsafe fn fuzz_json_data(text: *const c_char, length: usize) {
    static FILE: OnceLock<Option<File>> = OnceLock::new();
    let file = FILE.get_or_init(|| {
        let path = env::var_os(OUTPUT)?;
        let created = File::create(&path);
        created.inspect_err(|error| eprintln!("cannot write {}: {error}", path.display())).ok()
    });
    if let Some(mut file) = file.as_ref() {
        // SAFETY: the caller gives a text of that length.
        let text = unsafe { std::slice::from_raw_parts(text.cast::<u8>(), length) };
        // In one piece, as a line that is lost in the middle would spoil the next one. As in the SDK, what cannot be written is dropped.
        let _ = file.write_all(&[text, b"\n"].concat());
    }
}

fn fuzz_get_random() -> u64 {
    unsafe extern "C" {
        fn getentropy(into: *mut c_void, length: usize) -> i32;
    }
    let mut bytes = [0_u8; 8];
    // SAFETY: it writes as many bytes as there are.
    let failed = unsafe { getentropy(bytes.as_mut_ptr().cast(), bytes.len()) };
    assert_eq!(failed, 0, "the system has no random numbers");
    u64::from_le_bytes(bytes)
}

fn fuzz_flush() {}
