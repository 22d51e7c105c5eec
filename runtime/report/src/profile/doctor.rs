//! What can be measured here, and whether the profile of a run can be trusted.

use crate::Layout;
use crate::pretty::Style;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// `fozzy.profile_env.v4`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProfileEnv {
    /// Always `fozzy.profile_env.v4`.
    pub schema_version: String,
    /// Whether warnings are errors.
    pub strict: bool,
    /// What holds of every profile.
    pub determinism_contract: String,
    /// Operating system and processor; no profile depends on them.
    pub host: String,
    /// What answers a replay.
    pub backends: String,
    /// Each domain, and how it is measured.
    pub domains: BTreeMap<String, String>,
}

/// `fozzy.profile_doctor.v1`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProfileDoctor {
    /// Always `fozzy.profile_doctor.v1`.
    pub schema_version: String,
    /// The trace.
    pub run: String,
    /// Whether no check failed.
    pub ok: bool,
    /// What was checked.
    pub checks: Vec<ProfileCheck>,
    /// What is wrong, in sentences.
    pub issues: Vec<String>,
}

/// One check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProfileCheck {
    /// A stable word for scripts.
    pub name: String,
    /// Whether it passed, or only warns.
    pub ok: bool,
    /// pass, warn, fail.
    pub status: String,
    /// What was seen.
    pub detail: String,
}

impl ProfileEnv {
    /// What holds here.
    #[must_use]
    pub fn here(strict: bool) -> ProfileEnv {
        let domains = [
            ("cpu", "instructions of the program by function, line and path of calls, counted at a replay: exact"),
            (
                "heap",
                "blocks of the program's allocator by function, line and path of calls, watched at a replay: exact",
            ),
            ("latency", "virtual time by call of the host and wait, and the critical path across machines: exact"),
            ("io", "bytes and calls by file, connection and process: exact"),
            ("sched", "turns, switches and waits by machine and task: exact"),
        ];
        ProfileEnv {
            schema_version: "fozzy.profile_env.v4".to_owned(),
            strict,
            determinism_contract: "the same trace has the same profile, byte for byte, on every machine".to_owned(),
            host: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            backends: "the recorded answers: a profile asks nothing of the real computer".to_owned(),
            domains: domains.into_iter().map(|(name, how)| (name.to_owned(), how.to_owned())).collect(),
        }
    }
}

impl ProfileDoctor {
    /// Nothing checked yet.
    #[must_use]
    pub fn new(run: String) -> ProfileDoctor {
        let schema_version = "fozzy.profile_doctor.v1".to_owned();
        ProfileDoctor { schema_version, run, ok: true, checks: Vec::new(), issues: Vec::new() }
    }

    /// Adds a check that holds or does not.
    pub fn check(&mut self, name: &str, outcome: Result<String, String>) {
        let (ok, status) = if outcome.is_ok() { (true, "pass") } else { (false, "fail") };
        self.ok &= ok;
        self.issues.extend(outcome.as_ref().err().cloned());
        let detail = outcome.unwrap_or_else(|issue| issue);
        self.checks.push(ProfileCheck { name: name.to_owned(), ok, status: status.to_owned(), detail });
    }

    /// Adds something that a reader has to know.
    pub fn warn(&mut self, name: &str, detail: String) {
        self.checks.push(ProfileCheck { name: name.to_owned(), ok: true, status: "warn".to_owned(), detail });
    }
}

impl Layout for ProfileEnv {}

impl Layout for ProfileDoctor {
    fn lay_out(&self, style: Style) -> String {
        let Style { good, bad, end, .. } = style;
        let (colour, word) = if self.ok { (good, "PASS") } else { (bad, "FAIL") };
        let mut text = format!("fozzy profile doctor {colour}{word}{end}  {}\n", self.run);
        for check in &self.checks {
            text.push_str(&format!("  {:<4}  {:<14}  {}\n", check.status, check.name, check.detail));
        }
        text
    }
}
