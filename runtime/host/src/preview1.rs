//! `wasi_snapshot_preview1` and `wasi_unstable`, answered directly: numbers and addresses in, an errno out.
//!
//! ```text
//! core module ─ fd_write(1, 1024, 1, 1040) ─▶ lists of buffers, paths ◀─ GuestMemory ─▶ answers
//!                                               └ Host::call(fd, bytes) ─▶ World ─▶ errno, or what was done
//! ```
//!
//! What is asked is recorded by its meaning, never by addresses: descriptors, bytes, paths. Errors, their order, rights and the
//! numbers of descriptors are those of wasmtime's own preview 1; an address outside the memory, or one that is not aligned as its value
//! needs, is a trap as there. Sockets are opened by the functions that WasmEdge has beside those of preview 1.
//!
//! Invariants: nothing is kept in the guest's memory; every call goes through `Host::call`; the state is
//! [`fozzy_world::Preview1Table`], which checkpoints clone with the machine.
//! Not here: which memory it is (`fozzy-engine`), renaming imports (`componentize` there).

mod arguments;
mod data;
mod descriptors;
mod directory;
mod errno;
mod guest_memory;
mod name_lookup;
mod paths;
mod poll;
mod program;
mod socket_address;
mod socket_data;
mod socket_options;
mod sockets;

pub use guest_memory::GuestMemory;

use crate::bindings::fozzy::preview1::{snapshot, unstable};
use crate::call::{CallProgress, GuestStop, Host, Import};
use errno::WasiErrno;
use fozzy_trace::plan::Preopen;
use fozzy_trace::{Errno, Record};
use fozzy_world::{OpenFile, Preview1Descriptor, TableError};
use std::sync::Arc;
use wasmtime::Result;

/// Where the disk is preopened: the whole of it, as the one root of the guest.
const ROOT: &str = "/";

/// Why a call did not do what was asked.
#[derive(Clone)]
enum CallFailure {
    /// The guest gets a number.
    Errno(WasiErrno),
    /// The guest ends.
    Stop(GuestStop),
}

impl From<WasiErrno> for CallFailure {
    fn from(errno: WasiErrno) -> CallFailure {
        CallFailure::Errno(errno)
    }
}

impl From<Errno> for CallFailure {
    fn from(errno: Errno) -> CallFailure {
        CallFailure::Errno(errno.into())
    }
}

impl From<GuestStop> for CallFailure {
    fn from(stop: GuestStop) -> CallFailure {
        CallFailure::Stop(stop)
    }
}

type Answer<T> = std::result::Result<T, CallFailure>;

/// What the guest gets as a number, or its end.
fn judged<T>(answer: Answer<T>) -> std::result::Result<std::result::Result<T, WasiErrno>, GuestStop> {
    match answer {
        Ok(value) => Ok(Ok(value)),
        Err(CallFailure::Errno(errno)) => Ok(Err(errno)),
        Err(CallFailure::Stop(stop)) => Err(stop),
    }
}

/// What an attempt has come to: an answer, a number, a wait or the end of the guest.
fn judged_attempt<T>(
    attempt: Answer<CallProgress<T>>,
) -> std::result::Result<CallProgress<std::result::Result<T, WasiErrno>>, GuestStop> {
    Ok(match judged(attempt)? {
        Ok(CallProgress::Done(value)) => CallProgress::Done(Ok(value)),
        Ok(CallProgress::Wait(waits)) => CallProgress::Wait(waits),
        Err(errno) => CallProgress::Done(Err(errno)),
    })
}

fn number<T>(answer: std::result::Result<T, WasiErrno>) -> u32 {
    answer.map_or_else(WasiErrno::number, |_| 0)
}

impl Host {
    /// A call that does not wait.
    fn preview1<A: Record, R: Record>(
        &mut self,
        import: Import,
        asked: A,
        body: impl FnOnce(&mut Host) -> Answer<R>,
    ) -> Result<u32> {
        self.call(import, asked, |host| judged(body(host))).map(number)
    }

    /// A call that may have to wait.
    async fn preview1_waiting<A: Record, R: Record>(
        &mut self,
        import: Import,
        asked: A,
        mut attempt: impl FnMut(&mut Host) -> Answer<CallProgress<R>>,
    ) -> Result<u32> {
        self.call_waiting(import, asked, |host| judged_attempt(attempt(host))).await.map(number)
    }

    /// The guest's descriptors; the first ones are put in when it first asks.
    fn preview1_table(&mut self, import: Import) -> Answer<&mut fozzy_world::Preview1Table> {
        if !self.node().preview1.is_open() {
            let directories = self.preopened();
            let opened = self.node_mut().preview1.open(directories);
            opened.map_err(crate::call::misuse(import))?;
        }
        Ok(&mut self.node_mut().preview1)
    }

    /// The directories that the guest has from its start, each under its name.
    fn preopened(&mut self) -> Vec<(OpenFile, Arc<str>)> {
        if let Some(named) = self.node().machine.preopens.clone() {
            let disk = &mut self.node_mut().disk;
            let opened = named.iter().filter_map(|Preopen { path, name, read_only }| {
                let directory = disk.open_path(path, !read_only).ok()?;
                Some((OpenFile::Disk(directory), name.as_str().into()))
            });
            return opened.collect();
        }
        let root = match self.has_live_files() {
            true => OpenFile::Live(fozzy_world::files::LiveFile::root()),
            false => OpenFile::Disk(self.node_mut().disk.open_root(true)),
        };
        vec![(root, ROOT.into())]
    }

    /// What a number stands for.
    fn descriptor(&mut self, import: Import, fd: u32) -> Answer<&mut Preview1Descriptor> {
        Ok(self.preview1_table(import)?.get_mut(fd).ok_or(WasiErrno::BADF)?)
    }

    /// The file of a descriptor of a file.
    fn file(&mut self, import: Import, fd: u32) -> Answer<OpenFile> {
        match self.descriptor(import, fd)? {
            Preview1Descriptor::File { file, .. } => Ok(*file),
            _ => Err(WasiErrno::BADF.into()),
        }
    }

    /// The directory of a descriptor of one.
    fn directory(&mut self, import: Import, fd: u32) -> Answer<OpenFile> {
        match self.descriptor(import, fd)? {
            Preview1Descriptor::Directory { file, .. } => Ok(*file),
            _ => Err(WasiErrno::BADF.into()),
        }
    }

    /// Gives what was opened its number.
    fn insert(&mut self, import: Import, descriptor: Preview1Descriptor) -> Answer<u32> {
        if let Some(OpenFile::Live(file)) = descriptor.file() {
            self.world().live.opened(file);
        }
        let full = |error: TableError| CallFailure::Stop(crate::call::misuse(import)(error));
        self.preview1_table(import)?.insert(descriptor).map_err(full)
    }

    /// Drops what a closed number held.
    fn let_go(&mut self, descriptor: &Preview1Descriptor) -> std::result::Result<(), GuestStop> {
        if let Preview1Descriptor::Socket { socket, .. } = descriptor {
            self.release_socket(*socket);
        }
        match descriptor.file() {
            Some(OpenFile::Disk(file)) => self.node_mut().disk.closed(file.node),
            Some(OpenFile::Live(file)) => self.live_close(file)?,
            None => {}
        }
        Ok(())
    }
}

/// Functions of a trait that functions of the same name here answer.
macro_rules! answered {
    ($($module:ident::$name:ident($($argument:ident: $kind:ty),*);)*) => {$(
        fn $name(&mut self, $($argument: $kind),*) -> Result<u32> {
            $module::$name(self, $($argument),*)
        }
    )*};
}

/// The same for functions that may wait.
macro_rules! awaited {
    ($($module:ident::$name:ident($($argument:ident: $kind:ty),*);)*) => {$(
        async fn $name(&mut self, $($argument: $kind),*) -> Result<u32> {
            $module::$name(self, $($argument),*).await
        }
    )*};
}

impl snapshot::Host for Host {
    answered! {
        program::args_get(argv: u32, buffer: u32);
        program::args_sizes_get(count: u32, size: u32);
        program::environ_get(environ: u32, buffer: u32);
        program::environ_sizes_get(count: u32, size: u32);
        program::clock_res_get(id: u32, resolution: u32);
        program::clock_time_get(id: u32, precision: u64, time: u32);
        program::proc_raise(signal: u32);
        program::random_get(buffer: u32, length: u32);
        descriptors::fd_advise(fd: u32, offset: u64, length: u64, advice: u32);
        descriptors::fd_allocate(fd: u32, offset: u64, length: u64);
        descriptors::fd_close(fd: u32);
        descriptors::fd_fdstat_get(fd: u32, stat: u32);
        descriptors::fd_fdstat_set_flags(fd: u32, flags: u32);
        descriptors::fd_fdstat_set_rights(fd: u32, base: u64, inheriting: u64);
        descriptors::fd_prestat_get(fd: u32, stat: u32);
        descriptors::fd_prestat_dir_name(fd: u32, path: u32, length: u32);
        descriptors::fd_renumber(source: u32, target: u32);
        descriptors::fd_tell(fd: u32, position: u32);
    }

    awaited! {
        descriptors::fd_datasync(fd: u32);
        descriptors::fd_filestat_get(fd: u32, stat: u32);
        descriptors::fd_filestat_set_size(fd: u32, size: u64);
        descriptors::fd_filestat_set_times(fd: u32, accessed: u64, modified: u64, flags: u32);
        descriptors::fd_seek(fd: u32, offset: i64, whence: u32, position: u32);
        descriptors::fd_sync(fd: u32);
        data::fd_pread(fd: u32, buffers: u32, count: u32, offset: u64, size: u32);
        data::fd_pwrite(fd: u32, buffers: u32, count: u32, offset: u64, size: u32);
        directory::fd_readdir(fd: u32, buffer: u32, length: u32, cookie: u64, size: u32);
        paths::path_create_directory(fd: u32, path: u32, length: u32);
        paths::path_filestat_get(fd: u32, flags: u32, path: u32, length: u32, stat: u32);
        paths::path_filestat_set_times(
            fd: u32, flags: u32, path: u32, length: u32, accessed: u64, modified: u64, times: u32
        );
        paths::path_link(fd: u32, flags: u32, path: u32, length: u32, new_fd: u32, new_path: u32, new_length: u32);
        paths::path_open(
            fd: u32, flags: u32, path: u32, length: u32, open: u32, base: u64, inheriting: u64,
            descriptor_flags: u32, opened: u32
        );
        paths::path_readlink(fd: u32, path: u32, length: u32, buffer: u32, buffer_length: u32, size: u32);
        paths::path_remove_directory(fd: u32, path: u32, length: u32);
        paths::path_rename(fd: u32, path: u32, length: u32, new_fd: u32, new_path: u32, new_length: u32);
        paths::path_symlink(text: u32, text_length: u32, fd: u32, path: u32, length: u32);
        paths::path_unlink_file(fd: u32, path: u32, length: u32);
        data::fd_read(fd: u32, buffers: u32, count: u32, size: u32);
        data::fd_write(fd: u32, buffers: u32, count: u32, size: u32);
        program::sched_yield();
    }

    fn proc_exit(&mut self, code: u32) -> Result<()> {
        program::proc_exit(self, code)
    }

    async fn poll_oneoff(&mut self, subscriptions: u32, events: u32, count: u32, ready: u32) -> Result<u32> {
        poll::poll_oneoff(self, &poll::SNAPSHOT, (subscriptions, count), (events, ready)).await
    }

    fn sock_open(&mut self, family: u32, kind: u32, opened: u32) -> Result<u32> {
        self.open_socket(family, kind, opened)
    }

    fn sock_bind(&mut self, fd: u32, address: u32, port: u32) -> Result<u32> {
        self.bind_socket(fd, address, port)
    }

    fn sock_listen(&mut self, fd: u32, backlog: u32) -> Result<u32> {
        self.listen_on_socket(fd, backlog)
    }

    async fn sock_accept(&mut self, fd: u32, flags: u32, accepted: u32) -> Result<u32> {
        self.accept_connection(fd, flags, accepted).await
    }

    async fn sock_accept_v1(&mut self, fd: u32, accepted: u32) -> Result<u32> {
        self.accept_connection(fd, 0, accepted).await
    }

    async fn sock_connect(&mut self, fd: u32, address: u32, port: u32) -> Result<u32> {
        self.connect_socket(fd, address, port).await
    }

    async fn sock_recv(
        &mut self,
        fd: u32,
        buffers: u32,
        count: u32,
        flags: u32,
        size: u32,
        out_flags: u32,
    ) -> Result<u32> {
        self.socket_receive(fd, buffers, count, flags, size, out_flags).await
    }

    async fn sock_recv_from(
        &mut self,
        fd: u32,
        buffers: u32,
        count: u32,
        address: u32,
        flags: u32,
        port: u32,
        size: u32,
        out_flags: u32,
    ) -> Result<u32> {
        self.socket_receive_from(fd, buffers, count, address, flags, Some(port), size, out_flags).await
    }

    async fn sock_recv_from_v1(
        &mut self,
        fd: u32,
        buffers: u32,
        count: u32,
        address: u32,
        flags: u32,
        size: u32,
        out_flags: u32,
    ) -> Result<u32> {
        self.socket_receive_from(fd, buffers, count, address, flags, None, size, out_flags).await
    }

    async fn sock_send(&mut self, fd: u32, buffers: u32, count: u32, flags: u32, size: u32) -> Result<u32> {
        self.socket_send(fd, buffers, count, flags, size).await
    }

    async fn sock_send_to(
        &mut self,
        fd: u32,
        buffers: u32,
        count: u32,
        address: u32,
        port: u32,
        flags: u32,
        size: u32,
    ) -> Result<u32> {
        self.socket_send_to(fd, buffers, count, address, port, flags, size).await
    }

    fn sock_shutdown(&mut self, fd: u32, how: u32) -> Result<u32> {
        self.shut_down_socket(fd, how)
    }

    fn sock_getsockopt(&mut self, fd: u32, level: u32, name: u32, value: u32, length: u32) -> Result<u32> {
        self.socket_option(fd, level, name, value, length)
    }

    fn sock_setsockopt(&mut self, fd: u32, level: u32, name: u32, value: u32, length: u32) -> Result<u32> {
        self.set_socket_option(fd, level, name, value, length)
    }

    fn sock_getlocaladdr(&mut self, fd: u32, address: u32, port: u32) -> Result<u32> {
        self.tell_address(false, fd, address, None, port)
    }

    fn sock_getlocaladdr_v1(&mut self, fd: u32, address: u32, family: u32, port: u32) -> Result<u32> {
        self.tell_address(false, fd, address, Some(family), port)
    }

    fn sock_getpeeraddr(&mut self, fd: u32, address: u32, port: u32) -> Result<u32> {
        self.tell_address(true, fd, address, None, port)
    }

    fn sock_getpeeraddr_v1(&mut self, fd: u32, address: u32, family: u32, port: u32) -> Result<u32> {
        self.tell_address(true, fd, address, Some(family), port)
    }

    fn sock_getaddrinfo(
        &mut self,
        node: u32,
        node_length: u32,
        service: u32,
        service_length: u32,
        hints: u32,
        results: u32,
        max: u32,
        count: u32,
    ) -> Result<u32> {
        self.look_up_name(node, node_length, service, service_length, hints, results, max, count)
    }
}

impl unstable::Host for Host {
    fn fd_fdstat_get(&mut self, fd: u32, stat: u32) -> Result<u32> {
        descriptors::unstable_fd_fdstat_get(self, fd, stat)
    }

    async fn fd_filestat_get(&mut self, fd: u32, stat: u32) -> Result<u32> {
        descriptors::unstable_fd_filestat_get(self, fd, stat).await
    }

    async fn fd_seek(&mut self, fd: u32, offset: i64, whence: u32, position: u32) -> Result<u32> {
        descriptors::unstable_fd_seek(self, fd, offset, whence, position).await
    }

    async fn path_filestat_get(&mut self, fd: u32, flags: u32, path: u32, length: u32, stat: u32) -> Result<u32> {
        paths::unstable_path_filestat_get(self, fd, flags, path, length, stat).await
    }

    async fn poll_oneoff(&mut self, subscriptions: u32, events: u32, count: u32, ready: u32) -> Result<u32> {
        poll::poll_oneoff(self, &poll::UNSTABLE, (subscriptions, count), (events, ready)).await
    }
}
