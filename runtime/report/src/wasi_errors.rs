//! Numbers of errors in what programs say: WASI's, which are other errors than those of this system with the same numbers.
//!
//! ```text
//! Os { code: 44, kind: NotFound, … }   ─▶ os error 44 is WASI's ENOENT
//! ```
//!
//! Not here: the words themselves, which are the program's and are shown as they are.

/// The errors of `wasi_snapshot_preview1` in the order of its numbers, as C names them; libraries for WASI 0.2 use the same ones.
const NAMES: [&str; 77] = [
    "0",
    "E2BIG",
    "EACCES",
    "EADDRINUSE",
    "EADDRNOTAVAIL",
    "EAFNOSUPPORT",
    "EAGAIN",
    "EALREADY",
    "EBADF",
    "EBADMSG",
    "EBUSY",
    "ECANCELED",
    "ECHILD",
    "ECONNABORTED",
    "ECONNREFUSED",
    "ECONNRESET",
    "EDEADLK",
    "EDESTADDRREQ",
    "EDOM",
    "EDQUOT",
    "EEXIST",
    "EFAULT",
    "EFBIG",
    "EHOSTUNREACH",
    "EIDRM",
    "EILSEQ",
    "EINPROGRESS",
    "EINTR",
    "EINVAL",
    "EIO",
    "EISCONN",
    "EISDIR",
    "ELOOP",
    "EMFILE",
    "EMLINK",
    "EMSGSIZE",
    "EMULTIHOP",
    "ENAMETOOLONG",
    "ENETDOWN",
    "ENETRESET",
    "ENETUNREACH",
    "ENFILE",
    "ENOBUFS",
    "ENODEV",
    "ENOENT",
    "ENOEXEC",
    "ENOLCK",
    "ENOLINK",
    "ENOMEM",
    "ENOMSG",
    "ENOPROTOOPT",
    "ENOSPC",
    "ENOSYS",
    "ENOTCONN",
    "ENOTDIR",
    "ENOTEMPTY",
    "ENOTRECOVERABLE",
    "ENOTSOCK",
    "ENOTSUP",
    "ENOTTY",
    "ENXIO",
    "EOVERFLOW",
    "EOWNERDEAD",
    "EPERM",
    "EPIPE",
    "EPROTO",
    "EPROTONOSUPPORT",
    "EPROTOTYPE",
    "ERANGE",
    "EROFS",
    "ESPIPE",
    "ESRCH",
    "ESTALE",
    "ETIMEDOUT",
    "ETXTBSY",
    "EXDEV",
    "ENOTCAPABLE",
];

/// How Rust's standard library writes such a number, for people and for programmers.
const MARKS: [&str; 2] = ["os error ", "Os { code: "];

/// What the numbers of errors in a text are, if it has any: `os error 44 is WASI's ENOENT`.
pub(crate) fn names_of_errors(text: &str) -> Option<String> {
    let mut numbers: Vec<usize> = MARKS
        .iter()
        .flat_map(|mark| text.match_indices(mark).map(|(at, _)| at + mark.len()))
        .filter_map(|at| number(&text[at..]))
        .collect();
    numbers.sort_unstable();
    numbers.dedup();
    let named: Vec<String> = numbers
        .iter()
        .filter_map(|number| Some(format!("os error {number} is WASI's {}", NAMES.get(*number)?)))
        .collect();
    (!named.is_empty()).then(|| named.join(", "))
}

/// The number of an error at the beginning of a text; 0 is none.
fn number(text: &str) -> Option<usize> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).map_or(text, |end| &text[..end]);
    digits.parse().ok().filter(|number| *number > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_wasi_have_their_names() {
        let check =
            |text: &str, expected: Option<&str>| assert_eq!(names_of_errors(text).as_deref(), expected, "{text}");
        check("Os { code: 44, kind: NotFound, message: \"No such file\" }", Some("os error 44 is WASI's ENOENT"));
        check(
            "full (os error 51), gone (os error 44)",
            Some("os error 44 is WASI's ENOENT, os error 51 is WASI's ENOSPC"),
        );
        check("again (os error 76) and (os error 76)", Some("os error 76 is WASI's ENOTCAPABLE"));
        check("(os error 77), (os error 0), (os error ), os error 99999999999999999999999", None);
        check("no such file", None);
    }
}
