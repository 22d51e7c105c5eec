//! `wasi:cli`: arguments, environment, exit, the standard streams, and terminals, where the plan has one.

use crate::bindings::wasi::cli;
use crate::bindings::{InputStreamResource, OutputStreamResource, TerminalInputResource, TerminalOutputResource};
use crate::call::{GuestStop, Host, Import, misuse};
use fozzy_world::OutputKind;
use fozzy_world::table::{Handle, StreamSink as Output, StreamSource as Input};
use wasmtime::Result;
use wasmtime::component::Resource;

const GET_ENVIRONMENT: Import = Import::new("wasi:cli/environment.get-environment");
const GET_ARGUMENTS: Import = Import::new("wasi:cli/environment.get-arguments");
const INITIAL_CWD: Import = Import::new("wasi:cli/environment.initial-cwd");
const EXIT: Import = Import::new("wasi:cli/exit.exit");
const EXIT_WITH_CODE: Import = Import::new("wasi:cli/exit.exit-with-code");
const GET_STDIN: Import = Import::new("wasi:cli/stdin.get-stdin");
const GET_STDOUT: Import = Import::new("wasi:cli/stdout.get-stdout");
const GET_STDERR: Import = Import::new("wasi:cli/stderr.get-stderr");
const GET_TERMINAL_STDIN: Import = Import::new("wasi:cli/terminal-stdin.get-terminal-stdin");
const GET_TERMINAL_STDOUT: Import = Import::new("wasi:cli/terminal-stdout.get-terminal-stdout");
const GET_TERMINAL_STDERR: Import = Import::new("wasi:cli/terminal-stderr.get-terminal-stderr");
const DROP_TERMINAL: Import = Import::new("wasi:cli/terminal.drop");

impl cli::environment::Host for Host {
    fn get_environment(&mut self) -> Result<Vec<(String, String)>> {
        self.call(GET_ENVIRONMENT, (), |host| Ok(host.node().machine.env.clone()))
    }

    fn get_arguments(&mut self) -> Result<Vec<String>> {
        self.call(GET_ARGUMENTS, (), |host| Ok(host.node().machine.args.clone()))
    }

    fn initial_cwd(&mut self) -> Result<Option<String>> {
        self.call(INITIAL_CWD, (), |host| {
            let cwd = host.node().machine.cwd.clone();
            Ok(Some(cwd.unwrap_or_else(|| "/".to_owned())))
        })
    }
}

impl cli::exit::Host for Host {
    fn exit(&mut self, status: std::result::Result<(), ()>) -> Result<()> {
        let code = u32::from(status.is_err());
        self.call(EXIT, code, |_| Err(GuestStop::Exit { code }))
    }

    fn exit_with_code(&mut self, code: u8) -> Result<()> {
        let code = u32::from(code);
        self.call(EXIT_WITH_CODE, code, |_| Err(GuestStop::Exit { code }))
    }
}

impl Host {
    fn open<T>(&mut self, import: Import, handle: Handle) -> Result<Resource<T>> {
        let rep = self.call(import, (), |host| host.node_mut().table.insert(handle).map_err(misuse(import)))?;
        Ok(Resource::new_own(rep))
    }
}

impl Host {
    /// A handle of the terminal, if the machine has one.
    fn terminal<T>(&mut self, import: Import, handle: Handle) -> Result<Option<Resource<T>>> {
        let rep = self.call(import, (), |host| {
            if !host.node().stdin.is_terminal() {
                return Ok(None);
            }
            host.node_mut().table.insert(handle).map(Some).map_err(misuse(import))
        })?;
        Ok(rep.map(Resource::new_own))
    }

    fn drop_terminal(&mut self, rep: u32) -> Result<()> {
        self.call(DROP_TERMINAL, rep, |host| {
            drop(host.node_mut().table.remove(rep).map_err(misuse(DROP_TERMINAL))?);
            Ok(())
        })
    }
}

impl cli::stdin::Host for Host {
    fn get_stdin(&mut self) -> Result<Resource<InputStreamResource>> {
        self.open(GET_STDIN, Handle::InputStream(Input::Stdin))
    }
}

impl cli::stdout::Host for Host {
    fn get_stdout(&mut self) -> Result<Resource<OutputStreamResource>> {
        self.open(GET_STDOUT, Handle::OutputStream(Output::Standard(OutputKind::Stdout)))
    }
}

impl cli::stderr::Host for Host {
    fn get_stderr(&mut self) -> Result<Resource<OutputStreamResource>> {
        self.open(GET_STDERR, Handle::OutputStream(Output::Standard(OutputKind::Stderr)))
    }
}

impl cli::terminal_input::Host for Host {}
impl cli::terminal_output::Host for Host {}

impl cli::terminal_input::HostTerminalInput for Host {
    fn drop(&mut self, handle: Resource<TerminalInputResource>) -> Result<()> {
        self.drop_terminal(handle.rep())
    }
}

impl cli::terminal_output::HostTerminalOutput for Host {
    fn drop(&mut self, handle: Resource<TerminalOutputResource>) -> Result<()> {
        self.drop_terminal(handle.rep())
    }
}

impl cli::terminal_stdin::Host for Host {
    fn get_terminal_stdin(&mut self) -> Result<Option<Resource<TerminalInputResource>>> {
        self.terminal(GET_TERMINAL_STDIN, Handle::TerminalInput)
    }
}

impl cli::terminal_stdout::Host for Host {
    fn get_terminal_stdout(&mut self) -> Result<Option<Resource<TerminalOutputResource>>> {
        self.terminal(GET_TERMINAL_STDOUT, Handle::TerminalOutput)
    }
}

impl cli::terminal_stderr::Host for Host {
    fn get_terminal_stderr(&mut self) -> Result<Option<Resource<TerminalOutputResource>>> {
        self.terminal(GET_TERMINAL_STDERR, Handle::TerminalOutput)
    }
}
