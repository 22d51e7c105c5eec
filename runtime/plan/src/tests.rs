//! Tests of the whole way, from text to plan.

mod every_key;
mod faults;
mod files;
mod hostile;
mod messages;

use crate::PlanFile;
use std::path::Path;

/// What is wrong with a plan, one problem a line.
fn problems(text: &str) -> String {
    match PlanFile::parse(text, Path::new("plan.toml")) {
        Ok(_) => String::new(),
        Err(error) => error.to_string().replace("plan.toml:", ""),
    }
}

fn parsed(text: &str) -> PlanFile {
    PlanFile::parse(text, Path::new("plan.toml")).unwrap_or_else(|error| panic!("{error}\n{text}"))
}
