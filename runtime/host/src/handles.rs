//! Handles that go from one component to another: each side has its own, and a number stands between them.
//!
//! ```text
//! caller's store                     history, on the way                called one's store
//! own<thing>, a proxy ─ its number ─▶ 3 ─ Handles: 3 is that resource ─▶ own<thing>, the resource
//! borrow<thing>       ─ its number ─▶ 3 ─ Handles: still there        ─▶ borrow<thing>
//! ```
//!
//! Invariants: a number is given once for as long as a guest can hold it; what was given away, or ended with its instance, is
//! not found. All resources of the called component are of one type to its caller, where validation has told them apart.
//! Not here: which types have handles and may be linked (`fozzy-engine`).

use std::collections::BTreeMap;
use std::fmt;
use wasmtime::component::{ResourceAny, ResourceDynamic, ResourceType, Type, Val};
use wasmtime::{AsContextMut, Result};

/// The type that every resource of a target has for its caller.
pub(crate) fn proxy() -> ResourceType {
    ResourceType::host_dynamic(0)
}

/// The resources of an instance that its caller has handles of.
#[derive(Debug)]
pub struct TargetHandles {
    of_number: BTreeMap<u32, ResourceAny>,
    next: u32,
    /// Which instance of its component it is, and of how many.
    instance: (u32, u32),
}

/// The instance whose resource has this number.
pub(crate) fn instance_of(number: u32, instances: usize) -> usize {
    number as usize % instances.max(1)
}

/// A handle of an instance that is gone, or of a resource that was given away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StaleHandle(pub u32);

impl fmt::Display for StaleHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the handle {} is of an instance of the target that is gone, as it was restarted or has ended",
            self.0
        )
    }
}

impl std::error::Error for StaleHandle {}

impl TargetHandles {
    /// Those of one of several instances of a component: no two of them give the same number.
    #[must_use]
    pub fn of(instance: u32, instances: u32) -> TargetHandles {
        TargetHandles { of_number: BTreeMap::new(), next: instance, instance: (instance, instances) }
    }

    /// The arguments of a call for the instance: its own resources in the place of numbers.
    ///
    /// # Errors
    /// [`StaleHandle`].
    pub fn received<'t>(&mut self, types: impl Iterator<Item = Type> + 't, values: &[Val]) -> Result<Vec<Val>> {
        let resource = &mut |value: Val, of: &Type| {
            let Val::U32(number) = value else { return Ok(value) };
            let found = match of {
                Type::Own(_) => self.of_number.remove(&number),
                _ => self.of_number.get(&number).copied(),
            };
            found.map(Val::Resource).ok_or_else(|| wasmtime::Error::new(StaleHandle(number)))
        };
        values.iter().zip(types).map(|(value, of)| replaced(value.clone(), &of, resource)).collect()
    }

    /// What the instance has answered: numbers in the place of its resources.
    ///
    /// # Errors
    /// None; it has the shape of its counterpart.
    pub fn sent(&mut self, types: impl Iterator<Item = Type>, values: &mut [Val]) -> Result<()> {
        for (value, of) in values.iter_mut().zip(types) {
            let answer = std::mem::replace(value, Val::Bool(false));
            *value = replaced(answer, &of, &mut |value, _| {
                let Val::Resource(resource) = value else { return Ok(value) };
                let number = self.next;
                self.next += self.instance.1;
                self.of_number.insert(number, resource);
                Ok(Val::U32(number))
            })?;
        }
        Ok(())
    }

    /// The resource of a handle that is dropped, unless it is gone already.
    pub fn dropped(&mut self, number: u32) -> Option<ResourceAny> {
        self.of_number.remove(&number)
    }

    /// Forgets all handles: the instance has ended.
    pub fn forget(&mut self) {
        self.of_number.clear();
    }

    /// The holders of the numbers are gone as well.
    pub fn begin_again(&mut self) {
        *self = TargetHandles::of(self.instance.0, self.instance.1);
    }
}

/// The arguments of a call as they stand in the history: numbers in the place of the caller's handles.
pub(crate) fn numbers(
    mut store: impl AsContextMut,
    types: impl Iterator<Item = Type>,
    values: &[Val],
) -> Result<Vec<Val>> {
    let number = &mut |value: Val, _: &Type| {
        let Val::Resource(handle) = value else { return Ok(value) };
        Ok(Val::U32(handle.try_into_resource_dynamic(&mut store)?.rep()))
    };
    values.iter().zip(types).map(|(value, of)| replaced(value.clone(), &of, number)).collect()
}

/// An answer for the caller: its handles in the place of numbers.
pub(crate) fn handles(mut store: impl AsContextMut, of: &Type, value: Val) -> Result<Val> {
    replaced(value, of, &mut |value, _| {
        let Val::U32(number) = value else { return Ok(value) };
        let handle = ResourceDynamic::new_own(number, 0);
        Ok(Val::Resource(handle.try_into_resource_any(&mut store)?))
    })
}

/// What stands for a handle, by the type of the handle.
type Each<'a> = &'a mut dyn FnMut(Val, &Type) -> Result<Val>;

/// A value with something else wherever its type has a handle.
fn replaced(value: Val, of: &Type, each: Each<'_>) -> Result<Val> {
    let mut boxed = |value: Box<Val>, of: Option<Type>| match of {
        Some(of) => replaced(*value, &of, each).map(|value| Some(Box::new(value))),
        None => Ok(Some(value)),
    };
    Ok(match (of, value) {
        (Type::Own(_) | Type::Borrow(_), value) => each(value, of)?,
        (Type::List(of), Val::List(values)) => {
            let of = of.ty();
            Val::List(values.into_iter().map(|value| replaced(value, &of, each)).collect::<Result<_>>()?)
        }
        (Type::Tuple(of), Val::Tuple(values)) => {
            let values = values.into_iter().zip(of.types());
            Val::Tuple(values.map(|(value, of)| replaced(value, &of, each)).collect::<Result<_>>()?)
        }
        (Type::Record(of), Val::Record(fields)) => {
            let fields = fields.into_iter().zip(of.fields());
            let field = |((name, value), field): ((String, Val), wasmtime::component::types::Field<'_>)| {
                Ok((name, replaced(value, &field.ty, each)?))
            };
            Val::Record(fields.map(field).collect::<Result<_>>()?)
        }
        (Type::Map(of), Val::Map(pairs)) => {
            let (key, item) = (of.key(), of.value());
            let pair = |(left, right)| Ok((replaced(left, &key, each)?, replaced(right, &item, each)?));
            Val::Map(pairs.into_iter().map(pair).collect::<Result<_>>()?)
        }
        (Type::Option(of), Val::Option(Some(value))) => Val::Option(boxed(value, Some(of.ty()))?),
        (Type::Result(of), Val::Result(Ok(Some(value)))) => Val::Result(Ok(boxed(value, of.ok())?)),
        (Type::Result(of), Val::Result(Err(Some(value)))) => Val::Result(Err(boxed(value, of.err())?)),
        (Type::Variant(of), Val::Variant(name, Some(value))) => {
            let case = of.cases().find(|case| case.name == name).and_then(|case| case.ty);
            let value = boxed(value, case)?;
            Val::Variant(name, value)
        }
        (_, value) => value,
    })
}
