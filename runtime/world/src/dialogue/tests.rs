//! Machines that talk over their standard streams: with each other, and with a simulated router.

use super::*;
use crate::decide::tests::SeededDecider;
use crate::{GuestExit, Wait};
use fozzy_trace::plan::{ChannelPlan, Inputs, MachinePlan, NodePlan, ProgramPlan, StdinPlan};
use fozzy_trace::source::SeededSource;
use fozzy_trace::{Digest, Duration, Seed};

const MAIN: NodeId = NodeId(0);
const OTHER: NodeId = NodeId(1);

/// Two machines; the second reads what the first prints, three nanoseconds later.
fn pair() -> World {
    pair_of(Edition::LATEST)
}

fn pair_of(edition: Edition) -> World {
    let pipe = StdinPipe { node: MAIN, latency: Duration(3), jitter: Duration(0) };
    let channel = Some(Box::new(ChannelPlan { from: Some(pipe), ..ChannelPlan::default() }));
    let stdin = StdinPlan { bytes: Digest::of(b""), stays_open: false, channel };
    let machine = MachinePlan { stdin, ..MachinePlan::default() };
    let program = ProgramPlan { component: Digest::of(b"program"), machine };
    let node = NodePlan { name: "other".into(), program, called: false, ends: None, restart: None, counted: None };
    let plan = Plan { nodes: vec![node], edition, ..Plan::default() };
    World::new(Arc::new(plan), &Inputs::default()).expect("a plan")
}

fn within<R>(world: &mut World, node: NodeId, act: impl FnOnce(&mut World, &mut OpContext<'_>) -> R) -> R {
    let mut faults = std::mem::take(&mut world.faults);
    let mut decider = SeededDecider(SeededSource::new(Seed(1)));
    let mut context = OpContext { now: world.clock.now(), node, faults: &mut faults, decider: &mut decider };
    let done = act(world, &mut context);
    world.faults = faults;
    done
}

fn prints(world: &mut World, node: NodeId, text: &str) {
    assert!(world.is_heard(node, OutputKind::Stdout));
    within(world, node, |world, context| world.hear(OutputKind::Stdout, text.as_bytes(), context)).expect("room");
}

/// Waits for input: when it came, and what.
fn reads(world: &mut World, node: NodeId) -> (u64, String) {
    world.block(&[Wait::Stdin(node)]).expect("input comes");
    let now = world.clock.now();
    (now.0, String::from_utf8(world.node_mut(node).stdin.read(99, now)).expect("text"))
}

#[test]
fn the_output_of_a_machine_is_the_input_of_another_one() {
    let mut world = pair();
    assert!(!world.is_heard(MAIN, OutputKind::Stderr) && !world.is_heard(OTHER, OutputKind::Stdout));
    prints(&mut world, MAIN, "one\n");
    prints(&mut world, MAIN, "two");
    assert!(!world.is_ready(Wait::Stdin(OTHER)));
    assert_eq!(world.present_wait_words(Wait::Stdin(OTHER)), "standard input, of which more comes at 3ns");
    assert_eq!(reads(&mut world, OTHER), (3, "one\ntwo".to_owned()));
    let blocked = world.clone().block(&[Wait::Stdin(OTHER)]).expect_err("nobody prints");
    assert_eq!(blocked.waiting, ["standard input that never comes from `main`"]);
    // It ends with the program that prints.
    within(&mut world, MAIN, |world, context| world.guest_ended(MAIN, GuestExit::Code(0), context));
    assert_eq!(reads(&mut world, OTHER), (6, String::new()));
    assert!(world.node(OTHER).stdin.is_closed(world.clock.now()));
}

#[test]
fn a_machine_that_never_reads_is_named_and_one_that_has_ended_is_not_asked() {
    let mut world = pair();
    let chunk = vec![b'x'; 1 << 20];
    let write =
        |world: &mut World| within(world, MAIN, |world, context| world.hear(OutputKind::Stdout, &chunk, context));
    // Each write takes a little more than its bytes.
    for _ in 1..UNREAD_BYTES_MAX >> 20 {
        write(&mut world).expect("room");
    }
    assert_eq!(write(&mut world), Err(UnreadInput { node: "other".to_owned() }));
    within(&mut world, OTHER, |world, context| world.guest_ended(OTHER, GuestExit::Code(0), context));
    assert!(write(&mut world).is_ok());
}

/// Greets everybody, and gives each line to the other machine, later each time.
#[derive(Clone, Debug)]
struct Router {
    lines: u64,
}

impl StdioPeer for Router {
    fn begin(&mut self, context: &mut OpContext<'_>) -> Vec<StdinDelivery> {
        let at = context.now.after(Duration(7));
        [MAIN, OTHER].map(|to| StdinDelivery { to, bytes: Some(Arc::from(*b"init\n")), at }).to_vec()
    }

    fn line(&mut self, from: NodeId, line: &[u8], context: &mut OpContext<'_>) -> Vec<StdinDelivery> {
        self.lines += 1;
        let to = if from == MAIN { OTHER } else { MAIN };
        let at = context.now.after(Duration(10 * self.lines));
        vec![StdinDelivery { to, bytes: Some([line, b"!\n"].concat().into()), at }]
    }

    fn ended(&mut self, _: NodeId, context: &mut OpContext<'_>) -> Vec<StdinDelivery> {
        vec![StdinDelivery { to: OTHER, bytes: None, at: context.now }]
    }

    fn fork(&self) -> Box<dyn StdioPeer> {
        Box::new(self.clone())
    }
}

#[test]
fn a_router_is_told_whole_lines_and_writes_to_inputs() {
    let mut world = pair();
    let router = Box::new(Router { lines: 0 });
    within(&mut world, MAIN, |world, context| world.connect(router, &[MAIN, OTHER], context));
    assert_eq!(reads(&mut world, MAIN), (7, "init\n".to_owned()));
    assert_eq!(reads(&mut world, OTHER), (7, "init\n".to_owned()));
    // A line in two writes, and two lines in one.
    prints(&mut world, OTHER, "echo");
    let mut before = world.clone();
    prints(&mut world, OTHER, "\na\nb");
    assert_eq!(reads(&mut world, MAIN), (17, "echo!\n".to_owned()));
    assert_eq!(reads(&mut world, MAIN), (27, "a!\n".to_owned()));
    // A clone has a router of its own.
    prints(&mut before, OTHER, "es\n");
    assert_eq!(reads(&mut before, MAIN), (17, "echoes!\n".to_owned()));
    prints(&mut world, MAIN, "c\nlast");
    within(&mut world, MAIN, |world, context| world.guest_ended(MAIN, GuestExit::Code(0), context));
    // What it said before it ended, also without a line end.
    let told = [(); 4].map(|()| reads(&mut world, OTHER).1);
    assert_eq!(told, ["c\nlast", "c!\n", "last!\n", ""]);
}

#[test]
fn lines_are_the_same_however_they_are_cut_into_writes() {
    let text = "one\n\ntwo\n";
    let told = |cuts: &[usize]| {
        let mut world = pair();
        let router = Box::new(Router { lines: 0 });
        within(&mut world, MAIN, |world, context| world.connect(router, &[MAIN, OTHER], context));
        assert_eq!(reads(&mut world, MAIN), (7, "init\n".to_owned()));
        let mut from = 0;
        for to in cuts.iter().copied().chain([text.len()]) {
            prints(&mut world, OTHER, &text[from..to]);
            from = to;
        }
        assert!(world.dialogues.lines.is_empty(), "nothing is left of a line");
        [(); 3].map(|()| reads(&mut world, MAIN))
    };
    let whole = told(&[]);
    assert_eq!(whole, [(17, "one!\n".to_owned()), (27, "!\n".to_owned()), (37, "two!\n".to_owned())]);
    for first in 0..=text.len() {
        for second in first..=text.len() {
            assert_eq!(told(&[first, second]), whole, "cut at {first} and {second}");
        }
    }
}

#[test]
fn a_long_line_is_told_in_pieces() {
    let mut world = pair();
    let router = Box::new(Router { lines: 0 });
    within(&mut world, MAIN, |world, context| world.connect(router, &[MAIN], context));
    prints(&mut world, OTHER, &"x".repeat(LINE_BYTES_MAX - 1));
    assert!(world.dialogues.lines[&OTHER].len() == LINE_BYTES_MAX - 1);
    prints(&mut world, OTHER, "yy");
    assert!(!world.dialogues.lines.contains_key(&OTHER));
}

#[test]
fn in_earlier_editions_a_last_line_without_a_line_end_is_not_told_and_no_time_passes_for_polls() {
    for (edition, told, passes) in
        [(Edition::FIRST, ["last", "", ""], false), (Edition::THIRD, ["last", "last!\n", ""], true)]
    {
        let mut world = pair_of(edition);
        let router = Box::new(Router { lines: 0 });
        within(&mut world, MAIN, |world, context| world.connect(router, &[MAIN, OTHER], context));
        assert_eq!(reads(&mut world, OTHER).1, "init\n");
        let begin = world.clock.now();
        (0..2_000).for_each(|_| world.look_at_stdin(OTHER));
        assert_eq!(world.clock.now() > begin, passes);
        prints(&mut world, MAIN, "last");
        within(&mut world, MAIN, |world, context| world.guest_ended(MAIN, GuestExit::Code(0), context));
        assert_eq!(told.map(|_| reads(&mut world, OTHER).1), told);
    }
}

#[test]
fn to_clone_into_dialogues_is_to_clone() {
    let mut told = pair();
    within(&mut told, MAIN, |world, context| world.connect(Box::new(Router { lines: 0 }), &[MAIN], context));
    prints(&mut told, OTHER, "half a line");
    let all = [pair().dialogues.clone(), told.dialogues.clone(), Dialogues::default()];
    let words: Vec<String> = all.iter().map(|dialogues| format!("{dialogues:?}")).collect();
    assert!(words[0] != words[1] && words[1] != words[2] && words[2] != words[0], "they differ");
    for (from, (to, expected)) in all.iter().flat_map(|from| all.iter().zip(&words).map(move |to| (from, to))) {
        let mut dialogues = from.clone();
        dialogues.clone_from(to);
        assert_eq!(format!("{dialogues:?}"), *expected);
    }
}
