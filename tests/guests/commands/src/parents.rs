//! What it does with other programs.

use crate::Behaviour;
use crate::fozzy::process::run::{self, Command, Ending, Error, ExitStatus, Output};
use crate::wasi::io::streams::{InputStream, StreamError};
use std::process::ExitCode;
use std::time::Instant;

pub const TABLE: &[(&str, Behaviour)] = &[
    ("run", |args| show(&command(args))),
    ("run-with", |args| {
        let given =
            Command { stdin: args[0].clone().into_bytes(), env: vec![env("GIVEN", "1")], ..command(&args[1..]) };
        show(&given)
    }),
    // One after another, all of which must go the same way.
    ("run-many", |args| {
        let count: usize = args[0].parse().expect("a number");
        let one = || {
            let Output { status: ended, deadline_passed, stdout, .. } = run::run(&command(&args[1..])).expect("it runs");
            format!("{} {:?}", status(ended, deadline_passed), String::from_utf8_lossy(&stdout))
        };
        let first = one();
        assert!((1..count).all(|_| one() == first), "one went another way than {first}");
        println!("{count} of {first}");
        ExitCode::SUCCESS
    }),
    ("run-within", |args| {
        let deadline = args[0].parse::<u64>().expect("milliseconds") * 1_000_000;
        show(&Command { deadline: Some(deadline), ..command(&args[1..]) })
    }),
    // Line by line: the next is written when the answer to the last is there.
    ("talk", |args| {
        let child = run::spawn(&Command { stdin: b"given\n".to_vec(), ..command(args) }).expect("it starts");
        let (stdin, stdout) = (child.stdin().expect("not taken"), child.stdout().expect("not taken"));
        assert!(child.stdin().is_none() && child.stdout().is_none(), "once");
        let mut answers = String::new();
        for line in ["one\n", "two\n"] {
            answers += &String::from_utf8(stdout.blocking_read(4_096).expect("an answer")).expect("text");
            stdin.blocking_write_and_flush(line.as_bytes()).expect("it reads");
        }
        drop(stdin);
        answers += &String::from_utf8(rest(&stdout)).expect("text");
        println!("child {} {answers:?}", child.id());
        show_ending(child.wait())
    }),
    // Writes all, and then reads all.
    ("feed", |args| {
        let child = run::spawn(&Command { stdin: b"given ".to_vec(), ..command(args) }).expect("it starts");
        let stdin = child.stdin().expect("not taken");
        stdin.blocking_write_and_flush(b"fed").expect("it reads");
        drop(stdin);
        println!("{:?}", String::from_utf8_lossy(&rest(&child.stdout().expect("not taken"))));
        show_ending(child.wait())
    }),
    // Ends, and still holds a child with the stream to its input.
    ("leave", |args| {
        let child = run::spawn(&Command { stdin: b"given ".to_vec(), ..command(&args[1..]) }).expect("it starts");
        let stdin = child.stdin().expect("not taken");
        stdin.blocking_write_and_flush(b"fed").expect("it reads");
        let other = run::spawn(&command(&args[1..])).expect("it starts");
        std::mem::forget((child, stdin, other));
        match args[0].as_str() {
            "exit" => std::process::exit(0),
            "trap" => std::process::abort(),
            "spin" => loop {
                std::hint::black_box(0);
            },
            _ => ExitCode::SUCCESS,
        }
    }),
    ("wait", |args| show_ending(run::spawn(&command(args)).expect("it starts").wait())),
    ("kill-first", |args| {
        let child = run::spawn(&command(args)).expect("it starts");
        child.kill(9).expect("a signal");
        show_ending(child.wait())
    }),
    // A child that writes more than a pipe holds, read in the end or never.
    ("drain", |args| {
        let child = run::spawn(&command(args)).expect("it starts");
        let stdout = child.stdout().expect("not taken");
        println!("{} bytes", rest(&stdout).len());
        show_ending(child.wait())
    }),
    ("shut", |args| {
        let child = run::spawn(&command(args)).expect("it starts");
        drop(child.stdout().expect("not taken"));
        show_ending(child.wait())
    }),
    ("kill", |args| {
        let child = run::spawn(&command(&args[1..])).expect("it starts");
        let stdout = child.stdout().expect("not taken");
        println!("{:?}", String::from_utf8_lossy(&stdout.blocking_read(5).expect("its first words")));
        assert!(child.poll().is_none(), "it goes on");
        println!("{:?} {:?}", child.kill(-1).is_err(), child.kill(65).is_err());
        child.kill(0).expect("it may be asked");
        assert!(child.poll().is_none(), "it goes on");
        child.kill(args[0].parse().expect("a signal")).expect("a signal");
        child.subscribe().block();
        assert!(child.poll().is_some(), "it is over");
        child.kill(1).expect("too late");
        println!("{} bytes more", rest(&stdout).len());
        show_ending(child.wait())
    }),
    // Starts several, and waits for whichever ends first.
    ("race", |args| {
        let children: Vec<_> = args
            .iter()
            .map(|time| run::spawn(&command(&["self".into(), "sleep".into(), time.clone()])).expect("it starts"))
            .collect();
        let ends: Vec<_> = children.iter().map(|child| child.subscribe()).collect();
        let ready = crate::wasi::io::poll::poll(&ends.iter().collect::<Vec<_>>());
        println!("{ready:?}");
        ExitCode::SUCCESS
    }),
    // Asks for a command until it is refused for want of room.
    ("spawn-all", |args| {
        let mut children = Vec::new();
        loop {
            match run::spawn(&command(args)) {
                Ok(child) => children.push(child),
                Err(error) => {
                    println!("{} started, then {error:?}", children.len());
                    return ExitCode::SUCCESS;
                }
            }
        }
    }),
];

fn command(args: &[String]) -> Command {
    let (command, args) = args.split_first().expect("a command");
    let (command, args) = (command.clone(), args.to_vec());
    Command { command, args, env: Vec::new(), cwd: None, stdin: Vec::new(), deadline: None }
}

fn env(name: &str, value: &str) -> (String, String) {
    (name.to_owned(), value.to_owned())
}

fn rest(stream: &InputStream) -> Vec<u8> {
    let mut all = Vec::new();
    loop {
        match stream.blocking_read(10_000) {
            Ok(bytes) => all.extend(bytes),
            Err(StreamError::Closed) => return all,
            Err(error) => panic!("{error:?}"),
        }
    }
}

fn status(status: ExitStatus, deadline_passed: bool) -> String {
    let late = if deadline_passed { " late" } else { "" };
    match status {
        ExitStatus::Code(code) => format!("code {code}{late}"),
        ExitStatus::Signal(signal) => format!("signal {signal}{late}"),
    }
}

/// Runs a command and shows what became of it, and how long that took.
fn show(command: &Command) -> ExitCode {
    let begun = Instant::now();
    let result = run::run(command);
    let millis = begun.elapsed().as_millis();
    match result {
        Ok(Output { status: ended, deadline_passed, stdout, stderr }) => {
            let (stdout, stderr) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
            println!("{} {stdout:?} {stderr:?}", status(ended, deadline_passed));
        }
        Err(error) => println!("{error:?}"),
    }
    println!("{millis}ms");
    ExitCode::SUCCESS
}

fn show_ending(result: Result<Ending, Error>) -> ExitCode {
    match result {
        Ok(Ending { status: ended, deadline_passed }) => println!("{}", status(ended, deadline_passed)),
        Err(error) => println!("{error:?}"),
    }
    ExitCode::SUCCESS
}
