//! A run that is stopped: at every instruction, at breakpoints, with the values of the original program.
//!
//! ```text
//! program ─▶ stopped at each position ─▶ the same instructions, in the same order, as when it is not stopped
//! ```

use fozzy_engine::{
    Build, DebugMoment, DebugValue, DebuggedRun, Debugger, Position, Program, Resume, Session, Stop, StopReason,
    Switches,
};
use fozzy_trace::plan::Inputs;
use fozzy_trace::source::SeededSource;
use fozzy_trace::{Executor, Plan, Seed};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

/// Stops, with the locals and operands of the innermost frame, and what is to be done at each.
struct StopRecorder<F> {
    stops: Rc<RefCell<Stops>>,
    next: F,
}

impl<F: FnMut(&Stop) -> Resume> Debugger for StopRecorder<F> {
    fn stopped(&mut self, moment: &mut DebugMoment<'_>) -> Resume {
        let (locals, operands) = (moment.locals(0).unwrap_or_default(), moment.operands(0).unwrap_or_default());
        let stop = moment.stop().clone();
        let resume = (self.next)(&stop);
        self.stops.borrow_mut().push((stop, locals, operands));
        resume
    }
}

type Stops = Vec<(Stop, Vec<DebugValue>, Vec<DebugValue>)>;

fn session(program: &str, build: &Build) -> Session {
    let text = format!("(module (memory (export \"memory\") 1) {program})");
    let module = wat::parse_str(text).expect("the test's module parses");
    let component = fozzy_engine::load(&module, None).expect("a program").component;
    let program = Program::new_as(component.into(), Switches::of(&Plan::default()), build, None).expect("it compiles");
    Session::new(program, Arc::new(Plan::default()), &Inputs::default()).expect("a plan of ours")
}

fn debug(program: &str, first: Resume, next: impl FnMut(&Stop) -> Resume + 'static) -> (DebuggedRun, Stops) {
    let stops = Rc::default();
    let debugger = StopRecorder { stops: Rc::clone(&stops), next };
    let source = Box::new(SeededSource::new(Seed(3)));
    let run = session(program, &Build::debug(true)).debug(source, 0..0, first, Box::new(debugger));
    let found = stops.borrow().clone();
    (run.expect("this machine is fit"), found)
}

const LOOP: &str = "(func $square (param i32) (result i32) (i32.mul (local.get 0) (local.get 0)))
    (func (export \"_start\") (local i32)
      (loop $again
        (i32.store (i32.const 8) (call $square (local.get 0)))
        (br_if $again (i32.lt_u (local.tee 0 (i32.add (local.get 0) (i32.const 1))) (i32.const 5)))))";

fn until(position: u64) -> Resume {
    Resume { until: Some(Position(position)), ..Resume::default() }
}

#[test]
fn a_run_stops_at_every_instruction() {
    let plain = session(LOOP, &Build::default()).execute(Box::new(SeededSource::new(Seed(3))), 0..0).expect("it runs");
    let (run, stops) = debug(LOOP, until(0), |stop| until(stop.position.0 + 1));
    // Each time: a constant, the argument, the call with its three; and the store, and seven for the loop: fourteen.
    assert_eq!(run.end, Position(5 * 14), "{stops:?}");
    assert_eq!((run.execution.end, run.execution.memory), (plain.end, plain.memory));
    let positions: Vec<u64> = stops.iter().map(|(stop, ..)| stop.position.0).collect();
    assert_eq!(positions, (0..70).collect::<Vec<_>>());
    assert!(stops.iter().all(|(stop, ..)| stop.reason == StopReason::Position));
    let multiplied = stops.iter().filter(|(_, _, operands)| operands.len() == 2);
    assert!(multiplied.count() >= 5, "{stops:?}");
}

#[test]
fn a_breakpoint_is_hit_each_time_with_the_values_of_the_original() {
    let Some(place) = debug(LOOP, until(0), |_| Resume::default()).1.first().and_then(|(stop, ..)| stop.place) else {
        panic!("it stops at its beginning")
    };
    // The multiplication stands before the loop, in the function of it.
    let multiplied = Rc::new(RefCell::new(None));
    let found = Rc::clone(&multiplied);
    let (_, stops) = debug(LOOP, until(0), move |stop| {
        if stop.position.0 == 5 {
            *found.borrow_mut() = stop.place;
        }
        until(stop.position.0 + 1)
    });
    assert_eq!(stops[5].2, [DebugValue::I32(0); 2], "{:?}", stops[5]);
    let breakpoint = multiplied.borrow().expect("it was there");
    assert_ne!(breakpoint, place);
    let resume = move || Resume { breakpoints: [breakpoint].into(), ..Resume::default() };
    let (run, stops) = debug(LOOP, resume(), move |_| resume());
    let found: Vec<(u64, Vec<DebugValue>)> =
        stops.iter().map(|(stop, locals, _)| (stop.position.0, locals.clone())).collect();
    let expected: Vec<(u64, Vec<DebugValue>)> = (0..5).map(|n| (5 + 14 * n, vec![DebugValue::I32(n as i32)])).collect();
    assert_eq!((found, run.end), (expected, Position(70)));
}

#[test]
fn a_run_stops_before_what_is_watched_is_written() {
    for (watched, is_hit) in [((8, 4), true), ((11, 1), true), ((5, 3), false), ((12, 4), false), ((4, 5), true)] {
        let resume = move || Resume { watched: Some(watched), ..Resume::default() };
        let (run, stops) = debug(LOOP, resume(), move |_| resume());
        let expected: Vec<u64> = if is_hit { (0..5).map(|n| 6 + 14 * n).collect() } else { Vec::new() };
        let found: Vec<u64> = stops.iter().map(|(stop, ..)| stop.position.0).collect();
        assert_eq!((found, run.end), (expected, Position(70)), "{watched:?}");
    }
}

#[test]
fn a_trap_stops_where_it_is() {
    const TRAPS: &str = "(func (export \"_start\") (drop (i32.load (i32.const 8)))
        (drop (i32.div_u (i32.const 1) (i32.const 0))) (drop (i32.const 7)))";
    let (run, stops) = debug(TRAPS, Resume::default(), |_| Resume::default());
    let [(stop, ..)] = &stops[..] else { panic!("{stops:?}") };
    assert!(matches!(&stop.reason, StopReason::Trap(trap) if trap.contains("divide by zero")), "{stop:?}");
    assert_eq!(stop.position, Position(4));
    assert!(matches!(run.execution.end, fozzy_trace::ExecutionEnd::Trapped { .. }));
}
