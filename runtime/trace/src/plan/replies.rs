//! Several answers of one scripted rule: which of them is given is a decision of the run.
//!
//! ```text
//! answer: 200 │ others: weight 8 │ 503 after 2s: weight 1 │ timeout: weight 1       a number below 10 chooses one, zero the first
//! ```
//!
//! Invariants: weights are positive; there is another answer at least. A rule of one answer has no [`OtherReplies`], and asks nothing.

use crate::Duration;
use crate::choice::{ChoiceError, weighted};
use serde::{Deserialize, Serialize};

/// The answers of a rule beside its first one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct OtherReplies<R> {
    /// How likely the first answer is, beside the others.
    pub weight: u32,
    /// The others, in their order.
    pub replies: Vec<WeightedReply<R>>,
}

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct WeightedReply<R> {
    /// How likely it is.
    pub weight: u32,
    /// Virtual time until it comes.
    pub delay: Duration,
    /// What it is.
    pub answer: R,
}

impl<R> OtherReplies<R> {
    /// How likely each answer is, the first one too.
    #[must_use]
    pub fn weights(&self) -> Vec<u32> {
        std::iter::once(self.weight).chain(self.replies.iter().map(|reply| reply.weight)).collect()
    }

    /// The answer that a number below the sum of all weights chooses; `None` is the first one.
    ///
    /// # Errors
    /// When there are too many, or all weights are zero: a plan that is no resolved one.
    pub fn choose(&self, below: impl FnOnce(u64) -> u64) -> Result<Option<&WeightedReply<R>>, ChoiceError> {
        let place = weighted(&self.weights(), below)? as usize;
        Ok(place.checked_sub(1).map(|other| &self.replies[other]))
    }
}
