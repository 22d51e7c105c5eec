//! A web server and its client: in the simulated computer, and natively on loopback.
//!
//! ```text
//! ours     one session: main = net-client, node "server" = net-server     wall time of one execution
//! theirs   two processes of the same sources, on 127.0.0.1                wall time of the client's process
//! ```
//!
//! The server's own start is in our time and not in theirs. Wall time, because the native pair runs on two
//! processors at once and waits for the kernel in between.

use crate::guests;
use crate::measure::{Clock, Pair, process_seconds};
use crate::ours;
use crate::table::{Least, Row};
use fozzy_campaign::pipeline::LoadedTarget;
use fozzy_engine::Session;
use fozzy_trace::plan::{self, Inputs, MachinePlan, NodePlan};
use fozzy_trace::source::SeededSource;
use fozzy_trace::{ExecutionEnd, Executor, Plan, Seed};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

/// Requests of one measurement.
const REQUESTS: u32 = 10_000;
/// Interleaved measurements.
const PAIRS: usize = 11;
/// Connections at the same time, and what the ratio of requests per second must be.
const CONNECTIONS: [(u32, Least); 2] = [(1, Least::Ratio(1.0)), (16, Least::None)];

pub(crate) fn net() -> Vec<Row> {
    let (server, server_component) = guests::networked("net-server");
    let (client, client_component) = guests::networked("net-client");
    let native = Native::start(&server, client);
    let row = |(connections, least): (u32, Least)| {
        let mut ours = simulated(&server_component, &client_component, connections);
        let pair = Pair::of(PAIRS, || execute(&mut ours), || native.exchange(connections));
        let name = format!("ten thousand requests, {connections} connections (native)");
        Row::rates(&name, &pair, REQUESTS, "requests/s", least)
    };
    CONNECTIONS.into_iter().map(row).collect()
}

/// What the client is told.
fn order(url: &str, connections: u32) -> Vec<String> {
    let words = [url, "--requests", &REQUESTS.to_string(), "--connections", &connections.to_string()];
    words.map(str::to_owned).to_vec()
}

/// Our side: both components in one run.
fn simulated(server: &Path, client: &Path, connections: u32) -> Session {
    let read = |path: &Path| std::fs::read(path).expect("the guest was built");
    let server = LoadedTarget::of_bytes("net-server", &read(server)).expect("the guest is a component");
    let mut inputs = Inputs::default();
    let listen = ["net-server", "0.0.0.0:8080"].map(str::to_owned).to_vec();
    let machine = MachinePlan { args: listen, ..MachinePlan::default() };
    let program = plan::ProgramPlan { component: inputs.add(server.component.to_vec()), machine };
    let args = [vec!["net-client".to_owned()], order("http://server:8080", connections)].concat();
    let plan = Plan {
        main: MachinePlan { args, ..MachinePlan::default() },
        nodes: vec![NodePlan {
            name: "server".to_owned(),
            program,
            called: false,
            ends: None,
            restart: None,
            counted: None,
        }],
        ..Plan::default()
    };
    ours::session("net-client", &read(client), plan, inputs)
}

/// Wall seconds of one execution.
#[allow(clippy::disallowed_methods, reason = "a bench reads real clocks")]
fn execute(session: &mut Session) -> f64 {
    let before = Instant::now();
    let execution = session.execute(Box::new(SeededSource::new(Seed(0))), 0..0).expect("the machine is well");
    let seconds = before.elapsed().as_secs_f64();
    assert_eq!(execution.end, ExecutionEnd::Exited { code: 0 }, "each request was answered");
    seconds
}

/// The other side: a server process that lives as long as this value, and the client's program.
struct Native {
    server: Child,
    url: String,
    client: PathBuf,
}

impl Native {
    fn start(server: &Path, client: PathBuf) -> Native {
        let mut server = Command::new(server).arg("127.0.0.1:0").stdout(Stdio::piped()).spawn().expect("it was built");
        let mut line = String::new();
        let stdout = server.stdout.take().expect("it is piped");
        BufReader::new(stdout).read_line(&mut line).expect("the server says where it listens");
        let address = line.trim().strip_prefix("listening on ").expect("its first line is that");
        Native { url: format!("http://{address}"), server, client }
    }

    /// Wall seconds of one client.
    fn exchange(&self, connections: u32) -> f64 {
        process_seconds(Clock::Wall, Command::new(&self.client).args(order(&self.url, connections)))
    }
}

impl Drop for Native {
    fn drop(&mut self) {
        // It may be gone already; then there is nothing to end.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
