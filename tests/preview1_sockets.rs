//! Sockets of core modules of preview 1, by the sockets extension of WasmEdge: two machines, one machine, and calls that are wrong.
//!
//! ```text
//! main ─ sock_connect, poll, sock_send ─▶ 10.0.0.2:8080 ─ poll, sock_accept, fd_read ─ server
//! ```
//!
//! Each program is a list of calls with the answers that it expects; it exits with the number of the first one that is answered otherwise.
//! Not here: the network itself (`runtime/world`), sockets of components (`network`).

use crate::fozzy::Fozzy;
use std::fmt::Write;

/// Functions, as they are called here and in the module, with how many parameters of 32 bits.
const IMPORTS: &[(&str, &str, usize)] = &[
    ("fd_close", "fd_close", 1),
    ("fd_fdstat_get", "fd_fdstat_get", 2),
    ("fd_fdstat_set_flags", "fd_fdstat_set_flags", 2),
    ("fd_read", "fd_read", 4),
    ("fd_write", "fd_write", 4),
    ("poll_oneoff", "poll_oneoff", 4),
    ("sock_accept", "sock_accept", 3),
    ("sock_accept_v1", "sock_accept", 2),
    ("sock_bind", "sock_bind_v2", 3),
    ("sock_connect", "sock_connect", 3),
    ("sock_getaddrinfo", "sock_getaddrinfo", 8),
    ("sock_getlocaladdr", "sock_getlocaladdr", 3),
    ("sock_getlocaladdr_v1", "sock_getlocaladdr", 4),
    ("sock_getpeeraddr", "sock_getpeeraddr", 3),
    ("sock_getsockopt", "sock_getsockopt", 5),
    ("sock_listen", "sock_listen", 2),
    ("sock_open", "sock_open", 3),
    ("sock_recv", "sock_recv", 6),
    ("sock_recv_from", "sock_recv_from", 8),
    ("sock_recv_from_v1", "sock_recv_from", 7),
    ("sock_send", "sock_send", 5),
    ("sock_send_to", "sock_send_to", 7),
    ("sock_setsockopt", "sock_setsockopt", 5),
    ("sock_shutdown", "sock_shutdown", 2),
];

/// What lies in the memory of each program.
fn data() -> Vec<(u32, Vec<u8>)> {
    let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    vec![
        // The address of the program itself, every one until something is put there.
        (16, words(&[32, 4])),
        // A buffer for an address with its family; its port goes to 56.
        (48, words(&[512, 128])),
        // Lists of buffers: one to read into, two that are `hello` together, one that is, and a small one to read into.
        (200, words(&[300, 16])),
        (208, words(&[400, 2, 402, 3])),
        (232, words(&[400, 5])),
        (240, words(&[300, 2])),
        (400, b"hello".to_vec()),
        // A lookup: its texts, its hints (IPv4, a stream), and a list of one result, which leads back to itself.
        (700, b"server\0".to_vec()),
        (712, b"8080\0".to_vec()),
        (720, vec![0, 0, 1, 2]),
        (752, words(&[760])),
        (772, words(&[800])),
        (784, words(&[760])),
        (804, words(&[26, 820])),
        // The address that is found.
        (848, words(&[822, 4])),
        // A subscription to the monotonic clock, 100 ms.
        (896, words(&[1, 0, 100_000_000])),
        // A buffer for an address alone.
        (940, words(&[960, 16])),
    ]
}

/// A program of steps, each with its expected answer: `function argument…`, where `*16` is the word at 16; `word 16`, `half 16` and
/// `byte 16` are what lies in memory, and `set 16 7` puts it there.
fn program(steps: &[(&str, u32)]) -> String {
    let argument = |word: &str| match word.strip_prefix('*') {
        Some(at) => format!("(i32.load (i32.const {at}))"),
        None => format!("(i32.const {word})"),
    };
    let mut code = String::new();
    for ((step, expected), number) in steps.iter().zip(1..) {
        let mut words = step.split(' ');
        let function = words.next().expect("a function");
        let arguments = words.map(argument).collect::<Vec<String>>().join(" ");
        let load = match function {
            "set" => {
                let _ = writeln!(code, "(i32.store {arguments})");
                continue;
            }
            "word" => "i32.load".to_owned(),
            "half" => "i32.load16_u".to_owned(),
            "byte" => "i32.load8_u".to_owned(),
            function => format!("call ${function}"),
        };
        let _ = writeln!(code, "(call $is (i32.const {number}) ({load} {arguments}) (i32.const {expected}))");
    }
    let import = |(own, name, parameters): &(&str, &str, usize)| {
        let types = "i32 ".repeat(*parameters);
        format!("(import \"wasi_snapshot_preview1\" \"{name}\" (func ${own} (param {types}) (result i32)))\n")
    };
    let imports: String = IMPORTS.iter().map(import).collect();
    let escaped = |bytes: &[u8]| bytes.iter().map(|byte| format!("\\{byte:02x}")).collect::<String>();
    let data: String =
        data().iter().map(|(at, bytes)| format!("(data (i32.const {at}) \"{}\")\n", escaped(bytes))).collect();
    format!(
        "(module {imports}
          (import \"wasi_snapshot_preview1\" \"proc_exit\" (func $exit (param i32)))
          (memory (export \"memory\") 1)
          {data}
          (func $is (param $step i32) (param $found i32) (param $expected i32)
            (if (i32.ne (local.get $found) (local.get $expected)) (then (call $exit (local.get $step)))))
          (func (export \"_start\")
            {code}))"
    )
}

const SERVER: &[(&str, u32)] = &[
    ("sock_open 1 2 0", 0),
    ("fd_fdstat_set_flags *0 4", 0),
    ("sock_setsockopt *0 0 0 8 4", 0),
    ("sock_bind *0 16 8080", 0),
    ("sock_listen *0 64", 0),
    ("sock_getsockopt *0 0 13 8 4", 0),
    ("word 8", 1),
    ("sock_accept *0 0 4", 6),
    ("set 72 1", 0),
    ("set 80 *0", 0),
    ("poll_oneoff 64 128 1 192", 0),
    ("word 192", 1),
    ("sock_accept *0 0 4", 0),
    ("fd_fdstat_get *4 256", 0),
    ("byte 256", 6),
    ("sock_getpeeraddr *4 48 56", 0),
    ("half 512", 1),
    ("byte 514", 10),
    ("byte 517", 1),
    // It waits: the flag of a listener is not that of its connections.
    ("fd_read *4 200 1 196", 0),
    ("word 196", 5),
    ("byte 300", 104),
    ("fd_write *4 232 1 196", 0),
    ("fd_read *4 200 1 196", 0),
    ("word 196", 0),
    ("fd_close *4", 0),
    ("fd_close *4", 8),
    ("fd_close *0", 0),
];

const CLIENT: &[(&str, u32)] = &[
    // Until the server listens.
    ("poll_oneoff 880 128 1 192", 0),
    ("sock_getaddrinfo 700 7 712 5 720 752 8 756", 0),
    ("word 756", 1),
    ("word 800", 1),
    ("half 820", 0x901F),
    ("byte 822", 10),
    ("byte 825", 2),
    // Where nobody listens: it is told when the program asks, and then no more.
    ("sock_open 1 2 4", 0),
    ("fd_fdstat_set_flags *4 4", 0),
    ("sock_connect *4 848 9", 26),
    ("sock_getpeeraddr *4 48 56", 53),
    ("set 72 2", 0),
    ("set 80 *4", 0),
    ("poll_oneoff 64 128 1 192", 0),
    ("sock_getsockopt *4 0 2 8 4", 0),
    ("word 8", 14),
    ("sock_getsockopt *4 0 2 8 4", 0),
    ("word 8", 0),
    ("fd_read *4 200 1 196", 53),
    ("fd_write *4 232 1 196", 64),
    // It can be tried again, and is told by that once, too.
    ("sock_connect *4 848 9", 26),
    ("poll_oneoff 64 128 1 192", 0),
    ("sock_connect *4 848 9", 14),
    ("sock_connect *4 848 9", 26),
    ("fd_close *4", 0),
    ("sock_open 1 2 0", 0),
    ("fd_fdstat_set_flags *0 4", 0),
    ("sock_connect *0 848 8080", 26),
    ("sock_connect *0 848 8080", 7),
    ("set 80 *0", 0),
    ("poll_oneoff 64 128 1 192", 0),
    ("sock_getsockopt *0 0 2 8 4", 0),
    ("word 8", 0),
    ("sock_getpeeraddr *0 48 56", 0),
    ("word 56", 8080),
    ("sock_connect *0 848 8080", 30),
    ("sock_send *0 208 2 0 196", 0),
    ("word 196", 5),
    ("sock_recv *0 200 1 0 196 224", 6),
    ("set 72 1", 0),
    ("poll_oneoff 64 128 1 192", 0),
    ("sock_recv *0 200 1 0 196 224", 0),
    ("word 196", 5),
    ("byte 304", 111),
    ("sock_shutdown *0 2", 0),
    ("poll_oneoff 64 128 1 192", 0),
    ("fd_read *0 200 1 196", 0),
    ("word 196", 0),
    ("fd_close *0", 0),
    ("fd_close *0", 8),
];

const PLAN: &str = "[[node]]\nname = \"server\"\ncomponent = \"server.wat\"\nends = \"ok\"\n";

/// A folder with a client, a server and their plan.
fn two_machines() -> Fozzy {
    let fozzy = Fozzy::new();
    fozzy.write("main.wat", program(CLIENT));
    fozzy.write("server.wat", program(SERVER));
    fozzy.write("plan.toml", PLAN);
    fozzy
}

#[test]
fn two_machines_reach_each_other() {
    let fozzy = two_machines();
    let run = ["run", "main.wat", "--plan", "plan.toml", "--record", "a.fozzy", "--json"];
    let ran = fozzy.run(&run).exits(0).json();
    assert_eq!(ran["status"], "pass", "{ran:#}");
    let replayed = fozzy.run(&["replay", "a.fozzy", "--json"]).exits(0).json();
    assert_eq!(replayed["replay"]["equal"], true, "{replayed:#}");
    let shown = fozzy.run(&["trace", "show", "a.fozzy"]).exits(0).out();
    for call in ["sock_connect(4, 10.0.0.2:8080) -> err(inprogress)", "sock_getaddrinfo(\"server\", \"8080\", 1)"] {
        assert!(shown.contains(call), "expected `{call}` in\n{shown}");
    }
}

#[test]
fn datagrams_between_machines_are_messages() {
    let fozzy = Fozzy::new();
    let wait = ("poll_oneoff 880 128 1 192", 0);
    // To where the server listens, and to where nobody does.
    let client = [
        wait,
        ("set 32 0x0200000a", 0),
        ("sock_open 1 1 4", 0),
        ("sock_send_to *4 208 2 16 9000 0 196", 0),
        ("sock_send_to *4 232 1 16 9001 0 196", 0),
        wait,
    ];
    fozzy.write("main.wat", program(&client));
    let server = [
        ("sock_open 1 1 0", 0),
        ("sock_bind *0 16 9000", 0),
        ("sock_recv_from *0 200 1 48 0 56 196 224", 0),
        ("word 196", 5),
    ];
    fozzy.write("server.wat", program(&server));
    fozzy.write("plan.toml", PLAN);
    fozzy.run(&["run", "main.wat", "--plan", "plan.toml", "--record", "a.fozzy"]).exits(0);
    let shown = fozzy.run(&["trace", "show", "a.fozzy", "--messages"]).exits(0).out();
    let sent: Vec<&str> = shown.lines().filter(|line| line.contains("main -> server  datagram of 5 bytes")).collect();
    assert_eq!(sent.len(), 2, "{shown}");
    assert!(!sent[0].contains("not received") && sent[1].ends_with("datagram of 5 bytes, not received"), "{shown}");
}

#[test]
fn faults_of_the_network_strike_connections_of_preview_1() {
    let fozzy = two_machines();
    let faulty = ["run", "main.wat", "--plan", "plan.toml", "--faults", "connection-reset:100%", "--json"];
    let ran = fozzy.run(&faulty).exits(1).json();
    assert!(ran["faults"][0]["strikes"].as_u64().is_some_and(|strikes| strikes > 0), "{ran:#}");
}

#[test]
fn a_server_without_clients_waits_for_a_connection() {
    let fozzy = two_machines();
    let ran = fozzy.run(&["run", "server.wat", "--json"]).exits(3).json();
    let message = ran["findings"][0]["message"].to_string();
    assert!(message.contains("every task is blocked") && message.contains("connection"), "{ran:#}");
}

/// Runs the steps on one machine, which has no other.
#[track_caller]
fn answers_as_expected(steps: &[(&str, u32)]) {
    let fozzy = Fozzy::new();
    fozzy.write("main.wat", program(steps));
    let ran = fozzy.run(&["run", "main.wat", "--record", "a.fozzy", "--json"]).json();
    assert_eq!(ran["status"], "pass", "{ran:#}\n{}", fozzy.run(&["trace", "show", "a.fozzy"]).out());
    let replayed = fozzy.run(&["replay", "a.fozzy", "--json"]).exits(0).json();
    assert_eq!(replayed["replay"]["equal"], true, "{replayed:#}");
}

#[test]
fn one_machine_reaches_itself_by_the_first_version_of_the_extension() {
    answers_as_expected(&[
        ("set 32 0x0100007f", 0),
        ("sock_open 1 2 0", 0),
        ("sock_bind *0 16 0", 0),
        ("sock_listen *0 1", 0),
        ("sock_getlocaladdr_v1 *0 940 952 56", 0),
        ("word 952", 4),
        ("byte 960", 127),
        ("sock_open 1 2 4", 0),
        ("sock_connect *4 16 *56", 0),
        ("sock_accept_v1 *0 948", 0),
        ("fd_write *4 232 1 196", 0),
        ("sock_recv *948 200 1 0 196 224", 0),
        ("word 196", 5),
        ("fd_write *4 232 1 196", 0),
        ("fd_close *4", 0),
        // Sixteen bytes or what there is until the end.
        ("sock_recv *948 200 1 2 196 224", 0),
        ("word 196", 5),
        ("sock_recv *948 200 1 0 196 224", 0),
        ("word 196", 0),
        ("sock_open 1 2 4", 0),
        ("sock_connect *4 16 9", 14),
        ("sock_getsockopt *4 0 2 8 4", 0),
        ("word 8", 0),
        ("sock_connect *4 16 9", 14),
        ("sock_setsockopt *4 0 5 8 4", 0),
        ("sock_connect *4 16 *56", 0),
        ("sock_getpeeraddr *4 48 56", 0),
        ("fd_close *0", 0),
    ]);
}

#[test]
fn a_reset_behind_bytes_is_told_by_the_call_after_them() {
    answers_as_expected(&[
        ("set 32 0x0100007f", 0),
        ("sock_open 1 2 0", 0),
        ("sock_bind *0 16 8080", 0),
        ("sock_listen *0 1", 0),
        ("sock_open 1 2 4", 0),
        ("sock_connect *4 16 8080", 0),
        ("sock_accept_v1 *0 948", 0),
        // What closes without having read all resets the connection.
        ("fd_write *4 232 1 196", 0),
        ("fd_write *948 232 1 196", 0),
        ("fd_close *948", 0),
        ("sock_recv *4 200 1 2 196 224", 0),
        ("word 196", 5),
        ("sock_recv *4 200 1 2 196 224", 15),
        ("sock_recv *4 200 1 0 196 224", 0),
        ("word 196", 0),
        ("fd_close *0", 0),
    ]);
}

#[test]
fn datagrams_pass_whole_or_are_cut_off() {
    answers_as_expected(&[
        ("set 32 0x0100007f", 0),
        ("sock_open 1 1 0", 0),
        ("sock_bind *0 16 9000", 0),
        ("fd_fdstat_get *0 256", 0),
        ("byte 256", 5),
        ("sock_open 1 1 4", 0),
        ("sock_setsockopt *4 0 4 8 4", 0),
        ("sock_send *4 208 2 0 196", 17),
        ("sock_send_to *4 208 2 16 9000 0 196", 0),
        ("word 196", 5),
        ("sock_recv_from *0 200 1 48 0 56 196 224", 0),
        ("word 196", 5),
        ("half 224", 0),
        ("half 512", 1),
        ("byte 514", 127),
        ("sock_send_to *4 208 2 16 9000 0 196", 0),
        // Where the sender has no room, the datagram stays.
        ("set 944 5", 0),
        ("sock_recv_from_v1 *0 240 1 940 0 196 224", 28),
        ("set 944 16", 0),
        ("sock_recv_from_v1 *0 240 1 940 0 196 224", 0),
        ("word 196", 2),
        ("half 224", 1),
        ("byte 960", 127),
        ("sock_connect *4 16 9000", 0),
        ("sock_getpeeraddr *4 48 56", 0),
        ("word 56", 9000),
        ("fd_write *4 232 1 196", 0),
        ("fd_read *0 200 1 196", 0),
        ("word 196", 5),
        // All buffers of a call are one datagram: two of five bytes, and two of two and sixteen.
        ("fd_write *4 208 2 196", 0),
        ("word 196", 5),
        ("set 1000 300", 0),
        ("set 1004 2", 0),
        ("set 1008 320", 0),
        ("set 1012 16", 0),
        ("fd_read *0 1000 2 196", 0),
        ("word 196", 5),
        ("byte 301", 101),
        ("byte 322", 111),
        // Also who is connected sends elsewhere where that is asked.
        ("sock_open 1 1 12", 0),
        ("sock_bind *12 16 9001", 0),
        ("sock_send_to *4 232 1 16 9001 0 196", 0),
        ("fd_read *12 200 1 196", 0),
        ("word 196", 5),
        ("fd_fdstat_set_flags *0 4", 0),
        ("fd_read *0 200 1 196", 6),
        ("sock_listen *0 1", 58),
        ("fd_close *0", 0),
        // Nobody listens there any more, which is told once.
        ("fd_write *4 232 1 196", 0),
        ("sock_getsockopt *4 0 2 8 4", 0),
        ("word 8", 14),
        ("sock_getsockopt *4 0 2 8 4", 0),
        ("word 8", 0),
        ("fd_close *4", 0),
    ]);
}

#[test]
fn an_address_is_shared_as_on_linux() {
    answers_as_expected(&[
        ("set 32 0x0100007f", 0),
        ("sock_open 1 2 0", 0),
        ("sock_getsockopt *0 0 0 8 4", 0),
        ("word 8", 0),
        ("sock_bind *0 16 8080", 0),
        ("sock_open 1 2 4", 0),
        ("sock_bind *4 16 8080", 3),
        ("set 8 1", 0),
        ("sock_setsockopt *4 0 0 8 4", 0),
        ("sock_bind *4 16 8080", 3),
        ("sock_setsockopt *0 0 0 8 4", 0),
        ("sock_bind *4 16 8080", 0),
        ("set 8 0", 0),
        ("sock_getsockopt *4 0 0 8 4", 0),
        ("word 8", 1),
        ("sock_listen *0 8", 0),
        ("sock_listen *4 8", 3),
        // A server that closes first keeps its address, unless all that had it share it.
        ("sock_open 1 2 12", 0),
        ("sock_connect *12 16 8080", 0),
        ("sock_accept_v1 *0 948", 0),
        ("fd_close *948", 0),
        ("fd_close *0", 0),
        ("fd_close *4", 0),
        ("sock_open 1 2 0", 0),
        ("sock_bind *0 16 8080", 3),
        ("sock_setsockopt *0 0 0 8 4", 0),
        ("sock_bind *0 16 8080", 0),
    ]);
}

#[test]
fn a_server_that_is_killed_with_a_connection_needs_so_reuseaddr_to_bind_again() {
    let wait = ("poll_oneoff 880 128 1 192", 0);
    for (reuses, passes) in [("set 8 0", false), ("set 8 1", true)] {
        let steps = [
            ("set 32 0x0100007f", 0),
            ("sock_open 1 2 0", 0),
            (reuses, 0),
            ("sock_setsockopt *0 0 0 8 4", 0),
            ("sock_bind *0 16 8080", 0),
            ("sock_listen *0 8", 0),
            ("sock_open 1 2 4", 0),
            ("sock_connect *4 16 8080", 0),
            ("sock_accept_v1 *0 948", 0),
            wait,
            // It is killed before this one, and begins anew a second later.
            wait,
        ];
        let fozzy = Fozzy::new();
        fozzy.write("main.wat", program(&steps));
        let kill = "[[fault]]\nkind = \"restart\"\ntarget = \"main\"\nrate = \"100%\"\nstart = \"50ms\"\ntimes = 1\n";
        fozzy.write("plan.toml", kill);
        let ran = fozzy.run(&["run", "main.wat", "--plan", "plan.toml", "--record", "a.fozzy", "--json"]).json();
        assert_eq!(ran["faults"][0]["strikes"], 1, "{ran:#}");
        let shown = fozzy.run(&["trace", "show", "a.fozzy"]).out();
        assert_eq!((ran["status"] == "pass", shown.contains("err(addrinuse)")), (passes, !passes), "{ran:#}\n{shown}");
        let replayed = fozzy.run(&["replay", "a.fozzy", "--json"]).json();
        assert_eq!(replayed["replay"]["equal"], true, "{replayed:#}");
    }
}

#[test]
fn a_poll_says_who_hangs_up() {
    let poll = ("poll_oneoff 64 128 1 192", 0);
    answers_as_expected(&[
        ("set 32 0x0100007f", 0),
        ("sock_open 1 2 0", 0),
        // One that is not connected does.
        ("set 72 2", 0),
        ("set 80 *0", 0),
        poll,
        ("half 152", 1),
        ("sock_bind *0 16 8080", 0),
        ("sock_listen *0 8", 0),
        // On the own machine, too, it is waited for.
        ("sock_open 1 2 4", 0),
        ("fd_fdstat_set_flags *4 4", 0),
        ("sock_connect *4 16 9", 26),
        ("set 80 *4", 0),
        poll,
        ("half 152", 1),
        ("sock_getsockopt *4 0 2 8 4", 0),
        ("word 8", 14),
        ("sock_connect *4 16 8080", 26),
        poll,
        ("half 152", 0),
        ("sock_getsockopt *4 0 2 8 4", 0),
        ("word 8", 0),
        ("sock_accept_v1 *0 948", 0),
        // What comes behind a shutdown of reading is read; when both sides are shut down, it hangs up.
        ("sock_shutdown *948 1", 0),
        ("sock_recv *948 200 1 0 196 224", 0),
        ("word 196", 0),
        ("fd_write *4 232 1 196", 0),
        ("sock_recv *948 200 1 0 196 224", 0),
        ("word 196", 5),
        ("sock_shutdown *4 2", 0),
        ("set 72 1", 0),
        ("set 80 *948", 0),
        poll,
        ("half 152", 0),
        ("sock_shutdown *948 2", 0),
        poll,
        ("half 152", 1),
        ("fd_close *948", 0),
        ("fd_close *4", 0),
        // What closes without having read all resets the connection, which is told once.
        ("sock_open 1 2 4", 0),
        ("sock_connect *4 16 8080", 0),
        ("sock_accept_v1 *0 948", 0),
        ("fd_write *948 232 1 196", 0),
        ("fd_close *4", 0),
        ("set 80 *948", 0),
        poll,
        ("half 152", 1),
        ("sock_getsockopt *948 0 2 8 4", 0),
        ("word 8", 15),
        ("sock_getsockopt *948 0 2 8 4", 0),
        ("word 8", 0),
        ("sock_recv *948 200 1 0 196 224", 0),
        ("word 196", 0),
        // A listener that is shut down accepts nobody, and can listen again.
        ("sock_shutdown *0 2", 0),
        ("sock_shutdown *0 1", 0),
        ("sock_accept *0 0 4", 28),
        ("sock_shutdown *0 1", 53),
        ("sock_listen *0 8", 0),
        // Nobody listens at the port 0, and no address is the own machine.
        ("sock_open 1 2 4", 0),
        ("sock_connect *4 16 0", 14),
        ("set 32 0", 0),
        ("sock_connect *4 16 8080", 0),
        ("sock_getpeeraddr *4 48 56", 0),
        ("byte 514", 127),
        // Datagrams.
        ("sock_open 1 1 12", 0),
        ("sock_shutdown *12 3", 53),
        ("sock_connect *12 16 9000", 0),
        ("sock_shutdown *12 3", 0),
        ("fd_write *12 232 1 196", 64),
        ("sock_recv *12 200 1 0 196 224", 0),
        ("word 196", 0),
    ]);
}

#[test]
fn a_socket_of_ipv6_is_one_of_ipv4_too() {
    answers_as_expected(&[
        ("sock_open 2 2 0", 0),
        ("sock_getsockopt *0 41 26 8 4", 0),
        ("word 8", 0),
        // Every address of IPv6.
        ("set 16 1024", 0),
        ("set 20 16", 0),
        ("sock_bind *0 16 8080", 0),
        ("sock_listen *0 8", 0),
        ("set 16 32", 0),
        ("set 20 4", 0),
        ("set 32 0x0100007f", 0),
        ("sock_open 1 2 4", 0),
        ("sock_bind *4 16 8080", 3),
        ("sock_connect *4 16 8080", 0),
        ("sock_accept_v1 *0 948", 0),
        ("sock_getpeeraddr *948 940 56", 0),
        ("half 970", 0xffff),
        ("word 972", 0x0100_007f),
        ("sock_getsockopt *4 41 26 8 4", 50),
        // An address of IPv4 in the clothes of IPv6.
        ("set 1034 0xffff", 0),
        ("set 1036 0x0100007f", 0),
        ("set 16 1024", 0),
        ("set 20 16", 0),
        ("sock_open 2 2 12", 0),
        ("sock_connect *12 16 8080", 0),
        ("sock_getpeeraddr *12 940 56", 0),
        ("word 972", 0x0100_007f),
        ("sock_setsockopt *12 41 26 8 4", 28),
        // Unless it is told otherwise.
        ("sock_open 2 2 12", 0),
        ("set 8 1", 0),
        ("sock_setsockopt *12 41 26 8 4", 0),
        ("sock_connect *12 16 8080", 28),
        // Datagrams.
        ("sock_open 2 1 0", 0),
        ("sock_bind *0 16 9000", 0),
        ("sock_open 1 1 4", 0),
        ("set 16 32", 0),
        ("set 20 4", 0),
        ("sock_send_to *4 232 1 16 9000 0 196", 0),
        ("sock_recv_from_v1 *0 200 1 940 0 196 224", 0),
        ("half 970", 0xffff),
        ("word 972", 0x0100_007f),
        ("word 196", 5),
    ]);
}

#[test]
fn calls_that_are_wrong_are_answered_with_their_errors() {
    answers_as_expected(&[
        ("sock_open 9 2 0", 5),
        ("sock_open 1 9 0", 66),
        ("sock_bind 99 16 1", 8),
        ("sock_bind 1 16 1", 57),
        ("sock_open 1 2 0", 0),
        ("sock_bind *0 16 70000", 28),
        ("set 20 7", 0),
        ("sock_bind *0 16 1", 28),
        ("set 20 128", 0),
        ("sock_bind *0 16 1", 5),
        ("set 20 4", 0),
        ("set 32 0x01020304", 0),
        ("sock_bind *0 16 1", 4),
        // There is no way to that address, whatever the port.
        ("sock_connect *0 16 0", 23),
        ("sock_accept *0 0 4", 28),
        ("sock_recv *0 200 1 0 196 224", 53),
        ("sock_recv *0 200 1 1 196 224", 58),
        ("sock_send *0 208 2 0 196", 64),
        ("sock_shutdown *0 1", 53),
        ("sock_shutdown *0 0", 28),
        ("sock_getpeeraddr *0 48 56", 53),
        ("sock_getlocaladdr *0 16 56", 0),
        ("set 52 64", 0),
        ("sock_getlocaladdr *0 48 56", 28),
        ("sock_getsockopt *0 0 99 8 4", 50),
        ("sock_getsockopt *0 0 1 8 2", 28),
        ("sock_setsockopt *0 0 9 8 4", 50),
        ("sock_setsockopt *0 0 7 8 8", 28),
        ("sock_getaddrinfo 700 0 712 0 720 752 8 756", 84),
        ("sock_getaddrinfo 700 6 712 4 720 752 8 756", 84),
        ("sock_getaddrinfo 700 0 712 4 720 752 0 756", 82),
        ("sock_getaddrinfo 700 0 700 6 720 752 1 756", 85),
        ("fd_close *0", 0),
        ("fd_close *0", 8),
        ("sock_listen *0 1", 8),
    ]);
}

#[test]
fn addresses_outside_the_memory_end_the_program() {
    for step in [
        "sock_open 1 2 0xfffffffc",
        "sock_bind *0 0xfffffff8 1",
        "sock_getlocaladdr *0 48 0x10000",
        "sock_getsockopt *0 0 1 0x10000 4",
        "sock_getaddrinfo 0xffffff00 99 712 4 720 752 8 756",
        "sock_send *0 0xfffffff0 9 0 196",
        "sock_accept *0 64 4",
    ] {
        let fozzy = Fozzy::new();
        fozzy.write("main.wat", program(&[("sock_open 1 2 0", 0), (step, 0)]));
        let ran = fozzy.run(&["run", "main.wat", "--json"]).json();
        assert_eq!(ran["status"], "crash", "{step}: {ran:#}");
    }
}
