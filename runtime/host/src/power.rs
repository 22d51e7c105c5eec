//! `fozzy:files/power`: what the disk keeps when power is lost, while the program continues.
//!
//! Not here: what is durable (`fozzy_world::files`), losses that end the guest (`injected`).

use crate::bindings::fozzy::files::power;
use crate::call::{Host, Import};
use fozzy_trace::plan::Backend;
use fozzy_world::snapshots::is_busy;
use wasmtime::Result;

const WATCH: Import = Import::new("fozzy:files/power.watch");
const LOSE: Import = Import::new("fozzy:files/power.lose");

type PowerResult = std::result::Result<(), power::Error>;

impl Host {
    fn is_on_real_files(&self) -> bool {
        self.run.world.plan.backends.files == Backend::Host
    }
}

impl power::Host for Host {
    fn watch(&mut self) -> Result<PowerResult> {
        self.call(WATCH, (), |host| {
            if host.is_on_real_files() {
                return Ok(Err(power::Error::Unsupported));
            }
            host.node_mut().disk.track_durability(true);
            Ok(Ok(()))
        })
    }

    fn lose(&mut self) -> Result<PowerResult> {
        self.call(LOSE, (), |host| {
            if host.is_on_real_files() {
                return Ok(Err(power::Error::Unsupported));
            }
            let node = host.node();
            if !node.disk.tracks_durability() {
                return Ok(Err(power::Error::NotWatched));
            }
            if is_busy(&node.disk, &node.table) || node.preview1.is_busy(&node.disk) {
                return Ok(Err(power::Error::Busy));
            }
            host.with_context(|world, context| {
                let edition = world.plan.edition;
                world.node_mut(context.node).disk.crash(edition, context);
            });
            Ok(Ok(()))
        })
    }
}
