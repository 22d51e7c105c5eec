//! Our own commands, as processes of their own: a step that crashes or hangs takes no gate with it.
//!
//! Invariants: a command is ended when its time is over; it reads nothing from our standard input; its document goes to a file,
//! so that none is too long for a pipe.

use crate::error::{CampaignError, ErrorKind};
use crate::wall_clock::{Stopwatch, pause};
use serde_json::Value;
use std::ffi::{OsStr, OsString};
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Real time of one command. It builds crates, on a busy machine too; what takes longer hangs.
const COMMAND_TIME_MAX: Duration = Duration::from_secs(600);
/// Between two looks whether it has ended.
const LOOK_EVERY: Duration = Duration::from_millis(5);
/// Bytes of a document that are read: some hundred times what a large suite prints.
const DOCUMENT_BYTES_MAX: u64 = 1 << 30;

/// What runs our commands, and the folder for what they write.
pub struct CommandRunner {
    program: PathBuf,
    globals: Vec<OsString>,
    scratch: tempfile::TempDir,
}

/// What a command said.
pub struct CommandOutput {
    /// `None` when its time was over, or a signal ended it.
    pub code: Option<i32>,
    /// Its document; null when it printed none.
    pub document: Value,
    /// What to type to have it again.
    pub command: String,
}

impl CommandRunner {
    /// Commands of this binary, which write under `base_dir`, each with these flags.
    pub fn new(base_dir: &Path, globals: Vec<OsString>) -> Result<CommandRunner, CampaignError> {
        let failed =
            |what: &str, error: std::io::Error| CampaignError::new(ErrorKind::Gate, format!("{what}: {error}"));
        let program = std::env::current_exe().map_err(|error| failed("cannot find fozzy's own binary", error))?;
        let folder = std::path::absolute(base_dir.join("gates"));
        let folder = folder.and_then(|folder| std::fs::create_dir_all(&folder).map(|()| folder));
        let scratch = folder.and_then(|folder| tempfile::Builder::new().prefix("steps-").tempdir_in(folder));
        let scratch = scratch
            .map_err(|error| failed(&format!("cannot make a folder for the steps in {}", base_dir.display()), error))?;
        Ok(CommandRunner { program, globals, scratch })
    }

    /// A place for something that a step writes.
    pub fn place(&self, name: &str) -> String {
        self.scratch.path().join(name).display().to_string()
    }

    /// Whether a step has written that.
    pub fn has(&self, name: &str) -> bool {
        self.scratch.path().join(name).exists()
    }

    /// Writes a file there.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<String, CampaignError> {
        let path = self.scratch.path().join(name);
        let written = std::fs::write(&path, bytes);
        written.map_err(|error| crate::error::at_path(ErrorKind::Gate, "cannot write", &path, &error))?;
        Ok(path.display().to_string())
    }

    /// Makes a folder there.
    pub fn folder(&self, name: &str) -> Result<String, CampaignError> {
        let path = self.scratch.path().join(name);
        let made = std::fs::create_dir_all(&path);
        made.map_err(|error| crate::error::at_path(ErrorKind::Gate, "cannot create", &path, &error))?;
        Ok(path.display().to_string())
    }

    /// Leaves what the steps have written where it is, since commands that repeat a failure name it.
    pub fn keep(self) -> PathBuf {
        self.scratch.keep()
    }

    /// Runs one of our commands to its end.
    pub fn run<S: AsRef<OsStr>>(&self, words: &[S]) -> Result<CommandOutput, CampaignError> {
        let failed = |error: std::io::Error| CampaignError::new(ErrorKind::Gate, format!("cannot run a step: {error}"));
        let mut out = tempfile::tempfile().map_err(failed)?;
        let mut command = Command::new(&self.program);
        command.args(words).arg("--json").args(&self.globals);
        command.stdin(Stdio::null()).stdout(out.try_clone().map_err(failed)?).stderr(Stdio::null());
        // Marks for people that stand in no document.
        command.env_remove("GITHUB_ACTIONS");
        let watch = Stopwatch::start();
        let mut child = command.spawn().map_err(failed)?;
        let code = loop {
            match child.try_wait().map_err(failed)? {
                Some(status) => break status.code(),
                None if watch.elapsed() > COMMAND_TIME_MAX => {
                    let _ = child.kill();
                    child.wait().map_err(failed)?;
                    break None;
                }
                None => pause(LOOK_EVERY),
            }
        };
        let mut text = String::new();
        out.rewind().map_err(failed)?;
        let _ = out.take(DOCUMENT_BYTES_MAX).read_to_string(&mut text);
        let document = serde_json::from_str(&text).unwrap_or(Value::Null);
        let words = words.iter().map(|word| fozzy_report::shell_word(&word.as_ref().to_string_lossy()));
        let command = std::iter::once("fozzy".to_owned()).chain(words).collect::<Vec<String>>().join(" ");
        Ok(CommandOutput { code, document, command })
    }
}

impl CommandOutput {
    /// Text at a path of keys; empty when there is none.
    pub fn text(&self, pointer: &str) -> &str {
        self.document.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
    }

    /// Whether there is `true` at a path of keys.
    pub fn is(&self, pointer: &str) -> bool {
        self.document.pointer(pointer).and_then(Value::as_bool).unwrap_or_default()
    }

    /// Why it did not do what it should, and how to have it again.
    pub fn why(&self) -> String {
        let said = match self.text("/message") {
            "" => match self.text("/findings/0/title") {
                "" => self.document.pointer("/status").and_then(Value::as_str).unwrap_or("no document").to_owned(),
                title => format!("{}: {title}", self.text("/status")),
            },
            message => message.lines().next().unwrap_or_default().to_owned(),
        };
        match self.code {
            Some(code) => format!("exit {code}: {said}; {}", self.command),
            None => format!("it did not end within {} s; {}", COMMAND_TIME_MAX.as_secs(), self.command),
        }
    }
}
