//! From a merged plan file to a plan and its inputs: everything that it names is read now, and never again.
//!
//! ```text
//! PlanFile ──┬─ files, directories ──▶ Inputs { sha256 → bytes }
//!            ├─ components ─ loader ─▶      〃
//!            └─────────────────────────▶ Plan, which refers to them by digest
//! ```
//!
//! Invariant: all problems are found, not only the first. `Inputs` may then hold bytes that nothing refers to.

use crate::check::{check, target_names};
use crate::file::{
    BackendsFile, ComponentFile, ContentFile, ContentTable, DiskNames, ExpectFile, FaultFile, FilesBackend,
    HistoryCriterionFile, HttpFailureFile, HttpFile, LimitsFile, LiveDurations, MachineFile, MemoryFile, NodeEnd,
    PlanFile, ProcessFailureFile, ProcessFile, RedactionFile, ScriptBackend,
};
use crate::nemesis;
use crate::preopen::parse_preopen;
use crate::problem::{DocumentStep, PlanError, Problems};
use fozzy_live::{capture_directory, normalise_guest_path};
use fozzy_trace::plan::criteria::CHECKER_NAME_BYTES_MAX;
use fozzy_trace::plan::{
    AllowedEnd, Backend, Backends, CheckerPlan, Edition, HistoryCriterion, HostLimits, HttpFailure, HttpReply,
    HttpRule, Inputs, Limits, LivePolicy, MachinePlan, MemoryPlan, Mount, MountEntry, MountKind, NODES_VARIABLE,
    NameDurability, NetworkPlan, NodePlan, OtherReplies, ProcessExit, ProcessReply, ProcessRule, ProgramPlan,
    RedactionPolicy, RunCriteria, WALL_START_DEFAULT, WeightedReply,
};
use fozzy_trace::{Digest, Duration, NodeId, Plan};
use fozzy_world::MAIN;
use fozzy_world::fault::{FAULTS, FaultTarget, kind_of, machine_of};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Most bytes of one file that a plan names: what standard input may have, too. Beyond it the plan is refused.
pub const FILE_BYTES_MAX: u64 = 256 << 20;

/// Reads a component: a file or the folder of a crate, made into a component; or a sentence that says why not.
pub type ComponentLoader<'a> = dyn FnMut(&Path) -> Result<Vec<u8>, String> + 'a;

/// A plan file, read in full.
#[derive(Clone, Debug, PartialEq)]
pub struct ResolvedPlan {
    /// The plan; what the file leaves open has its default.
    pub plan: Plan,
    /// Whether standard input is given; if not, the plan has an empty one, and the command line may use its own.
    pub stdin_given: bool,
}

impl PlanFile {
    /// Reads everything that the plan names, and makes the plan of it. `program` is the target's own name, which it gets
    /// as its first argument. `loader` is called once for each path of a component.
    ///
    /// # Errors
    /// Everything that is missing, cannot be read or is too large, and what contradicts itself only now that the files
    /// are merged. The error names keys of the merged plan: the rules above come first.
    pub fn resolve(
        &self,
        program: &str,
        loader: &mut ComponentLoader<'_>,
        inputs: &mut Inputs,
    ) -> Result<ResolvedPlan, PlanError> {
        self.resolve_collecting(program, loader, inputs)
            .map_err(|problems| PlanError { path: None, problems: problems.finish(|_| None) })
    }

    pub(crate) fn resolve_collecting(
        &self,
        program: &str,
        loader: &mut ComponentLoader<'_>,
        inputs: &mut Inputs,
    ) -> Result<ResolvedPlan, Problems> {
        let mut problems = Problems::default();
        // Again, because this plan may be built from flags or merged.
        check(self, FAULTS, &Problems::default(), &mut problems);
        if !problems.is_empty() {
            return Err(problems);
        }
        let file = &self.counted();
        let machines = machines(file);
        let mut resolve = Resolve { path: Vec::new(), problems, loader, loaded: BTreeMap::new(), inputs, machines };
        let plan = resolve.plan(file, program);
        match resolve.problems.is_empty() {
            true => Ok(ResolvedPlan { plan, stdin_given: self.machine.stdin.is_some() }),
            false => Err(resolve.problems),
        }
    }
}

/// The machines of the plan: that of the target comes first, then those with a name of their own, then those that are called.
fn machines(file: &PlanFile) -> BTreeMap<String, NodeId> {
    let named = file.node.iter().map(|node| node.name.to_ascii_lowercase());
    let all = std::iter::once(MAIN.to_owned()).chain(named).chain(target_names(file));
    all.zip(0..).map(|(name, number)| (name, NodeId(number))).collect()
}

pub(crate) struct Resolve<'a, 'l> {
    path: Vec<DocumentStep>,
    problems: Problems,
    loader: &'a mut ComponentLoader<'l>,
    /// What the loader said, so that one component for ten machines is built once and complained of once.
    loaded: BTreeMap<PathBuf, Option<Digest>>,
    pub(crate) inputs: &'a mut Inputs,
    /// All machines of the plan, by name.
    pub(crate) machines: BTreeMap<String, NodeId>,
}

impl Resolve<'_, '_> {
    pub(crate) fn at<T>(&mut self, step: impl Into<DocumentStep>, look: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push(step.into());
        let found = look(self);
        self.path.pop();
        found
    }

    fn each<T, U>(&mut self, key: &str, items: &[T], look: impl Fn(&mut Self, &T) -> U) -> Vec<U> {
        self.at(key, |resolve| {
            items.iter().enumerate().map(|(i, item)| resolve.at(i, |resolve| look(resolve, item))).collect()
        })
    }

    fn plan(&mut self, file: &PlanFile, program: &str) -> Plan {
        let network = NetworkPlan::default();
        let files = |backend| match backend {
            Some(FilesBackend::Host) => Backend::Host,
            Some(FilesBackend::Virtual) | None => Backend::Virtual,
        };
        let script = |backend| match backend {
            Some(ScriptBackend::Host) => Backend::Host,
            Some(ScriptBackend::Scripted) | None => Backend::Virtual,
        };
        let mut names: BTreeSet<String> = file.node.iter().map(|node| node.name.to_ascii_lowercase()).collect();
        let targets = file.target.as_ref().map(|target| {
            let program = self.at("target", |resolve| resolve.part(target));
            target_names(file).into_iter().map(move |name| NodePlan::called(name, program.clone()))
        });
        let targets: Vec<NodePlan> = targets.into_iter().flatten().collect();
        names.extend(targets.iter().map(|node| node.name.clone()));
        let mut plan = Plan {
            main: self.machine(&file.machine, program),
            nodes: {
                let mut nodes = self.each("node", &file.node, |resolve, node| NodePlan {
                    name: node.name.to_ascii_lowercase(),
                    program: resolve
                        .at("component", |resolve| resolve.component(&node.component))
                        .with(|name| resolve.machine(&node.machine, name)),
                    called: false,
                    ends: Some(match node.ends {
                        Some(NodeEnd::Never) => AllowedEnd::Never,
                        Some(NodeEnd::Ok) | None => AllowedEnd::Ok,
                        Some(NodeEnd::Any) => AllowedEnd::Any,
                    }),
                    restart: node.restart.map(|span| span.0),
                    counted: node.counted.clone(),
                });
                nodes.extend(targets);
                nodes
            },
            wall_start_s: file.wall_start.map_or(WALL_START_DEFAULT, |start| start.0),
            limits: self::limits(&file.limits),
            canonical_nans: file.canonical_nans.unwrap_or(true),
            memcheck: file.memcheck.unwrap_or(false),
            allocators: file.allocators.iter().map(|named| named.0.clone()).collect(),
            allow_error_exit: file.allow_error_exit.unwrap_or(false),
            // Who knows the programs says it.
            faults_await_setup: false,
            backends: Backends {
                files: files(file.backends.files),
                http: script(file.backends.http),
                processes: script(file.backends.processes),
            },
            http: self.each("http", &file.http, Resolve::http),
            processes: self.each("process", &file.process, Resolve::process),
            network: NetworkPlan {
                latency: file.network.latency.map_or(network.latency, |span| span.0),
                jitter: file.network.jitter.map_or(network.jitter, |span| span.0),
                bandwidth_bytes_per_s: file.network.bandwidth.map(|bandwidth| bandwidth.0),
            },
            faults: {
                let faults = self.each("fault", &file.fault, |resolve, fault| resolve.fault(fault, &names));
                let nemeses = self.nemeses(file);
                faults.into_iter().flatten().chain(nemeses).collect()
            },
            cluster: nemesis::cluster(&file.cluster.phases),
            redact: redact(&file.redact),
            live: live(&file.backends),
            names: match file.disk.names {
                None | Some(DiskNames::Ext4) => NameDurability::Ext4,
                Some(DiskNames::Posix) => NameDurability::Posix,
            },
            memory: memory(&file.memory),
            // Whether the target is a scenario is not known here.
            scenario: None,
            call: None,
            warm_up: false,
            input: None,
            criteria: self.at("expect", |resolve| resolve.criteria(&file.expect)),
            history: self
                .at("expect", |resolve| resolve.each("history", &file.expect.history, Resolve::history_criterion)),
            edition: Edition::FIRST,
        };
        let nodes = plan.node_list();
        if plan.cluster.is_some() || !nodes.is_empty() {
            let quiet = plan.cluster.as_ref().and_then(|cluster| cluster.faults_until);
            let mut about = vec![(NODES_VARIABLE, nodes)];
            about.extend(quiet.map(|until| ("FOZZY_FAULTS_UNTIL_NS", until.0.to_string())));
            let is_free = |name: &str| plan.main.env.iter().all(|(known, _)| known != name);
            about.retain(|(name, _)| is_free(name));
            plan.main.env.extend(about.into_iter().map(|(name, value)| (name.to_owned(), value)));
        }
        plan.renew_edition();
        plan
    }

    pub(crate) fn wrong(&mut self, message: impl Into<String>) {
        self.problems.add(&self.path, message);
    }

    fn machine(&mut self, machine: &MachineFile, program: &str) -> MachinePlan {
        MachinePlan {
            args: std::iter::once(program.to_owned()).chain(machine.args.iter().flatten().cloned()).collect(),
            env: machine.env.iter().map(|(name, value)| (name.to_owned(), value.clone())).collect(),
            stdin: self.stdin(machine),
            dirs: self.mounts(machine),
            bare: machine.dirs.iter().any(|(guest, _)| guest_path(guest) == "/"),
            read_only: machine.read_only.iter().flatten().map(|path| guest_path(path)).collect(),
            preopens: machine.preopens.as_ref().map(|preopens| {
                preopens.iter().map(|text| parse_preopen(text).expect("the check has seen it")).collect()
            }),
            cwd: machine.cwd.as_deref().map(guest_path),
            // Who knows the program says it.
            antithesis_output: None,
        }
    }

    /// The directories, each a mount, and the single files in a mount at the root.
    fn mounts(&mut self, machine: &MachineFile) -> Vec<Mount> {
        let mut mounts = Vec::new();
        for (guest, host) in machine.dirs.iter() {
            match capture_directory(host, guest, self.inputs) {
                Ok(mount) => mounts.push(mount),
                Err(error) => self.at("dirs", |resolve| resolve.at(guest, |resolve| resolve.wrong(error.to_string()))),
            }
        }
        // Sorted by name, as a mount wants its entries; a folder sorts before what is in it.
        let mut entries = BTreeMap::new();
        for (guest, content) in machine.files.iter() {
            let digest = self.at("files", |resolve| resolve.at(guest, |resolve| resolve.content(content)));
            let path = normalise_guest_path(guest).expect("the check has seen it");
            if let Err(problem) = take_place(&mut mounts, &path) {
                self.at("files", |resolve| resolve.at(guest, |resolve| resolve.wrong(problem)));
            }
            let path = &path[1..];
            for (end, _) in path.match_indices('/') {
                entries.insert(path[..end].split('/').map(str::to_owned).collect::<Vec<_>>(), MountKind::Directory);
            }
            entries.insert(path.split('/').map(str::to_owned).collect(), MountKind::File(digest));
        }
        if !entries.is_empty() {
            let entry = |(path, kind): (Vec<String>, MountKind)| MountEntry { path: path.join("/"), kind };
            mounts.push(Mount { guest: "/".to_owned(), entries: entries.into_iter().map(entry).collect() });
        }
        mounts
    }

    fn criteria(&mut self, expect: &ExpectFile) -> RunCriteria {
        let output = expect.output.as_ref().map(|output| self.at("output", |resolve| resolve.content(output)));
        let checker = expect.check.as_ref().map(|path| {
            let Component { digest, name } = self.at("check", |resolve| resolve.component(path));
            CheckerPlan { component: digest, machine: MachinePlan { args: vec![name], ..MachinePlan::default() } }
        });
        RunCriteria {
            exit_codes: expect.exit.clone().unwrap_or_default(),
            output,
            fail_on: expect.fail_on.clone(),
            checker,
        }
    }

    fn history_criterion(&mut self, file: &HistoryCriterionFile) -> HistoryCriterion {
        let mut criterion = file.named();
        if criterion.component.is_some() {
            let found = self.at("model", |resolve| resolve.component(Path::new(&criterion.model)));
            // The name is a part of signatures, so that it is the same wherever the file lies.
            criterion.model = found.name.chars().take(CHECKER_NAME_BYTES_MAX / 4).collect();
            criterion.component = Some(found.digest);
        }
        criterion
    }

    pub(crate) fn content(&mut self, content: &ContentFile) -> Digest {
        let bytes = match content {
            ContentFile::Text(text) | ContentFile::Other(ContentTable::Text(text)) => Ok(text.clone().into_bytes()),
            ContentFile::Other(ContentTable::Json(value)) => Ok(value.to_string().into_bytes()),
            ContentFile::Other(ContentTable::Base64(text)) => crate::base64::decode(text),
            ContentFile::Other(ContentTable::File(path)) => read_file(path),
        };
        match bytes {
            Ok(bytes) => self.inputs.add(bytes),
            Err(message) => {
                self.wrong(message);
                Digest::of(b"")
            }
        }
    }

    /// The component, and its name for its machine's arguments.
    fn component(&mut self, path: &Path) -> Component {
        let digest = match self.loaded.get(path) {
            Some(known) => *known,
            None => {
                let loaded = (self.loader)(path);
                let digest = match loaded {
                    Ok(bytes) => Some(self.inputs.add(bytes)),
                    Err(message) => {
                        self.wrong(message);
                        None
                    }
                };
                self.loaded.insert(path.to_owned(), digest);
                digest
            }
        };
        let name = path.file_name().map_or_else(|| "program".to_owned(), |name| name.to_string_lossy().into_owned());
        Component { digest: digest.unwrap_or_else(|| Digest::of(b"")), name }
    }

    fn program(&mut self, component: &ComponentFile) -> ProgramPlan {
        self.at("component", |resolve| resolve.part(component))
    }

    fn part(&mut self, component: &ComponentFile) -> ProgramPlan {
        match component {
            ComponentFile::Path(path) => self.component(path).with(|name| self.machine(&MachineFile::default(), name)),
            ComponentFile::Program(program) => self
                .at("path", |resolve| resolve.component(&program.path))
                .with(|name| self.machine(&program.machine, name)),
        }
    }

    fn http(&mut self, rule: &HttpFile) -> HttpRule {
        let delay = rule.delay.map_or(Duration(0), |delay| delay.0);
        let mut answers = rule.answers.iter().enumerate().map(|(number, answer)| WeightedReply {
            weight: answer.weight.unwrap_or(1),
            delay: answer.delay.map_or(delay, |delay| delay.0),
            answer: self.at("answers", |resolve| resolve.at(number, |resolve| resolve.http_reply(&answer.rule()))),
        });
        let (first, others) = several(&mut answers);
        let first = first.unwrap_or_else(|| (self.http_reply(rule), delay));
        HttpRule {
            method: rule.method.clone(),
            url: rule.url.clone(),
            headers: rule.headers.iter().map(|(name, value)| (name.to_ascii_lowercase(), value.clone())).collect(),
            times: rule.times,
            delay: first.1,
            answer: first.0,
            others,
        }
    }

    fn http_reply(&mut self, rule: &HttpFile) -> HttpReply {
        if let Some(failure) = rule.fail {
            HttpReply::Failure(match failure {
                HttpFailureFile::Dns => HttpFailure::Dns,
                HttpFailureFile::Refused => HttpFailure::Refused,
                HttpFailureFile::Reset => HttpFailure::Reset,
                HttpFailureFile::Timeout => HttpFailure::Timeout,
            })
        } else if let Some(component) = &rule.component {
            HttpReply::Component(self.program(component))
        } else {
            self.response(rule)
        }
    }

    fn response(&mut self, rule: &HttpFile) -> HttpReply {
        let mut headers = Vec::new();
        for (name, values) in rule.response_headers.iter() {
            headers.extend(values.values().iter().map(|value| (name.to_ascii_lowercase(), value.clone())));
        }
        let body = match (&rule.body, &rule.json) {
            (Some(body), _) => self.at("body", |resolve| resolve.content(body)),
            (None, Some(json)) => {
                if !headers.iter().any(|(name, _)| name == "content-type") {
                    headers.push(("content-type".to_owned(), "application/json".to_owned()));
                }
                self.inputs.add(json.to_string().into_bytes())
            }
            (None, None) => Digest::of(b""),
        };
        let reset_after = rule.reset_after.map(|size| size.0);
        HttpReply::Response { status: rule.status.unwrap_or(200), headers, body, reset_after }
    }

    fn process(&mut self, rule: &ProcessFile) -> ProcessRule {
        let delay = rule.delay.map_or(Duration(0), |delay| delay.0);
        let mut answers = rule.answers.iter().enumerate().map(|(number, answer)| WeightedReply {
            weight: answer.weight.unwrap_or(1),
            delay: answer.delay.map_or(delay, |delay| delay.0),
            answer: self.at("answers", |resolve| resolve.at(number, |resolve| resolve.process_reply(&answer.rule()))),
        });
        let (first, others) = several(&mut answers);
        let first = first.unwrap_or_else(|| (self.process_reply(rule), delay));
        ProcessRule {
            command: rule.command.clone(),
            args: rule.args.clone(),
            times: rule.times,
            delay: first.1,
            answer: first.0,
            others,
        }
    }

    fn process_reply(&mut self, rule: &ProcessFile) -> ProcessReply {
        if let Some(failure) = rule.fail {
            match failure {
                ProcessFailureFile::NotFound => ProcessReply::NotFound,
                ProcessFailureFile::NotPermitted => ProcessReply::NotPermitted,
            }
        } else if let Some(component) = &rule.component {
            ProcessReply::Component(self.program(component))
        } else {
            let mut output = |key: &str, content: &Option<ContentFile>| match content {
                Some(content) => self.at(key, |resolve| resolve.content(content)),
                None => Digest::of(b""),
            };
            let (stdout, stderr) = (output("stdout", &rule.stdout), output("stderr", &rule.stderr));
            let code = ProcessExit::Code(rule.exit.unwrap_or(0));
            ProcessReply::Output { exit: rule.signal.map_or(code, ProcessExit::Signal), stdout, stderr }
        }
    }

    /// Nemeses hit machines that run by themselves.
    fn nemeses(&mut self, file: &PlanFile) -> Vec<fozzy_trace::plan::FaultPlan> {
        let names: Vec<&str> = file.node.iter().map(|node| node.name.as_str()).collect();
        let names: Vec<String> = names.iter().map(|name| name.to_ascii_lowercase()).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        nemesis::resolve(&file.nemesis, file.cluster.phases, &names).unwrap_or_else(|wrong| {
            wrong.into_iter().for_each(|(path, message)| self.problems.add(&path, message));
            Vec::new()
        })
    }

    fn fault(&mut self, fault: &FaultFile, nodes: &BTreeSet<String>) -> Option<fozzy_trace::plan::FaultPlan> {
        let mut plan = match fault.plan() {
            Ok(plan) => plan,
            Err(message) => {
                self.wrong(message);
                return None;
            }
        };
        // Machines are known only now. Their names are in small letters everywhere.
        let machines: Vec<&str> = match kind_of(&plan.kind)?.target {
            FaultTarget::Node => vec![&plan.target],
            FaultTarget::Link => plan.target.split("->").collect(),
            FaultTarget::Path => machine_of(&plan.target).map(|(machine, _)| machine).into_iter().collect(),
            FaultTarget::Url | FaultTarget::Command | FaultTarget::Point => return Some(plan),
        };
        for name in machines.into_iter().map(str::to_ascii_lowercase).filter(|name| !name.contains('*')) {
            if name != MAIN && !nodes.contains(&name) {
                let hint = crate::nearest::hint(&name, nodes.iter().map(String::as_str).chain([MAIN]));
                self.at("target", |resolve| resolve.wrong(format!("there is no machine `{name}`{hint}")));
            }
        }
        match machine_of(&plan.target) {
            Some((machine, path)) => plan.target = format!("{}:{path}", machine.to_ascii_lowercase()),
            None if kind_of(&plan.kind)?.target == FaultTarget::Path => {}
            None => plan.target.make_ascii_lowercase(),
        }
        Some(plan)
    }
}

/// The first answer of several with its delay, and the others.
type FirstAndOthers<R> = (Option<(R, Duration)>, Option<Box<OtherReplies<R>>>);

/// Parts the answers of a rule; a list of one is that one.
fn several<R>(answers: &mut dyn Iterator<Item = WeightedReply<R>>) -> FirstAndOthers<R> {
    let Some(WeightedReply { weight, delay, answer }) = answers.next() else { return (None, None) };
    let replies: Vec<WeightedReply<R>> = answers.collect();
    let others = (!replies.is_empty()).then(|| Box::new(OtherReplies { weight, replies }));
    (Some((answer, delay)), others)
}

struct Component {
    digest: Digest,
    name: String,
}

impl Component {
    fn with(self, machine: impl FnOnce(&str) -> MachinePlan) -> ProgramPlan {
        ProgramPlan { component: self.digest, machine: machine(&self.name) }
    }
}

/// The one spelling of a guest path that the check has seen.
fn guest_path(path: &str) -> String {
    normalise_guest_path(path).expect("the check has seen it")
}

/// Makes place for a single file: takes away a file or link that came with a directory.
fn take_place(mounts: &mut [Mount], path: &str) -> Result<(), String> {
    for mount in mounts {
        let below = if mount.guest == "/" { path.strip_prefix('/') } else { path.strip_prefix(&mount.guest) };
        let Some(relative) = below.map(|below| below.trim_start_matches('/')) else { continue };
        if mount.guest != "/" && !path[mount.guest.len()..].starts_with('/') {
            continue;
        }
        let leads_through = |entry: &MountEntry| {
            relative.strip_prefix(&entry.path).is_some_and(|rest| rest.starts_with('/'))
                && entry.kind != MountKind::Directory
        };
        if let Some(entry) = mount.entries.iter().find(|entry| leads_through(entry)) {
            return Err(format!("`{}` is no directory in `{}`, so nothing can be in it", entry.path, mount.guest));
        }
        if let Some(at) = mount.entries.iter().position(|entry| entry.path == relative) {
            if mount.entries[at].kind == MountKind::Directory {
                return Err(format!("there is a directory `{relative}` in `{}` already", mount.guest));
            }
            mount.entries.remove(at);
        }
    }
    Ok(())
}

fn read_file(path: &Path) -> Result<Vec<u8>, String> {
    let cannot = |error: std::io::Error| format!("cannot read `{}`: {error}", path.display());
    // Asked before it is opened: opening a pipe would wait for a writer.
    let metadata = std::fs::metadata(path).map_err(cannot)?;
    if !metadata.is_file() {
        return Err(format!("cannot read `{}`: expected a file, found something else", path.display()));
    }
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(cannot)?;
    file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(cannot)?;
    match bytes.len() as u64 > FILE_BYTES_MAX {
        true => {
            Err(format!("cannot read `{}`: it has more than the {FILE_BYTES_MAX} bytes that are read", path.display()))
        }
        false => Ok(bytes),
    }
}

/// What allocations are held to, if anything is said.
fn limits(file: &LimitsFile) -> Limits {
    let default = Limits::default();
    let memory_bytes = file.memory.map_or(default.memory_bytes, |size| size.0);
    let disk_bytes = file.disk.map_or(default.disk_bytes, |size| size.0);
    let host = HostLimits::beside(memory_bytes, disk_bytes);
    Limits {
        fuel: file.fuel.unwrap_or(default.fuel),
        time: file.timeout.map(|span| span.0).or(default.time),
        calls: None,
        interrupted: false,
        memory_bytes,
        disk_bytes,
        disk_nodes: file.disk_nodes.unwrap_or(default.disk_nodes),
        host: Some(HostLimits {
            total_bytes: file.total.map_or(host.total_bytes, |size| size.0),
            output_bytes: file.output.map_or(host.output_bytes, |size| size.0),
        }),
    }
}

fn memory(file: &MemoryFile) -> Option<MemoryPlan> {
    (*file != MemoryFile::default()).then(|| MemoryPlan {
        leak_budget_bytes: file.leak_budget.map(|size| size.0),
        heap_alloc_budget_bytes: file.heap_alloc_budget.map(|size| size.0),
        heap_in_use_budget_bytes: file.heap_in_use_budget.map(|size| size.0),
        own_heap: false,
        limit_bytes: None,
        fail_after: file.fail_after,
        fragmentation_seed: file.fragmentation_seed,
        pressure_wave: file.pressure_wave.clone().unwrap_or_default(),
    })
}

/// What of the real computer may be asked; nothing is said where nothing is asked.
fn live(file: &BackendsFile) -> LivePolicy {
    let BackendsFile { files, http, processes, allow_hosts, allow_commands, durations } = file;
    let (http, processes) = (*http == Some(ScriptBackend::Host), *processes == Some(ScriptBackend::Host));
    let is_live = http || processes || *files == Some(FilesBackend::Host);
    LivePolicy {
        hosts: allow_hosts.clone().filter(|_| is_live),
        commands: allow_commands.clone().filter(|_| is_live),
        measured: is_live && *durations != Some(LiveDurations::Drawn),
    }
}

fn redact(file: &RedactionFile) -> RedactionPolicy {
    let defaults = RedactionPolicy::default();
    let mut headers: BTreeSet<String> = file.headers.iter().map(|name| name.to_ascii_lowercase()).collect();
    if file.defaults.unwrap_or(true) {
        headers.extend(defaults.headers);
    }
    let env: BTreeSet<String> = defaults.env.into_iter().chain(file.env.iter().cloned()).collect();
    RedactionPolicy { headers: headers.into_iter().collect(), env: env.into_iter().collect() }
}
