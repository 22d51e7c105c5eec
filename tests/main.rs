//! The one test binary: the whole of Fozzy from the outside, on real programs and on bad input.
//!
//! ```text
//! goldens            what a person sees: tests/cli/<case>/{command, stdout, stderr}
//! pages              every block of README and book is run
//! samples            real programs: equal traces, equal replays, every seed
//! bad_input          what must be refused, and how
//! conformance        every function of WASI, beside wasmtime-wasi: the same answers
//! border             programs of any host calls with any arguments
//! purity             guests run where no file, clock or random source can be reached
//! faults             programs that fail only when a planned fault strikes
//! debug_adapter      a recorded run in an editor, forwards and back
//! debug_console      a recorded run in a terminal, with variables of the source
//! debug_machines     machines whose turn it is not: what they wait for, their stacks and values
//! debug_info         places, variables, values and expressions of real programs, stopped in an engine
//! dialogues          standard input as a channel, in programs with a scheduler of their own
//! everything         a guest that uses everything, under every kind of fault
//! debug              runs are stopped anywhere, and go back
//! criteria           runs are held to what their plan expects, by commands and checkers alike
//! network            two machines of one run, a client and a server
//! preview1_sockets   sockets of core modules of preview 1, on two machines, on one, and calls that are wrong
//! processes          commands of a guest: scripted, other components, the real computer
//! licences           the licence of everything in the binary is shipped
//! live               the real computer captured, and replayed when what answered is gone
//! cluster            servers on std sockets and files, nemeses, clients of the SDK: what was planted is found
//! maelstrom          clusters of nodes that speak the Maelstrom protocol: what was planted is found, what is odd is told
//! coverage           what recorded runs have reached, in C, Rust and JavaScript
//! map                what is covered is what ran, and what a change needs is what reaches it
//! reactors           components called from outside, brought back from checkpoints
//! fuzz               campaigns: what was planted is found, findings replay alone, equal campaigns are equal
//! instrumented       rewritten programs beside the originals
//! scenarios          what was planted in scenarios/ is found, and nothing else
//! stretches          steps of scenarios in one call: the same as with a call for each
//! memory             leak budgets, limits and failures of allocations
//! shrink             recorded failures become small, and stay the same
//! release            archives of a release, and the action that installs and runs them
//! c_header           scenarios in C natively: the same flows and values as in the sandbox
//! suite              fozzy test: what is wrong, kept failures, every format
//! init               what `fozzy init` writes builds and passes
//! targets            a scenario and its target, each a component of its own
//! documents          what `--json` prints, beside its JSON Schema
//! diff               two programs under equal decisions: where they differ, what may
//! dashboard          what a fleet has found, over HTTP, as files, and in a browser
//! fleet              every test of a project: found, searched, kept, whatever happens to the fleet
//! go_panics          panics of Go, which exits with a code
//! planted            faults planted in ordinary programs are found by exploring them, and their mended twins pass
//! parity             faults of the first Fozzy's engine that ours does not have
//! antithesis         a program with the SDK of Antithesis, unchanged: what it says is understood
//! hostile_guests     programs that try to get out of their bounds
//! workers            campaigns with several processes: killed, stopped, out of reach
//! ```
//!
//! Not here: tests of one crate, which are in it.
#![allow(clippy::disallowed_methods, reason = "tests start processes and threads and read settings of the test run")]

// Its `#[test]` stands before that of the standard library.
#[macro_use]
extern crate fozzy_tests_macros;

mod alone;
mod antithesis;
mod bad_input;
mod border;
mod c_header;
mod cluster;
mod compiled_once;
mod conformance;
mod core_modules;
mod corpus;
mod coverage;
mod criteria;
mod dashboard;
mod debug;
mod debug_adapter;
mod debug_console;
mod debug_gdb;
mod debug_info;
mod debug_machines;
mod debug_steps;
mod deploy;
mod dialogues;
mod diff;
mod distributed;
mod documents;
mod everything;
mod explore;
mod faults;
mod fleet;
mod fozzy;
mod fuzz;
mod go_panics;
mod goldens;
mod harness;
mod heap;
mod holds;
mod hostile_guests;
mod init;
mod instrumented;
mod interrupted;
mod licences;
mod live;
mod machines;
mod maelstrom;
mod map;
mod maximize;
mod memcheck;
mod memory;
mod memory_faults;
mod mine;
mod mounts;
mod mutants;
mod network;
mod pages;
mod parity;
mod planted;
mod preview1_sockets;
mod processes;
mod profile;
mod purity;
mod reactors;
mod recorded;
mod redis_server;
mod release;
mod samples;
mod saved;
mod scenarios;
mod settings;
mod shortest;
mod shrink;
mod stretches;
mod suite;
mod suspects;
mod targets;
mod terminal;
mod tidy;
mod tier;
mod traces;
mod travel;
mod version_one;
mod wait;
mod workers;

fn main() -> std::process::ExitCode {
    harness::run(goldens::trials().into_iter().chain(pages::trials()).collect())
}
