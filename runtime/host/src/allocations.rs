//! `fozzy:memory/allocations`: what a program's allocator tells.

use crate::bindings::fozzy::memory::allocations;
use crate::call::{GuestStop, Host, Import};
use fozzy_trace::facts::{FailureKind, ReportedFailure, UnknownAllocation};
use wasmtime::Result;

const ALLOCATED: Import = Import::new("fozzy:memory/allocations.allocated");
const FREED: Import = Import::new("fozzy:memory/allocations.freed");
const REFUSED: Import = Import::new("fozzy:memory/allocations.refused");

/// What identifies freeing what is not allocated.
const NOT_ALLOCATED: &str = "freed what is not allocated";

impl allocations::Host for Host {
    fn allocated(&mut self, address: u64, bytes: u64, site: String) -> Result<()> {
        self.call(ALLOCATED, (address, bytes, &*site), |host| {
            let told = host.world().facts.allocations.allocate(address, bytes);
            told.map_err(|error| GuestStop::Misuse { import: ALLOCATED.name, what: error.to_string() })
        })
    }

    fn freed(&mut self, address: u64) -> Result<()> {
        self.call(FREED, address, |host| match host.world().facts.allocations.free(address) {
            Ok(()) => Ok(()),
            Err(UnknownAllocation) => {
                let message = format!("the program frees what is not allocated, at address {address:#x}");
                Err(GuestStop::Failed(Box::new(ReportedFailure::new(FailureKind::Assertion, NOT_ALLOCATED, &message))))
            }
        })
    }

    fn refused(&mut self, bytes: u64) -> Result<()> {
        self.call(REFUSED, bytes, |host| {
            host.world().facts.allocations.refuse();
            Ok(())
        })
    }
}
