//! Arguments of the debugger.

use clap::Args;
use std::path::PathBuf;

/// Executes the recorded run once more, and stops it anywhere: at breakpoints, at instructions, when memory is written, and back from there.
/// Commands are those of gdb, `help` lists them. They come from the terminal, from --commands or from a pipe. Exit code: 0; 2 when
/// the run cannot be executed, or a command of --commands or of a pipe is refused.
#[derive(Debug, Args)]
pub(crate) struct DebugArgs {
    /// A trace, a run's folder or id, or one of latest, last-pass, last-fail.
    pub(crate) trace: String,
    /// Do the commands of this file, one a line, and leave.
    #[arg(long, value_name = "FILE")]
    pub(crate) commands: Option<PathBuf>,
    /// Serve an editor by the Debug Adapter Protocol on standard input and output.
    #[arg(long, conflicts_with = "commands")]
    pub(crate) dap: bool,
    /// Serve one editor by the Debug Adapter Protocol on this port of this machine; 0 takes a free one, and says which.
    #[arg(long, value_name = "PORT", conflicts_with_all = ["commands", "dap"])]
    pub(crate) dap_port: Option<u16>,
    /// Serve LLDB by the remote protocol of gdb on this port of this machine; 0 takes a free one, and says which.
    #[arg(long, value_name = "PORT", conflicts_with_all = ["commands", "dap", "dap_port", "source_map"])]
    pub(crate) gdb_port: Option<u16>,
    /// Read source files whose path begins with OLD below NEW.
    #[arg(long, value_name = "OLD=NEW", value_parser = source_map)]
    pub(crate) source_map: Vec<(String, String)>,
}

fn source_map(text: &str) -> Result<(String, String), String> {
    let (old, new) = text.split_once('=').ok_or("expected OLD=NEW")?;
    Ok((old.to_owned(), new.to_owned()))
}
