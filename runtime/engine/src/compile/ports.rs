//! What a component imports and exports, with types as WIT writes them.
//!
//! ```text
//! wasi:clocks/monotonic-clock@0.2.12     now: func() -> instant
//! ```
//!
//! Invariant: the component has been accepted by the rewriter; what its type section does not tell is left out.
//! Not here: what an import needs of the computer (`fozzy-cli`).

use wit_component::{DecodedWasm, decode};
use wit_parser::{Function, Handle, Resolve, Type, TypeDefKind, TypeId, WorldItem};

/// Deepest type that is written out; deeper ones, which no one reads, are cut with dots.
const TYPE_DEPTH_MAX: usize = 16;

/// An import or an export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// Of the interface with its version, or of the function.
    pub name: String,
    /// Whether it is an interface.
    pub interface: bool,
    /// Its functions, or itself, as WIT writes them: `read: func(len: u64) -> list<u8>`.
    pub functions: Vec<String>,
    /// Whether one of them takes nothing but bytes or text, as targets of fuzzers do.
    pub takes_bytes: bool,
}

/// Imports and exports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ports {
    /// In the order of the component.
    pub imports: Vec<Port>,
    /// In the order of the component.
    pub exports: Vec<Port>,
}

impl Ports {
    /// Of a component that the rewriter has accepted.
    ///
    /// # Errors
    /// When its types cannot be said in WIT.
    pub fn of(component: &[u8]) -> Result<Ports, String> {
        match decode(component).map_err(|error| crate::compile::load::one_line(&format!("{error:#}")))? {
            DecodedWasm::WitPackage(..) => Err("it is a WIT package and has no code".to_owned()),
            DecodedWasm::Component(resolve, world) => {
                let world = &resolve.worlds[world];
                let ports = |items: &mut dyn Iterator<Item = (String, &WorldItem)>| -> Vec<Port> {
                    items.filter_map(|(name, item)| port(&resolve, name, item)).collect()
                };
                Ok(Ports {
                    imports: ports(&mut world.imports.iter().map(|(key, item)| (resolve.name_world_key(key), item))),
                    exports: ports(&mut world.exports.iter().map(|(key, item)| (resolve.name_world_key(key), item))),
                })
            }
        }
    }
}

fn port(resolve: &Resolve, name: String, item: &WorldItem) -> Option<Port> {
    let functions: Vec<&Function> = match item {
        WorldItem::Interface { id, .. } => resolve.interfaces[*id].functions.values().collect(),
        WorldItem::Function(function) => vec![function],
        WorldItem::Type { .. } => return None,
    };
    Some(Port {
        name,
        interface: matches!(item, WorldItem::Interface { .. }),
        takes_bytes: functions.iter().any(|function| takes_bytes(resolve, function)),
        functions: functions.into_iter().map(|function| signature(resolve, function)).collect(),
    })
}

fn takes_bytes(resolve: &Resolve, function: &Function) -> bool {
    let [only] = function.params.as_slice() else { return false };
    matches!(written(resolve, &only.ty, 0).as_str(), "list<u8>" | "string")
}

fn signature(resolve: &Resolve, function: &Function) -> String {
    let params = function.params.iter().map(|param| format!("{}: {}", param.name, written(resolve, &param.ty, 0)));
    let params = params.collect::<Vec<_>>().join(", ");
    let result = function.result.as_ref().map(|result| format!(" -> {}", written(resolve, result, 0)));
    format!("{}: func({params}){}", function.name, result.unwrap_or_default())
}

fn written(resolve: &Resolve, ty: &Type, depth: usize) -> String {
    let name = match ty {
        Type::Id(id) => return of_id(resolve, *id, depth),
        Type::Bool => "bool",
        Type::U8 => "u8",
        Type::U16 => "u16",
        Type::U32 => "u32",
        Type::U64 => "u64",
        Type::S8 => "s8",
        Type::S16 => "s16",
        Type::S32 => "s32",
        Type::S64 => "s64",
        Type::F32 => "f32",
        Type::F64 => "f64",
        Type::Char => "char",
        Type::String => "string",
        Type::ErrorContext => "error-context",
    };
    name.to_owned()
}

fn of_id(resolve: &Resolve, id: TypeId, depth: usize) -> String {
    let definition = &resolve.types[id];
    if let Some(name) = &definition.name {
        return name.clone();
    }
    if depth >= TYPE_DEPTH_MAX {
        return "…".to_owned();
    }
    let inner = |ty: &Type| written(resolve, ty, depth + 1);
    let maybe = |ty: &Option<Type>| ty.as_ref().map_or_else(|| "_".to_owned(), inner);
    match &definition.kind {
        TypeDefKind::Option(of) => format!("option<{}>", inner(of)),
        TypeDefKind::List(of) => format!("list<{}>", inner(of)),
        TypeDefKind::FixedLengthList(of, length) => format!("list<{}, {length}>", inner(of)),
        TypeDefKind::Map(key, value) => format!("map<{}, {}>", inner(key), inner(value)),
        TypeDefKind::Tuple(tuple) => {
            format!("tuple<{}>", tuple.types.iter().map(inner).collect::<Vec<_>>().join(", "))
        }
        TypeDefKind::Result(result) => match (&result.ok, &result.err) {
            (None, None) => "result".to_owned(),
            (ok, None) => format!("result<{}>", maybe(ok)),
            (ok, err) => format!("result<{}, {}>", maybe(ok), maybe(err)),
        },
        TypeDefKind::Handle(Handle::Own(resource)) => of_id(resolve, *resource, depth + 1),
        TypeDefKind::Handle(Handle::Borrow(resource)) => format!("borrow<{}>", of_id(resolve, *resource, depth + 1)),
        TypeDefKind::Future(of) => format!("future<{}>", maybe(of)),
        TypeDefKind::Stream(of) => format!("stream<{}>", maybe(of)),
        TypeDefKind::Type(of) => inner(of),
        other => other.as_str().to_owned(),
    }
}
