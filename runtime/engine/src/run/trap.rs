//! Classifies errors of wasmtime: the end of a guest, or a failure of the harness.
//!
//! Invariant: whatever fails for reasons of the machine is a [`HarnessError`], never an [`ExecutionEnd`].

use crate::compile::program::Program;
use crate::compile::settings::BACKTRACE_FRAMES_MAX;
use crate::run::memory_roles::InstanceMemories;
use fozzy_host::{GuestStop, MachineOutOfMemory};
use fozzy_instrument::MemoryCheckReport;
use fozzy_trace::facts::Refusal;
use fozzy_trace::outcome::StackFrame;
use fozzy_trace::plan::Limits;
use fozzy_trace::{ExecutionEnd, HarnessError};
use std::fmt;
use wasmtime::Trap;

/// How a program of garbage-collected objects ends that outgrows their heap: objects are never freed here.
const GC_HEAP_EXHAUSTED: &str =
    "out of memory for garbage-collected objects, which are never freed here (--mem-limit-mb allows more of them)";
/// How it ends when one object alone is too large: its size stands in 26 bits of its header.
const GC_OBJECT_TOO_LARGE: &str = "a garbage-collected object of 64 MiB or more, which is not supported";

/// How a machine that lost power or was restarted in the middle of a call is said to have ended, where nothing starts it again.
pub(crate) const POWER_LOST: &str = "the machine lost power";

/// How what follows begins.
pub const STOPPED_AT_BLOCK: &str = "stopped at the block";

/// How a program ends that was to stop at an allocation or free, of this block.
#[must_use]
pub fn stopped_at_block(address: u32) -> String {
    format!("{STOPPED_AT_BLOCK} {address:#x}")
}

/// Marks errors from before the program was called. Without a frame of the guest on the stack, they are
/// not the guest's.
#[derive(Debug)]
pub(crate) struct InstantiationContext;

impl fmt::Display for InstantiationContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the program cannot be started")
    }
}

/// What `error` means for a guest of `program`; `refused` says what it was refused last, and `memories` are those of its instance.
pub(crate) fn ending(
    error: &wasmtime::Error,
    program: &Program,
    limits: &Limits,
    refused: Option<Refusal>,
    memories: &InstanceMemories,
) -> Result<(ExecutionEnd, Vec<StackFrame>), HarnessError> {
    let frames = || program.symbols().frames(error);
    match memories.memory_check(program.facts()) {
        Some(MemoryCheckReport::Error(error)) => return Ok((ExecutionEnd::MemoryError { error }, frames())),
        Some(MemoryCheckReport::Stopped { address }) => {
            return Ok((ExecutionEnd::Trapped { trap: stopped_at_block(address) }, frames()));
        }
        None => {}
    }
    if let Some(stop) = error.downcast_ref::<GuestStop>() {
        let quiet = |end| Ok((end, Vec::new()));
        return match stop.clone() {
            GuestStop::Exit { code } => quiet(ExecutionEnd::Exited { code }),
            GuestStop::Diverged { recorded, asked } => {
                Ok((ExecutionEnd::diverged(recorded.as_deref(), &asked), frames()))
            }
            GuestStop::Hang(blocked) => Ok((ExecutionEnd::Hang { waiting: blocked.waiting }, frames())),
            // Only a command starts again; a handler's request is gone with the machine.
            GuestStop::PowerLoss { .. } | GuestStop::Killed { up_after: Some(_) } => {
                Ok((ExecutionEnd::Trapped { trap: POWER_LOST.to_owned() }, frames()))
            }
            GuestStop::Killed { up_after: None } => quiet(ExecutionEnd::Killed),
            GuestStop::Failed(failure) => Ok((ExecutionEnd::Failed { failure: *failure }, frames())),
            GuestStop::CalledEnded => Ok((ExecutionEnd::CalledEnded, frames())),
            GuestStop::PeerEnded { node } => Ok((ExecutionEnd::PeerEnded { node: node.to_string() }, frames())),
            GuestStop::Looked => Err(HarnessError::new("a run that was only looked at has no end")),
            GuestStop::Interrupted => Err(HarnessError::interruption()),
            GuestStop::TimeExhausted => {
                let limit = limits.time.expect("time ran out, so it was bounded");
                Ok((ExecutionEnd::TimeExhausted { limit }, frames()))
            }
            GuestStop::FuelExhausted => Ok((ExecutionEnd::FuelExhausted { fuel: limits.fuel }, frames())),
            GuestStop::Machine { what } => Err(HarnessError::new(what)),
            GuestStop::Misuse { import, what } => {
                Ok((ExecutionEnd::Trapped { trap: format!("{import}: {what}") }, frames()))
            }
        };
    }
    match error.downcast_ref::<Trap>() {
        Some(Trap::OutOfFuel) => Ok((ExecutionEnd::FuelExhausted { fuel: limits.fuel }, frames())),
        Some(Trap::StackOverflow) => Err(HarnessError::new(
            "the native stack ran out before the guest's depth counter fired; this is a fault of fozzy, please \
                       report it with the program",
        )),
        Some(trap) => {
            let frames = frames();
            let exhausted = match trap {
                Trap::UnreachableCodeReached => program.symbols().is_depth_check(error),
                Trap::MemoryOutOfBounds => is_stack_in_memory(&format!("{error:#}"), &frames),
                _ => false,
            };
            let words = match trap {
                Trap::AllocationTooLarge if refused.is_some() => GC_HEAP_EXHAUSTED.to_owned(),
                Trap::AllocationTooLarge => GC_OBJECT_TOO_LARGE.to_owned(),
                _ if exhausted => fozzy_trace::STACK_EXHAUSTED.to_owned(),
                _ => words_of(*trap),
            };
            Ok((ExecutionEnd::Trapped { trap: words }, frames))
        }
        None if error.downcast_ref::<MachineOutOfMemory>().is_some() => Err(harness(error)),
        None if error.downcast_ref::<InstantiationContext>().is_some() && frames().is_empty() => {
            let why = crate::compile::load::one_line(&error.root_cause().to_string());
            Err(HarnessError::new(match refused {
                Some(refusal) => format!("the program needs more to start than it is given: {refusal}; {why}"),
                None => format!("{InstantiationContext} on this machine: {why}"),
            }))
        }
        None => {
            let trap = crate::compile::load::one_line(&error.root_cause().to_string());
            Ok((ExecutionEnd::Trapped { trap }, frames()))
        }
    }
}

/// Whether a fault, in wasmtime's words, is of a recursion whose frames in memory have used up the room for them. Where
/// they are cleared or copied as a whole, the message has no address: then only the recursion is on the stack.
fn is_stack_in_memory(words: &str, frames: &[StackFrame]) -> bool {
    let is_deep = || frames.len() >= BACKTRACE_FRAMES_MAX;
    let is_of_stack = if words.contains(FAULT_ADDRESS) { is_below_zero(words) } else { is_deep() };
    is_of_stack && recurses(frames)
}

/// What stands before the address in wasmtime's words.
const FAULT_ADDRESS: &str = "memory fault at wasm address 0x";

/// Whether a fault, in wasmtime's words, is about so far below address 0 as the stack that compilers keep in memory ends up
/// when it is used up: they put it below everything else, and addresses wrap.
fn is_below_zero(words: &str) -> bool {
    /// Bytes of the largest frame that is taken for one.
    const FRAME_BYTES_MAX: u64 = 1 << 20;
    let address = words.split_once(FAULT_ADDRESS).map(|(_, rest)| rest);
    let digits = address.and_then(|rest| rest.split(|c: char| !c.is_ascii_hexdigit()).next());
    let address = digits.and_then(|digits| u64::from_str_radix(digits, 16).ok());
    address.is_some_and(|address| address.abs_diff(1 << 32) <= FRAME_BYTES_MAX)
}

/// Whether one function stands on the stack again and again.
fn recurses(frames: &[StackFrame]) -> bool {
    /// Fewer are a program's way of working.
    const TIMES_MIN: usize = 8;
    let times = |function: &str| frames.iter().filter(|frame| frame.function == function).count();
    frames.iter().take(TIMES_MIN).any(|frame| times(&frame.function) >= TIMES_MIN)
}

/// wasmtime's words for a trap, without its prefix.
fn words_of(trap: Trap) -> String {
    let words = trap.to_string();
    words.strip_prefix("wasm trap: ").unwrap_or(&words).to_owned()
}

pub(crate) fn harness(error: &wasmtime::Error) -> HarnessError {
    HarnessError::new(crate::compile::load::one_line(&format!("{error:#}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fozzy_trace::outcome::SourceLocation;

    #[test]
    fn a_stack_in_memory_that_is_used_up_is_told_from_a_wild_address() {
        let fault =
            |address: u64| format!("memory fault at wasm address 0x{address:x} in linear memory of size 0x10000: x");
        assert!(is_below_zero(&fault(0xffff_fff0)) && is_below_zero(&fault(0x1_0000_0008)));
        assert!(!is_below_zero(&fault(0x11_0000)) && !is_below_zero(&fault(0x8000_0000)) && !is_below_zero("x"));
        let frame = |function: &str| StackFrame {
            module: "m".to_owned(),
            function: function.to_owned(),
            offset: 1,
            source: SourceLocation::default(),
        };
        let deep: Vec<StackFrame> = ["leaf"].into_iter().chain(["down", "up"].repeat(8)).map(frame).collect();
        assert!(recurses(&deep) && !recurses(&deep[..9]) && !recurses(&[]));
        // A frame that is cleared as a whole: no address, and nothing but the recursion on the stack.
        let whole = "wasm trap: out of bounds memory access";
        let deepest: Vec<StackFrame> = ["down", "up"].repeat(32).into_iter().map(frame).collect();
        assert!(is_stack_in_memory(whole, &deepest) && !is_stack_in_memory(whole, &deep));
        assert!(is_stack_in_memory(&fault(0xffff_fff0), &deep) && !is_stack_in_memory(&fault(0x11_0000), &deepest));
    }
}
