//! Types as the debug information describes them, one level at a time.
//!
//! ```text
//! DW_TAG_structure_type Option<u32>          Shape::Record
//!   DW_TAG_variant_part  discr: u32 at 0       variants: discriminant, and a member for each of its values
//!     DW_TAG_variant 1 ─ DW_TAG_member Some
//! ```
//!
//! Qualifiers and names of types are looked through for the shape, and kept in the name.

use super::module::DebugInfo;
use super::module::{DebugSections, DebugUnit, Entry, EntryId, number};
use gimli::AttributeValue;

/// Most members, variants, enumerators or dimensions of one type. The others are left out.
const PARTS_MAX: usize = 1 << 14;
/// Most types that one is looked for through: names, qualifiers, pointers.
const HOPS_MAX: usize = 24;
/// Bytes of a pointer.
pub(super) const POINTER_BYTES: u64 = 4;

/// A type.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Type {
    /// One of the program.
    Entry(EntryId),
    /// One of every program.
    Basic(Basic),
    Pointer(Box<Type>),
    Array(Box<Type>, u64),
    /// Nothing is known of it.
    Unknown,
}

/// Types that an expression may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Basic {
    Bool,
    /// A code point.
    Char,
    /// A byte of a C text; whether it has a sign.
    Letter(bool),
    /// Bytes, and whether it has a sign.
    Integer(u8, bool),
    F32,
    F64,
}

impl Basic {
    pub(super) fn bytes(self) -> u64 {
        match self {
            Basic::Bool | Basic::Letter(_) => 1,
            Basic::Char | Basic::F32 => 4,
            Basic::F64 => 8,
            Basic::Integer(bytes, _) => u64::from(bytes),
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Basic::Bool => "bool",
            Basic::Char | Basic::Letter(_) => "char",
            Basic::F32 => "f32",
            Basic::F64 => "f64",
            Basic::Integer(1, true) => "i8",
            Basic::Integer(2, true) => "i16",
            Basic::Integer(4, true) => "i32",
            Basic::Integer(8, true) => "i64",
            Basic::Integer(_, true) => "i128",
            Basic::Integer(1, false) => "u8",
            Basic::Integer(2, false) => "u16",
            Basic::Integer(4, false) => "u32",
            Basic::Integer(8, false) => "u64",
            Basic::Integer(_, false) => "u128",
        }
    }
}

/// What a type is made of.
#[derive(Clone, Debug)]
pub(super) struct TypeInfo {
    pub(super) name: String,
    pub(super) bytes: u64,
    pub(super) is_rust: bool,
    pub(super) shape: Shape,
}

#[derive(Clone, Debug)]
pub(super) enum Shape {
    Basic(Basic),
    /// A pointer or reference.
    Pointer(Type),
    /// A structure, class, union, or an enumeration of Rust whose variants have fields.
    Record {
        members: Vec<Member>,
        variants: Option<Variants>,
        /// The arguments of a generic type, by name.
        arguments: Vec<(String, Type)>,
    },
    Enumeration {
        signed: bool,
        names: Vec<(String, i128)>,
    },
    Array(Type, u64),
    Function,
    /// Something whose bytes are all that can be shown.
    Opaque,
}

#[derive(Clone, Debug)]
pub(super) struct Member {
    /// Its name; none of a C union or structure without one, and for a base class that of the class.
    pub(super) name: Option<String>,
    pub(super) ty: Type,
    pub(super) offset: u64,
    /// Of a bit field: its first bit from the start of the record, and how many it has.
    pub(super) bits: Option<(u64, u64)>,
}

#[derive(Clone, Debug)]
pub(super) struct Variants {
    /// Tells the variants apart; none where there is only one.
    pub(super) discriminant: Option<Member>,
    pub(super) list: Vec<Variant>,
}

#[derive(Clone, Debug)]
pub(super) struct Variant {
    /// The value of the discriminant; none of the variant that all other values mean.
    pub(super) value: Option<u64>,
    pub(super) member: Member,
}

impl DebugInfo {
    pub(super) fn type_info(&self, ty: &Type) -> TypeInfo {
        match ty {
            Type::Basic(basic) => info(basic.name(), basic.bytes(), Shape::Basic(*basic)),
            Type::Pointer(target) => {
                info(&format!("*{}", self.type_name(target)), POINTER_BYTES, Shape::Pointer((**target).clone()))
            }
            Type::Array(element, count) => {
                let of = self.type_info(element);
                let name = if of.is_rust { format!("[{}; {count}]", of.name) } else { array_name(&of.name, *count) };
                let shape = Shape::Array((**element).clone(), *count);
                TypeInfo { name, bytes: of.bytes.saturating_mul(*count), is_rust: of.is_rust, shape }
            }
            Type::Unknown => info("void", 0, Shape::Opaque),
            Type::Entry(entry) => {
                let loaded = self.module(entry.module).and_then(|module| module.loaded());
                let found = loaded.and_then(|loaded| self.entry_info(loaded, *entry));
                found.unwrap_or_else(|| info("?", 0, Shape::Opaque))
            }
        }
    }

    pub(super) fn type_name(&self, ty: &Type) -> String {
        self.type_name_within(ty, HOPS_MAX)
    }

    fn type_name_within(&self, ty: &Type, left: usize) -> String {
        let Some(left) = left.checked_sub(1) else { return "?".to_owned() };
        match ty {
            Type::Basic(basic) => basic.name().to_owned(),
            Type::Pointer(target) => format!("*{}", self.type_name_within(target, left)),
            Type::Array(element, count) => {
                let name = self.type_name_within(element, left);
                if self.is_rust(element) { format!("[{name}; {count}]") } else { array_name(&name, *count) }
            }
            Type::Unknown => "void".to_owned(),
            Type::Entry(id) => self.entry_name(*id, left).unwrap_or_else(|| "?".to_owned()),
        }
    }

    fn is_rust(&self, ty: &Type) -> bool {
        let Type::Entry(entry) = ty else { return false };
        let loaded = self.module(entry.module).and_then(|module| module.loaded());
        loaded.and_then(|loaded| loaded.locate(entry.offset)).is_some_and(|(unit, _)| unit.is_rust)
    }

    fn entry_name(&self, id: EntryId, left: usize) -> Option<String> {
        let loaded = self.module(id.module)?.loaded()?;
        let (unit, entry) = loaded.entry(id.offset)?;
        if let Some(name) = loaded.text(unit, &entry, gimli::DW_AT_name) {
            return Some(name);
        }
        let target = || self.type_name_within(&target(loaded, unit, &entry, id), left);
        Some(match entry.tag() {
            gimli::DW_TAG_pointer_type => format!("{} *", target()),
            gimli::DW_TAG_reference_type => format!("{} &", target()),
            gimli::DW_TAG_rvalue_reference_type => format!("{} &&", target()),
            gimli::DW_TAG_const_type => format!("const {}", target()),
            gimli::DW_TAG_volatile_type => format!("volatile {}", target()),
            gimli::DW_TAG_restrict_type => target(),
            gimli::DW_TAG_array_type => {
                let counts = dimensions(unit, &entry);
                if unit.is_rust {
                    counts.iter().rev().fold(target(), |name, count| format!("[{name}; {count}]"))
                } else {
                    counts.iter().rev().fold(target(), |name, count| array_name(&name, *count))
                }
            }
            gimli::DW_TAG_subroutine_type => "function".to_owned(),
            gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type => "struct".to_owned(),
            gimli::DW_TAG_union_type => "union".to_owned(),
            gimli::DW_TAG_enumeration_type => "enum".to_owned(),
            _ => return None,
        })
    }

    fn entry_info(&self, loaded: &DebugSections, id: EntryId) -> Option<TypeInfo> {
        let name = self.entry_name(id, HOPS_MAX)?;
        let mut id = id;
        for _ in 0..HOPS_MAX {
            let (unit, entry) = loaded.entry(id.offset)?;
            let through = matches!(
                entry.tag(),
                gimli::DW_TAG_typedef
                    | gimli::DW_TAG_const_type
                    | gimli::DW_TAG_volatile_type
                    | gimli::DW_TAG_restrict_type
                    | gimli::DW_TAG_atomic_type
            );
            if through {
                match target(loaded, unit, &entry, id) {
                    Type::Entry(next) => id = next,
                    _ => return Some(info("void", 0, Shape::Opaque)),
                }
                continue;
            }
            let shape = shape(loaded, unit, &entry, id);
            let given = number(&entry, gimli::DW_AT_byte_size);
            let bytes = given.unwrap_or_else(|| match &shape {
                Shape::Pointer(_) => POINTER_BYTES,
                Shape::Array(element, count) => self.bytes_of(element).saturating_mul(*count),
                _ => 0,
            });
            return Some(TypeInfo { name, bytes, is_rust: unit.is_rust, shape });
        }
        None
    }

    /// The size of a type, without looking at what it is made of.
    pub(super) fn bytes_of(&self, ty: &Type) -> u64 {
        self.bytes_within(ty, HOPS_MAX)
    }

    fn bytes_within(&self, ty: &Type, left: usize) -> u64 {
        let Some(left) = left.checked_sub(1) else { return 0 };
        let Type::Entry(id) = ty else {
            return match ty {
                Type::Array(element, count) => self.bytes_within(element, left).saturating_mul(*count),
                Type::Basic(basic) => basic.bytes(),
                Type::Pointer(_) => POINTER_BYTES,
                Type::Entry(_) | Type::Unknown => 0,
            };
        };
        let size = || {
            let loaded = self.module(id.module)?.loaded()?;
            let (unit, entry) = loaded.entry(id.offset)?;
            if let Some(bytes) = number(&entry, gimli::DW_AT_byte_size) {
                return Some(bytes);
            }
            Some(match entry.tag() {
                gimli::DW_TAG_pointer_type | gimli::DW_TAG_reference_type | gimli::DW_TAG_rvalue_reference_type => {
                    POINTER_BYTES
                }
                gimli::DW_TAG_array_type => {
                    let counts = dimensions(unit, &entry).into_iter().fold(1u64, u64::saturating_mul);
                    self.bytes_within(&target(loaded, unit, &entry, *id), left).saturating_mul(counts)
                }
                _ => self.bytes_within(&target(loaded, unit, &entry, *id), left),
            })
        };
        size().unwrap_or(0)
    }
}

fn info(name: &str, bytes: u64, shape: Shape) -> TypeInfo {
    TypeInfo { name: name.to_owned(), bytes, is_rust: false, shape }
}

/// `int[2][3]` of `int[3]`, of which there are two.
fn array_name(element: &str, count: u64) -> String {
    match element.split_once('[') {
        Some((front, behind)) => format!("{front}[{count}][{behind}"),
        None => format!("{element}[{count}]"),
    }
}

/// The type that an entry has, or points to.
pub(super) fn target(loaded: &DebugSections, unit: &DebugUnit, entry: &Entry, id: EntryId) -> Type {
    let offset = loaded.reference(unit, entry, gimli::DW_AT_type);
    offset.map_or(Type::Unknown, |offset| Type::Entry(EntryId { offset, ..id }))
}

fn shape(loaded: &DebugSections, unit: &DebugUnit, entry: &Entry, id: EntryId) -> Shape {
    match entry.tag() {
        gimli::DW_TAG_base_type => basic(loaded, unit, entry).map_or(Shape::Opaque, Shape::Basic),
        gimli::DW_TAG_pointer_type | gimli::DW_TAG_reference_type | gimli::DW_TAG_rvalue_reference_type => {
            Shape::Pointer(target(loaded, unit, entry, id))
        }
        gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type | gimli::DW_TAG_union_type => {
            record(loaded, unit, entry, id)
        }
        gimli::DW_TAG_enumeration_type => enumeration(loaded, unit, entry, id),
        gimli::DW_TAG_array_type => {
            let element = target(loaded, unit, entry, id);
            let mut counts = dimensions(unit, entry);
            let Some(outermost) = (!counts.is_empty()).then(|| counts.remove(0)) else {
                return Shape::Array(element, 0);
            };
            let inner = counts.iter().rev().fold(element, |element, count| Type::Array(Box::new(element), *count));
            Shape::Array(inner, outermost)
        }
        gimli::DW_TAG_subroutine_type => Shape::Function,
        _ => Shape::Opaque,
    }
}

fn basic(loaded: &DebugSections, unit: &DebugUnit, entry: &Entry) -> Option<Basic> {
    let Some(AttributeValue::Encoding(encoding)) = entry.attr_value(gimli::DW_AT_encoding) else { return None };
    let bytes = u8::try_from(number(entry, gimli::DW_AT_byte_size)?).ok().filter(|bytes| (1..=16).contains(bytes))?;
    let is_u8 = || loaded.text(unit, entry, gimli::DW_AT_name).as_deref() == Some("u8");
    Some(match (encoding, bytes) {
        (gimli::DW_ATE_boolean, 1) => Basic::Bool,
        (gimli::DW_ATE_UTF, 4) => Basic::Char,
        (gimli::DW_ATE_signed_char, 1) if !unit.is_rust => Basic::Letter(true),
        (gimli::DW_ATE_unsigned_char, 1) if !unit.is_rust && !is_u8() => Basic::Letter(false),
        (gimli::DW_ATE_float, 4) => Basic::F32,
        (gimli::DW_ATE_float, 8) => Basic::F64,
        (gimli::DW_ATE_signed | gimli::DW_ATE_signed_char, _) => Basic::Integer(bytes, true),
        (gimli::DW_ATE_unsigned | gimli::DW_ATE_unsigned_char | gimli::DW_ATE_boolean | gimli::DW_ATE_UTF, _) => {
            Basic::Integer(bytes, false)
        }
        _ => return None,
    })
}

/// How many elements an array has in each of its dimensions, outermost first.
fn dimensions(unit: &DebugUnit, entry: &Entry) -> Vec<u64> {
    let mut counts = Vec::new();
    each_child(unit, entry, |child| {
        if child.tag() == gimli::DW_TAG_subrange_type {
            let above = number(child, gimli::DW_AT_upper_bound).and_then(|bound| bound.checked_add(1));
            counts.push(number(child, gimli::DW_AT_count).or(above).unwrap_or(0));
        }
    });
    counts.truncate(16);
    counts
}

fn enumeration(loaded: &DebugSections, unit: &DebugUnit, entry: &Entry, id: EntryId) -> Shape {
    let mut names = Vec::new();
    let mut signed = false;
    if let Type::Entry(of) = target(loaded, unit, entry, id)
        && let Some((unit, of)) = loaded.entry(of.offset)
    {
        signed = matches!(basic(loaded, unit, &of), Some(Basic::Integer(_, true) | Basic::Letter(true)));
    }
    each_child(unit, entry, |child| {
        if child.tag() != gimli::DW_TAG_enumerator {
            return;
        }
        let value = match child.attr_value(gimli::DW_AT_const_value) {
            Some(AttributeValue::Sdata(value)) => i128::from(value),
            Some(value) => value.udata_value().map_or(0, i128::from),
            None => return,
        };
        names.extend(loaded.text(unit, child, gimli::DW_AT_name).map(|name| (name, value)));
    });
    Shape::Enumeration { signed, names }
}

fn record(loaded: &DebugSections, unit: &DebugUnit, entry: &Entry, id: EntryId) -> Shape {
    let mut members = Vec::new();
    let mut arguments = Vec::new();
    let mut part = None;
    each_child(unit, entry, |child| match child.tag() {
        gimli::DW_TAG_member | gimli::DW_TAG_inheritance => {
            let is_static = child.has_attr(gimli::DW_AT_external) || child.has_attr(gimli::DW_AT_declaration);
            if !is_static {
                members.push(member(loaded, unit, child, id));
            }
        }
        gimli::DW_TAG_template_type_parameter => {
            let name = loaded.text(unit, child, gimli::DW_AT_name);
            arguments.extend(name.map(|name| (name, target(loaded, unit, child, id))));
        }
        gimli::DW_TAG_variant_part => part = Some(child.clone()),
        _ => {}
    });
    let variants = part.map(|part| variants(loaded, unit, &part, id));
    Shape::Record { members, variants, arguments }
}

fn variants(loaded: &DebugSections, unit: &DebugUnit, part: &Entry, id: EntryId) -> Variants {
    let discriminant = loaded.reference(unit, part, gimli::DW_AT_discr).and_then(|offset| loaded.entry(offset));
    let discriminant = discriminant.map(|(unit, entry)| member(loaded, unit, &entry, id));
    let mut list = Vec::new();
    each_child(unit, part, |child| {
        if child.tag() != gimli::DW_TAG_variant {
            return;
        }
        let value = match child.attr_value(gimli::DW_AT_discr_value) {
            Some(AttributeValue::Sdata(value)) => Some(value.cast_unsigned()),
            Some(value) => value.udata_value(),
            None => None,
        };
        let mut own = None;
        each_child(unit, child, |entry| {
            if entry.tag() == gimli::DW_TAG_member {
                own.get_or_insert_with(|| member(loaded, unit, entry, id));
            }
        });
        list.extend(own.map(|member| Variant { value, member }));
    });
    Variants { discriminant, list }
}

fn member(loaded: &DebugSections, unit: &DebugUnit, entry: &Entry, id: EntryId) -> Member {
    let offset = number(entry, gimli::DW_AT_data_member_location).unwrap_or(0);
    let size = number(entry, gimli::DW_AT_bit_size);
    let bits = size.and_then(|size| {
        let data = number(entry, gimli::DW_AT_data_bit_offset);
        let first = data.or_else(|| {
            // The notation before DWARF 4 counts from the highest bit of a storage unit.
            let from_top = number(entry, gimli::DW_AT_bit_offset)?;
            let storage = number(entry, gimli::DW_AT_byte_size)?.checked_mul(8)?;
            let low = storage.checked_sub(from_top)?.checked_sub(size)?;
            offset.checked_mul(8)?.checked_add(low)
        })?;
        Some((first, size))
    });
    let name = loaded.text(unit, entry, gimli::DW_AT_name);
    Member { name, ty: target(loaded, unit, entry, id), offset, bits }
}

/// Shows each entry directly below another.
fn each_child(unit: &DebugUnit, entry: &Entry, mut show: impl FnMut(&Entry)) {
    let Ok(mut tree) = unit.unit.entries_tree(Some(entry.offset())) else { return };
    let Ok(root) = tree.root() else { return };
    let mut children = root.children();
    let mut left = PARTS_MAX;
    while left > 0
        && let Ok(Some(child)) = children.next()
    {
        left -= 1;
        show(child.entry());
    }
}
