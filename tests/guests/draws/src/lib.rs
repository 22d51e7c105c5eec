//! Draws values of every kind, and says them: on standard output in the sandbox, in a list natively.

use fozzy_sdk::prelude::*;
use fozzy_sdk::task::{Mutex, channel};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Debug;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

thread_local! {
    /// What was said natively.
    pub static SAID: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

fn say(what: &str, value: impl Debug) {
    let line = format!("{what} {value:?}");
    #[cfg(target_arch = "wasm32")]
    println!("{line}");
    #[cfg(not(target_arch = "wasm32"))]
    SAID.with_borrow_mut(|said| said.push(line));
}

#[derive(Debug, Draw)]
#[allow(dead_code, reason = "its values are shown")]
enum Shape {
    Point,
    Line(u8, i16),
    #[draw(weight = 3)]
    Box {
        width: u32,
        tall: bool,
        name: Option<String>,
    },
}

#[derive(Debug, Draw)]
#[allow(dead_code, reason = "its values are shown")]
struct Generic<T> {
    inner: Vec<T>,
    pair: (char, f32),
}

/// Everything that can be drawn.
#[derive(Default)]
pub struct Everything {
    drawn: u32,
}

#[scenario]
impl Everything {
    fn pre_sequence(&mut self) {
        say("sequence", sequence_num());
        say("at the beginning", draw::range(0..=u64::MAX));
    }

    fn post_sequence(&mut self) {
        say("at the end", draw::any::<u16>());
    }

    fn pre_flow(&mut self, flow: &Flow) {
        say("flow", (flow_num(), flow.name));
    }

    #[flow]
    #[allow(clippy::too_many_arguments, reason = "each is one type")]
    fn integers(&mut self, a: u8, b: i8, c: u16, d: i16, e: u32, f: i32, g: u64, h: i64, i: usize, j: isize) {
        say("integers", (a, b, c, d, e, f, g, h, i, j));
        say("wide", (draw::any::<u128>(), draw::any::<i128>()));
        self.drawn += 1;
    }

    #[flow(weight = 80)]
    fn others(&mut self, a: f32, b: f64, c: bool, d: char, e: String, f: Duration) {
        say("others", (a.to_bits(), b.to_bits(), c, d, e, f));
    }

    #[flow(weight = 80)]
    fn collections(&mut self, a: Vec<u8>, b: [i32; 3], c: Option<Box<u8>>, d: BTreeMap<u8, u8>, e: BTreeSet<char>) {
        say("collections", (a, b, c, d, e));
        say("more", (draw::any::<VecDeque<bool>>(), draw::any::<Result<u8, char>>()));
    }

    #[flow(weight = 80)]
    fn derived(&mut self, shape: Shape, generic: Generic<Shape>) {
        say("derived", (shape, generic));
    }

    #[flow(weight = 80)]
    fn functions(&mut self) {
        say("int", random_int(-5i8, 5).zero_prob(0.3).edge_values_prob(0.2).draw());
        say("string", random_string(0, 9).predicate(|text| text.len() != 3).draw());
        say("bytes", random_bytes(2, 5).draw());
        say("bool", random_bool(0.3));
        say("one of", (draw::one_of(&["a", "b"]), draw::weighted(&[(1, 'x'), (9, 'y')]), draw::index(7)));
        say("vec of", draw::vec_of(0..=4, || draw::string_of("xyz", 1..=3)));
        say("such that", draw::such_that(draw::any::<u8>, |value| value % 3 == 0));
        say("matching", draw::matching(r"[a-f]{2}(-|_)\d+(foo|ba[rz])?.*"));
        say("arbitrary", draw::arbitrary::<(u8, Option<u16>, bool)>());
        say("seed", tools::reseed());
    }

    #[flow(weight = 80, max_times = 9)]
    async fn tasks(&mut self) {
        let (sender, receiver) = channel::bounded(1);
        let shared = Mutex::new(0);
        for name in ["a", "b", "c"] {
            let (sender, shared) = (sender.clone(), shared.clone());
            drop(task::spawn(name, async move {
                task::sleep(Duration::from_millis(draw::range(0..=3))).await;
                *shared.lock().await += 1;
                let _ = sender.send(name).await;
            }));
        }
        drop(sender);
        while let Some(name) = receiver.recv().await {
            say("received", name);
        }
        say("counted", *shared.lock().await);
        // The time of std is that of the run, natively too; a test that really slept so long would take minutes.
        let begun = Instant::now();
        std::thread::sleep(Duration::from_millis(draw::range(0..=20_000)));
        say("slept", begun.elapsed());
        say("year", SystemTime::now().duration_since(UNIX_EPOCH).map(|time| time.as_secs() / (365 * 86_400)));
    }

    #[flow(weight = 20, precondition = |e| e.drawn > 3)]
    fn skips(&mut self, why: bool) -> Result<(), Skip> {
        skip!(if why { "for a reason" } else { "for another" });
    }

    #[invariant(period = 7)]
    fn draws_too(&self) {
        say("invariant", draw::any::<u8>());
        always!(self.drawn <= flow_num() + 1, "steps are counted");
        always_at_most!(self.drawn, 1000, "steps are few");
    }
}
