//! Lines of standard input, waited for until a moment, and standard output.
//!
//! In WASI 0.2 one call waits for input and a timer. Natively a thread reads lines, which the node takes from a channel.

pub(crate) use platform::LineStreams;

/// Adds what has come to what was read of a line, and takes the lines that are whole.
#[cfg(any(test, all(target_os = "wasi", target_env = "p2")))]
pub(crate) fn take_lines(come: &[u8], rest: &mut Vec<u8>, lines: &mut Vec<Vec<u8>>) {
    let before = rest.len();
    rest.extend_from_slice(come);
    let Some(last) = rest[before..].iter().rposition(|byte| *byte == b'\n') else { return };
    let after = rest.split_off(before + last + 1);
    let mut whole = std::mem::replace(rest, after);
    whole.pop();
    // Mostly it is one, which stays where it is.
    match whole.contains(&b'\n') {
        false => lines.push(whole),
        true => lines.extend(whole.split(|byte| *byte == b'\n').map(<[u8]>::to_vec)),
    }
}

#[cfg(all(target_os = "wasi", target_env = "p2"))]
mod platform {
    use std::io;
    use std::time::Duration;
    use wasip2::cli::stdin::get_stdin;
    use wasip2::cli::stdout::get_stdout;
    use wasip2::clocks::monotonic_clock::{now, subscribe_instant};
    use wasip2::io::poll::{Pollable, poll};
    use wasip2::io::streams::{InputStream, OutputStream, StreamError};

    /// Bytes that are read at once.
    const READ_BYTES: u64 = 1 << 16;
    /// Bytes that are written at once, as WASI has it.
    const WRITE_BYTES: usize = 4096;

    /// Standard input and output.
    pub(crate) struct LineStreams {
        // Before the stream that it is of: it is dropped first.
        readable: Pollable,
        stream: InputStream,
        output: OutputStream,
        /// The moment that was waited for last: mostly it is waited for again.
        timer: Option<(u64, Pollable)>,
        /// What was read of a line that has not ended.
        rest: Vec<u8>,
        start: u64,
    }

    impl LineStreams {
        pub(crate) fn open() -> LineStreams {
            let stream = get_stdin();
            let (readable, output) = (stream.subscribe(), get_stdout());
            LineStreams { readable, stream, output, timer: None, rest: Vec::new(), start: now() }
        }

        /// Writes to standard output.
        pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
            let failed = |why: StreamError| io::Error::other(format!("standard output: {why}"));
            bytes.chunks(WRITE_BYTES).try_for_each(|part| self.output.blocking_write_and_flush(part).map_err(failed))
        }

        /// Time since the start.
        pub(crate) fn now(&self) -> Duration {
            Duration::from_nanos(now() - self.start)
        }

        /// Waits until lines have come, or until a moment. Whether input has not ended.
        pub(crate) fn wait(&mut self, until: Option<Duration>, lines: &mut Vec<Vec<u8>>) -> io::Result<bool> {
            let is_ready = match until {
                None => poll(&[&self.readable]).contains(&0),
                Some(until) => {
                    let until = self.start.saturating_add(u64::try_from(until.as_nanos()).unwrap_or(u64::MAX));
                    let timer = match self.timer.take() {
                        Some(timer) if timer.0 == until => timer,
                        _ => (until, subscribe_instant(until)),
                    };
                    let is_ready = poll(&[&self.readable, &timer.1]).contains(&0);
                    self.timer = Some(timer);
                    is_ready
                }
            };
            if !is_ready {
                return Ok(true);
            }
            match self.stream.read(READ_BYTES) {
                Ok(bytes) => {
                    super::take_lines(&bytes, &mut self.rest, lines);
                    Ok(true)
                }
                Err(StreamError::Closed) => Ok(false),
                Err(StreamError::LastOperationFailed(why)) => Err(io::Error::other(why.to_debug_string())),
            }
        }
    }
}

#[cfg(not(all(target_os = "wasi", target_env = "p2")))]
#[allow(clippy::disallowed_methods, reason = "a node that runs natively has the clock of its machine")]
mod platform {
    use std::io::{self, BufRead, Write};
    use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
    use std::time::{Duration, Instant};

    /// Standard input and output.
    pub(crate) struct LineStreams {
        lines: Receiver<io::Result<Vec<u8>>>,
        start: Instant,
    }

    impl LineStreams {
        pub(crate) fn open() -> LineStreams {
            let (sender, lines) = channel();
            std::thread::spawn(move || {
                // Who does not take lines any more has ended.
                io::stdin().lock().split(b'\n').all(|line| sender.send(line).is_ok())
            });
            LineStreams { lines, start: Instant::now() }
        }

        /// Writes to standard output.
        pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
            let mut output = io::stdout().lock();
            output.write_all(bytes)?;
            output.flush()
        }

        /// Time since the start.
        pub(crate) fn now(&self) -> Duration {
            self.start.elapsed()
        }

        /// Waits until lines have come, or until a moment. Whether input has not ended.
        pub(crate) fn wait(&mut self, until: Option<Duration>, lines: &mut Vec<Vec<u8>>) -> io::Result<bool> {
            let first = match until {
                None => self.lines.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(until) => self.lines.recv_timeout(until.saturating_sub(self.now())),
            };
            match first {
                Ok(line) => lines.push(line?),
                Err(RecvTimeoutError::Timeout) => return Ok(true),
                Err(RecvTimeoutError::Disconnected) => return Ok(false),
            }
            while let Ok(line) = self.lines.try_recv() {
                lines.push(line?);
            }
            Ok(true)
        }
    }
}
