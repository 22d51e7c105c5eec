//! Standard input in a plan file: content, the output of another machine, or a script of what comes when.
//!
//! ```text
//! stdin = "text"                      stdin = { from = "client", latency = "1ms" }
//!
//! [[stdin]]                           [[stdin]]
//! after = "sqlite> "                  at = "2s"
//! line = "select 1;"                  end = true
//! ```
//!
//! Not here: what comes of it in a run (`fozzy_world::channel`).

use crate::check::check_regex;
use crate::file::{ContentFile, ContentTable, MachineFile};
use crate::nearest::hint;
use crate::notation::TimeSpan;
use crate::problem::{DocumentStep, quoted};
use crate::resolve::{FILE_BYTES_MAX, Resolve};
use fozzy_trace::plan::{ArrivalPlan, ArrivalTime, ChannelPlan, ExpectedOutput, StdinPipe, StdinPlan};
use fozzy_trace::{Digest, Duration, Instant};
use fozzy_world::channel::output_regex;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use std::borrow::Cow;
use std::path::PathBuf;

/// Where standard input comes from.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum StdinFile {
    /// UTF-8.
    Text(String),
    /// What comes when.
    Script(Vec<StdinEntry>),
    /// Other content, or another machine.
    Table(StdinTable),
}

/// Standard input that is written as a table: the keys of a content, or those of a pipe.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct StdinTable {
    /// The same as a plain text.
    pub text: Option<String>,
    /// The bytes of a real file.
    pub file: Option<PathBuf>,
    /// Bytes in base64.
    pub base64: Option<String>,
    /// JSON.
    pub json: Option<serde_json::Value>,
    /// The machine whose standard output comes here.
    pub from: Option<String>,
    /// How long that is on its way.
    pub latency: Option<TimeSpan>,
    /// Up to so much longer.
    pub jitter: Option<TimeSpan>,
}

/// What comes at some time: bytes, the end, or both.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case")]
#[schemars(extend("minProperties" = 1))]
pub struct StdinEntry {
    /// A text.
    pub text: Option<String>,
    /// A line: a text with a line end behind it.
    pub line: Option<String>,
    /// The bytes of a real file.
    pub file: Option<PathBuf>,
    /// Bytes in base64.
    #[schemars(extend("x-notation" = "base64"))]
    pub base64: Option<String>,
    /// JSON, without white space, keys in the order given, and a line end behind it.
    pub json: Option<serde_json::Value>,
    /// When it comes, in virtual time. Default: with the entry before it, or at the start.
    pub at: Option<TimeSpan>,
    /// It comes when the program has written this text, to either of its outputs. What it wrote before the last such entry came is not
    /// looked at again.
    #[schemars(length(min = 1))]
    pub after: Option<String>,
    /// It comes when this regular expression matches what the program has written; `^` and `$` are ends of lines.
    #[schemars(length(min = 1))]
    pub after_regex: Option<String>,
    /// So long after that output, or after the entry before it.
    pub delay: Option<TimeSpan>,
    /// Up to so much later; how much is a decision: recorded, replayed and shrunk.
    pub jitter: Option<TimeSpan>,
    /// In an exploration of a program it comes up to so much later; how much is a decision. Other commands take no notice. Default: "1s",
    /// or nothing beside a `jitter`. "0s" keeps the moment.
    pub vary: Option<TimeSpan>,
    /// Whether the input ends with it. Default: it ends with the last entry, unless `stdin-stays-open`.
    pub end: Option<bool>,
}

impl JsonSchema for StdinFile {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Stdin".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (entry, span) = (generator.subschema_for::<StdinEntry>(), generator.subschema_for::<TimeSpan>());
        let about = |description: &str| {
            let mut schema = span.clone();
            schema.insert("description".to_owned(), description.into());
            schema
        };
        json_schema!({
            "type": ["string", "object", "array"],
            "properties": {
                "text": { "type": "string", "description": "The same as a plain text." },
                "file": { "type": "string", "description": "The bytes of a real file." },
                "base64": { "type": "string", "description": "Bytes in base64.", "x-notation": "base64" },
                "json": { "description": "JSON, without white space, keys in the order given." },
                "from": { "type": "string", "description": "The name of the machine whose standard output comes here; `main` is the target's." },
                "latency": about("How long that output is on its way. Default: no time."),
                "jitter": about("Up to so much longer, drawn for each write. Default: none."),
            },
            "items": entry,
            "minProperties": 1,
        })
    }
}

impl StdinFile {
    /// Joins paths of the real computer with a folder.
    pub(crate) fn paths(&mut self, join: &mut dyn FnMut(&mut PathBuf)) {
        match self {
            StdinFile::Text(_) => {}
            StdinFile::Script(entries) => entries.iter_mut().filter_map(|entry| entry.file.as_mut()).for_each(join),
            StdinFile::Table(table) => table.file.iter_mut().for_each(join),
        }
    }
}

/// The only one of several contents; `None` if there is another number of them.
fn only(
    text: Option<&String>,
    file: Option<&PathBuf>,
    base64: Option<&String>,
    json: Option<&serde_json::Value>,
) -> (usize, Option<ContentFile>) {
    let text = text.map(|text| ContentFile::Text(text.clone()));
    let file = file.map(|path| ContentFile::Other(ContentTable::File(path.clone())));
    let base64 = base64.map(|text| ContentFile::Other(ContentTable::Base64(text.clone())));
    let json = json.map(|value| ContentFile::Other(ContentTable::Json(value.clone())));
    let mut all = [text, file, base64, json].into_iter().flatten();
    let first = all.next();
    (usize::from(first.is_some()) + all.count(), first)
}

impl StdinTable {
    fn content(&self) -> (usize, Option<ContentFile>) {
        only(self.text.as_ref(), self.file.as_ref(), self.base64.as_ref(), self.json.as_ref())
    }
}

impl StdinEntry {
    fn content(&self) -> (usize, Option<ContentFile>) {
        let (count, content) = only(self.text.as_ref(), self.file.as_ref(), self.base64.as_ref(), self.json.as_ref());
        let line = self.line.as_ref().map(|line| ContentFile::Text(format!("{line}\n")));
        (count + usize::from(line.is_some()), content.or(line))
    }
}

/// What is wrong with standard input as it is written: a key of it, or none, and a sentence.
pub(crate) type StdinProblem = (Vec<DocumentStep>, String);

fn key(name: &str) -> Vec<DocumentStep> {
    vec![name.into()]
}

/// All problems of standard input that the file alone shows.
pub(crate) fn problems(stdin: &StdinFile) -> Vec<StdinProblem> {
    match stdin {
        StdinFile::Text(_) => Vec::new(),
        StdinFile::Table(table) => of_table(table),
        StdinFile::Script(entries) => of_script(entries),
    }
}

fn of_table(table: &StdinTable) -> Vec<StdinProblem> {
    let (contents, _) = table.content();
    let mut found = Vec::new();
    if contents + usize::from(table.from.is_some()) != 1 {
        let message = "expected exactly one key of `base64`, `file`, `from`, `json`, `text`".to_owned();
        found.push((Vec::new(), message));
    } else if table.from.is_none() {
        let given = [("latency", table.latency.is_some()), ("jitter", table.jitter.is_some())];
        for (name, _) in given.into_iter().filter(|(_, given)| *given) {
            found.push((key(name), "is for the output of another machine: `from` names it".to_owned()));
        }
    }
    found
}

fn of_script(entries: &[StdinEntry]) -> Vec<StdinProblem> {
    let mut found = Vec::new();
    let (mut latest, mut has_ended) = (None, false);
    for (number, entry) in entries.iter().enumerate() {
        let mut wrong = |name: Option<&str>, message: &str| {
            let path = std::iter::once(number.into()).chain(name.map(DocumentStep::from)).collect();
            found.push((path, message.to_owned()));
        };
        let ends = entry.end == Some(true);
        match entry.content().0 {
            0 if !ends => wrong(None, "brings nothing: `line`, `text`, `file`, `base64`, `json`, or `end = true`"),
            0 | 1 => {}
            _ => wrong(None, "expected at most one key of `base64`, `file`, `json`, `line`, `text`"),
        }
        if has_ended {
            wrong(None, "comes after the end of standard input, which an entry before it is");
        }
        has_ended |= ends;
        if entry.after.is_some() && entry.after_regex.is_some() {
            wrong(Some("after-regex"), "one of `after` and `after-regex` says what the program writes");
        }
        let after = entry.after.is_some() || entry.after_regex.is_some();
        if let Some(text) = &entry.after
            && text.is_empty()
        {
            wrong(Some("after"), "expected some output, found none");
        }
        // The parser says where it is none; the engine, what it has not.
        let checked = |text: &str| check_regex(text).and_then(|()| output_regex(text).map(drop));
        if let Some(Err(message)) = entry.after_regex.as_deref().map(checked) {
            wrong(Some("after-regex"), &message);
        }
        if let Some(at) = entry.at {
            if after || entry.delay.is_some() {
                wrong(Some("at"), "is a moment by itself: it goes with neither `after` nor `delay`");
            }
            if latest.is_some_and(|latest| at.0 < latest) {
                wrong(Some("at"), "is before that of an entry before it, and bytes come in their order");
            }
            latest = Some(at.0);
        }
    }
    found
}

impl Resolve<'_, '_> {
    /// The standard input of a machine.
    pub(crate) fn stdin(&mut self, machine: &MachineFile) -> StdinPlan {
        let stays_open = machine.stdin_stays_open.unwrap_or(false);
        let mut channel = ChannelPlan {
            terminal: machine.stdin_terminal.unwrap_or(false),
            nonblocking: machine.stdin_nonblocking.unwrap_or(false),
            ..ChannelPlan::default()
        };
        let is_plain = !stays_open && !channel.terminal && machine.stdin_nonblocking.is_none();
        let bytes = self.at("stdin", |resolve| match &machine.stdin {
            None => Digest::of(b""),
            Some(StdinFile::Text(text)) => resolve.inputs.add(text.clone().into_bytes()),
            Some(StdinFile::Table(table)) => {
                channel.from = table.from.as_ref().and_then(|name| resolve.pipe(name, table));
                resolve.optional(table.content().1)
            }
            Some(StdinFile::Script(entries)) => resolve.script(entries, &mut channel),
        });
        let is_tape = is_plain && channel.arrivals.is_empty() && channel.from.is_none();
        StdinPlan { bytes, stays_open, channel: (!is_tape).then(|| Box::new(channel)) }
    }

    fn optional(&mut self, content: Option<ContentFile>) -> Digest {
        content.map_or_else(|| Digest::of(b""), |content| self.content(&content))
    }

    fn pipe(&mut self, name: &str, table: &StdinTable) -> Option<StdinPipe> {
        let Some(node) = self.machines.get(&name.to_ascii_lowercase()).copied() else {
            let hint = hint(name, self.machines.keys().map(String::as_str));
            self.at("from", |resolve| resolve.wrong(format!("there is no machine {}{hint}", quoted(name))));
            return None;
        };
        let span = |span: Option<TimeSpan>| span.map_or(Duration(0), |span| span.0);
        Some(StdinPipe { node, latency: span(table.latency), jitter: span(table.jitter) })
    }

    /// All bytes of a script, one entry after the other; when they come goes into `channel`.
    fn script(&mut self, entries: &[StdinEntry], channel: &mut ChannelPlan) -> Digest {
        let mut all = Vec::new();
        for (number, entry) in entries.iter().enumerate() {
            let before = all.len();
            let digest = self.at(number, |resolve| resolve.optional(entry.content().1));
            all.extend_from_slice(&self.inputs.get(&digest).unwrap_or_default());
            if entry.json.is_some() {
                all.push(b'\n');
            }
            let jitter = entry.jitter.map_or(Duration(0), |span| span.0);
            let (bytes, end) = ((all.len() - before) as u64, entry.end == Some(true));
            let vary = entry.vary.map(|span| span.0);
            channel.arrivals.push(ArrivalPlan { bytes, when: when(entry), jitter, end, vary });
        }
        if all.len() as u64 > FILE_BYTES_MAX {
            self.wrong(format!("its entries have more than the {FILE_BYTES_MAX} bytes that an input may have"));
        }
        self.inputs.add(all)
    }
}

fn when(entry: &StdinEntry) -> ArrivalTime {
    let delay = entry.delay.map_or(Duration(0), |span| span.0);
    let text = entry.after.clone().map(ExpectedOutput::Text);
    let regex = || entry.after_regex.clone().map(ExpectedOutput::Regex);
    match (text.or_else(regex), entry.at) {
        (Some(output), _) => ArrivalTime::After { output, delay },
        (None, Some(at)) => ArrivalTime::At(Instant::START.after(at.0)),
        (None, None) => ArrivalTime::Delay(delay),
    }
}
