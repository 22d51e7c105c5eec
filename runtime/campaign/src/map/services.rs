//! `map services`: the programs, what they import and export, and what of it ran.

use super::hotspots::signals;
use super::{CodeMap, MappedFunction, ran};
use crate::inspection::fits;
use fozzy_engine::Ports;
use fozzy_report::coverage::CoverageRatio;
use fozzy_report::map::{MAP_SERVICES_SCHEMA, MapPort, MapService, MapServices};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

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
        let own: Vec<&MappedFunction> = self.functions.iter().filter(|mapped| mapped.at.0 == at).collect();
        let ports = Ports::of(program.program.component()).unwrap_or_default();
        let counts = own.iter().map(|mapped| signals(self.source(mapped)));
        let (external, concurrent) = counts.fold((0, 0), |(external, concurrent), counts| {
            (external + counts.external_signals, concurrent + counts.concurrency_signals)
        });
        let edges: BTreeSet<u32> = own.iter().flat_map(|mapped| self.source(mapped).edges.iter().copied()).collect();
        let is_hit = own.iter().filter(|mapped| !mapped.executed_by.is_empty()).count() as u64;
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
            path: self.folder(&own).unwrap_or_else(|| program.name.clone()),
            kind: fits(&ports).join(", "),
            digest: program.digest.to_string(),
            file_count: own
                .iter()
                .filter(|mapped| self.source(mapped).has_source)
                .map(|mapped| &mapped.path)
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
            imports: ports
                .imports
                .iter()
                .filter(|port| !port.functions.is_empty())
                .map(|port| {
                    let called = program.imports.iter().filter(|(name, _)| of_port(name, &port.name));
                    let ran = called.flat_map(|(_, blocks)| blocks).any(|block| reached.block(*block));
                    MapPort { name: port.name.clone(), ran }
                })
                .collect(),
            exports: ports
                .exports
                .iter()
                .map(|port| {
                    let mut entries = program
                        .exports
                        .iter()
                        .filter(|(name, _)| of_port(name, &port.name) || is_start(name, &port.name));
                    MapPort { name: port.name.clone(), ran: entries.any(|(_, edge)| reached.edge(*edge)) }
                })
                .collect(),
            executed_by: runs
                .filter(|run| program.functions.iter().any(|function| ran(run, program.digest, function)))
                .map(|run| run.name.clone())
                .collect(),
        }
    }

    /// The folder in which most own functions are.
    fn folder(&self, own: &[&MappedFunction]) -> Option<String> {
        let mut folders: BTreeMap<String, usize> = BTreeMap::new();
        for mapped in own.iter().filter(|mapped| self.source(mapped).has_source) {
            let folder = Path::new(&mapped.path).parent().map(|folder| folder.display().to_string())?;
            *folders.entry(folder).or_default() += 1;
        }
        let most = folders.into_iter().max_by_key(|(folder, count)| (*count, std::cmp::Reverse(folder.clone())));
        most.map(|(folder, _)| if folder.is_empty() { ".".to_owned() } else { folder })
    }
}

/// Whether a core function is one of an interface's, or the function of that name: `wasi:cli/run@0.2.3#run`.
fn of_port(core: &str, port: &str) -> bool {
    core == port || core.strip_prefix(port).is_some_and(|rest| rest.starts_with('#'))
        // A function outside any interface is imported from `$root`.
        || core.strip_prefix("$root#") == Some(port)
}

/// Programs of preview 1 begin at `_start`, whatever stands before it.
fn is_start(core: &str, port: &str) -> bool {
    core == "_start" && port.starts_with("wasi:cli/run@")
}
