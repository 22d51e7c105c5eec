//! Memory holds across calls of the host: see `holds.c`. Built by rustc alone, with the standard library.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::process::exit;
use std::time::{Duration, Instant, SystemTime};

const BLOCKS: usize = 64;
const ROUNDS: usize = 60;
const FULL_BYTES: usize = 2 << 20;

struct Block {
    bytes: Vec<u8>,
    seed: u8,
}

impl Block {
    fn pattern(&self, at: usize) -> u8 {
        self.seed.wrapping_add((at.wrapping_mul(31).wrapping_add(at >> 8)) as u8)
    }

    fn check(&self, range: std::ops::Range<usize>, after: &str) {
        if let Some(at) = range.clone().find(|at| self.bytes[*at] != self.pattern(*at)) {
            eprintln!("corrupt: a block of {} bytes at {at}, after {after}", self.bytes.len());
            exit(3);
        }
    }
}

struct Holder {
    blocks: Vec<Block>,
    state: u64,
    calls: usize,
    folder: String,
}

impl Holder {
    fn draw(&mut self, below: usize) -> usize {
        self.state = self.state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.state >> 33) as usize % below
    }

    fn block(&mut self, size: usize) -> Block {
        let mut block = Block { bytes: vec![0; size], seed: self.draw(256) as u8 };
        for at in 0..size {
            block.bytes[at] = block.pattern(at);
        }
        block
    }

    /// A buffer for what the host writes, with a border that it must not touch.
    fn room<R>(&mut self, size: usize, after: &str, call: impl FnOnce(&mut [u8]) -> R) {
        let mut block = self.block(size + 128);
        let _ = call(&mut block.bytes[64..64 + size]);
        block.check(0..64, after);
        block.check(64 + size..size + 128, after);
    }

    fn path(&self, name: &str) -> String {
        format!("{}/{name}", self.folder)
    }

    fn files(&mut self) {
        let size = 1 + self.draw(20_000);
        let mut options = OpenOptions::new();
        let Ok(mut file) = options.read(true).write(true).create(true).truncate(true).open(self.path("held")) else {
            return;
        };
        self.room(size, "write", |bytes| file.write(bytes));
        let at = self.draw(50) as u64;
        let _ = file.seek(SeekFrom::Start(at));
        self.room(size, "read", |bytes| file.read(bytes));
        let length = self.draw(30_000) as u64;
        let _ = (file.sync_all(), file.sync_data(), file.set_len(length), file.metadata(), file.set_modified(SystemTime::now()));
    }

    fn paths(&mut self) {
        let [held, moved, hard, under, none] = ["held", "moved", "hard", "under", "none"].map(|name| self.path(name));
        let _ = (fs::create_dir(&under), fs::metadata(&held), fs::symlink_metadata(&none), fs::rename(&held, &moved));
        let _ = (fs::hard_link(&moved, &hard), fs::read_link(&hard), fs::read(&moved), fs::copy(&moved, &hard));
        let _ = (fs::remove_file(&hard), fs::remove_file(&moved), fs::remove_dir(&under), File::open(&none).is_err());
    }

    fn call(&mut self, kind: usize) {
        let after = match kind % 7 {
            0 => (fs::read_dir(&self.folder).map(Iterator::count).unwrap_or(0), "readdir").1,
            1 => (self.files(), "files").1,
            2 => (self.paths(), "paths").1,
            3 => (std::thread::sleep(Duration::from_nanos(self.draw(2_000_000) as u64)), "poll").1,
            4 => (std::collections::HashSet::<u8>::new(), Instant::now(), "random and clocks").2,
            5 => (std::env::args().count(), std::env::vars().count(), "args").2,
            _ => (print!("{}", self.calls % 10), std::io::stdout().flush(), "output").2,
        };
        self.calls += 1;
        self.blocks.iter().for_each(|block| block.check(0..block.bytes.len(), after));
    }
}

fn main() {
    use std::hash::{BuildHasher, Hasher};
    let state = std::collections::hash_map::RandomState::new().build_hasher().finish();
    let folder = std::env::args().nth(1).unwrap_or("/".to_owned());
    let mut holder = Holder { blocks: Vec::new(), state, calls: 0, folder };
    for round in 0..ROUNDS {
        let (place, size) = (holder.draw(BLOCKS), holder.draw(10));
        let old = holder.blocks.get(place).map_or(0, |block| block.bytes.len());
        let size = 1 + holder.draw(16 << size) + old / 2;
        let block = holder.block(size);
        match holder.blocks.get_mut(place) {
            Some(old) => *old = block,
            None => holder.blocks.push(block),
        }
        holder.call(round);
    }
    // More than there was.
    let mut held = 0;
    while held < FULL_BYTES {
        let size = [65_520, 200 << 10, 400 << 10][holder.draw(3)];
        let block = holder.block(size);
        (held += size, holder.blocks.push(block));
        holder.call(holder.blocks.len());
    }
    (0..7).for_each(|kind| holder.call(kind));
    println!("\nheld {} calls", holder.calls);
}
