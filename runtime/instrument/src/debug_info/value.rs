//! Values: a type, and where its bytes are.
//!
//! Nothing is read before it is asked for; a structure of a megabyte costs nothing until a member of it is shown.
//! Not here: what a value looks like (`views`, `render`).

use super::location::{FrameValues, LocationContext, Storage, Unavailable};
use super::module::{CodePlace, DebugInfo, EntryId};
use super::scopes::ScopeVariable;
use super::types::{Basic, Member, Shape, Type, target};

/// Most bytes that are read of one value at a time.
const BYTES_MAX: u64 = 1 << 20;

/// A value of the program, or of an expression.
#[derive(Clone, Debug)]
pub struct Value {
    pub(super) ty: Type,
    pub(super) storage: Result<Storage, Unavailable>,
    /// Of a bit field: its first bit in the storage, and how many it has.
    pub(super) bits: Option<(u64, u64)>,
}

impl Value {
    pub(super) fn in_memory(ty: Type, address: u64) -> Value {
        Value { ty, storage: Ok(Storage::Memory(address & u64::from(u32::MAX))), bits: None }
    }

    pub(super) fn of_bytes(ty: Type, bytes: Vec<u8>) -> Value {
        Value { ty, storage: Ok(Storage::whole(bytes)), bits: None }
    }

    pub(super) fn unavailable(ty: Type, why: Unavailable) -> Value {
        Value { ty, storage: Err(why), bits: None }
    }

    /// Its address, if it is in memory as a whole.
    #[must_use]
    pub fn address(&self) -> Option<u64> {
        match (&self.storage, self.bits) {
            (Ok(Storage::Memory(address)), None) => Some(*address),
            _ => None,
        }
    }
}

/// A number that a value is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Scalar {
    Integer(i128),
    /// A number that is larger than those.
    Large(u128),
    Float(f64),
    Bool(bool),
    Char(u32),
    /// An address.
    Pointer(u64),
}

impl DebugInfo {
    /// The value of a variable in a frame that stands at the variable's place.
    #[must_use]
    pub fn value(&self, variable: &ScopeVariable, frame: &dyn FrameValues) -> Value {
        self.read_variable(variable.entry, variable.place, frame)
            .unwrap_or_else(|| Value::unavailable(Type::Unknown, Unavailable::Unreadable("its entry")))
    }

    fn read_variable(&self, id: EntryId, place: CodePlace, frame: &dyn FrameValues) -> Option<Value> {
        let module = self.module(id.module)?;
        let loaded = module.loaded()?;
        let (unit, entry) = loaded.entry(id.offset)?;
        let ty = loaded.inherited(id.offset, |unit, entry| match target(loaded, unit, entry, id) {
            Type::Unknown => None,
            known => Some(known),
        });
        let ty = ty.unwrap_or(Type::Unknown);
        let address = module.address(place.offset)?;
        let function = module.function_at(address).map(|offset| EntryId { module: id.module, offset });
        let context = LocationContext { loaded, unit, address, frame, function };
        let bytes = self.bytes_of(&ty);
        let storage = context.storage(&entry, (bytes > 0).then_some(bytes));
        Some(Value { ty, storage, bits: None })
    }

    /// How many bytes a value has in memory; zero of what has no size.
    #[must_use]
    pub fn byte_size(&self, value: &Value) -> u64 {
        self.bytes_of(&value.ty)
    }

    /// The name of a value's type.
    #[must_use]
    pub fn value_type(&self, value: &Value) -> String {
        self.type_name(&value.ty)
    }

    pub(super) fn member(&self, value: &Value, member: &Member) -> Value {
        let ty = member.ty.clone();
        let storage = match (&value.storage, member.bits) {
            (Err(why), _) => Err(why.clone()),
            (Ok(storage), Some(_)) => Ok(storage.clone()),
            (Ok(storage), None) => storage.part(member.offset, self.bytes_of(&ty)),
        };
        Value { ty, storage, bits: member.bits }
    }

    /// Element `index` of an array, or of elements behind one another.
    pub(super) fn element(&self, value: &Value, element: &Type, index: u64) -> Value {
        let bytes = self.bytes_of(element);
        let offset = index.checked_mul(bytes).ok_or(Unavailable::Unreadable("an index that is too large"));
        let storage = match &value.storage {
            Ok(storage) => offset.and_then(|offset| storage.part(offset, bytes)),
            Err(why) => Err(why.clone()),
        };
        Value { ty: element.clone(), storage, bits: None }
    }

    pub(super) fn read(&self, storage: &Storage, length: u64, frame: &dyn FrameValues) -> Result<Vec<u8>, Unavailable> {
        if length > BYTES_MAX {
            return Err(Unavailable::Unreadable("it is too large"));
        }
        let length = usize::try_from(length).unwrap_or(0);
        match storage {
            Storage::Memory(address) => {
                let mut bytes = vec![0; length];
                if frame.read_memory(*address, &mut bytes) { Ok(bytes) } else { Err(Unavailable::BadAddress(*address)) }
            }
            Storage::Bytes { bytes, missing } => {
                let own = bytes.get(..length).ok_or(Unavailable::Unreadable("it is shorter than its type"))?;
                let gaps: usize =
                    missing.iter().map(|gap| gap.end.min(length).saturating_sub(gap.start.min(length))).sum();
                match gaps {
                    0 => Ok(own.to_vec()),
                    all if all == length => Err(Unavailable::OptimisedOut),
                    _ => Err(Unavailable::PartlyOptimisedOut),
                }
            }
        }
    }

    /// The bytes of a value.
    ///
    /// # Errors
    ///
    /// Why it has none here.
    pub fn value_bytes(&self, value: &Value, frame: &dyn FrameValues) -> Result<Vec<u8>, Unavailable> {
        let storage = value.storage.as_ref().map_err(Clone::clone)?;
        match value.bits {
            None => self.read(storage, self.type_info(&value.ty).bytes, frame),
            Some((first, count)) => {
                let last = first.checked_add(count.max(1) - 1).filter(|_| (1..=64).contains(&count));
                let last = last.ok_or(Unavailable::Unreadable("its bits"))?;
                let part = storage.part(first / 8, last / 8 - first / 8 + 1)?;
                let bytes = self.read(&part, last / 8 - first / 8 + 1, frame)?;
                let mut wide = [0; 16];
                wide[..bytes.len()].copy_from_slice(&bytes);
                let bits = (u128::from_le_bytes(wide) >> (first % 8)) & ((1 << count) - 1);
                let signed = matches!(
                    self.type_info(&value.ty).shape,
                    Shape::Basic(Basic::Integer(_, true) | Basic::Letter(true))
                        | Shape::Enumeration { signed: true, .. }
                );
                let unused = 128 - u32::try_from(count).unwrap_or(64);
                let bits = if signed { ((bits << unused).cast_signed() >> unused).cast_unsigned() } else { bits };
                let length = usize::try_from(self.type_info(&value.ty).bytes).unwrap_or(0).min(16);
                Ok(bits.to_le_bytes()[..length].to_vec())
            }
        }
    }

    /// A value as a number; `None` if its type is none.
    pub(super) fn scalar(&self, value: &Value, frame: &dyn FrameValues) -> Option<Result<Scalar, Unavailable>> {
        let read = || {
            let bytes = self.value_bytes(value, frame)?;
            let mut wide = [0; 16];
            let length = bytes.len().min(16);
            wide[..length].copy_from_slice(&bytes[..length]);
            Ok((u128::from_le_bytes(wide), u32::try_from(length).unwrap_or(0) * 8))
        };
        let integer = |signed: bool| {
            read().map(|(bits, width)| {
                let unused = (128 - width).min(127);
                match i128::try_from(bits) {
                    Err(_) if !signed => Scalar::Large(bits),
                    _ if signed => Scalar::Integer((bits << unused).cast_signed() >> unused),
                    _ => Scalar::Integer(bits.cast_signed()),
                }
            })
        };
        let low = |(bits, _): (u128, u32)| u64::try_from(bits & u128::from(u64::MAX)).unwrap_or(0);
        let low_word = |(bits, _): (u128, u32)| u32::try_from(bits & u128::from(u32::MAX)).unwrap_or(0);
        Some(match self.type_info(&value.ty).shape {
            Shape::Basic(Basic::Bool) => read().map(|bits| Scalar::Bool(low(bits) != 0)),
            Shape::Basic(Basic::Char) => read().map(|bits| Scalar::Char(low_word(bits))),
            Shape::Basic(Basic::F32) => read().map(|bits| Scalar::Float(f32::from_bits(low_word(bits)).into())),
            Shape::Basic(Basic::F64) => read().map(|bits| Scalar::Float(f64::from_bits(low(bits)))),
            Shape::Basic(Basic::Integer(_, signed) | Basic::Letter(signed)) => integer(signed),
            Shape::Enumeration { signed, .. } => integer(signed),
            Shape::Pointer(_) => read().map(|bits| Scalar::Pointer(low(bits))),
            _ => return None,
        })
    }

    /// A value as a size or address that is not negative.
    pub(super) fn unsigned(&self, value: &Value, frame: &dyn FrameValues) -> Result<u64, Unavailable> {
        match self.scalar(value, frame) {
            Some(Ok(Scalar::Integer(number))) => {
                u64::try_from(number).map_err(|_| Unavailable::Unreadable("a negative size"))
            }
            Some(Ok(Scalar::Pointer(address))) => Ok(address),
            Some(Err(why)) => Err(why),
            _ => Err(Unavailable::Unreadable("something that is no number")),
        }
    }
}
