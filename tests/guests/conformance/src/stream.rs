//! `wasi:io/streams` and `wasi:io/error`: over files and over the standard streams.
//!
//! wasmtime-wasi reads and writes files behind the guest's back, so whoever wants the same answers everywhere waits, as the
//! contract says. The cases that do not are there to show the difference.

use crate::cases;
use crate::place::{BOTH, READ, WRITE, drain, pour};
use crate::show::Bytes;
use wasip2::cli::{stdin::get_stdin, stdout::get_stdout};
use wasip2::filesystem::types::filesystem_error_code;
use wasip2::io::poll::poll;
use wasip2::io::streams::StreamError;

/// Longer than what any host reads at once.
const LONG: usize = 200_000;

fn letters(length: usize) -> Vec<u8> {
    (0..length).map(|index| b'a' + (index % 23) as u8).collect()
}

/// What a failed operation left in the error that it handed out.
fn inside<T>(result: Result<T, StreamError>) -> (bool, Option<wasip2::filesystem::types::ErrorCode>) {
    match result {
        Err(StreamError::LastOperationFailed(error)) => {
            (!error.to_debug_string().is_empty(), filesystem_error_code(&error))
        }
        _ => (false, None),
    }
}

cases! {
    Together "io/streams.input-stream.read" "after waiting" |d| {
        let stream = d.made("a", b"hello").read_via_stream(0).unwrap();
        stream.subscribe().block();
        stream.read(3).map(Bytes)
    };
    Together "io/streams.input-stream.read" "without waiting" |d| {
        let stream = d.made("a", b"hello").read_via_stream(0).unwrap();
        stream.read(3).map(Bytes)
    };
    Together "io/streams.input-stream.read" "nothing" |d| {
        let stream = d.made("a", b"hello").read_via_stream(0).unwrap();
        (stream.read(0).map(Bytes), stream.blocking_read(9).map(Bytes))
    };
    Together "io/streams.input-stream.read" "at the end" |d| {
        let stream = d.made("a", b"").read_via_stream(0).unwrap();
        stream.subscribe().block();
        (stream.read(3).map(Bytes), stream.read(3).map(Bytes))
    };
    Alone "io/streams.input-stream.read" "standard input" |_d| {
        let stream = get_stdin();
        stream.subscribe().block();
        (stream.read(0).map(Bytes), stream.read(4).map(Bytes), stream.read(1000).map(Bytes), stream.read(1).map(Bytes))
    };
    Together "io/streams.input-stream.blocking-read" "in pieces" |d| {
        let stream = d.made("a", b"hello").read_via_stream(0).unwrap();
        (stream.blocking_read(2).map(Bytes), stream.blocking_read(9).map(Bytes), stream.blocking_read(9).map(Bytes))
    };
    Together "io/streams.input-stream.blocking-read" "nothing" |d| {
        let stream = d.made("a", b"hello").read_via_stream(0).unwrap();
        (stream.blocking_read(0).map(Bytes), stream.blocking_read(9).map(Bytes))
    };
    Together "io/streams.input-stream.blocking-read" "everything of a long file" |d| {
        drain(&d.made("a", &letters(LONG)).read_via_stream(0).unwrap())
    };
    Together "io/streams.input-stream.blocking-read" "at most 64 KiB at once" |d| {
        d.made("a", &letters(LONG)).read_via_stream(0).unwrap().blocking_read(u64::MAX).map(|bytes| bytes.len())
    };
    Together "io/streams.input-stream.blocking-read" "stays closed when the file grows" |d| {
        let file = d.made("a", b"ab");
        let stream = file.read_via_stream(0).unwrap();
        let end = (stream.blocking_read(9).map(Bytes), stream.blocking_read(9).map(Bytes));
        file.write(b"cd", 2).unwrap();
        (end, stream.blocking_read(9).map(Bytes))
    };
    Together "io/streams.input-stream.blocking-read" "sees what is written before the end" |d| {
        let file = d.made("a", b"ab");
        let stream = file.read_via_stream(0).unwrap();
        let first = stream.blocking_read(2).map(Bytes);
        file.write(b"cd", 2).unwrap();
        (first, stream.blocking_read(9).map(Bytes))
    };
    Together "io/streams.input-stream.blocking-read" "of a file opened for writing only" |d| {
        d.put("a", b"ab");
        let stream = d.open("a", WRITE).read_via_stream(0).unwrap();
        (stream.blocking_read(9).map(Bytes), stream.blocking_read(9).map(Bytes))
    };
    Together "io/streams.input-stream.blocking-read" "after the descriptor is dropped" |d| {
        let file = d.made("a", b"kept");
        let stream = file.read_via_stream(1).unwrap();
        drop(file);
        d.unlink_file_at("a").unwrap();
        drain(&stream)
    };
    Alone "io/streams.input-stream.blocking-read" "standard input to its end" |_d| {
        let stream = get_stdin();
        (stream.blocking_read(5).map(Bytes), drain(&stream), stream.blocking_read(5).map(Bytes))
    };
    Together "io/streams.input-stream.read" "nothing, after the end" |d| {
        let stream = d.made("a", b"x").read_via_stream(0).unwrap();
        (drain(&stream), stream.read(0).map(Bytes), stream.blocking_read(0).map(Bytes), stream.skip(0))
    };
    Together "io/streams.input-stream.skip" "after waiting" |d| {
        let stream = d.made("a", b"hello").read_via_stream(0).unwrap();
        stream.subscribe().block();
        (stream.skip(2), stream.blocking_read(9).map(Bytes))
    };
    Alone "io/streams.input-stream.skip" "standard input" |_d| {
        let stream = get_stdin();
        stream.subscribe().block();
        (stream.skip(6), stream.blocking_read(3).map(Bytes), stream.skip(1000), stream.skip(1))
    };
    Together "io/streams.input-stream.blocking-skip" "some" |d| {
        let stream = d.made("a", b"hello").read_via_stream(0).unwrap();
        (stream.blocking_skip(3), stream.blocking_read(9).map(Bytes))
    };
    Together "io/streams.input-stream.blocking-skip" "more than there is, then on" |d| {
        let stream = d.made("a", b"hello").read_via_stream(0).unwrap();
        (stream.blocking_skip(100), stream.blocking_skip(100))
    };
    Together "io/streams.input-stream.blocking-skip" "more than a page" |d| {
        d.made("a", &letters(LONG)).read_via_stream(0).unwrap().blocking_skip(10_000)
    };
    Alone "io/streams.input-stream.blocking-skip" "standard input" |_d| {
        let stream = get_stdin();
        (stream.blocking_skip(5), drain(&stream))
    };
    Together "io/streams.input-stream.subscribe" "a file is soon ready" |d| {
        let stream = d.made("a", b"hello").read_via_stream(0).unwrap();
        let pollable = stream.subscribe();
        (poll(&[&pollable]), pollable.ready())
    };
    Together "io/streams.input-stream.subscribe" "the end is ready too" |d| {
        let stream = d.made("a", b"").read_via_stream(0).unwrap();
        let end = stream.blocking_read(1).map(Bytes);
        stream.subscribe().block();
        (end, stream.subscribe().ready())
    };
    Alone "io/streams.input-stream.subscribe" "standard input" |_d| {
        let stream = get_stdin();
        let pollable = stream.subscribe();
        pollable.block();
        let before = pollable.ready();
        drop(pollable);
        drain(&stream);
        (before, stream.subscribe().ready())
    };

    Together "io/streams.output-stream.check-write" "a file takes at least a page" |d| {
        d.made("a", b"").write_via_stream(0).unwrap().check_write().map(|permitted| permitted >= 4096)
    };
    Together "io/streams.output-stream.check-write" "right after a write" |d| {
        let stream = d.made("a", b"").write_via_stream(0).unwrap();
        (stream.write(b"x"), stream.check_write().map(|permitted| permitted >= 4096))
    };
    Together "io/streams.output-stream.check-write" "after waiting for a write" |d| {
        let stream = d.made("a", b"").write_via_stream(0).unwrap();
        stream.write(b"x").unwrap();
        stream.subscribe().block();
        stream.check_write().map(|permitted| permitted >= 4096)
    };
    Together "io/streams.output-stream.check-write" "after a failure" |d| {
        d.put("a", b"ab");
        let stream = d.open("a", READ).write_via_stream(0).unwrap();
        let failure = pour(&stream, b"x");
        (failure, stream.check_write(), stream.check_write())
    };
    Together "io/streams.output-stream.check-write" "standard output" |_d| {
        get_stdout().check_write().map(|permitted| permitted >= 4096)
    };
    Together "io/streams.output-stream.write" "by the book, a long text" |d| {
        let done = pour(&d.made("a", b"").write_via_stream(0).unwrap(), &letters(LONG));
        (done, d.text("a"))
    };
    Together "io/streams.output-stream.write" "over what is there" |d| {
        let done = pour(&d.made("a", b"hello world").write_via_stream(6).unwrap(), b"WORLD AND");
        (done, d.text("a"))
    };
    Together "io/streams.output-stream.write" "beyond the end leaves a hole" |d| {
        let done = pour(&d.made("a", b"ab").write_via_stream(6).unwrap(), b"cd");
        (done, d.text("a"))
    };
    Together "io/streams.output-stream.write" "at the end, each time" |d| {
        let file = d.made("a", b"ab");
        let stream = file.append_via_stream().unwrap();
        let first = pour(&stream, b"cd");
        file.set_size(1).unwrap();
        (first, pour(&stream, b"ef"), d.text("a"))
    };
    Together "io/streams.output-stream.write" "nothing" |d| {
        let stream = d.made("a", b"ab").write_via_stream(1).unwrap();
        (stream.write(b""), stream.blocking_flush(), d.text("a"))
    };
    Together "io/streams.output-stream.write" "two streams, each where it is" |d| {
        let file = d.made("a", b"........");
        let (one, other) = (file.write_via_stream(0).unwrap(), file.write_via_stream(4).unwrap());
        let done = [pour(&one, b"a"), pour(&other, b"b"), pour(&one, b"c"), pour(&other, b"d")];
        (done.into_iter().collect::<Vec<_>>(), d.text("a"))
    };
    Alone "io/streams.output-stream.write" "without asking again" |d| {
        let stream = d.made("a", b"").write_via_stream(0).unwrap();
        (stream.write(b"x"), stream.write(b"y"), stream.blocking_flush(), d.text("a"))
    };
    Alone "io/streams.output-stream.write" "more than a file permits" |d| {
        let stream = d.made("a", b"").write_via_stream(0).unwrap();
        let permitted = stream.check_write().unwrap();
        (stream.write(&letters(permitted as usize + 1)), stream.blocking_flush(), true)
    };
    Alone "io/streams.output-stream.write" "to standard output" |_d| pour(&get_stdout(), b"poured\n");
    Together "io/streams.output-stream.blocking-write-and-flush" "one and another" |d| {
        let stream = d.made("a", b"").write_via_stream(2).unwrap();
        (stream.blocking_write_and_flush(b"one"), stream.blocking_write_and_flush(b"two"), d.text("a"))
    };
    Together "io/streams.output-stream.blocking-write-and-flush" "4096 bytes" |d| {
        let stream = d.made("a", b"").write_via_stream(0).unwrap();
        (stream.blocking_write_and_flush(&letters(4096)), d.text("a"))
    };
    Together "io/streams.output-stream.blocking-write-and-flush" "to a file opened for reading only" |d| {
        d.put("a", b"ab");
        let stream = d.open("a", READ).write_via_stream(0).unwrap();
        (stream.blocking_write_and_flush(b"x"), stream.blocking_write_and_flush(b"x"), d.text("a"))
    };
    Together "io/streams.output-stream.blocking-write-and-flush" "after the descriptor is dropped" |d| {
        let file = d.made("a", b"");
        let stream = file.append_via_stream().unwrap();
        drop(file);
        (stream.blocking_write_and_flush(b"still"), d.text("a"))
    };
    Alone "io/streams.output-stream.blocking-write-and-flush" "4097 bytes" |d| {
        d.made("a", b"").write_via_stream(0).unwrap().blocking_write_and_flush(&letters(4097))
    };
    Alone "io/streams.output-stream.blocking-write-and-flush" "4097 bytes to standard output" |_d| {
        get_stdout().blocking_write_and_flush(&letters(4097))
    };
    Together "io/streams.output-stream.flush" "with nothing written" |d| {
        d.made("a", b"").write_via_stream(0).unwrap().flush()
    };
    Together "io/streams.output-stream.flush" "then waiting" |d| {
        let stream = d.made("a", b"").write_via_stream(0).unwrap();
        stream.write(b"text").unwrap();
        let flushed = stream.flush();
        stream.subscribe().block();
        (flushed, stream.check_write().map(|permitted| permitted > 0), d.text("a"))
    };
    Together "io/streams.output-stream.flush" "of a closed stream" |d| {
        d.put("a", b"ab");
        let stream = d.open("a", READ).write_via_stream(0).unwrap();
        (stream.blocking_write_and_flush(b"x"), stream.flush(), stream.write(b"x"))
    };
    Together "io/streams.output-stream.blocking-flush" "writes out" |d| {
        let stream = d.made("a", b"").append_via_stream().unwrap();
        (stream.write(b"text"), stream.blocking_flush(), d.text("a"))
    };
    Together "io/streams.output-stream.blocking-flush" "tells of the failure" |d| {
        d.put("a", b"ab");
        let stream = d.open("a", READ).write_via_stream(0).unwrap();
        let failed = stream.write(b"x").and_then(|()| stream.blocking_flush());
        (failed, stream.blocking_flush())
    };
    Together "io/streams.output-stream.subscribe" "a file is soon ready" |d| {
        let stream = d.made("a", b"").write_via_stream(0).unwrap();
        stream.write(b"x").unwrap();
        let pollable = stream.subscribe();
        (poll(&[&pollable]), pollable.ready())
    };
    Together "io/streams.output-stream.subscribe" "standard output" |_d| {
        let stream = get_stdout();
        let pollable = stream.subscribe();
        pollable.block();
        pollable.ready()
    };
    Together "io/streams.output-stream.write-zeroes" "over what is there" |d| {
        let stream = d.made("a", b"abcdef").write_via_stream(1).unwrap();
        (stream.write_zeroes(3), stream.blocking_flush(), d.text("a"))
    };
    Together "io/streams.output-stream.blocking-write-zeroes-and-flush" "beyond the end" |d| {
        let stream = d.made("a", b"ab").append_via_stream().unwrap();
        (stream.blocking_write_zeroes_and_flush(3), stream.blocking_write_and_flush(b"c"), d.text("a"))
    };
    Alone "io/streams.output-stream.blocking-write-zeroes-and-flush" "4097 zeroes" |d| {
        d.made("a", b"").write_via_stream(0).unwrap().blocking_write_zeroes_and_flush(4097)
    };
    Together "io/streams.output-stream.splice" "after waiting" |d| {
        let source = d.made("a", b"hello").read_via_stream(1).unwrap();
        let target = d.made("b", b"").write_via_stream(0).unwrap();
        source.subscribe().block();
        (target.splice(&source, 3), target.blocking_flush(), d.text("b"))
    };
    Alone "io/streams.output-stream.splice" "standard input to standard output" |_d| {
        let (source, target) = (get_stdin(), get_stdout());
        source.subscribe().block();
        (target.splice(&source, 9), target.blocking_flush(), target.splice(&source, 0))
    };
    Together "io/streams.output-stream.blocking-splice" "all of a short file, then the end" |d| {
        let source = d.made("a", b"hello").read_via_stream(0).unwrap();
        let target = d.made("b", b"").write_via_stream(0).unwrap();
        (target.blocking_splice(&source, 100), target.blocking_splice(&source, 100), d.text("b"))
    };
    Together "io/streams.output-stream.blocking-splice" "nothing" |d| {
        let source = d.made("a", b"hello").read_via_stream(0).unwrap();
        let target = d.made("b", b"").write_via_stream(0).unwrap();
        (target.blocking_splice(&source, 0), target.blocking_splice(&source, 9), d.text("b"))
    };
    Together "io/streams.output-stream.blocking-splice" "nothing, from a stream at its end" |d| {
        let source = d.made("a", b"").read_via_stream(0).unwrap();
        let target = d.made("b", b"").write_via_stream(0).unwrap();
        let spliced = [9, 0].map(|length| target.blocking_splice(&source, length));
        (spliced, target.blocking_write_and_flush(b"x"), d.text("b"))
    };
    Together "io/streams.output-stream.blocking-splice" "into a closed stream takes nothing from the source" |d| {
        d.put("b", b"");
        let source = d.made("a", b"hello").read_via_stream(0).unwrap();
        let target = d.open("b", READ).write_via_stream(0).unwrap();
        (target.blocking_write_and_flush(b"x"), target.blocking_splice(&source, 9), source.blocking_read(9).map(Bytes))
    };
    Together "io/streams.output-stream.blocking-splice" "into a file opened for reading only" |d| {
        d.put("b", b"");
        let source = d.made("a", b"hello").read_via_stream(0).unwrap();
        let target = d.open("b", READ).write_via_stream(0).unwrap();
        (target.blocking_splice(&source, 9), target.blocking_splice(&source, 9))
    };
    Alone "io/streams.output-stream.blocking-splice" "standard input to a file" |d| {
        let target = d.made("b", b"").write_via_stream(0).unwrap();
        (target.blocking_splice(&get_stdin(), 6), d.text("b"))
    };

    Together "io/error.error.to-debug-string" "says something" |d| {
        d.put("a", b"ab");
        inside(d.open("a", READ).write_via_stream(0).unwrap().blocking_write_and_flush(b"x"))
    };
    Together "filesystem/types.filesystem-error-code" "of a failed write" |d| {
        d.put("a", b"ab");
        inside(d.open("a", READ).append_via_stream().unwrap().blocking_write_and_flush(b"x"))
    };
    Together "filesystem/types.filesystem-error-code" "of a failed read" |d| {
        d.put("a", b"ab");
        inside(d.open("a", WRITE).read_via_stream(0).unwrap().blocking_read(1))
    };
    Together "filesystem/types.filesystem-error-code" "of an impossible offset" |d| {
        d.put("a", b"ab");
        inside(d.open("a", BOTH).read_via_stream(u64::MAX).unwrap().blocking_read(1))
    };
}
