//! Scenarios of steps, version 1: what stands in `steps`.
//!
//! ```text
//! { "version": 1, "name": "kv", "steps": [ { "type": "set_kv", "key": "a", "value": "1" }, … ] }
//! ```

use crate::json::JsonNode;
use crate::payload::Payload;
use crate::read::ReadProblem;
use crate::time::StepDuration;
use crate::{NAME_BYTES_MAX, STEPS_MAX};
use serde::de::{Deserialize, Deserializer};
use std::collections::BTreeMap;

/// A file with `steps`.
#[derive(Clone, Debug, PartialEq, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StepsFile {
    /// The version of the format: 1.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 1)))]
    pub version: u32,
    /// The name of the scenario.
    pub name: String,
    /// What is done, in this order.
    pub steps: Vec<Step>,
}

/// One step.
#[derive(Clone, Debug, PartialEq, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(tag = "type"))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Step {
    /// Something that is to stand in the history of the run.
    TraceEvent {
        /// What happened.
        name: String,
        /// With what.
        #[serde(default)]
        fields: BTreeMap<String, serde_json::Value>,
    },
    /// Draws a number.
    RandU64 {
        /// Where it is kept, as a decimal number.
        #[serde(default)]
        key: Option<String>,
    },
    /// Holds when `value` is true.
    AssertOk {
        /// What is to hold.
        value: bool,
        /// Said when it does not.
        #[serde(default)]
        msg: Option<String>,
    },
    /// Holds when both numbers are equal.
    AssertEqInt {
        /// One number.
        a: i64,
        /// The other.
        b: i64,
        /// Said when they differ.
        #[serde(default)]
        msg: Option<String>,
    },
    /// Holds when the numbers differ.
    AssertNeInt {
        /// One number.
        a: i64,
        /// The other.
        b: i64,
        /// Said when they are equal.
        #[serde(default)]
        msg: Option<String>,
    },
    /// Holds when both texts are equal.
    AssertEqStr {
        /// One text.
        a: String,
        /// The other.
        b: String,
        /// Said when they differ.
        #[serde(default)]
        msg: Option<String>,
    },
    /// Holds when the texts differ.
    AssertNeStr {
        /// One text.
        a: String,
        /// The other.
        b: String,
        /// Said when they are equal.
        #[serde(default)]
        msg: Option<String>,
    },
    /// Waits: virtual time passes.
    Sleep {
        /// How long.
        duration: StepDuration,
    },
    /// Moves the clock forward at once, also while time stands still.
    Advance {
        /// How far.
        duration: StepDuration,
    },
    /// Time stands still from here on: readings of the clock give one moment, and waiting takes no time.
    Freeze {
        /// Milliseconds since the start to which the clock is moved first; it must not lie in the past.
        #[serde(default)]
        at_ms: Option<u64>,
    },
    /// Time moves again.
    Unfreeze {},
    /// Stores a value under a key.
    SetKv {
        /// The key.
        key: String,
        /// The value.
        value: String,
    },
    /// Holds when what is stored under a key is what is said; without `equals` and `is_null`, when anything is.
    GetKvAssert(KvRead),
    /// Writes a file; folders on the way are made.
    FsWrite {
        /// The file.
        path: String,
        /// What it holds afterwards.
        data: Payload,
    },
    /// Holds when a file is there and holds this.
    FsReadAssert {
        /// The file.
        path: String,
        /// What it is to hold.
        equals: Payload,
    },
    /// Keeps all files under a name.
    FsSnapshot {
        /// The name.
        name: String,
    },
    /// Makes the files what they were at a snapshot.
    FsRestore {
        /// Its name.
        name: String,
    },
    /// How a request is answered from now on; the first that fits answers.
    HttpWhen(HttpRuleStep),
    /// Sends a request, and looks at the response.
    HttpRequest(HttpRequest),
    /// How a command is answered from now on; the first that fits answers.
    ProcWhen(ProcRuleStep),
    /// Runs a command, and looks at how it ended.
    ProcSpawn(ProcSpawn),
    /// Two nodes do not reach each other.
    NetPartition {
        /// One node.
        a: String,
        /// The other.
        b: String,
    },
    /// They reach each other again.
    NetHeal {
        /// One node.
        a: String,
        /// The other.
        b: String,
    },
    /// How likely a message is lost on its way.
    NetSetDropRate {
        /// From 0 to 1.
        #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 1.0)))]
        rate: f64,
    },
    /// Whether messages may overtake each other.
    NetSetReorder {
        /// Whether they may.
        enabled: bool,
    },
    /// Sends a message.
    NetSend {
        /// From this node.
        from: String,
        /// To this one.
        to: String,
        /// What it says.
        payload: Payload,
    },
    /// Delivers one message; none that could be is a failure.
    NetDeliverOne {
        /// Which one.
        #[serde(default)]
        strategy: Option<DeliveryStrategy>,
    },
    /// Holds when a message was delivered to a node; it is taken away.
    NetRecvAssert {
        /// To this node.
        node: String,
        /// From this one; without it, from any.
        #[serde(default)]
        from: Option<String>,
        /// What it says.
        payload: Payload,
    },
    /// Takes memory of the scenario's own, which is counted and not used.
    MemoryAlloc {
        /// How much.
        bytes: u64,
        /// Under which key the number of the allocation is kept.
        #[serde(default)]
        key: Option<String>,
        /// What it is for.
        #[serde(default)]
        tag: Option<String>,
    },
    /// Gives it back.
    MemoryFree(AllocKey),
    /// From now on no more than this may be taken.
    MemoryLimitMb {
        /// In MiB.
        mb: u64,
    },
    /// The number of allocations that succeed from now on; those after them fail.
    MemoryFailAfterAllocs {
        /// How many.
        count: u64,
    },
    /// From now on allocations are up to 30 % larger.
    MemoryFragmentation {
        /// How much each is follows from this.
        seed: u64,
    },
    /// Factors by which allocations are enlarged from now on, in turn.
    MemoryPressureWave {
        /// Whole numbers with commas between them: `1,2,4`.
        pattern: String,
    },
    /// What is in use is to stand in the history.
    MemoryCheckpoint {
        /// Under this name.
        name: String,
    },
    /// Holds when so much is in use.
    MemoryAssertInUseBytes {
        /// In bytes.
        equals: u64,
    },
    /// Holds when one of the steps fails; what they did is taken back.
    AssertThrows {
        /// The steps.
        steps: Vec<Step>,
    },
    /// The same as `assert_throws`.
    AssertRejects {
        /// The steps.
        steps: Vec<Step>,
    },
    /// Holds when a key has this value within some time.
    AssertEventuallyKv(KvPoll),
    /// Holds when a key does not have this value for some time.
    AssertNeverKv(KvPoll),
    /// The scenario has failed.
    Fail {
        /// Why.
        message: String,
    },
    /// The scenario is broken off.
    Panic {
        /// Why.
        message: String,
    },
}

/// What is to stand under a key.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct KvRead {
    /// The key.
    pub key: String,
    /// The value that is to be there.
    #[serde(default)]
    pub equals: Option<String>,
    /// Whether nothing is to be there. Not beside `equals`.
    #[serde(default)]
    pub is_null: Option<bool>,
}

/// What a key is looked at for.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct KvPoll {
    /// The key.
    pub key: String,
    /// The value.
    pub equals: String,
    /// How long it is looked for.
    pub within: StepDuration,
    /// How long it is waited between two looks; more than 0.
    pub poll: StepDuration,
    /// Said when it does not hold.
    #[serde(default)]
    pub msg: Option<String>,
}

/// Which allocation: by its number, or by the key that it is kept under.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct AllocKey {
    /// Its number.
    #[serde(default)]
    pub alloc_id: Option<u64>,
    /// Its key.
    #[serde(default)]
    pub key: Option<String>,
}

/// How a message is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DeliveryStrategy {
    /// Any, when messages may overtake each other; else the first.
    Random,
    /// The first.
    Fifo,
}

/// A body, as bytes or as JSON.
#[derive(Clone, Debug, PartialEq)]
pub enum BodyContent<'a> {
    /// As it is.
    Plain(&'a Payload),
    /// As any text that says the same.
    Json(&'a serde_json::Value),
}

impl<'a> BodyContent<'a> {
    fn of(plain: Option<&'a Payload>, json: Option<&'a serde_json::Value>) -> Option<BodyContent<'a>> {
        plain.map(BodyContent::Plain).or_else(|| json.map(BodyContent::Json))
    }
}

/// How a request is answered.
#[derive(Clone, Debug, PartialEq, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct HttpRuleStep {
    /// Its method, in capitals.
    pub method: String,
    /// Its path with its query, or its whole URL.
    pub path: String,
    /// The status of the response, 100 to 999.
    #[cfg_attr(feature = "schema", schemars(range(min = 100, max = 999)))]
    pub status: u16,
    /// Headers of the response.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// Its body.
    #[serde(default)]
    pub body: Option<Payload>,
    /// Its body, as JSON. Not beside `body`.
    #[serde(default, deserialize_with = "present")]
    pub json: Option<serde_json::Value>,
    /// How long the response takes.
    #[serde(default)]
    pub delay: Option<StepDuration>,
    /// How many requests are answered; without it, all.
    #[serde(default)]
    pub times: Option<u64>,
}

impl HttpRuleStep {
    /// The body of the response.
    #[must_use]
    pub fn answer(&self) -> Option<BodyContent<'_>> {
        BodyContent::of(self.body.as_ref(), self.json.as_ref())
    }
}

/// A request.
#[derive(Clone, Debug, PartialEq, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct HttpRequest {
    /// Its method, in capitals.
    pub method: String,
    /// Its path with its query, or its whole URL.
    pub path: String,
    /// Its headers.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// Its body.
    #[serde(default)]
    pub body: Option<Payload>,
    /// The status that the response is to have.
    #[serde(default)]
    pub expect_status: Option<u16>,
    /// Headers that it is to have.
    #[serde(default)]
    pub expect_headers: BTreeMap<String, String>,
    /// The body that it is to have.
    #[serde(default)]
    pub expect_body: Option<Payload>,
    /// The same, as JSON. Not beside `expect_body`.
    #[serde(default, deserialize_with = "present")]
    pub expect_json: Option<serde_json::Value>,
    /// The key under which its body is kept.
    #[serde(default)]
    pub save_body_as: Option<String>,
}

impl HttpRequest {
    /// The body that the response is to have.
    #[must_use]
    pub fn expected(&self) -> Option<BodyContent<'_>> {
        BodyContent::of(self.expect_body.as_ref(), self.expect_json.as_ref())
    }
}

/// How a command is answered.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ProcRuleStep {
    /// The command.
    pub cmd: String,
    /// Its arguments.
    #[serde(default)]
    pub args: Vec<String>,
    /// With what it ends.
    pub exit_code: i32,
    /// What it writes to standard output.
    #[serde(default)]
    pub stdout: Option<Payload>,
    /// What it writes to standard error.
    #[serde(default)]
    pub stderr: Option<Payload>,
    /// How many commands are answered; without it, all.
    #[serde(default)]
    pub times: Option<u64>,
}

/// A command.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ProcSpawn {
    /// The command.
    pub cmd: String,
    /// Its arguments.
    #[serde(default)]
    pub args: Vec<String>,
    /// With what it is to end.
    #[serde(default)]
    pub expect_exit: Option<i32>,
    /// What it is to write to standard output.
    #[serde(default)]
    pub expect_stdout: Option<Payload>,
    /// What it is to write to standard error.
    #[serde(default)]
    pub expect_stderr: Option<Payload>,
    /// The key under which its standard output is kept.
    #[serde(default)]
    pub save_stdout_as: Option<String>,
}

/// A value that is there, even if it is `null`.
pub(crate) fn present<'de, D: Deserializer<'de>>(from: D) -> Result<Option<serde_json::Value>, D::Error> {
    serde_json::Value::deserialize(from).map(Some)
}

/// Names the kinds of steps, once each: for reports, and for the counts of a run.
macro_rules! kinds {
    ($($name:literal = $variant:pat),* $(,)?) => {
        impl Step {
            /// The names of all kinds, in the order of the description of the format.
            pub const KINDS: &'static [&'static str] = &[$($name),*];

            /// The name of its kind.
            #[must_use]
            pub fn kind(&self) -> &'static str {
                match self {
                    $($variant => $name),*
                }
            }
        }
    };
}

kinds! {
    "trace_event" = Step::TraceEvent { .. },
    "rand_u64" = Step::RandU64 { .. },
    "assert_ok" = Step::AssertOk { .. },
    "assert_eq_int" = Step::AssertEqInt { .. },
    "assert_ne_int" = Step::AssertNeInt { .. },
    "assert_eq_str" = Step::AssertEqStr { .. },
    "assert_ne_str" = Step::AssertNeStr { .. },
    "sleep" = Step::Sleep { .. },
    "advance" = Step::Advance { .. },
    "freeze" = Step::Freeze { .. },
    "unfreeze" = Step::Unfreeze {},
    "set_kv" = Step::SetKv { .. },
    "get_kv_assert" = Step::GetKvAssert(_),
    "fs_write" = Step::FsWrite { .. },
    "fs_read_assert" = Step::FsReadAssert { .. },
    "fs_snapshot" = Step::FsSnapshot { .. },
    "fs_restore" = Step::FsRestore { .. },
    "http_when" = Step::HttpWhen(_),
    "http_request" = Step::HttpRequest(_),
    "proc_when" = Step::ProcWhen(_),
    "proc_spawn" = Step::ProcSpawn(_),
    "net_partition" = Step::NetPartition { .. },
    "net_heal" = Step::NetHeal { .. },
    "net_set_drop_rate" = Step::NetSetDropRate { .. },
    "net_set_reorder" = Step::NetSetReorder { .. },
    "net_send" = Step::NetSend { .. },
    "net_deliver_one" = Step::NetDeliverOne { .. },
    "net_recv_assert" = Step::NetRecvAssert { .. },
    "memory_alloc" = Step::MemoryAlloc { .. },
    "memory_free" = Step::MemoryFree(_),
    "memory_limit_mb" = Step::MemoryLimitMb { .. },
    "memory_fail_after_allocs" = Step::MemoryFailAfterAllocs { .. },
    "memory_fragmentation" = Step::MemoryFragmentation { .. },
    "memory_pressure_wave" = Step::MemoryPressureWave { .. },
    "memory_checkpoint" = Step::MemoryCheckpoint { .. },
    "memory_assert_in_use_bytes" = Step::MemoryAssertInUseBytes { .. },
    "assert_throws" = Step::AssertThrows { .. },
    "assert_rejects" = Step::AssertRejects { .. },
    "assert_eventually_kv" = Step::AssertEventuallyKv(_),
    "assert_never_kv" = Step::AssertNeverKv(_),
    "fail" = Step::Fail { .. },
    "panic" = Step::Panic { .. },
}

impl Step {
    /// Whether it only says how something else is answered.
    #[must_use]
    pub fn is_rule(&self) -> bool {
        matches!(self, Step::HttpWhen(_) | Step::ProcWhen(_))
    }

    /// The steps inside of it.
    #[must_use]
    pub fn inner(&self) -> &[Step] {
        match self {
            Step::AssertThrows { steps } | Step::AssertRejects { steps } => steps,
            _ => &[],
        }
    }

    /// Itself and all steps inside of it.
    #[must_use]
    pub fn count(&self) -> usize {
        1 + self.inner().iter().map(Step::count).sum::<usize>()
    }

    /// The factors of a pressure wave.
    #[must_use]
    pub fn wave(pattern: &str) -> Option<Vec<u64>> {
        let factors: Option<Vec<u64>> = pattern.split(',').map(|word| word.trim().parse().ok()).collect();
        factors.filter(|factors| factors.iter().all(|factor| *factor > 0))
    }

    /// What is wrong with it, and in which of its fields.
    pub(crate) fn problem(&self) -> Option<(&'static str, String)> {
        let name = |field, name: &str| {
            let fits = !name.is_empty() && name.len() <= NAME_BYTES_MAX;
            (!fits).then(|| (field, format!("expected 1 to {NAME_BYTES_MAX} bytes, found {}", name.len())))
        };
        let both = |a: bool, b: bool, field, what: &str| (a && b).then(|| (field, what.to_owned()));
        match self {
            Step::TraceEvent { name: word, .. }
            | Step::FsSnapshot { name: word }
            | Step::FsRestore { name: word }
            | Step::MemoryCheckpoint { name: word } => name("name", word),
            Step::GetKvAssert(read) => {
                both(read.equals.is_some(), read.is_null.is_some(), "is_null", "not beside `equals`")
            }
            Step::MemoryFree(AllocKey { alloc_id, key }) => match (alloc_id, key) {
                (Some(_), Some(_)) => Some(("key", "not beside `alloc_id`".to_owned())),
                (None, None) => Some(("", "`alloc_id` or `key` is missing".to_owned())),
                _ => None,
            },
            Step::NetSetDropRate { rate } if !(0.0..=1.0).contains(rate) => {
                Some(("rate", format!("expected a number from 0 to 1, found {rate}")))
            }
            Step::MemoryPressureWave { pattern } if Step::wave(pattern).is_none() => {
                Some(("pattern", "expected whole numbers above 0 with commas between them, such as `1,2,4`".to_owned()))
            }
            Step::HttpWhen(when) => both(when.body.is_some(), when.json.is_some(), "json", "not beside `body`")
                .or_else(|| status("status", when.status))
                .or_else(|| method(&when.method))
                .or_else(|| name("path", &when.path)),
            Step::HttpRequest(request) => {
                let bodies = both(
                    request.expect_body.is_some(),
                    request.expect_json.is_some(),
                    "expect_json",
                    "not beside `expect_body`",
                );
                bodies
                    .or_else(|| method(&request.method))
                    .or_else(|| request.expect_status.and_then(|code| status("expect_status", code)))
                    .or_else(|| url(&request.path))
            }
            Step::ProcWhen(ProcRuleStep { cmd, .. }) | Step::ProcSpawn(ProcSpawn { cmd, .. }) if cmd.is_empty() => {
                Some(("cmd", "is empty".to_owned()))
            }
            Step::AssertThrows { steps } | Step::AssertRejects { steps } if steps.is_empty() => {
                Some(("steps", "no step, so nothing can fail".to_owned()))
            }
            Step::AssertEventuallyKv(poll) | Step::AssertNeverKv(poll) if poll.poll.0.is_zero() => {
                Some(("poll", "expected more than 0: no time would pass between two looks".to_owned()))
            }
            _ => None,
        }
    }
}

fn status(field: &'static str, code: u16) -> Option<(&'static str, String)> {
    (!(100..=999).contains(&code)).then(|| (field, format!("expected 100 to 999, found {code}")))
}

fn method(word: &str) -> Option<(&'static str, String)> {
    let fits = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_uppercase());
    (!fits).then(|| {
        ("method", format!("expected a method in capitals, such as `GET`, found {}", crate::read::quoted(word)))
    })
}

fn url(path: &str) -> Option<(&'static str, String)> {
    let fits = path.starts_with('/') || path.starts_with("http://") || path.starts_with("https://");
    let what = || {
        format!(
            "expected a path that begins with `/`, or a URL with `http://` or `https://`, found {}",
            crate::read::quoted(path)
        )
    };
    (!fits).then(|| ("path", what()))
}

impl StepsFile {
    pub(crate) fn check(&self, root: &JsonNode) -> Result<(), ReadProblem> {
        let node = root.member("steps").unwrap_or(root);
        if self.steps.iter().all(Step::is_rule) {
            let what = match self.steps.is_empty() {
                true => "steps: no_steps_executed: there is no step, so nothing would be tested",
                false => {
                    "steps: no_steps_executed: steps that only say how something is answered; nothing would be tested"
                }
            };
            return Err(ReadProblem::at(node.at, what));
        }
        let count: usize = self.steps.iter().map(Step::count).sum();
        if count > STEPS_MAX {
            let what = format!("steps: {count} steps, and a scenario can have {STEPS_MAX}");
            return Err(ReadProblem::at(node.at, what));
        }
        check(&self.steps, node)
    }
}

/// The first thing that is wrong with steps, with those inside of them.
fn check(steps: &[Step], list: &JsonNode) -> Result<(), ReadProblem> {
    for (number, step) in steps.iter().enumerate() {
        let node = list.element(number).unwrap_or(list);
        if let Some((field, what)) = step.problem() {
            let kind = step.kind();
            let what = if field.is_empty() { format!("{kind}: {what}") } else { format!("{kind}: {field}: {what}") };
            return Err(ReadProblem::at(node.member(field).unwrap_or(node).at, what));
        }
        if let Some(inner) = node.member("steps").filter(|_| !step.inner().is_empty()) {
            check(step.inner(), inner)?;
        }
    }
    Ok(())
}
