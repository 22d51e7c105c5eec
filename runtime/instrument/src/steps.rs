//! The loop that takes steps of a scenario in one call, for runs: what is appended to a component that has steps.
//!
//! ```text
//! call step ─▶ its label, if it found nothing to do ─▶ free the result ─▶ the host counts it ─▶ 1: the next one; 0: return
//!     └──────── this much fuel is not the step's: the same for each way ────────────────────┘
//! ```
//!
//! All of it stands behind everything else, as an accessor does, so that no index of the component changes. It has no memory and no global,
//! and its code is counted as all code is: the host gives back what it uses ([`StepLoop`]).
//!
//! Invariants: appended names begin with [`crate::shape::RESERVED`]; between the end of a step and the question about it, and
//! between the answer and the next step, the fuel that is used depends on nothing but the case of its result.
//! Not here: which components have steps (`shape`), the loop of searches, which sees more (`access`).

use crate::nesting::CORE_MODULE_SECTION;
use crate::shape::{ComponentShape, StepExport};
use serde::{Deserialize, Serialize};
use wasm_encoder as to;

/// The export that takes steps from a number on, `(first)`, as long as [`STEP_COUNTED`] says so. Its answer is the number of the last one.
pub const RUN_STEPS: &str = "fozzy-run-steps";
/// The import that is asked after each step, `(result, flow)`: the case of its `step-result`, and the number behind that. A result
/// that is not where one may be has no case below 256. Its answer is 1 when the next step follows, and 0 otherwise.
pub const STEP_COUNTED: &str = "fozzy-step-counted";
/// The import that is told before that why a flow found nothing to do.
pub const STEP_LABEL: &str = "fozzy-step-label";

/// Fuel that [`RUN_STEPS`] uses beside the steps: one for its beginning, and one for each operator that costs any.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepLoop {
    /// From the beginning to the first step.
    pub before: u64,
    /// From the end of a step whose flow ran to the question about it.
    pub ran: u64,
    /// The same for one that found nothing to do.
    pub skipped: u64,
    /// From the answer to the next step.
    pub next: u64,
}

/// Core function types of the module, in this order.
const ONE: u32 = 0;
const FREE: u32 = 1;
const COUNT: u32 = 2;
const TELL: u32 = 3;

/// Imported functions of the module, in this order; the last one may be missing.
const COUNTED: u32 = 0;
const LABEL: u32 = 1;
const STEP: u32 = 2;
const POST_RETURN: u32 = 3;

/// The case `skipped` of `step-result`.
const SKIPPED: i32 = 1;

/// Appends the loop to a component of `shape` in `out`; `None` when it is not known what a step of it is.
pub(crate) fn append(shape: &ComponentShape, out: &mut Vec<u8>) -> Option<StepLoop> {
    let step = shape.step.as_ref().filter(|_| shape.obstacles.is_empty() && !shape.wide_texts)?;
    append_sections(shape, step, &module(step), out);
    let freed = if step.post_return.is_some() { 2 } else { 0 };
    Some(StepLoop { before: 3, ran: 18 + freed, skipped: 23 + freed, next: 8 })
}

fn module(step: &StepExport) -> Vec<u8> {
    use to::ValType::I32;
    let mut types = to::TypeSection::new();
    types.ty().function([I32], [I32]);
    types.ty().function([I32], []);
    types.ty().function([I32, I32], [I32]);
    types.ty().function([I32, I32], []);

    let mut imports = to::ImportSection::new();
    let ty = to::MemoryType { minimum: 0, maximum: None, memory64: false, shared: false, page_size_log2: None };
    imports.import("guest", &step.memory, to::EntityType::Memory(ty));
    imports.import("host", STEP_COUNTED, to::EntityType::Function(COUNT));
    imports.import("host", STEP_LABEL, to::EntityType::Function(TELL));
    imports.import("guest", &step.name, to::EntityType::Function(ONE));
    if let Some(post_return) = &step.post_return {
        imports.import("guest", post_return, to::EntityType::Function(FREE));
    }
    let own = POST_RETURN + u32::from(step.post_return.is_some());

    let (mut functions, mut code) = (to::FunctionSection::new(), to::CodeSection::new());
    functions.function(ONE);
    code.function(&body(step.post_return.is_some()));
    let mut exports = to::ExportSection::new();
    exports.export(RUN_STEPS, to::ExportKind::Func, own);
    let mut module = to::Module::new();
    module.section(&types).section(&imports).section(&functions).section(&exports).section(&code);
    module.finish()
}

/// The body of [`RUN_STEPS`].
fn body(frees: bool) -> to::Function {
    // As the canonical ABI has a `step-result`: its case, the number of a flow, and the place and length of a label.
    let at = |offset| to::MemArg { offset, align: 0, memory_index: 0 };
    let (number, result) = (0, 1);
    let mut body = to::Function::new([(1, to::ValType::I32)]);
    let mut code = body.instructions();
    code.loop_(to::BlockType::Empty);
    code.local_get(number).call(STEP).local_tee(result).i32_load8_u(at(0)).i32_const(SKIPPED).i32_eq();
    code.if_(to::BlockType::Empty);
    code.local_get(result).i32_load(at(8)).local_get(result).i32_load(at(12)).call(LABEL);
    code.end();
    // Whoever lifts a result wants all of it in memory, at a multiple of four: otherwise this is a trap, or no case that is known.
    code.local_get(result).i32_load(at(12)).drop();
    code.local_get(result).i32_load8_u(at(0)).local_get(result).i32_const(3).i32_and().i32_const(8).i32_shl().i32_or();
    code.local_get(result).i32_load(at(4));
    if frees {
        code.local_get(result).call(POST_RETURN);
    }
    code.call(COUNTED);
    code.if_(to::BlockType::Empty);
    code.local_get(number).i32_const(1).i32_add().local_set(number).br(1);
    code.end().end().local_get(number).end();
    body
}

/// Writes the component's part: imports that count, the loop's instance, its function lifted and exported.
fn append_sections(shape: &ComponentShape, step: &StepExport, module: &[u8], out: &mut Vec<u8>) {
    let counts = shape.counts;
    let number = to::ComponentValType::Primitive(to::PrimitiveValType::U32);
    let text = to::ComponentValType::Primitive(to::PrimitiveValType::String);

    let mut types = to::ComponentTypeSection::new();
    types.function().params([("result", number), ("flow", number)]).result(Some(number));
    types.function().params([("label", text)]).result(None);
    types.function().params([("first", number)]).result(Some(number));
    let (counted, label, lifted_type) = (counts.types, counts.types + 1, counts.types + 2);

    let mut imports = to::ComponentImportSection::new();
    imports.import(STEP_COUNTED, to::ComponentTypeRef::Func(counted));
    imports.import(STEP_LABEL, to::ComponentTypeRef::Func(label));

    let mut memories = to::ComponentAliasSection::new();
    let kind = to::ExportKind::Memory;
    memories.alias(to::Alias::CoreInstanceExport { instance: step.instance, kind, name: &step.memory });
    let mut lowered = to::CanonicalFunctionSection::new();
    lowered.lower(counts.functions, []);
    let options = [to::CanonicalOption::UTF8, to::CanonicalOption::Memory(counts.core_memories)];
    lowered.lower(counts.functions + 1, options);

    let mut instances = to::InstanceSection::new();
    instances.export_items([
        (STEP_COUNTED, to::ExportKind::Func, counts.core_functions),
        (STEP_LABEL, to::ExportKind::Func, counts.core_functions + 1),
    ]);
    let host = counts.core_instances;
    instances.instantiate(
        counts.core_modules,
        [("guest", to::ModuleArg::Instance(step.instance)), ("host", to::ModuleArg::Instance(host))],
    );

    let mut functions = to::ComponentAliasSection::new();
    let kind = to::ExportKind::Func;
    functions.alias(to::Alias::CoreInstanceExport { instance: host + 1, kind, name: RUN_STEPS });
    let mut lifted = to::CanonicalFunctionSection::new();
    lifted.lift(counts.core_functions + 2, lifted_type, []);
    let mut exports = to::ComponentExportSection::new();
    exports.export(RUN_STEPS, to::ComponentExportKind::Func, counts.functions + 2, None);

    let mut append = |section: &dyn to::ComponentSection| section.append_to_component(out);
    append(&types);
    append(&imports);
    append(&memories);
    append(&lowered);
    append(&to::RawSection { id: CORE_MODULE_SECTION, data: module });
    append(&instances);
    append(&functions);
    append(&lifted);
    append(&exports);
}
