//! The puzzles that need no board.

use super::Puzzle;

/// Five `a`, two `b`, one `c`, among noise.
#[derive(Clone, Default)]
pub(crate) struct Bomb {
    a: u8,
    b: u8,
    c: bool,
}

impl Puzzle for Bomb {
    fn moves(&self) -> usize {
        6
    }

    fn play(&mut self, number: usize) {
        match number {
            0 if self.a < 5 => self.a += 1,
            1 if self.a == 5 && self.b < 2 => self.b += 1,
            2 if self.b == 2 => self.c = true,
            _ => {}
        }
    }

    fn state(&self) -> u64 {
        u64::from(self.a) << 16 | u64::from(self.b) << 8 | u64::from(self.c)
    }

    fn is_solved(&self) -> bool {
        self.c
    }
}

/// Eight digits; a wrong one begins again.
#[derive(Clone, Default)]
pub(crate) struct Lock {
    right: usize,
}

const DIGITS: [usize; 8] = [3, 1, 4, 1, 5, 0, 2, 5];

impl Puzzle for Lock {
    fn moves(&self) -> usize {
        6
    }

    fn play(&mut self, number: usize) {
        self.right = if DIGITS.get(self.right) == Some(&number) { self.right + 1 } else { 0 };
    }

    fn state(&self) -> u64 {
        self.right as u64
    }

    fn is_solved(&self) -> bool {
        self.right == DIGITS.len()
    }
}

/// Discs on three pegs; none lies on a smaller one.
#[derive(Clone)]
pub(crate) struct Hanoi {
    /// The peg of each disc, the smallest first.
    pegs: Vec<u8>,
}

impl Hanoi {
    pub(crate) fn new(discs: usize) -> Hanoi {
        Hanoi { pegs: vec![0; discs] }
    }
}

impl Puzzle for Hanoi {
    fn moves(&self) -> usize {
        6
    }

    fn play(&mut self, number: usize) {
        let (from, to) = [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)][number];
        let top = |peg: u8| self.pegs.iter().position(|of_disc| *of_disc == peg);
        match (top(from), top(to)) {
            (Some(disc), None) => self.pegs[disc] = to,
            (Some(disc), Some(below)) if disc < below => self.pegs[disc] = to,
            _ => {}
        }
    }

    fn state(&self) -> u64 {
        self.pegs.iter().fold(0, |sum, peg| sum * 3 + u64::from(*peg))
    }

    fn is_solved(&self) -> bool {
        self.pegs.iter().all(|peg| *peg == 2)
    }
}

/// Entries that are put one by one, and dropped by half.
#[derive(Clone, Default)]
pub(crate) struct Cache {
    entries: u32,
}

impl Puzzle for Cache {
    fn moves(&self) -> usize {
        3
    }

    fn play(&mut self, number: usize) {
        match number {
            0 => self.entries += 1,
            1 => self.entries /= 2,
            _ => {}
        }
    }

    fn state(&self) -> u64 {
        u64::from(self.entries)
    }

    fn is_solved(&self) -> bool {
        self.entries >= 64
    }
}

/// Three faults in one order, the last of them soon after the first.
#[derive(Clone, Default)]
pub(crate) struct Faults {
    /// How many came in their order, and ticks since the first.
    come: u8,
    ticks: u8,
}

/// Ticks within which all must come.
const WINDOW: u8 = 10;

impl Puzzle for Faults {
    fn moves(&self) -> usize {
        8
    }

    fn play(&mut self, number: usize) {
        self.ticks += u8::from(self.come > 0);
        self.come = match (self.come, number) {
            (0, 0) => 1,
            (1, 1) => 2,
            (2, 2) => 3,
            // The same fault again, or another one, spoils it.
            (_, 0..=2) => 0,
            (come, _) => come,
        };
        if self.come == 0 || self.ticks > WINDOW {
            (self.come, self.ticks) = (0, 0);
        }
    }

    fn state(&self) -> u64 {
        u64::from(self.come) << 8 | u64::from(self.ticks)
    }

    fn is_solved(&self) -> bool {
        self.come == 3
    }
}
