//! The supervisor with workers that are lines of `sh`: they do exactly what a case needs, and nothing is compiled.

use super::*;
use std::cell::Cell;

/// Progress, findings and reports are a number, a word and a number.
enum Shell {}

impl WorkerProtocol for Shell {
    type Progress = u64;
    type Finding = String;
    type Report = u64;

    fn runs(progress: &u64) -> u64 {
        *progress
    }
}

#[derive(Default)]
struct Log {
    found: Vec<String>,
    losses: Vec<WorkerLoss>,
    stray: Vec<String>,
    /// Findings after which it has enough.
    found_max: Option<usize>,
    /// The end of the time in which nothing is searched once there is a finding.
    reserved: Duration,
    /// Findings after which the end is requested.
    request_at: Option<usize>,
    refuses: bool,
    asked: Cell<u32>,
}

impl SupervisorObserver<Shell> for Log {
    fn is_stop_requested(&self) -> bool {
        self.asked.set(self.asked.get() + 1);
        self.request_at.is_some_and(|most| self.found.len() >= most)
    }

    fn reserved_time(&self) -> Duration {
        if self.found.is_empty() { Duration::ZERO } else { self.reserved }
    }

    fn on_found(&mut self, _: u32, finding: String) -> Result<Direction, HarnessError> {
        self.found.push(finding);
        if self.refuses {
            return Err(HarnessError::new("no room"));
        }
        let has_enough = self.found_max.is_some_and(|most| self.found.len() >= most);
        Ok(if has_enough { Direction::Stop } else { Direction::Continue })
    }

    fn on_status(&mut self, _: &[WorkerSlot<Shell>]) {}

    fn on_loss(&mut self, loss: &WorkerLoss) {
        self.losses.push(loss.clone());
    }

    fn on_stray_line(&mut self, _: u32, line: &str) {
        self.stray.push(line.to_owned());
    }
}

/// What every script begins with: its own role, and the events.
const WORDS: &str = r#"
    set -u
    field() { echo "$FOZZY_WORKER" | sed "s/.*\"$1\":\([0-9]*\).*/\1/"; }
    slot=$(field slot) stream=$(field stream) runs=$(field runs)
    ready() { echo '{"event":"ready"}'; }
    progress() { echo "{\"event\":\"progress\",\"progress\":$1}"; }
    found() { echo "{\"event\":\"found\",\"finding\":\"$1\"}"; }
    ended() { echo "{\"event\":\"ended\",\"progress\":$1,\"report\":$1,\"complete\":${2:-true}}"; }
"#;

fn run(workers: u32, runs: Option<u64>, log: &mut Log, script: &str) -> Result<SupervisorReport<Shell>, HarnessError> {
    run_for(None, workers, runs, log, script)
}

fn run_for(
    time: Option<Duration>,
    workers: u32,
    runs: Option<u64>,
    log: &mut Log,
    script: &str,
) -> Result<SupervisorReport<Shell>, HarnessError> {
    let command = || {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("{WORDS}{script}")]);
        Ok(command)
    };
    let (grace, seed, folder) = (Duration::from_millis(300), Seed(7), PathBuf::from("nowhere"));
    Supervisor { workers, runs, time, grace, seed, folder, command: &command }.run(log)
}

fn runs(report: &SupervisorReport<Shell>) -> Vec<u64> {
    report.slots.iter().map(WorkerSlot::runs).collect()
}

#[test]
fn shares_are_made_and_their_reports_collected() {
    let mut log = Log::default();
    let report = run(3, Some(10), &mut log, "ready; progress 1; found $stream; ended $runs").expect("it ends");
    assert_eq!((runs(&report), report.end), (vec![4, 3, 3], SupervisorEnd::Complete));
    assert_eq!((report.lost, report.restarted), (0, 0));
    log.found.sort();
    assert_eq!((log.found, log.losses), (vec!["0".to_owned(), "1".to_owned(), "2".to_owned()], Vec::new()));
}

#[test]
fn what_is_left_of_a_killed_workers_share_is_made_by_another_and_no_run_more() {
    let mut log = Log::default();
    let script = "ready; if [ $stream = 0 ]; then progress 3; kill -9 $$; fi; ended $runs";
    let report = run(2, Some(20), &mut log, script).expect("it ends");
    assert_eq!((runs(&report), &report.end), (vec![10, 10], &SupervisorEnd::Complete));
    assert_eq!((report.lost, report.restarted), (1, 1));
    let of_slot: Vec<(u32, bool)> =
        report.slots[0].records().iter().map(|record| (record.stream, record.is_lost)).collect();
    assert_eq!(of_slot, [(0, true), (2, false)], "the second draws from a stream of its own");
    let [loss] = log.losses.as_slice() else { panic!("{:?}", log.losses) };
    assert!(loss.is_replaced && loss.worker == 0 && loss.cause.contains("SIGKILL"), "{loss:?}");
}

#[test]
fn a_worker_that_is_killed_after_its_last_run_needs_no_other() {
    let mut log = Log::default();
    let report = run(1, Some(5), &mut log, "progress $runs; kill -9 $$").expect("it ends");
    assert_eq!((runs(&report), report.end), (vec![5], SupervisorEnd::Complete));
    assert_eq!((report.lost, report.restarted), (1, 0));
}

#[test]
fn a_worker_that_a_signal_asked_to_stop_has_reported_and_is_followed_by_another() {
    let mut log = Log::default();
    let script = "ready; if [ $stream = 0 ]; then ended 2 false; exit; fi; ended $runs";
    let report = run(1, Some(9), &mut log, script).expect("it ends");
    assert_eq!((runs(&report), report.end), (vec![9], SupervisorEnd::Complete));
    let reports: Vec<Option<u64>> = report.slots[0].records().iter().map(|record| record.report).collect();
    assert_eq!(reports, [Some(2), Some(7)]);
    assert_eq!((report.lost, report.restarted), (1, 1));
}

#[test]
fn replacements_are_bounded_and_the_bound_is_a_word() {
    let mut log = Log::default();
    // One runs until it is asked to stop, and its result is kept.
    let script = "ready; if [ $slot = 0 ]; then read order; ended 1; exit; fi; kill -9 $$";
    let report = run(8, Some(800), &mut log, script).expect("it ends");
    let SupervisorEnd::Failed(why) = &report.end else { panic!("{:?}", report.end) };
    assert!(why.contains(&format!("after {RESTARTS_MAX} replacements there are no more")), "{why}");
    // Those that wait for their start when the bound is reached are not started.
    assert!((1..=RESTARTS_MAX).contains(&report.restarted), "{}", report.restarted);
    assert!(report.lost > RESTARTS_MAX && report.slots[0].records()[0].report == Some(1));
    assert_eq!(log.losses.len(), report.lost as usize);
}

#[test]
fn what_fails_before_it_begins_is_not_started_again() {
    for (script, expected) in [
        (r#"echo '{"event":"failed","message":"no such plan"}'; exit 2"#, "no such plan"),
        ("exit 101", "exit status: 101"),
    ] {
        let mut log = Log::default();
        let report = run(1, None, &mut log, script).expect("it ends");
        let SupervisorEnd::Failed(why) = &report.end else { panic!("{:?}", report.end) };
        assert!(why.contains("cannot begin") && why.contains(expected), "{why}");
        assert_eq!((report.lost, report.restarted), (1, 0));
    }
}

#[test]
fn a_program_that_is_not_there_is_an_error() {
    let command = || Ok(Command::new("/no/such/program"));
    let (grace, seed, folder) = (STOP_GRACE, Seed(0), PathBuf::new());
    let supervisor = Supervisor { workers: 2, runs: None, time: None, grace, seed, folder, command: &command };
    let error = supervisor.run::<Shell>(&mut Log::default()).err().expect("it cannot start");
    assert!(error.what.contains("cannot start a worker"), "{error:?}");
}

#[test]
fn a_replacement_that_cannot_be_started_counts_as_one() {
    let started = Cell::new(0);
    let command = || {
        started.set(started.get() + 1);
        let mut command = Command::new(if started.get() == 2 { "/no/such/program" } else { "sh" });
        command.args(["-c", &format!("{WORDS} ready; if [ $stream = 0 ]; then kill -9 $$; fi; ended $runs")]);
        Ok(command)
    };
    let (grace, seed, folder) = (STOP_GRACE, Seed(0), PathBuf::new());
    let supervisor = Supervisor { workers: 1, runs: Some(3), time: None, grace, seed, folder, command: &command };
    let mut log = Log::default();
    let report = supervisor.run::<Shell>(&mut log).expect("it ends");
    assert_eq!((runs(&report), report.end, report.restarted), (vec![3], SupervisorEnd::Complete, 2));
    assert!(log.losses[1].cause.contains("cannot be started"), "{:?}", log.losses);
}

#[test]
fn lines_that_are_no_events_are_told_and_bounded() {
    let mut log = Log::default();
    let script = r#"
        ready; echo 'no event'; echo '{"event":"unknown"}'; printf '\377\376\n'
        i=0; while [ $i -lt 100 ]; do echo "line $i"; i=$((i + 1)); done
        found one; ended $runs; printf 'cut off'"#;
    let report = run(1, Some(4), &mut log, script).expect("it ends");
    assert_eq!((runs(&report), report.end, log.found), (vec![4], SupervisorEnd::Complete, vec!["one".to_owned()]));
    assert_eq!((log.stray.len(), log.stray[0].as_str()), (STRAY_LINES_MAX as usize, "no event"));
}

#[test]
fn more_than_a_pipe_holds_arrives_whole() {
    let mut log = Log::default();
    // Each line is a kilobyte: several pipes full.
    let script = r#"
        ready; word=$(printf '%01000d' 0)
        i=0; while [ $i -lt 500 ]; do found "$word"; i=$((i + 1)); done
        ended $runs"#;
    let report = run(2, Some(2), &mut log, script).expect("it ends");
    assert_eq!((log.found.len(), report.end), (1_000, SupervisorEnd::Complete));
}

#[test]
fn a_request_stops_all_and_their_reports_are_there() {
    let mut log = Log { request_at: Some(2), ..Log::default() };
    let report = run(2, None, &mut log, "ready; found $stream; read order; ended 5").expect("it ends");
    assert_eq!((runs(&report), report.end, report.lost), (vec![5, 5], SupervisorEnd::Requested, 0));
    assert!(log.asked.get() > 0);
}

#[test]
fn what_does_not_stop_is_killed_and_counted() {
    let mut log = Log { found_max: Some(1), ..Log::default() };
    // The program that it waits for holds its output open; it ends with its standard input.
    let report = run(1, None, &mut log, "progress 3; found it; trap '' TERM; cat >/dev/null").expect("it ends");
    assert_eq!((runs(&report), report.end), (vec![3], SupervisorEnd::Directed));
    assert_eq!((report.lost, report.restarted, log.losses.len()), (1, 0, 1));
}

#[test]
fn without_a_finding_the_whole_time_is_searched() {
    const HOUR: Duration = Duration::from_secs(3600);
    let time = Duration::from_millis(200);
    let mut log = Log { reserved: time, ..Log::default() };
    let started = Stopwatch::start();
    let report = run_for(Some(time), 2, None, &mut log, "ready; read order; ended 1").expect("it ends");
    assert_eq!(report.end, SupervisorEnd::Time);
    assert!(started.elapsed() >= time, "{:?}", started.elapsed());
    // Once there is one, what is left is reserved: here all of an hour.
    let mut log = Log { reserved: HOUR, ..Log::default() };
    let report = run_for(Some(HOUR), 2, None, &mut log, "ready; found bad; read order; ended 1").expect("it ends");
    assert_eq!((report.end, log.found.is_empty()), (SupervisorEnd::Time, false));
}

#[test]
fn time_ends_it_and_counts_from_the_first_that_is_ready() {
    let mut log = Log::default();
    let time = Some(Duration::from_millis(50));
    let report = run_for(time, 2, None, &mut log, "ready; read order; ended 1").expect("it ends");
    assert_eq!((runs(&report), report.end), (vec![1, 1], SupervisorEnd::Time));
}

#[test]
fn an_observer_that_cannot_keep_a_finding_ends_it_with_its_error() {
    let mut log = Log { refuses: true, ..Log::default() };
    let error = run(2, None, &mut log, "ready; found it; read order; ended 1").err().expect("it was refused");
    assert_eq!(error.what, "no room");
}

#[test]
fn a_role_that_no_supervisor_wrote_is_refused() {
    let role = WorkerRole { slot: 1, stream: 3, runs: None, seed: Seed(9), folder: PathBuf::from("a b") };
    let text = serde_json::to_string(&role).expect("it is JSON");
    assert_eq!(serde_json::from_str::<WorkerRole>(&text).expect("it is one"), role);
    assert!(serde_json::from_str::<WorkerRole>("{}").is_err());
}
