//! `map services`: the programs, what they import and export, and what of it ran.

use super::evidence::ReachedCode;
use super::hotspots::signals;
use super::program::{ProgramMap, SourceFunction};
use super::{CodeMap, MappedFunction, ran};
use crate::inspection::fits;
use fozzy_engine::{Port, Ports, is_preview1, stands_for};
use fozzy_report::coverage::CoverageRatio;
use fozzy_report::map::{MAP_SERVICES_SCHEMA, MapPort, MapService, MapServices};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Where a program of preview 1 begins.
const START: &str = "_start";

impl CodeMap {
    /// The document.
    #[must_use]
    pub fn services(&self) -> MapServices {
        MapServices {
            schema_version: MAP_SERVICES_SCHEMA.to_owned(),
            root: self.shown_root.clone(),
            scanned_files: self.scanned_files(),
            services: (0..self.evidence.programs.len()).map(|at| self.service(at)).collect(),
            warnings: self.remarks.clone(),
        }
    }

    fn service(&self, at: usize) -> MapService {
        let (program, reached) = (&self.evidence.programs[at], &self.reached[at]);
        let here = |mapped: &MappedFunction| self.places(mapped).find(|place| place.0 == at);
        let own: Vec<(&MappedFunction, &SourceFunction)> =
            self.functions.iter().filter_map(|mapped| Some((mapped, self.source_at(here(mapped)?)))).collect();
        let ports = Ports::of(program.program.component()).unwrap_or_default();
        let counts = own.iter().map(|(_, function)| signals(function));
        let (external, concurrent) = counts.fold((0, 0), |(external, concurrent), counts| {
            (external + counts.external_signals, concurrent + counts.concurrency_signals)
        });
        let edges: BTreeSet<u32> = own.iter().flat_map(|(_, function)| function.edges.iter().copied()).collect();
        let runs_here = |function: &SourceFunction| function.blocks.iter().any(|block| reached.block(*block));
        let is_hit = own.iter().filter(|(_, function)| runs_here(function)).count() as u64;
        let runs = self.evidence.runs.iter().filter(|run| run.reached.contains_key(&program.digest));
        let machines: BTreeSet<&String> = self
            .evidence
            .runs
            .iter()
            .flat_map(|run| &run.machines)
            .filter(|(_, digest)| *digest == program.digest)
            .map(|(name, _)| name)
            .collect();
        MapService {
            name: program.name.clone(),
            path: folder(&own).unwrap_or_else(|| program.name.clone()),
            kind: fits(&ports).join(", "),
            digest: program.digest.to_string(),
            file_count: own
                .iter()
                .filter(|(_, function)| function.has_source)
                .map(|(mapped, _)| &mapped.path)
                .collect::<BTreeSet<_>>()
                .len() as u64,
            entrypoint_signals: ports.exports.len() as u64,
            external_signals: external,
            concurrency_signals: concurrent,
            machines: machines.into_iter().cloned().collect(),
            functions: CoverageRatio { hit: is_hit, total: own.len() as u64 },
            branches: CoverageRatio {
                hit: edges.iter().filter(|edge| reached.edge(**edge)).count() as u64,
                total: edges.len() as u64,
            },
            imports: ports.imports.iter().flat_map(|port| imported(program, reached, port)).collect(),
            exports: ports.exports.iter().map(|port| exported(program, reached, port)).collect(),
            executed_by: runs
                .filter(|run| program.functions.iter().any(|function| ran(run, program.digest, function)))
                .map(|run| run.name.clone())
                .collect(),
        }
    }
}

/// The folder in which most own functions are.
fn folder(own: &[(&MappedFunction, &SourceFunction)]) -> Option<String> {
    let mut folders: BTreeMap<String, usize> = BTreeMap::new();
    for (mapped, _) in own.iter().filter(|(_, function)| function.has_source) {
        let folder = Path::new(&mapped.path).parent().map(|folder| folder.display().to_string())?;
        *folders.entry(folder).or_default() += 1;
    }
    let most = folders.into_iter().max_by_key(|(folder, count)| (*count, std::cmp::Reverse(folder.clone())));
    most.map(|(folder, _)| if folder.is_empty() { ".".to_owned() } else { folder })
}

/// What a program imports, and whether it ran: an interface, or each function of WASI preview 1 under the name that the module has for it.
fn imported(program: &ProgramMap, reached: &ReachedCode, port: &Port) -> Vec<MapPort> {
    let any = |blocks: &BTreeSet<u32>| blocks.iter().any(|block| reached.block(*block));
    if port.name.starts_with("fozzy:preview1/") {
        let module = if port.name.contains("/unstable@") { "wasi_unstable" } else { "wasi_snapshot_preview1" };
        let functions = program.imports.iter().filter(|(name, _)| of_port(name, &port.name));
        let row = |(name, blocks): (&String, &BTreeSet<u32>)| {
            let function = name.rsplit('#').next().unwrap_or(name).replace('-', "_");
            MapPort { name: format!("{module}.{function}"), ran: any(blocks) }
        };
        return functions.map(row).collect();
    }
    if port.functions.is_empty() {
        return Vec::new();
    }
    let ran = program.imports.iter().any(|(name, blocks)| of_port(name, &port.name) && any(blocks));
    vec![MapPort { name: port.name.clone(), ran }]
}

/// What a program exports, and whether it was entered.
fn exported(program: &ProgramMap, reached: &ReachedCode, port: &Port) -> MapPort {
    let is_start = is_preview1(program.program.component()) && port.name.starts_with("wasi:cli/run@");
    let fits = |name: &str| of_port(name, &port.name) || (is_start && name == START);
    let ran = program.exports.iter().any(|(name, edge)| fits(name) && reached.edge(*edge));
    MapPort { name: if is_start { START.to_owned() } else { port.name.clone() }, ran }
}

/// Whether a core function is one of an interface's, or the function of that name: `wasi:cli/run@0.2.3#run`. Modules were compiled with
/// older versions of an interface than the one that the linker has settled on.
fn of_port(core: &str, port: &str) -> bool {
    let interface = core.split_once('#').map_or(core, |(interface, _)| interface);
    // A function outside any interface is imported from `$root`.
    interface == port || stands_for(interface, port) || core.strip_prefix("$root#") == Some(port)
}
