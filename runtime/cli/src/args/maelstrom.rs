//! What `fozzy maelstrom` tests: the flags of Maelstrom, with its names and defaults, and those of a run.

use super::{CollisionArg, ReportFormatArg, SeedArg};
use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use fozzy_scenario_file::{
    LatencyDistribution, MaelstromGoal, MaelstromOptions, MaelstromWorkload, NemesisKind, PartitionMoment, Topology,
};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// All that damages files.
const DISK: &str = "disk";

/// What is done with nodes of the Maelstrom protocol.
#[derive(Debug, Subcommand)]
pub(crate) enum MaelstromCommand {
    /// Test nodes: run a cluster of them on a simulated network, with clients and faults, and judge what the clients saw.
    Test(Box<MaelstromTestArgs>),
}

/// The program of a node reads messages from standard input and writes them to standard output, one JSON object a line, as it does
/// for Maelstrom. Exit code: 0 valid, 1 invalid, 2 unknown (not decided within the bounds of a run), error or usage, 3 timeout or hang,
/// 4 a node crashed.
#[derive(Debug, Args)]
pub(crate) struct MaelstromTestArgs {
    /// What clients do, and what must hold of it.
    #[arg(short, long, value_name = "WORKLOAD", default_value = "lin-kv", value_parser = words(&MaelstromWorkload::ALL.iter().map(|one| one.word()).collect::<Vec<_>>()))]
    pub(crate) workload: String,
    /// The program of a node: a WASI preview 1 module, a component, the text format of either, or a folder that is built: a crate, a module of
    /// Go, or whatever a Makefile makes.
    #[arg(long, value_name = "PATH")]
    pub(crate) bin: PathBuf,
    /// How many nodes there are: n0, n1, … [default: five nodes, n1 to n5]
    #[arg(long, value_name = "N", conflicts_with = "nodes")]
    pub(crate) node_count: Option<u32>,
    /// The names of the nodes.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub(crate) nodes: Option<Vec<String>>,
    /// Clients at once: a number, or so many for each node, such as 2n.
    #[arg(long, value_name = "N|Nn", default_value = "1n")]
    pub(crate) concurrency: String,
    /// Operations a second, on average; with 0 there are none, and only time passes.
    #[arg(long, value_name = "HZ", default_value_t = 5.0)]
    pub(crate) rate: f64,
    /// Seconds of virtual time during which operations begin.
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0)]
    pub(crate) time_limit: f64,
    /// Milliseconds that a message between nodes is on its way, on average.
    #[arg(long, value_name = "MS", default_value_t = 0)]
    pub(crate) latency: u64,
    /// How latencies vary.
    #[arg(long, value_name = "DIST", default_value = "constant", value_parser = words(&LatencyDistribution::ALL.iter().map(|one| one.word()).collect::<Vec<_>>()))]
    pub(crate) latency_dist: String,
    /// The share of messages between nodes that is lost, 0 to 1.
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    pub(crate) p_loss: f64,
    /// What goes wrong, each kind for itself: partition, one-way, delay, loss, duplicate, reorder, slow, jam, swizzle, kill, power-loss, pause,
    /// slow-node, clock, drift; file-flip, file-lost, file-torn, file-misdirect, file-truncate, or disk for these five.
    #[arg(long, value_name = "KIND,…", value_delimiter = ',')]
    pub(crate) nemesis: Vec<String>,
    /// Seconds between two steps of what goes wrong, on average.
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0)]
    pub(crate) nemesis_interval: f64,
    /// The nodes to which it happens: faults of messages strike those from and to them, partitions are between them. Without it, all.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', requires = "nemesis")]
    pub(crate) nemesis_targets: Vec<String>,
    /// When a partition is looked at: when a message is received, as Maelstrom does, or when it is sent, so that what is on its way arrives.
    #[arg(long, value_name = "MOMENT", default_value = "receive", value_parser = words(&PartitionMoment::ALL.iter().map(|one| one.word()).collect::<Vec<_>>()))]
    pub(crate) partition_at: String,
    /// Which nodes are neighbours, as nodes of the workload broadcast are told.
    #[arg(long, value_name = "TOPOLOGY", default_value = "grid", value_parser = words(&Topology::ALL.iter().map(|one| one.word()).collect::<Vec<_>>()))]
    pub(crate) topology: String,
    /// The share of operations that must succeed: `total`, or 0 to 1.
    #[arg(long, value_name = "total|SHARE")]
    pub(crate) availability: Option<String>,
    /// What transactions are held to, such as strict-serializable, serializable, snapshot-isolation, read-committed, read-uncommitted.
    #[arg(long, value_name = "LEVEL,…", value_delimiter = ',', default_value = "strict-serializable")]
    pub(crate) consistency_models: Vec<String>,
    /// Keys that transactions work on at once.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) key_count: u32,
    /// Reads and writes of a transaction, at most.
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) max_txn_length: u32,
    /// Writes of a key, after which another one takes its place.
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_writes_per_key: u32,
    /// Show what nodes write to standard error, each line after the node's name.
    #[arg(long)]
    pub(crate) log_stderr: bool,
    /// Show each message that is sent, and when.
    #[arg(long, conflicts_with = "seeds")]
    pub(crate) log_net_send: bool,
    /// Show each message that is received, and when.
    #[arg(long, conflicts_with = "seeds")]
    pub(crate) log_net_recv: bool,
    /// What the test is to come to, or it fails: bounds of msgs-per-op, ok-fraction, and the stable latencies median, p95, p99 and
    /// max (of broadcast and g-set), such as 'msgs-per-op<30,median<400ms,max<600ms'.
    #[arg(long, value_name = "GOAL,…", value_delimiter = ',', value_parser = MaelstromGoal::parse)]
    pub(crate) goal: Vec<MaelstromGoal>,
    /// The seed of everything that is left to chance: a number, or `random` for a fresh one, which is printed first.
    #[arg(long, value_name = "N|random", default_value = "0", value_parser = SeedArg::parse, overrides_with = "seed")]
    pub(crate) seed: SeedArg,
    /// Test with many seeds: FROM..TO, both included, or how many from --seed on; at most 100,000. A trace is kept of the first
    /// seed that fails in each way.
    #[arg(long, alias = "test-count", value_name = "N|FROM..TO", conflicts_with = "out")]
    pub(crate) seeds: Option<String>,
    /// End at the first seed that fails.
    #[arg(long, requires = "seeds")]
    pub(crate) until_failure: bool,
    /// Seeds that run in parallel. The results do not depend on it.
    #[arg(long, value_name = "N", requires = "seeds", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) jobs: u32,
    /// The budget of instructions of each machine [default: one that grows with the rate and the time]
    #[arg(long, value_name = "N")]
    pub(crate) fuel: Option<u64>,
    /// The limit of what each machine writes to its standard streams, such as 10MiB; more is a failure [default: 1GiB]
    #[arg(long, value_name = "SIZE", value_parser = fozzy_plan::ByteSize::parse)]
    pub(crate) output_limit: Option<fozzy_plan::ByteSize>,
    /// Write the test as one page that needs nothing else: results, operations with latencies and rates, and the run step by step, with its
    /// messages, logs and faults.
    #[arg(long, value_name = "FILE", conflicts_with = "seeds")]
    pub(crate) html: Option<PathBuf>,
    /// Write index.html (the same page), results.edn, results.json, history.edn, history.jsonl, history.txt, messages.svg (a diagram of the messages, and further ones
    /// behind it) and node-logs/ to this folder.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Write the test as a self-contained trace, which `fozzy replay` repeats without the program's file.
    #[arg(long, value_name = "PATH")]
    pub(crate) record: Option<PathBuf>,
    /// What to do when the trace exists: refuse, replace it, or write `stem.N.ext`.
    #[arg(long, value_name = "POLICY", default_value = "append")]
    pub(crate) record_collision: CollisionArg,
    /// Format of the summary of --seeds [default: `reporter` of fozzy.toml, or pretty]
    #[arg(long, value_name = "FORMAT", requires = "seeds")]
    pub(crate) reporter: Option<ReportFormatArg>,
    /// Arguments of the nodes.
    #[arg(last = true, value_name = "ARGS")]
    pub(crate) args: Vec<String>,
}

fn words(all: &[&'static str]) -> PossibleValuesParser {
    PossibleValuesParser::new(all.iter().copied())
}

impl MaelstromTestArgs {
    /// The options of the test.
    ///
    /// # Errors
    /// What is wrong with a flag, in a sentence.
    pub(crate) fn options(&self) -> Result<MaelstromOptions, String> {
        let nodes = match (&self.nodes, self.node_count) {
            (Some(nodes), _) => nodes.clone(),
            (None, Some(count)) => (0..count).map(|number| format!("n{number}")).collect(),
            (None, None) => (1..=5).map(|number| format!("n{number}")).collect(),
        };
        let mut nemesis: BTreeSet<NemesisKind> = BTreeSet::new();
        for word in self.nemesis.iter().map(|word| word.trim()) {
            match word {
                "membership" => {
                    let why = "`init` names all nodes of a test, and none joins or leaves later: a cluster of your own can (`[[nemesis]]`)";
                    return Err(format!("--nemesis membership: {why}"));
                }
                DISK => nemesis.extend(NemesisKind::OF_FILES),
                word => drop(nemesis.insert(named(NemesisKind::ALL, |one| one.word(), word)?)),
            }
        }
        let targets: BTreeSet<&str> = self.nemesis_targets.iter().map(|name| name.trim()).collect();
        Ok(MaelstromOptions {
            workload: named(MaelstromWorkload::ALL, |one| one.word(), &self.workload)?,
            concurrency: concurrency(&self.concurrency, nodes.len())?,
            nodes,
            rate: self.rate,
            time_limit: self.time_limit,
            latency: self.latency,
            latency_dist: named(LatencyDistribution::ALL, |one| one.word(), &self.latency_dist)?,
            p_loss: self.p_loss,
            nemesis: nemesis.into_iter().collect(),
            nemesis_interval: self.nemesis_interval,
            nemesis_targets: targets.into_iter().map(str::to_owned).collect(),
            partition_at: named(PartitionMoment::ALL, |one| one.word(), &self.partition_at)?,
            journal: self.out.is_some() || self.log_net_send || self.log_net_recv,
            topology: named(Topology::ALL, |one| one.word(), &self.topology)?,
            availability: self.availability.as_deref().map(availability).transpose()?,
            goals: self.goal.iter().map(|goal| goal.words.clone()).collect(),
            consistency_models: self.consistency_models.iter().map(|model| model.trim().to_owned()).collect(),
            key_count: self.key_count,
            max_txn_length: self.max_txn_length,
            max_writes_per_key: self.max_writes_per_key,
        })
    }
}

fn named<T: Copy>(all: &[T], word_of: impl Fn(T) -> &'static str, word: &str) -> Result<T, String> {
    let known = || all.iter().map(|one| word_of(*one)).collect::<Vec<_>>().join(", ");
    all.iter()
        .copied()
        .find(|one| word_of(*one) == word)
        .ok_or_else(|| format!("there is no `{word}`, only {}", known()))
}

fn concurrency(words: &str, nodes: usize) -> Result<u32, String> {
    let wrong = || format!("--concurrency: expected a number, or one for each node such as 2n, found `{words}`");
    let (number, each) = words.strip_suffix('n').map_or((words, 1), |number| (number, nodes));
    let number: u32 = number.parse().map_err(|_| wrong())?;
    u32::try_from(each).ok().and_then(|each| number.checked_mul(each)).ok_or_else(wrong)
}

fn availability(words: &str) -> Result<f64, String> {
    match words {
        "total" => Ok(1.0),
        share => share
            .parse()
            .map_err(|_| format!("--availability: expected `total`, or a share from 0 to 1, found `{share}`")),
    }
}
