//! What a schema cannot say: what stands across keys, and the forms of names, paths and patterns.
//!
//! Example: a rule with `status` and `fail` has two answers.
//!
//! Not here: what needs the real computer or the merged plan (`resolve.rs`).

use crate::cluster::is_plan_name;
use crate::file::{
    BackendsFile, ComponentFile, ContentFile, ContentTable, ExpectFile, FaultFile, HttpFile, MachineFile, NodeEnd,
    NodeFile, PlanFile, ProcessFile,
};
use crate::nearest::{hint, nearest};
use crate::notation::ByteSize;
use crate::preopen::parse_preopen;
use crate::problem::{DocumentStep, Problems, quoted};
use crate::stdin::{self, StdinFile};
use fozzy_check::check_criterion;
use fozzy_live::normalise_guest_path;
use fozzy_trace::Duration;
use fozzy_trace::plan::counted::{NODE_PLACEHOLDERS, node_text_parts};
use fozzy_trace::plan::criteria::{CHECKER_NAME_BYTES_MAX, HISTORY_CRITERIA_MAX, PATTERN_BYTES_MAX, is_model_path};
use fozzy_world::fault::{FaultKind, FaultTarget, KILL, machine_of};
use fozzy_world::live_bounds::{HostPattern, check_command};
use fozzy_world::{MAIN, NODES_MAX};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Most entries of one table or list of a plan file: rules, faults, variables, files. Each request is compared with
/// the rules one after the other; beyond it the plan is refused.
pub const RULES_MAX: usize = 10_000;

/// Answers of one rule: each run that asks looks at all their weights.
const ANSWERS_MAX: usize = 256;

/// The name of the machine whose component a scenario calls.
const TARGET: &str = "target";

/// The names of the machines of a plan's target, if it has one.
pub(crate) fn target_names(file: &PlanFile) -> Vec<String> {
    match (&file.target, file.target_instances) {
        (None, _) => Vec::new(),
        (Some(_), None | Some(1)) => vec![TARGET.to_owned()],
        (Some(_), Some(instances)) => (0..instances).map(|number| format!("n{number}")).collect(),
    }
}

/// Adds what is wrong with `file`; `kinds` are the kinds of faults that there are, and what was wrong `earlier` was left out of the file.
pub(crate) fn check(file: &PlanFile, kinds: &[&FaultKind], earlier: &Problems, problems: &mut Problems) {
    let mut check = Check { path: Vec::new(), earlier, problems };
    check.machine(&file.machine, Some(MAIN));
    for (key, size) in [("memory", file.limits.memory), ("disk", file.limits.disk)] {
        if size == Some(ByteSize(0)) {
            check.at2("limits", key, |check| check.wrong("expected more than 0 bytes"));
        }
    }
    file.http.iter().enumerate().for_each(|(i, rule)| check.at2("http", i, |check| check.http(rule)));
    file.process.iter().enumerate().for_each(|(i, rule)| check.at2("process", i, |check| check.process(rule)));
    check.nodes(&file.node);
    if let Some(target) = &file.target {
        check.at("target", |check| {
            let is_taken = |name: &&String| file.node.iter().any(|node| node.names().contains(name));
            if let Some(name) = target_names(file).iter().find(is_taken) {
                check.wrong(format!("another machine is called `{name}`, as this one would be"));
            }
            check.component(target, false);
        });
    }
    file.fault.iter().enumerate().for_each(|(i, fault)| check.at2("fault", i, |check| check.fault(fault, kinds)));
    check.at("expect", |check| check.expect(&file.expect));
    if let Some(clients) = &file.cluster.clients {
        check.at2("cluster", "clients", |check| check.must(check_clients(clients)));
    }
    crate::nemesis::check(&file.nemesis, file.cluster.phases, file.limits.timeout, check.problems);
    let BackendsFile { allow_hosts, allow_commands, .. } = &file.backends;
    for (i, host) in allow_hosts.iter().flatten().enumerate() {
        let checked = HostPattern::parse(host).map(|_| ());
        check.at2("backends", "allow-hosts", |check| check.at(i, |check| check.must(checked)));
    }
    for (i, command) in allow_commands.iter().flatten().enumerate() {
        check.at2("backends", "allow-commands", |check| check.at(i, |check| check.must(check_command(command))));
    }
    for (i, name) in file.redact.headers.iter().enumerate() {
        check.at2("redact", "headers", |check| check.at(i, |check| check.must(check_header_name(name))));
    }
    for (i, name) in file.redact.env.iter().enumerate() {
        check.at2("redact", "env", |check| check.at(i, |check| check.must(check_env_name(name))));
    }
}

struct Check<'a> {
    path: Vec<DocumentStep>,
    earlier: &'a Problems,
    problems: &'a mut Problems,
}

impl Check<'_> {
    fn wrong(&mut self, message: impl Into<String>) {
        self.problems.add(&self.path, message);
    }

    fn must(&mut self, found: Result<(), String>) {
        if let Err(message) = found {
            self.wrong(message);
        }
    }

    fn at(&mut self, step: impl Into<DocumentStep>, look: impl FnOnce(&mut Self)) {
        self.path.push(step.into());
        look(self);
        self.path.pop();
    }

    fn at2(&mut self, first: impl Into<DocumentStep>, second: impl Into<DocumentStep>, look: impl FnOnce(&mut Self)) {
        self.at(first, |check| check.at(second, look));
    }

    /// A machine, and the name by which others know it.
    fn machine(&mut self, machine: &MachineFile, name: Option<&str>) {
        for (i, arg) in machine.args.iter().flatten().enumerate() {
            self.at2("args", i, |check| check.must(check_no_nul(arg)));
        }
        for (name, value) in machine.env.iter() {
            self.at2("env", name, |check| check.must(check_env_name(name).and_then(|()| check_no_nul(value))));
        }
        if let Some(stdin) = &machine.stdin {
            self.at("stdin", |check| check.stdin(stdin, name));
        }
        let mut dirs = BTreeSet::new();
        for (guest, host) in machine.dirs.iter() {
            self.at2("dirs", guest, |check| {
                check.must(check_host_path(host));
                match check_guest_path(guest) {
                    Ok(guest) if !dirs.insert(guest.clone()) => {
                        check.wrong(format!("{} stands here twice", quoted(&guest)))
                    }
                    Ok(_) => {}
                    Err(message) => check.wrong(message),
                }
            });
        }
        let mut files: BTreeSet<String> = BTreeSet::new();
        for (guest, content) in machine.files.iter() {
            self.at2("files", guest, |check| {
                check.content(content);
                let path = match check_guest_path(guest) {
                    Ok(path) => path,
                    Err(message) => return check.wrong(message),
                };
                if path == "/" || dirs.contains(&path) {
                    return check.wrong("expected the path of a file, found that of a directory");
                }
                // Neither may be a folder of the other: sorted, what lies below a path stands right behind it, but for
                // names that continue after the path with a byte before `/`.
                let below =
                    files.range(format!("{path}/")..).next().filter(|next| next.starts_with(&format!("{path}/")));
                let above = path.match_indices('/').skip(1).map(|(at, _)| &path[..at]).find(|top| files.contains(*top));
                if let Some(other) = below.map(String::as_str).or(above) {
                    return check.wrong(format!("a file cannot be a directory too, as it is for {}", quoted(other)));
                }
                if !files.insert(path.clone()) {
                    check.wrong(format!("{} stands here twice", quoted(&path)));
                }
            });
        }
        self.at("read-only", |check| {
            for (i, path) in machine.read_only.iter().flatten().enumerate() {
                check.at(i, |check| check.must(check_guest_path(path).map(drop)));
            }
        });
        let mut names = BTreeSet::new();
        for (i, text) in machine.preopens.iter().flatten().enumerate() {
            self.at2("preopens", i, |check| match parse_preopen(text) {
                Ok(preopen) if !names.insert(preopen.name.clone()) => {
                    check.wrong(format!("another directory is called {}", quoted(&preopen.name)));
                }
                Ok(_) => {}
                Err(message) => check.wrong(message),
            });
        }
        if let Some(cwd) = &machine.cwd {
            self.at("cwd", |check| check.must(check_guest_path(cwd).map(drop)));
        }
    }

    fn stdin(&mut self, stdin: &StdinFile, machine: Option<&str>) {
        for (path, message) in stdin::problems(stdin) {
            let depth = self.path.len();
            self.path.extend(path);
            self.wrong(message);
            self.path.truncate(depth);
        }
        match stdin {
            StdinFile::Text(_) => {}
            StdinFile::Table(table) => {
                self.at("file", |check| check.host_paths(&table.file));
                // Two that read each other have a dialogue, and more of them a ring; one alone would wait for itself.
                let is_own = |from: &String| machine.is_some_and(|name| name.eq_ignore_ascii_case(from));
                if table.from.as_ref().is_some_and(is_own) {
                    let message = "a machine does not read what it writes itself: name another machine, whose output is its input";
                    self.at("from", |check| check.wrong(message));
                }
            }
            StdinFile::Script(entries) => {
                for (i, entry) in entries.iter().enumerate() {
                    self.at2(i, "file", |check| check.host_paths(&entry.file));
                }
            }
        }
    }

    fn host_paths(&mut self, path: &Option<PathBuf>) {
        path.iter().for_each(|path| self.must(check_host_path(path)));
    }

    fn content(&mut self, content: &ContentFile) {
        if let ContentFile::Other(ContentTable::File(path)) = content {
            self.at("file", |check| check.must(check_host_path(path)));
        }
    }

    fn expect(&mut self, expect: &ExpectFile) {
        if let Some(output) = &expect.output {
            self.at("output", |check| check.content(output));
        }
        if expect.exit.as_ref().is_some_and(Vec::is_empty) {
            self.at("exit", |check| check.wrong("expected one code at least"));
        }
        for (i, pattern) in expect.fail_on.iter().enumerate() {
            self.at2("fail-on", i, |check| check.must(check_regex(pattern)));
        }
        if let Some(path) = &expect.check {
            self.at("check", |check| check.must(check_host_path(path)));
        }
        if expect.history.len() > HISTORY_CRITERIA_MAX {
            let message =
                format!("expected {HISTORY_CRITERIA_MAX} checkers at the most, found {}", expect.history.len());
            self.at("history", |check| check.wrong(message));
        }
        for (i, criterion) in expect.history.iter().enumerate() {
            let model = criterion.model.as_ref().filter(|model| !is_model_path(model));
            for (key, name) in [("checker", Some(&criterion.checker)), ("model", model)] {
                let is_short = name.is_none_or(|name| (1..=CHECKER_NAME_BYTES_MAX).contains(&name.len()));
                if !is_short {
                    let message = format!("expected a name of 1 to {CHECKER_NAME_BYTES_MAX} bytes");
                    self.at2("history", i, |check| check.at(key, |check| check.wrong(message)));
                }
            }
            if let Err(message) = check_criterion(&criterion.named()) {
                self.at2("history", i, |check| check.wrong(message));
            }
        }
    }

    fn component(&mut self, component: &ComponentFile, of_process: bool) {
        match component {
            ComponentFile::Path(path) => self.must(check_host_path(path)),
            ComponentFile::Program(program) => {
                self.at("path", |check| check.must(check_host_path(&program.path)));
                self.machine(&program.machine, None);
                let given = [
                    ("args", program.machine.args.is_some()),
                    ("stdin", program.machine.stdin.is_some()),
                    ("stdin-stays-open", program.machine.stdin_stays_open.is_some()),
                ];
                if matches!(&program.machine.stdin, Some(StdinFile::Table(table)) if table.from.is_some()) {
                    let message = "the output of a machine goes to the target and to machines of [[node]] only";
                    self.at2("stdin", "from", |check| check.wrong(message));
                }
                for (key, _) in given.into_iter().filter(|(_, given)| of_process && *given) {
                    let message = "a process gets its arguments and its input from the program that starts it";
                    self.at(key, |check| check.wrong(message));
                }
            }
        }
    }

    fn http(&mut self, rule: &HttpFile) {
        if let Some(method) = &rule.method {
            self.at("method", |check| check.must(check_method(method)));
        }
        self.at("url", |check| check.must(check_url(&rule.url)));
        for (name, value) in rule.headers.iter() {
            self.at2("headers", name, |check| check.must(check_header(name, value)));
        }
        if rule.answers.is_empty() {
            return self.http_answer(rule);
        }
        let own = of_response(rule).into_iter().chain(other_http_answers(rule));
        self.many_answers(own.filter(|(_, given)| *given).map(|(key, _)| key), rule.answers.len());
        for (i, answer) in rule.answers.iter().enumerate() {
            self.at2("answers", i, |check| check.http_answer(&answer.rule()));
        }
    }

    /// What a rule answers, or one of its answers.
    fn http_answer(&mut self, rule: &HttpFile) {
        for (name, value) in rule.response_headers.iter() {
            let values = value.values();
            let found = values.iter().try_for_each(|value| check_header(name, value));
            self.at2("response-headers", name, |check| check.must(check_header_name(name).and(found)));
        }
        if let Some(body) = &rule.body {
            self.at("body", |check| check.content(body));
        }
        if let Some(component) = &rule.component {
            self.at("component", |check| check.component(component, false));
        }
        let words = "`status = 200` for a response, `fail` or `component`";
        self.one_answer(&of_response(rule), &other_http_answers(rule), words);
        if rule.body.is_some() && rule.json.is_some() {
            self.at("json", |check| check.wrong("the rule has a `body` already"));
        }
    }

    fn process(&mut self, rule: &ProcessFile) {
        self.at("command", |check| check.must(check_pattern(&rule.command, "a command")));
        for (i, arg) in rule.args.iter().flatten().enumerate() {
            self.at2("args", i, |check| check.must(check_no_nul(arg)));
        }
        if rule.answers.is_empty() {
            return self.process_answer(rule);
        }
        let own = of_end(rule).into_iter().chain(other_ends(rule));
        self.many_answers(own.filter(|(_, given)| *given).map(|(key, _)| key), rule.answers.len());
        for (i, answer) in rule.answers.iter().enumerate() {
            self.at2("answers", i, |check| check.process_answer(&answer.rule()));
        }
    }

    /// How a process goes by a rule, or by one of its answers.
    fn process_answer(&mut self, rule: &ProcessFile) {
        for (key, content) in [("stdout", &rule.stdout), ("stderr", &rule.stderr)] {
            content.iter().for_each(|content| self.at(key, |check| check.content(content)));
        }
        if let Some(component) = &rule.component {
            self.at("component", |check| check.component(component, true));
        }
        self.one_answer(&of_end(rule), &other_ends(rule), "`exit = 0` for an end, `fail` or `component`");
        if rule.exit.is_some() && rule.signal.is_some() {
            self.at("signal", |check| check.wrong("the rule has an `exit` already; a process ends once"));
        }
    }

    /// A rule of several answers has no other one beside them.
    fn many_answers(&mut self, own: impl Iterator<Item = &'static str>, answers: usize) {
        for key in own {
            self.at(key, |check| check.wrong("the rule has `answers`, and this is one more: put it into the list"));
        }
        if answers > ANSWERS_MAX {
            self.at("answers", |check| check.wrong(format!("expected at most {ANSWERS_MAX} answers, found {answers}")));
        }
    }

    /// A rule answers in one way: by the keys of `usual`, or by one of `others`.
    fn one_answer(&mut self, usual: &[(&'static str, bool)], others: &[(&'static str, bool)], choices: &str) {
        let given = |keys: &[(&'static str, bool)]| keys.iter().find(|(_, given)| *given).map(|(key, _)| *key);
        match (given(usual), given(others)) {
            (None, None) => self.wrong(format!("the rule has no answer; write {choices}")),
            (Some(usual), Some(other)) => {
                self.at(other, |check| check.wrong(format!("the rule has `{usual}`, which is another answer already")));
            }
            _ if others.iter().all(|(_, given)| *given) => {
                let (first, second) = (others[0].0, others[1].0);
                self.at(second, |check| {
                    check.wrong(format!("the rule has `{first}`, which is another answer already"))
                });
            }
            _ => {}
        }
    }

    fn nodes(&mut self, nodes: &[NodeFile]) {
        let count: u64 = nodes.iter().map(|node| u64::from(node.count.unwrap_or(1))).sum();
        if count >= NODES_MAX as u64 {
            return self.at("node", |check| {
                check.wrong(format!("expected fewer than {NODES_MAX} machines, found {count}"));
            });
        }
        let mut names = BTreeSet::new();
        for (i, node) in nodes.iter().enumerate() {
            self.at2("node", i, |check| {
                check.at("name", |check| {
                    for name in node.names() {
                        match check_host_name(if node.count.is_some() { &name } else { &node.name }) {
                            Ok(()) if !names.insert(name.clone()) => {
                                let shown = if node.count.is_some() { &name } else { &node.name };
                                return check.wrong(format!("another machine has the name {} already", quoted(shown)));
                            }
                            Ok(()) => {}
                            found => return check.must(found),
                        }
                    }
                });
                check.at("component", |check| check.must(check_host_path(&node.component)));
                if node.ends == Some(NodeEnd::Never) && node.restart.is_some() {
                    check.at("restart", |check| {
                        check.wrong("a program that never ends (`ends = \"never\"`) does not start again".to_owned());
                    });
                }
                check.machine(&node.machine, Some(&node.name));
                let count: Vec<DocumentStep> =
                    check.path.iter().cloned().chain([DocumentStep::from("count")]).collect();
                let is_counted = node.count.is_some() || check.earlier.is_wrong(&count);
                check.placeholders(&node.machine, is_counted);
            });
        }
    }

    /// Looks for words in braces that nearly are placeholders of machines that are counted, and for placeholders of machines that are not.
    /// Others are text.
    fn placeholders(&mut self, machine: &MachineFile, is_counted: bool) {
        let see = |check: &mut Check<'_>, text: &str| {
            for word in node_text_parts(text).iter().filter_map(|part| part.word) {
                let as_text = format!("`{{{{{word}}}}}` is the text `{{{word}}}`");
                match nearest(word, NODE_PLACEHOLDERS) {
                    Some(known) if known == word && !is_counted => check.wrong(format!(
                        "`{{{word}}}` is filled in for machines with a `count`, and this one has none; {as_text}"
                    )),
                    Some(known) if known != word && is_counted => check
                        .wrong(format!("there is no placeholder `{{{word}}}`; did you mean `{{{known}}}`? {as_text}")),
                    _ => {}
                }
            }
        };
        let args = machine.args.iter().flatten().enumerate();
        args.for_each(|(i, text)| self.at2("args", i, |check| see(check, text)));
        machine.env.iter().for_each(|(name, text)| self.at("env", |check| check.at(name, |check| see(check, text))));
    }

    fn fault(&mut self, fault: &FaultFile, kinds: &[&FaultKind]) {
        let names = kinds.iter().map(|kind| kind.name);
        let Some(kind) = kinds.iter().find(|kind| kind.name == fault.kind) else {
            let message = format!("there is no fault of kind {}{}", quoted(&fault.kind), hint(&fault.kind, names));
            return self.at("kind", |check| check.wrong(message));
        };
        if let Some(target) = &fault.target {
            self.at("target", |check| check.must(check_target(kind, target)));
        }
        if let Some(strength) = fault.strength {
            self.at("strength", |check| check.must(strength.in_unit(kind.unit).map(drop)));
        }
        if fault.length.is_some_and(|length| length.0 == Duration(0)) {
            self.at("length", |check| check.wrong("a fault of no length never strikes; leave `length` out for no end"));
        }
    }
}

/// The keys of a response, and whether they are given.
fn of_response(rule: &HttpFile) -> [(&'static str, bool); 5] {
    [
        ("status", rule.status.is_some()),
        ("response-headers", !rule.response_headers.is_empty()),
        ("body", rule.body.is_some()),
        ("json", rule.json.is_some()),
        ("reset-after", rule.reset_after.is_some()),
    ]
}

fn other_http_answers(rule: &HttpFile) -> [(&'static str, bool); 2] {
    [("fail", rule.fail.is_some()), ("component", rule.component.is_some())]
}

/// The keys of the end of a process, and whether they are given.
fn of_end(rule: &ProcessFile) -> [(&'static str, bool); 4] {
    [
        ("exit", rule.exit.is_some()),
        ("signal", rule.signal.is_some()),
        ("stdout", rule.stdout.is_some()),
        ("stderr", rule.stderr.is_some()),
    ]
}

fn other_ends(rule: &ProcessFile) -> [(&'static str, bool); 2] {
    [("fail", rule.fail.is_some()), ("component", rule.component.is_some())]
}

/// Whether a target has the form that its kind wants.
pub(crate) fn check_target(kind: &FaultKind, target: &str) -> Result<(), String> {
    let of_kind = |what: &str| Err(format!("`{}` strikes {what}, found {}", kind.name, quoted(target)));
    if target == "*" {
        return Ok(());
    }
    let machine =
        |name: &str| !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-.*".contains(&b));
    match kind.target {
        FaultTarget::Path if !target.starts_with(['/', '*']) && machine_of(target).is_none() => {
            of_kind("paths: expected one such as `/data/*`, or `server:/data/*` on one machine")
        }
        FaultTarget::Url => check_url(target),
        FaultTarget::Link => match target.split_once("->") {
            Some((from, to)) if machine(from) && machine(to) => Ok(()),
            _ => of_kind("links: expected two machines such as `main->server` or `*->server`"),
        },
        FaultTarget::Node if kind.name == KILL.name && target.eq_ignore_ascii_case(MAIN) => Err(format!(
            "`{}` never strikes `{MAIN}`, with which the run ends: `restart` and `power-loss` do",
            kind.name
        )),
        FaultTarget::Node if !machine(target) => of_kind("machines: expected a name such as `main`"),
        FaultTarget::Path | FaultTarget::Command | FaultTarget::Node | FaultTarget::Point => {
            check_pattern(target, "a target")
        }
    }
}

/// A host name: RFC 1123, section 2.1, as a machine of the run may have it.
fn check_host_name(name: &str) -> Result<(), String> {
    if name.eq_ignore_ascii_case(MAIN) || name.eq_ignore_ascii_case("localhost") {
        return Err(format!(
            "expected another name, since {} is taken: it is the target's machine, or each itself",
            quoted(name)
        ));
    }
    let label = |label: &str| {
        let plain = label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        (1..=63).contains(&label.len()) && plain && !label.starts_with('-') && !label.ends_with('-')
    };
    let last_is_number = name.rsplit('.').next().is_some_and(|last| last.bytes().all(|byte| byte.is_ascii_digit()));
    match name.len() <= 253 && name.split('.').all(label) && !last_is_number {
        true => Ok(()),
        false => Err(format!(
            "expected a host name (letters, digits and `-` in labels of at most 63, RFC 1123), found {}",
            quoted(name)
        )),
    }
}

/// A token: RFC 9110, section 5.6.2.
fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

fn check_method(method: &str) -> Result<(), String> {
    let capitals = method.to_ascii_uppercase();
    match is_token(method) {
        true if capitals == method => Ok(()),
        true => Err(format!("expected a method in capitals: `{capitals}`")),
        false => Err(format!("expected a method such as `GET`, found {}; leave it out for any", quoted(method))),
    }
}

/// A pattern that a request can match: URLs, or paths. A star before them is allowed.
fn check_url(url: &str) -> Result<(), String> {
    let expected = "a URL such as `https://api.test/*`, or a path such as `/orders/*`";
    if url.bytes().any(|byte| byte <= b' ' || byte == 0x7f) {
        return Err(format!("expected {expected}, without spaces and control characters, found {}", quoted(url)));
    }
    let scheme = url.split_once("://").map(|(scheme, _)| scheme);
    match (url.starts_with(['/', '*']), scheme) {
        (true, _) => Ok(()),
        (false, Some(scheme)) if fozzy_world::glob::matches(scheme, "http") => Ok(()),
        (false, Some(scheme)) if fozzy_world::glob::matches(scheme, "https") => Ok(()),
        _ => Err(format!("expected {expected}, found {}", quoted(url))),
    }
}

fn check_header_name(name: &str) -> Result<(), String> {
    match is_token(name) {
        true => Ok(()),
        false => Err(format!("expected the name of a header (RFC 9110, section 5.1), found {}", quoted(name))),
    }
}

fn check_header(name: &str, value: &str) -> Result<(), String> {
    check_header_name(name)?;
    match value.bytes().any(|byte| (byte < b' ' && byte != b'\t') || byte == 0x7f) {
        true => Err(format!(
            "a value of a header has no control characters (RFC 9110, section 5.5), found {}",
            quoted(value)
        )),
        false => Ok(()),
    }
}

fn check_env_name(name: &str) -> Result<(), String> {
    match name.is_empty() || name.contains(['=', '\0']) {
        true => Err(format!("expected the name of a variable, without `=`, found {}", quoted(name))),
        false => Ok(()),
    }
}

/// Whether a text is a regular expression; if not, where it is none.
///
/// # Errors
/// What is wrong with it, and at which character.
pub fn check_regex(pattern: &str) -> Result<(), String> {
    if pattern.len() > PATTERN_BYTES_MAX {
        return Err(format!("expected {PATTERN_BYTES_MAX} bytes at the most, found {}", pattern.len()));
    }
    let Err(error) = regex_syntax::ast::parse::Parser::new().parse(pattern) else { return Ok(()) };
    let (span, why) = (error.span(), error.kind());
    let character = pattern.get(..span.start.offset).map_or(0, |before| before.chars().count()) + 1;
    Err(format!("expected a regular expression, found {}: {why} at character {character}", quoted(pattern)))
}

fn check_no_nul(text: &str) -> Result<(), String> {
    match text.contains('\0') {
        true => Err("a NUL character cannot be given to a program".to_owned()),
        false => Ok(()),
    }
}

fn check_pattern(text: &str, what: &str) -> Result<(), String> {
    match text.is_empty() {
        true => Err(format!("expected {what}, found nothing; `*` is any")),
        false => check_no_nul(text),
    }
}

fn check_host_path(path: &Path) -> Result<(), String> {
    match path.as_os_str().is_empty() {
        true => Err("expected a path, found nothing".to_owned()),
        false => Ok(()),
    }
}

/// Clients that a plan file names are a program: it cannot be a plan file that names others.
fn check_clients(path: &Path) -> Result<(), String> {
    check_host_path(path)?;
    match is_plan_name(path) {
        true => Err("expected the program of the clients, found a plan file".to_owned()),
        false => Ok(()),
    }
}

fn check_guest_path(path: &str) -> Result<String, String> {
    match path.starts_with('/') {
        true => normalise_guest_path(path).map_err(|error| error.to_string()),
        false => Err(format!("expected an absolute path of the guest, such as `/data`, found {}", quoted(path))),
    }
}
