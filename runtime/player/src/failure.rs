//! A step that failed: what stands in the verdict.

use fozzy_sdk::bindings::tools::fozzy::properties::assertions;

/// Why a step failed.
#[derive(Debug)]
pub struct StepFailure {
    /// Which step, as a name that is the same in each run: `steps[3]: get_kv_assert`.
    pub site: String,
    /// In which way it failed, of those that its kind has: a part of what makes two failures the same.
    class: &'static str,
    /// Expected and found.
    pub what: String,
    /// Whether the scenario has broken itself off.
    is_panic: bool,
}

impl StepFailure {
    /// Something that was to hold does not. The site is put in by who knows the step.
    pub fn new(what: impl Into<String>) -> StepFailure {
        StepFailure { site: String::new(), class: "", what: what.into(), is_panic: false }
    }

    /// The scenario breaks itself off.
    pub fn panic(what: &str) -> StepFailure {
        StepFailure { is_panic: true, ..StepFailure::new(what) }
    }

    /// The same, with the words of the scenario for it before.
    pub fn said(msg: Option<&str>, what: impl Into<String>) -> StepFailure {
        let what = what.into();
        StepFailure::new(match msg {
            Some(msg) => format!("{msg}: {what}"),
            None => what,
        })
    }

    /// It failed in this way.
    pub fn of(self, class: &'static str) -> StepFailure {
        StepFailure { class, ..self }
    }

    /// Unless it is known already.
    pub fn at(mut self, site: impl FnOnce() -> String) -> StepFailure {
        if self.site.is_empty() {
            self.site = match self.class {
                "" => site(),
                class => format!("{}, {class}", site()),
            };
        }
        self
    }

    /// Ends the run with it.
    pub fn tell(self) -> ! {
        if self.is_panic {
            assertions::panicked(&self.site, &self.what);
        }
        assertions::always(&self.site, false, Some(&self.what));
        unreachable!("the run ends at a property that does not hold")
    }
}

/// The scenario itself is wrong.
pub fn invalid(site: &str, message: &str) -> ! {
    assertions::fail(assertions::Failure::Invalid, site, message);
    unreachable!("the run ends at a failure")
}
