//! What a page or a document is about for which a program is executed.
//!
//! ```text
//! targets/shop-3f2a.html ◀── TargetPage        api/failures/3f2a…/causality ◀── Measured(_, Causality)
//! ```
//!
//! Not here: the command that makes it (`source`), who runs that (`executed`).

use fozzy_campaign::fleet::page_command::{FailureMeasure, TargetMeasure};

/// What is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ExecutedSubject {
    /// The page of a run of the project.
    Run(String),
    /// The page of a failure, by its trace.
    Failure(String),
    /// A document about a failure.
    Measured(String, FailureMeasure),
    /// The page of a target's coverage, with its sources.
    TargetPage(String),
    /// A document about a target.
    Target(String, TargetMeasure),
}

impl ExecutedSubject {
    /// A document by the words of its address: `targets`, the id of one, `coverage`.
    pub(crate) fn document(of: &str, id: &str, what: &str) -> Option<ExecutedSubject> {
        let id = id.to_owned();
        let of_target = || TargetMeasure::ALL.into_iter().find(|measure| measure.word() == what);
        let of_failure = || FailureMeasure::ALL.into_iter().find(|measure| measure.word() == what);
        match of {
            "targets" => Some(ExecutedSubject::Target(id, of_target()?)),
            "failures" => Some(ExecutedSubject::Measured(id, of_failure()?)),
            _ => None,
        }
    }

    /// Its address, from the first page on.
    pub(crate) fn address(&self) -> String {
        match self {
            ExecutedSubject::Run(id) => format!("runs/{id}.html"),
            ExecutedSubject::Failure(trace) => format!("failures/{trace}.html"),
            ExecutedSubject::TargetPage(id) => format!("targets/{id}.html"),
            ExecutedSubject::Target(id, measure) => format!("api/targets/{id}/{}", measure.word()),
            ExecutedSubject::Measured(trace, measure) => format!("api/failures/{trace}/{}", measure.word()),
        }
    }

    /// Whether it is a page, and no document.
    pub(crate) fn is_page(&self) -> bool {
        matches!(self, ExecutedSubject::Run(_) | ExecutedSubject::Failure(_) | ExecutedSubject::TargetPage(_))
    }
}
