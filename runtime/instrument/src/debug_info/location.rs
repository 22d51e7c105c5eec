//! Where a variable is at a place, and the bytes that it has there.
//!
//! ```text
//! DW_OP_WASM_location 0 3, DW_OP_stack_value        the value is in local 3
//! DW_OP_fbreg 8                                     in memory, 8 bytes behind what the frame base says
//! DW_OP_piece 8, DW_OP_lit3, stack_value, piece 4   the first 8 bytes are unknown, then comes 3
//! location list without an entry for the place      optimised out at this point
//! ```
//!
//! The evaluator is our own: one of 64 bits, since a local of WebAssembly has them where an address has 32.

use super::module::{DebugSections, DebugUnit, Entry, EntryId, Reader, number};
use gimli::{AttributeValue, Expression, Operation, UnitOffset};
use std::fmt;
use std::ops::Range;

/// Most operations of one location. Expressions of compilers have some ten.
const STEPS_MAX: usize = 1 << 12;
/// Most values on the stack of an evaluation.
const STACK_MAX: usize = 256;
/// Most bytes that the pieces of one variable have together.
const PIECES_BYTES_MAX: usize = 1 << 16;
/// Most entries of a location list that are looked at.
const LIST_MAX: usize = 1 << 16;

/// State of a stopped function, in the indices of the original program.
pub trait FrameValues {
    /// The bits of a local, parameters first; `None` if it has none or cannot be told.
    fn local(&self, index: u32) -> Option<u64>;
    /// The bits of a global of the module.
    fn global(&self, index: u32) -> Option<u64>;
    /// The bits of an operand, from the bottom of the operand stack.
    fn operand(&self, index: u32) -> Option<u64>;
    /// Fills `bytes` from the module's memory at `address`; false if not all of them are in it.
    fn read_memory(&self, address: u64, bytes: &mut [u8]) -> bool;
}

/// Why there is no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unavailable {
    /// The compiler kept it nowhere at this place.
    OptimisedOut,
    /// A part of it is kept nowhere at this place.
    PartlyOptimisedOut,
    /// It is at an address that is outside of the memory.
    BadAddress(u64),
    /// The function has not set up its frame yet.
    NoFrame,
    /// The debug information says something that cannot be followed.
    Unreadable(&'static str),
}

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unavailable::OptimisedOut => f.write_str("optimised out at this point"),
            Unavailable::PartlyOptimisedOut => f.write_str("partly optimised out at this point"),
            Unavailable::BadAddress(address) => write!(f, "{address:#x} is outside of the memory"),
            Unavailable::NoFrame => f.write_str("not set up yet at this point"),
            Unavailable::Unreadable(what) => write!(f, "cannot be read: {what}"),
        }
    }
}

/// Where the bytes of a value are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Storage {
    /// In the module's memory.
    Memory(u64),
    /// In locals, or computed. Those of `missing` are unknown.
    Bytes { bytes: Vec<u8>, missing: Vec<Range<usize>> },
}

impl Storage {
    pub(super) fn whole(bytes: Vec<u8>) -> Storage {
        Storage::Bytes { bytes, missing: Vec::new() }
    }

    /// A part of it.
    pub(super) fn part(&self, offset: u64, length: u64) -> Result<Storage, Unavailable> {
        match self {
            Storage::Memory(address) => Ok(Storage::Memory(address.wrapping_add(offset) & u64::from(u32::MAX))),
            Storage::Bytes { bytes, missing } => {
                let outside = Unavailable::Unreadable("a part outside of its whole");
                let start = usize::try_from(offset).map_err(|_| outside.clone())?;
                let length = usize::try_from(length).map_err(|_| outside.clone())?;
                let end = start.checked_add(length).ok_or(outside.clone())?;
                let own = bytes.get(start..end).ok_or(outside)?.to_vec();
                let cut = missing.iter().map(|gap| gap.start.max(start)..gap.end.min(end));
                let missing = cut.filter(|gap| gap.start < gap.end).map(|gap| gap.start - start..gap.end - start);
                Ok(Storage::Bytes { bytes: own, missing: missing.collect() })
            }
        }
    }
}

/// One part of a variable.
enum Piece {
    Memory(u64),
    Value(u64),
    Bytes(Vec<u8>),
    Missing,
}

/// A value on the stack of an evaluation.
#[derive(Clone, Copy)]
struct Operand {
    bits: u64,
    /// Its width in bits, and whether the highest of them is a sign.
    width: u32,
    signed: bool,
}

impl Operand {
    fn generic(bits: u64) -> Operand {
        Operand { bits, width: 64, signed: false }
    }

    /// As a signed number: of a generic value that fits an address, the sign is that of an address.
    fn signed(self) -> i64 {
        let width = if self.width == 64 && !self.signed && u32::try_from(self.bits).is_ok() { 32 } else { self.width };
        extend(self.bits, width)
    }
}

fn extend(bits: u64, width: u32) -> i64 {
    let unused = 64 - width.clamp(1, 64);
    (bits << unused).cast_signed() >> unused
}

/// What an evaluation may ask.
pub(super) struct LocationContext<'a> {
    pub(super) loaded: &'a DebugSections,
    pub(super) unit: &'a DebugUnit,
    pub(super) address: u32,
    pub(super) frame: &'a dyn FrameValues,
    /// The function whose frame base counts.
    pub(super) function: Option<EntryId>,
}

impl LocationContext<'_> {
    /// The storage of a variable, of `size` bytes if that is known.
    pub(super) fn storage(&self, entry: &Entry, size: Option<u64>) -> Result<Storage, Unavailable> {
        if let Some(constant) = entry.attr_value(gimli::DW_AT_const_value) {
            return constant_storage(&constant, size);
        }
        let Some(location) = entry.attr_value(gimli::DW_AT_location) else { return Err(Unavailable::OptimisedOut) };
        let expression = self.expression(location)?;
        let pieces = self.evaluate(expression)?;
        self.put_together(pieces, size)
    }

    /// The expression that holds at the address.
    fn expression(&self, location: AttributeValue<Reader>) -> Result<Expression<Reader>, Unavailable> {
        if let AttributeValue::Exprloc(expression) = location {
            return Ok(expression);
        }
        let lists = self.loaded.dwarf.attr_locations(&self.unit.unit, location);
        let Ok(Some(mut list)) = lists else { return Err(Unavailable::Unreadable("its list of locations")) };
        for _ in 0..LIST_MAX {
            let Ok(next) = list.next() else { return Err(Unavailable::Unreadable("its list of locations")) };
            let Some(found) = next else { break };
            if (found.range.begin..found.range.end).contains(&u64::from(self.address)) {
                return Ok(found.data);
            }
        }
        Err(Unavailable::OptimisedOut)
    }

    /// Runs an expression; gives each piece with its size, or one without.
    fn evaluate(&self, expression: Expression<Reader>) -> Result<Vec<(Piece, Option<u64>)>, Unavailable> {
        let mut stack: Vec<Operand> = Vec::new();
        let mut pieces: Vec<(Piece, Option<u64>)> = Vec::new();
        // What the operations since the last piece describe, when that is no address on the stack.
        let mut described: Option<Piece> = None;
        let mut operations = expression.operations(self.unit.unit.encoding());
        let mut empty = true;
        for _ in 0..STEPS_MAX {
            let next = operations.next().map_err(|_| Unavailable::Unreadable("its location"))?;
            let Some(operation) = next else { break };
            empty = false;
            match operation {
                Operation::StackValue => described = Some(Piece::Value(pop(&mut stack)?.bits)),
                Operation::ImplicitValue { data } => described = Some(Piece::Bytes(data.bytes().to_vec())),
                Operation::ImplicitPointer { .. } => described = Some(Piece::Missing),
                Operation::Piece { size_in_bits, bit_offset } => {
                    if size_in_bits % 8 != 0 || bit_offset.unwrap_or(0) != 0 {
                        return Err(Unavailable::Unreadable("a piece that is no number of bytes"));
                    }
                    let address = stack.pop().map(|operand| Piece::Memory(operand.bits & u64::from(u32::MAX)));
                    let piece = described.take().or(address).unwrap_or(Piece::Missing);
                    stack.clear();
                    pieces.push((piece, Some(size_in_bits / 8)));
                }
                operation => self.step(&operation, &mut stack)?,
            }
            if stack.len() > STACK_MAX {
                return Err(Unavailable::Unreadable("its location is too deep"));
            }
        }
        if empty {
            return Err(Unavailable::OptimisedOut);
        }
        if pieces.is_empty() {
            let address = stack.pop().map(|operand| Piece::Memory(operand.bits & u64::from(u32::MAX)));
            pieces.push((described.or(address).unwrap_or(Piece::Missing), None));
        }
        Ok(pieces)
    }

    fn step(&self, operation: &Operation<Reader>, stack: &mut Vec<Operand>) -> Result<(), Unavailable> {
        let value = match *operation {
            Operation::Nop => return Ok(()),
            Operation::WasmLocal { index } => self.of_frame(self.frame.local(index))?,
            Operation::WasmGlobal { index } => self.of_frame(self.frame.global(index))?,
            Operation::WasmStack { index } => self.of_frame(self.frame.operand(index))?,
            Operation::UnsignedConstant { value } => Operand::generic(value),
            Operation::SignedConstant { value } => Operand::generic(value.cast_unsigned()),
            Operation::Address { address } => Operand::generic(address),
            Operation::AddressIndex { index } | Operation::ConstantIndex { index } => {
                let address = self.loaded.dwarf.address(&self.unit.unit, index);
                Operand::generic(address.map_err(|_| Unavailable::Unreadable("an index of an address"))?)
            }
            Operation::FrameOffset { offset } => Operand::generic(self.frame_base()?.wrapping_add_signed(offset)),
            Operation::PlusConstant { value } => {
                let top = pop(stack)?;
                Operand { bits: top.bits.wrapping_add(value), ..top }
            }
            Operation::Drop => {
                pop(stack)?;
                return Ok(());
            }
            Operation::Pick { index } => {
                let position = stack.len().checked_sub(usize::from(index) + 1);
                *position.and_then(|position| stack.get(position)).ok_or(EMPTY)?
            }
            Operation::Swap => {
                let (one, other) = (pop(stack)?, pop(stack)?);
                stack.push(one);
                other
            }
            Operation::Rot => {
                let (one, two, three) = (pop(stack)?, pop(stack)?, pop(stack)?);
                stack.push(one);
                stack.push(three);
                two
            }
            Operation::Deref { size, .. } => {
                let address = pop(stack)?.bits & u64::from(u32::MAX);
                let mut bytes = [0; 8];
                let wanted = bytes.get_mut(..usize::from(size)).ok_or(Unavailable::Unreadable("a size of a load"))?;
                if !self.frame.read_memory(address, wanted) {
                    return Err(Unavailable::BadAddress(address));
                }
                Operand::generic(u64::from_le_bytes(bytes))
            }
            Operation::TypedLiteral { ref value, .. } => {
                let mut bytes = [0; 8];
                let given = value.bytes();
                let own = bytes.get_mut(..given.len()).ok_or(Unavailable::Unreadable("a literal"))?;
                own.copy_from_slice(given);
                Operand::generic(u64::from_le_bytes(bytes))
            }
            Operation::Convert { base_type } => {
                let from = pop(stack)?;
                let bits = if from.signed { extend(from.bits, from.width).cast_unsigned() } else { from.bits };
                self.typed(bits, base_type)?
            }
            Operation::Reinterpret { base_type } => {
                let from = pop(stack)?;
                self.typed(from.bits, base_type)?
            }
            Operation::Abs => Operand::generic(pop(stack)?.signed().unsigned_abs()),
            Operation::Neg => Operand::generic(pop(stack)?.signed().wrapping_neg().cast_unsigned()),
            Operation::Not => Operand::generic(!pop(stack)?.bits),
            ref binary => {
                let (right, left) = (pop(stack)?, pop(stack)?);
                Operand::generic(binary_result(binary, left, right)?)
            }
        };
        stack.push(value);
        Ok(())
    }

    fn of_frame(&self, bits: Option<u64>) -> Result<Operand, Unavailable> {
        bits.map(Operand::generic).ok_or(Unavailable::OptimisedOut)
    }

    /// Bits as a number of a base type.
    fn typed(&self, bits: u64, base_type: UnitOffset) -> Result<Operand, Unavailable> {
        if base_type.0 == 0 {
            return Ok(Operand::generic(bits));
        }
        let entry = self.unit.unit.entry(base_type).map_err(|_| Unavailable::Unreadable("a type in its location"))?;
        let bytes = number(&entry, gimli::DW_AT_byte_size).unwrap_or(8).clamp(1, 8);
        let width = u32::try_from(bytes * 8).unwrap_or(64);
        let encoding = entry.attr_value(gimli::DW_AT_encoding);
        let signed =
            matches!(encoding, Some(AttributeValue::Encoding(gimli::DW_ATE_signed | gimli::DW_ATE_signed_char)));
        let mask = if width == 64 { u64::MAX } else { (1 << width) - 1 };
        Ok(Operand { bits: bits & mask, width, signed })
    }

    /// The address that the function's frame base stands for.
    fn frame_base(&self) -> Result<u64, Unavailable> {
        let function = self.function.ok_or(Unavailable::Unreadable("a frame base without a function"))?;
        let (unit, entry) = self.loaded.entry(function.offset).ok_or(Unavailable::Unreadable("its function"))?;
        let base = entry.attr_value(gimli::DW_AT_frame_base).ok_or(Unavailable::Unreadable("no frame base"))?;
        // A frame base that needs a frame base would go in circles.
        let context = LocationContext { unit, function: None, ..*self };
        let pieces = context.evaluate(context.expression(base)?)?;
        let address = match pieces.as_slice() {
            [(Piece::Value(address) | Piece::Memory(address), None)] => *address & u64::from(u32::MAX),
            _ => return Err(Unavailable::Unreadable("the frame base")),
        };
        // Locals begin at zero, and no stack does.
        if address == 0 { Err(Unavailable::NoFrame) } else { Ok(address) }
    }

    fn put_together(&self, pieces: Vec<(Piece, Option<u64>)>, size: Option<u64>) -> Result<Storage, Unavailable> {
        if let [(piece, None)] = pieces.as_slice() {
            return match piece {
                Piece::Memory(address) => Ok(Storage::Memory(*address)),
                Piece::Value(bits) => Ok(scalar(*bits, size)),
                Piece::Bytes(bytes) => Ok(Storage::whole(bytes.clone())),
                Piece::Missing => Err(Unavailable::OptimisedOut),
            };
        }
        let mut bytes = Vec::new();
        let mut missing = Vec::new();
        for (piece, length) in pieces {
            let length = usize::try_from(length.unwrap_or(0)).unwrap_or(usize::MAX);
            let start = bytes.len();
            if length > PIECES_BYTES_MAX.saturating_sub(start) {
                return Err(Unavailable::Unreadable("pieces that are too long"));
            }
            bytes.resize(start + length, 0);
            let known = match piece {
                Piece::Memory(address) => self.frame.read_memory(address, &mut bytes[start..]),
                Piece::Value(bits) => copy(&bits.to_le_bytes(), &mut bytes[start..]),
                Piece::Bytes(own) => copy(&own, &mut bytes[start..]),
                Piece::Missing => false,
            };
            if !known {
                missing.push(start..start + length);
            }
        }
        if missing.iter().map(Range::len).sum::<usize>() == bytes.len() {
            return Err(Unavailable::OptimisedOut);
        }
        let wanted = size.and_then(|size| usize::try_from(size).ok()).unwrap_or(0).min(PIECES_BYTES_MAX);
        if wanted > bytes.len() {
            missing.push(bytes.len()..wanted);
            bytes.resize(wanted, 0);
        }
        Ok(Storage::Bytes { bytes, missing })
    }
}

const EMPTY: Unavailable = Unavailable::Unreadable("a location that takes more values than there are");

fn pop(stack: &mut Vec<Operand>) -> Result<Operand, Unavailable> {
    stack.pop().ok_or(EMPTY)
}

/// Copies as much as there is; whether that is all.
fn copy(from: &[u8], to: &mut [u8]) -> bool {
    let common = from.len().min(to.len());
    to[..common].copy_from_slice(&from[..common]);
    common == to.len()
}

/// A value in a local, or computed: what a type has beyond it is unknown.
fn scalar(bits: u64, size: Option<u64>) -> Storage {
    let size = size.and_then(|size| usize::try_from(size).ok()).unwrap_or(8).min(PIECES_BYTES_MAX);
    let mut bytes = bits.to_le_bytes().to_vec();
    let missing = (size > bytes.len()).then_some(bytes.len()..size).into_iter().collect();
    bytes.resize(size, 0);
    Storage::Bytes { bytes, missing }
}

fn constant_storage(constant: &AttributeValue<Reader>, size: Option<u64>) -> Result<Storage, Unavailable> {
    match constant {
        AttributeValue::Block(block) => Ok(Storage::whole(block.bytes().to_vec())),
        AttributeValue::Data16(value) => Ok(Storage::whole(value.to_le_bytes().to_vec())),
        AttributeValue::Sdata(value) => Ok(scalar(value.cast_unsigned(), size)),
        other => match other.udata_value() {
            Some(value) => Ok(scalar(value, size)),
            None => Err(Unavailable::Unreadable("its constant")),
        },
    }
}

fn binary_result(operation: &Operation<Reader>, left: Operand, right: Operand) -> Result<u64, Unavailable> {
    let (a, b) = (left.bits, right.bits);
    let shift = u32::try_from(b).ok().filter(|shift| *shift < 64);
    let zero = Unavailable::Unreadable("a division by zero in its location");
    Ok(match operation {
        Operation::And => a & b,
        Operation::Or => a | b,
        Operation::Xor => a ^ b,
        Operation::Plus => a.wrapping_add(b),
        Operation::Minus => a.wrapping_sub(b),
        Operation::Mul => a.wrapping_mul(b),
        Operation::Div => match right.signed() {
            0 => return Err(zero),
            divisor => left.signed().wrapping_div(divisor).cast_unsigned(),
        },
        Operation::Mod => a.checked_rem(b).ok_or(zero)?,
        Operation::Shl => shift.map_or(0, |shift| a << shift),
        Operation::Shr => shift.map_or(0, |shift| a >> shift),
        Operation::Shra => (left.signed() >> shift.unwrap_or(63)).cast_unsigned(),
        Operation::Eq => u64::from(left.signed() == right.signed()),
        Operation::Ne => u64::from(left.signed() != right.signed()),
        Operation::Lt => u64::from(left.signed() < right.signed()),
        Operation::Le => u64::from(left.signed() <= right.signed()),
        Operation::Gt => u64::from(left.signed() > right.signed()),
        Operation::Ge => u64::from(left.signed() >= right.signed()),
        _ => return Err(Unavailable::Unreadable("an operation that WebAssembly's compilers do not use")),
    })
}
