//! A machine loses power: its guest is gone, and its disk keeps what was durable.
//!
//! ```text
//! guest ─ write, write, ✗      handles gone, input rewound, disk crashed      ─▶ starts again, after a while
//! its connections              reset: what it had not sent is gone; of a program that is killed, those that follow Linux are closed
//! HTTP that it takes part in   its requests are cut, what it was to answer is not answered
//! its processes, and theirs    end by SIGKILL; one of the real computer that was not run yet never is
//! ```
//!
//! What was written to the standard outputs stays written, and what the guest writes next follows it: it was visible outside.
//! Virtual time continues for all machines.
//!
//! A guest that is itself a process of another one keeps its standard streams: it is started again under its number.
//!
//! Invariant: nothing holds anything for the machine afterwards: no node of its disk, so what had no name is gone, no
//! end of a pipe, no socket, no exchange.
//! Not here: starting the guest again (`fozzy-engine`).

use crate::files::{DiskFault, DiskOperation, inject};
use crate::network::Network;
use crate::table::{Handle, StreamSink, StreamSource};
use crate::{OpContext, OpenFile, World};
use fozzy_trace::NodeId;

impl World {
    /// The machine of the moment loses power.
    pub fn power_loss(&mut self, context: &mut OpContext<'_>) {
        self.lose_program(Network::lose_node, context);
        let edition = self.plan.edition;
        self.node_mut(context.node).disk.crash(edition, context);
    }

    /// The program of the moment's machine is gone, with all that it held; what it wrote is there.
    pub fn program_lost(&mut self, context: &mut OpContext<'_>) {
        self.lose_program(Network::kill_node, context);
    }

    /// The same; `end` says what becomes of the sockets of a machine.
    fn lose_program(&mut self, end: impl Fn(&mut Network, NodeId, &mut OpContext<'_>), context: &mut OpContext<'_>) {
        let lost = self.processes_lost(context.node);
        for node in std::iter::once(context.node).chain(lost) {
            let network: &mut Network = &mut self.network;
            end(network, node, context);
        }
        self.http_guest_ended(context.node);
        self.let_machine_go(context);
    }

    /// The program of the moment's machine has ended, and the machine has not: what it held is closed, as an operating system does it.
    pub fn program_ended(&mut self, context: &mut OpContext<'_>) {
        self.network.close_node(context.node, context);
        self.http_guest_ended(context.node);
        self.let_machine_go(context);
    }

    fn let_machine_go(&mut self, context: &mut OpContext<'_>) {
        self.program_gone(context);
        for handle in self.node_mut(context.node).table.clear() {
            match handle {
                Handle::Descriptor(file)
                | Handle::InputStream(StreamSource::File { file, .. })
                | Handle::OutputStream(StreamSink::File { file, .. }) => {
                    self.node_mut(context.node).disk.closed(file.node);
                }
                other => self.close_handle(&other),
            }
        }
        let machine = self.node_mut(context.node);
        for descriptor in machine.preview1.clear() {
            if let Some(OpenFile::Disk(file)) = descriptor.file() {
                machine.disk.closed(file.node);
            }
        }
        self.disown(context.node);
        let machine = self.node_mut(context.node);
        machine.stdin.rewind();
        machine.waiting.clear();
    }

    /// Asks what goes wrong with `act` on `path`, an absolute path on the disk of the moment's machine.
    pub fn inject_file(&self, act: DiskOperation, path: &str, context: &mut OpContext<'_>) -> DiskFault {
        inject(act, &self.node(context.node).name, path, context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Wait;
    use crate::decide::tests::SeededDecider;
    use crate::network::{AddressFamily, SocketErrorCode, TcpId};
    use fozzy_trace::plan::{FaultPlan, Inputs, MachinePlan, Plan, StdinPlan};
    use fozzy_trace::source::SeededSource;
    use fozzy_trace::{Duration, Instant, Seed};
    use std::net::SocketAddr;
    use std::sync::Arc;

    const ME: NodeId = NodeId(0);

    fn world(faults: Vec<FaultPlan>) -> World {
        let mut inputs = Inputs::default();
        let stdin = StdinPlan { bytes: inputs.add(b"ab".to_vec()), stays_open: false, channel: None };
        let plan = Plan { main: MachinePlan { stdin, ..MachinePlan::default() }, faults, ..Plan::default() };
        World::new(Arc::new(plan), &inputs).expect("a plain plan")
    }

    fn always(kind: &str) -> FaultPlan {
        let (kind, target) = (kind.to_owned(), "*".to_owned());
        let start = Duration(0);
        FaultPlan { kind, target, rate_ppm: 1_000_000, start, length: None, strength: None, times: None, nemesis: None }
    }

    #[test]
    fn disks_of_machines_whose_power_a_router_orders_know_what_is_durable() {
        use fozzy_trace::plan::{ChannelPlan, Edition, NodePlan, ProgramPlan};
        let routed = |inputs: &mut Inputs| MachinePlan {
            stdin: StdinPlan {
                bytes: inputs.add(Vec::new()),
                stays_open: true,
                channel: Some(Box::new(ChannelPlan { routed: true, ..ChannelPlan::default() })),
            },
            ..MachinePlan::default()
        };
        let mut inputs = Inputs::default();
        let program = ProgramPlan { component: fozzy_trace::Digest::of(b"n"), machine: routed(&mut inputs) };
        let node = NodePlan { name: "n".to_owned(), program, called: false, ends: None, restart: None, counted: None };
        let mut plan = Plan { main: routed(&mut inputs), nodes: vec![node], ..Plan::default() };
        plan.renew_edition();
        let tracks = |plan: &Plan| {
            let world = World::new(Arc::new(plan.clone()), &inputs).expect("a plain plan");
            world.node(NodeId(1)).disk.tracks_durability()
        };
        assert!(tracks(&plan));
        // As runs before that edition were recorded.
        plan.edition = Edition::SIXTH;
        assert!(!tracks(&plan));
    }

    #[test]
    fn a_machine_starts_again_with_what_was_durable() {
        let mut world = world(vec![always("power-loss"), always("lost-write")]);
        let machine = world.node_mut(ME);
        let root = machine.disk.open_root(true);
        let create = crate::files::OpenFlags { create: true, ..Default::default() };
        let flags = crate::files::DescriptorFlags { write: true, ..Default::default() };
        let file = machine.disk.open_at(&root, Default::default(), "log", create, flags, 0).expect("new");
        machine.disk.write(&file, 0, b"synced", 0).expect("room");
        machine.disk.sync(&file).expect("no fault asked here");
        machine.disk.append(&file, b", and not", 0).expect("room");
        machine.table.insert(Handle::Descriptor(root)).expect("room");
        machine.table.insert(Handle::OutputStream(StreamSink::File { file, offset: None })).expect("room");
        machine.stdin.read(1, Instant::START);
        machine.stdout.write(b"seen");
        machine.waiting.push(Wait::Stdin(NodeId(0)));

        let (mut faults, mut decider) = (world.faults.clone(), SeededDecider(SeededSource::new(Seed(1))));
        world.power_loss(&mut OpContext { now: Instant::START, node: ME, faults: &mut faults, decider: &mut decider });
        let machine = world.node_mut(ME);
        assert_eq!(machine.table.insert(Handle::Pollable(Wait::Nothing)), Ok(0), "no handle is open");
        assert_eq!(machine.stdin.read(9, Instant::START), b"ab");
        assert!(machine.waiting.is_empty());
        let root = machine.disk.open_root(true);
        let stat = machine.disk.stat_at(&root, Default::default(), "log").expect("names are kept");
        assert_eq!(stat.size, 6);
    }

    fn socket_of_linux(world: &mut World) -> TcpId {
        let id = world.network.tcp_create(ME, AddressFamily::Ipv4).expect("room");
        world.network.tcp_follow_linux(id);
        id
    }

    #[test]
    fn a_machine_keeps_the_address_of_a_killed_server_and_forgets_it_without_power() {
        for (loses_power, expected) in [(false, Err(SocketErrorCode::AddressInUse)), (true, Ok(()))] {
            let mut world = world(vec![always("power-loss")]);
            let (mut faults, mut decider) = (world.faults.clone(), SeededDecider(SeededSource::new(Seed(1))));
            let mut context = OpContext { now: Instant::START, node: ME, faults: &mut faults, decider: &mut decider };
            let address: SocketAddr = "127.0.0.1:80".parse().expect("an address");
            let listener = socket_of_linux(&mut world);
            world.network.tcp_bind(listener, address, context.now).expect("a free address");
            world.network.tcp_start_listen(listener).expect("it is bound");
            world.network.tcp_finish_listen(listener).expect("it was started");
            let client = socket_of_linux(&mut world);
            world.network.tcp_start_connect(client, address, &mut context).expect("a good address");
            while let Some(next) = world.network.next_event() {
                context.now = next;
                world.network.advance(next);
            }
            world.network.tcp_finish_connect(client).expect("somebody listens");
            world.network.tcp_accept(listener).expect("somebody connects");
            match loses_power {
                true => world.power_loss(&mut context),
                false => world.program_lost(&mut context),
            }
            let again = socket_of_linux(&mut world);
            assert_eq!(world.network.tcp_bind(again, address, context.now), expected, "loses power: {loses_power}");
        }
    }
}
