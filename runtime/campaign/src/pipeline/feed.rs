//! Our own standard input, as it comes: lines of a person, or what a program writes into a pipe.
//!
//! ```text
//! a thread reads ──▶ [ "select 1;\n" ] ──▶ the run, when its program waits for input or looks for it
//! ```
//!
//! Invariants: nothing is read before the program looks for it; what is read ahead is bounded.
//! Not here: when it comes in virtual time (`fozzy-host`).

use super::load::STDIN_BYTES_MAX;
use crate::Remarks;
use crate::wall_clock::Stopwatch;
use fozzy_engine::{FeedEvent, InputFeed, LazyInput};
use fozzy_live::SecretHider;
use fozzy_trace::Duration;
use std::io::{self, IsTerminal, Read};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError, sync_channel};

/// Bytes that are read at once: what a pipe holds on Linux.
const CHUNK_BYTES: usize = 64 << 10;
/// Chunks that are read ahead.
const CHUNKS_AHEAD: usize = 4;
/// Real time between two looks at whether the run is to stop.
const LOOK: std::time::Duration = std::time::Duration::from_millis(50);

/// Whether the run is to come to its end.
pub type StopSwitch = fn() -> bool;

/// Whether our standard input is a terminal.
pub(super) fn is_terminal() -> bool {
    io::stdin().is_terminal()
}

/// Whether our standard input is a file: all of it is there.
#[cfg(unix)]
pub(super) fn is_file() -> bool {
    use std::os::fd::AsFd;
    let own = io::stdin().as_fd().try_clone_to_owned().map(std::fs::File::from);
    own.and_then(|file| file.metadata()).is_ok_and(|metadata| metadata.is_file())
}

#[cfg(not(unix))]
pub(super) fn is_file() -> bool {
    false
}

/// Our own standard input, as it comes.
pub(super) fn live_stdin(remarks: &Remarks, hider: SecretHider, stop: StopSwitch) -> Arc<LazyInput> {
    let feed = StdinFeed { remarks: remarks.clone(), hider, stop, chunks: None, read: 0, read_with: read_stdin };
    Arc::new(LazyInput::live(Box::new(feed)))
}

fn read_stdin(into: &mut [u8]) -> io::Result<usize> {
    io::stdin().lock().read(into)
}

struct StdinFeed {
    remarks: Remarks,
    hider: SecretHider,
    stop: StopSwitch,
    /// What the thread has read; there is none before the first look.
    chunks: Option<Receiver<io::Result<Vec<u8>>>>,
    read: u64,
    read_with: fn(&mut [u8]) -> io::Result<usize>,
}

/// Reads until the end, an error, or until nobody wants more.
#[allow(
    clippy::disallowed_methods,
    reason = "a read of a terminal cannot be given up; what it brings, and when, is recorded"
)]
fn start(read_with: fn(&mut [u8]) -> io::Result<usize>) -> Receiver<io::Result<Vec<u8>>> {
    let (send, chunks) = sync_channel(CHUNKS_AHEAD);
    std::thread::spawn(move || {
        let mut chunk = vec![0; CHUNK_BYTES];
        loop {
            let read = match read_with(&mut chunk) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                read => read.map(|read| chunk[..read].to_vec()),
            };
            let is_last = read.as_ref().map_or(true, Vec::is_empty);
            if send.send(read).is_err() || is_last {
                return;
            }
        }
    });
    chunks
}

impl StdinFeed {
    fn event(&mut self, chunk: io::Result<Vec<u8>>, waited: Duration) -> FeedEvent {
        let bytes = match chunk {
            Ok(bytes) => bytes,
            // A closed descriptor (`<&-`) is an empty input, as for any program.
            Err(error) if error.raw_os_error() == Some(9) => Vec::new(),
            Err(error) => {
                self.remarks.text(&format!("cannot read standard input, which ends here: {error}\n"));
                Vec::new()
            }
        };
        self.read += bytes.len() as u64;
        if self.read > STDIN_BYTES_MAX {
            let text =
                format!("standard input has more than the {STDIN_BYTES_MAX} bytes that are read: it ends here\n");
            self.remarks.text(&text);
            return FeedEvent::End(waited);
        }
        if bytes.is_empty() {
            FeedEvent::End(waited)
        } else {
            FeedEvent::Bytes(self.hider.bytes(&bytes).into_owned(), waited)
        }
    }
}

impl InputFeed for StdinFeed {
    fn next(&mut self, at_most: Option<Duration>) -> FeedEvent {
        let chunks = self.chunks.get_or_insert_with(|| start(self.read_with));
        if at_most == Some(Duration(0)) {
            return match chunks.try_recv() {
                Ok(chunk) => self.event(chunk, Duration(0)),
                Err(TryRecvError::Empty) => FeedEvent::Nothing,
                Err(TryRecvError::Disconnected) => FeedEvent::End(Duration(0)),
            };
        }
        let watch = Stopwatch::start();
        loop {
            if (self.stop)() {
                return FeedEvent::Stopped;
            }
            let waited = watch.elapsed_ns();
            let left = at_most.map_or(u64::MAX, |at_most| at_most.0.saturating_sub(waited));
            if left == 0 {
                return FeedEvent::Nothing;
            }
            match wait(chunks, LOOK.min(std::time::Duration::from_nanos(left))) {
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return FeedEvent::End(Duration(watch.elapsed_ns())),
                Ok(chunk) => return self.event(chunk, Duration(watch.elapsed_ns())),
            }
        }
    }

    fn is_stopped(&self) -> bool {
        (self.stop)()
    }
}

#[allow(
    clippy::disallowed_methods,
    reason = "waits for a person, while no guest code runs; what comes of it is recorded"
)]
fn wait(
    chunks: &Receiver<io::Result<Vec<u8>>>,
    at_most: std::time::Duration,
) -> Result<io::Result<Vec<u8>>, RecvTimeoutError> {
    chunks.recv_timeout(at_most)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn feed(read_with: fn(&mut [u8]) -> io::Result<usize>, stop: StopSwitch) -> StdinFeed {
        let (remarks, hider) = (Remarks::none(), SecretHider::new(&[]).expect("no secrets"));
        StdinFeed { remarks, hider, stop, chunks: None, read: 0, read_with }
    }

    #[test]
    fn what_comes_is_told_once_and_the_end_for_ever() {
        fn two_lines(into: &mut [u8]) -> io::Result<usize> {
            use std::sync::atomic::{AtomicUsize, Ordering};
            static NEXT: AtomicUsize = AtomicUsize::new(0);
            let Some(line) = ["one\n", "two\n"].get(NEXT.fetch_add(1, Ordering::SeqCst)) else { return Ok(0) };
            into[..line.len()].copy_from_slice(line.as_bytes());
            Ok(line.len())
        }
        let mut feed = feed(two_lines, || false);
        for line in ["one\n", "two\n"] {
            assert!(matches!(feed.next(None), FeedEvent::Bytes(bytes, _) if bytes == line.as_bytes()));
        }
        assert!(matches!(feed.next(None), FeedEvent::End(_)));
        assert!(matches!(feed.next(None), FeedEvent::End(_)));
    }

    #[test]
    fn a_closed_descriptor_is_an_end() {
        let mut feed = feed(|_| Err(io::Error::from_raw_os_error(9)), || false);
        assert!(matches!(feed.next(None), FeedEvent::End(_)));
    }

    #[test]
    fn who_is_asked_to_stop_waits_no_more() {
        fn never(_: &mut [u8]) -> io::Result<usize> {
            std::thread::park();
            Ok(0)
        }
        assert_eq!(feed(never, || true).next(None), FeedEvent::Stopped);
        assert_eq!(feed(never, || false).next(Some(Duration(1_000))), FeedEvent::Nothing);
    }
}
