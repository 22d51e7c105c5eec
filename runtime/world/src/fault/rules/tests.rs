//! What the faults of a plan count, whom they strike, and how long drawn strikes last.

use super::super::{CUT_MAX, IO_ERROR};
use super::*;
use crate::OpContext;

/// Answers from a list, and then zero; notes what was asked.
#[derive(Default)]
struct Script {
    answers: Vec<u64>,
    sites: Vec<String>,
}

impl Decider for Script {
    fn below(&mut self, question: Question<'_>, bound: u64) -> u64 {
        self.sites.push(question.site.to_owned());
        let answer = if self.answers.is_empty() { 0 } else { self.answers.remove(0) };
        answer.min(bound - 1)
    }

    fn calls(&self) -> u64 {
        17
    }
}

const STRIKES: u64 = 999_999;

fn plan(kind: &str, target: &str) -> FaultPlan {
    FaultPlan {
        kind: kind.to_owned(),
        target: target.to_owned(),
        rate_ppm: 10_000,
        start: Duration(0),
        length: None,
        strength: None,
        times: None,
        nemesis: None,
    }
}

fn faults(plans: &[FaultPlan]) -> Faults {
    let machines = ["main", "server", "db-1"].map(str::to_owned);
    Faults::new(plans).expect("kinds that there are").on(machines)
}

fn context<'a>(faults: &'a mut Faults, decider: &'a mut Script, node: u32, ms: u64) -> OpContext<'a> {
    OpContext { now: Instant(ms * 1_000_000), node: NodeId(node), faults, decider }
}

#[test]
fn the_disk_of_one_machine_is_struck_and_no_other() {
    for (target, struck) in [
        ("/data/*", [true, true, true]),
        ("server:/data/*", [false, true, false]),
        ("db-*:/data/*", [false, false, true]),
        ("server:/etc/*", [false; 3]),
        ("server:*", [false, true, false]),
        ("*", [true; 3]),
    ] {
        for (node, struck) in (0..).zip(struck) {
            let (mut faults, mut script) = (faults(&[plan("io-error", target)]), Script::default());
            script.answers = vec![STRIKES];
            let found = context(&mut faults, &mut script, node, 0).injects(&IO_ERROR, "/data/a").is_some();
            assert_eq!(found, struck, "{target} on {node}");
        }
    }
}

#[test]
fn nothing_strikes_and_nothing_is_asked_before_the_setup_is_complete() {
    let always = FaultPlan { rate_ppm: RATE_ALWAYS_PPM, ..plan("io-error", "*") };
    let planned = Plan { faults_await_setup: true, ..Plan::default() };
    let (mut faults, mut script) = (faults(&[always]).with_nemeses(&planned), Script::default());
    assert!(context(&mut faults, &mut script, 0, 0).injects(&IO_ERROR, "/data/a").is_none());
    assert!(faults.report().awaits_setup && faults.report().rules[0].asked == 0);
    faults.end_setup();
    assert!(context(&mut faults, &mut script, 0, 0).injects(&IO_ERROR, "/data/a").is_some());
    assert!(!faults.report().awaits_setup);
}

#[test]
fn chances_and_strikes_are_counted_and_misses_kept() {
    let late = FaultPlan { start: Duration::from_millis(5), ..plan("io-error", "/data/*") };
    let (mut faults, mut script) = (faults(&[late, plan("io-error", "server:/dta/*")]), Script::default());
    script.answers = vec![0, STRIKES];
    for (ms, path) in [(0, "/data/a"), (6, "/data/a"), (7, "/data/b"), (8, "/tmp/c")] {
        context(&mut faults, &mut script, 1, ms).injects(&IO_ERROR, path);
    }
    let report = faults.report();
    let [late, slip] = &report.rules[..] else { panic!("two rules") };
    assert_eq!((late.asked, late.matched, late.chances, late.strikes), (4, 3, 2, 1));
    let strike = StrikeRecord {
        at: Instant(7_000_000),
        call: 17,
        machine: "server".to_owned(),
        target: "server:/data/b".to_owned(),
        strength: String::new(),
    };
    assert_eq!(late.first, [strike]);
    assert_eq!(
        (slip.asked, slip.matched, slip.chances),
        (3, 0, 0),
        "the second is not asked about what the first struck"
    );
    assert_eq!(slip.missed, ["server:/data/a", "server:/tmp/c"]);
}

#[test]
fn a_drawn_cut_lasts_and_ends_and_asks_once() {
    let cut = FaultPlan { strength: Some(CUT_MAX.0), ..plan("partition", "*->server") };
    let (mut faults, mut script) = (faults(&[cut]), Script::default());
    // No cut at the first packet; the second begins the shortest.
    script.answers = vec![0, STRIKES, 0];
    let is_cut = |faults: &mut Faults, script: &mut Script, link: &str, ms| context(faults, script, 0, ms).is_cut(link);
    assert!(!is_cut(&mut faults, &mut script, "main->server", 0));
    assert!(is_cut(&mut faults, &mut script, "main->server", 10));
    assert!(is_cut(&mut faults, &mut script, "main->server", 109), "it lasts 100 ms");
    assert_eq!(script.sites, ["partition", "partition", "partition.length"]);
    assert!(!is_cut(&mut faults, &mut script, "db-1->server", 50), "another link");
    assert!(!is_cut(&mut faults, &mut script, "main->server", 110));
    assert_eq!(faults.report().rules[0].first[0].strength, "100ms");
    assert_eq!((faults.report().rules[0].chances, faults.report().rules[0].strikes), (4, 1));
}

#[test]
fn a_partition_of_an_older_trace_loses_each_packet_and_draws_nothing() {
    let old = FaultPlan { rate_ppm: RATE_ALWAYS_PPM, ..plan("partition", "*") };
    let (mut faults, mut script) = (faults(&[old]), Script::default());
    for ms in 0..3 {
        assert!(context(&mut faults, &mut script, 0, ms).is_cut("main->server"));
    }
    assert_eq!(script.sites, ["partition"; 3]);
}

#[test]
fn the_longest_drawn_strike_is_the_strength() {
    let pause = FaultPlan { strength: Some(1_000), ..plan("pause", "main") };
    let (mut faults, mut script) = (faults(&[pause]), Script::default());
    script.answers = vec![STRIKES, LENGTHS - 1, STRIKES, 0];
    let mut strengths = || context(&mut faults, &mut script, 0, 0).injects(&PAUSE, "main");
    assert_eq!((strengths(), strengths(), strengths()), (Some(1_000), Some(7), None));
}

#[test]
fn to_clone_into_faults_is_to_clone() {
    let plain = faults(&[plan("io-error", "*"), plan("io-error", "server:/data/*")]);
    let (mut struck, mut script) = (plain.clone(), Script { answers: vec![STRIKES], ..Script::default() });
    assert!(context(&mut struck, &mut script, 0, 0).injects(&IO_ERROR, "/data/a").is_some());
    let planned = Plan { faults_await_setup: true, ..Plan::default() };
    let other = faults(&[plan("io-error", "db-*:/etc/*")]).with_nemeses(&planned);
    let all = [plain, struck, other, Faults::default()];
    let words: Vec<String> = all.iter().map(|faults| format!("{faults:?}")).collect();
    assert!((1..words.len()).all(|position| !words[..position].contains(&words[position])), "they differ");
    for (from, (to, expected)) in all.iter().flat_map(|from| all.iter().zip(&words).map(move |to| (from, to))) {
        let mut faults = from.clone();
        faults.clone_from(to);
        assert_eq!(format!("{faults:?}"), *expected);
    }
    assert!(all.iter().map(|faults| format!("{faults:?}")).eq(words), "what was cloned is as it was");
}
