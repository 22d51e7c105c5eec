//! Calls `peer`, which is another component, in the way that the first argument says, and prints what it got.

use fozzy::target::control;
use test::pair::peer::{self, Colour, Everything, Rights, Shape};

wit_bindgen::generate!({
    inline: "package test:caller; world caller { import test:pair/peer@0.1.0; import fozzy:target/control@0.1.0; }",
    path: ["../peer/wit", "../../../wit/deps/fozzy-target.wit"],
    generate_all,
    additional_derives: [PartialEq],
});

fn everything() -> Everything {
    Everything {
        yes: true,
        numbers: (u8::MAX, i8::MIN, u16::MAX, i16::MIN, u32::MAX, i32::MIN, u64::MAX, i64::MIN),
        floats: (0.5, -2.25),
        letter: 'ß',
        text: "text, ünïcode".to_owned(),
        bytes: vec![0, 255, 7],
        words: vec![String::new(), "two".to_owned()],
        nothing: None,
        something: Some(vec![None, Some("some".to_owned())]),
        shapes: vec![Shape::Point, Shape::Circle(1.5), Shape::Named("n".to_owned())],
        colour: Colour::Green,
        rights: Rights::READ | Rights::EXECUTE,
        outcome: Err("no".to_owned()),
        empty: Ok(()),
    }
}

/// A call that may end the peer, and what is known afterwards.
fn survive(how: &str) {
    control::outlive(true);
    println!("{:?}, down: {:?}", peer::behave(how), control::down());
    println!("{}, {:?}, down: {}", peer::add(1), peer::append(b"x", true), control::down().is_some());
    control::restart();
    println!("{:?}, {}, down: {:?}", peer::behave("well"), peer::add(1), control::down());
}

/// Three of them, each with a memory, files, handles and an end of its own.
fn instances() {
    let each = |act: &dyn Fn(u32) -> String| {
        let said = (0..control::instances()).map(|number| {
            control::select(number);
            act(number)
        });
        println!("{}", said.collect::<Vec<_>>().join(", "));
    };
    each(&|number| format!("{} {}", peer::add(number + 1), peer::append(&vec![7; number as usize + 1], number < 2)));
    control::lose_power();
    each(&|_| format!("{} {}", peer::add(0), peer::append(b"", false) <= 3));
    control::select(1);
    control::restart();
    each(&|_| format!("{} {}", peer::add(0), peer::append(b"", false).min(2)));
    control::select(0);
    let of_first = peer::Tally::new(5);
    control::select(1);
    let of_second = peer::Tally::new(7);
    drop(of_first);
    println!("{}", of_second.more());
    each(&|_| peer::tallies().to_string());
    control::outlive(true);
    control::select(1);
    println!("{:?}", peer::behave("panic"));
    each(&|_| format!("{}", control::down().is_some()));
}

fn main() {
    let how = std::env::args().nth(1).expect("an argument");
    match how.as_str() {
        "echo" => {
            let same = peer::echo(&everything()) == everything();
            println!("{same}");
            let long = Everything { bytes: vec![7; 1 << 20], text: "long".repeat(10_000), ..everything() };
            println!("{}", peer::echo(&long) == long);
        }
        "restart" => {
            println!("{} {}", peer::add(2), peer::add(3));
            println!("{} {}", peer::append(b"four", true), peer::append(b"more", false));
            control::restart();
            println!("{} {}", peer::add(4), peer::append(b"", false));
            control::lose_power();
            let kept = peer::append(b"", false);
            println!("{} {}", peer::add(5), (4..=8).contains(&kept));
            println!("mine: {}", std::fs::exists("/log").expect("a disk"));
        }
        "survive-panic" => survive("panic"),
        "survive-exit" => survive("exit"),
        "survive-recurse" => survive("recurse"),
        "survive-for-ever" => survive("for-ever"),
        "handles" => {
            let (one, other) = (peer::Tally::new(5), peer::Tally::new(1));
            println!("{} {}, there are {}", one.more(), one.more(), peer::tallies());
            println!("{} {}, there are {}", peer::Tally::merge(one, &other), other.more(), peer::tallies());
            drop(other);
            let several = peer::several(&[1, 2, 3]);
            let more: Vec<u32> = several.iter().map(peer::Tally::more).collect();
            println!("{more:?}, there are {}", peer::tallies());
            drop(several);
            println!("there are {}", peer::tallies());
        }
        "old-handle" => {
            let (one, other) = (peer::Tally::new(5), peer::Tally::new(1));
            control::restart();
            drop(other);
            println!("there are {}", peer::tallies());
            println!("{}", one.more());
        }
        "handle-when-down" => {
            control::outlive(true);
            let one = peer::Tally::new(5);
            println!("{:?}, {}", peer::behave("panic"), one.more());
            drop(one);
            println!("{}", peer::several(&[1]).len());
            drop(peer::Tally::new(1));
        }
        "instances" => instances(),
        "no-instance" => control::select(control::instances()),
        "many" => println!("{}", (0..10_000).map(|_| peer::add(1)).last().expect("some")),
        "restart-many" => {
            let once = |_| {
                control::restart();
                peer::add(1)
            };
            println!("{}", (0..10_000).map(once).sum::<u32>());
        }
        call => println!("{:?}", peer::behave(call)),
    }
}
