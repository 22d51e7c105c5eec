//! Where the input of a campaign stands in the plan of a run: so that shrinking can tell it from what the program needs.
//!
//! ```text
//! fozzy fuzz app --arg                 the last argument
//! fozzy fuzz app --input-file /in.txt  the content of that file
//! ```
//!
//! Not here: standard input, which is an input wherever it stands.

use super::{Inputs, Mount, MountEntry, MountKind, Plan};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The place of an input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum PlannedInput {
    /// The last argument of the main machine's program.
    Argument,
    /// The file of this absolute path on its disk.
    File(String),
}

impl Plan {
    /// The input that stands beside standard input, if there is one.
    #[must_use]
    pub fn planned_input(&self, inputs: &Inputs) -> Option<Arc<[u8]>> {
        match self.input.as_ref()? {
            PlannedInput::Argument => self.main.args.last().map(|text| text.as_bytes().into()),
            PlannedInput::File(path) => {
                let found = self
                    .main
                    .dirs
                    .iter()
                    .rev()
                    .find_map(|mount| mount.entries.iter().find(|entry| is_at(path, &mount.guest, entry)))?;
                match &found.kind {
                    MountKind::File(digest) => inputs.get(digest),
                    MountKind::Directory | MountKind::Link(_) => None,
                }
            }
        }
    }

    /// Puts other bytes in the place of that input. An argument is text, so that bytes that are none are replaced.
    pub fn replace_planned_input(&mut self, inputs: &mut Inputs, bytes: &[u8]) {
        match &self.input {
            None => {}
            Some(PlannedInput::Argument) => {
                if let Some(last) = self.main.args.last_mut() {
                    *last = String::from_utf8_lossy(bytes).into_owned();
                }
            }
            Some(PlannedInput::File(path)) => {
                if let Some(entry) = self.main.dirs.iter_mut().rev().find_map(|mount| entry_at(path, mount)) {
                    entry.kind = MountKind::File(inputs.add(bytes));
                }
            }
        }
    }
}

fn entry_at<'a>(path: &str, Mount { guest, entries }: &'a mut Mount) -> Option<&'a mut MountEntry> {
    entries.iter_mut().find(|entry| is_at(path, guest, entry))
}

fn is_at(path: &str, guest: &str, entry: &MountEntry) -> bool {
    let folder = guest.trim_end_matches('/');
    path.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/')) == Some(entry.path.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_is_found_and_replaced_where_it_stands() {
        let mut inputs = Inputs::default();
        let entry = |path: &str, bytes: &[u8], inputs: &mut Inputs| MountEntry {
            path: path.to_owned(),
            kind: MountKind::File(inputs.add(bytes)),
        };
        let of_folder = Mount {
            guest: "/in".to_owned(),
            entries: vec![entry("a.txt", b"old", &mut inputs), entry("b.txt", b"other", &mut inputs)],
        };
        let mut plan = Plan::default();
        plan.main.args = vec!["app".to_owned(), "last".to_owned()];
        plan.main.dirs = vec![of_folder];
        let text = |plan: &Plan, inputs: &Inputs| plan.planned_input(inputs).map(|bytes| bytes.to_vec());
        assert_eq!(text(&plan, &inputs), None);
        for (place, before) in [
            (PlannedInput::Argument, "last"),
            (PlannedInput::File("/in/a.txt".to_owned()), "old"),
            (PlannedInput::File("/in/b.txt".to_owned()), "other"),
        ] {
            plan.input = Some(place.clone());
            assert_eq!(text(&plan, &inputs).as_deref(), Some(before.as_bytes()), "{place:?}");
            plan.replace_planned_input(&mut inputs, b"new");
            assert_eq!(text(&plan, &inputs).as_deref(), Some(&b"new"[..]), "{place:?}");
        }
    }
}
