//! Records arrive until one says that it is the last, each is inserted where it belongs by its time, and a report is written line by
//! line: what arrives late moves all that is there, and each line copies the report so far.

use fozzy_sdk::draw;

fn main() {
    let mut records: Vec<u32> = Vec::new();
    while draw::range(0..=15u8) > 0 {
        let time = draw::range(0..=99_999u32);
        let late = records.iter().rev().take_while(|before| **before > time).count();
        records.insert(records.len() - late, time);
    }
    let mut report = String::new();
    for time in &records {
        report = format!("{report}{time}\n");
    }
    println!("{} records, {} bytes", records.len(), report.len());
}
