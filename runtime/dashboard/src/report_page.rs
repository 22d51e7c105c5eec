//! The page of one run, made by a process of its own: it executes the program again.
//!
//! Invariants: one at a time; it ends in time or is killed; who goes away meanwhile ends it.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::Semaphore;

/// Real time of one page.
const TIME_MAX: Duration = Duration::from_secs(120);
/// Bytes of one page.
const BYTES_MAX: u64 = 64 << 20;
/// Bytes of what is said when there is none.
const REASON_BYTES_MAX: u64 = 4 << 10;

/// One at a time: each executes a program.
static TURN: Semaphore = Semaphore::const_new(1);

/// The page of a run that a selector names, or why there is none.
pub(crate) async fn report_page(program: &Path, selector: &std::ffi::OsStr) -> Result<Vec<u8>, String> {
    let _turn = TURN.acquire().await.map_err(|error| error.to_string())?;
    let mut command = tokio::process::Command::new(program);
    command.args(["report", "show"]).arg(selector).args(["--format", "html"]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn().map_err(|error| format!("cannot run fozzy: {error}"))?;
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let work = async {
        let (page, reason) = tokio::join!(read(out, BYTES_MAX), read(err, REASON_BYTES_MAX));
        // A pipe that is closed early ends who writes too much.
        (child.wait().await, page, reason)
    };
    let Ok((status, page, reason)) = tokio::time::timeout(TIME_MAX, work).await else {
        return Err(format!("it took longer than {} seconds", TIME_MAX.as_secs()));
    };
    match status {
        Ok(status) if status.success() => Ok(page),
        Ok(_) => Err(String::from_utf8_lossy(&reason).into_owned()),
        Err(error) => Err(error.to_string()),
    }
}

async fn read(pipe: Option<impl AsyncRead + Unpin>, bytes_max: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(pipe) = pipe {
        // What came before an error is what there is.
        let _ = pipe.take(bytes_max).read_to_end(&mut bytes).await;
    }
    bytes
}
