//! What is called in a program, and with which values.
//!
//! ```text
//! EntryPoint    what a campaign executes, and how the bytes of an input get there
//! single_call   one exported function: its arguments are drawn, then it is called
//! typed, wave   arguments by their types, and values as text
//! request       an HTTP request out of any bytes
//! ```
//!
//! Not here: who executes it: a run from beginning to end (`run`), or a reactor with checkpoints (`reactor`).

pub(crate) mod entry_point;
pub(crate) mod request;
pub(crate) mod single_call;
pub(crate) mod typed;
pub(crate) mod wave;
