//! Modules that write and branch a lot, which random modules do too rarely: stores of every width through locals that change or do
//! not, through the frame, at constant and at computed addresses, with blocks and calls between address and store.

use wasm_encoder::{
    BlockType, CodeSection, ConstExpr, ExportKind, ExportSection, Function, FunctionSection, GlobalSection, GlobalType,
    InstructionSink, MemArg, MemorySection, MemoryType, Module, TypeSection, ValType,
};

/// Functions of a module, and operators of each, about.
const FUNCTIONS: u32 = 4;
const STEPS: u32 = 40;
/// Locals: a parameter, the frame, and some more.
const PARAMETER: u32 = 0;
const FRAME: u32 = 1;
const LOCALS: u32 = 5;
/// Counts loops down, so that they end.
const COUNT: u32 = LOCALS;
/// Depth of blocks.
const DEPTH_MAX: u32 = 5;

/// Draws numbers from bytes.
struct Draw<'b> {
    bytes: &'b [u8],
    at: usize,
    /// Whether a branch may go to each open label: blocks without a result, and no loops.
    labels: Vec<bool>,
}

impl Draw<'_> {
    fn below(&mut self, bound: u32) -> u32 {
        let bytes = [self.at, self.at + 1].map(|at| self.bytes[at % self.bytes.len()]);
        self.at += 2;
        u32::from(u16::from_le_bytes(bytes)) % bound
    }

    /// A label to branch to, counted from the innermost one, which may be branched to.
    fn label(&mut self) -> u32 {
        let chosen = self.below(u32::try_from(self.labels.len()).expect("few"));
        let free = self.labels[self.labels.len() - 1 - chosen as usize];
        if free { chosen } else { 0 }
    }

    /// Something inside of a label.
    fn inside(&mut self, free: bool, inside: impl FnOnce(&mut Self)) {
        self.labels.push(free);
        inside(self);
        self.labels.pop();
    }

    fn number(&mut self) -> i32 {
        let choices = [0, 1, 4, 60, 64, 100, 4090, 4096, 5000, 65_530, -8, 70_000];
        choices[self.below(12) as usize]
    }
}

/// A module out of random bytes.
pub(super) fn module(bytes: &[u8]) -> Vec<u8> {
    let mut draw = Draw { bytes, at: 0, labels: Vec::new() };
    let mut types = TypeSection::new();
    types.ty().function([ValType::I32], [ValType::I32]);
    let mut functions = FunctionSection::new();
    let mut exports = ExportSection::new();
    let mut code = CodeSection::new();
    for index in 0..FUNCTIONS {
        functions.function(0);
        exports.export(&format!("f{index}"), ExportKind::Func, index);
        let mut function = Function::new([(LOCALS, ValType::I32)]);
        let mut sink = function.instructions();
        // The last function has no frame; the others have one of any size.
        if index + 1 < FUNCTIONS {
            let bytes = [16, 64, 200, 4096, 9000, 70_000][draw.below(6) as usize];
            sink.global_get(0).i32_const(bytes).i32_sub().local_tee(FRAME).global_set(0);
        }
        sink.i32_const(20).local_set(COUNT);
        for _ in 0..STEPS {
            step(&mut draw, &mut sink, index, 0);
        }
        sink.local_get(FRAME).global_set(0);
        sink.local_get(draw.below(LOCALS)).end();
        code.function(&function);
    }
    let mut memories = MemorySection::new();
    let ty = MemoryType { minimum: 4, maximum: Some(6), memory64: false, shared: false, page_size_log2: None };
    memories.memory(ty);
    exports.export("memory", ExportKind::Memory, 0);
    let mut globals = GlobalSection::new();
    globals.global(GlobalType { val_type: ValType::I32, mutable: true, shared: false }, &ConstExpr::i32_const(200_000));
    let mut module = Module::new();
    module.section(&types).section(&functions).section(&memories).section(&globals).section(&exports).section(&code);
    module.finish()
}

/// Operators that leave the stack as it is.
fn step(draw: &mut Draw<'_>, sink: &mut InstructionSink<'_>, function: u32, depth: u32) {
    let local = draw.below(LOCALS);
    match draw.below(if depth < DEPTH_MAX { 14 } else { 7 }) {
        0..=3 => store(draw, sink, function, depth),
        4 => {
            // In bounds most of the time.
            value(draw, sink, function, depth);
            sink.i32_const(0x3_ffff).i32_and().local_set(if local == FRAME { PARAMETER } else { local });
        }
        5 => {
            // In bounds most of the time, and never much.
            sink.local_get(local).i32_const(0xffff).i32_and();
            let number = draw.number();
            sink.i32_const(number).i32_const(draw.number() & 0x1fff);
            if number % 2 == 0 {
                sink.memory_fill(0);
            } else {
                sink.memory_copy(0, 0);
            }
        }
        6 if function > 0 => {
            sink.local_get(local).call(function - 1).local_set(PARAMETER);
        }
        6 => {
            sink.i32_const(1).memory_grow(0).drop();
        }
        7 | 8 => {
            sink.block(BlockType::Empty);
            draw.inside(true, |draw| {
                step(draw, sink, function, depth + 1);
                sink.local_get(local).i32_const(draw.number()).i32_gt_s().br_if(draw.label());
                step(draw, sink, function, depth + 1);
            });
            sink.end();
        }
        9 => {
            // Counts down over all loops of the call.
            sink.loop_(BlockType::Empty);
            draw.inside(false, |draw| {
                step(draw, sink, function, depth + 1);
                step(draw, sink, function, depth + 1);
            });
            sink.local_get(COUNT).i32_const(1).i32_sub().local_tee(COUNT).i32_const(0).i32_gt_s();
            if draw.below(2) == 0 {
                sink.br_if(0);
            } else {
                sink.if_(BlockType::Empty).br(1).end();
            }
            sink.end();
        }
        10 | 11 => {
            sink.local_get(local).i32_const(draw.number()).i32_lt_u().if_(BlockType::Empty);
            draw.inside(true, |draw| {
                step(draw, sink, function, depth + 1);
                if draw.below(2) == 0 {
                    sink.else_();
                    step(draw, sink, function, depth + 1);
                }
            });
            sink.end();
        }
        12 => {
            sink.block(BlockType::Empty).block(BlockType::Empty).block(BlockType::Empty);
            sink.local_get(local).i32_const(7).i32_and().br_table([0, 2, 1, 2, 0], 1);
            for around in [2, 1, 0] {
                sink.end();
                draw.labels.extend(vec![true; around]);
                step(draw, sink, function, depth + 1);
                draw.labels.truncate(draw.labels.len() - around);
            }
        }
        _ => {
            sink.block(BlockType::Result(ValType::I32));
            sink.local_get(local).local_get(local).i32_const(draw.number()).i32_ne().br_if(0).drop();
            draw.inside(false, |draw| value(draw, sink, function, depth + 1));
            sink.end().local_set(if local == FRAME { PARAMETER } else { local });
        }
    }
}

/// Operators that push a value.
fn value(draw: &mut Draw<'_>, sink: &mut InstructionSink<'_>, function: u32, depth: u32) {
    let local = draw.below(LOCALS);
    match draw.below(if depth < DEPTH_MAX { 8 } else { 5 }) {
        0 => {
            sink.i32_const(draw.number());
        }
        1 => {
            sink.local_get(local);
        }
        2 => {
            sink.local_get(local).i32_const(draw.number()).i32_add();
        }
        3 => {
            sink.local_get(local).i32_const(draw.number()).i32_sub();
        }
        4 => {
            sink.local_get(local).i32_const(40_503).i32_mul().i32_const(0x3_ffff).i32_and();
        }
        5 => {
            sink.local_get(local).if_(BlockType::Result(ValType::I32));
            draw.inside(false, |draw| {
                step(draw, sink, function, depth + 1);
                value(draw, sink, function, depth + 1);
                sink.else_();
                value(draw, sink, function, depth + 1);
            });
            sink.end();
        }
        6 => {
            sink.block(BlockType::Result(ValType::I32));
            draw.inside(false, |draw| {
                value(draw, sink, function, depth + 1);
                sink.local_get(local).br_if(0);
                step(draw, sink, function, depth + 1);
            });
            sink.end();
        }
        _ => {
            value(draw, sink, function, depth + 1);
            step(draw, sink, function, depth + 1);
            sink.local_tee(if local == FRAME { PARAMETER } else { local });
        }
    }
}

/// A store of any width.
fn store(draw: &mut Draw<'_>, sink: &mut InstructionSink<'_>, function: u32, depth: u32) {
    if draw.below(3) == 0 {
        sink.local_get(FRAME);
    } else {
        value(draw, sink, function, depth + 1);
    }
    value(draw, sink, function, depth + 1);
    let memarg = MemArg { offset: u64::from(draw.number().cast_unsigned() & 0xffff), align: 0, memory_index: 0 };
    match draw.below(9) {
        0 => sink.i32_store(memarg),
        1 => sink.i32_store8(memarg),
        2 => sink.i32_store16(memarg),
        3 => sink.i64_extend_i32_s().i64_store(memarg),
        4 => sink.i64_extend_i32_u().i64_store32(memarg),
        5 => sink.i64_extend_i32_u().i64_store16(memarg),
        6 => sink.f32_convert_i32_s().f32_store(memarg),
        7 => sink.f64_convert_i32_s().f64_store(memarg),
        _ => sink.i32x4_splat().v128_store(memarg),
    };
}
