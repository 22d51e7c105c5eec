//! The network from outside: programs on two machines, and the bytes that they see.

mod datagrams;
mod faults;
mod linux;
mod random;
mod states;
mod streams;

use super::*;
use crate::Faults;
use crate::decide::tests::SeededDecider;
use fozzy_trace::plan::FaultPlan;
use fozzy_trace::plan::fault::RATE_ALWAYS_PPM;
use fozzy_trace::source::SeededSource;
use fozzy_trace::{Duration, Seed};

const CLIENT: NodeId = NodeId(0);
const SERVER: NodeId = NodeId(1);
const SERVER_ADDRESS: &str = "10.0.0.2:80";

/// A network of two machines, and the time.
struct Lab {
    network: Network,
    faults: Faults,
    decider: SeededDecider,
    now: Instant,
}

fn address(text: &str) -> SocketAddr {
    text.parse().expect("an address")
}

fn millis(ms: u64) -> Instant {
    Instant::START.after(Duration::from_millis(ms))
}

/// A fault of that kind, always, on every link.
fn always(kind: &str, strength: u64) -> FaultPlan {
    FaultPlan {
        kind: kind.to_owned(),
        target: "*->*".to_owned(),
        rate_ppm: RATE_ALWAYS_PPM,
        start: Duration(0),
        length: None,
        strength: Some(strength),
        times: None,
        nemesis: None,
    }
}

impl Lab {
    fn new() -> Lab {
        Lab::with(NetworkPlan { latency: Duration::from_millis(10), ..NetworkPlan::default() }, &[], 0)
    }

    fn with(plan: NetworkPlan, faults: &[FaultPlan], seed: u64) -> Lab {
        let network = Network::new(&plan, vec!["client".to_owned(), "server".to_owned()]);
        let faults = Faults::new(faults).expect("known kinds");
        Lab { network, faults, decider: SeededDecider(SeededSource::new(Seed(seed))), now: Instant::START }
    }

    fn faulty(faults: &[FaultPlan]) -> Lab {
        Lab::with(NetworkPlan { latency: Duration::from_millis(10), ..NetworkPlan::default() }, faults, 0)
    }

    /// Performs an operation that may ask.
    fn ask<T>(&mut self, operation: impl FnOnce(&mut Network, &mut OpContext<'_>) -> T) -> T {
        let Lab { network, faults, decider, now } = self;
        network.advance(*now);
        operation(network, &mut OpContext { now: *now, node: CLIENT, faults, decider })
    }

    /// Lets time pass until nothing is on its way.
    fn settle(&mut self) {
        while let Some(next) = self.network.next_event() {
            self.now = self.now.max(next);
            self.network.advance(self.now);
        }
    }

    /// Lets time pass until it is ready, and says when that was.
    fn wait(&mut self, readiness: Readiness) -> Instant {
        while !self.network.is_ready(readiness) {
            self.now = self.network.next_event().expect("something is on its way");
            self.network.advance(self.now);
        }
        self.now
    }

    fn tcp(&mut self, node: NodeId) -> TcpId {
        self.network.tcp_create(node, AddressFamily::Ipv4).expect("room")
    }

    fn bind(&mut self, id: TcpId, at: &str) -> Result<(), SocketErrorCode> {
        self.network.tcp_start_bind(id, address(at)).and_then(|()| self.network.tcp_finish_bind(id))
    }

    fn listen(&mut self, node: NodeId, at: &str) -> TcpId {
        let listener = self.tcp(node);
        self.bind(listener, at).expect("a free address");
        self.network.tcp_start_listen(listener).expect("it is bound");
        self.network.tcp_finish_listen(listener).expect("it was started");
        listener
    }

    fn start_connect(&mut self, id: TcpId, to: &str) -> Result<(), SocketErrorCode> {
        self.ask(|network, context| network.tcp_start_connect(id, address(to), context))
    }

    /// Connects from the client's machine, and waits for the answer.
    fn connect(&mut self, to: &str) -> Result<TcpId, SocketErrorCode> {
        let id = self.tcp(CLIENT);
        self.start_connect(id, to)?;
        self.wait(Readiness::Socket(id));
        self.network.tcp_finish_connect(id).map(|()| id)
    }

    /// A connection between the machines: the client's end and the server's.
    fn pair(&mut self) -> (TcpId, TcpId) {
        let listener = self.listen(SERVER, SERVER_ADDRESS);
        let client = self.connect(SERVER_ADDRESS).expect("somebody listens");
        self.wait(Readiness::Socket(listener));
        let server = self.network.tcp_accept(listener).expect("somebody connects");
        self.close(listener);
        (client, server)
    }

    fn write(&mut self, id: TcpId, bytes: &[u8]) -> Result<(), StreamEnd> {
        assert!(self.network.tcp_check_write(id)? >= bytes.len(), "the test writes what fits");
        self.ask(|network, context| network.tcp_write(id, bytes, context))
    }

    fn read(&mut self, id: TcpId) -> Result<Vec<u8>, StreamEnd> {
        self.ask(|network, context| network.tcp_read(id, usize::MAX, context))
    }

    /// Waits until there is something to read, and reads it.
    fn read_next(&mut self, id: TcpId) -> Result<Vec<u8>, StreamEnd> {
        self.wait(Readiness::Readable(id));
        self.read(id)
    }

    fn shutdown(&mut self, id: TcpId, what: Shutdown) -> Result<(), SocketErrorCode> {
        self.ask(|network, context| network.tcp_shutdown(id, what, context))
    }

    fn close(&mut self, id: TcpId) {
        self.ask(|network, context| network.tcp_release(id, context));
    }

    fn udp(&mut self, node: NodeId, at: &str, peer: Option<&str>) -> UdpId {
        let id = self.network.udp_create(node, AddressFamily::of(address(at).ip())).expect("room");
        self.network.udp_start_bind(id, address(at)).expect("a free address");
        self.network.udp_finish_bind(id).expect("it was started");
        self.network.udp_stream(id, peer.map(address)).expect("a good address");
        id
    }

    fn send(&mut self, id: UdpId, bytes: &[u8], to: Option<&str>) -> Result<(), SocketErrorCode> {
        let to = to.map(address);
        self.ask(|network, context| network.udp_send(id, bytes.to_vec(), to, context))
    }

    /// What has arrived, as text.
    fn received(&mut self, id: UdpId) -> Vec<String> {
        let datagrams = self.network.udp_receive(id, 16).expect("no error");
        datagrams.into_iter().map(|(_, bytes)| String::from_utf8(bytes).expect("text")).collect()
    }

    /// Both programs end; nothing may be left behind.
    fn end(mut self) {
        for node in [CLIENT, SERVER] {
            self.ask(|network, context| network.close_node(node, context));
        }
        self.settle();
        let network = &self.network;
        assert_eq!((network.tcp.len(), network.udp.len(), network.connections.len(), network.held), (0, 0, 0, 0));
        assert!(network.hosts.iter().all(|host| host.sockets == 0 && host.listeners.is_empty()));
        assert!(network.hosts.iter().all(|host| host.receivers.is_empty()));
    }
}
