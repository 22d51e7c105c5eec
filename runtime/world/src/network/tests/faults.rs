//! Planned faults of the network: what each does, and when.

use super::*;
use crate::fault::{LinkEffect, LinkSet, LinkWindow};
use crate::network::link::{CONNECT_RETRIES, LinkPath};
use fozzy_trace::plan::{
    AllowedEnd, ClusterPlan, Edition, HealScope, Inputs, MachinePlan, NodePlan, Plan, ProgramPlan,
};
use std::collections::BTreeSet;

fn within(kind: &str, start_ms: u64, length_ms: u64) -> FaultPlan {
    let (start, length) = (Duration::from_millis(start_ms), Some(Duration::from_millis(length_ms)));
    FaultPlan { start, length, ..always(kind, 0) }
}

#[test]
fn bytes_that_a_partition_loses_are_sent_again_ever_later() {
    let mut lab = Lab::faulty(&[within("partition", 1_000, 9_000)]);
    let (client, server) = lab.pair();
    lab.now = millis(2_000);
    lab.write(client, b"first").expect("the sender cannot know");
    // Sent at 2 s, 3 s, 5 s, 9 s and 17 s; the partition ends at 10 s.
    lab.now = millis(16_000);
    lab.write(client, b"second").expect("the sender cannot know");
    assert_eq!((lab.read_next(server), lab.now), (Ok(b"firstsecond".to_vec()), millis(17_010)));
    lab.end();
}

#[test]
fn a_partition_that_stays_is_a_timeout() {
    let mut lab = Lab::faulty(&[FaultPlan { target: "*->server".to_owned(), ..within("partition", 1_000, u64::MAX) }]);
    let (client, server) = lab.pair();
    lab.now = millis(1_000);
    assert_eq!(lab.connect(SERVER_ADDRESS), Err(SocketErrorCode::Timeout));
    assert_eq!(lab.now, millis(128_000));
    lab.write(client, b"x").expect("the sender cannot know");
    lab.write(server, b"the other direction").expect("connected");
    assert_eq!(lab.read_next(client), Ok(b"the other direction".to_vec()));
    assert_eq!(lab.read_next(client), Err(StreamEnd::Failed(SocketErrorCode::Timeout)));
    assert_eq!(lab.write(client, b"x"), Err(StreamEnd::Closed));
    assert_eq!(lab.read(server), Ok(Vec::new()));
    lab.end();
}

#[test]
fn lost_answers_delay_a_connection() {
    let lost = FaultPlan { target: "server->client".to_owned(), times: Some(2), ..always("packet-loss", 0) };
    let mut lab = Lab::faulty(&[lost]);
    lab.listen(SERVER, SERVER_ADDRESS);
    lab.connect(SERVER_ADDRESS).expect("the third answer arrives");
    assert_eq!(lab.now, millis(3_020));
    lab.end();
}

#[test]
fn loss_duplication_and_order_of_datagrams() {
    let once = |kind: &str| FaultPlan { times: Some(1), ..always(kind, 5_000_000) };
    // All three are sent while the one cut lasts.
    let cases: [(&str, &str, [u32; 3], usize); 4] = [
        ("packet-loss", "bc", [0, 1, 1], 0),
        ("duplicate", "aabc", [2, 1, 1], 0),
        ("reorder", "bca", [1, 1, 1], 1),
        ("partition", "", [0, 0, 0], 0),
    ];
    for (kind, expected, copies, late) in cases {
        let mut lab = Lab::faulty(&[once(kind)]);
        let server = lab.udp(SERVER, "0.0.0.0:53", None);
        let client = lab.udp(CLIENT, "0.0.0.0:0", Some("10.0.0.2:53"));
        for bytes in [b"a", b"b", b"c"] {
            lab.send(client, bytes, None).expect("the sender cannot know");
        }
        lab.settle();
        let mut sent: Vec<(u32, bool)> = Vec::new();
        for step in lab.network.take_datagram_steps() {
            let DatagramStep::Sent { to: SERVER, bytes: 1, copies, is_late, .. } = step else { panic!("{step:?}") };
            sent.push((copies, is_late));
        }
        assert_eq!(sent.iter().map(|one| one.0).collect::<Vec<_>>(), copies, "{kind}");
        assert_eq!(sent.iter().filter(|one| one.1).count(), late, "{kind}");
        assert_eq!(lab.received(server).concat(), expected, "{kind}");
        let number = |letter: char| u64::from(u32::from(letter) - u32::from('a'));
        let received = expected.chars().map(|letter| DatagramStep::Received { number: number(letter) });
        assert_eq!(lab.network.take_datagram_steps(), received.collect::<Vec<_>>(), "{kind}");
        lab.end();
    }
}

#[test]
fn latency_and_bandwidth_add_up() {
    let plan = NetworkPlan { bandwidth_bytes_per_s: Some(1_000_000), ..NetworkPlan::default() };
    let faults = [always("latency", 50_000_000), FaultPlan { start: Duration(1), ..always("bandwidth", 1_000) }];
    let mut lab = Lab::with(NetworkPlan { latency: Duration::from_millis(10), ..plan }, &faults, 0);
    let server = lab.udp(SERVER, "0.0.0.0:53", None);
    let client = lab.udp(CLIENT, "0.0.0.0:0", Some("10.0.0.2:53"));
    // 40 bytes of headers: a millisecond at first, a second after the fault begins, and another that waits for it.
    lab.send(client, &[0; 960], None).expect("sent");
    assert_eq!(lab.wait(Readiness::Datagram(server)), millis(61));
    lab.network.udp_receive(server, 9).expect("it is there");
    for _ in 0..2 {
        lab.send(client, &[0; 960], None).expect("sent");
    }
    for second in [1_000, 2_000] {
        assert_eq!(lab.wait(Readiness::Datagram(server)), millis(61 + second + 60));
        lab.network.udp_receive(server, 9).expect("it is there");
    }
    lab.end();
}

#[test]
fn a_reset_strikes_the_writer_at_once_and_the_reader_behind_the_bytes() {
    let mut lab = Lab::faulty(&[within("connection-reset", 100, 1_000)]);
    let (client, server) = lab.pair();
    lab.now = millis(99);
    lab.write(client, b"before").expect("not yet");
    lab.now = millis(100);
    let reset = Err(StreamEnd::Failed(SocketErrorCode::ConnectionReset));
    assert_eq!(lab.write(client, b"struck"), reset);
    assert_eq!(lab.write(client, b"again"), reset);
    assert_eq!(lab.read(client), Err(StreamEnd::Closed));
    lab.settle();
    assert_eq!(lab.read(server), Ok(b"before".to_vec()));
    assert_eq!(lab.read(server), Err(StreamEnd::Failed(SocketErrorCode::ConnectionReset)));
    lab.end();
}

#[test]
fn nothing_strikes_inside_a_machine() {
    let faults = FAULTS_OF_THE_NETWORK.map(|kind| always(kind, 1));
    let mut lab = Lab::faulty(&faults);
    lab.listen(CLIENT, "0.0.0.0:80");
    let client = lab.connect("10.0.0.1:80").expect("itself");
    lab.write(client, b"x").expect("itself");
    assert_eq!(lab.now, Instant::START);
    lab.end();
}

const FAULTS_OF_THE_NETWORK: [&str; 7] =
    ["bandwidth", "connection-reset", "duplicate", "latency", "packet-loss", "partition", "reorder"];

#[test]
fn a_loss_of_power_resets_peers_and_loses_what_was_not_sent() {
    let mut lab = Lab::new();
    let listener = lab.listen(SERVER, SERVER_ADDRESS);
    let client = lab.connect(SERVER_ADDRESS).expect("somebody listens");
    lab.wait(Readiness::Socket(listener));
    let server = lab.network.tcp_accept(listener).expect("somebody connects");
    lab.write(server, b"sent").expect("room");
    lab.ask(|network, context| network.lose_node(SERVER, context));
    assert_eq!(lab.read_next(client), Ok(b"sent".to_vec()), "what was on its way arrives");
    lab.settle();
    assert_eq!(lab.read(client), Err(StreamEnd::Failed(SocketErrorCode::ConnectionReset)), "and no graceful end");
    assert_eq!(lab.connect(SERVER_ADDRESS), Err(SocketErrorCode::ConnectionRefused));
    // The port is free for the program that starts again.
    lab.listen(SERVER, SERVER_ADDRESS);
    lab.connect(SERVER_ADDRESS).expect("somebody listens again");
    lab.end();
}

#[test]
fn a_connection_that_was_not_accepted_is_reset_with_the_power() {
    let mut lab = Lab::new();
    lab.listen(SERVER, SERVER_ADDRESS);
    let client = lab.connect(SERVER_ADDRESS).expect("the kernel connects");
    lab.settle();
    lab.ask(|network, context| network.lose_node(SERVER, context));
    lab.settle();
    assert_eq!(lab.read(client), Err(StreamEnd::Failed(SocketErrorCode::ConnectionReset)));
    lab.end();
}

/// A pair whose server is a machine of a cluster, under a nemesis from 1 s on; all are healed at 10 s.
fn struck_pair(edition: Edition, until_ms: u64, effect: LinkEffect) -> (Lab, TcpId, TcpId) {
    let component = Inputs::default().add(b"server".to_vec());
    let server = NodePlan {
        name: "server".to_owned(),
        program: ProgramPlan { component, machine: MachinePlan::default() },
        called: false,
        ends: Some(AllowedEnd::Never),
        restart: None,
        counted: None,
    };
    let faults_until = Some(Duration::from_millis(10_000));
    let cluster = ClusterPlan { hit_max: None, faults_until, heals: HealScope::All, progress_within: None };
    let plan = Plan { nodes: vec![server], cluster: Some(cluster), edition, ..Plan::default() };
    let mut lab = Lab::faulty(&[]);
    lab.faults = std::mem::take(&mut lab.faults).with_nemeses(&plan);
    let links = LinkSet::Touching(BTreeSet::from([SERVER]));
    let window = LinkWindow::new(millis(1_000), millis(until_ms), links, effect);
    lab.faults.nemeses.as_mut().expect("the plan has a cluster").windows.push(window);
    let (client, server) = lab.pair();
    (lab, client, server)
}

#[test]
fn bytes_that_a_nemesis_makes_late_are_sent_again_until_it_ends_or_all_are_healed() {
    let slow = LinkEffect::Slow(Duration::from_millis(20_000));
    // All are sent at 2 s, 3 s, 5 s, 9 s, 17 s, 33 s and 65 s, as long as nothing has arrived.
    let cases = [
        // Before, a packet that was sent once took as long as it took.
        (Edition::EIGHTH, 4_500, slow, 22_010),
        (Edition::NINTH, 4_500, slow, 5_010),
        (Edition::EIGHTH, 60_000, LinkEffect::Hold, 60_000),
        (Edition::NINTH, 60_000, LinkEffect::Hold, 10_000),
        (Edition::EIGHTH, 60_000, LinkEffect::Cut, 65_010),
        (Edition::NINTH, 60_000, LinkEffect::Cut, 17_010),
    ];
    for (edition, until_ms, effect, expected_ms) in cases {
        let (mut lab, client, server) = struck_pair(edition, until_ms, effect);
        lab.now = millis(2_000);
        lab.write(client, b"x").expect("the sender cannot know");
        let read = lab.read_next(server);
        assert_eq!((read, lab.now), (Ok(b"x".to_vec()), millis(expected_ms)), "{effect:?} in {edition:?}");
        lab.end();
    }
}

#[test]
fn a_connection_to_a_slow_machine_is_there_soon_after_it_is_slow() {
    let slow = LinkEffect::Slow(Duration::from_millis(20_000));
    let (mut lab, ..) = struck_pair(Edition::NINTH, 4_500, slow);
    lab.listen(SERVER, SERVER_ADDRESS);
    lab.now = millis(2_000);
    lab.connect(SERVER_ADDRESS).expect("somebody listens");
    assert_eq!(lab.now, millis(5_020));
    lab.end();
}

#[test]
fn what_arrives_at_the_end_of_time_is_not_given_up_without_nemeses() {
    let mut lab = Lab::with(NetworkPlan { latency: Duration(u64::MAX), ..NetworkPlan::default() }, &[], 0);
    let path = LinkPath { from: CLIENT, to: SERVER };
    let arrival =
        lab.ask(|Network { links, names, .. }, context| links.insist(path, names, 0, CONNECT_RETRIES, context));
    assert_eq!(arrival, Ok(Instant::NEVER));
}
