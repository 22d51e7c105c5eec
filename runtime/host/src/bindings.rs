//! The generated side of WIT. Nothing is written by hand here but the marker types of resources.

#![allow(missing_docs, unreachable_pub, reason = "generated from WIT, where the documentation is")]

/// A `wasi:io/poll.pollable`; what it waits for is in the world's table.
pub struct Pollable;
/// A `wasi:io/error.error`.
pub struct IoError;
/// A `wasi:io/streams.input-stream`.
pub struct InputStream;
/// A `wasi:io/streams.output-stream`.
pub struct OutputStream;
/// A `wasi:filesystem/types.descriptor`.
pub struct Descriptor;
/// A `wasi:filesystem/types.directory-entry-stream`.
pub struct DirectoryEntryStream;
/// A `wasi:cli/terminal-input.terminal-input`; never handed out.
pub struct TerminalInput;
/// A `wasi:cli/terminal-output.terminal-output`; never handed out.
pub struct TerminalOutput;
/// A `fozzy:process/run.child`.
pub struct Child;

wasmtime::component::bindgen!({
    path: "../../wit",
    world: "fozzy:runtime/computer",
    // What may wait lets other guests go on meanwhile.
    imports: {
        "wasi:io/poll.poll": async | trappable,
        "wasi:io/poll.[method]pollable.block": async | trappable,
        "wasi:io/streams.[method]input-stream.blocking-read": async | trappable,
        "wasi:io/streams.[method]input-stream.blocking-skip": async | trappable,
        "wasi:io/streams.[method]output-stream.blocking-write-and-flush": async | trappable,
        "wasi:io/streams.[method]output-stream.blocking-flush": async | trappable,
        "wasi:io/streams.[method]output-stream.blocking-write-zeroes-and-flush": async | trappable,
        "wasi:io/streams.[method]output-stream.blocking-splice": async | trappable,
        "fozzy:process/run.run": async | trappable,
        "fozzy:process/run.[method]child.wait": async | trappable,
        default: trappable,
    },
    with: {
        "wasi:io/poll.pollable": Pollable,
        "wasi:io/error.error": IoError,
        "wasi:io/streams.input-stream": InputStream,
        "wasi:io/streams.output-stream": OutputStream,
        "wasi:filesystem/types.descriptor": Descriptor,
        "wasi:filesystem/types.directory-entry-stream": DirectoryEntryStream,
        "fozzy:process/run.child": Child,
        "wasi:cli/terminal-input.terminal-input": TerminalInput,
        "wasi:cli/terminal-output.terminal-output": TerminalOutput,
    },
});
