//! Which operators of a function body are changed, and into what.
//!
//! ```text
//! i32.store offset=8   36 02 08          drop drop nop      1a 1a 01
//! call $f (i32) → i32  10 85 80 80 80 00 drop i32.const 0 … 1a 41 00 01 01 01
//! ```
//!
//! Invariant: a change has the length of what it replaces, and takes and leaves the same operands.

use std::collections::BTreeSet;
use std::ops::Range;
use wasmparser::{FuncType, Operator, ValType};

/// Operators at the beginning of a function among which its frame on the shadow stack is made.
const PROLOGUE_MAX: usize = 14;
/// Bytes that the widest load reads.
const LOAD_BYTES_MAX: u64 = 8;

const NOP: u8 = 0x01;
const RETURN: u8 = 0x0f;
const DROP: u8 = 0x1a;
const END: u8 = 0x0b;
const I32_EQZ: u8 = 0x45;
const I32_CONST: u8 = 0x41;
const I64_CONST: u8 = 0x42;
const F32_CONST: u8 = 0x43;
const F64_CONST: u8 = 0x44;

/// What is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MutationKind {
    /// A comparison compares otherwise.
    Comparison,
    /// A condition is turned around, or is always or never true.
    Condition,
    /// Another operator of arithmetic.
    Arithmetic,
    /// Another constant.
    Constant,
    /// Nothing is stored.
    Store,
    /// A call is left out.
    Call,
    /// A function does nothing but return.
    Body,
}

impl MutationKind {
    /// All of them.
    pub const ALL: [MutationKind; 7] = [
        MutationKind::Comparison,
        MutationKind::Condition,
        MutationKind::Arithmetic,
        MutationKind::Constant,
        MutationKind::Store,
        MutationKind::Call,
        MutationKind::Body,
    ];

    /// Its name in documents.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            MutationKind::Comparison => "comparison",
            MutationKind::Condition => "condition",
            MutationKind::Arithmetic => "arithmetic",
            MutationKind::Constant => "constant",
            MutationKind::Store => "store",
            MutationKind::Call => "call",
            MutationKind::Body => "body",
        }
    }
}

/// An operator and where it stands.
pub(super) struct CodeOperator<'a> {
    pub(super) operator: Operator<'a>,
    pub(super) offset: u32,
    pub(super) end: u32,
}

/// A change of one place.
pub(super) struct MutationDraft {
    pub(super) offset: u32,
    pub(super) kind: MutationKind,
    pub(super) change: String,
    pub(super) looks_like_a_check: bool,
    pub(super) callee: Option<u32>,
    /// The first byte that is replaced.
    pub(super) start: u32,
    pub(super) bytes: Vec<u8>,
}

/// A body, and what of it is the compiler's.
pub(super) struct BodyReader<'b, 'a> {
    operators: &'b [CodeOperator<'a>],
    component: &'b [u8],
    data: Range<i64>,
    /// Locals that point into the frame.
    frame: BTreeSet<u32>,
    /// Locals that hold what is added to such an address.
    distances: BTreeSet<u32>,
    /// Operators that make the frame.
    prologue: usize,
    frame_bytes: Option<i64>,
    /// Where the frame is read: by loads, and by addresses that are made.
    read: BTreeSet<u64>,
    addressed: BTreeSet<u64>,
}

impl<'b, 'a> BodyReader<'b, 'a> {
    pub(super) fn of(operators: &'b [CodeOperator<'a>], component: &'b [u8], data: Range<i64>) -> Self {
        let mut reader = BodyReader {
            operators,
            component,
            data,
            frame: BTreeSet::new(),
            distances: BTreeSet::new(),
            prologue: 0,
            frame_bytes: None,
            read: BTreeSet::new(),
            addressed: BTreeSet::new(),
        };
        reader.frames();
        reader
    }

    fn at(&self, index: usize) -> Option<&Operator<'a>> {
        self.operators.get(index).map(|it| &it.operator)
    }

    fn back(&self, index: usize, by: usize) -> Option<&Operator<'a>> {
        self.at(index.checked_sub(by)?)
    }

    /// Finds the locals that point into the frame on the shadow stack, which compilers keep in the first global.
    fn frames(&mut self) {
        let sets = |operator: &Operator<'_>| match operator {
            Operator::LocalSet { local_index } | Operator::LocalTee { local_index } => Some(*local_index),
            _ => None,
        };
        for index in 0..self.operators.len() {
            let Some(target) = self.at(index).and_then(sets) else { continue };
            let is_stack = |operator: Option<&Operator<'_>>| match operator {
                Some(Operator::GlobalGet { global_index: 0 }) => true,
                Some(Operator::LocalGet { local_index }) => self.frame.contains(local_index),
                _ => false,
            };
            let points = match self.back(index, 1) {
                Some(Operator::I32Sub) => is_stack(self.back(index, 3)),
                operator => is_stack(operator),
            };
            if points {
                self.frame.insert(target);
            }
        }
        if self.frame.is_empty() {
            return;
        }
        let first = self.operators.iter().take(PROLOGUE_MAX);
        let mut last =
            first.enumerate().filter(|(_, it)| matches!(it.operator, Operator::GlobalSet { global_index: 0 }));
        self.prologue = last.next_back().map_or(0, |(index, _)| index + 1);
        let mut constants = self.operators[..self.prologue].iter().filter_map(|it| match it.operator {
            Operator::I32Const { value } => Some(i64::from(value)),
            _ => None,
        });
        self.frame_bytes = constants.next_back();
        for index in 0..self.operators.len() {
            match self.at(index) {
                Some(Operator::I32Add) => {
                    let base = |by| matches!(self.back(index, by), Some(Operator::LocalGet { local_index }) if self.frame.contains(local_index));
                    match self.back(index, 1) {
                        Some(Operator::I32Const { value }) if base(2) => {
                            self.addressed.insert(u64::from(value.cast_unsigned()));
                        }
                        Some(Operator::LocalGet { local_index }) if base(2) => {
                            self.distances.insert(*local_index);
                        }
                        _ => {}
                    }
                }
                Some(operator) => {
                    if let Some(offset) = load(operator)
                        && matches!(self.back(index, 1), Some(Operator::LocalGet { local_index }) if self.frame.contains(local_index))
                    {
                        self.read.insert(offset);
                    }
                }
                None => {}
            }
        }
        // What is added from a local was a constant before.
        for index in 1..self.operators.len() {
            if let (Some(Operator::I32Const { value }), Some(target)) =
                (self.back(index, 1), self.at(index).and_then(sets))
                && self.distances.contains(&target)
            {
                self.addressed.insert(u64::from(value.cast_unsigned()));
            }
        }
    }

    /// Whether an operator is a load from or a store to an address that was just made.
    fn accesses(&self, index: usize) -> bool {
        self.at(index).is_some_and(|operator| load(operator).is_some())
    }

    fn points_into_frame(&self, operator: Option<&Operator<'_>>) -> bool {
        match operator {
            Some(Operator::LocalGet { local_index } | Operator::LocalTee { local_index }) => {
                self.frame.contains(local_index)
            }
            Some(Operator::GlobalGet { global_index: 0 }) => !self.frame.is_empty(),
            _ => false,
        }
    }

    fn constant(&self, index: usize) -> Option<i64> {
        match self.at(index)? {
            Operator::I32Const { value } => Some(i64::from(*value)),
            Operator::I64Const { value } => Some(*value),
            _ => None,
        }
    }

    fn constant_before(&self, index: usize) -> Option<i64> {
        self.constant(index.checked_sub(1)?)
    }

    /// Whether an operator of arithmetic is the compiler's: addresses, masks, or the same either way.
    fn is_unwritten(&self, index: usize) -> bool {
        use Operator::{I32Add, I32And, I32Shl, I32Sub, I32Xor, I64And, I64Xor};
        let operator = self.at(index);
        let constant = self.constant_before(index);
        let of_frame = self.points_into_frame(self.back(index, 2)) || self.points_into_frame(self.back(index, 1));
        match operator {
            Some(I32Add | I32Sub) if of_frame || self.accesses(index + 1) => true,
            Some(I32Shl) if matches!(constant, Some(1..=3)) && matches!(self.at(index + 1), Some(I32Add)) => true,
            Some(I32And | I64And) => matches!(constant, Some(1 | 0xff | 0xffff | 0xffff_ffff | -1)),
            Some(I32Xor | I64Xor) => matches!(constant, Some(-1)),
            _ => false,
        }
    }

    /// Whether a constant is the compiler's.
    fn is_unwritten_constant(&self, index: usize, value: i64) -> bool {
        use Operator::{I32Add, I32And, I32Shl, I32Sub, I32Xor, I64And, I64Xor, LocalSet};
        let after = self.at(index + 1);
        if self.data.contains(&value) || self.accesses(index + 1) {
            return true;
        }
        if index < self.prologue || (self.prologue > 0 && self.frame_bytes == Some(value)) {
            return true;
        }
        match after {
            Some(I32And | I64And | I32Xor | I64Xor | I32Shl | I32Add | I32Sub) if self.is_unwritten(index + 1) => true,
            Some(LocalSet { local_index }) => self.distances.contains(local_index),
            _ => false,
        }
    }

    /// Whether what is stored in the frame is read there.
    fn is_read(&self, offset: u64) -> bool {
        let around = offset.saturating_sub(LOAD_BYTES_MAX - 1)..offset + LOAD_BYTES_MAX;
        self.read.range(around.clone()).next().is_some() || self.addressed.range(around).next().is_some()
    }

    fn bytes(&self, index: usize) -> &'b [u8] {
        let CodeOperator { offset, end, .. } = self.operators[index];
        &self.component[offset as usize..end as usize]
    }

    fn draft(&self, index: usize, kind: MutationKind, change: String, bytes: Vec<u8>) -> MutationDraft {
        let offset = self.operators[index].offset;
        MutationDraft { offset, kind, change, looks_like_a_check: false, callee: None, start: offset, bytes }
    }

    /// Tells `found` of all mutations, in the order of the operators.
    pub(super) fn mutations<'t>(
        &self,
        own: Option<&FuncType>,
        signature: &dyn Fn(u32) -> Option<&'t FuncType>,
        found: &mut dyn FnMut(MutationDraft),
    ) {
        self.body(own, found);
        for index in 0..self.operators.len() {
            self.condition(index, found);
            self.operator(index, found);
            self.constants(index, found);
            self.store(index, found);
            self.call(index, signature, found);
        }
    }

    /// A function that does nothing but return.
    fn body(&self, own: Option<&FuncType>, found: &mut dyn FnMut(MutationDraft)) {
        let Some(own) = own else { return };
        let (Some(first), Some(last)) = (self.operators.first(), self.operators.last()) else { return };
        let room = (last.offset - first.offset) as usize;
        let does = self.operators.iter().filter(|it| !is_idle(&it.operator)).count();
        let mut tell = |what: &str, value: Vec<u8>| {
            let mut bytes = value;
            bytes.push(RETURN);
            if bytes.len() <= room {
                bytes.resize(room, NOP);
                bytes.push(END);
                found(self.draft(0, MutationKind::Body, what.to_owned(), bytes));
            }
        };
        match own.results() {
            [] if does > 0 => tell("the function does nothing", Vec::new()),
            [ty] if does > 0 || self.operators.len() > 2 => {
                for number in [0, 1] {
                    if let Some(value) = constant_of(*ty, number) {
                        tell(&format!("the function returns {number}"), value);
                    }
                }
            }
            _ => {}
        }
    }

    /// A condition that is turned around, or decided.
    fn condition(&self, index: usize, found: &mut dyn FnMut(MutationDraft)) {
        let Some(Operator::BrIf { .. } | Operator::If { .. }) = self.at(index) else { return };
        let Some(before) = index.checked_sub(1) else { return };
        let negated = "the condition is negated";
        match &self.operators[before].operator {
            Operator::I32Eqz => {
                let draft = self.draft(before, MutationKind::Condition, negated.to_owned(), vec![NOP]);
                found(MutationDraft { looks_like_a_check: true, ..draft });
            }
            Operator::I32And if self.constant_before(before) == Some(1) && before >= 2 => {
                let (constant, length) = (before - 1, self.bytes(before - 1).len() + 1);
                let xored = before >= 3
                    && matches!(self.back(before, 2), Some(Operator::I32Xor))
                    && self.constant(before - 3) == Some(-1);
                let (start, bytes) = match xored {
                    true => (before - 3, vec![NOP; self.bytes(before - 3).len() + 1]),
                    false => {
                        let mut bytes = vec![NOP; length];
                        bytes[0] = I32_EQZ;
                        (constant, bytes)
                    }
                };
                let draft = self.draft(before, MutationKind::Condition, negated.to_owned(), bytes);
                found(MutationDraft { start: self.operators[start].offset, looks_like_a_check: true, ..draft });
            }
            Operator::LocalGet { .. } => {
                for (value, change) in [(1, "the condition is always true"), (0, "the condition is never true")] {
                    if let Some(bytes) = padded(I32_CONST, value, self.bytes(before).len()) {
                        let draft = self.draft(before, MutationKind::Condition, change.to_owned(), bytes);
                        found(MutationDraft { looks_like_a_check: true, ..draft });
                    }
                }
            }
            _ => {}
        }
    }

    /// Comparisons and arithmetic.
    fn operator(&self, index: usize, found: &mut dyn FnMut(MutationDraft)) {
        let [opcode] = self.bytes(index) else { return };
        let Some(known) = known(*opcode) else { return };
        if known.kind == MutationKind::Arithmetic && (self.is_unwritten(index) || self.is_neutral(index)) {
            return;
        }
        for (becomes, word) in known.others {
            let change = format!("{} became {word}", known.word);
            let draft = self.draft(index, known.kind, change, vec![*becomes]);
            found(MutationDraft { looks_like_a_check: known.is_unsigned_bound, ..draft });
        }
    }

    /// Whether the operand on the right makes all changes of the operator equal: `x + 0` is `x - 0`.
    fn is_neutral(&self, index: usize) -> bool {
        use Operator::{
            I32Add, I32DivS, I32DivU, I32Mul, I32Shl, I32ShrS, I32ShrU, I32Sub, I64Add, I64DivS, I64DivU, I64Mul,
            I64Shl, I64ShrS, I64ShrU, I64Sub,
        };
        matches!(
            (self.at(index), self.constant_before(index)),
            (
                Some(I32Add | I32Sub | I64Add | I64Sub | I32Shl | I32ShrS | I32ShrU | I64Shl | I64ShrS | I64ShrU),
                Some(0)
            ) | (Some(I32Mul | I64Mul | I32DivS | I32DivU | I64DivS | I64DivU), Some(1))
        )
    }

    fn constants(&self, index: usize, found: &mut dyn FnMut(MutationDraft)) {
        let Some(value) = self.constant(index) else { return };
        if self.is_unwritten_constant(index, value) || matches!(self.at(index + 1), Some(Operator::Drop)) {
            return;
        }
        let others: &[i64] = match value {
            0 => &[1],
            1 => &[0, -1],
            _ => &[0],
        };
        let bytes = self.bytes(index);
        for other in others {
            if let Some(bytes) = padded(bytes[0], *other, bytes.len()) {
                found(self.draft(index, MutationKind::Constant, format!("{value} became {other}"), bytes));
            }
        }
    }

    fn store(&self, index: usize, found: &mut dyn FnMut(MutationDraft)) {
        let Some(offset) = self.at(index).and_then(store) else { return };
        let length = self.bytes(index).len();
        // Two operands before it: the value is one operator, as compilers without optimisation have it.
        let of_frame = self.points_into_frame(self.back(index, 2));
        if length < 2 || (of_frame && !self.is_read(offset)) {
            return;
        }
        let mut bytes = vec![NOP; length];
        bytes[..2].fill(DROP);
        found(self.draft(index, MutationKind::Store, "nothing is stored".to_owned(), bytes));
    }

    fn call<'t>(
        &self,
        index: usize,
        signature: &dyn Fn(u32) -> Option<&'t FuncType>,
        found: &mut dyn FnMut(MutationDraft),
    ) {
        let Some(&Operator::Call { function_index }) = self.at(index) else { return };
        // What does not return is followed by a trap; without the call there would be nothing but that.
        let never_returns = matches!(self.at(index + 1), Some(Operator::Unreachable));
        let Some(ty) = signature(function_index).filter(|_| !never_returns) else { return };
        let mut bytes = vec![DROP; ty.params().len()];
        let change = match ty.results() {
            [] => "the call is left out",
            [ty] => match constant_of(*ty, 0) {
                Some(value) => {
                    bytes.extend(value);
                    "the call is left out, as if it had returned 0"
                }
                None => return,
            },
            _ => return,
        };
        let length = self.bytes(index).len();
        if bytes.len() <= length {
            bytes.resize(length, NOP);
            let draft = self.draft(index, MutationKind::Call, change.to_owned(), bytes);
            found(MutationDraft { callee: Some(function_index), ..draft });
        }
    }
}

/// Operators that do nothing by themselves.
fn is_idle(operator: &Operator<'_>) -> bool {
    matches!(
        operator,
        Operator::Nop
            | Operator::End
            | Operator::Return
            | Operator::Unreachable
            | Operator::Drop
            | Operator::Block { .. }
            | Operator::I32Const { .. }
            | Operator::I64Const { .. }
            | Operator::F32Const { .. }
            | Operator::F64Const { .. }
            | Operator::LocalGet { .. }
    )
}

/// A constant of this type, as short as can be; `None` of types without numbers.
fn constant_of(ty: ValType, number: u8) -> Option<Vec<u8>> {
    match ty {
        ValType::I32 => Some(vec![I32_CONST, number]),
        ValType::I64 => Some(vec![I64_CONST, number]),
        ValType::F32 => Some([&[F32_CONST][..], &f32::from(number).to_le_bytes()].concat()),
        ValType::F64 => Some([&[F64_CONST][..], &f64::from(number).to_le_bytes()].concat()),
        _ => None,
    }
}

/// A constant in exactly this many bytes; `None` when they are too few or too many for its type.
fn padded(opcode: u8, value: i64, length: usize) -> Option<Vec<u8>> {
    let digits_max = match opcode {
        I32_CONST => 5,
        I64_CONST => 10,
        _ => return None,
    };
    let digits = length.checked_sub(1).filter(|digits| (1..=digits_max).contains(digits))?;
    let mut bytes = vec![opcode];
    for digit in 0..digits {
        let bits = (value >> (7 * digit).min(63)) as u8 & 0x7f;
        bytes.push(if digit + 1 < digits { bits | 0x80 } else { bits });
    }
    Some(bytes)
}

/// The offset of a load of a number from the first memory.
fn load(operator: &Operator<'_>) -> Option<u64> {
    match operator {
        Operator::I32Load { memarg }
        | Operator::I64Load { memarg }
        | Operator::F32Load { memarg }
        | Operator::F64Load { memarg }
        | Operator::I32Load8S { memarg }
        | Operator::I32Load8U { memarg }
        | Operator::I32Load16S { memarg }
        | Operator::I32Load16U { memarg }
        | Operator::I64Load8S { memarg }
        | Operator::I64Load8U { memarg }
        | Operator::I64Load16S { memarg }
        | Operator::I64Load16U { memarg }
        | Operator::I64Load32S { memarg }
        | Operator::I64Load32U { memarg } => Some(memarg.offset),
        _ => None,
    }
}

/// The offset of a store of a number.
fn store(operator: &Operator<'_>) -> Option<u64> {
    match operator {
        Operator::I32Store { memarg }
        | Operator::I64Store { memarg }
        | Operator::F32Store { memarg }
        | Operator::F64Store { memarg }
        | Operator::I32Store8 { memarg }
        | Operator::I32Store16 { memarg }
        | Operator::I64Store8 { memarg }
        | Operator::I64Store16 { memarg }
        | Operator::I64Store32 { memarg } => Some(memarg.offset),
        _ => None,
    }
}

/// An operator of one byte, and what it is changed into.
struct KnownOperator {
    kind: MutationKind,
    word: &'static str,
    others: &'static [(u8, &'static str)],
    /// It compares numbers without a sign, as tests of bounds do.
    is_unsigned_bound: bool,
}

/// The operators that are changed, by opcode.
fn known(opcode: u8) -> Option<KnownOperator> {
    let compares =
        |word, others| KnownOperator { kind: MutationKind::Comparison, word, others, is_unsigned_bound: false };
    let bounds = |word, others| KnownOperator { kind: MutationKind::Comparison, word, others, is_unsigned_bound: true };
    let computes =
        |word, others| KnownOperator { kind: MutationKind::Arithmetic, word, others, is_unsigned_bound: false };
    Some(match opcode {
        // i32: eq ne lt_s lt_u gt_s gt_u le_s le_u ge_s ge_u
        0x46 => compares("==", &[(0x47, "!=")]),
        0x47 => compares("!=", &[(0x46, "==")]),
        0x48 => compares("<", &[(0x4c, "<="), (0x4e, ">=")]),
        0x49 => bounds("<", &[(0x4d, "<="), (0x4f, ">=")]),
        0x4a => compares(">", &[(0x4e, ">="), (0x4c, "<=")]),
        0x4b => bounds(">", &[(0x4f, ">="), (0x4d, "<=")]),
        0x4c => compares("<=", &[(0x48, "<"), (0x4a, ">")]),
        0x4d => bounds("<=", &[(0x49, "<"), (0x4b, ">")]),
        0x4e => compares(">=", &[(0x4a, ">"), (0x48, "<")]),
        0x4f => bounds(">=", &[(0x4b, ">"), (0x49, "<")]),
        // i64
        0x51 => compares("==", &[(0x52, "!=")]),
        0x52 => compares("!=", &[(0x51, "==")]),
        0x53 => compares("<", &[(0x57, "<="), (0x59, ">=")]),
        0x54 => bounds("<", &[(0x58, "<="), (0x5a, ">=")]),
        0x55 => compares(">", &[(0x59, ">="), (0x57, "<=")]),
        0x56 => bounds(">", &[(0x5a, ">="), (0x58, "<=")]),
        0x57 => compares("<=", &[(0x53, "<"), (0x55, ">")]),
        0x58 => bounds("<=", &[(0x54, "<"), (0x56, ">")]),
        0x59 => compares(">=", &[(0x55, ">"), (0x53, "<")]),
        0x5a => bounds(">=", &[(0x56, ">"), (0x54, "<")]),
        // f32, f64: eq ne lt gt le ge
        0x5b => compares("==", &[(0x5c, "!=")]),
        0x5c => compares("!=", &[(0x5b, "==")]),
        0x5d => compares("<", &[(0x5f, "<="), (0x60, ">=")]),
        0x5e => compares(">", &[(0x60, ">="), (0x5f, "<=")]),
        0x5f => compares("<=", &[(0x5d, "<"), (0x5e, ">")]),
        0x60 => compares(">=", &[(0x5e, ">"), (0x5d, "<")]),
        0x61 => compares("==", &[(0x62, "!=")]),
        0x62 => compares("!=", &[(0x61, "==")]),
        0x63 => compares("<", &[(0x65, "<="), (0x66, ">=")]),
        0x64 => compares(">", &[(0x66, ">="), (0x65, "<=")]),
        0x65 => compares("<=", &[(0x63, "<"), (0x64, ">")]),
        0x66 => compares(">=", &[(0x64, ">"), (0x63, "<")]),
        // i32: add sub mul div_s div_u rem_s rem_u and or xor shl shr_s shr_u
        0x6a => computes("+", &[(0x6b, "-")]),
        0x6b => computes("-", &[(0x6a, "+")]),
        0x6c => computes("*", &[(0x6a, "+")]),
        0x6d => computes("/", &[(0x6c, "*")]),
        0x6e => computes("/", &[(0x6c, "*")]),
        0x6f => computes("%", &[(0x6d, "/")]),
        0x70 => computes("%", &[(0x6e, "/")]),
        0x71 => computes("&", &[(0x72, "|")]),
        0x72 => computes("|", &[(0x71, "&")]),
        0x73 => computes("^", &[(0x72, "|")]),
        0x74 => computes("<<", &[(0x76, ">>")]),
        0x75 => computes(">>", &[(0x74, "<<")]),
        0x76 => computes(">>", &[(0x74, "<<")]),
        // i64
        0x7c => computes("+", &[(0x7d, "-")]),
        0x7d => computes("-", &[(0x7c, "+")]),
        0x7e => computes("*", &[(0x7c, "+")]),
        0x7f => computes("/", &[(0x7e, "*")]),
        0x80 => computes("/", &[(0x7e, "*")]),
        0x81 => computes("%", &[(0x7f, "/")]),
        0x82 => computes("%", &[(0x80, "/")]),
        0x83 => computes("&", &[(0x84, "|")]),
        0x84 => computes("|", &[(0x83, "&")]),
        0x85 => computes("^", &[(0x84, "|")]),
        0x86 => computes("<<", &[(0x88, ">>")]),
        0x87 => computes(">>", &[(0x86, "<<")]),
        0x88 => computes(">>", &[(0x86, "<<")]),
        // f32, f64: add sub mul div
        0x92 => computes("+", &[(0x93, "-")]),
        0x93 => computes("-", &[(0x92, "+")]),
        0x94 => computes("*", &[(0x95, "/")]),
        0x95 => computes("/", &[(0x94, "*")]),
        0xa0 => computes("+", &[(0xa1, "-")]),
        0xa1 => computes("-", &[(0xa0, "+")]),
        0xa2 => computes("*", &[(0xa3, "/")]),
        0xa3 => computes("/", &[(0xa2, "*")]),
        _ => return None,
    })
}
