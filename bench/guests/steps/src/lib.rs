//! Flows that do next to nothing: what a step costs by itself.

use fozzy_sdk::prelude::*;

/// Counts its flows.
#[derive(Default)]
pub struct Steps {
    ups: u32,
    downs: u32,
}

#[scenario]
impl Steps {
    #[flow]
    fn up(&mut self) {
        self.ups += 1;
    }

    #[flow]
    fn down(&mut self) {
        self.downs += 1;
    }
}
