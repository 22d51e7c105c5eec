//! `wasi:sockets/udp` and `wasi:sockets/ip-name-lookup`.

use crate::cases;
use crate::net::{ANYWHERE, Datagrams, LOOPBACK, addresses, bind_udp, datagrams, equal, network, port, udp, v4, v6};
use crate::show::{Bytes, Show};
use wasip2::sockets::ip_name_lookup::resolve_addresses;
use wasip2::sockets::network::IpAddressFamily;
use wasip2::sockets::udp::{OutgoingDatagram, UdpSocket};
use wasip2::sockets::udp_create_socket::create_udp_socket;

/// The most that IPv4 carries.
const LARGEST: usize = 65_507;

/// Two sockets that know each other.
fn pair() -> (Datagrams, Datagrams) {
    let one = datagrams(LOOPBACK, None);
    let other = datagrams(LOOPBACK, Some(one.address()));
    (one, other)
}

fn in_every_state<T>(operation: impl Fn(&UdpSocket) -> T) -> Vec<T> {
    let binding = udp();
    binding.start_bind(&network(), LOOPBACK).unwrap();
    let bound = udp();
    bind_udp(&bound, LOOPBACK).unwrap();
    let (one, other) = pair();
    [udp(), binding, bound].iter().chain([&one.socket, &other.socket]).map(operation).collect()
}

/// A socket with a peer of its own, that is gone.
fn forsaken() -> Datagrams {
    let peer = datagrams(LOOPBACK, None);
    let address = peer.address();
    drop(peer);
    datagrams(LOOPBACK, Some(address))
}

cases! {
    Together "sockets/udp-create-socket.create-udp-socket" "of both families" |_d| {
        [IpAddressFamily::Ipv4, IpAddressFamily::Ipv6].map(|family| {
            create_udp_socket(family).map(|socket| socket.address_family())
        })
    };
    Together "sockets/udp.udp-socket.address-family" "in every state" |_d| in_every_state(UdpSocket::address_family);
    Together "sockets/udp.udp-socket.start-bind" "in every state" |_d| {
        in_every_state(|socket| socket.start_bind(&network(), LOOPBACK))
    };
    Together "sockets/udp.udp-socket.start-bind" "addresses that cannot be meant" |_d| {
        let wrong = [v6([0, 0, 0, 0, 0, 0, 0, 1], 0), v4(192, 0, 2, 1, 0)];
        wrong.map(|address| udp().start_bind(&network(), address))
    };
    Together "sockets/udp.udp-socket.start-bind" "addresses that an IPv6 socket does not take" |_d| {
        let wrong = [LOOPBACK, v6([0, 0, 0, 0, 0, 0xffff, 0x7f00, 1], 0), v6([0, 0, 0, 0, 0, 0, 0x7f00, 1], 0)];
        wrong.map(|address| create_udp_socket(IpAddressFamily::Ipv6).unwrap().start_bind(&network(), address))
    };
    Together "sockets/udp.udp-socket.start-bind" "where another one is" |_d| {
        let one = datagrams(LOOPBACK, None);
        let port = port(one.address());
        [v4(127, 0, 0, 1, port), v4(0, 0, 0, 0, port), v4(127, 0, 0, 2, port)].map(|address| bind_udp(&udp(), address))
    };
    Together "sockets/udp.udp-socket.finish-bind" "in every state" |_d| in_every_state(UdpSocket::finish_bind);
    Together "sockets/udp.udp-socket.local-address" "in every state" |_d| in_every_state(UdpSocket::local_address);
    Together "sockets/udp.udp-socket.local-address" "at every address, with a peer" |_d| {
        let peer = datagrams(LOOPBACK, None);
        let one = datagrams(ANYWHERE, None);
        let before = one.address();
        let Datagrams { incoming, outgoing, socket } = one;
        drop((incoming, outgoing));
        let streams = socket.stream(Some(peer.address())).unwrap();
        let after = socket.local_address();
        drop(streams);
        (before, after)
    };
    Together "sockets/udp.udp-socket.remote-address" "in every state" |_d| in_every_state(UdpSocket::remote_address);
    Together "sockets/udp.udp-socket.stream" "of a socket that is not bound" |_d| {
        (udp().stream(None).map(drop), udp().stream(Some(v4(127, 0, 0, 1, 80))).map(drop))
    };
    Together "sockets/udp.udp-socket.stream" "addresses that cannot be meant" |_d| {
        [v4(0, 0, 0, 0, 80), v4(127, 0, 0, 1, 0), v6([0, 0, 0, 0, 0, 0, 0, 1], 80)].map(|address| {
            let socket = udp();
            bind_udp(&socket, LOOPBACK).unwrap();
            socket.stream(Some(address)).map(drop)
        })
    };
    Together "sockets/udp.udp-socket.stream" "a peer, another one, and none" |_d| {
        let (one, other) = (datagrams(LOOPBACK, None), datagrams(LOOPBACK, None));
        let socket = udp();
        bind_udp(&socket, LOOPBACK).unwrap();
        let peers = [Some(one.address()), Some(other.address()), None];
        peers.map(|peer| {
            let streams = socket.stream(peer).unwrap();
            let seen = socket.remote_address();
            drop(streams);
            (seen.is_ok_and(|seen| peer.is_some_and(|peer| equal(seen, peer))), seen.map(drop))
        })
    };
    Alone "sockets/udp.udp-socket.stream" "while its streams are held" |_d| {
        let one = datagrams(LOOPBACK, None);
        one.socket.stream(None).map(drop)
    };
    Together "sockets/udp.udp-socket.unicast-hop-limit" "in every state" |_d| {
        in_every_state(|socket| socket.unicast_hop_limit().map(u32::from))
    };
    Together "sockets/udp.udp-socket.set-unicast-hop-limit" "any limit" |_d| {
        [0, 1, 255].map(|limit| {
            let socket = udp();
            (socket.set_unicast_hop_limit(limit), socket.unicast_hop_limit().map(u32::from))
        })
    };
    Together "sockets/udp.udp-socket.receive-buffer-size" "in every state" |_d| {
        in_every_state(|socket| socket.receive_buffer_size().map(|bytes| bytes > 0))
    };
    Together "sockets/udp.udp-socket.set-receive-buffer-size" "any size" |_d| {
        [0, 1, 10_000, u64::MAX].map(|size| {
            let socket = udp();
            (socket.set_receive_buffer_size(size), socket.receive_buffer_size().map(|bytes| bytes > 0))
        })
    };
    Together "sockets/udp.udp-socket.send-buffer-size" "in every state" |_d| {
        in_every_state(|socket| socket.send_buffer_size().map(|bytes| bytes > 0))
    };
    Together "sockets/udp.udp-socket.set-send-buffer-size" "any size" |_d| {
        [0, 1, 10_000, u64::MAX].map(|size| {
            let socket = udp();
            (socket.set_send_buffer_size(size), socket.send_buffer_size().map(|bytes| bytes > 0))
        })
    };
    Together "sockets/udp.udp-socket.subscribe" "is always ready" |_d| {
        let one = datagrams(LOOPBACK, None);
        (udp().subscribe().ready(), one.socket.subscribe().ready())
    };

    Together "sockets/udp.incoming-datagram-stream.receive" "nothing" |_d| {
        let (one, _other) = pair();
        [0, 1, u64::MAX].map(|max| one.incoming.receive(max).map(|received| received.len()))
    };
    Together "sockets/udp.incoming-datagram-stream.receive" "what came, and from whom" |_d| {
        let (one, other) = pair();
        let sent = [&b"first"[..], b"", b"third"].map(|bytes| other.send(bytes, None));
        one.incoming.subscribe().block();
        let first = one.incoming.receive(1).unwrap();
        let from = equal(first[0].remote_address, other.address());
        (sent, first[0].data.len(), from, one.receive(2))
    };
    Together "sockets/udp.incoming-datagram-stream.receive" "the largest" |_d| {
        let (one, other) = pair();
        let sent = other.send(&vec![b'x'; LARGEST], None);
        (sent, one.receive(1).map(|received| received[0].len()))
    };
    Together "sockets/udp.incoming-datagram-stream.receive" "of a socket that has a peer, from others" |_d| {
        let (one, other) = pair();
        let third = datagrams(LOOPBACK, None);
        let sent = (third.send(b"stranger", Some(other.address())), one.send(b"friend", Some(other.address())));
        (sent, other.receive(1), other.incoming.receive(9).map(|received| received.len()))
    };
    Together "sockets/udp.incoming-datagram-stream.receive" "when the peer is gone" |_d| {
        let one = forsaken();
        let sent = one.send(b"x", None);
        one.incoming.subscribe().block();
        (sent, one.incoming.receive(1).map(|received| received.len()), one.incoming.receive(1).map(|received| received.len()))
    };
    Together "sockets/udp.incoming-datagram-stream.subscribe" "before and after something comes" |_d| {
        let (one, other) = pair();
        let pollable = one.incoming.subscribe();
        let before = pollable.ready();
        other.send(b"x", None).unwrap();
        pollable.block();
        let after = pollable.ready();
        drop(pollable);
        (before, after, one.receive(1))
    };
    Together "sockets/udp.outgoing-datagram-stream.check-send" "permits something" |_d| {
        datagrams(LOOPBACK, None).outgoing.check_send().map(|permitted| permitted > 0)
    };
    Together "sockets/udp.outgoing-datagram-stream.subscribe" "can send" |_d| {
        let one = datagrams(LOOPBACK, None);
        one.outgoing.subscribe().block();
        one.outgoing.subscribe().ready()
    };
    Together "sockets/udp.outgoing-datagram-stream.send" "nothing, unasked" |_d| {
        datagrams(LOOPBACK, None).outgoing.send(&[])
    };
    Together "sockets/udp.outgoing-datagram-stream.send" "several at once" |_d| {
        let (one, other) = pair();
        other.outgoing.check_send().unwrap();
        let datagram = |text: &str| OutgoingDatagram { data: text.as_bytes().to_vec(), remote_address: None };
        let sent = other.outgoing.send(&["a", "b", "c"].map(datagram));
        (sent, one.receive(3))
    };
    Together "sockets/udp.outgoing-datagram-stream.send" "several, of which one cannot be sent" |_d| {
        let (one, other) = pair();
        other.outgoing.check_send().unwrap();
        let datagram = |size: usize| OutgoingDatagram { data: vec![b'x'; size], remote_address: None };
        let sent = other.outgoing.send(&[1, LARGEST + 1, 2].map(datagram));
        (sent, one.receive(1))
    };
    Together "sockets/udp.outgoing-datagram-stream.send" "too much" |_d| {
        let (_one, other) = pair();
        [LARGEST + 1, 65_535, 65_536, 100_000].map(|size| other.send(&vec![0; size], None))
    };
    Together "sockets/udp.outgoing-datagram-stream.send" "to nobody, to the wrong one" |_d| {
        let (one, other) = pair();
        let elsewhere = datagrams(LOOPBACK, None).address();
        (one.send(b"x", None), other.send(b"x", Some(elsewhere)), other.send(b"x", Some(one.address())))
    };
    Together "sockets/udp.outgoing-datagram-stream.send" "addresses that cannot be meant" |_d| {
        let one = datagrams(LOOPBACK, None);
        [v4(0, 0, 0, 0, 80), v4(127, 0, 0, 1, 0), v6([0, 0, 0, 0, 0, 0, 0, 1], 80)]
            .map(|address| one.send(b"x", Some(address)))
    };
    Alone "sockets/udp.outgoing-datagram-stream.send" "without asking" |_d| {
        let (_one, other) = pair();
        other.outgoing.send(&[OutgoingDatagram { data: b"x".to_vec(), remote_address: None }])
    };
    Alone "sockets/udp.outgoing-datagram-stream.send" "twice for one permission" |_d| {
        let (_one, other) = pair();
        let first = other.send(b"x", None);
        (first, other.outgoing.send(&[OutgoingDatagram { data: b"x".to_vec(), remote_address: None }]))
    };

    Together "sockets/ip-name-lookup.resolve-addresses" "addresses" |_d| {
        ["127.0.0.1", "127.1", "0x7f.0.0.1", "2130706433", "::1", "[::1]", "fd00::2", "1.2.3."].map(addresses)
    };
    Together "sockets/ip-name-lookup.resolve-addresses" "what is no name" |_d| {
        ["", " ", "a b", "a:80", "http://a", "[::1", "256.0.0.1", "1.2.3.4.5", "a.1", "a/b", "a@b", "<a>"].map(addresses)
    };
    Together "sockets/ip-name-lookup.resolve-address-stream.resolve-next-address" "of this machine" |_d| {
        let found = addresses("localhost").unwrap();
        found.iter().any(|address| address.show() == "127.0.0.1")
    };
    Together "sockets/ip-name-lookup.resolve-address-stream.resolve-next-address" "after the last" |_d| {
        let stream = resolve_addresses(&network(), "127.0.0.1").unwrap();
        stream.subscribe().block();
        [0; 3].map(|_| stream.resolve_next_address())
    };
    Together "sockets/ip-name-lookup.resolve-address-stream.subscribe" "is soon ready" |_d| {
        let stream = resolve_addresses(&network(), "localhost").unwrap();
        stream.subscribe().block();
        (stream.resolve_next_address().is_ok_and(|address| address.is_some()), stream.subscribe().ready())
    };
    Together "sockets/ip-name-lookup.resolve-addresses" "through the standard library" |_d| {
        let found: Vec<_> = std::net::ToSocketAddrs::to_socket_addrs("localhost:80").unwrap().collect();
        found.iter().any(|address| address.to_string() == "127.0.0.1:80")
    };
    Together "sockets/udp.incoming-datagram-stream.receive" "through the standard library" |_d| {
        let [one, other] = [0; 2].map(|_| std::net::UdpSocket::bind("127.0.0.1:0").unwrap());
        let sent = one.send_to(b"question", other.local_addr().unwrap()).unwrap();
        let mut buffer = [0; 20];
        let (length, from) = other.recv_from(&mut buffer).unwrap();
        other.connect(from).unwrap();
        other.send(b"answer").unwrap();
        let back = one.recv_from(&mut [0; 3]).map(|(length, _)| length).map_err(|error| format!("{:?}", error.kind()));
        (sent, Bytes(buffer[..length].to_vec()), from == one.local_addr().unwrap(), back)
    };
}
