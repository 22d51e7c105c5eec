//! A scenario and its target: what one imports, the other exports, and the host stands between them.
//!
//! ```text
//! scenario imports acme:kv/store@0.1.0 ─ get: func(key: string) -> option<string> ┐ equal types: linked
//! target exports   acme:kv/store@0.1.2 ─ get: func(key: string) -> option<string> ┘
//! ```
//!
//! Invariant: a function is linked only if both sides have it with the same type, and no handle is in that type.
//! Not here: what a call does (`called`), interfaces of the sandbox (`fozzy-host`).

use crate::program::Program;
use fozzy_host::Host;
use std::fmt;
use std::sync::Arc;
use wasmtime::component::types::{ComponentFunc, ComponentInstance, ComponentItem};
use wasmtime::component::{ComponentExportIndex, InstancePre, Linker, Type};

/// A program that is linked with another one.
pub(crate) struct Linked {
    pub(crate) instance: InstancePre<Host>,
    /// The functions of the other one, in the order of their places.
    pub(crate) functions: Arc<[ComponentExportIndex]>,
}

/// A scenario and its target do not fit.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// The target does not export an interface.
    #[error(
        "the scenario imports `{import}`, which neither the sandbox offers nor its target exports; the target exports {}",
        list(exports)
    )]
    Interface {
        /// As the scenario names it.
        import: String,
        /// What the target exports.
        exports: Vec<String>,
    },
    /// The target's interface has no such function.
    #[error(
        "the scenario imports `{function}` of `{interface}`, which its target does not export; of that interface it exports {}",
        list(exports)
    )]
    Function {
        /// As the scenario names it.
        interface: String,
        /// As the scenario names it.
        function: String,
        /// The functions that the target's has.
        exports: Vec<String>,
    },
    /// Both have the function, with different types.
    #[error(
        "`{function}` of `{interface}` has two types: the scenario imports {imported}, its target exports {exported}"
    )]
    Type {
        /// The interface.
        interface: String,
        /// The function.
        function: String,
        /// In the notation of WIT.
        imported: String,
        /// In the notation of WIT.
        exported: String,
    },
    /// Handles do not go from one component to the other, and neither do lists of fixed length.
    #[error(
        "`{item}` of `{interface}` is or has {what}, and only plain values go between a scenario and its target; name things by numbers or strings instead"
    )]
    Handle {
        /// The interface.
        interface: String,
        /// The function or resource.
        item: String,
        /// What it is or has.
        what: &'static str,
    },
    /// It is imported without an interface around it.
    #[error("the scenario imports `{0}` outside any interface; a target is called by functions of interfaces")]
    Bare(String),
    /// wasmtime refused it.
    #[error("linking the scenario with its target: {0}")]
    Engine(String),
}

impl LinkError {
    /// What was looked for, and what there is: for "did you mean".
    #[must_use]
    pub fn looked_for(&self) -> Option<(&str, &[String])> {
        match self {
            LinkError::Interface { import, exports } => Some((import, exports)),
            LinkError::Function { function, exports, .. } => Some((function, exports)),
            _ => None,
        }
    }
}

fn list(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    if quoted.is_empty() { "nothing".to_owned() } else { quoted.join(", ") }
}

/// Links `program` with `target`.
pub(crate) fn link(program: &Program, target: &Program) -> Result<Linked, LinkError> {
    let engine = |error: wasmtime::Error| LinkError::Engine(crate::load::one_line(&format!("{error:#}")));
    let mut linker: Linker<Host> = Linker::new(program.engine());
    fozzy_host::add_to_linker(&mut linker).map_err(engine)?;
    let mut functions = Vec::new();
    for import in program.unoffered() {
        let imported = interface(program, import)?;
        let exported = counterpart(program, target, import, &imported)?;
        for (name, function) in functions_of(program, &imported, import)? {
            let Some((export, theirs)) = &exported else { continue };
            let place = index(target, export, theirs, &name, &function, import)?;
            fozzy_host::link(&mut linker, import, &name, functions.len()).map_err(engine)?;
            functions.push(place);
        }
    }
    let instance = linker.instantiate_pre(program.compiled()).map_err(engine)?;
    Ok(Linked { instance, functions: functions.into() })
}

fn interface(program: &Program, import: &str) -> Result<ComponentInstance, LinkError> {
    let mut imports = program
        .compiled()
        .component_type()
        .imports(program.engine())
        .map(|(name, item)| (name.to_owned(), item.ty))
        .collect::<Vec<_>>();
    let place = imports.iter().position(|(name, _)| name == import).expect("it is one of the imports");
    match imports.swap_remove(place).1 {
        ComponentItem::ComponentInstance(instance) => Ok(instance),
        _ => Err(LinkError::Bare(import.to_owned())),
    }
}

/// The interface of the target, of the same name or of a version that stands for it; it may be missing where it has only
/// types.
fn counterpart(
    program: &Program,
    target: &Program,
    import: &str,
    imported: &ComponentInstance,
) -> Result<Option<(String, ComponentInstance)>, LinkError> {
    let exports: Vec<(String, ComponentItem)> = target
        .compiled()
        .component_type()
        .exports(target.engine())
        .map(|(name, item)| (name.to_owned(), item.ty))
        .collect();
    let same = exports.iter().find(|(name, _)| name == import);
    let found = same.or_else(|| exports.iter().find(|(name, _)| stands_for(name, import)));
    match found {
        Some((name, ComponentItem::ComponentInstance(instance))) => Ok(Some((name.clone(), instance.clone()))),
        _ if functions_of(program, imported, import)?.is_empty() => Ok(None),
        _ => Err(LinkError::Interface { import: import.to_owned(), exports: target.exports().collect() }),
    }
}

/// Whether a version of an interface may stand for another one, by the rules of semantic versioning.
fn stands_for(export: &str, import: &str) -> bool {
    let (Some((name, version)), Some((wanted, least))) = (export.split_once('@'), import.split_once('@')) else {
        return false;
    };
    let track = |version: &str| match version.split_once('.') {
        Some(("0", rest)) => format!("0.{}", rest.split('.').next().unwrap_or(rest)),
        _ => version.split('.').next().unwrap_or(version).to_owned(),
    };
    name == wanted && track(version) == track(least) && !version.contains('-') && !least.contains('-')
}

/// The functions of an interface that is imported.
fn functions_of(
    program: &Program,
    interface: &ComponentInstance,
    name: &str,
) -> Result<Vec<(String, ComponentFunc)>, LinkError> {
    let mut functions = Vec::new();
    for (item, kind) in interface.exports(program.engine()) {
        match kind.ty {
            ComponentItem::ComponentFunc(function) => functions.push((item.to_owned(), function)),
            ComponentItem::Resource(_) => {
                let interface = name.to_owned();
                return Err(LinkError::Handle { interface, item: item.to_owned(), what: "a resource" });
            }
            _ => {}
        }
    }
    Ok(functions)
}

/// Where the target has the function, if it is of the same type.
fn index(
    target: &Program,
    export: &str,
    theirs: &ComponentInstance,
    name: &str,
    wanted: &ComponentFunc,
    interface: &str,
) -> Result<ComponentExportIndex, LinkError> {
    let (interface, function) = (interface.to_owned(), name.to_owned());
    let types = wanted.params().map(|(_, of)| of).chain(wanted.results());
    if let Some(what) = types.into_iter().find_map(|of| handle_in(&of)) {
        return Err(LinkError::Handle { interface, item: function, what });
    }
    let exports = theirs.exports(target.engine()).filter_map(|(name, item)| match item.ty {
        ComponentItem::ComponentFunc(function) => Some((name.to_owned(), function)),
        _ => None,
    });
    let exports: Vec<(String, ComponentFunc)> = exports.collect();
    let Some((_, found)) = exports.iter().find(|(theirs, _)| theirs == name) else {
        let exports = exports.into_iter().map(|(name, _)| name).collect();
        return Err(LinkError::Function { interface, function, exports });
    };
    if !(wanted.params().eq(found.params())
        && wanted.results().eq(found.results())
        && wanted.async_() == found.async_())
    {
        let (imported, exported) = (Signature(wanted).to_string(), Signature(found).to_string());
        return Err(LinkError::Type { interface, function, imported, exported });
    }
    let instance = target.compiled().get_export_index(None, export);
    let place = instance.and_then(|instance| target.compiled().get_export_index(Some(&instance), name));
    place.ok_or_else(|| LinkError::Engine(format!("`{name}` of `{export}` is gone")))
}

/// What is in values of a type that cannot be passed on.
fn handle_in(of: &Type) -> Option<&'static str> {
    let any = |mut types: Box<dyn Iterator<Item = Type> + '_>| types.find_map(|of| handle_in(&of));
    match of {
        Type::Own(_) | Type::Borrow(_) => Some("a resource"),
        Type::Future(_) => Some("a future"),
        Type::Stream(_) => Some("a stream"),
        Type::ErrorContext => Some("an error context"),
        Type::List(of) => handle_in(&of.ty()),
        Type::FixedLengthList(_) => Some("a list of fixed length"),
        Type::Map(of) => handle_in(&of.key()).or_else(|| handle_in(&of.value())),
        Type::Option(of) => handle_in(&of.ty()),
        Type::Record(of) => any(Box::new(of.fields().map(|field| field.ty))),
        Type::Tuple(of) => any(Box::new(of.types())),
        Type::Variant(of) => any(Box::new(of.cases().filter_map(|case| case.ty))),
        Type::Result(of) => any(Box::new(of.ok().into_iter().chain(of.err()))),
        _ => None,
    }
}

/// A function's type in the notation of WIT; records and variants with what is in them, as they have no name here.
struct Signature<'a>(&'a ComponentFunc);

impl fmt::Display for Signature<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Signature(function) = self;
        let params: Vec<String> = function.params().map(|(name, of)| format!("{name}: {}", Shape(&of))).collect();
        write!(f, "`{}func({})", if function.async_() { "async " } else { "" }, params.join(", "))?;
        function.results().try_for_each(|of| write!(f, " -> {}", Shape(&of)))?;
        f.write_str("`")
    }
}

struct Shape<'a>(&'a Type);

impl fmt::Display for Shape<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let or_nothing = |of: Option<Type>| of.map_or_else(|| "_".to_owned(), |of| Shape(&of).to_string());
        match self.0 {
            Type::List(of) => write!(f, "list<{}>", Shape(&of.ty())),
            Type::FixedLengthList(of) => write!(f, "list<{}, …>", Shape(&of.ty())),
            Type::Map(of) => write!(f, "map<{}, {}>", Shape(&of.key()), Shape(&of.value())),
            Type::Option(of) => write!(f, "option<{}>", Shape(&of.ty())),
            Type::Result(of) => write!(f, "result<{}, {}>", or_nothing(of.ok()), or_nothing(of.err())),
            Type::Record(of) => {
                let fields: Vec<String> = of.fields().map(|it| format!("{}: {}", it.name, Shape(&it.ty))).collect();
                write!(f, "record {{ {} }}", fields.join(", "))
            }
            Type::Tuple(of) => {
                let types: Vec<String> = of.types().map(|of| Shape(&of).to_string()).collect();
                write!(f, "tuple<{}>", types.join(", "))
            }
            Type::Variant(of) => {
                let case = |name: &str, of: Option<Type>| match of {
                    Some(of) => format!("{name}({})", Shape(&of)),
                    None => name.to_owned(),
                };
                let cases: Vec<String> = of.cases().map(|it| case(it.name, it.ty)).collect();
                write!(f, "variant {{ {} }}", cases.join(", "))
            }
            Type::Enum(of) => write!(f, "enum {{ {} }}", of.names().collect::<Vec<_>>().join(", ")),
            Type::Flags(of) => write!(f, "flags {{ {} }}", of.names().collect::<Vec<_>>().join(", ")),
            Type::Own(_) | Type::Borrow(_) => f.write_str("a resource"),
            Type::Float32 => f.write_str("f32"),
            Type::Float64 => f.write_str("f64"),
            // The others are called in WIT as they are here.
            plain => f.write_str(&format!("{plain:?}").to_ascii_lowercase()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_stand_for_others_of_their_track() {
        for (export, import, expected) in [
            ("a:b/c@0.1.2", "a:b/c@0.1.0", true),
            ("a:b/c@0.2.0", "a:b/c@0.1.0", false),
            ("a:b/c@1.3.0", "a:b/c@1.9.2", true),
            ("a:b/c@2.0.0", "a:b/c@1.0.0", false),
            ("a:b/d@0.1.2", "a:b/c@0.1.0", false),
            ("a:b/c", "a:b/c@0.1.0", false),
            ("a:b/c@0.1.0-rc", "a:b/c@0.1.0", false),
        ] {
            assert_eq!(stands_for(export, import), expected, "{export} for {import}");
        }
    }
}
