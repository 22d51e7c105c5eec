//! Net: sockets on loopback, with short words for what cases do all the time.
//!
//! ```text
//! let pair = pair();               a connection of this program with itself
//! pair.client.output.…   pair.server.input.…
//! ```
//!
//! Ports are given by the host and never shown: several hosts run at once on one machine, and one of them is real.

use crate::show::Show;
use wasip2::io::streams::{InputStream, OutputStream, StreamError};
use wasip2::sockets::instance_network::instance_network;
use wasip2::sockets::ip_name_lookup::resolve_addresses;
use wasip2::sockets::network::{
    ErrorCode, IpAddress, IpAddressFamily, IpSocketAddress, Ipv4SocketAddress, Ipv6SocketAddress, Network,
};
use wasip2::sockets::tcp::TcpSocket;
use wasip2::sockets::tcp_create_socket::create_tcp_socket;
use wasip2::sockets::udp::{IncomingDatagramStream, OutgoingDatagram, OutgoingDatagramStream, UdpSocket};
use wasip2::sockets::udp_create_socket::create_udp_socket;

pub type Answer<T> = Result<T, ErrorCode>;

/// Any port of this machine's loopback.
pub const LOOPBACK: IpSocketAddress = v4(127, 0, 0, 1, 0);
/// Any port of any address.
pub const ANYWHERE: IpSocketAddress = v4(0, 0, 0, 0, 0);

/// One end of a connection. What is made from the socket is dropped before it.
pub struct End {
    pub input: InputStream,
    pub output: OutputStream,
    pub socket: TcpSocket,
}

/// A connection of this program with itself.
pub struct Pair {
    pub client: End,
    pub server: End,
}

/// A bound UDP socket with its streams.
pub struct Datagrams {
    pub incoming: IncomingDatagramStream,
    pub outgoing: OutgoingDatagramStream,
    pub socket: UdpSocket,
}

pub const fn v4(a: u8, b: u8, c: u8, d: u8, port: u16) -> IpSocketAddress {
    IpSocketAddress::Ipv4(Ipv4SocketAddress { port, address: (a, b, c, d) })
}

pub const fn v6(segments: [u16; 8], port: u16) -> IpSocketAddress {
    let [a, b, c, d, e, f, g, h] = segments;
    IpSocketAddress::Ipv6(Ipv6SocketAddress { port, flow_info: 0, address: (a, b, c, d, e, f, g, h), scope_id: 0 })
}

pub fn network() -> Network {
    instance_network()
}

pub fn tcp() -> TcpSocket {
    create_tcp_socket(IpAddressFamily::Ipv4).expect("a socket")
}

pub fn udp() -> UdpSocket {
    create_udp_socket(IpAddressFamily::Ipv4).expect("a socket")
}

/// Starts and finishes a bind.
pub fn bind(socket: &TcpSocket, to: IpSocketAddress) -> Answer<()> {
    socket.start_bind(&network(), to)?;
    socket.finish_bind()
}

pub fn bound() -> TcpSocket {
    let socket = tcp();
    bind(&socket, LOOPBACK).expect("a free port");
    socket
}

pub fn listening() -> TcpSocket {
    let socket = bound();
    socket.start_listen().expect("it is bound");
    socket.finish_listen().expect("it was started");
    socket
}

/// A socket that is not yet known to be connected.
pub fn connecting(to: &TcpSocket) -> TcpSocket {
    let socket = tcp();
    socket.start_connect(&network(), to.local_address().expect("it is bound")).expect("a good address");
    socket
}

/// Waits for the end of an attempt.
pub fn finish_connect(socket: TcpSocket) -> Answer<End> {
    loop {
        match socket.finish_connect() {
            Err(ErrorCode::WouldBlock) => socket.subscribe().block(),
            result => return result.map(|(input, output)| End { input, output, socket }),
        }
    }
}

pub fn connect(to: &TcpSocket) -> Answer<End> {
    finish_connect(connecting(to))
}

pub fn accept(listener: &TcpSocket) -> Answer<End> {
    loop {
        match listener.accept() {
            Err(ErrorCode::WouldBlock) => listener.subscribe().block(),
            result => return result.map(|(socket, input, output)| End { input, output, socket }),
        }
    }
}

pub fn pair() -> Pair {
    let listener = listening();
    let client = connect(&listener).expect("it listens");
    let server = accept(&listener).expect("somebody connects");
    Pair { client, server }
}

/// A socket whose attempt to connect was refused.
pub fn refused() -> TcpSocket {
    let listener = listening();
    let address = listener.local_address().expect("it listens");
    drop(listener);
    let socket = tcp();
    socket.start_connect(&network(), address).expect("a good address");
    loop {
        match socket.finish_connect() {
            Err(ErrorCode::WouldBlock) => socket.subscribe().block(),
            result => {
                assert!(result.is_err(), "nobody listens");
                return socket;
            }
        }
    }
}

/// Writes again and again until that fails.
pub fn write_until_it_fails(stream: &OutputStream) -> StreamError {
    loop {
        if let Err(error) = stream.blocking_write_and_flush(b"x") {
            return error;
        }
    }
}

/// Exactly so many bytes.
pub fn read_exactly(stream: &InputStream, length: usize) -> Result<Vec<u8>, StreamError> {
    let mut all = Vec::new();
    while all.len() < length {
        all.extend(stream.blocking_read((length - all.len()) as u64)?);
    }
    Ok(all)
}

pub fn bind_udp(socket: &UdpSocket, to: IpSocketAddress) -> Answer<()> {
    socket.start_bind(&network(), to)?;
    socket.finish_bind()
}

pub fn datagrams(at: IpSocketAddress, peer: Option<IpSocketAddress>) -> Datagrams {
    let socket = udp();
    bind_udp(&socket, at).expect("a free port");
    let (incoming, outgoing) = socket.stream(peer).expect("a good address");
    Datagrams { incoming, outgoing, socket }
}

impl Datagrams {
    pub fn address(&self) -> IpSocketAddress {
        self.socket.local_address().expect("it is bound")
    }

    /// Asks, and sends one datagram.
    pub fn send(&self, bytes: &[u8], to: Option<IpSocketAddress>) -> Answer<u64> {
        while self.outgoing.check_send()? == 0 {
            self.outgoing.subscribe().block();
        }
        self.outgoing.send(&[OutgoingDatagram { data: bytes.to_vec(), remote_address: to }])
    }

    /// Waits for so many datagrams.
    pub fn receive(&self, count: usize) -> Answer<Vec<String>> {
        let mut all = Vec::new();
        while all.len() < count {
            self.incoming.subscribe().block();
            let received = self.incoming.receive((count - all.len()) as u64)?;
            all.extend(received.into_iter().map(|datagram| String::from_utf8_lossy(&datagram.data).into_owned()));
        }
        Ok(all)
    }
}

/// Every address of a name.
pub fn addresses(name: &str) -> Answer<Vec<IpAddress>> {
    let stream = resolve_addresses(&network(), name)?;
    let mut all = Vec::new();
    loop {
        match stream.resolve_next_address() {
            Err(ErrorCode::WouldBlock) => stream.subscribe().block(),
            next => match next? {
                Some(address) => all.push(address),
                None => return Ok(all),
            },
        }
    }
}

pub fn port(address: IpSocketAddress) -> u16 {
    match address {
        IpSocketAddress::Ipv4(address) => address.port,
        IpSocketAddress::Ipv6(address) => address.port,
    }
}

/// Without its port.
fn place(address: &IpSocketAddress) -> IpAddress {
    match address {
        IpSocketAddress::Ipv4(address) => IpAddress::Ipv4(address.address),
        IpSocketAddress::Ipv6(address) => IpAddress::Ipv6(address.address),
    }
}

pub fn equal(one: IpSocketAddress, other: IpSocketAddress) -> bool {
    place(&one).show() == place(&other).show() && port(one) == port(other)
}

impl Show for ErrorCode {
    fn show(&self) -> String {
        self.name().to_owned()
    }
}

impl Show for IpAddressFamily {
    fn show(&self) -> String {
        let name = match self {
            IpAddressFamily::Ipv4 => "ipv4",
            IpAddressFamily::Ipv6 => "ipv6",
        };
        name.to_owned()
    }
}

impl Show for IpAddress {
    fn show(&self) -> String {
        match *self {
            IpAddress::Ipv4((a, b, c, d)) => std::net::Ipv4Addr::new(a, b, c, d).to_string(),
            IpAddress::Ipv6((a, b, c, d, e, f, g, h)) => std::net::Ipv6Addr::new(a, b, c, d, e, f, g, h).to_string(),
        }
    }
}

/// The port differs from run to run, so only whether there is one is shown.
impl Show for IpSocketAddress {
    fn show(&self) -> String {
        let port = if port(*self) == 0 { "no port" } else { "a port" };
        format!("{} with {port}", place(self).show())
    }
}
