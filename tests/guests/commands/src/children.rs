//! What it does when it is the program that others run.

use crate::Behaviour;
use std::io::{BufRead, Read, Write};
use std::process::ExitCode;
use std::time::Duration;

pub const TABLE: &[(&str, Behaviour)] = &[
    ("upper", |_| {
        let mut out = std::io::stdout();
        for line in std::io::stdin().lock().lines() {
            let line = line.expect("text").to_uppercase();
            writeln!(out, "{line}").and_then(|()| out.flush()).expect("somebody reads");
        }
        // The standard library knows no other code than this one on WASI 0.2.
        ExitCode::FAILURE
    }),
    // Its first line says what it has of its own: arguments, environment, disk, entropy.
    ("own", |args| {
        println!("args {args:?}");
        let mut names: Vec<String> = std::env::vars().map(|(name, value)| format!("{name}={value}")).collect();
        names.sort();
        println!("env {names:?}");
        println!("tmp {}", std::fs::read_dir("/tmp").expect("there is one").count());
        let state = std::hash::RandomState::new();
        println!("hash {:016x}", std::hash::BuildHasher::hash_one(&state, 1));
        let mut input = String::new();
        std::io::stdin().read_to_string(&mut input).expect("text");
        println!("input {input:?}");
        eprintln!("to standard error");
        ExitCode::SUCCESS
    }),
    ("flood", |args| {
        let len: usize = args[0].parse().expect("a number");
        let written = std::io::stdout().write_all(&vec![b'x'; len]).and_then(|()| std::io::stdout().flush());
        match written {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        }
    }),
    ("sleep", |args| {
        println!("begun");
        std::thread::sleep(Duration::from_millis(args[0].parse().expect("a number")));
        println!("done");
        ExitCode::SUCCESS
    }),
    ("trap", |_| {
        println!("before");
        std::process::abort()
    }),
];
