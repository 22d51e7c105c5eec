//! Latency, bytes and turns of a run, as documents and as text.
//!
//! Invariant: what a document sums up is what its rows are of, and rows that are left out are counted.

use super::activity::{CallTimes, IoCost, MachineTimes, OTHER_TASKS, OTHERS, RunActivity};
use super::critical_path::PathPart;
use crate::pretty::{Style, fit, grouped};
use fozzy_trace::{Duration, counted};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where the virtual time of a run went.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProfileTopLatency {
    /// How long the run took, in virtual ns.
    pub duration_ns: u64,
    /// Calls of the host, by import, the one with the longest sum first.
    pub calls: Vec<CallLatency>,
    /// Imports that were called.
    pub imports_total: u64,
    /// Who waited for what, the longest sum first.
    pub waits: Vec<WaitLatency>,
    /// Rows that `waits` has without a limit.
    pub waits_total: u64,
    /// What the length of the run is made of, the longest first; the sum of all rows is `durationNs`, but for a machine that starts later.
    pub critical_path: Vec<CriticalShare>,
    /// Rows that `criticalPath` has without a limit.
    #[serde(default)]
    pub critical_path_total: u64,
}

/// Calls of one import. The time of a call is what its guest's clock has moved since its call before.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CallLatency {
    /// The import.
    pub call: String,
    /// How often it was called.
    pub count: u64,
    /// The sum.
    pub total_ns: u64,
    /// The median.
    pub p50_ns: u64,
    /// The nearest rank of 90 %.
    pub p90_ns: u64,
    /// The nearest rank of 99 %.
    pub p99_ns: u64,
    /// The longest one.
    pub max_ns: u64,
    /// The number of the longest one among the calls of the run: `fozzy replay RUN --call N` shows it.
    pub worst_call: u64,
    /// The machine that made it.
    pub worst_machine: String,
}

/// Waits of a machine for one thing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WaitLatency {
    /// Who waited.
    pub machine: String,
    /// timer, input, network, room, pipe, process, answer.
    pub kind: String,
    /// For what, in words.
    pub awaited: String,
    /// The machine that was waited for, if it was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
    /// How often.
    pub count: u64,
    /// The sum.
    pub total_ns: u64,
    /// The nearest rank of 99 %.
    pub p99_ns: u64,
    /// The longest one.
    pub max_ns: u64,
}

/// One kind of part of the critical path.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CriticalShare {
    /// The machine that was on the path; of what travels, the one that it comes to.
    pub machine: String,
    /// `runs`, `waits` or `travels`.
    pub doing: String,
    /// For what it waits, or from whom it travels.
    pub what: String,
    /// How long.
    pub total_ns: u64,
    /// How often.
    pub count: u64,
}

/// Which bytes a run moved.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProfileTopIo {
    /// Calls that read.
    pub reads: u64,
    /// Bytes that they got.
    pub read_bytes: u64,
    /// Calls that wrote.
    pub writes: u64,
    /// Bytes that they wrote.
    pub written_bytes: u64,
    /// Files, connections, processes: the one with most bytes first.
    pub channels: Vec<ChannelIo>,
    /// All of them.
    pub channels_total: u64,
}

/// What one machine moved through one file, connection or process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChannelIo {
    /// The machine.
    pub machine: String,
    /// file, standard, connection, datagrams, http, process.
    pub kind: String,
    /// Its path, or the other side.
    pub name: String,
    /// Calls that read.
    pub reads: u64,
    /// Bytes that they got.
    pub read_bytes: u64,
    /// Calls that wrote.
    pub writes: u64,
    /// Bytes that they wrote.
    pub written_bytes: u64,
}

/// Whose turn it was.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProfileTopSched {
    /// Turns of all machines.
    pub turns: u64,
    /// Turns after which another machine had the next one.
    pub switches: u64,
    /// By machine, in the order of their numbers.
    pub machines: Vec<MachineSched>,
    /// Machines of the run.
    pub machines_total: u64,
}

/// Turns and waits of one machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MachineSched {
    /// The machine.
    pub machine: String,
    /// Its first turn, in virtual ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_ns: Option<u64>,
    /// Its end, if that came before the end of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_ns: Option<u64>,
    /// Turns.
    pub turns: u64,
    /// Turns after which another machine had the next one.
    pub switches: u64,
    /// Its calls of the host.
    pub calls: u64,
    /// Times that it waited.
    pub waits: u64,
    /// How long.
    pub waited_ns: u64,
    /// How long it could have run while others had their turns.
    pub ready_ns: u64,
    /// How long it was without power, or killed.
    pub down_ns: u64,
    /// What its own readings of clocks and the like took: the time of its calls, less its waits.
    pub running_ns: u64,
    /// Turns of the tasks in its program, the most frequent first, where it asked which one is next.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<TaskTurns>,
    /// Tasks that had turns.
    #[serde(default)]
    pub tasks_total: u64,
}

/// Turns of one task.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskTurns {
    /// Its number, as its program has it; `u64::MAX` stands for all that are too many to be told apart.
    pub task: u64,
    /// How often it was next where several could be.
    pub turns: u64,
}

impl RunActivity {
    /// Where the virtual time went, `limit` rows of each list.
    #[must_use]
    pub fn latency(&self, limit: usize) -> ProfileTopLatency {
        let call = |(call, times): (&String, &CallTimes)| {
            let (max_ns, worst_call, worst) = times.worst.unwrap_or_default();
            CallLatency {
                call: call.clone(),
                count: times.durations.count,
                total_ns: times.durations.total_ns,
                p50_ns: times.durations.percentile(50),
                p90_ns: times.durations.percentile(90),
                p99_ns: times.durations.percentile(99),
                max_ns,
                worst_call,
                worst_machine: self.name(worst),
            }
        };
        let mut calls: Vec<CallLatency> = self.calls.iter().map(call).collect();
        calls.sort_by_key(|row| std::cmp::Reverse((row.total_ns, row.count)));
        let mut waits: Vec<WaitLatency> = self
            .waits
            .iter()
            .map(|(key, durations)| WaitLatency {
                machine: self.name(key.node),
                kind: key.kind.name().to_owned(),
                awaited: key.what.clone(),
                of: key.of.map(|of| self.name(of)),
                count: durations.count,
                total_ns: durations.total_ns,
                p99_ns: durations.percentile(99),
                max_ns: durations.percentile(100),
            })
            .collect();
        waits.sort_by_key(|row| std::cmp::Reverse((row.total_ns, row.count)));
        let (imports_total, waits_total) = (calls.len() as u64, waits.len() as u64);
        calls.truncate(limit);
        waits.truncate(limit);
        let mut critical_path = self.critical_shares();
        let critical_path_total = critical_path.len() as u64;
        critical_path.truncate(limit);
        let duration_ns = self.end.0;
        ProfileTopLatency { duration_ns, calls, imports_total, waits, waits_total, critical_path, critical_path_total }
    }

    /// Kinds of parts of the critical path, the longest first.
    fn critical_shares(&self) -> Vec<CriticalShare> {
        let sums = self.path.iter().flat_map(|path| &path.sums);
        let mut rows: Vec<CriticalShare> = sums
            .map(|(part, (total_ns, count))| {
                let (machine, doing, what) = match part {
                    PathPart::Runs(node) => (*node, "runs", String::new()),
                    PathPart::Waits(node, _, what) => (*node, "waits", what.clone()),
                    PathPart::Travels(from, to) => (*to, "travels", self.name(*from)),
                };
                CriticalShare {
                    machine: self.name(machine),
                    doing: doing.to_owned(),
                    what,
                    total_ns: *total_ns,
                    count: *count,
                }
            })
            .collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.total_ns));
        rows
    }

    /// Which bytes were moved, the `limit` largest channels.
    #[must_use]
    pub fn io(&self, limit: usize) -> ProfileTopIo {
        let mut sum = IoCost::default();
        let mut channels: Vec<ChannelIo> = Vec::new();
        for ((node, kind, name), cost) in &self.io {
            let IoCost { reads, read_bytes, writes, written_bytes } = *cost;
            sum.reads += reads;
            sum.read_bytes += read_bytes;
            sum.writes += writes;
            sum.written_bytes += written_bytes;
            let (machine, kind, name) = (self.name(*node), kind.name().to_owned(), name.clone());
            channels.push(ChannelIo { machine, kind, name, reads, read_bytes, writes, written_bytes });
        }
        channels.sort_by_key(|row| std::cmp::Reverse((row.read_bytes + row.written_bytes, row.reads + row.writes)));
        let channels_total = channels.len() as u64;
        channels.truncate(limit);
        let IoCost { reads, read_bytes, writes, written_bytes } = sum;
        ProfileTopIo { reads, read_bytes, writes, written_bytes, channels, channels_total }
    }

    /// Whose turn it was, `limit` machines and tasks.
    #[must_use]
    pub fn sched(&self, limit: usize) -> ProfileTopSched {
        let machine = |(node, times): (&fozzy_trace::NodeId, &MachineTimes)| {
            let mut tasks: Vec<TaskTurns> =
                times.tasks.iter().map(|(task, turns)| TaskTurns { task: *task, turns: *turns }).collect();
            tasks.sort_by_key(|row| std::cmp::Reverse(row.turns));
            let tasks_total = tasks.len() as u64;
            tasks.truncate(limit);
            MachineSched {
                machine: self.name(*node),
                started_ns: times.started.map(|at| at.0),
                ended_ns: times.ended.map(|at| at.0),
                turns: times.turns,
                switches: times.switches,
                calls: times.calls,
                waits: times.waits,
                waited_ns: times.waited_ns,
                ready_ns: times.ready_ns,
                down_ns: times.down_ns,
                running_ns: times.calls_ns.saturating_sub(times.waited_ns),
                tasks,
                tasks_total,
            }
        };
        let mut machines: Vec<MachineSched> = self.machines.iter().map(machine).collect();
        let (turns, switches) = machines.iter().fold((0, 0), |(a, b), row| (a + row.turns, b + row.switches));
        let machines_total = machines.len() as u64;
        machines.truncate(limit);
        ProfileTopSched { turns, switches, machines, machines_total }
    }
}

fn time(ns: u64) -> String {
    Duration(ns).to_string()
}

fn share(part: u64, of: u64) -> String {
    format!("{:.1} %", 100.0 * part as f64 / of.max(1) as f64)
}

/// That `total` rows are more than those shown, if they are.
fn left_out(shown: usize, total: u64, row: &str) -> String {
    match total.saturating_sub(shown as u64) {
        0 => String::new(),
        more => format!("{:>12}  {}\n", "…", counted(more, &format!("more {row}"))),
    }
}

/// A row whose last column is cut where the line ends.
fn row(start: &str, last: &str, style: Style) -> String {
    format!("{start}{}\n", fit(last, style.room(start.chars().count())))
}

pub(super) fn latency_lines(latency: &ProfileTopLatency, style: Style) -> String {
    let Style { faint, end, .. } = style;
    let (calls, duration) = (latency.calls.iter().map(|row| row.count).sum(), latency.duration_ns);
    let mut text = format!("latency  {} of virtual time", time(duration));
    if latency.imports_total == latency.calls.len() as u64 {
        text.push_str(&format!(", {}", counted(calls, "call")));
    }
    text.push('\n');
    if latency.calls.iter().any(|row| row.total_ns > 0) {
        text.push_str(&format!(
            "{faint}{:>12}  {:>12}  {:>12}  {:>12}  {:>9}  call of the host{end}\n",
            "total", "median", "p99", "longest", "calls"
        ));
    }
    for call in latency.calls.iter().filter(|row| row.total_ns > 0) {
        let start = format!(
            "{:>12}  {:>12}  {:>12}  {:>12}  {:>9}  ",
            time(call.total_ns),
            time(call.p50_ns),
            time(call.p99_ns),
            time(call.max_ns),
            grouped(call.count)
        );
        text.push_str(&row(
            &start,
            &format!("{} (longest: call {} of {})", call.call, call.worst_call, call.worst_machine),
            style,
        ));
    }
    text.push_str(&left_out(latency.calls.len(), latency.imports_total, "import"));
    if latency.waits_total > 0 {
        text.push_str(&format!(
            "{faint}{:>12}  {:>12}  {:>12}  {:>9}  waiting{end}\n",
            "total", "p99", "longest", "waits"
        ));
    }
    for wait in &latency.waits {
        let start = format!(
            "{:>12}  {:>12}  {:>12}  {:>9}  ",
            time(wait.total_ns),
            time(wait.p99_ns),
            time(wait.max_ns),
            grouped(wait.count)
        );
        text.push_str(&row(&start, &format!("{} for {}", wait.machine, wait.awaited), style));
    }
    text.push_str(&left_out(latency.waits.len(), latency.waits_total, "wait"));
    if latency.critical_path_total > 0 {
        text.push_str(&format!("{faint}{:>12}  {:>8}  {:>9}  critical path{end}\n", "total", "share", "times"));
    }
    for part in &latency.critical_path {
        let start =
            format!("{:>12}  {:>8}  {:>9}  ", time(part.total_ns), share(part.total_ns, duration), grouped(part.count));
        let what = match part.doing.as_str() {
            "runs" => format!("{} runs", part.machine),
            "waits" => format!("{} waits for {}", part.machine, part.what),
            _ => format!("on the way from {} to {}", part.what, part.machine),
        };
        text.push_str(&row(&start, &what, style));
    }
    text.push_str(&left_out(latency.critical_path.len(), latency.critical_path_total, "part"));
    text
}

pub(super) fn io_lines(io: &ProfileTopIo, style: Style) -> String {
    let Style { faint, end, .. } = style;
    let mut text = format!(
        "io  {} bytes read in {}, {} bytes written in {}\n",
        grouped(io.read_bytes),
        counted(io.reads, "call"),
        grouped(io.written_bytes),
        counted(io.writes, "call")
    );
    let rows: Vec<[String; 6]> = io
        .channels
        .iter()
        .map(|channel| {
            let numbers = [channel.read_bytes, channel.reads, channel.written_bytes, channel.writes].map(grouped);
            let [read, reads, written, writes] = numbers;
            [read, reads, written, writes, channel.machine.clone(), channel.kind.clone()]
        })
        .collect();
    let heads = ["read", "calls", "written", "calls", "machine", "kind"];
    // On a terminal, columns are as wide as what stands in them, so that names have room.
    let width = |column: usize, usual: usize| match style.width {
        0 => usual,
        _ => rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0).max(heads[column].len()),
    };
    let widths = [(0, 12), (1, 9), (2, 12), (3, 9), (4, 10), (5, 10)].map(|(column, usual)| width(column, usual));
    let start = |cells: [&str; 6]| {
        let [read, reads, written, writes, machine, kind] = widths;
        let [a, b, c, d, e, f] = cells;
        format!("{a:>read$}  {b:>reads$}  {c:>written$}  {d:>writes$}  {e:<machine$}  {f:<kind$}  ")
    };
    if !rows.is_empty() {
        text.push_str(&format!("{faint}{}name{end}\n", start(heads)));
    }
    for (channel, cells) in io.channels.iter().zip(&rows) {
        let start = start(cells.each_ref().map(String::as_str));
        text.push_str(&row(&start, &channel.name.escape_debug().to_string(), style));
    }
    text.push_str(&left_out(io.channels.len(), io.channels_total, "channel"));
    text
}

pub(super) fn sched_lines(sched: &ProfileTopSched, style: Style) -> String {
    let Style { faint, end, .. } = style;
    let mut text = format!(
        "sched  {}, {}, {}\n{faint}{:>9}  {:>9}  {:>9}  {:>9}  {:>12}  {:>12}  {:>12}  machine{end}\n",
        counted(sched.turns, "turn"),
        match sched.switches {
            1 => "1 switch".to_owned(),
            many => format!("{} switches", grouped(many)),
        },
        counted(sched.machines_total, "machine"),
        "turns",
        "switches",
        "calls",
        "waits",
        "waited",
        "ready",
        "running"
    );
    for machine in &sched.machines {
        let start = format!(
            "{:>9}  {:>9}  {:>9}  {:>9}  {:>12}  {:>12}  {:>12}  ",
            grouped(machine.turns),
            grouped(machine.switches),
            grouped(machine.calls),
            grouped(machine.waits),
            time(machine.waited_ns),
            time(machine.ready_ns),
            time(machine.running_ns)
        );
        let down = match machine.down_ns {
            0 => String::new(),
            ns => format!(" (down for {})", time(ns)),
        };
        text.push_str(&row(&start, &format!("{}{down}", machine.machine), style));
        for task in &machine.tasks {
            let name = match task.task {
                OTHER_TASKS => OTHERS.to_owned(),
                number => format!("task {number}"),
            };
            text.push_str(&row(&format!("{:>9}  ", grouped(task.turns)), &format!("  {name}"), style));
        }
        text.push_str(&left_out(machine.tasks.len(), machine.tasks_total, "task"));
    }
    text.push_str(&left_out(sched.machines.len(), sched.machines_total, "machine"));
    text
}
