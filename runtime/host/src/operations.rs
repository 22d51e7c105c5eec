//! `fozzy:history/operations`: what clients did, for checkers.

use crate::bindings::fozzy::history::operations;
use crate::call::{GuestStop, Host, Import};
use fozzy_trace::facts::{OperationEnd, OperationError, Operations};
use fozzy_trace::plan::HistoryCriterion;
use wasmtime::Result;

const INVOKE: Import = Import::new("fozzy:history/operations.invoke");
const OK: Import = Import::new("fozzy:history/operations.ok");
const FAIL: Import = Import::new("fozzy:history/operations.fail");
const INFO: Import = Import::new("fozzy:history/operations.info");
const CHECK: Import = Import::new("fozzy:history/operations.check");

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
            let operations = &mut *host.world().facts.operations;
            operations.end(operation, end(words.clone()), at).map_err(misused(import))?;
            no_anomaly(operations)?;
            host.world().note_operation_end(operation);
            Ok(())
        })
    }
}

/// Ends a run whose operations cannot become right any more.
fn no_anomaly(operations: &mut Operations) -> Result<(), GuestStop> {
    operations.anomaly().map_or(Ok(()), |failure| Err(GuestStop::Failed(Box::new(failure))))
}

impl operations::Host for Host {
    fn invoke(&mut self, client: u32, operation: String, input: String) -> Result<u64> {
        self.call(INVOKE, (client, &*operation, &*input), |host| {
            let at = host.world().clock.now();
            let operations = &mut *host.world().facts.operations;
            let begun = operations.invoke(client, &operation, &input, at).map_err(misused(INVOKE))?;
            no_anomaly(operations)?;
            host.world().faults.note_operation(&operation);
            Ok(begun)
        })
    }

    fn check(&mut self, checker: String, model: String) -> Result<()> {
        self.call(CHECK, (&*checker, &*model), |host| {
            let operations = &mut *host.world().facts.operations;
            let criterion = HistoryCriterion::named(&checker, &model);
            operations.hold_to(criterion).map_err(misused(CHECK))?;
            no_anomaly(operations)
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
