//! Pages and documents for which a program is executed: each is made by a command of ours in a process of its own, so that a program that hangs or
//! is hostile is far from the fleet.
//!
//! ```text
//! ExecutedSubject ─▶ words (DashboardSource) ─▶ fozzy report show TRACE --format html ─▶ a page
//!                                       fozzy causality TRACE --json           ─▶ a document, or why there is none
//! ```
//!
//! Invariants: one at a time; it ends in time or is killed; who goes away meanwhile ends it.

use crate::source::DashboardSource;
use crate::subject::ExecutedSubject;
use fozzy_campaign::fleet::page_command::TargetMeasure;
use fozzy_report::coverage::CoverageDocument;
use fozzy_report::document::ErrorDocument;
use fozzy_report::fleet::FaultMapDocument;
use fozzy_report::suite::SuiteSummary;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::Semaphore;

/// Real time of one of them.
const TIME_MAX: Duration = Duration::from_secs(120);
/// Its bytes.
const BYTES_MAX: u64 = 64 << 20;
/// Names of executions that a document of coverage has here.
const TRACES_MAX: usize = 100;
/// Bytes of what is said when there is none.
const REASON_BYTES_MAX: u64 = 4 << 10;

/// One at a time: each executes a program.
static TURN: Semaphore = Semaphore::const_new(1);

/// Makes it with these words, which are its own.
pub(crate) async fn execute(
    subject: &ExecutedSubject,
    source: &DashboardSource,
    words: &[String],
) -> Result<Vec<u8>, String> {
    let (has_passed, out, reason) = run(source, words).await?;
    let why = || match serde_json::from_slice::<ErrorDocument>(&out) {
        Ok(error) => error.message,
        Err(_) => String::from_utf8_lossy(&reason).into_owned(),
    };
    match subject {
        // Runs that fail are runs.
        ExecutedSubject::Target(_, TargetMeasure::Faults) => {
            let map = serde_json::from_slice::<SuiteSummary>(&out).map(FaultMapDocument::of);
            map.ok().and_then(|map| serde_json::to_vec(&map).ok()).ok_or_else(why)
        }
        // Of large programs, the whole document has as many edges as the page has no use for.
        ExecutedSubject::Target(_, TargetMeasure::Coverage) if has_passed => {
            let mut coverage: CoverageDocument = serde_json::from_slice(&out).map_err(|error| error.to_string())?;
            for file in coverage.components.iter_mut().flat_map(|component| &mut component.files) {
                (file.functions, file.edges) = (Vec::new(), Vec::new());
            }
            coverage.traces.truncate(TRACES_MAX);
            serde_json::to_vec(&coverage).map_err(|error| error.to_string())
        }
        _ if has_passed => Ok(out),
        _ => Err(why()),
    }
}

/// Whether the command has passed, what it has printed, and what it has said.
async fn run(source: &DashboardSource, words: &[String]) -> Result<(bool, Vec<u8>, Vec<u8>), String> {
    let _turn = TURN.acquire().await.map_err(|error| error.to_string())?;
    let mut command = tokio::process::Command::new(&source.program);
    command.args(words).args(&source.globals).env("FOZZY_STORE", &source.address);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn().map_err(|error| format!("cannot run fozzy: {error}"))?;
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let work = async {
        let (out, reason) = tokio::join!(read(out, BYTES_MAX), read(err, REASON_BYTES_MAX));
        // A pipe that is closed early ends who writes too much.
        (child.wait().await, out, reason)
    };
    let Ok((status, out, reason)) = tokio::time::timeout(TIME_MAX, work).await else {
        return Err(format!("it took longer than {} seconds", TIME_MAX.as_secs()));
    };
    let status = status.map_err(|error| error.to_string())?;
    if out.len() as u64 == BYTES_MAX {
        return Err(format!("it is larger than {} MiB", BYTES_MAX >> 20));
    }
    Ok((status.success(), out, reason))
}

async fn read(pipe: Option<impl AsyncRead + Unpin>, bytes_max: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(pipe) = pipe {
        // What came before an error is what there is.
        let _ = pipe.take(bytes_max).read_to_end(&mut bytes).await;
    }
    bytes
}
