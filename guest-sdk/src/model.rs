//! Models of your own, for `fozzy check --model`: what an object answers when clients call it one after the other.
//!
//! ```
//! use fozzy_sdk::model::{Model, ModelCall};
//!
//! /// A number that all add to; `add` answers nothing, `read` the sum.
//! struct Counter;
//!
//! impl Model for Counter {
//!     fn init() -> String {
//!         "0".to_owned()
//!     }
//!
//!     fn step(state: &str, call: &ModelCall<'_>) -> Vec<String> {
//!         let sum: i64 = state.parse().unwrap();
//!         match call.name {
//!             "add" => vec![(sum + call.input.parse::<i64>().unwrap()).to_string()],
//!             _ if call.output.is_none_or(|read| read == state) => vec![state.to_owned()],
//!             _ => Vec::new(),
//!         }
//!     }
//!
//!     fn readonly(call: &ModelCall<'_>) -> bool {
//!         call.name == "read"
//!     }
//! }
//!
//! fozzy_sdk::export_model!(Counter);
//!
//! let read = ModelCall { process: 0, name: "read", key: None, input: "null", output: Some("3") };
//! assert!(Counter::step("5", &read).is_empty());
//! ```
//!
//! The crate is a `cdylib`; `fozzy check history.edn --model FOLDER` builds it. Not here: the models that `fozzy check` has itself.

use alloc::string::String;
use alloc::vec::Vec;

/// A call of a client. Values are JSON: `null` where the history has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelCall<'a> {
    /// Who called; 0 in `partition` and `readonly`.
    pub process: i64,
    /// The name of the function.
    pub name: &'a str,
    /// The key, where the history has one beside the value.
    pub key: Option<&'a str>,
    /// The argument.
    pub input: &'a str,
    /// The result; none where it is not known what was answered.
    pub output: Option<&'a str>,
}

/// What an object answers. All functions depend on their arguments only; a state is a text that is written in one way only.
///
/// ```
/// use fozzy_sdk::model::{Model, ModelCall};
///
/// /// A flag that can be set once; `set` is refused afterwards.
/// struct Once;
///
/// impl Model for Once {
///     fn init() -> String {
///         "open".to_owned()
///     }
///
///     fn step(state: &str, call: &ModelCall<'_>) -> Vec<String> {
///         let is_first = state == "open";
///         let may_be = call.output.is_none_or(|output| (output == "true") == is_first);
///         Vec::from_iter(may_be.then(|| "set".to_owned()))
///     }
/// }
///
/// let set = ModelCall { process: 1, name: "set", key: None, input: "null", output: Some("true") };
/// assert_eq!(Once::step("open", &set), ["set"]);
/// assert!(Once::step("set", &set).is_empty());
/// ```
pub trait Model {
    /// The state at the beginning.
    fn init() -> String;

    /// The states after a call in a state; none if it cannot have been answered so.
    fn step(state: &str, call: &ModelCall<'_>) -> Vec<String>;

    /// The independent part of the object that a call is about, such as a key. The output is not known here.
    fn partition(call: &ModelCall<'_>) -> Option<String> {
        let _ = call;
        None
    }

    /// Whether a call changes no state, whatever it is. The output is not known here.
    fn readonly(call: &ModelCall<'_>) -> bool {
        let _ = call;
        false
    }

    /// A state in words of people.
    fn describe(state: &str) -> String {
        String::from(state)
    }
}

/// Makes a component of a type that is a `model::Model`. A crate has one.
///
/// ```
/// use fozzy_sdk::model::{Model, ModelCall};
///
/// /// Answers anything.
/// struct Anything;
///
/// impl Model for Anything {
///     fn init() -> String {
///         String::new()
///     }
///
///     fn step(_: &str, _: &ModelCall<'_>) -> Vec<String> {
///         vec![String::new()]
///     }
/// }
///
/// fozzy_sdk::export_model!(Anything);
/// ```
#[macro_export]
macro_rules! export_model {
    ($model:ty) => {
        #[cfg(target_arch = "wasm32")]
        const _: () = {
            use $crate::model::{Model, ModelCall};
            use $crate::private::{String, Vec};

            struct __Exported;

            impl $crate::bindings::model::exports::fozzy::model::sequential::Guest for __Exported {
                fn init() -> String {
                    <$model as Model>::init()
                }

                fn step(
                    state: String,
                    process: i64,
                    name: String,
                    key: Option<String>,
                    input: String,
                    output: Option<String>,
                ) -> Vec<String> {
                    let (key, output) = (key.as_deref(), output.as_deref());
                    <$model as Model>::step(&state, &ModelCall { process, name: &name, key, input: &input, output })
                }

                fn partition(name: String, key: Option<String>, input: String) -> Option<String> {
                    let (key, output) = (key.as_deref(), None);
                    <$model as Model>::partition(&ModelCall { process: 0, name: &name, key, input: &input, output })
                }

                fn readonly(name: String, key: Option<String>, input: String) -> bool {
                    let (key, output) = (key.as_deref(), None);
                    <$model as Model>::readonly(&ModelCall { process: 0, name: &name, key, input: &input, output })
                }

                fn describe(state: String) -> String {
                    <$model as Model>::describe(&state)
                }
            }

    $crate::bindings::model::export_model!(__Exported with_types_in $crate::bindings::model);
        };
    };
}
