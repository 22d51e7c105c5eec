//! `poll_oneoff`: where programs of preview 1 sleep, and wait for their input and their sockets.
//!
//! ```text
//! userdata │ tag 0 │ clock, timeout, flags   ─▶ Wait::Until
//! userdata │ tag 1 │ descriptor              ─▶ Wait::Stdin, Wait::Socket; a file is ready at once
//! userdata │ tag 2 │ descriptor              ─▶ Wait::Pipe where another process reads, Wait::Socket; else ready
//! ```
//!
//! Sockets hang up (`fd_readwrite_hangup`) as `POLLHUP` of Linux says it: where both directions of a connection are over, or there is
//! none. Errors of sockets are no errors of events: a library for C would not say then that there is something to read.
//!
//! Invariant: deadlines are fixed when the call begins; events are in the order of subscriptions.

use super::arguments;
use super::errno::WasiErrno;
use super::{Answer, CallFailure};
use crate::call::{CallProgress, Host, Import};
use crate::streams::pipe_of;
use fozzy_trace::Duration;
use fozzy_world::clock::ClockKind;
use fozzy_world::network::SocketId;
use fozzy_world::{OpenFile, PipeEnd, Preview1Descriptor, Wait};
use wasmtime::Result;

/// How subscriptions lie in memory.
pub(super) struct SubscriptionLayout {
    import: Import,
    bytes: u32,
    /// Where a clock, its timeout and its flags are.
    clock: usize,
    timeout: usize,
    flags: usize,
}

pub(super) const SNAPSHOT: SubscriptionLayout = SubscriptionLayout {
    import: Import::new("wasi_snapshot_preview1.poll_oneoff"),
    bytes: 48,
    clock: 16,
    timeout: 24,
    flags: 40,
};

/// A clock has a number of its own here, before the rest.
pub(super) const UNSTABLE: SubscriptionLayout = SubscriptionLayout {
    import: Import::new("wasi_unstable.poll_oneoff"),
    bytes: 56,
    clock: 24,
    timeout: 32,
    flags: 48,
};

const EVENT_BYTES: u32 = 32;
const CLOCK: u8 = 0;
const FD_READ: u8 = 1;
const FD_WRITE: u8 = 2;
const HANGUP: u16 = 1;

/// One thing that is waited for.
#[derive(Clone, Copy)]
struct Subscription {
    userdata: u64,
    tag: u8,
    fd: u32,
    wait: Wait,
    /// What is waited for, if it is a socket.
    socket: Option<SocketId>,
}

pub(super) async fn poll_oneoff(
    host: &mut Host,
    layout: &SubscriptionLayout,
    (subscriptions, count): (u32, u32),
    (events, ready): (u32, u32),
) -> Result<u32> {
    let import = layout.import;
    let mut all: Option<Vec<Subscription>> = None;
    let attempt = |host: &mut Host| {
        if count == 0 {
            // As in wasmtime: nothing to wait for is an error, not a sleep without end.
            return Err(WasiErrno::INVAL.into());
        }
        let all = match &mut all {
            Some(all) => all,
            None => all.insert(subscribed(host, layout, subscriptions, count)?),
        };
        let mut happened = Vec::new();
        for subscription in &mut *all {
            renew(host, import, subscription)?;
            if host.is_ready(subscription.wait)? {
                happened.push(*subscription);
            }
        }
        if happened.is_empty() {
            return Ok(CallProgress::Wait(all.iter().map(|subscription| subscription.wait).collect()));
        }
        for (subscription, place) in happened.iter().zip(0_u32..) {
            let event = event(host, import, subscription)?;
            host.put_value(import, events.saturating_add(place * EVENT_BYTES), 8, &event)?;
        }
        host.put_size(import, ready, happened.len())?;
        Ok(CallProgress::Done(happened.iter().map(|subscription| subscription.userdata).collect::<Vec<u64>>()))
    };
    host.preview1_waiting(import, count, attempt).await
}

/// Reads the subscriptions, and what each waits for.
fn subscribed(host: &mut Host, layout: &SubscriptionLayout, list: u32, count: u32) -> Answer<Vec<Subscription>> {
    Host::bounded(count, layout.bytes + EVENT_BYTES)?;
    host.moved(u64::from(count) * u64::from(layout.bytes));
    let mut all = Vec::new();
    for place in 0..count {
        let at = list.saturating_add(place * layout.bytes);
        // The longer layout is read only where it is meant.
        let mut bytes = [0; 56];
        let (first, rest) = bytes.split_at_mut(48);
        first.copy_from_slice(&host.value::<48>(layout.import, at, 8)?);
        if layout.bytes == 56 {
            rest.copy_from_slice(&host.value::<8>(layout.import, at.saturating_add(48), 8)?);
        }
        all.push(subscription(host, layout, &bytes)?);
    }
    Ok(all)
}

/// Says anew what is waited for at a socket whose connection may have been made since.
fn renew(host: &mut Host, import: Import, subscription: &mut Subscription) -> Answer<()> {
    if let Some(SocketId::Tcp(id)) = subscription.socket.filter(|_| host.follows_linux()) {
        host.settle_socket(import, subscription.fd, id)?;
        subscription.wait = host.socket_wait(SocketId::Tcp(id), subscription.tag == FD_WRITE);
    }
    Ok(())
}

fn word(bytes: &[u8; 56], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

fn subscription(host: &mut Host, layout: &SubscriptionLayout, bytes: &[u8; 56]) -> Answer<Subscription> {
    let (userdata, tag) = (word(bytes, 0), bytes[8]);
    let fd = word(bytes, 16) as u32;
    let mut polled = None;
    let wait = match tag {
        CLOCK => {
            let id = word(bytes, layout.clock) as u32;
            let flags = word(bytes, layout.flags) as u16;
            until(host, id, word(bytes, layout.timeout), flags)?
        }
        FD_READ => match host.descriptor(layout.import, fd)? {
            Preview1Descriptor::Stdin => host.stdin_wait(),
            Preview1Descriptor::File { .. } => Wait::Nothing,
            Preview1Descriptor::Socket { socket, .. } => {
                let socket = *polled.insert(*socket);
                host.socket_wait(socket, false)
            }
            _ => return Err(WasiErrno::BADF.into()),
        },
        FD_WRITE => match host.descriptor(layout.import, fd)? {
            Preview1Descriptor::Output(kind) => {
                let kind = *kind;
                let process = host.node().process;
                process.map_or(Wait::Nothing, |process| Wait::Pipe(pipe_of(&process, kind), PipeEnd::Write))
            }
            Preview1Descriptor::File { file: OpenFile::Disk(file), .. } => {
                let file = *file;
                host.node().disk.check_write_stream(&file)?;
                Wait::Nothing
            }
            Preview1Descriptor::File { .. } => Wait::Nothing,
            Preview1Descriptor::Socket { socket, .. } => {
                let socket = *polled.insert(*socket);
                host.socket_wait(socket, true)
            }
            _ => return Err(WasiErrno::BADF.into()),
        },
        _ => return Err(WasiErrno::INVAL.into()),
    };
    Ok(Subscription { userdata, tag, fd, wait, socket: polled })
}

/// When a clock has come to a deadline.
fn until(host: &mut Host, id: u32, timeout: u64, flags: u16) -> Result<Wait, CallFailure> {
    let is_wall = arguments::clock(id).flatten().ok_or(WasiErrno::INVAL)?;
    let is_absolute = match flags {
        0 | 1 => flags == 1,
        _ => return Err(WasiErrno::INVAL.into()),
    };
    let span = match (is_wall, is_absolute) {
        (_, false) => timeout,
        (false, true) => return Ok(host.with_context(|world, context| world.wait_until(timeout, context))),
        (true, true) => timeout.saturating_sub(host.read_clock(ClockKind::Wall).wall_ns),
    };
    Ok(host.with_context(|world, context| world.wait_for(Duration(span), context)))
}

/// `event`, as it lies in memory.
fn event(host: &mut Host, import: Import, of: &Subscription) -> Answer<[u8; 32]> {
    let (mut bytes, mut flags) = ([0; 32], 0);
    if of.tag == FD_READ
        && let Preview1Descriptor::File { file, position, .. } = host.descriptor(import, of.fd)?
    {
        let (file, position) = (*file, *position);
        let size = match file {
            OpenFile::Disk(file) => host.node().disk.stat(&file).size,
            OpenFile::Live(file) => host.live_stat(file, fozzy_trace::observation::FileOperation::Stat)??.size,
        };
        flags = if size <= position { HANGUP } else { 0 };
    }
    if of.socket.is_some_and(|socket| host.is_hung_up(socket)) {
        flags = HANGUP;
    }
    bytes[..8].copy_from_slice(&of.userdata.to_le_bytes());
    bytes[10] = of.tag;
    bytes[16] = u8::from(of.tag != CLOCK);
    bytes[24..26].copy_from_slice(&flags.to_le_bytes());
    Ok(bytes)
}
