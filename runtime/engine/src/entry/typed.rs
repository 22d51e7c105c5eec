//! Exported functions by their types: what there is, values for their arguments, and these as text.
//!
//! ```text
//! ns:pkg/iface@1.0.0#parse: func(text: string, strict: bool)
//!      draw ─▶ [String("a,b"), Bool(true)]        written ─▶ ("a,b", true)
//! ```
//!
//! The first answer of every question is the simplest value: an empty list, `none`, zero, the first case. Numbers take
//! their bytes as they stand in memory, and texts theirs, so that whatever a program compares them with can be put there.
//!
//! A text or list of bytes that is the last argument is all that is left of an input.
//!
//! Invariant: every answer gives a value of the type; what is asked depends on the types and on earlier answers alone.
//! Not here: who answers (`fozzy-trace`), how values are written (`wave`).

use crate::compile::program::Program;
use fozzy_host::{DrawSource, wave};
use wasmtime::component::types::{ComponentFunc, ComponentItem};
use wasmtime::component::{ComponentExportIndex, Type, Val};

/// Bytes of a text or a list of bytes that is drawn.
const BYTES_MAX: u64 = 4096;
/// Elements of any other list that is drawn.
const ELEMENTS_MAX: u64 = 255;
/// Values inside of each other: types can be nested deeply by a hostile component.
const DEPTH_MAX: usize = 64;
/// Values of all arguments together. What comes after is as simple as it can be.
const VALUES_MAX: usize = 1 << 16;
/// The site of questions for how long something is, by which a source can tell them.
const LENGTH: &str = "length";
/// The site of that question for what is drawn last: it may be as long as an input.
const REST: &str = "rest";
/// Bytes of what is drawn last.
const REST_BYTES_MAX: u64 = 1 << 20;

/// A function whose arguments can be drawn.
pub(crate) struct TypedExport {
    /// Its full name.
    pub(crate) name: String,
    pub(crate) export: ComponentExportIndex,
    params: Vec<Type>,
    /// How many values it returns.
    pub(crate) results: usize,
}

/// The functions of a program: their full names.
pub(crate) fn functions(program: &Program) -> Vec<String> {
    all(program).into_iter().map(|(name, _)| name).collect()
}

fn all(program: &Program) -> Vec<(String, ComponentFunc)> {
    let ty = program.compiled().component_type();
    let mut found = Vec::new();
    for (name, item) in ty.exports(program.engine()) {
        match item.ty {
            ComponentItem::ComponentFunc(function) => found.push((name.to_owned(), function)),
            ComponentItem::ComponentInstance(instance) => {
                for (inner, item) in instance.exports(program.engine()) {
                    if let ComponentItem::ComponentFunc(function) = item.ty {
                        found.push((format!("{name}#{inner}"), function));
                    }
                }
            }
            _ => {}
        }
    }
    found.retain(|(name, _)| !name.starts_with("fozzy-"));
    found
}

/// Whether `name` is what the user calls the function `full`: with or without the version of its interface.
pub(crate) fn is_called(full: &str, name: &str) -> bool {
    let unversioned = |word: &str| match word.split_once('#') {
        Some((interface, function)) => {
            format!("{}#{function}", interface.split_once('@').map_or(interface, |(interface, _)| interface))
        }
        None => word.to_owned(),
    };
    full == name || unversioned(full) == name
}

/// Whether `name` is the end of `full`: the function alone, or behind its interface without the package.
pub(crate) fn is_short_for(name: &str, full: &str) -> bool {
    let Some((interface, function)) = full.split_once('#') else { return false };
    let interface = interface.split_once('@').map_or(interface, |(interface, _)| interface);
    let interface = interface.rsplit_once('/').map_or(interface, |(_, interface)| interface);
    name == function || name.split_once('#') == Some((interface, function))
}

impl TypedExport {
    /// The function of that name; the error is one sentence.
    pub(crate) fn find(program: &Program, name: &str) -> Result<TypedExport, String> {
        TypedExport::find_for(program, name, "cannot be drawn")
    }

    /// The same for values that are given as text.
    pub(crate) fn find_written(program: &Program, name: &str) -> Result<(TypedExport, ComponentFunc), String> {
        let found = TypedExport::find_for(program, name, "cannot be written")?;
        let function = all(program).into_iter().find(|(full, _)| *full == found.name).map(|(_, function)| function);
        let function = function.ok_or_else(|| format!("the export `{}` is gone", found.name))?;
        let unwritable = function.results().find_map(|ty| refused(&ty, 0));
        match unwritable {
            Some(what) => Err(format!("what `{}` gives back is or has {what}, which cannot be written", found.name)),
            None => Ok((found, function)),
        }
    }

    /// The types of its parameters.
    pub(crate) fn params(&self) -> &[Type] {
        &self.params
    }

    fn find_for(program: &Program, name: &str, cannot: &str) -> Result<TypedExport, String> {
        let all = all(program);
        let Some((full, function)) = all.iter().find(|(full, _)| is_called(full, name)) else {
            let names: Vec<String> = all.iter().map(|(name, _)| format!("`{name}`")).collect();
            let found = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            return Err(format!(
                "it exports no function `{}`; the functions that it exports: {found}",
                name.escape_debug()
            ));
        };
        if function.async_() {
            return Err(format!("`{full}` is an async function, which cannot be called yet"));
        }
        let mut params = Vec::new();
        for (param, ty) in function.params() {
            if let Some(what) = refused(&ty, 0) {
                return Err(format!("the parameter `{param}` of `{full}` is or has {what}, which {cannot}"));
            }
            params.push(ty);
        }
        let compiled = program.compiled();
        let export = match full.split_once('#') {
            Some((interface, function)) => compiled
                .get_export_index(None, interface)
                .and_then(|interface| compiled.get_export_index(Some(&interface), function)),
            None => compiled.get_export_index(None, full),
        };
        let export = export.ok_or_else(|| format!("the export `{full}` is gone"))?;
        Ok(TypedExport { name: full.clone(), export, params, results: function.results().len() })
    }

    /// Its arguments, and what they look like.
    pub(crate) fn draw(&self, draws: &mut dyn DrawSource) -> (Vec<Val>, String) {
        let mut drawing = ArgumentGenerator { draws, values: 0, is_last: false };
        let mut arguments = Vec::with_capacity(self.params.len());
        for (place, ty) in self.params.iter().enumerate() {
            drawing.is_last = place + 1 == self.params.len() && takes_bytes(ty);
            arguments.push(drawing.value(ty));
        }
        let text = wave::arguments(&arguments);
        (arguments, text)
    }
}

/// The part of a type for which no value can be drawn.
fn refused(ty: &Type, depth: usize) -> Option<&'static str> {
    if depth > DEPTH_MAX {
        return Some("a type that is nested too deeply");
    }
    let of = |ty: Type| refused(&ty, depth + 1);
    match ty {
        Type::Own(_) | Type::Borrow(_) => Some("a resource"),
        Type::Future(_) => Some("a future"),
        Type::Stream(_) => Some("a stream"),
        Type::ErrorContext => Some("an error context"),
        Type::List(list) => of(list.ty()),
        Type::FixedLengthList(list) => of(list.ty()),
        Type::Map(map) => of(map.key()).or_else(|| of(map.value())),
        Type::Option(option) => of(option.ty()),
        Type::Record(record) => record.fields().find_map(|field| of(field.ty)),
        Type::Tuple(tuple) => tuple.types().find_map(of),
        Type::Variant(variant) => variant.cases().filter_map(|case| case.ty).find_map(of),
        Type::Result(result) => result.ok().into_iter().chain(result.err()).find_map(of),
        _ => None,
    }
}

fn takes_bytes(ty: &Type) -> bool {
    match ty {
        Type::String => true,
        Type::List(list) => list.ty() == Type::U8,
        _ => false,
    }
}

struct ArgumentGenerator<'a> {
    draws: &'a mut dyn DrawSource,
    values: usize,
    /// Whether a text or a list of bytes is all that is left to be drawn.
    is_last: bool,
}

impl ArgumentGenerator<'_> {
    fn below(&mut self, site: &str, bound: u64) -> u64 {
        // Nothing to decide, or too much decided already.
        if bound <= 1 || self.values > VALUES_MAX { 0 } else { self.draws.below(site, bound) }
    }

    fn array<const N: usize>(&mut self, site: &str) -> [u8; N] {
        let mut bytes = [0; N];
        if self.values <= VALUES_MAX {
            self.draws.fill(site, &mut bytes);
        }
        bytes
    }

    fn bytes(&mut self) -> Vec<u8> {
        let (site, most) = if self.is_last { (REST, REST_BYTES_MAX) } else { (LENGTH, BYTES_MAX) };
        let mut bytes = vec![0; self.below(site, most + 1) as usize];
        if !bytes.is_empty() {
            self.draws.fill("bytes", &mut bytes);
        }
        bytes
    }

    /// Any Unicode scalar value: those after the surrogates come from higher numbers.
    fn char(&mut self) -> char {
        let surrogates = 0xD800..0xE000;
        let number = self.below("char", 0x11_0000 - 0x800) as u32;
        let number = if number < surrogates.start { number } else { number + 0x800 };
        char::from_u32(number).unwrap_or_default()
    }

    fn some(&mut self, ty: Option<Type>) -> Option<Box<Val>> {
        ty.map(|ty| Box::new(self.value(&ty)))
    }

    fn value(&mut self, ty: &Type) -> Val {
        self.values += 1;
        match ty {
            Type::Bool => Val::Bool(self.below("bool", 2) == 1),
            Type::U8 => Val::U8(u8::from_le_bytes(self.array("u8"))),
            Type::S8 => Val::S8(i8::from_le_bytes(self.array("s8"))),
            Type::U16 => Val::U16(u16::from_le_bytes(self.array("u16"))),
            Type::S16 => Val::S16(i16::from_le_bytes(self.array("s16"))),
            Type::U32 => Val::U32(u32::from_le_bytes(self.array("u32"))),
            Type::S32 => Val::S32(i32::from_le_bytes(self.array("s32"))),
            Type::U64 => Val::U64(u64::from_le_bytes(self.array("u64"))),
            Type::S64 => Val::S64(i64::from_le_bytes(self.array("s64"))),
            Type::Float32 => Val::Float32(f32::from_le_bytes(self.array("f32"))),
            Type::Float64 => Val::Float64(f64::from_le_bytes(self.array("f64"))),
            Type::Char => Val::Char(self.char()),
            Type::String => Val::String(String::from_utf8_lossy(&self.bytes()).into_owned()),
            Type::List(list) => match list.ty() {
                Type::U8 => Val::List(self.bytes().into_iter().map(Val::U8).collect()),
                element => {
                    let length = self.below(LENGTH, ELEMENTS_MAX + 1);
                    Val::List((0..length).map(|_| self.value(&element)).collect())
                }
            },
            Type::FixedLengthList(list) => {
                let (element, length) = (list.ty(), (list.len() as usize).min(VALUES_MAX));
                Val::FixedLengthList((0..length).map(|_| self.value(&element)).collect())
            }
            Type::Map(map) => {
                let (key, value) = (map.key(), map.value());
                let length = self.below(LENGTH, ELEMENTS_MAX + 1);
                Val::Map((0..length).map(|_| (self.value(&key), self.value(&value))).collect())
            }
            Type::Record(record) => {
                Val::Record(record.fields().map(|field| (field.name.to_owned(), self.value(&field.ty))).collect())
            }
            Type::Tuple(tuple) => Val::Tuple(tuple.types().map(|ty| self.value(&ty)).collect()),
            Type::Variant(variant) => {
                let chosen = self.below("case", variant.cases().len() as u64);
                let case = variant.cases().nth(chosen as usize).expect("it is below their number");
                Val::Variant(case.name.to_owned(), self.some(case.ty))
            }
            Type::Enum(names) => {
                let chosen = self.below("case", names.names().len() as u64);
                Val::Enum(names.names().nth(chosen as usize).unwrap_or_default().to_owned())
            }
            Type::Option(option) => match self.below("some", 2) {
                0 => Val::Option(None),
                _ => Val::Option(self.some(Some(option.ty()))),
            },
            Type::Result(result) => match self.below("err", 2) {
                0 => Val::Result(Ok(self.some(result.ok()))),
                _ => Val::Result(Err(self.some(result.err()))),
            },
            Type::Flags(flags) => {
                let mut set = Vec::new();
                for name in flags.names() {
                    if self.below("flag", 2) == 1 {
                        set.push(name.to_owned());
                    }
                }
                Val::Flags(set)
            }
            Type::Own(_) | Type::Borrow(_) | Type::Future(_) | Type::Stream(_) | Type::ErrorContext => {
                unreachable!("a function with such a parameter is refused")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_may_be_left_out() {
        assert!(is_called("a:b/c@1.2.3#d", "a:b/c#d") && is_called("a:b/c@1.2.3#d", "a:b/c@1.2.3#d"));
        assert!(is_called("d", "d") && is_called("a:b/c#d", "a:b/c#d"));
        assert!(!is_called("a:b/c@1.2.3#d", "a:b/c@1.0.0#d") && !is_called("a:b/c#d", "d"));
        assert!(is_short_for("d", "a:b/c@1.2.3#d") && is_short_for("c#d", "a:b/c@1.2.3#d") && is_short_for("d", "c#d"));
        assert!(!is_short_for("d", "d") && !is_short_for("b#d", "a:b/c#d") && !is_short_for("", "a:b/c#d"));
    }
}
