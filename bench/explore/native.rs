//! A plain search for new states, natively: a pool of all states that were seen, and random steps from any of them.
//!
//! ```text
//! state from the pool ─▶ 16 random moves ─▶ each state that is new joins the pool
//! ```
//!
//! The lost update has no states to keep, and is left out.

use super::ours::Tries;
use super::{seconds, seeds};
use crate::measure::thread_clock;
use puzzles::Puzzle;
use puzzles::maze::Maze;
use puzzles::small::{Bomb, Cache, Faults, Hanoi, Lock};
use std::collections::BTreeSet;

#[path = "../../scenarios/puzzles/src/lib.rs"]
#[allow(unreachable_pub, dead_code, reason = "it is a crate of its own in the sandbox")]
mod puzzles;

/// Random moves from one state.
const MOVES: u32 = 16;

/// Solves the puzzle of that name with each seed.
pub(super) fn solve(name: &str) -> Option<Tries> {
    Some(match name {
        "bomb" => search(&Bomb::default()),
        "lock" => search(&Lock::default()),
        "hanoi-4" => search(&Hanoi::new(4)),
        "hanoi-6" => search(&Hanoi::new(6)),
        "maze-8" => search(&Maze::new(8, false)),
        "maze-16" => search(&Maze::new(16, false)),
        "walls" => search(&Maze::new(8, true)),
        "cache" => search(&Cache::default()),
        "faults" => search(&Faults::default()),
        _ => return None,
    })
}

fn search<P: Puzzle + Clone>(start: &P) -> Tries {
    let mut tries = Tries::default();
    for seed in 0..seeds() {
        let before = thread_clock();
        let (solved, steps) = from(start, seed, before + seconds());
        tries.add(solved, steps, thread_clock() - before);
    }
    tries
}

/// Whether it was solved before the time was over, and in how many steps.
fn from<P: Puzzle + Clone>(start: &P, seed: u64, until: f64) -> (bool, u64) {
    let mut numbers = Numbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let (mut pool, mut seen, mut steps) = (vec![start.clone()], BTreeSet::from([start.state()]), 0);
    loop {
        let mut puzzle = pool[numbers.below(pool.len())].clone();
        for _ in 0..MOVES {
            puzzle.play(numbers.below(puzzle.moves()));
            steps += 1;
            if puzzle.is_solved() {
                return (true, steps);
            }
            if seen.insert(puzzle.state()) {
                pool.push(puzzle.clone());
            }
        }
        if steps % 65_536 == 0 && thread_clock() > until {
            return (false, steps);
        }
    }
}

/// Marsaglia's xorshift, multiplied: any good generator will do.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let number = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d);
        ((u128::from(number) * bound as u128) >> 64) as usize
    }
}
