//! Saved state of an exploration: the decision paths of its checkpoints, as plain text.
//!
//! ```text
//! {"format": "fozzy-explore-state", "version": 1, "component": "ab12…", "plan": "cd34…", "runs": 812, "stories": […], "known": {…}}
//! ```
//!
//! Invariants: a file of another program, plan or version is refused, and so is one that is not whole; going on from it goes
//! the ways of its paths again, at once or when the search comes to them. What it says was seen is believed: it is not new then. So it is
//! left out where another version of the rewriter has numbered the edges.

use crate::error::{CampaignError, ErrorKind, at_path};
use crate::program_place::ProgramPlace;
use fozzy_instrument::REWRITER_VERSION;
use fozzy_search::explore::{DecisionPath, KnownCoverage, SavedProgress};
use fozzy_trace::file::store::{Durability, write_atomic};
use fozzy_trace::{Digest, Plan};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};

const FORMAT: &str = "fozzy-explore-state";
const VERSION: u32 = 1;
/// What stands in the names under which fleets keep states. Versions that refuse states with something `known` begin anew in their place:
/// they have names without it, and leave these as they are.
pub const FLEET_NAME: &str = "known";
/// Bytes that are read; what an exploration writes is far below.
const BYTES_MAX: u64 = 1 << 30;

/// What is kept.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExploreState {
    format: String,
    version: u32,
    /// The program.
    component: Digest,
    /// Where it stands: the first of a file name has the name for its state (`program_place`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    program: Option<String>,
    /// The plan that it was explored under.
    plan: Digest,
    /// Where its chance comes from.
    pub seed: u64,
    /// Runs that were made.
    pub runs: u64,
    /// Steps of all of them.
    pub steps: u64,
    /// The paths to the places that are worth continuing from. Of a program that is run whole: those of the runs that have shown something new, each
    /// to its end; of an older version, beginnings of these.
    pub stories: Vec<DecisionPath>,
    /// The paths of what was found: an exploration that continues it takes them first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<DecisionPath>,
    /// What was seen; a state of an older version does not say it.
    #[serde(default, skip_serializing_if = "KnownCoverage::is_empty")]
    pub known: KnownCoverage,
    /// The version of the rewriter that has numbered its edges; 0 where nothing is known.
    #[serde(default, skip_serializing_if = "is_zero")]
    rewriter: u32,
}

/// The file in which the state of a running exploration is saved.
#[derive(Clone, Debug)]
pub struct StateFile {
    path: PathBuf,
    component: Digest,
    plan: Digest,
    program: Option<String>,
    seed: u64,
}

impl StateFile {
    /// The file of the state of an exploration of `component`, which stands there, under `plan`.
    pub fn new((path, place): (PathBuf, Option<ProgramPlace>), component: &[u8], plan: &Plan, seed: u64) -> StateFile {
        let program = place.map(|place| place.as_str().to_owned());
        StateFile { path, component: Digest::of(component), plan: digest_of(plan), program, seed }
    }

    /// Writes a state of now, whole, in the place of the one before. A process that is killed loses nothing of it.
    pub fn write(&self, (runs, steps): (u64, u64), progress: SavedProgress) -> Result<(), CampaignError> {
        let StateFile { path, component, plan, program, seed } = self.clone();
        let state = ExploreState::of((component, plan, program), (seed, runs, steps), progress);
        state.write_as(&path, Durability::Cached)
    }
}

/// Whether a file says that it is a state of an exploration.
pub fn is_state(path: &Path) -> bool {
    let mut head = [0; 64];
    let read = std::fs::File::open(path).and_then(|mut file| file.read(&mut head));
    let read = read.unwrap_or_default();
    head[..read].windows(FORMAT.len()).any(|window| window == FORMAT.as_bytes())
}

/// What identifies a plan, whatever the length of its runs.
fn digest_of(plan: &Plan) -> Digest {
    let plan = Plan { scenario: None, ..plan.clone() };
    Digest::of(&serde_json::to_vec(&plan).expect("our own types are JSON"))
}

impl ExploreState {
    /// The state of an exploration of `component` under `plan`, with the paths to places and to findings.
    pub fn new(
        component: &[u8],
        plan: &Plan,
        (seed, runs, steps): (u64, u64, u64),
        (stories, findings): (Vec<DecisionPath>, Vec<DecisionPath>),
    ) -> ExploreState {
        let progress = SavedProgress { places: stories, findings, known: KnownCoverage::default() };
        ExploreState::of((Digest::of(component), digest_of(plan), None), (seed, runs, steps), progress)
    }

    fn of(
        (component, plan, program): (Digest, Digest, Option<String>),
        (seed, runs, steps): (u64, u64, u64),
        SavedProgress { places: stories, findings, known }: SavedProgress,
    ) -> ExploreState {
        let (format, version, rewriter) = (FORMAT.to_owned(), VERSION, rewriter_of(&known));
        ExploreState {
            format,
            version,
            component,
            program,
            plan,
            seed,
            runs,
            steps,
            stories,
            findings,
            known,
            rewriter,
        }
    }

    /// The same, of an exploration that has seen this.
    #[must_use]
    pub fn knowing(self, known: KnownCoverage) -> ExploreState {
        ExploreState { rewriter: rewriter_of(&known), known, ..self }
    }

    /// The same, of the program that stands there.
    #[must_use]
    pub fn at(self, place: Option<&ProgramPlace>) -> ExploreState {
        ExploreState { program: place.map(|place| place.as_str().to_owned()), ..self }
    }

    /// Of two states of one program under one plan, which went on apart: one with the paths of both, each once. Runs are those of the longer one, since
    /// some are of both.
    #[must_use]
    pub fn joined(own: &[u8], other: &[u8]) -> Option<Vec<u8>> {
        let read = |bytes: &[u8]| serde_json::from_slice::<ExploreState>(bytes).ok();
        let (mut own, other) = (read(own)?, read(other)?);
        let identity = |state: &ExploreState| (state.format.clone(), state.version, state.component, state.plan);
        if identity(&own) != identity(&other) || own.format != FORMAT || own.version != VERSION {
            return None;
        }
        let join = |own: &mut Vec<DecisionPath>, other: Vec<DecisionPath>| {
            let text = |path: &DecisionPath| serde_json::to_vec(path).unwrap_or_default();
            let mut known: BTreeSet<Digest> = own.iter().map(|path| Digest::of(&text(path))).collect();
            own.extend(other.into_iter().filter(|path| known.insert(Digest::of(&text(path)))));
        };
        join(&mut own.stories, other.stories);
        join(&mut own.findings, other.findings);
        if own.known.is_empty() {
            (own.known, own.rewriter) = (other.known, other.rewriter);
        } else if own.rewriter == other.rewriter {
            own.known.unite(&other.known);
        }
        (own.runs, own.steps) = (own.runs.max(other.runs), own.steps.max(other.steps));
        serde_json::to_vec(&own).ok()
    }

    /// The file of a program's state, unless another one is named.
    pub fn path(base_dir: &Path, name: &str, place: Option<&ProgramPlace>) -> PathBuf {
        let of = |key: &str| base_dir.join("explore").join(format!("{key}.json"));
        match place {
            Some(place) => of(&place.key(name, owner(&of(name)).as_deref())),
            None => of(name),
        }
    }

    /// Writes it, in the place of an older one.
    pub fn write(&self, path: &Path) -> Result<(), CampaignError> {
        self.write_as(path, Durability::Synced)
    }

    fn write_as(&self, path: &Path, durability: Durability) -> Result<(), CampaignError> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)
                .map_err(|error| at_path(ErrorKind::Store, "cannot make", folder, &error))?;
        }
        let bytes =
            serde_json::to_vec(self).map_err(|error| CampaignError::new(ErrorKind::Internal, error.to_string()))?;
        write_atomic(path, &bytes, durability).map_err(|error| at_path(ErrorKind::Store, "cannot write", path, &error))
    }

    /// Reads one that is of this program and plan.
    pub fn read(path: &Path, component: &[u8], plan: &Plan) -> Result<ExploreState, CampaignError> {
        let failed = |error: std::io::Error| at_path(ErrorKind::State, "cannot read", path, &error);
        let bytes = std::fs::metadata(path).map_err(failed)?.len();
        if bytes > BYTES_MAX {
            let message = format!("{} has {bytes} bytes, at most {BYTES_MAX} are read", path.display());
            return Err(CampaignError::new(ErrorKind::State, message));
        }
        let text = std::fs::read(path).map_err(failed)?;
        let refused = |why: String| {
            CampaignError::new(ErrorKind::State, format!("{}: {why}", path.display()))
                .hint("leave out --resume to begin anew")
        };
        #[derive(Deserialize)]
        #[serde(expecting = "a state of an exploration")]
        struct Head {
            format: Option<String>,
            version: Option<u32>,
        }
        let parsed = |error: serde_json::Error| match error.is_data() {
            true => refused(format!("it is no state of an exploration: {error}")),
            false => refused(format!("it is not whole: {error}")),
        };
        let head: Head = serde_json::from_slice(&text).map_err(parsed)?;
        if head.format.as_deref() != Some(FORMAT) {
            return Err(refused("it is no state of an exploration".to_owned()));
        }
        if head.version != Some(VERSION) {
            let found = head.version.map_or("none".to_owned(), |version| version.to_string());
            return Err(refused(format!("expected version {VERSION}, found {found}")));
        }
        let state: ExploreState = serde_json::from_slice(&text).map_err(parsed)?;
        if state.component != Digest::of(component) {
            return Err(refused("it is of another program, or of another build of it".to_owned()));
        }
        if state.plan != digest_of(plan) {
            return Err(refused("it is of another plan: other faults, files, environment or limits".to_owned()));
        }
        let is_of_ours = state.rewriter == rewriter_of(&state.known);
        Ok(if is_of_ours { state } else { state.knowing(KnownCoverage::default()) })
    }
}

/// The version of the rewriter that numbers the edges of today.
fn rewriter_of(known: &KnownCoverage) -> u32 {
    if known.is_empty() { 0 } else { REWRITER_VERSION }
}

fn is_zero<T: Default + PartialEq>(number: &T) -> bool {
    *number == T::default()
}

/// The place of the program that a state is of; `None` where there is no state, or it is of an older version.
fn owner(path: &Path) -> Option<String> {
    #[derive(Deserialize)]
    struct Owner {
        program: Option<String>,
    }
    let is_small = std::fs::metadata(path).is_ok_and(|file| file.len() <= BYTES_MAX);
    let text = is_small.then(|| std::fs::read(path).ok()).flatten()?;
    serde_json::from_slice::<Owner>(&text).ok()?.program
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(edges: &str) -> KnownCoverage {
        let text = format!("{{\"edges\": {{\"7\": {{\"classes\": {edges}, \"often\": []}}}}}}");
        serde_json::from_str(&text).expect("what was seen")
    }

    fn state(steps: u32) -> ExploreState {
        let place = DecisionPath { answers: Vec::new(), steps };
        ExploreState::new(b"program", &Plan::default(), (1, 2, 3), (vec![place], Vec::new()))
    }

    #[test]
    fn what_another_rewriter_has_seen_is_left_out_and_its_places_are_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("state.json");
        let read = || ExploreState::read(&path, b"program", &Plan::default()).expect("a state");
        state(1).knowing(known("[1, 2]")).write(&path).expect("written");
        assert_eq!((read().known, read().stories.len()), (known("[1, 2]"), 1));
        let text = std::fs::read_to_string(&path).expect("read");
        let ours = format!("\"rewriter\":{REWRITER_VERSION}");
        assert!(text.contains(&ours), "{text}");
        std::fs::write(&path, text.replace(&ours, "\"rewriter\":4000000000")).expect("written");
        assert!(read().known.is_empty() && read().stories.len() == 1);
        // One that knows nothing is as versions of before write it.
        state(1).write(&path).expect("written");
        let text = std::fs::read_to_string(&path).expect("read");
        assert!(!text.contains("known") && !text.contains("rewriter"), "{text}");
    }

    #[test]
    fn two_states_are_joined_with_what_one_rewriter_has_seen() {
        let bytes = |state: &ExploreState| serde_json::to_vec(state).expect("JSON");
        let of = |rewriter: u32, edges: &str| ExploreState { rewriter, ..state(rewriter).knowing(known(edges)) };
        let joined = |own: &ExploreState, other: &ExploreState| {
            let joined = ExploreState::joined(&bytes(own), &bytes(other)).expect("of one program");
            let joined: ExploreState = serde_json::from_slice(&joined).expect("a state");
            (joined.stories.len(), joined.rewriter, joined.known)
        };
        let (one, same, other, none) = (of(7, "[1, 2]"), of(7, "[4, 2]"), of(8, "[8, 8]"), state(9));
        assert_eq!(joined(&one, &same), (1, 7, known("[5, 2]")));
        assert_eq!(joined(&one, &other), (2, 7, known("[1, 2]")));
        assert_eq!(joined(&none, &other), (2, 8, known("[8, 8]")));
        assert_eq!(joined(&one, &none), (2, 7, known("[1, 2]")));
    }
}
