//! What a test of a Maelstrom workload is: what the flags of `fozzy maelstrom test` say, and how long it is.
//!
//! ```text
//! -w broadcast --rate 10 --time-limit 20 --nemesis partition ─▶ MaelstromOptions ─▶ driver --maelstrom={…}
//! ```
//!
//! Not here: what nodes and clients do (`runtime/player/maelstrom`), flags and their defaults (`fozzy-cli`).

mod goal;

pub use goal::MaelstromGoal;

/// Operations and nemesis steps of one test, at most.
pub const MAELSTROM_STEPS_MAX: u32 = 1_000_000;
/// Nodes of one test, at most.
pub const MAELSTROM_NODES_MAX: usize = 500;
/// Clients of one test, at most.
pub const MAELSTROM_CLIENTS_MAX: u32 = 10_000;

/// The weight of a flow whose likelihood is that of one operation a second.
const WEIGHT: f64 = 1_000_000.0;

/// The services that nodes may use, by the names that messages to them have.
pub const MAELSTROM_SERVICES: [&str; 4] = ["lin-kv", "seq-kv", "lww-kv", "lin-tso"];

/// A test.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct MaelstromOptions {
    /// What clients do.
    pub workload: MaelstromWorkload,
    /// The names of the nodes.
    pub nodes: Vec<String>,
    /// Clients at once.
    pub concurrency: u32,
    /// Operations a second, on average.
    pub rate: f64,
    /// Seconds during which operations begin.
    pub time_limit: f64,
    /// Milliseconds that a message between nodes is on its way, on average.
    pub latency: u64,
    /// How these vary.
    pub latency_dist: LatencyDistribution,
    /// The share of messages between nodes that is lost.
    pub p_loss: f64,
    /// What goes wrong.
    pub nemesis: Vec<NemesisKind>,
    /// Seconds between two of its steps, on average.
    pub nemesis_interval: f64,
    /// The nodes to which it happens; all, if none is named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nemesis_targets: Vec<String>,
    /// When partitions are looked at.
    pub partition_at: PartitionMoment,
    /// Whether the driver prints what becomes of each message.
    pub journal: bool,
    /// Which nodes are neighbours.
    pub topology: Topology,
    /// The share of operations that must succeed, if any must.
    pub availability: Option<f64>,
    /// Bounds of what is measured ([`MaelstromGoal::parse`]).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub goals: Vec<String>,
    /// What transactions are held to.
    pub consistency_models: Vec<String>,
    /// Keys that transactions work on at once.
    pub key_count: u32,
    /// Reads and writes of a transaction, at most.
    pub max_txn_length: u32,
    /// Writes of a key, after which another one takes its place.
    pub max_writes_per_key: u32,
}

/// A word of a command line that stands for something.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$case_doc:meta])* $case:ident = $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $($(#[$case_doc])* #[serde(rename = $word)] $case,)*
        }

        impl $name {
            /// All of them.
            pub const ALL: &'static [$name] = &[$($name::$case,)*];

            /// Its word.
            #[must_use]
            pub const fn word(self) -> &'static str {
                match self {
                    $($name::$case => $word,)*
                }
            }
        }
    };
}

words! {
    /// What clients do, and what must hold of it.
    MaelstromWorkload {
        /// A node answers with what it was sent.
        Echo = "echo",
        /// No two nodes generate the same identifier.
        UniqueIds = "unique-ids",
        /// Each node comes to know each message.
        Broadcast = "broadcast",
        /// A set that only grows.
        GSet = "g-set",
        /// A counter that only grows.
        GCounter = "g-counter",
        /// A counter that grows and shrinks.
        PnCounter = "pn-counter",
        /// Registers by key.
        LinKv = "lin-kv",
        /// Transactions that append to lists and read them.
        TxnListAppend = "txn-list-append",
        /// Transactions that write registers and read them.
        TxnRwRegister = "txn-rw-register",
        /// Logs, by key, in which each message has an offset.
        Kafka = "kafka",
    }
}

words! {
    /// How long messages are on their way.
    LatencyDistribution {
        /// Each as long as the others.
        Constant = "constant",
        /// From nothing to twice the mean, all equally likely.
        Uniform = "uniform",
        /// Mostly short, and some very long.
        Exponential = "exponential",
    }
}

words! {
    /// What goes wrong.
    NemesisKind {
        /// Nodes do not hear some others, as Maelstrom cuts them off.
        Partition = "partition",
        /// The same, in one direction.
        OneWay = "one-way",
        /// Messages take longer.
        Delay = "delay",
        /// Messages are lost.
        Loss = "loss",
        /// Messages come twice.
        Duplicate = "duplicate",
        /// Messages overtake others.
        Reorder = "reorder",
        /// Messages of some nodes take longer.
        Slow = "slow",
        /// Some nodes hear nothing, and everything afterwards.
        Jam = "jam",
        /// Some nodes are cut off one after the other, and come back in another order.
        Swizzle = "swizzle",
        /// Programs are gone, and start again.
        Kill = "kill",
        /// The same, and what was not durable on the disk is gone.
        PowerLoss = "power-loss",
        /// Nodes stand still.
        Pause = "pause",
        /// Some nodes take long for each message, one after the other.
        SlowNode = "slow-node",
        /// Wall clocks jump.
        Clock = "clock",
        /// Clocks run fast or slow.
        Drift = "drift",
        /// A bit of a file is another one.
        FileFlip = "file-flip",
        /// A sector of a file is zeros.
        FileLost = "file-lost",
        /// The second half of a sector of a file is zeros.
        FileTorn = "file-torn",
        /// A sector of a file stands where another one should be.
        FileMisdirect = "file-misdirect",
        /// A file is cut.
        FileTruncate = "file-truncate",
    }
}

words! {
    /// When a partition is looked at.
    PartitionMoment {
        /// When a message is received: what was on its way is lost, and what is due after it arrives.
        Receive = "receive",
        /// When a message is sent: what was on its way arrives.
        Send = "send",
    }
}

words! {
    /// Which nodes are neighbours, as nodes of the workload `broadcast` are told.
    Topology {
        /// Rows and columns.
        Grid = "grid",
        /// A chain.
        Line = "line",
        /// A binary tree.
        Tree = "tree",
        /// The same.
        Tree2 = "tree2",
        /// Three children each.
        Tree3 = "tree3",
        /// Four children each.
        Tree4 = "tree4",
        /// All are neighbours of all.
        Total = "total",
    }
}

impl NemesisKind {
    /// What damages files, for good: it has no end.
    pub const OF_FILES: [NemesisKind; 5] = [
        NemesisKind::FileFlip,
        NemesisKind::FileLost,
        NemesisKind::FileTorn,
        NemesisKind::FileMisdirect,
        NemesisKind::FileTruncate,
    ];
}

impl MaelstromOptions {
    /// Steps of the test: as many as its time has on average. Those that are left when its time is over are skipped.
    ///
    /// # Errors
    /// When there are too many, in a sentence.
    pub fn steps(&self) -> Result<u32, String> {
        if self.is_idle() {
            // Time passes in a step, too.
            return Ok(1);
        }
        let mean = self.time_limit * self.step_rate();
        let steps = mean.round();
        match steps <= f64::from(MAELSTROM_STEPS_MAX) {
            true => Ok(steps as u32),
            false => Err(format!(
                "the time limit and the rate come to {steps:.0} operations, and at most {MAELSTROM_STEPS_MAX} are possible"
            )),
        }
    }

    /// Whether nothing is done while the test lasts: no operation, and nothing goes wrong.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.step_rate() <= 0.0
    }

    /// Steps a second: operations, and what goes wrong and is repaired.
    #[must_use]
    pub fn step_rate(&self) -> f64 {
        self.rate + self.nemesis_rate()
    }

    /// How likely a step is to be an operation that comes this often a second.
    #[must_use]
    pub fn operation_weight(rate: f64) -> u32 {
        (rate * WEIGHT).min(f64::from(u32::MAX / 64)) as u32
    }

    /// How likely a step is to begin a fault of one kind, or to end it.
    #[must_use]
    pub fn fault_weight(&self) -> u32 {
        MaelstromOptions::operation_weight(1.0 / self.nemesis_interval).max(1)
    }

    /// The nodes to which something goes wrong.
    #[must_use]
    pub fn nemesis_nodes(&self) -> &[String] {
        if self.nemesis_targets.is_empty() { &self.nodes } else { &self.nemesis_targets }
    }

    /// Steps of the nemesis a second.
    #[must_use]
    pub fn nemesis_rate(&self) -> f64 {
        self.nemesis.len() as f64 / self.nemesis_interval
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_has_steps_for_its_time() {
        let options = MaelstromOptions {
            workload: MaelstromWorkload::Echo,
            nodes: vec!["n0".to_owned()],
            concurrency: 1,
            rate: 5.0,
            time_limit: 60.0,
            latency: 0,
            latency_dist: LatencyDistribution::Constant,
            p_loss: 0.0,
            nemesis: Vec::new(),
            nemesis_interval: 10.0,
            nemesis_targets: Vec::new(),
            partition_at: PartitionMoment::Receive,
            journal: false,
            topology: Topology::Grid,
            availability: None,
            goals: Vec::new(),
            consistency_models: vec!["serializable".to_owned()],
            key_count: 10,
            max_txn_length: 4,
            max_writes_per_key: 16,
        };
        assert_eq!(options.steps(), Ok(300));
        assert_eq!(MaelstromOptions { rate: 0.0, ..options.clone() }.steps(), Ok(1), "time passes");
        let partitioned = MaelstromOptions { nemesis: vec![NemesisKind::Partition], ..options.clone() };
        assert_eq!(partitioned.steps(), Ok(306));
        let why = MaelstromOptions { rate: 1e9, ..options.clone() }.steps().expect_err("too many");
        assert!(why.contains("at most 1000000"), "{why}");
        let text = serde_json::to_string(&partitioned).expect("plain values");
        assert_eq!(serde_json::from_str::<MaelstromOptions>(&text).expect("its own text"), partitioned);
        assert!(text.contains(r#""nemesis":["partition"]"#) && text.contains(r#""latency-dist":"constant""#), "{text}");
    }
}
