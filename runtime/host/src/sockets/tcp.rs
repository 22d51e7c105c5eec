//! `wasi:sockets/tcp` and `wasi:sockets/tcp-create-socket`.

use super::{NetworkResult, SocketResult, family, socket_address, wit_family, wit_socket_address, wrong};
use crate::bindings::wasi::sockets::network::{IpAddressFamily, IpSocketAddress};
use crate::bindings::wasi::sockets::tcp::{self, ShutdownType};
use crate::bindings::wasi::sockets::tcp_create_socket;
use crate::bindings::{
    InputStreamResource, NetworkResource as NetworkHandle, OutputStreamResource, PollableResource, TcpSocketResource,
};
use crate::call::{GuestStop, Host, Import, misuse};
use crate::record::WordRecord;
use fozzy_trace::Record;
use fozzy_world::network::{Readiness, Shutdown, SocketOption, SocketOptions, TcpId};
use fozzy_world::table::{Handle, StreamSink as Output, StreamSource as Input};
use fozzy_world::{Network, OpContext, Wait};
use wasmtime::Result;
use wasmtime::component::Resource;

const CREATE: Import = Import::new("wasi:sockets/tcp-create-socket.create-tcp-socket");
const START_BIND: Import = Import::new("wasi:sockets/tcp.tcp-socket.start-bind");
const FINISH_BIND: Import = Import::new("wasi:sockets/tcp.tcp-socket.finish-bind");
const START_CONNECT: Import = Import::new("wasi:sockets/tcp.tcp-socket.start-connect");
const FINISH_CONNECT: Import = Import::new("wasi:sockets/tcp.tcp-socket.finish-connect");
const START_LISTEN: Import = Import::new("wasi:sockets/tcp.tcp-socket.start-listen");
const FINISH_LISTEN: Import = Import::new("wasi:sockets/tcp.tcp-socket.finish-listen");
const ACCEPT: Import = Import::new("wasi:sockets/tcp.tcp-socket.accept");
const LOCAL_ADDRESS: Import = Import::new("wasi:sockets/tcp.tcp-socket.local-address");
const REMOTE_ADDRESS: Import = Import::new("wasi:sockets/tcp.tcp-socket.remote-address");
const IS_LISTENING: Import = Import::new("wasi:sockets/tcp.tcp-socket.is-listening");
const ADDRESS_FAMILY: Import = Import::new("wasi:sockets/tcp.tcp-socket.address-family");
const SET_BACKLOG: Import = Import::new("wasi:sockets/tcp.tcp-socket.set-listen-backlog-size");
const KEEP_ALIVE: Import = Import::new("wasi:sockets/tcp.tcp-socket.keep-alive-enabled");
const SET_KEEP_ALIVE: Import = Import::new("wasi:sockets/tcp.tcp-socket.set-keep-alive-enabled");
const KEEP_ALIVE_IDLE: Import = Import::new("wasi:sockets/tcp.tcp-socket.keep-alive-idle-time");
const SET_KEEP_ALIVE_IDLE: Import = Import::new("wasi:sockets/tcp.tcp-socket.set-keep-alive-idle-time");
const KEEP_ALIVE_INTERVAL: Import = Import::new("wasi:sockets/tcp.tcp-socket.keep-alive-interval");
const SET_KEEP_ALIVE_INTERVAL: Import = Import::new("wasi:sockets/tcp.tcp-socket.set-keep-alive-interval");
const KEEP_ALIVE_COUNT: Import = Import::new("wasi:sockets/tcp.tcp-socket.keep-alive-count");
const SET_KEEP_ALIVE_COUNT: Import = Import::new("wasi:sockets/tcp.tcp-socket.set-keep-alive-count");
const HOP_LIMIT: Import = Import::new("wasi:sockets/tcp.tcp-socket.hop-limit");
const SET_HOP_LIMIT: Import = Import::new("wasi:sockets/tcp.tcp-socket.set-hop-limit");
const RECEIVE_BUFFER: Import = Import::new("wasi:sockets/tcp.tcp-socket.receive-buffer-size");
const SET_RECEIVE_BUFFER: Import = Import::new("wasi:sockets/tcp.tcp-socket.set-receive-buffer-size");
const SEND_BUFFER: Import = Import::new("wasi:sockets/tcp.tcp-socket.send-buffer-size");
const SET_SEND_BUFFER: Import = Import::new("wasi:sockets/tcp.tcp-socket.set-send-buffer-size");
const SUBSCRIBE: Import = Import::new("wasi:sockets/tcp.tcp-socket.subscribe");
const SHUTDOWN: Import = Import::new("wasi:sockets/tcp.tcp-socket.shutdown");
const DROP: Import = Import::new("wasi:sockets/tcp.tcp-socket.drop");

type TcpHandle = Resource<TcpSocketResource>;
type InputHandle = Resource<InputStreamResource>;
type OutputHandle = Resource<OutputStreamResource>;

impl Host {
    fn tcp_socket(&self, import: Import, rep: u32) -> std::result::Result<TcpId, GuestStop> {
        match self.node().table.get(rep) {
            Ok(Handle::TcpSocket(id)) => Ok(*id),
            _ => Err(wrong(import)),
        }
    }

    /// One operation on a socket.
    fn on_tcp<T: Record>(
        &mut self,
        import: Import,
        handle: &TcpHandle,
        asked: impl Record,
        body: impl FnOnce(&mut Network, TcpId, &mut OpContext<'_>) -> NetworkResult<T>,
    ) -> SocketResult<T> {
        let rep = handle.rep();
        self.socket_call(import, (rep, asked), |host| {
            let id = host.tcp_socket(import, rep)?;
            Ok(host.on_network(|network, context| body(network, id, context)))
        })
    }

    fn tcp_option<T: Record>(
        &mut self,
        import: Import,
        handle: &TcpHandle,
        option: impl FnOnce(&SocketOptions) -> T,
    ) -> SocketResult<T> {
        self.on_tcp(import, handle, (), |network, id, _| network.tcp_options(id).map(option))
    }

    fn set_tcp_option(
        &mut self,
        import: Import,
        handle: &TcpHandle,
        asked: impl Record,
        option: SocketOption,
    ) -> SocketResult<()> {
        self.on_tcp(import, handle, asked, |network, id, _| network.tcp_set_option(id, option))
    }

    /// Streams to read from and to write to a connection.
    fn tcp_streams(&mut self, import: Import, id: TcpId) -> std::result::Result<(u32, u32), GuestStop> {
        let input = self.handle(import, Handle::InputStream(Input::Tcp(id)))?;
        self.world().network.tcp_retain(id);
        let output = self.handle(import, Handle::OutputStream(Output::Tcp(id)))?;
        self.world().network.tcp_retain(id);
        Ok((input, output))
    }
}

impl tcp_create_socket::Host for Host {
    fn create_tcp_socket(&mut self, address_family: IpAddressFamily) -> SocketResult<TcpHandle> {
        let rep = self.socket_call(CREATE, WordRecord(address_family), |host| {
            let node = host.node;
            match host.world().network.tcp_create(node, family(address_family)) {
                Ok(id) => host.handle(CREATE, Handle::TcpSocket(id)).map(Ok),
                Err(error) => Ok(Err(error)),
            }
        })?;
        Ok(rep.map(Resource::new_own))
    }
}

impl tcp::Host for Host {}

impl tcp::HostTcpSocket for Host {
    fn start_bind(
        &mut self,
        this: TcpHandle,
        network: Resource<NetworkHandle>,
        local_address: IpSocketAddress,
    ) -> SocketResult<()> {
        let (rep, address) = (this.rep(), socket_address(local_address));
        self.socket_call(START_BIND, (rep, network.rep(), WordRecord(address)), |host| {
            host.check_network(START_BIND, &network)?;
            let id = host.tcp_socket(START_BIND, rep)?;
            Ok(host.on_network(|network, _| network.tcp_start_bind(id, address)))
        })
    }

    fn finish_bind(&mut self, this: TcpHandle) -> SocketResult<()> {
        self.on_tcp(FINISH_BIND, &this, (), |network, id, _| network.tcp_finish_bind(id))
    }

    fn start_connect(
        &mut self,
        this: TcpHandle,
        network: Resource<NetworkHandle>,
        remote_address: IpSocketAddress,
    ) -> SocketResult<()> {
        let (rep, address) = (this.rep(), socket_address(remote_address));
        self.socket_call(START_CONNECT, (rep, network.rep(), WordRecord(address)), |host| {
            host.check_network(START_CONNECT, &network)?;
            let id = host.tcp_socket(START_CONNECT, rep)?;
            Ok(host.on_network(|network, context| network.tcp_start_connect(id, address, context)))
        })
    }

    fn finish_connect(&mut self, this: TcpHandle) -> SocketResult<(InputHandle, OutputHandle)> {
        let rep = this.rep();
        let streams = self.socket_call(FINISH_CONNECT, rep, |host| {
            let id = host.tcp_socket(FINISH_CONNECT, rep)?;
            match host.on_network(|network, _| network.tcp_finish_connect(id)) {
                Ok(()) => host.tcp_streams(FINISH_CONNECT, id).map(Ok),
                Err(error) => Ok(Err(error)),
            }
        })?;
        Ok(streams.map(|(input, output)| (Resource::new_own(input), Resource::new_own(output))))
    }

    fn start_listen(&mut self, this: TcpHandle) -> SocketResult<()> {
        self.on_tcp(START_LISTEN, &this, (), |network, id, _| network.tcp_start_listen(id))
    }

    fn finish_listen(&mut self, this: TcpHandle) -> SocketResult<()> {
        self.on_tcp(FINISH_LISTEN, &this, (), |network, id, _| network.tcp_finish_listen(id))
    }

    fn accept(&mut self, this: TcpHandle) -> SocketResult<(TcpHandle, InputHandle, OutputHandle)> {
        let rep = this.rep();
        let accepted = self.socket_call(ACCEPT, rep, |host| {
            let listener = host.tcp_socket(ACCEPT, rep)?;
            match host.on_network(|network, _| network.tcp_accept(listener)) {
                Ok(id) => {
                    let socket = host.handle(ACCEPT, Handle::TcpSocket(id))?;
                    let (input, output) = host.tcp_streams(ACCEPT, id)?;
                    Ok(Ok((socket, input, output)))
                }
                Err(error) => Ok(Err(error)),
            }
        })?;
        Ok(accepted.map(|(socket, input, output)| {
            (Resource::new_own(socket), Resource::new_own(input), Resource::new_own(output))
        }))
    }

    fn local_address(&mut self, this: TcpHandle) -> SocketResult<IpSocketAddress> {
        let address = |network: &mut Network, id, _: &mut OpContext<'_>| network.tcp_local_address(id).map(WordRecord);
        let address = self.on_tcp(LOCAL_ADDRESS, &this, (), address)?;
        Ok(address.map(|WordRecord(address)| wit_socket_address(address)))
    }

    fn remote_address(&mut self, this: TcpHandle) -> SocketResult<IpSocketAddress> {
        let address = |network: &mut Network, id, _: &mut OpContext<'_>| network.tcp_remote_address(id).map(WordRecord);
        let address = self.on_tcp(REMOTE_ADDRESS, &this, (), address)?;
        Ok(address.map(|WordRecord(address)| wit_socket_address(address)))
    }

    fn is_listening(&mut self, this: TcpHandle) -> Result<bool> {
        self.call(IS_LISTENING, this.rep(), |host| {
            let id = host.tcp_socket(IS_LISTENING, this.rep())?;
            Ok(host.world().network.tcp_is_listening(id))
        })
    }

    fn address_family(&mut self, this: TcpHandle) -> Result<IpAddressFamily> {
        let WordRecord(family) = self.call(ADDRESS_FAMILY, this.rep(), |host| {
            let id = host.tcp_socket(ADDRESS_FAMILY, this.rep())?;
            Ok(WordRecord(host.world().network.tcp_family(id)))
        })?;
        Ok(wit_family(family))
    }

    fn set_listen_backlog_size(&mut self, this: TcpHandle, value: u64) -> SocketResult<()> {
        self.on_tcp(SET_BACKLOG, &this, value, |network, id, _| network.tcp_set_backlog(id, value))
    }

    fn keep_alive_enabled(&mut self, this: TcpHandle) -> SocketResult<bool> {
        self.tcp_option(KEEP_ALIVE, &this, |options| options.keep_alive)
    }

    fn set_keep_alive_enabled(&mut self, this: TcpHandle, value: bool) -> SocketResult<()> {
        self.set_tcp_option(SET_KEEP_ALIVE, &this, value, SocketOption::KeepAlive(value))
    }

    fn keep_alive_idle_time(&mut self, this: TcpHandle) -> SocketResult<u64> {
        self.tcp_option(KEEP_ALIVE_IDLE, &this, |options| options.keep_alive_idle_ns)
    }

    fn set_keep_alive_idle_time(&mut self, this: TcpHandle, value: u64) -> SocketResult<()> {
        self.set_tcp_option(SET_KEEP_ALIVE_IDLE, &this, value, SocketOption::KeepAliveIdle(value))
    }

    fn keep_alive_interval(&mut self, this: TcpHandle) -> SocketResult<u64> {
        self.tcp_option(KEEP_ALIVE_INTERVAL, &this, |options| options.keep_alive_interval_ns)
    }

    fn set_keep_alive_interval(&mut self, this: TcpHandle, value: u64) -> SocketResult<()> {
        self.set_tcp_option(SET_KEEP_ALIVE_INTERVAL, &this, value, SocketOption::KeepAliveInterval(value))
    }

    fn keep_alive_count(&mut self, this: TcpHandle) -> SocketResult<u32> {
        self.tcp_option(KEEP_ALIVE_COUNT, &this, |options| options.keep_alive_count)
    }

    fn set_keep_alive_count(&mut self, this: TcpHandle, value: u32) -> SocketResult<()> {
        self.set_tcp_option(SET_KEEP_ALIVE_COUNT, &this, value, SocketOption::KeepAliveCount(value))
    }

    fn hop_limit(&mut self, this: TcpHandle) -> SocketResult<u8> {
        self.tcp_option(HOP_LIMIT, &this, |options| options.hop_limit)
    }

    fn set_hop_limit(&mut self, this: TcpHandle, value: u8) -> SocketResult<()> {
        self.set_tcp_option(SET_HOP_LIMIT, &this, value, SocketOption::HopLimit(value))
    }

    fn receive_buffer_size(&mut self, this: TcpHandle) -> SocketResult<u64> {
        self.tcp_option(RECEIVE_BUFFER, &this, |options| options.receive_buffer)
    }

    fn set_receive_buffer_size(&mut self, this: TcpHandle, value: u64) -> SocketResult<()> {
        self.set_tcp_option(SET_RECEIVE_BUFFER, &this, value, SocketOption::ReceiveBuffer(value))
    }

    fn send_buffer_size(&mut self, this: TcpHandle) -> SocketResult<u64> {
        self.tcp_option(SEND_BUFFER, &this, |options| options.send_buffer)
    }

    fn set_send_buffer_size(&mut self, this: TcpHandle, value: u64) -> SocketResult<()> {
        self.set_tcp_option(SET_SEND_BUFFER, &this, value, SocketOption::SendBuffer(value))
    }

    fn subscribe(&mut self, this: TcpHandle) -> Result<Resource<PollableResource>> {
        self.subscribe_to(SUBSCRIBE, this.rep(), |handle| match handle {
            Handle::TcpSocket(id) => Some(Wait::Socket(Readiness::Socket(*id))),
            _ => None,
        })
    }

    fn shutdown(&mut self, this: TcpHandle, shutdown_type: ShutdownType) -> SocketResult<()> {
        let what = match shutdown_type {
            ShutdownType::Receive => Shutdown::Receive,
            ShutdownType::Send => Shutdown::Send,
            ShutdownType::Both => Shutdown::Both,
        };
        self.on_tcp(SHUTDOWN, &this, WordRecord(what), |network, id, context| network.tcp_shutdown(id, what, context))
    }

    fn drop(&mut self, this: TcpHandle) -> Result<()> {
        let rep = this.rep();
        self.call(DROP, rep, |host| {
            let id = host.tcp_socket(DROP, rep)?;
            host.node_mut().table.remove(rep).map_err(misuse(DROP))?;
            host.on_network(|network, context| network.tcp_release(id, context));
            Ok(())
        })
    }
}
