//! Verdicts: what an execution means to the person who ran it.
//!
//! Invariant: equal failures have equal signatures, whatever addresses, values or counts they carry.
//! Not here: how a verdict is reached (`fozzy-check`) and printed (`fozzy-report`).

use serde::{Deserialize, Serialize};
use std::fmt;

/// The status of a run.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It did what it should.
    Pass,
    /// The program exited and reports a failure.
    Fail,
    /// It could not be run or judged.
    Error,
    /// A budget ran out, or nothing could happen any more.
    Timeout,
    /// Trap, abort, panic, out of memory.
    Crash,
}

impl Status {
    /// The exit code of the command line.
    #[must_use]
    pub const fn exit_code(self) -> u8 {
        match self {
            Status::Pass => 0,
            Status::Fail => 1,
            Status::Error => 2,
            Status::Timeout => 3,
            Status::Crash => 4,
        }
    }

    /// Most for the worst: that something could not be judged comes before what was seen elsewhere.
    #[must_use]
    pub const fn gravity(self) -> u8 {
        match self {
            Status::Pass => 0,
            Status::Fail => 1,
            Status::Timeout => 2,
            Status::Crash => 3,
            Status::Error => 4,
        }
    }

    /// The word in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Status::Pass => "pass",
            Status::Fail => "fail",
            Status::Error => "error",
            Status::Timeout => "timeout",
            Status::Crash => "crash",
        }
    }
}

/// What kind of thing was found.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
    /// A property that must hold did not.
    Assertion,
    /// What must hold between the steps of a scenario did not.
    Invariant,
    /// The program panicked.
    Panic,
    /// The program trapped: out of bounds, division by zero, stack exhausted, unreachable.
    Trap,
    /// An access to memory that no block allows, or a block that is freed wrongly.
    MemoryError,
    /// A budget of instructions or virtual time ran out.
    Timeout,
    /// Every task waits, and no deadline is left.
    Hang,
    /// More memory was in use at the end than the plan allows.
    Leak,
    /// A check of the harness failed.
    Checker,
    /// What the run was given is not enough: the plan has no rule for a request.
    InputInvalid,
    /// The program ended with a code that says failure.
    TargetBehavior,
    /// A replay asked or answered something else than was recorded.
    Divergence,
}

impl FindingKind {
    /// The word in reports and signatures.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            FindingKind::Assertion => "assertion",
            FindingKind::Invariant => "invariant",
            FindingKind::Panic => "panic",
            FindingKind::Trap => "trap",
            FindingKind::MemoryError => "memory_error",
            FindingKind::Timeout => "timeout",
            FindingKind::Hang => "hang",
            FindingKind::Leak => "leak",
            FindingKind::Checker => "checker",
            FindingKind::InputInvalid => "input_invalid",
            FindingKind::TargetBehavior => "target_behavior",
            FindingKind::Divergence => "divergence",
        }
    }
}

/// A place in the program's source, as far as it is known.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceLocation {
    /// Path as the compiler recorded it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Line, from one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Column, from one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub col: Option<u32>,
}

/// One frame of the guest's stack, innermost first.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StackFrame {
    /// Core module, by its own name or its position.
    pub module: String,
    /// Function, demangled.
    pub function: String,
    /// Offset of the instruction in the original core module.
    pub offset: u64,
    /// Source line, where the component carries DWARF.
    #[serde(flatten)]
    pub source: SourceLocation,
}

/// What went wrong, once.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Finding {
    /// Its kind.
    pub kind: FindingKind,
    /// One line without values that vary.
    pub title: String,
    /// What a person needs to know, several lines perhaps.
    pub message: String,
    /// Where in the source, when known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<SourceLocation>,
    /// The stack at that moment, innermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub backtrace: Vec<StackFrame>,
    /// Where the other machines were; absent when they have no part in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub peers: Vec<PeerStack>,
    /// Stacks of other moments, such as when the block of a memory error was allocated; found out for reports, and absent in traces.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub related: Vec<RelatedStack>,
}

/// Where the program was at another moment.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RelatedStack {
    /// What happened then.
    pub what: String,
    /// The stack, innermost first.
    pub backtrace: Vec<StackFrame>,
}

/// Where the program of another machine was.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PeerStack {
    /// Its name in the plan.
    pub node: String,
    /// Its stack, innermost first.
    pub backtrace: Vec<StackFrame>,
}

/// The identity of a failure: kind and site, never addresses, values or counts.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FailureSignature {
    /// Kind of the finding.
    pub kind: FindingKind,
    /// Property, trap code with the first frames of the target's own code, or source line.
    pub site: String,
}

impl fmt::Display for FailureSignature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}", self.kind.name(), self.site)
    }
}

/// Status, findings and the failure's identity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Verdict {
    /// The status.
    pub status: Status,
    /// What was found; empty when passed.
    pub findings: Vec<Finding>,
    /// The identity of the first finding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<FailureSignature>,
}
