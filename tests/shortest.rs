//! The shortest story of each puzzle: what `shrink` comes to, beside a search for it that knows the puzzle.
//!
//! ```text
//! explore, seed n ─▶ 116 moves ─shrink▶ 15 moves          hanoi-4, natively, breadth first: 15 moves
//! ```
//!
//! With `FOZZY_LONG`, twenty seeds of each puzzle, and a table; otherwise one of the quick ones.
//! Not here: the search by itself (`fozzy-search`).

#[path = "../scenarios/puzzles/src/maze.rs"]
mod maze;
#[path = "../scenarios/puzzles/src/small.rs"]
mod small;

use crate::corpus;
use crate::fozzy::Fozzy;
use maze::Maze;
use serde_json::Value;
use small::{Bomb, Cache, Faults, Hanoi, Lock};
use std::collections::{BTreeSet, VecDeque};

/// What a puzzle is, as in `scenarios/puzzles`.
trait Puzzle {
    fn moves(&self) -> usize;
    fn play(&mut self, number: usize);
    fn state(&self) -> u64;
    fn is_solved(&self) -> bool;
}

/// Moves of the shortest solution.
fn optimum<P: Puzzle + Clone>(start: &P) -> u64 {
    let (mut open, mut seen) = (VecDeque::from([(start.clone(), 0)]), BTreeSet::from([start.state()]));
    while let Some((at, moves)) = open.pop_front() {
        for number in 0..at.moves() {
            let mut next = at.clone();
            next.play(number);
            if next.is_solved() {
                return moves + 1;
            }
            if seen.insert(next.state()) {
                open.push_back((next, moves + 1));
            }
        }
    }
    unreachable!("each puzzle has a solution")
}

/// Explores a puzzle until it is solved, and shrinks that; `None` when it is not solved.
fn shrunk(env: &[&str], seed: u64, flags: &[&str]) -> Option<Value> {
    let (fozzy, program, seed) = (Fozzy::new(), corpus::scenario("puzzles", false), seed.to_string());
    let program = program.display().to_string();
    let mut args = vec!["explore", &program, "--seed", &seed, "--stop", "failure", "--runs", "100000"];
    args.extend(["--no-shrink", "--no-seeds", "--record", "found.fozzy", "--json"]);
    env.iter().for_each(|env| args.extend(["--env", env]));
    if fozzy.run(&args).code == Some(0) {
        return None;
    }
    let args = [&["shrink", "found.fozzy", "--budget", "5m", "--json"], flags].concat();
    let small = fozzy.run(&args).exits(1).json();
    fozzy.run(&["replay", "found.min.fozzy"]).exits(1);
    Some(small["shrink"].clone())
}

fn is_long() -> bool {
    std::env::var_os("FOZZY_LONG").is_some()
}

/// Each of the seeds that there are comes to the optimum in fifteen of twenty; a row of the table.
#[expect(clippy::print_stderr, reason = "a table for people")]
#[track_caller]
fn check(name: &str, optimum: u64, seeds: u64) {
    let puzzle = format!("PUZZLE={name}");
    let (mut reached, mut solved, mut before, mut searched) = (0, 0, 0, 0);
    for seed in 0..seeds {
        let Some(shrink) = shrunk(&[&puzzle], seed, &[]) else { continue };
        let number = |value: &Value| value.as_u64().unwrap_or(u64::MAX);
        solved += 1;
        before += number(&shrink["before"]["steps"]);
        searched += shrink["states"]["searchedSteps"].as_u64().unwrap_or(0);
        reached += u64::from(number(&shrink["after"]["steps"]) == optimum);
        let is_proven = shrink["states"]["shortest"] == true;
        assert!(!is_proven || number(&shrink["after"]["steps"]) == optimum, "{name} with seed {seed}: {shrink:#}");
    }
    if is_long() {
        let mean = |sum: u64| sum / solved.max(1);
        eprintln!(
            "{name:<16} shortest {optimum:>3}: {reached:>2} of {seeds}; {} steps before, {} searched",
            mean(before),
            mean(searched)
        );
    }
    assert!(reached * 20 >= seeds * 15, "{name}: {reached} of {seeds}, {solved} solved");
}

#[test]
fn puzzles_shrink_to_their_shortest_solution() {
    let seeds = if is_long() { 20 } else { 1 };
    check("hanoi-4", optimum(&Hanoi::new(4)), seeds);
    if is_long() {
        check("maze-8", optimum(&Maze::new(8, false)), seeds);
        check("bomb", optimum(&Bomb::default()), seeds);
        check("lock", optimum(&Lock::default()), seeds);
        check("hanoi-6", optimum(&Hanoi::new(6)), seeds);
        check("maze-16", optimum(&Maze::new(16, false)), seeds);
        check("walls", optimum(&Maze::new(8, true)), seeds);
        check("cache", optimum(&Cache::default()), seeds);
        check("faults", optimum(&Faults::default()), seeds);
        // Eight values, one by one.
        check("password", 8, seeds);
        check("password-again", 8, seeds);
    }
}

#[test]
fn what_a_memory_tells_is_searched_too_and_proves_nothing() {
    let shrink = shrunk(&["PUZZLE=maze-8", "SILENT=1"], 1, &["--shortest"]).expect("it is solved");
    assert_eq!(shrink["after"]["steps"], optimum(&Maze::new(8, false)), "{shrink:#}");
    let states = &shrink["states"];
    assert_eq!((&states["basis"], &states["shortest"]), (&"memory".into(), &false.into()), "{shrink:#}");
}

#[test]
fn a_short_story_is_searched_when_that_is_asked_for_and_said_when_not() {
    let shrink = shrunk(&["PUZZLE=faults"], 1, &[]).expect("it is solved");
    assert_eq!(shrink["states"]["end"], "not-asked", "{shrink:#}");
    let shrink = shrunk(&["PUZZLE=faults"], 1, &["--shortest"]).expect("it is solved");
    let states = &shrink["states"];
    assert_eq!((&states["end"], &states["shortest"]), (&"exhausted".into(), &true.into()), "{shrink:#}");
    assert_eq!(shrink["after"]["steps"], optimum(&Faults::default()));
}
