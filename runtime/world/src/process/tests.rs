//! Processes on a whole computer: rules, faults, ends, pipes, captures.

use super::*;
use crate::decide::tests::SeededDecider;
use crate::fault::FAULTS;
use crate::pipe::{PipeEnd, PipeRead};
use crate::{GuestExit, Handle, OpContext, Wait, World};
use fozzy_trace::plan::{
    Backend, Backends, FaultPlan, Inputs, MachinePlan, ProcessExit, ProcessReply, ProcessRule, ProgramPlan,
};
use fozzy_trace::source::SeededSource;
use fozzy_trace::{Digest, Duration, Instant, NodeId, Plan, Seed};
use std::sync::Arc;

const ME: NodeId = NodeId(0);
const SECOND: Duration = Duration(1_000_000_000);

#[derive(Default)]
struct Given {
    inputs: Inputs,
    plan: Plan,
}

impl Given {
    fn rule(mut self, command: &str, args: Option<&[&str]>, answer: ProcessReply) -> Given {
        let args = args.map(|args| args.iter().map(|&arg| arg.to_owned()).collect());
        let rule = ProcessRule { command: command.to_owned(), args, times: None, delay: SECOND, answer, others: None };
        self.plan.processes.push(rule);
        self
    }

    fn scripted(mut self, command: &str, args: Option<&[&str]>, code: i32, stdout: &str) -> Given {
        let stdout = self.inputs.add(stdout.as_bytes().to_vec());
        let exit = ProcessExit::Code(code);
        self.rule(command, args, ProcessReply::Output { exit, stdout, stderr: Digest::of(b"") })
    }

    fn component(self, command: &str) -> Given {
        let machine = MachinePlan {
            env: vec![("A".into(), "plan".into()), ("B".into(), "plan".into())],
            ..MachinePlan::default()
        };
        let mut given =
            self.rule(command, None, ProcessReply::Component(ProgramPlan { component: Digest::of(b"c"), machine }));
        given.plan.processes.last_mut().expect("just added").delay = Duration(0);
        given
    }

    fn fault(mut self, kind: &str, target: &str, strength: u64) -> Given {
        let (kind, target) = (kind.to_owned(), target.to_owned());
        let (start, length, strength) = (Duration(0), None, Some(strength));
        self.plan.faults.push(FaultPlan {
            kind,
            target,
            rate_ppm: 1_000_000,
            start,
            length,
            strength,
            times: None,
            nemesis: None,
        });
        self
    }

    fn host(mut self) -> Given {
        self.plan.backends = Backends { processes: Backend::Host, ..Backends::default() };
        self
    }

    fn world(self) -> World {
        let mut world = World::new(Arc::new(self.plan), &self.inputs).expect("a good plan");
        world.launches.clear();
        world
    }
}

fn given() -> Given {
    Given::default()
}

fn command(line: &str) -> ProcessCommand {
    let mut words = line.split(' ').map(str::to_owned);
    ProcessCommand { command: words.next().expect("a command"), args: words.collect(), ..ProcessCommand::default() }
}

fn within<R>(world: &mut World, body: impl FnOnce(&mut World, &mut OpContext<'_>) -> R) -> R {
    let mut faults = std::mem::take(&mut world.faults);
    let mut decider = SeededDecider(SeededSource::new(Seed(7)));
    let mut context = OpContext { now: world.clock.now(), node: ME, faults: &mut faults, decider: &mut decider };
    let result = body(world, &mut context);
    world.faults = faults;
    result
}

fn start(world: &mut World, command: ProcessCommand, mode: StdioMode) -> Result<Pid, ProcessError> {
    within(world, |world, context| world.start_process(command, mode, context))
}

fn wait(world: &mut World, pid: Pid) {
    world.block(&[Wait::Process(pid)]).expect("it ends");
}

/// How a command goes, as text: `2s code 0 "stdout"`.
fn run(world: &mut World, command: ProcessCommand) -> String {
    let begun = world.clock.now();
    let pid = match start(world, command, StdioMode::Whole) {
        Ok(pid) => pid,
        Err(error) => return error.to_string(),
    };
    wait(world, pid);
    match world.take_output(pid) {
        Ok(ProcessOutput { ending, stdout, .. }) => format!(
            "{} {:?}{} {:?}",
            world.clock.now().since(begun),
            ending.exit,
            if ending.deadline_passed { " late" } else { "" },
            String::from_utf8_lossy(&stdout)
        ),
        Err(error) => error.to_string(),
    }
}

#[test]
fn the_first_rule_that_matches_and_is_left_answers() {
    let mut given = given()
        .scripted("git", Some(&["push", "*"]), 1, "pushed")
        .scripted("git", Some(&["push", "*"]), 0, "pushed again")
        .scripted("/usr/*", None, 3, "any")
        .rule("secret", None, ProcessReply::NotPermitted)
        .rule("gone", None, ProcessReply::NotFound);
    given.plan.processes[0].times = Some(1);
    let mut world = given.world();
    assert_eq!(run(&mut world, command("git push origin")), r#"1s Code(1) "pushed""#);
    assert_eq!(run(&mut world, command("git push origin")), r#"1s Code(0) "pushed again""#);
    assert_eq!(run(&mut world, command("git push origin main")), "not found");
    assert_eq!(run(&mut world, command("/usr/bin/env a b c")), r#"1s Code(3) "any""#);
    assert_eq!(run(&mut world, command("secret")), "not permitted");
    assert_eq!(run(&mut world, command("gone")), "not found");
    let [unmatched] = world.unmatched.kept() else { panic!("a rule that says so is no finding") };
    assert!(unmatched.rule.contains(r#"args = ["push", "origin", "main"]"#));
    assert_eq!((world.processes.children.len(), world.pipes.count()), (0, 0));
}

#[test]
fn faults_strike_what_their_target_names() {
    let git = || given().scripted("git", None, 0, "abcdef");
    let cases = [
        (git().fault("process-not-found", "git", 0), "not found"),
        (git().fault("process-exit", "git push*", 7), r#"1s Code(7) "abcdef""#),
        (git().fault("process-signal", "*", 15).fault("process-exit", "*", 7), r#"1s Signal(15) "abcdef""#),
        (git().fault("process-signal", "*", u64::MAX), r#"1s Signal(64) "abcdef""#),
        (git().fault("process-truncate", "git", 2), r#"1s Code(0) "ab""#),
        (git().fault("process-delay", "git", SECOND.0), r#"2s Code(0) "abcdef""#),
        (git().fault("process-exit", "push", 7), r#"1s Code(0) "abcdef""#),
    ];
    for (given, expected) in cases {
        let faults = format!("{:?}", given.plan.faults);
        assert_eq!(run(&mut given.world(), command("git push")), expected, "{faults}");
    }
    assert!(FAULTS.is_sorted_by_key(|kind| kind.name));
}

#[test]
fn a_deadline_ends_what_goes_on() {
    let mut world = given().scripted("sleep", None, 0, "begun").world();
    let with = |deadline| ProcessCommand { deadline: Some(deadline), ..command("sleep") };
    assert_eq!(run(&mut world, with(SECOND)), r#"1s Code(0) "begun""#);
    assert_eq!(run(&mut world, with(Duration(500_000_000))), r#"500ms Signal(9) late "begun""#);
}

#[test]
fn a_scripted_child_streams_until_it_ends_or_is_killed() {
    for killed in [false, true] {
        let mut world = given().scripted("cat", None, 4, "hello").world();
        let pid = start(&mut world, command("cat"), StdioMode::Streaming).expect("a rule");
        let streams = [StandardStream::Stdin, StandardStream::Stdout].map(|stream| world.take_stream(pid, stream));
        let [Some(stdin), Some(stdout)] = streams else { panic!("nobody took them") };
        assert_eq!(world.take_stream(pid, StandardStream::Stdin), None);
        let now = world.clock.now();
        assert_eq!(world.pipes.write(stdin, b"ignored", now), Some(7));
        assert_eq!(world.pipes.read(stdout, 99, now), PipeRead::Bytes(b"hello".to_vec()));
        assert!(!world.is_ready(Wait::Pipe(stdout, PipeEnd::Read)));
        assert_eq!(world.processes.ending(pid, now), None);
        if killed {
            world.clock.advance_to(Instant(5));
            world.kill(pid, 0);
            world.kill(pid, 15);
            world.kill(pid, 9);
        }
        world.block(&[Wait::Pipe(stdout, PipeEnd::Read)]).expect("it ends");
        let now = world.clock.now();
        assert_eq!(now, if killed { Instant(5) } else { Instant::START.after(SECOND) });
        assert_eq!(world.pipes.read(stdout, 99, now), PipeRead::End);
        assert_eq!(world.pipes.write(stdin, b"x", now), None);
        let exit = if killed { ProcessExit::Signal(15) } else { ProcessExit::Code(4) };
        assert_eq!(world.processes.ending(pid, now), Some(Ok(ProcessEnd { exit, deadline_passed: false })));
        for handle in [
            Handle::Child(pid),
            Handle::InputStream(crate::table::StreamSource::Pipe(stdout)),
            Handle::OutputStream(crate::table::StreamSink::Pipe(stdin)),
        ] {
            world.close_handle(&handle);
        }
        assert_eq!((world.processes.children.len(), world.pipes.count()), (0, 0));
        assert!(world.is_ready(Wait::Process(pid)));
    }
}

#[test]
fn a_component_is_a_machine_with_pipes() {
    let mut world = given().component("tools/My_Tool*").world();
    let mut asked = command("tools/My_Tool -v");
    asked.stdin = b"first ".to_vec();
    asked.env = vec![("B".into(), "guest".into())];
    let pid = start(&mut world, asked, StdioMode::Streaming).expect("a rule");
    let child = world.launches[0].node;
    assert_eq!(world.launches[0].component, Some(Digest::of(b"c")));
    let node = world.node(child);
    assert_eq!((node.name.as_str(), &node.machine.args[..]), ("my-tool-2", &["tools/My_Tool".into(), "-v".into()][..]));
    assert_eq!(node.machine.env, [("A".to_owned(), "plan".to_owned()), ("B".to_owned(), "guest".to_owned())]);
    let inside = node.process.expect("it is a process");
    let stdin = world.take_stream(pid, StandardStream::Stdin).expect("nobody took it");
    let stdout = world.take_stream(pid, StandardStream::Stdout).expect("nobody took it");
    let now = world.clock.now();
    assert_eq!(world.pipes.write(stdin, b"then", now), Some(4));
    assert!(world.is_ready(Wait::Stdin(child)));
    assert_eq!(world.pipes.read(inside.stdin, 99, now), PipeRead::Bytes(b"first then".to_vec()));
    assert!(!world.is_ready(Wait::Stdin(child)));
    world.pipes.write(inside.stdout, b"answer", now);
    assert!(world.is_ready(Wait::Pipe(stdout, PipeEnd::Read)));
    assert!(!world.is_ready(Wait::Process(pid)));
    within(&mut world, |world, context| world.guest_ended(child, GuestExit::Code(3), context));
    assert_eq!(world.pipes.read(stdout, 99, now), PipeRead::Bytes(b"answer".to_vec()));
    assert_eq!(world.pipes.read(stdout, 99, now), PipeRead::End);
    assert_eq!(world.pipes.write(stdin, b"x", now), None);
    let ending = ProcessEnd { exit: ProcessExit::Code(3), deadline_passed: false };
    assert_eq!(world.processes.ending(pid, now), Some(Ok(ending)));
}

#[test]
fn a_component_is_ended_by_its_deadline_and_by_force() {
    for deadline in [None, Some(SECOND)] {
        let mut world = given().component("c").world();
        let asked = ProcessCommand { deadline, ..command("c") };
        let pid = start(&mut world, asked, StdioMode::Streaming).expect("a rule");
        let child = world.launches[0].node;
        if deadline.is_none() {
            world.kill(pid, 2);
        }
        wait(&mut world, pid);
        let (signal, at) = if deadline.is_none() { (2, 0) } else { (9, SECOND.0) };
        assert_eq!((world.node(child).killed, world.clock.now()), (true, Instant(at)));
        // What the engine says afterwards changes nothing.
        within(&mut world, |world, context| world.guest_ended(child, GuestExit::Code(0), context));
        let ending = ProcessEnd { exit: ProcessExit::Signal(signal), deadline_passed: deadline.is_some() };
        assert_eq!(world.processes.ending(pid, world.clock.now()), Some(Ok(ending)));
        assert!(world.processes.deadlines.is_empty());
    }
}

#[test]
fn faults_and_whole_outputs_of_components() {
    let given = given().component("c").fault("process-truncate", "c", 3).fault("process-delay", "c", 50);
    let mut world = given.fault("process-exit", "c", 8).world();
    let asked = ProcessCommand { stdin: b"in".to_vec(), ..command("c") };
    let pid = start(&mut world, asked, StdioMode::Whole).expect("a rule");
    let child = world.launches[0].node;
    let inside = world.node(child).process.expect("it is a process");
    let now = world.clock.now();
    assert_eq!(world.pipes.read(inside.stdin, 9, now), PipeRead::Bytes(b"in".to_vec()));
    assert_eq!(world.pipes.read(inside.stdin, 9, now), PipeRead::End);
    assert_eq!(world.pipes.write(inside.stdout, b"whole", now), Some(5));
    assert_eq!(world.pipes.write(inside.stderr, b"error", now), Some(5));
    within(&mut world, |world, context| world.guest_ended(child, GuestExit::Code(0), context));
    wait(&mut world, pid);
    assert_eq!(world.clock.now(), Instant(50));
    let ending = ProcessEnd { exit: ProcessExit::Code(8), deadline_passed: false };
    let expected = ProcessOutput { ending, stdout: b"who".to_vec(), stderr: b"error".to_vec() };
    assert_eq!(world.take_output(pid), Ok(expected));
    assert_eq!((world.processes.children.len(), world.pipes.count()), (0, 0));
}

#[test]
fn a_guest_that_is_gone_lets_go_of_its_own_children() {
    let mut world = given().component("c").world();
    let outer = start(&mut world, command("c"), StdioMode::Streaming).expect("a rule");
    let (node, grandchild) =
        (world.launches[0].node, start(&mut world, command("c"), StdioMode::Streaming).expect("a rule"));
    let inside = world.node(world.launches[1].node).process.expect("it is a process");
    world.node_mut(node).table.insert(Handle::Child(grandchild)).expect("room");
    world.kill(outer, 9);
    assert_eq!(world.pipes.read(inside.stdin, 9, Instant::START), PipeRead::End);
    assert_eq!(world.pipes.write(inside.stdout, b"x", Instant::START), None);
    assert_eq!(world.processes.ending(outer, Instant::START).map(|ending| ending.is_ok()), Some(true));
}

/// As the machine of `parent` would.
fn start_on(world: &mut World, parent: NodeId, command: ProcessCommand, mode: StdioMode) -> Pid {
    let started = within(world, |world, context| {
        context.node = parent;
        world.start_process(command, mode, context)
    });
    started.expect("a rule")
}

#[test]
fn a_loss_of_power_ends_all_processes_of_the_machine_and_closes_what_it_held() {
    let mut world = given().component("c").scripted("cat", None, 0, "meow").host().world();
    let streaming = start(&mut world, command("c"), StdioMode::Streaming).expect("a rule");
    let whole = start(&mut world, command("c"), StdioMode::Whole).expect("a rule");
    let [child, quiet] = [0, 1].map(|launch| world.launches[launch].node);
    let grandchild = start_on(&mut world, child, command("c"), StdioMode::Whole);
    let grandchild_node = world.launches[2].node;
    let scripted = start(&mut world, command("cat"), StdioMode::Streaming).expect("a rule");
    let promised = start(&mut world, command("elsewhere"), StdioMode::Streaming).expect("the host may have it");
    let inside = world.node(child).process.expect("it is a process");
    let stdin = world.take_stream(streaming, StandardStream::Stdin).expect("nobody took it");
    let table = &mut world.node_mut(ME).table;
    for handle in [streaming, scripted, promised].map(Handle::Child) {
        table.insert(handle).expect("room");
    }
    table.insert(Handle::OutputStream(crate::table::StreamSink::Pipe(stdin))).expect("room");

    within(&mut world, |world, context| world.power_loss(context));
    assert_eq!(world.pipes.read(inside.stdin, 9, Instant::START), PipeRead::End, "the machine held the other end");
    assert_eq!(world.pipes.write(inside.stdout, b"x", Instant::START), None);
    assert_eq!([child, quiet, grandchild_node].map(|node| world.node(node).killed), [true; 3]);
    assert_eq!(world.host_command(promised), None, "what was not run never is");
    for pid in [streaming, whole, grandchild, scripted, promised] {
        assert!(world.is_ready(Wait::Process(pid)));
    }
    for node in [child, quiet, grandchild_node] {
        within(&mut world, |world, context| world.guest_ended(node, GuestExit::Killed, context));
    }
    assert_eq!((world.processes.children.len(), world.pipes.count(), world.living), (0, 0, 1));
    assert!(world.node(ME).table.iter().next().is_none());
}

#[test]
fn machines_go_with_their_guests() {
    let mut world = given().component("c").world();
    for n in 0..3 * crate::NODES_MAX {
        let mode = if n % 2 == 0 { StdioMode::Whole } else { StdioMode::Streaming };
        let pid = start(&mut world, command("c"), mode).expect("the others have gone");
        let child = world.launches.pop().expect("it is to be started").node;
        within(&mut world, |world, context| world.guest_ended(child, GuestExit::Code(u32::from(n as u8)), context));
        let exit = ProcessExit::Code(i32::from(n as u8));
        match mode {
            StdioMode::Whole => assert_eq!(world.take_output(pid).map(|output| output.ending.exit), Ok(exit)),
            StdioMode::Streaming => {
                let ending = world.processes.ending(pid, world.clock.now());
                assert_eq!(ending, Some(Ok(ProcessEnd { exit, deadline_passed: false })), "the parent can still ask");
                world.close_handle(&Handle::Child(pid));
            }
        }
    }
    assert_eq!((world.living, world.processes.children.len(), world.pipes.count()), (1, 0, 0));
}

#[test]
fn a_machine_that_is_refused_keeps_no_name_and_no_address() {
    let mut given = given().component("good").component("bad");
    // Its standard input is not among the inputs.
    let ProcessReply::Component(program) = &mut given.plan.processes[1].answer else { panic!("a component") };
    program.machine.stdin.bytes = Digest::of(b"missing");
    let mut world = given.world();
    for n in 1..4 {
        for _ in 0..3 {
            assert!(matches!(start(&mut world, command("bad"), StdioMode::Whole), Err(ProcessError::Other(_))));
        }
        start(&mut world, command("good"), StdioMode::Whole).expect("there is room");
        let node = NodeId(n);
        let name = world.node(node).name.clone();
        let ips = world.network.resolve(&name).expect("it has joined");
        assert_eq!(ips[0].to_string(), format!("10.0.0.{}", n + 1), "the address of {name}");
        assert!(world.network.resolve(&format!("bad-{}", n + 1)).is_err(), "a name of nobody");
    }
    assert_eq!((world.nodes.len(), world.launches.len()), (4, 3));
}

#[test]
fn machines_are_bounded_in_all() {
    let mut world = given().component("c").world();
    world.nodes.resize(crate::NODES_STARTED_MAX, None);
    assert_eq!(start(&mut world, command("c"), StdioMode::Whole), Err(ProcessError::TooMany));
    assert_eq!(world.pipes.count(), 0);
}

fn captured(stdout: &str) -> HostProcessResult {
    let stdout = Arc::from(stdout.as_bytes());
    HostProcessResult { exit: ProcessExit::Code(0), deadline_passed: false, stdout, stderr: Arc::from([]) }
}

#[test]
fn the_real_computer_is_asked_when_the_input_is_complete() {
    let mut world = given().scripted("git", None, 0, "scripted").host().world();
    assert_eq!(run(&mut world, command("git status")), r#"1s Code(0) "scripted""#);
    // A taken stream completes the input when it closes; one that was not taken, at the first wait.
    for taken in [true, false] {
        let asked = ProcessCommand { stdin: b"a".to_vec(), ..command("cat") };
        let pid = start(&mut world, asked, StdioMode::Streaming).expect("the host may have it");
        let stdout = world.take_stream(pid, StandardStream::Stdout).expect("nobody took it");
        let awaited = [Wait::Process(pid), Wait::Pipe(stdout, PipeEnd::Read)];
        let stdin = if taken {
            let stdin = world.take_stream(pid, StandardStream::Stdin).expect("nobody took it");
            assert_eq!(world.pipes.write(stdin, b"b", world.clock.now()), Some(1));
            assert_eq!(awaited.map(|wait| world.awaited_host(wait)), [None, None]);
            assert_eq!(world.host_reading(stdin), Some(pid));
            world.pipes.close(stdin, PipeEnd::Write, world.clock.now());
            b"ab".to_vec()
        } else {
            assert_eq!(awaited.map(|wait| world.awaited_host(wait)), [Some(pid), Some(pid)]);
            b"a".to_vec()
        };
        assert_eq!(world.host_command(pid).map(|command| command.stdin), Some(stdin));
        assert_eq!(world.host_command(pid), None, "it is asked once");
        within(&mut world, |world, context| world.host_answered(pid, Ok(captured("out")), None, context));
        let before = world.clock.now();
        assert_eq!(world.pipes.read(stdout, 9, before), PipeRead::Bytes(Vec::new()), "the answer is on its way");
        wait(&mut world, pid);
        assert!(world.clock.now() > before);
        assert_eq!(world.pipes.read(stdout, 9, world.clock.now()), PipeRead::Bytes(b"out".to_vec()));
        assert_eq!(world.pipes.read(stdout, 9, world.clock.now()), PipeRead::End);
    }
}

#[test]
fn what_was_captured_keeps_to_deadline_and_faults() {
    let answered = |given: Given, asked: ProcessCommand, answer: Result<HostProcessResult, ProcessError>| {
        let mut world = given.host().world();
        let pid = start(&mut world, asked, StdioMode::Whole).expect("the host may have it");
        assert_eq!(world.awaited_host(Wait::Process(pid)), Some(pid));
        world.host_command(pid).expect("it was not asked");
        within(&mut world, |world, context| world.host_answered(pid, answer, None, context));
        wait(&mut world, pid);
        (world.clock.now(), world.take_output(pid).map(|output| (output.ending, output.stdout)))
    };
    let ending = |exit, deadline_passed| ProcessEnd { exit, deadline_passed };
    let soon = ProcessCommand { deadline: Some(Duration(10)), ..command("x") };
    let killed = (ending(ProcessExit::Signal(9), true), b"out".to_vec());
    let in_time = (ending(ProcessExit::Code(0), false), b"out".to_vec());
    let late = HostProcessResult { deadline_passed: true, exit: ProcessExit::Signal(9), ..captured("out") };
    assert_eq!(answered(given(), soon.clone(), Ok(late)), (Instant(10), Ok(killed.clone())));
    assert_eq!(answered(given(), soon.clone(), Ok(captured("out"))), (Instant(10), Ok(in_time)));
    let delayed = given().fault("process-delay", "x", 50);
    assert_eq!(answered(delayed, soon, Ok(captured("out"))), (Instant(10), Ok(killed)));
    let cut = given().fault("process-truncate", "x", 1).fault("process-signal", "x", 6);
    let expected = (ending(ProcessExit::Signal(6), false), b"o".to_vec());
    assert_eq!(answered(cut, command("x"), Ok(captured("out"))).1, Ok(expected));
    assert_eq!(answered(given(), command("x"), Err(ProcessError::NotFound)).1, Err(ProcessError::NotFound));
}

#[test]
fn a_pending_process_that_is_killed_is_never_run() {
    let mut world = given().host().world();
    let pid = start(&mut world, command("x"), StdioMode::Streaming).expect("the host may have it");
    world.kill(pid, 15);
    assert_eq!((world.awaited_host(Wait::Process(pid)), world.host_command(pid)), (None, None));
    assert!(world.processes.is_over(pid, world.clock.now()));
}

#[test]
fn hostile_commands_are_refused_and_bounded() {
    let mut world = given().scripted("*", None, 0, "").component("never").world();
    let huge = ProcessCommand { args: vec!["x".repeat(ARGUMENT_BYTES_MAX)], ..command("c") };
    assert!(
        matches!(start(&mut world, huge, StdioMode::Whole), Err(ProcessError::Other(why)) if why.contains("2097152"))
    );
    for _ in 0..PROCESSES_MAX {
        start(&mut world, command("c"), StdioMode::Streaming).expect("room");
    }
    assert_eq!(start(&mut world, command("c"), StdioMode::Streaming), Err(ProcessError::TooMany));
    let mut world = given().component("*").world();
    let started = (0..2_000).map(|_| start(&mut world, command("/../\u{0}é"), StdioMode::Streaming));
    let refused = started.collect::<Vec<_>>().into_iter().filter(|start| *start == Err(ProcessError::TooMany)).count();
    assert_eq!(refused, 2_000 - (crate::NODES_MAX - 1));
    assert_eq!(world.pipes.count(), 3 * (crate::NODES_MAX - 1), "what was refused left nothing");
    assert_eq!(world.node(NodeId(1)).name, "process-2");
}
