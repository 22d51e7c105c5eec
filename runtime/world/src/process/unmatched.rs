//! Commands that no rule answers, with the rule that would.
//!
//! ```text
//! [[process]]
//! command = "git"
//! args = ["status"]
//! exit = 0
//! stdout = ""
//! ```
//!
//! Invariant: the same command is remembered once; memory is bounded by [`UNMATCHED_MAX`] times
//! [`UNMATCHED_BYTES_MAX`].

use super::Command;
use fozzy_trace::{Instant, NodeId};
use std::fmt::Write;

/// Different commands that are remembered; further ones are counted. Who lacks so many rules writes one with `*`.
pub const UNMATCHED_MAX: usize = 16;
/// Longest command line that is remembered, in bytes; of a longer one the arguments are left out, and the rule
/// takes any.
pub const UNMATCHED_BYTES_MAX: usize = 4_096;

/// One command that no rule answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmatched {
    /// Which machine asked first.
    pub node: NodeId,
    /// When it asked first.
    pub at: Instant,
    /// As the guest named it, cut to [`UNMATCHED_BYTES_MAX`].
    pub command: String,
    /// Its arguments; `None` when they are too long to be remembered.
    pub args: Option<Vec<String>>,
    /// How often it was asked for.
    pub times: u64,
}

/// All of them.
#[derive(Clone, Debug, Default)]
pub struct UnmatchedCommands {
    commands: Vec<Unmatched>,
    more: u64,
}

impl UnmatchedCommands {
    /// Those remembered, in the order in which they were asked for first.
    #[must_use]
    pub fn commands(&self) -> &[Unmatched] {
        &self.commands
    }

    /// How often further commands were asked for, which are not remembered.
    #[must_use]
    pub fn more(&self) -> u64 {
        self.more
    }

    pub(super) fn remember(&mut self, node: NodeId, at: Instant, command: &Command) {
        let bytes = command.command.len() + command.args.iter().map(|arg| arg.len() + 1).sum::<usize>();
        let args = (bytes <= UNMATCHED_BYTES_MAX).then_some(&command.args);
        let name = &command.command[..command.command.floor_char_boundary(UNMATCHED_BYTES_MAX)];
        let known = self.commands.iter().position(|one| one.command == name && one.args.as_ref() == args);
        match known {
            Some(one) => self.commands[one].times += 1,
            None if self.commands.len() == UNMATCHED_MAX => self.more += 1,
            None => {
                self.commands.push(Unmatched { node, at, command: name.to_owned(), args: args.cloned(), times: 1 });
            }
        }
    }
}

impl Unmatched {
    /// Command and arguments in one line.
    #[must_use]
    pub fn line(&self) -> String {
        let args = self.args.as_ref().map_or(vec!["…"], |args| args.iter().map(String::as_str).collect());
        std::iter::once(self.command.as_str()).chain(args).collect::<Vec<_>>().join(" ")
    }

    /// The rule that would answer it, for a plan.
    #[must_use]
    pub fn rule(&self) -> String {
        let mut rule = format!("[[process]]\ncommand = {}\n", quoted(&self.command));
        if let Some(args) = &self.args {
            let args = args.iter().map(|arg| quoted(arg)).collect::<Vec<_>>().join(", ");
            let _ = writeln!(rule, "args = [{args}]");
        }
        rule.push_str("exit = 0\nstdout = \"\"\n");
        rule
    }
}

/// A basic string of TOML 1.0.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(commands: &mut UnmatchedCommands, command: &str, args: &[&str]) {
        let args = args.iter().map(|&arg| arg.to_owned()).collect();
        let command = Command { command: command.to_owned(), args, ..Command::default() };
        commands.remember(NodeId(0), Instant(5), &command);
    }

    #[test]
    fn the_rule_can_be_pasted() {
        let mut commands = UnmatchedCommands::default();
        ask(&mut commands, "git", &["status"]);
        ask(&mut commands, "git", &["status"]);
        ask(&mut commands, "a\"b\\c", &["", "tab\t", "bell\u{7}", "é"]);
        let rule = "[[process]]\ncommand = \"git\"\nargs = [\"status\"]\nexit = 0\nstdout = \"\"\n";
        assert_eq!((commands.commands()[0].rule().as_str(), commands.commands()[0].times), (rule, 2));
        let hostile = r#"command = "a\"b\\c"
args = ["", "tab\t", "bell\u0007", "é"]
"#;
        assert!(commands.commands()[1].rule().contains(hostile), "{}", commands.commands()[1].rule());
    }

    #[test]
    fn memory_is_bounded() {
        let mut commands = UnmatchedCommands::default();
        ask(&mut commands, &"é".repeat(UNMATCHED_BYTES_MAX), &["x"]);
        ask(&mut commands, "x", &["y".repeat(UNMATCHED_BYTES_MAX).as_str()]);
        assert_eq!(commands.commands()[0].command.len(), UNMATCHED_BYTES_MAX);
        assert_eq!(commands.commands()[1].rule(), "[[process]]\ncommand = \"x\"\nexit = 0\nstdout = \"\"\n");
        (0..100).for_each(|n| ask(&mut commands, &n.to_string(), &[]));
        assert_eq!((commands.commands().len(), commands.more()), (UNMATCHED_MAX, 100 - (UNMATCHED_MAX as u64 - 2)));
    }
}
