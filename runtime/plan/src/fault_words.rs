//! Faults on the command line: `--faults io-error,disk-full@/data/*:2%`.
//!
//! ```text
//! disk-full @ /data/* : 2% = 64KiB     kind or group, target, rate, strength; all but the first can be left out
//! ```
//!
//! A path may be of one machine: `io-error@server:/data/*`. Rate and strength are looked for from the end, so a target may have `:` and `=` in it, as URLs have
//! (`http-reset@http://api.test:8080/*:2%`). A target with a comma needs a plan file.

use crate::check::check_target;
use crate::file::FaultFile;
use crate::nearest::nearest;
use crate::notation::{FaultRate, Strength};
use crate::problem::quoted;
use fozzy_trace::Duration;
use fozzy_trace::plan::FaultPlan;
use fozzy_trace::plan::fault::RATE_ALWAYS_PPM;
use fozzy_world::MAIN;
use fozzy_world::fault::{CUT_MAX, FAULTS, FaultKind, FaultTarget, KILL, PARTITION, strikes_memory};

/// The groups of kinds that [`parse_fault_words`] knows, besides `all`.
pub const FAULT_GROUPS: &[&str] = &["clock", "disk", "http", "memory", "net", "node", "point", "process"];

/// Why words on the command line are no faults.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{word}`: {message}")]
pub struct FaultWordsError {
    /// The word in question.
    pub word: String,
    /// What was expected, and what was found.
    pub message: String,
}

/// The group of a kind, by what it strikes: paths are `disk`, URLs `http`, commands `process`, links `net`, machines
/// `node`, `memory` when it is theirs, or `clock` when its name begins so, and points of the guest `point`.
#[must_use]
pub fn group_of(kind: &FaultKind) -> &'static str {
    match kind.target {
        FaultTarget::Path => "disk",
        FaultTarget::Url => "http",
        FaultTarget::Command => "process",
        FaultTarget::Link => "net",
        FaultTarget::Node if kind.name.starts_with("clock") => "clock",
        FaultTarget::Node if strikes_memory(kind.name) => "memory",
        FaultTarget::Node => "node",
        FaultTarget::Point => "point",
    }
}

/// The kinds of each group, both sorted.
#[must_use]
pub fn fault_groups() -> Vec<(&'static str, Vec<&'static FaultKind>)> {
    let kinds = |group| FAULTS.iter().copied().filter(|kind| group_of(kind) == group).collect();
    FAULT_GROUPS.iter().map(|group| (*group, kinds(*group))).collect()
}

/// Reads `--faults`: kinds and groups with commas between them, each with `@target`, `:rate` and `=strength` if
/// wanted. A group stands for its kinds, each with its own rate; `all` for every kind but those of memory: few programs survive these, so
/// that nothing else would be found.
///
/// # Errors
/// For the first word that is none.
pub fn parse_fault_words(words: &str) -> Result<Vec<FaultFile>, FaultWordsError> {
    parse_among(words, FAULTS)
}

pub(crate) fn parse_among(words: &str, kinds: &[&FaultKind]) -> Result<Vec<FaultFile>, FaultWordsError> {
    let mut faults = Vec::new();
    for word in words.split(',').map(str::trim) {
        let found = parse_word(word, kinds);
        faults.extend(found.map_err(|message| FaultWordsError { word: word.to_owned(), message })?);
    }
    Ok(faults)
}

fn parse_word(word: &str, kinds: &[&FaultKind]) -> Result<Vec<FaultFile>, String> {
    let name_end = word.find(['@', ':', '=']).unwrap_or(word.len());
    let (name, rest) = word.split_at(name_end);
    let has_target = rest.starts_with('@');
    // Behind a target, what cannot be read as a strength or a rate belongs to the target.
    let (rest, strength) = behind(rest, '=', has_target, Strength::parse)?;
    let (rest, rate) = behind(rest, ':', has_target, FaultRate::parse)?;
    let target = match rest.strip_prefix('@') {
        Some("") => return Err("expected a target behind `@`, found nothing".to_owned()),
        Some(target) => Some(target),
        None if rest.is_empty() => None,
        None => return Err(format!("expected `kind@target:rate=strength`, found {} behind the kind", quoted(rest))),
    };
    let named: Vec<&FaultKind> = match kinds.iter().find(|kind| kind.name == name) {
        Some(kind) => vec![kind],
        None => {
            let is_meant = |kind: &&FaultKind| match name {
                "all" => group_of(kind) != "memory",
                _ => group_of(kind) == name,
            };
            kinds.iter().copied().filter(is_meant).collect()
        }
    };
    if named.is_empty() {
        if name == "all" || FAULT_GROUPS.contains(&name) {
            return Err("there is no kind of fault in this group".to_owned());
        }
        let known = kinds.iter().map(|kind| kind.name).chain(FAULT_GROUPS.iter().copied()).chain(["all"]);
        let hint = match nearest(name, known) {
            Some(known) => format!("did you mean `{known}`?"),
            None => format!("known are the groups all, {} and their kinds (`fozzy env`)", FAULT_GROUPS.join(", ")),
        };
        return Err(format!("there is no fault of this kind; {hint}"));
    }
    let fault = |kind: &FaultKind| {
        target.map_or(Ok(()), |target| check_target(kind, target))?;
        strength.map_or(Ok(()), |strength| strength.in_unit(kind.unit).map(drop))?;
        let target = target.map(str::to_owned);
        Ok(FaultFile { kind: kind.name.to_owned(), target, rate, strength, ..FaultFile::default() })
    };
    // Of a group, the main machine is struck by those that do not end the run.
    let is_alone = named.len() == 1;
    let is_main = |kind: &&FaultKind| kind.name == KILL.name && target == Some(MAIN);
    named.into_iter().filter(|kind| is_alone || !is_main(kind)).map(fault).collect()
}

/// Splits off what stands behind the last `mark`, if it can be read.
fn behind<T>(
    word: &str,
    mark: char,
    may_be_target: bool,
    parse: impl Fn(&str) -> Result<T, String>,
) -> Result<(&str, Option<T>), String> {
    let Some((before, text)) = word.rsplit_once(mark) else { return Ok((word, None)) };
    match parse(text) {
        Ok(value) => Ok((before, Some(value))),
        Err(_) if may_be_target && !text.ends_with('%') => Ok((word, None)),
        Err(message) => Err(message),
    }
}

impl FaultFile {
    /// The planned fault, with the kind's own rate where none is given.
    ///
    /// # Errors
    /// A sentence, when there is no such kind or it has another unit.
    pub fn plan(&self) -> Result<FaultPlan, String> {
        self.plan_among(FAULTS)
    }

    pub(crate) fn plan_among(&self, kinds: &[&FaultKind]) -> Result<FaultPlan, String> {
        let kind = kinds.iter().find(|kind| kind.name == self.kind);
        let kind = kind.ok_or_else(|| format!("there is no fault of kind {}", quoted(&self.kind)))?;
        let has_window = self.start.is_some() || self.length.is_some();
        let strength = self.strength.map(|strength| strength.in_unit(kind.unit)).transpose()?;
        // A cut that is planned by time lasts all of it; others are drawn.
        let is_cut = kind.name == PARTITION.name;
        let rate_ppm = if is_cut && has_window { RATE_ALWAYS_PPM } else { kind.rate_ppm };
        Ok(FaultPlan {
            kind: kind.name.to_owned(),
            target: self.target.clone().unwrap_or_else(|| "*".to_owned()),
            rate_ppm: self.rate.map_or(rate_ppm, |rate| rate.0),
            start: self.start.map_or(Duration(0), |start| start.0),
            length: self.length.map(|length| length.0),
            strength: strength.or((is_cut && !has_window).then_some(CUT_MAX.0)),
            times: self.times,
            nemesis: None,
        })
    }
}
