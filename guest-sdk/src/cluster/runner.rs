//! Runs a workload, one step at a time.
//!
//! ```text
//! step 7   moment: start + 7 / rate, and a drawn part of a stretch ─▶ tasks run until then ─▶ which driver ─▶ its operation begins
//! ```
//!
//! Invariant: the moment of a step depends on its number and on what is drawn in it.

use super::generator::{GeneratorContext, NextOperation, Operations};
use super::member_driver::MemberDriver;
use super::{
    Action, ClientOperation, Completion, Driver, NamedAction, NextTask, Process, Role, Workload, faults_until,
};
use crate::host::{self, ReportedFailure};
use crate::task::{self, TaskSet};
use crate::tools;
use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::time::Duration;

/// How long it is waited before what must come eventually is tried again.
const RETRY: Duration = Duration::from_millis(500);
/// Steps that are waited for a driver that has nothing to do yet, at most.
const WAIT_MAX: Duration = Duration::from_secs(600);

type Client<O> = Rc<dyn Fn(Process, O) -> Pin<Box<dyn Future<Output = Completion>>>>;

/// Threads that do the operations of a generator.
pub(super) struct OperationDriver<O> {
    threads: usize,
    generator: Operations<O>,
    client: Client<O>,
    /// The first process of this driver, and how many threads all drivers have: the step to a thread's next process.
    first: u32,
    all: u32,
    /// How long an operation may take, as the whole workload says when it begins.
    timeout: Duration,
    /// Processes of each thread so far.
    processes: Vec<u32>,
}

impl<O: ClientOperation> OperationDriver<O> {
    pub(super) fn new(threads: usize, generator: Operations<O>, client: Client<O>) -> Self {
        let (timeout, processes) = (Duration::MAX, vec![1; threads]);
        OperationDriver { threads, generator, client, first: 0, all: 0, timeout, processes }
    }
}

impl<O: ClientOperation> Driver for OperationDriver<O> {
    fn threads(&self) -> usize {
        self.threads
    }

    fn begin(&mut self, first_process: u32, all_threads: u32, timeout: Duration) {
        (self.first, self.all, self.timeout) = (first_process, all_threads, timeout);
    }

    fn next(&mut self, free: &[usize], now: Duration) -> NextTask {
        let context = GeneratorContext { now, free, threads: self.threads, processes: &self.processes };
        match self.generator.next(&context) {
            NextOperation::Done => NextTask::Done,
            NextOperation::Pending => NextTask::Pending,
            NextOperation::Until(at) => NextTask::Until(at),
            NextOperation::Begin(thread, operation) => {
                assert!(free.contains(&thread), "a generator has given an operation to a thread that has one");
                let number = self.first + thread as u32 + (self.processes[thread] - 1) * self.all;
                let begun = tools::invoke(number, &operation.name(), &operation.input());
                let (answer, timeout) = ((self.client)(Process { thread, number }, operation), self.timeout);
                let task = async move {
                    match task::timeout(timeout, answer).await {
                        Ok(Completion::Ok(output)) => {
                            begun.ok(&output);
                            (true, true)
                        }
                        Ok(Completion::Fail(why)) => {
                            begun.fail(&why);
                            (false, true)
                        }
                        Ok(Completion::Info(why)) => {
                            begun.info(&why);
                            (false, false)
                        }
                        Err(task::Elapsed) => {
                            begun.info("timeout");
                            (false, false)
                        }
                    }
                };
                NextTask::Begin(thread, Box::pin(task))
            }
        }
    }

    fn ended(&mut self, thread: usize, is_ok: bool, is_known: bool) {
        self.processes[thread] += u32::from(!is_known);
        self.generator.ended(thread, is_ok);
    }
}

/// What a step did.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkloadStep {
    /// This flow ran.
    Ran(u32),
    /// It found nothing to do.
    Skipped(u32, &'static str),
}

/// Ends of operations that were not seen yet: driver, thread, whether it succeeded, and whether that is known.
type Ends = Rc<RefCell<Vec<(usize, usize, bool, bool)>>>;

/// One run of a workload.
#[doc(hidden)]
pub struct WorkloadRunner {
    workload: Workload,
    tasks: TaskSet,
    /// By driver, which threads have an operation.
    busy: Vec<Vec<bool>>,
    ends: Ends,
    /// Whether something has ended since it was looked.
    changed: Rc<task::Notify>,
    start: Duration,
    limit: Duration,
    /// Of an action that ran beside others.
    failed: Rc<RefCell<Option<(String, String)>>>,
    /// Whether a singleton was the only driver.
    is_alone: bool,
    /// What has machines leave and join, if the plan asks for that.
    members: Option<Rc<dyn MemberDriver>>,
}

impl WorkloadRunner {
    /// The name, and the flows with their weights: parallel drivers first, then serial drivers and what comes any time.
    #[doc(hidden)]
    #[must_use]
    pub fn describe(workload: &Workload) -> (String, Vec<(String, u32)>) {
        let parallel = workload.parallel.iter().map(|(name, weight, _)| ((*name).to_owned(), *weight));
        let drawn = drawn(&workload.actions).map(|action| (action.name.to_owned(), action.weight));
        let mut flows: Vec<(String, u32)> = parallel.chain(drawn).collect();
        if flows.is_empty() {
            let message = "there is no driver: add `parallel`, `serial`, `singleton` or `anytime` to the workload";
            host::invalid("a workload without clients", message);
        }
        if flows.iter().all(|(_, weight)| *weight == 0) {
            flows[0].1 = 1;
        }
        (workload.name.to_owned(), flows)
    }

    /// Runs what comes first.
    #[doc(hidden)]
    #[must_use]
    pub fn begin(mut workload: Workload) -> WorkloadRunner {
        for (checker, model) in &workload.checks {
            tools::check_history(checker, model);
        }
        let all: usize = workload.parallel.iter().map(|(_, _, driver)| driver.threads()).sum();
        let mut first = 0;
        for (_, _, driver) in &mut workload.parallel {
            driver.begin(first, all as u32, workload.timeout);
            first += driver.threads() as u32;
        }
        let busy = workload.parallel.iter().map(|(_, _, driver)| vec![false; driver.threads()]).collect();
        let mut runner = WorkloadRunner {
            workload,
            tasks: TaskSet::default(),
            busy,
            ends: Ends::default(),
            changed: Rc::new(task::Notify::new()),
            start: Duration::ZERO,
            limit: Duration::MAX,
            failed: Rc::default(),
            is_alone: false,
            members: None,
        };
        runner.run_all(Role::First);
        runner.start = task::now();
        runner.members = runner.workload.members.clone().filter(|members| members.is_planned());
        runner.keep_members();
        let singletons: Vec<usize> = runner.places(Role::Singleton);
        let others = runner.workload.parallel.len() + drawn(&runner.workload.actions).count() - singletons.len();
        let choices = singletons.len() + usize::from(others > 0);
        // Zero is the other drivers, where there are any.
        let chosen = if choices > 1 { host::choose("singleton", choices as u64) as usize } else { 0 };
        if let Some(place) = (chosen + usize::from(others == 0)).checked_sub(1).and_then(|nth| singletons.get(nth)) {
            runner.is_alone = true;
            let place = *place;
            runner.run_action(place);
        }
        let faults = faults_until().map(|until| until.saturating_sub(runner.start));
        let length = runner.workload.time_limit.or(faults).unwrap_or(Duration::MAX);
        runner.limit = runner.start.saturating_add(length);
        runner
    }

    fn places(&self, role: Role) -> Vec<usize> {
        (0..self.workload.actions.len()).filter(|place| self.workload.actions[*place].role == role).collect()
    }

    fn run_all(&mut self, role: Role) {
        self.places(role).into_iter().for_each(|place| self.run_action(place));
    }

    /// Runs an action to its end; an error fails the run.
    fn run_action(&mut self, place: usize) {
        let name = self.workload.actions[place].name;
        let body = self.action(place);
        if let Err(why) = self.tasks.block_on(body) {
            fail(name, &why);
        }
        self.look();
    }

    fn action(&self, place: usize) -> Action {
        (self.workload.actions[place].body)()
    }

    /// Notes what has ended.
    fn look(&mut self) {
        if let Some((name, why)) = self.failed.take() {
            fail(&name, &why);
        }
        for (driver, thread, is_ok, is_known) in self.ends.take() {
            self.busy[driver][thread] = false;
            self.workload.parallel[driver].2.ended(thread, is_ok, is_known);
        }
    }

    /// Lets tasks run until a moment, or until something has ended.
    fn wait(&mut self, until: Duration) {
        let changed = Rc::clone(&self.changed);
        self.tasks.block_on(async move {
            let rest = until.saturating_sub(task::now());
            let _ = task::timeout(rest, changed.notified()).await;
        });
        self.look();
    }

    /// Machines leave and join from now on, beside everything.
    fn keep_members(&mut self) {
        if let Some(members) = &self.members {
            let keep = members.keep(self.workload.timeout);
            let _ = self.tasks.block_on(async move { task::spawn("members", keep) });
        }
    }

    /// Waits until all machines are members that are to be.
    fn settle_members(&mut self) {
        let Some(members) = self.members.clone() else { return };
        let (deadline, within) = (task::now().saturating_add(self.workload.recovery), self.workload.recovery);
        while let Some(open) = members.open() {
            if task::now() >= deadline {
                fail("members", &format!("not within {within:?} after faults have ended: {open}"));
            }
            self.tasks.block_on(task::sleep(RETRY));
        }
    }

    fn is_busy(&self) -> bool {
        self.busy.iter().flatten().any(|busy| *busy)
    }

    /// Lets all operations come to their ends.
    fn settle(&mut self) {
        while self.is_busy() {
            self.wait(Duration::MAX);
        }
    }

    /// One operation, or one action.
    pub fn step(&mut self, step: u32) -> WorkloadStep {
        if self.is_alone {
            return WorkloadStep::Skipped(0, "a singleton is the only driver");
        }
        let stretch = Duration::from_secs_f64(1.0 / self.workload.rate);
        let part = host::choose("moment", (stretch.as_micros() as u64).max(1));
        let at = stretch.saturating_mul(step).saturating_add(Duration::from_micros(part));
        let at = self.start.saturating_add(at);
        if at >= self.limit {
            return WorkloadStep::Skipped(0, "the time is over");
        }
        while task::now() < at {
            self.wait(at);
        }
        self.look();
        let weights = self.workload.parallel.iter().map(|(_, weight, _)| *weight);
        let weights: Vec<u32> = weights.chain(drawn(&self.workload.actions).map(drawn_weight)).collect();
        if weights.iter().all(|weight| *weight == 0) {
            return WorkloadStep::Skipped(0, "no driver has a weight");
        }
        let flow = if weights.len() == 1 { 0 } else { host::weighted("flow", &weights) as usize };
        match flow.checked_sub(self.workload.parallel.len()) {
            None => self.operate(flow),
            Some(nth) => {
                let places: Vec<usize> =
                    (0..self.workload.actions.len()).filter(|at| is_drawn(&self.workload.actions[*at])).collect();
                self.act(flow, places[nth])
            }
        }
    }

    fn act(&mut self, flow: usize, place: usize) -> WorkloadStep {
        let NamedAction { name, role, .. } = self.workload.actions[place];
        let body = self.action(place);
        if role == Role::Anytime {
            let failed = Rc::clone(&self.failed);
            let changed = Rc::clone(&self.changed);
            let _ = self.tasks.block_on(async move {
                task::spawn(name, async move {
                    if let Err(why) = body.await {
                        failed.replace(Some((name.to_owned(), why)));
                        changed.notify_one();
                    }
                })
            });
        } else {
            self.settle();
            self.run_action(place);
        }
        WorkloadStep::Ran(flow as u32)
    }

    fn operate(&mut self, driver: usize) -> WorkloadStep {
        let patience = task::now().saturating_add(WAIT_MAX).min(self.limit);
        loop {
            let busy = &self.busy[driver];
            let free: Vec<usize> = (0..busy.len()).filter(|thread| !busy[*thread]).collect();
            let now = task::now().saturating_sub(self.start);
            let until = match self.workload.parallel[driver].2.next(&free, now) {
                NextTask::Begin(thread, operation) => {
                    self.busy[driver][thread] = true;
                    let (ends, changed) = (Rc::clone(&self.ends), Rc::clone(&self.changed));
                    let name = self.workload.parallel[driver].0;
                    let _ = self.tasks.block_on(async move {
                        task::spawn(name, async move {
                            let (is_ok, is_known) = operation.await;
                            ends.borrow_mut().push((driver, thread, is_ok, is_known));
                            changed.notify_one();
                        })
                    });
                    return WorkloadStep::Ran(driver as u32);
                }
                NextTask::Done => return WorkloadStep::Skipped(driver as u32, "the generator has no more operations"),
                NextTask::Pending if !self.is_busy() => {
                    return WorkloadStep::Skipped(
                        driver as u32,
                        "the generator waits for an operation, and none is open",
                    );
                }
                NextTask::Pending => patience,
                NextTask::Until(at) => self.start.saturating_add(at).min(patience),
            };
            if task::now() >= patience {
                return WorkloadStep::Skipped(driver as u32, "no operation in time");
            }
            self.wait(until.max(task::now() + Duration::from_micros(1)));
        }
    }

    /// Faults end, operations too, and what must come then comes.
    #[doc(hidden)]
    pub fn end(mut self) {
        let (eventually, finally) = (self.places(Role::Eventually), self.places(Role::Finally));
        let is_stopped = match (eventually.is_empty(), finally.is_empty()) {
            (false, false) => host::choose("end", 2) == 1,
            (is_empty, _) => !is_empty,
        };
        if is_stopped {
            // Where operations were, nobody knows.
            self.tasks.clear();
            self.keep_members();
        } else {
            self.settle();
        }
        if let Some(quiet) = faults_until() {
            self.tasks.block_on(task::sleep_until(quiet));
            self.settle_members();
        }
        if !is_stopped {
            return self.run_all(Role::Finally);
        }
        let deadline = task::now().saturating_add(self.workload.recovery);
        for place in eventually {
            let name = self.workload.actions[place].name;
            loop {
                let (body, rest) = (self.action(place), deadline.saturating_sub(task::now()));
                let why = match self.tasks.block_on(task::timeout(rest, body)) {
                    Ok(Ok(())) => break,
                    Ok(Err(why)) => why,
                    Err(task::Elapsed) => "it has not ended".to_owned(),
                };
                if task::now() >= deadline {
                    let within = self.workload.recovery;
                    fail(name, &format!("not within {within:?} after faults have ended: {why}"));
                }
                self.tasks.block_on(task::sleep(RETRY));
            }
        }
    }
}

/// Actions that steps draw.
fn drawn(actions: &[NamedAction]) -> impl Iterator<Item = &NamedAction> {
    actions.iter().filter(|action| is_drawn(action))
}

fn is_drawn(action: &NamedAction) -> bool {
    matches!(action.role, Role::Serial | Role::Anytime | Role::Singleton)
}

/// A singleton has its run, and no steps.
fn drawn_weight(action: &NamedAction) -> u32 {
    if action.role == Role::Singleton { 0 } else { action.weight }
}

fn fail(name: &str, why: &str) -> ! {
    host::fail(ReportedFailure::Invariant, name, &format!("{name}: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::generator as ops;

    #[derive(Clone)]
    struct Get;

    impl ClientOperation for Get {
        fn name(&self) -> String {
            "get x".to_owned()
        }

        fn input(&self) -> String {
            String::new()
        }
    }

    #[test]
    fn a_timeout_is_that_of_all_drivers_wherever_it_is_said() {
        let limit = Duration::from_secs(1);
        let with_readers = |workload: Workload| {
            workload.parallel("readers", 1, ops::of(|| Get), |_, _| std::future::pending::<Completion>())
        };
        let before = with_readers(Workload::new("w").timeout(limit));
        let after = with_readers(Workload::new("w")).timeout(limit);
        for workload in [before, after] {
            let mut runner = WorkloadRunner::begin(workload);
            assert_eq!(runner.step(0), WorkloadStep::Ran(0));
            let begun = task::now();
            runner.end();
            let took = task::now().saturating_sub(begun);
            assert!(took > limit / 2 && took < limit * 2, "{took:?}");
        }
    }
}
