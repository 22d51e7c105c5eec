//! `fozzy:faults`: points of a guest that misbehave when the plan says so, and machines that it has leave and join a cluster.

use crate::bindings::fozzy::faults::{membership, points};
use crate::call::{Host, Import};
use fozzy_world::fault::BUGGIFY;
use wasmtime::Result;

const BUGGIFY_POINT: Import = Import::new("fozzy:faults/points.buggify");
const BUGGIFY_WITH: Import = Import::new("fozzy:faults/points.buggify-with");
const WANTED_OUT: Import = Import::new("fozzy:faults/membership.wanted-out");

impl points::Host for Host {
    fn buggify(&mut self, point: String) -> Result<bool> {
        self.call(BUGGIFY_POINT, &point, |host| {
            Ok(host.with_context(|_, context| context.injects(&BUGGIFY, &point)).is_some())
        })
    }

    fn buggify_with(&mut self, point: String) -> Result<Option<u64>> {
        self.call(BUGGIFY_WITH, &point, |host| Ok(host.with_context(|_, context| context.injects(&BUGGIFY, &point))))
    }
}

impl membership::Host for Host {
    fn wanted_out(&mut self, out: Vec<String>) -> Result<Option<Vec<String>>> {
        self.call(WANTED_OUT, out.as_slice(), |host| Ok(host.world().wanted_out(&out)))
    }
}
