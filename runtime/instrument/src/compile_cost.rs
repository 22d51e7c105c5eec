//! What compiling a program costs beyond what its bytes say: values that one short operator passes on in hundreds.
//!
//! ```text
//! (type $wide (func (param i64 × 1000) (result i64 × 1000)))
//! (loop (type $wide)) (loop (type $wide)) …      three bytes each, and two thousand values for a compiler to place
//! ```
//!
//! A compiler needs some kilobytes for each value that crosses a block: nine kilobytes of such loops took twenty gigabytes. Programs
//! of toolchains push what they pass on, so that they have less than one such value for each byte; whatever has many more was made to
//! be costly, and is refused before anything is compiled.
//!
//! Counted: parameters and results of blocks, results of calls, what branches carry to each of their targets, fields of structures
//! that are made without operands. Not counted: parameters of calls, since each was pushed by an operator of its own, or counted as
//! a result. Not bounded here: what else makes a compiler slow, such as deep loops (`fozzy-engine` has bounds of time and memory).

use crate::Error;
use crate::edges::BodyValidator;
use crate::module::ModuleRewriter;
use wasmparser::{BlockType, Catch, CompositeInnerType, FrameKind, Operator, WasmModuleResources};

/// Values that any program may pass on: some hundred megabytes, and less than a second of compiling.
const VALUES_MIN: u64 = 1 << 17;
/// Values for each byte of a program: several times those of any program that a toolchain wrote.
const VALUES_PER_BYTE: u64 = 4;

/// Counts what the bodies of a component pass on.
#[derive(Debug, Default)]
pub(crate) struct CompileCost {
    values: u64,
}

impl CompileCost {
    /// Takes note of an operator that was just validated.
    pub(crate) fn operator(&mut self, operator: &Operator<'_>, validator: &BodyValidator, module: &ModuleRewriter<'_>) {
        self.values += match operator {
            Operator::Block { blockty } | Operator::Loop { blockty } | Operator::If { blockty } => {
                block(*blockty, module)
            }
            Operator::TryTable { try_table } => {
                let caught = try_table.catches.iter().map(|catch| match *catch {
                    Catch::One { label, .. }
                    | Catch::OneRef { label, .. }
                    | Catch::All { label }
                    | Catch::AllRef { label } => label_arity(validator, label + 1, module),
                });
                block(try_table.ty, module) + caught.sum::<u64>()
            }
            Operator::Call { function_index } => results(module.type_of(*function_index), module),
            Operator::CallIndirect { type_index, .. } | Operator::CallRef { type_index } => {
                results(*type_index, module)
            }
            Operator::Br { relative_depth }
            | Operator::BrIf { relative_depth }
            | Operator::BrOnNull { relative_depth }
            | Operator::BrOnNonNull { relative_depth }
            | Operator::BrOnCast { relative_depth, .. }
            | Operator::BrOnCastFail { relative_depth, .. } => label_arity(validator, *relative_depth, module),
            // All targets take as many values.
            Operator::BrTable { targets } => {
                (u64::from(targets.len()) + 1) * label_arity(validator, targets.default(), module)
            }
            Operator::StructNewDefault { struct_type_index } => fields(validator, *struct_type_index),
            _ => 0,
        };
    }

    /// Refuses what passes on more than a component of `bytes` bytes can have a reason for, in the function at `offset` or before.
    pub(crate) fn check(&self, offset: usize, bytes: usize) -> Result<(), Error> {
        let limit = VALUES_MIN + VALUES_PER_BYTE * bytes as u64;
        match self.values > limit {
            true => Err(Error::TooCostly { offset, found: self.values, bytes: bytes as u64, limit }),
            false => Ok(()),
        }
    }
}

fn block(ty: BlockType, module: &ModuleRewriter<'_>) -> u64 {
    match ty {
        BlockType::Empty => 0,
        BlockType::Type(_) => 1,
        BlockType::FuncType(index) => {
            let signature = module.signature(index);
            u64::from(signature.params_count()) + u64::from(signature.results_count())
        }
    }
}

fn results(ty: u32, module: &ModuleRewriter<'_>) -> u64 {
    u64::from(module.signature(ty).results_count())
}

/// How many values a branch to a label carries.
fn label_arity(validator: &BodyValidator, depth: u32, module: &ModuleRewriter<'_>) -> u64 {
    let Some(frame) = validator.get_control_frame(depth as usize) else { return 0 };
    let head = frame.kind == FrameKind::Loop;
    u64::from(match frame.block_type {
        BlockType::Empty => 0,
        BlockType::Type(_) => u32::from(!head),
        BlockType::FuncType(index) if head => module.signature(index).params_count(),
        BlockType::FuncType(index) => module.signature(index).results_count(),
    })
}

fn fields(validator: &BodyValidator, ty: u32) -> u64 {
    match validator.resources().sub_type_at(ty).map(|ty| &ty.composite_type.inner) {
        Some(CompositeInnerType::Struct(ty)) => ty.fields.len() as u64,
        _ => 0,
    }
}
