//! A maze with one way between any two cells, made by going deep first, always the same.

use super::Puzzle;

/// North, east, south, west.
const STEPS: [(isize, isize); 4] = [(0, -1), (1, 0), (0, 1), (-1, 0)];

#[derive(Clone)]
pub(crate) struct Maze {
    size: isize,
    /// The open sides of each cell, a bit for each direction.
    open: Vec<u8>,
    at: (isize, isize),
    /// Whether a wall sends back to the start.
    strict: bool,
}

impl Maze {
    pub(crate) fn new(size: isize, strict: bool) -> Maze {
        let mut maze = Maze { size, open: vec![0; (size * size) as usize], at: (0, 0), strict };
        let mut way = vec![(0, 0)];
        let mut number = 0x2545_f491_4f6c_dd1d_u64;
        while let Some(&(x, y)) = way.last() {
            // Marsaglia's xorshift: any fixed sequence will do.
            number ^= number << 13;
            number ^= number >> 7;
            number ^= number << 17;
            let first = (number >> 33) as usize;
            let unseen = (0..4).map(|turn| (first + turn) % 4).find(|direction| {
                let (dx, dy) = STEPS[*direction];
                maze.cell(x + dx, y + dy).is_some_and(|cell| maze.open[cell] == 0)
            });
            let Some(direction) = unseen else {
                way.pop();
                continue;
            };
            let (dx, dy) = STEPS[direction];
            for ((x, y), direction) in [((x, y), direction), ((x + dx, y + dy), (direction + 2) % 4)] {
                if let Some(cell) = maze.cell(x, y) {
                    maze.open[cell] |= 1 << direction;
                }
            }
            way.push((x + dx, y + dy));
        }
        maze
    }

    fn cell(&self, x: isize, y: isize) -> Option<usize> {
        let inside = (0..self.size).contains(&x) && (0..self.size).contains(&y);
        inside.then(|| (y * self.size + x) as usize)
    }
}

impl Puzzle for Maze {
    fn moves(&self) -> usize {
        STEPS.len()
    }

    fn play(&mut self, number: usize) {
        let (x, y) = self.at;
        let (dx, dy) = STEPS[number];
        let is_open = self.cell(x, y).is_some_and(|cell| self.open[cell] & 1 << number != 0);
        if is_open {
            self.at = (x + dx, y + dy);
        } else if self.strict {
            self.at = (0, 0);
        }
    }

    fn state(&self) -> u64 {
        (self.at.1 * self.size + self.at.0) as u64
    }

    fn is_solved(&self) -> bool {
        self.at == (self.size - 1, self.size - 1)
    }
}
