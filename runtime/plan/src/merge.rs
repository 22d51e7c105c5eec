//! One plan file over another: flags over `plan.toml` over `fozzy.toml`.
//!
//! - One value (a number, a text, `args`, `stdin`, `target`, `clients`, `allow-hosts`, `allow-commands`): the upper one, if it is given.
//! - A table of names (`env`, `dirs`, `files`): the names of both; for a name of both, the upper value.
//! - Rules (`http`, `process`), faults and nemeses: the upper ones first, then the lower ones, so that the upper ones decide.
//! - Machines: those of both; of two with one name, the upper one as a whole.
//! - `expect`: the patterns of both; else the upper value.
//! - `allocators`: the names of both, each once.
//! - `redact`: the names of both, so that nothing above can uncover what is hidden below.
//!
//! Invariants: a plan over an empty one, and an empty one over a plan, is that plan; merging is associative.

use crate::file::{
    BackendsFile, DiskFile, ExpectFile, LimitsFile, MachineFile, MemoryFile, NetworkFile, PlanFile, RedactionFile,
};
use crate::nemesis::PhasesFile;

impl PlanFile {
    /// This plan, and below it what it leaves open.
    #[must_use]
    pub fn over(self, lower: PlanFile) -> PlanFile {
        PlanFile {
            machine: self.machine.over(lower.machine),
            wall_start: self.wall_start.or(lower.wall_start),
            canonical_nans: self.canonical_nans.or(lower.canonical_nans),
            memcheck: self.memcheck.or(lower.memcheck),
            allocators: names_of_both(self.allocators, lower.allocators),
            limits: self.limits.over(lower.limits),
            memory: self.memory.over(lower.memory),
            backends: self.backends.over(lower.backends),
            http: both(self.http, lower.http),
            process: both(self.process, lower.process),
            network: self.network.over(lower.network),
            node: {
                let hidden = |name: &str| self.node.iter().any(|node| node.name.eq_ignore_ascii_case(name));
                let below = lower.node.into_iter().filter(|node| !hidden(&node.name)).collect();
                both(self.node, below)
            },
            target: self.target.or(lower.target),
            target_instances: self.target_instances.or(lower.target_instances),
            fault: both(self.fault, lower.fault),
            nemesis: both(self.nemesis, lower.nemesis),
            cluster: self.cluster.over(lower.cluster),
            allow_error_exit: self.allow_error_exit.or(lower.allow_error_exit),
            expect: self.expect.over(lower.expect),
            disk: DiskFile { names: self.disk.names.or(lower.disk.names) },
            redact: self.redact.over(lower.redact),
        }
    }
}

fn names_of_both<T: PartialEq>(mut upper: Vec<T>, lower: Vec<T>) -> Vec<T> {
    for name in lower {
        if !upper.contains(&name) {
            upper.push(name);
        }
    }
    upper
}

fn both<T>(mut upper: Vec<T>, lower: Vec<T>) -> Vec<T> {
    upper.extend(lower);
    upper
}

impl MachineFile {
    fn over(self, lower: MachineFile) -> MachineFile {
        MachineFile {
            args: self.args.or(lower.args),
            env: self.env.over(lower.env),
            stdin: self.stdin.or(lower.stdin),
            stdin_stays_open: self.stdin_stays_open.or(lower.stdin_stays_open),
            stdin_terminal: self.stdin_terminal.or(lower.stdin_terminal),
            stdin_nonblocking: self.stdin_nonblocking.or(lower.stdin_nonblocking),
            dirs: self.dirs.over(lower.dirs),
            files: self.files.over(lower.files),
            read_only: self.read_only.or(lower.read_only),
            preopens: self.preopens.or(lower.preopens),
            cwd: self.cwd.or(lower.cwd),
        }
    }
}

impl PhasesFile {
    pub(crate) fn over(self, lower: PhasesFile) -> PhasesFile {
        PhasesFile {
            hit_at_most: self.hit_at_most.or(lower.hit_at_most),
            faults_until: self.faults_until.or(lower.faults_until),
            heal: self.heal.or(lower.heal),
            progress_within: self.progress_within.or(lower.progress_within),
        }
    }
}

impl LimitsFile {
    fn over(self, lower: LimitsFile) -> LimitsFile {
        LimitsFile {
            fuel: self.fuel.or(lower.fuel),
            timeout: self.timeout.or(lower.timeout),
            memory: self.memory.or(lower.memory),
            disk: self.disk.or(lower.disk),
            disk_nodes: self.disk_nodes.or(lower.disk_nodes),
            total: self.total.or(lower.total),
            output: self.output.or(lower.output),
        }
    }
}

impl MemoryFile {
    fn over(self, lower: MemoryFile) -> MemoryFile {
        MemoryFile {
            leak_budget: self.leak_budget.or(lower.leak_budget),
            heap_alloc_budget: self.heap_alloc_budget.or(lower.heap_alloc_budget),
            heap_in_use_budget: self.heap_in_use_budget.or(lower.heap_in_use_budget),
            fail_after: self.fail_after.or(lower.fail_after),
            fragmentation_seed: self.fragmentation_seed.or(lower.fragmentation_seed),
            pressure_wave: self.pressure_wave.or(lower.pressure_wave),
        }
    }
}

impl BackendsFile {
    fn over(self, lower: BackendsFile) -> BackendsFile {
        BackendsFile {
            files: self.files.or(lower.files),
            http: self.http.or(lower.http),
            processes: self.processes.or(lower.processes),
            allow_hosts: self.allow_hosts.or(lower.allow_hosts),
            allow_commands: self.allow_commands.or(lower.allow_commands),
            durations: self.durations.or(lower.durations),
        }
    }
}

impl ExpectFile {
    fn over(self, lower: ExpectFile) -> ExpectFile {
        ExpectFile {
            exit: self.exit.or(lower.exit),
            output: self.output.or(lower.output),
            fail_on: both(self.fail_on, lower.fail_on),
            check: self.check.or(lower.check),
            history: both(self.history, lower.history),
        }
    }
}

impl NetworkFile {
    fn over(self, lower: NetworkFile) -> NetworkFile {
        NetworkFile {
            latency: self.latency.or(lower.latency),
            jitter: self.jitter.or(lower.jitter),
            bandwidth: self.bandwidth.or(lower.bandwidth),
        }
    }
}

impl RedactionFile {
    fn over(self, lower: RedactionFile) -> RedactionFile {
        RedactionFile {
            headers: both(self.headers, lower.headers),
            env: both(self.env, lower.env),
            defaults: self.defaults.or(lower.defaults),
        }
    }
}
