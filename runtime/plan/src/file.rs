//! A plan file as it is written: one type for each table, one field for each key.
//!
//! The comments here are what the JSON Schema says of the keys. Strictness is not in these types but in the walk
//! over the schema that is made of them (`walk.rs`), since serde cannot refuse unknown keys beside `flatten`.
//! Paths of the real computer are joined with the folder of the file when it is read.

use crate::cluster::ClusterTable;
use crate::named::NamedValues;
use crate::nemesis::NemesisFile;
use crate::notation::{Bandwidth, ByteSize, FaultRate, NamedAllocator, Strength, TimeSpan, WallStart};
use crate::stdin::StdinFile;
use fozzy_trace::Digest;
use fozzy_trace::plan::counted::{PlaceholderValues, counted_names, node_text_parts};
use fozzy_trace::plan::criteria::is_model_path;
use fozzy_trace::plan::{CountedNode, HistoryCriterion};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use std::borrow::Cow;
use std::path::PathBuf;

/// Everything but the program and the seed that an execution depends on. Paths of the real computer are relative to
/// the folder of this file.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case")]
pub struct PlanFile {
    /// The machine that runs the target.
    #[serde(flatten)]
    pub machine: MachineFile,
    /// The wall clock at the start: 2025-01-01T00:00:00Z, or the seconds since 1970. Default: just this.
    pub wall_start: Option<WallStart>,
    /// Whether every NaN that a computation produces gets one bit pattern. Off is faster for float-heavy programs, and
    /// ties a trace to one family of processors. Default: true.
    pub canonical_nans: Option<bool>,
    /// Whether the programs check their accesses to memory, which makes them some two to three times slower. Default: false.
    pub memcheck: Option<bool>,
    /// Functions by which programs allocate, beside those that are recognised by their names: `malloc=NAME`, `free=func[13]`. `malloc` can
    /// also be `calloc`, `realloc`, `aligned_alloc` or `posix_memalign`; the function has the parameters of that.
    pub allocators: Vec<NamedAllocator>,
    /// Bounds of the execution.
    pub limits: LimitsFile,
    /// What allocations are held to.
    pub memory: MemoryFile,
    /// What answers the program where the real computer could.
    pub backends: BackendsFile,
    /// Scripted HTTP: rules for outgoing requests, tried in this order. A request that none matches is a finding.
    pub http: Vec<HttpFile>,
    /// Scripted processes: rules for commands, tried in this order. A command that none matches is a finding.
    pub process: Vec<ProcessFile>,
    /// The network between the machines of the run.
    pub network: NetworkFile,
    /// Further machines. They run until the target ends.
    pub node: Vec<NodeFile>,
    /// The component that the scenario calls: it exports an interface that the scenario imports, and has a machine of
    /// its own, `target`.
    pub target: Option<ComponentFile>,
    /// How many instances of the target the scenario calls, each with a memory, files and a machine of its own. One is called
    /// `target`, several are `n0`, `n1` and so on. Default: 1.
    #[schemars(range(min = 1, max = 100))]
    pub target_instances: Option<u32>,
    /// What goes wrong. Whether a fault strikes is a decision: recorded, replayed and shrunk.
    pub fault: Vec<FaultFile>,
    /// What goes wrong at moments of the run: machines are cut off, killed, their clocks jump. It begins, hits some machines, and ends.
    pub nemesis: Vec<NemesisFile>,
    /// The program that calls the machines, phases of a run, and how many machines may be hit at once.
    pub cluster: ClusterTable,
    /// Whether the program of the run may exit with an error once a fault has struck: then only what is worse is a failure, a panic or a
    /// wrong answer. Of another machine, `ends` says it. Default: false.
    pub allow_error_exit: Option<bool>,
    /// What a run must come to, beside what every run must. It is a part of traces, so that replays judge as the run did.
    pub expect: ExpectFile,
    /// The virtual disks.
    pub disk: DiskFile,
    /// What must not stand in a trace.
    pub redact: RedactionFile,
}

/// What one machine is given.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case")]
pub struct MachineFile {
    /// Arguments of the program, without its name.
    pub args: Option<Vec<String>>,
    /// Environment variables. Nothing of the real environment is visible. Where the plan has a `[[node]]`, the target finds the names of
    /// these machines in `FOZZY_NODES`, and with `cluster.faults-until` that moment in `FOZZY_FAULTS_UNTIL_NS`, unless they are given here.
    pub env: NamedValues<String>,
    /// Standard input: content, or { from = "a machine", latency = "1ms" } for the standard output of another machine, or an array of
    /// tables for what comes at some time or after some output. Default: empty; for the target of a run, the input of fozzy itself.
    pub stdin: Option<StdinFile>,
    /// Whether standard input stays open after its last byte, like a terminal without input. Default: false.
    pub stdin_stays_open: Option<bool>,
    /// Whether the program finds a terminal on its standard streams. Default: false.
    pub stdin_terminal: Option<bool>,
    /// Whether reading an input on which more may come answers "again" when nothing is there (WASI preview 1 only). Default: for programs
    /// in Go, whose only thread must not wait; other programs take it for the end.
    pub stdin_nonblocking: Option<bool>,
    /// Real directories, copied onto the virtual disk: path in the guest = path of the real directory. Writes of the
    /// program never reach the real one.
    pub dirs: NamedValues<PathBuf>,
    /// Single files of the virtual disk: path in the guest = content. One takes the place of a file that came with a
    /// directory.
    pub files: NamedValues<ContentFile>,
    #[allow(rustdoc::broken_intra_doc_links, reason = "the JSON Schema shows this text as it is")]
    /// Directories of the virtual disk that cannot be changed, with all that came with them, such as ["/data"].
    pub read_only: Option<Vec<String>>,
    #[allow(rustdoc::broken_intra_doc_links, reason = "the JSON Schema shows this text as it is")]
    /// Which directories of the virtual disk the program is given: PATH, PATH::NAME for another name, and ::ro behind it
    /// for read-only, such as ["/data::ro", "/out::."]; none for []. Default: all of it, as "/".
    pub preopens: Option<Vec<String>>,
    /// The directory in which the program begins, such as "/data", for programs that ask for it. Default: "/".
    pub cwd: Option<String>,
}

/// Bounds of an execution. Reaching one is an outcome that you see.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case")]
pub struct LimitsFile {
    /// Instructions, as wasmtime counts fuel. Default: 10000000000, some ten seconds of computing.
    #[schemars(range(min = 1))]
    pub fuel: Option<u64>,
    /// Virtual time, such as "5s". Default: no bound.
    pub timeout: Option<TimeSpan>,
    /// Linear memory of one program, such as "256MiB". Default: 1GiB.
    pub memory: Option<ByteSize>,
    /// Bytes on a virtual disk, such as "100MB". Default: 1GiB.
    pub disk: Option<ByteSize>,
    /// Files, directories and links on a virtual disk. Default: 1048576.
    pub disk_nodes: Option<u64>,
    /// What one program makes the host hold: its memories, tables, disk and kept output together. Default: the limits of memory and
    /// disk, and 72MiB.
    pub total: Option<ByteSize>,
    /// What one program writes to its standard streams. More is a failure. Default: 1GiB.
    pub output: Option<ByteSize>,
}

/// What the virtual disks of all machines keep at a loss of power.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case")]
pub struct DiskFile {
    /// Which syncs make the name of a file durable. `ext4`: that of the file, or of its directory. `posix`: that of its directory
    /// only, which is all that POSIX promises. Default: ext4.
    pub names: Option<DiskNames>,
}

/// Which syncs make the name of a file durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DiskNames {
    /// That of the file, or of its directory.
    Ext4,
    /// That of its directory only.
    Posix,
}

/// What allocations are held to: those of the program's own allocator, or those that it tells by `fozzy:memory`, or those that scenario files
/// make by `memory_alloc`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case")]
pub struct MemoryFile {
    /// Bytes that may have leaked at the end, such as 0 or "4KiB"; more is a failure. Default: no bound.
    pub leak_budget: Option<ByteSize>,
    /// Bytes that the program's own heap may allocate in all; more is a failure. Default: no bound.
    pub heap_alloc_budget: Option<ByteSize>,
    /// Bytes that its own heap may have in use at once; more is a failure. Default: no bound.
    pub heap_in_use_budget: Option<ByteSize>,
    /// Scenario files: how many allocations succeed before all others are refused. Default: all.
    pub fail_after: Option<u64>,
    /// Scenario files: each allocation takes up to 30 % more than was asked for, by this number. Default: just that.
    pub fragmentation_seed: Option<u64>,
    #[allow(rustdoc::broken_intra_doc_links, reason = "the JSON Schema shows this text as it is")]
    /// Scenario files: factors by which allocations are enlarged, in turn, such as [1, 2, 4]. Default: [1].
    #[schemars(inner(range(min = 1)))]
    pub pressure_wave: Option<Vec<u64>>,
}

/// What answers the program where the real computer could. Clocks, entropy and sockets are always simulated.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case")]
pub struct BackendsFile {
    /// Files. Default: virtual.
    pub files: Option<FilesBackend>,
    /// Outgoing HTTP. Default: scripted.
    pub http: Option<ScriptBackend>,
    /// Processes. Default: scripted.
    pub processes: Option<ScriptBackend>,
    #[allow(rustdoc::broken_intra_doc_links, reason = "the JSON Schema shows this text as it is")]
    /// Hosts that live HTTP may ask, such as "api.test", "api.test:8443", "*.test", "[::1]:80" or "*"; none for []. A
    /// request to another one is refused and a finding. Default: all.
    pub allow_hosts: Option<Vec<String>>,
    #[allow(rustdoc::broken_intra_doc_links, reason = "the JSON Schema shows this text as it is")]
    /// Commands that live processes may run, as the program names them, such as "git" or "./tool"; none for []. Another
    /// one is refused and a finding. Default: all.
    pub allow_commands: Option<Vec<String>>,
    /// How long a live answer takes in virtual time. Default: real.
    pub durations: Option<LiveDurations>,
}

/// How long an answer of the real computer takes in virtual time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LiveDurations {
    /// As long as it took in reality; recorded with the answer, and the same in every replay.
    Real,
    /// As long as the seed says, whatever it took.
    Drawn,
}

/// What answers operations on files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FilesBackend {
    /// The virtual disk.
    Virtual,
    /// The real working directory; each answer is recorded once and replayed.
    Host,
}

/// What answers requests and commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ScriptBackend {
    /// The rules of the plan.
    Scripted,
    /// The real computer; each answer is recorded once and replayed.
    Host,
}

/// A rule: which request gets which answer. The answer is a response (status, response-headers, body or json,
/// reset-after), or fail, or component.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case")]
#[schemars(extend("required" = ["url"]))]
pub struct HttpFile {
    /// Method, in capitals. Default: any.
    pub method: Option<String>,
    /// The whole URL, or path and query when it begins with "/". `*` stands for any characters.
    pub url: String,
    /// Headers that the request must have; in values, `*` stands for any characters.
    pub headers: NamedValues<String>,
    /// How many requests the rule answers before the next rules are tried. Default: all.
    #[schemars(range(min = 1))]
    pub times: Option<u64>,
    /// Virtual time from the request to the head of the response, such as "20ms". Default: none.
    pub delay: Option<TimeSpan>,
    /// Status of the response. Default: 200.
    #[schemars(range(min = 100, max = 999))]
    pub status: Option<u16>,
    /// Headers of the response; a list is a header that stands several times.
    pub response_headers: NamedValues<HeaderValue>,
    /// Body of the response. Default: empty.
    pub body: Option<ContentFile>,
    /// Body of the response as JSON, with `content-type: application/json` unless response-headers say another.
    pub json: Option<serde_json::Value>,
    /// The connection breaks after this many bytes of the body.
    pub reset_after: Option<ByteSize>,
    /// No response.
    pub fail: Option<HttpFailureFile>,
    /// A component that exports wasi:http/incoming-handler answers, each request in an instance of its own.
    pub component: Option<ComponentFile>,
    /// Several answers instead of one; which of them a request gets is a decision of the run: drawn by weights, recorded, and varied
    /// by an exploration. The first is the simplest.
    pub answers: Vec<HttpAnswerFile>,
}

/// One of several answers to a request: a response (status, response-headers, body or json, reset-after), or fail, or component.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case")]
pub struct HttpAnswerFile {
    /// How likely it is beside the others. Default: 1.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub weight: Option<u32>,
    /// Virtual time from the request to the head of the response. Default: the rule's.
    pub delay: Option<TimeSpan>,
    /// Status of the response. Default: 200.
    #[schemars(range(min = 100, max = 999))]
    pub status: Option<u16>,
    /// Headers of the response; a list is a header that stands several times.
    pub response_headers: NamedValues<HeaderValue>,
    /// Body of the response. Default: empty.
    pub body: Option<ContentFile>,
    /// Body of the response as JSON, with `content-type: application/json` unless response-headers say another.
    pub json: Option<serde_json::Value>,
    /// The connection breaks after this many bytes of the body.
    pub reset_after: Option<ByteSize>,
    /// No response.
    pub fail: Option<HttpFailureFile>,
    /// A component that exports wasi:http/incoming-handler answers, each request in an instance of its own.
    pub component: Option<ComponentFile>,
}

impl HttpAnswerFile {
    /// A rule of this one answer.
    pub(crate) fn rule(&self) -> HttpFile {
        let HttpAnswerFile { delay, status, response_headers, body, json, reset_after, fail, component, .. } =
            self.clone();
        HttpFile { delay, status, response_headers, body, json, reset_after, fail, component, ..HttpFile::default() }
    }
}

/// Why there is no response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HttpFailureFile {
    /// The name of the host is unknown.
    Dns,
    /// The connection is refused.
    Refused,
    /// The connection breaks before the response.
    Reset,
    /// No response within the time that the request allows, or ever.
    Timeout,
}

/// One value of a header, or several.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum HeaderValue {
    /// The header stands once.
    One(String),
    /// The header is repeated, once for each value.
    Many(Vec<String>),
}

impl HeaderValue {
    /// The values, in order.
    #[must_use]
    pub fn values(&self) -> &[String] {
        match self {
            HeaderValue::One(value) => std::slice::from_ref(value),
            HeaderValue::Many(values) => values,
        }
    }
}

impl JsonSchema for HeaderValue {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "HeaderValue".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "array"], "items": { "type": "string" } })
    }
}

/// A rule: which command goes how. It ends (exit or signal, stdout, stderr), or fails to start (fail), or is a
/// component.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case")]
#[schemars(extend("required" = ["command"]))]
pub struct ProcessFile {
    /// The command as the program names it; `*` stands for any characters.
    pub command: String,
    /// The arguments, each with `*` for any characters. Default: any number of any.
    pub args: Option<Vec<String>>,
    /// How many commands the rule answers before the next rules are tried. Default: all.
    #[schemars(range(min = 1))]
    pub times: Option<u64>,
    /// Virtual time from start to end, such as "2s". Default: none.
    pub delay: Option<TimeSpan>,
    /// It exits with this code. Default: 0.
    #[schemars(range(min = -2_147_483_648, max = 2_147_483_647))]
    pub exit: Option<i32>,
    /// It ends by this signal.
    #[schemars(range(min = 1, max = 64))]
    pub signal: Option<i32>,
    /// What it writes to standard output. Default: nothing.
    pub stdout: Option<ContentFile>,
    /// What it writes to standard error. Default: nothing.
    pub stderr: Option<ContentFile>,
    /// It does not start.
    pub fail: Option<ProcessFailureFile>,
    /// Another component is the process, with a disk, clock readings and entropy of its own. Arguments and standard
    /// input are those that the program gives.
    pub component: Option<ComponentFile>,
    /// Several ends instead of one; which of them a command gets is a decision of the run: drawn by weights, recorded, and varied by an
    /// exploration. The first is the simplest.
    pub answers: Vec<ProcessAnswerFile>,
}

/// One of several ends of a command.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case")]
pub struct ProcessAnswerFile {
    /// How likely it is beside the others. Default: 1.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub weight: Option<u32>,
    /// Virtual time from start to end. Default: the rule's.
    pub delay: Option<TimeSpan>,
    /// It exits with this code. Default: 0.
    #[schemars(range(min = -2_147_483_648, max = 2_147_483_647))]
    pub exit: Option<i32>,
    /// It ends by this signal.
    #[schemars(range(min = 1, max = 64))]
    pub signal: Option<i32>,
    /// What it writes to standard output. Default: nothing.
    pub stdout: Option<ContentFile>,
    /// What it writes to standard error. Default: nothing.
    pub stderr: Option<ContentFile>,
    /// It does not start.
    pub fail: Option<ProcessFailureFile>,
    /// Another component is the process.
    pub component: Option<ComponentFile>,
}

impl ProcessAnswerFile {
    /// A rule of this one end.
    pub(crate) fn rule(&self) -> ProcessFile {
        let ProcessAnswerFile { delay, exit, signal, stdout, stderr, fail, component, .. } = self.clone();
        ProcessFile { delay, exit, signal, stdout, stderr, fail, component, ..ProcessFile::default() }
    }
}

/// Why a command does not start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ProcessFailureFile {
    /// There is no such command.
    NotFound,
    /// There is one, and it may not be run.
    NotPermitted,
}

/// The network between the machines of the run. Loopback inside a machine takes no time.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case")]
pub struct NetworkFile {
    /// Least time of a packet on its way. Default: "100us", two machines on one switch.
    pub latency: Option<TimeSpan>,
    /// Up to so much more, drawn for each packet. Default: none.
    pub jitter: Option<TimeSpan>,
    /// Bytes in a second in each direction between two machines, such as "10MB/s". Default: no bound.
    pub bandwidth: Option<Bandwidth>,
}

/// Another machine of the run.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case")]
#[schemars(extend("required" = ["name", "component"]))]
pub struct NodeFile {
    /// Its host name, by which the others find it. `main` is the target's machine.
    pub name: String,
    /// The component that runs there: a file, or the folder of a crate.
    pub component: PathBuf,
    /// So many machines like this one, with a number behind the name, from 1. In their arguments and variables, `{name}` is the own name,
    /// `{number}` the number, `{nodes}` all names with commas between them, and `{others}` those of the others; `{{name}}` is the text
    /// `{name}`. Default: this one.
    #[schemars(range(min = 1, max = 999))]
    pub count: Option<u32>,
    /// How its program may end before the target does: "never", "ok" (without an error) or "any" (crashes, too). Another end is a
    /// finding, and the run ends soon after. Default: "ok".
    pub ends: Option<NodeEnd>,
    /// Virtual time after which a program that has ended, as `ends` allows, starts again on its disk, such as "1s". Default: it does not.
    pub restart: Option<TimeSpan>,
    /// What it is given.
    #[serde(flatten)]
    pub machine: MachineFile,
    /// What it was made from, if it is one of several.
    #[serde(skip)]
    pub(crate) counted: Option<CountedNode>,
}

/// How the program of a machine may end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NodeEnd {
    /// Not before the target.
    Never,
    /// Without an error.
    Ok,
    /// With an error or a crash, too.
    Any,
}

/// A component: its path, or a table of its path and what its machine is given.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum ComponentFile {
    /// A file, or the folder of a crate.
    Path(PathBuf),
    /// With more.
    Program(Box<ComponentTable>),
}

/// A component, and what its machine is given.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case")]
#[schemars(extend("required" = ["path"]))]
pub struct ComponentTable {
    /// A file, or the folder of a crate.
    pub path: PathBuf,
    /// What its machine is given.
    #[serde(flatten)]
    pub machine: MachineFile,
}

impl JsonSchema for ComponentFile {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Component".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = ComponentTable::json_schema(generator);
        schema.insert("type".to_owned(), ["string", "object"].as_slice().into());
        schema.remove("description");
        schema
    }
}

/// Bytes: a text as it is, or a table that says where they are or how they are written.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum ContentFile {
    /// UTF-8.
    Text(String),
    /// Elsewhere, or in another form.
    Other(ContentTable),
}

/// Content that is not written as a plain text.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ContentTable {
    /// The same as a plain text.
    Text(String),
    /// The bytes of a real file.
    File(PathBuf),
    /// RFC 4648, section 4; white space is ignored.
    Base64(String),
    /// JSON, without white space, keys in the order given.
    Json(serde_json::Value),
}

impl JsonSchema for ContentFile {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Content".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": ["string", "object"],
            "properties": {
                "text": { "type": "string", "description": "The same as a plain text." },
                "file": { "type": "string", "description": "The bytes of a real file." },
                "base64": { "type": "string", "description": "Bytes in base64.", "x-notation": "base64" },
                "json": { "description": "JSON, without white space, keys in the order given." },
            },
            "minProperties": 1,
            "maxProperties": 1,
        })
    }
}

/// One fault.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case")]
#[schemars(extend("required" = ["kind"]))]
pub struct FaultFile {
    /// The name of its kind.
    #[schemars(schema_with = "crate::schema::fault_kinds")]
    pub kind: String,
    /// What it strikes: a path (`server:/data/*` on one machine), a URL, a command, a machine, `client->server` or the name of
    /// a point, as the kind says; `*` stands for any characters. Default: everything.
    pub target: Option<String>,
    /// How often: 0.02, "2%" or "1/50" of the operations that it could strike. Default: the kind's.
    pub rate: Option<FaultRate>,
    /// From when on, in virtual time. Default: from the start.
    pub start: Option<TimeSpan>,
    /// For how long. Default: to the end.
    pub length: Option<TimeSpan>,
    /// How hard: a number in the kind's unit, or a duration or a size such as "64KiB". Default: the kind's.
    pub strength: Option<Strength>,
    /// How many times at the most. Default: no bound.
    #[schemars(range(min = 1))]
    pub times: Option<u64>,
}

/// What a run must come to.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case")]
pub struct ExpectFile {
    #[allow(rustdoc::broken_intra_doc_links, reason = "the JSON Schema shows this text as it is")]
    /// The codes with which the target may exit, such as [0, 3]. Default: [0].
    #[schemars(inner(range(min = 0, max = 4_294_967_295_u32)))]
    pub exit: Option<Vec<u32>>,
    /// Standard output of the target; a line end at its end makes no difference. Default: anything.
    pub output: Option<ContentFile>,
    #[allow(rustdoc::broken_intra_doc_links, reason = "the JSON Schema shows this text as it is")]
    /// Regular expressions: a run fails in which any machine writes what one of them matches, such as ["balance: -", "^WARN"]. `^` and
    /// `$` are those of lines. Default: none.
    #[schemars(length(max = 64))]
    pub fail_on: Vec<String>,
    /// A program that judges the run: a file, or the folder of a crate. It finds the run on its disk, and exits with 0 when all is well; with
    /// another code the run has failed, and what it writes says why.
    pub check: Option<PathBuf>,
    /// What the operations are held to that clients of the run have recorded (`tools::invoke` of the SDK). Default: nothing.
    #[schemars(length(max = 16))]
    pub history: Vec<HistoryCriterionFile>,
}

/// A checker of recorded operations.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case")]
pub struct HistoryCriterionFile {
    /// `linearizable`, `sequential`, `isolation`, or a checker that needs neither model nor level, such as `set-full` (`fozzy check --help`
    /// has all).
    pub checker: String,
    /// The model of `linearizable` and `sequential`, such as "kv", or the path of a component that is one, such as "./counter.wasm", or of
    /// the folder of its crate; or the level of `isolation`, such as "serializable". Default: what the operations plainly have.
    pub model: Option<String>,
    /// Of `bank`, the names of its accounts. Default: those of the first read.
    pub accounts: Vec<BankAccount>,
    /// Of `bank`, what its accounts have together. Default: what they have at the first read.
    pub total: Option<i64>,
}

impl HistoryCriterionFile {
    /// As it is named; if its model is a component, that is still to be found by the name.
    pub(crate) fn named(&self) -> HistoryCriterion {
        let model = self.model.clone().unwrap_or_default();
        let component = is_model_path(&model).then(|| Digest::of(b""));
        let accounts = self.accounts.iter().map(BankAccount::edn).collect();
        HistoryCriterion { checker: self.checker.clone(), model, component, accounts, total: self.total }
    }
}

/// The name of an account.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum BankAccount {
    /// A number.
    Number(i64),
    /// A text.
    Text(String),
}

impl BankAccount {
    /// As it stands in a history.
    #[must_use]
    pub fn edn(&self) -> String {
        match self {
            BankAccount::Number(number) => number.to_string(),
            BankAccount::Text(text) => format!("{text:?}"),
        }
    }
}

/// What must not stand in a trace: values under these names are replaced by a placeholder.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case")]
pub struct RedactionFile {
    /// Names of HTTP headers, besides authorization, cookie, proxy-authorization and set-cookie.
    pub headers: Vec<String>,
    /// Names of environment variables.
    pub env: Vec<String>,
    /// Whether the four headers above are redacted. Default: true.
    pub defaults: Option<bool>,
}

impl NodeFile {
    /// The names of its machines.
    pub(crate) fn names(&self) -> Vec<String> {
        let name = self.name.to_ascii_lowercase();
        match self.count {
            None => vec![name],
            Some(count) => counted_names(&name, count),
        }
    }

    /// Each of its machines alone, with its own name in its arguments and variables.
    fn counted(&self) -> Vec<NodeFile> {
        if self.count.is_none() {
            return vec![self.filled(self.name.clone(), &PlaceholderValues::default())];
        }
        let has_names = |text: &str| node_text_parts(text).iter().any(|part| part.word.is_some());
        // The program's name is the first argument.
        let args = (1..).zip(self.machine.args.iter().flatten()).filter(|(_, text)| has_names(text));
        let env = self.machine.env.iter().filter(|(_, text)| has_names(text));
        let counted = CountedNode {
            group: self.name.to_ascii_lowercase(),
            args: args.map(|(place, text)| (place, text.clone())).collect(),
            env: env.map(|(name, text)| (name.to_owned(), text.clone())).collect(),
        };
        let names = self.names();
        let one = |(place, name): (usize, &String)| NodeFile {
            counted: Some(counted.clone()),
            ..self.filled(name.clone(), &PlaceholderValues::of(place, &names))
        };
        names.iter().enumerate().map(one).collect()
    }

    /// One machine of this name, with values in the place of placeholders, as far as there are some.
    fn filled(&self, name: String, values: &PlaceholderValues) -> NodeFile {
        let fill = |text: &mut String| *text = values.filled(text);
        let mut node = NodeFile { name, count: None, ..self.clone() };
        node.machine.args.iter_mut().flatten().for_each(fill);
        node.machine.env.values_mut().for_each(fill);
        node
    }
}

impl PlanFile {
    /// The plan with each of its machines for itself.
    pub(crate) fn counted(&self) -> PlanFile {
        PlanFile { node: self.node.iter().flat_map(NodeFile::counted).collect(), ..self.clone() }
    }
}

impl PlanFile {
    /// Joins every relative path of the real computer with `folder`.
    pub(crate) fn rebase(&mut self, folder: &std::path::Path) {
        self.visit_paths(&mut |path: &mut PathBuf| *path = folder.join(&*path));
    }

    /// Every path of the real computer that it names: programs, folders and files.
    #[must_use]
    pub fn host_paths(&self) -> Vec<PathBuf> {
        let mut paths = Vec::new();
        self.clone().visit_paths(&mut |path: &mut PathBuf| paths.push(path.clone()));
        paths
    }

    fn visit_paths(&mut self, visit: &mut dyn FnMut(&mut PathBuf)) {
        self.machine.paths(visit);
        for node in &mut self.node {
            visit(&mut node.component);
            node.machine.paths(visit);
        }
        let handlers = self.http.iter_mut().flat_map(|rule| {
            let others = rule.answers.iter_mut().filter_map(|answer| answer.component.as_mut());
            rule.component.as_mut().into_iter().chain(others)
        });
        let children = self.process.iter_mut().flat_map(|rule| {
            let others = rule.answers.iter_mut().filter_map(|answer| answer.component.as_mut());
            rule.component.as_mut().into_iter().chain(others)
        });
        for component in handlers.chain(self.target.as_mut()).chain(children) {
            match component {
                ComponentFile::Path(path) => visit(path),
                ComponentFile::Program(program) => {
                    visit(&mut program.path);
                    program.machine.paths(visit);
                }
            }
        }
        let bodies = self.http.iter_mut().flat_map(|rule| {
            rule.body.as_mut().into_iter().chain(rule.answers.iter_mut().filter_map(|answer| answer.body.as_mut()))
        });
        let outputs = self.process.iter_mut().flat_map(|rule| {
            let others =
                rule.answers.iter_mut().flat_map(|answer| answer.stdout.iter_mut().chain(answer.stderr.iter_mut()));
            rule.stdout.iter_mut().chain(rule.stderr.iter_mut()).chain(others)
        });
        self.expect.check.iter_mut().for_each(&mut *visit);
        self.cluster.clients.iter_mut().for_each(&mut *visit);
        for model in self.expect.history.iter_mut().filter_map(|criterion| criterion.model.as_mut()) {
            if is_model_path(model) {
                let mut path = PathBuf::from(&*model);
                visit(&mut path);
                *model = path.to_string_lossy().into_owned();
            }
        }
        bodies.chain(outputs).chain(self.expect.output.as_mut()).for_each(|content| content.paths(visit));
    }
}

impl MachineFile {
    fn paths(&mut self, join: &mut dyn FnMut(&mut PathBuf)) {
        self.dirs.values_mut().for_each(&mut *join);
        self.stdin.iter_mut().for_each(|stdin| stdin.paths(join));
        self.files.values_mut().for_each(|content| content.paths(join));
    }
}

impl ContentFile {
    fn paths(&mut self, join: &mut dyn FnMut(&mut PathBuf)) {
        if let ContentFile::Other(ContentTable::File(path)) = self {
            join(path);
        }
    }
}
