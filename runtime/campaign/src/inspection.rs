//! What a program is, needs and can be used for, without running it.
//!
//! Invariant: whatever cannot be run for what it imports can still be inspected.

use crate::error::{CampaignError, ErrorKind};
use crate::pipeline::LoadedTarget;
use fozzy_engine::{Catalogue, Port, Ports};
use fozzy_instrument::source::{DebugSymbols, LineInfo};
use fozzy_instrument::{CoverageMode, InstrumentedComponent, ModuleChoice, Options};
use fozzy_report::inspect::{InspectCheckpoints, InspectDocument, InspectModule, InspectPort};
use std::collections::BTreeSet;

/// What an import, by the beginning of its name, needs of the computer. The first row that fits counts.
const CAPABILITIES: &[(&str, &str)] = &[
    ("wasi:cli/environment", "arguments and environment"),
    ("wasi:cli/exit", "exit"),
    ("wasi:cli/", "standard streams"),
    ("wasi:clocks/", "clocks"),
    ("wasi:filesystem/", "files"),
    ("wasi:http/", "http"),
    ("wasi:random/", "random"),
    ("wasi:sockets/", "sockets"),
    ("fozzy:process/", "processes"),
    ("fozzy:faults/membership", "changes of members"),
    ("fozzy:faults/", "fault points"),
    ("fozzy:files/power", "loss of power"),
    ("fozzy:files/", "snapshots of files"),
    ("fozzy:choices/", "choices"),
    ("fozzy:events/", "events"),
    ("fozzy:history/", "operations"),
    ("fozzy:memory/", "allocations"),
    ("fozzy:properties/", "properties"),
    ("fozzy:time/", "control of time"),
];

/// The interfaces by which core modules of WASI preview 1 reach all of that, and what a function of theirs needs.
const PREVIEW1: &str = "fozzy:preview1/";
const PREVIEW1_CAPABILITIES: &[(&str, &str)] = &[
    ("args-", "arguments and environment"),
    ("environ-", "arguments and environment"),
    ("clock-", "clocks"),
    ("poll-", "clocks"),
    ("proc-exit", "exit"),
    ("random-", "random"),
    ("path-", "files"),
    ("fd-read:", "standard streams"),
    ("fd-write:", "standard streams"),
    ("sock-open:", "sockets"),
];

/// What an export, by the beginning of its name, makes of a component.
const ROLES: &[(&str, &str)] = &[
    ("wasi:cli/run@0.2.", "command"),
    ("wasi:http/incoming-handler@0.2.", "http handler"),
    ("fozzy:scenario/stateful@0.1.", "scenario"),
    ("fozzy:scenario/fuzz@0.1.", "fuzz target"),
    ("fozzy:scenario/property@0.1.", "properties"),
];

/// What has other exports than those.
pub(crate) const REACTOR: &str = "reactor";

/// What can be said of a program that was read; `shown` is its path for people.
///
/// # Errors
/// When it cannot be instrumented, as a program that is run cannot be.
pub fn of_program(loaded: &LoadedTarget, shown: &str) -> Result<InspectDocument, CampaignError> {
    let options = Options { coverage: CoverageMode::SetOnce, access: true, marks: true, ..Options::default() };
    let instrumented = fozzy_instrument::instrument(&loaded.component, &options)
        .map_err(|error| CampaignError::new(ErrorKind::Target, format!("{}: {error}", shown)))?;
    let mut remarks = Vec::new();
    let ports = Ports::of(&loaded.component).unwrap_or_else(|why| {
        remarks.push(format!("its imports and exports cannot be shown: {why}"));
        Ports::default()
    });
    let unmarked = instrumented.marks.iter().flat_map(|verdict| &verdict.reasons).map(ToString::to_string);
    let unmarked: Vec<String> = unmarked.collect();
    let properties = match Catalogue::of(&loaded.component, ports.imports.iter().map(|port| port.name.as_str())) {
        Catalogue::Absent { .. } => None,
        Catalogue::Unneeded => Some(0),
        Catalogue::Declared(declared) => Some(declared as u64),
    };
    let obstacles: Vec<String> = instrumented.obstacles.iter().map(ToString::to_string).collect();
    let class = if obstacles.is_empty() { "in place" } else { "by calling again" };
    let modules = modules(&loaded.component, &instrumented, &mut remarks);
    Ok(InspectDocument {
        path: shown.to_owned(),
        kind: loaded.target.kind.clone(),
        bytes: loaded.source_bytes,
        digest: loaded.target.source.to_string(),
        fits: fits(&ports),
        capabilities: capabilities(&ports),
        modules,
        imports: ports.imports.into_iter().map(import).collect(),
        exports: ports.exports.into_iter().map(export).collect(),
        checkpoints: InspectCheckpoints { class: class.to_owned(), obstacles, marks: unmarked.is_empty(), unmarked },
        properties,
        remarks,
    })
}

/// What a component with these exports can be used as.
pub(crate) fn fits(ports: &Ports) -> Vec<String> {
    let is = |start: &'static str| move |port: &&Port| port.name.starts_with(start);
    let exports = |start: &'static str| ports.exports.iter().any(|port| is(start)(&port));
    let others = || ports.exports.iter().filter(|port| !ROLES.iter().any(|(start, _)| is(start)(port)));
    let roles = ROLES.iter().filter(|(start, _)| exports(start)).map(|(_, role)| *role);
    let mut found: Vec<&str> = roles.collect();
    if others().next().is_some() {
        found.push(REACTOR);
    }
    if others().any(|port| port.takes_bytes) && !found.contains(&"fuzz target") {
        found.push("fuzz target");
    }
    found.into_iter().map(str::to_owned).collect()
}

fn capabilities(ports: &Ports) -> Vec<String> {
    let rows = ports.imports.iter().filter(|port| !port.functions.is_empty());
    let needed = |port: &Port| -> Vec<&str> {
        let of = |rows: &'static [(&str, &'static str)], name: &str| {
            rows.iter().find(|(start, _)| name.starts_with(start)).map(|(_, capability)| *capability)
        };
        match port.name.starts_with(PREVIEW1) {
            true => port.functions.iter().filter_map(|function| of(PREVIEW1_CAPABILITIES, function)).collect(),
            false => of(CAPABILITIES, &port.name).into_iter().collect(),
        }
    };
    let found: BTreeSet<&str> = rows.flat_map(needed).collect();
    found.into_iter().map(str::to_owned).collect()
}

fn import(port: Port) -> InspectPort {
    let problem = match port.interface {
        true => fozzy_host::import_problem(&port.name),
        false => Some("a function outside any interface".to_owned()),
    };
    let nearest = problem.as_ref().and_then(|_| nearest(&port.name));
    InspectPort { name: port.name, functions: port.functions, problem, nearest }
}

fn export(port: Port) -> InspectPort {
    InspectPort { name: port.name, functions: port.functions, ..InspectPort::default() }
}

/// The offered interface whose name is most like `name`, if one is.
fn nearest(name: &str) -> Option<String> {
    let wanted = name.split('@').next().unwrap_or(name);
    let known = fozzy_host::known_interfaces().iter();
    let (distance, found) = known.map(|known| (distance(wanted, known), *known)).min()?;
    (distance * 3 <= wanted.len()).then(|| found.to_owned())
}

/// Bytes to insert, remove or replace to make one of the other (Levenshtein).
fn distance(left: &str, right: &str) -> usize {
    // A hostile component may have a long name; a name of this length resembles nothing.
    if left.len() > 256 {
        return left.len();
    }
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in right.bytes().enumerate() {
            let replaced = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(row[j + 1] + 1);
        }
    }
    row[right.len()]
}

fn modules(component: &[u8], instrumented: &InstrumentedComponent, remarks: &mut Vec<String>) -> Vec<InspectModule> {
    let symbols = DebugSymbols::new(component);
    let (maps, sites) = (instrumented.maps.modules(), &instrumented.sites);
    let mut edges = vec![0_u64; maps.len()];
    for edge in sites.iter() {
        edges[edge.module.0 as usize] += 1;
    }
    let modules = maps.iter().zip(edges).map(|(map, edges)| {
        let (range, lines) = (map.original(), symbols.line_info(map.ordinal()));
        let name = map.names().next();
        if let Some(remedy) = lines.remedy() {
            let named = name.map_or_else(|| format!("core module {}", map.ordinal().0), |name| format!("`{name}`"));
            remarks.push(format!("{named} {remedy}"));
        }
        InspectModule {
            module: map.ordinal().0,
            name: name.map(str::to_owned),
            bytes: u64::from(range.end.0 - range.start.0),
            covered: ModuleChoice::Own.includes(map.names()),
            edges,
            kept: u64::from(sites.kept(map.ordinal())),
            has_names: symbols.has_names(map.ordinal()),
            has_lines: lines == LineInfo::Present,
        }
    });
    modules.collect()
}

#[test]
fn the_nearest_interface_is_found_and_strangers_have_none() {
    assert_eq!(distance("kitten", "sitting"), 3);
    assert_eq!(nearest("wasi:random/randam@0.2.0").as_deref(), Some("wasi:random/random"));
    assert_eq!(nearest("acme:rocket/launch"), None);
}
