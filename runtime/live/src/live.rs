//! The real computer behind [`LiveBackend`]: what an execution with live backends asks, and nothing else.
//!
//! ```text
//! Ask ──▶ Live { files: below the root, http, processes } ──▶ Answer
//!              └─ Secrets: placeholders out, secrets in; and back
//! ```
//!
//! Invariants: what is not switched on cannot be reached; nothing here reads the environment, so that the caller
//! says which variables matter; every answer is bounded, in bytes and in time, by a named constant.
//! How long an answer took is returned beside it, if the policy says so.
//! Not here: recording (the caller's source of decisions), when an answer arrives in virtual time (`fozzy-world`).

use crate::deadline::AnswerTimer;
use crate::files::FileBackend;
use crate::http::HttpBackend;
use crate::process::ProcessBackend;
use crate::secrets::Secrets;
use fozzy_trace::observation::{AnswerTime, BackendRequest, BackendResponse, LiveBackend};
use fozzy_trace::plan::{Inputs, LivePolicy, RedactionPolicy};
use std::path::PathBuf;

/// What of the real computer is there for the guest.
#[derive(Clone)]
pub struct LiveOptions {
    /// The directory that guests see as their root, and in which processes start. Nothing outside it is reached
    /// through files.
    pub root: PathBuf,
    /// What of it guests do not see: a path below the root, without `.` and `..`.
    pub hidden: Option<PathBuf>,
    /// Whether files are live.
    pub files: bool,
    /// Whether HTTP is live.
    pub http: bool,
    /// Whether processes are live. They are as free as any program that the user starts.
    pub processes: bool,
    /// Where commands without a slash are looked for, in this order: the real `PATH`, split by the caller. Relative
    /// directories are passed over. The guest's own `PATH` is its child's matter only.
    pub path: Vec<PathBuf>,
    /// What must not enter the sandbox: a placeholder (`<redacted:NAME>`) and the value that it stands for.
    pub secrets: Vec<(String, String)>,
    /// Which response headers hold more such values. Its environment names are the caller's matter.
    pub redact: RedactionPolicy,
    /// Which hosts and commands may be asked. With one of the two lists, only what stands in a list is given secrets.
    pub policy: LivePolicy,
    /// Certificates (DER) that HTTPS trusts besides Mozilla's.
    pub trusted_certificates: Vec<Vec<u8>>,
}

impl std::fmt::Debug for LiveOptions {
    /// Without the secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let LiveOptions { root, hidden, files, http, processes, path, secrets: _, redact, policy, .. } = self;
        let mut shown = f.debug_struct("LiveOptions");
        shown
            .field("root", root)
            .field("hidden", hidden)
            .field("files", files)
            .field("http", http)
            .field("processes", processes);
        shown.field("path", path).field("redact", redact).field("policy", policy).finish_non_exhaustive()
    }
}

impl LiveOptions {
    /// Nothing but `root`.
    #[must_use]
    pub fn new(root: impl Into<PathBuf>) -> LiveOptions {
        LiveOptions {
            root: root.into(),
            hidden: None,
            files: false,
            http: false,
            processes: false,
            path: Vec::new(),
            secrets: Vec::new(),
            redact: RedactionPolicy::default(),
            policy: LivePolicy::default(),
            trusted_certificates: Vec::new(),
        }
    }
}

/// Why the real computer cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LiveError {
    /// The root cannot be opened.
    #[error("cannot use `{}` as the root of live files and processes: {source}", root.display())]
    Root {
        /// The directory.
        root: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// The secrets are none.
    #[error("cannot keep the secrets: {0}")]
    Secrets(String),
    /// A certificate is none.
    #[error("cannot trust certificate {index}: {problem}")]
    Certificate {
        /// Its place in the list, from 0.
        index: usize,
        /// What is wrong with it.
        problem: String,
    },
}

/// See the module.
pub struct LiveComputer {
    files: Option<FileBackend>,
    http: Option<HttpBackend>,
    processes: Option<ProcessBackend>,
    secrets: Secrets,
    is_measured: bool,
    took: Option<AnswerTime>,
}

impl std::fmt::Debug for LiveComputer {
    /// Without the secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Live")
    }
}

impl LiveComputer {
    /// The parts of the real computer that `options` opens.
    ///
    /// # Errors
    /// For a root that is no directory, placeholders that are none and certificates that are none.
    pub fn new(options: LiveOptions) -> Result<LiveComputer, LiveError> {
        let failed = |source| LiveError::Root { root: options.root.clone(), source };
        let files = options
            .files
            .then(|| FileBackend::new(&options.root, options.hidden.clone()))
            .transpose()
            .map_err(failed)?;
        let http =
            options.http.then(|| HttpBackend::new(&options.trusted_certificates, &options.policy)).transpose()?;
        let processes = options.processes.then(|| ProcessBackend::new(&options.root, options.path, &options.policy));
        let processes = processes.transpose().map_err(failed)?;
        let secrets = Secrets::new(&options.secrets, &options.redact).map_err(LiveError::Secrets)?;
        Ok(LiveComputer { files, http, processes, secrets, is_measured: options.policy.measured, took: None })
    }
}

impl LiveBackend for LiveComputer {
    fn answer(&mut self, ask: &BackendRequest, bytes: &mut Inputs) -> Result<BackendResponse, String> {
        let watch = AnswerTimer::start();
        let answer = self.ask(ask, bytes)?;
        let whole = watch.elapsed();
        let head =
            self.http.as_ref().filter(|_| matches!(answer, BackendResponse::Http(_))).and_then(HttpBackend::head_took);
        self.took = self.is_measured.then(|| AnswerTime { first: head.unwrap_or(whole).min(whole), whole });
        Ok(answer)
    }

    fn took(&self) -> Option<AnswerTime> {
        self.took
    }
}

impl LiveComputer {
    fn ask(&mut self, ask: &BackendRequest, bytes: &mut Inputs) -> Result<BackendResponse, String> {
        let off = |what: &str| format!("an execution asked for live {what}, which is not switched on");
        match ask {
            BackendRequest::File(ask) => {
                let files = self.files.as_mut().ok_or_else(|| off("files"))?;
                Ok(BackendResponse::File(files.answer(ask, &self.secrets, bytes)))
            }
            BackendRequest::Http(ask) => {
                let http = self.http.as_ref().ok_or_else(|| off("HTTP"))?;
                http.answer(ask, &mut self.secrets, bytes).map(BackendResponse::Http)
            }
            BackendRequest::Process(ask) => {
                let processes = self.processes.as_ref().ok_or_else(|| off("processes"))?;
                processes.answer(ask, &self.secrets, bytes).map(BackendResponse::Process)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fozzy_trace::observation::{FileOperation, FileRequest, FileResponse, HttpBackendRequest, ProcessRequest};
    use fozzy_trace::plan::HttpFailure;
    use fozzy_trace::{Digest, Errno};

    fn asks() -> [BackendRequest; 3] {
        let empty = Digest::of(b"");
        let url = "no-url".to_owned();
        let http =
            HttpBackendRequest { method: "GET".to_owned(), url, headers: Vec::new(), body: empty, timeout: None };
        let process = ProcessRequest {
            command: String::new(),
            args: Vec::new(),
            env: Vec::new(),
            cwd: None,
            stdin: empty,
            deadline: None,
        };
        let file = FileRequest { on: 5, operation: FileOperation::Stat };
        [BackendRequest::File(file), BackendRequest::Http(http), BackendRequest::Process(process)]
    }

    #[test]
    fn only_what_is_switched_on_is_reached() {
        let root = tempfile::tempdir().expect("a temporary directory");
        let mut inputs = Inputs::default();
        let mut off = LiveComputer::new(LiveOptions::new(root.path())).expect("nothing is needed");
        for ask in asks() {
            let error = off.answer(&ask, &mut inputs).expect_err("it is off");
            assert!(error.contains("not switched on"), "{error}");
        }
        let options = LiveOptions { files: true, http: true, processes: true, ..LiveOptions::new(root.path()) };
        let mut on = LiveComputer::new(options).expect("the root is there");
        for ask in asks() {
            let answer = on.answer(&ask, &mut inputs).expect("it is on");
            assert!(ask.fits(&answer), "{answer:?}");
            let refused = matches!(
                answer,
                BackendResponse::File(Err(Errno::BadDescriptor))
                    | BackendResponse::Http(Err(HttpFailure::Reset))
                    | BackendResponse::Process(Err(fozzy_trace::observation::ProcessFailure::NotFound))
            );
            assert!(refused, "{answer:?}");
        }
        let stat = BackendRequest::File(FileRequest { on: 0, operation: FileOperation::Stat });
        assert!(matches!(on.answer(&stat, &mut inputs), Ok(BackendResponse::File(Ok(FileResponse::Stat(_))))));
    }

    #[test]
    fn what_cannot_be_used_is_refused_by_name() {
        let refused = |options: LiveOptions, expected: &str| {
            let error = LiveComputer::new(options).expect_err(expected).to_string();
            assert!(error.contains(expected), "expected `{expected}` in `{error}`");
        };
        refused(LiveOptions { files: true, ..LiveOptions::new("/no/such/root") }, "`/no/such/root`");
        refused(LiveOptions { processes: true, ..LiveOptions::new("/dev/null") }, "`/dev/null`");
        refused(LiveOptions { secrets: vec![("A".into(), "b".into())], ..LiveOptions::new("/") }, "`A`");
        let certificate = LiveOptions { http: true, trusted_certificates: vec![vec![1]], ..LiveOptions::new("/") };
        refused(certificate, "certificate 0");
    }
}
