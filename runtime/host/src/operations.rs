//! `fozzy:history/operations`: what clients did, for checkers.

use crate::bindings::fozzy::history::operations;
use crate::call::{GuestStop, Host, Import};
use fozzy_trace::facts::{OperationEnd, OperationError};
use wasmtime::Result;

const INVOKE: Import = Import::new("fozzy:history/operations.invoke");
const OK: Import = Import::new("fozzy:history/operations.ok");
const FAIL: Import = Import::new("fozzy:history/operations.fail");
const INFO: Import = Import::new("fozzy:history/operations.info");

fn misused(import: Import) -> impl Fn(OperationError) -> GuestStop {
    move |error| GuestStop::Misuse { import: import.name, what: error.to_string() }
}

impl Host {
    fn end_operation(
        &mut self,
        import: Import,
        operation: u64,
        words: String,
        end: impl FnOnce(String) -> OperationEnd,
    ) -> Result<()> {
        self.call(import, (operation, &*words), |host| {
            let at = host.world().clock.now();
            let ended = host.world().facts.operations.end(operation, end(words.clone()), at);
            ended.map_err(misused(import))
        })
    }
}

impl operations::Host for Host {
    fn invoke(&mut self, client: u32, operation: String, input: String) -> Result<u64> {
        self.call(INVOKE, (client, &*operation, &*input), |host| {
            let at = host.world().clock.now();
            let begun = host.world().facts.operations.invoke(client, &operation, &input, at);
            begun.map_err(misused(INVOKE))
        })
    }

    fn ok(&mut self, operation: u64, output: String) -> Result<()> {
        self.end_operation(OK, operation, output, OperationEnd::Ok)
    }

    fn fail(&mut self, operation: u64, error: String) -> Result<()> {
        self.end_operation(FAIL, operation, error, OperationEnd::Fail)
    }

    fn info(&mut self, operation: u64, note: String) -> Result<()> {
        self.end_operation(INFO, operation, note, OperationEnd::Info)
    }
}
