//! A scenario and its target: what one imports, the other exports, and the host stands between them.
//!
//! ```text
//! scenario imports acme:kv/store@0.1.0 ─ get: func(key: string) -> option<string> ┐ equal types: linked
//! target exports   acme:kv/store@0.1.2 ─ get: func(key: string) -> option<string> ┘
//! ```
//!
//! A resource of the target is one of the scenario's too: `own<thing>` and `borrow<thing>` go through a table of the host.
//!
//! Invariant: a function is linked only if both sides have it with the same type, no handle but one of the target's resources
//! is in that type, and its number in histories is its own.
//! Not here: what a call does (`callee`), interfaces of the sandbox (`fozzy-host`).

use crate::compile::program::Program;
use fozzy_host::{CallerKind, Host};
use std::fmt;
use std::sync::Arc;
use wasmtime::component::types::{ComponentExtern, ComponentFunc, ComponentInstance, ComponentItem};
use wasmtime::component::{ComponentExportIndex, InstancePre, Linker, ResourceType, Type};

/// A scenario that is linked with its target.
pub(crate) struct LinkedTarget {
    pub(crate) instance: InstancePre<Host>,
    /// The target.
    pub(crate) target: Program,
    /// Its functions, in the order of their places.
    pub(crate) functions: Arc<[LinkedFunction]>,
}

/// A function of the target.
#[derive(Clone, Copy)]
pub(crate) struct LinkedFunction {
    pub(crate) place: ComponentExportIndex,
    /// Whether its type has handles.
    pub(crate) handles: bool,
}

/// Resource types, with their names.
type ResourceNames = Vec<(ResourceType, String)>;

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
    /// The target's interface has no such resource.
    #[error(
        "the scenario imports the resource `{resource}` of `{interface}`, which its target does not export; of that interface it exports {}",
        list(exports)
    )]
    Resource {
        /// As the scenario names it.
        interface: String,
        /// As the scenario names it.
        resource: String,
        /// The resources that the target's has.
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
    /// Of handles, those of the target's own resources go from one component to the other; and lists of fixed length do not.
    #[error(
        "`{item}` of `{interface}` has {what}, and only plain values and the target's own resources go between a scenario and its target; name things by numbers or strings instead"
    )]
    Handle {
        /// The interface.
        interface: String,
        /// The function.
        item: String,
        /// What it has.
        what: &'static str,
    },
    /// A function is imported outside any interface.
    #[error("the scenario imports `{0}` outside any interface; a target is called by functions of interfaces")]
    Bare(String),
    /// Two functions cannot be told apart in histories.
    #[error(
        "`{one}` and `{other}` have the same number in histories (a hash of their names); rename one of the two to link the scenario with its target"
    )]
    Number {
        /// A function that the scenario imports or the sandbox offers.
        one: String,
        /// A function that the scenario imports.
        other: String,
    },
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
            LinkError::Resource { resource, exports, .. } => Some((resource, exports)),
            _ => None,
        }
    }
}

fn list(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    if quoted.is_empty() { "nothing".to_owned() } else { quoted.join(", ") }
}

/// Links `program` with `target`.
pub(crate) fn link(program: &Program, target: &Program, caller: CallerKind) -> Result<LinkedTarget, LinkError> {
    let engine = |error: wasmtime::Error| LinkError::Engine(crate::compile::load::one_line(&format!("{error:#}")));
    let mut linker: Linker<Host> = Linker::new(program.engine());
    let offered = match caller {
        CallerKind::OfSeveral => fozzy_host::add_to_linker(&mut linker),
        CallerKind::Alone => fozzy_host::add_alone_to_linker(&mut linker),
    };
    offered.map_err(engine)?;
    let mut names = [ResourceNames::new(), exported_resources(target)];
    for import in program.unoffered() {
        names[0].extend(resources_of(program, &interface(program, import)?));
    }
    let (mut functions, mut recorded) = (Vec::new(), Vec::new());
    for import in program.unoffered() {
        let imported = interface(program, import)?;
        let Some((export, theirs)) = counterpart(program, target, import, &imported)? else { continue };
        let known: Vec<String> = resources_of(target, &theirs).map(|(_, name)| name).collect();
        for (_, resource) in resources_of(program, &imported) {
            if !known.contains(&resource) {
                return Err(LinkError::Resource { interface: import.to_owned(), resource, exports: known });
            }
            fozzy_host::link_resource(&mut linker, caller, import, &resource).map_err(engine)?;
        }
        for (name, function) in functions_of(program, &imported) {
            let found = index(target, (&export, &theirs), (import, &name, &function), &names)?;
            let define = if found.handles { fozzy_host::link_with_handles } else { fozzy_host::link };
            define(&mut linker, caller, import, &name, functions.len()).map_err(engine)?;
            functions.push(found);
            recorded.push(fozzy_host::history_name(import, &name));
        }
    }
    if let Some((one, other)) = fozzy_host::number_collision(recorded.iter().map(String::as_str)) {
        return Err(LinkError::Number { one: one.to_owned(), other: other.to_owned() });
    }
    let instance = linker.instantiate_pre(program.compiled()).map_err(engine)?;
    Ok(LinkedTarget { instance, target: target.clone(), functions: functions.into() })
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
        _ if functions_of(program, imported).is_empty() && resources_of(program, imported).next().is_none() => Ok(None),
        _ => Err(LinkError::Interface { import: import.to_owned(), exports: target.exports().collect() }),
    }
}

/// Whether a version of an interface may stand for another one, by the rules of semantic versioning.
#[must_use]
pub fn stands_for(export: &str, import: &str) -> bool {
    let (Some((name, version)), Some((wanted, least))) = (export.split_once('@'), import.split_once('@')) else {
        return false;
    };
    let track = |version: &str| match version.split_once('.') {
        Some(("0", rest)) => format!("0.{}", rest.split('.').next().unwrap_or(rest)),
        _ => version.split('.').next().unwrap_or(version).to_owned(),
    };
    name == wanted && track(version) == track(least) && !version.contains('-') && !least.contains('-')
}

/// The functions of an interface.
fn functions_of(program: &Program, interface: &ComponentInstance) -> Vec<(String, ComponentFunc)> {
    let function = |(name, item): (&str, ComponentExtern)| match item.ty {
        ComponentItem::ComponentFunc(function) => Some((name.to_owned(), function)),
        _ => None,
    };
    interface.exports(program.engine()).filter_map(function).collect()
}

/// The resources of an interface.
fn resources_of<'a>(
    program: &'a Program,
    interface: &'a ComponentInstance,
) -> impl Iterator<Item = (ResourceType, String)> + 'a {
    interface.exports(program.engine()).filter_map(|(name, item)| match item.ty {
        ComponentItem::Resource(of) => Some((of, name.to_owned())),
        _ => None,
    })
}

/// The resources of all interfaces that a component exports.
fn exported_resources(target: &Program) -> ResourceNames {
    let exports = target.compiled().component_type();
    let instances = exports.exports(target.engine()).filter_map(|(_, item)| match item.ty {
        ComponentItem::ComponentInstance(instance) => Some(instance),
        _ => None,
    });
    instances.flat_map(|instance| resources_of(target, &instance).collect::<Vec<_>>()).collect()
}

/// Where the target has the function, if it is of the same type.
fn index(
    target: &Program,
    (export, theirs): (&str, &ComponentInstance),
    (interface, name, wanted): (&str, &str, &ComponentFunc),
    [ours, names]: &[ResourceNames; 2],
) -> Result<LinkedFunction, LinkError> {
    let (interface, function) = (interface.to_owned(), name.to_owned());
    let mut handles = false;
    let types = wanted.params().map(|(_, of)| of).chain(wanted.results());
    if let Some(what) = types.into_iter().find_map(|of| handle_in(&of, ours, &mut handles)) {
        return Err(LinkError::Handle { interface, item: function, what });
    }
    let exports = functions_of(target, theirs);
    let Some((_, found)) = exports.iter().find(|(theirs, _)| theirs == name) else {
        let exports = exports.into_iter().map(|(name, _)| name).collect();
        return Err(LinkError::Function { interface, function, exports });
    };
    let (imported, exported) = (FunctionText(wanted, ours).to_string(), FunctionText(found, names).to_string());
    // Resources are equal by their names, which is all that two components have in common of them.
    let is_equal = if handles {
        imported == exported
    } else {
        wanted.params().eq(found.params()) && wanted.results().eq(found.results()) && wanted.async_() == found.async_()
    };
    if !is_equal {
        return Err(LinkError::Type { interface, function, imported, exported });
    }
    let instance = target.compiled().get_export_index(None, export);
    let place = instance.and_then(|instance| target.compiled().get_export_index(Some(&instance), name));
    let place = place.ok_or_else(|| LinkError::Engine(format!("`{name}` of `{export}` is gone")))?;
    Ok(LinkedFunction { place, handles })
}

/// The part of a type that cannot be passed on, and whether the type has handles that can.
fn handle_in(of: &Type, names: &ResourceNames, handles: &mut bool) -> Option<&'static str> {
    let mut handle_in = |of: &Type| handle_in(of, names, handles);
    let mut any = |mut types: Box<dyn Iterator<Item = Type> + '_>| types.find_map(|of| handle_in(&of));
    match of {
        Type::Own(of) | Type::Borrow(of) if names.iter().any(|(known, _)| known == of) => {
            *handles = true;
            None
        }
        Type::Own(_) | Type::Borrow(_) => Some("a resource of the sandbox"),
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
struct FunctionText<'a>(&'a ComponentFunc, &'a ResourceNames);

impl fmt::Display for FunctionText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FunctionText(function, names) = self;
        let params: Vec<String> =
            function.params().map(|(name, of)| format!("{name}: {}", TypeText(&of, names))).collect();
        write!(f, "`{}func({})", if function.async_() { "async " } else { "" }, params.join(", "))?;
        function.results().try_for_each(|of| write!(f, " -> {}", TypeText(&of, names)))?;
        f.write_str("`")
    }
}

struct TypeText<'a>(&'a Type, &'a ResourceNames);

impl fmt::Display for TypeText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TypeText(of, names) = self;
        let shape = |of: &Type| TypeText(of, names).to_string();
        let or_nothing = |of: Option<Type>| of.map_or_else(|| "_".to_owned(), |of| shape(&of));
        let name = |of: &ResourceType| {
            names.iter().find(|(known, _)| known == of).map_or("a resource", |(_, name)| name.as_str())
        };
        match of {
            Type::List(of) => write!(f, "list<{}>", shape(&of.ty())),
            Type::FixedLengthList(of) => write!(f, "list<{}, …>", shape(&of.ty())),
            Type::Map(of) => write!(f, "map<{}, {}>", shape(&of.key()), shape(&of.value())),
            Type::Option(of) => write!(f, "option<{}>", shape(&of.ty())),
            Type::Result(of) => write!(f, "result<{}, {}>", or_nothing(of.ok()), or_nothing(of.err())),
            Type::Record(of) => {
                let fields: Vec<String> = of.fields().map(|it| format!("{}: {}", it.name, shape(&it.ty))).collect();
                write!(f, "record {{ {} }}", fields.join(", "))
            }
            Type::Tuple(of) => {
                let types: Vec<String> = of.types().map(|of| shape(&of)).collect();
                write!(f, "tuple<{}>", types.join(", "))
            }
            Type::Variant(of) => {
                let case = |name: &str, of: Option<Type>| match of {
                    Some(of) => format!("{name}({})", shape(&of)),
                    None => name.to_owned(),
                };
                let cases: Vec<String> = of.cases().map(|it| case(it.name, it.ty)).collect();
                write!(f, "variant {{ {} }}", cases.join(", "))
            }
            Type::Enum(of) => write!(f, "enum {{ {} }}", of.names().collect::<Vec<_>>().join(", ")),
            Type::Flags(of) => write!(f, "flags {{ {} }}", of.names().collect::<Vec<_>>().join(", ")),
            Type::Own(of) => f.write_str(name(of)),
            Type::Borrow(of) => write!(f, "borrow<{}>", name(of)),
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
