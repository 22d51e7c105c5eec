//! Which operation is answered how in which state.

use super::*;
use SocketErrorCode::{
    AddressInUse, AddressNotBindable, ConcurrencyConflict, ConnectionRefused, InvalidArgument, InvalidState,
    NotInProgress, WouldBlock,
};

/// Every state of a TCP socket.
fn every_state(lab: &mut Lab) -> Vec<(&'static str, TcpId)> {
    lab.listen(CLIENT, "127.0.0.1:99");
    let mut sockets = Vec::new();
    sockets.push(("unbound", lab.tcp(CLIENT)));
    let binding = lab.tcp(CLIENT);
    lab.network.tcp_start_bind(binding, address("127.0.0.1:1")).expect("free");
    sockets.push(("binding", binding));
    let bound = lab.tcp(CLIENT);
    lab.bind(bound, "127.0.0.1:2").expect("free");
    sockets.push(("bound", bound));
    let listen_started = lab.tcp(CLIENT);
    lab.bind(listen_started, "127.0.0.1:3").expect("free");
    lab.network.tcp_start_listen(listen_started).expect("bound");
    sockets.push(("listen-started", listen_started));
    sockets.push(("listening", lab.listen(CLIENT, "127.0.0.1:4")));
    let connecting = lab.tcp(CLIENT);
    lab.start_connect(connecting, SERVER_ADDRESS).expect("good");
    sockets.push(("connecting", connecting));
    let connected = lab.tcp(CLIENT);
    lab.start_connect(connected, "127.0.0.1:99").expect("good");
    lab.network.tcp_finish_connect(connected).expect("somebody listens");
    sockets.push(("connected", connected));
    let closed = lab.tcp(CLIENT);
    lab.start_connect(closed, "127.0.0.1:98").expect("good");
    lab.network.tcp_finish_connect(closed).expect_err("nobody listens");
    sockets.push(("closed", closed));
    sockets
}

fn check(
    operation: impl Fn(&mut Lab, TcpId) -> Result<(), SocketErrorCode>,
    expected: [Result<(), SocketErrorCode>; 8],
) {
    for (index, expected) in expected.into_iter().enumerate() {
        let mut lab = Lab::new();
        let (state, id) = every_state(&mut lab)[index];
        assert_eq!(operation(&mut lab, id), expected, "{state}");
        lab.end();
    }
}

#[test]
fn every_operation_in_every_state() {
    let (busy, state, none) = (Err(ConcurrencyConflict), Err(InvalidState), Err(NotInProgress));
    let refused = Err(ConnectionRefused);
    //     unbound binding bound listen-started listening connecting connected closed
    check(
        |lab, id| lab.network.tcp_start_bind(id, address("127.0.0.1:0")),
        [Ok(()), busy, state, busy, state, busy, state, state],
    );
    check(|lab, id| lab.network.tcp_finish_bind(id), [none, Ok(()), none, none, none, none, none, none]);
    check(
        |lab, id| lab.start_connect(id, SERVER_ADDRESS.replace("10.0.0.2", "127.0.0.1").as_str()),
        [Ok(()), busy, Ok(()), busy, state, busy, state, state],
    );
    check(|lab, id| lab.network.tcp_finish_connect(id), [none, none, none, none, none, Err(WouldBlock), none, none]);
    check(|lab, id| lab.network.tcp_start_listen(id), [state, busy, Ok(()), busy, state, busy, state, state]);
    check(|lab, id| lab.network.tcp_finish_listen(id), [none, none, none, Ok(()), none, none, none, none]);
    let block = Err(WouldBlock);
    check(|lab, id| lab.network.tcp_accept(id).map(|_| ()), [state, state, state, block, block, state, state, state]);
    check(
        |lab, id| lab.network.tcp_local_address(id).map(|_| ()),
        [state, Ok(()), Ok(()), Ok(()), Ok(()), state, Ok(()), refused],
    );
    check(
        |lab, id| lab.network.tcp_remote_address(id).map(|_| ()),
        [state, state, state, state, state, state, Ok(()), refused],
    );
    check(
        |lab, id| lab.network.tcp_options(id).map(|_| ()),
        [Ok(()), Ok(()), Ok(()), Ok(()), Ok(()), state, Ok(()), refused],
    );
    check(
        |lab, id| lab.network.tcp_set_option(id, SocketOption::HopLimit(0)),
        [
            Err(InvalidArgument),
            Err(InvalidArgument),
            Err(InvalidArgument),
            Err(InvalidArgument),
            Err(InvalidArgument),
            state,
            Err(InvalidArgument),
            refused,
        ],
    );
    check(
        |lab, id| lab.network.tcp_set_backlog(id, 7),
        [Ok(()), Ok(()), Ok(()), Ok(()), Ok(()), state, state, refused],
    );
    check(|lab, id| lab.shutdown(id, Shutdown::Both), [state, state, state, state, state, state, Ok(()), state]);
}

#[test]
fn addresses_that_cannot_be_meant_are_refused() {
    let mut lab = Lab::new();
    let v4 = lab.tcp(CLIENT);
    let v6 = lab.network.tcp_create(CLIENT, AddressFamily::Ipv6).expect("room");
    for (id, at, error) in [
        (v4, "[::1]:1", InvalidArgument),
        (v4, "224.0.0.1:1", InvalidArgument),
        (v4, "255.255.255.255:1", InvalidArgument),
        (v4, "10.0.0.2:1", AddressNotBindable),
        (v4, "192.0.2.1:1", AddressNotBindable),
        (v6, "127.0.0.1:1", InvalidArgument),
        (v6, "[::ffff:127.0.0.1]:1", InvalidArgument),
        (v6, "[::127.0.0.1]:1", InvalidArgument),
        (v6, "[fd00::2]:1", AddressNotBindable),
    ] {
        assert_eq!(lab.network.tcp_start_bind(id, address(at)), Err(error), "bind {at}");
    }
    for (id, to) in [(v4, "0.0.0.0:1"), (v4, "127.0.0.1:0"), (v4, "[::1]:1"), (v6, "[::]:1"), (v6, "127.0.0.1:1")] {
        assert_eq!(lab.start_connect(id, to), Err(InvalidArgument), "connect {to}");
    }
    // Bound to loopback, it cannot leave the machine.
    lab.bind(v4, "127.0.0.1:0").expect("free");
    lab.start_connect(v4, SERVER_ADDRESS).expect("told later");
    assert_eq!(lab.network.tcp_finish_connect(v4), Err(InvalidArgument));
    lab.end();
}

#[test]
fn an_address_belongs_to_one_listener() {
    for (first, second, is_free) in [
        ("127.0.0.1:80", "127.0.0.1:80", false),
        ("127.0.0.1:80", "127.0.0.2:80", true),
        ("127.0.0.1:80", "127.0.0.1:81", true),
        ("0.0.0.0:80", "127.0.0.1:80", false),
        ("127.0.0.1:80", "0.0.0.0:80", false),
        ("[::]:80", "0.0.0.0:80", true),
        ("[::1]:80", "[::]:80", false),
    ] {
        let mut lab = Lab::new();
        let [one, other] = [first, second]
            .map(|at| lab.network.tcp_create(CLIENT, AddressFamily::of(address(at).ip())).expect("room"));
        // While no socket listens, both can be bound: WASI demands `SO_REUSEADDR`.
        lab.bind(one, first).expect("free");
        lab.network.tcp_start_listen(one).expect("free");
        let expected = if is_free { Ok(()) } else { Err(AddressInUse) };
        assert_eq!(lab.bind(other, second), expected, "{first} {second}");
        let late = lab.network.tcp_create(CLIENT, AddressFamily::of(address(second).ip())).expect("room");
        lab.close(one);
        lab.bind(late, second).expect("free again");
        lab.end();
    }
    let mut lab = Lab::new();
    let (one, other) = (lab.tcp(CLIENT), lab.tcp(CLIENT));
    lab.bind(one, "127.0.0.1:80").expect("free");
    lab.bind(other, "127.0.0.1:80").expect("nobody listens yet");
    assert_eq!(lab.network.tcp_start_listen(one), Ok(()));
    assert_eq!(lab.network.tcp_start_listen(other), Err(AddressInUse));
    lab.end();
}

#[test]
fn options_are_kept_and_inherited() {
    let mut lab = Lab::new();
    let listener = lab.listen(CLIENT, "127.0.0.1:80");
    for option in [
        SocketOption::KeepAlive(true),
        SocketOption::KeepAliveIdle(1),
        SocketOption::KeepAliveInterval(u64::MAX),
        SocketOption::KeepAliveCount(u32::MAX),
        SocketOption::HopLimit(1),
        SocketOption::ReceiveBuffer(1),
        SocketOption::SendBuffer(u64::MAX),
    ] {
        lab.network.tcp_set_option(listener, option).expect("not zero");
    }
    lab.connect("127.0.0.1:80").expect("somebody listens");
    let server = lab.network.tcp_accept(listener).expect("somebody connects");
    let expected = SocketOptions {
        keep_alive: true,
        keep_alive_idle_ns: 1_000_000_000,
        keep_alive_interval_ns: 32_767_000_000_000,
        keep_alive_count: 127,
        hop_limit: 1,
        receive_buffer: options::BUFFER_BYTES_MIN,
        send_buffer: options::BUFFER_BYTES_MAX,
    };
    assert_eq!(lab.network.tcp_options(server), Ok(&expected));
    lab.end();
}

#[test]
fn a_connection_that_failed_is_forgotten_where_that_is_asked() {
    let mut lab = Lab::new();
    let (free, bound) = (lab.tcp(CLIENT), lab.tcp(CLIENT));
    lab.bind(bound, "10.0.0.1:7").expect("free");
    for id in [free, bound] {
        for _ in 0..3 {
            lab.start_connect(id, SERVER_ADDRESS).expect("it is as before");
            lab.network.tcp_forget_failure(id);
            assert_eq!(lab.network.tcp_stage(id), TcpStage::Connecting, "nothing has failed yet");
            lab.wait(Readiness::Socket(id));
            assert_eq!(lab.network.tcp_finish_connect(id), Err(ConnectionRefused));
            assert_eq!(lab.start_connect(id, SERVER_ADDRESS), Err(InvalidState));
            lab.network.tcp_forget_failure(id);
            assert_eq!(lab.network.tcp_stage(id), TcpStage::Idle);
        }
    }
    assert_eq!(lab.network.tcp_local_address(free), Err(InvalidState));
    assert_eq!(lab.network.tcp_local_address(bound), Ok(address("10.0.0.1:7")));
    let listener = lab.listen(SERVER, SERVER_ADDRESS);
    for id in [free, bound] {
        lab.start_connect(id, SERVER_ADDRESS).expect("it is as before");
        lab.wait(Readiness::Socket(id));
        assert_eq!(lab.network.tcp_finish_connect(id), Ok(()));
        lab.network.tcp_forget_failure(id);
        assert_eq!(lab.network.tcp_stage(id), TcpStage::Connected);
    }
    lab.close(listener);
    lab.end();
}
