//! Which functions, inlined copies and blocks a place is in, and which variables are visible there.
//!
//! ```text
//! DW_TAG_subprogram pay [0x40, 0x90)        parameters, variables        ─┐
//!   DW_TAG_lexical_block [0x48, 0x80)       variables                     ├─► FunctionScope "shop::pay"
//!   DW_TAG_inlined_subroutine [0x50, 0x60)  parameters of `sum`          ───► FunctionScope "shop::sum", the innermost
//! statics of the unit                                                    ───► DebugInfo::statics
//! ```

use super::module::{
    CodePlace, DebugInfo, DebugModule, DebugSections, DebugUnit, Entry, EntryId, ScopeEntry, ScopeKind, UnitIndex,
};
use gimli::AttributeValue;

/// Most entries and attributes of a unit that are looked at. A unit of a million lines has fewer.
const WORK_MAX: usize = 1 << 25;
/// Most scopes around one place.
const DEPTH_MAX: usize = 256;
/// Most variables of one scope.
const VARIABLES_MAX: usize = 4096;

/// What a debugger shows as one frame: a function, or a copy of one inlined into another.
#[derive(Clone, Debug)]
pub struct FunctionScope {
    /// The function's path.
    pub function: String,
    /// Its variables, those of inner blocks first, so that the first of a name is the one that the source means.
    pub variables: Vec<ScopeVariable>,
}

/// What a variable is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VariableKind {
    /// A parameter of the function.
    Parameter,
    /// Declared in the function or a block of it.
    Local,
    /// In memory for as long as the program runs.
    Static,
}

/// A variable that is visible at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScopeVariable {
    /// Its name; of a static with the modules around it.
    pub name: String,
    /// What it is.
    pub kind: VariableKind,
    pub(super) entry: EntryId,
    pub(super) place: CodePlace,
}

impl DebugInfo {
    /// The functions that a place is in, innermost first; more than one where code was inlined. Empty without debug
    /// information.
    #[must_use]
    pub fn scopes(&self, place: CodePlace) -> Vec<FunctionScope> {
        self.module(place.module).and_then(|module| module.scopes(place)).unwrap_or_default()
    }

    /// The statics of the unit that a place is in.
    #[must_use]
    pub fn statics(&self, place: CodePlace) -> Vec<ScopeVariable> {
        let statics = || {
            let module = self.module(place.module)?;
            let loaded = module.loaded()?;
            let unit = module.unit_at(loaded, module.address(place.offset)?)?;
            Some(module.statics_of(loaded, unit, place))
        };
        statics().unwrap_or_default()
    }

    /// A static of the place's module by its path, or the end of it.
    pub(super) fn static_by_name(&self, place: CodePlace, name: &str) -> Option<ScopeVariable> {
        let of_unit = self.statics(place).into_iter().find(|own| names_static(&own.name, name));
        of_unit.or_else(|| {
            let module = self.module(place.module)?;
            let loaded = module.loaded()?;
            let mut all = loaded.units.iter().flat_map(|unit| module.statics_of(loaded, unit, place));
            all.find(|own| names_static(&own.name, name))
        })
    }
}

fn names_static(own: &str, asked: &str) -> bool {
    own == asked || own.strip_suffix(asked).is_some_and(|before| before.ends_with("::"))
}

impl DebugModule {
    fn scopes(&self, place: CodePlace) -> Option<Vec<FunctionScope>> {
        let loaded = self.loaded()?;
        let address = self.address(place.offset)?;
        let unit = self.unit_at(loaded, address)?;
        let mut scopes: Vec<FunctionScope> = Vec::new();
        for scope in loaded.index(unit).around(address) {
            let mut variables = self.variables_of(loaded, scope.entry, place);
            if scope.kind == ScopeKind::Block {
                if let Some(outer) = scopes.last_mut() {
                    variables.append(&mut outer.variables);
                    outer.variables = variables;
                }
                continue;
            }
            let function = loaded.function_name(scope.origin.unwrap_or(scope.entry));
            scopes.push(FunctionScope { function: function.unwrap_or_default(), variables });
        }
        scopes.reverse();
        Some(scopes)
    }

    /// The variables that stand directly in a function or block; the last one of a name first, since it hides the others.
    fn variables_of(&self, loaded: &DebugSections, offset: usize, place: CodePlace) -> Vec<ScopeVariable> {
        let mut found = Vec::new();
        let Some((unit, position)) = loaded.locate(offset) else { return found };
        let Ok(mut tree) = unit.unit.entries_tree(Some(position)) else { return found };
        let Ok(root) = tree.root() else { return found };
        let mut children = root.children();
        let mut left = WORK_MAX;
        while found.len() < VARIABLES_MAX
            && left > 0
            && let Ok(Some(child)) = children.next()
        {
            let entry = child.entry();
            left = left.saturating_sub(1 + entry.attrs().len());
            let kind = match entry.tag() {
                gimli::DW_TAG_formal_parameter => VariableKind::Parameter,
                gimli::DW_TAG_variable => VariableKind::Local,
                _ => continue,
            };
            let offset = unit.position(entry);
            let name = loaded.inherited(offset, |unit, entry| loaded.text(unit, entry, gimli::DW_AT_name));
            let Some(name) = name else { continue };
            let entry = EntryId { module: self.ordinal, offset };
            found.push(ScopeVariable { name, kind, entry, place });
        }
        // Parameters stay in their order; of variables, later ones hide earlier ones of the same name.
        let split = found.iter().filter(|variable| variable.kind == VariableKind::Parameter).count();
        found.sort_by_key(|variable| variable.kind != VariableKind::Parameter);
        let locals = found.split_off(split);
        let mut ordered = locals;
        hide_earlier(&mut ordered);
        ordered.extend(found);
        ordered
    }

    fn statics_of(&self, loaded: &DebugSections, unit: &DebugUnit, place: CodePlace) -> Vec<ScopeVariable> {
        let statics = loaded.index(unit).statics.iter();
        let variable = |(name, offset): &(String, usize)| ScopeVariable {
            name: name.clone(),
            kind: VariableKind::Static,
            entry: EntryId { module: self.ordinal, offset: *offset },
            place,
        };
        statics.map(variable).collect()
    }

    /// The unit whose functions have an address.
    fn unit_at<'a>(&self, loaded: &'a DebugSections, address: u32) -> Option<&'a DebugUnit> {
        loaded.units_at(address).find(|unit| loaded.index(unit).has(address))
    }

    /// The innermost function or inlined copy at an address; zero of none.
    pub(super) fn innermost_function(&self, address: u32) -> usize {
        let found = || {
            let loaded = self.loaded()?;
            let unit = self.unit_at(loaded, address)?;
            let around = loaded.index(unit).around(address);
            around.iter().rfind(|scope| scope.kind != ScopeKind::Block).map(|scope| scope.entry)
        };
        found().unwrap_or(0)
    }
}

/// Takes out variables that another of the same name, further behind in the same block, hides.
fn hide_earlier(variables: &mut Vec<ScopeVariable>) {
    let mut kept: Vec<ScopeVariable> = Vec::new();
    for variable in variables.drain(..).rev() {
        if kept.iter().all(|later| later.name != variable.name) {
            kept.push(variable);
        }
    }
    kept.reverse();
    *variables = kept;
}

impl DebugSections {
    pub(super) fn index<'a>(&self, unit: &'a DebugUnit) -> &'a UnitIndex {
        unit.index.get_or_init(|| UnitIndex::new(self, unit))
    }
}

impl UnitIndex {
    fn new(loaded: &DebugSections, unit: &DebugUnit) -> UnitIndex {
        let mut index = UnitIndex::default();
        // Names around the entry that is looked at, and scopes whose children are read, each with its depth.
        let mut path: Vec<(isize, String)> = Vec::new();
        let mut open: Vec<(isize, usize)> = Vec::new();
        let mut left = WORK_MAX;
        let mut entries = unit.unit.entries();
        while left > 0
            && let Ok(Some(entry)) = entries.next_dfs()
        {
            left = left.saturating_sub(1 + entry.attrs().len());
            let depth = entry.depth();
            path.retain(|(outer, _)| *outer < depth);
            while let Some(&(outer, scope)) = open.last()
                && outer >= depth
            {
                index.scopes[scope].end = index.scopes.len();
                open.pop();
            }
            let kind = match entry.tag() {
                gimli::DW_TAG_subprogram => ScopeKind::Function,
                gimli::DW_TAG_inlined_subroutine => ScopeKind::Inlined,
                gimli::DW_TAG_lexical_block => ScopeKind::Block,
                gimli::DW_TAG_variable if has_address(unit, entry) => {
                    index.add_static(loaded, unit, entry, &path);
                    continue;
                }
                gimli::DW_TAG_namespace | gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type => {
                    let name = loaded.text(unit, entry, gimli::DW_AT_name);
                    path.extend(name.map(|name| (depth, name)));
                    continue;
                }
                _ => continue,
            };
            let ranges = loaded.ranges(unit, entry);
            if ranges.is_empty() || open.len() == DEPTH_MAX {
                continue;
            }
            let origin = (kind == ScopeKind::Inlined)
                .then(|| loaded.reference(unit, entry, gimli::DW_AT_abstract_origin))
                .flatten();
            open.push((depth, index.scopes.len()));
            index.scopes.push(ScopeEntry { entry: unit.position(entry), kind, ranges, origin, end: 0 });
        }
        let end = index.scopes.len();
        for (_, scope) in open {
            index.scopes[scope].end = end;
        }
        index
    }

    fn add_static(&mut self, loaded: &DebugSections, unit: &DebugUnit, entry: &Entry, path: &[(isize, String)]) {
        let offset = unit.position(entry);
        let Some(own) = loaded.inherited(offset, |unit, entry| loaded.text(unit, entry, gimli::DW_AT_name)) else {
            return;
        };
        if own.ends_with("{vtable}") {
            return;
        }
        let names = path.iter().map(|(_, name)| name.as_str()).chain([own.as_str()]);
        self.statics.push((names.collect::<Vec<_>>().join("::"), offset));
    }

    fn has(&self, address: u32) -> bool {
        self.scopes.iter().any(|scope| scope.kind == ScopeKind::Function && scope.has(address))
    }

    /// The scopes around an address, outermost first.
    fn around(&self, address: u32) -> Vec<&ScopeEntry> {
        let mut found = Vec::new();
        let (mut position, mut end) = (0, self.scopes.len());
        while position < end {
            let scope = &self.scopes[position];
            if scope.has(address) {
                found.push(scope);
                end = scope.end.min(end);
                position += 1;
            } else {
                position = scope.end.max(position + 1);
            }
        }
        found
    }
}

impl ScopeEntry {
    fn has(&self, address: u32) -> bool {
        self.ranges.iter().any(|range| range.contains(&address))
    }
}

/// Whether a variable stands at a fixed address. In code that can be moved, it is counted from where the module's data begins, which is a global.
fn has_address(unit: &DebugUnit, entry: &Entry) -> bool {
    let Some(AttributeValue::Exprloc(place)) = entry.attr_value(gimli::DW_AT_location) else { return false };
    let mut operations = place.operations(unit.unit.encoding());
    let mut next = || operations.next().ok().flatten();
    let first = match next() {
        Some(gimli::Operation::WasmGlobal { .. }) => next(),
        first => first,
    };
    matches!(first, Some(gimli::Operation::Address { .. } | gimli::Operation::AddressIndex { .. }))
}

impl DebugModule {
    /// The function whose frame an address belongs to, inlined code to the one around it.
    pub(super) fn function_at(&self, address: u32) -> Option<usize> {
        let loaded = self.loaded()?;
        let unit = self.unit_at(loaded, address)?;
        let around = loaded.index(unit).around(address);
        around.iter().rfind(|scope| scope.kind == ScopeKind::Function).map(|scope| scope.entry)
    }
}
