//! Virtual time: waiting, moving the clock by hand, and time that stands still.
//!
//! ```text
//! sleep 5 s      everybody waits, so the clock stands at the deadline
//! freeze         sleep 5 s takes no time; advance 1 s still does
//! ```

use crate::failure::StepFailure;
use fozzy_scenario_file::StepDuration;
use fozzy_sdk::tools;
use std::time::Duration;

#[derive(Clone, Default)]
pub struct StepClock {
    frozen: bool,
    /// What steps have let pass; without what requests and commands took.
    passed: Duration,
}

impl StepClock {
    /// What waiting takes now.
    pub fn waits(&self, span: Duration) -> Duration {
        if self.frozen { Duration::ZERO } else { span }
    }

    /// Branches have let this pass.
    pub fn pass(&mut self, time: Duration) {
        self.passed += time;
    }

    pub(super) fn sleep(&mut self, span: StepDuration) -> Result<(), StepFailure> {
        if !self.frozen && !span.0.is_zero() {
            std::thread::sleep(span.0);
            self.passed += span.0;
        }
        Ok(())
    }

    pub(super) fn advance(&mut self, span: StepDuration) -> Result<(), StepFailure> {
        tools::advance(span.0);
        self.passed += span.0;
        Ok(())
    }

    pub(super) fn freeze(&mut self, at_ms: Option<u64>) -> Result<(), StepFailure> {
        if let Some(at) = at_ms.map(Duration::from_millis) {
            let Some(ahead) = at.checked_sub(self.passed) else {
                let (at, now) = (at.as_millis(), self.passed.as_millis());
                return Err(StepFailure::new(format!(
                    "time cannot go back to {at} ms: it is {now} ms since the start"
                )));
            };
            self.advance(StepDuration(ahead))?;
        }
        self.frozen = true;
        tools::freeze();
        Ok(())
    }

    pub(super) fn unfreeze(&mut self) -> Result<(), StepFailure> {
        self.frozen = false;
        tools::unfreeze();
        Ok(())
    }

    /// Time that passed has passed, whatever else is taken back.
    pub(super) fn go_on(&mut self, later: StepClock) {
        self.passed = later.passed;
        if self.frozen != later.frozen {
            if self.frozen { tools::freeze() } else { tools::unfreeze() }
        }
    }
}
