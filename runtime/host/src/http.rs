//! `wasi:http`: what requests, responses, fields and bodies look like to a guest.
//!
//! ```text
//! fields.rs    header fields, with their errors
//! outgoing.rs  what a guest sends: requests, responses, their bodies, and where they go
//! incoming.rs  what a guest receives
//! body.rs      the streams of bodies
//! error.rs     methods, schemes and error codes, from and to WIT
//! ```
//!
//! Invariants: nothing here decides what becomes of a request (`fozzy_world::http`); values of headers that the plan redacts
//! never stand in the history; the real computer is asked on the one path that observations have.

mod body;
mod error;
mod fields;
mod incoming;
mod outgoing;

use crate::call::{GuestStop, Host, Import};
use fozzy_trace::{BackendRequest, BackendResponse, Plan, Record, RunningDigest};
use fozzy_world::TableError;
use fozzy_world::http::redact::recorded_value;
use fozzy_world::http::{HandleError, HttpHandle, LiveRequest};
use std::fmt::Write;
use std::sync::Arc;
use wasmtime::Result;
use wasmtime::component::Resource;

/// What is wrong with a handle is the guest's doing, and a trap.
fn trap(import: Import) -> impl Fn(HandleError) -> GuestStop {
    move |error| GuestStop::Misuse { import: import.name, what: error.to_string() }
}

/// A handle of another kind.
fn wrong(import: Import) -> GuestStop {
    trap(import)(HandleError::Table(TableError::WrongHandle))
}

/// What a handle stands for, when it is of that kind; else the call is a trap.
macro_rules! of_kind {
    ($handle:expr, $import:expr, $kind:ident) => {
        match $handle {
            fozzy_world::http::HttpHandle::$kind(value) => value,
            _ => return Err($crate::http::wrong($import)),
        }
    };
}
use of_kind;

impl Host {
    fn http(&mut self, import: Import, rep: u32) -> std::result::Result<&mut HttpHandle, GuestStop> {
        let node = self.node;
        self.world().http_get(node, rep).map_err(trap(import))
    }

    fn http_take(&mut self, import: Import, rep: u32) -> std::result::Result<HttpHandle, GuestStop> {
        let node = self.node;
        self.world().http_take(node, rep).map_err(trap(import))
    }

    fn http_place(&mut self, import: Import, handle: HttpHandle) -> std::result::Result<u32, GuestStop> {
        let node = self.node;
        self.world().http_open(node, handle).map_err(trap(import))
    }

    /// A call that opens a handle.
    fn http_open<T: 'static, A: Record>(
        &mut self,
        import: Import,
        asked: A,
        make: impl FnOnce(&mut Host) -> std::result::Result<HttpHandle, GuestStop>,
    ) -> Result<Resource<T>> {
        let rep = self.call(import, asked, |host| {
            let handle = make(host)?;
            host.http_place(import, handle)
        })?;
        Ok(Resource::new_own(rep))
    }

    /// A call that opens a handle, or says that there is none to be had.
    fn http_open_once<T: 'static>(
        &mut self,
        import: Import,
        rep: u32,
        make: impl FnOnce(&mut Host) -> std::result::Result<Option<HttpHandle>, GuestStop>,
    ) -> Result<std::result::Result<Resource<T>, ()>> {
        let opened = self.call(import, rep, |host| match make(host)? {
            Some(handle) => host.http_place(import, handle).map(Some),
            None => Ok(None),
        })?;
        Ok(opened.map(Resource::new_own).ok_or(()))
    }

    fn http_close(&mut self, import: Import, rep: u32) -> Result<()> {
        self.call(import, rep, |host| {
            let node = host.node;
            host.world().http_drop(node, rep).map_err(trap(import))
        })
    }

    /// Asks the real computer to answer a request, if that is how it is to be answered.
    fn http_ask(&mut self, live: Option<LiveRequest>) -> std::result::Result<(), GuestStop> {
        let Some(LiveRequest { exchange, ask, body }) = live else { return Ok(()) };
        self.run.keep(&body);
        let (answer, took) = self.run.observe(&BackendRequest::Http(ask))?;
        let answer = match answer {
            BackendResponse::Http(Ok(answer)) => {
                let body = self.run.kept(answer.body)?;
                Ok((answer, body))
            }
            BackendResponse::Http(Err(failure)) => Err(failure),
            BackendResponse::File(_) | BackendResponse::Process(_) => {
                unreachable!("an answer is of the kind of its question")
            }
        };
        self.with_context(|world, context| {
            let answer = answer.as_ref().map(|(answer, body)| (answer, Arc::clone(body))).map_err(|failure| *failure);
            world.http_observed(exchange, answer, took, context);
        });
        Ok(())
    }
}

/// Headers, which stand in the history without secrets.
struct RecordedHeaders {
    plan: Arc<Plan>,
    list: Vec<(String, Vec<u8>)>,
}

impl RecordedHeaders {
    fn of(host: &Host, list: Vec<(String, Vec<u8>)>) -> RecordedHeaders {
        RecordedHeaders { plan: Arc::clone(&host.run.world.plan), list }
    }
}

impl Record for RecordedHeaders {
    fn fold(&self, fold: &mut RunningDigest) {
        fold.word(self.list.len() as u64);
        for (name, value) in &self.list {
            fold.bytes(name.as_bytes());
            fold.bytes(&recorded_value(&self.plan.redact, name, value));
        }
    }

    fn show(&self, out: &mut String) {
        /// Headers that are shown; of more, the number is.
        const SHOWN_MAX: usize = 8;
        out.push('[');
        for (i, (name, value)) in self.list.iter().take(SHOWN_MAX).enumerate() {
            let comma = if i > 0 { ", " } else { "" };
            let _ = write!(out, "{comma}{name}: ");
            recorded_value(&self.plan.redact, name, value).show(out);
        }
        if self.list.len() > SHOWN_MAX {
            let _ = write!(out, ", … {} in all", self.list.len());
        }
        out.push(']');
    }

    fn payload_bytes(&self) -> u64 {
        self.list.iter().map(|(name, value)| (name.len() + value.len()) as u64).sum()
    }
}
