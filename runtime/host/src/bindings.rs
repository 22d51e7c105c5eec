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
/// A `wasi:sockets/network.network`.
pub struct Network;
/// A `wasi:sockets/ip-name-lookup.resolve-address-stream`.
pub struct ResolveAddressStream;
/// A `wasi:sockets/tcp.tcp-socket`.
pub struct TcpSocket;
/// A `wasi:sockets/udp.udp-socket`.
pub struct UdpSocket;
/// A `wasi:sockets/udp.incoming-datagram-stream`.
pub struct IncomingDatagramStream;
/// A `wasi:sockets/udp.outgoing-datagram-stream`.
pub struct OutgoingDatagramStream;
/// A `wasi:cli/terminal-input.terminal-input`; never handed out.
pub struct TerminalInput;
/// A `wasi:cli/terminal-output.terminal-output`; never handed out.
pub struct TerminalOutput;
/// A `wasi:http/types.fields`.
pub struct Fields;
/// A `wasi:http/types.outgoing-request`.
pub struct OutgoingRequest;
/// A `wasi:http/types.request-options`.
pub struct RequestOptions;
/// A `wasi:http/types.outgoing-response`.
pub struct OutgoingResponse;
/// A `wasi:http/types.outgoing-body`.
pub struct OutgoingBody;
/// A `wasi:http/types.incoming-request`.
pub struct IncomingRequest;
/// A `wasi:http/types.incoming-response`.
pub struct IncomingResponse;
/// A `wasi:http/types.incoming-body`.
pub struct IncomingBody;
/// A `wasi:http/types.future-trailers`.
pub struct FutureTrailers;
/// A `wasi:http/types.future-incoming-response`.
pub struct FutureIncomingResponse;
/// A `wasi:http/types.response-outparam`.
pub struct ResponseOutparam;
/// A `fozzy:process/run.child`.
pub struct Child;

wasmtime::component::bindgen!({
    path: "wit",
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
        "fozzy:target/control.call": async | trappable,
        default: trappable,
    },
    with: {
        "wasi:io/poll.pollable": Pollable,
        "wasi:io/error.error": IoError,
        "wasi:io/streams.input-stream": InputStream,
        "wasi:io/streams.output-stream": OutputStream,
        "wasi:filesystem/types.descriptor": Descriptor,
        "wasi:filesystem/types.directory-entry-stream": DirectoryEntryStream,
        "wasi:sockets/network.network": Network,
        "wasi:sockets/ip-name-lookup.resolve-address-stream": ResolveAddressStream,
        "wasi:sockets/tcp.tcp-socket": TcpSocket,
        "wasi:sockets/udp.udp-socket": UdpSocket,
        "wasi:sockets/udp.incoming-datagram-stream": IncomingDatagramStream,
        "wasi:sockets/udp.outgoing-datagram-stream": OutgoingDatagramStream,
        "fozzy:process/run.child": Child,
        "wasi:cli/terminal-input.terminal-input": TerminalInput,
        "wasi:cli/terminal-output.terminal-output": TerminalOutput,
        "wasi:http/types.fields": Fields,
        "wasi:http/types.outgoing-request": OutgoingRequest,
        "wasi:http/types.request-options": RequestOptions,
        "wasi:http/types.outgoing-response": OutgoingResponse,
        "wasi:http/types.outgoing-body": OutgoingBody,
        "wasi:http/types.incoming-request": IncomingRequest,
        "wasi:http/types.incoming-response": IncomingResponse,
        "wasi:http/types.incoming-body": IncomingBody,
        "wasi:http/types.future-trailers": FutureTrailers,
        "wasi:http/types.future-incoming-response": FutureIncomingResponse,
        "wasi:http/types.response-outparam": ResponseOutparam,
    },
});
