//! `fozzy:faults/points`: points of a guest that misbehave when the plan says so.

use crate::bindings::fozzy::faults::points;
use crate::call::{Host, Import};
use fozzy_world::fault::BUGGIFY;
use wasmtime::Result;

const BUGGIFY_POINT: Import = Import::new("fozzy:faults/points.buggify");
const BUGGIFY_WITH: Import = Import::new("fozzy:faults/points.buggify-with");

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
