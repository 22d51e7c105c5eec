//! The loop that takes steps of a scenario in one call: what is appended to a component that has steps.
//!
//! ```text
//! call step ─▶ the text of its result, if it has any ─▶ free the result ─▶ the host looks at it ─▶ 1: the next one; 0: return
//!     └──────── this much fuel is not the step's: the same for each way ────────────────────┘
//! ```
//!
//! All of it stands behind everything else, as an accessor does, so that no index of the component changes. It has no memory and no global.
//! Where code is counted, its own is, too: the host gives back what it uses ([`StepLoop`]).
//!
//! Invariants: appended names begin with [`crate::shape::RESERVED`]; between the end of a step and the question about it, and
//! between the answer and the next step, the fuel that is used depends on nothing but the case of its result.
//! Not here: which components have steps (`entries`).

use crate::entries::StepEntry;
use crate::features;
use crate::nesting::CORE_MODULE_SECTION;
use crate::shape::ComponentShape;
use serde::{Deserialize, Serialize};
use wasm_encoder as to;
use wasmparser::{Parser, Validator};

/// The export that takes steps from a number on, `(first)`, as long as [`STEP_OVER`] says so. Its answer is the number of the last one.
/// Between two steps nothing of the scenario is on the stack, and its memory and globals are as after a call of `step`, whose result
/// was freed.
pub const STEPS: &str = "fozzy-steps";
/// The import that is asked after each step, `(result, flow)`: the case of its `step-result`, and the number behind that. A result
/// that is not where one may be has no case below 256. Its answer is 1 when the next step follows, and 0 otherwise.
pub const STEP_OVER: &str = "fozzy-step-over";
/// The import that is told before that what the text of a result says: why a flow found nothing to do, or why none is valid.
pub const STEP_TEXT: &str = "fozzy-step-text";

/// Fuel that [`STEPS`] uses beside the steps: one for its beginning, and one for each operator that costs any.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepLoop {
    /// From the beginning to the first step.
    pub before: u64,
    /// From the end of a step to the question about it, if its result has no text.
    pub plain: u64,
    /// The same for one with a text.
    pub told: u64,
    /// From the answer to the next step.
    pub next: u64,
}

/// Core function types of the module, in this order.
const ONE: u32 = 0;
const FREE: u32 = 1;
const ASK: u32 = 2;
const TELL: u32 = 3;

/// What the module imports, beside the questions.
const MEMORY: &str = "memory";
const ONE_STEP: &str = "step";
const FREE_RESULT: &str = "free";

/// Imported functions of the module, in this order; the last one may be missing.
const OVER: u32 = 0;
const TEXT: u32 = 1;
const STEP: u32 = 2;
const POST_RETURN: u32 = 3;

/// The first case of `step-result` that has a text, and how many have.
const WITH_TEXT: (i32, i32) = (1, 2);

/// Appends the loop to a component of `shape` in `out`; `None` when it is not known what a step of it is, or when there is no room for it.
pub(crate) fn append(shape: &ComponentShape, out: &mut Vec<u8>) -> Option<StepLoop> {
    let step = shape.step?;
    let end = out.len();
    append_sections(shape, step, &module(step), out);
    if !is_valid(out) {
        out.truncate(end);
        return None;
    }
    let freed = if step.post_return.is_some() { 2 } else { 0 };
    Some(StepLoop { before: 3, plain: 20 + freed, told: 32 + freed, next: 8 })
}

/// Whether a component is valid, but for the bodies of its functions, which were looked at before.
fn is_valid(component: &[u8]) -> bool {
    let mut validator = Validator::new_with_features(features());
    let mut parser = Parser::new(0);
    parser.set_features(features());
    parser.parse_all(component).all(|payload| payload.is_ok_and(|payload| validator.payload(&payload).is_ok()))
}

fn module(step: StepEntry) -> Vec<u8> {
    use to::ValType::I32;
    let mut types = to::TypeSection::new();
    types.ty().function([I32], [I32]);
    types.ty().function([I32], []);
    types.ty().function([I32, I32], [I32]);
    types.ty().function([I32, I32], []);

    let mut imports = to::ImportSection::new();
    let ty = to::MemoryType { minimum: 0, maximum: None, memory64: false, shared: false, page_size_log2: None };
    imports.import("guest", MEMORY, to::EntityType::Memory(ty));
    imports.import("guest", STEP_OVER, to::EntityType::Function(ASK));
    imports.import("guest", STEP_TEXT, to::EntityType::Function(TELL));
    imports.import("guest", ONE_STEP, to::EntityType::Function(ONE));
    if step.post_return.is_some() {
        imports.import("guest", FREE_RESULT, to::EntityType::Function(FREE));
    }
    let own = POST_RETURN + u32::from(step.post_return.is_some());

    let (mut functions, mut code) = (to::FunctionSection::new(), to::CodeSection::new());
    functions.function(ONE);
    code.function(&body(step.post_return.is_some()));
    let mut exports = to::ExportSection::new();
    exports.export(STEPS, to::ExportKind::Func, own);
    let mut module = to::Module::new();
    module.section(&types).section(&imports).section(&functions).section(&exports).section(&code);
    module.finish()
}

/// The body of [`STEPS`].
fn body(frees: bool) -> to::Function {
    // As the canonical ABI has a `step-result`: its case; a number at 4; the place and length of a text at 4, or at 8 behind a number.
    let at = |offset| to::MemArg { offset, align: 0, memory_index: 0 };
    let (number, result, case, text) = (0, 1, 2, 3);
    let mut body = to::Function::new([(3, to::ValType::I32)]);
    let mut code = body.instructions();
    code.loop_(to::BlockType::Empty);
    code.local_get(number).call(STEP).local_tee(result).i32_load8_u(at(0)).local_tee(case);
    code.i32_const(WITH_TEXT.0).i32_sub().i32_const(WITH_TEXT.1).i32_lt_u();
    code.if_(to::BlockType::Empty);
    code.local_get(result).i32_const(12).local_get(case).i32_const(2).i32_shl().i32_sub().i32_add().local_tee(text);
    code.i32_load(at(0)).local_get(text).i32_load(at(4)).call(TEXT);
    code.end();
    // Whoever lifts a result wants all of it in memory, at a multiple of four: otherwise this is a trap, or no case that is known.
    code.local_get(result).i32_load(at(12)).drop();
    code.local_get(case).local_get(result).i32_const(3).i32_and().i32_const(8).i32_shl().i32_or();
    code.local_get(result).i32_load(at(4));
    if frees {
        code.local_get(result).call(POST_RETURN);
    }
    code.call(OVER);
    code.if_(to::BlockType::Empty);
    code.local_get(number).i32_const(1).i32_add().local_set(number).br(1);
    code.end().end().local_get(number).end();
    body
}

/// Writes the component's part: imports that look at steps, the loop's instance, its function lifted and exported.
fn append_sections(shape: &ComponentShape, step: StepEntry, module: &[u8], out: &mut Vec<u8>) {
    let counts = shape.counts;
    let number = to::ComponentValType::Primitive(to::PrimitiveValType::U32);
    let text = to::ComponentValType::Primitive(to::PrimitiveValType::String);

    let mut types = to::ComponentTypeSection::new();
    types.function().params([("result", number), ("flow", number)]).result(Some(number));
    types.function().params([("text", text)]).result(None);
    types.function().params([("first", number)]).result(Some(number));
    let (over_type, text_type, lifted_type) = (counts.types, counts.types + 1, counts.types + 2);

    let mut imports = to::ComponentImportSection::new();
    imports.import(STEP_OVER, to::ComponentTypeRef::Func(over_type));
    imports.import(STEP_TEXT, to::ComponentTypeRef::Func(text_type));

    let mut lowered = to::CanonicalFunctionSection::new();
    lowered.lower(counts.functions, []);
    let options = [to::CanonicalOption::UTF8, to::CanonicalOption::Memory(step.memory)];
    lowered.lower(counts.functions + 1, options);

    let function = to::ExportKind::Func;
    let mut guest = vec![
        (STEP_OVER, function, counts.core_functions),
        (STEP_TEXT, function, counts.core_functions + 1),
        (ONE_STEP, function, step.step),
        (MEMORY, to::ExportKind::Memory, step.memory),
    ];
    guest.extend(step.post_return.map(|post_return| (FREE_RESULT, function, post_return)));
    let mut instances = to::InstanceSection::new();
    instances.export_items(guest);
    instances.instantiate(counts.core_modules, [("guest", to::ModuleArg::Instance(counts.core_instances))]);

    let mut functions = to::ComponentAliasSection::new();
    functions.alias(to::Alias::CoreInstanceExport { instance: counts.core_instances + 1, kind: function, name: STEPS });
    let mut lifted = to::CanonicalFunctionSection::new();
    lifted.lift(counts.core_functions + 2, lifted_type, []);
    let mut exports = to::ComponentExportSection::new();
    exports.export(STEPS, to::ComponentExportKind::Func, counts.functions + 2, None);

    let mut append = |section: &dyn to::ComponentSection| section.append_to_component(out);
    append(&types);
    append(&imports);
    append(&lowered);
    append(&to::RawSection { id: CORE_MODULE_SECTION, data: module });
    append(&instances);
    append(&functions);
    append(&lifted);
    append(&exports);
}
