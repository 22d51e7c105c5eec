//! The same inputs through each engine.
//!
//! ```text
//! a campaign of ours ─▶ the inputs that it executed last ─┬▶ ours: restore, call, coverage, feedback
//!                                                         └▶ libFuzzer's whole loop, with these in place of mutations
//! ```
//!
//! What a native process needs to start is measured by itself and taken off.

use super::ours::{Ours, campaign};
use super::targets::{Native, SOUND, components, natives};
use super::{is_chosen, short};
use crate::measure::{Clock, Pair, process_seconds, thread_clock, thread_seconds};
use crate::table::{Bound, Row, Unit};
use fozzy_search::Feedback;
use fozzy_search::fuzz::{FuzzOutcome, FuzzTarget};
use fozzy_trace::{CmpLogEntry, CmpLogSites, HarnessError, Verdict};
use std::path::Path;
use std::process::Command;

/// Executions of the campaign that makes the inputs, and how many of its last ones are taken.
const CAMPAIGN: u64 = 60_000;
const INPUTS: usize = 20_000;
/// Executions of one measure.
const EXECUTIONS: u32 = 100_000;
const PAIRS: usize = 5;
/// Our time over the one with the sanitizer, and without.
const SANITIZED_MAX: f64 = 1.0 / 3.0;
const PLAIN_MAX: f64 = 1.0;

/// A target that does nothing.
const NOTHING: &[u8] = br#"(module (memory (export "memory") 2)
    (func (export "LLVMFuzzerTestOneInput") (param i32 i32) (result i32) (i32.const 0)))"#;

/// Keeps what is executed.
struct RecordingTarget<'a> {
    ours: &'a mut Ours,
    inputs: Vec<Vec<u8>>,
}

impl FuzzTarget for RecordingTarget<'_> {
    fn execute(&mut self, input: &[u8]) -> Result<FuzzOutcome, HarnessError> {
        self.inputs.push(input.to_vec());
        self.ours.execute(input)
    }

    fn coverage(&self, see: &mut dyn FnMut(&[u8])) {
        self.ours.coverage(see);
    }

    fn compare(
        &mut self,
        input: &[u8],
        sites: CmpLogSites<'_>,
        log: &mut Vec<CmpLogEntry>,
    ) -> Result<u64, HarnessError> {
        self.ours.compare(input, sites, log)
    }

    fn confirm(&mut self, input: &[u8]) -> Result<Verdict, HarnessError> {
        self.ours.confirm(input)
    }
}

/// The rows of the group.
pub(crate) fn inputs() -> Vec<Row> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let components = components();
    let natives = Native::ALL.map(|native| (native, natives(native, true)));
    let mut nothing = Ours::of(NOTHING);
    let mut rows = Vec::new();
    for name in SOUND.into_iter().filter(|name| is_chosen(name)) {
        let mut ours = Ours::new(&components, name);
        ours.spent = Some(0.0);
        let mut recording = RecordingTarget { ours: &mut ours, inputs: Vec::new() };
        let all = thread_seconds(|| drop(campaign(&mut recording, 0, CAMPAIGN, f64::MAX, false)));
        let inputs = recording.inputs.split_off(recording.inputs.len().saturating_sub(INPUTS));
        let beside = (all - ours.spent.take().unwrap_or(0.0)) / CAMPAIGN as f64;
        let path = folder.path().join("inputs");
        std::fs::write(&path, file(&inputs)).expect("the temporary folder can be written");
        println!("{name}: {} bytes an input; {}", mean(&inputs), breakdown(&mut ours, &mut nothing, &inputs));
        println!("{name}: in a campaign, beside the target: {} ns", short(beside * 1e9));
        for (native, built) in &natives {
            let (what, most) = match native {
                Native::Plain => ("libFuzzer without sanitizer", PLAIN_MAX),
                Native::Sanitized => ("default cargo-fuzz, AddressSanitizer", SANITIZED_MAX),
            };
            let row = format!("{name}, the same inputs ({what})");
            rows.push(match built {
                None => Row::missing(&row, "it cannot be built here"),
                Some(built) => {
                    let pair = Pair::of(
                        PAIRS,
                        || replay(&mut ours, &inputs),
                        || {
                            let seconds = |runs| native_seconds(&built.join(name), &path, folder.path(), runs);
                            seconds(EXECUTIONS) - seconds(1)
                        },
                    );
                    Row::times(&row, &pair, Unit::NanosecondsPerCall(EXECUTIONS), Bound::Ratio(most))
                }
            });
        }
    }
    rows
}

fn mean(inputs: &[Vec<u8>]) -> usize {
    inputs.iter().map(Vec::len).sum::<usize>() / inputs.len()
}

fn file(inputs: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for input in inputs {
        bytes.extend_from_slice(&(input.len() as u32).to_le_bytes());
        bytes.extend_from_slice(input);
    }
    bytes
}

fn replay(ours: &mut Ours, inputs: &[Vec<u8>]) -> f64 {
    let mut feedback = Feedback::default();
    thread_seconds(|| {
        for input in inputs.iter().cycle().take(EXECUTIONS as usize) {
            let outcome = ours.execute(input).expect("the machine is well");
            feedback.observe(ours, outcome.memory);
        }
    })
}

fn native_seconds(program: &Path, inputs: &Path, folder: &Path, runs: u32) -> f64 {
    let mut command = Command::new(program);
    command.arg(format!("-runs={runs}")).args(["-len_control=0", "-max_len=4096", "-seed=1", "-verbosity=0"]);
    command.env("FOZZY_REPLAY", inputs).current_dir(folder);
    process_seconds(Clock::Cpu, &mut command)
}

/// Mean nanoseconds of each part of an execution.
fn breakdown(ours: &mut Ours, nothing: &mut Ours, inputs: &[Vec<u8>]) -> String {
    // What a look at the clock takes by itself.
    const LOOKS: u32 = 10_000;
    let reading = thread_seconds(|| {
        (0..LOOKS).for_each(|_| {
            std::hint::black_box(thread_clock());
        })
    }) / f64::from(LOOKS);
    let parts = |ours: &mut Ours| {
        let mut feedback = Feedback::default();
        let mut sums = [0.0; 3];
        for input in inputs {
            let mut last = thread_clock();
            let mut lap = |part: usize| {
                sums[part] += (thread_clock() - last - reading) * 1e9 / inputs.len() as f64;
                last = thread_clock();
            };
            ours.target.caller_mut().ready().expect("the machine is well");
            lap(0);
            let outcome = ours.execute(input).expect("the machine is well");
            lap(1);
            feedback.observe(ours, outcome.memory);
            lap(2);
        }
        sums.map(short)
    };
    let [restore, call, coverage] = parts(ours);
    let [restore_least, call_least, coverage_least] = parts(nothing);
    format!(
        "ns: restore {restore} (least {restore_least}), call and guest {call} (least {call_least}), \
         coverage {coverage} (least {coverage_least})"
    )
}
