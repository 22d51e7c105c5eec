//! `wasi:sockets/tcp`, and the streams of connections.

use crate::cases;
use crate::net::{
    ANYWHERE, End, LOOPBACK, Pair, accept, bind, bound, connect, connecting, equal, finish_connect, listening, network,
    pair, port, read_exactly, refused, tcp, v4, v6, write_until_it_fails,
};
use crate::place::{drain, pour};
use crate::show::Bytes;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use wasip2::sockets::instance_network::instance_network;
use wasip2::sockets::network::{ErrorCode, IpAddressFamily};
use wasip2::sockets::tcp::{ShutdownType, TcpSocket};
use wasip2::sockets::tcp_create_socket::create_tcp_socket;

const SECOND: u64 = 1_000_000_000;

/// A state, and a socket in it. What keeps the socket there comes along.
fn in_every_state<T>(operation: impl Fn(&TcpSocket) -> T) -> Vec<T> {
    let binding = tcp();
    binding.start_bind(&network(), LOOPBACK).unwrap();
    let listen_started = bound();
    listen_started.start_listen().unwrap();
    let pair = pair();
    let sockets = [tcp(), binding, bound(), listen_started, listening(), refused()];
    sockets.iter().chain([&pair.client.socket, &pair.server.socket]).map(operation).collect()
}

/// A connection of the standard library, and whether both ends agree on who they are.
fn std_pair() -> std::io::Result<(TcpStream, TcpStream, bool)> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let client = TcpStream::connect(listener.local_addr()?)?;
    let (server, from) = listener.accept()?;
    let agreed = from == client.local_addr()? && server.local_addr()? == client.peer_addr()?;
    Ok((client, server, agreed))
}

/// An address where nobody listens any more.
fn nowhere() -> std::net::SocketAddr {
    TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).unwrap()
}

/// `set`, and what `get` then says.
fn set_and_get<T>(
    set: impl Fn(&TcpSocket) -> Result<(), ErrorCode>,
    get: impl Fn(&TcpSocket) -> Result<T, ErrorCode>,
) -> Result<T, ErrorCode> {
    let socket = tcp();
    set(&socket)?;
    get(&socket)
}

/// A server that was accepted with the options of its listener.
fn inherited(set: impl Fn(&TcpSocket)) -> End {
    let listener = listening();
    set(&listener);
    let client = connect(&listener).unwrap();
    let server = accept(&listener).unwrap();
    drop(client);
    server
}

cases! {
    Together "sockets/instance-network.instance-network" "twice" |_d| {
        let (one, other) = (instance_network(), instance_network());
        (tcp().start_bind(&one, LOOPBACK), tcp().start_bind(&other, LOOPBACK))
    };
    Together "sockets/tcp-create-socket.create-tcp-socket" "of both families" |_d| {
        [IpAddressFamily::Ipv4, IpAddressFamily::Ipv6].map(|family| {
            create_tcp_socket(family).map(|socket| (socket.address_family(), socket.is_listening()))
        })
    };
    Together "sockets/tcp.tcp-socket.address-family" "in every state" |_d| in_every_state(TcpSocket::address_family);
    Together "sockets/tcp.tcp-socket.is-listening" "in every state" |_d| in_every_state(TcpSocket::is_listening);

    Together "sockets/tcp.tcp-socket.start-bind" "in every state" |_d| {
        in_every_state(|socket| socket.start_bind(&network(), LOOPBACK))
    };
    Together "sockets/tcp.tcp-socket.start-bind" "addresses that cannot be meant" |_d| {
        let wrong = [
            v6([0, 0, 0, 0, 0, 0, 0, 1], 0),
            v4(224, 0, 0, 1, 0),
            v4(255, 255, 255, 255, 0),
            v4(192, 0, 2, 1, 0),
        ];
        wrong.map(|address| tcp().start_bind(&network(), address))
    };
    Together "sockets/tcp.tcp-socket.start-bind" "addresses that an IPv6 socket does not take" |_d| {
        let wrong = [
            LOOPBACK,
            v6([0, 0, 0, 0, 0, 0xffff, 0x7f00, 1], 0),
            v6([0, 0, 0, 0, 0, 0, 0x7f00, 1], 0),
            v6([0xff02, 0, 0, 0, 0, 0, 0, 1], 0),
            v6([0x2001, 0xdb8, 0, 0, 0, 0, 0, 1], 0),
        ];
        wrong.map(|address| create_tcp_socket(IpAddressFamily::Ipv6).unwrap().start_bind(&network(), address))
    };
    Together "sockets/tcp.tcp-socket.start-bind" "again after a failure" |_d| {
        let socket = tcp();
        (bind(&socket, v4(192, 0, 2, 1, 0)), socket.local_address(), bind(&socket, LOOPBACK), socket.local_address())
    };
    Together "sockets/tcp.tcp-socket.start-bind" "where another one listens" |_d| {
        let port = port(listening().local_address().unwrap());
        let listener = tcp();
        let first = bind(&listener, v4(127, 0, 0, 1, port));
        let listening = (listener.start_listen(), listener.finish_listen());
        let others = [v4(127, 0, 0, 1, port), v4(0, 0, 0, 0, port), v4(127, 0, 0, 2, port)];
        (first, listening, others.map(|address| bind(&tcp(), address)))
    };
    Together "sockets/tcp.tcp-socket.start-bind" "where another one is only bound" |_d| {
        let (one, other) = (bound(), tcp());
        let second = bind(&other, one.local_address().unwrap());
        (second, one.start_listen(), other.start_listen())
    };
    Together "sockets/tcp.tcp-socket.finish-bind" "in every state" |_d| in_every_state(TcpSocket::finish_bind);
    Together "sockets/tcp.tcp-socket.finish-bind" "twice" |_d| {
        let socket = tcp();
        (socket.start_bind(&network(), LOOPBACK), socket.finish_bind(), socket.finish_bind())
    };

    Together "sockets/tcp.tcp-socket.start-connect" "in every state" |_d| {
        let listener = listening();
        let address = listener.local_address().unwrap();
        in_every_state(|socket| socket.start_connect(&network(), address))
    };
    Together "sockets/tcp.tcp-socket.start-connect" "addresses that cannot be meant" |_d| {
        let wrong = [
            v4(0, 0, 0, 0, 80),
            v4(127, 0, 0, 1, 0),
            v4(224, 0, 0, 1, 80),
            v4(255, 255, 255, 255, 80),
            v6([0, 0, 0, 0, 0, 0, 0, 1], 80),
        ];
        wrong.map(|address| tcp().start_connect(&network(), address))
    };
    Together "sockets/tcp.tcp-socket.start-connect" "addresses that an IPv6 socket does not take" |_d| {
        let wrong = [
            v4(127, 0, 0, 1, 80),
            v6([0; 8], 80),
            v6([0, 0, 0, 0, 0, 0xffff, 0x7f00, 1], 80),
            v6([0, 0, 0, 0, 0, 0, 0, 1], 0),
        ];
        wrong.map(|address| create_tcp_socket(IpAddressFamily::Ipv6).unwrap().start_connect(&network(), address))
    };
    Together "sockets/tcp.tcp-socket.start-connect" "from a port of one's own" |_d| {
        let (listener, socket) = (listening(), bound());
        let own = socket.local_address().unwrap();
        let started = socket.start_connect(&network(), listener.local_address().unwrap());
        let client = finish_connect(socket).unwrap();
        let server = accept(&listener).unwrap();
        let seen = server.socket.remote_address().unwrap();
        (started, equal(own, client.socket.local_address().unwrap()), equal(own, seen))
    };
    Together "sockets/tcp.tcp-socket.start-connect" "to a listener at every address" |_d| {
        let listener = tcp();
        bind(&listener, ANYWHERE).unwrap();
        listener.start_listen().unwrap();
        let address = listener.local_address().unwrap();
        let socket = tcp();
        let started = socket.start_connect(&network(), v4(127, 0, 0, 1, port(address)));
        (address, started, finish_connect(socket).map(drop))
    };
    Together "sockets/tcp.tcp-socket.start-connect" "leaves nothing to ask while it lasts" |_d| {
        let listener = listening();
        let socket = connecting(&listener);
        let during = (socket.local_address(), socket.remote_address(), socket.hop_limit().map(u32::from), socket.set_listen_backlog_size(1));
        (during, finish_connect(socket).map(drop))
    };
    Together "sockets/tcp.tcp-socket.finish-connect" "in every state" |_d| {
        in_every_state(|socket| socket.finish_connect().map(drop))
    };
    Together "sockets/tcp.tcp-socket.finish-connect" "when it is there" |_d| {
        let listener = listening();
        let client = connect(&listener).unwrap();
        let again = client.socket.finish_connect().map(drop);
        (equal(client.socket.remote_address().unwrap(), listener.local_address().unwrap()), client.socket.local_address(), again)
    };
    Together "sockets/tcp.tcp-socket.finish-connect" "when nobody is there" |_d| {
        let listener = listening();
        let address = listener.local_address().unwrap();
        drop(listener);
        let socket = tcp();
        socket.start_connect(&network(), address).unwrap();
        finish_connect(socket).map(drop)
    };
    Together "sockets/tcp.tcp-socket.start-listen" "in every state" |_d| in_every_state(TcpSocket::start_listen);
    Together "sockets/tcp.tcp-socket.finish-listen" "in every state" |_d| in_every_state(TcpSocket::finish_listen);
    Together "sockets/tcp.tcp-socket.accept" "in every state" |_d| {
        in_every_state(|socket| socket.accept().map(drop))
    };
    Together "sockets/tcp.tcp-socket.accept" "several, in their order" |_d| {
        let listener = listening();
        let clients = [0; 3].map(|_| connect(&listener).unwrap());
        let servers = [0; 3].map(|_| accept(&listener).unwrap());
        let met = |index: usize| {
            let (client, server) = (&clients[index].socket, &servers[index].socket);
            equal(client.local_address().unwrap(), server.remote_address().unwrap())
                && equal(client.remote_address().unwrap(), server.local_address().unwrap())
        };
        ([met(0), met(1), met(2)], listener.accept().map(drop))
    };
    Together "sockets/tcp.tcp-socket.accept" "who has left already" |_d| {
        let listener = listening();
        let client = connect(&listener).unwrap();
        pour(&client.output, b"bye").unwrap();
        drop(client);
        let server = accept(&listener).unwrap();
        drain(&server.input)
    };
    Together "sockets/tcp.tcp-socket.accept" "of a listener whose start is not finished" |_d| {
        let listener = bound();
        listener.start_listen().unwrap();
        let client = connect(&listener).map(drop);
        (client, listener.finish_listen(), accept(&listener).map(drop))
    };

    Together "sockets/tcp.tcp-socket.local-address" "in every state" |_d| in_every_state(TcpSocket::local_address);
    Together "sockets/tcp.tcp-socket.local-address" "of a socket at every address" |_d| {
        let socket = tcp();
        (bind(&socket, ANYWHERE), socket.local_address())
    };
    Together "sockets/tcp.tcp-socket.remote-address" "in every state" |_d| in_every_state(TcpSocket::remote_address);

    Together "sockets/tcp.tcp-socket.set-listen-backlog-size" "in every state" |_d| {
        in_every_state(|socket| socket.set_listen_backlog_size(5))
    };
    Together "sockets/tcp.tcp-socket.set-listen-backlog-size" "any size" |_d| {
        [0, 1, 128, u64::MAX].map(|size| tcp().set_listen_backlog_size(size))
    };
    Together "sockets/tcp.tcp-socket.keep-alive-enabled" "in every state" |_d| in_every_state(TcpSocket::keep_alive_enabled);
    Together "sockets/tcp.tcp-socket.keep-alive-enabled" "as it was set" |_d| {
        [true, false].map(|value| set_and_get(|socket| socket.set_keep_alive_enabled(value), TcpSocket::keep_alive_enabled))
    };
    Together "sockets/tcp.tcp-socket.set-keep-alive-enabled" "in every state" |_d| {
        in_every_state(|socket| socket.set_keep_alive_enabled(true))
    };
    Together "sockets/tcp.tcp-socket.set-keep-alive-enabled" "is inherited" |_d| {
        inherited(|listener| listener.set_keep_alive_enabled(true).unwrap()).socket.keep_alive_enabled()
    };
    Together "sockets/tcp.tcp-socket.keep-alive-idle-time" "in every state" |_d| {
        in_every_state(|socket| socket.keep_alive_idle_time().map(|time| time > 0))
    };
    Together "sockets/tcp.tcp-socket.set-keep-alive-idle-time" "any time" |_d| {
        [0, 1, SECOND, SECOND + 1, 90 * SECOND, u64::MAX].map(|time| {
            set_and_get(|socket| socket.set_keep_alive_idle_time(time), TcpSocket::keep_alive_idle_time)
        })
    };
    Together "sockets/tcp.tcp-socket.set-keep-alive-idle-time" "nothing, in every state" |_d| {
        in_every_state(|socket| socket.set_keep_alive_idle_time(0))
    };
    Together "sockets/tcp.tcp-socket.set-keep-alive-idle-time" "is inherited" |_d| {
        inherited(|listener| listener.set_keep_alive_idle_time(7 * SECOND).unwrap()).socket.keep_alive_idle_time()
    };
    Together "sockets/tcp.tcp-socket.keep-alive-interval" "in every state" |_d| {
        in_every_state(|socket| socket.keep_alive_interval().map(|time| time > 0))
    };
    Together "sockets/tcp.tcp-socket.set-keep-alive-interval" "any time" |_d| {
        [0, 1, SECOND, SECOND + 1, 90 * SECOND, u64::MAX].map(|time| {
            set_and_get(|socket| socket.set_keep_alive_interval(time), TcpSocket::keep_alive_interval)
        })
    };
    Together "sockets/tcp.tcp-socket.set-keep-alive-interval" "in every state" |_d| {
        in_every_state(|socket| socket.set_keep_alive_interval(SECOND))
    };
    Together "sockets/tcp.tcp-socket.keep-alive-count" "in every state" |_d| {
        in_every_state(|socket| socket.keep_alive_count().map(|count| count > 0))
    };
    Together "sockets/tcp.tcp-socket.set-keep-alive-count" "any count" |_d| {
        [0, 1, 9, 127, 128, u32::MAX].map(|count| {
            set_and_get(|socket| socket.set_keep_alive_count(count), TcpSocket::keep_alive_count)
        })
    };
    Together "sockets/tcp.tcp-socket.set-keep-alive-count" "nothing, in every state" |_d| {
        in_every_state(|socket| socket.set_keep_alive_count(0))
    };
    Together "sockets/tcp.tcp-socket.hop-limit" "in every state" |_d| {
        in_every_state(|socket| socket.hop_limit().map(u32::from))
    };
    Together "sockets/tcp.tcp-socket.set-hop-limit" "any limit" |_d| {
        [0, 1, 255].map(|limit| {
            set_and_get(|socket| socket.set_hop_limit(limit), |socket| socket.hop_limit().map(u32::from))
        })
    };
    Together "sockets/tcp.tcp-socket.set-hop-limit" "nothing, in every state" |_d| {
        in_every_state(|socket| socket.set_hop_limit(0))
    };
    Together "sockets/tcp.tcp-socket.receive-buffer-size" "in every state" |_d| {
        in_every_state(|socket| socket.receive_buffer_size().map(|bytes| bytes > 0))
    };
    Together "sockets/tcp.tcp-socket.set-receive-buffer-size" "any size" |_d| {
        [0, 1, 10_000, u64::MAX].map(|size| {
            let get = |socket: &TcpSocket| socket.receive_buffer_size().map(|bytes| bytes > 0);
            set_and_get(|socket| socket.set_receive_buffer_size(size), get)
        })
    };
    Together "sockets/tcp.tcp-socket.set-receive-buffer-size" "is kept" |_d| {
        set_and_get(|socket| socket.set_receive_buffer_size(10_000), TcpSocket::receive_buffer_size)
    };
    Together "sockets/tcp.tcp-socket.set-receive-buffer-size" "nothing, in every state" |_d| {
        in_every_state(|socket| socket.set_receive_buffer_size(0))
    };
    Together "sockets/tcp.tcp-socket.send-buffer-size" "in every state" |_d| {
        in_every_state(|socket| socket.send_buffer_size().map(|bytes| bytes > 0))
    };
    Together "sockets/tcp.tcp-socket.set-send-buffer-size" "any size" |_d| {
        [0, 1, 10_000, u64::MAX].map(|size| {
            let get = |socket: &TcpSocket| socket.send_buffer_size().map(|bytes| bytes > 0);
            set_and_get(|socket| socket.set_send_buffer_size(size), get)
        })
    };
    Together "sockets/tcp.tcp-socket.set-send-buffer-size" "is kept" |_d| {
        set_and_get(|socket| socket.set_send_buffer_size(10_000), TcpSocket::send_buffer_size)
    };
    Together "sockets/tcp.tcp-socket.subscribe" "in states where nothing is to be waited for" |_d| {
        let listener = listening();
        let refused = refused();
        (tcp().subscribe().ready(), bound().subscribe().ready(), listener.subscribe().ready(), refused.subscribe().ready())
    };
    Together "sockets/tcp.tcp-socket.subscribe" "a listener to whom somebody comes" |_d| {
        let listener = listening();
        let pollable = listener.subscribe();
        let before = pollable.ready();
        let client = connect(&listener).unwrap();
        pollable.block();
        let after = pollable.ready();
        drop(pollable);
        drop(client);
        (before, after)
    };
    Together "sockets/tcp.tcp-socket.shutdown" "in every state" |_d| {
        in_every_state(|socket| socket.shutdown(ShutdownType::Both))
    };
    Together "sockets/tcp.tcp-socket.shutdown" "sending, and hearing the answer" |_d| {
        let Pair { client, server } = pair();
        pour(&client.output, b"question").unwrap();
        let shut = [0; 2].map(|_| client.socket.shutdown(ShutdownType::Send));
        let mine = (client.output.check_write(), client.output.flush(), client.output.write(b"x"));
        let question = drain(&server.input);
        pour(&server.output, b"answer").unwrap();
        (shut, mine, question, read_exactly(&client.input, 6).map(Bytes))
    };
    Together "sockets/tcp.tcp-socket.shutdown" "receiving" |_d| {
        let Pair { client, server } = pair();
        pour(&server.output, b"unheard").unwrap();
        client.input.subscribe().block();
        let shut = client.socket.shutdown(ShutdownType::Receive);
        let ready = client.input.subscribe().ready();
        (shut, ready, client.input.read(9).map(Bytes), client.input.blocking_read(9).map(Bytes), client.output.check_write().is_ok())
    };
    Together "sockets/tcp.tcp-socket.shutdown" "both" |_d| {
        let Pair { client, server } = pair();
        let shut = client.socket.shutdown(ShutdownType::Both);
        (shut, client.input.read(1).map(Bytes), client.output.check_write(), drain(&server.input), client.socket.remote_address())
    };

    Together "io/streams.input-stream.read" "a connection without bytes" |_d| {
        let Pair { client, server: _server } = pair();
        (client.input.read(9).map(Bytes), client.input.read(0).map(Bytes), client.input.subscribe().ready())
    };
    Together "io/streams.input-stream.blocking-read" "a connection, in pieces and to the end" |_d| {
        let Pair { client, server } = pair();
        pour(&client.output, b"hello world").unwrap();
        client.socket.shutdown(ShutdownType::Send).unwrap();
        let start = read_exactly(&server.input, 5).map(Bytes);
        (start, drain(&server.input), server.input.read(0).map(Bytes), server.input.blocking_read(1).map(Bytes))
    };
    Together "io/streams.input-stream.blocking-read" "a connection that carries much, both ways" |_d| {
        let Pair { client, server } = pair();
        let mut sums = [0_u64; 2];
        for round in 0..50_u64 {
            let bytes: Vec<u8> = (0..4000_u64).map(|index| (index * round) as u8).collect();
            pour(&client.output, &bytes).unwrap();
            let there = read_exactly(&server.input, bytes.len()).unwrap();
            pour(&server.output, &there).unwrap();
            let back = read_exactly(&client.input, bytes.len()).unwrap();
            sums[usize::from(back == bytes)] += 1;
        }
        sums
    };
    Together "io/streams.input-stream.blocking-read" "a connection whose peer leaves bytes unread" |_d| {
        let Pair { client, server } = pair();
        pour(&client.output, b"unread").unwrap();
        server.input.subscribe().block();
        drop(server);
        // The first answer is that of the reset, if it was in time.
        (client.input.blocking_read(9).is_err(), client.input.blocking_read(9).map(Bytes))
    };
    Together "io/streams.input-stream.skip" "a connection" |_d| {
        let Pair { client, server } = pair();
        pour(&client.output, b"hello").unwrap();
        server.input.subscribe().block();
        (server.input.skip(2), read_exactly(&server.input, 3).map(Bytes))
    };
    Together "io/streams.input-stream.subscribe" "a connection that brings something" |_d| {
        let Pair { client, server } = pair();
        let pollable = server.input.subscribe();
        pour(&client.output, b"x").unwrap();
        pollable.block();
        let after = pollable.ready();
        drop(pollable);
        (after, server.input.read(9).map(Bytes))
    };
    Together "io/streams.output-stream.check-write" "a connection" |_d| {
        let Pair { client, server: _server } = pair();
        client.output.subscribe().block();
        client.output.check_write().map(|permitted| permitted >= 4096)
    };
    Together "io/streams.output-stream.write" "to a connection, nothing" |_d| {
        let Pair { client, server: _server } = pair();
        (client.output.check_write().is_ok(), client.output.write(b""), client.output.flush())
    };
    Alone "io/streams.output-stream.write" "to a connection more than it permits" |_d| {
        let Pair { client, server: _server } = pair();
        let permitted = client.output.check_write().unwrap();
        (client.output.write(&vec![0; permitted as usize + 1]), true)
    };
    Together "io/streams.output-stream.blocking-write-and-flush" "to a peer that has left" |_d| {
        let Pair { client, server } = pair();
        drop(server);
        (write_until_it_fails(&client.output), write_until_it_fails(&client.output), drain(&client.input))
    };
    Together "io/streams.output-stream.blocking-flush" "a connection" |_d| {
        let Pair { client, server } = pair();
        client.output.check_write().unwrap();
        (client.output.write(b"text"), client.output.blocking_flush(), read_exactly(&server.input, 4).map(Bytes))
    };
    Together "io/streams.output-stream.blocking-write-zeroes-and-flush" "to a connection" |_d| {
        let Pair { client, server } = pair();
        (client.output.blocking_write_zeroes_and_flush(3), read_exactly(&server.input, 3).map(Bytes))
    };
    Together "io/streams.output-stream.blocking-splice" "from one connection to another" |_d| {
        let (one, other) = (pair(), pair());
        pour(&one.client.output, b"passed on").unwrap();
        one.server.input.subscribe().block();
        other.client.output.subscribe().block();
        let spliced = other.client.output.blocking_splice(&one.server.input, 6);
        (spliced, read_exactly(&other.server.input, 6).map(Bytes))
    };

    Together "sockets/tcp.tcp-socket.accept" "through the standard library" |_d| {
        let (mut client, mut server, greeted) = std_pair().unwrap();
        client.write_all(b"question").unwrap();
        client.shutdown(Shutdown::Write).unwrap();
        let mut question = String::new();
        server.read_to_string(&mut question).unwrap();
        server.write_all(b"answer").unwrap();
        drop(server);
        let mut answer = String::new();
        client.read_to_string(&mut answer).unwrap();
        (greeted, question, answer)
    };
    Together "sockets/tcp.tcp-socket.subscribe" "through the standard library, not waiting" |_d| {
        let (mut client, server, _) = std_pair().unwrap();
        server.set_nonblocking(true).unwrap();
        let before = (&server).read(&mut [0; 9]).map_err(|error| format!("{:?}", error.kind()));
        client.write_all(b"x").unwrap();
        server.set_nonblocking(false).unwrap();
        let after = (&server).read(&mut [0; 9]).map_err(|error| format!("{:?}", error.kind()));
        let nobody = std::net::TcpStream::connect(nowhere()).map(drop).map_err(|error| format!("{:?}", error.kind()));
        (before, after, nobody)
    };
}
