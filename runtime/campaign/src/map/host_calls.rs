//! What a call of an import asks of the computer, by its name; and which functions only end a program.
//!
//! Not here: what a program imports as a whole (`inspection`).

/// What of the computer is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum HostCallKind {
    /// Files and folders.
    Files,
    /// Sockets and HTTP.
    Network,
    /// Readings of clocks, and waits.
    Clock,
    /// Other programs.
    Processes,
    /// Random bytes.
    Random,
    /// Standard input, output and error, and arguments.
    Streams,
}

impl HostCallKind {
    /// Its name in documents.
    pub(super) fn name(self) -> &'static str {
        match self {
            HostCallKind::Files => "files",
            HostCallKind::Network => "network",
            HostCallKind::Clock => "clock",
            HostCallKind::Processes => "processes",
            HostCallKind::Random => "random",
            HostCallKind::Streams => "streams",
        }
    }

    /// By the module and the name of a core import; `None` of what asks nothing, such as dropping a handle.
    pub(super) fn of(module: &str, name: &str) -> Option<HostCallKind> {
        if name.starts_with("[resource-drop]") {
            return None;
        }
        let by_interface = INTERFACES.iter().find(|(start, _)| module.starts_with(start));
        if let Some((_, kind)) = by_interface {
            return Some(*kind);
        }
        let is_preview1 = module.starts_with("wasi_snapshot_preview1") || module.starts_with("fozzy:preview1");
        let name = name.replace('-', "_");
        is_preview1.then(|| PREVIEW1.iter().find(|(start, _)| name.starts_with(start)))?.map(|(_, kind)| *kind)
    }
}

/// Beginnings of interfaces.
const INTERFACES: &[(&str, HostCallKind)] = &[
    ("wasi:filesystem/", HostCallKind::Files),
    ("wasi:sockets/", HostCallKind::Network),
    ("wasi:http/", HostCallKind::Network),
    ("wasi:clocks/", HostCallKind::Clock),
    ("wasi:io/poll", HostCallKind::Clock),
    ("wasi:random/", HostCallKind::Random),
    ("wasi:cli/", HostCallKind::Streams),
    ("wasi:io/streams", HostCallKind::Streams),
    ("fozzy:process/", HostCallKind::Processes),
];

/// Beginnings of functions of preview 1. Reads and writes of descriptors are streams or files: which, only a run knows.
const PREVIEW1: &[(&str, HostCallKind)] = &[
    ("path_", HostCallKind::Files),
    ("fd_prestat", HostCallKind::Files),
    ("fd_readdir", HostCallKind::Files),
    ("fd_sync", HostCallKind::Files),
    ("fd_seek", HostCallKind::Files),
    ("fd_", HostCallKind::Streams),
    ("sock_", HostCallKind::Network),
    ("clock_", HostCallKind::Clock),
    ("poll_", HostCallKind::Clock),
    ("random_", HostCallKind::Random),
    ("args_", HostCallKind::Streams),
    ("environ_", HostCallKind::Streams),
];

/// Beginnings of names of functions that end a program, in Rust, C, C++ and Go.
const PANICS: &[&str] = &[
    "core::panicking::",
    "core::option::unwrap_failed",
    "core::option::expect_failed",
    "core::result::unwrap_failed",
    "core::slice::index::slice_",
    "core::slice::copy_from_slice_impl::len_mismatch",
    "core::str::slice_error_fail",
    "core::cell::panic_",
    "alloc::alloc::handle_alloc_error",
    "alloc::raw_vec::handle_error",
    "alloc::raw_vec::capacity_overflow",
    "std::panicking::",
    "std::rt::begin_panic",
    "rust_begin_unwind",
    "__rustc::rust_begin_unwind",
    "std::process::abort",
    "abort",
    "__assert_fail",
    "__assert_func",
    "std::terminate",
    "__cxa_throw",
    "runtime.gopanic",
    "runtime.panic",
    "runtime.goPanic",
    "runtime._panic",
    "runtime.nilPanic",
    "runtime.lookupPanic",
    "runtime.slicePanic",
    "runtime.throw",
];

/// Whether a function of that name ends the program that calls it.
pub(super) fn is_panic(name: &str) -> bool {
    PANICS.iter().any(|start| name.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_imports_say_what_is_asked() {
        for (module, name, kind) in [
            ("wasi:filesystem/types@0.2.3", "[method]descriptor.open-at", Some(HostCallKind::Files)),
            ("wasi:filesystem/types@0.2.3", "[resource-drop]descriptor", None),
            ("wasi_snapshot_preview1", "clock_time_get", Some(HostCallKind::Clock)),
            ("fozzy:preview1/functions", "sock-recv", Some(HostCallKind::Network)),
            ("wasi_snapshot_preview1", "fd_write", Some(HostCallKind::Streams)),
            ("wasi_snapshot_preview1", "proc_exit", None),
            ("fozzy:process/commands@0.1.0", "spawn", Some(HostCallKind::Processes)),
            ("env", "clock_time_get", None),
        ] {
            assert_eq!(HostCallKind::of(module, name), kind, "{module} {name}");
        }
        assert!(is_panic("core::panicking::panic_fmt") && !is_panic("app::panicking"));
    }
}
