//! `wasi:clocks`: readings of virtual time, and pollables for its deadlines.

use crate::bindings::PollableResource;
use crate::bindings::wasi::clocks::{monotonic_clock, wall_clock};
use crate::call::{Host, Import, misuse};
use fozzy_trace::Duration;
use fozzy_trace::plan::Edition;
use fozzy_world::clock::{CLOCK_TICK, ClockKind, ClockReading};
use fozzy_world::{Handle, OpContext, Wait, World};
use wall_clock::Datetime;
use wasmtime::Result;
use wasmtime::component::Resource;

const NOW: Import = Import::new("wasi:clocks/monotonic-clock.now");
const RESOLUTION: Import = Import::new("wasi:clocks/monotonic-clock.resolution");
const SUBSCRIBE_INSTANT: Import = Import::new("wasi:clocks/monotonic-clock.subscribe-instant");
const SUBSCRIBE_DURATION: Import = Import::new("wasi:clocks/monotonic-clock.subscribe-duration");
const WALL_NOW: Import = Import::new("wasi:clocks/wall-clock.now");
const WALL_RESOLUTION: Import = Import::new("wasi:clocks/wall-clock.resolution");

impl Host {
    fn subscribe(
        &mut self,
        import: Import,
        asked: u64,
        wait: impl FnOnce(&mut World, &mut OpContext<'_>) -> Wait,
    ) -> Result<Resource<PollableResource>> {
        let rep = self.call(import, asked, |host| {
            let handle = Handle::Pollable(host.with_context(wait));
            host.node_mut().table.insert(handle).map_err(misuse(import))
        })?;
        Ok(Resource::new_own(rep))
    }
}

impl monotonic_clock::Host for Host {
    fn now(&mut self) -> Result<u64> {
        self.call(NOW, (), |host| Ok(host.read_clock(ClockKind::Monotonic).monotonic_ns))
    }

    fn resolution(&mut self) -> Result<u64> {
        self.call(RESOLUTION, (), |_| Ok(CLOCK_TICK.0))
    }

    fn subscribe_instant(&mut self, when: u64) -> Result<Resource<PollableResource>> {
        self.subscribe(SUBSCRIBE_INSTANT, when, |world, context| world.wait_until(when, context))
    }

    fn subscribe_duration(&mut self, span: u64) -> Result<Resource<PollableResource>> {
        self.subscribe(SUBSCRIBE_DURATION, span, |world, context| world.wait_for(Duration(span), context))
    }
}

impl wall_clock::Host for Host {
    fn now(&mut self) -> Result<Datetime> {
        self.call(WALL_NOW, (), |host| Ok(datetime(host.read_clock(ClockKind::Wall).wall_ns)))
    }

    fn resolution(&mut self) -> Result<Datetime> {
        self.call(WALL_RESOLUTION, (), |_| Ok(datetime(CLOCK_TICK.0)))
    }
}

impl Host {
    /// The guest reads a clock, which moves time by a tick, and at which faults may strike.
    #[inline]
    pub(crate) fn read_clock(&mut self, dial: ClockKind) -> ClockReading {
        // A nemesis that is a program orders speeds without a planned fault.
        let shows_orders =
            |host: &Host| host.node().drift.is_ordered() && host.run.world.plan.edition >= Edition::SEVENTH;
        if self.run.world.faults.is_empty() && !shows_orders(self) {
            self.world().clock.tick();
            return ClockReading { monotonic_ns: self.run.world.clock.now().0, wall_ns: self.wall_ns() };
        }
        self.with_context(|world, context| world.read_clock(dial, context))
    }

    /// What the machine's wall clock shows, in nanoseconds since 1970. Does not move time.
    pub(crate) fn wall_ns(&self) -> u64 {
        self.run.world.wall_ns(self.node)
    }
}

/// Nanoseconds since 1970 in WASI's two fields.
pub(crate) fn datetime(ns: u64) -> Datetime {
    Datetime { seconds: ns / 1_000_000_000, nanoseconds: (ns % 1_000_000_000) as u32 }
}
