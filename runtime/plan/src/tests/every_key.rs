//! A plan in which every key stands, and what becomes of it.

use super::parsed;
use crate::{PlanFile, schema};
use fozzy_trace::plan::{
    ArrivalTime, Backend, ExpectedOutput, HistoryCriterion, HostLimits, HttpFailure, HttpReply, Inputs, MountKind,
    ProcessExit, ProcessReply, REDACTED, StdinPipe,
};
use fozzy_trace::{Digest, Duration, Instant, NodeId};
use fozzy_world::fault::FAULTS;
use serde_json::Value;
use std::path::Path;

const EVERY_KEY: &str = r##"
args = ["--verbose"]
env = { RUST_LOG = "info", A = "1" }
stdin = { text = "input" }
stdin-stays-open = true
stdin-terminal = true
stdin-nonblocking = true
wall-start = 2025-06-01T12:00:00Z
canonical-nans = false
memcheck = true
allocators = ["malloc=pool_get", "free=func[13]"]
allow-error-exit = true
target-instances = 2
read-only = ["/data"]
preopens = ["/data::work::ro", "/"]
cwd = "/data"

[limits]
fuel = 1_000_000
timeout = "5s"
memory = "64MiB"
disk = 1000000
disk-nodes = 500
total = "80MiB"
output = "2MiB"

[disk]
names = "posix"

[memory]
leak-budget = "1KiB"
heap-alloc-budget = "2KiB"
heap-in-use-budget = 1024
fail-after = 9
fragmentation-seed = 7
pressure-wave = [1, 2]

[dirs]
"/data" = "testdata"

[files]
"/data/config" = "changed"
"/etc/app.toml" = { base64 = "Zm9v" }
"/etc/list" = { file = "testdata/a/x" }

[backends]
files = "host"
http = "host"
processes = "scripted"
allow-hosts = ["api.test", "*.local:8080"]
allow-commands = ["git"]
durations = "drawn"

[[http]]
method = "POST"
url = "https://api.test/*"
headers = { Accept = "*json*" }
times = 2
delay = "20ms"
status = 201
response-headers = { Set-Cookie = ["a=1", "b=2"] }
json = { id = 7, list = [1.5, true] }
reset-after = "1kB"
[[http]]
url = "/b"
body = { json = "text" }
[[http]]
url = "*"
fail = "timeout"
[[http]]
url = "/c"
component = { path = "handler.wasm", env = { B = "2" } }
[[http]]
url = "/several"
delay = "3s"
answers = [
    { json = 1 },
    { weight = 2, status = 503, delay = "1s" },
    { fail = "reset" },
    { component = "handler.wasm" },
]

[[process]]
command = "git"
args = ["rev-parse", "*"]
times = 1
delay = "2s"
exit = 3
stdout = "9c41\n"
stderr = "warning\n"
[[process]]
command = "kill"
signal = 9
[[process]]
command = "no"
fail = "not-permitted"
[[process]]
command = "child"
component = "child.wasm"
[[process]]
command = "several"
answers = [{ weight = 3, exit = 1 }, { stdout = "out", delay = "1s" }]

[[nemesis]]
kind = "partition"
target = "*"
hits = ["one", "halves"]
interval = "5s"
lasts = ["1s", "10s"]
rate = "25%"
start = "2s"
length = "60s"
times = 4
[[nemesis]]
kind = "file-flip"
path = "/data/*"
[[nemesis]]
kind = "slow"
strength = "50ms"

[cluster]
clients = "clients.wasm"
hit-at-most = 1
faults-until = "2s"
heal = "majority"
progress-within = "1s"

[network]
latency = "1ms"
jitter = "200us"
bandwidth = "10MB/s"

[[node]]
name = "Server"
component = "child.wasm"
ends = "any"
restart = "2s"
args = ["--port", "80"]
stdin = { from = "main", latency = "1ms", jitter = "2ms" }
[[node]]
name = "Client"
component = "child.wasm"
args = ["{{name}}", "{role}"]
[[node.stdin]]
text = "a"
at = "1s"
jitter = "50ms"
vary = "3s"
[[node.stdin]]
after = "> "
line = "b"
delay = "10ms"
[[node.stdin]]
after-regex = "id=[0-9]+"
json = { id = 1 }
[[node.stdin]]
file = "testdata/a/x"
[[node.stdin]]
base64 = "Zm9v"
end = true

[[node]]
name = "worker"
component = "child.wasm"
count = 2
args = ["{name} of {nodes}, {number}, beside {others}", '{"{{name}}":{number}}', "{role} {{{name}}} {{a,{name}}"]

[target]
path = "child.wasm"
args = ["--fast"]

[expect]
exit = [0, 3]
output = "done"
fail-on = ["balance: -"]
check = "judge.wasm"
history = [{ checker = "linearizable", model = "kv" }, { checker = "bank", accounts = [0, "b"], total = 100 }, { checker = "linearizable", model = "./models/counter.wasm" }]

[redact]
headers = ["X-Key"]
env = ["API_TOKEN"]
defaults = true
"##;

const FAULT: &str = "
[[fault]]
kind = \"KIND\"
target = \"*\"
rate = \"2%\"
start = \"2s\"
length = \"500ms\"
strength = 4
times = 1
";

/// The plan, with a fault of a kind that there is.
fn every_key() -> String {
    let fault = FAULTS.first().map(|kind| FAULT.replace("KIND", kind.name));
    format!("{EVERY_KEY}{}", fault.unwrap_or_default())
}

#[test]
fn every_key_of_the_schema_stands_in_it_and_has_a_description() {
    let (schema, text) = (schema(), format!("{EVERY_KEY}{FAULT}"));
    let tables = schema["$defs"].as_object().expect("definitions").values().chain([&schema]);
    for (key, value) in tables.filter_map(|table| table["properties"].as_object()).flatten() {
        let stands = [format!("{key} ="), format!("[{key}]")].iter().any(|form| text.contains(form));
        assert!(stands, "{key} does not stand in the plan");
        let described = value["description"].as_str().is_some_and(|sentence| sentence.ends_with(['.', '"']));
        assert!(described, "{key} has no description: {value}");
    }
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    let text = schema.to_string();
    assert!(!text.contains("null") && !text.contains("\"default\""), "{text}");
}

#[test]
fn a_plan_is_made_of_it() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir_all(folder.path().join("testdata/a")).expect("folders");
    std::fs::write(folder.path().join("testdata/a/x"), "list").expect("a file");
    std::fs::write(folder.path().join("testdata/config"), "original").expect("a file");
    let file = PlanFile::parse(&every_key(), &folder.path().join("plan.toml")).expect("a sound plan");
    let mut inputs = Inputs::default();
    let mut asked = Vec::new();
    let mut loader = |path: &Path| {
        asked.push(path.file_name().expect("a name").to_string_lossy().into_owned());
        Ok(b"component".to_vec())
    };
    let resolved = file.resolve("app.wasm", &mut loader, &mut inputs).expect("everything is there");
    assert_eq!(asked, ["child.wasm", "handler.wasm", "judge.wasm", "counter.wasm"], "each once");
    let plan = resolved.plan;
    assert!(
        resolved.stdin_given
            && plan.main.stdin.stays_open
            && !plan.canonical_nans
            && plan.memcheck
            && plan.allow_error_exit
    );
    let allocators: Vec<String> = plan.allocators.iter().map(ToString::to_string).collect();
    assert_eq!(allocators, ["malloc=pool_get", "free=func[13]"]);
    assert_eq!(plan.main.args, ["app.wasm", "--verbose"]);
    let env: Vec<String> = plan.main.env.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let names = "FOZZY_NODES=server,client,worker1,worker2";
    assert_eq!(env, ["RUST_LOG=info", "A=1", names, "FOZZY_FAULTS_UNTIL_NS=2000000000"]);
    assert_eq!(
        plan.nodes[3].program.machine.args[1..],
        ["worker2 of worker1,worker2, 2, beside worker1", r#"{"{name}":2}"#, "{role} {{name}} {{a,worker2}"]
    );
    assert_eq!(plan.nodes[1].program.machine.args[1..], ["{name}", "{role}"]);
    assert_eq!(plan.main.stdin.bytes, Digest::of(b"input"));
    assert_eq!(plan.wall_start_s, 1_748_779_200);
    assert_eq!((plan.limits.fuel, plan.limits.memory_bytes), (1_000_000, 64 << 20));
    let memory = plan.memory.as_ref().expect("it is given");
    assert_eq!((memory.leak_budget_bytes, memory.fail_after), (Some(1024), Some(9)));
    assert_eq!((memory.fragmentation_seed, &memory.pressure_wave[..]), (Some(7), &[1, 2][..]));
    assert_eq!((plan.limits.disk_bytes, plan.limits.disk_nodes), (1_000_000, 500));
    assert_eq!(plan.limits.host, Some(HostLimits { total_bytes: 80 << 20, output_bytes: 2 << 20 }));
    assert_eq!(plan.limits.time, Some(Duration::from_millis(5000)));
    assert_eq!((plan.backends.files, plan.backends.http), (Backend::Host, Backend::Host));
    assert_eq!(plan.backends.processes, Backend::Virtual);
    assert_eq!(plan.live.hosts, Some(["api.test", "*.local:8080"].map(str::to_owned).to_vec()));
    assert_eq!((&plan.live.commands, plan.live.measured), (&Some(vec!["git".to_owned()]), false));
    assert_eq!((plan.network.latency, plan.network.jitter), (Duration(1_000_000), Duration(200_000)));
    assert_eq!(plan.network.bandwidth_bytes_per_s, Some(10_000_000));
    assert_eq!(
        (plan.nodes[0].name.as_str(), &plan.nodes[0].program.machine.args[..]),
        ("server", &["child.wasm", "--port", "80"].map(str::to_owned)[..])
    );
    let channel = |node: usize| plan.nodes[node].program.machine.stdin.channel.as_deref().expect("a channel");
    let pipe = StdinPipe { node: NodeId(0), latency: Duration(1_000_000), jitter: Duration(2_000_000) };
    assert_eq!(channel(0).from, Some(pipe));
    let script = &plan.nodes[1].program.machine.stdin;
    assert_eq!(&inputs.get(&script.bytes).expect("its bytes")[..], b"ab\n{\"id\":1}\nlistfoo");
    let arrivals = channel(1).arrivals.iter().map(|arrival| (arrival.bytes, arrival.when.clone(), arrival.end));
    let after = |output, delay| ArrivalTime::After { output, delay: Duration(delay) };
    assert_eq!(
        arrivals.collect::<Vec<_>>(),
        [
            (1, ArrivalTime::At(Instant(1_000_000_000)), false),
            (2, after(ExpectedOutput::Text("> ".to_owned()), 10_000_000), false),
            (9, after(ExpectedOutput::Regex("id=[0-9]+".to_owned()), 0), false),
            (4, ArrivalTime::Delay(Duration(0)), false),
            (3, ArrivalTime::Delay(Duration(0)), true),
        ]
    );
    let channel = plan.main.stdin.channel.as_deref().expect("a channel");
    assert!(channel.terminal && channel.nonblocking && channel.arrivals.is_empty());
    let targets: Vec<(&str, &str)> =
        plan.called().map(|(_, node)| (node.name.as_str(), node.program.machine.args[1].as_str())).collect();
    assert_eq!(targets, [("n0", "--fast"), ("n1", "--fast")]);
    assert!(plan.redact.headers.contains(&"x-key".to_owned()) && plan.redact.headers.contains(&"cookie".to_owned()));
    assert!(plan.redact.env == ["API_TOKEN"] && REDACTED.starts_with('<'));
    let (faults, nemeses) = plan.faults.split_at(FAULTS.len().min(1));
    assert!(faults.iter().all(|fault| fault.nemesis.is_none()));
    let nemesis = |fault: &fozzy_trace::plan::FaultPlan| fault.nemesis.as_deref().cloned().expect("they are nemeses");
    let partition = nemesis(&nemeses[0]);
    assert_eq!(
        (nemeses[0].kind.as_str(), nemeses[0].rate_ppm, nemeses[0].times),
        ("nemesis-partition", 250_000, Some(4))
    );
    assert_eq!(
        (&partition.hits[..], partition.interval),
        (&["one", "halves"].map(str::to_owned)[..], Duration::from_millis(5_000))
    );
    assert_eq!(partition.lasts, Some((Duration::from_millis(1_000), Duration::from_millis(10_000))));
    assert_eq!((nemesis(&nemeses[1]).path.as_deref(), nemeses[2].strength), (Some("/data/*"), Some(50_000_000)));
    let cluster = plan.cluster.clone().expect("it is given");
    assert_eq!((cluster.hit_max, cluster.heals), (Some(1), fozzy_trace::plan::HealScope::Majority));
    assert_eq!(
        (cluster.faults_until, cluster.progress_within),
        (Some(Duration::from_millis(2_000)), Some(Duration::from_millis(1_000)))
    );
    assert_eq!((&plan.criteria.exit_codes[..], plan.criteria.output), (&[0, 3][..], Some(Digest::of(b"done"))));
    let accounts = vec!["0".to_owned(), "\"b\"".to_owned()];
    let bank = HistoryCriterion { accounts, total: Some(100), ..HistoryCriterion::named("bank", "") };
    let component = Some(Digest::of(b"component"));
    let counter = HistoryCriterion { component, ..HistoryCriterion::named("linearizable", "counter.wasm") };
    assert_eq!(plan.history, [HistoryCriterion::named("linearizable", "kv"), bank, counter]);
    let checker = plan.criteria.checker.as_ref().map(|checker| checker.component);
    assert_eq!((&plan.criteria.fail_on[..], checker), (&["balance: -".to_owned()][..], Some(Digest::of(b"component"))));

    let mounts: Vec<(&str, Vec<&str>)> = plan
        .main
        .dirs
        .iter()
        .map(|mount| (mount.guest.as_str(), mount.entries.iter().map(|e| e.path.as_str()).collect()))
        .collect();
    assert_eq!(
        mounts,
        [("/data", vec!["a", "a/x"]), ("/", vec!["data", "data/config", "etc", "etc/app.toml", "etc/list"])]
    );
    assert_eq!(plan.main.dirs[1].entries[1].kind, MountKind::File(Digest::of(b"changed")));
    assert_eq!(plan.main.dirs[1].entries[3].kind, MountKind::File(Digest::of(b"foo")));
    assert_eq!(plan.main.dirs[1].entries[4].kind, MountKind::File(Digest::of(b"list")));

    assert!(!plan.main.bare && plan.main.read_only == ["/data"] && plan.main.cwd.as_deref() == Some("/data"));
    let preopens: Vec<(&str, bool)> =
        plan.main.preopens.iter().flatten().map(|preopen| (preopen.name.as_str(), preopen.read_only)).collect();
    assert_eq!(preopens, [("work", true), ("/", false)]);

    let HttpReply::Response { status, headers, body, reset_after } = &plan.http[0].answer else { panic!("a response") };
    assert_eq!((*status, *reset_after), (201, Some(1000)));
    let names: Vec<&str> = headers.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["set-cookie", "set-cookie", "content-type"]);
    assert_eq!(&inputs.get(body).expect("the body")[..], br#"{"id":7,"list":[1.5,true]}"#);
    assert_eq!(plan.http[0].headers, [("accept".to_owned(), "*json*".to_owned())]);
    assert!(
        matches!(&plan.http[1].answer, HttpReply::Response { status: 200, body, .. } if *body == Digest::of(b"\"text\""))
    );
    assert_eq!(plan.http[2].answer, HttpReply::Failure(HttpFailure::Timeout));
    assert!(matches!(&plan.http[3].answer, HttpReply::Component(program) if program.machine.env.len() == 1));
    let others = plan.http[4].others.as_ref().expect("more than one answer");
    let replies: Vec<(u32, u64)> = others.replies.iter().map(|reply| (reply.weight, reply.delay.0)).collect();
    assert_eq!(
        (others.weight, plan.http[4].delay.0, &replies[..]),
        (1, 3_000_000_000, &[(2, 1_000_000_000), (1, 3_000_000_000), (1, 3_000_000_000)][..])
    );
    assert!(matches!(&plan.http[4].answer, HttpReply::Response { body, .. } if *body == Digest::of(b"1")));
    assert!(matches!(&others.replies[1].answer, HttpReply::Failure(HttpFailure::Reset)));
    assert!(matches!(&others.replies[2].answer, HttpReply::Component(_)));
    let several = &plan.processes[4];
    assert!(matches!(&several.answer, ProcessReply::Output { exit: ProcessExit::Code(1), .. }));
    let others = several.others.as_ref().expect("more than one end");
    assert_eq!((others.weights(), others.replies[0].delay), (vec![3, 1], Duration(1_000_000_000)));
    let ends: Vec<&ProcessReply> = plan.processes.iter().map(|rule| &rule.answer).collect();
    assert!(matches!(ends[0], ProcessReply::Output { exit: ProcessExit::Code(3), .. }));
    assert!(matches!(ends[1], ProcessReply::Output { exit: ProcessExit::Signal(9), .. }));
    assert!(matches!(ends[2], ProcessReply::NotPermitted));
    assert!(matches!(ends[3], ProcessReply::Component(program) if program.component == Digest::of(b"component")));
    for digest in plan.digests() {
        assert!(inputs.get(&digest).is_some(), "{digest} is missing");
    }
    fozzy_world::fault::Faults::new(&plan.faults).expect("kinds that there are");
}

#[test]
fn nothing_is_the_default_plan() {
    let mut inputs = Inputs::default();
    let resolved =
        parsed("").resolve("program", &mut |_| Err("nothing to load".to_owned()), &mut inputs).expect("sound");
    // Old traces say nothing of names, and mean the other choice.
    let names = fozzy_trace::plan::NameDurability::Ext4;
    assert_eq!(resolved.plan, fozzy_trace::Plan { names, ..fozzy_trace::Plan::default() });
    assert!(!resolved.stdin_given && inputs.iter().next().is_none());
    assert_eq!(parsed(""), PlanFile::default());
}

#[test]
fn a_plan_over_nothing_and_nothing_over_a_plan_is_the_plan() {
    let plan = parsed(&every_key());
    assert_eq!(plan.clone().over(PlanFile::default()), plan);
    assert_eq!(PlanFile::default().over(plan.clone()), plan);
}

#[test]
fn the_upper_plan_decides_and_keeps_what_it_leaves_open() {
    let rule = |url: &str| format!("[[http]]\nurl = '{url}'\nstatus = 200\n");
    let node = |name: &str, path: &str| format!("[[node]]\nname = '{name}'\ncomponent = '{path}'\n");
    let one = format!("args = ['1']\nenv = {{ A = '1', B = '1' }}\n{}{}", rule("/1"), node("x", "1"));
    let two = format!(
        "args = ['2']\nenv = {{ C = '2', A = '2' }}\nlimits.fuel = 2\n{}{}{}",
        rule("/2"),
        node("X", "2"),
        node("y", "2")
    );
    let three = "canonical-nans = false\nlimits = { fuel = 3, timeout = '3s' }\nredact.headers = ['three']\n";
    let (one, two, three) = (parsed(&one), parsed(&two), parsed(three));
    let merged = one.clone().over(two.clone().over(three.clone()));
    assert_eq!(merged, one.over(two).over(three), "merging is associative");
    assert_eq!(merged.machine.args.as_deref(), Some(&["1".to_owned()][..]));
    let env: Vec<(&str, &str)> = merged.machine.env.iter().map(|(name, value)| (name, value.as_str())).collect();
    assert_eq!(env, [("C", "2"), ("A", "1"), ("B", "1")]);
    assert_eq!((merged.limits.fuel, merged.canonical_nans), (Some(2), Some(false)));
    assert_eq!(merged.http.iter().map(|rule| rule.url.as_str()).collect::<Vec<_>>(), ["/1", "/2"]);
    let nodes: Vec<(&str, &Path)> = merged.node.iter().map(|node| (node.name.as_str(), &*node.component)).collect();
    assert_eq!(nodes, [("x", Path::new("1")), ("y", Path::new("2"))]);
}

#[test]
fn targets_of_a_configuration_are_plans() {
    let text =
        "base_dir = 'x'\n[target.'app.wasm']\nargs = ['a']\ndirs = { '/d' = 'd' }\n[target.b.limits]\nfuel = 7\n";
    let targets = PlanFile::parse_targets(text, Path::new("/project/fozzy.toml")).expect("sound");
    assert_eq!(targets["app.wasm"].machine.dirs.get("/d").map(|path| path.as_path()), Some(Path::new("/project/d")));
    assert_eq!(targets["b"].limits.fuel, Some(7));
    let named = PlanFile::parse_targets("[target.a.cluster]\nclients = 'c'", Path::new("fozzy.toml"));
    let message = "`target.a.cluster.clients`: only a plan file names its clients, and this table is of one target";
    assert_eq!(named.expect_err("of a plan file").to_string(), format!("fozzy.toml:2:1: {message}"));
    let wrong = "[target.'app.wasm']\nargz = 1\n[[target.'b'.http]]\nurl = '/'\n";
    let message = PlanFile::parse_targets(wrong, Path::new("fozzy.toml")).expect_err("two problems").to_string();
    assert_eq!(
        message,
        "fozzy.toml:2:1: `target.\"app.wasm\".argz`: unknown key; did you mean `args`?\n\
         fozzy.toml:3:1: `target.b.http[0]`: the rule has no answer; write `status = 200` for a response, `fail` or `component`"
    );
    assert!(PlanFile::parse_targets("base_dir = 'x'", Path::new("fozzy.toml")).expect("sound").is_empty());
}

#[test]
fn clients_are_no_part_of_a_plan_that_is_made() {
    let phases = "[[node]]\nname = 'a'\ncomponent = 'a.wasm'\n[cluster]\nfaults-until = '1s'\n";
    let [with, without] = ["clients = '../c'\n", ""].map(|clients| parsed(&format!("{phases}{clients}")));
    assert_eq!(with.cluster.clients.as_deref(), Some(Path::new("../c")));
    assert!(with.host_paths().contains(&"../c".into()) && with != without);
    let plan =
        |file: &PlanFile| file.resolve("app", &mut |_| Ok(Vec::new()), &mut Inputs::default()).expect("sound").plan;
    assert_eq!(plan(&with), plan(&without));
    // Alone they need no machines, and are no phases.
    let alone = parsed("cluster.clients = 'c'");
    assert_eq!(plan(&alone), plan(&PlanFile::default()));
    let path = |file: PlanFile| file.cluster.clients.expect("it is named");
    assert_eq!(path(alone.clone().over(with)), Path::new("c"));
    assert_eq!(path(without.over(alone)), Path::new("c"));
}

/// An own, smaller reading of the schema: every key that TOML has is known to it, at every level.
#[test]
fn the_plan_is_valid_by_its_schema() {
    fn valid(root: &Value, schema: &Value, value: &Value) -> bool {
        let schema = match schema["$ref"].as_str() {
            Some(pointer) => root.pointer(&pointer[1..]).expect("a definition"),
            None => schema,
        };
        let name = match value {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(number) if number.is_f64() => "number",
            Value::Number(_) => "integer",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        };
        let types = &schema["type"];
        let typed =
            types.is_null() || *types == name || types.as_array().is_some_and(|all| all.iter().any(|one| one == name));
        let chosen =
            schema["oneOf"].as_array().is_none_or(|all| all.iter().filter(|one| one["const"] == *value).count() == 1);
        let inner = match value {
            Value::Object(table) => table.iter().all(|(key, value)| {
                let others = schema.get("additionalProperties").unwrap_or(&Value::Bool(true));
                let of_key = schema["properties"].get(key).unwrap_or(others);
                *of_key != Value::Bool(false) && valid(root, of_key, value)
            }),
            Value::Array(items) => {
                items.iter().all(|item| valid(root, schema.get("items").unwrap_or(&Value::Null), item))
            }
            _ => true,
        };
        typed && chosen && inner
    }
    let text = every_key();
    let value = crate::document::Document::parse(&text)
        .map_err(drop)
        .expect("TOML")
        .value(&mut crate::problem::Problems::default());
    let schema = schema();
    assert!(valid(&schema, &schema, &value));
    for (from, to) in [("latency", "latensy"), ("\"host\"", "\"hots\""), ("times = 2", "times = \"two\"")] {
        let text = text.replacen(from, to, 1);
        let value = crate::document::Document::parse(&text)
            .map_err(drop)
            .expect("TOML")
            .value(&mut crate::problem::Problems::default());
        assert!(!valid(&schema, &schema, &value), "{to}");
    }
}

#[test]
fn a_variable_that_a_plan_gives_goes_before_what_is_told_of_its_machines() {
    let machine = |name: &str| format!("[[node]]\nname = '{name}'\ncomponent = 'a.wasm'\n");
    let own = "env = { FOZZY_NODES = 'a' }\n";
    let text = format!("{own}{}{}[cluster]\nfaults-until = '1s'\n", machine("a"), machine("b"));
    let resolve = |text: &str| {
        let resolved = parsed(text).resolve("app", &mut |_| Ok(Vec::new()), &mut Inputs::default());
        let env = resolved.expect("a sound plan").plan.main.env;
        env.into_iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(resolve(&text), "FOZZY_NODES=a FOZZY_FAULTS_UNTIL_NS=1000000000");
    assert_eq!(resolve(&text.replace(own, "")), "FOZZY_NODES=a,b FOZZY_FAULTS_UNTIL_NS=1000000000");
}
