//! Edges after some CPU seconds from an empty corpus: the corpora of all engines through our build of the target, as edges
//! of different builds cannot be compared.

use super::ours::{Ours, campaign};
use super::targets::{Native, SOUND, components, natives};
use super::{empty_corpus, limited, number};
use crate::table::Row;
use std::path::Path;
use std::process::Stdio;

/// A campaign is looked at after this share of its seconds, too.
const EARLY: u64 = 6;
/// Our edges over those of libFuzzer without a sanitizer.
const LEAST: f64 = 1.0;

/// The rows of the group.
pub(crate) fn coverage() -> Vec<Row> {
    let (seeds, most) = (number("FOZZY_BENCH_SEEDS", 1), number("FOZZY_BENCH_SECONDS", 60));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let components = components();
    let natives = Native::ALL.map(|native| (native, natives(native, false)));
    let mut rows = Vec::new();
    for name in SOUND {
        let mut ruler = Ours::new(&components, name);
        for (seed, seconds) in (0..seeds).flat_map(|seed| [(seed, (most / EARLY).max(1)), (seed, most)]) {
            let mut target = Ours::new(&components, name);
            let (campaign, ..) = campaign(&mut target, seed, u64::MAX, seconds as f64, false);
            let corpus: Vec<Vec<u8>> =
                campaign.corpus().testcases().iter().map(|testcase| testcase.input.to_vec()).collect();
            let ours = ruler.edges(&corpus);
            let executions = campaign.stats().executions;
            println!("{name} {seconds} s: ours {ours} edges, {} inputs, {executions} executions", corpus.len());
            for (native, built) in &natives {
                let row = format!("{name}, edges after {seconds} CPU s, seed {seed} ({})", native.name());
                rows.push(match built {
                    None => Row::missing(&row, "it cannot be built here"),
                    Some(built) => {
                        let (corpus, said) = libfuzzer(&built.join(name), seed, seconds, folder.path());
                        let theirs = ruler.edges(&corpus);
                        println!(
                            "{name} {seconds} s: {} {theirs} edges, {} inputs, {said}",
                            native.name(),
                            corpus.len()
                        );
                        let least = (*native == Native::Plain).then_some(LEAST);
                        Row::counts(&row, ours, theirs, least)
                    }
                });
            }
        }
    }
    rows
}

/// The corpus that libFuzzer has after so many CPU seconds, and the last line that it said.
fn libfuzzer(program: &Path, seed: u64, seconds: u64, folder: &Path) -> (Vec<Vec<u8>>, String) {
    let corpus = empty_corpus(folder);
    let mut command = limited(seconds, program, folder);
    command.args([&format!("-seed={}", seed + 1), "-max_len=4096"]).arg(&corpus);
    let output = command.stdin(Stdio::null()).output().expect("the target starts");
    let files = std::fs::read_dir(&corpus).expect("it was just made").flatten();
    let inputs = files.map(|file| std::fs::read(file.path()).expect("it was just written")).collect();
    let said = String::from_utf8_lossy(&output.stderr);
    let last = said.lines().rev().find(|line| line.starts_with('#')).unwrap_or_default().to_owned();
    (inputs, last)
}
