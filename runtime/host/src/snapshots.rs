//! `fozzy:files/snapshots`: the file tree of this machine, kept and brought back by name.
//!
//! Not here: what a snapshot is (`fozzy_world::snapshots`).

use crate::bindings::fozzy::files::snapshots;
use crate::call::{Host, Import};
use fozzy_trace::plan::Backend;
use fozzy_world::Node;
use fozzy_world::snapshots::SnapshotError;
use wasmtime::Result;

const SNAPSHOT: Import = Import::new("fozzy:files/snapshots.snapshot");
const RESTORE: Import = Import::new("fozzy:files/snapshots.restore");
const FORGET: Import = Import::new("fozzy:files/snapshots.forget");
const NAMES: Import = Import::new("fozzy:files/snapshots.names");

type SnapshotResult = std::result::Result<(), snapshots::Error>;

impl Host {
    fn on_snapshots(
        &mut self,
        import: Import,
        name: &str,
        body: impl FnOnce(&mut Node) -> std::result::Result<(), SnapshotError>,
    ) -> Result<SnapshotResult> {
        self.call(import, name, |host| {
            if host.run.world.plan.backends.files == Backend::Host {
                return Ok(Err(snapshots::Error::Unsupported));
            }
            Ok(body(host.node_mut()).map_err(error))
        })
    }
}

impl snapshots::Host for Host {
    fn snapshot(&mut self, name: String) -> Result<SnapshotResult> {
        self.on_snapshots(SNAPSHOT, &name, |node| match node.preview1.is_busy(&node.disk) {
            true => Err(SnapshotError::Busy),
            false => node.snapshots.snapshot(&name, &node.disk, &node.table),
        })
    }

    fn restore(&mut self, name: String) -> Result<SnapshotResult> {
        self.on_snapshots(RESTORE, &name, |node| {
            if node.preview1.is_busy(&node.disk) {
                return Err(SnapshotError::Busy);
            }
            node.snapshots.restore(&name, &mut node.disk, &node.table)?;
            node.preview1.nodes().for_each(|held| node.disk.opened(held));
            Ok(())
        })
    }

    fn forget(&mut self, name: String) -> Result<SnapshotResult> {
        self.on_snapshots(FORGET, &name, |node| node.snapshots.forget(&name))
    }

    fn names(&mut self) -> Result<Vec<String>> {
        self.call(NAMES, (), |host| Ok(host.node().snapshots.names().map(str::to_owned).collect()))
    }
}

fn error(error: SnapshotError) -> snapshots::Error {
    match error {
        SnapshotError::NotFound => snapshots::Error::NotFound,
        SnapshotError::Busy => snapshots::Error::Busy,
        SnapshotError::InvalidName => snapshots::Error::InvalidName,
        SnapshotError::TooMany => snapshots::Error::TooMany,
    }
}
