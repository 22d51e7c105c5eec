//! Commands, and how they are answered.
//!
//! ```text
//! scripted   proc_when is lent to the host for the one command: it is compared letter by letter, and rules of the host know `*`
//! real       proc_when is how the real command must end; where there are some, one must fit
//! ```

use super::Answerer;
use super::store::KeyValueStore;
use crate::failure::StepFailure;
use fozzy_scenario_file::{Payload, ProcRuleStep, ProcSpawn};
use fozzy_sdk::process::{self, Command, Output, Status};
use std::rc::Rc;

#[derive(Clone)]
struct Rule {
    when: Rc<ProcRuleStep>,
    answered: u64,
}

#[derive(Clone)]
pub(super) struct ProcessState {
    rules: Vec<Rule>,
    answerer: Answerer,
}

impl Default for ProcessState {
    fn default() -> ProcessState {
        ProcessState { rules: Vec::new(), answerer: Answerer::of("--proc=") }
    }
}

impl ProcessState {
    pub(super) fn when(&mut self, when: &ProcRuleStep) {
        self.rules.push(Rule { when: Rc::new(when.clone()), answered: 0 });
    }

    pub fn spawn(&mut self, spawn: &ProcSpawn, store: &mut KeyValueStore) -> Result<Output, StepFailure> {
        let fits = |rule: &&mut Rule| {
            let is_left = rule.when.times.is_none_or(|times| rule.answered < times);
            is_left && rule.when.cmd == spawn.cmd && rule.when.args == spawn.args
        };
        let is_real = self.answerer == Answerer::Host;
        let rule = self.rules.iter_mut().find(fits).map(|rule| {
            rule.answered += 1;
            Rc::clone(&rule.when)
        });
        let shown = shown(spawn);
        if is_real && rule.is_none() && !self.rules.is_empty() {
            let what = format!("{shown}: of the rules of `proc_when` ({}), none is for it", self.rules.len());
            return Err(StepFailure::new(what));
        }
        let lent = rule.as_ref().filter(|_| !is_real);
        if let Some(when) = lent {
            lend(when);
        }
        let command = spawn.args.iter().fold(Command::new(&spawn.cmd), |command, arg| command.arg(arg));
        let ran = match (&lent, self.answerer) {
            (None, Answerer::Nobody) => Err("no step says how it is answered".to_owned()),
            _ => command.run(),
        };
        if lent.is_some() {
            process::clear_rules();
        }
        let output =
            ran.map_err(|why| StepFailure::new(format!("{shown}: {why}; {}", suggestion(spawn))).of("did not run"))?;
        if let Some(when) = rule.filter(|_| is_real) {
            expect(&shown, Some(when.exit_code), [&when.stdout, &when.stderr], &output)?;
        }
        expect(&shown, spawn.expect_exit, [&spawn.expect_stdout, &spawn.expect_stderr], &output)?;
        if let Some(key) = &spawn.save_stdout_as {
            let text = std::str::from_utf8(&output.stdout);
            let text = text
                .map_err(|_| StepFailure::new(format!("{shown}: stdout is no text, and cannot be kept as `{key}`")))?;
            store.set(key, text);
        }
        Ok(output)
    }
}

/// How it must have ended, and what it must have written.
fn expect(shown: &str, exit: Option<i32>, texts: [&Option<Payload>; 2], output: &Output) -> Result<(), StepFailure> {
    if let Some(expected) = exit {
        let found = match output.status {
            Status::Code(code) if code == expected => None,
            Status::Code(code) => Some(format!("exit code {code}")),
            Status::Signal(signal) => Some(format!("signal {signal}")),
        };
        if let Some(found) = found {
            let wrote = String::from_utf8_lossy(&output.stderr);
            let what = format!("{shown}: expected exit code {expected}, found {found}; stderr {wrote:?}");
            return Err(StepFailure::new(what).of("another end"));
        }
    }
    let written = [("stdout", &output.stdout), ("stderr", &output.stderr)];
    for ((name, found), expected) in written.into_iter().zip(texts) {
        if let Some(expected) = expected.as_ref().filter(|expected| expected.bytes() != found.as_slice()) {
            let found = Payload::of(found.clone());
            return Err(StepFailure::new(format!("{shown}: {name}: expected {expected:?}, found {found:?}")));
        }
    }
    Ok(())
}

fn lend(when: &ProcRuleStep) {
    let args: Vec<&str> = when.args.iter().map(String::as_str).collect();
    let bytes = |payload: &Option<Payload>| payload.as_ref().map(|it| it.bytes().to_vec()).unwrap_or_default();
    process::rule(&when.cmd)
        .args(&args)
        .writes(Status::Code(when.exit_code), &bytes(&when.stdout), &bytes(&when.stderr))
        .add();
}

fn shown(spawn: &ProcSpawn) -> String {
    std::iter::once(spawn.cmd.as_str()).chain(spawn.args.iter().map(String::as_str)).collect::<Vec<_>>().join(" ")
}

/// The rule that would answer it.
fn suggestion(spawn: &ProcSpawn) -> String {
    let text = |text: &str| serde_json::Value::from(text).to_string();
    let args: Vec<String> = spawn.args.iter().map(|arg| text(arg)).collect();
    format!(
        "answer it before with {{\"type\":\"proc_when\",\"cmd\":{},\"args\":[{}],\"exit_code\":0,\"stdout\":\"\"}}, or run it with \
         --proc-backend host",
        text(&spawn.cmd),
        args.join(",")
    )
}
