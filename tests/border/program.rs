//! Programs for the guest: random ones that mostly make sense, and mutations of them.
//!
//! Invariant: a program is a function of its number.

use super::guest::{PROGRAM_BYTES_MAX, SCRATCH, SCRATCH_BYTES};
use super::vocabulary::{Vocabulary, What};
use std::collections::{BTreeMap, BTreeSet};
use wit_parser::{Handle, Int, Type, TypeDefKind};

/// Bytes of one instruction.
pub(super) const INSTRUCTION_BYTES: usize = 16;
/// Where results go: the last part of the scratch memory; arguments are laid out before it.
const RESULT: u32 = SCRATCH_BYTES - 0x1000;

/// Texts that mean something to one interface or another, and texts that never should.
#[rustfmt::skip]
const TEXTS: &[&str] = &[
    "data", "data/a", "data/b", "data/d", "data/d/a", "data/link", "a", "b", "d", "d/a", "link", "tmp", "tmp/a", "tmp/b", "", "/", ".", "..", "../a", "/etc/passwd", "a/../../b", "d//a", "a/",
    "\0", "a\0b", "\u{fc}\u{1f980}", "host", "Content-Length", "content-type", "x y", "a\r\nb: c", "5", "-1", "api.test",
    "localhost", "localhost:8080", "127.0.0.1", "[::1]:80", "http", "/x?y=1#z", "GET", "git", "status", "A=1", "%00",
];

/// Of them, those that stand first name what is there, or may be made: they are taken half of the time.
const TEXTS_COMMON: usize = 14;

/// Numbers at which something usually changes.
#[rustfmt::skip]
const NUMBERS: &[u64] = &[
    0, 1, 2, 3, 7, 8, 80, 255, 256, 1000, 4095, 4096, 4097, 8080, 65_535, 65_536, 1_000_000, 1 << 20,
];
/// Numbers at which something should stop.
#[rustfmt::skip]
const LARGE: &[u64] = &[
    1_000_000_000, 1 << 31, (1 << 31) - 1, u32::MAX as u64, 1 << 32, 1 << 40, (1 << 53) + 1, i64::MAX as u64, 1 << 63, u64::MAX - 1, u64::MAX,
];

/// Xorshift (Marsaglia 2003): small, and the same everywhere.
pub(super) struct Random(u64);

/// Interfaces whose functions end the program for most arguments, by their contract: a property that does not hold, a
/// probability of 17, a target that the run does not have.
const ENDS_EASILY: &[&str] = &[
    "fozzy:properties/",
    "fozzy:choices/",
    "fozzy:history/",
    "fozzy:memory/",
    "fozzy:events/",
    "fozzy:target/",
    "fozzy:process/rules",
    "fozzy:http/rules",
];

fn ends_easily(module: &str) -> bool {
    ENDS_EASILY.iter().any(|start| module.starts_with(start))
}

impl Random {
    pub(super) fn new(number: u64) -> Random {
        // Spread by a multiplication, because neighbouring states of a xorshift resemble each other at first.
        let mut random = Random(number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        for _ in 0..4 {
            random.next();
        }
        random
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(super) fn below(&mut self, bound: u64) -> u64 {
        (self.next() >> 11) % bound
    }

    fn one_in(&mut self, n: u64) -> bool {
        n > 0 && self.below(n) == 0
    }

    fn of<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len() as u64) as usize]
    }
}

/// A core value that is given to a call.
#[derive(Clone, Copy)]
enum Flat {
    Value(u64),
    /// A handle of the class: borrowed, or given away.
    Handle {
        class: u16,
        pick: u32,
        take: bool,
    },
}

/// Writes one program.
struct Writer<'a> {
    vocabulary: &'a Vocabulary,
    random: Random,
    /// One value in so many is nonsense; 0 is never.
    wild: u64,
    program: Vec<u8>,
    /// Next free byte for arguments.
    free: u32,
    /// Words of memory that the next call needs.
    words: BTreeMap<u32, u64>,
    /// Handles that the next call needs in memory.
    handles: Vec<(u32, u16, u8, bool)>,
    /// Classes of which the program may have handles.
    owned: BTreeSet<u16>,
}

/// The random program of this number.
pub(super) fn random(vocabulary: &Vocabulary, number: u64) -> Vec<u8> {
    let mut random = Random::new(number);
    let wild = *random.of(&[0, 0, 0, 400, 400, 100, 20]);
    let calls = 20 + random.below(180);
    let (program, words, handles, owned) = Default::default();
    let mut writer = Writer { vocabulary, random, wild, program, free: 0, words, handles, owned };
    writer.beginning();
    for _ in 0..calls {
        let call = writer.choose();
        writer.call(call);
    }
    let mut program = writer.program;
    program.truncate(PROGRAM_BYTES_MAX);
    program
}

/// The mutation of that number of a program.
pub(super) fn mutated(program: &[u8], number: u64) -> Vec<u8> {
    let mut random = Random::new(number);
    let mut program = program.to_vec();
    for _ in 0..=random.below(6) {
        let instructions = (program.len() / INSTRUCTION_BYTES).max(1) as u64;
        let at = random.below(instructions) as usize * INSTRUCTION_BYTES;
        let end = (at + (1 + random.below(12) as usize) * INSTRUCTION_BYTES).min(program.len());
        match random.below(5) {
            0 => drop(program.drain(at.min(end)..end)),
            1 => {
                let copy = program[at.min(end)..end].to_vec();
                let to = random.below(instructions) as usize * INSTRUCTION_BYTES;
                program.splice(to..to, copy);
            }
            2 => {
                let value = if random.one_in(2) { random.next() } else { *random.of(LARGE) };
                if let Some(bytes) = program.get_mut(at + 8..at + 16) {
                    bytes.copy_from_slice(&value.to_le_bytes());
                }
            }
            _ => {
                let byte = at + random.below(INSTRUCTION_BYTES as u64) as usize;
                if let Some(byte) = program.get_mut(byte) {
                    *byte = random.next() as u8;
                }
            }
        }
    }
    program.truncate(PROGRAM_BYTES_MAX);
    program
}

impl Writer<'_> {
    fn instruction(&mut self, op: u8, a: u8, b: u16, c: u32, d: u64) {
        self.program.extend([op, a]);
        self.program.extend(b.to_le_bytes());
        self.program.extend(c.to_le_bytes());
        self.program.extend(d.to_le_bytes());
    }

    /// Every call that hands something out and asks for nothing, so that there is something to work with.
    fn beginning(&mut self) {
        let givers: Vec<u16> = self
            .vocabulary
            .functions()
            .filter(|(_, function)| function.params.is_empty() && function.result.is_some())
            .map(|(call, _)| call)
            .filter(|call| !ends_easily(&self.vocabulary.calls[usize::from(*call)].module))
            .collect();
        givers.into_iter().for_each(|call| self.call(call));
    }

    /// A call, rather one whose handles there may be, and rather not one that ends or holds up the program.
    fn choose(&mut self) -> u16 {
        loop {
            let call = self.random.below(self.vocabulary.calls.len() as u64) as u16;
            let Some(found) = self.vocabulary.calls.get(usize::from(call)) else { continue };
            let needs: Vec<u16> = match &found.what {
                What::Drop(class) => vec![*class],
                What::Function(function) => {
                    let types = function.params.iter().map(|param| param.ty);
                    types.filter_map(|ty| self.handle(&ty).map(|(class, _)| class)).collect()
                }
            };
            let rare = match &found.what {
                What::Drop(_) => 4,
                What::Function(_) if found.module.starts_with("wasi:cli/exit") => 100,
                What::Function(_) if ends_easily(&found.module) => 50,
                What::Function(_) if found.field.contains("block") || found.field == "poll" => 4,
                // Who hands out something new comes more often: without a file there is nothing to read.
                What::Function(function) => {
                    if function.result.is_some_and(|ty| self.gives(&ty)) {
                        1
                    } else {
                        3
                    }
                }
            };
            let there = needs.iter().all(|class| self.owned.contains(class));
            if self.random.one_in(rare) && (there || self.random.one_in(30)) {
                return call;
            }
        }
    }

    /// The class of a handle type, and whether it is given away.
    fn handle(&self, ty: &Type) -> Option<(u16, bool)> {
        let Type::Id(id) = ty else { return None };
        match &self.vocabulary.resolve.types[*id].kind {
            TypeDefKind::Handle(Handle::Own(resource)) => Some((self.vocabulary.class_of(*resource)?, true)),
            TypeDefKind::Handle(Handle::Borrow(resource)) => Some((self.vocabulary.class_of(*resource)?, false)),
            TypeDefKind::Type(ty) => self.handle(ty),
            _ => None,
        }
    }

    /// Whether a value of the type hands out a resource, as itself or as the good case of a result.
    fn gives(&self, ty: &Type) -> bool {
        let Type::Id(id) = ty else { return false };
        match &self.vocabulary.resolve.types[*id].kind {
            TypeDefKind::Handle(Handle::Own(_)) => true,
            TypeDefKind::Result(result) => result.ok.is_some_and(|ty| self.gives(&ty)),
            TypeDefKind::Option(ty) | TypeDefKind::Type(ty) => self.gives(ty),
            TypeDefKind::Tuple(tuple) => tuple.types.iter().any(|ty| self.gives(ty)),
            _ => false,
        }
    }

    fn call(&mut self, call: u16) {
        let found = &self.vocabulary.calls[usize::from(call)];
        let signature = &found.signature;
        self.free = 0;
        let mut flat = Vec::new();
        let mut result = None;
        match &found.what {
            What::Drop(class) => flat.push(self.some_handle(*class, true)),
            What::Function(function) => {
                result = function.result;
                let types: Vec<Type> = function.params.iter().map(|param| param.ty).collect();
                if signature.indirect_params {
                    let offsets = self.vocabulary.sizes.field_offsets(&types);
                    let size = self.vocabulary.sizes.params(&types).size.size_wasm32() as u32;
                    let at = self.reserve(size);
                    for (offset, ty) in offsets {
                        self.stored(ty, at + offset.size_wasm32() as u32);
                    }
                    flat.push(Flat::Value(u64::from(SCRATCH + at)));
                } else {
                    types.iter().for_each(|ty| self.flat(ty, &mut flat));
                }
            }
        }
        if signature.retptr {
            let nonsense = self.nonsense().then(|| self.random.next());
            flat.push(Flat::Value(nonsense.unwrap_or(u64::from(SCRATCH + RESULT))));
        }
        for (address, word) in std::mem::take(&mut self.words) {
            self.instruction(0, 0, 0, address, word);
        }
        for (address, class, pick, take) in std::mem::take(&mut self.handles) {
            self.instruction(if take { 5 } else { 4 }, pick, class, address, 0);
        }
        for (argument, value) in flat.into_iter().enumerate() {
            match value {
                Flat::Value(value) => self.instruction(1, argument as u8, 0, 0, value),
                Flat::Handle { class, pick, take } => {
                    self.instruction(if take { 3 } else { 2 }, argument as u8, class, pick, 0);
                }
            }
        }
        self.instruction(6, 0, call, 0, 0);
        if let Some(ty) = result {
            match self.handle(&ty) {
                Some((class, _)) if !signature.retptr => {
                    self.owned.insert(class);
                    self.instruction(9, 0, class, 0, 0);
                }
                _ if signature.retptr => self.keep(&ty, RESULT, &mut Vec::new()),
                _ => {}
            }
        }
    }

    /// Whether the next value is to be nonsense.
    fn nonsense(&mut self) -> bool {
        let wild = self.wild;
        self.random.one_in(wild)
    }

    /// Room for arguments; what no longer fits overlaps with what came first, which is fine too.
    fn reserve(&mut self, bytes: u32) -> u32 {
        if self.free + bytes + 16 > RESULT {
            self.free = 0;
        }
        let at = self.free.next_multiple_of(8);
        self.free = at + bytes;
        at
    }

    fn put(&mut self, at: u32, bytes: &[u8]) {
        for (address, byte) in (at..).zip(bytes) {
            let word = self.words.entry(address & !7).or_default();
            let shift = 8 * (address & 7);
            *word = *word & !(0xFF << shift) | u64::from(*byte) << shift;
        }
    }

    fn some_handle(&mut self, class: u16, take: bool) -> Flat {
        let pick = self.random.below(8) as u32;
        if self.nonsense() {
            let invented = self.random.below(40);
            return Flat::Value(if invented < 30 { invented } else { self.random.next() });
        }
        // A handle that is used again after it was given away is the program's own mistake: rarely.
        let take = take && !self.nonsense();
        Flat::Handle { class, pick, take }
    }

    fn number(&mut self, bits: u32) -> u64 {
        // Large ones end a program when they are lengths, so they are rare where it is to live long.
        let extremes = if self.wild == 0 { 200 } else { 12 };
        let value = match self.random.below(4 * extremes) {
            0 | 1 => self.random.next(),
            2..4 => *self.random.of(LARGE),
            n if n % 2 == 0 => self.random.below(16),
            _ => *self.random.of(NUMBERS),
        };
        if bits == 64 || self.nonsense() { value } else { value & ((1 << bits) - 1) }
    }

    /// Bytes in memory: their address and length.
    fn bytes(&mut self, text: bool) -> (u64, u64) {
        if self.nonsense() {
            return (self.number(32), self.number(32));
        }
        let content: Vec<u8> = match self.random.below(24) {
            // Long and in place: whatever is in the scratch memory.
            0 if !text => return (u64::from(SCRATCH), 1 + self.random.below(u64::from(SCRATCH_BYTES))),
            1 => "d/".repeat(1 + self.random.below(700) as usize).into_bytes(),
            2 => vec![b'n'; 1 + self.random.below(600) as usize],
            3 if self.nonsense() => vec![0xFF, 0xC0, b'a'],
            4..14 => self.random.of(&TEXTS[..TEXTS_COMMON]).as_bytes().to_vec(),
            _ => self.random.of(TEXTS).as_bytes().to_vec(),
        };
        let at = self.reserve(content.len() as u32);
        self.put(at, &content);
        (u64::from(SCRATCH + at), content.len() as u64)
    }

    /// A list of any type: its address and length.
    fn list(&mut self, element: &Type) -> (u64, u64) {
        if *element == Type::U8 {
            return self.bytes(false);
        }
        let count = match self.random.below(8) {
            0 if self.wild > 0 => 0,
            n => 1 + n / 2,
        };
        let size = self.vocabulary.sizes.size(element).size_wasm32() as u32;
        let at = self.reserve(size * count as u32);
        for n in 0..count as u32 {
            self.stored(element, at + n * size);
        }
        let count = if self.nonsense() { self.number(32) } else { count };
        (u64::from(SCRATCH + at), count)
    }

    /// A case of so many; rarely one that there is not.
    fn case(&mut self, cases: usize) -> usize {
        let beyond = u64::from(self.nonsense() && self.nonsense());
        self.random.below(cases as u64 + beyond) as usize
    }

    /// Loopback, mostly: other addresses lead nowhere.
    fn is_loopback(&mut self, id: wit_parser::TypeId) -> Option<&'static [u64]> {
        let name = self.vocabulary.resolve.types[id].name.as_deref();
        match name {
            Some("ipv4-address") if !self.random.one_in(4) => Some(&[127, 0, 0, 1]),
            Some("ipv6-address") if !self.random.one_in(4) => Some(&[0, 0, 0, 0, 0, 0, 0, 1]),
            _ => None,
        }
    }

    /// Core values of an arbitrary value of the type.
    fn flat(&mut self, ty: &Type, out: &mut Vec<Flat>) {
        let vocabulary = self.vocabulary;
        let Type::Id(id) = ty else {
            match ty {
                Type::String => {
                    let (at, length) = self.bytes(true);
                    out.extend([Flat::Value(at), Flat::Value(length)]);
                }
                _ => out.push(Flat::Value(self.scalar(ty))),
            }
            return;
        };
        match &vocabulary.resolve.types[*id].kind {
            TypeDefKind::Type(ty) => self.flat(ty, out),
            TypeDefKind::Handle(_) => {
                let value = match self.handle(ty) {
                    Some((class, take)) => self.some_handle(class, take),
                    None => Flat::Value(self.number(32)),
                };
                out.push(value);
            }
            TypeDefKind::Record(record) => record.fields.iter().for_each(|field| self.flat(&field.ty, out)),
            TypeDefKind::Tuple(tuple) => match self.is_loopback(*id) {
                Some(parts) => out.extend(parts.iter().map(|part| Flat::Value(*part))),
                None => tuple.types.iter().for_each(|ty| self.flat(ty, out)),
            },
            TypeDefKind::Flags(flags) => {
                for _ in 0..flags.repr().count() {
                    let value = self.flags(flags.flags.len());
                    out.push(Flat::Value(value));
                }
            }
            TypeDefKind::Enum(cases) => out.push(Flat::Value(self.case(cases.cases.len()) as u64)),
            TypeDefKind::List(element) => {
                let (at, length) = self.list(element);
                out.extend([Flat::Value(at), Flat::Value(length)]);
            }
            kind => {
                let cases = cases(kind).unwrap_or_else(|| panic!("a type of no WASI 0.2 interface: {}", kind.as_str()));
                let case = self.case(cases.len());
                let from = out.len();
                out.push(Flat::Value(case as u64));
                if let Some(Some(payload)) = cases.get(case) {
                    self.flat(payload, out);
                }
                out.resize(from + vocabulary.flat_count(ty), Flat::Value(0));
            }
        }
    }

    fn flags(&mut self, count: usize) -> u64 {
        // The first flags are those that say what is wanted, and most others refuse.
        let all = if self.random.below(3) == 0 { self.number(32) } else { self.random.below(4) };
        if self.nonsense() { all } else { all & ((1u64 << count.min(32)) - 1) }
    }

    fn scalar(&mut self, ty: &Type) -> u64 {
        match ty {
            Type::Bool => self.random.below(2),
            Type::U8 | Type::S8 => self.number(8),
            Type::U16 | Type::S16 => self.number(16),
            Type::Char => *self.random.of(&[0x20, 0xD7FF, 0x1_F980]),
            Type::U64 | Type::S64 | Type::F64 => self.number(64),
            _ => self.number(32),
        }
    }

    /// Puts an arbitrary value of the type into memory.
    fn stored(&mut self, ty: &Type, at: u32) {
        let vocabulary = self.vocabulary;
        let size = vocabulary.sizes.size(ty).size_wasm32();
        let Type::Id(id) = ty else {
            match ty {
                Type::String => {
                    let span = self.bytes(true);
                    self.put_span(at, span);
                }
                _ => {
                    let value = self.scalar(ty);
                    self.put(at, &value.to_le_bytes()[..size]);
                }
            }
            return;
        };
        match &vocabulary.resolve.types[*id].kind {
            TypeDefKind::Type(ty) => self.stored(ty, at),
            TypeDefKind::Handle(_) => match self.handle(ty).map(|(class, take)| self.some_handle(class, take)) {
                Some(Flat::Handle { class, pick, take }) => self.handles.push((at, class, pick as u8, take)),
                Some(Flat::Value(value)) => self.put(at, &(value as u32).to_le_bytes()),
                None => {}
            },
            TypeDefKind::Record(record) => {
                let fields = record.fields.iter().map(|field| &field.ty);
                self.stored_fields(fields.collect(), at);
            }
            TypeDefKind::Tuple(tuple) => match self.is_loopback(*id) {
                Some(parts) => {
                    let each = size / parts.len();
                    for (n, part) in parts.iter().enumerate() {
                        self.put(at + (n * each) as u32, &part.to_le_bytes()[..each]);
                    }
                }
                None => self.stored_fields(tuple.types.iter().collect(), at),
            },
            TypeDefKind::Flags(flags) => {
                let value = self.flags(flags.flags.len());
                self.put(at, &value.to_le_bytes()[..size.min(8)]);
            }
            TypeDefKind::Enum(cases) => {
                let case = self.case(cases.cases.len());
                self.put(at, &case.to_le_bytes()[..size]);
            }
            TypeDefKind::List(element) => {
                let span = self.list(element);
                self.put_span(at, span);
            }
            kind => {
                let cases = cases(kind).unwrap_or_else(|| panic!("a type of no WASI 0.2 interface: {}", kind.as_str()));
                let case = self.case(cases.len());
                let (tag, payload) = self.payload(kind, &cases);
                self.put(at, &case.to_le_bytes()[..tag]);
                if let Some(Some(ty)) = cases.get(case) {
                    self.stored(ty, at + payload);
                }
            }
        }
    }

    fn stored_fields(&mut self, types: Vec<&Type>, at: u32) {
        for (offset, ty) in self.vocabulary.sizes.field_offsets(types) {
            self.stored(ty, at + offset.size_wasm32() as u32);
        }
    }

    fn put_span(&mut self, at: u32, (address, length): (u64, u64)) {
        self.put(at, &(address as u32).to_le_bytes());
        self.put(at + 4, &(length as u32).to_le_bytes());
    }

    /// Bytes of the tag, and offset of the payload.
    fn payload(&self, kind: &TypeDefKind, cases: &[Option<&Type>]) -> (usize, u32) {
        let tag = match kind {
            TypeDefKind::Variant(variant) => variant.tag(),
            _ => Int::U8,
        };
        let bytes = match tag {
            Int::U8 => 1,
            Int::U16 => 2,
            Int::U32 | Int::U64 => 4,
        };
        (bytes, self.vocabulary.sizes.payload_offset(tag, cases.iter().copied()).size_wasm32() as u32)
    }

    /// Keeps every handle of a result in memory; `guards` are the tags under which it is there.
    fn keep(&mut self, ty: &Type, at: u32, guards: &mut Vec<(u32, u8)>) {
        let vocabulary = self.vocabulary;
        let Type::Id(id) = ty else { return };
        if let Some((class, _)) = self.handle(ty) {
            self.check(guards);
            self.owned.insert(class);
            self.instruction(8, 0, class, at, 0);
            return;
        }
        let kind = &vocabulary.resolve.types[*id].kind;
        let fields: Vec<&Type> = match kind {
            TypeDefKind::Type(ty) => return self.keep(ty, at, guards),
            TypeDefKind::Record(record) => record.fields.iter().map(|field| &field.ty).collect(),
            TypeDefKind::Tuple(tuple) => tuple.types.iter().collect(),
            TypeDefKind::List(element) => return self.keep_list(element, at, guards),
            _ => {
                let Some(cases) = cases(kind) else { return };
                let payload = self.payload(kind, &cases).1;
                for (case, ty) in cases.iter().enumerate() {
                    if let Some(ty) = ty {
                        guards.push((at, case as u8));
                        self.keep(ty, at + payload, guards);
                        guards.pop();
                    }
                }
                return;
            }
        };
        for (offset, ty) in vocabulary.sizes.field_offsets(fields) {
            self.keep(ty, at + offset.size_wasm32() as u32, guards);
        }
    }

    /// A list of handles, or of tuples with a handle in them.
    fn keep_list(&mut self, element: &Type, at: u32, guards: &[(u32, u8)]) {
        let vocabulary = self.vocabulary;
        let stride = vocabulary.sizes.size(element).size_wasm32() as u64;
        let fields: Vec<&Type> = match element {
            Type::Id(id) => match &vocabulary.resolve.types[*id].kind {
                TypeDefKind::Tuple(tuple) => tuple.types.iter().collect(),
                TypeDefKind::Record(record) => record.fields.iter().map(|field| &field.ty).collect(),
                _ => vec![element],
            },
            _ => return,
        };
        for (offset, ty) in vocabulary.sizes.field_offsets(fields) {
            if let Some((class, _)) = self.handle(ty) {
                self.check(guards);
                self.owned.insert(class);
                self.instruction(10, 0, class, at, stride | (offset.size_wasm32() as u64) << 16);
            }
        }
    }

    fn check(&mut self, guards: &[(u32, u8)]) {
        for (at, tag) in guards {
            self.instruction(7, *tag, 0, *at, 0);
        }
    }
}

/// The cases of a type that has some.
fn cases(kind: &TypeDefKind) -> Option<Vec<Option<&Type>>> {
    match kind {
        TypeDefKind::Variant(variant) => Some(variant.cases.iter().map(|case| case.ty.as_ref()).collect()),
        TypeDefKind::Option(ty) => Some(vec![None, Some(ty)]),
        TypeDefKind::Result(result) => Some(vec![result.ok.as_ref(), result.err.as_ref()]),
        _ => None,
    }
}
