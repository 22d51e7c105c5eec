//! One value for each thread or for all of them, also where there is no std and therefore one thread.
//!
//! ```text
//! std, or natively    std::thread_local!      Mutex
//! no std, wasm32      a static: there is one thread
//! ```
//!
//! Invariant: a value is never reached by two threads at once. WebAssembly has threads only with the feature `atomics`, with
//! which a program without std is refused when it is compiled.

#[cfg(any(feature = "std", not(target_arch = "wasm32")))]
pub(crate) use threads::GlobalValue;

#[cfg(not(any(feature = "std", not(target_arch = "wasm32"))))]
pub(crate) use alone::GlobalValue;
#[cfg(not(any(feature = "std", not(target_arch = "wasm32"))))]
pub use alone::Local;

#[cfg(any(feature = "std", not(target_arch = "wasm32")))]
mod threads {
    use std::sync::{Mutex, PoisonError};

    /// As `std::thread_local!`, of values that are made at compile time. For the macros only.
    #[doc(hidden)]
    #[macro_export]
    macro_rules! __local {
        ($($body:tt)*) => { $crate::private::thread_local! { $($body)* } };
    }

    /// The value of all threads.
    #[derive(Debug)]
    pub(crate) struct GlobalValue<T>(Mutex<T>);

    impl<T> GlobalValue<T> {
        pub(crate) const fn new(value: T) -> GlobalValue<T> {
            GlobalValue(Mutex::new(value))
        }

        pub(crate) fn with<R>(&self, body: impl FnOnce(&mut T) -> R) -> R {
            body(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
        }
    }
}

#[cfg(not(any(feature = "std", not(target_arch = "wasm32"))))]
#[allow(unsafe_code, reason = "one line, with its argument")]
mod alone {
    use core::cell::{Cell, RefCell};

    #[cfg(target_feature = "atomics")]
    compile_error!("without its feature `std`, fozzy-sdk is for programs of one thread: build without `atomics`");

    /// As `std::thread_local!`, of values that are made at compile time. For the macros only.
    #[doc(hidden)]
    #[macro_export]
    macro_rules! __local {
        () => {};
        ($(#[$about:meta])* static $name:ident: $kind:ty = const $value:block; $($rest:tt)*) => {
            $(#[$about])*
            static $name: $crate::private::Local<$kind> = $crate::private::Local::new($value);
            $crate::__local! { $($rest)* }
        };
    }

    /// The value of the only thread, used as a `std::thread::LocalKey` is.
    #[derive(Debug)]
    pub struct Local<T>(T);

    // SAFETY: it is compiled for wasm32 without `atomics` only, where a program has one thread.
    unsafe impl<T> Sync for Local<T> {}

    impl<T> Local<T> {
        /// With this value.
        pub const fn new(value: T) -> Local<T> {
            Local(value)
        }
    }

    impl<T: Copy> Local<Cell<T>> {
        pub(crate) fn get(&self) -> T {
            self.0.get()
        }

        pub(crate) fn set(&self, value: T) {
            self.0.set(value);
        }
    }

    impl<T> Local<RefCell<T>> {
        pub(crate) fn with_borrow<R>(&self, body: impl FnOnce(&T) -> R) -> R {
            body(&self.0.borrow())
        }

        /// As of `LocalKey`.
        pub fn with_borrow_mut<R>(&self, body: impl FnOnce(&mut T) -> R) -> R {
            body(&mut self.0.borrow_mut())
        }

        /// As of `LocalKey`.
        pub fn replace(&self, value: T) -> T {
            self.0.replace(value)
        }

        /// As of `LocalKey`.
        pub fn take(&self) -> T
        where
            T: Default,
        {
            self.0.take()
        }
    }

    /// The value of all threads; there is one thread.
    #[derive(Debug)]
    pub(crate) struct GlobalValue<T>(Local<RefCell<T>>);

    impl<T> GlobalValue<T> {
        pub(crate) const fn new(value: T) -> GlobalValue<T> {
            GlobalValue(Local::new(RefCell::new(value)))
        }

        pub(crate) fn with<R>(&self, body: impl FnOnce(&mut T) -> R) -> R {
            self.0.with_borrow_mut(body)
        }
    }
}
