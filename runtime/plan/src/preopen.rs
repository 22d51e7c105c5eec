//! Directories that a program is given, as flags and plans write them.
//!
//! ```text
//! /data          the directory /data, as /data
//! /data::work    the same, as work
//! /data::ro      the same, as /data, and nothing in it can be changed
//! /data::.::ro   the same, as .
//! /data::ro::rw  the same, as ro
//! ```
//!
//! Not here: whether the directory is there (`fozzy-world`).

use fozzy_live::normalise_guest_path;
use fozzy_trace::plan::Preopen;
use fozzy_world::files::PATH_BYTES_MAX;

/// Reads one.
///
/// # Errors
/// What is wrong with it, in words.
pub fn parse_preopen(text: &str) -> Result<Preopen, String> {
    let (rest, read_only) = split_mode(text);
    let (path, name) = rest.split_once("::").map_or((rest, None), |(path, name)| (path, Some(name)));
    let wrong =
        |problem: &str| Err(format!("`{}` {problem}; write PATH, PATH::NAME or PATH::NAME::ro", text.escape_debug()));
    if path.is_empty() {
        return wrong("names no directory");
    }
    let path = normalise_guest_path(path).map_err(|error| error.to_string())?;
    match name {
        Some("") => wrong("has an empty name"),
        Some(name) if name.contains("::") => wrong("has more parts than a path, a name and `ro`"),
        Some(name) if name.contains('\0') || name.len() > PATH_BYTES_MAX => {
            wrong("has a name that no path can begin with")
        }
        Some(name) => Ok(Preopen { path, name: name.to_owned(), read_only }),
        None => Ok(Preopen { name: path.clone(), path, read_only }),
    }
}

/// What stands before `::ro` or `::rw` at the end, and whether it is `ro`.
#[must_use]
pub fn split_mode(text: &str) -> (&str, bool) {
    match text.rsplit_once("::") {
        Some((rest, "ro")) => (rest, true),
        Some((rest, "rw")) => (rest, false),
        _ => (text, false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_has_a_path_a_name_and_a_mode() {
        for (text, expected) in [
            ("/data", ("/data", "/data", false)),
            ("data/", ("/data", "/data", false)),
            ("/", ("/", "/", false)),
            ("/data::work", ("/data", "work", false)),
            ("/data::ro", ("/data", "/data", true)),
            ("/data::.::ro", ("/data", ".", true)),
            ("/data::ro::rw", ("/data", "ro", false)),
            ("/a::b c::ro", ("/a", "b c", true)),
        ] {
            let Preopen { path, name, read_only } = parse_preopen(text).expect(text);
            assert_eq!((path.as_str(), name.as_str(), read_only), expected, "{text}");
        }
        for text in ["", "::x", "/a::", "/a::b::c", "../a", "/a/../b::x", "/a::\0", "/a\0", "::ro", "/a::::ro"] {
            assert!(parse_preopen(text).is_err(), "{text}");
        }
    }
}
