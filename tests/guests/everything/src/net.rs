//! Network: TCP and UDP with itself over loopback and with another machine, and the lookup of names.

use crate::report::Report;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs, UdpSocket};

/// Of the stream: more than buffers hold, so that writing blocks.
const STREAM_BYTES: usize = 1 << 20;
const DATAGRAMS: usize = 20;
/// To the server of the other machine.
const REQUESTS: usize = 5;
const ANY_PORT: (Ipv4Addr, u16) = (Ipv4Addr::LOCALHOST, 0);

pub(crate) fn names(report: &mut Report) {
    for name in ["localhost", "127.0.0.1"] {
        let found =
            (name, 80).to_socket_addrs().map(|addresses| addresses.filter(SocketAddr::is_ipv4).collect::<Vec<_>>());
        report.look("net.lookup", found);
    }
    report.refused("net.lookup_unknown", ("no-such-host.invalid", 80).to_socket_addrs());
}

pub(crate) fn tcp(report: &mut Report) {
    let Some((near, far)) = connection(report) else { return };
    report.attempt("net.set_nodelay", near.set_nodelay(true));
    report.look("net.nodelay", near.nodelay());
    report.look("net.ttl", near.ttl());
    greetings(report, &near, &far);
    stream(report, &near, &far);
    report.attempt("net.shutdown", near.shutdown(Shutdown::Write));
    let last = report.patiently("net.read_end", || (&far).read(&mut [0; 16]));
    report.see("net.end_of_stream", last);
    drop(far);
    let after = report.patiently("net.read_after_close", || (&near).read(&mut [0; 16]));
    report.see("net.closed", after);
    nobody(report);
}

/// Two ends of one connection, neither of which blocks.
fn connection(report: &mut Report) -> Option<(TcpStream, TcpStream)> {
    let listener = report.attempt("net.bind", TcpListener::bind(ANY_PORT))?;
    let address = report.attempt("net.local_addr", listener.local_addr())?;
    report.attempt("net.listener_nonblocking", listener.set_nonblocking(true))?;
    report.refused("net.nobody_waits", listener.accept());
    let near = report.attempt("net.connect", TcpStream::connect(address))?;
    let (far, from) = report.patiently("net.accept", || listener.accept())?;
    report.see("net.from_is_near", near.local_addr().ok() == Some(from));
    report.see("net.peer_is_listener", near.peer_addr().ok() == Some(address));
    report.attempt("net.near_nonblocking", near.set_nonblocking(true))?;
    report.attempt("net.far_nonblocking", far.set_nonblocking(true))?;
    report.refused("net.nothing_came", (&near).read(&mut [0; 16]));
    Some((near, far))
}

/// Ten short messages there and back.
fn greetings(report: &mut Report, mut near: &TcpStream, mut far: &TcpStream) {
    let mut buffer = [0; 64];
    for number in 0..10 {
        let message = format!("greeting {number}");
        report.patiently("net.send", || near.write(message.as_bytes()));
        let Some(count) = report.patiently("net.receive", || far.read(&mut buffer)) else { return };
        report.see("net.received", String::from_utf8_lossy(&buffer[..count]));
        report.patiently("net.answer", || far.write(&buffer[..count]));
        let back = report.patiently("net.receive_answer", || near.read(&mut buffer));
        report.see("net.answered", back);
    }
}

/// A megabyte, written as far as it goes and read as it comes.
fn stream(report: &mut Report, mut near: &TcpStream, mut far: &TcpStream) {
    let bytes: Vec<u8> = (0..STREAM_BYTES).map(|index| (index * 17 % 253) as u8).collect();
    let mut part = vec![0; 1 << 16];
    let (mut written, mut back, mut right) = (0, 0, true);
    let mut idle = std::time::Duration::ZERO;
    while back < bytes.len() && idle < crate::PATIENCE {
        let sent =
            if written < bytes.len() { near.write(&bytes[written..]) } else { Err(ErrorKind::WouldBlock.into()) };
        let came = far.read(&mut part);
        let blocks =
            |result: &io::Result<usize>| result.as_ref().is_err_and(|error| error.kind() == ErrorKind::WouldBlock);
        if blocks(&sent) && blocks(&came) {
            std::thread::sleep(crate::PAUSE);
            idle += crate::PAUSE;
            continue;
        }
        if !blocks(&sent) {
            let Some(count) = report.attempt("net.stream_write", sent) else { break };
            written += count;
        }
        if !blocks(&came) {
            let Some(count) = report.attempt("net.stream_read", came).filter(|count| *count > 0) else { break };
            right &= bytes.get(back..back + count) == Some(&part[..count]);
            back += count;
        }
    }
    report.see("net.stream", (written, back, right));
}

/// A port that was just given back.
fn nobody(report: &mut Report) {
    let free = TcpListener::bind(ANY_PORT).and_then(|listener| listener.local_addr());
    let Some(address) = report.attempt("net.free_port", free) else { return };
    report.refused("net.refused", TcpStream::connect(address));
}

pub(crate) fn udp(report: &mut Report) {
    let Some((near, near_address)) = datagrams(report) else { return };
    let Some((far, far_address)) = datagrams(report) else { return };
    let mut buffer = [0; 2048];
    report.refused("net.no_datagram", far.recv_from(&mut buffer));
    for number in 0..DATAGRAMS {
        let message = vec![number as u8; 1 + number * 70];
        report.patiently("net.send_to", || near.send_to(&message, far_address));
    }
    // Lost, doubled and in any order is what a network may do to them, and no error.
    let mut came = Vec::new();
    let mut waited = std::time::Duration::ZERO;
    while came.len() < DATAGRAMS && waited < crate::PATIENCE {
        match far.recv_from(&mut buffer) {
            Ok((count, from)) => came.push((buffer[0], count, from == near_address)),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                std::thread::sleep(crate::PAUSE);
                waited += crate::PAUSE;
            }
            Err(error) => {
                report.attempt("net.recv_from", Err::<(), _>(error));
                break;
            }
        }
    }
    report.see("net.datagrams", came);
    report.attempt("net.connect_datagrams", far.connect(near_address));
    report.patiently("net.send_connected", || far.send(b"ahoy"));
    if let Some(count) = report.patiently("net.recv_connected", || near.recv(&mut buffer)) {
        report.see("net.last_datagram", String::from_utf8_lossy(&buffer[..count]));
    }
}

/// Another machine: a few requests to its server, and datagrams that nobody there waits for.
pub(crate) fn elsewhere(report: &mut Report) {
    let addresses = report.attempt("net.server", ("server", 8080).to_socket_addrs().map(Iterator::collect::<Vec<_>>));
    let Some(address) = addresses.and_then(|all| all.first().copied()) else { return };
    for _ in 0..REQUESTS {
        let Some(stream) = report.patiently("net.server_connect", || {
            // It may not have come to listen yet.
            TcpStream::connect(address).map_err(|error| match error.kind() {
                ErrorKind::ConnectionRefused => ErrorKind::WouldBlock.into(),
                _ => error,
            })
        }) else {
            continue;
        };
        report.attempt("net.server_nonblocking", stream.set_nonblocking(true));
        let request = b"GET /hello HTTP/1.1\r\nhost: server\r\nconnection: close\r\n\r\n";
        report.patiently("net.server_ask", || (&stream).write(request));
        let mut answer = Vec::new();
        let mut part = [0; 1024];
        while let Some(count @ 1..) = report.patiently("net.server_answer", || (&stream).read(&mut part)) {
            answer.extend_from_slice(&part[..count]);
        }
        report.see("net.server_answered", answer.ends_with(b"hello"));
    }
    let Some(socket) = report.attempt("net.bind_elsewhere", UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))) else {
        return;
    };
    for number in 0..DATAGRAMS {
        report.attempt("net.send_elsewhere", socket.send_to(&vec![0; 1 + number * 70], (address.ip(), 9)));
    }
}

/// A socket that does not block, and its address.
fn datagrams(report: &mut Report) -> Option<(UdpSocket, SocketAddr)> {
    let socket = report.attempt("net.bind_datagrams", UdpSocket::bind(ANY_PORT))?;
    report.attempt("net.datagrams_nonblocking", socket.set_nonblocking(true))?;
    let address = report.attempt("net.datagrams_address", socket.local_addr())?;
    Some((socket, address))
}
