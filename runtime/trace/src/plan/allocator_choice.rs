//! Functions that are said to be those of an allocator, where their names do not say it.
//!
//! ```text
//! malloc=pool_get    `pool_get` has the parameters of malloc, and does what it does
//! free=func[13]      so does the function of that index, of a program that was stripped of names
//! ```
//!
//! Not here: which functions are recognised by their names (`fozzy-instrument`).

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A function that is said to be one of an allocator: `malloc=FUNCTION`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct AllocatorChoice {
    /// The function of C that it is like, of [`ALLOCATOR_ROLES`].
    pub like: String,
    /// Its name, or `func[INDEX]`.
    pub function: String,
}

/// The functions of C that others can be said to be like.
pub const ALLOCATOR_ROLES: [&str; 6] = ["malloc", "calloc", "realloc", "free", "aligned_alloc", "posix_memalign"];

impl FromStr for AllocatorChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<AllocatorChoice, String> {
        let (like, function) = text.split_once('=').unwrap_or_default();
        if !ALLOCATOR_ROLES.contains(&like) || function.is_empty() {
            let roles = ALLOCATOR_ROLES.join("=, ");
            return Err(format!("expected {roles}= and the name of a function, or func[INDEX]; found `{text}`"));
        }
        Ok(AllocatorChoice { like: like.to_owned(), function: function.to_owned() })
    }
}

impl fmt::Display for AllocatorChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.like, self.function)
    }
}

impl TryFrom<String> for AllocatorChoice {
    type Error = String;

    fn try_from(text: String) -> Result<AllocatorChoice, String> {
        text.parse()
    }
}

impl From<AllocatorChoice> for String {
    fn from(choice: AllocatorChoice) -> String {
        choice.to_string()
    }
}
