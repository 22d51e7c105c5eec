//! Every document that a command prints under `--json` or leaves in a file, and its JSON Schema.
//!
//! ```text
//! type that is written ─▶ JSON Schema ─▶ fozzy schema NAME
//!                              └──────▶ keys in CLI.md
//! ```
//!
//! Invariant: schemas are of what is *written*: a key that may be left out is not required, and others are there always.
//! Not here: schemas of files that people write (`fozzy-plan`; JSON scenarios: the player's model).

use fozzy_campaign::store::RunManifest;
use fozzy_report::coverage::CoverageDocument;
use fozzy_report::diff::DiffDocument;
use fozzy_report::document::{
    ArtifactsDocument, BundleDocument, CiDocument, CleanDocument, CorpusAddDocument, CorpusExportDocument,
    CorpusImportDocument, CorpusMinimizeDocument, DoctorDocument, EnvDocument, ErrorDocument, FormattedDocument,
    FullDocument, GateDocument, InitDocument, ManDocument, MigrateDocument, PathsDocument, ProgressDocument,
    ScenarioDocument, ShowDocument, UsageDocument, ValidateDocument, VerifyDocument, VersionDocument,
};
use fozzy_report::fleet::{
    DashboardDocument, FaultMapDocument, FleetDocument, FleetTargetDocument, StoreCopyDocument, StoreDismissDocument,
};
use fozzy_report::inspect::InspectDocument;
use fozzy_report::maelstrom::MaelstromDocument;
use fozzy_report::map::{MapHotspots, MapServices, MapSuites};
use fozzy_report::memory::{MemoryDiff, MemoryGraph, MemoryTop};
use fozzy_report::mine::MineDocument;
use fozzy_report::mutants::MutantsDocument;
use fozzy_report::profile::{
    ProfileDiff, ProfileDoctor, ProfileEnv, ProfileExplain, ProfileExport, ProfileFlame, ProfileShrink,
    ProfileTimeline, ProfileTop,
};
use fozzy_report::suite::SuiteSummary;
use fozzy_report::suspects::SuspectsDocument;
use fozzy_report::{
    AblationDocument, BenchmarkDocument, CausalityDocument, FindabilityDocument, FlakyReport, FuzzCoverage,
    HistoryCheckDocument, RunSummary, SeedsDocument, StateDocument,
};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};

/// One kind of document.
pub(crate) struct DocumentRow {
    /// By which `fozzy schema` is asked for it.
    pub(crate) name: &'static str,
    /// What prints it or writes it, in Markdown.
    pub(crate) by: &'static str,
    pub(crate) schema: fn() -> Schema,
}

const fn row(name: &'static str, by: &'static str, schema: fn() -> Schema) -> DocumentRow {
    DocumentRow { name, by, schema }
}

/// All of them.
pub(crate) const DOCUMENTS: &[DocumentRow] = &[
    row("run", "`run`, `replay`, `fuzz`, `explore`, `branch`, `shrink`; `report.json`", of::<RunSummary>),
    row("suite", "`test`; `report.json`", of::<SuiteSummary>),
    row("manifest", "`manifest.json` of a run (`fozzy.run_manifest.v1`)", of::<RunManifest>),
    row("fuzz-coverage", "`coverage.json` of a campaign", of::<FuzzCoverage>),
    row("state", "`replay --until`, `--step`, `--call` (`fozzy.state.v1`)", of::<StateDocument>),
    row(
        "causality",
        "`causality`; `/api/failures/DIGEST/causality` of the dashboard (`fozzy.causality.v1`)",
        of::<CausalityDocument>,
    ),
    row("findability", "`findability` (`fozzy.findability.v1`)", of::<FindabilityDocument>),
    row("benchmark", "`benchmark` (`fozzy.benchmark.v1`)", of::<BenchmarkDocument>),
    row("history-check", "`check` (`fozzy.history_check.v1`)", of::<HistoryCheckDocument>),
    row("maelstrom", "`maelstrom test` (`fozzy.maelstrom.v1`)", of::<MaelstromDocument>),
    row("seeds", "`seeds` (`fozzy.seeds.v1`)", of::<SeedsDocument>),
    row("ablation", "`ablate` (`fozzy.ablation.v1`)", of::<AblationDocument>),
    row("fleet", "`fleet`; `/api/fleet` of the dashboard (`fozzy.fleet.v1`)", of::<FleetDocument>),
    row("fleet-target", "`/api/targets/ID` of the dashboard (`fozzy.fleet_target.v1`)", of::<FleetTargetDocument>),
    row("fault-map", "`/api/targets/ID/faults` of the dashboard (`fozzy.fault_map.v1`)", of::<FaultMapDocument>),
    row("dashboard", "`dashboard` (`fozzy.dashboard.v1`)", of::<DashboardDocument>),
    row("store-copy", "`store copy` (`fozzy.store_copy.v1`)", of::<StoreCopyDocument>),
    row("store-dismiss", "`store dismiss` (`fozzy.store_dismiss.v1`)", of::<StoreDismissDocument>),
    row("diff", "`diff` (`fozzy.diff.v1`)", of::<DiffDocument>),
    row("mutants", "`mutants` (`fozzy.mutants.v1`)", of::<MutantsDocument>),
    row("mine", "`mine` (`fozzy.mine.v1`)", of::<MineDocument>),
    row(
        "suspects",
        "`suspects`; `/api/failures/DIGEST/suspects` of the dashboard (`fozzy.suspects.v1`)",
        of::<SuspectsDocument>,
    ),
    row("verification", "`trace verify`", of::<VerifyDocument>),
    row("history", "`trace show`", of::<ShowDocument>),
    row("migration", "`trace migrate` (`fozzy.trace_migration.v1`)", of::<MigrateDocument>),
    row("inspection", "`inspect`", of::<InspectDocument>),
    row(
        "coverage",
        "`coverage --format json`; `/api/targets/ID/coverage` of the dashboard (`fozzy.coverage.v1`)",
        of::<CoverageDocument>,
    ),
    row("profile-top", "`profile top` (`fozzy.profile_top.v1`)", of::<ProfileTop>),
    row("profile-flame", "`profile flame` (`fozzy.profile_flame.v1`)", of::<ProfileFlame>),
    row("profile-timeline", "`profile timeline` (`fozzy.profile_timeline.v1`)", of::<ProfileTimeline>),
    row("profile-diff", "`profile diff` (`fozzy.profile_diff.v2`)", of::<ProfileDiff>),
    row("profile-explain", "`profile explain` (`fozzy.profile_explain.v1`)", of::<ProfileExplain>),
    row("profile-env", "`profile env` (`fozzy.profile_env.v4`)", of::<ProfileEnv>),
    row("profile-shrink", "`profile shrink` (`fozzy.profile_shrink.v2`)", of::<ProfileShrink>),
    row("profile-doctor", "`profile doctor` (`fozzy.profile_doctor.v1`)", of::<ProfileDoctor>),
    row("profile-export", "`profile export` (`fozzy.profile_export_result.v1`)", of::<ProfileExport>),
    row("memory-top", "`memory top`", of::<MemoryTop>),
    row("memory-graph", "`memory graph`", of::<MemoryGraph>),
    row("memory-diff", "`memory diff`", of::<MemoryDiff>),
    row("map-hotspots", "`map hotspots` (`fozzy.map_hotspots.v2`)", of::<MapHotspots>),
    row("map-services", "`map services` (`fozzy.map_services.v2`)", of::<MapServices>),
    row("map-suites", "`map suites` (`fozzy.map_suites.v5`)", of::<MapSuites>),
    row("corpus-list", "`corpus list`", of::<Vec<String>>),
    row("corpus-added", "`corpus add`", of::<CorpusAddDocument>),
    row("corpus-minimized", "`corpus minimize`", of::<CorpusMinimizeDocument>),
    row("clean", "`clean`", of::<CleanDocument>),
    row("corpus-exported", "`corpus export`", of::<CorpusExportDocument>),
    row("corpus-imported", "`corpus import`", of::<CorpusImportDocument>),
    row("artifacts", "`artifacts`", of::<ArtifactsDocument>),
    row("bundle", "`bundle.json` in what `artifacts bundle` writes", of::<BundleDocument>),
    row("ci", "`ci` (`fozzy.ci_report.v1`)", of::<CiDocument>),
    row("gate", "`gate` (`fozzy.gate_report.v1`)", of::<GateDocument>),
    row("full", "`full` (`fozzy.full_report.v1`)", of::<FullDocument>),
    row("progress", "each line of `full --json` on stderr (`fozzy.full_progress.v1`)", of::<ProgressDocument>),
    row("report", "`report show --format pretty`, `junit`, `html` with `--json`", of::<FormattedDocument>),
    row("paths", "`report query --list-paths`", of::<PathsDocument>),
    row("flakiness", "`report flaky` (`fozzy.flaky_report.v1`)", of::<FlakyReport>),
    row("validation", "`validate` of a plan", of::<ValidateDocument>),
    row("scenario-validation", "`validate` of a scenario file", of::<ScenarioDocument>),
    row("examination", "`doctor`", of::<DoctorDocument>),
    row("init", "`init`", of::<InitDocument>),
    row("usage", "`usage`", of::<UsageDocument>),
    row("man", "`man`", of::<ManDocument>),
    row("env", "`env`; `env.json` of a pack", of::<EnvDocument>),
    row("version", "`version`; `version.json` of a pack", of::<VersionDocument>),
    row("error", "all, with exit code 2", of::<ErrorDocument>),
];

fn of<T: JsonSchema>() -> Schema {
    SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<T>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fozzy_report::schema_keys::keys_of;

    #[test]
    fn every_document_has_a_name_of_its_own_and_a_schema_with_keys() {
        let mut names: Vec<&str> = DOCUMENTS.iter().map(|row| row.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), DOCUMENTS.len());
        for row in DOCUMENTS {
            let schema = (row.schema)();
            let is_list = schema.as_value()["type"] == "array";
            assert!(is_list || !keys_of(schema.as_value()).is_empty(), "{}", row.name);
        }
    }
}
