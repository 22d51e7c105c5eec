//! Stock: a store of one number on one machine, and clients on others that count it up. An ordinary program: nothing here knows that it is searched.
//!
//! ```text
//! stock serve                       the store, on port 7000, for ever
//! stock buy CLIENT PERIOD_MS        every PERIOD ms: get the number, set it to one more; five times
//! stock buy ... mended              the same, by one request that adds
//! ```
//!
//! The planted fault: two clients may get the same number, and one of the two updates is lost. Their periods are such that it
//! happens only where a packet comes late. Client 0 waits for the others and compares.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::process::ExitCode;
use std::time::Duration;

const ROUNDS: u64 = 5;
const CLIENTS: u64 = 2;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match &words[..] {
        ["serve"] => serve(),
        ["buy", client, period, rest @ ..] => {
            let (client, period) = (client.parse().expect("a number"), period.parse().expect("a number"));
            buy(client, Duration::from_millis(period), rest == ["mended"])
        }
        _ => ExitCode::from(2),
    }
}

fn serve() -> ExitCode {
    let listener = TcpListener::bind("0.0.0.0:7000").expect("the port is free");
    let (mut number, mut done) = (0, 0);
    for stream in listener.incoming() {
        let Ok(mut stream) = stream else { continue };
        let mut line = String::new();
        if BufReader::new(&stream).read_line(&mut line).is_err() {
            continue;
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        let answer = match &words[..] {
            ["get"] => number,
            ["set", value] => {
                number = value.parse().unwrap_or(0);
                number
            }
            ["add"] => {
                number += 1;
                number
            }
            ["done"] => {
                done += 1;
                done
            }
            _ => done,
        };
        let _ = writeln!(stream, "{answer}");
    }
    ExitCode::SUCCESS
}

/// One request, repeated until the store is there.
fn ask(words: &str) -> u64 {
    loop {
        let asked = TcpStream::connect("store:7000").and_then(|mut stream| {
            writeln!(stream, "{words}")?;
            let mut line = String::new();
            BufReader::new(&stream).read_line(&mut line)?;
            Ok(line)
        });
        if let Some(number) = asked.ok().and_then(|line| line.trim().parse().ok()) {
            return number;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn buy(client: u64, period: Duration, is_mended: bool) -> ExitCode {
    std::thread::sleep(period * client as u32 / CLIENTS as u32);
    for _ in 0..ROUNDS {
        if is_mended {
            ask("add");
        } else {
            let number = ask("get");
            ask(&format!("set {}", number + 1));
        }
        std::thread::sleep(period);
    }
    ask("done");
    if client > 0 {
        return ExitCode::SUCCESS;
    }
    while ask("clients") < CLIENTS {
        std::thread::sleep(period);
    }
    let (found, expected) = (ask("get"), ROUNDS * CLIENTS);
    println!("{found} of {expected}");
    if found == expected {
        return ExitCode::SUCCESS;
    }
    eprintln!("an update was lost: {found} of {expected}");
    ExitCode::FAILURE
}
