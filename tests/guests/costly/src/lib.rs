//! A table of parcels by number, in buckets by the last bits of the number: numbers that are given out in large steps are one long chain.

use fozzy_sdk::prelude::*;

const BUCKETS: usize = 256;

/// Weights by the number of the parcel, in chains.
struct Parcels {
    buckets: Vec<Vec<(u32, u32)>>,
}

impl Default for Parcels {
    fn default() -> Parcels {
        Parcels { buckets: vec![Vec::new(); BUCKETS] }
    }
}

impl Parcels {
    fn bucket(&mut self, number: u32) -> &mut Vec<(u32, u32)> {
        &mut self.buckets[number as usize % BUCKETS]
    }

    fn weigh(&mut self, number: u32, weight: u32) {
        let chain = self.bucket(number);
        match chain.iter_mut().find(|(known, _)| *known == number) {
            Some((_, known)) => *known = weight,
            None => chain.push((number, weight)),
        }
    }

    fn find(&mut self, number: u32) -> Option<u32> {
        self.bucket(number).iter().find(|(known, _)| *known == number).map(|(_, weight)| *weight)
    }
}

#[scenario]
impl Parcels {
    #[flow]
    fn load(&mut self) {
        let numbers = draw::vec_of(0..=200, || draw::range(0..=999_999));
        for number in &numbers {
            self.weigh(*number, 7);
        }
        // Every parcel of the load is scanned again and again on its way.
        let mut found = 0;
        for number in numbers.iter().cycle().take(SCANS * numbers.len()) {
            found += usize::from(self.find(*number).is_some());
        }
        always!(found == SCANS * numbers.len(), "each parcel of the load is known");
    }
}

/// How often a parcel is scanned.
const SCANS: usize = 16;
