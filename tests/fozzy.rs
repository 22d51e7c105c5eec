//! The binary under test, run like a user runs it: in a fresh folder, with a clean environment.
//!
//! ```text
//! let fozzy = Fozzy::new();
//! let ran = fozzy.run(&["run", "hello.wat", "--json"]);
//! ran.exits(0).json()["status"]
//! ```
//!
//! Invariants: every folder is new and goes away; nothing of the caller's environment is seen but where Rust is; the compile
//! cache is shared, so a program is compiled once; no run of ours panics, whatever it was given.

use crate::wait;
use serde_json::Value;
use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use tempfile::TempDir;

/// The repository.
pub(crate) fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ is in the repository")
}

/// `<target>/<profile>`, where this test is and the binary will be.
fn profile_folder() -> PathBuf {
    let here = std::env::current_exe().expect("a test knows its own path");
    let profile = here.ancestors().nth(2).expect("a test is in <target>/<profile>/deps");
    profile.to_owned()
}

/// `<target>`.
pub(crate) fn target_folder() -> PathBuf {
    profile_folder().parent().expect("a profile is in the target folder").to_owned()
}

/// The compile cache that all tests share.
pub(crate) fn cache_folder() -> PathBuf {
    target_folder().join("fozzy-tests").join("cache")
}

/// The binary, built in the profile of this test on the first call. Cargo decides whether there is anything to do.
pub(crate) fn binary() -> &'static Path {
    static BINARY: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let built = BINARY.get_or_init(|| {
        let folder = profile_folder();
        let profile = match folder.file_name().and_then(OsStr::to_str) {
            None | Some("debug") => "dev",
            Some(other) => other,
        };
        let mut cargo = Command::new(env!("CARGO"));
        // What cargo tells a test about its package would be news to build scripts that look at it, and have them run again.
        let is_of_package = |name: &str| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_");
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_of_package)) {
            cargo.env_remove(name);
        }
        cargo
            // The whole workspace, so that features are those that `cargo test` has built already.
            .args(["build", "--quiet", "--workspace", "--bin", "fozzy"])
            .args(["--profile", profile, "--target-dir"])
            .arg(target_folder())
            .current_dir(repository());
        let built = wait::build(&mut cargo);
        let said = String::from_utf8_lossy(&built.stderr).into_owned();
        fs::create_dir_all(cache_folder()).expect("the target folder can be written");
        built.status.success().then(|| folder.join(format!("fozzy{}", std::env::consts::EXE_SUFFIX))).ok_or(said)
    });
    built.as_deref().unwrap_or_else(|said| panic!("the binary does not build: {said}"))
}

/// A fresh working folder in which the binary is run.
pub(crate) struct Fozzy {
    folder: TempDir,
}

impl Fozzy {
    pub(crate) fn new() -> Fozzy {
        Fozzy { folder: tempfile::Builder::new().prefix("fozzy-test-").tempdir().expect("a temporary folder") }
    }

    /// A path in the folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file into the folder and returns its path.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, content).expect("the temporary folder can be written");
        path
    }

    /// The content of a file in the folder.
    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        let path = self.path(name);
        fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// What lies in the folder, by name, without the run store.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).expect("it is there");
        let mut names: Vec<String> =
            entries.map(|entry| entry.expect("readable").file_name().to_string_lossy().into_owned()).collect();
        names.retain(|name| name != ".fozzy");
        names.sort();
        names
    }

    /// Runs it with nothing on standard input.
    pub(crate) fn run<S: AsRef<OsStr>>(&self, args: &[S]) -> Ran {
        self.run_with_stdin(args, b"")
    }

    /// Runs it with these bytes on standard input.
    pub(crate) fn run_with_stdin<S: AsRef<OsStr>>(&self, args: &[S], stdin: &[u8]) -> Ran {
        let mut child = self.start(args);
        let mut pipe = child.stdin.take().expect("stdin is a pipe");
        // It may end without reading: an argument that is refused, a closed pipe.
        let _ = pipe.write_all(stdin);
        drop(pipe);
        Ran::of(args, wait::output(child))
    }

    /// Starts it with pipes at all three ends.
    pub(crate) fn start<S: AsRef<OsStr>>(&self, args: &[S]) -> Child {
        let mut command = self.command(binary());
        command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("it starts")
    }

    /// Runs a line of `sh` in the folder; `fozzy` is on its path.
    pub(crate) fn shell(&self, script: &str) -> Ran {
        let mut command = self.command(Path::new("sh"));
        command.args(["-c", script]).stdin(Stdio::null());
        Ran::of(&[script], wait::run(&mut command))
    }

    /// A command in the folder with the clean environment.
    pub(crate) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.folder.path()).env_clear();
        let own = |name: &str| std::env::var_os(name);
        let home = own("HOME").map(PathBuf::from).unwrap_or_default();
        let mut paths = vec![binary().parent().expect("a binary is in a folder").to_owned()];
        paths.extend(own("PATH").iter().flat_map(std::env::split_paths));
        command.env("PATH", std::env::join_paths(paths).expect("the path was a path"));
        // Where Rust is, for targets that are built; HOME itself is ours.
        for (name, default) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
            command.env(name, own(name).unwrap_or_else(|| home.join(default).into_os_string()));
        }
        command.env("HOME", self.folder.path()).env("FOZZY_CACHE_DIR", cache_folder()).env("LANG", "C.UTF-8");
        command
    }
}

/// Output without the lines that a slow machine has in it: nothing that is tested depends on how long it took.
fn without_signs_of_life(output: Vec<u8>) -> Vec<u8> {
    const SIGN: &[u8] = b"still at work after ";
    match output.split(|byte| *byte == b'\n').any(|line| line.starts_with(SIGN)) {
        false => output,
        true => output
            .split_inclusive(|byte| *byte == b'\n')
            .filter(|line| !line.starts_with(SIGN))
            .flatten()
            .copied()
            .collect(),
    }
}

/// What a run of the binary did.
pub(crate) struct Ran {
    what: String,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    /// `None` when a signal ended it.
    pub(crate) code: Option<i32>,
}

impl Ran {
    pub(crate) fn of<S: AsRef<OsStr>>(args: &[S], output: Output) -> Ran {
        let words: Vec<String> = args.iter().map(|arg| arg.as_ref().to_string_lossy().into_owned()).collect();
        let Output { status, stdout, stderr } = output;
        let (stdout, stderr) = (without_signs_of_life(stdout), without_signs_of_life(stderr));
        let ran = Ran { what: words.join(" "), stdout, stderr, code: status.code() };
        let said = ran.err();
        assert!(
            !said.contains("panicked at runtime/") && !said.contains("panicked at /"),
            "fozzy itself panicked:\n{ran}"
        );
        ran
    }

    pub(crate) fn out(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    pub(crate) fn err(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }

    /// Asserts the exit code.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Ran {
        assert_eq!(self.code, Some(code), "\n{self}");
        self
    }

    /// The one JSON document on standard output.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        let parsed: Result<Vec<Value>, _> =
            serde_json::Deserializer::from_slice(&self.stdout).into_iter::<Value>().collect();
        match parsed.as_deref() {
            Ok([document]) => document.clone(),
            Ok(several) => panic!("{} documents instead of one:\n{self}", several.len()),
            Err(error) => panic!("{error}:\n{self}"),
        }
    }

    /// Asserts a refusal: exit code 2, nothing on stdout, one line that begins with `error:` and holds these words; below it
    /// at most hints, indented.
    #[track_caller]
    pub(crate) fn refuses(self, words: &[&str]) -> Ran {
        let ran = self.exits(2);
        assert!(ran.stdout.is_empty(), "\n{ran}");
        ran.has_one_error(words);
        ran
    }

    /// Asserts one error line that holds these words, whatever else was printed before it.
    #[track_caller]
    pub(crate) fn has_one_error(&self, words: &[&str]) {
        let said = self.err();
        let errors: Vec<&str> = said.lines().filter(|line| line.starts_with("error: ")).collect();
        let [error] = errors.as_slice() else { panic!("{} error lines instead of one\n{self}", errors.len()) };
        for word in words {
            assert!(error.contains(word), "expected `{word}` in: {error}\n{self}");
        }
        let after = said.lines().skip_while(|line| line != error).skip(1);
        let stray: Vec<&str> = after.filter(|line| !line.starts_with("  ")).collect();
        assert!(stray.is_empty(), "more than an error and its hint: {stray:?}\n{self}");
    }
}

impl std::fmt::Display for Ran {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let cut = |text: String| text.chars().take(4000).collect::<String>();
        let Ran { what, code, .. } = self;
        write!(f, "$ {what}\nexit {code:?}\nstdout:\n{}\nstderr:\n{}", cut(self.out()), cut(self.err()))
    }
}
