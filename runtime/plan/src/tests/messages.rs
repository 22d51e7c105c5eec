//! The sentences that users read, each with its place.

use super::problems;

/// The golden of one message: text, and the problems that it has.
#[track_caller]
fn check(text: &str, expected: &[&str]) {
    assert_eq!(problems(text), expected.join("\n"), "{text}");
}

#[test]
fn unknown_keys_come_with_the_nearest_known_one() {
    check("[network]\nlatensy = '1ms'", &["2:1: `network.latensy`: unknown key; did you mean `latency`?"]);
    check("stdin_stays_open = true", &["1:1: `stdin_stays_open`: unknown key; did you mean `stdin-stays-open`?"]);
    check(
        "[backends]\nsockets = 'host'",
        &[
            "2:1: `backends.sockets`: unknown key; known are `files`, `http`, `processes`, `allow-hosts`, `allow-commands`, `durations`",
        ],
    );
    check(
        "[[http]]\nurl = '/a'\nstatus = 200\n[[http]]\nurl = '/b'\nstauts = 200",
        &["6:1: `http[1].stauts`: unknown key; did you mean `status`?"],
    );
    check("[limits]\nmemory-mb = 64", &["2:1: `limits.memory-mb`: unknown key; did you mean `memory`?"]);
    check("[[nodes]]\nname = 'a'", &["1:3: `nodes`: unknown key; did you mean `node`?"]);
    let bounds = "expected bounds of the stable latencies median, p95, p99, max, such as max<600ms, found `max<600`";
    check(
        "[expect]\nhistory = [{ checker = 'set-full', model = 'max<600' }]",
        &[&format!("2:12: `expect.history[0]`: {bounds}")],
    );
    assert!(
        problems("[expect]\nhistory = [{ checker = 'set-fool' }]")
            .contains("there is no checker `set-fool`; there are ")
    );
    let counted =
        "[[node]]\nname = 'a'\ncount = 2\ncomponent = 'a.wasm'\nargs = ['{name}', '{\"id\": 1}', '{nodez}', '{role}']";
    check(
        counted,
        &[
            "5:32: `node[0].args[2]`: there is no placeholder `{nodez}`; did you mean `{nodes}`? `{{nodez}}` is the text `{nodez}`",
        ],
    );
    check(&counted.replace("{nodez}", "{{nodez}}"), &[]);
    let alone = counted.replace("count = 2\n", "");
    check(
        &alone,
        &[
            "4:9: `node[0].args[0]`: `{name}` is filled in for machines with a `count`, and this one has none; `{{name}}` is the text `{name}`",
        ],
    );
    check(&alone.replace("{name}", "{{name}}"), &[]);
    // That the number is wrong is the only problem: the placeholders have theirs.
    for count in ["0", "-1", "5000"] {
        let wrong = counted.replace("count = 2", &format!("count = {count}")).replace("'{nodez}'", "'{nodes}'");
        check(&wrong, &[&format!("3:1: `node[0].count`: expected a number from 1 to 999, found {count}")]);
    }
}

#[test]
fn wrong_types_and_words() {
    check("args = '--verbose'", &["1:1: `args`: expected an array, found the string `--verbose`"]);
    check("args = ['a', 1]", &["1:14: `args[1]`: expected a string, found `1`"]);
    check("canonical-nans = 'yes'", &["1:1: `canonical-nans`: expected `true` or `false`, found the string `yes`"]);
    check("limits = 5", &["1:1: `limits`: expected a table, found `5`"]);
    check("stdin = 7", &["1:1: `stdin`: expected a string or a table or an array, found `7`"]);
    check("limits.fuel = 0", &["1:8: `limits.fuel`: expected a number of at least 1, found 0"]);
    check("limits.fuel = 1.5", &["1:8: `limits.fuel`: expected an integer, found `1.5`"]);
    check("[[http]]\nurl = '/'\nstatus = 99", &["3:1: `http[0].status`: expected a number from 100 to 999, found 99"]);
    check(
        "[backends]\nfiles = 'hots'",
        &["2:1: `backends.files`: expected one of `virtual`, `host`, found `hots`; did you mean `host`?"],
    );
    check(
        "[[http]]\nurl = '/'\nfail = 'refuse'",
        &[
            "3:1: `http[0].fail`: expected one of `dns`, `refused`, `reset`, `timeout`, found `refuse`; did you mean `refused`?",
        ],
    );
}

#[test]
fn quantities() {
    check("limits.timeout = 5", &["1:8: `limits.timeout`: expected a string, found `5`"]);
    check(
        "limits.timeout = '5 sec'",
        &[
            "1:8: `limits.timeout`: expected a duration such as \"250ms\", \"10s\", \"5m\" or \"2h\" (units ns, us, ms, s, m, h), found `5 sec`",
        ],
    );
    check(
        "limits.memory = '64M'",
        &["1:8: `limits.memory`: expected a size such as 4096, \"64MiB\" or \"1GB\", found `64M`"],
    );
    check("limits.disk = -1", &["1:8: `limits.disk`: expected a whole number, not negative, found -1"]);
    check("limits.disk = 0", &["1:8: `limits.disk`: expected more than 0 bytes"]);
    check(
        "network.bandwidth = '10mbit'",
        &["1:9: `network.bandwidth`: expected bytes in a second, such as 1000000 or \"10MB/s\", found `10mbit`"],
    );
    check(
        "wall-start = 'today'",
        &["1:1: `wall-start`: expected a moment such as 2025-01-01T00:00:00Z or the seconds since 1970, found `today`"],
    );
    check(
        "wall-start = 1960-01-01T00:00:00Z",
        &["1:1: `wall-start`: expected a moment not before 1970, found `1960-01-01T00:00:00Z`"],
    );
    check(
        "stdin = { base64 = 'a' }",
        &["1:11: `stdin.base64`: expected base64 in groups of four characters, found 1 characters"],
    );
}

#[test]
fn content_and_answers_are_said_once() {
    check(
        "stdin = { file = 'a', text = 'b' }",
        &["1:1: `stdin`: expected exactly one key of `base64`, `file`, `from`, `json`, `text`"],
    );
    check("stdin = { flie = 'a' }", &["1:11: `stdin.flie`: unknown key; did you mean `file`?"]);
    check(
        "[[http]]\nurl = '/'",
        &["1:1: `http[0]`: the rule has no answer; write `status = 200` for a response, `fail` or `component`"],
    );
    check(
        "[[http]]\nurl = '/'\nstatus = 200\nfail = 'dns'",
        &["4:1: `http[0].fail`: the rule has `status`, which is another answer already"],
    );
    check(
        "[[http]]\nurl = '/'\nfail = 'dns'\ncomponent = 'a.wasm'",
        &["4:1: `http[0].component`: the rule has `fail`, which is another answer already"],
    );
    check("[[http]]\nurl = '/'\nbody = ''\njson = 1", &["4:1: `http[0].json`: the rule has a `body` already"]);
    check(
        "[[process]]\ncommand = 'a'\nexit = 1\nsignal = 9",
        &["4:1: `process[0].signal`: the rule has an `exit` already; a process ends once"],
    );
    check(
        "[[process]]\ncommand = 'git'\nargs = ['*']",
        &["1:1: `process[0]`: the rule has no answer; write `exit = 0` for an end, `fail` or `component`"],
    );
    check(
        "[[process]]\ncommand = 'a'\ncomponent = { path = 'a.wasm', args = ['b'] }",
        &[
            "3:32: `process[0].component.args`: a process gets its arguments and its input from the program that starts it",
        ],
    );
    check("[[http]]\nstatus = 200", &["1:1: `http[0].url`: this key is missing"]);
    check("[[process]]\nexit = 0", &["1:1: `process[0].command`: this key is missing"]);
    check("[[fault]]\nrate = 1", &["1:1: `fault[0].kind`: this key is missing"]);
    check("[[http]]\nurl = '/'\ncomponent = { env = {} }", &["3:1: `http[0].component.path`: this key is missing"]);
    check("[[node]]\nname = 'server'", &["1:1: `node[0].component`: this key is missing"]);
}

#[test]
fn names_paths_and_patterns() {
    let node = |name: &str| format!("[[node]]\ncomponent = 'a.wasm'\nname = '{name}'");
    for name in ["main", "LOCALHOST"] {
        let message = format!(
            "3:1: `node[0].name`: expected another name, since `{name}` is taken: it is the target's machine, or each itself"
        );
        check(&node(name), &[&message]);
    }
    for name in ["", "a_b", "-a", "a-", "a..b", "127.0.0.1", "a b", &"a".repeat(64)] {
        assert!(problems(&node(name)).contains("expected a host name"), "{name}");
    }
    for name in ["a", "db-1", "api.test", "3com.example", &"a".repeat(63)] {
        assert_eq!(problems(&node(name)), "", "{name}");
    }
    check(
        &format!("{}\n{}", node("db"), node("DB")),
        &["6:1: `node[1].name`: another machine has the name `DB` already"],
    );
    let http = |line: &str| format!("[[http]]\nstatus = 200\n{line}");
    check(
        &http("url = 'api.test/a'"),
        &[
            "3:1: `http[0].url`: expected a URL such as `https://api.test/*`, or a path such as `/orders/*`, found `api.test/a`",
        ],
    );
    for url in ["ftp://a/", "", "https://a/ b"] {
        assert!(problems(&http(&format!("url = '{url}'"))).contains("expected a URL"), "{url}");
    }
    for url in ["/", "*", "*/orders", "http*://a/", "https://a/?q=*"] {
        assert_eq!(problems(&http(&format!("url = '{url}'"))), "", "{url}");
    }
    check(&http("url = '/'\nmethod = 'post'"), &["4:1: `http[0].method`: expected a method in capitals: `POST`"]);
    check(
        &http("url = '/'\nheaders = { 'a b' = '*' }"),
        &["4:13: `http[0].headers.\"a b\"`: expected the name of a header (RFC 9110, section 5.1), found `a b`"],
    );
    check(
        &http("url = '/'\nresponse-headers = { a = [\"1\", \"x\\n\"] }"),
        &[
            "4:22: `http[0].response-headers.a`: a value of a header has no control characters (RFC 9110, section 5.5), found `x\\n`",
        ],
    );
    check("env = { 'A=B' = '1' }", &["1:9: `env.\"A=B\"`: expected the name of a variable, without `=`, found `A=B`"]);
    check(
        "dirs = { data = 'd' }",
        &["1:10: `dirs.data`: expected an absolute path of the guest, such as `/data`, found `data`"],
    );
    check("dirs = { '/a' = 'd', '/a/' = 'e' }", &["1:22: `dirs.\"/a/\"`: `/a` stands here twice"]);
    check("dirs = { '/a' = '' }", &["1:10: `dirs.\"/a\"`: expected a path, found nothing"]);
    check(
        "files = { '/a/b' = '', '/a' = '' }",
        &["1:24: `files.\"/a\"`: a file cannot be a directory too, as it is for `/a/b`"],
    );
    check(
        "files = { '/a' = '', '/a.b' = '', '/a/b/c' = '' }",
        &["1:35: `files.\"/a/b/c\"`: a file cannot be a directory too, as it is for `/a`"],
    );
    check("files = { '/' = '' }", &["1:11: `files.\"/\"`: expected the path of a file, found that of a directory"]);
}

#[test]
fn all_problems_are_found_in_the_order_of_the_text_and_none_is_a_consequence() {
    let text = "
wall-start = 'x'
colour = 'red'
[[http]]
url = 'nowhere'
fial = 'dns'
[[node]]
name = 'main'
component = ''
";
    let found = problems(text);
    let starts = [
        "2:1: `wall-start`",
        "3:1: `colour`",
        "5:1: `http[0].url`",
        "6:1: `http[0].fial`",
        "8:1: `node[0].name`",
        "9:1: `node[0].component`",
    ];
    assert_eq!(found.lines().count(), starts.len(), "{found}");
    for (line, start) in found.lines().zip(starts) {
        assert!(line.starts_with(start), "{line} {start}");
    }
}

#[test]
fn what_is_no_toml_is_said_with_its_place() {
    let found = problems("args = [\nenv = 1");
    assert!(found.starts_with("1:") || found.starts_with("2:"), "{found}");
    assert!(found.contains("no TOML"), "{found}");
    assert!(problems("a = 1\na = 2").starts_with("2:1: no TOML: duplicate key"), "{}", problems("a = 1\na = 2"));
    // Columns count characters.
    check("env = { 'é' = 1 }", &["1:9: `env.\"é\"`: expected a string, found `1`"]);
    check("args = [\"é\", 2]", &["1:14: `args[1]`: expected a string, found `2`"]);
}

#[test]
fn a_script_of_standard_input_that_contradicts_itself_is_refused() {
    let one = |text: &str, place: &str, message: &str| {
        check(&format!("[[stdin]]\n{text}"), &[&format!("{place}: {message}")])
    };
    one("lien = 'a'", "2:1: `stdin[0].lien`", "unknown key; did you mean `line`?");
    one("delay = '1s'", "1:1: `stdin[0]`", "brings nothing: `line`, `text`, `file`, `base64`, `json`, or `end = true`");
    one(
        "line = 'a'\ntext = 'b'",
        "1:1: `stdin[0]`",
        "expected at most one key of `base64`, `file`, `json`, `line`, `text`",
    );
    one(
        "end = true\n[[stdin]]\nline = 'b'",
        "3:1: `stdin[1]`",
        "comes after the end of standard input, which an entry before it is",
    );
    let both = "is a moment by itself: it goes with neither `after` nor `delay`";
    one("line = 'a'\nat = '1s'\nafter = 'x'", "3:1: `stdin[0].at`", both);
    one(
        "line = 'a'\nat = '2s'\n[[stdin]]\nline = 'b'\nat = '1s'",
        "6:1: `stdin[1].at`",
        "is before that of an entry before it, and bytes come in their order",
    );
    one(
        "line = 'a'\nafter-regex = 'id=(\\d+'",
        "3:1: `stdin[0].after-regex`",
        r"expected a regular expression, found `id=(\d+`: unclosed group at character 4",
    );
    // What the parser knows and the engine has not.
    one(
        r"line = 'a'
after-regex = '\p{Greek}'",
        "3:1: `stdin[0].after-regex`",
        "no regular expression: Unicode character classes are not supported",
    );
    one(
        "line = 'a'\nafter = 'x'\nafter-regex = 'y'",
        "4:1: `stdin[0].after-regex`",
        "one of `after` and `after-regex` says what the program writes",
    );
    one("line = 'a'\nafter = ''", "3:1: `stdin[0].after`", "expected some output, found none");
    let from = "is for the output of another machine: `from` names it";
    check("stdin = { text = 'a', latency = '1s' }", &[&format!("1:23: `stdin.latency`: {from}")]);
    check(
        "[[process]]\ncommand = 'a'\ncomponent = { path = 'a', stdin = { from = 'main' } }",
        &[
            "3:27: `process[0].component.stdin`: a process gets its arguments and its input from the program that starts it",
            "3:37: `process[0].component.stdin.from`: the output of a machine goes to the target and to machines of [[node]] only",
        ],
    );
    let own = "a machine does not read what it writes itself: name another machine, whose output is its input";
    check("stdin = { from = 'Main' }", &[&format!("1:11: `stdin.from`: {own}")]);
    check(
        "[[node]]\nname = 'a'\ncomponent = 'a'\nstdin = { from = 'a' }",
        &[&format!("4:11: `node[0].stdin.from`: {own}")],
    );
    let mut inputs = fozzy_trace::plan::Inputs::default();
    let dialogue = "stdin = { from = 'a' }\n[[node]]\nname = 'a'\ncomponent = 'a'\nstdin = { from = 'main' }\n";
    assert!(super::parsed(dialogue).resolve("app", &mut |_| Ok(Vec::new()), &mut inputs).is_ok(), "of two");
    let mut inputs = fozzy_trace::plan::Inputs::default();
    let text = "stdin = { from = 'cleint' }\n[[node]]\nname = 'client'\ncomponent = 'a'\n";
    let resolved = super::parsed(text).resolve("app", &mut |_| Ok(Vec::new()), &mut inputs);
    let message = resolved.expect_err("no such machine").to_string();
    assert_eq!(message, "`stdin.from`: there is no machine `cleint`; did you mean `client`?");
}

#[test]
fn nemeses_fit_their_kinds_and_phases_each_other() {
    check(
        "[[nemesis]]\nkind = 'partition'\nhits = ['bridges']",
        &["3:1: `nemesis[0].hits`: there is no shape of partitions called `bridges`; did you mean `bridge`?"],
    );
    check(
        "[[nemesis]]\nkind = 'kill'\nhits = ['halves']\nlasts = ['2s', '1s']\npath = '/data'",
        &[
            "3:1: `nemesis[0].hits`: there is no number of machines called `halves`; known are `one`, `minority`, `majority`, `all`, `some`, `primaries`",
            "4:1: `nemesis[0].lasts`: expected at least and at most, found 2s and 1s",
            "5:1: `nemesis[0].path`: `kill` damages no files",
        ],
    );
    check(
        "[[nemesis]]\nkind = 'membership'\nhits = ['one', 'all']",
        &["3:1: `nemesis[0].hits`: if all leave a cluster, nobody is left whom they could join"],
    );
    check(
        "[cluster]\nheal = 'all'",
        &["2:1: `cluster.heal`: faults never end: say when, such as `faults-until = \"30s\"`"],
    );
    check(
        "limits.timeout = '40s'\n[cluster]\nfaults-until = '30s'\nprogress-within = '10s'",
        &[
            "4:1: `cluster.progress-within`: the run ends before, at `limits.timeout`, which is 40s; expected less than that for both together",
        ],
    );
    check(
        "[cluster]\nfaults-until = '30s'\nprogress-within = '0s'",
        &[
            "3:1: `cluster.progress-within`: nobody gets on within no time; leave it out, or give some, such as `\"30s\"`",
        ],
    );
    check("[cluster]\nhit-at-most = 0", &["2:1: `cluster.hit-at-most`: expected a number of at least 1, found 0"]);
    check("[cluster]\nclient = 'a'", &["2:1: `cluster.client`: unknown key; did you mean `clients`?"]);
    check("[cluster]\nclients = ['a']", &["2:1: `cluster.clients`: expected a string, found an array"]);
    check("[cluster]\nclients = ''", &["2:1: `cluster.clients`: expected a path, found nothing"]);
    let of_clients = "2:1: `cluster.clients`: expected the program of the clients, found a plan file";
    check("[cluster]\nclients = '../other/plan.toml'", &[of_clients]);
}

#[test]
fn nemeses_fit_the_machines_of_the_plan() {
    let check = |text: &str, expected: &str| {
        let file = crate::PlanFile::parse(text, std::path::Path::new("plan.toml")).expect("its form is right");
        let mut loader = |_: &std::path::Path| Ok(b"component".to_vec());
        let found = file.resolve("app.wasm", &mut loader, &mut fozzy_trace::plan::Inputs::default());
        assert_eq!(found.expect_err("it does not fit").to_string(), expected, "{text}");
    };
    let nodes = "[[node]]\nname = 'n'\ncomponent = 'n.wasm'\ncount = 2\n";
    check(
        "[[nemesis]]\nkind = 'kill'",
        "`nemesis[0].kind`: there are no machines to hit: a nemesis hits those of [[node]]",
    );
    check("[cluster]\nhit-at-most = 1", "`cluster`: there are no machines: those of [[node]] are the cluster");
    check(
        &format!("{nodes}[cluster]\nhit-at-most = 3"),
        "`cluster.hit-at-most`: expected at most 2, as many as there are machines, found 3",
    );
    check(
        &format!("{nodes}[[nemesis]]\nkind = 'kill'\ntarget = 'n3'"),
        "`nemesis[0].target`: no machine is called `n3`; did you mean `n1`?",
    );
    check(
        &format!("{nodes}[[nemesis]]\nkind = 'kill'\ntarget = 'n1, m2'"),
        "`nemesis[0].target`: no machine is called `m2`; did you mean `n2`?",
    );
    check(
        &format!("{nodes}[[nemesis]]\nkind = 'partition'\ntarget = 'N1,n2,n*'\nhits = ['bridge']"),
        "`nemesis[0].hits`: `bridge` needs 3 machines at least, and the target has 2",
    );
    check(
        &format!("{nodes}[[nemesis]]\nkind = 'partition'\nhits = ['one', 'bridge']"),
        "`nemesis[0].hits`: `bridge` needs 3 machines at least, and the target has 2",
    );
    check(
        &format!("{nodes}[[nemesis]]\nkind = 'partition'\ntarget = 'n1'"),
        "`nemesis[0].kind`: one machine cannot be parted; expected two at least",
    );
    check(
        "[[node]]\nname = 'n'\ncomponent = 'n.wasm'\n[[nemesis]]\nkind = 'membership'",
        "`nemesis[0].kind`: one machine cannot leave itself; expected two at least",
    );
    for kind in ["loss", "delay", "duplicate", "reorder", "clog", "jam", "swizzle"] {
        check(
            &format!("[[node]]\nname = 'n'\ncomponent = 'n.wasm'\n[[nemesis]]\nkind = '{kind}'"),
            "`nemesis[0].kind`: one machine has no links to others; expected two at least",
        );
    }
    let leaving = format!("{nodes}[[nemesis]]\nkind = 'membership'");
    let hits = |text: &str| {
        let mut inputs = fozzy_trace::plan::Inputs::default();
        let resolved = super::parsed(text).resolve("app", &mut |_| Ok(Vec::new()), &mut inputs);
        resolved.expect("it fits").plan.faults[0].nemesis.as_ref().expect("it is one").hits.clone()
    };
    assert_eq!(hits(&leaving), ["one", "minority"], "never all by itself");
    assert_eq!(hits(&format!("{leaving}\ntarget = 'n2'\nhits = ['all']")), ["all"], "n1 is left");
    check(
        &format!("{leaving}\ntarget = 'n*'\nhits = ['all']"),
        "`nemesis[0].hits`: if all leave a cluster, nobody is left whom they could join",
    );
    for word in ["majority", "some"] {
        check(
            &format!("{leaving}\nhits = ['one', '{word}']"),
            &format!(
                "`nemesis[0].hits`: `{word}` of 2 machines can be all of them: if all leave a cluster, nobody is left whom they could \
                 join; `hit-at-most` in [cluster] keeps some"
            ),
        );
        let bounded = format!("{leaving}\nhits = ['{word}']\n[cluster]\nhit-at-most = 1");
        assert_eq!(hits(&bounded), [word], "the other one is left");
    }
    assert_eq!(hits(&format!("{leaving}\ntarget = 'n1'\nhits = ['some', 'majority']")), ["some", "majority"]);
    let twice = format!("{nodes}[[node]]\nname = 'n2'\ncomponent = 'n.wasm'");
    let found = crate::PlanFile::parse(&twice, std::path::Path::new("plan.toml")).expect_err("a name stands twice");
    assert_eq!(found.problems[0].to_string(), "6:1: `node[1].name`: another machine has the name `n2` already");
}
