//! `fozzy debug`: a recorded run in the debugger, by a terminal or a script.
//!
//! Not here: what the commands do (`fozzy-campaign`).

use crate::args::DebugArgs;
use crate::context::Context;
use crate::error::{CliError, ErrorKind, at_path};
use crate::output::{self, EXIT_ERROR};
use fozzy_campaign::debug::{Console, DebugAdapter, DebugSession, GdbServer};
use fozzy_campaign::selector;
use std::io::{self, BufRead, IsTerminal};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::process::ExitCode;

/// What stands before a command.
const PROMPT: &str = "(fozzy) ";

pub(crate) fn debug(context: &Context, args: &DebugArgs) -> Result<ExitCode, CliError> {
    if context.printer.json {
        let message = "debug has no JSON document: it is a conversation";
        return Err(CliError::new(ErrorKind::Usage, message).hint("leave out --json; --dap speaks JSON with an editor"));
    }
    let script = match &args.commands {
        Some(path) => Some(
            std::fs::read_to_string(path).map_err(|error| at_path(ErrorKind::Usage, "cannot read", path, &error))?,
        ),
        None => None,
    };
    let path = selector::trace_path(&args.trace, &context.runs)?;
    if args.dap {
        return served(DebugAdapter::new(&path, args.source_map.clone()).serve(io::stdin(), io::stdout()));
    }
    if let Some(port) = args.dap_port {
        return served_on(port, DebugAdapter::new(&path, args.source_map.clone()));
    }
    if let Some(port) = args.gdb_port {
        let (input, stream) = client_on(port, |address| {
            format!("waiting for lldb: process connect --plugin wasm connect://{address}\n")
        })?;
        GdbServer::new(&path).serve(input, stream)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut console = Console::new(DebugSession::open(&path)?, args.source_map.clone());
    output::show(&console.greeting()?);
    match script {
        Some(script) => Ok(run(&mut console, script.lines().map(|line| Ok(line.to_owned())), Source::Script)),
        None if io::stdin().is_terminal() => Ok(run(&mut console, prompted(), Source::Terminal)),
        None => Ok(run(&mut console, io::stdin().lock().lines(), Source::Script)),
    }
}

/// Serves the first editor that comes to a port.
fn served_on(port: u16, adapter: DebugAdapter) -> Result<ExitCode, CliError> {
    let (input, stream) = client_on(port, |address| format!("waiting for an editor at {address}\n"))?;
    served(adapter.serve(input, stream))
}

/// The first client that comes to a port of this machine.
fn client_on(port: u16, words: impl Fn(SocketAddr) -> String) -> Result<(TcpStream, TcpStream), CliError> {
    let refused = |error: io::Error| CliError::new(ErrorKind::Usage, format!("port {port}: {error}"));
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(refused)?;
    let address = listener.local_addr().map_err(refused)?;
    output::say(&words(address));
    let (stream, _) = listener.accept().map_err(refused)?;
    // A second client is refused, not kept waiting.
    drop(listener);
    // Small packets of a conversation.
    stream.set_nodelay(true).map_err(refused)?;
    Ok((stream.try_clone().map_err(refused)?, stream))
}

fn served(end: Result<(), String>) -> Result<ExitCode, CliError> {
    match end {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(why) => Err(CliError::new(ErrorKind::Usage, format!("the editor's connection: {why}"))),
    }
}

/// Where commands come from.
#[derive(Clone, Copy, PartialEq)]
enum Source {
    /// A person, who sees what was typed.
    Terminal,
    /// A file or a pipe: each command is shown, and one that is refused makes the exit code.
    Script,
}

/// Lines of the terminal, each behind a prompt.
fn prompted() -> impl Iterator<Item = io::Result<String>> {
    std::iter::from_fn(|| {
        output::show(PROMPT);
        let mut line = String::new();
        match io::stdin().read_line(&mut line) {
            Ok(0) => None,
            Ok(_) => Some(Ok(line)),
            Err(error) => Some(Err(error)),
        }
    })
}

fn run(console: &mut Console, lines: impl Iterator<Item = io::Result<String>>, source: Source) -> ExitCode {
    let mut code = ExitCode::SUCCESS;
    for line in lines.map_while(Result::ok) {
        let line = line.trim_end();
        if source == Source::Script {
            // An empty line of a script is for people.
            if line.trim().is_empty() || line.trim_start().starts_with('#') {
                continue;
            }
            output::show(&format!("{PROMPT}{line}\n"));
        }
        let reply = console.command(line);
        output::show(&reply.text);
        if reply.is_refused && source == Source::Script {
            code = ExitCode::from(EXIT_ERROR);
        }
        if reply.is_over {
            break;
        }
    }
    code
}
