//! Streams under random schedules, against the plain text of what was written; and hostile calls, against nothing but the
//! bounds.

use super::*;
use crate::Decider;
use fozzy_trace::{Purpose, Question};

/// Steps of one random schedule.
const STEPS: u32 = 400;

impl Lab {
    fn below(&mut self, bound: u64) -> u64 {
        self.decider.below(Question { node: SERVER, purpose: Purpose::Random, site: "test" }, bound)
    }
}

/// One writer, what it wrote, what its reader has read.
struct Flow {
    from: TcpId,
    to: TcpId,
    written: Vec<u8>,
    read: Vec<u8>,
}

/// What both ends read after a random schedule in a network of all trouble that a stream survives.
fn schedule(seed: u64) -> (Vec<u8>, Vec<u8>, Instant) {
    let plan = NetworkPlan {
        latency: Duration::from_millis(seed % 7),
        jitter: Duration::from_millis(seed % 5 * 10),
        bandwidth_bytes_per_s: seed.is_multiple_of(3).then_some(1_000_000),
    };
    let sometimes = |kind: &str| FaultPlan { rate_ppm: 100_000, ..always(kind, 30_000_000) };
    let faults = ["packet-loss", "latency"].map(sometimes);
    let mut lab = Lab::with(plan, if seed.is_multiple_of(2) { &faults } else { &[] }, seed);
    let (client, server) = lab.pair();
    for id in [client, server] {
        let (receive, send) = (lab.below(20_000) + 1, lab.below(20_000) + 1);
        lab.network.tcp_set_option(id, SocketOption::ReceiveBuffer(receive)).expect("not zero");
        lab.network.tcp_set_option(id, SocketOption::SendBuffer(send)).expect("not zero");
    }
    let flow = |from, to| Flow { from, to, written: Vec::new(), read: Vec::new() };
    let mut flows = [flow(client, server), flow(server, client)];
    for _ in 0..STEPS {
        let flow = &mut flows[lab.below(2) as usize];
        match lab.below(5) {
            0 | 1 => {
                let permit = lab.network.tcp_check_write(flow.from).expect("open") as u64;
                let bytes = (0..lab.below(permit + 1)).map(|index| (index % 251) as u8).collect::<Vec<u8>>();
                lab.write(flow.from, &bytes).expect("permitted");
                flow.written.extend(bytes);
            }
            2 | 3 => {
                let max = lab.below(5_000) as usize;
                let bytes = lab.ask(|network, context| network.tcp_read(flow.to, max, context)).expect("open");
                assert!(bytes.len() <= max);
                flow.read.extend(bytes);
            }
            _ => {
                lab.now = lab.now.after(Duration::from_millis(lab.below(50)));
                lab.network.advance(lab.now);
            }
        }
        assert!(flow.written.starts_with(&flow.read));
    }
    for flow in &mut flows {
        lab.shutdown(flow.from, Shutdown::Send).expect("connected");
    }
    for flow in &mut flows {
        while let Ok(bytes) = lab.read_next(flow.to) {
            flow.read.extend(bytes);
        }
        assert!(flow.written == flow.read, "seed {seed}: {} of {}", flow.read.len(), flow.written.len());
    }
    let now = lab.now;
    lab.end();
    let [up, down] = flows;
    (up.read, down.read, now)
}

#[test]
fn bytes_arrive_once_and_in_order_whatever_happens() {
    let mut total = 0;
    for seed in 0..40 {
        let result = schedule(seed);
        total += result.0.len() + result.1.len();
        assert!(result == schedule(seed), "seed {seed}: the same again");
    }
    assert!(total > 500_000, "the schedules write something: {total}");
}

#[test]
fn any_calls_in_any_order_leave_nothing_behind() {
    const PLACES: [&str; 6] = ["127.0.0.1:1", "127.0.0.1:2", "0.0.0.0:1", "10.0.0.1:2", "10.0.0.2:1", "10.0.0.2:2"];
    for seed in 0..100 {
        let faults = [FaultPlan { rate_ppm: 50_000, ..always("packet-loss", 0) }];
        let mut lab = Lab::with(NetworkPlan::default(), &faults, seed);
        let mut sockets: Vec<TcpId> = Vec::new();
        for _ in 0..300 {
            let place = address(PLACES[lab.below(6) as usize]);
            if sockets.is_empty() || lab.below(8) == 0 {
                let node = NodeId(lab.below(2) as u32);
                sockets.push(lab.tcp(node));
            }
            let index = lab.below(sockets.len() as u64) as usize;
            let id = sockets[index];
            match lab.below(12) {
                0 => _ = lab.network.tcp_start_bind(id, place),
                1 => _ = lab.network.tcp_finish_bind(id),
                2 => _ = lab.ask(|network, context| network.tcp_start_connect(id, place, context)),
                3 => _ = lab.network.tcp_finish_connect(id),
                4 => _ = lab.network.tcp_start_listen(id),
                5 => _ = lab.network.tcp_finish_listen(id),
                6 => sockets.extend(lab.network.tcp_accept(id)),
                7 => _ = lab.shutdown(id, [Shutdown::Receive, Shutdown::Send, Shutdown::Both][index % 3]),
                8 => _ = lab.read(id),
                9 => {
                    let permit = lab.network.tcp_check_write(id).unwrap_or(0);
                    let _ = lab.ask(|network, context| network.tcp_write(id, &vec![1; permit], context));
                }
                10 => lab.close(sockets.swap_remove(index)),
                _ => lab.now = lab.now.after(Duration::from_millis(lab.below(3_000))),
            }
            for readiness in sockets.iter().flat_map(|id| [Readiness::Socket(*id), Readiness::Writable(*id)]) {
                let _ = lab.network.is_ready(readiness);
            }
        }
        lab.end();
    }
}

#[test]
fn a_copy_goes_on_alone() {
    let mut lab = Lab::new();
    let (client, server) = lab.pair();
    lab.write(client, b"on its way").expect("connected");
    let copy = lab.network.clone();
    assert_eq!(lab.read_next(server), Ok(b"on its way".to_vec()));
    lab.network = copy;
    assert_eq!(lab.read(server), Ok(b"on its way".to_vec()));
    lab.end();
}
