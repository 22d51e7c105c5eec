//! Clients of a cluster: who does what when, in roles, with generators of operations, recorded into a history.
//!
//! ```text
//! first ─▶ ┌ parallel drivers: n threads, each with one operation at a time ┐ ─ faults end ─▶ open operations end ─▶ finally
//!          │ serial drivers: alone · anytime: beside everything            │      or: drivers are stopped ─▶ eventually
//!          └ or one singleton driver, alone in its run                     ┘
//! ```
//!
//! ```
//! use fozzy_sdk::cluster::{Completion, Workload, generator as ops, nodes};
//! use fozzy_sdk::task::net::TcpStream;
//!
//! #[derive(Clone)]
//! enum Op { Get, Put(i64) }
//!
//! impl fozzy_sdk::cluster::ClientOperation for Op {
//!     fn name(&self) -> String { if let Op::Get = self { "get x".into() } else { "put x".into() } }
//!     fn input(&self) -> String { if let Op::Put(value) = self { value.to_string() } else { String::new() } }
//! }
//!
//! async fn ask(op: Op) -> std::io::Result<Completion> {
//!     let mut store = TcpStream::connect(&format!("{}:7000", nodes()[0])).await?;
//!     let line = match op { Op::Get => "get x\n".to_owned(), Op::Put(value) => format!("put x {value}\n") };
//!     store.write_all(line.as_bytes()).await?;
//!     Ok(Completion::Ok(store.read_line().await?))
//! }
//!
//! fn workload() -> Workload {
//!     let operations = ops::mix(vec![(2, ops::of(|| Op::Get)), (1, ops::of(|| Op::Put(ops::int(0, 4))))]);
//!     Workload::new("store")
//!         .rate(20.0)
//!         .parallel("clients", 5, operations, |_, op| async { ask(op).await.into() })
//!         .check("linearizable", "kv")
//! }
//!
//! fozzy_sdk::cluster_workload!(workload);
//! # assert_eq!(workload().name(), "store");
//! ```
//!
//! A workload is a scenario: one step is one operation, at a moment that depends on the number of the step and on nothing before it, so that
//! shrinking leaves operations out one by one. What nodes there are, what goes wrong and until when is in the plan (`[[node]]`,
//! `[[nemesis]]`, `[cluster]`).
//!
//! Invariants: all that is left to chance is a choice of the run; a thread has one operation at a time; after one whose end is not known,
//! another process goes on in its place.
//! Not here: what goes wrong (`fozzy-world`), what judges operations (`fozzy-check`).

pub mod generator;
mod keys;
mod member_driver;
mod membership;
mod runner;

pub use generator::{GeneratorContext, NextOperation, OperationGenerator};
pub use keys::{KeyDistribution, KeyPool};
pub use membership::{Membership, MembershipChange};
#[doc(hidden)]
pub use runner::{WorkloadRunner, WorkloadStep};

use member_driver::{ChangeDriver, MemberDriver};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::time::Duration;

/// What a client asks, as the history has it.
///
/// ```
/// use fozzy_sdk::cluster::ClientOperation;
///
/// #[derive(Clone)]
/// struct Get(u32);
///
/// impl ClientOperation for Get {
///     fn name(&self) -> String { format!("get k{}", self.0) }
///     fn input(&self) -> String { String::new() }
/// }
/// # assert_eq!(Get(7).name(), "get k7");
/// ```
pub trait ClientOperation: Clone + 'static {
    /// What is done, and with which key: `put x`. Models say which words they know.
    fn name(&self) -> String;
    /// With what; empty when there is nothing.
    fn input(&self) -> String;
}

/// How an operation ended.
///
/// ```
/// use fozzy_sdk::cluster::Completion;
///
/// let lost: std::io::Result<Completion> = Err(std::io::ErrorKind::TimedOut.into());
/// assert!(matches!(Completion::from(lost), Completion::Info(_)));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Completion {
    /// Done, with this result.
    Ok(String),
    /// Certainly not done.
    Fail(String),
    /// Not known.
    Info(String),
}

impl<E: std::fmt::Display> From<Result<Completion, E>> for Completion {
    /// Of an error it is not known whether the operation was done.
    fn from(result: Result<Completion, E>) -> Completion {
        result.unwrap_or_else(|error| Completion::Info(error.to_string()))
    }
}

/// Who does an operation.
///
/// ```
/// use fozzy_sdk::cluster::Process;
///
/// // The third thread of five, after two operations whose end is not known.
/// let process = Process { thread: 2, number: 12 };
/// assert_eq!(process.number as usize % 5, process.thread);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Process {
    /// The thread, from 0.
    pub thread: usize,
    /// The process in the history; another one after each operation whose end is not known.
    pub number: u32,
}

pub(crate) type Action = Pin<Box<dyn Future<Output = Result<(), String>>>>;
type ActionBody = Rc<dyn Fn() -> Action>;

/// Threads with operations of one kind.
pub(crate) trait Driver {
    fn threads(&self) -> usize;
    /// The next operation, as a task that records it; of a thread of this driver that is free.
    fn next(&mut self, free: &[usize], now: Duration) -> NextTask;
    /// A thread's operation has ended: well, or in another way.
    fn ended(&mut self, thread: usize, is_ok: bool, is_known: bool);
    /// The run begins: the number of the first process, the threads of all drivers, and how long an operation may take.
    fn begin(&mut self, first_process: u32, all_threads: u32, timeout: Duration);
}

/// An operation that is about to begin.
pub(crate) enum NextTask {
    /// On this thread; the answer of the task is whether it succeeded, and whether its end is known.
    Begin(usize, Pin<Box<dyn Future<Output = (bool, bool)>>>),
    /// None before this moment.
    Until(Duration),
    /// None before an operation has ended.
    Pending,
    /// None any more.
    Done,
}

/// When an action of a workload runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    First,
    Serial,
    Singleton,
    Anytime,
    Eventually,
    Finally,
}

pub(crate) struct NamedAction {
    pub(crate) name: &'static str,
    pub(crate) role: Role,
    pub(crate) weight: u32,
    pub(crate) body: ActionBody,
}

/// What clients of a cluster do.
pub struct Workload {
    name: &'static str,
    pub(crate) rate: f64,
    pub(crate) time_limit: Option<Duration>,
    pub(crate) recovery: Duration,
    pub(crate) timeout: Duration,
    pub(crate) parallel: Vec<(&'static str, u32, Box<dyn Driver>)>,
    pub(crate) actions: Vec<NamedAction>,
    pub(crate) checks: Vec<(&'static str, &'static str)>,
    pub(crate) members: Option<Rc<dyn MemberDriver>>,
}

/// The weight of drivers whose weight is not said.
const WEIGHT: u32 = 100;

impl Workload {
    /// A workload without clients; ten operations a second, each for five seconds at most, and sixty seconds for what must come eventually.
    ///
    /// ```
    /// use fozzy_sdk::cluster::Workload;
    ///
    /// assert_eq!(Workload::new("bank").name(), "bank");
    /// ```
    #[must_use]
    pub fn new(name: &'static str) -> Workload {
        Workload {
            name,
            rate: 10.0,
            time_limit: None,
            recovery: Duration::from_secs(60),
            timeout: Duration::from_secs(5),
            parallel: Vec::new(),
            actions: Vec::new(),
            checks: Vec::new(),
            members: None,
        }
    }

    /// Its name.
    ///
    /// ```
    /// use fozzy_sdk::cluster::Workload;
    ///
    /// assert_eq!(Workload::new("bank").name(), "bank");
    /// ```
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// How many steps there are in a second, on average.
    ///
    /// # Panics
    /// For a rate that is none.
    ///
    /// ```
    /// use fozzy_sdk::cluster::Workload;
    ///
    /// let busy = Workload::new("bank").rate(100.0);
    /// # drop(busy);
    /// ```
    #[must_use]
    pub fn rate(self, rate: f64) -> Workload {
        assert!(rate.is_finite() && rate > 0.0, "the rate of a workload is a number above 0, not {rate}");
        Workload { rate, ..self }
    }

    /// For how long operations begin. Without it, until faults end (`cluster.faults-until` of the plan), or as many as there are steps.
    ///
    /// ```
    /// use fozzy_sdk::cluster::Workload;
    /// use std::time::Duration;
    ///
    /// let workload = Workload::new("bank").time_limit(Duration::from_secs(30));
    /// # drop(workload);
    /// ```
    #[must_use]
    pub fn time_limit(self, limit: Duration) -> Workload {
        Workload { time_limit: Some(limit), ..self }
    }

    /// How long an operation may take; then it is not known whether it was done. That is of all drivers, also of those that were added
    /// before.
    ///
    /// ```
    /// use fozzy_sdk::cluster::Workload;
    /// use std::time::Duration;
    ///
    /// let workload = Workload::new("bank").timeout(Duration::from_secs(30));
    /// # drop(workload);
    /// ```
    #[must_use]
    pub fn timeout(self, timeout: Duration) -> Workload {
        Workload { timeout, ..self }
    }

    /// How long what must come eventually may take, after faults have ended.
    ///
    /// ```
    /// use fozzy_sdk::cluster::Workload;
    /// use std::time::Duration;
    ///
    /// let workload = Workload::new("bank").recovery(Duration::from_secs(30));
    /// # drop(workload);
    /// ```
    #[must_use]
    pub fn recovery(self, recovery: Duration) -> Workload {
        Workload { recovery, ..self }
    }

    /// Threads that do the operations of a generator, beside each other and beside other parallel drivers.
    ///
    /// ```
    /// use fozzy_sdk::cluster::{ClientOperation, Completion, Workload, generator as ops};
    ///
    /// #[derive(Clone)]
    /// struct Get;
    /// impl ClientOperation for Get {
    ///     fn name(&self) -> String { "get x".to_owned() }
    ///     fn input(&self) -> String { String::new() }
    /// }
    ///
    /// let reads = ops::of(|| Get);
    /// let workload = Workload::new("bank").parallel("readers", 3, reads, |_, _| async { Completion::Ok("7".to_owned()) });
    /// # drop(workload);
    /// ```
    #[must_use]
    pub fn parallel<O: ClientOperation, F: Future<Output = Completion> + 'static>(
        mut self,
        name: &'static str,
        threads: usize,
        operations: Box<dyn OperationGenerator<O>>,
        client: impl Fn(Process, O) -> F + 'static,
    ) -> Workload {
        let client = move |process, operation| Box::pin(client(process, operation)) as Pin<Box<dyn Future<Output = _>>>;
        let driver = runner::OperationDriver::new(threads, operations, Rc::new(client));
        self.parallel.push((name, WEIGHT, Box::new(driver)));
        self
    }

    fn action<F: Future<Output = Result<(), String>> + 'static>(
        mut self,
        (name, role, weight): (&'static str, Role, u32),
        body: impl Fn() -> F + 'static,
    ) -> Workload {
        self.actions.push(NamedAction { name, role, weight, body: Rc::new(move || Box::pin(body())) });
        self
    }

    /// Runs once, before everything else. An error fails the run.
    ///
    /// ```
    /// use fozzy_sdk::cluster::Workload;
    ///
    /// let workload = Workload::new("bank").first("the books balance", || async { Ok(()) });
    /// # drop(workload);
    /// ```
    #[must_use]
    pub fn first<F: Future<Output = Result<(), String>> + 'static>(
        self,
        name: &'static str,
        body: impl Fn() -> F + 'static,
    ) -> Workload {
        self.action((name, Role::First, 1), body)
    }

    /// Runs while no other driver does, as often as it is drawn: the weight of parallel drivers is 100. An error fails the run.
    ///
    /// ```
    /// use fozzy_sdk::cluster::Workload;
    ///
    /// let workload = Workload::new("bank").serial("the books balance", 10, || async { Ok(()) });
    /// # drop(workload);
    /// ```
    #[must_use]
    pub fn serial<F: Future<Output = Result<(), String>> + 'static>(
        self,
        name: &'static str,
        weight: u32,
        body: impl Fn() -> F + 'static,
    ) -> Workload {
        self.action((name, Role::Serial, weight), body)
    }

    /// Is the only driver of its run, and runs once there. Whether a run has one is drawn. An error fails the run.
    ///
    /// ```
    /// use fozzy_sdk::cluster::Workload;
    ///
    /// let workload = Workload::new("bank").singleton("the books balance", || async { Ok(()) });
    /// # drop(workload);
    /// ```
    #[must_use]
    pub fn singleton<F: Future<Output = Result<(), String>> + 'static>(
        self,
        name: &'static str,
        body: impl Fn() -> F + 'static,
    ) -> Workload {
        self.action((name, Role::Singleton, 1), body)
    }

    /// Runs beside everything, as often as it is drawn: the weight of parallel drivers is 100. An error fails the run.
    ///
    /// ```
    /// use fozzy_sdk::cluster::Workload;
    ///
    /// let workload = Workload::new("bank").anytime("the books balance", 10, || async { Ok(()) });
    /// # drop(workload);
    /// ```
    #[must_use]
    pub fn anytime<F: Future<Output = Result<(), String>> + 'static>(
        self,
        name: &'static str,
        weight: u32,
        body: impl Fn() -> F + 'static,
    ) -> Workload {
        self.action((name, Role::Anytime, weight), body)
    }

    /// Must succeed some time after faults have ended, although drivers were stopped in the middle; it is tried again and again. Whether a
    /// run ends so or by what comes finally is drawn, where there are both.
    ///
    /// ```
    /// use fozzy_sdk::cluster::Workload;
    ///
    /// let workload = Workload::new("bank").eventually("the books balance", || async { Ok(()) });
    /// # drop(workload);
    /// ```
    #[must_use]
    pub fn eventually<F: Future<Output = Result<(), String>> + 'static>(
        self,
        name: &'static str,
        body: impl Fn() -> F + 'static,
    ) -> Workload {
        self.action((name, Role::Eventually, 1), body)
    }

    /// Runs after faults have ended and all operations, too. An error fails the run.
    ///
    /// ```
    /// use fozzy_sdk::cluster::Workload;
    ///
    /// let workload = Workload::new("bank").finally("the books balance", || async { Ok(()) });
    /// # drop(workload);
    /// ```
    #[must_use]
    pub fn finally<F: Future<Output = Result<(), String>> + 'static>(
        self,
        name: &'static str,
        body: impl Fn() -> F + 'static,
    ) -> Workload {
        self.action((name, Role::Finally, 1), body)
    }

    /// Has machines leave the cluster and join it again, when the nemesis `membership` of the plan says so: `change` asks the cluster for a
    /// change by its own protocol, and answers who the members are then, by the names of their machines: an answer with another name, or
    /// with none, ends the run as an error of this program. One is asked for at a time; one that fails, or takes longer than
    /// an operation may, is asked for again until it is seen to be done, or its opposite is wanted. All nodes are members first; never
    /// fewer than `least` stay: where there are no more machines than that, the nemesis does not strike. What has become of changes is in
    /// the events of the run. When faults have ended, all must be members again within the time of [`recovery`](Workload::recovery).
    /// Without such a nemesis nothing changes.
    ///
    /// ```
    /// use fozzy_sdk::cluster::{MembershipChange, Workload, nodes};
    /// use fozzy_sdk::task::net::TcpStream;
    ///
    /// async fn change(change: MembershipChange) -> std::io::Result<Vec<String>> {
    ///     let mut leader = TcpStream::connect(&format!("{}:7000", nodes()[0])).await?;
    ///     let request = match change {
    ///         MembershipChange::Add(node) => format!("join {node}\n"),
    ///         MembershipChange::Remove(node) => format!("leave {node}\n"),
    ///     };
    ///     leader.write_all(request.as_bytes()).await?;
    ///     Ok(leader.read_line().await?.split(',').map(str::to_owned).collect())
    /// }
    ///
    /// let workload = Workload::new("store").members(2, |one| async { change(one).await.map_err(|error| error.to_string()) });
    /// # drop(workload);
    /// ```
    #[must_use]
    pub fn members<F: Future<Output = Result<Vec<String>, String>> + 'static>(
        self,
        least: usize,
        change: impl Fn(MembershipChange) -> F + 'static,
    ) -> Workload {
        let driver = ChangeDriver::new(least, change);
        Workload { members: Some(Rc::new(driver)), ..self }
    }

    /// Holds the history to a checker, as [`check_history`](crate::tools::check_history) does.
    ///
    /// ```
    /// use fozzy_sdk::cluster::Workload;
    ///
    /// let workload = Workload::new("bank").check("linearizable", "kv");
    /// # drop(workload);
    /// ```
    #[must_use]
    pub fn check(mut self, checker: &'static str, model: &'static str) -> Workload {
        self.checks.push((checker, model));
        self
    }
}

/// The names of the machines of the plan that run by themselves; natively none.
///
/// ```
/// for node in fozzy_sdk::cluster::nodes() {
///     println!("{node}:7000");
/// }
/// ```
#[allow(clippy::disallowed_methods, reason = "the environment of a guest is a part of its plan")]
#[must_use]
pub fn nodes() -> Vec<String> {
    let names = std::env::var("FOZZY_NODES").unwrap_or_default();
    names.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// When faults end, in virtual time since the start of the run, if the plan says so.
///
/// ```
/// assert_eq!(fozzy_sdk::cluster::faults_until(), None, "natively no faults are planned");
/// ```
#[allow(clippy::disallowed_methods, reason = "the environment of a guest is a part of its plan")]
#[must_use]
pub fn faults_until() -> Option<Duration> {
    std::env::var("FOZZY_FAULTS_UNTIL_NS").ok()?.parse().ok().map(Duration::from_nanos)
}

/// Makes the component a scenario that runs a workload: a function without arguments that returns it.
///
/// ```
/// use fozzy_sdk::cluster::Workload;
///
/// fn workload() -> Workload {
///     Workload::new("bank").serial("transfer", 100, || async { Ok(()) })
/// }
///
/// fozzy_sdk::cluster_workload!(workload);
/// # drop(workload());
/// ```
#[macro_export]
macro_rules! cluster_workload {
    ($workload:path) => {
        #[cfg(target_arch = "wasm32")]
        const _: () = {
            use $crate::bindings::stateful::exports::fozzy::scenario::stateful as __wit;
            use $crate::cluster::{WorkloadRunner, WorkloadStep};

            ::std::thread_local! {
                static RUNNER: ::core::cell::RefCell<::core::option::Option<WorkloadRunner>> =
                    const { ::core::cell::RefCell::new(::core::option::Option::None) };
            }

            struct __Exported;

            impl __wit::Guest for __Exported {
                fn describe() -> __wit::Info {
                    let (name, flows) = WorkloadRunner::describe(&$workload());
                    let flow =
                        |(name, weight): (::std::string::String, u32)| __wit::Flow { name, weight, max_times: None };
                    __wit::Info {
                        name,
                        flows: flows.into_iter().map(flow).collect(),
                        invariants: ::std::vec::Vec::new(),
                    }
                }

                fn begin_sequence(_: u32) {
                    drop(RUNNER.replace(::core::option::Option::Some(WorkloadRunner::begin($workload()))));
                }

                fn step(step: u32) -> __wit::StepResult {
                    let stepped = RUNNER.with_borrow_mut(|runner| runner.as_mut().map(|runner| runner.step(step)));
                    match stepped {
                        ::core::option::Option::Some(WorkloadStep::Ran(flow)) => __wit::StepResult::Ran(flow),
                        ::core::option::Option::Some(WorkloadStep::Skipped(flow, label)) => {
                            __wit::StepResult::Skipped(__wit::Skip { flow, label: label.into() })
                        }
                        ::core::option::Option::None => __wit::StepResult::Stuck("the sequence was not begun".into()),
                    }
                }

                fn end_sequence(_: u32) {
                    if let ::core::option::Option::Some(runner) = RUNNER.take() {
                        runner.end();
                    }
                }
            }

    $crate::bindings::stateful::export_stateful!(__Exported with_types_in $crate::bindings::stateful);
        };
    };
}
