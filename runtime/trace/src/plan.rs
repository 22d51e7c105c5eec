//! The plan: everything but the component and the decisions that an execution depends on.
//!
//! ```text
//! --seed 7 --dir data::/data --env A=1 -- arg1 < input
//!    └────────────┬───────────────────────────┘
//!                Plan  +  Inputs { sha256 → bytes }       both travel in the trace
//! ```
//!
//! Invariant: a plan refers to bytes by their SHA-256 only; [`Inputs`] holds each of them once.
//! Not here: reading directories (`fozzy-live`), the TOML notation of plans (`fozzy`).

pub mod allocator_choice;
pub mod cluster;
pub mod counted;
pub mod criteria;
pub mod fault;
pub mod http;
pub mod input;
pub mod memory;
pub mod network;
pub mod process;
pub mod replies;
pub mod stdin;

pub use allocator_choice::{ALLOCATOR_ROLES, AllocatorChoice};
pub use cluster::{ClusterPlan, HealScope};
pub use counted::{CountedNode, NODES_VARIABLE};
pub use criteria::{CheckerPlan, HistoryCriterion, RunCriteria};
pub use fault::{FaultPlan, NemesisPlan};
pub use http::{HttpFailure, HttpReply, HttpRule};
pub use input::PlannedInput;
pub use memory::MemoryPlan;
pub use network::NetworkPlan;
pub use process::{ProcessExit, ProcessReply, ProcessRule};
pub use replies::{OtherReplies, WeightedReply};
pub use stdin::{ARRIVAL_SITE, ArrivalPlan, ArrivalTime, ChannelPlan, ExpectedOutput, StdinPipe, StdinPlan};

use crate::{Digest, Duration, NodeId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Instructions (as wasmtime counts fuel) that an execution may use unless told otherwise: some ten
/// seconds of computing. At the bound the outcome is `timeout`.
pub const FUEL_DEFAULT: u64 = 10_000_000_000;
/// Linear memory that all of a guest's memories together may reach, in bytes. At the bound
/// `memory.grow` answers -1, on every machine at the same size.
pub const MEMORY_BYTES_DEFAULT: u64 = 1 << 30;
/// Size of the virtual disk in bytes; what exceeds it gets `insufficient-space`.
pub const DISK_BYTES_DEFAULT: u64 = 1 << 30;
/// Files, directories and links that the virtual disk holds; one more gets `insufficient-space`.
pub const DISK_NODES_DEFAULT: u64 = 1 << 20;
/// Bytes that a machine writes to its standard streams unless told otherwise. Beyond it the run fails: a program that prints for
/// ever would fill terminals and pipes.
pub const OUTPUT_BYTES_DEFAULT: u64 = 1 << 30;
/// All tables of a guest together, in bytes of the host, and never more than its memories may have. At the bound `table.grow`
/// answers -1.
pub const TABLE_BYTES_MAX: u64 = 64 << 20;
/// What is kept of both standard streams.
const OUTPUT_KEPT_BYTES: u64 = 2 * crate::execution::OUTPUT_KEPT_BYTES_MAX as u64;
/// Where the wall clock starts: 2025-01-01T00:00:00Z, in seconds since 1970. A constant, because today's
/// date would make every run another one.
pub const WALL_START_DEFAULT: u64 = 1_735_689_600;

/// What an execution is given besides the component and the decisions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Plan {
    /// The machine that runs the target.
    pub main: MachinePlan,
    /// Further machines, which run until the target ends, or are called by it.
    pub nodes: Vec<NodePlan>,
    /// The wall clock at the start, in seconds since 1970-01-01T00:00:00Z.
    pub wall_start_s: u64,
    /// Bounds of the execution.
    pub limits: Limits,
    /// Whether every NaN that a computation produces gets one bit pattern. Off is faster for
    /// float-heavy guests and ties the trace to one processor family.
    pub canonical_nans: bool,
    /// Whether the program checks its accesses to memory: then it is another program, whose blocks have other addresses.
    #[serde(default, skip_serializing_if = "is_false")]
    pub memcheck: bool,
    /// Functions by which programs allocate, beside those that are recognised by their names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allocators: Vec<AllocatorChoice>,
    /// What answers files, HTTP and processes.
    pub backends: Backends,
    /// Scripted HTTP, tried in this order.
    pub http: Vec<HttpRule>,
    /// Scripted processes, tried in this order.
    pub processes: Vec<ProcessRule>,
    /// The network between machines.
    pub network: NetworkPlan,
    /// What goes wrong.
    pub faults: Vec<FaultPlan>,
    /// Whether none of it does before a program says that its setup is complete, with the SDK of Antithesis.
    #[serde(default, skip_serializing_if = "is_false")]
    pub faults_await_setup: bool,
    /// Phases of the run, and how much goes wrong at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<ClusterPlan>,
    /// Whether the program of the run may exit with an error once a planned fault has struck: an honest answer is no failure.
    #[serde(default, skip_serializing_if = "is_false")]
    pub allow_error_exit: bool,
    /// What must not stand in a trace.
    pub redact: RedactionPolicy,
    /// When names on the virtual disks are durable.
    #[serde(default, skip_serializing_if = "NameDurability::is_posix")]
    pub names: NameDurability,
    /// What allocations are held to; nothing when nothing is asked of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemoryPlan>,
    /// How far a scenario is driven; nothing for a program that drives itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scenario: Option<ScenarioPlan>,
    /// The one function of a scenario that is called, once, instead of all that drives it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<PlannedCall>,
    /// A fuzz target is called without any bytes before it is called with its input, as libFuzzer does too: what it sets up at
    /// its first call is there then. A plan says so only where that call returns.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub warm_up: bool,
    /// What of the real computer may be asked, and whether its time counts.
    #[serde(default, skip_serializing_if = "LivePolicy::is_default")]
    pub live: LivePolicy,
    /// Where a campaign has put its input, if that is not standard input and no decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<PlannedInput>,
    /// What a run is held to beside what every run is held to.
    #[serde(default, skip_serializing_if = "RunCriteria::is_empty")]
    pub criteria: RunCriteria,
    /// What the operations of its clients are held to; a program may add to it while it runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<HistoryCriterion>,
    /// What the simulated computer was like when the plan was made; absent is the first edition.
    #[serde(default, skip_serializing_if = "Edition::is_first")]
    pub edition: Edition,
}

/// An edition of the simulated computer. What a fault does can be mended in a later one, while the traces of earlier ones replay as
/// they were recorded.
///
/// - first: `clock-drift` counts back at each reading, and waits take virtual time.
/// - second: a drifting clock is waited by, and a frozen one shows the end of each wait; what a stream takes of a short write is
///   decided when its room is asked for; a hang names the peers, and has the stacks of all machines.
/// - third: time passes for a program that polls its standard input without end; peers hear the last line of a program that ends
///   without a line end.
/// - fourth: a restart costs little of the instruction budget, so that a machine may be restarted ten thousand times; of WASI preview 1,
///   `sched_yield` lets the other machines go on, and `fd_sync` of a directory makes its names durable; a hang names the machine that
///   standard input never comes from.
/// - fifth: under a plan with `lost-write` or `torn-write`, names are lost as under any other; restarts end with the instruction
///   budget; a run that a person stops while everybody waits was stopped, and does not hang.
/// - sixth: a machine has one instruction budget for all lives of its program, and a machine that waits to start again is down.
/// - seventh: a machine that loses power by the order of the program that routes its lines loses what was not durable, and one whose speed
///   that program ordered shows it on its monotonic clock.
/// - eighth: the bound on machines that are hit counts all partitions together, and those that are hit or gone as not heard; a fault of
///   links that hits one machine is about its links to the others, and one that is about no link does not strike.
/// - ninth: under nemeses of links, what a TCP sender has waited for too long is sent again, as what is lost is, and the first that
///   arrives counts; when all machines are healed, no packet, and no repetition of one, waits for the end of a nemesis any more; and a
///   nemesis that is over before any machine goes on has not struck.
/// - tenth: a slow disk holds up its own machine only, while the others go on; and a nemesis that kills a machine or takes its power may
///   come between two calls that its program makes in a row; who is to be gone before it begins does not begin; and sockets of WASI
///   preview 1 are as those of Linux: hangups of a poll, `[::]` for IPv4 too, `SO_REUSEADDR`, shutdowns, connections to the own machine
///   that are waited for; and assertions of Antithesis' SDK count whatever their message and their place.
/// - eleventh: assertions of Antithesis' SDK count whatever their bytes, also those of a last line without an end, and are errors where they
///   cannot be read; and what is asserted of one message in two ways is told beside the failure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "u32", into = "u32")]
pub struct Edition(u32);

/// Kinds of faults after which a machine starts again.
const RESTARTING_FAULTS: [&str; 3] = ["kill", "power-loss", "restart"];
/// Kinds of faults that say what a loss of power takes of contents.
const LOSING_FAULTS: [&str; 2] = ["lost-write", "torn-write"];

impl Edition {
    /// The first.
    pub const FIRST: Edition = Edition(0);
    /// The second.
    pub const SECOND: Edition = Edition(1);
    /// The third.
    pub const THIRD: Edition = Edition(2);
    /// The fourth.
    pub const FOURTH: Edition = Edition(3);
    /// The fifth.
    pub const FIFTH: Edition = Edition(4);
    /// The sixth.
    pub const SIXTH: Edition = Edition(5);
    /// The seventh.
    pub const SEVENTH: Edition = Edition(6);
    /// The eighth.
    pub const EIGHTH: Edition = Edition(7);
    /// The ninth.
    pub const NINTH: Edition = Edition(8);
    /// The tenth.
    pub const TENTH: Edition = Edition(9);
    /// The eleventh.
    pub const ELEVENTH: Edition = Edition(10);
    /// The last one that is known.
    pub const LATEST: Edition = Edition::ELEVENTH;

    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde wants a reference")]
    fn is_first(&self) -> bool {
        *self == Edition::FIRST
    }
}

impl Plan {
    /// Makes it a plan of now: of the first edition in which what it has is as it is in the last one, so that plans that no edition
    /// changes stay the same.
    ///
    /// That a program is of WASI preview 1, which needs [`Edition::FOURTH`], or opens sockets there, which needs
    /// [`Edition::TENTH`], or has the SDK of Antithesis, which needs [`Edition::ELEVENTH`], no plan says: who knows it raises the edition.
    pub fn renew_edition(&mut self) {
        let machines = std::iter::once(&self.main).chain(self.nodes.iter().map(|node| &node.program.machine));
        let channels = || machines.clone().filter_map(|machine| machine.stdin.channel.as_ref());
        let (has_channel, has_pipe) =
            (channels().next().is_some(), channels().any(|channel| channel.from.is_some() || channel.routed));
        let has_others = self.nodes.iter().any(|node| !node.called);
        let is_losing = |fault: &FaultPlan| LOSING_FAULTS.contains(&&*fault.kind);
        self.edition = match has_channel {
            _ if self.faults.iter().any(|fault| fault.nemesis.is_some() || fault.kind == "slow-disk") => Edition::TENTH,
            _ if self.is_routed() => Edition::SEVENTH,
            _ if self.may_restart() => Edition::SIXTH,
            _ if self.faults.iter().any(is_losing) => Edition::FIFTH,
            _ if has_pipe => Edition::FOURTH,
            true => Edition::THIRD,
            false if has_others || !self.faults.is_empty() => Edition::SECOND,
            false => Edition::FIRST,
        };
    }

    /// Whether the main machine's program routes the lines of the others, and orders what becomes of them.
    #[must_use]
    pub fn is_routed(&self) -> bool {
        self.main.stdin.channel.as_ref().is_some_and(|channel| channel.routed)
    }

    /// Whether a fault of the plan restarts a machine, or a machine starts again after an end.
    fn may_restart(&self) -> bool {
        self.faults.iter().any(|fault| RESTARTING_FAULTS.contains(&&*fault.kind))
            || self.nodes.iter().any(|node| node.restart.is_some())
    }
}

impl TryFrom<u32> for Edition {
    type Error = String;

    fn try_from(number: u32) -> Result<Edition, String> {
        match number <= Edition::LATEST.0 {
            true => Ok(Edition(number)),
            false => Err(format!(
                "the plan is of edition {number}, and this version knows those up to {}",
                Edition::LATEST.0
            )),
        }
    }
}

impl From<Edition> for u32 {
    fn from(edition: Edition) -> u32 {
        edition.0
    }
}

/// One call from outside, which is all of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum PlannedCall {
    /// The fuzz target of this name; its input is the run's first decision.
    Fuzz(String),
    /// The property of this name.
    Property(String),
    /// The exported function of this name, `ns:package/interface@1.0.0#name` or `name`; its arguments are drawn, by their
    /// types, as the run's first decisions.
    Function(String),
    /// The exported handler of HTTP requests; its request is drawn, as the run's first decisions.
    Http,
}

/// The interface of [`PlannedCall::Http`].
pub const HANDLER: &str = "wasi:http/incoming-handler";

impl PlannedCall {
    /// The name of the function.
    #[must_use]
    pub fn function(&self) -> &str {
        match self {
            PlannedCall::Fuzz(function) | PlannedCall::Property(function) | PlannedCall::Function(function) => function,
            PlannedCall::Http => HANDLER,
        }
    }
}

/// How far a scenario is driven.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ScenarioPlan {
    /// Sequences, each from the start state; of fuzz targets and properties, rounds.
    pub sequences: u32,
    /// Steps of each sequence.
    pub flows: u32,
    /// The sequences and steps of these that are run, in their order; all of them when nothing is named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<KeptSequence>,
}

/// Steps of one sequence that are run although others are left out. They keep their numbers, and so their choices.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct KeptSequence {
    /// Of which kind the sequence is.
    pub kind: ScenarioKind,
    /// Its number.
    pub sequence: u32,
    /// Its steps: the first of each stretch, and the one after its last.
    pub steps: Vec<(u32, u32)>,
}

impl ScenarioPlan {
    /// A number of sequences, each with a number of steps.
    #[must_use]
    pub const fn all(sequences: u32, flows: u32) -> ScenarioPlan {
        ScenarioPlan { sequences, flows, only: Vec::new() }
    }

    /// The stretches of steps that are run in a sequence; `None` when it is left out.
    #[must_use]
    pub fn stretches(&self, kind: ScenarioKind, sequence: u32) -> Option<Vec<(u32, u32)>> {
        if self.only.is_empty() {
            return Some(vec![(0, self.flows)]);
        }
        let kept = self.only.iter().find(|kept| kept.kind == kind && kept.sequence == sequence)?;
        Some(self.clipped(kept))
    }

    /// The sequences of a kind that are run, in their order, each with its stretches of steps.
    pub fn sequences_of(&self, kind: ScenarioKind) -> impl Iterator<Item = (u32, Vec<(u32, u32)>)> + '_ {
        let mut named: BTreeMap<u32, &KeptSequence> = BTreeMap::new();
        for kept in self.only.iter().filter(|kept| kept.kind == kind && kept.sequence < self.sequences) {
            named.entry(kept.sequence).or_insert(kept);
        }
        let all = if self.only.is_empty() { 0..self.sequences } else { 0..0 };
        let named = named.into_iter().map(|(sequence, kept)| (sequence, self.clipped(kept)));
        all.map(|sequence| (sequence, vec![(0, self.flows)])).chain(named)
    }

    fn clipped(&self, kept: &KeptSequence) -> Vec<(u32, u32)> {
        kept.steps.iter().map(|(from, to)| (*from, (*to).min(self.flows))).collect()
    }

    /// Checks that its numbers are possible in a run, which those of a foreign plan may not be.
    ///
    /// # Errors
    /// What is expected of the first impossible number, and what was found.
    pub fn check(&self) -> Result<(), (String, String)> {
        let at_most = |what: &str, most: u32, found: u32| match found <= most {
            true => Ok(()),
            false => Err((format!("at most {most} {what}"), found.to_string())),
        };
        at_most("sequences", SEQUENCES_MAX, self.sequences)?;
        at_most("steps of a sequence", FLOWS_MAX, self.flows)?;
        for KeptSequence { sequence, steps, .. } in &self.only {
            at_most("as the number of a sequence", SEQUENCES_MAX - 1, *sequence)?;
            let mut last = 0;
            for (from, to) in steps {
                if *from < last || to < from || *to > FLOWS_MAX {
                    let expected = format!("stretches of steps in their order, from {last} to {FLOWS_MAX}");
                    return Err((expected, format!("[{from}, {to}] in sequence {sequence}")));
                }
                last = *to;
            }
        }
        Ok(())
    }
}

/// Ways in which a program can be driven from outside. The parts of each have numbers of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScenarioKind {
    /// Steps of a scenario with a state.
    Stateful,
    /// Functions that take bytes.
    Fuzz,
    /// Functions that draw what they need.
    Property,
}

impl ScenarioKind {
    /// The number that stands for a sequence of this kind among the parts of a run.
    #[must_use]
    pub const fn stream(self, sequence: u32) -> u32 {
        sequence + self as u32 * SEQUENCES_MAX
    }
}

/// Sequences that a run can have. The bound leaves room for their numbers among streams of choices.
pub const SEQUENCES_MAX: u32 = 1 << 30;
/// Steps that a sequence can have. As above.
pub const FLOWS_MAX: u32 = 1 << 30;

impl Default for ScenarioPlan {
    fn default() -> ScenarioPlan {
        ScenarioPlan::all(10, 100)
    }
}

/// What one machine is given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct MachinePlan {
    /// Arguments, the program's own name first.
    pub args: Vec<String>,
    /// Environment variables, in the order given. Nothing of the real environment is in it.
    pub env: Vec<(String, String)>,
    /// Standard input.
    pub stdin: StdinPlan,
    /// Directories copied into the virtual disk.
    pub dirs: Vec<Mount>,
    /// Whether the disk has what the directories bring and nothing else, no `/tmp` of its own.
    #[serde(default, skip_serializing_if = "is_false")]
    pub bare: bool,
    /// Read-only directories of the disk, by their absolute paths, with all their original contents.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read_only: Vec<String>,
    /// Which directories of the disk the guest is given; `None` is all of it, as `/`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preopens: Option<Vec<Preopen>>,
    /// The directory in which the guest begins, absolute; `None` is `/`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The file, by its absolute path on the disk, to which the program's Antithesis SDK writes its lines: they are taken as they come,
    /// and not stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub antithesis_output: Option<String>,
}

/// A directory of the virtual disk that a guest is given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Preopen {
    /// Where it is on the disk, absolute.
    pub path: String,
    /// The name under which the guest finds it.
    pub name: String,
    /// Whether nothing in it can be changed through it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub read_only: bool,
}

/// Another machine of the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct NodePlan {
    /// Its name, by which the others find it: a host name of the simulated network.
    pub name: String,
    /// What runs there.
    pub program: ProgramPlan,
    /// Whether the scenario calls its exports, instead of it running on its own. If there are several, all run the same component.
    #[serde(default, skip_serializing_if = "is_false")]
    pub called: bool,
    /// How its program may end before the target. Nothing, in plans of before: exits are its own affair, and a crash is a finding with
    /// which the run continues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ends: Option<AllowedEnd>,
    /// How long after an end that is allowed it starts again; never when nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restart: Option<Duration>,
    /// What it was made from, if the plan has several like it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counted: Option<CountedNode>,
}

impl NodePlan {
    /// A machine whose exports the scenario calls.
    #[must_use]
    pub fn called(name: String, program: ProgramPlan) -> NodePlan {
        NodePlan { name, program, called: true, ends: None, restart: None, counted: None }
    }
}

/// How the program of a machine may end before the target does. Another end is a finding, and the run ends soon after.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AllowedEnd {
    /// Not at all: a server.
    Never,
    /// Without an error.
    Ok,
    /// In any way, crashes included.
    Any,
}

impl AllowedEnd {
    /// Whether an end is allowed. One by a planned fault always is: it is none of the program's.
    #[must_use]
    pub const fn allows(self, end: &crate::ExecutionEnd) -> bool {
        match self {
            _ if matches!(end, crate::ExecutionEnd::Killed) => true,
            AllowedEnd::Never => false,
            AllowedEnd::Ok => matches!(end, crate::ExecutionEnd::Exited { code: 0 }),
            AllowedEnd::Any => true,
        }
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde wants a reference")]
fn is_false(flag: &bool) -> bool {
    !flag
}

/// A further component, and the machine that it runs on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ProgramPlan {
    /// The component, before instrumentation.
    pub component: Digest,
    /// What its machine is given.
    pub machine: MachinePlan,
}

/// What answers the guest where a real computer could.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Backend {
    /// The simulated computer: the virtual disk, the rules.
    Virtual,
    /// The real computer; each answer is an observation, recorded once.
    Host,
}

/// Which backend answers what. Clocks, entropy and sockets have no other than the virtual one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Backends {
    /// Files.
    pub files: Backend,
    /// Outgoing HTTP.
    pub http: Backend,
    /// Processes.
    pub processes: Backend,
}

impl Default for Backends {
    fn default() -> Backends {
        Backends { files: Backend::Virtual, http: Backend::Virtual, processes: Backend::Virtual }
    }
}

/// What of the real computer may be asked, where a backend is [`Backend::Host`]; by default all, in the time that is drawn.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct LivePolicy {
    /// The hosts that requests may be sent to; `None` is every host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<Vec<String>>,
    /// The commands that may be run; `None` is every command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commands: Option<Vec<String>>,
    /// Whether an answer takes as long in virtual time as it took in reality, which is recorded with it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub measured: bool,
}

impl LivePolicy {
    fn is_default(&self) -> bool {
        *self == LivePolicy::default()
    }
}

/// Which syncs make a name durable, so that a loss of power cannot take it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NameDurability {
    /// That of its directory only, since POSIX promises no more. A plan that says nothing has this, as all had before there was
    /// a choice; plan files say `ext4` unless told otherwise.
    #[default]
    Posix,
    /// That of the file too, which commits the journal and so all changes of names before it.
    Ext4,
}

impl NameDurability {
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde wants a reference")]
    fn is_posix(&self) -> bool {
        *self == NameDurability::Posix
    }
}

/// What must not stand in a trace: values under these names are replaced by [`REDACTED`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct RedactionPolicy {
    /// Names of HTTP headers, in small letters.
    pub headers: Vec<String>,
    /// Names of environment variables.
    pub env: Vec<String>,
}

/// What stands in the place of a value that must not be in a trace. The name follows: `<redacted:cookie>`.
pub const REDACTED: &str = "<redacted:";

impl Default for RedactionPolicy {
    fn default() -> RedactionPolicy {
        let headers = ["authorization", "cookie", "proxy-authorization", "set-cookie"];
        RedactionPolicy { headers: headers.map(str::to_owned).to_vec(), env: Vec::new() }
    }
}

/// A directory of the virtual disk, given by content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Mount {
    /// Absolute path in the guest, with `/` between names.
    pub guest: String,
    /// Its content: parents before children, names sorted.
    pub entries: Vec<MountEntry>,
}

/// One file, directory or link of a mount.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct MountEntry {
    /// Path relative to the mount, with `/` between names.
    pub path: String,
    /// What is there.
    pub kind: MountKind,
}

/// What stands at a path of a mount.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub enum MountKind {
    /// A directory.
    Directory,
    /// A file with this content.
    File(Digest),
    /// A symbolic link to this path.
    Link(String),
}

/// Bounds of an execution. Reaching one is an outcome that the user sees.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Limits {
    /// Instructions, as wasmtime counts fuel.
    pub fuel: u64,
    /// Virtual time; `None` is no bound.
    pub time: Option<Duration>,
    /// Host calls of all machines; the next one ends the run as if its time were over, where that is bounded. A person has stopped it
    /// there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<u64>,
    /// A person has stopped the run where its time is over: that is no failure of its program.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
    /// Bytes of linear memory, over all memories of the component.
    pub memory_bytes: u64,
    /// Bytes on the virtual disk.
    pub disk_bytes: u64,
    /// Files, directories and links on the virtual disk.
    pub disk_nodes: u64,
    /// What one machine makes the host hold, and show; `None` in plans from before there were such bounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<HostLimits>,
}

impl Limits {
    /// Has a run end at the host call after this number of them, unless it is to end before.
    pub fn end_after_calls(&mut self, calls: u64) {
        self.calls = Some(self.calls.map_or(calls, |planned| planned.min(calls)));
        // Calls are bounded where time is.
        self.time = self.time.or(Some(Duration(u64::MAX)));
    }
}

/// Bounds of what one machine makes the host hold, and show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct HostLimits {
    /// Bytes of its memories, tables, disk and kept output together.
    pub total_bytes: u64,
    /// Bytes that it writes to standard output and standard error together.
    pub output_bytes: u64,
}

impl HostLimits {
    /// The bounds beside these limits of memory and disk, unless told otherwise: each part can be used up.
    #[must_use]
    pub const fn beside(memory_bytes: u64, disk_bytes: u64) -> HostLimits {
        let total_bytes = memory_bytes.saturating_add(disk_bytes).saturating_add(TABLE_BYTES_MAX + OUTPUT_KEPT_BYTES);
        HostLimits { total_bytes, output_bytes: OUTPUT_BYTES_DEFAULT }
    }
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            fuel: FUEL_DEFAULT,
            time: None,
            calls: None,
            interrupted: false,
            memory_bytes: MEMORY_BYTES_DEFAULT,
            disk_bytes: DISK_BYTES_DEFAULT,
            disk_nodes: DISK_NODES_DEFAULT,
            host: Some(HostLimits::beside(MEMORY_BYTES_DEFAULT, DISK_BYTES_DEFAULT)),
        }
    }
}

impl Default for MachinePlan {
    fn default() -> MachinePlan {
        MachinePlan {
            args: vec!["program".to_owned()],
            env: Vec::new(),
            stdin: StdinPlan::tape(Digest::of(b"")),
            dirs: Vec::new(),
            bare: false,
            read_only: Vec::new(),
            preopens: None,
            cwd: None,
            antithesis_output: None,
        }
    }
}

impl Default for Plan {
    fn default() -> Plan {
        Plan {
            main: MachinePlan::default(),
            nodes: Vec::new(),
            wall_start_s: WALL_START_DEFAULT,
            limits: Limits::default(),
            canonical_nans: true,
            memcheck: false,
            allocators: Vec::new(),
            backends: Backends::default(),
            http: Vec::new(),
            processes: Vec::new(),
            network: NetworkPlan::default(),
            faults: Vec::new(),
            cluster: None,
            allow_error_exit: false,
            redact: RedactionPolicy::default(),
            names: NameDurability::Posix,
            memory: None,
            scenario: None,
            call: None,
            warm_up: false,
            live: LivePolicy::default(),
            input: None,
            faults_await_setup: false,
            criteria: RunCriteria::default(),
            history: Vec::new(),
            edition: Edition::FIRST,
        }
    }
}

impl Plan {
    /// The machines whose component the scenario calls, with their numbers.
    pub fn called(&self) -> impl Iterator<Item = (NodeId, &NodePlan)> {
        // The main machine comes before those of the plan.
        (1..).map(NodeId).zip(&self.nodes).filter(|(_, node)| node.called)
    }

    /// The component that the scenario calls, if there is one.
    #[must_use]
    pub fn target(&self) -> Option<Digest> {
        self.called().next().map(|(_, node)| node.program.component)
    }

    /// Every further component of the plan, with its machine.
    pub fn programs(&self) -> impl Iterator<Item = &ProgramPlan> {
        let nodes = self.nodes.iter().map(|node| &node.program);
        let handlers = self.http.iter().flat_map(HttpRule::answers).filter_map(|answer| match answer {
            HttpReply::Component(program) => Some(program),
            HttpReply::Response { .. } | HttpReply::Failure(_) => None,
        });
        let children = self.processes.iter().flat_map(ProcessRule::answers).filter_map(|answer| match answer {
            ProcessReply::Component(program) => Some(program),
            ProcessReply::Output { .. } | ProcessReply::NotFound | ProcessReply::NotPermitted => None,
        });
        nodes.chain(handlers).chain(children)
    }

    /// Puts another component into the place of one of these, wherever it stands.
    pub fn replace_program(&mut self, old: Digest, new: Digest) {
        let nodes = self.nodes.iter_mut().map(|node| &mut node.program);
        let handlers = self.http.iter_mut().flat_map(HttpRule::answers_mut).filter_map(|answer| match answer {
            HttpReply::Component(program) => Some(program),
            HttpReply::Response { .. } | HttpReply::Failure(_) => None,
        });
        let children = self.processes.iter_mut().flat_map(ProcessRule::answers_mut).filter_map(|answer| match answer {
            ProcessReply::Component(program) => Some(program),
            ProcessReply::Output { .. } | ProcessReply::NotFound | ProcessReply::NotPermitted => None,
        });
        let programs = nodes.chain(handlers).chain(children);
        programs.filter(|program| program.component == old).for_each(|program| program.component = new);
    }

    /// The names of all bytes that the plan refers to, each once.
    #[must_use]
    pub fn digests(&self) -> std::collections::BTreeSet<Digest> {
        let checker = self.criteria.checker.as_ref().map(|checker| &checker.machine);
        let machines =
            std::iter::once(&self.main).chain(self.programs().map(|program| &program.machine)).chain(checker);
        let of_machines = machines.flat_map(|machine| {
            let files = machine.dirs.iter().flat_map(|mount| &mount.entries).filter_map(|entry| match entry.kind {
                MountKind::File(digest) => Some(digest),
                MountKind::Directory | MountKind::Link(_) => None,
            });
            files.chain([machine.stdin.bytes])
        });
        let bodies = self.http.iter().flat_map(HttpRule::answers).filter_map(|answer| match answer {
            HttpReply::Response { body, .. } => Some(*body),
            HttpReply::Failure(_) | HttpReply::Component(_) => None,
        });
        let outputs = self.processes.iter().flat_map(ProcessRule::answers).flat_map(|answer| match answer {
            ProcessReply::Output { stdout, stderr, .. } => vec![*stdout, *stderr],
            ProcessReply::NotFound | ProcessReply::NotPermitted | ProcessReply::Component(_) => Vec::new(),
        });
        let components = self.programs().map(|program| program.component);
        let models = self.history.iter().filter_map(|criterion| criterion.component);
        let criteria = self.criteria.digests().chain(models);
        of_machines.chain(bodies).chain(outputs).chain(components).chain(criteria).collect()
    }
}

/// Bytes that a plan refers to, each once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inputs {
    blobs: BTreeMap<Digest, Arc<[u8]>>,
}

impl Inputs {
    /// Stores bytes and returns their name.
    pub fn add(&mut self, bytes: impl Into<Arc<[u8]>>) -> Digest {
        let bytes = bytes.into();
        let digest = Digest::of(&bytes);
        self.blobs.entry(digest).or_insert(bytes);
        digest
    }

    /// The bytes of that name. The empty input is always there.
    #[must_use]
    pub fn get(&self, digest: &Digest) -> Option<Arc<[u8]>> {
        let found = self.blobs.get(digest).cloned();
        found.or_else(|| (*digest == Digest::of(b"")).then(|| Arc::from([])))
    }

    /// All of them, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&Digest, &Arc<[u8]>)> {
        self.blobs.iter()
    }
}
