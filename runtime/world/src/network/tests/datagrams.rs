//! UDP: datagrams between machines, lost and refused.

use super::*;

#[test]
fn datagrams_arrive_whole_after_the_latency() {
    let mut lab = Lab::new();
    let server = lab.udp(SERVER, "0.0.0.0:53", None);
    let client = lab.udp(CLIENT, "0.0.0.0:0", None);
    lab.send(client, b"one", Some("10.0.0.2:53")).expect("a good address");
    lab.send(client, b"", Some("10.0.0.2:53")).expect("a good address");
    assert_eq!(lab.wait(Readiness::Datagram(server)), millis(10));
    let from = address("10.0.0.1:32768");
    assert_eq!(lab.network.udp_receive(server, 9), Ok(vec![(from, b"one".to_vec()), (from, Vec::new())]));
    assert_eq!(lab.network.udp_receive(server, 9), Ok(Vec::new()));
    assert_eq!(lab.network.udp_local_address(client), Ok(address("0.0.0.0:32768")));
    lab.end();
}

#[test]
fn who_has_a_peer_talks_to_it_alone() {
    let mut lab = Lab::new();
    let one = lab.udp(CLIENT, "0.0.0.0:1", Some("127.0.0.1:2"));
    let two = lab.udp(CLIENT, "0.0.0.0:2", None);
    let three = lab.udp(CLIENT, "127.0.0.1:3", None);
    assert_eq!(lab.network.udp_local_address(one), Ok(address("127.0.0.1:1")));
    assert_eq!(lab.network.udp_remote_address(one), Ok(address("127.0.0.1:2")));
    assert_eq!(lab.send(one, b"a", None), Ok(()));
    assert_eq!(lab.send(one, b"b", Some("127.0.0.1:2")), Ok(()));
    assert_eq!(lab.send(one, b"c", Some("127.0.0.1:3")), Err(SocketErrorCode::InvalidArgument));
    let elsewhere = Some(address("127.0.0.1:3"));
    assert_eq!(lab.ask(|network, context| network.udp_send_to(one, b"c".to_vec(), elsewhere, context)), Ok(()));
    assert_eq!(lab.received(three), ["c"], "as on Linux, where it is asked for");
    assert_eq!(lab.send(two, b"d", None), Err(SocketErrorCode::InvalidArgument));
    assert_eq!(lab.send(two, b"e", Some("127.0.0.1:1")), Ok(()));
    assert_eq!(lab.send(three, b"f", Some("127.0.0.1:1")), Ok(()));
    assert_eq!((lab.received(one), lab.received(two)), (vec!["e".to_owned()], vec!["a".to_owned(), "b".to_owned()]));
    // What others sent before is not heard either.
    lab.send(two, b"g", Some("127.0.0.1:3")).expect("a good address");
    lab.send(three, b"h", Some("127.0.0.1:3")).expect("a good address");
    lab.network.udp_stream(three, Some(address("127.0.0.1:3"))).expect("a good address");
    assert_eq!(lab.received(three), ["h"]);
    lab.network.udp_stream(one, None).expect("no peer");
    assert_eq!(lab.network.udp_remote_address(one), Err(SocketErrorCode::InvalidState));
    assert_eq!(lab.network.udp_local_address(one), Ok(address("0.0.0.0:1")));
    lab.end();
}

#[test]
fn nobody_there_is_told_to_who_has_that_peer() {
    let mut lab = Lab::new();
    let client = lab.udp(CLIENT, "0.0.0.0:0", Some("10.0.0.2:9"));
    lab.send(client, b"x", None).expect("not known yet");
    lab.settle();
    assert_eq!(lab.now, millis(20));
    assert_eq!(lab.network.udp_receive(client, 0), Ok(Vec::new()));
    assert_eq!(lab.network.udp_receive(client, 1), Err(SocketErrorCode::ConnectionRefused));
    assert_eq!(lab.network.udp_receive(client, 1), Ok(Vec::new()));
    lab.send(client, b"x", None).expect("not known yet");
    lab.settle();
    assert_eq!(lab.network.udp_take_error(client), Some(SocketErrorCode::ConnectionRefused));
    assert_eq!(lab.network.udp_take_error(client), None);
    assert_eq!(lab.network.udp_receive(client, 1), Ok(Vec::new()));
    let other = lab.udp(CLIENT, "0.0.0.0:0", None);
    for (to, expected) in [
        ("10.0.0.2:9", Ok(())),
        ("10.0.0.9:9", Ok(())),
        ("192.0.2.1:9", Err(SocketErrorCode::RemoteUnreachable)),
        ("255.255.255.255:9", Err(SocketErrorCode::AccessDenied)),
        ("[::1]:9", Err(SocketErrorCode::InvalidArgument)),
        ("0.0.0.0:9", Err(SocketErrorCode::InvalidArgument)),
        ("10.0.0.2:0", Err(SocketErrorCode::InvalidArgument)),
    ] {
        assert_eq!(lab.send(other, b"x", Some(to)), expected, "{to}");
    }
    lab.settle();
    assert_eq!(lab.network.udp_receive(other, 1), Ok(Vec::new()));
    lab.end();
}

#[test]
fn what_is_too_large_is_refused_and_what_does_not_fit_is_lost() {
    let mut lab = Lab::new();
    let one = lab.udp(CLIENT, "127.0.0.1:1", Some("127.0.0.1:2"));
    let two = lab.udp(CLIENT, "127.0.0.1:2", None);
    lab.network.udp_set_option(two, SocketOption::ReceiveBuffer(1)).expect("not zero");
    assert_eq!(lab.send(one, &[0; 65_508], None), Err(SocketErrorCode::DatagramTooLarge));
    assert_eq!(lab.send(one, &[0; 65_507], None), Ok(()));
    assert_eq!(lab.send(one, b"lost", None), Ok(()));
    assert_eq!(lab.network.udp_receive(two, 9).expect("one fits").len(), 1);
    for _ in 0..100_000 {
        lab.send(one, b"", None).expect("always");
    }
    // The least buffer, filled by what datagrams cost beside their content.
    assert_eq!(lab.network.udp_receive(two, u64::MAX).expect("some fit").len(), 8);
    lab.end();
}

#[test]
fn an_address_belongs_to_one_receiver() {
    let mut lab = Lab::new();
    let one = lab.udp(CLIENT, "127.0.0.1:53", None);
    let other = lab.network.udp_create(CLIENT, AddressFamily::Ipv4).expect("room");
    for at in ["127.0.0.1:53", "0.0.0.0:53"] {
        assert_eq!(lab.network.udp_start_bind(other, address(at)), Err(SocketErrorCode::AddressInUse), "{at}");
    }
    assert_eq!(lab.network.udp_stream(other, None), Err(SocketErrorCode::InvalidState));
    assert_eq!(lab.network.udp_finish_bind(other), Err(SocketErrorCode::NotInProgress));
    for _ in 0..2 {
        lab.network.udp_release_stream(one);
    }
    assert!(!lab.network.udp_has_streams(one));
    lab.network.udp_release(one);
    assert_eq!(lab.network.udp_start_bind(other, address("0.0.0.0:53")), Ok(()));
    assert_eq!(lab.network.udp_start_bind(other, address("0.0.0.0:53")), Err(SocketErrorCode::ConcurrencyConflict));
    lab.end();
}
