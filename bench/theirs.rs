//! The other side: the same guest on wasmtime with wasmtime-wasi, in its default configuration, through the
//! synchronous bindings, with standard output to a pipe in memory.

use wasmtime::component::{Component, Linker, ResourceTable};
use wasmtime::{Config, Engine, InstancePre, Module, Store};
use wasmtime_wasi::p1::WasiP1Ctx;
use wasmtime_wasi::p2::bindings::sync::CommandPre;
use wasmtime_wasi::p2::pipe::MemoryOutputPipe;
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

/// Whether instructions are counted, as ours always are. The default of wasmtime is that they are not.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Fuel {
    Off,
    On,
}

/// A program on wasmtime-wasi, linked beforehand.
pub(crate) struct Theirs {
    engine: Engine,
    fuel: Fuel,
    program: CommandPre<State>,
}

/// What a store of theirs holds.
pub(crate) struct State {
    wasi: WasiCtx,
    table: ResourceTable,
}

impl State {
    /// Without arguments, files or output.
    pub(crate) fn quiet() -> State {
        State { wasi: WasiCtx::builder().build(), table: ResourceTable::new() }
    }
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

impl Theirs {
    /// Compiles `guest`, text or binary.
    pub(crate) fn new(guest: &[u8], fuel: Fuel) -> Theirs {
        let mut config = Config::new();
        config.consume_fuel(fuel == Fuel::On);
        let engine = Engine::new(&config).expect("the default configuration");
        let binary = wat::parse_bytes(guest).expect("the guest assembles");
        let component = Component::from_binary(&engine, &binary).expect("the guest compiles");
        let mut linker = Linker::new(&engine);
        wasmtime_wasi::p2::add_to_linker_sync(&mut linker).expect("an empty linker takes all of WASI");
        let instance = linker.instantiate_pre(&component).expect("the guest imports WASI only");
        Theirs { engine, fuel, program: CommandPre::new(instance).expect("the guest is a command") }
    }

    /// Runs it once, from instantiation to drop.
    pub(crate) fn run(&mut self) {
        let wasi = WasiCtx::builder().stdout(MemoryOutputPipe::new(usize::MAX)).build();
        let mut store = Store::new(&self.engine, State { wasi, table: ResourceTable::new() });
        if self.fuel == Fuel::On {
            store.set_fuel(u64::MAX).expect("fuel is on");
        }
        let command = self.program.instantiate(&mut store).expect("the guest instantiates");
        let result = command.wasi_cli_run().call_run(&mut store).expect("the guest does not trap");
        result.expect("the guest succeeds");
    }
}

/// A core module on wasmtime's own preview 1, linked beforehand.
pub(crate) struct TheirModule {
    engine: Engine,
    fuel: Fuel,
    program: InstancePre<WasiP1Ctx>,
}

impl TheirModule {
    /// Compiles `guest`, text or binary.
    pub(crate) fn new(guest: &[u8], fuel: Fuel) -> TheirModule {
        let mut config = Config::new();
        config.consume_fuel(fuel == Fuel::On);
        let engine = Engine::new(&config).expect("the default configuration");
        let binary = wat::parse_bytes(guest).expect("the guest assembles");
        let module = Module::from_binary(&engine, &binary).expect("the guest compiles");
        let mut linker = wasmtime::Linker::new(&engine);
        wasmtime_wasi::p1::add_to_linker_sync(&mut linker, |state| state).expect("an empty linker takes all of WASI");
        let program = linker.instantiate_pre(&module).expect("the guest imports WASI only");
        TheirModule { engine, fuel, program }
    }

    /// Runs it once, from instantiation to drop.
    pub(crate) fn run(&mut self) {
        let wasi = WasiCtx::builder().stdout(MemoryOutputPipe::new(usize::MAX)).build_p1();
        let mut store = Store::new(&self.engine, wasi);
        if self.fuel == Fuel::On {
            store.set_fuel(u64::MAX).expect("fuel is on");
        }
        let instance = self.program.instantiate(&mut store).expect("the guest instantiates");
        let start = instance.get_typed_func::<(), ()>(&mut store, "_start").expect("the guest is a command");
        start.call(&mut store, ()).expect("the guest does not trap");
    }
}
