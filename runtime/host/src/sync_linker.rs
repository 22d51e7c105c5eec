//! The linker for a guest that is alone and called from outside: every call is answered at once, and its handles can be
//! rebuilt.
//!
//! ```text
//! blocking-read, poll, …   answered in the same call: virtual time passes for the only guest there is
//! descriptor.read, …       the same, as its disk may be slow
//! destructors              silent while handles are rebuilt
//! fozzy-mint-pollable …    a handle of that type from a number, for the accessor of the rewriter
//! fozzy-step-over          whether it takes the next step of a scenario in the same call
//! ```
//!
//! Invariant: the behaviour is that of [`crate::add_to_linker`]; only the way of calling differs.
//! Not here: which handles there are to be (`fozzy-engine`).

use crate::bindings::fozzy::preview1::{snapshot, unstable};
use crate::bindings::fozzy::process::run::{self, Host as _, HostChild as _};
use crate::bindings::fozzy::target::control;
use crate::bindings::wasi::cli::{terminal_input, terminal_output};
use crate::bindings::wasi::filesystem::types as files;
use crate::bindings::wasi::http::types as http;
use crate::bindings::wasi::io::{error, poll, streams};
use crate::bindings::wasi::sockets::{ip_name_lookup, network, tcp, udp};
use crate::bindings::{
    ChildResource, DescriptorResource, DirectoryEntryStreamResource, FieldsResource, FutureIncomingResponseResource,
    FutureTrailersResource, IncomingBodyResource, IncomingDatagramStreamResource, IncomingRequestResource,
    IncomingResponseResource, InputStreamResource, IoErrorResource, NetworkResource, OutgoingBodyResource,
    OutgoingDatagramStreamResource, OutgoingRequestResource, OutgoingResponseResource, OutputStreamResource,
    PollableResource, RequestOptionsResource, ResolveAddressStreamResource, ResponseOutparamResource,
    TcpSocketResource, TerminalInputResource, TerminalOutputResource, UdpSocketResource,
};
use crate::call::{GuestStop, Host};
use fozzy_world::http::HttpHandle;
use fozzy_world::table::Handle;
use poll::HostPollable as _;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use streams::{HostInputStream as _, HostOutputStream as _};
use udp::HostOutgoingDatagramStream as _;
use wasmtime::Result;
use wasmtime::component::{Linker, Resource, ResourceType};

/// Resource types: the interface, the name there, our marker, the trait with its destructor.
macro_rules! resources {
    ($each:ident!) => {
        $each! {
            "wasi:cli/terminal-input@0.2.12" "terminal-input" TerminalInputResource terminal_input::HostTerminalInput,
            "wasi:cli/terminal-output@0.2.12" "terminal-output" TerminalOutputResource terminal_output::HostTerminalOutput,
            "wasi:filesystem/types@0.2.12" "descriptor" DescriptorResource files::HostDescriptor,
            "wasi:filesystem/types@0.2.12" "directory-entry-stream" DirectoryEntryStreamResource files::HostDirectoryEntryStream,
            "wasi:http/types@0.2.12" "fields" FieldsResource http::HostFields,
            "wasi:http/types@0.2.12" "future-incoming-response" FutureIncomingResponseResource http::HostFutureIncomingResponse,
            "wasi:http/types@0.2.12" "future-trailers" FutureTrailersResource http::HostFutureTrailers,
            "wasi:http/types@0.2.12" "incoming-body" IncomingBodyResource http::HostIncomingBody,
            "wasi:http/types@0.2.12" "incoming-request" IncomingRequestResource http::HostIncomingRequest,
            "wasi:http/types@0.2.12" "incoming-response" IncomingResponseResource http::HostIncomingResponse,
            "wasi:http/types@0.2.12" "outgoing-body" OutgoingBodyResource http::HostOutgoingBody,
            "wasi:http/types@0.2.12" "outgoing-request" OutgoingRequestResource http::HostOutgoingRequest,
            "wasi:http/types@0.2.12" "outgoing-response" OutgoingResponseResource http::HostOutgoingResponse,
            "wasi:http/types@0.2.12" "request-options" RequestOptionsResource http::HostRequestOptions,
            "wasi:http/types@0.2.12" "response-outparam" ResponseOutparamResource http::HostResponseOutparam,
            "wasi:io/error@0.2.12" "error" IoErrorResource error::HostError,
            "wasi:io/poll@0.2.12" "pollable" PollableResource poll::HostPollable,
            "wasi:io/streams@0.2.12" "input-stream" InputStreamResource streams::HostInputStream,
            "wasi:io/streams@0.2.12" "output-stream" OutputStreamResource streams::HostOutputStream,
            "wasi:sockets/ip-name-lookup@0.2.12" "resolve-address-stream" ResolveAddressStreamResource ip_name_lookup::HostResolveAddressStream,
            "wasi:sockets/network@0.2.12" "network" NetworkResource network::HostNetwork,
            "wasi:sockets/tcp@0.2.12" "tcp-socket" TcpSocketResource tcp::HostTcpSocket,
            "wasi:sockets/udp@0.2.12" "incoming-datagram-stream" IncomingDatagramStreamResource udp::HostIncomingDatagramStream,
            "wasi:sockets/udp@0.2.12" "outgoing-datagram-stream" OutgoingDatagramStreamResource udp::HostOutgoingDatagramStream,
            "wasi:sockets/udp@0.2.12" "udp-socket" UdpSocketResource udp::HostUdpSocket,
            "fozzy:process/run@0.1.0" "child" ChildResource run::HostChild,
        }
    };
}

/// The name in WIT of the resource type that a handle of the world's table is of.
#[must_use]
pub fn resource_of(handle: &Handle) -> &'static str {
    match handle {
        Handle::Pollable(_) => "pollable",
        Handle::InputStream(_) => "input-stream",
        Handle::OutputStream(_) => "output-stream",
        Handle::Error(_) => "error",
        Handle::Descriptor(_) | Handle::LiveDescriptor(_) => "descriptor",
        Handle::DirectoryStream(_) | Handle::LiveDirectoryStream(_) => "directory-entry-stream",
        Handle::Network => "network",
        Handle::TcpSocket(_) => "tcp-socket",
        Handle::UdpSocket(_) => "udp-socket",
        Handle::IncomingDatagrams(_) => "incoming-datagram-stream",
        Handle::OutgoingDatagrams { .. } => "outgoing-datagram-stream",
        Handle::Addresses(_) => "resolve-address-stream",
        Handle::Child(_) => "child",
        Handle::TerminalInput => "terminal-input",
        Handle::TerminalOutput => "terminal-output",
        Handle::Http(handle) => match **handle {
            HttpHandle::Fields(_) => "fields",
            HttpHandle::OutgoingRequest(_) => "outgoing-request",
            HttpHandle::RequestOptions(_) => "request-options",
            HttpHandle::IncomingRequest(_) => "incoming-request",
            HttpHandle::OutgoingResponse(_) => "outgoing-response",
            HttpHandle::IncomingResponse(_) => "incoming-response",
            HttpHandle::OutgoingBody(_) => "outgoing-body",
            HttpHandle::IncomingBody(_) => "incoming-body",
            HttpHandle::FutureTrailers { .. } => "future-trailers",
            HttpHandle::FutureIncomingResponse(_) => "future-incoming-response",
            HttpHandle::ResponseOutparam(_) => "response-outparam",
        },
    }
}

/// Defines every interface of the computer for a guest that is alone.
///
/// # Errors
/// When wasmtime refuses a definition, which no component can bring about.
pub fn add_alone_to_linker(linker: &mut Linker<Host>) -> Result<()> {
    crate::add_to_linker(linker)?;
    linker.allow_shadowing(true);
    waiting_functions(linker)?;
    handles(linker)?;
    linker.allow_shadowing(false);
    Ok(())
}

/// Destructors that can be silenced, and what mints handles.
fn handles(linker: &mut Linker<Host>) -> Result<()> {
    macro_rules! define {
        ($($interface:literal $name:literal $marker:ident $destructor:path,)*) => { $(
            linker.instance($interface)?.resource($name, ResourceType::host::<$marker>(), |mut store, rep| {
                let host = store.data_mut();
                if host.rebuilding {
                    return Ok(());
                }
                <Host as $destructor>::drop(host, Resource::new_own(rep))
            })?;
            linker.root().func_wrap(concat!("fozzy-mint-", $name), |_, (rep,): (u32,)| {
                Ok((Resource::<$marker>::new_own(rep),))
            })?;
        )* };
    }
    resources!(define!);
    Ok(())
}

/// Defines functions that may wait, answered at once: the name in WIT, the function of the trait, its arguments.
macro_rules! answered_at_once {
    ($instance:ident: $($name:literal, $function:path, ($($argument:ident: $kind:ty),*);)*) => { $(
        $instance.func_wrap($name, |mut store, ($($argument,)*): ($($kind,)*)| {
            Ok((now($function(store.data_mut(), $($argument),*))?,))
        })?;
    )* };
}

/// The functions that may wait, answered at once.
fn waiting_functions(linker: &mut Linker<Host>) -> Result<()> {
    disks(linker)?;
    disks_of_preview1(linker)?;
    type In = Resource<InputStreamResource>;
    type Out = Resource<OutputStreamResource>;

    let mut poll = linker.instance("wasi:io/poll@0.2.12")?;
    poll.func_wrap("poll", |mut store, (handles,): (Vec<Resource<PollableResource>>,)| {
        Ok((now(poll::Host::poll(store.data_mut(), handles))?,))
    })?;
    poll.func_wrap("[method]pollable.block", |mut store, (this,): (Resource<PollableResource>,)| {
        now(store.data_mut().block(this))
    })?;

    let mut streams = linker.instance("wasi:io/streams@0.2.12")?;
    streams.func_wrap("[method]input-stream.blocking-read", |mut store, (this, len): (In, u64)| {
        Ok((now(store.data_mut().blocking_read(this, len))?,))
    })?;
    streams.func_wrap("[method]input-stream.blocking-skip", |mut store, (this, len): (In, u64)| {
        Ok((now(store.data_mut().blocking_skip(this, len))?,))
    })?;
    streams.func_wrap("[method]output-stream.write", |mut store, (this, bytes): (Out, Vec<u8>)| {
        Ok((now(store.data_mut().write(this, bytes))?,))
    })?;
    streams
        .func_wrap("[method]output-stream.blocking-write-and-flush", |mut store, (this, bytes): (Out, Vec<u8>)| {
            Ok((now(store.data_mut().blocking_write_and_flush(this, bytes))?,))
        })?;
    streams.func_wrap("[method]output-stream.blocking-flush", |mut store, (this,): (Out,)| {
        Ok((now(store.data_mut().blocking_flush(this))?,))
    })?;
    streams
        .func_wrap("[method]output-stream.blocking-write-zeroes-and-flush", |mut store, (this, len): (Out, u64)| {
            Ok((now(store.data_mut().blocking_write_zeroes_and_flush(this, len))?,))
        })?;
    streams.func_wrap("[method]output-stream.blocking-splice", |mut store, (to, from, len): (Out, In, u64)| {
        Ok((now(store.data_mut().blocking_splice(to, from, len))?,))
    })?;

    type Datagrams = Resource<OutgoingDatagramStreamResource>;
    let mut sockets = linker.instance("wasi:sockets/udp@0.2.12")?;
    sockets.func_wrap(
        "[method]outgoing-datagram-stream.send",
        |mut store, (this, datagrams): (Datagrams, Vec<udp::OutgoingDatagram>)| {
            Ok((now(store.data_mut().send(this, datagrams))?,))
        },
    )?;

    let mut process = linker.instance("fozzy:process/run@0.1.0")?;
    process.func_wrap("run", |mut store, (command,): (run::Command,)| Ok((now(store.data_mut().run(command))?,)))?;
    process.func_wrap("[method]child.wait", |mut store, (this,): (Resource<ChildResource>,)| {
        Ok((now(store.data_mut().wait(this))?,))
    })?;

    type Four = (u32, u32, u32, u32);
    let mut snapshot = linker.instance("fozzy:preview1/snapshot@0.1.0")?;
    snapshot.func_wrap("fd-read", |mut store, (fd, buffers, count, size): Four| {
        Ok((now(snapshot::Host::fd_read(store.data_mut(), fd, buffers, count, size))?,))
    })?;
    snapshot.func_wrap("fd-write", |mut store, (fd, buffers, count, size): Four| {
        Ok((now(snapshot::Host::fd_write(store.data_mut(), fd, buffers, count, size))?,))
    })?;
    snapshot.func_wrap("poll-oneoff", |mut store, (subscriptions, events, count, ready): Four| {
        Ok((now(snapshot::Host::poll_oneoff(store.data_mut(), subscriptions, events, count, ready))?,))
    })?;
    snapshot
        .func_wrap("sched-yield", |mut store, (): ()| Ok((now(snapshot::Host::sched_yield(store.data_mut()))?,)))?;
    waiting_sockets(linker)?;
    let mut unstable = linker.instance("fozzy:preview1/unstable@0.1.0")?;
    unstable.func_wrap("poll-oneoff", |mut store, (subscriptions, events, count, ready): Four| {
        Ok((now(unstable::Host::poll_oneoff(store.data_mut(), subscriptions, events, count, ready))?,))
    })?;

    type NamedArguments = (String, String, Option<String>);
    let mut target = linker.instance("fozzy:target/control@0.1.0")?;
    target.func_wrap("call", |mut store, (function, arguments, expected): NamedArguments| {
        Ok((now(control::Host::call(store.data_mut(), function, arguments, expected))?,))
    })?;
    Ok(())
}

/// The functions that may wait for a slow disk, answered at once.
fn disks(linker: &mut Linker<Host>) -> Result<()> {
    type Descriptor = Resource<DescriptorResource>;
    type In = Resource<InputStreamResource>;
    type Out = Resource<OutputStreamResource>;

    let mut types = linker.instance("wasi:filesystem/types@0.2.12")?;
    answered_at_once! { types:
        "[method]descriptor.sync-data", files::HostDescriptor::sync_data, (this: Descriptor);
        "[method]descriptor.set-size", files::HostDescriptor::set_size, (this: Descriptor, size: u64);
        "[method]descriptor.set-times", files::HostDescriptor::set_times, (
            this: Descriptor, accessed: files::NewTimestamp, modified: files::NewTimestamp
        );
        "[method]descriptor.read", files::HostDescriptor::read, (this: Descriptor, length: u64, offset: u64);
        "[method]descriptor.write", files::HostDescriptor::write, (this: Descriptor, bytes: Vec<u8>, offset: u64);
        "[method]descriptor.read-directory", files::HostDescriptor::read_directory, (this: Descriptor);
        "[method]descriptor.sync", files::HostDescriptor::sync, (this: Descriptor);
        "[method]descriptor.create-directory-at", files::HostDescriptor::create_directory_at, (
            this: Descriptor, path: String
        );
        "[method]descriptor.stat", files::HostDescriptor::stat, (this: Descriptor);
        "[method]descriptor.stat-at", files::HostDescriptor::stat_at, (
            this: Descriptor, flags: files::PathFlags, path: String
        );
        "[method]descriptor.set-times-at", files::HostDescriptor::set_times_at, (
            this: Descriptor, flags: files::PathFlags, path: String, accessed: files::NewTimestamp, modified: files::NewTimestamp
        );
        "[method]descriptor.link-at", files::HostDescriptor::link_at, (
            this: Descriptor, flags: files::PathFlags, old: String, there: Descriptor, new: String
        );
        "[method]descriptor.open-at", files::HostDescriptor::open_at, (
            this: Descriptor, flags: files::PathFlags, path: String, open: files::OpenFlags, wanted: files::DescriptorFlags
        );
        "[method]descriptor.readlink-at", files::HostDescriptor::readlink_at, (this: Descriptor, path: String);
        "[method]descriptor.remove-directory-at", files::HostDescriptor::remove_directory_at, (
            this: Descriptor, path: String
        );
        "[method]descriptor.rename-at", files::HostDescriptor::rename_at, (
            this: Descriptor, old: String, there: Descriptor, new: String
        );
        "[method]descriptor.symlink-at", files::HostDescriptor::symlink_at, (
            this: Descriptor, text: String, path: String
        );
        "[method]descriptor.unlink-file-at", files::HostDescriptor::unlink_file_at, (this: Descriptor, path: String);
        "[method]descriptor.metadata-hash", files::HostDescriptor::metadata_hash, (this: Descriptor);
        "[method]descriptor.metadata-hash-at", files::HostDescriptor::metadata_hash_at, (
            this: Descriptor, flags: files::PathFlags, path: String
        );
    }
    let mut streams = linker.instance("wasi:io/streams@0.2.12")?;
    answered_at_once! { streams:
        "[method]input-stream.read", streams::HostInputStream::read, (this: In, len: u64);
        "[method]input-stream.skip", streams::HostInputStream::skip, (this: In, len: u64);
        "[method]output-stream.write-zeroes", streams::HostOutputStream::write_zeroes, (this: Out, len: u64);
        "[method]output-stream.splice", streams::HostOutputStream::splice, (to: Out, from: In, len: u64);
    }
    Ok(())
}

/// Those of preview 1.
fn disks_of_preview1(linker: &mut Linker<Host>) -> Result<()> {
    let mut current = linker.instance("fozzy:preview1/snapshot@0.1.0")?;
    answered_at_once! { current:
        "fd-datasync", snapshot::Host::fd_datasync, (fd: u32);
        "fd-filestat-get", snapshot::Host::fd_filestat_get, (fd: u32, stat: u32);
        "fd-filestat-set-size", snapshot::Host::fd_filestat_set_size, (fd: u32, size: u64);
        "fd-filestat-set-times", snapshot::Host::fd_filestat_set_times, (
            fd: u32, accessed: u64, modified: u64, flags: u32
        );
        "fd-pread", snapshot::Host::fd_pread, (fd: u32, buffers: u32, count: u32, offset: u64, size: u32);
        "fd-pwrite", snapshot::Host::fd_pwrite, (fd: u32, buffers: u32, count: u32, offset: u64, size: u32);
        "fd-readdir", snapshot::Host::fd_readdir, (fd: u32, buffer: u32, length: u32, cookie: u64, size: u32);
        "fd-seek", snapshot::Host::fd_seek, (fd: u32, offset: i64, whence: u32, position: u32);
        "fd-sync", snapshot::Host::fd_sync, (fd: u32);
        "path-create-directory", snapshot::Host::path_create_directory, (fd: u32, path: u32, length: u32);
        "path-filestat-get", snapshot::Host::path_filestat_get, (
            fd: u32, flags: u32, path: u32, length: u32, stat: u32
        );
        "path-filestat-set-times", snapshot::Host::path_filestat_set_times, (
            fd: u32, flags: u32, path: u32, length: u32, accessed: u64, modified: u64, times: u32
        );
        "path-link", snapshot::Host::path_link, (
            fd: u32, flags: u32, path: u32, length: u32, new_fd: u32, new_path: u32, new_length: u32
        );
        "path-open", snapshot::Host::path_open, (
            fd: u32, flags: u32, path: u32, length: u32, open: u32, base: u64, inheriting: u64, descriptor_flags: u32, opened: u32
        );
        "path-readlink", snapshot::Host::path_readlink, (
            fd: u32, path: u32, length: u32, buffer: u32, buffer_length: u32, size: u32
        );
        "path-remove-directory", snapshot::Host::path_remove_directory, (fd: u32, path: u32, length: u32);
        "path-rename", snapshot::Host::path_rename, (
            fd: u32, path: u32, length: u32, new_fd: u32, new_path: u32, new_length: u32
        );
        "path-symlink", snapshot::Host::path_symlink, (text: u32, text_length: u32, fd: u32, path: u32, length: u32);
        "path-unlink-file", snapshot::Host::path_unlink_file, (fd: u32, path: u32, length: u32);
    }
    let mut before = linker.instance("fozzy:preview1/unstable@0.1.0")?;
    answered_at_once! { before:
        "fd-filestat-get", unstable::Host::fd_filestat_get, (fd: u32, stat: u32);
        "fd-seek", unstable::Host::fd_seek, (fd: u32, offset: i64, whence: u32, position: u32);
        "path-filestat-get", unstable::Host::path_filestat_get, (
            fd: u32, flags: u32, path: u32, length: u32, stat: u32
        );
    }
    Ok(())
}

/// The functions of sockets of preview 1 that may wait, answered at once.
fn waiting_sockets(linker: &mut Linker<Host>) -> Result<()> {
    type Two = (u32, u32);
    type Three = (u32, u32, u32);
    type Five = (u32, u32, u32, u32, u32);
    type Six = (u32, u32, u32, u32, u32, u32);
    type Seven = (u32, u32, u32, u32, u32, u32, u32);
    type Eight = (u32, u32, u32, u32, u32, u32, u32, u32);

    let mut sockets = linker.instance("fozzy:preview1/snapshot@0.1.0")?;
    sockets.func_wrap("sock-accept", |mut store, (fd, flags, accepted): Three| {
        Ok((now(snapshot::Host::sock_accept(store.data_mut(), fd, flags, accepted))?,))
    })?;
    sockets.func_wrap("sock-accept-v1", |mut store, (fd, accepted): Two| {
        Ok((now(snapshot::Host::sock_accept_v1(store.data_mut(), fd, accepted))?,))
    })?;
    sockets.func_wrap("sock-connect", |mut store, (fd, address, port): Three| {
        Ok((now(snapshot::Host::sock_connect(store.data_mut(), fd, address, port))?,))
    })?;
    sockets.func_wrap("sock-recv", |mut store, (fd, buffers, count, flags, size, out): Six| {
        Ok((now(snapshot::Host::sock_recv(store.data_mut(), fd, buffers, count, flags, size, out))?,))
    })?;
    sockets.func_wrap(
        "sock-recv-from",
        |mut store, (fd, buffers, count, address, flags, port, size, out): Eight| {
            let host = store.data_mut();
            Ok((now(snapshot::Host::sock_recv_from(host, fd, buffers, count, address, flags, port, size, out))?,))
        },
    )?;
    sockets.func_wrap("sock-recv-from-v1", |mut store, (fd, buffers, count, address, flags, size, out): Seven| {
        let host = store.data_mut();
        Ok((now(snapshot::Host::sock_recv_from_v1(host, fd, buffers, count, address, flags, size, out))?,))
    })?;
    sockets.func_wrap("sock-send", |mut store, (fd, buffers, count, flags, size): Five| {
        Ok((now(snapshot::Host::sock_send(store.data_mut(), fd, buffers, count, flags, size))?,))
    })?;
    sockets.func_wrap("sock-send-to", |mut store, (fd, buffers, count, address, port, flags, size): Seven| {
        let host = store.data_mut();
        Ok((now(snapshot::Host::sock_send_to(host, fd, buffers, count, address, port, flags, size))?,))
    })?;
    Ok(())
}

/// The answer to a call, which is there at once when no other guest can have a turn.
pub(crate) fn now<T>(answer: impl Future<Output = Result<T>>) -> Result<T> {
    match pin!(answer).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(answer) => answer,
        Poll::Pending => {
            let what = "a guest that is alone waited for another one; this is a fault of fozzy".to_owned();
            Err(wasmtime::Error::new(GuestStop::Machine { what }))
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_function_that_may_wait_is_answered_at_once() {
        let bindings = include_str!("bindings.rs").lines();
        let waiting = bindings.filter_map(|line| line.trim().strip_suffix(": async | trappable,"));
        let names: Vec<&str> = waiting.filter_map(|name| Some(name.trim_matches('"').split_once('.')?.1)).collect();
        assert!(names.len() >= 64, "{names:?}");
        let here = include_str!("sync_linker.rs");
        let missing: Vec<&&str> = names.iter().filter(|name| !here.contains(&format!("\"{name}\","))).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}
