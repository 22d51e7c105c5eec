//! Is called by `caller`, from another store.

use exports::test::pair::peer::{Everything, Guest};
use std::cell::Cell;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::time::Duration;

wit_bindgen::generate!({ world: "called" });

struct Peer;
export!(Peer);

thread_local! {
    static SUM: Cell<u32> = const { Cell::new(0) };
}

impl Guest for Peer {
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
