//! Puzzles whose solution is deep, each as a scenario whose failure is that it is solved.
//!
//! ```text
//! PUZZLE=lock    move 3  move 1  move 4 …    counter 0 1 2 0 1 …    8: solved
//! ```
//!
//! All have one flow, a move; what moves there are, and what they do, is the puzzle's. With the feature `fixed`, to be solved
//! is no failure.

pub(crate) mod maze;
pub(crate) mod password;
pub(crate) mod small;

use fozzy_sdk::prelude::*;
use fozzy_sdk::properties;
use maze::Maze;
use password::Password;
use small::{Bomb, Cache, Faults, Hanoi, Lock};
use std::cell::Cell;
use std::rc::Rc;

/// What a puzzle is.
pub(crate) trait Puzzle {
    /// How many moves there are to choose from.
    fn moves(&self) -> usize;
    /// Makes one of them.
    fn play(&mut self, number: usize);
    /// What tells one position from another.
    fn state(&self) -> u64;
    fn is_solved(&self) -> bool;
}

/// The puzzle that the environment names.
fn named(name: &str) -> Option<Box<dyn Puzzle>> {
    Some(match name {
        "bomb" => Box::new(Bomb::default()),
        "lock" => Box::new(Lock::default()),
        "hanoi-4" => Box::new(Hanoi::new(4)),
        "hanoi-6" => Box::new(Hanoi::new(6)),
        "maze-8" => Box::new(Maze::new(8, false)),
        "maze-16" => Box::new(Maze::new(16, false)),
        "walls" => Box::new(Maze::new(8, true)),
        "cache" => Box::new(Cache::default()),
        "faults" => Box::new(Faults::default()),
        _ => return None,
    })
}

/// Points at which the tasks of `lost-update` can change.
const POINTS: u32 = 300;
/// The point between the read and the write.
const GAP: u32 = 217;

/// The highest floor of `stairs`.
const FLOORS: u32 = 1000;

#[derive(Default)]
struct Puzzles {
    /// `None` of the lost update, which has no positions, and of the stairs.
    puzzle: Option<Box<dyn Puzzle>>,
    /// The floor of the stairs.
    floor: Option<u32>,
    password: Option<Password>,
    is_update: bool,
    /// Whether it does not say what its state is.
    is_silent: bool,
}

#[scenario]
impl Puzzles {
    fn pre_sequence(&mut self) {
        let name = std::env::var("PUZZLE").unwrap_or_else(|_| "bomb".to_owned());
        self.puzzle = named(&name);
        self.floor = (name == "stairs").then_some(0);
        self.is_silent = std::env::var_os("SILENT").is_some();
        self.password = match name.as_str() {
            "password" => Some(Password::new(false)),
            "password-again" => Some(Password::new(true)),
            _ => None,
        };
        self.is_update = name == "lost-update";
        let is_typed = self.password.is_some();
        let is_known = self.puzzle.is_some() || self.floor.is_some() || is_typed || self.is_update;
        assert!(is_known, "PUZZLE={name}: there is no such puzzle");
    }

    #[flow(precondition = |p| p.puzzle.is_some())]
    fn play(&mut self) {
        let Some(puzzle) = &mut self.puzzle else { return };
        puzzle.play(draw::index(puzzle.moves()));
        if !self.is_silent {
            state!(puzzle.state(), "state");
        }
        always!(cfg!(feature = "fixed") || !puzzle.is_solved(), "it is not solved");
    }

    /// One floor up, or two down, or out of the window: a failure of its own on each floor.
    #[flow(precondition = |p| p.floor.is_some())]
    fn climb(&mut self) {
        let Some(floor) = self.floor else { return };
        let jumps = match draw::index(8) {
            0 => {
                self.floor = Some(floor.saturating_sub(2));
                false
            }
            7 => true,
            _ => {
                self.floor = Some((floor + 1).min(FLOORS));
                false
            }
        };
        state!(self.floor.unwrap_or_default(), "floor");
        if jumps && !cfg!(feature = "fixed") {
            // The macros want names that are known when it is compiled.
            let name = String::leak(format!("nobody jumps from floor {floor}"));
            properties::always(Box::leak(Box::new(properties::Tally::new(name))), false, || None);
        }
    }

    /// One value of a password.
    #[flow(precondition = |p| p.password.is_some())]
    fn enter(&mut self, value: u32) {
        let Some(password) = &mut self.password else { return };
        password.enter(value);
        if !self.is_silent {
            state!(password.state(), "right values");
        }
        always!(cfg!(feature = "fixed") || !password.is_solved(), "it is not opened");
    }

    /// Two tasks add to one number, one of them in two parts.
    #[flow(precondition = |p| p.is_update)]
    async fn update(&mut self) {
        let number = Rc::new(Cell::new(0));
        let (slow, quick) = (Rc::clone(&number), Rc::clone(&number));
        let slow = task::spawn("slow", async move {
            let mut read = 0;
            for point in 0..POINTS {
                match point {
                    GAP => read = slow.get(),
                    _ if point == GAP + 1 => slow.set(read + 1),
                    _ => {}
                }
                task::yield_now().await;
            }
        });
        let quick = task::spawn("quick", async move { quick.set(quick.get() + 1) });
        slow.join().await;
        quick.join().await;
        always!(cfg!(feature = "fixed") || number.get() == 2, "no update is lost");
    }
}
