//! A counter, and the scenario that judges it.

use fozzy_sdk::prelude::*;

/// The program under test.
#[derive(Default)]
struct Counter {
    value: u64,
}

impl Counter {
    fn add(&mut self, amount: u64) {
        self.value += amount;
    }

    fn reset(&mut self) {
        self.value = 0;
    }
}

/// The counter, and what it must show.
#[derive(Default)]
struct Judge {
    counter: Counter,
    model: u64,
}

#[scenario]
impl Judge {
    #[flow(weight = 100)]
    fn add(&mut self) {
        let amount = draw::range(0..=9u64);
        self.counter.add(amount);
        self.model += amount;
    }

    #[flow(weight = 5, max_times = 3, precondition = |judge| judge.model > 0)]
    fn reset(&mut self) {
        self.counter.reset();
        self.model = 0;
    }

    #[invariant]
    fn shows_the_sum(&self) {
        always!(self.counter.value == self.model, "the counter shows the sum", "{}", self.counter.value);
    }
}

/// The same scenario natively, with the same flows and values for the same seed.
#[test]
fn natively() {
    use fozzy_sdk::native::{Settings, run};
    assert_eq!(run::<Judge>(Settings { seed: 7, sequences: 3, flows: 50 }).steps.len(), 150);
}
