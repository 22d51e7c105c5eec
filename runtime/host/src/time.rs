//! `fozzy:time/control`: virtual time, moved by hand.

use crate::bindings::fozzy::time::control;
use crate::call::{Host, Import};
use fozzy_trace::Duration;
use wasmtime::Result;

const ADVANCE: Import = Import::new("fozzy:time/control.advance");
const FREEZE: Import = Import::new("fozzy:time/control.freeze");
const UNFREEZE: Import = Import::new("fozzy:time/control.unfreeze");

impl control::Host for Host {
    fn advance(&mut self, nanoseconds: u64) -> Result<()> {
        self.call(ADVANCE, nanoseconds, |host| {
            let clock = &mut host.world().clock;
            clock.advance_to(clock.now().after(Duration(nanoseconds)));
            Ok(())
        })
    }

    fn freeze(&mut self) -> Result<()> {
        self.call(FREEZE, (), |host| {
            host.world().clock.freeze(true);
            Ok(())
        })
    }

    fn unfreeze(&mut self) -> Result<()> {
        self.call(UNFREEZE, (), |host| {
            host.world().clock.freeze(false);
            Ok(())
        })
    }
}
