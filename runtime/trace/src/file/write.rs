//! A recording to bytes.
//!
//! Invariant: the bytes are a function of the recording alone. (And of this program's zstd: another
//! version of it may pack the same contents into other bytes, which every version unpacks.)

use super::container;
use super::error::TraceError;
use super::manifest::{self, DecisionLine, Manifest, ManifestEntry};
use super::{ENTRIES_MAX, Recording, TRACE_BYTES_MAX, UNPACKED_BYTES_MAX, VERSION, digests_named, seal};
use crate::Digest;

/// Level of zstd: its default, where a component of a megabyte takes some milliseconds. Higher ones cost
/// more than they save at the sizes of traces.
const ZSTD_LEVEL: i32 = 3;

impl Recording {
    /// The file's bytes: the same for the same recording.
    ///
    /// # Errors
    /// [`TraceError::TooLarge`], when plan and observations have more bytes than a trace holds, or another part is past
    /// its bound.
    ///
    /// # Panics
    /// When the plan or an observation names bytes that are not in `inputs`: no execution gives that.
    pub fn to_bytes(&self) -> Result<Vec<u8>, TraceError> {
        let contents = self.contents()?;
        let (mut rows, mut entries) = (Vec::new(), vec![(manifest::MANIFEST.to_owned(), Vec::new())]);
        for (name, content) in contents {
            let bytes = content.len() as u64;
            let stored = if manifest::compressed(&name) { pack(&content) } else { content };
            let (stored_bytes, sha256) = (stored.len() as u64, Digest::of(&stored));
            rows.push(ManifestEntry { name: name.clone(), stored_bytes, bytes, sha256 });
            entries.push((name, stored));
        }
        entries[0].1 = manifest::pretty(&Manifest {
            format: manifest::FORMAT.to_owned(),
            version: VERSION,
            engine: self.engine.clone(),
            target: self.target.clone(),
            seed: self.seed,
            mode: self.mode.clone(),
            outcome: self.outcome.clone(),
            entries: rows,
        });
        bound(manifest::MANIFEST, entries[0].1.len() as u64, manifest::bytes_max(manifest::MANIFEST))?;
        let length = container::length(entries.iter().map(|(name, data)| (name.len(), data.len())));
        bound("the file", length, TRACE_BYTES_MAX)?;
        let mut bytes = container::write(&entries);
        seal::close(&mut bytes);
        assert_eq!(bytes.len() as u64, length, "the length is known before the bytes are");
        debug_assert!(
            Recording::read(&bytes).is_ok_and(|read| read.differs_in(self).is_none()),
            "what was written does not read back: {:?}",
            Recording::read(&bytes).map(|read| read.differs_in(self))
        );
        Ok(bytes)
    }

    /// Names and contents of all entries but the manifest, in their order.
    fn contents(&self) -> Result<Vec<(String, Vec<u8>)>, TraceError> {
        let mut decisions = Vec::new();
        for (question, answer) in &self.explicit {
            let (question, answer) = (*question, answer.clone());
            manifest::line(&mut decisions, &DecisionLine::Explicit { question, answer });
        }
        self.marks.iter().for_each(|mark| manifest::line(&mut decisions, &DecisionLine::Mark(*mark)));
        let mut observations = Vec::new();
        self.observations.iter().for_each(|observation| manifest::line(&mut observations, observation));
        let mut events = Vec::new();
        self.entries.iter().for_each(|entry| manifest::line(&mut events, entry));

        let mut contents = vec![
            (manifest::PLAN.to_owned(), manifest::pretty(&self.plan)),
            (manifest::DECISIONS.to_owned(), decisions),
            (manifest::OBSERVATIONS.to_owned(), observations),
            (manifest::EVENTS.to_owned(), events),
            (manifest::COMPONENT.to_owned(), self.component.to_vec()),
            (manifest::STDOUT.to_owned(), self.stdout.clone()),
            (manifest::STDERR.to_owned(), self.stderr.clone()),
        ];
        let named = digests_named(&self.plan, &self.observations);
        let count = (manifest::FIXED.len() + named.len()) as u64;
        if count > ENTRIES_MAX as u64 {
            let (what, max) = ("the set of distinct inputs".to_owned(), ENTRIES_MAX as u64);
            return Err(TraceError::TooLarge { what, found: count, max, unit: "entries" });
        }
        let inputs = named.iter().map(|digest| (digest, self.inputs.get(digest)));
        let mut total = contents.iter().map(|(_, content)| content.len() as u64).sum();
        for (digest, bytes) in inputs {
            let bytes = bytes.expect("a recording has all inputs that its plan and its observations name");
            total += bytes.len() as u64;
            bound("the unpacked content", total, UNPACKED_BYTES_MAX)?;
            contents.push((manifest::input_name(digest), bytes.to_vec()));
        }
        for (name, content) in &contents {
            bound(&format!("entry `{name}`"), content.len() as u64, manifest::bytes_max(name))?;
        }
        Ok(contents)
    }

    /// The first field in which two recordings differ, of those that the file carries.
    fn differs_in(&self, other: &Recording) -> Option<&'static str> {
        let equal = [
            ("target", self.target == other.target),
            ("component", self.component == other.component),
            ("plan", self.plan == other.plan),
            ("engine", self.engine == other.engine),
            ("seed", self.seed == other.seed),
            ("mode", self.mode == other.mode),
            ("outcome", self.outcome == other.outcome),
            ("explicit", self.explicit == other.explicit),
            ("marks", self.marks == other.marks),
            ("observations", self.observations == other.observations),
            ("entries", self.entries == other.entries),
            ("stdout", self.stdout == other.stdout),
            ("stderr", self.stderr == other.stderr),
        ];
        equal.iter().find(|(_, equal)| !equal).map(|(field, _)| *field)
    }
}

fn pack(content: &[u8]) -> Vec<u8> {
    zstd::bulk::compress(content, ZSTD_LEVEL).expect("compressing into memory does not fail")
}

fn bound(what: &str, found: u64, max: u64) -> Result<(), TraceError> {
    if found <= max {
        return Ok(());
    }
    Err(TraceError::TooLarge { what: what.to_owned(), found, max, unit: "bytes" })
}
