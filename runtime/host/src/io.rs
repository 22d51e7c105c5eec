//! `wasi:io/error` and `wasi:io/poll`: where guests wait, and so where virtual time moves.

use crate::bindings::wasi::io::{error, poll};
use crate::bindings::{IoErrorResource, PollableResource};
use crate::call::{CallProgress, GuestStop, Host, Import, misuse};
use fozzy_world::table::StreamFailure;
use fozzy_world::{Handle, TableError, Wait};
use wasmtime::Result;
use wasmtime::component::Resource;

const TO_DEBUG_STRING: Import = Import::new("wasi:io/error.error.to-debug-string");
const DROP_ERROR: Import = Import::new("wasi:io/error.error.drop");
const POLL: Import = Import::new("wasi:io/poll.poll");
const READY: Import = Import::new("wasi:io/poll.pollable.ready");
const BLOCK: Import = Import::new("wasi:io/poll.pollable.block");
const DROP_POLLABLE: Import = Import::new("wasi:io/poll.pollable.drop");

impl error::Host for Host {}

impl error::HostError for Host {
    fn to_debug_string(&mut self, handle: Resource<IoErrorResource>) -> Result<String> {
        self.call(TO_DEBUG_STRING, handle.rep(), |host| match host.node_mut().table.get(handle.rep()) {
            Ok(Handle::Error(StreamFailure::File(errno))) => Ok(format!("{errno:?}")),
            Ok(Handle::Error(StreamFailure::Network(error))) => Ok(error.to_string()),
            Ok(Handle::Error(StreamFailure::Http(error))) => Ok(error.to_string()),
            _ => Err(misuse(TO_DEBUG_STRING)(TableError::WrongHandle)),
        })
    }

    fn drop(&mut self, handle: Resource<IoErrorResource>) -> Result<()> {
        self.close(DROP_ERROR, handle.rep())
    }
}

impl Host {
    /// Closes a handle that holds nothing else.
    pub(crate) fn close(&mut self, import: Import, rep: u32) -> Result<()> {
        self.call(import, rep, |host| host.node_mut().table.remove(rep).map(drop).map_err(misuse(import)))
    }

    fn wait_of(&self, import: Import, rep: u32) -> std::result::Result<Wait, GuestStop> {
        match self.node().table.get(rep) {
            Ok(Handle::Pollable(wait)) => Ok(*wait),
            _ => Err(misuse(import)(TableError::WrongHandle)),
        }
    }
}

impl poll::Host for Host {
    async fn poll(&mut self, handles: Vec<Resource<PollableResource>>) -> Result<Vec<u32>> {
        let reps: Vec<u32> = handles.iter().map(Resource::rep).collect();
        self.call_waiting(POLL, &reps, |host| {
            if reps.is_empty() {
                let what = "the list of pollables is empty".to_owned();
                return Err(GuestStop::Misuse { import: POLL.name, what });
            }
            let mut ready = Vec::new();
            for (index, rep) in reps.iter().enumerate() {
                let wait = host.wait_of(POLL, *rep)?;
                if host.is_ready(wait)? {
                    ready.push(index as u32);
                }
            }
            if !ready.is_empty() {
                return Ok(CallProgress::Done(ready));
            }
            let waits: std::result::Result<Vec<Wait>, GuestStop> =
                reps.iter().map(|rep| host.wait_of(POLL, *rep)).collect();
            Ok(CallProgress::Wait(waits?))
        })
        .await
    }
}

impl poll::HostPollable for Host {
    fn ready(&mut self, handle: Resource<PollableResource>) -> Result<bool> {
        self.call(READY, handle.rep(), |host| {
            // A loop that asks again and again whether time has come must come to an end.
            host.world().clock.tick();
            let wait = host.wait_of(READY, handle.rep())?;
            host.is_ready(wait)
        })
    }

    async fn block(&mut self, handle: Resource<PollableResource>) -> Result<()> {
        let rep = handle.rep();
        self.call_waiting(BLOCK, rep, |host| {
            let wait = host.wait_of(BLOCK, rep)?;
            Ok(if host.is_ready(wait)? { CallProgress::Done(()) } else { CallProgress::Wait(vec![wait]) })
        })
        .await
    }

    fn drop(&mut self, handle: Resource<PollableResource>) -> Result<()> {
        self.close(DROP_POLLABLE, handle.rep())
    }
}
