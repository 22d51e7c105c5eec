//! Our own commands, as processes of their own: a step that crashes or hangs takes no gate with it.
//!
//! Invariants: a command is ended when its time is over; it reads nothing from our standard input; its document goes to a file,
//! so that none is too long for a pipe.

use crate::args::Globals;
use crate::context::Context;
use crate::error::{CliError, ErrorKind};
use clap::ValueEnum;
use fozzy_campaign::wall_clock::{Stopwatch, pause};
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
pub(crate) struct CommandRunner {
    program: PathBuf,
    globals: Vec<OsString>,
    scratch: tempfile::TempDir,
}

/// What a command said.
pub(crate) struct CommandOutput {
    /// `None` when its time was over, or a signal ended it.
    pub(crate) code: Option<i32>,
    /// Its document; null when it printed none.
    pub(crate) document: Value,
    /// What to type to have it again.
    pub(crate) command: String,
}

impl CommandRunner {
    pub(crate) fn new(context: &Context) -> Result<CommandRunner, CliError> {
        let failed = |what: &str, error: std::io::Error| CliError::new(ErrorKind::Gate, format!("{what}: {error}"));
        let program = std::env::current_exe().map_err(|error| failed("cannot find fozzy's own binary", error))?;
        let folder = std::path::absolute(context.project.config.base_dir.join("gates"));
        let folder = folder.and_then(|folder| std::fs::create_dir_all(&folder).map(|()| folder));
        let scratch = folder.and_then(|folder| tempfile::Builder::new().prefix("steps-").tempdir_in(folder));
        let scratch = scratch.map_err(|error| {
            failed(
                &format!("cannot make a folder for the steps in {}", context.project.config.base_dir.display()),
                error,
            )
        })?;
        Ok(CommandRunner { program, globals: passed_on(&context.globals), scratch })
    }

    /// A place for something that a step writes.
    pub(crate) fn place(&self, name: &str) -> String {
        self.scratch.path().join(name).display().to_string()
    }

    /// Whether a step has written that.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.scratch.path().join(name).exists()
    }

    /// Writes a file there.
    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> Result<String, CliError> {
        let path = self.scratch.path().join(name);
        let written = std::fs::write(&path, bytes);
        written.map_err(|error| crate::error::at_path(ErrorKind::Gate, "cannot write", &path, &error))?;
        Ok(path.display().to_string())
    }

    /// Makes a folder there.
    pub(crate) fn folder(&self, name: &str) -> Result<String, CliError> {
        let path = self.scratch.path().join(name);
        let made = std::fs::create_dir_all(&path);
        made.map_err(|error| crate::error::at_path(ErrorKind::Gate, "cannot create", &path, &error))?;
        Ok(path.display().to_string())
    }

    /// Leaves what the steps have written where it is, since commands that repeat a failure name it.
    pub(crate) fn keep(self) -> PathBuf {
        self.scratch.keep()
    }

    /// Runs one of our commands to its end.
    pub(crate) fn run<S: AsRef<OsStr>>(&self, words: &[S]) -> Result<CommandOutput, CliError> {
        let failed = |error: std::io::Error| CliError::new(ErrorKind::Gate, format!("cannot run a step: {error}"));
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
    pub(crate) fn text(&self, pointer: &str) -> &str {
        self.document.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
    }

    /// Whether there is `true` at a path of keys.
    pub(crate) fn is(&self, pointer: &str) -> bool {
        self.document.pointer(pointer).and_then(Value::as_bool).unwrap_or_default()
    }

    /// Why it did not do what it should, and how to have it again.
    pub(crate) fn why(&self) -> String {
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

/// Flags of every command that a step has from us.
fn passed_on(globals: &Globals) -> Vec<OsString> {
    let config = Path::new(&globals.config);
    // A step may work in another folder.
    let config = std::path::absolute(config).ok().filter(|path| path.exists()).unwrap_or_else(|| config.to_owned());
    let mut words: Vec<OsString> = vec!["--config".into(), config.into(), "--log".into(), globals.log.clone().into()];
    if globals.unsafe_ {
        words.push("--unsafe".into());
    }
    let mut backend = |flag: &str, word: Option<String>| words.extend(word.map(|word| format!("{flag}={word}").into()));
    let name = |value: Option<clap::builder::PossibleValue>| value.map(|value| value.get_name().to_owned());
    backend("--fs-backend", name(globals.fs_backend.as_ref().and_then(ValueEnum::to_possible_value)));
    backend("--http-backend", name(globals.http_backend.as_ref().and_then(ValueEnum::to_possible_value)));
    backend("--proc-backend", name(globals.proc_backend.as_ref().and_then(ValueEnum::to_possible_value)));
    backend("--live-durations", name(globals.live_durations.as_ref().and_then(ValueEnum::to_possible_value)));
    globals.allow_host.iter().for_each(|host| backend("--allow-host", Some(host.clone())));
    globals.allow_command.iter().for_each(|command| backend("--allow-command", Some(command.clone())));
    words
}
