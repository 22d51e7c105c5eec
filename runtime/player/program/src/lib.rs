//! Scenarios of version 2, on their way.
//!
//! ```text
//! step(n) ─▶ act ─┬─ a kind of version 1 ─ filled in ─▶ State (`steps`)
//!                 ├─ set, compute, …                    Scope
//!                 ├─ if, for, repeat, while, run        acts inside, in turn
//!                 └─ parallel                           a task for each branch: who is next is a question of the run
//! ```
//!
//! Between two steps of a branch, any other branch may run; a step is never interrupted, except for `sleep` and the two
//! that read a key for some time.
//!
//! Invariants: a step has one name wherever it is reached from: `steps[3].do[0]: set_kv`, whatever the round; what
//! `assert_throws` runs leaves variables and state as they were, and no other branch sees it.
//! Not here: the notation (`fozzy-scenario-file`), what a kind of version 1 does (`steps`).

mod calculate;
mod scope;

use calculate::{compute, judge};
use fozzy_scenario_file::{
    Condition, JsonNode, KvPoll, ParsedScenario, ProgramFile, ProgramStep, ROUNDS_MAX, ScenarioProblem, Statement,
    Step, TargetCall, fill, fill_wave, filled, kind, plain,
};
use fozzy_sdk::bindings::target::fozzy::target::control;
use fozzy_sdk::bindings::tools::fozzy::choices::draws;
use fozzy_sdk::bindings::tools::fozzy::properties::assertions;
use fozzy_sdk::{task, tools};
use player::ScenarioPlayer;
use player::failure::{self, StepFailure};
use player::steps::{KeyValueStore, StepState};
use scope::Scope;
use serde_json::Value;
use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// Functions that can be inside of each other: one that calls itself for ever comes to an end here.
const CALLS_MAX: u32 = 64;

/// Bytes of the way to a step; a longer one is cut in its middle, as names of properties have a bound.
const PATH_BYTES_MAX: usize = 180;

/// A file of version 2, on its way.
struct ProgramPlayer {
    world: &'static World,
    /// The names of all kinds of its steps.
    kinds: Vec<String>,
    scope: Rc<Scope>,
}

fn play(text: &[u8]) -> Result<Box<dyn ScenarioPlayer>, ScenarioProblem> {
    match ParsedScenario::parse(text)? {
        ParsedScenario::Program(file) => Ok(Box::new(ProgramPlayer::new(file))),
        _ => failure::invalid("the scenario is not played", "this player is for lists of steps of version 2"),
    }
}

player::export_player!(play);

/// What all steps share. It lives as long as the instance, which plays one sequence: so tasks can have it.
struct World {
    file: ProgramFile,
    state: RefCell<StepState>,
    vars: Rc<Scope>,
}

// Only one thread is here, and scopes stay in it.
type StepFuture = Pin<Box<dyn Future<Output = Result<(), StepFailure>>>>;

/// Where a step is done.
#[derive(Clone)]
struct Here {
    /// The way to it: `steps[3].do[0]`.
    path: String,
    scope: Rc<Scope>,
    /// The branch that it is of, if it is of one.
    branch: Option<Rc<Branch>>,
    /// Whether a failure is waited for.
    catches: bool,
    /// Functions around it.
    calls: u32,
}

struct Branch {
    /// By which searches tell where it stands: few names, as a run keeps a bounded number of them.
    name: String,
    /// Whether it has done something.
    began: Cell<bool>,
    /// What its steps have let pass.
    passed: Cell<Duration>,
}

impl ProgramPlayer {
    fn new(file: ProgramFile) -> ProgramPlayer {
        let vars = Rc::new(Scope::default());
        let scope = Scope::inside(&vars);
        let world = World { file, state: RefCell::default(), vars };
        ProgramPlayer { world: Box::leak(Box::new(world)), kinds: player::kinds(), scope }
    }
}

impl ScenarioPlayer for ProgramPlayer {
    fn begin(&mut self) -> Result<(), StepFailure> {
        for (name, node) in &self.world.file.vars {
            let value = fill(node, &*self.world.vars).map_err(no_value);
            let set = value.and_then(|value| self.world.vars.define(name, value));
            set.map_err(|failure| failure.at(|| format!("vars.{name}")))?;
        }
        Ok(())
    }

    fn step(&mut self, number: u32) -> Result<Option<u32>, StepFailure> {
        let Some(act) = self.world.file.steps.get(number as usize) else { return Ok(None) };
        let scope = Rc::clone(&self.scope);
        let here = Here { path: format!("steps[{number}]"), scope, branch: None, catches: false, calls: 0 };
        now(self.world.act(act, here))?;
        Ok(self.kinds.iter().position(|kind| kind == act.kind).map(|flow| flow as u32))
    }

    fn end(&mut self) -> Result<(), StepFailure> {
        Ok(())
    }
}

/// Outside of branches nothing waits for another.
fn now<T>(doing: impl Future<Output = T>) -> T {
    match pin!(doing).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(done) => done,
        Poll::Pending => failure::invalid("the player", "a step outside of branches waits for another"),
    }
}

impl Here {
    /// A list of steps inside, with the same variables.
    fn inner(&self, name: &str) -> Here {
        Here { path: shorter(format!("{}.{name}", self.path)), ..self.clone() }
    }

    /// The same with variables of its own.
    fn body(&self, name: &str) -> Here {
        Here { scope: Scope::inside(&self.scope), ..self.inner(name) }
    }

    fn fill(&self, node: &JsonNode) -> Result<Value, StepFailure> {
        fill(node, &*self.scope).map_err(no_value)
    }

    /// The branch, if others may run now.
    fn task(&self) -> Option<&Branch> {
        self.branch.as_deref().filter(|_| !self.catches)
    }
}

impl World {
    /// Does steps in turn.
    async fn acts(&'static self, acts: &'static [ProgramStep], here: &Here) -> Result<(), StepFailure> {
        for (number, act) in acts.iter().enumerate() {
            let path = format!("{}[{number}]", here.path);
            self.act(act, Here { path, ..here.clone() }).await?;
        }
        Ok(())
    }

    /// Does a step. In a branch a failure ends the run at once.
    fn act(&'static self, act: &'static ProgramStep, here: Here) -> StepFuture {
        Box::pin(async move {
            let done = self.attempt(act, &here).await;
            let failed = done.map_err(|failure| failure.at(|| format!("{}: {}", here.path, act.kind)));
            match failed {
                Err(failure) if here.task().is_some() => failure.tell(),
                done => done,
            }
        })
    }

    async fn attempt(&'static self, act: &'static ProgramStep, here: &Here) -> Result<(), StepFailure> {
        self.arrive(act, here).await;
        let value = match &act.does {
            Statement::Step(step) => self.plain(step, act.save_as.is_some(), here).await?,
            Statement::Template(node) => {
                let step = filled(here.fill(node)?).map_err(|what| StepFailure::new(what).of("does not fit"))?;
                self.plain(&step, act.save_as.is_some(), here).await?
            }
            Statement::Throws(acts) => return self.throws(acts, here).await,
            Statement::Set(name, node) => return here.scope.set(name, here.fill(node)?),
            Statement::Compute(operation, a, b) => {
                let b = b.as_ref().map(|b| here.fill(b)).transpose()?;
                compute(*operation, here.fill(a)?, b)?
            }
            Statement::Draw(node) => draw(here.fill(node)?)?,
            Statement::GetKv(key, default) => {
                let key = plain(&here.fill(key)?);
                let found = self.state.borrow().store.get(&key).map(Value::from);
                match (found, default) {
                    (Some(found), _) => found,
                    (None, Some(default)) => here.fill(default)?,
                    (None, None) => {
                        return Err(StepFailure::new(format!("nothing is stored under `{key}`")).of("nothing there"));
                    }
                }
            }
            Statement::FsRead(path) => {
                let path = plain(&here.fill(path)?);
                self.state.borrow_mut().files.read(&path)?.into_json()
            }
            Statement::Assert(condition, msg) => {
                let Err(what) = self.judge(condition, here)? else { return Ok(()) };
                let msg = msg.as_ref().map(|msg| here.fill(msg)).transpose()?;
                return Err(StepFailure::said(msg.as_ref().map(plain).as_deref(), what));
            }
            Statement::If(condition, then, otherwise) => {
                return match self.judge(condition, here)? {
                    Ok(()) => self.acts(then, &here.inner("then")).await,
                    Err(_) => self.acts(otherwise, &here.inner("else")).await,
                };
            }
            Statement::For(list, name, acts) => {
                let Value::Array(elements) = here.fill(list)? else {
                    let found = kind(&here.fill(list)?);
                    return Err(StepFailure::new(format!("in: expected a list, found {found}")).of("no list"));
                };
                for element in elements {
                    self.round(acts, Some((name, element)), here).await?;
                }
                return Ok(());
            }
            Statement::Repeat(times, name, acts) => {
                let times = here.fill(times)?;
                let count = match &times {
                    Value::Number(number) => number.as_u64(),
                    other => plain(other).parse().ok(),
                };
                let Some(count) = count.filter(|count| *count <= u64::from(ROUNDS_MAX)) else {
                    let what = format!("times: expected a number from 0 to {ROUNDS_MAX}, found {}", kind(&times));
                    return Err(StepFailure::new(what).of("no number of rounds"));
                };
                for round in 0..count {
                    self.round(acts, name.as_ref().map(|name| (name, round.into())), here).await?;
                }
                return Ok(());
            }
            Statement::While(condition, max, acts) => {
                for _ in 0..*max {
                    if self.judge(condition, here)?.is_err() {
                        return Ok(());
                    }
                    self.round(acts, None, here).await?;
                }
                return match self.judge(condition, here)? {
                    Ok(()) => {
                        Err(StepFailure::new(format!("the condition still holds after {max} rounds")).of("no end"))
                    }
                    Err(_) => Ok(()),
                };
            }
            Statement::Parallel(branches) => return self.parallel(branches, here).await,
            Statement::Run(name, given) => self.function(name, given, here).await?,
            Statement::Call(call) => target(call, act.kind, here)?,
        };
        match &act.save_as {
            Some(name) => here.scope.set(name, value),
            None => Ok(()),
        }
    }

    fn judge(&self, condition: &Condition, here: &Here) -> Result<Result<(), String>, StepFailure> {
        judge(condition, &*here.scope, &self.state.borrow().store)
    }

    /// Lets others run first, perhaps; reports steps that are inside of others to the history and to searches.
    async fn arrive(&self, act: &ProgramStep, here: &Here) {
        let is_done_here = act.inner().next().is_none();
        if let Some(branch) = here.task().filter(|_| is_done_here)
            && branch.began.replace(true)
        {
            task::yield_now().await;
        }
        if here.path.contains('.') {
            let place = here.branch.as_ref().map_or("step", |branch| branch.name.as_str());
            assertions::state(place, hash(&here.path));
            tools::event("step", &format!("{}: {}", here.path, act.kind));
        }
    }

    /// One round of a loop.
    async fn round(
        &'static self,
        acts: &'static [ProgramStep],
        given: Option<(&String, Value)>,
        here: &Here,
    ) -> Result<(), StepFailure> {
        let body = here.body("do");
        if let Some((name, value)) = given {
            body.scope.define(name, value)?;
        }
        self.acts(acts, &body).await
    }

    /// A step of version 1, and what it yields.
    async fn plain(&self, step: &Step, yields: bool, here: &Here) -> Result<Value, StepFailure> {
        let Some(branch) = here.task() else { return self.at_once(step, yields) };
        match step {
            Step::Sleep { duration } => self.wait(branch, duration.0).await,
            Step::AssertEventuallyKv(poll) => return self.look(branch, poll, true).await.map(|()| Value::Null),
            Step::AssertNeverKv(poll) => return self.look(branch, poll, false).await.map(|()| Value::Null),
            step => return self.at_once(step, yields),
        }
        Ok(Value::Null)
    }

    fn at_once(&self, step: &Step, yields: bool) -> Result<Value, StepFailure> {
        let mut state = self.state.borrow_mut();
        if yields { state.run_for_value(step) } else { state.run(step).map(|()| Value::Null) }
    }

    /// Waits while others run.
    async fn wait(&self, branch: &Branch, span: Duration) {
        let span = self.state.borrow().time.waits(span);
        if span.is_zero() {
            return task::yield_now().await;
        }
        branch.passed.set(branch.passed.get() + span);
        task::sleep(span).await;
    }

    /// Reads a key again and again while others run.
    async fn look(&self, branch: &Branch, poll: &KvPoll, is_wanted: bool) -> Result<(), StepFailure> {
        let mut left = poll.within.0;
        loop {
            match (self.state.borrow().store.is(poll), is_wanted) {
                (true, true) => return Ok(()),
                (true, false) => return Err(KeyValueStore::is_there(poll)),
                (false, _) => {}
            }
            if left.is_zero() {
                return if is_wanted { Err(self.state.borrow().store.not_in_time(poll)) } else { Ok(()) };
            }
            let span = poll.poll.0.min(left);
            left -= span;
            self.wait(branch, span).await;
        }
    }

    /// One of the steps must fail; their effects are undone, and no other branch runs meanwhile.
    async fn throws(&'static self, acts: &'static [ProgramStep], here: &Here) -> Result<(), StepFailure> {
        let keeps_files = acts.iter().any(touches_files);
        let variables = here.scope.keep();
        let before = self.state.borrow_mut().keep(keeps_files)?;
        let inner = Here { catches: true, ..here.body("steps") };
        let done = self.acts(acts, &inner).await;
        self.state.borrow_mut().bring_back(before, keeps_files)?;
        here.scope.bring_back(variables);
        match done {
            Err(failure) => {
                tools::event("threw", &format!("{}: {}", failure.site, failure.what));
                Ok(())
            }
            Ok(()) => Err(StepFailure::new("expected a failure, and every step passed")),
        }
    }

    /// All branches, until the last one is done.
    async fn parallel(&'static self, branches: &'static [Vec<ProgramStep>], here: &Here) -> Result<(), StepFailure> {
        if here.catches {
            let what =
                "a function with branches is not done inside of what must fail: what others do could not be taken back";
            failure::invalid(&format!("{}: parallel", here.path), what);
        }
        let begin = |(number, acts): (usize, &'static Vec<ProgramStep>)| {
            let path = shorter(format!("{}.branches[{number}]", here.path));
            let branch =
                Rc::new(Branch { name: format!("branch {number}"), began: Cell::new(false), passed: Cell::default() });
            let scope = Scope::inside(&here.scope);
            let inner = Here { path: path.clone(), scope, branch: Some(Rc::clone(&branch)), ..here.clone() };
            let task = task::spawn(&path, async move { self.acts(acts, &inner).await });
            (task, branch)
        };
        let all = async {
            let tasks: Vec<_> = branches.iter().enumerate().map(begin).collect();
            let mut passed = Duration::ZERO;
            for (task, branch) in tasks {
                task.join().await?;
                passed = passed.max(branch.passed.get());
            }
            Ok(passed)
        };
        match &here.branch {
            Some(outer) => outer.passed.set(outer.passed.get() + all.await?),
            None => {
                let passed = task::block_on(all)?;
                self.state.borrow_mut().time.pass(passed);
            }
        }
        Ok(())
    }

    /// What a function returns.
    async fn function(
        &'static self,
        name: &'static str,
        given: &[(String, JsonNode)],
        here: &Here,
    ) -> Result<Value, StepFailure> {
        let Some(function) = self.file.functions.get(name) else {
            return Err(StepFailure::new(format!("there is no function `{name}`")));
        };
        if here.calls == CALLS_MAX {
            return Err(
                StepFailure::new(format!("more than {CALLS_MAX} functions are inside of each other")).of("too deep")
            );
        }
        let scope = Scope::inside(&self.vars);
        for (param, value) in given {
            scope.define(param, here.fill(value)?)?;
        }
        // One name for all callers.
        let path = format!("functions.{name}.do");
        let inner = Here { path, scope, calls: here.calls + 1, ..here.clone() };
        self.acts(&function.acts, &inner).await?;
        function.returns.as_ref().map_or(Ok(Value::Null), |node| inner.fill(node))
    }
}

/// A variable has no value, or not the part that is asked for: another failure than what the step is about.
fn no_value(what: String) -> StepFailure {
    StepFailure::new(what).of("no value")
}

fn shorter(path: String) -> String {
    if path.len() <= PATH_BYTES_MAX {
        return path;
    }
    // All of it is ASCII.
    let (start, end) = (&path[..PATH_BYTES_MAX / 3], &path[path.len() - PATH_BYTES_MAX / 3..]);
    format!("{start}~{:08x}~{end}", hash(&path) as u32)
}

/// FNV-1a, 64 bits.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

fn touches_files(act: &ProgramStep) -> bool {
    // What a function does is not looked for.
    let kinds = ["fs_write", "fs_restore", "fs_snapshot", "run"];
    kinds.contains(&act.kind) || act.inner().any(touches_files)
}

fn draw(from: Value) -> Result<Value, StepFailure> {
    match from {
        Value::Array(mut elements) if !elements.is_empty() => {
            let drawn = draws::choose("draw", elements.len() as u64) as usize;
            Ok(elements.swap_remove(drawn))
        }
        other => Err(StepFailure::new(format!("of: expected a list that is not empty, found {}", kind(&other)))),
    }
}

/// Calls the target; what cannot be asked is a fault of the scenario.
fn target(call: &TargetCall, name: &str, here: &Here) -> Result<Value, StepFailure> {
    let site = format!("{}: {name}", here.path);
    let invalid = |what: &str| -> ! { failure::invalid(&site, &format!("{site}: {what}")) };
    let function = plain(&here.fill(&call.function)?);
    let wave = |text: &String| fill_wave(text, &*here.scope).map_err(no_value);
    let (args, expect) = (wave(&call.args)?, call.expect.as_ref().map(wave).transpose()?);
    let instance = match &call.instance {
        Some(node) => plain(&here.fill(node)?).parse().unwrap_or(u32::MAX),
        None => 0,
    };
    let instances = control::instances();
    if instances == 0 {
        invalid("the run has no target; give it one with --target");
    }
    if instance >= instances {
        invalid(&format!(
            "there is no instance {instance}: the run has {instances}; more come with --target-instances"
        ));
    }
    if instance != 0 {
        control::select(instance);
    }
    let answer = control::call(&function, &args, expect.as_deref());
    if instance != 0 {
        control::select(0);
    }
    let answer = answer.unwrap_or_else(|what| invalid(&what));
    if !answer.as_expected {
        let expected = expect.unwrap_or_default();
        let what = format!("{function}{args}: expected {expected}, found {}", answer.wave);
        return Err(StepFailure::new(what).of("another value"));
    }
    Ok(serde_json::from_str(&answer.json).unwrap_or_default())
}
