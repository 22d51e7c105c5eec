//! Asking the system: arguments, environment, standard streams, random numbers, and what a guest cannot have.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::io::{Read, Write};

use crate::{Arguments, argument, entropy, or_exit};

/// Greets.
pub fn hello(_: &Arguments) {
    println!("hello");
}

/// Prints every argument on a line, quoted.
pub fn args(arguments: &Arguments) {
    for argument in arguments {
        println!("{argument:?}");
    }
}

/// Prints the environment in the order in which it was given.
pub fn env(_: &Arguments) {
    for (name, value) in std::env::vars() {
        println!("{name}={value}");
    }
}

/// Copies stdin to stdout, ASCII letters in upper case.
pub fn stdin(_: &Arguments) {
    let mut bytes = Vec::new();
    or_exit(std::io::stdin().read_to_end(&mut bytes), "stdin");
    bytes.make_ascii_uppercase();
    or_exit(std::io::stdout().write_all(&bytes), "stdout");
}

/// One line on each of stdout and stderr, twice, in turns.
pub fn stderr(_: &Arguments) {
    for round in 1..=2 {
        println!("out {round}");
        eprintln!("err {round}");
    }
}

/// Prints four secure random numbers, and a hash that depends on the insecure seed of the standard hasher.
pub fn random(_: &Arguments) {
    for _ in 0..4 {
        let mut bytes = [0; 8];
        entropy(&mut bytes);
        println!("secure {:016x}", u64::from_le_bytes(bytes));
    }
    println!("hasher {:016x}", RandomState::new().hash_one("probe"));
}

/// Prints twenty words in the iteration order of a `HashMap`, which follows from the hasher's seed.
pub fn hashmap(_: &Arguments) {
    const WORDS: &str = "amber birch cedar dune ember fjord grove heath isle jade kelp larch moss north ochre pine quartz reed slate thorn";
    let map: HashMap<&str, usize> = WORDS.split(' ').zip(1..).collect();
    for (word, number) in &map {
        println!("{number} {word}");
    }
}

/// Starts a thread, which WASI 0.2 has none of: prints the error.
pub fn thread(_: &Arguments) {
    match std::thread::Builder::new().spawn(|| 42) {
        Ok(handle) => println!("joined {:?}", handle.join()),
        Err(error) => println!("no thread: {error}"),
    }
}

/// Connects to the address given (`127.0.0.1:7` and the like): prints what came of it.
pub fn connect(arguments: &Arguments) {
    let address: String = argument(arguments, 0, "an address");
    match std::net::TcpStream::connect(&address) {
        Ok(_) => println!("connected"),
        Err(error) => println!("not connected: {error}"),
    }
}
