//! Stretches of steps of a scenario that are taken in one call.
//!
//! ```text
//! hand out ─▶ begin step 0 ─▶ fozzy-steps(0)  step 0 ─▶ counted, step 1 begun ─▶ step 1 ─▶ … ─▶ counted, 0 ─▶ the fuel is set right
//!                                                    └── trap, no flow, no fuel, … ──▶ parted: the execution is thrown away, and begun
//!                                                                                      again with each step in a call of its own
//! ```
//!
//! What the host ends in the middle of a step ends here as it does in a call of that step: fuel is exact while a step is taken,
//! and the loop around it is in no stack.
//!
//! Invariant: an execution that comes to an end by this way is the same, to the last instruction, as one with a call for each step.
//! Not here: the loop (`fozzy-instrument`), what the host does between two steps (`fozzy-host`), which executions are tried by this way
//! (`session`).

use fozzy_host::{GuestStop, Host, StepLook, StepOverhead, SteppedCall};
use fozzy_instrument::{STEPS, StepLoop};
use wasmtime::component::{Instance, TypedFunc};
use wasmtime::{Store, Trap};

/// More fuel is not all in one number of wasmtime's.
const FUEL_MAX: u64 = 1 << 62;

/// What takes the steps of an instance.
pub(crate) struct StretchFunction {
    function: TypedFunc<(u32,), (u32,)>,
    overhead: StepOverhead,
}

impl StretchFunction {
    /// That of an instance whose component has this loop, if its run takes steps together.
    pub(crate) fn find(
        steps: Option<StepLoop>,
        store: &mut Store<Host>,
        instance: &Instance,
    ) -> Option<StretchFunction> {
        let StepLoop { before, plain, told, next } = steps.filter(|_| store.data().run.takes_together())?;
        let function = instance.get_typed_func(&mut *store, STEPS).ok()?;
        Some(StretchFunction { function, overhead: StepOverhead { before, plain, told, next } })
    }

    /// Takes the steps from `first` to `last` of a sequence with this stream of choices.
    pub(crate) fn take(
        &self,
        store: &mut Store<Host>,
        (sequence, stream): (u32, u32),
        (first, last): (u32, u32),
    ) -> wasmtime::Result<()> {
        hand_out(store)?;
        store.data_mut().begin_step(sequence, stream, first)?;
        let left = store.get_fuel()?;
        let host = store.data_mut();
        // A guest that may have used more than it had would be forgiven that.
        if left == 0 || left > FUEL_MAX {
            return Err(wasmtime::Error::new(host.run.part_steps()));
        }
        let begun = (left, host.run.world.clock.now());
        host.begin_steps(SteppedCall::counted((sequence, stream), first, last, begun, self.overhead));
        store.set_fuel(left + self.overhead.before)?;
        let called = self.function.call(&mut *store, (first,));
        let left = match store.data_mut().end_steps().map(|steps| steps.look) {
            Some(StepLook::Counted(counted)) => counted.left,
            _ => None,
        };
        match (called, left) {
            (Ok(_), Some(left)) => store.set_fuel(left),
            (Err(error), _) if is_exact(store.data(), &error) => Err(error),
            _ => Err(wasmtime::Error::new(store.data_mut().run.part_steps())),
        }
    }
}

/// Between two calls of a guest that does not stop for looks: looks for an interruption now and then, and gives the guest more of the
/// fuel that is kept back from it.
#[inline]
pub(crate) fn hand_out(store: &mut Store<Host>) -> wasmtime::Result<()> {
    if store.data().run.kept_back().is_none_or(|kept| kept == 0) {
        return Ok(());
    }
    let has = store.get_fuel()?;
    let left = store.data_mut().run.hand_out(has).map_err(wasmtime::Error::new)?;
    if left == has { Ok(()) } else { store.set_fuel(left) }
}

/// Whether a call for each step would have ended by this error, too: what the host ends, it ends in the middle of a step. A guest
/// that has used what it was given so far is looked at as ever.
fn is_exact(host: &Host, error: &wasmtime::Error) -> bool {
    let has_more = host.run.kept_back().is_some_and(|kept| kept > 0);
    let is_out = matches!(error.downcast_ref::<Trap>(), Some(Trap::OutOfFuel));
    error.downcast_ref::<GuestStop>().is_some() || (is_out && has_more)
}
