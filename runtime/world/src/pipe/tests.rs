//! Pipes against the definition: a queue with two ends.

use super::*;
use fozzy_trace::source::SeededSource;
use fozzy_trace::{DecisionSource, NodeId, Purpose, Question, Seed};

const NOW: Instant = Instant(1_000);
const LATER: Instant = Instant(2_000);

fn bytes(read: PipeRead) -> Vec<u8> {
    match read {
        PipeRead::Bytes(bytes) => bytes,
        PipeRead::End => panic!("the end came"),
    }
}

#[test]
fn what_goes_in_comes_out_and_then_the_end() {
    let mut pipes = Pipes::default();
    let id = pipes.buffer(b"given ".to_vec()).expect("little");
    assert!(pipes.is_ready(id, PipeEnd::Read, NOW));
    assert_eq!(pipes.write(id, b"written", NOW), Some(7));
    assert_eq!(bytes(pipes.read(id, 9, NOW)), b"given wri");
    assert_eq!(bytes(pipes.read(id, 9, NOW)), b"tten");
    assert_eq!(bytes(pipes.read(id, 9, NOW)), b"");
    assert!(!pipes.is_ready(id, PipeEnd::Read, NOW));
    pipes.close(id, PipeEnd::Write, NOW);
    assert!(pipes.is_ready(id, PipeEnd::Read, NOW));
    assert_eq!(pipes.read(id, 9, NOW), PipeRead::End);
    pipes.close(id, PipeEnd::Read, NOW);
    assert_eq!((pipes.count(), pipes.held), (0, 0));
}

#[test]
fn the_writer_waits_at_64_kib_and_breaks_without_a_reader() {
    let mut pipes = Pipes::default();
    let id = pipes.buffer(Vec::new()).expect("nothing");
    assert_eq!(pipes.write(id, &[7; 100_000], NOW), Some(PIPE_BYTES_MAX));
    assert_eq!(pipes.write(id, b"x", NOW), Some(0));
    assert!(!pipes.is_ready(id, PipeEnd::Write, NOW));
    assert_eq!(bytes(pipes.read(id, PIPE_ATOMIC_BYTES - 1, NOW)).len(), 4_095);
    assert!(!pipes.is_ready(id, PipeEnd::Write, NOW), "not enough for a whole write");
    assert_eq!(bytes(pipes.read(id, 1, NOW)), [7]);
    assert_eq!(pipes.room(id, NOW), Some(PIPE_ATOMIC_BYTES));
    pipes.close(id, PipeEnd::Read, NOW);
    assert!(pipes.is_ready(id, PipeEnd::Write, NOW));
    assert_eq!(pipes.write(id, b"x", NOW), None);
}

#[test]
fn a_name_is_never_used_twice() {
    let mut pipes = Pipes::default();
    let old = pipes.buffer(Vec::new()).expect("nothing");
    pipes.close(old, PipeEnd::Read, NOW);
    pipes.close(old, PipeEnd::Write, NOW);
    let new = pipes.buffer(b"secret".to_vec()).expect("little");
    assert_eq!(new.slot, old.slot);
    assert_eq!((pipes.read(old, 9, NOW), pipes.write(old, b"x", NOW)), (PipeRead::End, None));
    assert!(pipes.is_ready(old, PipeEnd::Read, NOW) && pipes.is_ready(old, PipeEnd::Write, NOW));
    pipes.close(old, PipeEnd::Read, NOW);
    assert_eq!(bytes(pipes.read(new, 9, NOW)), b"secret");
}

#[test]
fn scripted_ends_close_in_their_time() {
    let mut pipes = Pipes::default();
    let (tape, sink) = (pipes.tape(Arc::from(*b"ab"), LATER), pipes.sink(LATER));
    assert_eq!(bytes(pipes.read(tape, 9, NOW)), b"ab");
    assert_eq!(bytes(pipes.read(tape, 9, NOW)), b"");
    assert_eq!(pipes.deadline(tape, PipeEnd::Read), Some(LATER));
    assert_eq!(pipes.read(tape, 9, LATER), PipeRead::End);
    assert_eq!(pipes.write(sink, b"abc", NOW), Some(3));
    assert_eq!((pipes.written(sink), pipes.write(sink, b"abc", LATER)), (3, None));
    pipes.close_at(sink, PipeEnd::Read, NOW);
    assert_eq!(pipes.write(sink, b"abc", NOW), None, "an earlier end counts");
    pipes.close(tape, PipeEnd::Read, NOW);
    pipes.close(sink, PipeEnd::Write, NOW);
    assert_eq!(pipes.count(), 0);
}

#[test]
fn what_is_cut_does_not_arrive_and_nobody_notices() {
    let mut pipes = Pipes::default();
    let (buffer, tape) = (pipes.buffer(Vec::new()).expect("nothing"), pipes.tape(Arc::from(*b"abcdef"), NOW));
    pipes.cut(buffer, 4);
    pipes.cut(tape, 4);
    assert_eq!(pipes.write(buffer, b"abc", NOW), Some(3));
    assert_eq!(pipes.write(buffer, b"def", NOW), Some(3));
    assert_eq!(bytes(pipes.read(buffer, 9, NOW)), b"abcd");
    assert_eq!(bytes(pipes.read(tape, 9, NOW)), b"abcd");
}

#[test]
fn what_is_held_is_bounded() {
    let mut pipes = Pipes::default();
    let big = pipes.given(vec![0; HELD_BYTES_MAX as usize - 10]).expect("it fits");
    assert_eq!(pipes.given(vec![0; 11]), Err(PipeLimitError));
    let collector = pipes.collector(b"12345".to_vec()).expect("it fits");
    assert_eq!(pipes.write(collector, b"67890", NOW), Some(5));
    pipes.close(collector, PipeEnd::Write, NOW);
    assert_eq!(pipes.collect(collector).as_deref(), Some(&b"1234567890"[..]));
    let collector = pipes.collector(Vec::new()).expect("nothing");
    assert_eq!(pipes.write(collector, b"eleven bytes", NOW), Some(12));
    assert_eq!(pipes.collect(collector), None);
    pipes.close(big, PipeEnd::Read, NOW);
    assert_eq!((pipes.held, pipes.count()), (0, 0));
}

/// Random operations beside a plain queue.
#[test]
fn a_pipe_is_a_queue() {
    let mut source = SeededSource::new(Seed(7));
    let mut below = |bound| source.below(Question { node: NodeId(0), purpose: Purpose::Random, site: "t" }, bound).0;
    for _ in 0..10 {
        let (mut pipes, mut oracle) = (Pipes::default(), VecDeque::from(b"begin".to_vec()));
        let id = pipes.buffer(b"begin".to_vec()).expect("little");
        let mut given_left = 5u64;
        for step in 0..200u64 {
            let len = below(40_000);
            if below(2) == 0 {
                let written = vec![step as u8; len as usize];
                let room = PIPE_BYTES_MAX - (oracle.len() as u64 - given_left);
                let room = if room < PIPE_ATOMIC_BYTES { 0 } else { room };
                assert_eq!(pipes.room(id, NOW), Some(room));
                assert_eq!(pipes.write(id, &written, NOW), Some(room.min(len)));
                oracle.extend(&written[..room.min(len) as usize]);
            } else {
                let expected: Vec<u8> = oracle.drain(..(len as usize).min(oracle.len())).collect();
                given_left = given_left.saturating_sub(expected.len() as u64);
                assert_eq!(pipes.read(id, len, NOW), PipeRead::Bytes(expected));
            }
            assert_eq!(pipes.is_ready(id, PipeEnd::Read, NOW), !oracle.is_empty());
        }
    }
}
