//! A counter with two digits, and a scenario that counts beside it.
//!
//! The planted fault: the carry from the lower digit to the higher one is lost when a larger step passes over the ten.
//! With the feature `fixed` it is not.

use fozzy_sdk::prelude::*;

/// Counts to 99, in decimal digits.
#[derive(Default)]
struct Digits {
    high: u8,
    low: u8,
}

impl Digits {
    fn add(&mut self, step: u8) {
        let low = self.low + step;
        let carries = if cfg!(feature = "fixed") { low >= 10 } else { low == 10 };
        if carries {
            self.high += 1;
        }
        self.low = low % 10;
    }

    fn value(&self) -> u32 {
        u32::from(self.high) * 10 + u32::from(self.low)
    }
}

#[derive(Default)]
struct Counter {
    digits: Digits,
    model: u32,
}

#[scenario]
impl Counter {
    #[flow(precondition = |c| c.model < 99)]
    fn increment(&mut self) {
        self.digits.add(1);
        self.model += 1;
    }

    #[flow(weight = 10, precondition = |c| c.model < 91)]
    fn add(&mut self) {
        let step = draw::range(2..=9u8);
        self.digits.add(step);
        self.model += u32::from(step);
    }

    #[flow(weight = 5)]
    fn reset(&mut self) -> Result<(), Skip> {
        if self.model == 0 {
            skip!("is zero already");
        }
        *self = Counter::default();
        Ok(())
    }

    #[invariant]
    fn counts_agree(&self) {
        sometimes!(self.model >= 10, "there is a second digit");
        always!(
            self.digits.value() == self.model,
            "the counter counts",
            "it shows {}, and {} were counted",
            self.digits.value(),
            self.model
        );
    }
}
