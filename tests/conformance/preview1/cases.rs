//! The cases: every function of preview 1, in the ways that have answers of their own.
//!
//! They are calls of one program, one behind the other: what an earlier one opened, a later one uses by its number.

use super::Argument::{self, Buffers, Data, I32, I64, Text};
use super::{BOTH, NONE, READ, ROOT, Script, open, out, poll, subscription};

/// Every function, in the ways that have answers of their own.
pub(super) fn script(version: &str) -> Script {
    let mut script = Script::default();
    let unstable = version == "wasi_unstable";
    program_cases(&mut script);
    descriptor_cases(&mut script);
    path_cases(&mut script, unstable);
    data_cases(&mut script, unstable);
    if !unstable {
        poll_cases(&mut script);
        script.call("sock_accept", "of a file", &[I32(ROOT), I32(0), out(0)], &[(0, 4)]);
        script.call("sock_accept", "of nothing", &[I32(NONE), I32(0), out(0)], &[]);
    } else {
        // Theirs ends the program at these.
        script.0.retain(|case| !case.function.starts_with("sock_"));
    }
    script
}

fn program_cases(script: &mut Script) {
    script.call("args_sizes_get", "as given", &[out(0), out(4)], &[(0, 8)]);
    script.call("args_get", "as given", &[out(0), out(64)], &[(0, 12), (64, 32)]);
    script.call("environ_sizes_get", "as given", &[out(0), out(4)], &[(0, 8)]);
    script.call("environ_get", "as given", &[out(0), out(64)], &[(0, 16), (64, 64)]);
    script.call("clock_res_get", "of the times of a process", &[I32(2), out(0)], &[]);
    script.call("clock_res_get", "of the times of a thread", &[I32(3), out(0)], &[]);
    script.call("clock_res_get", "of the monotonic clock", &[I32(1), out(0)], &[]);
    script.call("clock_time_get", "of the wall clock", &[I32(0), I64(0), out(0)], &[]);
    script.call("clock_time_get", "of the monotonic clock", &[I32(1), I64(1), out(0)], &[]);
    script.call("clock_time_get", "of the times of a process", &[I32(2), I64(1), out(0)], &[]);
    script.call("random_get", "some", &[out(0), I32(16)], &[(16, 4)]);
    script.call("random_get", "none", &[out(0), I32(0)], &[(0, 4)]);
    script.call("sched_yield", "always", &[], &[]);
    script.call("proc_raise", "a signal", &[I32(6)], &[]);
}

fn descriptor_cases(script: &mut Script) {
    let mut on = |function: &'static str, of: &[(&'static str, u32)], rest: &[Argument], shown: &[(u32, u32)]| {
        for (name, fd) in of {
            let arguments: Vec<Argument> = [I32(*fd)].into_iter().chain(rest.iter().cloned()).collect();
            script.call(function, name, &arguments, shown);
        }
    };
    const ALL: &[(&str, u32)] =
        &[("of stdin", 0), ("of stdout", 1), ("of stderr", 2), ("of the root", ROOT), ("of nothing", NONE)];
    on("fd_fdstat_get", ALL, &[out(0)], &[(0, 24)]);
    on("fd_filestat_get", &ALL[..3], &[out(0)], &[(0, 64)]);
    on("fd_filestat_get", &ALL[4..], &[out(0)], &[(0, 64)]);
    on("fd_filestat_get", &ALL[3..4], &[out(0)], &[(0, 8), (16, 1)]);
    on("fd_prestat_get", ALL, &[out(0)], &[(0, 8)]);
    on("fd_prestat_dir_name", ALL, &[out(0), I32(1)], &[(0, 8)]);
    on("fd_prestat_dir_name", &[("with room for more", ROOT)], &[out(0), I32(9)], &[(0, 8)]);
    on("fd_prestat_dir_name", &[("without room", ROOT)], &[out(0), I32(0)], &[(0, 8)]);
    on("fd_fdstat_set_flags", ALL, &[I32(1)], &[]);
    on("fd_fdstat_set_rights", ALL, &[I64(0), I64(0)], &[]);
    on("fd_advise", ALL, &[I64(0), I64(1), I32(0)], &[]);
    on("fd_allocate", ALL, &[I64(0), I64(1)], &[]);
    on("fd_datasync", ALL, &[], &[]);
    on("fd_sync", ALL, &[], &[]);
    on("fd_filestat_set_size", ALL, &[I64(0)], &[]);
    on("fd_filestat_set_times", &[ALL[0], ALL[3], ALL[4]], &[I64(1), I64(2), I32(5)], &[]);
    on("fd_filestat_set_times", &[("now and then", ROOT)], &[I64(1), I64(2), I32(3)], &[]);
    on("fd_filestat_set_times", &[("of nothing, now and then", NONE)], &[I64(1), I64(2), I32(12)], &[]);
    on("fd_seek", ALL, &[I64(0), I32(0), out(0)], &[(0, 8)]);
    on("fd_tell", ALL, &[out(0)], &[(0, 8)]);
    on("fd_read", &ALL[1..], &[Buffers(&[4]), out(0)], &[(0, 4), (256, 8)]);
    on("fd_read", &[("the first line", 0)], &[Buffers(&[0, 11]), out(0)], &[(0, 4), (256, 8), (320, 12)]);
    on("fd_read", &[("no more than one buffer", 0)], &[Buffers(&[4, 4]), out(0)], &[(0, 4), (256, 8), (320, 8)]);
    on("fd_pread", ALL, &[Buffers(&[4]), I64(0), out(0)], &[(0, 4)]);
    on("fd_write", &[ALL[0], ALL[3], ALL[4]], &[Data(&[b"x"]), out(0)], &[(0, 4)]);
    on("fd_write", &[("of nothing to nothing", NONE)], &[Data(&[]), out(0)], &[(0, 4)]);
    on("fd_write", &[("of nothing to stdout", 1)], &[Data(&[b"", b""]), out(0)], &[(0, 4)]);
    on("fd_write", &[("one buffer of two", 1)], &[Data(&[b"", b"said", b"more"]), out(0)], &[(0, 4)]);
    on("fd_pwrite", ALL, &[Data(&[b"x"]), I64(0), out(0)], &[(0, 4)]);
    on("fd_readdir", &[ALL[0], ALL[4]], &[out(0), I32(64), I64(0), out(512)], &[]);
    on("fd_renumber", &[ALL[0], ALL[4]], &[I32(NONE)], &[]);
    on("fd_renumber", &[("to itself", ROOT)], &[I32(ROOT)], &[]);
    on("fd_close", &[ALL[4]], &[], &[]);
    on("sock_recv", ALL, &[Buffers(&[4]), I32(0), out(0), out(4)], &[]);
    on("sock_send", ALL, &[Data(&[b"x"]), I32(0), out(0)], &[]);
    on("sock_shutdown", ALL, &[I32(1)], &[]);
}

fn path_cases(script: &mut Script, unstable: bool) {
    let [whole, times_of] = filestat(unstable);
    let at = |script: &mut Script, function: &'static str, name: &'static str, fd: u32, path: &'static [u8]| {
        script.call(function, name, &[I32(fd), Text(path)], &[]);
    };
    at(script, "path_create_directory", "new", ROOT, b"d");
    at(script, "path_create_directory", "there already", ROOT, b"d");
    at(script, "path_create_directory", "below nothing", ROOT, b"x/y");
    at(script, "path_create_directory", "outside", ROOT, b"../x");
    at(script, "path_create_directory", "absolute", ROOT, b"/x");
    at(script, "path_create_directory", "without a name", ROOT, b"");
    at(script, "path_create_directory", "no text", ROOT, b"\xff\xfe");
    at(script, "path_create_directory", "with a zero", ROOT, b"a\0b");
    at(script, "path_create_directory", "below stdin", 0, b"x");
    at(script, "path_create_directory", "below nothing open", NONE, b"x");
    let opening = |script: &mut Script, name: &'static str, arguments: Vec<Argument>| {
        script.call("path_open", name, &arguments, &[(0, 4)]);
    };
    opening(script, "what is not there", open(ROOT, 0, b"f", 0, READ, 0));
    opening(script, "made", open(ROOT, 0, b"f", 1, BOTH, 0));
    opening(script, "made anew", open(ROOT, 0, b"f", 5, BOTH, 0));
    opening(script, "to read", open(ROOT, 1, b"f", 0, READ, 0));
    opening(script, "a file as a directory", open(ROOT, 0, b"f", 2, READ, 0));
    opening(script, "a directory", open(ROOT, 0, b"d", 2, READ, 0));
    opening(script, "a directory to write", open(ROOT, 0, b"d", 0, BOTH, 0));
    opening(script, "to append", open(ROOT, 0, b"f", 0, BOTH, 1));
    opening(script, "not waiting", open(ROOT, 0, b"f", 0, BOTH, 4));
    opening(script, "synchronously", open(ROOT, 0, b"f", 0, BOTH, 16));
    opening(script, "below a file", open(4, 0, b"f", 0, READ, 0));
    opening(script, "below stdin", open(0, 0, b"f", 0, READ, 0));
    opening(script, "below nothing", open(NONE, 0, b"f", 0, READ, 0));
    opening(script, "outside", open(ROOT, 0, b"../f", 0, READ, 0));
    opening(script, "absolute", open(ROOT, 0, b"/f", 0, READ, 0));
    opening(script, "without rights", open(ROOT, 0, b"f", 0, 0, 0));
    opening(script, "no text", open(ROOT, 0, b"\xff", 0, READ, 0));
    opening(script, "without a name", open(ROOT, 0, b"", 0, READ, 0));
    opening(script, "the directory itself", open(ROOT, 0, b".", 0, READ, 0));
    opening(script, "with a slash at the end", open(ROOT, 0, b"f/", 0, READ, 0));
    opening(script, "truncated", open(ROOT, 0, b"f", 8, BOTH, 0));
    for (name, fd) in
        [("of a file", 4), ("of a file to read", 5), ("of a directory", 6), ("of one to append", 7), ("not waiting", 8)]
    {
        script.call("fd_fdstat_get", name, &[I32(fd), out(0)], &[(0, 24)]);
    }
    let link = |old: &'static [u8], fd: u32, new: &'static [u8]| vec![I32(ROOT), I32(0), Text(old), I32(fd), Text(new)];
    script.call("path_link", "new", &link(b"f", ROOT, b"hard"), &[]);
    script.call("path_link", "there already", &link(b"f", ROOT, b"hard"), &[]);
    script.call("path_link", "of nothing", &link(b"x", ROOT, b"y"), &[]);
    script.call("path_link", "of a directory", &link(b"d", ROOT, b"y"), &[]);
    script.call("path_link", "to nothing open", &link(b"f", NONE, b"y"), &[]);
    let symlink = |text: &'static [u8], fd: u32, path: &'static [u8]| vec![Text(text), I32(fd), Text(path)];
    script.call("path_symlink", "new", &symlink(b"f", ROOT, b"soft"), &[]);
    script.call("path_symlink", "there already", &symlink(b"f", ROOT, b"soft"), &[]);
    script.call("path_symlink", "to a loop", &symlink(b"loop", ROOT, b"loop"), &[]);
    script.call("path_symlink", "absolute", &symlink(b"/f", ROOT, b"abs"), &[]);
    script.call("path_symlink", "below stdin", &symlink(b"f", 0, b"x"), &[]);
    let readlink = |fd: u32, path: &'static [u8], room: u32| vec![I32(fd), Text(path), out(256), I32(room), out(0)];
    script.call("path_readlink", "whole", &readlink(ROOT, b"loop", 64), &[(0, 4), (256, 8)]);
    script.call("path_readlink", "cut", &readlink(ROOT, b"loop", 2), &[(0, 4), (256, 8)]);
    script.call("path_readlink", "of a file", &readlink(ROOT, b"f", 64), &[(0, 4)]);
    script.call("path_readlink", "of nothing", &readlink(ROOT, b"x", 64), &[]);
    script.call("path_readlink", "below nothing open", &readlink(NONE, b"soft", 64), &[]);
    let stat = |fd: u32, follow: u32, path: &'static [u8]| vec![I32(fd), I32(follow), Text(path), out(0)];
    script.call("path_filestat_get", "of a file", &stat(ROOT, 0, b"f"), &[(0, 8), whole]);
    script.call("path_filestat_get", "of a link", &stat(ROOT, 0, b"soft"), &[(0, 8), (16, 1)]);
    script.call("path_filestat_get", "through a link", &stat(ROOT, 1, b"soft"), &[(0, 8), whole]);
    script.call("path_filestat_get", "through a loop", &stat(ROOT, 1, b"loop"), &[]);
    script.call("path_filestat_get", "of nothing", &stat(ROOT, 0, b"x"), &[]);
    script.call("path_filestat_get", "below nothing open", &stat(NONE, 0, b"f"), &[]);
    script.call("path_filestat_get", "through the last", &stat(ROOT, 1, b"soft/x"), &[]);
    let times = |path: &'static [u8], flags: u32| {
        vec![I32(ROOT), I32(0), Text(path), I64(7_000_000_001), I64(9_000_000_002), I32(flags)]
    };
    script.call("path_filestat_set_times", "both", &times(b"f", 5), &[]);
    script.call("path_filestat_get", "with its times", &stat(ROOT, 0, b"f"), &[times_of]);
    script.call("path_filestat_set_times", "now and then", &times(b"f", 3), &[]);
    script.call("path_filestat_set_times", "of nothing", &times(b"x", 5), &[]);
    let rename = |old: &'static [u8], fd: u32, new: &'static [u8]| vec![I32(ROOT), Text(old), I32(fd), Text(new)];
    script.call("path_rename", "to a new name", &rename(b"hard", ROOT, b"d/moved"), &[]);
    script.call("path_rename", "of nothing", &rename(b"hard", ROOT, b"y"), &[]);
    script.call("path_rename", "of a directory into itself", &rename(b"d", ROOT, b"d/x"), &[]);
    script.call("path_rename", "of a file over a directory", &rename(b"f", ROOT, b"d"), &[]);
    script.call("path_rename", "to nothing open", &rename(b"f", NONE, b"y"), &[]);
    at(script, "path_remove_directory", "that is full", ROOT, b"d");
    at(script, "path_remove_directory", "of a file", ROOT, b"f");
    at(script, "path_remove_directory", "of nothing", ROOT, b"x");
    at(script, "path_remove_directory", "below nothing open", NONE, b"d");
    at(script, "path_unlink_file", "below a directory", ROOT, b"d/moved");
    at(script, "path_unlink_file", "again", ROOT, b"d/moved");
    at(script, "path_unlink_file", "of a directory", ROOT, b"d");
    at(script, "path_unlink_file", "no text", ROOT, b"\xff");
    at(script, "path_unlink_file", "below nothing open", NONE, b"f");
    at(script, "path_remove_directory", "that is empty", ROOT, b"d");
}

fn data_cases(script: &mut Script, unstable: bool) {
    let [whole, times_of] = filestat(unstable);
    let write = |fd: u32, data: &'static [&'static [u8]]| vec![I32(fd), Data(data), out(0)];
    let read = |fd: u32, lengths: &'static [u32]| vec![I32(fd), Buffers(lengths), out(0)];
    const READ_OUT: &[(u32, u32)] = &[(0, 4), (256, 16)];
    let [set, current, end] = if unstable { [2, 0, 1] } else { [0, 1, 2] };
    let seek = |fd: u32, to: i64, whence: u32| vec![I32(fd), I64(to.cast_unsigned()), I32(whence), out(0)];
    script.call("fd_write", "to a file", &write(4, &[b"hello, world"]), &[(0, 4)]);
    script.call("fd_tell", "behind what was written", &[I32(4), out(0)], &[(0, 8)]);
    script.call("fd_read", "at the end", &read(4, &[8]), READ_OUT);
    script.call("fd_seek", "to the beginning", &seek(4, 0, set), &[(0, 8)]);
    script.call("fd_read", "some", &read(4, &[5]), READ_OUT);
    script.call("fd_read", "no bytes", &read(4, &[0]), READ_OUT);
    script.call("fd_read", "without buffers", &read(4, &[]), READ_OUT);
    script.call("fd_seek", "further", &seek(4, 2, current), &[(0, 8)]);
    script.call("fd_seek", "before the beginning", &seek(4, -20, current), &[]);
    script.call("fd_seek", "to a negative place", &seek(4, -1, set), &[]);
    script.call("fd_seek", "from the end", &seek(4, -5, end), &[(0, 8)]);
    script.call("fd_seek", "of a directory", &seek(6, 0, set), &[]);
    script.call("fd_read", "what is left", &read(4, &[16]), READ_OUT);
    script.call("fd_read", "a file that is not for reading", &read(6, &[4]), &[]);
    script.call("fd_write", "to a file that is only for reading", &write(5, &[b"x"]), &[]);
    script.call("fd_write", "to a directory", &write(6, &[b"x"]), &[]);
    script.call("fd_write", "at the end", &write(7, &[b"!"]), &[(0, 4)]);
    script.call("fd_tell", "of one to append", &[I32(7), out(0)], &[(0, 8)]);
    script.call("fd_pread", "in the middle", &[I32(4), Buffers(&[5]), I64(7), out(0)], READ_OUT);
    script.call("fd_pread", "beyond the end", &[I32(4), Buffers(&[5]), I64(70), out(0)], READ_OUT);
    script.call("fd_pread", "of a directory", &[I32(6), Buffers(&[5]), I64(0), out(0)], &[]);
    script.call("fd_pwrite", "in the middle", &[I32(4), Data(&[b"W"]), I64(7), out(0)], &[(0, 4)]);
    script.call("fd_pwrite", "to one to append", &[I32(7), Data(&[b"?"]), I64(0), out(0)], &[(0, 4)]);
    script.call("fd_pwrite", "to a directory", &[I32(6), Data(&[b"W"]), I64(7), out(0)], &[]);
    script.call("fd_tell", "is not moved by them", &[I32(4), out(0)], &[(0, 8)]);
    script.call("fd_pread", "all", &[I32(5), Buffers(&[16]), I64(0), out(0)], READ_OUT);
    script.call("fd_filestat_set_size", "of a file", &[I32(4), I64(4)], &[]);
    script.call("fd_filestat_set_size", "of one only for reading", &[I32(5), I64(4)], &[]);
    script.call("fd_filestat_set_size", "of a directory", &[I32(6), I64(4)], &[]);
    script.call("fd_filestat_get", "of a file", &[I32(4), out(0)], &[(0, 8), whole]);
    script.call("fd_filestat_set_times", "of a file", &[I32(4), I64(1), I64(3_000_000_000), I32(5)], &[]);
    script.call("fd_filestat_get", "of a file, its times", &[I32(4), out(0)], &[times_of]);
    script.call("fd_advise", "of a file", &[I32(4), I64(0), I64(4), I32(3)], &[]);
    script.call("fd_advise", "of a directory", &[I32(6), I64(0), I64(4), I32(3)], &[]);
    script.call("fd_allocate", "of a file", &[I32(4), I64(0), I64(4)], &[]);
    script.call("fd_sync", "of a file", &[I32(4)], &[]);
    script.call("fd_datasync", "of a file", &[I32(4)], &[]);
    script.call("fd_fdstat_set_flags", "of a file", &[I32(4), I32(5)], &[]);
    script.call("fd_fdstat_get", "with flags that were set", &[I32(4), out(0)], &[(0, 24)]);
    script.call("fd_fdstat_set_flags", "to synchronous ones", &[I32(4), I32(16)], &[]);
    script.call("fd_fdstat_set_rights", "of a file", &[I32(4), I64(READ), I64(READ)], &[]);
    script.call("fd_prestat_get", "of a directory", &[I32(6), out(0)], &[]);
    script.call("fd_prestat_dir_name", "of a directory", &[I32(6), out(0), I32(9)], &[]);
    script.call("fd_filestat_get", "of a directory that is gone", &[I32(6), out(0)], &[(0, 8), (16, 1)]);
    script.call("fd_renumber", "over a file", &[I32(4), I32(8)], &[]);
    script.call("fd_tell", "of its old number", &[I32(4), out(0)], &[]);
    script.call("fd_tell", "of its new number", &[I32(8), out(0)], &[(0, 8)]);
    script.call("fd_close", "of its new number", &[I32(8)], &[]);
    script.call("fd_close", "twice", &[I32(8)], &[]);
    script.call("path_open", "takes the highest number that is free", &open(ROOT, 0, b"f", 0, READ, 0), &[(0, 4)]);
    script.call("path_open", "takes the next one then", &open(ROOT, 0, b"f", 0, READ, 0), &[(0, 4)]);
    script.call("path_create_directory", "for a listing", &[I32(ROOT), Text(b"list")], &[]);
    script.call("path_create_directory", "in a listing", &[I32(ROOT), Text(b"list/a")], &[]);
    script.call("path_open", "of a listing", &open(ROOT, 0, b"list", 2, READ, 0), &[(0, 4)]);
    // `d_next`, the length of the name, its type and the name of each of three entries; identities differ.
    const ENTRIES: &[(u32, u32)] = &[(512, 4), (0, 8), (16, 9), (25, 8), (41, 11), (52, 8), (68, 9)];
    let readdir = |cookie: u64, room: u32| vec![I32(LISTED), out(0), I32(room), I64(cookie), out(512)];
    script.call("fd_readdir", "all", &readdir(0, 256), ENTRIES);
    script.call("fd_readdir", "the last one", &readdir(2, 256), &[(512, 4), (0, 8), (16, 9)]);
    script.call("fd_readdir", "beyond the last one", &readdir(3, 256), &[(512, 4)]);
    script.call("fd_readdir", "far beyond", &readdir(1 << 40, 256), &[(512, 4)]);
    script.call("fd_readdir", "cut inside an entry", &readdir(0, 10), &[(512, 4), (0, 8)]);
    script.call("fd_readdir", "without room", &readdir(0, 0), &[(512, 4)]);
    script.call("fd_readdir", "of a file", &[I32(5), out(0), I32(64), I64(0), out(512)], &[]);
}

/// The descriptor of the directory that is listed.
const LISTED: u32 = 9;

fn poll_cases(script: &mut Script) {
    const EVENTS: &[(u32, u32)] = &[(0, 4), (64, 64)];
    let clock = |userdata: u8, id: u8, timeout: u64, flags: u8| {
        subscription(userdata, 0, &[(16, &[id]), (24, &timeout.to_le_bytes()), (40, &[flags])])
    };
    let on = |userdata: u8, tag: u8, fd: u8| subscription(userdata, tag, &[(16, &[fd])]);
    let mut poll_of = |name: &'static str, subscriptions: &[&'static [u8]]| {
        script.call("poll_oneoff", name, &poll(subscriptions), EVENTS);
    };
    poll_of("of nothing", &[]);
    poll_of("of the monotonic clock", &[clock(7, 1, 1000, 0)]);
    poll_of("of the wall clock", &[clock(7, 0, 1000, 0)]);
    poll_of("of the past", &[clock(7, 1, 1, 1)]);
    poll_of("of the past on the wall clock", &[clock(7, 0, 1, 1)]);
    poll_of("of the times of a process", &[clock(7, 2, 1, 0)]);
    poll_of("of no clock", &[clock(7, 9, 1, 0)]);
    poll_of("with unknown flags", &[clock(7, 1, 1, 2)]);
    poll_of("of stdin", &[on(1, 1, 0)]);
    poll_of("of stdout", &[on(2, 2, 1)]);
    poll_of("of stderr", &[on(2, 2, 2)]);
    poll_of("to read from stdout", &[on(1, 1, 1)]);
    poll_of("to write to stdin", &[on(1, 2, 0)]);
    poll_of("of nothing open", &[on(1, 1, 99)]);
    poll_of("of a directory", &[on(1, 1, 3)]);
    poll_of("of a file", &[on(1, 1, 5)]);
    poll_of("of a file to write", &[on(1, 2, 7)]);
    poll_of("without a meaning", &[on(1, 3, 0)]);
    poll_of("of a deadline far away and a file", &[clock(7, 1, 1 << 60, 0), on(9, 1, 5)]);
    poll_of("of two outputs", &[on(3, 2, 1), on(4, 2, 2)]);
}

/// Reads of standard input: in parts, of nothing, what is left of it, and behind its end.
pub(super) fn stdin_script() -> Script {
    const READ: &[(u32, u32)] = &[(0, 4), (256, 64)];
    let mut script = Script::default();
    let read = |script: &mut Script, name: &'static str, lengths: &'static [u32]| {
        script.call("fd_read", name, &[I32(0), Buffers(lengths), out(0)], READ);
    };
    let ready: &'static [u8] = subscription(1, 1, &[(16, &[0])]);
    let poll_of = |script: &mut Script, name: &'static str| {
        script.call("poll_oneoff", name, &poll(&[ready]), &[(0, 4), (64, 32)]);
    };
    let state = |script: &mut Script, name: &'static str| {
        script.call("fd_fdstat_get", name, &[I32(0), out(0)], &[(0, 24)]);
    };
    state(&mut script, "before");
    poll_of(&mut script, "before");
    read(&mut script, "of no buffer", &[]);
    read(&mut script, "of an empty buffer", &[0]);
    read(&mut script, "of a part", &[3]);
    read(&mut script, "of two parts", &[0, 2, 2]);
    read(&mut script, "of more than is left", &[64]);
    state(&mut script, "at the end");
    poll_of(&mut script, "at the end");
    read(&mut script, "behind the end", &[4]);
    read(&mut script, "behind the end again", &[4]);
    read(&mut script, "of nothing behind the end", &[0]);
    read(&mut script, "of no buffer behind the end", &[]);
    script
}

/// Calls that end the program on both sides, each alone: a number without a meaning, an address outside the memory or not aligned.
pub(super) fn endings() -> Vec<Script> {
    let mut all = Script::default();
    let opening =
        |all: &mut Script, name: &'static str, arguments: Vec<Argument>| all.call("path_open", name, &arguments, &[]);
    all.call("clock_res_get", "of no clock", &[I32(4), out(0)], &[]);
    all.call("clock_time_get", "of a negative one", &[I32(u32::MAX), I64(1), out(0)], &[]);
    all.call("clock_time_get", "to an odd address", &[I32(0), I64(1), out(4)], &[]);
    all.call("clock_time_get", "to nowhere", &[I32(0), I64(1), I32(u32::MAX - 7)], &[]);
    all.call("proc_raise", "no signal", &[I32(40)], &[]);
    all.call("fd_fdstat_set_flags", "to no flags", &[I32(ROOT), I32(32)], &[]);
    all.call("fd_fdstat_set_rights", "to no rights", &[I32(ROOT), I64(1 << 40), I64(0)], &[]);
    all.call("fd_advise", "without a meaning", &[I32(NONE), I64(0), I64(1), I32(6)], &[]);
    all.call("fd_filestat_set_times", "without a meaning", &[I32(ROOT), I64(1), I64(2), I32(16)], &[]);
    all.call("fd_seek", "without a meaning", &[I32(ROOT), I64(0), I32(3), out(0)], &[]);
    all.call("fd_read", "into nowhere", &[I32(0), I32(u32::MAX - 3), I32(1), out(0)], &[]);
    all.call("fd_read", "by an odd list", &[I32(0), out(2), I32(1), out(0)], &[]);
    all.call("fd_write", "and tells it nowhere", &[I32(1), Data(&[b"x"]), I32(u32::MAX - 3)], &[]);
    all.call("fd_prestat_get", "to nowhere", &[I32(ROOT), I32(1 << 30)], &[]);
    all.call("random_get", "to nowhere", &[I32((16 << 16) - 4), I32(5)], &[]);
    all.call("args_get", "to nowhere", &[out(0), I32(u32::MAX)], &[]);
    all.call("path_create_directory", "of nowhere", &[I32(ROOT), I32(u32::MAX), I32(2)], &[]);
    all.call("path_filestat_get", "with unknown flags", &[I32(ROOT), I32(2), Text(b"f"), out(0)], &[]);
    opening(&mut all, "with unknown lookup flags", open(ROOT, 2, b"f", 0, READ, 0));
    opening(&mut all, "with unknown oflags", open(ROOT, 0, b"f", 16, READ, 0));
    opening(&mut all, "with unknown rights", open(ROOT, 0, b"f", 0, 1 << 35, 0));
    opening(&mut all, "with negative rights", open(ROOT, 0, b"f", 0, 1 << 63, 0));
    opening(&mut all, "with unknown fdflags", open(ROOT, 0, b"f", 0, READ, 32));
    all.call("sock_recv", "with unknown flags", &[I32(ROOT), Buffers(&[4]), I32(4), out(0), out(4)], &[]);
    all.call("sock_shutdown", "without a meaning", &[I32(ROOT), I32(4)], &[]);
    all.0.into_iter().map(|case| Script(vec![case])).collect()
}

/// Where `filestat` has type, links and size, and where the times of access and modification.
fn filestat(unstable: bool) -> [(u32, u32); 2] {
    if unstable { [(16, 16), (32, 16)] } else { [(16, 24), (40, 16)] }
}
