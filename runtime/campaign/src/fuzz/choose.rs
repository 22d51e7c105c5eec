//! Chooses the entry point of a program to search, from the flags and from what the program exports.
//!
//! ```text
//! --stdin, --input-file, --arg   the program, from beginning to end
//! --http                         its handler of requests
//! NAME, --function NAME          a fuzz target, a property, `stateful`, or any function that it exports
//! nothing                        its fuzz targets, else its properties, else its sequences
//! ```
//!
//! Invariant: what cannot be searched is refused with what there is, and with the flag for it.

use crate::error::{CampaignError, ErrorKind};
use fozzy_engine::{EntryPoint, ExportedFunctions, InputDelivery, InputUse};
use fozzy_report::{shell_path, shell_word};
use std::path::{Path, PathBuf};

/// Which functions are searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FuzzMode {
    /// Fuzz targets.
    Coverage,
    /// Properties.
    Property,
}

impl FuzzMode {
    /// Whether it means this one.
    fn has(self, entry: &EntryPoint) -> bool {
        match (entry, entry.input_use()) {
            (EntryPoint::Call(_), InputUse::Argument) => self == FuzzMode::Coverage,
            (EntryPoint::Call(_), InputUse::Draws) => self == FuzzMode::Property,
            _ => false,
        }
    }
}

/// What stands behind the target: a function, inputs to be run once each, a corpus.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct TargetWords<'a> {
    /// The function that is searched.
    pub function: Option<&'a str>,
    /// Files that are run once each, without a campaign.
    pub inputs: Vec<PathBuf>,
    /// The folder with the corpus.
    pub corpus: Option<PathBuf>,
}

impl<'a> TargetWords<'a> {
    /// The first word is a function if the program has one of that name, or if there is no such file.
    pub fn of(words: &'a [String], functions: &ExportedFunctions) -> Result<TargetWords<'a>, CampaignError> {
        let mut found = TargetWords::default();
        for (number, word) in words.iter().enumerate() {
            let path = PathBuf::from(word);
            if number == 0 && (functions.has(word) || !path.exists()) {
                found.function = Some(word);
            } else if !path.is_dir() {
                found.inputs.push(path);
            } else if found.corpus.replace(path).is_some() {
                let message = format!("{word} is a second folder: a campaign has one corpus");
                return Err(CampaignError::new(ErrorKind::Usage, message));
            }
        }
        match &found.corpus {
            Some(corpus) if !found.inputs.is_empty() => {
                let message = format!("{} is a folder, and files are run one by one", corpus.display());
                Err(CampaignError::new(ErrorKind::Usage, message).hint("leave out the folder, or name the files in it"))
            }
            _ => Ok(found),
        }
    }
}

/// What the user asks for.
#[derive(Clone, Default)]
pub struct EntryPointChoice<'a> {
    /// Inputs are standard input.
    pub stdin: bool,
    /// Inputs are the file of this path.
    pub file: Option<&'a str>,
    /// Inputs are the last argument.
    pub argument: bool,
    /// Inputs are requests to an HTTP handler.
    pub http: bool,
    /// The function of this name.
    pub function: Option<&'a str>,
    /// Functions of this kind.
    pub mode: Option<FuzzMode>,
    /// Steps of a sequence.
    pub flows: u32,
    /// The program is built as cargo-fuzz's, which has one function.
    pub is_of_cargo_fuzz: bool,
}

impl<'a> EntryPointChoice<'a> {
    /// The same, of the function that a word behind the target names.
    ///
    /// # Errors
    /// When something else says what is called already.
    pub fn naming(self, function: Option<&'a str>) -> Result<EntryPointChoice<'a>, CampaignError> {
        let Some(named) = function else { return Ok(self) };
        let is_said = self.function.is_some() || self.http || self.file.is_some() || self.argument || self.stdin;
        if is_said || self.is_of_cargo_fuzz {
            let message = format!(
                "`{named}` is no file, and as a function it cannot be used with a flag that says what is called"
            );
            return Err(CampaignError::new(ErrorKind::Usage, message));
        }
        Ok(EntryPointChoice { function: Some(named), ..self })
    }

    /// The one that fits; `target` is how the program was named.
    ///
    /// # Errors
    /// When there is none, or several.
    pub fn one_of(
        &self,
        functions: &ExportedFunctions,
        name: &str,
        target: &Path,
    ) -> Result<EntryPoint, CampaignError> {
        let mut all = self.of(functions, name)?;
        if let [first, _, ..] = all.as_slice() {
            let message = format!("{name} has several functions: {}", listed(&all).join(", "));
            let command = format!("name one: fozzy fuzz {} {}", shell_path(target), shell_word(first.name()));
            return Err(CampaignError::new(ErrorKind::Target, message).hint(command));
        }
        Ok(all.remove(0))
    }

    /// All that fits; at least one.
    pub fn of(&self, functions: &ExportedFunctions, name: &str) -> Result<Vec<EntryPoint>, CampaignError> {
        if let Some(delivery) = self.delivery()? {
            return match functions.runs {
                true => Ok(vec![EntryPoint::Program(delivery)]),
                false => Err(none(functions, name, "is not a command: it does not export `wasi:cli/run`")),
            };
        }
        if self.http {
            let what = "handles no requests: it does not export `wasi:http/incoming-handler`";
            return functions.handler().map(|handler| vec![handler]).ok_or_else(|| none(functions, name, what));
        }
        let mut all = functions.entry_points(self.flows);
        if let Some(mode) = self.mode {
            // Sequences are drawn from bytes, as properties are; a scenario of version 1 has either mode.
            let has_any = all.iter().any(|one| mode.has(one));
            all.retain(|one| mode.has(one) || (!has_any && matches!(one, EntryPoint::Scenario { .. })));
        }
        let Some(function) = self.function else {
            // What is given bytes is what `fuzz` means, where there is more and nothing was said.
            let kind = |one: &EntryPoint| (std::mem::discriminant(one), one.input_use());
            let first = all.first().map(kind);
            all.retain(|one| Some(kind(one)) == first);
            return if all.is_empty() { Err(none(functions, name, "has no function to fuzz")) } else { Ok(all) };
        };
        let known = listed(&all);
        all.retain(|one| one.is_called(function));
        if all.is_empty() {
            all.extend(functions.calls_of(function));
        }
        if !all.is_empty() {
            return Ok(all);
        }
        let exported = functions.exported.iter().map(|name| format!("the function `{name}`"));
        let known: Vec<String> = known.into_iter().chain(exported).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        Err(CampaignError::new(
            ErrorKind::Target,
            format!("{name} has no function `{}`; it has {known}", function.escape_debug()),
        ))
    }

    fn delivery(&self) -> Result<Option<InputDelivery>, CampaignError> {
        if let Some(path) = self.file {
            let file = InputDelivery::file(path);
            return file.map(Some).map_err(|why| CampaignError::new(ErrorKind::Usage, format!("--input-file: {why}")));
        }
        Ok(match (self.argument, self.stdin) {
            (true, _) => Some(InputDelivery::Argument),
            (false, true) => Some(InputDelivery::Stdin),
            (false, false) => None,
        })
    }
}

/// For people.
pub fn listed(all: &[EntryPoint]) -> Vec<String> {
    all.iter().map(EntryPoint::title).collect()
}

/// There is nothing of that kind: what there is, and what would be needed.
fn none(functions: &ExportedFunctions, name: &str, what: &str) -> CampaignError {
    let mut ways = Vec::new();
    if functions.runs {
        ways.push("it is a program: `--stdin`, `--input-file PATH` or `--arg` says where its input goes".to_owned());
    }
    if functions.handles {
        ways.push("`--http` sends it requests".to_owned());
    }
    if let Some(first) = functions.exported.first() {
        ways.push(format!("`--function '{first}'` calls what it exports"));
    }
    if !functions.fuzz.is_empty() || !functions.properties.is_empty() || functions.is_stateful {
        ways.push("without flags, its fuzz targets, properties or sequences are called".to_owned());
    }
    if ways.is_empty() {
        ways.push(
            "needed is a fuzz target (`#[fuzz]` of the SDK, `LLVMFuzzerTestOneInput` of a core module), a property \
             (`#[property]`), a program (`wasi:cli/run`), a handler (`wasi:http/incoming-handler`) or an exported function"
                .to_owned(),
        );
    }
    let found = match functions.exports.as_slice() {
        [] => "no exports".to_owned(),
        exports => exports.join(", "),
    };
    CampaignError::new(ErrorKind::Target, format!("{name} {what}: found {found}")).hint(ways.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(functions: &ExportedFunctions, wanted: &EntryPointChoice<'_>) -> String {
        match wanted.of(functions, "it") {
            Ok(all) => listed(&all).join(", "),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn what_is_searched_follows_from_flags_and_exports() {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<String>>();
        let functions = ExportedFunctions {
            fuzz: words(&["a", "b"]),
            properties: words(&["b", "c"]),
            exported: words(&["ns:p/i@1.0.0#parse"]),
            is_stateful: true,
            ..ExportedFunctions::default()
        };
        let named = |function| EntryPointChoice { function: Some(function), ..EntryPointChoice::default() };
        assert_eq!(found(&functions, &EntryPointChoice::default()), "the fuzz target `a`, the fuzz target `b`");
        assert_eq!(found(&functions, &named("c")), "the property `c`");
        assert_eq!(found(&functions, &named("stateful")), "its sequences, as `stateful`");
        assert_eq!(found(&functions, &named("ns:p/i#parse")), "the function `ns:p/i@1.0.0#parse`");
        assert_eq!(found(&functions, &named("parse")), "the function `ns:p/i@1.0.0#parse`");
        assert_eq!(found(&functions, &named("i#parse")), "the function `ns:p/i@1.0.0#parse`");
        let two =
            ExportedFunctions { exported: words(&["ns:p/i#parse", "ns:p/j#parse"]), ..ExportedFunctions::default() };
        assert_eq!(found(&two, &named("parse")), "the function `ns:p/i#parse`, the function `ns:p/j#parse`");
        assert_eq!(found(&two, &named("j#parse")), "the function `ns:p/j#parse`");
        let mode = Some(FuzzMode::Property);
        assert_eq!(found(&functions, &EntryPointChoice { mode, ..named("b") }), "the property `b`");
        assert!(found(&functions, &named("d")).contains("it has no function `d`; it has the fuzz target `a`"));
        assert!(
            found(&functions, &EntryPointChoice { stdin: true, ..EntryPointChoice::default() })
                .contains("is not a command")
        );
        let program = ExportedFunctions { runs: true, ..ExportedFunctions::default() };
        assert_eq!(
            found(&program, &EntryPointChoice { argument: true, ..EntryPointChoice::default() }),
            "the program (argument)"
        );
        // Standard input is what is left when nothing else was said.
        assert_eq!(
            found(&program, &EntryPointChoice { argument: true, stdin: true, ..EntryPointChoice::default() }),
            "the program (argument)"
        );
        assert!(
            found(&program, &EntryPointChoice { http: true, ..EntryPointChoice::default() })
                .contains("handles no requests")
        );
        assert!(found(&program, &EntryPointChoice::default()).contains("has no function to fuzz: found no exports"));
    }
}
