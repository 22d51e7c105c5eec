//! The puzzles of `scenarios/puzzles` by `proptest-state-machine`, natively: solved, steps and CPU seconds.
//!
//! ```text
//! cargo run --release --bin puzzles -- 3 10      seeds, CPU seconds of each
//! ```
//!
//! The lost update is that a tool without a scheduler can look for: the point at which the other task runs is drawn.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use proptest_state_machine::{ReferenceStateMachine, StateMachineTest};
use std::cell::Cell;
use std::marker::PhantomData;

#[path = "../../../../../scenarios/puzzles/src/maze.rs"]
mod maze;
#[path = "../../../../../scenarios/puzzles/src/small.rs"]
#[allow(dead_code)]
mod small;

use maze::Maze;
use small::{Bomb, Cache, Faults, Hanoi, Lock};

/// Moves of one sequence.
const MOVES: usize = 50;
/// Points at which the other task can run, and the one that loses an update.
const POINTS: usize = 300;
const GAP: usize = 217;

pub(crate) trait Puzzle {
    fn moves(&self) -> usize;
    fn play(&mut self, number: usize);
    #[allow(dead_code)]
    fn state(&self) -> u64;
    fn is_solved(&self) -> bool;
}

#[derive(Clone, Default)]
struct LostUpdate(bool);

impl Puzzle for LostUpdate {
    fn moves(&self) -> usize {
        POINTS
    }
    fn play(&mut self, number: usize) {
        self.0 = number == GAP;
    }
    fn state(&self) -> u64 {
        0
    }
    fn is_solved(&self) -> bool {
        self.0
    }
}

thread_local! {
    static STEPS: Cell<u64> = const { Cell::new(0) };
    static SOLVED: Cell<bool> = const { Cell::new(false) };
}

/// The number of moves is all that the model has to know.
#[derive(Clone, Debug)]
struct Model(usize);

struct Moves<P>(PhantomData<P>);

impl<P: New> ReferenceStateMachine for Moves<P> {
    type State = Model;
    type Transition = usize;

    fn init_state() -> BoxedStrategy<Model> {
        Just(Model(P::new().moves())).boxed()
    }

    fn transitions(model: &Model) -> BoxedStrategy<usize> {
        (0..model.0).boxed()
    }

    fn apply(model: Model, _: &usize) -> Model {
        model
    }
}

struct Played<P>(P);

impl<P: New> StateMachineTest for Played<P> {
    type SystemUnderTest = Played<P>;
    type Reference = Moves<P>;

    fn init_test(_: &Model) -> Played<P> {
        Played(P::new())
    }

    fn apply(mut played: Played<P>, _: &Model, number: usize) -> Played<P> {
        // What comes after the solution is not played: a failure would end the sequence there.
        if !SOLVED.get() {
            played.0.play(number);
            STEPS.set(STEPS.get() + 1);
            SOLVED.set(played.0.is_solved());
        }
        played
    }
}

/// A puzzle at its beginning.
trait New: Puzzle + 'static {
    fn new() -> Self;
}

macro_rules! puzzles {
    ($($name:ident, $puzzle:ty, $new:expr;)+) => {$(
        struct $name($puzzle);
        impl New for $name {
            fn new() -> Self {
                $name($new)
            }
        }
        impl Puzzle for $name {
            fn moves(&self) -> usize {
                self.0.moves()
            }
            fn play(&mut self, number: usize) {
                self.0.play(number);
            }
            fn state(&self) -> u64 {
                self.0.state()
            }
            fn is_solved(&self) -> bool {
                self.0.is_solved()
            }
        }
    )+};
}

puzzles! {
    TheBomb, Bomb, Bomb::default();
    TheLock, Lock, Lock::default();
    Hanoi4, Hanoi, Hanoi::new(4);
    Hanoi6, Hanoi, Hanoi::new(6);
    Maze8, Maze, Maze::new(8, false);
    Maze16, Maze, Maze::new(16, false);
    Walls, Maze, Maze::new(8, true);
    TheCache, Cache, Cache::default();
    TheFaults, Faults, Faults::default();
    TheUpdate, LostUpdate, LostUpdate::default();
}

fn cpu_seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the clock exists on every Linux, and the pointer is to a value of ours.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

fn solve<P: New>(name: &str, seeds: u64, seconds: f64) {
    let (mut solved, mut spent, mut all) = (Vec::new(), 0.0, 0);
    for seed in 0..seeds {
        let config = Config { failure_persistence: None, ..Config::default() };
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        let mut runner =
            TestRunner::new_with_rng(config.clone(), TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
        let strategy = Moves::<P>::sequential_strategy(MOVES..=MOVES);
        STEPS.set(0);
        SOLVED.set(false);
        let before = cpu_seconds();
        while !SOLVED.get() && cpu_seconds() - before < seconds {
            let (state, transitions, seen) = strategy.new_tree(&mut runner).expect("moves are drawn").current();
            Played::<P>::test_sequential(config.clone(), state, transitions, seen);
        }
        let took = cpu_seconds() - before;
        spent += took;
        all += STEPS.get();
        if SOLVED.get() {
            solved.push((STEPS.get(), took));
        }
    }
    solved.sort_by_key(|(steps, _)| *steps);
    let middle = solved.get(solved.len() / 2).map_or_else(String::new, |(steps, took)| {
        format!("{steps:>10} steps, {:>8.1} ms", took * 1e3)
    });
    let (number, rate) = (solved.len(), all as f64 / spent);
    println!("{:<24}{name:<14}{number}/{seeds}  {middle:<32}{rate:>12.0} steps/s", "proptest-state-machine");
}

fn main() {
    let mut args = std::env::args().skip(1).map(|arg| arg.parse::<u64>().expect("a number"));
    let (seeds, seconds) = (args.next().unwrap_or(3), args.next().unwrap_or(10) as f64);
    solve::<TheBomb>("bomb", seeds, seconds);
    solve::<TheLock>("lock", seeds, seconds);
    solve::<Hanoi4>("hanoi-4", seeds, seconds);
    solve::<Hanoi6>("hanoi-6", seeds, seconds);
    solve::<Maze8>("maze-8", seeds, seconds);
    solve::<Maze16>("maze-16", seeds, seconds);
    solve::<Walls>("walls", seeds, seconds);
    solve::<TheCache>("cache", seeds, seconds);
    solve::<TheFaults>("faults", seeds, seconds);
    solve::<TheUpdate>("lost-update", seeds, seconds);
}
