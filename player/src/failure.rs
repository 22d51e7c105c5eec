//! A step that failed: what stands in the verdict.

use fozzy_sdk::bindings::tools::fozzy::properties::assertions;

/// Why a step failed.
#[derive(Debug)]
pub(crate) struct Failure {
    /// Which step, as a name that is the same in each run: `steps[3]: get_kv_assert`.
    pub(crate) site: String,
    /// Expected and found.
    pub(crate) what: String,
    /// Whether the scenario was broken off, rather than found wanting.
    pub(crate) panics: bool,
}

impl Failure {
    /// Something that was to hold does not. The site is put in by who knows the step.
    pub(crate) fn new(what: impl Into<String>) -> Failure {
        Failure { site: String::new(), what: what.into(), panics: false }
    }

    /// The same, with the words of the scenario for it before.
    pub(crate) fn said(msg: Option<&str>, what: impl Into<String>) -> Failure {
        let what = what.into();
        Failure::new(match msg {
            Some(msg) => format!("{msg}: {what}"),
            None => what,
        })
    }

    /// Unless it is known already.
    pub(crate) fn at(mut self, site: impl FnOnce() -> String) -> Failure {
        if self.site.is_empty() {
            self.site = site();
        }
        self
    }

    /// Ends the run with it.
    pub(crate) fn tell(self) -> ! {
        if self.panics {
            panic!("{}: {}", self.site, self.what);
        }
        assertions::always(&self.site, false, Some(&self.what));
        unreachable!("the run ends at a property that does not hold")
    }
}

/// The scenario itself is wrong.
pub(crate) fn invalid(site: &str, message: &str) -> ! {
    assertions::fail(assertions::Failure::Invalid, site, message);
    unreachable!("the run ends at a failure")
}
