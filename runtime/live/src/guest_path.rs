//! Guest paths as people write them, turned into the one form that a plan holds.
//!
//! Example: `.` and the empty path are `/`; `data/in/` is `/data/in`.
//!
//! Invariant: the result starts with `/`, ends with a name (or is `/`), and has neither `.` nor `..` nor
//! empty names in it; it is its own normal form. Not here: paths of the real computer.

use fozzy_world::files::{NAME_BYTES_MAX, PATH_BYTES_MAX};

/// Why a guest path was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the guest path `{path}` {problem}; write an absolute path such as `/data`")]
pub struct GuestPathError {
    /// The path as given.
    pub path: String,
    /// What is wrong with it.
    pub problem: &'static str,
}

/// The normal form of a guest path. A relative path is taken from `/`, where guests start.
///
/// # Errors
/// For `..`, NUL bytes, and names or paths longer than the virtual disk has them.
pub fn normalise_guest_path(path: &str) -> Result<String, GuestPathError> {
    let refuse = |problem| Err(GuestPathError { path: path.to_owned(), problem });
    if path.contains('\0') {
        return refuse("has a NUL byte in it");
    }
    let mut normal = String::new();
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." => return refuse("has `..` in it, which could leave the guest's directories"),
            name if name.len() > NAME_BYTES_MAX => return refuse("has a name in it that is longer than names can be"),
            name => {
                normal.push('/');
                normal.push_str(name);
            }
        }
    }
    if normal.len() > PATH_BYTES_MAX {
        return refuse("is longer than paths can be");
    }
    Ok(if normal.is_empty() { "/".to_owned() } else { normal })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_has_one_form() {
        for (path, expected) in [
            ("", "/"),
            (".", "/"),
            ("/", "/"),
            ("//./", "/"),
            ("data", "/data"),
            ("/data", "/data"),
            ("./data/", "/data"),
            ("a//b/./c", "/a/b/c"),
            ("...", "/..."),
        ] {
            assert_eq!(normalise_guest_path(path).as_deref(), Ok(expected), "{path}");
            assert_eq!(normalise_guest_path(expected).as_deref(), Ok(expected));
        }
    }

    #[test]
    fn what_could_leave_is_refused() {
        let long = "n".repeat(NAME_BYTES_MAX + 1);
        let deep = "/n".repeat(PATH_BYTES_MAX);
        for path in ["..", "a/../b", "/a/..", "a\0b", &long, &deep] {
            let message = normalise_guest_path(path).expect_err(path).to_string();
            assert!(message.contains(path) && message.contains("`/data`"), "{message}");
        }
    }
}
