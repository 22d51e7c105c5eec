//! One machine of the simulated computer: its disk, its standard streams, its handles, its clock readings.
//!
//! Invariant: what a guest on one machine does changes another machine only through network, pipes and signals.

use crate::clock::ClockDrift;
use crate::machine_order::Doom;
use crate::process::ProcessNode;
use crate::snapshots::Snapshots;
use crate::{Disk, HandleTable, Preview1Table, SignalId, Stdin, Wait, WorldError, files};
use fozzy_trace::plan::{Inputs, MachinePlan, Plan};
use fozzy_trace::{NodeId, StreamOutput};
use std::collections::BTreeSet;
use std::sync::Arc;

/// One machine.
#[derive(Clone, Debug)]
pub struct Node {
    /// Which machine this is.
    pub id: NodeId,
    /// Its host name on the network.
    pub name: String,
    /// Arguments and environment, as planned.
    pub machine: Arc<MachinePlan>,
    /// The disk.
    pub disk: Disk,
    /// Standard input.
    pub stdin: Stdin,
    /// Standard output so far.
    pub stdout: StreamOutput,
    /// Standard error so far.
    pub stderr: StreamOutput,
    /// The guest's open handles.
    pub table: HandleTable,
    /// The guest's descriptors of WASI preview 1.
    pub preview1: Preview1Table,
    /// How its clocks differ from virtual time.
    pub drift: ClockDrift,
    /// What its guest waits for; empty while it is ready.
    pub waiting: Vec<Wait>,
    /// The machine whose program its guest is calling: that one runs, or waits.
    pub calling: Option<NodeId>,
    /// Its disk at earlier moments.
    pub snapshots: Snapshots,
    /// Which process its guest is, if another guest started it.
    pub process: Option<ProcessNode>,
    /// Fires when its guest ends.
    pub end: SignalId,
    /// How its guest ended.
    pub exit: Option<GuestExit>,
    /// Whether its guest is to be ended from outside, without a word of its own.
    pub killed: bool,
    /// Whether its program is to be gone from its next turn on, until it is started again.
    pub doomed: Option<Doom>,
    /// Whether it stands still until it is ordered to go on.
    pub is_paused: bool,
    /// Whether it stands still for a short while, as a slow machine does.
    pub is_halted: bool,
}

/// How a guest ended, as other guests can see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GuestExit {
    /// It exited with this code.
    Code(u32),
    /// It trapped, or ran out of time or instructions.
    Crashed,
    /// It was stopped from outside.
    Killed,
}

impl Node {
    /// The machine at its start.
    ///
    /// # Errors
    /// When inputs are missing or a directory does not fit the disk.
    pub fn new(
        id: NodeId,
        name: String,
        machine: Arc<MachinePlan>,
        plan: &Plan,
        inputs: &Inputs,
        wall_ns: u64,
        end: SignalId,
    ) -> Result<Node, WorldError> {
        let limits = files::DiskLimits { bytes: plan.limits.disk_bytes, nodes: plan.limits.disk_nodes };
        let disk = disk(&machine, limits, inputs, wall_ns)?;
        let bytes = inputs.get(&machine.stdin.bytes).ok_or(WorldError::MissingInput(machine.stdin.bytes))?;
        let stdin = Stdin::planned(bytes, &machine.stdin)?;
        Ok(Node {
            id,
            name,
            machine,
            disk,
            stdin,
            stdout: StreamOutput::default(),
            stderr: StreamOutput::default(),
            table: HandleTable::default(),
            preview1: Preview1Table::default(),
            drift: ClockDrift::new(plan.edition),
            waiting: Vec::new(),
            calling: None,
            snapshots: Snapshots::default(),
            process: None,
            end,
            exit: None,
            killed: false,
            doomed: None,
            is_paused: false,
            is_halted: false,
        })
    }

    /// Whether its guest has no turns for now.
    #[must_use]
    pub fn stands_still(&self) -> bool {
        self.is_paused || self.is_halted
    }
}

/// The disk of a machine, with its directories in it.
fn disk(machine: &MachinePlan, limits: files::DiskLimits, inputs: &Inputs, wall_ns: u64) -> Result<Disk, WorldError> {
    let mut disk = if machine.bare { Disk::bare(limits, wall_ns) } else { Disk::new(limits, wall_ns) };
    for mount in &machine.dirs {
        disk.mount(mount, inputs, wall_ns)?;
    }
    let missing = |path: &String| WorldError::Directory { path: path.clone() };
    let sealed: BTreeSet<&String> = machine.read_only.iter().collect();
    let changeable = machine.dirs.iter().map(|mount| &mount.guest).filter(|guest| !sealed.contains(guest));
    let changeable = changeable.filter_map(|guest| disk.directory_at(guest).ok()).map(|node| node.0).collect();
    for path in &machine.read_only {
        disk.seal(path, &changeable).map_err(|_| missing(path))?;
    }
    if let Some(path) = &machine.antithesis_output {
        // What is sealed stays so; of a file there a program can always write its own.
        disk.place_sdk_output(path, wall_ns).map_err(|_| WorldError::Directory { path: path.clone() })?;
    }
    let preopened = machine.preopens.iter().flatten().map(|preopen| &preopen.path);
    for path in preopened.chain(&machine.cwd) {
        disk.directory_at(path).map_err(|_| missing(path))?;
    }
    Ok(disk)
}
