//! `wasi:sockets/udp` and `wasi:sockets/udp-create-socket`.
//!
//! Contract kept with a trap: `stream` while streams of the same socket are held, and more datagrams sent than
//! `check-send` permitted.

use super::{NetworkResult, SocketResult, family, socket_address, wit_family, wit_socket_address, wrong};
use crate::bindings::wasi::sockets::network::{IpAddressFamily, IpSocketAddress};
use crate::bindings::wasi::sockets::udp::{self, IncomingDatagram, OutgoingDatagram};
use crate::bindings::wasi::sockets::udp_create_socket;
use crate::bindings::{
    IncomingDatagramStreamResource, NetworkResource as NetworkHandle, OutgoingDatagramStreamResource, PollableResource,
    UdpSocketResource,
};
use crate::call::{GuestStop, Host, Import, misuse};
use crate::record::WordRecord;
use fozzy_trace::Record;
use fozzy_world::network::{Readiness, SocketOption, SocketOptions, UdpId};
use fozzy_world::table::Handle;
use fozzy_world::{Network, Wait};
use wasmtime::Result;
use wasmtime::component::Resource;

const CREATE: Import = Import::new("wasi:sockets/udp-create-socket.create-udp-socket");
const START_BIND: Import = Import::new("wasi:sockets/udp.udp-socket.start-bind");
const FINISH_BIND: Import = Import::new("wasi:sockets/udp.udp-socket.finish-bind");
const STREAM: Import = Import::new("wasi:sockets/udp.udp-socket.stream");
const LOCAL_ADDRESS: Import = Import::new("wasi:sockets/udp.udp-socket.local-address");
const REMOTE_ADDRESS: Import = Import::new("wasi:sockets/udp.udp-socket.remote-address");
const ADDRESS_FAMILY: Import = Import::new("wasi:sockets/udp.udp-socket.address-family");
const HOP_LIMIT: Import = Import::new("wasi:sockets/udp.udp-socket.unicast-hop-limit");
const SET_HOP_LIMIT: Import = Import::new("wasi:sockets/udp.udp-socket.set-unicast-hop-limit");
const RECEIVE_BUFFER: Import = Import::new("wasi:sockets/udp.udp-socket.receive-buffer-size");
const SET_RECEIVE_BUFFER: Import = Import::new("wasi:sockets/udp.udp-socket.set-receive-buffer-size");
const SEND_BUFFER: Import = Import::new("wasi:sockets/udp.udp-socket.send-buffer-size");
const SET_SEND_BUFFER: Import = Import::new("wasi:sockets/udp.udp-socket.set-send-buffer-size");
const SUBSCRIBE: Import = Import::new("wasi:sockets/udp.udp-socket.subscribe");
const DROP: Import = Import::new("wasi:sockets/udp.udp-socket.drop");
const RECEIVE: Import = Import::new("wasi:sockets/udp.incoming-datagram-stream.receive");
const SUBSCRIBE_INCOMING: Import = Import::new("wasi:sockets/udp.incoming-datagram-stream.subscribe");
const DROP_INCOMING: Import = Import::new("wasi:sockets/udp.incoming-datagram-stream.drop");
const CHECK_SEND: Import = Import::new("wasi:sockets/udp.outgoing-datagram-stream.check-send");
const SEND: Import = Import::new("wasi:sockets/udp.outgoing-datagram-stream.send");
const SUBSCRIBE_OUTGOING: Import = Import::new("wasi:sockets/udp.outgoing-datagram-stream.subscribe");
const DROP_OUTGOING: Import = Import::new("wasi:sockets/udp.outgoing-datagram-stream.drop");

type Socket = Resource<UdpSocketResource>;
type IncomingStream = Resource<IncomingDatagramStreamResource>;
type OutgoingStream = Resource<OutgoingDatagramStreamResource>;

impl Host {
    fn udp_socket(&self, import: Import, rep: u32) -> std::result::Result<UdpId, GuestStop> {
        match self.node().table.get(rep) {
            Ok(Handle::UdpSocket(id)) => Ok(*id),
            _ => Err(wrong(import)),
        }
    }

    /// One operation on a socket.
    fn on_udp<T: Record>(
        &mut self,
        import: Import,
        handle: &Socket,
        asked: impl Record,
        body: impl FnOnce(&mut Network, UdpId) -> NetworkResult<T>,
    ) -> SocketResult<T> {
        let rep = handle.rep();
        self.socket_call(import, (rep, asked), |host| {
            let id = host.udp_socket(import, rep)?;
            Ok(host.on_network(|network, _| body(network, id)))
        })
    }

    fn udp_option<T: Record>(
        &mut self,
        import: Import,
        handle: &Socket,
        option: impl FnOnce(&SocketOptions) -> T,
    ) -> SocketResult<T> {
        self.on_udp(import, handle, (), |network, id| Ok(option(network.udp_options(id))))
    }

    fn set_udp_option(
        &mut self,
        import: Import,
        handle: &Socket,
        asked: impl Record,
        option: SocketOption,
    ) -> SocketResult<()> {
        self.on_udp(import, handle, asked, |network, id| network.udp_set_option(id, option))
    }

    /// Drops a handle of what `socket` finds in it; `release` tells the network.
    fn drop_udp(
        &mut self,
        import: Import,
        rep: u32,
        socket: impl FnOnce(&Handle) -> Option<UdpId>,
        release: impl FnOnce(&mut Network, UdpId),
    ) -> Result<()> {
        self.call(import, rep, |host| {
            let handle = host.node_mut().table.remove(rep).map_err(misuse(import))?;
            release(&mut host.world().network, socket(&handle).ok_or_else(|| wrong(import))?);
            Ok(())
        })
    }
}

impl udp_create_socket::Host for Host {
    fn create_udp_socket(&mut self, address_family: IpAddressFamily) -> SocketResult<Socket> {
        let rep = self.socket_call(CREATE, WordRecord(address_family), |host| {
            let node = host.node;
            match host.world().network.udp_create(node, family(address_family)) {
                Ok(id) => host.handle(CREATE, Handle::UdpSocket(id)).map(Ok),
                Err(error) => Ok(Err(error)),
            }
        })?;
        Ok(rep.map(Resource::new_own))
    }
}

impl udp::Host for Host {}

impl udp::HostUdpSocket for Host {
    fn start_bind(
        &mut self,
        this: Socket,
        network: Resource<NetworkHandle>,
        local_address: IpSocketAddress,
    ) -> SocketResult<()> {
        let (rep, address) = (this.rep(), socket_address(local_address));
        self.socket_call(START_BIND, (rep, network.rep(), WordRecord(address)), |host| {
            host.check_network(START_BIND, &network)?;
            let id = host.udp_socket(START_BIND, rep)?;
            Ok(host.on_network(|network, _| network.udp_start_bind(id, address)))
        })
    }

    fn finish_bind(&mut self, this: Socket) -> SocketResult<()> {
        self.on_udp(FINISH_BIND, &this, (), Network::udp_finish_bind)
    }

    fn stream(
        &mut self,
        this: Socket,
        remote_address: Option<IpSocketAddress>,
    ) -> SocketResult<(IncomingStream, OutgoingStream)> {
        let (rep, remote) = (this.rep(), remote_address.map(socket_address));
        let streams = self.socket_call(STREAM, (rep, remote.map(WordRecord)), |host| {
            let id = host.udp_socket(STREAM, rep)?;
            if host.world().network.udp_has_streams(id) {
                let what = "the streams of the call before are not dropped yet".to_owned();
                return Err(GuestStop::Misuse { import: STREAM.name, what });
            }
            match host.on_network(|network, _| network.udp_stream(id, remote)) {
                Ok(()) => {
                    let incoming = host.handle(STREAM, Handle::IncomingDatagrams(id))?;
                    let outgoing = host.handle(STREAM, Handle::OutgoingDatagrams { socket: id, permit: 0 })?;
                    Ok(Ok((incoming, outgoing)))
                }
                Err(error) => Ok(Err(error)),
            }
        })?;
        Ok(streams.map(|(incoming, outgoing)| (Resource::new_own(incoming), Resource::new_own(outgoing))))
    }

    fn local_address(&mut self, this: Socket) -> SocketResult<IpSocketAddress> {
        let address =
            self.on_udp(LOCAL_ADDRESS, &this, (), |network, id| network.udp_local_address(id).map(WordRecord))?;
        Ok(address.map(|WordRecord(address)| wit_socket_address(address)))
    }

    fn remote_address(&mut self, this: Socket) -> SocketResult<IpSocketAddress> {
        let address =
            self.on_udp(REMOTE_ADDRESS, &this, (), |network, id| network.udp_remote_address(id).map(WordRecord))?;
        Ok(address.map(|WordRecord(address)| wit_socket_address(address)))
    }

    fn address_family(&mut self, this: Socket) -> Result<IpAddressFamily> {
        let WordRecord(family) = self.call(ADDRESS_FAMILY, this.rep(), |host| {
            let id = host.udp_socket(ADDRESS_FAMILY, this.rep())?;
            Ok(WordRecord(host.world().network.udp_family(id)))
        })?;
        Ok(wit_family(family))
    }

    fn unicast_hop_limit(&mut self, this: Socket) -> SocketResult<u8> {
        self.udp_option(HOP_LIMIT, &this, |options| options.hop_limit)
    }

    fn set_unicast_hop_limit(&mut self, this: Socket, value: u8) -> SocketResult<()> {
        self.set_udp_option(SET_HOP_LIMIT, &this, value, SocketOption::HopLimit(value))
    }

    fn receive_buffer_size(&mut self, this: Socket) -> SocketResult<u64> {
        self.udp_option(RECEIVE_BUFFER, &this, |options| options.receive_buffer)
    }

    fn set_receive_buffer_size(&mut self, this: Socket, value: u64) -> SocketResult<()> {
        self.set_udp_option(SET_RECEIVE_BUFFER, &this, value, SocketOption::ReceiveBuffer(value))
    }

    fn send_buffer_size(&mut self, this: Socket) -> SocketResult<u64> {
        self.udp_option(SEND_BUFFER, &this, |options| options.send_buffer)
    }

    fn set_send_buffer_size(&mut self, this: Socket, value: u64) -> SocketResult<()> {
        self.set_udp_option(SET_SEND_BUFFER, &this, value, SocketOption::SendBuffer(value))
    }

    fn subscribe(&mut self, this: Socket) -> Result<Resource<PollableResource>> {
        // Nothing that a socket itself does takes time.
        self.subscribe_to(SUBSCRIBE, this.rep(), |handle| {
            matches!(handle, Handle::UdpSocket(_)).then_some(Wait::Nothing)
        })
    }

    fn drop(&mut self, this: Socket) -> Result<()> {
        let socket = |handle: &Handle| match handle {
            Handle::UdpSocket(id) => Some(*id),
            _ => None,
        };
        self.drop_udp(DROP, this.rep(), socket, Network::udp_release)
    }
}

impl udp::HostIncomingDatagramStream for Host {
    fn receive(&mut self, this: IncomingStream, max_results: u64) -> SocketResult<Vec<IncomingDatagram>> {
        let rep = this.rep();
        let received = self.socket_call(RECEIVE, (rep, max_results), |host| {
            let Ok(Handle::IncomingDatagrams(id)) = host.node().table.get(rep) else { return Err(wrong(RECEIVE)) };
            let id = *id;
            let received = host.on_network(|network, _| network.udp_receive(id, max_results));
            if received.as_ref().is_ok_and(Vec::is_empty) {
                // A loop that receives again and again must come to an end.
                host.world().clock.tick();
            }
            let moved = received.iter().flatten().map(|(_, bytes)| bytes.len() as u64).sum();
            host.tell_io(false, moved, |world, node| world.channel(node, world.node(node).table.get(rep).ok()?));
            host.tell_datagrams();
            let shown = |received: Vec<_>| received.into_iter().map(|(from, bytes)| (WordRecord(from), bytes));
            Ok(received.map(|received| shown(received).collect::<Vec<_>>()))
        })?;
        let datagram = |(WordRecord(from), data)| IncomingDatagram { data, remote_address: wit_socket_address(from) };
        Ok(received.map(|received| received.into_iter().map(datagram).collect()))
    }

    fn subscribe(&mut self, this: IncomingStream) -> Result<Resource<PollableResource>> {
        self.subscribe_to(SUBSCRIBE_INCOMING, this.rep(), |handle| match handle {
            Handle::IncomingDatagrams(id) => Some(Wait::Socket(Readiness::Datagram(*id))),
            _ => None,
        })
    }

    fn drop(&mut self, this: IncomingStream) -> Result<()> {
        let socket = |handle: &Handle| match handle {
            Handle::IncomingDatagrams(id) => Some(*id),
            _ => None,
        };
        self.drop_udp(DROP_INCOMING, this.rep(), socket, Network::udp_release_stream)
    }
}

impl udp::HostOutgoingDatagramStream for Host {
    fn check_send(&mut self, this: OutgoingStream) -> SocketResult<u64> {
        let rep = this.rep();
        self.socket_call(CHECK_SEND, rep, |host| {
            let permitted = host.world().network.udp_check_send();
            match host.node_mut().table.get_mut(rep) {
                Ok(Handle::OutgoingDatagrams { permit, .. }) => *permit = permitted,
                _ => return Err(wrong(CHECK_SEND)),
            }
            Ok(Ok(permitted))
        })
    }

    async fn send(&mut self, this: OutgoingStream, datagrams: Vec<OutgoingDatagram>) -> SocketResult<u64> {
        let rep = this.rep();
        let datagram = |datagram: OutgoingDatagram| {
            (datagram.remote_address.map(|address| WordRecord(socket_address(address))), datagram.data)
        };
        let datagrams: Vec<_> = datagrams.into_iter().map(datagram).collect();
        self.call_seen(SEND, (rep, &datagrams), |host| {
            let Ok(Handle::OutgoingDatagrams { socket, permit }) = host.node_mut().table.get_mut(rep) else {
                return Err(wrong(SEND));
            };
            if datagrams.is_empty() {
                return Ok(Ok::<u64, _>(0));
            }
            if datagrams.len() as u64 > *permit {
                let what = format!("{} datagrams sent at once, {permit} are permitted", datagrams.len());
                return Err(GuestStop::Misuse { import: SEND.name, what });
            }
            *permit = 0;
            let id = *socket;
            let sent = host.on_network(|network, context| {
                for (sent, (to, bytes)) in datagrams.iter().enumerate() {
                    let to = to.as_ref().map(|WordRecord(to)| *to);
                    match network.udp_send(id, bytes.clone(), to, context) {
                        Ok(()) => {}
                        Err(error) if sent == 0 => return Err(error),
                        Err(_) => return Ok(sent as u64),
                    }
                }
                Ok(datagrams.len() as u64)
            });
            let count = sent.as_ref().map_or(0, |sent| *sent as usize);
            let moved = datagrams[..count].iter().map(|(_, bytes)| bytes.len() as u64).sum();
            host.tell_io(true, moved, |world, node| world.channel(node, world.node(node).table.get(rep).ok()?));
            host.tell_datagrams();
            Ok(host.told(sent))
        })
        .await
    }

    fn subscribe(&mut self, this: OutgoingStream) -> Result<Resource<PollableResource>> {
        self.subscribe_to(SUBSCRIBE_OUTGOING, this.rep(), |handle| {
            matches!(handle, Handle::OutgoingDatagrams { .. }).then_some(Wait::Nothing)
        })
    }

    fn drop(&mut self, this: OutgoingStream) -> Result<()> {
        let socket = |handle: &Handle| match handle {
            Handle::OutgoingDatagrams { socket, .. } => Some(*socket),
            _ => None,
        };
        self.drop_udp(DROP_OUTGOING, this.rep(), socket, Network::udp_release_stream)
    }
}
