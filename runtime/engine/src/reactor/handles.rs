//! The guest's table of handles: our model of it, and how it is rebuilt for a restore.
//!
//! ```text
//! the guest's index of a handle = its number in the world's table + 1     both are stacks of free places
//!
//! model      slots 1 2 3 4 5      free, last one first: 4 2
//! rebuild    drop what is open ─▶ mint every place anew ─▶ drop the places that are to be free, in order
//! ```
//!
//! The component model gives a new handle the place that was freed last, and so does our table, call by
//! call (Canonical ABI, `class Table`). That they agree is not taken on trust: at each checkpoint the accessor mints
//! a handle and drops it again, and the place it got must be the one that the model says comes next.
//!
//! Invariant: destructors are silent during a rebuild, and the world's table is not touched.
//! Not here: what handles mean (`fozzy-world`).

use fozzy_host::{Host, resource_of};
use fozzy_instrument::{AccessorLayout, MintedResource};
use fozzy_world::HandleTable;
use std::collections::BTreeMap;
use wasmtime::Store;
use wasmtime::component::{Instance, TypedFunc};

/// The number of a handle that only holds a place.
const FILLER: u32 = u32::MAX;

/// The functions that mint and drop handles of one resource type.
#[derive(Clone, Copy)]
struct HandleFunctions {
    make: TypedFunc<(u32,), (u32,)>,
    drop: TypedFunc<(u32,), ()>,
}

/// A resource type, and its functions once they were needed: finding those of all types takes as long as an instantiation.
struct ResourceHandles {
    make: String,
    drop: String,
    found: Option<HandleFunctions>,
}

/// The table of handles of one instance.
pub(crate) struct GuestHandles {
    instance: Instance,
    by_resource: BTreeMap<String, ResourceHandles>,
    /// Places that the guest's table ever had; the world's table may have been shorter since.
    places: usize,
}

impl GuestHandles {
    /// The handles of a fresh instance.
    pub(crate) fn new(instance: Instance, access: &AccessorLayout) -> GuestHandles {
        let resources = access.resources.iter();
        let unfound =
            |resource: &MintedResource| ResourceHandles { make: resource.make(), drop: resource.drop(), found: None };
        let by_resource = resources.map(|resource| (resource.name.clone(), unfound(resource))).collect();
        GuestHandles { instance, by_resource, places: 0 }
    }

    /// The handles of another fresh instance of the same component.
    pub(crate) fn begin_again(&mut self, instance: Instance) {
        self.by_resource.values_mut().for_each(|resource| resource.found = None);
        (self.instance, self.places) = (instance, 0);
    }

    /// The functions of a resource type; `None` when there is no such type.
    fn minting(&mut self, store: &mut Store<Host>, name: &str) -> wasmtime::Result<Option<HandleFunctions>> {
        let Some(resource) = self.by_resource.get_mut(name) else { return Ok(None) };
        if resource.found.is_none() {
            let make = self.instance.get_typed_func(&mut *store, &resource.make)?;
            let drop = self.instance.get_typed_func(&mut *store, &resource.drop)?;
            resource.found = Some(HandleFunctions { make, drop });
        }
        Ok(resource.found)
    }

    /// The functions of some resource type; `None` when there is none.
    fn any_minting(&mut self, store: &mut Store<Host>) -> wasmtime::Result<Option<HandleFunctions>> {
        match self.by_resource.keys().next().cloned() {
            Some(name) => self.minting(store, &name),
            None => Ok(None),
        }
    }

    /// Notes how large `table` has become. Call it before the world gets another table.
    pub(crate) fn seen(&mut self, table: &HandleTable) {
        self.places = self.places.max(table.places());
    }

    /// Whether the guest's table is as the model of it says: the next place that it gives.
    pub(crate) fn agree(&mut self, store: &mut Store<Host>) -> wasmtime::Result<bool> {
        let table = &store.data().run.world.node(store.data().node).table;
        self.places = self.places.max(table.places());
        let expected = table.next_place() + 1;
        let Some(minting) = self.any_minting(store)? else { return Ok(true) };
        store.data_mut().rebuilding = true;
        let (found,) = minting.make.call(&mut *store, (FILLER,))?;
        minting.drop.call(&mut *store, (found,))?;
        store.data_mut().rebuilding = false;
        // A place beyond all that were there is there from now on.
        self.places = self.places.max(found as usize);
        Ok(found as usize == expected)
    }

    /// Changes the guest's table from the state of the model `now` to that of the model `target`. `false` when the
    /// table did not agree with its model: then it must not be used any more.
    pub(crate) fn rebuild(
        &mut self,
        store: &mut Store<Host>,
        now: &HandleTable,
        target: &HandleTable,
    ) -> wasmtime::Result<bool> {
        self.seen(now);
        if now.same_places(target, resource_of) {
            return Ok(true);
        }
        let Some(filler) = self.any_minting(store)? else { return Ok(false) };
        store.data_mut().rebuilding = true;
        // Free places, the one given next at the end: first those beyond the model's table, then the model's.
        let mut free: Vec<u32> = (now.places() as u32 + 1..=self.places as u32).rev().collect();
        free.extend(now.free().iter().map(|place| place + 1));
        for (place, handle) in now.open() {
            let Some(minting) = self.minting(store, resource_of(handle))? else { return Ok(false) };
            minting.drop.call(&mut *store, (place + 1,))?;
            free.push(place + 1);
        }
        self.places = self.places.max(target.places());
        let fresh = free.len() as u32 + 1..=self.places as u32;
        for index in free.into_iter().rev().chain(fresh) {
            let open = target.get(index - 1).ok();
            let minting = match open {
                Some(handle) => self.minting(store, resource_of(handle))?,
                None => Some(filler),
            };
            let Some(minting) = minting else { return Ok(false) };
            let (found,) = minting.make.call(&mut *store, (if open.is_some() { index - 1 } else { FILLER },))?;
            if found != index {
                return Ok(false);
            }
        }
        let beyond = (target.places() as u32 + 1..=self.places as u32).rev();
        for index in beyond.chain(target.free().iter().map(|place| place + 1)) {
            filler.drop.call(&mut *store, (index,))?;
        }
        store.data_mut().rebuilding = false;
        Ok(true)
    }
}
