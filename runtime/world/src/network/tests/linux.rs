//! Sockets that follow Linux: addresses that are taken, both families, shutdowns, hangups.

use super::*;
use SocketErrorCode::{AddressInUse, ConnectionRefused, ConnectionReset, InvalidState, RemoteUnreachable, WouldBlock};

impl Lab {
    fn of_linux(&mut self, node: NodeId, family: AddressFamily) -> TcpId {
        let id = self.network.tcp_create(node, family).expect("room");
        self.network.tcp_follow_linux(id);
        id
    }

    /// A socket with this address, and with or without `SO_REUSEADDR`.
    fn bound(&mut self, node: NodeId, at: &str, reuses: bool) -> Result<TcpId, SocketErrorCode> {
        let id = self.of_linux(node, AddressFamily::of(address(at).ip()));
        self.network.tcp_set_reuse(id, reuses);
        let now = self.now;
        self.network.tcp_bind(id, address(at), now).map(|()| id)
    }

    fn start_listening(&mut self, id: TcpId) -> Result<(), SocketErrorCode> {
        self.network.tcp_start_listen(id).and_then(|()| self.network.tcp_finish_listen(id))
    }

    /// A client's end, and that of the listener that follows Linux.
    fn connection_with(&mut self, listener: TcpId) -> (TcpId, TcpId) {
        let client = self.connect(SERVER_ADDRESS).expect("somebody listens");
        self.wait(Readiness::Socket(listener));
        (client, self.network.tcp_accept(listener).expect("somebody connects"))
    }

    fn listener_of_linux(&mut self, reuses: bool) -> TcpId {
        let listener = self.bound(SERVER, SERVER_ADDRESS, reuses).expect("a free address");
        self.start_listening(listener).expect("it is bound");
        listener
    }
}

#[test]
fn an_address_is_that_of_two_sockets_only_if_both_allow_it() {
    let mut lab = Lab::new();
    lab.bound(SERVER, "127.0.0.1:80", false).expect("a free address");
    for reuses in [false, true] {
        assert_eq!(lab.bound(SERVER, "0.0.0.0:80", reuses), Err(AddressInUse));
    }
    let one = lab.bound(SERVER, SERVER_ADDRESS, true).expect("another address");
    let other = lab.bound(SERVER, SERVER_ADDRESS, true).expect("both have SO_REUSEADDR");
    assert_eq!(lab.bound(SERVER, SERVER_ADDRESS, false), Err(AddressInUse));
    assert_eq!((lab.start_listening(one), lab.start_listening(other)), (Ok(()), Err(AddressInUse)));
    assert_eq!(lab.bound(SERVER, SERVER_ADDRESS, true), Err(AddressInUse), "one listens");
    lab.bound(CLIENT, "127.0.0.1:80", false).expect("of another machine");
    lab.end();
}

#[test]
fn who_closes_first_keeps_its_address_for_a_minute() {
    let mut lab = Lab::new();
    let kill = |lab: &mut Lab| lab.ask(|network, context| network.kill_node(SERVER, context));
    let listener = lab.listener_of_linux(false);
    let (client, _) = lab.connection_with(listener);
    kill(&mut lab);
    assert_eq!(lab.read_next(client), Err(StreamEnd::Closed), "its machine has closed it");
    assert_eq!(lab.bound(SERVER, SERVER_ADDRESS, true), Err(AddressInUse), "the connection had no SO_REUSEADDR");
    lab.now = lab.now.after(Duration::from_millis(60_000));
    let listener = lab.listener_of_linux(true);
    lab.connection_with(listener);
    kill(&mut lab);
    assert_eq!(lab.bound(SERVER, SERVER_ADDRESS, false), Err(AddressInUse));
    let listener = lab.listener_of_linux(true);
    lab.connection_with(listener);
    // A machine that has lost power knows of nothing.
    lab.ask(|network, context| network.lose_node(SERVER, context));
    let listener = lab.listener_of_linux(false);
    // Who closes second keeps nothing.
    let (client, server) = lab.connection_with(listener);
    lab.close(client);
    lab.settle();
    lab.close(server);
    lab.close(listener);
    lab.bound(SERVER, SERVER_ADDRESS, false).expect("a free address");
    lab.end();
}

#[test]
fn who_shuts_down_first_keeps_its_address_too() {
    let mut lab = Lab::new();
    for (shuts_down, expected) in [(false, true), (true, false)] {
        let listener = lab.listener_of_linux(false);
        let (client, server) = lab.connection_with(listener);
        if shuts_down {
            assert_eq!(lab.shutdown(server, Shutdown::Send), Ok(()));
            lab.settle();
        }
        lab.close(client);
        lab.settle();
        lab.close(server);
        lab.close(listener);
        assert_eq!(lab.bound(SERVER, SERVER_ADDRESS, false).is_ok(), expected, "shuts down: {shuts_down}");
        lab.ask(|network, context| network.lose_node(SERVER, context));
    }
    lab.end();
}

#[test]
fn no_address_of_a_connection_that_is_reset_is_kept() {
    let mut lab = Lab::new();
    for writes in [false, true] {
        let listener = lab.listener_of_linux(false);
        let (client, _) = lab.connection_with(listener);
        lab.ask(|network, context| network.kill_node(SERVER, context));
        if writes {
            lab.write(client, b"late").expect("there is room");
        }
        lab.settle();
        assert_eq!(lab.bound(SERVER, SERVER_ADDRESS, false).is_ok(), writes, "writes: {writes}");
        lab.ask(|network, context| network.lose_node(SERVER, context));
    }
    // Whoever goes without having read all resets it, too.
    let listener = lab.listener_of_linux(false);
    let (client, server) = lab.connection_with(listener);
    lab.write(server, b"unread").expect("there is room");
    lab.close(server);
    lab.close(listener);
    lab.settle();
    assert_eq!(lab.bound(SERVER, SERVER_ADDRESS, false), Err(AddressInUse));
    lab.close(client);
    lab.settle();
    lab.bound(SERVER, SERVER_ADDRESS, false).expect("a free address");
    lab.end();
}

#[test]
fn a_socket_of_ipv6_stands_for_ipv4_too() {
    let mut lab = Lab::new();
    let listener = lab.bound(SERVER, "[::]:80", true).expect("a free address");
    lab.start_listening(listener).expect("it is bound");
    let (_, server) = lab.connection_with(listener);
    assert_eq!(lab.network.tcp_local_address(server), Ok(address(SERVER_ADDRESS)));
    assert_eq!(lab.bound(SERVER, "0.0.0.0:80", true), Err(AddressInUse));
    let only = lab.of_linux(SERVER, AddressFamily::Ipv6);
    lab.network.tcp_set_v6_only(only, true).expect("it has no address yet");
    lab.network.tcp_bind(only, address("[::]:81"), Instant::START).expect("a free address");
    assert_eq!(lab.network.tcp_set_v6_only(only, false), Err(InvalidState));
    lab.start_listening(only).expect("it is bound");
    assert_eq!(lab.connect("10.0.0.2:81"), Err(ConnectionRefused));

    let receiver = lab.network.udp_create(SERVER, AddressFamily::Ipv6).expect("room");
    lab.network.udp_follow_linux(receiver);
    lab.network.udp_start_bind(receiver, address("[::]:53")).expect("a free address");
    lab.network.udp_finish_bind(receiver).expect("it was started");
    let sender = lab.udp(CLIENT, "0.0.0.0:0", None);
    lab.send(sender, b"four", Some("10.0.0.2:53")).expect("a good address");
    lab.wait(Readiness::Datagram(receiver));
    assert_eq!(lab.received(receiver), ["four"]);
    lab.end();
}

#[test]
fn a_listener_that_is_shut_down_listens_no_more() {
    let mut lab = Lab::new();
    let listener = lab.listener_of_linux(false);
    let early = lab.connect(SERVER_ADDRESS).expect("somebody listens");
    lab.wait(Readiness::Socket(listener));
    // One more, which is not there yet.
    let late = lab.connect(SERVER_ADDRESS).expect("somebody listens");
    assert_eq!(lab.shutdown(listener, Shutdown::Send), Ok(()));
    assert!(!lab.network.tcp_is_hung_up(listener));
    assert_eq!(lab.shutdown(listener, Shutdown::Receive), Ok(()));
    assert!(lab.network.tcp_is_hung_up(listener));
    assert_eq!(lab.network.tcp_accept(listener), Err(InvalidState));
    assert_eq!(lab.start_listening(listener), Ok(()), "it has kept its address");
    lab.settle();
    assert_eq!(lab.network.tcp_accept(listener), Err(WouldBlock));
    for client in [early, late] {
        assert_eq!(lab.network.tcp_take_error(client), Some(ConnectionReset));
    }
    lab.connection_with(listener);
    lab.end();
}

#[test]
fn what_comes_behind_a_shutdown_of_reading_can_be_read() {
    let mut lab = Lab::new();
    let listener = lab.listener_of_linux(false);
    let (client, server) = lab.connection_with(listener);
    assert_eq!(lab.shutdown(server, Shutdown::Receive), Ok(()));
    assert_eq!(lab.read(server), Err(StreamEnd::Closed));
    lab.write(client, b"late").expect("there is room");
    lab.settle();
    assert_eq!((lab.read(server), lab.read(server)), (Ok(b"late".to_vec()), Err(StreamEnd::Closed)));
    assert!(!lab.network.tcp_is_hung_up(server));
    assert_eq!(lab.shutdown(server, Shutdown::Send), Ok(()));
    assert!(lab.network.tcp_is_hung_up(server));
    lab.end();
}

#[test]
fn a_reset_is_told_once_to_who_asks_for_it() {
    let mut lab = Lab::new();
    let listener = lab.listener_of_linux(false);
    let (client, server) = lab.connection_with(listener);
    assert!(!lab.network.tcp_is_hung_up(server));
    lab.write(server, b"unread").expect("there is room");
    lab.settle();
    lab.close(client);
    lab.settle();
    assert!(lab.network.tcp_is_hung_up(server));
    let told = [lab.network.tcp_take_error(server), lab.network.tcp_take_error(server)];
    assert_eq!(told, [Some(ConnectionReset), None]);
    assert_eq!(lab.read(server), Err(StreamEnd::Closed));
    lab.end();
}

#[test]
fn a_port_that_nobody_can_have_is_refused() {
    let mut lab = Lab::new();
    let id = lab.of_linux(CLIENT, AddressFamily::Ipv4);
    assert_eq!(lab.start_connect(id, "192.0.2.1:1"), Err(RemoteUnreachable));
    assert!(lab.network.tcp_is_hung_up(id));
    assert_eq!(lab.start_connect(id, "127.0.0.1:0"), Ok(()));
    assert_eq!(lab.network.tcp_finish_connect(id), Err(ConnectionRefused));
    lab.end();
}
