//! From what the user named to a program: recognised by content, built first if it is a folder.

use crate::build;
use crate::compiler;
use crate::error::{CampaignError, ErrorKind, at_path};
use crate::options::WorldOptions;
use crate::remarks::Remarks;
use crate::scenario::{self, ScenarioFile};
use crate::selector::unread;
use fozzy_engine::{Cache, LazyInput};
use fozzy_live::SecretHider;
use fozzy_plan::is_plan_name;
use fozzy_report::TargetSummary;
use fozzy_trace::Digest;
use fozzy_trace::file::{RecordedTarget, Recording};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::time::Duration;

/// Bytes of standard input that are read; more is refused, since all of it travels in the trace.
pub(super) const STDIN_BYTES_MAX: u64 = 256 << 20;

/// A program that was read and recognised.
#[derive(Clone, Debug)]
pub struct LoadedTarget {
    /// What traces and reports say of it.
    pub target: RecordedTarget,
    /// The component that is executed.
    pub component: Arc<[u8]>,
    /// Size of the file.
    pub source_bytes: u64,
    /// The scenario file, when the program is the player.
    pub scenario: Option<ScenarioFile>,
    /// The file that was read, if it was one: of a folder, what was built there.
    pub file: Option<PathBuf>,
}

impl LoadedTarget {
    /// A program that is no file: a component or a core module, as bytes or as text.
    pub fn of_bytes(name: &str, bytes: &[u8]) -> Result<LoadedTarget, CampaignError> {
        recognised(name.to_owned(), &Arc::from(bytes), cache().as_ref(), || Digest::of(bytes))
            .map_err(|error| CampaignError::new(ErrorKind::Target, format!("{name}: {error}")))
    }

    /// A scenario file, and its name; the program is the player.
    pub fn of_scenario((name, file): (String, ScenarioFile)) -> LoadedTarget {
        let target = RecordedTarget { name, source: Digest::of(&file.text), kind: scenario::KIND.to_owned() };
        let source_bytes = file.text.len() as u64;
        LoadedTarget { target, component: file.player(), source_bytes, scenario: Some(file), file: None }
    }

    /// The program of a recording.
    pub fn of_recording(recording: &Recording) -> LoadedTarget {
        let (target, component) = (recording.target.clone(), Arc::clone(&recording.component));
        LoadedTarget { target, source_bytes: component.len() as u64, component, scenario: None, file: None }
    }

    /// The target as reports show it.
    pub fn summary(&self) -> TargetSummary {
        TargetSummary::of(&self.target)
    }
}

/// Reads what stands at `path`, by content; a folder is built first, and `remarks` hears what the build prints.
pub fn load(path: &Path, remarks: &Remarks) -> Result<LoadedTarget, CampaignError> {
    if let Some(path) = scenario::named(path) {
        return load_scenario(&path);
    }
    load_made(path, |folder| build::build(folder, remarks))
}

/// Reads what stands at `path` and starts no command: of a folder, what was built there before.
pub fn load_built(path: &Path) -> Result<LoadedTarget, CampaignError> {
    if let Some(path) = scenario::named(path) {
        return load_scenario(&path);
    }
    load_made(path, build::built)
}

/// Reads the program of a file, or of a folder by what `made` finds or makes there.
fn load_made(
    path: &Path,
    made: impl FnOnce(&Path) -> Result<PathBuf, CampaignError>,
) -> Result<LoadedTarget, CampaignError> {
    let metadata = std::fs::metadata(path)
        .map_err(|error| unread(at_path(ErrorKind::Target, "cannot read", path, &error), path))?;
    let file: PathBuf = match metadata.is_dir() {
        true => made(path)?,
        false => path.to_owned(),
    };
    let unreadable = |error: io::Error| at_path(ErrorKind::Target, "cannot read", &file, &error);
    let opened = File::open(&file).map_err(unreadable)?;
    let cache = cache();
    let look = cache.as_ref().map(|cache| cache.look_at(&opened));
    let bytes = read(&opened).map_err(unreadable)?;
    let digest = || look.as_ref().map_or_else(|| Digest::of(&bytes), |look| look.digest(&bytes));
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let refused = |error| {
        let refused = CampaignError::new(ErrorKind::Target, format!("{}: {error}", file.display()));
        match is_plan_name(&file) {
            true => refused.hint("a plan file belongs to --plan; the program that runs under it is the target"),
            false => refused,
        }
    };
    let loaded = recognised(name, &bytes, cache.as_ref(), digest).map_err(refused)?;
    Ok(LoadedTarget { file: Some(file), ..loaded })
}

/// The program that `bytes` are, whose SHA-256 is asked for once they are one.
fn recognised(
    name: String,
    bytes: &Arc<[u8]>,
    cache: Option<&Cache>,
    digest: impl FnOnce() -> Digest,
) -> Result<LoadedTarget, fozzy_engine::LoadError> {
    let (component, kind) = fozzy_engine::load_shared(bytes, cache)?;
    let target = RecordedTarget { name, source: digest(), kind: kind.name().to_owned() };
    Ok(LoadedTarget { target, component, source_bytes: bytes.len() as u64, scenario: None, file: None })
}

/// Reads a scenario file; the program is the player.
fn load_scenario(path: &Path) -> Result<LoadedTarget, CampaignError> {
    let file = scenario::read(path)?;
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(LoadedTarget { file: Some(path.to_owned()), ..LoadedTarget::of_scenario((name, file)) })
}

/// Reads at most one byte more than a program can have: a device without end is refused, not swallowed. What is read is shared from
/// the beginning, so that nothing is copied again.
fn read(mut file: &File) -> io::Result<Arc<[u8]>> {
    let limit = fozzy_engine::PROGRAM_BYTES_MAX as u64 + 1;
    let length = file.metadata()?.len().min(limit) as usize;
    let mut bytes: Arc<[u8]> = std::iter::repeat_n(0, length).collect();
    let place = Arc::get_mut(&mut bytes).expect("nobody else has it yet");
    let mut filled = 0;
    while filled < length {
        match file.read(&mut place[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    // A device has no length, and a file may become another one while it is read.
    let mut rest = Vec::new();
    file.take(limit - filled as u64).read_to_end(&mut rest)?;
    let is_whole = filled == length && rest.is_empty();
    Ok(if is_whole { bytes } else { [&bytes[..filled], &rest[..]].concat().into() })
}

/// The user's cache; without one everything works, only slower.
pub fn cache() -> Option<Cache> {
    cache_for(None)
}

/// The same, for the code of a program with a name.
pub(super) fn cache_for(program: Option<&str>) -> Option<Cache> {
    let opened = cache_directory().map(|directory| Cache::open(&directory));
    let cache = match opened {
        Some(Ok(cache)) => Some(cache),
        Some(Err(error)) => {
            tracing::warn!(%error, "running without the compile cache");
            compiler::temporary_cache()
        }
        None => compiler::temporary_cache(),
    };
    compiler::isolated(cache?, program)
}

/// Where compiled programs are kept: FOZZY_CACHE_DIR, or `fozzy` in the user's cache folder.
#[allow(clippy::disallowed_methods, reason = "a setting of the tool; a cache cannot change what a program does")]
fn cache_directory() -> Option<PathBuf> {
    let named = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    named("FOZZY_CACHE_DIR")
        .or_else(|| named("XDG_CACHE_HOME").map(|base| base.join("fozzy")))
        .or_else(|| named("HOME").map(|home| home.join(".cache").join("fozzy")))
}

/// Standard input from the file that was named; `None` when none was.
pub(super) fn named_stdin(world: &WorldOptions) -> Result<Option<Vec<u8>>, CampaignError> {
    let Some(path) = &world.stdin else { return Ok(None) };
    let file = File::open(path).map_err(|error| at_path(ErrorKind::Stdin, "cannot read", path, &error))?;
    let bytes =
        read_input(file).map_err(|what| CampaignError::new(ErrorKind::Stdin, format!("{}: {what}", path.display())))?;
    Ok(Some(bytes))
}

/// Our own standard input, which is read when the program looks at it.
pub(super) fn own_stdin(remarks: &Remarks, hider: SecretHider) -> Arc<LazyInput> {
    let remarks = remarks.clone();
    let own = move || {
        let done = remark_when_slow(&remarks);
        let read = read_input(io::stdin().lock());
        drop(done);
        read.map(|bytes| hider.bytes(&bytes).into_owned())
    };
    Arc::new(LazyInput::new(own))
}

fn read_input(from: impl Read) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    match from.take(STDIN_BYTES_MAX + 1).read_to_end(&mut bytes) {
        Ok(_) if bytes.len() as u64 > STDIN_BYTES_MAX => {
            Err(format!("standard input has more than the {STDIN_BYTES_MAX} bytes that are read"))
        }
        Ok(_) => Ok(bytes),
        // A closed descriptor (`<&-`) is an empty input, as for any program.
        Err(error) if error.raw_os_error() == Some(9) => Ok(Vec::new()),
        Err(error) => Err(format!("cannot read standard input: {error}")),
    }
}

/// All of standard input is read at the program's first look at it, so a pipe that stays open would look
/// like a hang: after two seconds it is said what is waited for. Dropping the answer ends the watch.
#[allow(clippy::disallowed_methods, reason = "a remark for a person, while no guest code runs")]
fn remark_when_slow(remarks: &Remarks) -> mpsc::Sender<()> {
    let (done, waiting) = mpsc::channel();
    let remarks = remarks.clone();
    std::thread::spawn(move || {
        if waiting.recv_timeout(Duration::from_secs(2)) == Err(mpsc::RecvTimeoutError::Timeout) {
            remarks.text("reading standard input to its end; `-i` gives the program each line as it comes, `< /dev/null` an empty input\n");
        }
    });
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_whole_also_where_its_length_is_not_known() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("program");
        for length in [0, 1, 100_000] {
            let content = vec![7; length];
            std::fs::write(&path, &content).expect("our own folder");
            assert_eq!(*read(&File::open(&path).expect("it is there")).expect("it is read"), content);
        }
        let without_length = File::open("/proc/self/status");
        if let Ok(file) = without_length {
            assert!(read(&file).expect("it is read").starts_with(b"Name:"));
        }
    }

    #[test]
    fn a_program_has_the_digest_of_its_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("program.wat");
        std::fs::write(&path, "(component)").expect("our own folder");
        let loaded = load(&path, &Remarks::default()).expect("a component");
        assert_eq!((loaded.target.source, loaded.source_bytes), (Digest::of(b"(component)"), 11));
        assert!(loaded.component.starts_with(b"\0asm"));
    }
}
