//! What a suite comes to, and how each format says it.

use super::*;
use crate::pretty::Style;
use crate::summary::{KeptOutput, TargetSummary};
use fozzy_trace::facts::{Cost, FlowStats, PropertyKind, ScenarioStats};
use fozzy_trace::file::{NodeOutcome, RecordedOutcome, StreamDigest};
use fozzy_trace::outcome::SourceLocation;
use fozzy_trace::{Digest, Duration, ExecutionEnd, Facts, FailureSignature, Instant, Seed, Verdict};

fn wall() -> WallFacts {
    WallFacts { started_at: "then".to_owned(), finished_at: "later".to_owned(), duration_ns: 1_500_000_000 }
}

fn identity(trace: Option<&str>) -> RunIdentity {
    let trace_path = trace.map(str::to_owned);
    RunIdentity { run_id: "id".to_owned(), seed: Seed(7), trace_path, report_path: None, artifacts_dir: None }
}

fn run(status: Status, title: &str, trace: Option<&str>) -> RunSummary {
    let location = Some(SourceLocation { file: Some("src/lib.rs".to_owned()), line: Some(31), col: None });
    let message = format!("{title}\n3 of 4 <b>, 100%");
    let finding = Finding {
        kind: FindingKind::Assertion,
        title: title.to_owned(),
        message,
        location,
        backtrace: Vec::new(),
        peers: Vec::new(),
        related: Vec::new(),
    };
    let signature = FailureSignature { kind: FindingKind::Assertion, site: "total".to_owned() };
    let failed = status != Status::Pass;
    let outcome = RecordedOutcome {
        verdict: Verdict {
            status,
            findings: failed.then_some(finding).into_iter().collect(),
            signature: failed.then_some(signature),
        },
        end: ExecutionEnd::Exited { code: 0 },
        ended_at: Instant(5),
        calls: 1,
        decisions: 0,
        history: 0,
        fuel_used: 9,
        memory_bytes: 0,
        memory: Digest::of(b""),
        stdout: StreamDigest { bytes: 0, sha256: Digest::of(b"") },
        stderr: StreamDigest { bytes: 6, sha256: Digest::of(b"") },
        nodes: vec![NodeOutcome {
            name: "db".to_owned(),
            end: None,
            stdout: StreamDigest { bytes: 13, sha256: Digest::of(b"") },
            stderr: StreamDigest { bytes: 0, sha256: Digest::of(b"") },
            memory: Digest::of(b""),
            restarts: 0,
            is_down: false,
        }],
    };
    let target = TargetSummary { name: "a.wasm".to_owned(), digest: Digest::of(b""), kind: "component".to_owned() };
    let mut flow = FlowStats::new("transfer");
    flow.ran(Cost { fuel: 3000, time: Duration(2000) });
    flow.skip("no account");
    let stats = ScenarioStats {
        name: "Bank".into(),
        sequences: 2,
        flows: vec![flow, FlowStats::new("idle")],
        ..ScenarioStats::default()
    };
    let mut facts = Facts { scenario: Some(stats), ..Facts::default() };
    facts.properties.declare(PropertyKind::Sometimes, "two conflict", "src/lib.rs:9").expect("a name");
    let kept = KeptOutput { target: (b"", b"said\x1b\n"), nodes: vec![(b"<served> one\n", b"")] };
    RunSummary::of(RunMode::Test, identity(trace), target, &outcome, kept, wall()).telling(&facts)
}

fn refused(path: &str) -> CaseSummary {
    let error = ErrorDocument {
        status: "error".to_owned(),
        code: "target".to_owned(),
        message: format!("{path}: no wasm\nat all"),
        hint: Some("name a .wasm file".to_owned()),
    };
    CaseSummary::failed_to_run("bad", path, error)
}

fn suite(regressions: Vec<CaseSummary>, scenarios: Vec<CaseSummary>) -> SuiteSummary {
    SuiteSummary::of(identity(None), wall(), regressions, scenarios)
}

fn passed() -> CaseSummary {
    CaseSummary::ran("good", "tests/good.wat", run(Status::Pass, "", None))
}

fn failed(status: Status) -> CaseSummary {
    CaseSummary::ran("bank", "scenarios/bank", run(status, "`total` does not hold", Some("b 1.fozzy")))
}

#[test]
fn the_worst_case_decides() {
    let status = |scenarios| suite(Vec::new(), scenarios).status;
    assert_eq!(status(vec![passed()]), Status::Pass);
    assert_eq!(status(vec![passed(), failed(Status::Fail)]), Status::Fail);
    assert_eq!(status(vec![failed(Status::Timeout), failed(Status::Fail)]), Status::Timeout);
    assert_eq!(status(vec![failed(Status::Timeout), failed(Status::Crash)]), Status::Crash);
    assert_eq!(status(vec![refused("x"), failed(Status::Crash)]), Status::Error);
    let skipped = || CaseSummary::skipped("late", "tests/late.wat", "why");
    assert_eq!(status(vec![skipped(), passed()]), Status::Pass);
    assert_eq!(status(vec![skipped()]), Status::Error, "nothing ran");
    let stale = CaseSummary { regression: Some(RegressionState::Stale), ..skipped() };
    let summary = suite(vec![stale], vec![passed(), failed(Status::Fail)]);
    assert_eq!(summary.tests, TestCounts { passed: 1, failed: 1, skipped: 1 });
    assert_eq!(summary.findings[0].title, "scenarios/bank: `total` does not hold");
}

#[test]
fn what_a_checker_has_not_decided_hides_no_failure_of_other_runs() {
    let named = |case: CaseSummary, name: &str| CaseSummary { name: name.to_owned(), ..case };
    let timeout = |kind, name: &str| {
        let mut case = failed(Status::Timeout);
        case.run.as_mut().expect("it ran").findings[0].kind = kind;
        named(case, name)
    };
    let unknown = || timeout(FindingKind::Checker, "seed 1");
    let again = CaseSummary::of_seed("seed 2", "bank", Status::Timeout, Some(&unknown()));
    let beside = |others: Vec<CaseSummary>| {
        let scenarios = std::iter::once(unknown()).chain(others).collect();
        suite(Vec::new(), scenarios).beside_undecided()
    };
    assert_eq!(beside(vec![passed(), again]), Some(Status::Pass));
    assert_eq!(beside(vec![passed(), failed(Status::Fail)]), Some(Status::Fail));
    let hang = timeout(FindingKind::Hang, "seed 3");
    assert_eq!(beside(vec![hang.clone(), failed(Status::Fail)]), Some(Status::Timeout));
    assert_eq!(suite(Vec::new(), vec![hang, failed(Status::Fail)]).beside_undecided(), None);
}

#[test]
fn what_was_interrupted_without_a_failure_is_no_pass_in_its_headline() {
    let headline = |case| {
        let summary = SuiteSummary { interrupted: true, ..suite(Vec::new(), vec![case]) };
        sweep_details(&summary, Style::PLAIN, |_| true)
            .lines()
            .find(|line| line.starts_with("fozzy run"))
            .map(str::to_owned)
    };
    assert!(headline(passed()).is_some_and(|line| line.starts_with("fozzy run INTERRUPTED  1 passed")));
    assert!(headline(failed(Status::Fail)).is_some_and(|line| line.starts_with("fozzy run FAIL")));
}

#[test]
fn an_expected_failure_passes_and_another_one_does_not() {
    let expecting = |status, signatures: &[&str], case: CaseSummary| {
        let signatures = signatures.iter().map(|text| (*text).to_owned()).collect();
        let case = case.expecting(Expectation { status, signatures });
        (case.result, case.verdict(), case.note.unwrap_or_default())
    };
    let (result, status, note) = expecting(Status::Fail, &["assertion at total"], failed(Status::Fail));
    assert_eq!((result, status, &*note), (CaseResult::Passed, Status::Pass, "as expected: fail assertion at total"));
    let (result, status, note) = expecting(Status::Fail, &["assertion at other"], failed(Status::Fail));
    assert_eq!((result, status), (CaseResult::Failed, Status::Fail));
    assert_eq!(note, "expected fail assertion at other, found fail assertion at total");
    let (result, status, note) = expecting(Status::Crash, &["a", "b"], passed());
    assert_eq!((result, status), (CaseResult::Failed, Status::Fail));
    assert_eq!(note, "expected crash and one of: a; b, found pass");
    // Without its findings, the document says why.
    let unexpected = passed().expecting(Expectation { status: Status::Fail, signatures: Vec::new() });
    assert_eq!(suite(Vec::new(), vec![unexpected]).findings[0].title, "tests/good.wat: expected fail, found pass");
}

#[test]
fn a_person_reads_lines_failures_flows_and_properties() {
    let summary = suite(Vec::new(), vec![refused("x.txt"), failed(Status::Fail), passed()]);
    let expected = "\
fozzy test  3 scenarios, seed 7
ERROR       x.txt           no wasm
FAIL        scenarios/bank  `total` does not hold
PASS        tests/good.wat  2 sequences, 1 flow, 5ns of virtual time

scenarios/bank
  flow                run    skipped  a run takes
  transfer              1          1  3,000 instructions, 2us  (skipped: no account 1)
  idle                  0          -  never ran

tests/good.wat
  flow                run    skipped  a run takes
  transfer              1          1  3,000 instructions, 2us  (skipped: no account 1)
  idle                  0          -  never ran

never reached  scenarios/bank: two conflict  sometimes, at src/lib.rs:9
never reached  tests/good.wat: two conflict  sometimes, at src/lib.rs:9

x.txt  ERROR  no wasm
  at all
  name a .wasm file

scenarios/bank  FAIL  `total` does not hold
  3 of 4 <b>, 100%
  seed 7  2 sequences, 1 flow, 5ns of virtual time
replay it: fozzy replay 'b 1.fozzy'

fozzy test ERROR  1 passed, 2 failed, 0 skipped  1.50 s of wall time
  run       id  seed 7
";
    assert_eq!(pretty(&summary, Style::PLAIN, |_| true), expected);
}

#[test]
fn junit_counts_timeouts_and_crashes_as_failures() {
    let regression = CaseSummary { regression: Some(RegressionState::Regression), ..failed(Status::Timeout) };
    let skipped = CaseSummary::skipped("late", "tests/late.wat", "why");
    let summary =
        suite(vec![regression], vec![refused("x.txt"), failed(Status::Crash), failed(Status::Fail), passed(), skipped]);
    let xml = junit(&summary, |_| true).expect("XML");
    assert!(xml.contains("tests=\"6\" skipped=\"1\" failures=\"3\" errors=\"1\""), "{xml}");
    assert!(
        xml.contains("<testsuite name=\"regressions\" tests=\"1\" skipped=\"0\" errors=\"0\" failures=\"1\""),
        "{xml}"
    );
    assert!(
        xml.contains("type=\"timeout\"") && xml.contains("type=\"crash\"") && xml.contains("type=\"error\""),
        "{xml}"
    );
    assert!(xml.contains("<skipped message=\"why\"/>"), "{xml}");
    assert!(!xml.contains('\u{1b}') && xml.contains("3 of 4 &lt;b&gt;, 100%"), "{xml}");
}

#[test]
fn a_page_escapes_what_programs_say() {
    let summary = suite(Vec::new(), vec![failed(Status::Crash), passed()]);
    let page = html(&summary, |_| true);
    assert!(page.contains("3 of 4 &lt;b&gt;, 100%") && !page.contains("4 <b>"), "{page}");
    assert!(!page.contains("http://") && !page.contains("https://"), "nothing is loaded");
    assert!(page.contains("<span class=\"word failed\">CRASH</span><code>scenarios/bank</code>"), "{page}");
    assert!(page.contains("no account: 1"), "{page}");
}

#[test]
fn the_page_of_one_run_has_what_a_replay_told_and_escapes_it() {
    let remarks = vec!["no profile: </script><b>x".to_owned()];
    let details = RunDetails { remarks, ..RunDetails::default() };
    let page = html_of_run(&suite(Vec::new(), vec![passed()]), &details, |_| true);
    assert!(page.contains("no profile: &lt;/script&gt;&lt;b&gt;x") && !page.contains("<b>x"), "{page}");
    assert!(page.contains("<details class=\"case\" open>"), "it is the only one: {page}");
}

#[test]
fn annotations_name_the_line_as_the_project_does() {
    let stale = CaseSummary { regression: Some(RegressionState::Stale), ..CaseSummary::skipped("a", "r/a.fozzy", "b") };
    let summary = suite(vec![stale], vec![failed(Status::Fail), passed()]);
    let text = annotations(&summary, |path| (path == "scenarios/bank/src/lib.rs").then(|| path.to_owned()));
    let expected = "\
::warning file=r/a.fozzy,title=r/a.fozzy%3A stale::b
::error file=scenarios/bank/src/lib.rs,line=31,title=scenarios/bank%3A FAIL::`total` does not hold%0A`total` does not hold%0A3 of 4 <b>, 100%25%0Areplay it: fozzy replay 'b 1.fozzy'
";
    assert_eq!(text, expected);
    assert!(annotations(&summary, |_| None).contains("::error file=scenarios/bank,title="));
    // Of a crate in a workspace, the compiler names a source from the folder of that.
    let text = annotations(&summary, |path| (path == "scenarios/src/lib.rs").then(|| path.to_owned()));
    assert!(text.contains("::error file=scenarios/src/lib.rs,line=31,title="), "{text}");
}
