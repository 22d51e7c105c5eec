//! A runner of jobs, each in a process of its own, and a scenario that plays the processes.
//!
//! A job is a command. It is done when the command ended with code 0; one that failed is tried again. The planted fault: a
//! command that a signal ended has no code, and the runner takes that for "no error".
//!
//! ```text
//! convert 7.png   writes "ha", is killed     code: none ─▶ unwrap_or(0) ─▶ "done", with half of its output
//! ```
//!
//! With the feature `fixed`, only a command that ended by itself with code 0 is done.

use fozzy_sdk::prelude::*;
use fozzy_sdk::process::{self, Command, Output, Status};
use std::collections::BTreeMap;
use std::time::Duration;

/// How often a job is tried, and how long each try may take.
const TRIES: u64 = 3;
const DEADLINE: Duration = Duration::from_secs(60);

/// What the runner says of a job.
#[derive(Clone, Debug, PartialEq)]
enum State {
    Done(Vec<u8>),
    Failed,
}

/// The runner under test.
#[derive(Default)]
struct Runner {
    states: BTreeMap<u32, State>,
}

impl Runner {
    fn run(&mut self, job: u32) {
        let command = Command::new("convert").arg(&format!("{job}.png")).deadline(DEADLINE);
        let mut tries = (0..TRIES).map(|_| command.clone().run());
        let done = tries.find_map(|tried| tried.ok().filter(is_done));
        self.states.insert(job, done.map_or(State::Failed, |output| State::Done(output.stdout)));
    }
}

fn is_done(output: &Output) -> bool {
    if cfg!(feature = "fixed") { output.status.success() } else { output.status.code().unwrap_or(0) == 0 }
}

/// What becomes of a process.
#[derive(Clone, Copy, Debug, PartialEq, Draw)]
enum Fate {
    #[draw(weight = 6)]
    Ends,
    #[draw(weight = 3)]
    Fails,
    #[draw(weight = 1)]
    Crashes,
    #[draw(weight = 1)]
    HangsForEver,
    #[draw(weight = 1)]
    IsUnknown,
}

const WHOLE: &[u8] = b"the whole picture";

impl Fate {
    /// From now on, so many processes of the job go this way.
    fn plan(self, job: u32, times: u64) -> process::RuleHandle {
        let takes = Duration::from_secs(draw::range(1..=30));
        let rule = process::rule("convert").args(&[&format!("{job}.png")]).times(times).delay(takes);
        match self {
            Fate::Ends => rule.ends(Status::Code(0), WHOLE).add(),
            Fate::Fails => rule.ends(Status::Code(draw::range(1..=255)), b"the who").add(),
            Fate::Crashes => rule.ends(Status::Signal(11), b"the who").add(),
            Fate::HangsForEver => rule.ends(Status::Code(0), b"the who").delay(DEADLINE * 10).add(),
            Fate::IsUnknown => rule.not_found().add(),
        }
    }
}

/// Jobs, and what should have become of them.
#[derive(Default)]
pub struct Jobs {
    runner: Runner,
    model: BTreeMap<u32, bool>,
}

#[scenario]
impl Jobs {
    /// One more job: each of its tries goes its own way.
    #[flow]
    fn job(&mut self, first: Fate, second: Fate, third: Fate) {
        let job = self.model.len() as u32;
        let fates = [first, second, third];
        let planned: Vec<process::RuleHandle> = fates.iter().map(|fate| fate.plan(job, 1)).collect();
        self.runner.run(job);
        let tries: u64 = planned.iter().map(|rule| rule.answered()).sum();
        let good = fates.iter().position(|fate| *fate == Fate::Ends);
        self.model.insert(job, good.is_some());
        always_at_most!(tries, TRIES, "a job is tried three times at the most");
        sometimes!(good == Some(2), "the last try succeeds");
        process::clear_rules();
        let state = self.runner.states.get(&job).cloned();
        let partial = matches!(&state, Some(State::Done(output)) if output != WHOLE);
        always!(!partial, "what is done ran to its end", "job {job}, {fates:?}: {state:?}");
    }

    #[invariant(period = 5)]
    fn every_job_is_accounted_for(&self) {
        for (job, good) in &self.model {
            let done = matches!(self.runner.states.get(job), Some(State::Done(_)));
            always!(done == *good, "done is what can be done", "job {job}");
        }
    }
}
