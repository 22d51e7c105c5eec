//! `fozzy memory`: what a recorded run allocated, and what it leaked.

use crate::args::{HeapArgs, MemoryCommand};
use crate::command::profile::show_or_write;
use crate::context::Context;
use crate::error::{CliError, ErrorKind};
use fozzy_campaign::memory::memory_facts;
use fozzy_campaign::selector;
use fozzy_report::memory::{MemoryDiff, MemoryFacts, MemoryGraph, MemoryTop};
use std::process::ExitCode;

pub(crate) fn memory(context: &Context, command: &MemoryCommand) -> Result<ExitCode, CliError> {
    let printer = &context.printer;
    let facts = |run: &str, heap: &HeapArgs| -> Result<MemoryFacts, CliError> {
        let (path, recording) = selector::recording(run, &context.runs)?;
        memory_facts(&path, &recording, &heap.allocator)
    };
    match command {
        MemoryCommand::Top(args) => {
            let budget = args.leak_budget.map(|size| size.0).or(args.fail_on_leak.then_some(0));
            let facts = facts(&args.run, &args.heap)?;
            if budget.is_some() && !facts.is_known() {
                let message = format!("{}: no allocator was recognised, so that nothing is known of leaks", args.run);
                return Err(CliError::new(ErrorKind::Target, message).hint(
                    "names of functions must be there (no stripping), or `--allocator malloc=FUNCTION` names them",
                ));
            }
            let top = MemoryTop::of(&facts, args.limit);
            printer.document(&top)?;
            let is_over =
                budget.is_some_and(|budget| top.leaked_bytes > budget || budget == 0 && top.leaked_allocs > 0);
            return Ok(if is_over { ExitCode::from(1) } else { ExitCode::SUCCESS });
        }
        MemoryCommand::Graph(args) => {
            let graph = MemoryGraph::of(&facts(&args.run, &args.heap)?, &args.format);
            show_or_write(context, &graph, &graph.text(), args.out.as_deref())?;
        }
        MemoryCommand::Diff(args) => {
            let (left, right) = (facts(&args.left, &args.heap)?, facts(&args.right, &args.heap)?);
            printer.document(&MemoryDiff::of(&left, &right))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
