//! What a guest asked for and no rule of the plan answers, with the rule that would.
//!
//! ```text
//! GET https://api.test/a  ─▶  [[http]]                    git status  ─▶  [[process]]
//!                             method = "GET"                              command = "git"
//!                             url = "https://api.test/a"                  args = ["status"]
//!                             status = 200                                exit = 0
//!                             body = ""                                   stdout = ""
//! ```
//!
//! Invariants: at most [`UNMATCHED_MAX`] are kept, of both kinds together, each once and in the order in which they were
//! asked for first; each further one is counted as often as it is asked for; secret values do not stand here.

use crate::http::request::SentRequest;
use crate::process::ProcessCommand;
use fozzy_trace::RequestKind;
use fozzy_trace::execution::{UNMATCHED_MAX, UnmatchedRequest};
use std::fmt::Write;

/// Longest command line that is kept, in bytes; of a longer one the arguments are left out, and the rule takes any.
pub const COMMAND_BYTES_MAX: usize = 4_096;

/// All that were seen.
#[derive(Clone, Debug, Default)]
pub struct UnmatchedRequests {
    kept: Vec<UnmatchedRequest>,
    more: u64,
}

impl UnmatchedRequests {
    pub(crate) fn add(&mut self, unmatched: UnmatchedRequest) {
        if self.kept.contains(&unmatched) {
            return;
        }
        if self.kept.len() == UNMATCHED_MAX {
            self.more += 1;
        } else {
            self.kept.push(unmatched);
        }
    }

    /// Those that are kept.
    #[must_use]
    pub fn kept(&self) -> &[UnmatchedRequest] {
        &self.kept
    }

    /// How often others were asked for.
    #[must_use]
    pub fn more(&self) -> u64 {
        self.more
    }
}

/// A request, by method and URL.
pub(crate) fn request(request: &SentRequest) -> UnmatchedRequest {
    let (method, url) = (request.method.as_str(), request.url());
    let asked = format!("{method} {url}");
    let (method, url) = (quoted(method), quoted(&url));
    let rule = format!("[[http]]\nmethod = {method}\nurl = {url}\nstatus = 200\nbody = \"\"\n");
    UnmatchedRequest { kind: RequestKind::Http, asked, rule, allowed_by: None }
}

/// A request to a host that may not be asked.
pub(crate) fn forbidden_request(request: &SentRequest) -> UnmatchedRequest {
    let host = request.authority.rsplit('@').next().unwrap_or_default().to_ascii_lowercase();
    UnmatchedRequest { allowed_by: Some(format!("--allow-host {host}")), ..self::request(request) }
}

/// A command that may not be run.
pub(crate) fn forbidden_command(command: &ProcessCommand) -> UnmatchedRequest {
    let name = &command.command[..command.command.floor_char_boundary(COMMAND_BYTES_MAX)];
    UnmatchedRequest { allowed_by: Some(format!("--allow-command {name}")), ..self::command(command) }
}

/// A command with its arguments.
pub(crate) fn command(command: &ProcessCommand) -> UnmatchedRequest {
    let bytes = command.command.len() + command.args.iter().map(|arg| arg.len() + 1).sum::<usize>();
    let name = &command.command[..command.command.floor_char_boundary(COMMAND_BYTES_MAX)];
    let mut rule = format!("[[process]]\ncommand = {}\n", quoted(name));
    let mut asked = name.to_owned();
    if bytes <= COMMAND_BYTES_MAX {
        let args = command.args.iter().map(|arg| quoted(arg)).collect::<Vec<_>>().join(", ");
        let _ = writeln!(rule, "args = [{args}]");
        command.args.iter().for_each(|arg| asked.extend([" ", arg]));
    } else {
        asked.push_str(" …");
    }
    rule.push_str("exit = 0\nstdout = \"\"\n");
    UnmatchedRequest { kind: RequestKind::Process, asked, rule, allowed_by: None }
}

/// A basic string of TOML 1.0.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
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
    use crate::http::fields::HeaderFields;
    use crate::http::request::OutgoingRequest;

    fn get(path: &str) -> UnmatchedRequest {
        let headers = HeaderFields::from_list([("Cookie".to_owned(), b"secret".to_vec())]).expect("valid");
        let (authority, path_with_query) = (Some("api.test".to_owned()), Some(path.to_owned()));
        let outgoing = OutgoingRequest { authority, path_with_query, ..OutgoingRequest::new(headers) };
        request(&outgoing.into_request().expect("it can be sent"))
    }

    fn run(name: &str, args: &[&str]) -> UnmatchedRequest {
        let args = args.iter().map(|&arg| arg.to_owned()).collect();
        command(&ProcessCommand { command: name.to_owned(), args, ..ProcessCommand::default() })
    }

    #[test]
    fn the_rule_of_a_request_is_ready_to_paste() {
        let rule = "[[http]]\nmethod = \"GET\"\nurl = \"https://api.test/a?q=\\\"x\\\"\"\nstatus = 200\nbody = \"\"\n";
        assert_eq!(get("/a?q=\"x\"").rule, rule);
        assert_eq!(get("/a").asked, "GET https://api.test/a");
    }

    #[test]
    fn the_rule_of_a_command_is_ready_to_paste() {
        let rule = "[[process]]\ncommand = \"git\"\nargs = [\"status\"]\nexit = 0\nstdout = \"\"\n";
        assert_eq!(
            (run("git", &["status"]).rule.as_str(), run("git", &["status"]).asked.as_str()),
            (rule, "git status")
        );
        let hostile = r#"command = "a\"b\\c"
args = ["", "tab\t", "bell\u0007", "é"]
"#;
        let found = run("a\"b\\c", &["", "tab\t", "bell\u{7}", "é"]).rule;
        assert!(found.contains(hostile), "{found}");
    }

    #[test]
    fn both_kinds_have_one_bound_and_the_rest_is_counted() {
        let mut seen = UnmatchedRequests::default();
        for _ in 0..2 {
            seen.add(run("git", &["status"]));
            for n in 0..UNMATCHED_MAX + 2 {
                seen.add(get(&format!("/{n}")));
            }
        }
        assert_eq!((seen.kept().len(), seen.more()), (UNMATCHED_MAX, 2 * 3), "three are not kept, asked for twice");
        assert_eq!((seen.kept()[0].asked.as_str(), &seen.kept()[1]), ("git status", &get("/0")));
    }

    #[test]
    fn memory_is_bounded() {
        assert!(run(&"é".repeat(COMMAND_BYTES_MAX), &["x"]).rule.len() < 2 * COMMAND_BYTES_MAX);
        let long = run("x", &["y".repeat(COMMAND_BYTES_MAX).as_str()]);
        assert_eq!(long.rule, "[[process]]\ncommand = \"x\"\nexit = 0\nstdout = \"\"\n");
        assert_eq!(long.asked, "x …");
    }
}
