//! Validates a core module, in memory that its size bounds.
//!
//! The operand stack is the validator's: a call with a thousand results takes two bytes, so that a module of a megabyte could
//! have gigabytes of it. No compiler of a source language comes near [`OPERANDS_MAX`].

use crate::{Error, features};
use wasmparser::{FuncValidatorAllocations, Parser, ValidPayload, Validator};

/// Operands that a function may have on its stack at once.
const OPERANDS_MAX: u32 = 1 << 20;

/// Validates `module`.
///
/// # Errors
/// [`Error::Invalid`], in the validator's words, and with where it is.
pub fn validate_module(module: &[u8]) -> Result<(), Error> {
    let mut validator = Validator::new_with_features(features());
    let mut parser = Parser::new(0);
    parser.set_features(features());
    let mut allocations = FuncValidatorAllocations::default();
    for payload in parser.parse_all(module) {
        let ValidPayload::Func(function, body) = validator.payload(&payload?)? else { continue };
        let mut function = function.into_validator(std::mem::take(&mut allocations));
        let mut reader = body.get_binary_reader();
        function.read_locals(&mut reader)?;
        let mut operators = wasmparser::OperatorsReader::new(reader);
        while !operators.eof() {
            let at = operators.original_position();
            function.op(at, &operators.read()?)?;
            if function.operand_stack_height() > OPERANDS_MAX {
                let reason = format!("a function has more than {OPERANDS_MAX} operands on its stack");
                return Err(Error::Invalid { offset: at, reason });
            }
        }
        operators.finish()?;
        allocations = function.into_allocations();
    }
    Ok(())
}
