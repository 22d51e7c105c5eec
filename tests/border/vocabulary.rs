//! Every function that the host offers, as a core module calls it, read from the vendored WIT.
//!
//! ```text
//! wit/world.wit ─▶ `wasi:io/poll@0.2.12` `poll` (i32, i32, i32)        and the drop of every resource
//! ```
//!
//! Invariant: what the world imports is here; an interface that is added to it is fuzzed from then on.

use std::path::Path;
use wit_parser::abi::{AbiVariant, FlatTypes, WasmSignature, WasmType};
use wit_parser::{Function, Handle, Resolve, SizeAlign, Type, TypeDefKind, TypeId, WorldId, WorldItem};

/// The world of the guest: all that the host offers, and one export to run.
const WORLD: &str = "
    package fozzy:border;
    world guest { include fozzy:runtime/computer@0.1.0; export wasi:cli/run@0.2.12; }";

/// What can be called.
pub(super) struct Vocabulary {
    pub(super) resolve: Resolve,
    pub(super) world: WorldId,
    pub(super) sizes: SizeAlign,
    /// In the order of the world, so that the numbers in a program mean the same each time.
    pub(super) calls: Vec<Call>,
    /// The resources; their positions are the classes of handles in a program.
    resources: Vec<TypeId>,
}

/// One import of the core module.
pub(super) struct Call {
    /// The interface with its version.
    pub(super) module: String,
    /// `poll`, `[method]pollable.block`, `[resource-drop]pollable`.
    pub(super) field: String,
    pub(super) signature: WasmSignature,
    pub(super) what: What,
}

/// What is behind an import.
pub(super) enum What {
    Function(Box<Function>),
    /// The drop of a resource, by its class.
    Drop(u16),
}

impl Call {
    /// The name in a history: `wasi:io/poll.pollable.block`; `wasi:io/poll.pollable.drop`, which no history has.
    pub(super) fn name(&self) -> String {
        let interface = self.module.split('@').next().unwrap_or_default();
        let end = if matches!(self.what, What::Drop(_)) { ".drop" } else { "" };
        format!("{interface}.{}{end}", self.field.rsplit(']').next().unwrap_or_default())
    }
}

impl Vocabulary {
    pub(super) fn new() -> Vocabulary {
        let mut resolve = Resolve::default();
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../wit");
        resolve.push_dir(&folder).unwrap_or_else(|error| panic!("{}: {error:#}", folder.display()));
        let package = resolve.push_str("border.wit", WORLD).expect("a constant over the vendored WIT");
        let world = resolve.select_world(&[package], None).expect("it has one world");
        let mut sizes = SizeAlign::default();
        sizes.fill(&resolve);
        let mut vocabulary = Vocabulary { resolve, world, sizes, calls: Vec::new(), resources: Vec::new() };
        vocabulary.fill();
        vocabulary
    }

    fn fill(&mut self) {
        let imports = self.resolve.worlds[self.world].imports.clone();
        for (key, item) in &imports {
            let WorldItem::Interface { id, .. } = item else { continue };
            let module = self.resolve.name_world_key(key);
            if module.starts_with("fozzy:preview1/") {
                // What imports of preview 1 become has addresses for arguments; `conformance/preview1.rs` calls each with all kinds.
                continue;
            }
            let interface = self.resolve.interfaces[*id].clone();
            for (name, ty) in &interface.types {
                if matches!(self.resolve.types[*ty].kind, TypeDefKind::Resource) {
                    let class = self.class(*ty);
                    let params = vec![WasmType::I32];
                    let signature =
                        WasmSignature { params, results: Vec::new(), indirect_params: false, retptr: false };
                    let (module, field) = (module.clone(), format!("[resource-drop]{name}"));
                    self.calls.push(Call { module, field, signature, what: What::Drop(class) });
                }
            }
            for (field, function) in &interface.functions {
                let signature = self.resolve.wasm_signature(AbiVariant::GuestImport, function);
                let what = What::Function(Box::new(function.clone()));
                self.calls.push(Call { module: module.clone(), field: field.clone(), signature, what });
            }
        }
        let functions: Vec<Function> = self.functions().map(|(_, function)| function.clone()).collect();
        for function in &functions {
            for ty in function.params.iter().map(|param| param.ty).chain(function.result) {
                self.meet(ty);
            }
        }
    }

    /// Gives a class to each resource that the type mentions.
    fn meet(&mut self, ty: Type) {
        if let Type::Id(id) = ty
            && let TypeDefKind::Handle(Handle::Own(resource) | Handle::Borrow(resource)) = self.resolve.types[id].kind
        {
            let _ = self.class(resource);
        }
    }

    /// The functions, with their positions.
    pub(super) fn functions(&self) -> impl Iterator<Item = (u16, &Function)> {
        self.calls.iter().enumerate().filter_map(|(index, call)| match &call.what {
            What::Function(function) => Some((index as u16, &**function)),
            What::Drop(_) => None,
        })
    }

    /// The class of a resource, whatever name it is used under.
    fn class(&mut self, resource: TypeId) -> u16 {
        let origin = self.origin(resource);
        let found = self.resources.iter().position(|known| *known == origin);
        found.unwrap_or_else(|| {
            self.resources.push(origin);
            self.resources.len() - 1
        }) as u16
    }

    /// The class of a resource that is known; a resource of an interface that nothing hands out has none.
    pub(super) fn class_of(&self, resource: TypeId) -> Option<u16> {
        let origin = self.origin(resource);
        self.resources.iter().position(|known| *known == origin).map(|class| class as u16)
    }

    fn origin(&self, mut resource: TypeId) -> TypeId {
        while let TypeDefKind::Type(Type::Id(next)) = self.resolve.types[resource].kind {
            resource = next;
        }
        resource
    }

    /// How many core values stand for the type.
    pub(super) fn flat_count(&self, ty: &Type) -> usize {
        let mut storage = [WasmType::I32; 64];
        let mut flat = FlatTypes::new(&mut storage);
        assert!(self.resolve.push_flat(ty, &mut flat), "no type of WASI is that wide");
        flat.to_vec().len()
    }
}
