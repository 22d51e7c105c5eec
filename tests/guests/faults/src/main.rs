//! Faults: each first argument names something that every computer does right, until a planned fault strikes.
//!
//! ```text
//! faults read      writes five bytes, reads them back, and ends with code 1 when they are others
//! ```
//!
//! What fails is said on stderr. Files are in `/tmp`.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

/// What went wrong, in a few words.
type Outcome = Result<(), String>;

const MODES: &[(&str, fn() -> Outcome)] = &[
    ("write", write),
    ("write-once", write_once),
    ("read", read),
    ("read-once", read_once),
    ("make", make),
    ("sync", sync),
    ("quick", quick),
    ("wall", wall),
    ("sleep", slept),
    ("moving", moving),
    ("ticks", ticks),
    ("writes", writes),
    ("restart", restart),
    ("restart-synced", restart_synced),
];

const PATH: &str = "/tmp/file";
const SECOND: Duration = Duration::from_secs(1);
const TICK: Duration = Duration::from_millis(100);

fn main() {
    let mode = std::env::args().nth(1).unwrap_or_default();
    let Some((_, run)) = MODES.iter().find(|(name, _)| *name == mode) else {
        let names: Vec<&str> = MODES.iter().map(|(name, _)| *name).collect();
        eprintln!("faults: no mode {mode:?}; one of: {}", names.join(" "));
        std::process::exit(2);
    };
    if let Err(what) = run() {
        eprintln!("faults: {what}");
        std::process::exit(1);
    }
}

fn said<T>(result: std::io::Result<T>) -> Result<T, String> {
    result.map_err(|error| error.to_string())
}

fn expect(right: bool, what: &str) -> Outcome {
    if right { Ok(()) } else { Err(what.to_owned()) }
}

/// All bytes are taken.
fn write() -> Outcome {
    said(fs::write(PATH, b"hello"))
}

/// A write says how many bytes it took, and this program believes that it is all of them.
fn write_once() -> Outcome {
    let count = said(said(File::create(PATH))?.write(b"hello"))?;
    expect(count == 5, "a short write")
}

/// What was written is read.
fn read() -> Outcome {
    write()?;
    expect(said(fs::read(PATH))? == b"hello", "other bytes")
}

/// One read of a file that is shorter than the buffer gives all of it, this program believes.
fn read_once() -> Outcome {
    write()?;
    let count = said(said(File::open(PATH))?.read(&mut [0; 100]))?;
    expect(count == 5, "a short read")
}

/// There is room for an empty directory.
fn make() -> Outcome {
    said(fs::create_dir("/tmp/directory"))
}

/// What was written can be made durable.
fn sync() -> Outcome {
    let mut file = said(File::create(PATH))?;
    said(file.write_all(b"hello"))?;
    said(file.sync_all())
}

/// A small write takes no time worth mentioning.
fn quick() -> Outcome {
    let start = Instant::now();
    write()?;
    expect(start.elapsed() < Duration::from_millis(5), "a slow disk")
}

/// It is nearly the same time a moment later.
fn wall() -> Outcome {
    let start = SystemTime::now();
    expect(start.elapsed().is_ok_and(|passed| passed < SECOND), "another time of day")
}

/// A second takes a second.
fn slept() -> Outcome {
    let start = Instant::now();
    sleep(SECOND);
    let passed = start.elapsed();
    expect(passed.abs_diff(SECOND) < Duration::from_millis(1), "a second of another length")
}

/// Time passes.
fn moving() -> Outcome {
    let start = Instant::now();
    sleep(SECOND);
    expect(start.elapsed() > Duration::ZERO, "the clock stands still")
}

/// Twenty ticks come when they are due.
fn ticks() -> Outcome {
    let start = Instant::now();
    for tick in 1..=20 {
        let due = TICK * tick;
        sleep(due.saturating_sub(start.elapsed()));
        expect(start.elapsed() < due + Duration::from_millis(5), "a late tick")?;
    }
    Ok(())
}

/// Twenty small writes, when whoever ticks beside it has begun.
fn writes() -> Outcome {
    println!("started");
    sleep(TICK / 2);
    for time in 0..20_u8 {
        said(fs::write(PATH, [time]))?;
    }
    println!("written");
    Ok(())
}

/// What was saved by an earlier life is whole, this program believes; it never synced it.
fn restart() -> Outcome {
    live(|_| Ok(()))
}

/// The same, properly.
fn restart_synced() -> Outcome {
    live(|file| {
        said(file.sync_all())?;
        said(said(File::open("/tmp"))?.sync_all())
    })
}

/// Saves something, sleeps, and looks at the disk; a later life finds what was saved.
fn live(sync: fn(&File) -> Outcome) -> Outcome {
    println!("started");
    match fs::read(PATH) {
        Ok(saved) => expect(saved == [b'x'; 1000], "half of what was saved"),
        Err(_) => {
            let mut file = said(OpenOptions::new().write(true).create_new(true).open(PATH))?;
            said(file.write_all(&[b'x'; 1000]))?;
            sync(&file)?;
            sleep(SECOND);
            said(fs::metadata(PATH)).map(drop)
        }
    }
}
