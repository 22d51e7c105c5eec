//! A program stopped at a place, in wasmtime with its own interface for debuggers.

use fozzy_instrument::debug_info::{CodePlace, FrameValues};
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Waker};
use wasmtime::{Config, DebugEvent, DebugHandler, Engine, Linker, Module, ModulePC, Store, StoreContextMut, Val};

/// What was seen where the program stood.
pub(super) struct StoppedProgram {
    locals: Vec<u64>,
    globals: Vec<u64>,
    memory: Vec<u8>,
}

impl FrameValues for StoppedProgram {
    fn local(&self, index: u32) -> Option<u64> {
        self.locals.get(usize::try_from(index).ok()?).copied()
    }

    fn global(&self, index: u32) -> Option<u64> {
        self.globals.get(usize::try_from(index).ok()?).copied()
    }

    fn operand(&self, _: u32) -> Option<u64> {
        None
    }

    fn read_memory(&self, address: u64, bytes: &mut [u8]) -> bool {
        let start = usize::try_from(address).unwrap_or(usize::MAX);
        let own = self.memory.get(start..start.saturating_add(bytes.len()));
        own.inspect(|own| bytes.copy_from_slice(own)).is_some()
    }
}

#[derive(Clone)]
struct FirstStop(Arc<Mutex<Option<StoppedProgram>>>);

impl DebugHandler for FirstStop {
    type Data = ();

    fn handle(&self, mut store: StoreContextMut<'_, ()>, event: DebugEvent<'_>) -> impl Future<Output = ()> + Send {
        let stops = matches!(event, DebugEvent::Breakpoint);
        if stops {
            let frame = store.debug_exit_frames().next().expect("a frame");
            let count = frame.num_locals(&mut store).expect("it stands");
            let locals = (0..count).map(|index| bits(&frame.local(&mut store, index).expect("it is there"))).collect();
            let instance = frame.instance(&mut store).expect("it stands");
            let memory = instance.debug_memory(&mut store, 0).expect("it has a memory").data(&store).to_vec();
            let global = instance.debug_global(&mut store, 0).expect("the stack pointer");
            let globals = vec![bits(&global.get(&mut store))];
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(StoppedProgram { locals, globals, memory });
        }
        // Who stands is not run on.
        async move {
            if stops {
                std::future::pending::<()>().await;
            }
        }
    }
}

fn bits(value: &Val) -> u64 {
    match value {
        Val::I32(value) => value.cast_unsigned().into(),
        Val::I64(value) => value.cast_unsigned(),
        Val::F32(bits) => (*bits).into(),
        Val::F64(bits) => *bits,
        other => panic!("no local of these programs is {other:?}"),
    }
}

/// Runs a module up to the first time that it passes a place. What it asks its host is answered with zeros.
pub(super) fn stopped(module: &[u8], place: CodePlace) -> StoppedProgram {
    let mut config = Config::new();
    config.guest_debug(true);
    let engine = Engine::new(&config).expect("the settings fit");
    let module = Module::new(&engine, module).expect("it is valid");
    let mut store = Store::new(&engine, ());
    let seen = FirstStop(Arc::new(Mutex::new(None)));
    store.set_debug_handler(seen.clone());
    let pc = ModulePC::new(place.offset.0);
    store.edit_breakpoints().expect("debugging").add_breakpoint(&module, pc).expect("code stands there");
    let mut linker = Linker::new(&engine);
    linker.allow_shadowing(true);
    linker.define_unknown_imports_as_default_values(&mut store, &module).expect("functions only");
    // The list of open folders ends at once.
    const BAD_DESCRIPTOR: i32 = 8;
    let no_folder = |_: i32, _: i32| BAD_DESCRIPTOR;
    linker.func_wrap("wasi_snapshot_preview1", "fd_prestat_get", no_folder).expect("it fits");
    let run = async {
        let instance = linker.instantiate_async(&mut store, &module).await.expect("it starts");
        let start = instance.get_typed_func::<(), ()>(&mut store, "_start").expect("it is a command");
        let _ = start.call_async(&mut store, ()).await;
    };
    let taken = || seen.0.lock().unwrap_or_else(PoisonError::into_inner).take();
    let mut run = pin!(run);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        let ended = run.as_mut().poll(&mut context).is_ready();
        if let Some(stopped) = taken() {
            return stopped;
        }
        assert!(!ended, "the place was never passed");
    }
}
