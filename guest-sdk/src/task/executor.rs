//! Who runs next, and the end of tasks.
//!
//! Which of several tasks runs, the host answers: it has the policies, and knows what earlier runs have shown.
//!
//! Invariant: the executor's state is never borrowed while a future is polled or dropped.

use super::waiting::{Object, Resource, Waiters};
use super::{Schedule, SchedulingMoment};
use crate::host::{self, ReadyTask, ReportedFailure};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

/// Tasks that can be there at once; one more ends the scenario.
const TASKS_MAX: usize = 1 << 16;
/// The first task, which `block_on` was given.
const MAIN: u64 = 0;

thread_local! {
    static EXECUTOR: RefCell<Option<Executor>> = const { RefCell::new(None) };
    static SCHEDULE: Cell<Schedule> = const { Cell::new(Schedule::Random) };
    /// Tells the wakers of one executor from those of an earlier one.
    static RUNS: Cell<u64> = const { Cell::new(0) };
}

/// From the next [`block_on`] on, tasks are scheduled like this.
///
/// ```
/// use fozzy_sdk::task::{self, Schedule};
///
/// task::schedule(Schedule::Pct { depth: 3 });
/// ```
pub fn schedule(schedule: Schedule) {
    SCHEDULE.set(schedule);
}

struct Task {
    name: Rc<str>,
    /// `None` while it is polled, and of the first task.
    future: Option<Pin<Box<dyn Future<Output = ()>>>>,
    waker: Waker,
    waits_for: Option<Rc<dyn Resource>>,
    /// What its next step begins with, if it has waited for that.
    object: Option<Object>,
    /// Steps that it has taken.
    steps: u64,
}

pub(super) struct Executor {
    run: u64,
    /// Tells executors of this future from those of others.
    kind: u64,
    tasks: BTreeMap<u64, Task>,
    /// Runnable tasks, in the order in which they became so.
    ready: Vec<u64>,
    timers: BTreeMap<(Duration, u64), Waker>,
    /// What tasks wait for outside of the program.
    events: BTreeMap<u64, (Rc<host::Event>, Waker)>,
    /// Numbers of tasks, timers and events.
    next: u64,
    current: u64,
    schedule: Schedule,
    /// Objects of the steps since it was asked last who runs.
    touched: Vec<u64>,
}

/// Makes one task runnable.
struct Wakeup {
    run: u64,
    task: u64,
}

impl Wake for Wakeup {
    fn wake(self: Arc<Wakeup>) {
        // During a drop at the end, or from another thread, there is no executor to wake.
        let _ = EXECUTOR.try_with(|place| {
            let Ok(mut place) = place.try_borrow_mut() else { return };
            let Some(executor) = place.as_mut().filter(|executor| executor.run == self.run) else { return };
            if executor.tasks.contains_key(&self.task) && !executor.ready.contains(&self.task) {
                executor.ready.push(self.task);
            }
        });
    }
}

/// What is done with the executor that runs now.
///
/// # Panics
/// Outside [`block_on`].
pub(super) fn with<R>(body: impl FnOnce(&mut Executor) -> R) -> R {
    EXECUTOR.with_borrow_mut(|place| match place {
        Some(executor) => body(executor),
        None => panic!("tasks run inside `task::block_on` only, as in an async flow"),
    })
}

impl Executor {
    fn new(schedule: Schedule, kind: u64) -> Executor {
        let run = RUNS.get() + 1;
        RUNS.set(run);
        Executor {
            run,
            kind,
            tasks: BTreeMap::new(),
            ready: Vec::new(),
            timers: BTreeMap::new(),
            events: BTreeMap::new(),
            next: MAIN,
            current: MAIN,
            schedule,
            touched: Vec::new(),
        }
    }

    /// A task more, which is runnable.
    fn add(&mut self, name: &str, future: Option<Pin<Box<dyn Future<Output = ()>>>>) -> u64 {
        if self.tasks.len() == TASKS_MAX {
            host::invalid("tasks", &format!("there are more than {TASKS_MAX} tasks"));
        }
        let number = self.number();
        let waker = Waker::from(Arc::new(Wakeup { run: self.run, task: number }));
        let name = name.into();
        self.tasks.insert(number, Task { name, future, waker, waits_for: None, object: None, steps: 0 });
        self.ready.push(number);
        number
    }

    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next - 1
    }

    /// The task that runs next, if one can.
    fn pick(&mut self) -> Option<u64> {
        if self.ready.is_empty() {
            return None;
        }
        let at = if self.ready.len() == 1 || self.schedule == Schedule::Fifo { 0 } else { self.ask() };
        let next = self.ready.remove(at);
        if let Some(task) = self.tasks.get_mut(&next) {
            task.steps += 1;
        }
        self.current = next;
        Some(next)
    }

    /// The place of the task that runs next, of several.
    fn ask(&mut self) -> usize {
        let ready = self.ready.iter().map(|number| {
            let task = self.tasks.get(number);
            let (steps, object) = task.map_or((0, 0), |task| (task.steps, task.object.map_or(0, |object| object.0)));
            ReadyTask { number: *number, steps, object }
        });
        let ready: Vec<ReadyTask> = ready.collect();
        let touched = std::mem::take(&mut self.touched);
        let (kind, run, schedule) = (self.kind, self.run, self.schedule);
        host::next_task(&SchedulingMoment { kind, run, schedule, touched: &touched, ready: &ready })
    }

    /// The timer that is over first.
    fn first_timer(&self) -> Option<Duration> {
        self.timers.keys().next().map(|(moment, _)| *moment)
    }

    /// Takes the wakers of timers that are over at `now`.
    fn over(&mut self, now: Duration) -> Vec<Waker> {
        let later = self.timers.split_off(&(now, u64::MAX));
        std::mem::replace(&mut self.timers, later).into_values().collect()
    }

    /// Wakes the task that polls at `moment`; the answer is the timer's number.
    pub(super) fn add_timer(&mut self, moment: Duration, waker: Waker) -> u64 {
        let number = self.number();
        self.timers.insert((moment, number), waker);
        number
    }

    pub(super) fn remove_timer(&mut self, moment: Duration, number: u64) {
        self.timers.remove(&(moment, number));
    }

    /// Wakes the task that polls when an event is ready; the answer is the number of its registration.
    #[cfg(target_arch = "wasm32")]
    pub(super) fn add_event(&mut self, event: Rc<host::Event>, waker: Waker) -> u64 {
        let number = self.number();
        self.events.insert(number, (event, waker));
        number
    }

    #[cfg(target_arch = "wasm32")]
    pub(super) fn remove_event(&mut self, number: u64) {
        self.events.remove(&number);
    }

    /// The task that is polled waits for this.
    pub(super) fn waits_for(&mut self, resource: Rc<dyn Resource>, object: Option<Object>) {
        if let Some(task) = self.tasks.get_mut(&self.current) {
            (task.waits_for, task.object) = (Some(resource), object);
        }
    }

    /// The name of the task that is polled.
    pub(super) fn current_name(&self) -> Rc<str> {
        self.tasks.get(&self.current).map_or_else(|| Rc::from("a task"), |task| Rc::clone(&task.name))
    }

    /// Who waits for what, and the names of what is waited for.
    fn deadlock(&self) -> (String, Vec<String>) {
        let mut names: Vec<String> = Vec::new();
        let lines = self.tasks.values().map(|task| {
            let what = task.waits_for.as_ref().map_or_else(
                || "something outside".to_owned(),
                |it| {
                    names.push(it.name());
                    it.describe()
                },
            );
            format!("`{}` waits for {what}", task.name)
        });
        let lines: Vec<String> = lines.collect();
        names.sort();
        names.dedup();
        (lines.join("\n"), names)
    }
}

/// The step that is taken has to do with `object`. What is touched between runs, before or after all tasks, is in no race.
pub(super) fn touch(object: Object) {
    let _ = EXECUTOR.try_with(|place| {
        let Ok(mut place) = place.try_borrow_mut() else { return };
        let new = place.as_mut().filter(|executor| !executor.touched.contains(&object.0));
        new.into_iter().for_each(|executor| executor.touched.push(object.0));
    });
}

/// Takes the executor away at the end, also when a task panics.
struct Guard;

impl Guard {
    /// Takes it with its tasks, which go on later.
    fn keep(self) -> Option<Executor> {
        std::mem::forget(self);
        EXECUTOR.with_borrow_mut(Option::take)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // Tasks are dropped while there is still an executor that their drops may speak to.
        let tasks = with(|executor| std::mem::take(&mut executor.tasks));
        drop(tasks);
        let executor = EXECUTOR.with_borrow_mut(Option::take);
        drop(executor);
    }
}

/// Runs a future and the tasks that it spawns until it is done; tasks that are left are dropped.
///
/// # Panics
/// Inside another `block_on`.
///
/// ```
/// use fozzy_sdk::task;
///
/// assert_eq!(task::block_on(async { 6 * 7 }), 42);
/// ```
pub fn block_on<F: Future>(main: F) -> F::Output {
    let (output, guard) = run(Executor::new(SCHEDULE.get(), kind_of::<F>()), main);
    drop(guard);
    output
}

/// Tasks that go on from one call of a scenario to the next.
///
/// ```
/// use fozzy_sdk::task::{self, TaskSet};
/// use std::time::Duration;
///
/// let mut tasks = TaskSet::default();
/// let slow = tasks.block_on(async { task::spawn("slow", async { task::sleep(Duration::from_secs(5)).await; 7 }) });
/// // Time passes only in calls.
/// tasks.block_on(task::sleep(Duration::from_secs(1)));
/// assert!(!slow.is_finished());
/// assert_eq!(tasks.block_on(slow.join()), 7);
/// ```
#[derive(Default)]
pub struct TaskSet(Option<Executor>);

impl TaskSet {
    /// Runs a future until it is done, and meanwhile all tasks that were spawned, now or in earlier calls.
    ///
    /// # Panics
    /// Inside another `block_on`.
    ///
    /// ```
    /// assert_eq!(fozzy_sdk::task::TaskSet::default().block_on(async { 6 * 7 }), 42);
    /// ```
    pub fn block_on<F: Future>(&mut self, main: F) -> F::Output {
        let executor = self.0.take().unwrap_or_else(|| Executor::new(SCHEDULE.get(), kind_of::<TaskSet>()));
        let (output, guard) = run(executor, main);
        self.0 = guard.keep();
        output
    }

    /// Drops all tasks.
    ///
    /// ```
    /// use fozzy_sdk::task::{self, TaskSet};
    ///
    /// let mut tasks = TaskSet::default();
    /// let never = tasks.block_on(async { task::spawn("never", std::future::pending::<()>()) });
    /// tasks.clear();
    /// assert!(!never.is_finished());
    /// ```
    pub fn clear(&mut self) {
        // Drops of tasks may speak to the executor.
        if self.0.is_some() {
            EXECUTOR.set(self.0.take());
            drop(Guard);
        }
    }
}

impl Drop for TaskSet {
    fn drop(&mut self) {
        self.clear();
    }
}

fn run<F: Future>(executor: Executor, main: F) -> (F::Output, Guard) {
    assert!(EXECUTOR.with_borrow(Option::is_none), "`task::block_on` inside `task::block_on`: use `.await` there");
    EXECUTOR.set(Some(executor));
    let guard = Guard;
    let number = with(|executor| executor.add("main", None));
    let mut main = pin!(main);
    loop {
        wake_over();
        let Some(task) = with(Executor::pick) else {
            let (first, events) =
                with(|executor| (executor.first_timer(), executor.events.values().cloned().collect::<Vec<_>>()));
            match first {
                _ if !events.is_empty() => {
                    let waits: Vec<&host::Event> = events.iter().map(|(event, _)| &**event).collect();
                    for ready in host::wait(&waits, first) {
                        events[ready].1.wake_by_ref();
                    }
                }
                Some(moment) => host::sleep_until(moment),
                None => report_deadlock(),
            }
            continue;
        };
        let Some((waker, future)) = with(|executor| {
            let task = executor.tasks.get_mut(&task)?;
            (task.waits_for, task.object) = (None, None);
            Some((task.waker.clone(), task.future.take()))
        }) else {
            continue;
        };
        let mut context = Context::from_waker(&waker);
        match future {
            None => {
                if let Poll::Ready(output) = main.as_mut().poll(&mut context) {
                    let first = with(|executor| executor.tasks.remove(&number));
                    drop(first);
                    return (output, guard);
                }
            }
            Some(mut future) => match future.as_mut().poll(&mut context) {
                Poll::Ready(()) => drop(with(|executor| executor.tasks.remove(&task))),
                Poll::Pending => with(|executor| {
                    if let Some(task) = executor.tasks.get_mut(&task) {
                        task.future = Some(future);
                    }
                }),
            },
        }
    }
}

/// A number for the executors of a future, from the name of its type (FNV-1a): the same in every run of the program.
fn kind_of<F>() -> u64 {
    let name = std::any::type_name::<F>().as_bytes();
    let hash =
        name.iter().fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3));
    // 0 is for the machines of a run.
    u64::max(hash, 1)
}

/// Wakes those whose timers are over. The clock is read only when there are timers.
fn wake_over() {
    if with(|executor| executor.timers.is_empty()) {
        return;
    }
    let now = host::now();
    let over = with(|executor| executor.over(now));
    over.into_iter().for_each(Waker::wake);
}

fn report_deadlock() -> ! {
    let (lines, names) = with(|executor| executor.deadlock());
    let mut site = format!("deadlock: {}", names.join(", "));
    while site.len() > 255 {
        site.pop();
    }
    host::fail(ReportedFailure::Deadlock, &site, &format!("deadlock: every task waits for another\n{lines}"))
}

/// What a task leaves behind.
struct Result<T> {
    name: Rc<str>,
    value: RefCell<Option<T>>,
    waiters: Waiters,
}

impl<T> Resource for Result<T> {
    fn name(&self) -> String {
        "the end of a task".to_owned()
    }
    fn describe(&self) -> String {
        format!("the end of `{}`", self.name)
    }
}

/// A handle of a spawned task. Dropping it detaches the task.
///
/// ```
/// use fozzy_sdk::task::{self, JoinHandle};
///
/// task::block_on(async {
///     let sum: JoinHandle<u32> = task::spawn("sum", async { 1 + 2 });
///     assert!(!sum.is_finished());
///     assert_eq!(sum.join().await, 3);
/// });
/// ```
#[must_use]
pub struct JoinHandle<T>(Rc<Result<T>>);

/// Starts a task; the name is for people.
///
/// # Panics
/// Outside [`block_on`].
///
/// ```
/// use fozzy_sdk::task;
///
/// task::block_on(async {
///     let worker = task::spawn("worker", async { "done" });
///     assert_eq!(worker.join().await, "done");
/// });
/// ```
pub fn spawn<T: 'static>(name: &str, future: impl Future<Output = T> + 'static) -> JoinHandle<T> {
    let result = Rc::new(Result { name: name.into(), value: RefCell::new(None), waiters: Waiters::default() });
    let left = Rc::clone(&result);
    let task = Box::pin(async move {
        let value = future.await;
        left.value.replace(Some(value));
        left.waiters.wake_all();
    });
    with(|executor| executor.add(name, Some(task)));
    JoinHandle(result)
}

impl<T: 'static> JoinHandle<T> {
    /// Whether the task is done.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.0.value.borrow().is_some()
    }

    /// Waits for the task's end.
    pub async fn join(self) -> T {
        std::future::poll_fn(|context| match self.0.value.take() {
            Some(value) => Poll::Ready(value),
            None => self.0.waiters.pend(context, &(Rc::clone(&self.0) as Rc<dyn Resource>)),
        })
        .await
    }
}

/// Lets others run.
///
/// ```
/// use fozzy_sdk::task;
///
/// task::block_on(async {
///     let other = task::spawn("other", async {});
///     while !other.is_finished() { task::yield_now().await; }
/// });
/// ```
pub async fn yield_now() {
    let mut yielded = false;
    std::future::poll_fn(|context| {
        if yielded {
            return Poll::Ready(());
        }
        yielded = true;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
