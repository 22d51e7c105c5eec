//! What a value is for a person: the text of a `String`, the elements of a `Vec`, the variant of an enumeration.
//!
//! ```text
//! String { vec: Vec { buf: RawVec { … ptr … }, len } }   ─► View::Text
//! HashMap { base: … RawTable { ctrl, bucket_mask } }     ─► View::Pairs, by the control bytes
//! Option<Box<T>> with a discriminant over the pointer    ─► View::Fields "None", or "Some" with its field
//! ```
//!
//! Types of libraries are known by their names and by the fields that they have; where a library has another shape than expected,
//! its fields are shown as they are.

use super::location::Storage;
use super::location::{FrameValues, Unavailable};
use super::module::DebugInfo;
use super::types::{Basic, Member, Shape, Type, TypeInfo, Variants};
use super::value::{Scalar, Value};

/// Types that are looked through for a field of a library's type.
const SEARCH_MAX: usize = 256;
/// Records without a name that are looked through for a field.
const NAMELESS_MAX: usize = 8;
/// Most entries of a map or set that are listed.
const ENTRIES_MAX: usize = 1 << 14;
/// Most places for entries of a hash table that are looked at.
const BUCKETS_MAX: u64 = 1 << 20;
/// Highest tree of a `BTreeMap`, of six entries a node at least.
const TREE_HEIGHT_MAX: u64 = 16;

pub(super) enum View {
    /// A number, or a name for one.
    Plain(String),
    /// Text at an address; without a length it ends at a zero. A raw pointer also shows the address.
    Text {
        address: u64,
        length: Option<u64>,
        is_pointer: bool,
        ends_at_zero: bool,
    },
    /// Elements behind one another.
    Elements {
        base: Value,
        element: Type,
        count: u64,
    },
    /// Named parts, or numbered ones of a tuple.
    Fields {
        name: Option<String>,
        fields: Vec<(String, Value)>,
        is_tuple: bool,
    },
    /// Entries of a map; more than those that are listed may be there.
    Pairs {
        entries: Vec<(Value, Value)>,
        count: u64,
    },
    /// Entries of a set, or elements that stand apart.
    Items {
        items: Vec<Value>,
        count: u64,
    },
    /// An address; a reference or box is shown as what it refers to.
    Pointer {
        address: u64,
        target: Option<Box<Value>>,
        is_transparent: bool,
    },
    Unavailable(Unavailable),
}

impl DebugInfo {
    pub(super) fn view(&self, value: &Value, frame: &dyn FrameValues) -> View {
        if let Err(why) = &value.storage {
            return View::Unavailable(why.clone());
        }
        let info = self.type_info(&value.ty);
        let viewed =
            if info.is_rust { self.rust_view(value, &info, frame) } else { self.cpp_view(value, &info, frame) };
        match viewed {
            Some(Ok(view)) => view,
            Some(Err(why)) => View::Unavailable(why),
            None => self.plain_view(value, &info, frame).unwrap_or_else(View::Unavailable),
        }
    }

    fn plain_view(&self, value: &Value, info: &TypeInfo, frame: &dyn FrameValues) -> Result<View, Unavailable> {
        Ok(match &info.shape {
            Shape::Basic(basic) => View::Plain(self.basic_text(value, *basic, info, frame)?),
            Shape::Enumeration { names, .. } => {
                let number = match self.scalar(value, frame) {
                    Some(Ok(Scalar::Integer(number))) => number,
                    Some(Err(why)) => return Err(why),
                    _ => return Err(Unavailable::Unreadable("its number")),
                };
                let named = names.iter().find(|(_, value)| same_bits(*value, number, info.bytes));
                View::Plain(named.map_or_else(|| format!("{number} (no name has it)"), |(name, _)| name.clone()))
            }
            Shape::Pointer(target) => self.pointer_view(value, target, info, frame)?,
            Shape::Array(element, count) => {
                if matches!(self.type_info(element).shape, Shape::Basic(Basic::Letter(_)))
                    && let Some(address) = value.address()
                {
                    View::Text { address, length: Some(*count), is_pointer: false, ends_at_zero: true }
                } else {
                    View::Elements { base: value.clone(), element: element.clone(), count: *count }
                }
            }
            Shape::Record { members, variants, .. } => match variants {
                Some(variants) => self.variant_view(value, members, variants, frame)?,
                None => self.fields_view(value, members, info),
            },
            Shape::Function => View::Plain("function".to_owned()),
            Shape::Opaque if info.bytes == 0 => View::Plain("()".to_owned()),
            Shape::Opaque => {
                let bytes = self.value_bytes(value, frame)?;
                let shown: Vec<String> = bytes.iter().take(32).map(|byte| format!("{byte:02x}")).collect();
                View::Plain(shown.join(" "))
            }
        })
    }

    fn basic_text(
        &self,
        value: &Value,
        basic: Basic,
        info: &TypeInfo,
        frame: &dyn FrameValues,
    ) -> Result<String, Unavailable> {
        let scalar = self.scalar(value, frame).ok_or(Unavailable::Unreadable("its number"))??;
        Ok(match (scalar, basic) {
            (Scalar::Integer(number), Basic::Letter(_)) => {
                let letter = u8::try_from(number & 0xff).unwrap_or(0);
                if letter.is_ascii_graphic() || letter == b' ' {
                    format!("{number} '{}'", char::from(letter))
                } else {
                    number.to_string()
                }
            }
            (Scalar::Large(number), _) => number.to_string(),
            (Scalar::Integer(number), _) => number.to_string(),
            (Scalar::Float(number), Basic::F32) => format!("{:?}", narrow(number)),
            (Scalar::Float(number), _) => format!("{number:?}"),
            // What is neither zero nor one is no value of the type, and is not shown as one.
            (Scalar::Bool(_), _) => match self.value_bytes(value, frame)?.as_slice() {
                [0] => "false".to_owned(),
                [1] => "true".to_owned(),
                other => format!("{} (no bool)", other.first().copied().unwrap_or(0)),
            },
            (Scalar::Char(point), _) => match char::from_u32(point) {
                Some(letter) => format!("{letter:?}"),
                None => format!("{point:#x} (no char)"),
            },
            (Scalar::Pointer(address), _) => format!("{address:#x} {}", info.name),
        })
    }

    fn pointer_view(
        &self,
        value: &Value,
        target: &Type,
        info: &TypeInfo,
        frame: &dyn FrameValues,
    ) -> Result<View, Unavailable> {
        let address = self.unsigned(value, frame)?;
        let to = self.type_info(target);
        let is_letter = matches!(to.shape, Shape::Basic(Basic::Letter(_)));
        if is_letter && address != 0 {
            return Ok(View::Text { address, length: None, is_pointer: true, ends_at_zero: true });
        }
        let known = *target != Type::Unknown && !matches!(to.shape, Shape::Function) && address != 0;
        let target = known.then(|| Box::new(Value::in_memory(target.clone(), address)));
        let is_transparent =
            info.is_rust && (info.name.starts_with('&') || last_segment(&info.name).starts_with("Box<"));
        Ok(View::Pointer { address, target, is_transparent })
    }

    fn fields_view(&self, value: &Value, members: &[Member], info: &TypeInfo) -> View {
        let mut fields = Vec::new();
        for (position, member) in members.iter().enumerate() {
            let name = member.name.clone().unwrap_or_else(|| match self.type_name(&member.ty) {
                // A base class, or a union without a name.
                name if !matches!(name.as_str(), "struct" | "union") => name,
                _ => format!("#{position}"),
            });
            fields.push((name, self.member(value, member)));
        }
        let is_tuple = info.is_rust && !fields.is_empty() && fields.iter().all(|(name, _)| tuple_index(name).is_some());
        if is_tuple {
            for (name, _) in &mut fields {
                *name = tuple_index(name).unwrap_or_default().to_owned();
            }
        }
        // The name of a tuple is that of its parts.
        let is_named = info.is_rust && !info.name.starts_with('(');
        let name = is_named.then(|| last_segment(&info.name).to_owned());
        View::Fields { name: name.map(|name| without_generics(&name).to_owned()), fields, is_tuple }
    }

    /// The variant that an enumeration of Rust is.
    fn variant_view(
        &self,
        value: &Value,
        members: &[Member],
        variants: &Variants,
        frame: &dyn FrameValues,
    ) -> Result<View, Unavailable> {
        let chosen = match &variants.discriminant {
            None => variants.list.first(),
            Some(discriminant) => {
                let held = self.member(value, discriminant);
                let bytes = self.type_info(&held.ty).bytes;
                let number = match self.scalar(&held, frame) {
                    Some(Ok(Scalar::Integer(number))) => number,
                    Some(Ok(Scalar::Pointer(address))) => i128::from(address),
                    Some(Ok(Scalar::Char(point))) => i128::from(point),
                    Some(Ok(Scalar::Bool(_))) => {
                        i128::from(self.value_bytes(&held, frame)?.first().copied().unwrap_or(0))
                    }
                    Some(Err(why)) => return Err(why),
                    _ => return Err(Unavailable::Unreadable("its discriminant")),
                };
                let own = |value: &Option<u64>| value.is_some_and(|value| same_bits(i128::from(value), number, bytes));
                let named = variants.list.iter().find(|variant| own(&variant.value));
                named.or_else(|| variants.list.iter().find(|variant| variant.value.is_none()))
            }
        };
        let Some(chosen) = chosen else { return Err(Unavailable::Unreadable("a discriminant that no variant has")) };
        let name = chosen.member.name.clone().unwrap_or_default();
        let held = self.member(value, &chosen.member);
        let info = self.type_info(&held.ty);
        let Shape::Record { members: own, .. } = &info.shape else {
            return Ok(View::Fields { name: Some(name), fields: vec![("0".to_owned(), held)], is_tuple: true });
        };
        let View::Fields { mut fields, is_tuple, .. } = self.fields_view(&held, own, &info) else {
            return Err(Unavailable::Unreadable("its variant"));
        };
        fields.extend(members.iter().filter_map(|member| Some((member.name.clone()?, self.member(value, member)))));
        Ok(View::Fields { name: Some(name), fields, is_tuple })
    }

    /// The payload of a variant with one field, if the value is that variant.
    fn payload(&self, value: &Value, variant: &str, frame: &dyn FrameValues) -> Option<Value> {
        match self.view(value, frame) {
            View::Fields { name: Some(name), mut fields, .. } if name == variant && fields.len() == 1 => {
                fields.pop().map(|(_, value)| value)
            }
            _ => None,
        }
    }

    /// A field of a record by its name.
    pub(super) fn field(&self, value: &Value, name: &str) -> Option<Value> {
        let Shape::Record { members, .. } = self.type_info(&value.ty).shape else { return None };
        let found = members.iter().find(|member| member.name.as_deref() == Some(name));
        if let Some(member) = found {
            return Some(self.member(value, member));
        }
        // Fields of a record without a name, or of a base class, count as those of the record around it.
        let nameless = members.iter().filter(|member| member.name.is_none());
        nameless.map(|member| self.member(value, member)).take(NAMELESS_MAX).find_map(|inner| {
            let Shape::Record { members, .. } = self.type_info(&inner.ty).shape else { return None };
            let member = members.iter().find(|member| member.name.as_deref() == Some(name))?;
            Some(self.member(&inner, member))
        })
    }

    fn rust_view(&self, value: &Value, info: &TypeInfo, frame: &dyn FrameValues) -> Option<Result<View, Unavailable>> {
        let Shape::Record { members, arguments, variants: None, .. } = &info.shape else { return None };
        let argument = |name: &str| arguments.iter().find(|(own, _)| own == name).map(|(_, ty)| ty.clone());
        let name = last_segment(&info.name);
        if let (Some(data), Some(length)) = (self.field(value, "data_ptr"), self.field(value, "length")) {
            return Some(self.slice_view(
                &data,
                &length,
                info.name.ends_with("str") || info.name.contains("Box<str"),
                frame,
            ));
        }
        if name == "String" && members.len() == 1 {
            let bytes = self.field(value, "vec")?;
            let (data, length) = (self.first_pointer(&bytes)?, self.field(&bytes, "len")?);
            return Some(self.slice_view(&data, &length, true, frame));
        }
        if name.starts_with("Vec<") {
            let (data, length) = (self.first_pointer(&self.field(value, "buf")?)?, self.field(value, "len")?);
            return Some(self.vector_view(&data, &length, argument("T")?, frame));
        }
        if name.starts_with("VecDeque<") {
            return Some(self.deque_view(value, argument("T")?, frame));
        }
        if name.starts_with("Rc<") || name.starts_with("Arc<") {
            let pointer = self.first_pointer(value)?;
            let inner = self.dereference(&pointer, frame)?;
            let held = inner.and_then(|inner| {
                let held = self.field(&inner, "value").or_else(|| self.field(&inner, "data"));
                held.ok_or(Unavailable::Unreadable("what it counts"))
            });
            return Some(held.map(|held| View::Pointer {
                address: held.address().unwrap_or(0),
                target: Some(Box::new(held)),
                is_transparent: true,
            }));
        }
        if name.starts_with("NonNull<") || name.starts_with("Unique<") {
            return Some(Ok(self.view(&self.first_pointer(value)?, frame)));
        }
        if name.starts_with("HashMap<") || name.starts_with("HashSet<") {
            let table = self.find_record(value, "RawTable<")?;
            return Some(self.table_view(&table, name.starts_with("HashSet<"), frame));
        }
        if name.starts_with("BTreeMap<") || name.starts_with("BTreeSet<") {
            let map = if name.starts_with("BTreeMap<") { value.clone() } else { self.find_record(value, "BTreeMap<")? };
            return Some(self.tree_view(&map, name.starts_with("BTreeSet<"), frame));
        }
        None
    }

    fn slice_view(
        &self,
        data: &Value,
        length: &Value,
        is_text: bool,
        frame: &dyn FrameValues,
    ) -> Result<View, Unavailable> {
        let Shape::Pointer(element) = self.type_info(&data.ty).shape else {
            return Err(Unavailable::Unreadable("a slice without a pointer"));
        };
        if is_text {
            let (address, length) = (self.unsigned(data, frame)?, self.unsigned(length, frame)?);
            return Ok(View::Text { address, length: Some(length), is_pointer: false, ends_at_zero: false });
        }
        self.vector_view(data, length, element, frame)
    }

    fn vector_view(
        &self,
        data: &Value,
        length: &Value,
        element: Type,
        frame: &dyn FrameValues,
    ) -> Result<View, Unavailable> {
        let (address, count) = (self.unsigned(data, frame)?, self.unsigned(length, frame)?);
        Ok(View::Elements { base: Value::in_memory(element.clone(), address), element, count })
    }

    fn deque_view(&self, value: &Value, element: Type, frame: &dyn FrameValues) -> Result<View, Unavailable> {
        let shape = Unavailable::Unreadable("the fields of the queue");
        let buffer = self.field(value, "buf").ok_or(shape.clone())?;
        let number = |value: Option<Value>| self.unsigned(&value.ok_or(shape.clone())?, frame);
        let data = number(self.first_pointer(&buffer))?;
        let (head, count) = (number(self.field(value, "head"))?, number(self.field(value, "len"))?);
        let capacity = number(self.find_number(&buffer, "cap"))?;
        let base = Value::in_memory(element.clone(), data);
        let items = (0..count.min(ENTRIES_MAX as u64)).map(|position| {
            let place = head.wrapping_add(position);
            self.element(&base, &element, if place >= capacity { place.wrapping_sub(capacity) } else { place })
        });
        Ok(View::Items { items: items.collect(), count })
    }

    /// The number in a field of that name, however many records are around it.
    fn find_number(&self, value: &Value, name: &str) -> Option<Value> {
        let found = self.search(value, &mut |member, _| member.name.as_deref() == Some(name), &mut { SEARCH_MAX })?;
        self.search(&found, &mut |_, info| matches!(info.shape, Shape::Basic(_)), &mut { SEARCH_MAX }).or(Some(found))
    }

    /// The first member that a search accepts, however many records are around it.
    fn search(
        &self,
        value: &Value,
        accept: &mut dyn FnMut(&Member, &TypeInfo) -> bool,
        left: &mut usize,
    ) -> Option<Value> {
        let Shape::Record { members, variants: None, .. } = self.type_info(&value.ty).shape else { return None };
        for member in &members {
            *left = left.checked_sub(1)?;
            let info = self.type_info(&member.ty);
            let held = self.member(value, member);
            if accept(member, &info) {
                return Some(held);
            }
            if let Some(found) = self.search(&held, accept, left) {
                return Some(found);
            }
        }
        None
    }

    fn table_view(&self, table: &Value, is_set: bool, frame: &dyn FrameValues) -> Result<View, Unavailable> {
        let shape = Unavailable::Unreadable("the fields of the table");
        let Shape::Record { arguments, .. } = self.type_info(&table.ty).shape else { return Err(shape) };
        let entry = arguments.iter().find(|(name, _)| name == "T").map(|(_, ty)| ty.clone()).ok_or(shape.clone())?;
        let inner = self.field(table, "table").ok_or(shape.clone())?;
        let part = |name: &str| self.field(&inner, name).ok_or(shape.clone());
        let control = self.first_pointer(&part("ctrl")?).ok_or(shape.clone())?;
        let control = self.unsigned(&control, frame)?;
        let buckets = self.unsigned(&part("bucket_mask")?, frame)?.saturating_add(1);
        let count = self.unsigned(&part("items")?, frame)?;
        if buckets > BUCKETS_MAX {
            return Err(Unavailable::Unreadable("its table is too large"));
        }
        let bytes = self.type_info(&entry).bytes;
        // The highest bit of a control byte marks a bucket without an entry.
        let marks = self.read(&Storage::Memory(control), buckets, frame)?;
        let full = marks.iter().enumerate().filter(|(_, mark)| **mark & 0x80 == 0).map(|(bucket, _)| bucket as u64);
        let entries = full.take(ENTRIES_MAX).map(|bucket| {
            let back = bucket.wrapping_add(1).wrapping_mul(bytes);
            Value::in_memory(entry.clone(), control.wrapping_sub(back))
        });
        let mut pairs = Vec::new();
        for entry in entries {
            pairs.push((
                self.field(&entry, "__0").ok_or(shape.clone())?,
                self.field(&entry, "__1").ok_or(shape.clone())?,
            ));
        }
        Ok(pairs_or_items(pairs, count, is_set))
    }

    fn tree_view(&self, map: &Value, is_set: bool, frame: &dyn FrameValues) -> Result<View, Unavailable> {
        let shape = Unavailable::Unreadable("the fields of the tree");
        let part = |value: &Value, name: &str| self.field(value, name).ok_or(shape.clone());
        let count = self.unsigned(&part(map, "length")?, frame)?;
        let Shape::Record { arguments, .. } = self.type_info(&map.ty).shape else { return Err(shape) };
        let argument = |name: &str| arguments.iter().find(|(own, _)| own == name).map(|(_, ty)| ty.clone());
        let (key, value) = (argument("K").ok_or(shape.clone())?, argument("V").ok_or(shape.clone())?);
        let mut pairs = Vec::new();
        if let Some(root) = self.payload(&part(map, "root")?, "Some", frame) {
            let height = self.unsigned(&part(&root, "height")?, frame)?.min(TREE_HEIGHT_MAX);
            let node = self.first_pointer(&part(&root, "node")?).ok_or(shape.clone())?;
            let Shape::Pointer(leaf) = self.type_info(&node.ty).shape else { return Err(shape) };
            let address = self.unsigned(&node, frame)?;
            let tree = Tree { leaf, key, value };
            self.walk_tree(&tree, address, height, frame, &mut pairs)?;
        }
        Ok(pairs_or_items(pairs, count, is_set))
    }

    fn walk_tree(
        &self,
        tree: &Tree,
        address: u64,
        height: u64,
        frame: &dyn FrameValues,
        pairs: &mut Vec<(Value, Value)>,
    ) -> Result<(), Unavailable> {
        /// Entries of a node; it has one child more.
        const NODE_ENTRIES_MAX: u64 = 11;
        let shape = Unavailable::Unreadable("the fields of a node of the tree");
        let node = Value::in_memory(tree.leaf.clone(), address);
        let part = |name: &str| self.field(&node, name).ok_or(shape.clone());
        let count = self.unsigned(&part("len")?, frame)?.min(NODE_ENTRIES_MAX);
        let (keys, values) = (part("keys")?, part("vals")?);
        // Children stand behind what a leaf has.
        let children = address.wrapping_add(self.type_info(&tree.leaf).bytes);
        for position in 0..=count {
            if pairs.len() >= ENTRIES_MAX {
                break;
            }
            if let Some(below) = height.checked_sub(1) {
                let at = Storage::Memory(children.wrapping_add(position * 4));
                let bytes = self.read(&at, 4, frame)?;
                let child = u32::from_le_bytes(bytes.try_into().map_err(|_| shape.clone())?);
                self.walk_tree(tree, child.into(), below, frame, pairs)?;
            }
            if position < count {
                pairs.push((self.element(&keys, &tree.key, position), self.element(&values, &tree.value, position)));
            }
        }
        Ok(())
    }

    /// What a pointer points to; `None` if it is no pointer.
    pub(super) fn dereference(&self, pointer: &Value, frame: &dyn FrameValues) -> Option<Result<Value, Unavailable>> {
        let Shape::Pointer(target) = self.type_info(&pointer.ty).shape else { return None };
        Some(self.unsigned(pointer, frame).map(|address| Value::in_memory(target, address)))
    }

    /// The value itself, or the first pointer in a record, however many records are around it.
    pub(super) fn first_pointer(&self, value: &Value) -> Option<Value> {
        if matches!(self.type_info(&value.ty).shape, Shape::Pointer(_)) {
            return Some(value.clone());
        }
        self.search(value, &mut |_, info| matches!(info.shape, Shape::Pointer(_)), &mut { SEARCH_MAX })
    }

    /// The first record whose type's name begins so.
    fn find_record(&self, value: &Value, name: &str) -> Option<Value> {
        let is_one =
            |info: &TypeInfo| matches!(info.shape, Shape::Record { .. }) && last_segment(&info.name).starts_with(name);
        self.search(value, &mut |_, info| is_one(info), &mut { SEARCH_MAX })
    }

    /// Containers of C++ whose fields are known: of libc++, which is what WebAssembly's compilers bring.
    fn cpp_view(&self, value: &Value, info: &TypeInfo, frame: &dyn FrameValues) -> Option<Result<View, Unavailable>> {
        let Shape::Record { arguments, .. } = &info.shape else { return None };
        if info.name.starts_with("vector<") {
            let (begin, end) = (self.field(value, "__begin_")?, self.field(value, "__end_")?);
            let element = arguments.iter().find(|(name, _)| name == "_Tp").map(|(_, ty)| ty.clone())?;
            let size = self.type_info(&element).bytes;
            return Some(self.unsigned(&begin, frame).and_then(|begin| {
                let bytes = self.unsigned(&end, frame)?.wrapping_sub(begin);
                let count = bytes.checked_div(size).ok_or(Unavailable::Unreadable("elements without a size"))?;
                Ok(View::Elements { base: Value::in_memory(element.clone(), begin), element, count })
            }));
        }
        if info.name.starts_with("basic_string<char") && info.bytes == 12 {
            // Three words: data, length, capacity; or eleven letters and their count, marked by the highest bit.
            let address = value.address()?;
            return Some(self.read(&Storage::Memory(address), 12, frame).map(|bytes| {
                let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
                match bytes[11] & 0x80 {
                    0 => View::Text {
                        address,
                        length: Some(u64::from(bytes[11])),
                        is_pointer: false,
                        ends_at_zero: false,
                    },
                    _ => View::Text {
                        address: word(0).into(),
                        length: Some(word(4).into()),
                        is_pointer: false,
                        ends_at_zero: false,
                    },
                }
            }));
        }
        None
    }
}

/// Types of a `BTreeMap`.
struct Tree {
    leaf: Type,
    key: Type,
    value: Type,
}

fn pairs_or_items(pairs: Vec<(Value, Value)>, count: u64, is_set: bool) -> View {
    match is_set {
        true => View::Items { items: pairs.into_iter().map(|(key, _)| key).collect(), count },
        false => View::Pairs { entries: pairs, count },
    }
}

/// `0` of `__0`, as the compiler names the fields of a tuple.
fn tuple_index(name: &str) -> Option<&str> {
    let digits = name.strip_prefix("__")?;
    (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())).then_some(digits)
}

/// `Vec<a::B>` of `alloc::vec::Vec<a::B>`.
pub(super) fn last_segment(name: &str) -> &str {
    let front = name.find('<').unwrap_or(name.len());
    match name[..front].rfind("::") {
        Some(at) => &name[at + 2..],
        None => name,
    }
}

fn without_generics(name: &str) -> &str {
    name.split('<').next().unwrap_or(name)
}

/// Whether two numbers have the same bits, in so many bytes.
fn same_bits(one: i128, other: i128, bytes: u64) -> bool {
    let bits = u32::try_from(bytes.clamp(1, 16)).unwrap_or(16) * 8;
    (one ^ other) << (128 - bits) == 0
}

/// The number of half the precision that `number` was made from.
#[expect(clippy::cast_possible_truncation, reason = "it was an f32")]
fn narrow(number: f64) -> f32 {
    number as f32
}
