//! Values of a history, each stored once.
//!
//! ```text
//! [[:append 5 3] [:r 5 nil]]  ──▶  Vector [#9 #11]     #9 = Vector [:append 5 3]   …
//! ```
//!
//! Invariants: equal values have equal ids, so comparing them is comparing numbers; a set or a map is stored in the order of
//! its ids, so that the order in which it was written does not matter.
//! Not here: notation (`syntax`, `writer`).

use crate::hash_index::{HashIndex, fold, fold_bytes};

/// A value of a [`DatumPool`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DatumId(pub(crate) u32);

impl DatumId {
    /// `nil`, which every pool has.
    pub const NIL: DatumId = DatumId(0);
    /// `false`.
    pub const FALSE: DatumId = DatumId(1);
    /// `true`.
    pub const TRUE: DatumId = DatumId(2);

    /// Whether it is `nil`.
    #[must_use]
    pub const fn is_nil(self) -> bool {
        self.0 == 0
    }
}

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Datum<'a> {
    /// No value.
    Nil,
    /// A truth value.
    Bool(bool),
    /// A number without fraction that fits into 64 bits.
    Integer(i64),
    /// A number with a fraction.
    Float(f64),
    /// Any other number (beyond 64 bits, `1/2`, `3.14M`), as it was written.
    Number(&'a str),
    /// A character.
    Character(char),
    /// A text.
    Text(&'a str),
    /// A keyword, without its colon.
    Keyword(&'a str),
    /// A symbol.
    Symbol(&'a str),
    /// A list.
    List(&'a [DatumId]),
    /// A vector; JSON's array.
    Vector(&'a [DatumId]),
    /// A set.
    Set(&'a [DatumId]),
    /// A map: a key and its value in turn.
    Map(&'a [DatumId]),
    /// A value with a tag, which stands first, as a symbol.
    Tag(&'a [DatumId]),
}

/// How a value is stored.
#[derive(Clone, Copy, Debug)]
enum Node {
    Nil,
    Bool(bool),
    Integer(i64),
    Float(u64),
    Character(char),
    Words(TextKind, u32, u32),
    Items(ItemKind, u32, u32),
}

/// What a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextKind {
    Number,
    Text,
    Keyword,
    Symbol,
}

/// What a sequence is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ItemKind {
    List,
    Vector,
    Set,
    Map,
    Tag,
}

/// All values of a history.
#[derive(Clone, Debug)]
pub struct DatumPool {
    nodes: Vec<Node>,
    text: String,
    items: Vec<DatumId>,
    index: HashIndex,
}

impl Default for DatumPool {
    fn default() -> DatumPool {
        let mut pool =
            DatumPool { nodes: Vec::new(), text: String::new(), items: Vec::new(), index: HashIndex::default() };
        pool.leaf(Node::Nil, 0, 0);
        pool.leaf(Node::Bool(false), 1, 0);
        pool.leaf(Node::Bool(true), 1, 1);
        pool
    }
}

impl DatumPool {
    /// What a value is.
    #[must_use]
    pub fn get(&self, id: DatumId) -> Datum<'_> {
        match self.nodes[id.0 as usize] {
            Node::Nil => Datum::Nil,
            Node::Bool(value) => Datum::Bool(value),
            Node::Integer(value) => Datum::Integer(value),
            Node::Float(bits) => Datum::Float(f64::from_bits(bits)),
            Node::Character(value) => Datum::Character(value),
            Node::Words(kind, start, length) => {
                let text = &self.text[start as usize..(start + length) as usize];
                match kind {
                    TextKind::Number => Datum::Number(text),
                    TextKind::Text => Datum::Text(text),
                    TextKind::Keyword => Datum::Keyword(text),
                    TextKind::Symbol => Datum::Symbol(text),
                }
            }
            Node::Items(kind, start, length) => {
                let items = &self.items[start as usize..(start + length) as usize];
                match kind {
                    ItemKind::List => Datum::List(items),
                    ItemKind::Vector => Datum::Vector(items),
                    ItemKind::Set => Datum::Set(items),
                    ItemKind::Map => Datum::Map(items),
                    ItemKind::Tag => Datum::Tag(items),
                }
            }
        }
    }

    /// How many values there are; ids are below it.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there are none, which no pool is: `nil` is always there.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Bytes that the values take.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let items = self.items.capacity() * size_of::<DatumId>();
        self.nodes.capacity() * size_of::<Node>() + self.text.capacity() + items + self.index.bytes()
    }

    /// The id of a truth value.
    #[must_use]
    pub const fn bool(value: bool) -> DatumId {
        if value { DatumId::TRUE } else { DatumId::FALSE }
    }

    /// The id of a number.
    pub fn integer(&mut self, value: i64) -> DatumId {
        self.leaf(Node::Integer(value), 2, value as u64)
    }

    /// The id of a number with a fraction. Both zeros are one value, and so is what is not a number.
    pub fn float(&mut self, value: f64) -> DatumId {
        let value = if value.is_nan() { f64::NAN } else { value + 0.0 };
        self.leaf(Node::Float(value.to_bits()), 3, value.to_bits())
    }

    /// The id of a character.
    pub fn character(&mut self, value: char) -> DatumId {
        self.leaf(Node::Character(value), 4, u64::from(value))
    }

    /// The id of a text.
    pub fn text(&mut self, text: &str) -> DatumId {
        self.words(TextKind::Text, text)
    }

    /// The id of a keyword, given without its colon.
    pub fn keyword(&mut self, name: &str) -> DatumId {
        self.words(TextKind::Keyword, name)
    }

    /// The id of a vector.
    pub fn vector(&mut self, items: &[DatumId]) -> DatumId {
        self.sequence(ItemKind::Vector, items)
    }

    /// The id of a set; elements may stand in any order.
    pub fn set(&mut self, items: &[DatumId]) -> DatumId {
        let mut items = items.to_vec();
        items.sort_unstable();
        items.dedup();
        self.sequence(ItemKind::Set, &items)
    }

    /// The name that a keyword, a text or a symbol has: notations differ in which of them they use.
    #[must_use]
    pub fn name(&self, id: DatumId) -> Option<&str> {
        match self.get(id) {
            Datum::Keyword(name) | Datum::Text(name) | Datum::Symbol(name) => Some(name),
            _ => None,
        }
    }

    /// The number that a value is.
    #[must_use]
    pub fn as_integer(&self, id: DatumId) -> Option<i64> {
        if let Datum::Integer(value) = self.get(id) { Some(value) } else { None }
    }

    /// The elements of a list, a vector or a set; also of a set with a tag.
    #[must_use]
    pub fn elements(&self, id: DatumId) -> Option<&[DatumId]> {
        match self.get(id) {
            Datum::List(items) | Datum::Vector(items) | Datum::Set(items) => Some(items),
            Datum::Tag(&[_, value]) => self.elements(value),
            _ => None,
        }
    }

    /// Both elements of a pair.
    #[must_use]
    pub fn pair(&self, id: DatumId) -> Option<(DatumId, DatumId)> {
        match self.get(id) {
            Datum::List(&[first, second]) | Datum::Vector(&[first, second]) => Some((first, second)),
            _ => None,
        }
    }

    /// The value under a key of a map, by the key's name.
    #[must_use]
    pub fn entry(&self, map: DatumId, key: &str) -> Option<DatumId> {
        let Datum::Map(items) = self.get(map) else { return None };
        items.as_chunks::<2>().0.iter().find(|[found, _]| self.name(*found) == Some(key)).map(|[_, value]| *value)
    }

    /// The id of a text of some kind.
    pub(crate) fn words(&mut self, kind: TextKind, text: &str) -> DatumId {
        let hash = fold_bytes(8 + kind as u64, text.as_bytes());
        let new = self.nodes.len() as u32;
        let DatumPool { nodes, text: all, index, .. } = self;
        let found = index.find_or_insert(hash, new, |at| match nodes[at as usize] {
            Node::Words(of, start, length) => of == kind && &all[start as usize..(start + length) as usize] == text,
            _ => false,
        });
        found.map(DatumId).unwrap_or_else(|| {
            let start = self.text.len() as u32;
            self.text.push_str(text);
            self.push(Node::Words(kind, start, text.len() as u32))
        })
    }

    /// The id of a sequence whose elements stand in the order of its kind.
    pub(crate) fn sequence(&mut self, kind: ItemKind, items: &[DatumId]) -> DatumId {
        let seed = fold(16 + kind as u64, items.len() as u64);
        let hash = items.iter().fold(seed, |hash, item| fold(hash, u64::from(item.0)));
        let new = self.nodes.len() as u32;
        let DatumPool { nodes, items: all, index, .. } = self;
        let found = index.find_or_insert(hash, new, |at| match nodes[at as usize] {
            Node::Items(of, start, length) => of == kind && all[start as usize..(start + length) as usize] == *items,
            _ => false,
        });
        found.map(DatumId).unwrap_or_else(|| {
            let start = self.items.len() as u32;
            self.items.extend_from_slice(items);
            self.push(Node::Items(kind, start, items.len() as u32))
        })
    }

    fn leaf(&mut self, node: Node, kind: u64, bits: u64) -> DatumId {
        let new = self.nodes.len() as u32;
        let nodes = &self.nodes;
        let is_equal = |at: u32| match (nodes[at as usize], node) {
            (Node::Nil, Node::Nil) => true,
            (Node::Bool(a), Node::Bool(b)) => a == b,
            (Node::Integer(a), Node::Integer(b)) => a == b,
            (Node::Float(a), Node::Float(b)) => a == b,
            (Node::Character(a), Node::Character(b)) => a == b,
            _ => false,
        };
        let found = self.index.find_or_insert(fold(kind, bits), new, is_equal);
        found.map(DatumId).unwrap_or_else(|| self.push(node))
    }

    fn push(&mut self, node: Node) -> DatumId {
        self.nodes.push(node);
        DatumId(self.nodes.len() as u32 - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_are_stored_once() {
        let mut pool = DatumPool::default();
        let (one, two) = (pool.integer(1), pool.integer(2));
        assert_eq!(pool.integer(1), one);
        assert_eq!(pool.set(&[two, one]), pool.set(&[one, two, one]));
        assert_ne!(pool.vector(&[one, two]), pool.vector(&[two, one]));
        assert_ne!(pool.text("r"), pool.keyword("r"));
        assert_eq!(pool.float(0.0), pool.float(-0.0));
        assert_ne!(pool.float(1.0), one, "a fraction is another value");
        let length = pool.len();
        pool.integer(2);
        assert_eq!(pool.len(), length);
        assert!(pool.get(DatumId::NIL) == Datum::Nil && pool.get(DatumId::TRUE) == Datum::Bool(true));
    }
}
