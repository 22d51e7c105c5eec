//! From flags, plan file and settings to a plan, its inputs, and the parts of the real computer that they open.
//!
//! ```text
//! defaults < fozzy.toml < fozzy.toml [target."app.wasm"] < --plan < flags ──▶ RunPlan
//! ```
//!
//! Not here: the notation of plan files (`fozzy-plan`).

use super::load::{self, LoadedTarget};
use super::runtime::is_go;
use super::{antithesis, feed, real_computer, secrets};
use crate::error::{CampaignError, ErrorKind};
use crate::model_component::start_model;
use crate::options::{BackendOptions, CriteriaOptions, LimitOptions, RunRequest, WorldOptions};
use crate::project::Project;
use crate::remarks::Remarks;
use crate::scenario::ScenarioFile;
use fozzy_engine::{LazyInput, RecordedDialogue, Session, is_preview1, opens_preview1_sockets};
use fozzy_instrument::Allocators;
use fozzy_plan::{
    BackendsFile, ComponentFile, ContentFile, ContentTable, ExpectFile, LimitsFile, MachineFile, NamedAllocator,
    PlanError, PlanFile, Problem, TimeSpan, WallStart,
};
use fozzy_trace::file::Recording;
use fozzy_trace::plan::{
    AllocatorChoice, Backend, Backends, ChannelPlan, Edition, Inputs, MEMORY_BYTES_DEFAULT, MachinePlan, MemoryPlan,
    Mount, StdinPlan,
};
use fozzy_trace::{Digest, Instant, Plan};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A plan with everything that it needs.
#[derive(Clone)]
pub struct RunPlan {
    /// The plan.
    pub plan: Plan,
    /// What it names by digest.
    pub inputs: Inputs,
    /// Our own standard input, when no other was given.
    pub stdin: Option<Arc<LazyInput>>,
    /// Values that the sandbox never sees, each with what stands for it there.
    #[cfg_attr(not(feature = "live"), allow(dead_code, reason = "only the real computer's side exchanges them"))]
    pub(super) secrets: Vec<(String, String)>,
}

/// The plan for a program.
pub fn plan(project: &Project, loaded: &LoadedTarget, request: &RunRequest) -> Result<RunPlan, CampaignError> {
    let name = loaded.target.name.as_str();
    let RunRequest { args, limits, world, criteria, fuel_default } = request;
    let file = PlanFile { expect: of_criteria(criteria)?, ..of_flags(args, limits, world)? };
    let file = of_backends(project.backends.clone()).over(file);
    let file = match &world.plan {
        Some(path) => file.over(read(path)?),
        None => file,
    };
    let file = file.over(project.config.targets.get(name).cloned().unwrap_or_default());
    let file = file.over(of_backends(project.config.backends()));
    let mut file = file.over(project.config.memory(loaded.scenario.is_some()));
    file.limits.fuel = file.limits.fuel.or(*fuel_default);
    let mut inputs = Inputs::default();
    let mut said = BTreeMap::new();
    let mut loader = |path: &Path| {
        let read = component(path, &project.remarks);
        said.insert(path.to_owned(), read.as_ref().err().cloned());
        read
    };
    let resolved = file.resolve(name, &mut loader, &mut inputs);
    let resolved = resolved.map_err(|error| {
        let error = match &world.plan {
            Some(path) => placed(error, path, &said),
            None => error,
        };
        named_by_flags(plan_error(error), criteria, world)
    })?;
    let mut plan = resolved.plan;
    for (model, component) in plan.history.iter().filter_map(|one| Some((&one.model, one.component?))) {
        let component = inputs.get(&component).expect("the plan has resolved it");
        start_model(model, component)?;
    }
    for word in &world.dirs {
        let (mount, read_only) = capture(word, &mut inputs)?;
        plan.main.bare |= mount.guest == "/";
        if read_only {
            plan.main.read_only.push(mount.guest.clone());
        }
        plan.main.dirs.push(mount);
    }
    hold_memory(&mut plan, &file, loaded)?;
    find_allocators(&plan, &inputs, &loaded.component)?;
    let named = load::named_stdin(world)?;
    let has_stdin = named.is_some() || resolved.stdin_given;
    if let Some(bytes) = named {
        plan.main.stdin.bytes = inputs.add(bytes);
    }
    let reads_own = match &loaded.scenario {
        Some(_) if has_stdin => {
            let message = format!("{name} is a scenario file, which reads no standard input");
            return Err(CampaignError::new(ErrorKind::Plan, message).hint("leave out --stdin and `stdin`"));
        }
        Some(file) => {
            let path = loaded.file.as_deref().unwrap_or(Path::new(name));
            file.equip(name, path, &mut plan, &mut inputs)?;
            false
        }
        None => !has_stdin,
    };
    let MachinePlan { dirs, read_only, preopens, cwd, .. } = &plan.main;
    let has_disk = !dirs.is_empty() || !read_only.is_empty() || preopens.is_some() || cwd.is_some();
    if plan.backends.files == Backend::Host && has_disk {
        let message = "directories are copied onto the virtual disk, and files are answered by the real one";
        return Err(CampaignError::new(ErrorKind::Plan, message)
            .hint("leave out --dir, --preopen, --workdir and their keys, or --fs-backend host"));
    }
    antithesis::equip(&mut plan, &inputs, &loaded.component);
    let (secrets, hider) = secrets::hide(&mut plan, &mut inputs, &project.remarks)?;
    let stdin = match world.interactive.filter(|_| !feed::is_file()) {
        Some(_) if !reads_own => {
            let message = "--interactive gives the program your own input, and the plan has another one";
            return Err(
                CampaignError::new(ErrorKind::Plan, message).hint("leave out --interactive, or the plan's `stdin`")
            );
        }
        Some(stop) => {
            let channel = ChannelPlan { terminal: feed::is_terminal(), ..ChannelPlan::default() };
            let planned = &mut plan.main.stdin;
            (planned.stays_open, planned.channel) = (true, Some(planned.channel.take().unwrap_or(Box::new(channel))));
            // That a person has stopped it is known at its end.
            plan.edition = Edition::LATEST;
            Some(feed::live_stdin(&project.remarks, hider, stop))
        }
        None => reads_own.then(|| load::own_stdin(&project.remarks, hider)),
    };
    mark_nonblocking(&mut plan, &inputs, &file, &loaded.component);
    raise_edition(&mut plan, &inputs, &loaded.component);
    Ok(RunPlan { plan, inputs, stdin, secrets })
}

/// Programs of WASI preview 1 need an edition that plans without them do not, and so do those that open sockets, or whose assertions are
/// those of Antithesis' SDK.
fn raise_edition(plan: &mut Plan, inputs: &Inputs, component: &[u8]) {
    let programs: BTreeSet<Digest> = plan.programs().map(|program| program.component).collect();
    let any = |is: fn(&[u8]) -> bool| {
        is(component) || programs.iter().filter_map(|program| inputs.get(program)).any(|program| is(&program))
    };
    let writes_assertions = |machine: &MachinePlan| machine.antithesis_output.is_some();
    let has_sdk =
        writes_assertions(&plan.main) || plan.nodes.iter().any(|node| writes_assertions(&node.program.machine));
    let least = match any(is_preview1) {
        _ if has_sdk => Edition::ELEVENTH,
        true if any(opens_preview1_sockets) => Edition::TENTH,
        true => Edition::FOURTH,
        false => Edition::FIRST,
    };
    plan.edition = plan.edition.max(least);
}

/// Who reads a channel in Go must not be made to wait, unless the plan says it: that would stop all goroutines.
fn mark_nonblocking(plan: &mut Plan, inputs: &Inputs, file: &PlanFile, component: &[u8]) {
    let mark = |stdin: &mut StdinPlan, machine: &MachineFile, component: &dyn Fn() -> bool| {
        if let (Some(channel), None) = (&mut stdin.channel, machine.stdin_nonblocking) {
            channel.nonblocking = component();
        }
    };
    mark(&mut plan.main.stdin, &file.machine, &|| is_go(component));
    let written = file.node.iter().flat_map(|node| std::iter::repeat_n(node, node.count.unwrap_or(1) as usize));
    for (node, written) in plan.nodes.iter_mut().zip(written) {
        let program = node.program.component;
        let goes = || inputs.get(&program).is_some_and(|component| is_go(&component));
        mark(&mut node.program.machine.stdin, &written.machine, &goes);
    }
}

/// The steps of a scenario file have a memory of their own: the limit is that of theirs, not of the player's. Who has no steps
/// cannot be held to what only they heed.
fn hold_memory(plan: &mut Plan, file: &PlanFile, loaded: &LoadedTarget) -> Result<(), CampaignError> {
    if loaded.scenario.is_none() {
        if let Some(memory) = plan.memory.as_mut().filter(|memory| !memory.is_of_steps()) {
            memory.own_heap = memory.bounds_heap();
        }
        if !plan.memory.as_ref().is_some_and(MemoryPlan::is_of_steps) {
            return Ok(());
        }
        let name = &loaded.target.name;
        let message = format!(
            "{name} is a program with an allocator of its own: failing allocations, fragmentation and waves are for the \
             steps of scenario files"
        );
        return Err(CampaignError::new(ErrorKind::Plan, message)
            .hint("bound its linear memory: --mem-limit-mb, or `memory` in [limits]"));
    }
    if loaded.scenario.as_ref().is_some_and(ScenarioFile::allocates) {
        // As in version 1: what was never freed is a failure, unless a budget allows it.
        plan.memory.get_or_insert_default().leak_budget_bytes.get_or_insert(0);
    }
    if let Some(limit) = file.limits.memory {
        plan.limits.memory_bytes = MEMORY_BYTES_DEFAULT;
        plan.memory.get_or_insert_default().limit_bytes = Some(limit.0);
    }
    Ok(())
}

/// Refuses functions of allocators that no program of the plan has.
fn find_allocators(plan: &Plan, inputs: &Inputs, main: &[u8]) -> Result<(), CampaignError> {
    let mut missing = plan.allocators.clone();
    if missing.is_empty() {
        return Ok(());
    }
    let others = plan.programs().filter_map(|program| inputs.get(&program.component));
    for component in std::iter::once(Arc::from(main)).chain(others) {
        let found = Allocators::of(&component, &missing);
        missing = found.map_err(|error| CampaignError::new(ErrorKind::Target, error.to_string()))?.unknown;
    }
    match missing.first() {
        Some(choice) => Err(unknown_allocator(choice)),
        None => Ok(()),
    }
}

/// What is said of a function of an allocator that is not there.
pub(crate) fn unknown_allocator(choice: &AllocatorChoice) -> CampaignError {
    let message = format!("--allocator {choice}: no function of the program has this name and these parameters");
    CampaignError::new(ErrorKind::Usage, message)
}

/// Reads a plan file.
fn read(path: &Path) -> Result<PlanFile, CampaignError> {
    let text = fozzy_plan::read_text(path).map_err(plan_error)?;
    PlanFile::parse(&text, path).map_err(plan_error)
}

/// Says where in the plan file at `path` the problems of a merged plan are, if all of them are of that file. `said` is what was wrong with
/// each component that the plan names, so that none is read or built again.
fn placed(error: PlanError, path: &Path, said: &BTreeMap<PathBuf, Option<String>>) -> PlanError {
    let Ok(text) = fozzy_plan::read_text(path) else { return error };
    let mut again = |path: &Path| said.get(path).cloned().flatten().map_or_else(|| Ok(Vec::new()), Err);
    let known = fozzy_plan::validate_deep(&text, path, &mut again);
    let of_file = |problem: &Problem| {
        let alike = || known.iter().filter(|one| one.place.is_some() && one.message == problem.message);
        // Where flags have added faults, those of the file have other numbers.
        alike().find(|one| one.key == problem.key).or_else(|| alike().next()).cloned()
    };
    let found: Option<Vec<Problem>> = error.problems.iter().map(of_file).collect();
    match found {
        Some(mut problems) => {
            problems.sort_by_key(|problem| problem.place);
            PlanError { path: Some(path.to_owned()), problems }
        }
        None => error,
    }
}

/// Reads a component that a plan names.
pub fn component(path: &Path, remarks: &Remarks) -> Result<Vec<u8>, String> {
    load::load(path, remarks).map(|loaded| loaded.component.to_vec()).map_err(|error| error.to_string())
}

/// Reads a component that a plan names, and builds nothing.
pub fn component_built(path: &Path) -> Result<Vec<u8>, String> {
    load::load_built(path).map(|loaded| loaded.component.to_vec()).map_err(|error| error.to_string())
}

/// What is wrong with a plan file, as an error of a campaign.
pub fn plan_error(error: PlanError) -> CampaignError {
    let refused = CampaignError::new(ErrorKind::Plan, error.to_string());
    // It does not help who has no file, or one that is no text.
    let of_a_key = error.problems.iter().any(|problem| !problem.key.is_empty());
    if of_a_key { refused.hint("`fozzy schema plan` describes every key") } else { refused }
}

impl RunPlan {
    /// The plan and the inputs of a recording, which needs nothing of the real computer any more.
    pub fn of_recording(recording: &Recording) -> RunPlan {
        RunPlan::of(recording.plan.clone(), recording.inputs.clone())
    }

    /// A plan that needs nothing of the real computer.
    pub fn of(plan: Plan, inputs: Inputs) -> RunPlan {
        RunPlan { plan, inputs, stdin: None, secrets: Vec::new() }
    }

    /// Opens the parts of the real computer that the plan allows to `session`, without the run store at `store`.
    pub(super) fn open(&self, session: &mut Session, store: &Path) -> Result<(), CampaignError> {
        if self.is_live() { real_computer::open(&self.plan, &self.secrets, session, store) } else { Ok(()) }
    }

    /// Refuses a plan that asks the real computer, before anything is run under it.
    ///
    /// # Errors
    /// When it does.
    pub fn check_simulated(&self) -> Result<(), CampaignError> {
        if self.is_live() {
            let message = "the plan asks for the real computer, and here all is simulated";
            return Err(CampaignError::new(ErrorKind::Plan, message));
        }
        Ok(())
    }

    /// Whether the real computer takes part.
    pub fn is_live(&self) -> bool {
        let Backends { files, http, processes } = self.plan.backends;
        [files, http, processes].contains(&Backend::Host)
    }

    /// Puts into the plan what the program read of our own input, so that the trace has it.
    pub fn add_stdin(&mut self) {
        let Some(own) = &self.stdin else { return };
        if let Some(bytes) = own.taken() {
            self.plan.main.stdin.bytes = self.inputs.add(bytes);
        }
        if let Some(RecordedDialogue { bytes, arrivals, stopped_at, stopped_before }) = own.dialogue() {
            self.plan.main.stdin.bytes = self.inputs.add(bytes);
            if let Some(channel) = &mut self.plan.main.stdin.channel {
                channel.arrivals = arrivals;
            }
            if let Some(at) = stopped_at {
                self.plan.limits.time = Some(at.since(Instant::START));
                self.plan.limits.calls = stopped_before;
                self.plan.limits.interrupted = true;
            }
        }
    }
}

/// A directory, and whether it is read-only.
fn capture(word: &str, inputs: &mut Inputs) -> Result<(Mount, bool), CampaignError> {
    // `D::ro` is a directory of that name in the guest.
    let (paths, read_only) = match fozzy_plan::split_mode(word) {
        (rest, read_only) if rest.contains("::") => (rest, read_only),
        _ => (word, false),
    };
    let (host, guest) = paths.split_once("::").unwrap_or((paths, paths));
    let captured = fozzy_live::capture_directory(Path::new(host), guest, inputs);
    captured.map(|mount| (mount, read_only)).map_err(|error| {
        CampaignError::new(ErrorKind::Dir, format!("--dir {word}: {error}"))
            .hint("the form is --dir HOST::GUEST or HOST::GUEST::ro")
    })
}

/// What the flags say, but for what they name by paths.
fn of_flags(args: &[String], limits: &LimitOptions, world: &WorldOptions) -> Result<PlanFile, CampaignError> {
    let mut env = fozzy_plan::NamedValues::default();
    for pair in &world.env {
        match pair.split_once('=') {
            Some((name, value)) if !name.is_empty() => env.set(name, value.to_owned()),
            _ => {
                return Err(CampaignError::new(
                    ErrorKind::Usage,
                    format!("--env: expected NAME=VALUE, found `{pair}`"),
                ));
            }
        }
    }
    let mut fault = Vec::new();
    for words in &world.faults {
        let parsed = fozzy_plan::parse_fault_words(words);
        fault.extend(parsed.map_err(|error| CampaignError::new(ErrorKind::Usage, format!("--faults: {error}")))?);
    }
    let machine = MachineFile {
        args: (!args.is_empty()).then(|| args.to_vec()),
        env,
        stdin_stays_open: world.stdin_stays_open.then_some(true),
        preopens: world.preopens.clone(),
        cwd: world.workdir.clone(),
        ..MachineFile::default()
    };
    let memory = limits.memory.clone();
    let limits = LimitsFile {
        fuel: limits.fuel,
        timeout: limits.timeout.map(TimeSpan),
        memory: limits.linear_memory,
        output: limits.output,
        ..LimitsFile::default()
    };
    let canonical_nans = world.no_canonical_nans.then_some(false);
    let memcheck = world.memcheck.then_some(true);
    let wall_start = world.wall_start.map(WallStart);
    let allow_error_exit = world.allow_error_exit.then_some(true);
    let target = world.judged.clone().map(ComponentFile::Path);
    let target_instances = world.target_instances;
    let file = PlanFile { machine, limits, memory, target, target_instances, fault, ..PlanFile::default() };
    let allocators = world.allocators.iter().cloned().map(NamedAllocator).collect();
    Ok(PlanFile { wall_start, canonical_nans, memcheck, allocators, allow_error_exit, ..file })
}

/// What helps who has named something else as a checker.
const CHECKER_HINT: &str =
    "a checker is a program that is run, as `fozzy run` runs one: the book's page on searching has an example";

/// An error of what flags name, in the words of the flags: who gave one need not know the key of a plan that is the same.
fn named_by_flags(error: CampaignError, criteria: &CriteriaOptions, world: &WorldOptions) -> CampaignError {
    let path = |path: &Option<PathBuf>| path.as_ref().map(|path| path.display().to_string());
    let flags = [
        ("expect.output", "--expect-output", criteria.output.clone()),
        ("expect.check", "--check", path(&criteria.checker)),
        ("target", "--target", path(&world.judged)),
    ];
    let given = flags.into_iter().filter_map(|(key, flag, value)| Some((key, format!("{flag} {}", value?))));
    let message = given
        .fold(error.message.clone(), |message, (key, flag)| message.replace(&format!("`{key}`"), &format!("`{flag}`")));
    // A key of a plan is no help to who gave a flag.
    let is_changed = message != error.message;
    let of_flag = message.starts_with("`--check").then(|| CHECKER_HINT.to_owned());
    let hint = if is_changed { of_flag } else { error.hint };
    CampaignError { message, hint, kind: error.kind }
}

/// What the flags say that a run must come to.
fn of_criteria(options: &CriteriaOptions) -> Result<ExpectFile, CampaignError> {
    let CriteriaOptions { fail_on, output, exit_codes, checker } = options;
    for pattern in fail_on {
        let checked = fozzy_plan::check_regex(pattern);
        checked.map_err(|why| CampaignError::new(ErrorKind::Usage, format!("--fail-on: {why}")))?;
    }
    let output = output.as_ref().map(|words| match words.strip_prefix('@') {
        Some(path) => ContentFile::Other(ContentTable::File(path.into())),
        None => ContentFile::Text(words.clone()),
    });
    let exit = (!exit_codes.is_empty()).then(|| exit_codes.clone());
    Ok(ExpectFile { exit, output, fail_on: fail_on.clone(), check: checker.clone(), history: Vec::new() })
}

fn of_backends(options: BackendOptions) -> PlanFile {
    let BackendOptions { files, http, processes, allow_hosts, allow_commands, durations } = options;
    let backends = BackendsFile { files, http, processes, allow_hosts, allow_commands, durations };
    PlanFile { backends, ..PlanFile::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fozzy_trace::Duration;
    use fozzy_trace::plan::{ProcessReply, ProcessRule, ProgramPlan};

    /// A command of preview 1 that imports this function.
    fn command(function: &str, parameters: &str) -> Vec<u8> {
        let text = format!(
            "(module (import \"wasi_snapshot_preview1\" \"{function}\" (func (param {parameters}) (result i32)))
            (memory (export \"memory\") 1) (func (export \"_start\")))"
        );
        fozzy_engine::load(text.as_bytes(), None).expect("a command").component
    }

    #[test]
    fn whoever_opens_sockets_raises_the_edition_also_as_a_process() {
        let rows = [
            ("sock_open", "i32 i32 i32", Edition::TENTH),
            ("sock_listen", "i32 i32", Edition::FOURTH),
            ("fd_close", "i32", Edition::FOURTH),
        ];
        for (function, parameters, expected) in rows {
            let program = command(function, parameters);
            let mut plan = Plan::default();
            raise_edition(&mut plan, &Inputs::default(), &program);
            assert_eq!(plan.edition, expected, "{function}");

            let mut inputs = Inputs::default();
            let component = inputs.add(program);
            let answer = ProcessReply::Component(ProgramPlan { component, machine: MachinePlan::default() });
            let (command, delay) = ("child".to_owned(), Duration(0));
            let rule = ProcessRule { command, args: None, times: None, delay, answer, others: None };
            let mut plan = Plan { processes: vec![rule], ..Plan::default() };
            raise_edition(&mut plan, &inputs, b"");
            assert_eq!(plan.edition, expected, "{function} of a process");
            plan.edition = Edition::LATEST;
            raise_edition(&mut plan, &inputs, b"");
            assert_eq!(plan.edition, Edition::LATEST, "it is never lowered");
        }
        let main = MachinePlan { antithesis_output: Some("/antithesis.jsonl".to_owned()), ..MachinePlan::default() };
        let mut plan = Plan { main, ..Plan::default() };
        raise_edition(&mut plan, &Inputs::default(), b"");
        assert_eq!(plan.edition, Edition::ELEVENTH, "assertions of any bytes count");
    }
}
