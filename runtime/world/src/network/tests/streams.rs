//! TCP: connecting, bytes, ends.

use super::*;

#[test]
fn one_program_talks_to_itself_without_time_or_turns() {
    let mut lab = Lab::new();
    let listener = lab.listen(CLIENT, "127.0.0.1:0");
    assert_eq!(lab.network.tcp_local_address(listener), Ok(address("127.0.0.1:32768")));
    let client = lab.tcp(CLIENT);
    lab.start_connect(client, "127.0.0.1:32768").expect("a good address");
    assert_eq!(lab.network.tcp_finish_connect(client), Ok(()));
    assert_eq!(lab.network.tcp_remote_address(client), Ok(address("127.0.0.1:32768")));
    lab.write(client, b"ping").expect("connected");
    let server = lab.network.tcp_accept(listener).expect("it is there");
    assert_eq!(lab.read(server), Ok(b"ping".to_vec()));
    assert_eq!(lab.read(server), Ok(Vec::new()));
    assert_eq!(lab.network.tcp_remote_address(server), lab.network.tcp_local_address(client));
    lab.close(client);
    assert_eq!((lab.read(server), lab.now), (Err(StreamEnd::Closed), Instant::START));
    lab.end();
}

#[test]
fn a_connection_takes_a_round_trip_and_bytes_take_half_of_one() {
    let mut lab = Lab::new();
    let listener = lab.listen(SERVER, "0.0.0.0:80");
    let client = lab.tcp(CLIENT);
    lab.start_connect(client, SERVER_ADDRESS).expect("a good address");
    assert_eq!(lab.network.tcp_finish_connect(client), Err(SocketErrorCode::WouldBlock));
    assert_eq!(lab.network.tcp_stage(client), TcpStage::Connecting);
    assert_eq!(lab.wait(Readiness::Socket(client)), millis(20));
    lab.network.tcp_finish_connect(client).expect("somebody listens");
    assert_eq!([client, listener].map(|id| lab.network.tcp_stage(id)), [TcpStage::Connected, TcpStage::Listening]);
    assert_eq!(lab.network.tcp_local_address(client), Ok(address("10.0.0.1:32768")));
    lab.write(client, b"a").expect("connected");
    lab.write(client, b"b").expect("connected");
    assert_eq!(lab.network.tcp_accept(listener), Err(SocketErrorCode::WouldBlock));
    assert_eq!(lab.wait(Readiness::Socket(listener)), millis(30));
    let server = lab.network.tcp_accept(listener).expect("the wait is over");
    assert_eq!(lab.network.tcp_local_address(server), Ok(address(SERVER_ADDRESS)));
    assert_eq!((lab.read_next(server), lab.now), (Ok(b"ab".to_vec()), millis(30)));
    lab.write(server, b"c").expect("connected");
    assert_eq!((lab.read_next(client), lab.now), (Ok(b"c".to_vec()), millis(40)));
    lab.end();
}

#[test]
fn who_is_not_there_is_told_as_in_reality() {
    let rows = [
        ("10.0.0.2:81", SocketErrorCode::ConnectionRefused, 20),
        ("127.0.0.1:80", SocketErrorCode::ConnectionRefused, 0),
        ("10.0.0.9:80", SocketErrorCode::RemoteUnreachable, 3_000),
        ("192.0.2.1:80", SocketErrorCode::RemoteUnreachable, 0),
    ];
    for (to, error, ms) in rows {
        let mut lab = Lab::new();
        lab.listen(SERVER, SERVER_ADDRESS);
        assert_eq!((lab.connect(to), lab.now), (Err(error), millis(ms)), "{to}");
        lab.end();
    }
}

#[test]
fn a_wildcard_listens_at_every_address_of_its_family() {
    for (at, to, is_heard) in [
        ("0.0.0.0:80", "127.0.0.1:80", true),
        ("0.0.0.0:80", "127.3.2.1:80", true),
        ("0.0.0.0:80", "10.0.0.1:80", true),
        ("127.0.0.1:80", "10.0.0.1:80", false),
        ("127.0.0.1:80", "127.0.0.2:80", false),
    ] {
        let mut lab = Lab::new();
        lab.listen(CLIENT, at);
        assert_eq!(lab.connect(to).is_ok(), is_heard, "{at} {to}");
        lab.end();
    }
}

#[test]
fn a_program_that_ended_has_closed_its_connections_and_refuses_new_ones() {
    let mut lab = Lab::new();
    let (client, server) = lab.pair();
    lab.listen(SERVER, SERVER_ADDRESS);
    lab.write(server, b"last words").expect("connected");
    lab.ask(|network, context| network.close_node(SERVER, context));
    lab.settle();
    assert_eq!(lab.read(client), Ok(b"last words".to_vec()));
    assert_eq!(lab.read(client), Err(StreamEnd::Closed));
    assert_eq!(lab.connect(SERVER_ADDRESS), Err(SocketErrorCode::ConnectionRefused));
    lab.end();
}

#[test]
fn buffers_are_bounded_and_a_reader_makes_room() {
    let mut lab = Lab::new();
    let (client, server) = lab.pair();
    let mut written = 0;
    while let Ok(permit @ 1..) = lab.network.tcp_check_write(client) {
        lab.write(client, &vec![7; permit]).expect("permitted");
        written += permit;
        lab.settle();
    }
    assert_eq!(written as u64, 2 * options::BUFFER_BYTES_DEFAULT);
    assert!(!lab.network.is_ready(Readiness::Writable(client)));
    let read = lab.read(server).expect("plenty").len();
    assert_eq!(lab.network.tcp_check_write(client), Ok(0));
    lab.wait(Readiness::Writable(client));
    assert_eq!(lab.network.tcp_check_write(client), Ok(read));
    lab.end();
}

#[test]
fn tiny_packets_are_bounded_too() {
    let mut lab = Lab::new();
    let (client, _) = lab.pair();
    let mut written = 0;
    while lab.network.tcp_check_write(client) != Ok(0) {
        lab.write(client, b"x").expect("permitted");
        written += 1;
    }
    assert!((100..1000).contains(&written), "{written}");
    lab.wait(Readiness::Writable(client));
    lab.end();
}

#[test]
fn one_direction_can_be_shut_down_alone() {
    let mut lab = Lab::new();
    let (client, server) = lab.pair();
    lab.write(client, b"question").expect("connected");
    assert_eq!(lab.shutdown(client, Shutdown::Send), Ok(()));
    assert_eq!(lab.shutdown(client, Shutdown::Send), Ok(()));
    assert_eq!(lab.network.tcp_check_write(client), Err(StreamEnd::Closed));
    lab.settle();
    assert_eq!([lab.read(server), lab.read(server)], [Ok(b"question".to_vec()), Err(StreamEnd::Closed)]);
    lab.write(server, b"answer").expect("this direction is open");
    lab.settle();
    assert_eq!(lab.read(client), Ok(b"answer".to_vec()));
    assert_eq!(lab.shutdown(client, Shutdown::Receive), Ok(()));
    assert_eq!(lab.read(client), Err(StreamEnd::Closed));
    lab.end();
}

#[test]
fn a_peer_that_leaves_bytes_unread_resets() {
    let mut lab = Lab::new();
    let (client, server) = lab.pair();
    lab.write(server, b"kept").expect("connected");
    lab.write(client, b"unread").expect("connected");
    lab.settle();
    lab.close(server);
    lab.settle();
    // What had arrived can be read, then the error comes once.
    assert_eq!(lab.read(client), Ok(b"kept".to_vec()));
    assert_eq!(lab.read(client), Err(StreamEnd::Failed(SocketErrorCode::ConnectionReset)));
    assert_eq!(lab.read(client), Err(StreamEnd::Closed));
    assert_eq!(lab.write(client, b"x"), Err(StreamEnd::Closed));
    lab.end();
}

#[test]
fn writing_to_a_closed_peer_fails_at_the_second_attempt() {
    let mut lab = Lab::new();
    let (client, server) = lab.pair();
    lab.close(server);
    lab.settle();
    assert_eq!(lab.write(client, b"x"), Ok(()));
    lab.settle();
    assert_eq!(lab.write(client, b"x"), Err(StreamEnd::Closed));
    assert_eq!(lab.write(client, b"x"), Err(StreamEnd::Closed));
    assert_eq!(lab.read(client), Err(StreamEnd::Closed));
    lab.end();
}

#[test]
fn requests_beyond_the_backlog_wait_and_then_time_out() {
    let mut lab = Lab::new();
    let listener = lab.listen(SERVER, SERVER_ADDRESS);
    lab.network.tcp_set_backlog(listener, 1).expect("not zero");
    lab.connect(SERVER_ADDRESS).expect("there is room for one");
    let second = lab.tcp(CLIENT);
    lab.start_connect(second, SERVER_ADDRESS).expect("a good address");
    lab.wait(Readiness::Socket(listener));
    lab.network.tcp_accept(listener).expect("one waits");
    let start = millis(20);
    assert_eq!(lab.wait(Readiness::Socket(second)), start.after(Duration::from_millis(1_020)));
    let third = lab.tcp(CLIENT);
    let start = lab.now;
    lab.start_connect(third, SERVER_ADDRESS).expect("a good address");
    let end = lab.wait(Readiness::Socket(third));
    assert_eq!(lab.network.tcp_finish_connect(third), Err(SocketErrorCode::Timeout));
    assert!(end.since(start) >= Duration::from_millis(120_000), "{end}");
    lab.end();
}

#[test]
fn who_was_never_accepted_is_reset_when_the_listener_closes() {
    let mut lab = Lab::new();
    let listener = lab.listen(SERVER, SERVER_ADDRESS);
    let client = lab.connect(SERVER_ADDRESS).expect("somebody listens");
    lab.close(listener);
    lab.settle();
    assert_eq!(lab.read(client), Err(StreamEnd::Failed(SocketErrorCode::ConnectionReset)));
    lab.end();
}

#[test]
fn a_client_that_gives_up_leaves_nothing_behind() {
    for ms in [0, 5, 15, 25, 35] {
        let mut lab = Lab::new();
        let listener = lab.listen(SERVER, SERVER_ADDRESS);
        let client = lab.tcp(CLIENT);
        lab.start_connect(client, SERVER_ADDRESS).expect("a good address");
        lab.now = millis(ms);
        lab.close(client);
        lab.settle();
        if let Ok(server) = lab.network.tcp_accept(listener) {
            assert!(lab.read_next(server).is_err());
        }
        lab.end();
    }
}

#[test]
fn sockets_are_bounded() {
    let mut lab = Lab::new();
    for _ in 0..SOCKETS_MAX {
        lab.tcp(CLIENT);
    }
    assert_eq!(lab.network.tcp_create(CLIENT, AddressFamily::Ipv6), Err(SocketErrorCode::NewSocketLimit));
    assert_eq!(lab.network.udp_create(CLIENT, AddressFamily::Ipv4), Err(SocketErrorCode::NewSocketLimit));
    lab.tcp(SERVER);
    lab.end();
}

#[test]
fn who_waits_at_a_socket_is_told_for_whom() {
    let mut lab = Lab::new();
    let listener = lab.listen(SERVER, "0.0.0.0:8080");
    assert_eq!(lab.network.peer_words(Readiness::Socket(listener)), "a connection to its port 8080");
    let (client, server) = lab.pair();
    let words = [Readiness::Readable(client), Readiness::Writable(server)].map(|wait| lab.network.peer_words(wait));
    let expected = ["bytes from the connection with server:80", "room to write to the connection with client:32768"];
    assert_eq!(words, expected);
    let idle = lab.tcp(CLIENT);
    assert_eq!(lab.network.peer_words(Readiness::Readable(idle)), "bytes from a connection");
}
