//! Edge coverage as AFL does it, for comparison: a counter for the exclusive or of this block and the one before.
//!
//! ```text
//! block     map[previous ^ here] += 1     previous = here >> 1       here: a number for each block
//! ```
//!
//! Blocks begin at function entries, loop heads, both sides of an `if`, labels, and behind a `br_if`. The map is a second
//! memory, `previous` a global, as in the prototypes of the papers.
//! <https://github.com/AFLplusplus/AFLplusplus/blob/stable/docs/technical_details.md>

use wasm_encoder::reencode::{Error, Reencode, utils};
use wasm_encoder::{
    CodeSection, ConstExpr, Function, GlobalSection, GlobalType, Instruction, MemArg, MemorySection, MemoryType,
    Module, ValType,
};
use wasmparser::{FunctionBody, GlobalSectionReader, MemorySectionReader, Operator, Parser};

/// Entries of the map, which is one page of wasm.
const MAP_BYTES: u32 = 1 << 16;

/// A core module that defines one memory and some globals and imports neither, with such coverage.
pub(crate) fn rewritten(module: &[u8]) -> Vec<u8> {
    let mut out = Module::new();
    let mut classic = Classic { blocks: 0, previous: 0 };
    classic.parse_core_module(&mut out, Parser::new(0), module).expect("the guest is valid");
    out.finish()
}

struct Classic {
    blocks: u32,
    /// The global that holds the block before.
    previous: u32,
}

impl Classic {
    fn mark(&mut self, function: &mut Function) {
        self.blocks += 1;
        // Spread as AFL's random numbers are, and the same each time.
        let here = self.blocks.wrapping_mul(0x9E37_79B1) >> 16 & (MAP_BYTES - 1);
        let at = MemArg { offset: 0, align: 0, memory_index: 1 };
        let index =
            [Instruction::GlobalGet(self.previous), Instruction::I32Const(here.cast_signed()), Instruction::I32Xor];
        let count = [
            Instruction::I32Load8U(at),
            Instruction::I32Const(1),
            Instruction::I32Add,
            Instruction::I32Store8(at),
            Instruction::I32Const((here >> 1).cast_signed()),
            Instruction::GlobalSet(self.previous),
        ];
        for instruction in index.iter().chain(&index).chain(&count) {
            function.instruction(instruction);
        }
    }
}

impl Reencode for Classic {
    type Error = std::convert::Infallible;

    fn parse_memory_section(
        &mut self,
        memories: &mut MemorySection,
        section: MemorySectionReader<'_>,
    ) -> Result<(), Error<Self::Error>> {
        assert_eq!(section.count(), 1, "the guest has one memory");
        utils::parse_memory_section(self, memories, section)?;
        let page = Some(1);
        memories.memory(MemoryType { minimum: 1, maximum: page, memory64: false, shared: false, page_size_log2: None });
        Ok(())
    }

    fn parse_global_section(
        &mut self,
        globals: &mut GlobalSection,
        section: GlobalSectionReader<'_>,
    ) -> Result<(), Error<Self::Error>> {
        self.previous = section.count();
        utils::parse_global_section(self, globals, section)?;
        let ty = GlobalType { val_type: ValType::I32, mutable: true, shared: false };
        globals.global(ty, &ConstExpr::i32_const(0));
        Ok(())
    }

    fn parse_function_body(
        &mut self,
        code: &mut CodeSection,
        body: FunctionBody<'_>,
    ) -> Result<(), Error<Self::Error>> {
        let mut function = self.new_function_with_parsed_locals(&body)?;
        let operators: Vec<Operator<'_>> = body.get_operators_reader()?.into_iter().collect::<Result<_, _>>()?;
        self.mark(&mut function);
        let last = operators.len() - 1;
        for (position, operator) in operators.into_iter().enumerate() {
            let marked = matches!(
                operator,
                Operator::Loop { .. } | Operator::If { .. } | Operator::Else | Operator::End | Operator::BrIf { .. }
            );
            let instruction = self.instruction(operator)?;
            function.instruction(&instruction);
            if marked && position < last {
                self.mark(&mut function);
            }
        }
        code.function(&function);
        Ok(())
    }
}
