//! The two hosts, each given the same arguments, environment and standard input, and an empty disk with `/tmp`.

use super::http::{self, Hooks, Server};
use crate::fozzy::cache_folder;
use bytes::Bytes;
use fozzy_engine::{Cache, OutputKind, Program, Session, Switches};
use fozzy_live::{LiveComputer, LiveOptions};
use fozzy_trace::plan::{ArrivalPlan, ArrivalTime, Backend, Backends, ChannelPlan, Inputs, MachinePlan, StdinPlan};
use fozzy_trace::source::{RecordedSource, SeededSource};
use fozzy_trace::{Duration, Execution, ExecutionEnd, Executor, Plan, Seed};
use std::collections::{BTreeSet, VecDeque};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};
use tokio::io::AsyncRead;
use wasmtime::component::{Component, Linker, ResourceTable};
use wasmtime::{Engine, Store};
use wasmtime_wasi::async_trait;
use wasmtime_wasi::cli::{IsTerminal, StdinStream};
use wasmtime_wasi::p1::WasiP1Ctx;
use wasmtime_wasi::p2::bindings::sync::CommandPre;
use wasmtime_wasi::p2::pipe::{MemoryInputPipe, MemoryOutputPipe};
use wasmtime_wasi::p2::{InputStream, Pollable, StreamError, StreamResult};
use wasmtime_wasi::{FsPerms, I32Exit, WasiCtx, WasiCtxView, WasiView};
use wasmtime_wasi_http::p2::bindings::sync::ProxyPre;
use wasmtime_wasi_http::{WasiHttpCtx, WasiHttpCtxView, WasiHttpView};

/// The program's own name.
const NAME: &str = "conformance";
const ENVIRONMENT: &[(&str, &str)] = &[("LANG", "C"), ("EMPTY", ""), ("PAIR", "a=b c"), ("WEITE", "gr\u{f6}\u{df}e")];

/// What one run shows of itself.
#[derive(PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: Vec<u8>,
    /// `exit N`, or `trap`.
    pub(super) end: String,
}

/// A host with the guest in it.
pub(super) trait Side {
    /// Runs the guest once, on a fresh disk.
    fn run(&self, arguments: &[&str], stdin: &[u8]) -> Seen;
}

fn command_line(arguments: &[&str]) -> Vec<String> {
    [NAME].iter().chain(arguments).map(|argument| (*argument).to_owned()).collect()
}

/// The component in a file, whatever it was compiled for.
fn component(guest: &Path) -> Vec<u8> {
    let bytes = std::fs::read(guest).expect("the guest is built");
    fozzy_engine::load(&bytes, None).expect("the guest is a program").component
}

/// wasmtime-wasi over a real directory.
pub(super) struct Theirs {
    engine: Engine,
    program: CommandPre<State>,
    /// For the requests that the guest sends to itself, when it handles some.
    handler: Option<ProxyPre<State>>,
    server: Server,
}

pub(super) struct State {
    wasi: WasiCtx,
    http: WasiHttpCtx,
    hooks: Hooks,
    table: ResourceTable,
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

impl WasiHttpView for State {
    fn http(&mut self) -> WasiHttpCtxView<'_> {
        WasiHttpCtxView { ctx: &mut self.http, hooks: &mut self.hooks, table: &mut self.table }
    }
}

impl State {
    /// A guest that sees nothing of the machine: it handles a request.
    pub(super) fn bare(hooks: Hooks) -> State {
        State { wasi: WasiCtx::builder().build(), http: WasiHttpCtx::new(), hooks, table: ResourceTable::new() }
    }
}

impl Theirs {
    pub(super) fn of(guest: &Path) -> Theirs {
        let engine = Engine::default();
        let component = Component::from_binary(&engine, &component(guest)).expect("the guest compiles");
        let mut linker = Linker::new(&engine);
        wasmtime_wasi::p2::add_to_linker_sync(&mut linker).expect("an empty linker takes all of WASI");
        wasmtime_wasi_http::p2::add_only_http_to_linker_sync(&mut linker).expect("HTTP is beside the rest");
        let instance = linker.instantiate_pre(&component).expect("the guest imports WASI only");
        let handler = ProxyPre::new(instance.clone()).ok();
        let program = CommandPre::new(instance).expect("the guest is a command");
        Theirs { engine, program, handler, server: Server::start() }
    }
}

impl Side for Theirs {
    fn run(&self, arguments: &[&str], stdin: &[u8]) -> Seen {
        self.run_with(arguments, MemoryInputPipe::new(stdin.to_vec()))
    }
}

impl Theirs {
    /// The same, where each piece of standard input but the first comes only when the guest waits for it.
    pub(super) fn run_in_pieces(&self, arguments: &[&str], pieces: &[&[u8]]) -> Seen {
        self.run_with(arguments, Pieces::new(pieces))
    }

    fn run_with(&self, arguments: &[&str], stdin: impl StdinStream + 'static) -> Seen {
        let disk = tempfile::tempdir().expect("a temporary directory can be made");
        std::fs::create_dir(disk.path().join("tmp")).expect("it is empty");
        let outputs = [MemoryOutputPipe::new(usize::MAX), MemoryOutputPipe::new(usize::MAX)];
        let mut builder = surroundings(arguments, b"", &outputs, disk.path());
        builder.stdin(stdin);
        let hooks = Hooks { server: self.server.address(), handler: self.handler.clone() };
        let state = State { wasi: builder.build(), ..State::bare(hooks) };
        let mut store = Store::new(&self.engine, state);
        let command = self.program.instantiate(&mut store).expect("the guest instantiates");
        let end = match command.wasi_cli_run().call_run(&mut store) {
            Ok(Err(())) => "exit 1".to_owned(),
            Ok(Ok(())) => end_of(Ok(())),
            Err(error) => end_of(Err(error)),
        };
        let [stdout, stderr] = outputs.map(|output| output.contents().to_vec());
        Seen { stdout, stderr, end }
    }
}

/// wasmtime's own preview 1, and what it was before, over a real directory.
pub(super) struct TheirModule {
    engine: Engine,
    module: wasmtime::InstancePre<WasiP1Ctx>,
}

impl TheirModule {
    pub(super) fn of(guest: &Path) -> TheirModule {
        let engine = Engine::default();
        let module = wasmtime::Module::from_file(&engine, guest).expect("the guest compiles");
        let mut linker = wasmtime::Linker::new(&engine);
        wasmtime_wasi::p1::add_to_linker_sync(&mut linker, |state| state).expect("an empty linker takes all of WASI");
        wasmtime_wasi::p0::add_to_linker_sync(&mut linker, |state| state).expect("its older names are others");
        let module = linker.instantiate_pre(&module).expect("the guest imports WASI only");
        TheirModule { engine, module }
    }
}

/// Input that comes piece by piece, each when it is waited for, whichever stream waits.
#[derive(Clone)]
struct Pieces(Arc<Mutex<(Bytes, VecDeque<Bytes>)>>);

impl Pieces {
    fn new(pieces: &[&[u8]]) -> Pieces {
        let mut pieces: VecDeque<Bytes> = pieces.iter().map(|piece| Bytes::copy_from_slice(piece)).collect();
        let first = pieces.pop_front().unwrap_or_default();
        Pieces(Arc::new(Mutex::new((first, pieces))))
    }

    fn state(&self) -> MutexGuard<'_, (Bytes, VecDeque<Bytes>)> {
        self.0.lock().expect("nobody panics")
    }
}

impl InputStream for Pieces {
    fn read(&mut self, size: usize) -> StreamResult<Bytes> {
        let (here, later) = &mut *self.state();
        match here.is_empty() && later.is_empty() {
            true => Err(StreamError::Closed),
            false => Ok(here.split_to(size.min(here.len()))),
        }
    }
}

#[async_trait]
impl Pollable for Pieces {
    async fn ready(&mut self) {
        let (here, later) = &mut *self.state();
        if here.is_empty() {
            *here = later.pop_front().unwrap_or_default();
        }
    }
}

impl IsTerminal for Pieces {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdinStream for Pieces {
    fn async_stream(&self) -> Box<dyn AsyncRead + Send + Sync> {
        unreachable!("the guest is a component of 0.2")
    }

    fn p2_stream(&self) -> Box<dyn InputStream> {
        Box::new(self.clone())
    }
}

impl Side for TheirModule {
    fn run(&self, arguments: &[&str], stdin: &[u8]) -> Seen {
        let disk = tempfile::tempdir().expect("a temporary directory can be made");
        std::fs::create_dir(disk.path().join("tmp")).expect("it is empty");
        let outputs = [MemoryOutputPipe::new(usize::MAX), MemoryOutputPipe::new(usize::MAX)];
        let mut store = Store::new(&self.engine, surroundings(arguments, stdin, &outputs, disk.path()).build_p1());
        let instance = self.module.instantiate(&mut store).expect("the guest instantiates");
        let start = instance.get_typed_func::<(), ()>(&mut store, "_start").expect("the guest is a command");
        let end = end_of(start.call(&mut store, ()));
        let [stdout, stderr] = outputs.map(|output| output.contents().to_vec());
        Seen { stdout, stderr, end }
    }
}

/// What a guest gets of the machine.
fn surroundings(
    arguments: &[&str],
    stdin: &[u8],
    outputs: &[MemoryOutputPipe; 2],
    disk: &Path,
) -> wasmtime_wasi::WasiCtxBuilder {
    let mut builder = WasiCtx::builder();
    builder.args(&command_line(arguments)).envs(ENVIRONMENT).initial_cwd("/");
    builder.stdin(MemoryInputPipe::new(stdin.to_vec())).stdout(outputs[0].clone()).stderr(outputs[1].clone());
    // The cases use loopback only.
    builder.inherit_network().allow_ip_name_lookup(true).allow_tcp(true).allow_udp(true);
    builder.preopened_dir(disk, "/", FsPerms::ReadWrite).expect("it was just made");
    builder
}

fn end_of(result: wasmtime::Result<()>) -> String {
    match result {
        Ok(()) => "exit 0".to_owned(),
        Err(error) => match error.downcast_ref::<I32Exit>() {
            Some(exit) => format!("exit {}", exit.0),
            None => "trap".to_owned(),
        },
    }
}

/// Fozzy over a virtual disk, or over a real directory.
pub(super) struct Ours {
    component: Vec<u8>,
    program: Program,
    /// Over a real directory instead.
    live: bool,
}

impl Ours {
    pub(super) fn of(guest: &Path) -> Ours {
        let switches = Switches::of(&Plan::default());
        let component = component(guest);
        // Three tests need the same one.
        let cache = Cache::open(&cache_folder()).expect("the target folder can be written");
        let program = Program::new(component.clone().into(), switches, Some(&cache)).expect("the guest compiles");
        Ours { component, program, live: false }
    }

    /// The same program over real directories.
    pub(super) fn live(self) -> Ours {
        Ours { live: true, ..self }
    }

    /// The names of all functions that the guest calls in one run.
    pub(super) fn calls(&self, arguments: &[&str], stdin: &[u8]) -> BTreeSet<String> {
        let (execution, _) = self.execute(arguments, stdin);
        execution.history.entries.into_iter().map(|entry| entry.call).collect()
    }

    fn execute(&self, arguments: &[&str], stdin: &[u8]) -> (Execution, [Vec<u8>; 2]) {
        self.execute_with(arguments, stdin, None)
    }

    fn execute_with(
        &self,
        arguments: &[&str],
        stdin: &[u8],
        channel: Option<Box<ChannelPlan>>,
    ) -> (Execution, [Vec<u8>; 2]) {
        let mut inputs = Inputs::default();
        let stdin = StdinPlan { bytes: inputs.add(stdin.to_vec()), stays_open: false, channel };
        let env = ENVIRONMENT.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let main = MachinePlan { args: command_line(arguments), env, stdin, ..MachinePlan::default() };
        let files = if self.live { Backend::Host } else { Backend::Virtual };
        let backends = Backends { files, ..Backends::default() };
        // The guest handles requests itself, if it can; it is compiled again only if a rule says so.
        let http = http::rules(&self.component, &mut inputs);
        let plan = Plan { main, backends, http, ..Plan::default() };
        let mut session = Session::new(self.program.clone(), Arc::new(plan), &inputs).expect("a plain plan");
        let outputs = Arc::new(Mutex::new([Vec::new(), Vec::new()]));
        let tee = Arc::clone(&outputs);
        session.watch(Box::new(move |_, kind, bytes| {
            let mut outputs = tee.lock().expect("no writer panics");
            outputs[usize::from(kind == OutputKind::Stderr)].extend_from_slice(bytes);
        }));
        let disk = tempfile::tempdir().expect("a temporary directory can be made");
        if self.live {
            std::fs::create_dir(disk.path().join("tmp")).expect("it is empty");
            let options = LiveOptions { files: true, ..LiveOptions::new(disk.path()) };
            session.observe(Box::new(LiveComputer::new(options).expect("a directory")));
        }
        let execution = session.execute(Box::new(SeededSource::new(Seed(7))), 0..u64::MAX).expect("the machine is fit");
        drop(disk);
        if self.live {
            // The directory is gone; what was captured is all that a replay needs.
            let history = &execution.history;
            let source = RecordedSource::new(Seed(7), history.explicit.clone());
            let source = source.observing(history.observations.clone().into(), history.observed.clone());
            let replayed = session.execute(Box::new(source), 0..0).expect("the machine is fit");
            assert_eq!((replayed.history.digest, &replayed.end), (history.digest, &execution.end), "{arguments:?}");
        }
        let outputs = std::mem::take(&mut *outputs.lock().expect("no writer panics"));
        (execution, outputs)
    }
}

impl Side for Ours {
    fn run(&self, arguments: &[&str], stdin: &[u8]) -> Seen {
        seen(arguments, self.execute(arguments, stdin))
    }
}

impl Ours {
    /// The same, where each piece of standard input but the first comes a second after the one before: only who waits sees it.
    pub(super) fn run_in_pieces(&self, arguments: &[&str], pieces: &[&[u8]]) -> Seen {
        let arrival = |(number, piece): (usize, &&[u8])| ArrivalPlan {
            bytes: piece.len() as u64,
            when: ArrivalTime::Delay(Duration::from_millis(if number == 0 { 0 } else { 1000 })),
            jitter: Duration(0),
            end: false,
            vary: None,
        };
        let arrivals = pieces.iter().enumerate().map(arrival).collect();
        let channel = ChannelPlan { arrivals, ..ChannelPlan::default() };
        seen(arguments, self.execute_with(arguments, &pieces.concat(), Some(Box::new(channel))))
    }
}

fn seen(arguments: &[&str], (execution, [stdout, stderr]): (Execution, [Vec<u8>; 2])) -> Seen {
    let end = match execution.end {
        ExecutionEnd::Exited { code } => format!("exit {code}"),
        ExecutionEnd::Trapped { .. } => "trap".to_owned(),
        other => panic!("{arguments:?} ended with {other:?}"),
    };
    Seen { stdout, stderr, end }
}
