//! Faults in files and on the command line, against a table of kinds of our own.

use crate::check::{check, check_target};
use crate::fault_words::parse_among;
use crate::problem::Problems;
use crate::{FAULT_GROUPS, FaultFile, FaultRate, PlanFile, Strength, TimeSpan};
use fozzy_trace::Duration;
use fozzy_world::fault::{CUT_MAX, FAULTS, FaultKind, FaultTarget};

const fn kind(name: &'static str, target: FaultTarget, unit: &'static str) -> FaultKind {
    FaultKind { name, summary: "Something goes wrong.", target, unit, strength: 1, rate_ppm: 10_000 }
}

const CLOCK_STEP: FaultKind = kind("clock-step", FaultTarget::Node, "ns");
const DISK_FULL: FaultKind = kind("disk-full", FaultTarget::Path, "");
const HTTP_RESET: FaultKind = kind("http-reset", FaultTarget::Url, "bytes");
const IO_ERROR: FaultKind = kind("io-error", FaultTarget::Path, "");
const LOSS: FaultKind = kind("loss", FaultTarget::Link, "");
const KINDS: &[&FaultKind] = &[&CLOCK_STEP, &DISK_FULL, &HTTP_RESET, &IO_ERROR, &LOSS];

fn words(text: &str) -> Result<Vec<FaultFile>, String> {
    parse_among(text, KINDS).map_err(|error| error.to_string())
}

fn fault(kind: &str) -> FaultFile {
    FaultFile { kind: kind.to_owned(), ..FaultFile::default() }
}

#[test]
fn words_of_the_command_line() {
    assert_eq!(words("io-error"), Ok(vec![fault("io-error")]));
    let full = FaultFile { target: Some("/data/*".to_owned()), rate: Some(FaultRate(20_000)), ..fault("disk-full") };
    assert_eq!(words("io-error,disk-full@/data/*:2%"), Ok(vec![fault("io-error"), full]));
    let step = FaultFile { strength: Some(Strength::Time(Duration(2_000_000))), ..fault("clock-step") };
    assert_eq!(words("clock-step=2ms"), Ok(vec![step.clone()]));
    assert_eq!(words("clock:1/2=2ms"), Ok(vec![FaultFile { rate: Some(FaultRate(500_000)), ..step }]));
    // Marks of a URL are its own.
    let reset = |url: &str| FaultFile { target: Some(url.to_owned()), ..fault("http-reset") };
    assert_eq!(words("http-reset@http://a:8080/?b=c"), Ok(vec![reset("http://a:8080/?b=c")]));
    assert_eq!(words("http-reset@http://a:8080"), Ok(vec![reset("http://a:8080")]));
    let more = FaultFile { rate: Some(FaultRate::ALWAYS), strength: Some(Strength::Number(7)), ..reset("https://a/*") };
    assert_eq!(words("http-reset@https://a/*:1=7"), Ok(vec![more]));
    assert_eq!(
        words("loss@main->server"),
        Ok(vec![FaultFile { target: Some("main->server".to_owned()), ..fault("loss") }])
    );
}

#[test]
fn groups_are_their_kinds() {
    let names = |text: &str| words(text).expect(text).into_iter().map(|fault| fault.kind).collect::<Vec<_>>();
    assert_eq!(names("disk"), ["disk-full", "io-error"]);
    assert_eq!(names("net,clock"), ["loss", "clock-step"]);
    assert_eq!(names("all").len(), KINDS.len());
    assert!(KINDS.iter().chain(FAULTS).all(|kind| FAULT_GROUPS.contains(&crate::group_of(kind))));
    assert!(FAULTS.iter().all(|kind| kind.name != "all" && !FAULT_GROUPS.contains(&kind.name)));
}

#[test]
fn wrong_words_say_what_is_wrong() {
    for (text, message) in [
        ("io-eror", "`io-eror`: there is no fault of this kind; did you mean `io-error`?"),
        ("io-error,", "``: there is no fault of this kind; known are"),
        ("process", "`process`: there is no kind of fault in this group"),
        ("io-error@", "`io-error@`: expected a target behind `@`, found nothing"),
        ("io-error:2", "`io-error:2`: expected a rate from 0 to 1"),
        ("io-error@/a:200%", "expected a rate from 0 to 1"),
        (
            "io-error@data",
            "strikes paths: expected one such as `/data/*`, or `server:/data/*` on one machine, found `data`",
        ),
        ("loss@main", "strikes links: expected two machines such as `main->server` or `*->server`, found `main`"),
        ("all@/data", "expected"),
        ("io-error=4ms", "expected a plain number, since it has no unit, found 4ms"),
        ("io-error:1:1", "expected `kind@target:rate=strength`, found `:1` behind the kind"),
    ] {
        let found = words(text).expect_err(text);
        assert!(found.contains(message), "{found}");
    }
}

#[test]
fn faults_of_a_file_are_checked() {
    let problems = |fault: FaultFile| {
        let mut problems = Problems::default();
        check(&PlanFile { fault: vec![fault], ..PlanFile::default() }, KINDS, &Problems::default(), &mut problems);
        problems.finish(|_| None).iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(problems(fault("loss")), "");
    assert_eq!(problems(fault("lost")), "`fault[0].kind`: there is no fault of kind `lost`; did you mean `loss`?");
    let strength = Some(Strength::Bytes(4));
    assert_eq!(
        problems(FaultFile { strength, ..fault("clock-step") }),
        "`fault[0].strength`: expected a strength in ns, found 4B"
    );
    assert_eq!(
        problems(FaultFile { length: Some(TimeSpan(Duration(0))), ..fault("loss") }),
        "`fault[0].length`: a fault of no length never strikes; leave `length` out for no end"
    );
    assert!(problems(FaultFile { target: Some("x".to_owned()), ..fault("io-error") }).contains("strikes paths"));
}

#[test]
fn targets_have_the_form_of_their_kind() {
    for (kind, good, bad) in [
        (
            &IO_ERROR,
            &["*", "/", "/data/*", "*.log", "server:/data/*", "db-*:*"][..],
            &["", "data", "server:data", ":/data", "a b:/data"][..],
        ),
        (&HTTP_RESET, &["*", "/a", "https://a/*"], &["a", "ftp://a"]),
        (&LOSS, &["*", "a->b", "*->b", "a.b->main"], &["", "a", "a->", "->b", "a->b->c", "a -> b"]),
        (&CLOCK_STEP, &["*", "main", "db-*"], &["", "a b", "a->b"]),
    ] {
        assert!(good.iter().all(|target| check_target(kind, target).is_ok()), "{}", kind.name);
        for target in bad {
            assert!(check_target(kind, target).is_err(), "{} {target}", kind.name);
        }
    }
}

#[test]
fn a_fault_takes_from_its_kind_what_is_left_open() {
    let plan = fault("io-error").plan_among(KINDS).expect("a kind");
    assert_eq!((plan.target.as_str(), plan.rate_ppm, plan.start), ("*", 10_000, Duration(0)));
    assert_eq!((plan.length, plan.strength, plan.times), (None, None, None));
    let step =
        FaultFile { strength: Some(Strength::Time(Duration(5))), rate: Some(FaultRate(7)), ..fault("clock-step") };
    let plan = step.plan_among(KINDS).expect("a kind");
    assert_eq!((plan.strength, plan.rate_ppm), (Some(5), 7));
    assert!(fault("none").plan_among(KINDS).is_err());
}

#[test]
fn cuts_are_drawn_unless_the_plan_says_when() {
    let planned = |text: &str| {
        let faults = crate::parse_fault_words(text).expect(text);
        faults[0].plan().map(|plan| (plan.rate_ppm, plan.strength)).expect(text)
    };
    let drawn = Some(CUT_MAX.0);
    assert_eq!(planned("partition"), (10_000, drawn));
    assert_eq!(planned("partition@a->b:5%=2s"), (50_000, Some(2_000_000_000)));
    assert_eq!(planned("partition:100%"), (1_000_000, drawn));
    let timed = FaultFile { length: Some(TimeSpan(Duration(5))), ..fault("partition") }.plan().expect("a kind");
    assert_eq!((timed.rate_ppm, timed.strength), (1_000_000, None), "all of its time");
}

#[test]
fn the_main_machine_is_never_killed_for_good() {
    let names = |text: &str| {
        let faults = crate::parse_fault_words(text).map_err(|error| error.to_string())?;
        Ok::<_, String>(faults.into_iter().map(|fault| fault.kind).collect::<Vec<_>>())
    };
    assert_eq!(names("node@main").expect("others strike it"), ["pause", "power-loss", "restart"]);
    assert_eq!(names("node@db").expect("all"), ["kill", "pause", "power-loss", "restart"]);
    let refused = names("kill@main").expect_err("the run would end");
    assert!(refused.contains("`restart` and `power-loss`"), "{refused}");
}
