//! `fozzy:events/journal`: what a program wants to have in the history beside its calls. The call is the entry.

use crate::bindings::fozzy::events::journal;
use crate::call::{GuestStop, Host, Import};
use fozzy_trace::Aside;
use fozzy_world::spans::SpanError;
use wasmtime::Result;

pub(crate) const EVENT: Import = Import::new("fozzy:events/journal.event");
const ENTER: Import = Import::new("fozzy:events/journal.enter");
const LEAVE: Import = Import::new("fozzy:events/journal.leave");
const IS_NARRATED: Import = Import::new("fozzy:events/journal.is-narrated");
const DREW: Import = Import::new("fozzy:events/journal.drew");
const RETURNED: Import = Import::new("fozzy:events/journal.returned");

fn misused(import: Import) -> impl Fn(SpanError) -> GuestStop {
    move |error| GuestStop::Misuse { import: import.name, what: error.to_string() }
}

impl Host {
    pub(crate) fn journal_event(&mut self, name: &str, details: &str) -> Result<()> {
        self.call(EVENT, (name, details), |_| Ok(()))
    }
}

impl journal::Host for Host {
    fn event(&mut self, name: String, details: String) -> Result<()> {
        self.journal_event(&name, &details)
    }

    fn enter(&mut self, name: String) -> Result<u64> {
        self.call(ENTER, &*name, |host| host.world().spans.enter().map_err(misused(ENTER)))
    }

    fn leave(&mut self, span: u64) -> Result<()> {
        self.call(LEAVE, span, |host| host.world().spans.leave(span).map_err(misused(LEAVE)))
    }

    fn is_narrated(&mut self) -> Result<bool> {
        self.call(IS_NARRATED, (), |host| Ok(host.run.recorder.is_narrated()))
    }

    fn drew(&mut self, name: String, value: String) -> Result<()> {
        self.call(DREW, (&*name, &*value), |host| {
            host.aside(Aside::Drew, || (name.clone(), value.clone()));
            Ok(())
        })
    }

    fn returned(&mut self, value: String) -> Result<()> {
        self.call(RETURNED, &*value, |host| {
            host.aside(Aside::Returned, || (value.clone(), String::new()));
            Ok(())
        })
    }
}
