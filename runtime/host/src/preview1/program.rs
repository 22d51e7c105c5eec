//! What a program asks of its computer beside files: arguments, environment, clocks, random bytes, its end.

use super::errno::WasiErrno;
use super::{Answer, arguments};
use crate::call::{CallProgress, GuestStop, Host, Import};
use crate::random::{DRAW_BYTES_MAX, GET_RANDOM_BYTES};
use fozzy_trace::Purpose;
use fozzy_trace::plan::Edition;
use fozzy_world::Wait;
use fozzy_world::clock::{CLOCK_TICK, ClockKind};
use wasmtime::Result;

const ARGS_GET: Import = Import::new("wasi_snapshot_preview1.args_get");
const ARGS_SIZES_GET: Import = Import::new("wasi_snapshot_preview1.args_sizes_get");
const ENVIRON_GET: Import = Import::new("wasi_snapshot_preview1.environ_get");
const ENVIRON_SIZES_GET: Import = Import::new("wasi_snapshot_preview1.environ_sizes_get");
const CLOCK_RES_GET: Import = Import::new("wasi_snapshot_preview1.clock_res_get");
const CLOCK_TIME_GET: Import = Import::new("wasi_snapshot_preview1.clock_time_get");
const PROC_EXIT: Import = Import::new("wasi_snapshot_preview1.proc_exit");
const PROC_RAISE: Import = Import::new("wasi_snapshot_preview1.proc_raise");
const RANDOM_GET: Import = Import::new("wasi_snapshot_preview1.random_get");
const SCHED_YIELD: Import = Import::new("wasi_snapshot_preview1.sched_yield");

/// Random bytes that need no allocation.
const FEW_BYTES: usize = 64;
/// Signals that `proc_raise` can name.
const SIGNALS: u32 = 31;

/// Writes texts one behind the other, each with a zero at its end, and their addresses.
fn put_texts(host: &Host, import: Import, texts: &[String], mut list: u32, mut at: u32) -> Answer<()> {
    for text in texts {
        host.put_value(import, list, 4, &at.to_le_bytes())?;
        host.put(import, at, text.as_bytes())?;
        let end = u64::from(at) + text.len() as u64;
        // What lies behind the end of addresses is outside any memory.
        host.put(import, u32::try_from(end).unwrap_or(u32::MAX), &[0])?;
        (list, at) = (list.saturating_add(4), u32::try_from(end + 1).unwrap_or(u32::MAX));
    }
    Ok(())
}

fn put_sizes(host: &Host, import: Import, texts: &[String], count: u32, size: u32) -> Answer<()> {
    host.put_size(import, count, texts.len())?;
    host.put_size(import, size, texts.iter().map(|text| text.len() + 1).sum())
}

fn environment(host: &Host) -> Vec<String> {
    host.node().machine.env.iter().map(|(name, value)| format!("{name}={value}")).collect()
}

pub(super) fn args_get(host: &mut Host, argv: u32, buffer: u32) -> Result<u32> {
    host.preview1(ARGS_GET, (), |host| {
        let arguments = host.node().machine.args.clone();
        put_texts(host, ARGS_GET, &arguments, argv, buffer)?;
        Ok(arguments)
    })
}

pub(super) fn args_sizes_get(host: &mut Host, count: u32, size: u32) -> Result<u32> {
    host.preview1(ARGS_SIZES_GET, (), |host| {
        let arguments = &host.node().machine.args;
        put_sizes(host, ARGS_SIZES_GET, arguments, count, size)?;
        Ok(arguments.len() as u64)
    })
}

pub(super) fn environ_get(host: &mut Host, environ: u32, buffer: u32) -> Result<u32> {
    host.preview1(ENVIRON_GET, (), |host| {
        put_texts(host, ENVIRON_GET, &environment(host), environ, buffer)?;
        Ok(host.node().machine.env.clone())
    })
}

pub(super) fn environ_sizes_get(host: &mut Host, count: u32, size: u32) -> Result<u32> {
    host.preview1(ENVIRON_SIZES_GET, (), |host| {
        let variables = environment(host);
        put_sizes(host, ENVIRON_SIZES_GET, &variables, count, size)?;
        Ok(variables.len() as u64)
    })
}

pub(super) fn clock_res_get(host: &mut Host, id: u32, resolution: u32) -> Result<u32> {
    host.preview1(CLOCK_RES_GET, id, |host| {
        arguments::clock_of(CLOCK_RES_GET, id)?.ok_or(WasiErrno::BADF)?;
        host.put_value(CLOCK_RES_GET, resolution, 8, &CLOCK_TICK.0.to_le_bytes())?;
        Ok(CLOCK_TICK.0)
    })
}

pub(super) fn clock_time_get(host: &mut Host, id: u32, _precision: u64, time: u32) -> Result<u32> {
    host.preview1(CLOCK_TIME_GET, id, |host| {
        let now = match arguments::clock_of(CLOCK_TIME_GET, id)?.ok_or(WasiErrno::BADF)? {
            true => host.read_clock(ClockKind::Wall).wall_ns,
            false => host.read_clock(ClockKind::Monotonic).monotonic_ns,
        };
        host.put_value(CLOCK_TIME_GET, time, 8, &now.to_le_bytes())?;
        Ok(now)
    })
}

pub(super) fn proc_exit(host: &mut Host, code: u32) -> Result<()> {
    host.call(PROC_EXIT, code, |_| Err(GuestStop::Exit { code }))
}

pub(super) fn proc_raise(host: &mut Host, signal: u32) -> Result<u32> {
    host.preview1(PROC_RAISE, signal, |_| -> Answer<()> {
        arguments::case(PROC_RAISE, signal, SIGNALS, "signal")?;
        Err(WasiErrno::NOTSUP.into())
    })
}

pub(super) fn random_get(host: &mut Host, buffer: u32, length: u32) -> Result<u32> {
    // What is drawn for a seed or a hash needs no allocation.
    let (mut few, mut many) = ([0; FEW_BYTES], Vec::new());
    host.preview1(RANDOM_GET, length, |host| {
        if u64::from(length) > DRAW_BYTES_MAX {
            let what = format!("{length} bytes asked for at once, at most {DRAW_BYTES_MAX} can be drawn");
            return Err(GuestStop::Misuse { import: RANDOM_GET.name, what }.into());
        }
        let length = length as usize;
        let bytes = match few.get_mut(..length) {
            Some(few) => few,
            None => {
                many.resize(length, 0);
                &mut many
            }
        };
        // The same question as that of a component, so that a seed means the same bytes.
        host.draw(Purpose::Random, GET_RANDOM_BYTES.name, bytes);
        host.put(RANDOM_GET, buffer, bytes)?;
        Ok(&*bytes)
    })
}

/// All other guests that are ready have a turn first, and a moment passes. Before [`Edition::FOURTH`] nothing happened.
pub(super) async fn sched_yield(host: &mut Host) -> Result<u32> {
    let mut over = None;
    let attempt = |host: &mut Host| {
        let over = match over {
            Some(over) => over,
            None => *over.insert(turn_again(host, SCHED_YIELD)?),
        };
        Ok(match host.is_ready(over)? {
            true => CallProgress::Done(()),
            false => CallProgress::Wait(vec![over]),
        })
    };
    host.preview1_waiting(SCHED_YIELD, (), attempt).await
}

/// When a program that yields now has its turn again, if no other guest needs longer.
fn turn_again(host: &mut Host, import: Import) -> Answer<Wait> {
    if host.run.world.plan.edition < Edition::FOURTH {
        return Ok(Wait::Nothing);
    }
    let calls = host.run.recorder.calls();
    let span = host.preview1_table(import)?.yields(calls);
    Ok(Wait::Until(host.run.world.clock.now().after(span)))
}
