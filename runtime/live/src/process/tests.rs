//! Real processes of this computer: how they are started, fed, bounded and ended.

use super::*;
use fozzy_trace::Digest;
use fozzy_trace::plan::RedactionPolicy;
use std::os::unix::fs::{PermissionsExt, symlink};
use tempfile::TempDir;

struct Machine {
    root: TempDir,
    processes: ProcessBackend,
    secrets: Secrets,
    inputs: Inputs,
}

impl Machine {
    fn new() -> Machine {
        let root = tempfile::tempdir().expect("a temporary directory");
        let path = ["relative", "/bin", "/usr/bin"].map(PathBuf::from).to_vec();
        let processes = ProcessBackend::new(root.path(), path, &LivePolicy::default()).expect("it is there");
        let known = [("<redacted:TOKEN>".to_owned(), "s3cr3t".to_owned())];
        let secrets = Secrets::new(&known, &RedactionPolicy::default()).expect("a placeholder");
        Machine { root, processes, secrets, inputs: Inputs::default() }
    }

    fn run(&mut self, ask: &ProcessRequest) -> String {
        let answer = self.processes.answer(ask, &self.secrets, &mut self.inputs).expect("processes can be watched");
        let answer = match answer {
            Ok(answer) => answer,
            Err(failure) => return format!("{failure:?}"),
        };
        let text = |digest: &Digest| self.inputs.get(digest).expect("stored").escape_ascii().to_string();
        let late = if answer.deadline_passed { " late" } else { "" };
        format!("{:?}{late} [{}] [{}]", answer.exit, text(&answer.stdout), text(&answer.stderr))
    }

    /// What a line of shell does.
    fn shell(&mut self, line: &str) -> String {
        self.run(&ask("sh", &["-c", line]))
    }

    fn file(&self, name: &str, text: &str, mode: u32) {
        let path = self.root.path().join(name);
        std::fs::write(&path, text).expect("written");
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("ours");
    }
}

fn ask(command: &str, args: &[&str]) -> ProcessRequest {
    ProcessRequest {
        command: command.to_owned(),
        args: args.iter().map(|arg| (*arg).to_owned()).collect(),
        env: Vec::new(),
        cwd: None,
        stdin: Digest::of(b""),
        deadline: None,
    }
}

#[test]
fn a_process_ends_with_its_code_or_signal_and_all_it_wrote() {
    let mut machine = Machine::new();
    assert_eq!(machine.run(&ask("echo", &["a b", "", "*"])), "Code(0) [a b  *\\n] []");
    assert_eq!(machine.shell("printf 'o\\377'; printf e >&2; exit 7"), "Code(7) [o\\xff] [e]");
    assert_eq!(machine.shell("kill -TERM $$"), "Signal(15) [] []");
    assert_eq!(machine.shell("exec >&- 2>&-; exit 3"), "Code(3) [] []", "its end is noticed without its output");
}

#[test]
fn input_and_output_go_at_the_same_time() {
    let mut machine = Machine::new();
    let bytes: Vec<u8> = (0..3_000_000_u32).map(|n| n.to_le_bytes()[0]).collect();
    let mut cat = ask("cat", &[]);
    cat.stdin = machine.inputs.add(bytes);
    let answer = machine.processes.answer(&cat, &machine.secrets, &mut machine.inputs).expect("watched").expect("ran");
    assert_eq!((answer.exit, answer.stdout), (ProcessExit::Code(0), cat.stdin));
    // Who does not read its input does not stop us, nor is stopped.
    let deaf = ProcessRequest { stdin: cat.stdin, ..ask("sh", &["-c", "echo done"]) };
    assert_eq!(machine.run(&deaf), "Code(0) [done\\n] []");
    let unknown = ProcessRequest { stdin: Digest::of(b"not among the inputs"), ..ask("cat", &[]) };
    assert!(machine.processes.answer(&unknown, &machine.secrets, &mut machine.inputs).is_err());
}

#[test]
fn the_environment_is_the_ask_s_and_nothing_else() {
    let mut machine = Machine::new();
    let mut env = ask("env", &[]);
    env.env = vec![("B".to_owned(), "1 2".to_owned()), ("PATH".to_owned(), "/nowhere".to_owned())];
    assert_eq!(machine.run(&env), "Code(0) [B=1 2\\nPATH=/nowhere\\n] []");
    for wrong in ["", "a=b", "a\0b"] {
        env.env = vec![(wrong.to_owned(), "x".to_owned())];
        assert_eq!(machine.run(&env), "Other", "{wrong:?}");
    }
    assert_eq!(machine.run(&ask("echo", &["a\0b"])), "Other");
}

#[test]
fn a_child_gets_none_of_our_files_and_no_blocked_signals() {
    let mut machine = Machine::new();
    machine.file("open-in-us", "", 0o644);
    let _open = std::fs::File::open(machine.root.path().join("open-in-us")).expect("there");
    let files = machine.run(&ask("ls", &["-l", "/proc/self/fd"]));
    assert!(files.starts_with("Code(0) [") && files.contains(" 2 ->") && !files.contains("open-in-us"), "{files}");
    let blocked = machine.run(&ask("grep", &["SigBlk", "/proc/self/status"]));
    assert_eq!(blocked, "Code(0) [SigBlk:\\t0000000000000000\\n] []");
    // A Rust program ignores SIGPIPE; what it starts must not, or `yes | head` never ends.
    let ignored = machine.run(&ask("grep", &["SigIgn", "/proc/self/status"]));
    let mask = ignored.trim_start_matches("Code(0) [SigIgn:\\t").split('\\').next().expect("a mask");
    let mask = u64::from_str_radix(mask, 16).expect("hexadecimal");
    assert_eq!(mask & 1 << (Signal::PIPE.as_raw() - 1), 0);
}

#[test]
fn commands_are_looked_for_where_the_caller_says() {
    let mut machine = Machine::new();
    machine.file("own-tool", "#!/bin/sh\necho \"$0\" here\n", 0o755);
    machine.file("plain", "no program", 0o644);
    std::fs::create_dir(machine.root.path().join("d")).expect("made");
    machine.file("d/own-tool", "#!/bin/sh\npwd\n", 0o755);
    machine.file("lost", "#!/no/such/interpreter\n", 0o755);
    assert_eq!(machine.run(&ask("own-tool", &[])), "NotFound", "the working directory is not looked in");
    assert!(machine.run(&ask("./own-tool", &[])).ends_with("/own-tool here\\n] []"));
    let inner = ProcessRequest { cwd: Some("d".to_owned()), ..ask("./own-tool", &[]) };
    assert!(machine.run(&inner).ends_with("/d\\n] []"));
    for (command, expected) in [
        ("", "NotFound"),
        ("no-such-command-at-all", "NotFound"),
        ("./missing", "NotFound"),
        ("./lost", "NotFound"),
        ("./plain", "NotPermitted"),
        ("./d", "NotPermitted"),
        ("..", "NotFound"),
    ] {
        assert_eq!(machine.run(&ask(command, &[])), expected, "{command}");
    }
    machine.processes.path = vec![machine.root.path().to_owned()];
    assert_eq!(machine.run(&ask("plain", &[])), "NotPermitted");
    machine.processes.path.push(PathBuf::from("/bin"));
    std::fs::rename(machine.root.path().join("plain"), machine.root.path().join("echo")).expect("renamed");
    assert_eq!(machine.run(&ask("echo", &["later"])), "Code(0) [later\\n] []");
}

#[test]
fn working_directories_are_inside_the_root() {
    let mut machine = Machine::new();
    symlink("/", machine.root.path().join("out")).expect("linked");
    machine.file("file", "", 0o644);
    for (cwd, expected) in [
        ("..", "NotPermitted"),
        ("/", "NotPermitted"),
        ("out", "NotPermitted"),
        ("out/tmp", "NotPermitted"),
        ("file", "NotPermitted"),
        ("missing", "NotFound"),
        (".", "Code(0) [] []"),
        ("", "Code(0) [] []"),
    ] {
        let ask = ProcessRequest { cwd: Some(cwd.to_owned()), ..ask("true", &[]) };
        assert_eq!(machine.run(&ask), expected, "{cwd}");
    }
}

#[test]
fn at_the_deadline_the_whole_group_is_killed() {
    let mut machine = Machine::new();
    let line = "sleep 1000 & echo $!; sleep 1000";
    let late = ProcessRequest { deadline: Some(fozzy_trace::Duration(200_000_000)), ..ask("sh", &["-c", line]) };
    let shown = machine.run(&late);
    assert!(shown.starts_with("Signal(9) late ["), "{shown}");
    let background = shown.trim_start_matches("Signal(9) late [").split('\\').next().expect("its number").to_owned();
    assert!(gone(&background), "a sleep outlived its group");
    let bound = Bounds { time: Duration::from_millis(100), ..machine.processes.bounds };
    machine.processes.bounds = bound;
    assert_eq!(machine.shell("trap '' TERM; echo x; sleep 1000"), "Signal(9) late [x\\n] []");
}

/// Whether a process ends within ten seconds; its new parent may not have reaped it yet.
fn gone(pid: &str) -> bool {
    let path = format!("/proc/{pid}/stat");
    (0..1000).any(|_| {
        let is_gone = std::fs::read_to_string(&path).map_or(true, |stat| stat.contains(") Z") || stat.contains(") X"));
        if !is_gone {
            std::thread::park_timeout(Duration::from_millis(10));
        }
        is_gone
    })
}

#[test]
fn what_runs_on_in_the_background_does_not_hold_the_answer() {
    let mut machine = Machine::new();
    machine.processes.bounds.linger = Duration::from_millis(100);
    let shown = machine.shell("sleep 1000 & echo $!");
    assert!(shown.starts_with("Code(0) ["), "{shown}");
    assert!(gone(shown.trim_start_matches("Code(0) [").split('\\').next().expect("its number")));
    // What is written within that time counts.
    machine.processes.bounds.linger = Duration::from_secs(60);
    assert_eq!(machine.shell("(sleep 0.05; echo late) & echo early"), "Code(0) [early\\nlate\\n] []");
}

#[test]
fn too_much_output_is_a_failure_and_not_half_an_answer() {
    let mut machine = Machine::new();
    machine.processes.bounds.output = 100_000;
    assert_eq!(machine.shell("head -c 100000 /dev/zero | tr '\\0' x").len(), "Code(0) [] []".len() + 100_000);
    for line in ["head -c 100001 /dev/zero", "exec yes", "exec yes >&2"] {
        assert_eq!(machine.shell(line), "OutputTooLarge", "{line}");
    }
}

#[test]
fn secrets_go_in_and_placeholders_come_out() {
    let mut machine = Machine::new();
    let mut told = ask("sh", &["-c", "cat; echo \" $1 $X\"; test \"$1$X\" = s3cr3tas3cr3t", "sh", "<redacted:TOKEN>"]);
    told.env = vec![("X".to_owned(), "a<redacted:TOKEN>".to_owned())];
    told.stdin = machine.inputs.add(&b"<redacted:TOKEN>"[..]);
    let expected = "Code(0) [<redacted:TOKEN> <redacted:TOKEN> a<redacted:TOKEN>\\n] []";
    assert_eq!(machine.run(&told), expected);
    assert!(machine.inputs.iter().all(|(_, bytes)| !bytes.windows(6).any(|part| part == b"s3cr3t")));
}
