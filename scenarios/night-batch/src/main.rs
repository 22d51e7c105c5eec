//! A night batch: each night one account pays a fee that grows.
//!
//! It passes on most machines, on most nights. The planted fault: `settle` takes the *first* account
//! that can pay, and first is an order of the hash map, which is another one in every process.
//! Under Fozzy it is a function of the seed, and so is the failure.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Write;
use std::thread::sleep;
use std::time::{Duration, Instant};

const NIGHTS: i64 = 3;
const DAY: Duration = Duration::from_secs(24 * 3600);

fn main() -> std::io::Result<()> {
    let started = Instant::now();
    let mut accounts = HashMap::from([("ada", 55), ("bob", 20), ("cleo", 45), ("dan", 10), ("eve", 55)]);
    let mut ledger = File::create("/tmp/ledger")?;
    for night in 1..=NIGHTS {
        sleep(DAY);
        let fee = 20 + 10 * night;
        let payer = settle(&mut accounts, fee);
        writeln!(ledger, "night {night}: {payer} pays {fee}")?;
    }
    drop(ledger);
    print!("{}", fs::read_to_string("/tmp/ledger")?);
    println!("{NIGHTS} nights settled in {} days", started.elapsed().as_secs() / DAY.as_secs());
    Ok(())
}

/// Takes the fee from the first account that can pay it.
fn settle(accounts: &mut HashMap<&'static str, i64>, fee: i64) -> &'static str {
    let able = accounts.iter_mut().find(|(_, balance)| **balance >= fee);
    let (payer, balance) = able.unwrap_or_else(|| panic!("nobody can pay {fee}"));
    *balance -= fee;
    payer
}
