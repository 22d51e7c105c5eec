//! What it asks of the sandbox: points that misbehave, trees that come back.

use crate::Behaviour;
use crate::fozzy::faults::points;
use crate::fozzy::files::snapshots;
use std::fs;
use std::process::ExitCode;

pub const TABLE: &[(&str, Behaviour)] = &[
    ("buggify", |args| {
        let struck = (0..200).filter(|_| points::buggify(&args[0])).count();
        println!("{struck} of 200, {:?}", (0..50).find_map(|_| points::buggify_with(&args[0])));
        ExitCode::SUCCESS
    }),
    ("snapshots", |_| {
        fs::write("/tmp/a", "one").expect("room");
        println!("{:?}", snapshots::snapshot("before"));
        fs::write("/tmp/a", "two").expect("room");
        fs::write("/tmp/b", "new").expect("room");
        let open = fs::File::open("/tmp/a").expect("it is there");
        println!("{:?}", snapshots::restore("before"));
        drop(open);
        println!("{:?}", snapshots::restore("before"));
        println!("{:?} {:?}", fs::read_to_string("/tmp/a").ok(), fs::read_to_string("/tmp/b").ok());
        println!("{:?} {:?}", snapshots::names(), snapshots::forget("before"));
        println!("{:?} {:?}", snapshots::restore("before"), snapshots::snapshot(""));
        ExitCode::SUCCESS
    }),
];
