//! Is called by `caller`, from another store.

use exports::test::pair::peer::{Everything, Guest, GuestTally, Tally, TallyBorrow};
use std::cell::Cell;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::time::Duration;

wit_bindgen::generate!({ world: "called" });

struct Peer;
export!(Peer);

thread_local! {
    static SUM: Cell<u32> = const { Cell::new(0) };
    static TALLIES: Cell<u32> = const { Cell::new(0) };
}

/// What others have handles of.
struct Count(Cell<u32>);

impl Drop for Count {
    fn drop(&mut self) {
        TALLIES.set(TALLIES.get() - 1);
    }
}

impl GuestTally for Count {
    fn new(start: u32) -> Count {
        TALLIES.set(TALLIES.get() + 1);
        Count(Cell::new(start))
    }

    fn more(&self) -> u32 {
        self.0.set(self.0.get() + 1);
        self.0.get()
    }

    fn merge(first: Tally, second: TallyBorrow<'_>) -> u32 {
        let (first, second): (Count, &Count) = (first.into_inner(), second.get());
        second.0.set(first.0.get() + second.0.get());
        second.0.get()
    }
}

impl Guest for Peer {
    type Tally = Count;

    fn tallies() -> u32 {
        TALLIES.get()
    }

    fn several(starts: Vec<u32>) -> Vec<Tally> {
        starts.into_iter().map(|start| Tally::new(Count::new(start))).collect()
    }

    fn echo(of: Everything) -> Everything {
        of
    }

    fn add(number: u32) -> u32 {
        SUM.set(SUM.get() + number);
        SUM.get()
    }

    fn append(bytes: Vec<u8>, sync: bool) -> u64 {
        let mut file = OpenOptions::new().append(true).create(true).open("/log").expect("the disk takes it");
        file.write_all(&bytes).expect("the disk takes it");
        if sync {
            file.sync_all().expect("the disk keeps it");
            File::open("/").and_then(|folder| folder.sync_all()).expect("and its name");
        }
        std::fs::metadata("/log").expect("it is there").len()
    }

    fn behave(how: String) -> Result<u32, String> {
        match how.as_str() {
            "well" => Ok(7),
            "panic" => panic!("the peer panics"),
            "exit" => std::process::exit(3),
            "for-ever" => loop {
                std::hint::black_box(());
            },
            "recurse" => Ok(recurse(1)),
            "sleep" => {
                std::thread::sleep(Duration::from_secs(3600));
                Ok(3600)
            }
            "wait" => {
                let mut line = String::new();
                std::io::stdin().read_line(&mut line).map_err(|error| error.to_string())?;
                Ok(line.len() as u32)
            }
            other => Err(format!("nobody behaves like `{other}`")),
        }
    }
}

fn recurse(depth: u32) -> u32 {
    std::hint::black_box(recurse(std::hint::black_box(depth + 1))) + 1
}
