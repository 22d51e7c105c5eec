//! `wasi:cli` and `wasi:random`: what a program is given, how it ends, and chance.

use crate::cases;
use crate::show::Bytes;
use wasip2::cli::environment::{get_arguments, get_environment, initial_cwd};
use wasip2::cli::exit::{exit, exit_with_code};
use wasip2::cli::terminal_stderr::get_terminal_stderr;
use wasip2::cli::terminal_stdin::get_terminal_stdin;
use wasip2::cli::terminal_stdout::get_terminal_stdout;
use wasip2::cli::{stderr::get_stderr, stdin::get_stdin, stdout::get_stdout};
use wasip2::random::insecure::{get_insecure_random_bytes, get_insecure_random_u64};
use wasip2::random::insecure_seed::insecure_seed;
use wasip2::random::random::{get_random_bytes, get_random_u64};

cases! {
    Together "cli/environment.get-environment" "in the order given" |_d| get_environment();
    Together "cli/environment.get-environment" "twice the same" |_d| get_environment() == get_environment();
    Together "cli/environment.get-arguments" "the program's name first" |_d| get_arguments();
    Alone "cli/environment.get-arguments" "with blanks, quotes, none, beyond ASCII" |_d| get_arguments();
    Together "cli/environment.initial-cwd" "as given" |_d| initial_cwd();
    Alone "cli/exit.exit" "with success" |_d| exit(Ok(()));
    Alone "cli/exit.exit" "with failure" |_d| exit(Err(()));
    Alone "cli/exit.exit-with-code" "0" |_d| exit_with_code(0);
    Alone "cli/exit.exit-with-code" "1" |_d| exit_with_code(1);
    Alone "cli/exit.exit-with-code" "7" |_d| exit_with_code(7);
    Alone "cli/exit.exit-with-code" "255" |_d| exit_with_code(255);
    Alone "cli/exit.exit-with-code" "after writing" |_d| {
        let _ = get_stdout().blocking_write_and_flush(b"written before the end");
        exit_with_code(3)
    };

    Alone "cli/stdin.get-stdin" "one stream" |_d| crate::place::drain(&get_stdin());
    Alone "cli/stdin.get-stdin" "two streams share the tape" |_d| {
        let (one, other) = (get_stdin(), get_stdin());
        let (first, second) = (one.blocking_read(3).map(Bytes), other.blocking_read(3).map(Bytes));
        (first, second, crate::place::drain(&one), other.blocking_read(1).map(Bytes))
    };
    Alone "cli/stdin.get-stdin" "again after a drop" |_d| {
        let first = get_stdin().blocking_read(4).map(Bytes);
        (first, crate::place::drain(&get_stdin()))
    };
    Alone "cli/stdout.get-stdout" "two streams, one output" |_d| {
        let (one, other) = (get_stdout(), get_stdout());
        (one.blocking_write_and_flush(b"a"), other.blocking_write_and_flush(b"b"), one.blocking_write_and_flush(b"c\n"))
    };
    Alone "cli/stdout.get-stdout" "bytes that are no text" |_d| get_stdout().blocking_write_and_flush(b"\xff\x00\xfe\n");
    Alone "cli/stdout.get-stdout" "much" |_d| crate::place::pour(&get_stdout(), &[b'x'; 300_000]);
    Alone "cli/stderr.get-stderr" "beside stdout" |_d| {
        (get_stderr().blocking_write_and_flush(b"to err\n"), get_stdout().blocking_write_and_flush(b"to out\n"))
    };
    Alone "cli/stderr.get-stderr" "much" |_d| crate::place::pour(&get_stderr(), &[b'y'; 300_000]);
    Together "cli/terminal-stdin.get-terminal-stdin" "none" |_d| get_terminal_stdin().is_none();
    Together "cli/terminal-stdout.get-terminal-stdout" "none" |_d| get_terminal_stdout().is_none();
    Together "cli/terminal-stderr.get-terminal-stderr" "none" |_d| get_terminal_stderr().is_none();

    Together "random/random.get-random-bytes" "lengths" |_d| {
        [0, 1, 7, 8, 9, 4096, 100_000].map(|length| get_random_bytes(length).len())
    };
    Together "random/random.get-random-bytes" "differ between calls" |_d| get_random_bytes(16) != get_random_bytes(16);
    Together "random/random.get-random-bytes" "use every bit" |_d| {
        get_random_bytes(4096).iter().fold((0, 0xff), |(any, all), byte| (any | byte, all & byte)) == (0xff, 0)
    };
    Alone "random/random.get-random-bytes" "beyond all bounds" |_d| get_random_bytes(u64::MAX).len();
    Alone "random/random.get-random-bytes" "just beyond 64 MiB" |_d| get_random_bytes((64 << 20) + 1).len();
    Together "random/random.get-random-u64" "differ between calls" |_d| get_random_u64() != get_random_u64();
    Together "random/insecure.get-insecure-random-bytes" "lengths" |_d| {
        [0, 1, 7, 8, 9, 4096, 100_000].map(|length| get_insecure_random_bytes(length).len())
    };
    Together "random/insecure.get-insecure-random-bytes" "differ between calls" |_d| {
        get_insecure_random_bytes(16) != get_insecure_random_bytes(16)
    };
    Alone "random/insecure.get-insecure-random-bytes" "beyond all bounds" |_d| get_insecure_random_bytes(u64::MAX).len();
    Together "random/insecure.get-insecure-random-u64" "differ between calls" |_d| {
        get_insecure_random_u64() != get_insecure_random_u64()
    };
    Together "random/insecure-seed.insecure-seed" "is not zero" |_d| insecure_seed() != (0, 0);
    Together "random/insecure-seed.insecure-seed" "twice the same" |_d| insecure_seed() == insecure_seed();
}
