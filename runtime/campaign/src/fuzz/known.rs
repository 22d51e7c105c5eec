//! The failures that campaigns of a function have found, so that one that is found again is said to be known.
//!
//! ```text
//! .fozzy/findings/parser.wasm.parse_anything.json     [{"signature": …, "trace": …}, …]
//! ```
//!
//! Invariants: a failure stands there once, with its first trace; a list that cannot be read or written costs the memory of it, and
//! no campaign.
//! Not here: whose list it is (`kept_name`); saved failures of explorations, which are tried again (`explore/saved_failures.rs`).

use super::kept_name::KeptName;
use fozzy_report::FuzzFinding;
use fozzy_trace::FailureSignature;
use fozzy_trace::file::store::{Durability, write_atomic};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::PathBuf;

/// Failures that are remembered of one function; later ones are not.
const FINDINGS_MAX: usize = 1_000;
/// Bytes of such a list that are read.
const BYTES_MAX: u64 = 4 << 20;

/// What campaigns of one function have found.
pub struct KnownFindings {
    program: KeptName,
    path: PathBuf,
    found: Vec<KnownFinding>,
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct KnownFinding {
    signature: FailureSignature,
    trace: String,
}

impl KnownFindings {
    /// Those of a function of a program.
    pub fn of(program: KeptName, function: &str) -> KnownFindings {
        let path = program.findings(function);
        let is_small = fs::metadata(&path).is_ok_and(|file| file.len() <= BYTES_MAX);
        let text = is_small.then(|| fs::read(&path).ok()).flatten().unwrap_or_default();
        KnownFindings { program, path, found: serde_json::from_slice(&text).unwrap_or_default() }
    }

    /// Marks what was found before.
    pub fn mark(&self, findings: &mut [FuzzFinding]) {
        for finding in findings {
            let same = |known: &&KnownFinding| finding.signature.as_ref() == Some(&known.signature);
            finding.known = self.found.iter().find(same).map(|known| known.trace.clone());
        }
    }

    /// Remembers what is new.
    pub fn remember(mut self, findings: &[FuzzFinding]) {
        let before = self.found.len();
        // What was not written cannot be named later.
        for finding in findings.iter().filter(|finding| finding.known.is_none() && !finding.trace_path.is_empty()) {
            let trace = finding.minimized_trace_path.as_ref().unwrap_or(&finding.trace_path).clone();
            if let (Some(signature), true) = (finding.signature.clone(), self.found.len() < FINDINGS_MAX) {
                self.found.push(KnownFinding { signature, trace });
            }
        }
        if self.found.len() == before {
            return;
        }
        self.program.claim();
        let written = self.path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| {
            let text = serde_json::to_vec_pretty(&self.found)?;
            write_atomic(&self.path, &text, Durability::Cached)
        });
        if let Err(error) = written {
            tracing::debug!(%error, "findings are not remembered");
        }
    }
}
