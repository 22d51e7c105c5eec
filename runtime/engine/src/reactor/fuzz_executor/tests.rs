//! Inputs that go through the accessor end as those that are passed through the component's interface, and leave the same behind.

use super::*;
use fozzy_instrument::INPUT_BYTES_MAX;
use fozzy_trace::plan::Limits;

/// A fuzz target. `REALLOC` is the body of the function that gives memory for an input, whose length is local 3; `POST` is that of what is
/// called behind the target, and `OPTION` names it. The first byte of an input says what the target does.
const TARGET: &str = r#"(component
    (import "wasi:clocks/monotonic-clock@0.2.0" (instance $clock (export "now" (func (result u64)))))
    (core func $now (canon lower (func $clock "now")))
    (core module $m (import "host" "now" (func $now (result i64))) (memory (export "memory") 2)
        (global $calls (mut i32) (i32.const 0)) (global $next (mut i32) (i32.const 1024))
        ;; One name.
        (data (i32.const 0) "\08\00\00\00\01\00\00\00\10\00\00\00\03\00\00\00one")
        (func (export "targets") (result i32) (i32.const 0))
        (func $wide (param i32) (result i32) (i32.mul (memory.size) (i32.const 65536)))
        (func $take (param i32) (result i32) (local i32)
            (local.set 1 (global.get $next))
            (global.set $next (i32.add (global.get $next) (local.get 0)))
            (if (i32.gt_u (global.get $next) (call $wide (i32.const 0)))
                (then (drop (memory.grow (i32.const 2)))))
            (local.get 1))
        (func (export "realloc") (param i32 i32 i32 i32) (result i32) REALLOC)
        (func $deeper (param i32) (result i32) (i32.add (call $deeper (i32.add (local.get 0) (i32.const 1))) (i32.const 1)))
        (func (export "run") (param $target i32) (param $at i32) (param $length i32) (local $first i32) (local $sum i32)
            (global.set $calls (i32.add (global.get $calls) (i32.const 1)))
            (i32.store (i32.const 64) (local.get $at))
            (i32.store (i32.const 68) (local.get $length))
            (i32.store (i32.const 72) (local.get $target))
            (i32.store (i32.const 76) (global.get $calls))
            (if (i32.eqz (local.get $length)) (then (return)))
            (local.set $first (i32.load8_u (local.get $at)))
            (loop $each
                (local.set $sum (i32.add (i32.mul (local.get $sum) (i32.const 31)) (i32.load8_u (local.get $at))))
                (local.set $at (i32.add (local.get $at) (i32.const 1)))
                (local.set $length (i32.sub (local.get $length) (i32.const 1)))
                (br_if $each (local.get $length)))
            (i32.store (i32.add (i32.const 4096) (i32.and (local.get $sum) (i32.const 0xffff))) (local.get $sum))
            (block $7 (block $6 (block $5 (block $4 (block $3 (block $2 (block $1
                (br_table $1 $2 $3 $4 $5 $6 $7 (i32.sub (local.get $first) (i32.const 0x61))))
                unreachable)
                (drop (i32.load (i32.const -8))) (return))
                (drop (call $deeper (i32.const 0))) (return))
                (loop $for_ever (br $for_ever)))
                (i64.store (i32.const 80) (call $now)) (return))
                (drop (memory.grow (i32.const 3)))
                (i32.store (i32.const 200000) (local.get $sum)) (return)))
        (func (export "post") POST))
    (core instance $i (instantiate $m (with "host" (instance (export "now" (func $now))))))
    (func $targets (result (list string)) (canon lift (core func $i "targets") (memory $i "memory")))
    (func $run (param "target" u32) (param "data" (list u8))
        (canon lift (core func $i "run") (memory $i "memory") (realloc (func $i "realloc")) OPTION))
    (instance $fuzz (export "targets" (func $targets)) (export "run" (func $run)))
    (export "fozzy:scenario/fuzz@0.1.0" (instance $fuzz)))"#;

const OPTION: &str = r#"(post-return (func $i "post"))"#;

fn executor(realloc: &str, post: &str, option: &str) -> FuzzExecutor {
    let text = TARGET.replace("REALLOC", realloc).replace("POST", post).replace("OPTION", option);
    let component: Arc<[u8]> = wat::parse_str(text).expect("it assembles").into();
    // So little that what hangs is cut in half a second.
    let limits = Limits { fuel: 25_000_000_000, ..Limits::default() };
    let plan = Plan { limits, ..Plan::default() };
    let target = EntryPoint::Call(PlannedCall::Fuzz("one".to_owned()));
    FuzzExecutor::new(component, &plan, &Inputs::default(), &target, Seed(7), None).expect("it starts")
}

/// A way to call the fast build.
type Way = fn(&mut ExecutorBuild, &[u8]) -> Result<(), CallError>;

/// `None` when it does not take that way.
fn through_accessor(build: &mut ExecutorBuild, input: &[u8]) -> Option<Result<(), CallError>> {
    let EntryCall::Fuzz { place, .. } = &build.entry else { unreachable!("it is a fuzz target") };
    build.reactor.finish_with_input(*place, input)
}

fn directly(build: &mut ExecutorBuild, input: &[u8]) -> Result<(), CallError> {
    through_accessor(build, input).expect("it goes through the accessor")
}

fn through_interface(build: &mut ExecutorBuild, input: &[u8]) -> Result<(), CallError> {
    let EntryCall::Fuzz { run, place } = &mut build.entry else { unreachable!("it is a fuzz target") };
    build.reactor.call(run, (*place, Arc::from(input)))
}

fn as_the_executor_does(build: &mut ExecutorBuild, input: &[u8]) -> Result<(), CallError> {
    build.entry.call(&mut build.reactor, input).map(drop)
}

/// What a call leaves behind, for people where it is short.
#[derive(Debug, PartialEq, Eq)]
struct CallEffects {
    outcome: String,
    coverage: Vec<Vec<u8>>,
    /// Its length and digest.
    memory: (usize, blake3::Hash),
    /// Of memory and globals; of what has not ended.
    state: Option<u64>,
    written_pages: u64,
    deepest_call: u32,
    history: String,
}

/// Calls the fast build with each input, each from the start.
fn effects(executor: &mut FuzzExecutor, inputs: &[Vec<u8>], way: Way) -> Vec<CallEffects> {
    let build = executor.fast.as_mut().expect("there is time enough for it");
    let one = |input: &Vec<u8>| {
        build.prepare().expect("it comes back");
        build.is_fresh = false;
        build.reactor.clear_coverage();
        let result = way(build, input);
        let written_pages = build.reactor.written_pages();
        let bytes = build.reactor.live.told().largest().to_vec();
        let coverage = build.reactor.coverage().map(|(_, bytes)| bytes.to_vec()).collect();
        let state = result.is_ok().then(|| {
            build.reactor.verify().expect("every written page was seen");
            build.reactor.digest().expect("it has not ended")
        });
        CallEffects {
            // What was cut was so somewhere.
            coverage: if matches!(result, Err(CallError::Runaway)) { Vec::new() } else { coverage },
            outcome: format!("{result:?}"),
            memory: (bytes.len(), blake3::hash(&bytes)),
            state,
            written_pages,
            deepest_call: build.reactor.deepest_call(),
            history: format!("{:?}", build.reactor.history()),
        }
    };
    inputs.iter().map(one).collect()
}

/// Inputs of many lengths, up to the room of the accessor, and with each thing that the target does but for hanging.
fn inputs() -> Vec<Vec<u8>> {
    let lengths = [1, 2, 7, 63, 64, 65, 4095, 4096, 4097, 20_000, INPUT_BYTES_MAX - 1, INPUT_BYTES_MAX];
    let bytes = |first: u8, length: usize| -> Vec<u8> {
        (0..length).map(|at| if at == 0 { first } else { (at * 7 + length) as u8 }).collect()
    };
    let long = lengths.iter().map(|length| bytes(b'z', *length));
    let acting = b"abcefg".iter().flat_map(|first| [1, 3, 5000].map(|length| bytes(*first, length)));
    std::iter::once(Vec::new()).chain(long).chain(acting).collect()
}

fn compare(realloc: &str, post: &str, option: &str, inputs: &[Vec<u8>]) -> Vec<CallEffects> {
    let found = effects(&mut executor(realloc, post, option), inputs, directly);
    let expected = effects(&mut executor(realloc, post, option), inputs, through_interface);
    for ((input, found), expected) in inputs.iter().zip(&found).zip(&expected) {
        let first = input.first().map(|first| char::from(*first));
        assert_eq!(found, expected, "{} bytes, {first:?}", input.len());
    }
    found
}

/// How often a call came out with words like these.
fn times(effects: &[CallEffects], words: &str) -> usize {
    effects.iter().filter(|effects| effects.outcome.contains(words)).count()
}

#[test]
fn an_input_through_the_accessor_is_the_same_call() {
    let taking = "(call $take (local.get 3))";
    let mut with_hang = inputs();
    with_hang.insert(5, b"d, for ever".to_vec());
    let found = compare(taking, "", "", &with_hang);
    for (words, calls) in
        [("Ok(())", 22), ("unreachable", 3), ("out of bounds", 3), (fozzy_trace::STACK_EXHAUSTED, 3), ("Runaway", 1)]
    {
        assert_eq!(times(&found, words), calls, "{words}: {found:#?}");
    }
    assert!(found.iter().all(|effects| !effects.outcome.contains("fozzy-")), "the accessor is on no stack: {found:#?}");
    let counted = "(i32.store (i32.const 100) (i32.add (global.get $calls) (memory.size)))";
    assert_eq!(times(&compare(taking, counted, OPTION, &inputs()), "Ok(())"), 22);
    assert_eq!(times(&compare(taking, "unreachable", OPTION, &inputs()), "unreachable"), 25);
}

#[test]
fn memory_that_is_not_there_ends_a_call_in_either_way() {
    for (realloc, words) in [
        // The end of the memory, where an input of no bytes has room; and wherever its last byte is the memory's.
        ("(call $wide (i32.const 0))", NO_MEMORY),
        ("(i32.sub (call $wide (i32.const 0)) (local.get 3))", ""),
        ("(i32.add (i32.sub (call $wide (i32.const 0)) (local.get 3)) (i32.const 1))", NO_MEMORY),
        ("(i32.const -1)", NO_MEMORY),
        ("(i32.const 0x7fffffff)", NO_MEMORY),
        ("unreachable", "unreachable"),
        (
            "(if (i32.gt_u (local.get 3) (i32.const 60)) (then (drop (memory.grow (i32.const 1))) unreachable)) (i32.const 1024)",
            "unreachable",
        ),
        ("(drop (memory.grow (i32.const 70000))) (i32.const 1024)", ""),
    ] {
        let found = compare(realloc, "", "", &inputs());
        assert!(times(&found, words) > 0, "{realloc}: {found:#?}");
    }
}

const NO_MEMORY: &str = "realloc return: beyond end of memory";

#[test]
fn a_call_that_is_not_for_the_accessor_is_made_through_the_interface() {
    let calls_outside = "(drop (call $now)) (i32.const 1024)";
    for (realloc, post, option) in [(calls_outside, "", ""), ("(i32.const 1024)", "(drop (call $now))", OPTION)] {
        let mut executor = executor(realloc, post, option);
        let build = executor.fast.as_mut().expect("there is time enough for it");
        assert!(through_accessor(build, b"z").is_none());
        let found = effects(&mut executor, &[b"z".to_vec()], as_the_executor_does);
        assert_eq!(times(&found, "cannot leave component instance"), 1, "{found:#?}");
    }
    // Nor is an input that is too long.
    let long = [vec![b'z'; INPUT_BYTES_MAX + 1], vec![b'z'; INPUT_BYTES_MAX], vec![b'a'; INPUT_BYTES_MAX + 9]];
    let mut first = executor("(call $take (local.get 3))", "", "");
    let build = first.fast.as_mut().expect("there is time enough for it");
    assert!(through_accessor(build, &long[0]).is_none() && through_accessor(build, &long[1]).is_some());
    build.is_fresh = false;
    let found = effects(&mut first, &long, as_the_executor_does);
    let expected = effects(&mut executor("(call $take (local.get 3))", "", ""), &long, through_interface);
    assert_eq!(found, expected);
    // In a build with fuel the accessor would use the guest's.
    let mut exact = first.exact_build().expect("it starts");
    assert!(through_accessor(&mut exact, b"z").is_none());
}

#[test]
fn a_log_of_some_places_has_what_a_log_of_all_places_has_of_them() {
    let mut executor = executor("(call $take (local.get 3))", "", "");
    let mut log_of = |input: &[u8], sites: CmpLogSites<'_>| {
        let mut log = Vec::new();
        executor.compare(input, None, sites, &mut log).expect("the machine works");
        log
    };
    for input in [&b"z, and more"[..], b"e"] {
        let all = log_of(input, CmpLogSites::All);
        let mut sites: Vec<u64> = all.iter().map(|compared| compared.site).collect();
        sites.sort_unstable();
        sites.dedup();
        assert!(sites.len() > 1, "{all:?}");
        for site in sites {
            // One before it, as is asked for what a difference is made of, and one of no module.
            let asked = [site.wrapping_sub(1), site, u64::MAX];
            let wanted: Vec<CmpLogEntry> =
                all.iter().copied().filter(|compared| asked.contains(&compared.site)).collect();
            assert_eq!(log_of(input, CmpLogSites::Only(&asked)), wanted, "{site:x}");
        }
        assert_eq!(log_of(input, CmpLogSites::All), all, "all are logged again");
    }
}
