//! A campaign from its request to its result: prepared once, then run in this process or in several.
//!
//! ```text
//! LoadedTarget + FuzzRequest ─▶ CampaignSetup ─┬─ inputs ────▶ each file once
//!   (plan, entry point, confirmer, probe)      ├─ alone ─────▶ CampaignReport
//!                                              ├─ together ──▶ the same, of several workers
//!                                              └─ in_memory ─▶ Campaign that saves nothing
//! ```
//!
//! Invariant: with one worker, what is found depends on target, plan, seed, corpus and request; the clock only ends it.
//! Not here: which input is tried next (`fozzy-search`), what of it is kept (`campaign_sink`), flags.

use super::campaign_sink::{CampaignSink, SinkConfig};
use super::cargo::CargoFuzz;
use super::choose::{EntryPointChoice, TargetWords};
use super::confirmer::FindingConfirmer;
use super::corpus::{CorpusFolder, SeedInputs};
use super::kept_name::KeptName;
use super::open::{FUEL_OF_A_CALL, campaign_target, functions_at_rest, functions_of, made_up};
use super::protocol::FuzzProtocol;
use super::single_inputs::{InputRuns, run_inputs};
use super::summary::{CampaignReport, Subject, execution_of, slowest, word_of};
use super::target::CampaignTarget;
use super::timed_target::TimedTarget;
use super::workers::FuzzWorkers;
use crate::cluster_plan::{clients, is_same};
use crate::error::{CampaignError, ErrorKind};
use crate::options::{RunRequest, StopFlag};
use crate::pipeline::{LoadedTarget, PreparedProgram, plan};
use crate::project::Project;
use crate::remarks::Remarks;
use crate::risk_bound::RiskBound;
use crate::search_clock::{CONFIRM_GRACE, SearchClock, WORKER_CONFIRM_GRACE, first_run_error, unbegun_error};
use crate::trace_destination::TraceDestination;
use crate::workers::{WorkerChannel, WorkerEvent};
use fozzy_engine::{Build, EntryPoint, with_stack_for_guests};
use fozzy_instrument::data_words;
use fozzy_report::{FuzzSummary, RunMode, shell_path};
use fozzy_search::fuzz::{Campaign, CampaignEnd, Dictionary, FuzzObserver, Options};
use fozzy_trace::{Duration, Execution, ExecutionEnd, Seed};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What is asked of a campaign.
pub struct FuzzRequest<'a> {
    /// How the program was named.
    pub target: &'a Path,
    /// What stands behind the target: a function, inputs to be run once each, a corpus.
    pub words: &'a [String],
    /// What is searched. Its `flows` are those of a scenario that does not say them itself.
    pub choice: EntryPointChoice<'a>,
    /// Where its randomness comes from.
    pub seed: Seed,
    /// How the program is run.
    pub run: RunRequest,
    /// Whether a program fails that exits with another code than 0.
    pub exits_fail: bool,
    /// Real time after which it ends, with its first run; `None` for no bound, and in a worker, whose time is its supervisor's.
    pub time: Option<Duration>,
    /// Whether a stop was requested.
    pub stop: StopFlag,
    /// Whether a plan that asks the real computer is refused.
    pub only_simulated: bool,
}

/// How a campaign is made.
pub struct FuzzRun {
    /// Where inputs are kept that reached something new.
    pub corpus: CorpusFolder,
    /// What it begins with.
    pub seeds: SeedInputs,
    /// Words that inputs are made of.
    pub dictionary: Dictionary,
    /// How inputs are made, and which bounds it has; `executions_max` is that of this process.
    pub search: Options,
    /// Where findings go.
    pub destination: TraceDestination,
    /// The cargo-fuzz target whose artifacts they are, and their folder.
    pub artifacts: Option<(CargoFuzz, PathBuf)>,
    /// The budget of executions of all workers, if there is one.
    pub runs: Option<u64>,
    /// The risk at which it ends, if that is asked for; none in a worker, whose risk is its supervisor's.
    pub until: Option<RiskBound>,
    /// Who hears how it goes; a worker tells its supervisor only.
    pub remarks: Remarks,
}

/// One worker's part of a campaign by several.
pub struct CampaignPart<'a> {
    /// Its supervisor.
    pub channel: WorkerChannel<FuzzProtocol>,
    /// Whether only the supervisor has ended it.
    pub is_complete: &'a dyn Fn() -> bool,
}

/// Everything that a campaign begins with.
pub struct CampaignSetup<'a> {
    /// The program under the plan to which an input is added.
    pub prepared: PreparedProgram,
    /// What is searched.
    pub entry: EntryPoint,
    /// What stood behind the target.
    pub words: TargetWords<'a>,
    /// A run of the empty input: what cannot be called at all is found out by it.
    pub probe: Execution,
    /// Its clock, since its first run, and its time.
    pub(crate) clock: Arc<SearchClock>,
    pub(crate) time: Option<Duration>,
    /// Whether a stop was requested.
    pub(crate) stop: StopFlag,
    /// Repeats what is kept.
    pub(crate) confirmer: FindingConfirmer,
    pub(crate) seed: Seed,
    exits_fail: bool,
}

impl<'a> CampaignSetup<'a> {
    /// Plans, compiles and starts what is searched.
    ///
    /// # Errors
    /// When the program has no such function, or several and none was named.
    pub fn new(
        project: &Project,
        loaded: LoadedTarget,
        request: &FuzzRequest<'a>,
    ) -> Result<CampaignSetup<'a>, CampaignError> {
        let (name, seed) = (loaded.target.name.clone(), request.seed);
        let run = RunRequest { fuel_default: Some(FUEL_OF_A_CALL), ..request.run.clone() };
        let planned = plan(project, &loaded, &run)?;
        if request.only_simulated {
            planned.check_simulated()?;
        }
        if planned.plan.target().is_some() {
            let message = format!(
                "{name} calls another component, but an execution of a campaign has no instance of it: it begins at a checkpoint of \
                 one program"
            );
            return Err(CampaignError::new(ErrorKind::Usage, message)
                .hint(format!("fozzy explore {}", fozzy_report::shell_path(request.target))));
        }
        let mut prepared = PreparedProgram::to_call(loaded, planned, &Build::default())?;
        prepared.grant(CONFIRM_GRACE, &request.stop);
        // Under a plan of the real computer nothing can be called, as who starts it is told.
        let functions = match prepared.planned.is_live() {
            true => functions_of(&prepared, seed)?,
            false => functions_at_rest(&prepared, seed)?,
        };
        let words = TargetWords::of(request.words, &functions)?;
        let flows = prepared.planned.plan.scenario.as_ref().map_or(request.choice.flows, |own| own.flows);
        let choice = EntryPointChoice { flows, ..request.choice.clone() };
        let entry = choice.naming(words.function)?.one_of(&functions, &name, request.target);
        let entry = entry.map_err(|error| match prepared.planned.plan.nodes.is_empty() {
            true => error,
            false => beside_machines(&name, request),
        })?;
        let (time, stop) = (request.time, StopFlag::clone(&request.stop));
        let clock = SearchClock::start(time, StopFlag::clone(&stop));
        clock.bound(&prepared.interrupt);
        let first = FindingConfirmer::new(&prepared, &entry, seed).and_then(|mut confirmer| {
            // With fuel, so that a program that does not end before its function is called is found out here.
            let probe = confirmer.execute(&[], 0..0)?.execution;
            Ok((confirmer, probe))
        });
        let (confirmer, probe) = first.map_err(|error| first_run_error(&name, error))?;
        check_start(&prepared, &entry, &probe, seed)?;
        let exits_fail = request.exits_fail;
        Ok(CampaignSetup { prepared, entry, words, probe, clock, time, stop, confirmer, seed, exits_fail })
    }

    /// Opens the corpus: the folder that is named, cargo-fuzz's, or the function's own.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn corpus(
        &self,
        named: Option<&Path>,
        cargo: Option<&CargoFuzz>,
        base_dir: &Path,
    ) -> Result<CorpusFolder, CampaignError> {
        let own = || KeptName::of(base_dir, &self.prepared.loaded).corpus(self.entry.name());
        let named = named.or(self.words.corpus.as_deref());
        let path = named.map(Path::to_owned).or_else(|| cargo.map(CargoFuzz::corpus)).unwrap_or_else(own);
        CorpusFolder::open(&path)
    }

    /// Says what is about to be searched, and from what.
    pub fn announce(&self, run: &FuzzRun) {
        let FuzzRun { seeds, search, remarks, .. } = run;
        if seeds.too_long > 0 {
            let (number, most) = (seeds.too_long, search.input_bytes_max);
            remarks.text(&format!("left out of the corpus, as longer than --max-input {most}: {number}\n"));
        }
        if seeds.links > 0 {
            remarks.text(&format!("left out of the corpus, as links, which are not followed: {}\n", seeds.links));
        }
        remarks.text(&format!(
            "fuzzing `{}` of {}: seed {}, corpus {} with {} to begin with\n",
            self.entry.name(),
            self.prepared.loaded.target.name,
            self.seed,
            run.corpus.path().display(),
            seeds.number,
        ));
        if run.runs.is_none() && self.time.is_none() {
            let end = match search.first_only {
                _ if run.until.is_some() => "it ends at the risk that --until-risk says",
                true => "the first finding or Ctrl-C ends it",
                false => "Ctrl-C ends it, with its summary",
            };
            remarks.text(&format!("it has no bound (--runs, --time): {end}\n"));
        }
        if let EntryPoint::Program(_) = self.entry {
            remarks.text("each execution runs the program again, from its instantiation\n");
        }
    }

    /// Runs the inputs that were named, once each. Traces of those that fail go to `folder`.
    ///
    /// # Errors
    /// When one cannot be read, or a trace cannot be written.
    pub fn inputs(mut self, folder: &Path, remarks: &Remarks) -> Result<InputRuns, CampaignError> {
        let subject = self.subject();
        let origin = self.prepared.origin(self.seed, RunMode::Fuzz);
        // All of them are run, unless a stop is requested.
        self.clock.end_after(Duration(u64::MAX));
        let inputs = (&self.words.inputs[..], folder);
        run_inputs((&mut self.confirmer, &self.stop), &origin, &subject, inputs, self.exits_fail, remarks)
    }

    /// Fuzzes in this process; `part` is that of a worker when it is one of several.
    ///
    /// # Errors
    /// When the machine, not the target, fails, or what is found cannot be kept.
    pub fn alone(mut self, run: FuzzRun, part: Option<CampaignPart<'_>>) -> Result<CampaignReport, CampaignError> {
        if part.is_some() {
            self.prepared.grant(WORKER_CONFIRM_GRACE, &self.stop);
            self.confirmer.confirm_within(&self.prepared);
        }
        let target = self.target()?;
        for obstacle in target.obstacles() {
            run.remarks.text(&format!("each execution begins with a new instance, because {obstacle}\n"));
        }
        let corpus_dir = run.corpus.path().display().to_string();
        let subject = Subject { total_edges: target.edges_total(), corpus_dir, ..self.subject() };
        let FuzzRun { corpus, mut seeds, dictionary, search, destination, artifacts, runs, until, remarks } = run;
        let dictionary = self.suggesting(dictionary)?;
        let made_up = made_up(&self.entry, self.seed, search.input_bytes_max);
        let mut sink = CampaignSink::new(SinkConfig {
            corpus,
            origin: self.prepared.origin(self.seed, RunMode::Fuzz),
            confirmer: self.confirmer,
            // What several workers find, the supervisor puts where it was asked for.
            destination: TraceDestination { record: destination.record.filter(|_| part.is_none()), ..destination },
            artifacts,
            subject: subject.clone(),
            runs,
            time: self.time,
            until,
            clock: Arc::clone(&self.clock),
            stop: StopFlag::clone(&self.stop),
            supervisor: part.as_ref().map(|part| part.channel.clone()),
            remarks: remarks.clone(),
            input_bytes_max: search.input_bytes_max,
        });
        let mut campaign = Campaign::new(search, dictionary);
        campaign.make_up(made_up);
        if let Some(part) = &part {
            part.channel.send(&WorkerEvent::Ready);
        }
        let begin = self.clock.elapsed_ns();
        let mut timed = TimedTarget::new(target, Arc::clone(&self.clock));
        let ended = campaign.run(&mut timed, &mut seeds, &mut sink);
        let spent = sink.spent(timed.spent(), self.clock.elapsed_ns() - begin);
        let slowest = slowest(&campaign);
        let slow_units = sink.keep_slow(&slowest);
        let target = timed.target();
        if let Some(blocked) = sink.blocked {
            return Err(blocked);
        }
        let ended = ended?;
        if let Some(error) = seeds.failed {
            return Err(error);
        }
        let word = match ended {
            CampaignEnd::Stopped if (self.stop)() => "interrupted",
            CampaignEnd::Stopped if sink.is_settled => "risk",
            ended => word_of(ended),
        };
        let mut report = CampaignReport::of(&subject, campaign.stats(), campaign.findings().all(), &sink.kept, word);
        (report.fuzz.repeated, report.fuzz.skipped) = (target.repeated(), target.skipped());
        let slowest = slowest.into_iter().next().map(|(told, _)| told);
        report.fuzz.slowest = slow_units.first().cloned().or(slowest);
        report.fuzz.slow_units = slow_units;
        report.fuzz.properties = target.properties();
        report.spent = spent;
        report.testcases = campaign.names().collect();
        (report.lost, report.given_up) = (sink.unkept, self.clock.given_up(&self.prepared.interrupt, sink.looked_at));
        if let Some(CampaignPart { channel, is_complete }) = part {
            let progress = FuzzSummary { findings: Vec::new(), ..report.fuzz.clone() };
            channel.send(&WorkerEvent::Ended { progress, report: report.clone(), complete: is_complete() });
        }
        Ok(report)
    }

    /// Fuzzes in several processes.
    ///
    /// # Errors
    /// When workers cannot be started, or what they found cannot be kept.
    pub fn together(self, run: FuzzRun, workers: u32) -> Result<CampaignReport, CampaignError> {
        // Compiled once, for all workers.
        let open = || campaign_target(&self.prepared, &self.entry, self.seed, self.exits_fail);
        drop(self.clock.excluding(open)?);
        let TraceDestination { folder, record, collision } = &run.destination;
        let workers = FuzzWorkers {
            workers,
            seed: self.seed,
            runs: run.runs,
            time: self.time.map(|time| Duration(time.0.saturating_sub(self.clock.elapsed_ns()))),
            until: run.until,
            first_only: run.search.first_only,
            folder,
            record: record.as_deref().map(|path| (path, *collision)),
            cargo: run.artifacts.as_ref().map(|(cargo, _)| cargo),
            stop: self.stop,
            remarks: run.remarks,
        };
        workers.run()
    }

    /// Fuzzes in this process and keeps nothing: the campaign with its findings, and who repeats a run of it.
    ///
    /// # Errors
    /// When the machine, not the target, fails.
    pub fn in_memory(
        self,
        search: Options,
        seeds: &[Vec<u8>],
        observer: &mut dyn FuzzObserver,
    ) -> Result<(Campaign, FindingConfirmer), CampaignError> {
        let mut target = self.target()?;
        let made_up = made_up(&self.entry, self.seed, search.input_bytes_max);
        let mut campaign = Campaign::new(search, self.suggesting(Dictionary::default())?);
        campaign.make_up(made_up);
        let seeds = &mut seeds.iter().cloned();
        with_stack_for_guests(|| campaign.run(&mut *target, seeds, observer))?;
        Ok((campaign, self.confirmer))
    }

    /// The words that are given, and those in the data of the program, as it was before anything was put into it.
    fn suggesting(&self, mut given: Dictionary) -> Result<Dictionary, CampaignError> {
        let LoadedTarget { component, target, .. } = &self.prepared.loaded;
        let words = data_words(component)
            .map_err(|error| CampaignError::new(ErrorKind::Target, format!("{}: {error}", target.name)))?;
        words.iter().for_each(|word| given.suggest(word));
        Ok(given)
    }

    /// The target, compiled, and begun within the time of the campaign.
    fn target(&self) -> Result<Box<dyn CampaignTarget>, CampaignError> {
        let open = || campaign_target(&self.prepared, &self.entry, self.seed, self.exits_fail);
        let mut target = self.clock.excluding(open)?;
        target.begin().map_err(|error| first_run_error(&self.prepared.loaded.target.name, error.into()))?;
        Ok(target)
    }

    /// What stays the same over the campaign, apart from its corpus and its edges.
    fn subject(&self) -> Subject {
        let (function, execution) = (self.entry.name().to_owned(), execution_of(&self.entry));
        Subject { function, execution, ..Subject::default() }
    }
}

/// Calls are made in a build without fuel, in which nothing would end what comes before the first of them: where the run of the empty input was
/// not at its end, whether it had come to the call is looked at in a build with fuel.
fn check_start(
    prepared: &PreparedProgram,
    entry: &EntryPoint,
    probe: &Execution,
    seed: Seed,
) -> Result<(), CampaignError> {
    let ExecutionEnd::FuelExhausted { fuel } = probe.end else { return Ok(()) };
    functions_of(prepared, seed)?;
    let has_begun = || probe.facts.scenario.as_ref().is_some_and(|scenario| scenario.sequences > 0);
    match entry {
        EntryPoint::Scenario { .. } if !has_begun() => Err(unbegun_error(&prepared.loaded.target.name, fuel)),
        _ => Ok(()),
    }
}

/// Functions of a program that runs beside other machines are not called one by one: says which commands search it.
fn beside_machines(name: &str, request: &FuzzRequest<'_>) -> CampaignError {
    let words = match &request.run.world.plan {
        Some(plan) if clients(plan).is_ok_and(|clients| is_same(&clients, request.target)) => shell_path(plan),
        Some(plan) => format!("{} --plan {}", shell_path(request.target), shell_path(plan)),
        None => shell_path(request.target),
    };
    let message =
        format!("{name} runs beside other machines, so that a campaign runs them all, and calls no single function");
    CampaignError::new(ErrorKind::Target, message).hint(format!(
        "fozzy explore {words} searches its operations, faults and orders, and fozzy run {words} --seeds 1..100 draws them; \
         --stdin, --input-file PATH or --arg fuzzes what the program reads"
    ))
}
