//! Our own standard input, as it comes: lines of a person, or what a program writes into a pipe.
//!
//! ```text
//! a thread reads ──▶ [ "select 1;\n" ] ──▶ the run, when its program waits for input or looks for it
//! ```
//!
//! Invariants: nothing is read before the program looks for it; what is read ahead is bounded; no secret enters, also not in two pieces: while
//! there are secrets, a line goes to the program when it is whole.
//! Not here: when it comes in virtual time (`fozzy-host`).

use super::load::STDIN_BYTES_MAX;
use crate::Remarks;
use crate::options::StopSwitch;
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
    let feed = StdinFeed {
        remarks: remarks.clone(),
        hider,
        stop,
        chunks: None,
        held: Vec::new(),
        read: 0,
        read_with: read_stdin,
    };
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
    /// What may be the beginning of a secret, until more comes.
    held: Vec<u8>,
    read: u64,
    read_with: fn(&mut [u8]) -> io::Result<usize>,
}

/// Reads until the end, an error, or until the reader is gone.
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
    /// What a chunk tells the program; nothing, if all of it may be the beginning of a secret.
    fn event(&mut self, chunk: io::Result<Vec<u8>>, waited: Duration) -> Option<FeedEvent> {
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
            self.chunks = Some(ended());
            return Some(self.rest(waited));
        }
        if bytes.is_empty() {
            return Some(self.rest(waited));
        }
        self.held.extend_from_slice(&bytes);
        let whole = self.held.len() - self.hider.undecided(&self.held);
        let told = self.hider.bytes(&self.held[..whole]).into_owned();
        self.held.drain(..whole);
        (!told.is_empty()).then_some(FeedEvent::Bytes(told, waited))
    }

    /// What was held at the end, and then the end.
    fn rest(&mut self, waited: Duration) -> FeedEvent {
        match std::mem::take(&mut self.held) {
            held if held.is_empty() => FeedEvent::End(waited),
            held => FeedEvent::Bytes(self.hider.bytes(&held).into_owned(), waited),
        }
    }
}

impl InputFeed for StdinFeed {
    fn next(&mut self, at_most: Option<Duration>) -> FeedEvent {
        let watch = Stopwatch::start();
        loop {
            let chunks = self.chunks.get_or_insert_with(|| start(self.read_with));
            if at_most == Some(Duration(0)) {
                let told = match chunks.try_recv() {
                    Ok(chunk) => self.event(chunk, Duration(0)),
                    Err(TryRecvError::Empty) => Some(FeedEvent::Nothing),
                    Err(TryRecvError::Disconnected) => Some(self.rest(Duration(0))),
                };
                match told {
                    Some(told) => return told,
                    None => continue,
                }
            }
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
                Err(RecvTimeoutError::Disconnected) => return self.rest(Duration(watch.elapsed_ns())),
                Ok(chunk) => {
                    if let Some(told) = self.event(chunk, Duration(watch.elapsed_ns())) {
                        return told;
                    }
                }
            }
        }
    }

    fn is_stopped(&self) -> bool {
        (self.stop)()
    }
}

/// An input that has ended.
fn ended() -> Receiver<io::Result<Vec<u8>>> {
    sync_channel(0).1
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
        StdinFeed { remarks, hider, stop, chunks: None, held: Vec::new(), read: 0, read_with }
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
    fn a_secret_in_two_pieces_is_hidden() {
        fn pieces(into: &mut [u8]) -> io::Result<usize> {
            use std::sync::atomic::{AtomicUsize, Ordering};
            static NEXT: AtomicUsize = AtomicUsize::new(0);
            let all = ["one\nhello s3cr3", "tvalue\nkey first\nsec", "ond\nrest s3cr3"];
            let Some(piece) = all.get(NEXT.fetch_add(1, Ordering::SeqCst)) else { return Ok(0) };
            into[..piece.len()].copy_from_slice(piece.as_bytes());
            Ok(piece.len())
        }
        let secrets = [("<redacted:A>", "s3cr3tvalue"), ("<redacted:B>", "first\nsecond")];
        let hider = SecretHider::new(&secrets.map(|(name, value)| (name.to_string(), value.to_string())));
        let mut feed = StdinFeed { hider: hider.expect("two secrets"), ..feed(pieces, || false) };
        let mut told = Vec::new();
        while let FeedEvent::Bytes(bytes, _) = feed.next(None) {
            told.push(String::from_utf8(bytes).expect("text"));
        }
        assert_eq!(told, ["one\n", "hello <redacted:A>\nkey ", "<redacted:B>\n", "rest s3cr3"]);
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
