//! Lines of source to places in the code.
//!
//! ```text
//! row   address 0x40  main.rs:12  statement            ◄─ the first row of its line in its function: a place
//!       address 0x44  main.rs:12                          the same line goes on
//!       address 0x48  main.rs:13  statement, end of prologue
//! ```
//!
//! A line that has no code slips to the next one that has. A place at the beginning of a function is moved behind its prologue,
//! since variables have no values before.

use super::module::{CodePlace, DebugInfo, DebugModule, DebugSections, DebugUnit, LineRow, LineTable, SourceFile};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Most rows that are kept of a module, at 20 bytes each. The others are left out.
const ROWS_MAX: usize = 1 << 22;
/// How many times all bytes of the line tables are read at most: hostile units may share one table.
const READINGS_MAX: usize = 4;
/// Longest path that is handed out, in bytes. Files with longer ones are left out.
const PATH_BYTES_MAX: usize = 4096;
/// Most places of one line that are handed out. Generic functions have one for each instance.
const PLACES_MAX: usize = 4096;

/// Where a line of source is in the code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinePlaces {
    /// The file's path as the compiler saw it.
    pub path: String,
    /// The line that was asked for, or the next one that has code.
    pub line: u32,
    /// One place for each function, instance or inlined copy.
    pub places: Vec<CodePlace>,
}

impl DebugInfo {
    /// The files that have code, by path.
    #[must_use]
    pub fn source_files(&self) -> Vec<SourceFile> {
        let mut files: BTreeSet<SourceFile> = BTreeSet::new();
        for module in &self.modules {
            let table = module.lines();
            let used: BTreeSet<u32> = table.rows.iter().map(|row| row.file).collect();
            files.extend(used.into_iter().filter_map(|file| table.files.get(file as usize).cloned()));
        }
        files.into_iter().collect()
    }

    /// The places of a line: in the file whose path ends as `file` does. `None` if no file does, or if no code stands
    /// at the line or behind it.
    #[must_use]
    pub fn line_places(&self, file: &str, line: u32) -> Option<LinePlaces> {
        let path = self.matching_file(file)?;
        let line = self.modules.iter().filter_map(|module| module.lines().next_line(&path, line)).min()?;
        let mut places: Vec<CodePlace> =
            self.modules.iter().flat_map(|module| module.line_places(&path, line)).take(PLACES_MAX).collect();
        places.sort_unstable();
        places.dedup();
        Some(LinePlaces { path, line, places })
    }

    /// The lines of a range that have code, in the file whose path ends as `file` does.
    #[must_use]
    pub fn lines_with_code(&self, file: &str, lines: Range<u32>) -> Vec<u32> {
        let Some(path) = self.matching_file(file) else { return Vec::new() };
        let mut found = BTreeSet::new();
        for module in &self.modules {
            let table = module.lines();
            let rows = table.rows.iter().filter(|row| row.is_place() && lines.contains(&row.line));
            found.extend(rows.filter(|row| table.path(row) == Some(&path)).map(|row| row.line));
        }
        found.into_iter().collect()
    }

    /// Whether a statement of the source begins at a place, in the words of the compiler.
    #[must_use]
    pub fn begins_statement(&self, place: CodePlace) -> bool {
        let Some(module) = self.module(place.module) else { return false };
        let Some(address) = module.address(place.offset) else { return false };
        let rows = &module.lines().rows;
        let from = rows.partition_point(|row| row.address < address);
        rows[from..].iter().take_while(|row| row.address == address).any(LineRow::is_place)
    }

    /// The path in the debug information that has the most segments in common with `file`, from the end. One of the two must end
    /// with the other, or both with the same folder and name.
    #[must_use]
    pub fn matching_file(&self, file: &str) -> Option<String> {
        let asked: Vec<&str> = segments(file);
        let mut best: Option<(usize, String)> = None;
        for file in self.source_files() {
            let own = segments(&file.path);
            let common = own.iter().rev().zip(asked.iter().rev()).take_while(|(one, other)| one == other).count();
            let enough = common == own.len().min(asked.len()) || common >= 2;
            if common > 0 && enough && best.as_ref().is_none_or(|(most, _)| common > *most) {
                best = Some((common, file.path));
            }
        }
        best.map(|(_, path)| path)
    }
}

/// The segments of a path, of either notation.
fn segments(path: &str) -> Vec<&str> {
    path.split(['/', '\\']).filter(|segment| !segment.is_empty() && *segment != ".").collect()
}

impl DebugModule {
    pub(super) fn lines(&self) -> &LineTable {
        self.lines.get_or_init(|| LineTable::new(self))
    }

    fn line_places(&self, path: &str, line: u32) -> Vec<CodePlace> {
        let table = self.lines();
        // The first address of the line in each function, and in each function that is inlined into it.
        let mut first: BTreeMap<(usize, usize), u32> = BTreeMap::new();
        let mut before: Option<&LineRow> = None;
        for row in &table.rows {
            let continues = before.is_some_and(|before| {
                !before.end && before.line == row.line && before.file == row.file && before.statement
            });
            before = Some(row);
            if continues || !row.is_place() || row.line != line || table.path(row) != Some(path) {
                continue;
            }
            let Some(offset) = self.operator(row.address) else { continue };
            let Some(body) = self.body(offset) else { continue };
            let scope = self.innermost_function(row.address);
            first.entry((body, scope)).or_insert(row.address);
            if first.len() == PLACES_MAX {
                break;
            }
        }
        let addresses = first.into_iter().map(|((body, _), address)| self.after_prologue(body, address));
        addresses.filter_map(|address| self.place(address)).collect()
    }

    pub(super) fn place(&self, address: u32) -> Option<CodePlace> {
        Some(CodePlace { module: self.ordinal, offset: self.operator(address)? })
    }

    /// The end of a function's prologue for an address at its very beginning; any other address as it is.
    pub(super) fn after_prologue(&self, body: usize, address: u32) -> u32 {
        let Some(start) = self.address(crate::OriginalOffset(self.bodies[body].start)) else { return address };
        if address != start {
            return address;
        }
        let end = start.saturating_add(self.bodies[body].end.saturating_sub(self.bodies[body].start));
        let rows = &self.lines().rows;
        let from = rows.partition_point(|row| row.address < start);
        let mut own = rows[from..].iter().take_while(|row| row.address < end);
        own.find(|row| row.prologue_end).map_or(address, |row| row.address)
    }
}

impl LineRow {
    /// Whether a debugger may stop here.
    fn is_place(&self) -> bool {
        self.statement && !self.end && self.line > 0
    }
}

impl LineTable {
    pub(super) fn new(module: &DebugModule) -> LineTable {
        let mut table = LineTable::default();
        let Some(loaded) = module.loaded() else { return table };
        let mut known: BTreeMap<SourceFile, u32> = BTreeMap::new();
        let mut seen = BTreeSet::new();
        let all = loaded.dwarf.debug_line.reader_bytes();
        let mut left = all.saturating_mul(READINGS_MAX);
        for unit in &loaded.units {
            let Some(program) = &unit.unit.line_program else { continue };
            let bytes = program.header().raw_program_buf().bytes().len();
            if !seen.insert(program.header().offset().0) || table.rows.len() >= ROWS_MAX || bytes > left {
                continue;
            }
            left -= bytes;
            table.read_unit(module, loaded, unit, &mut known);
        }
        table.rows.sort_unstable();
        table
    }

    fn read_unit(
        &mut self,
        module: &DebugModule,
        loaded: &DebugSections,
        unit: &DebugUnit,
        known: &mut BTreeMap<SourceFile, u32>,
    ) {
        let Some(program) = unit.unit.line_program.clone() else { return };
        let mut of_unit: BTreeMap<u64, Option<u32>> = BTreeMap::new();
        let mut rows = program.rows();
        // Where the sequence begins that is read: its rows count if that is in a function.
        let mut begin: Option<u32> = None;
        let mut sequence_start = self.rows.len();
        while self.rows.len() < ROWS_MAX
            && let Ok(Some((header, row))) = rows.next_row()
        {
            let address = u32::try_from(row.address()).unwrap_or(u32::MAX);
            let file = *of_unit.entry(row.file_index()).or_insert_with(|| {
                let file = source_file(loaded, unit, header, row.file(header)?)?;
                let next = u32::try_from(self.files.len()).ok()?;
                Some(*known.entry(file).or_insert_with_key(|file| {
                    self.files.push(file.clone());
                    next
                }))
            });
            begin.get_or_insert(address);
            if let Some(file) = file {
                let line = row.line().and_then(|line| u32::try_from(line.get()).ok()).unwrap_or(0);
                self.rows.push(LineRow {
                    address,
                    file,
                    line,
                    statement: row.is_stmt(),
                    prologue_end: row.prologue_end(),
                    end: row.end_sequence(),
                });
            }
            if row.end_sequence() {
                if begin.and_then(|begin| module.operator(begin)).is_none() {
                    self.rows.truncate(sequence_start);
                }
                sequence_start = self.rows.len();
                begin = None;
            }
        }
        // What does not end stands for nothing.
        self.rows.truncate(sequence_start);
    }

    fn path(&self, row: &LineRow) -> Option<&str> {
        self.files.get(row.file as usize).map(|file| file.path.as_str())
    }

    /// The first line of a file, from `line` on, that has code.
    fn next_line(&self, path: &str, line: u32) -> Option<u32> {
        let rows = self.rows.iter().filter(|row| row.line >= line && row.is_place());
        rows.filter(|row| self.path(row) == Some(path)).map(|row| row.line).min()
    }
}

/// The bytes of a section.
trait ReaderBytes {
    fn reader_bytes(&self) -> usize;
}

impl ReaderBytes for gimli::DebugLine<super::module::Reader> {
    fn reader_bytes(&self) -> usize {
        use gimli::Section;
        self.reader().bytes().len()
    }
}

/// A file's path, put together in the way of `addr2line`, so that frames and places name it alike.
fn source_file(
    loaded: &DebugSections,
    unit: &DebugUnit,
    header: &gimli::LineProgramHeader<super::module::Reader>,
    file: &gimli::FileEntry<super::module::Reader>,
) -> Option<SourceFile> {
    let text = |value| {
        let text = loaded.dwarf.attr_string(&unit.unit, value).ok()?;
        (text.bytes().len() <= PATH_BYTES_MAX).then(|| String::from_utf8_lossy(text.bytes()).into_owned())
    };
    let mut path =
        unit.unit.comp_dir.as_ref().map_or_else(String::new, |dir| String::from_utf8_lossy(dir.bytes()).into_owned());
    if file.directory_index() != 0
        && let Some(directory) = file.directory(header)
    {
        push_path(&mut path, &text(directory)?);
    }
    push_path(&mut path, &text(file.path_name())?);
    let md5 = header.file_has_md5().then(|| *file.md5());
    (path.len() <= PATH_BYTES_MAX).then_some(SourceFile { path, md5 })
}

fn push_path(path: &mut String, next: &str) {
    let absolute = next.starts_with('/') || next.starts_with('\\') || next.get(1..3) == Some(":\\");
    if absolute {
        path.clear();
    } else if !path.is_empty() && !path.ends_with(['/', '\\']) {
        path.push('/');
    }
    path.push_str(next);
}

/// Where a module's functions begin for who sets a breakpoint.
pub(super) fn entry_place(module: &DebugModule, address: u32) -> Option<CodePlace> {
    let offset = module.operator(address)?;
    let body = module.body(offset)?;
    module.place(module.after_prologue(body, address))
}
