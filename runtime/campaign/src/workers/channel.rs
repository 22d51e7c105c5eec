//! The worker's end: what it is, what it reports, and when it has to stop.
//!
//! ```text
//! standard input   "stop\n" ─▶ is_stopped()          end of file ─▶ is_stopped(), and after ORPHAN_GRACE `orphaned`
//! standard output  ◀─ send(event)                    a closed pipe ─▶ is_stopped()
//! ```
//!
//! A pipe, and no signal of the kernel's for the death of a parent: it works on every system, needs no `unsafe`, and cannot
//! be missed by a worker that is still starting.
//!
//! Invariant: a worker whose supervisor was killed ends, also one that never looks whether it is stopped.

use super::{EVENT_BYTES_MAX, ROLE_VARIABLE, WorkerEvent, WorkerProtocol, WorkerRole};
use crate::wall_clock::pause;
use std::io::{self, Write};
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Real time for which a worker lives on without its supervisor: it finishes what it is writing.
pub const ORPHAN_GRACE: Duration = Duration::from_millis(500);
/// The line that asks a worker to stop.
pub(super) const STOP_LINE: &[u8] = b"stop\n";

/// [`ROLE_VARIABLE`] is not what a supervisor writes there.
#[derive(Debug, thiserror::Error)]
#[error("{ROLE_VARIABLE} is set, and is no role of a worker: {0}")]
pub struct WorkerRoleError(#[from] serde_json::Error);

impl WorkerRole {
    /// What this process is, if it is a worker.
    ///
    /// # Errors
    /// When the variable holds something else.
    #[allow(clippy::disallowed_methods, reason = "written by our own supervisor; no execution sees it")]
    pub fn of_process() -> Result<Option<WorkerRole>, WorkerRoleError> {
        let Some(text) = std::env::var_os(ROLE_VARIABLE) else { return Ok(None) };
        Ok(Some(serde_json::from_str(&text.to_string_lossy())?))
    }
}

/// The connection of a worker to its supervisor.
#[derive(Debug)]
pub struct WorkerChannel<P> {
    stopped: Arc<AtomicBool>,
    protocol: PhantomData<fn() -> P>,
}

impl<P> Clone for WorkerChannel<P> {
    fn clone(&self) -> WorkerChannel<P> {
        WorkerChannel { stopped: Arc::clone(&self.stopped), protocol: PhantomData }
    }
}

impl<P: WorkerProtocol> WorkerChannel<P> {
    /// Takes standard input and output of this process. `orphaned` is called when the supervisor has been gone for
    /// [`ORPHAN_GRACE`], and should end the process.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn open(orphaned: impl FnOnce() + Send + 'static) -> io::Result<WorkerChannel<P>> {
        let stopped = Arc::new(AtomicBool::new(false));
        let channel = WorkerChannel { stopped: Arc::clone(&stopped), protocol: PhantomData };
        std::thread::Builder::new().name("supervisor watch".to_owned()).spawn(move || {
            watch(&stopped);
            pause(ORPHAN_GRACE);
            orphaned();
        })?;
        Ok(channel)
    }

    /// Whether the worker has to come to its end.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::SeqCst)
    }

    /// Reports to the supervisor; waits while that is busy. `false` when the supervisor is gone, or the event is too long.
    pub fn send(&self, event: &WorkerEvent<P>) -> bool {
        let encoded = encode(event).and_then(|line| {
            let mut out = io::stdout().lock();
            out.write_all(&line).and_then(|()| out.flush())
        });
        if encoded.is_err() {
            self.stopped.store(true, Ordering::SeqCst);
        }
        encoded.is_ok()
    }
}

/// Returns when the supervisor is gone.
fn watch(stopped: &AtomicBool) {
    let mut line = String::new();
    loop {
        line.clear();
        let read = io::stdin().read_line(&mut line);
        stopped.store(true, Ordering::SeqCst);
        match read {
            Ok(1..) => {}
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {}
            Ok(0) | Err(_) => return,
        }
    }
}

fn encode<P: WorkerProtocol>(event: &WorkerEvent<P>) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(event)?;
    line.push(b'\n');
    if line.len() > EVENT_BYTES_MAX {
        let message = format!("an event of {} bytes; at most {EVENT_BYTES_MAX} are sent", line.len());
        line = serde_json::to_vec(&WorkerEvent::<P>::Failed { message, lasting: false })?;
        line.push(b'\n');
    }
    Ok(line)
}
