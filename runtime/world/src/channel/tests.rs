//! Scripts, and what is read of them at which moment.

use super::*;
use crate::Faults;
use crate::decide::tests::SeededDecider;
use fozzy_trace::plan::{ExpectedOutput, StdinPlan};
use fozzy_trace::source::SeededSource;
use fozzy_trace::{Digest, NodeId, Seed};

const MS: u64 = 1_000_000;

fn at(ms: u64) -> ArrivalTime {
    ArrivalTime::At(Instant(ms * MS))
}

fn after(text: &str, delay_ms: u64) -> ArrivalTime {
    ArrivalTime::After { output: ExpectedOutput::Text(text.into()), delay: Duration(delay_ms * MS) }
}

fn after_regex(text: &str) -> ArrivalTime {
    ArrivalTime::After { output: ExpectedOutput::Regex(text.into()), delay: Duration(0) }
}

/// A script of lines; one that is empty is the end.
fn plan(script: &[(&str, ArrivalTime)]) -> (Arc<[u8]>, ChannelPlan) {
    let text: String = script.iter().map(|(line, _)| *line).collect();
    let arrival = |(line, when): &(&str, ArrivalTime)| ArrivalPlan {
        bytes: line.len() as u64,
        when: when.clone(),
        jitter: Duration(0),
        vary: None,
        end: line.is_empty(),
    };
    let arrivals = script.iter().map(arrival).collect();
    (text.into_bytes().into(), ChannelPlan { arrivals, ..ChannelPlan::default() })
}

/// A channel, and a program that writes and reads.
struct Program {
    channel: Channel,
    decider: SeededDecider,
    now: Instant,
}

impl Program {
    fn new(script: &[(&str, ArrivalTime)], stays_open: bool) -> Program {
        let (bytes, plan) = plan(script);
        let (tape, channel) = Channel::planned(bytes, &plan, stays_open).expect("a script");
        assert!(tape.is_empty());
        Program::of(channel)
    }

    fn of(channel: Channel) -> Program {
        Program { channel, decider: SeededDecider(SeededSource::new(Seed(1))), now: Instant::START }
    }

    fn with<R>(&mut self, act: impl FnOnce(&mut Channel, &mut OpContext<'_>) -> R) -> R {
        let mut faults = Faults::default();
        let (now, node) = (self.now, NodeId(0));
        act(&mut self.channel, &mut OpContext { now, node, faults: &mut faults, decider: &mut self.decider })
    }

    fn writes(&mut self, text: &str) {
        self.with(|channel, context| channel.told(text.as_bytes(), context));
    }

    /// Waits for the next bytes: when they came, and what. Nothing when they never come.
    fn reads(&mut self, len: u64) -> Option<(u64, String)> {
        self.with(Channel::arm);
        self.now = self.now.max(self.channel.deadline()?);
        let bytes = self.channel.read(len, self.now);
        Some((self.now.0 / MS, String::from_utf8(bytes).expect("text")))
    }
}

fn read(ms: u64, text: &str) -> Option<(u64, String)> {
    Some((ms, text.to_owned()))
}

#[test]
fn what_has_a_time_comes_then_and_the_end_behind_it() {
    let mut program =
        Program::new(&[("a\n", at(20)), ("b\n", ArrivalTime::Delay(Duration(5 * MS))), ("c\n", at(30))], false);
    program.with(Channel::arm);
    assert!(!program.channel.is_ready(Instant(20 * MS - 1)) && program.channel.is_ready(Instant(20 * MS)));
    assert_eq!(program.reads(1), read(20, "a"));
    assert_eq!(program.reads(9), read(20, "\n"));
    assert_eq!(program.reads(9), read(25, "b\n"));
    program.now = Instant(100 * MS);
    assert_eq!(program.reads(9), read(100, "c\n"));
    assert!(program.channel.is_closed(program.now));
    assert_eq!(program.reads(9), read(100, ""));
}

#[test]
fn an_end_has_a_time_of_its_own_and_an_open_input_has_none() {
    let mut program = Program::new(&[("a\n", at(1)), ("", at(9))], true);
    assert_eq!(program.reads(9), read(1, "a\n"));
    assert!(!program.channel.is_closed(program.now));
    assert_eq!(program.reads(9), read(9, ""));
    assert!(program.channel.is_closed(program.now));
    let mut open = Program::new(&[("a\n", at(1))], true);
    assert_eq!((open.reads(9), open.reads(9)), (read(1, "a\n"), None));
}

#[test]
fn expected_output_is_found_over_several_writes_and_only_once() {
    let script = [("one\n", after("> ", 3)), ("two\n", after("> ", 0)), ("three\n", after_regex("^id=[0-9]+$"))];
    let mut program = Program::new(&script, false);
    assert_eq!(program.reads(9), None);
    program.writes("hello\n>");
    assert_eq!(program.reads(9), None);
    program.writes(" ");
    assert_eq!(program.reads(9), read(3, "one\n"));
    // The prompt that was found is not found again; one that stands behind it is.
    assert_eq!(program.reads(9), None);
    let waits = program.channel.unmet().expect("it waits").to_string();
    assert_eq!(waits, "entry 2 of 3 waits for the output \"> \"");
    program.writes("> id=7x\nid=42\n");
    assert_eq!((program.reads(9), program.reads(9)), (read(3, "two\n"), read(3, "three\n")));
    assert!(program.channel.unmet().is_none() && program.channel.is_closed(program.now));
}

#[test]
fn output_before_the_first_look_counts_and_old_output_is_forgotten() {
    let mut program = Program::new(&[("a\n", ArrivalTime::Delay(Duration(0))), ("b\n", after("go", 0))], false);
    program.writes("go");
    assert_eq!((program.reads(9), program.reads(9)), (read(0, "a\n"), read(0, "b\n")));
    let mut program = Program::new(&[("b\n", after("needle", 0))], false);
    program.writes("need");
    for _ in 0..EXPECTED_WINDOW_BYTES / 64 {
        program.writes(&"x".repeat(64));
    }
    program.writes("needle");
    assert_eq!(program.reads(9), read(0, "b\n"));
}

#[test]
fn a_pipe_gives_all_that_has_come_and_a_script_one_entry() {
    let sent = |is_pipe: bool| {
        let (bytes, mut plan) = plan(&[]);
        plan.from = is_pipe.then_some(fozzy_trace::plan::StdinPipe {
            node: NodeId(1),
            latency: Duration(0),
            jitter: Duration(0),
        });
        let mut program = Program::of(Channel::planned(bytes, &plan, true).expect("a channel").1);
        program.channel.send(Arc::from(*b"ab"), Instant(1));
        program.channel.send(Arc::from(*b"\n"), Instant(0));
        assert_eq!(program.channel.unread(), 3 + 2 * WRITE_BYTES, "a write takes some, too");
        program.now = Instant(1);
        program.reads(9).expect("bytes").1
    };
    assert_eq!((sent(true).as_str(), sent(false).as_str()), ("ab\n", "ab"));
}

#[test]
fn nothing_comes_behind_the_end() {
    let mut program = Program::new(&[], true);
    assert_eq!(program.channel.close(Instant(5 * MS)), Instant(5 * MS));
    program.channel.send(Arc::from(*b"late"), Instant(6 * MS));
    assert_eq!((program.reads(9), program.channel.unread()), (read(5, ""), 0));
}

#[test]
fn a_jitter_is_a_question_and_none_is_none() {
    let moments = |seed: u64, jitter: u64| {
        let (bytes, mut plan) = plan(&[("a\n", at(10))]);
        plan.arrivals[0].jitter = Duration(jitter * MS);
        let mut program = Program::of(Channel::planned(bytes, &plan, false).expect("a script").1);
        program.decider = SeededDecider(SeededSource::new(Seed(seed)));
        program.reads(9).expect("bytes").0
    };
    assert!((0..20).all(|seed| moments(seed, 0) == 10));
    let drawn: std::collections::BTreeSet<u64> = (0..20).map(|seed| moments(seed, 100)).collect();
    assert!(drawn.len() > 5 && drawn.iter().all(|ms| (10..=110).contains(ms)), "{drawn:?}");
}

#[test]
fn an_exploration_has_it_come_later_and_every_other_run_as_planned() {
    let moments = |seed: u64, varies: bool| {
        let (bytes, plan) = plan(&[("a\n", at(10))]);
        let mut stdin = StdinPlan { bytes: Digest::of(&bytes), stays_open: false, channel: Some(Box::new(plan)) };
        stdin.vary(Duration(1000 * MS));
        let mut plan = *stdin.channel.expect("a channel");
        plan.varies &= varies;
        let mut program = Program::of(Channel::planned(bytes, &plan, false).expect("a script").1);
        program.decider = SeededDecider(SeededSource::new(Seed(seed)));
        program.reads(9).expect("bytes").0
    };
    assert!((0..20).all(|seed| moments(seed, false) == 10));
    let drawn: Vec<u64> = (0..400).map(|seed| moments(seed, true)).collect();
    let part = |range: std::ops::Range<u64>| drawn.iter().filter(|ms| range.contains(ms)).count();
    assert_eq!(part(10..1011), 400);
    // As planned or by less than a millisecond, by less than a hundred, and up to a second.
    assert!(part(10..11) > 100 && part(11..110) > 40 && part(510..1011) > 50, "{drawn:?}");
}

#[test]
fn plans_that_cannot_be_are_refused() {
    let (bytes, mut long) = plan(&[("a\n", at(1))]);
    long.arrivals[0].bytes = 3;
    let refused = |plan: &ChannelPlan| Channel::planned(Arc::clone(&bytes), plan, false).map(drop);
    assert_eq!(refused(&long), Err(ChannelError::Bytes));
    long.arrivals = vec![long.arrivals[0].clone(); 3];
    long.arrivals.iter_mut().for_each(|arrival| arrival.bytes = u64::MAX);
    assert_eq!(refused(&long), Err(ChannelError::Bytes));
    let wrong =
        |regex: &str| refused(&plan(&[("", after_regex(regex))]).1).expect_err("no regular expression").to_string();
    assert_eq!(wrong("ab("), "no regular expression: found open group without closing ')'");
    assert!(wrong("(a{900}){900}").contains("size limit"), "{}", wrong("(a{900}){900}"));
}

#[test]
fn a_program_that_starts_again_waits_as_planned() {
    let bytes = fozzy_trace::Digest::of(b"");
    let plan = fozzy_trace::plan::StdinPlan { bytes, stays_open: true, channel: Some(Box::default()) };
    let mut stdin = crate::Stdin::planned(Arc::from([]), &plan).expect("a channel");
    stdin.channel_mut().expect("planned").set_nonblocking(true);
    stdin.rewind();
    assert!(!stdin.channel().expect("planned").is_nonblocking());
}
