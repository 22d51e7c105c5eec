//! What a program told about itself: properties, flows, operations, allocations; and what planned faults did to it.
//!
//! ```text
//! always("total is constant", …)   ─▶ properties  passed, failed or never reached, how often, how close
//! step(17) ─▶ ran(2)               ─▶ flows       times run, skipped by label
//! state("lock", 3)                 ─▶ states      for a search: what is new
//! invoke / ok / fail / info        ─▶ operations  for checkers
//! allocated / freed                ─▶ allocations counts, peak, what was never freed
//! a fault of the plan strikes      ─▶ injected    chances, strikes, what a loss of power took
//! `[expect]` of the plan           ─▶ criteria    what the run did not meet
//! a bound of the plan refuses      ─▶ refusals    which part would have grown, how far, and what may be
//! ```
//!
//! Invariants: bounded in every direction, and reaching a bound ends the program, so that nothing is judged in part;
//! equal executions have equal facts.
//! Not here: the verdict (`fozzy-check`), the words of reports (`fozzy-report`).

mod allocations;
mod antithesis;
mod criteria;
mod flows;
mod injected;
mod operations;
mod own_heap;
mod properties;
mod property_table;
mod refusals;
mod sdk_text;
mod states;

pub use allocations::{ALLOCATIONS_MAX, Allocations, TooManyAllocations, UnknownAllocation};
pub use antithesis::{SDK_OUTPUT_NAME, SDK_OUTPUT_VARIABLE, SDK_SETUP_KEY, SdkEvent, SdkWarnings};
pub use criteria::{CriteriaReport, UNMET_TEXT_BYTES_MAX, UnmetCriterion};
pub use flows::{Cost, FlowStats, SKIP_LABELS_MAX, ScenarioPosition, ScenarioStats};
pub use injected::{
    FaultOverlaps, FaultTally, InjectedFaults, LOSSES_KEPT_MAX, LOST_KEPT_MAX, MISSED_KEPT_MAX, OPERATION_NAMES_MAX,
    PowerLossRecord, STRIKES_KEPT_MAX, StrikeRecord,
};
pub use operations::{OPERATIONS_MAX, Operation, OperationEnd, OperationError, Operations};
pub use own_heap::{HeapBudgets, LEAK_SITES_MAX, LeakSite, OwnHeap};
pub use properties::{
    ComparisonOperator, PROPERTIES_MAX, Properties, Property, PropertyError, PropertyEvaluation, PropertyKind,
    PropertyState,
};
pub use property_table::{PROPERTY_ROWS_MAX, PropertyStatus, PropertyStatuses, PropertyTable};
pub use refusals::{HeldPart, Refusal, Refusals};
pub use sdk_text::{SDK_LINE_BYTES_MAX, SdkLineReader, UnreadLine};
pub use states::{STATES_MAX, StateError, StateValues};

use crate::CopyOnWrite;
use crate::{Instant, UndefinedOutputs};
use serde::{Deserialize, Serialize};

/// All that a program told about itself, and what was done to it.
#[derive(Debug, Default, PartialEq)]
pub struct Facts {
    /// Its properties.
    pub properties: CopyOnWrite<Properties>,
    /// In which state it says it is.
    pub states: StateValues,
    /// What its scenario did, when it is one.
    pub scenario: Option<ScenarioStats>,
    /// Operations of its clients.
    pub operations: CopyOnWrite<Operations>,
    /// What its allocator did.
    pub allocations: CopyOnWrite<Allocations>,
    /// What was in its own heap, if the plan has a budget for that; filled when the execution has ended.
    pub own_heap: Option<Box<OwnHeap>>,
    /// What became of the planned faults; filled when the execution has ended.
    pub injected: CopyOnWrite<InjectedFaults>,
    /// Whether the plan allows the program to exit with an error once one of them has struck.
    pub allows_error_exit: bool,
    /// Whether a person has stopped it where its time is over.
    pub interrupted: bool,
    /// What it was held to by its plan; filled when the execution has ended.
    pub criteria: CriteriaReport,
    /// What it was refused by the bounds of the plan.
    pub refusals: Refusals,
    /// Lines of the Antithesis SDK that were not understood.
    pub sdk_warnings: SdkWarnings,
    /// One name for assertions of two kinds, which is told at the end unless a failure is.
    pub sdk_conflict: Option<Box<ReportedFailure>>,
    /// Output of bytes that it has never written, where its memory is checked.
    pub undefined: CopyOnWrite<UndefinedOutputs>,
    /// Which scripts of standard input still waited for output when the execution ended, each in a sentence.
    pub unmet_input: Vec<String>,
    /// When parts of standard input came whose moments the plan varies: the first ones, by machine.
    pub varied_input: Vec<VariedInput>,
}

impl Clone for Facts {
    fn clone(&self) -> Facts {
        Facts {
            properties: self.properties.clone(),
            states: self.states.clone(),
            scenario: self.scenario.clone(),
            operations: self.operations.clone(),
            allocations: self.allocations.clone(),
            own_heap: self.own_heap.clone(),
            injected: self.injected.clone(),
            allows_error_exit: self.allows_error_exit,
            interrupted: self.interrupted,
            criteria: self.criteria.clone(),
            refusals: self.refusals.clone(),
            sdk_warnings: self.sdk_warnings.clone(),
            sdk_conflict: self.sdk_conflict.clone(),
            undefined: self.undefined.clone(),
            unmet_input: self.unmet_input.clone(),
            varied_input: self.varied_input.clone(),
        }
    }

    /// Into the allocations that are there: a search goes from one place to another all the time.
    fn clone_from(&mut self, source: &Facts) {
        let Facts {
            properties,
            states,
            scenario,
            operations,
            allocations,
            own_heap,
            injected,
            allows_error_exit,
            interrupted,
            criteria,
            refusals,
            sdk_warnings,
            sdk_conflict,
            undefined,
            unmet_input,
            varied_input,
        } = source;
        self.properties.restore_from(properties);
        self.states.clone_from(states);
        self.scenario.clone_from(scenario);
        self.operations.clone_from(operations);
        self.allocations.clone_from(allocations);
        self.own_heap.clone_from(own_heap);
        self.injected.clone_from(injected);
        self.allows_error_exit = *allows_error_exit;
        self.interrupted = *interrupted;
        self.criteria.clone_from(criteria);
        self.refusals.clone_from(refusals);
        self.sdk_warnings.clone_from(sdk_warnings);
        self.sdk_conflict.clone_from(sdk_conflict);
        self.undefined.clone_from(undefined);
        self.unmet_input.clone_from(unmet_input);
        self.varied_input.clone_from(varied_input);
    }
}

/// When a part of standard input came, under a plan that varies that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariedInput {
    /// The machine's name.
    pub node: String,
    /// What came, its first bytes.
    pub bytes: Vec<u8>,
    /// When it comes where nothing is varied.
    pub planned: Instant,
    /// When it came.
    pub at: Instant,
}

impl Facts {
    /// Whether it ended so because a person has stopped it, which is no failure.
    #[must_use]
    pub fn is_interruption(&self, end: &crate::ExecutionEnd) -> bool {
        self.interrupted && matches!(end, crate::ExecutionEnd::TimeExhausted { .. })
    }

    /// Whether a program says by its exit code that a planned fault has kept it from its work, and the plan allows that.
    #[must_use]
    pub fn excuses_exit(&self, end: &crate::ExecutionEnd) -> bool {
        self.allows_error_exit && matches!(end, crate::ExecutionEnd::Exited { .. }) && self.injected.has_struck()
    }
}

/// Why a program that judges itself has failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReportedFailure {
    /// Its kind.
    pub kind: FailureKind,
    /// What identifies it: the name of a property or invariant, without values that vary.
    pub site: String,
    /// For people.
    pub message: String,
}

/// Kinds of failures that a program can find in itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailureKind {
    /// A property that must hold did not.
    Assertion,
    /// What must hold between steps did not.
    Invariant,
    /// Every task of the program waits for another.
    Deadlock,
    /// The scenario cannot be run as it is.
    Invalid,
    /// The program has broken itself off.
    Panic,
    /// What its clients were answered cannot be.
    History,
}

/// Text of a program, cut to a bound on a character's border.
#[must_use]
pub fn cut(text: &str, bytes_max: usize) -> String {
    if text.len() <= bytes_max {
        return text.to_owned();
    }
    let end = (0..=bytes_max).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    format!("{}…", &text[..end])
}

/// Bytes of a failure's message that are kept; what is longer ends with an ellipsis.
pub const MESSAGE_BYTES_MAX: usize = 16 << 10;

impl ReportedFailure {
    /// A failure; what is too long is cut.
    #[must_use]
    pub fn new(kind: FailureKind, site: &str, message: &str) -> ReportedFailure {
        let site = cut(site, crate::choice::NAME_BYTES_MAX);
        ReportedFailure { kind, site, message: cut(message, MESSAGE_BYTES_MAX) }
    }
}
