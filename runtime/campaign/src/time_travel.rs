//! A run as it is at a moment: its tasks, timers, files, last calls and memory.
//!
//! ```text
//! trace ─▶ its own decisions, up to the moment ─▶ StateDocument
//! ```
//!
//! Invariant: what is shown agrees with the marks of the recording, which prove that it is the recorded run; if it does
//! not, it is an error.

use crate::error::{CampaignError, ErrorKind};
use crate::pipeline::session_of;
use fozzy_engine::{ExecutionView, GuestView};
use fozzy_instrument::variables::variables;
use fozzy_report::{FileState, MemoryState, StateDocument, SymbolState, TaskState, TimerState};
use fozzy_search::source_of;
use fozzy_trace::file::Recording;
use fozzy_trace::{HistoryEntry, NodeId, StopPoint, counted};
use fozzy_world::files::InodeKind;
use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Names of all disks that are shown.
const FILES_MAX: usize = 4096;
/// Bytes that are shown of one stretch of memory.
const MEMORY_BYTES_MAX: u64 = 1 << 16;

/// What is shown of a moment.
pub struct MomentRequest<'a> {
    /// The moment.
    pub until: StopPoint,
    /// Calls before it that are listed.
    pub events_max: usize,
    /// Stretches of memory: names of variables, or addresses with a length; of another machine than the main one, behind its name and a
    /// colon.
    pub memory: &'a [String],
}

/// Executes the recording at `path` up to a moment. `on_call` hears each call on the way.
///
/// # Errors
/// When the run is over before the moment, is not the recorded one, or has no such memory.
pub fn state_at(
    path: &Path,
    recording: &Recording,
    request: &MomentRequest<'_>,
    on_call: impl Fn(&HistoryEntry) + Send + 'static,
) -> Result<StateDocument, CampaignError> {
    let mut session = session_of(recording)?;
    let last = Arc::new(Mutex::new(VecDeque::new()));
    let (kept, most) = (Arc::clone(&last), request.events_max);
    session.follow(Box::new(move |entry| {
        on_call(&entry);
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() == most {
            kept.pop_front();
        }
        if most > 0 {
            kept.push_back(entry);
        }
    }));
    let view = session.look(source_of(recording), request.until, 0..u64::MAX)?;
    same_run(path, recording, &view)?;
    if let Some(end) = &view.end {
        let message = format!(
            "{}: there is no moment {}: the run is over at {}, after {}; it {}",
            path.display(),
            request.until,
            view.world.clock.now(),
            counted(view.history.calls, "call"),
            end.words()
        );
        let refused = CampaignError::new(ErrorKind::Usage, message);
        return Err(refused.hint(format!("fozzy trace show {}", fozzy_report::shell_path(path))));
    }
    let entries = std::mem::take(&mut *last.lock().unwrap_or_else(PoisonError::into_inner));
    state(path, recording, &view, entries.into(), request.memory)
}

/// The marks of the recording that were passed say whether it is the same run.
fn same_run(path: &Path, recording: &Recording, view: &ExecutionView) -> Result<(), CampaignError> {
    let found = view.history.marks.iter().zip(&recording.marks).find(|(found, recorded)| found != recorded);
    let Some((found, recorded)) = found.filter(|(found, recorded)| found.calls == recorded.calls) else {
        return Ok(());
    };
    let message = format!(
        "{}: what is shown is not the recorded run; by call {} its digest was {:016x}, and is {:016x}",
        path.display(),
        recorded.calls,
        recorded.digest,
        found.digest
    );
    Err(CampaignError::new(ErrorKind::Divergence, message)
        .hint(format!("fozzy replay {}", fozzy_report::shell_path(path))))
}

fn state(
    path: &Path,
    recording: &Recording,
    view: &ExecutionView,
    events: Vec<HistoryEntry>,
    wanted: &[String],
) -> Result<StateDocument, CampaignError> {
    let world = &view.world;
    let name = |node: NodeId| world.node(node).name.clone();
    let nodes = || world.nodes.iter().flatten();
    let mut files = Vec::new();
    for node in nodes() {
        let kind = |kind| match kind {
            InodeKind::Directory => "directory",
            InodeKind::File => "file",
            InodeKind::Link => "link",
        };
        let found = node.disk.all(FILES_MAX + 1 - files.len().min(FILES_MAX)).into_iter();
        // That there is a root says nothing.
        files.extend(found.filter(|(path, _)| path != "/").map(|(path, stat)| FileState {
            node: node.name.clone(),
            path,
            kind: kind(stat.kind).to_owned(),
            size_bytes: if stat.kind == InodeKind::Directory { 0 } else { stat.size },
        }));
    }
    let files_more = files.len() > FILES_MAX;
    files.truncate(FILES_MAX);
    let tasks = nodes().map(|node| {
        let waits_for: Vec<String> = node.waiting.iter().map(|wait| world.present_wait_words(*wait)).collect();
        let state = match (&node.exit, waits_for.is_empty()) {
            (Some(_), _) => "ended",
            (None, true) => "runs",
            (None, false) => "waits",
        };
        let stack = view.guests.get(&node.id).map(|seen| seen.stack.clone()).unwrap_or_default();
        TaskState { node: node.name.clone(), state: state.to_owned(), waits_for, stack }
    });
    let timers = world.timers().into_iter().map(|timer| TimerState {
        virtual_time_ns: timer.at.0,
        node: timer.node.map(name),
        what: timer.what,
    });
    let mut found = symbols(recording, view, wanted)?;
    let memory = nodes().filter_map(|node| {
        let seen = view.guests.get(&node.id)?;
        Some(MemoryState {
            node: node.name.clone(),
            size_bytes: seen.memory_bytes(),
            digest: seen.memory(),
            symbols: found.remove(&node.id).unwrap_or_default(),
        })
    });
    Ok(StateDocument {
        schema_version: "fozzy.state.v1".to_owned(),
        trace: path.display().to_string(),
        seed: recording.seed,
        virtual_time_ns: world.clock.now().0,
        calls: view.history.calls,
        decisions: view.history.decisions,
        position: world.facts.scenario.as_ref().and_then(|scenario| scenario.place()),
        tasks: tasks.collect(),
        timers: timers.collect(),
        files,
        files_more,
        events,
        memory: memory.collect(),
    })
}

/// The stretches of memory that were asked for, by name or by address, of each machine.
fn symbols(
    recording: &Recording,
    view: &ExecutionView,
    wanted: &[String],
) -> Result<BTreeMap<NodeId, Vec<SymbolState>>, CampaignError> {
    let mut found: BTreeMap<NodeId, Vec<SymbolState>> = BTreeMap::new();
    for word in wanted {
        let refuse = |what: String| CampaignError::new(ErrorKind::Usage, format!("--memory {word}: {what}"));
        let (machine, symbol) = machine_part(word);
        let node = match machine {
            Some(name) => machine_called(view, name).map_err(|nearest| {
                let error = refuse(format!("no machine is called `{name}`"));
                match nearest {
                    Some(nearest) => error.hint(format!("did you mean `{nearest}:{symbol}`?")),
                    None => error.hint("MACHINE:SYMBOL shows a variable of another machine than the main one"),
                }
            })?,
            None => NodeId(0),
        };
        let places: Vec<(String, u64, u64)> = match stretch(symbol) {
            Some((address, length)) => vec![(format!("{address:#x}"), address, length)],
            None => {
                let component = component_of(recording, node).ok_or_else(|| {
                    refuse("of a machine that is not in the plan, only addresses are known".to_owned())
                })?;
                variables(&component, symbol)
                    .into_iter()
                    .map(|variable| (variable.path, variable.address, variable.bytes.unwrap_or(8)))
                    .collect()
            }
        };
        if places.is_empty() {
            let what = "the program's debug information has no static variable of this name";
            return Err(refuse(what.to_owned())
                .hint("build it with `debug = true`, or name an address and a length: --memory 0x100000:16"));
        }
        let seen = view.guests.get(&node);
        for (name, address, length) in places {
            let length = length.min(MEMORY_BYTES_MAX);
            let bytes = seen.and_then(|seen| seen.read(address, length));
            let size = seen.map_or(0, GuestView::memory_bytes);
            let bytes = bytes.ok_or_else(|| {
                refuse(format!("{length} bytes at {address:#x} are not all in the program's memory, which has {size}"))
            })?;
            found.entry(node).or_default().push(SymbolState::new(&name, address, &bytes));
        }
    }
    Ok(found)
}

/// The machine that is named before a colon, and what stands behind it. Paths have two colons, and an address may have a length.
fn machine_part(word: &str) -> (Option<&str>, &str) {
    match word.split_once(':') {
        Some((machine, symbol)) if stretch(word).is_none() && !machine.is_empty() && !symbol.starts_with(':') => {
            (Some(machine), symbol)
        }
        _ => (None, word),
    }
}

/// The machine of a name, or else the nearest name.
fn machine_called<'a>(view: &'a ExecutionView, name: &str) -> Result<NodeId, Option<&'a str>> {
    let nodes = || view.world.nodes.iter().flatten();
    let found = nodes().find(|node| node.name == name).map(|node| node.id);
    found.ok_or_else(|| fozzy_plan::nearest(name, nodes().map(|node| node.name.as_str())))
}

/// What a machine runs, as far as the plan says so.
fn component_of(recording: &Recording, node: NodeId) -> Option<Arc<[u8]>> {
    let Some(place) = (node.0 as usize).checked_sub(1) else { return Some(Arc::clone(&recording.component)) };
    recording.inputs.get(&recording.plan.nodes.get(place)?.program.component)
}

/// `0x100000:16`, `1048576`; without a length, eight bytes.
fn stretch(word: &str) -> Option<(u64, u64)> {
    let number = |text: &str| match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    };
    match word.split_once(':') {
        Some((address, length)) => Some((number(address)?, number(length)?)),
        None => Some((number(word)?, 8)),
    }
}
