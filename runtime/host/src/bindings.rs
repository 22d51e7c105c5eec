//! The generated side of WIT. Nothing is written by hand here but the marker types of resources.

#![allow(missing_docs, unreachable_pub, reason = "generated from WIT, where the documentation is")]

/// A `wasi:io/poll.pollable`; what it waits for is in the world's table.
pub struct PollableResource;
/// A `wasi:io/error.error`.
pub struct IoErrorResource;
/// A `wasi:io/streams.input-stream`.
pub struct InputStreamResource;
/// A `wasi:io/streams.output-stream`.
pub struct OutputStreamResource;
/// A `wasi:filesystem/types.descriptor`.
pub struct DescriptorResource;
/// A `wasi:filesystem/types.directory-entry-stream`.
pub struct DirectoryEntryStreamResource;
/// A `wasi:sockets/network.network`.
pub struct NetworkResource;
/// A `wasi:sockets/ip-name-lookup.resolve-address-stream`.
pub struct ResolveAddressStreamResource;
/// A `wasi:sockets/tcp.tcp-socket`.
pub struct TcpSocketResource;
/// A `wasi:sockets/udp.udp-socket`.
pub struct UdpSocketResource;
/// A `wasi:sockets/udp.incoming-datagram-stream`.
pub struct IncomingDatagramStreamResource;
/// A `wasi:sockets/udp.outgoing-datagram-stream`.
pub struct OutgoingDatagramStreamResource;
/// A `wasi:cli/terminal-input.terminal-input`; never handed out.
pub struct TerminalInputResource;
/// A `wasi:cli/terminal-output.terminal-output`; never handed out.
pub struct TerminalOutputResource;
/// A `wasi:http/types.fields`.
pub struct FieldsResource;
/// A `wasi:http/types.outgoing-request`.
pub struct OutgoingRequestResource;
/// A `wasi:http/types.request-options`.
pub struct RequestOptionsResource;
/// A `wasi:http/types.outgoing-response`.
pub struct OutgoingResponseResource;
/// A `wasi:http/types.outgoing-body`.
pub struct OutgoingBodyResource;
/// A `wasi:http/types.incoming-request`.
pub struct IncomingRequestResource;
/// A `wasi:http/types.incoming-response`.
pub struct IncomingResponseResource;
/// A `wasi:http/types.incoming-body`.
pub struct IncomingBodyResource;
/// A `wasi:http/types.future-trailers`.
pub struct FutureTrailersResource;
/// A `wasi:http/types.future-incoming-response`.
pub struct FutureIncomingResponseResource;
/// A `wasi:http/types.response-outparam`.
pub struct ResponseOutparamResource;
/// A `fozzy:process/run.child`.
pub struct ChildResource;

wasmtime::component::bindgen!({
    path: "wit",
    world: "fozzy:runtime/computer",
    // What may wait, also since a planned fault has the machine stand still or makes its disk slow, lets other guests run meanwhile.
    imports: {
        "wasi:filesystem/types.[method]descriptor.sync-data": async | trappable,
        "wasi:filesystem/types.[method]descriptor.set-size": async | trappable,
        "wasi:filesystem/types.[method]descriptor.set-times": async | trappable,
        "wasi:filesystem/types.[method]descriptor.read": async | trappable,
        "wasi:filesystem/types.[method]descriptor.write": async | trappable,
        "wasi:filesystem/types.[method]descriptor.read-directory": async | trappable,
        "wasi:filesystem/types.[method]descriptor.sync": async | trappable,
        "wasi:filesystem/types.[method]descriptor.create-directory-at": async | trappable,
        "wasi:filesystem/types.[method]descriptor.stat": async | trappable,
        "wasi:filesystem/types.[method]descriptor.stat-at": async | trappable,
        "wasi:filesystem/types.[method]descriptor.set-times-at": async | trappable,
        "wasi:filesystem/types.[method]descriptor.link-at": async | trappable,
        "wasi:filesystem/types.[method]descriptor.open-at": async | trappable,
        "wasi:filesystem/types.[method]descriptor.readlink-at": async | trappable,
        "wasi:filesystem/types.[method]descriptor.remove-directory-at": async | trappable,
        "wasi:filesystem/types.[method]descriptor.rename-at": async | trappable,
        "wasi:filesystem/types.[method]descriptor.symlink-at": async | trappable,
        "wasi:filesystem/types.[method]descriptor.unlink-file-at": async | trappable,
        "wasi:filesystem/types.[method]descriptor.metadata-hash": async | trappable,
        "wasi:filesystem/types.[method]descriptor.metadata-hash-at": async | trappable,
        "wasi:io/poll.poll": async | trappable,
        "wasi:io/poll.[method]pollable.block": async | trappable,
        "wasi:io/streams.[method]input-stream.read": async | trappable,
        "wasi:io/streams.[method]input-stream.blocking-read": async | trappable,
        "wasi:io/streams.[method]input-stream.skip": async | trappable,
        "wasi:io/streams.[method]input-stream.blocking-skip": async | trappable,
        "wasi:io/streams.[method]output-stream.write": async | trappable,
        "wasi:io/streams.[method]output-stream.blocking-write-and-flush": async | trappable,
        "wasi:io/streams.[method]output-stream.blocking-flush": async | trappable,
        "wasi:io/streams.[method]output-stream.write-zeroes": async | trappable,
        "wasi:io/streams.[method]output-stream.blocking-write-zeroes-and-flush": async | trappable,
        "wasi:io/streams.[method]output-stream.splice": async | trappable,
        "wasi:io/streams.[method]output-stream.blocking-splice": async | trappable,
        "wasi:sockets/udp.[method]outgoing-datagram-stream.send": async | trappable,
        "fozzy:process/run.run": async | trappable,
        "fozzy:process/run.[method]child.wait": async | trappable,
        "fozzy:target/control.call": async | trappable,
        "fozzy:preview1/snapshot.fd-datasync": async | trappable,
        "fozzy:preview1/snapshot.fd-filestat-get": async | trappable,
        "fozzy:preview1/snapshot.fd-filestat-set-size": async | trappable,
        "fozzy:preview1/snapshot.fd-filestat-set-times": async | trappable,
        "fozzy:preview1/snapshot.fd-pread": async | trappable,
        "fozzy:preview1/snapshot.fd-pwrite": async | trappable,
        "fozzy:preview1/snapshot.fd-read": async | trappable,
        "fozzy:preview1/snapshot.fd-readdir": async | trappable,
        "fozzy:preview1/snapshot.fd-seek": async | trappable,
        "fozzy:preview1/snapshot.fd-sync": async | trappable,
        "fozzy:preview1/snapshot.fd-write": async | trappable,
        "fozzy:preview1/snapshot.path-create-directory": async | trappable,
        "fozzy:preview1/snapshot.path-filestat-get": async | trappable,
        "fozzy:preview1/snapshot.path-filestat-set-times": async | trappable,
        "fozzy:preview1/snapshot.path-link": async | trappable,
        "fozzy:preview1/snapshot.path-open": async | trappable,
        "fozzy:preview1/snapshot.path-readlink": async | trappable,
        "fozzy:preview1/snapshot.path-remove-directory": async | trappable,
        "fozzy:preview1/snapshot.path-rename": async | trappable,
        "fozzy:preview1/snapshot.path-symlink": async | trappable,
        "fozzy:preview1/snapshot.path-unlink-file": async | trappable,
        "fozzy:preview1/snapshot.poll-oneoff": async | trappable,
        "fozzy:preview1/snapshot.sched-yield": async | trappable,
        "fozzy:preview1/snapshot.sock-accept": async | trappable,
        "fozzy:preview1/snapshot.sock-accept-v1": async | trappable,
        "fozzy:preview1/snapshot.sock-connect": async | trappable,
        "fozzy:preview1/snapshot.sock-recv": async | trappable,
        "fozzy:preview1/snapshot.sock-recv-from": async | trappable,
        "fozzy:preview1/snapshot.sock-recv-from-v1": async | trappable,
        "fozzy:preview1/snapshot.sock-send": async | trappable,
        "fozzy:preview1/snapshot.sock-send-to": async | trappable,
        "fozzy:preview1/unstable.fd-filestat-get": async | trappable,
        "fozzy:preview1/unstable.fd-seek": async | trappable,
        "fozzy:preview1/unstable.path-filestat-get": async | trappable,
        "fozzy:preview1/unstable.poll-oneoff": async | trappable,
        default: trappable,
    },
    with: {
        "wasi:io/poll.pollable": PollableResource,
        "wasi:io/error.error": IoErrorResource,
        "wasi:io/streams.input-stream": InputStreamResource,
        "wasi:io/streams.output-stream": OutputStreamResource,
        "wasi:filesystem/types.descriptor": DescriptorResource,
        "wasi:filesystem/types.directory-entry-stream": DirectoryEntryStreamResource,
        "wasi:sockets/network.network": NetworkResource,
        "wasi:sockets/ip-name-lookup.resolve-address-stream": ResolveAddressStreamResource,
        "wasi:sockets/tcp.tcp-socket": TcpSocketResource,
        "wasi:sockets/udp.udp-socket": UdpSocketResource,
        "wasi:sockets/udp.incoming-datagram-stream": IncomingDatagramStreamResource,
        "wasi:sockets/udp.outgoing-datagram-stream": OutgoingDatagramStreamResource,
        "fozzy:process/run.child": ChildResource,
        "wasi:cli/terminal-input.terminal-input": TerminalInputResource,
        "wasi:cli/terminal-output.terminal-output": TerminalOutputResource,
        "wasi:http/types.fields": FieldsResource,
        "wasi:http/types.outgoing-request": OutgoingRequestResource,
        "wasi:http/types.request-options": RequestOptionsResource,
        "wasi:http/types.outgoing-response": OutgoingResponseResource,
        "wasi:http/types.outgoing-body": OutgoingBodyResource,
        "wasi:http/types.incoming-request": IncomingRequestResource,
        "wasi:http/types.incoming-response": IncomingResponseResource,
        "wasi:http/types.incoming-body": IncomingBodyResource,
        "wasi:http/types.future-trailers": FutureTrailersResource,
        "wasi:http/types.future-incoming-response": FutureIncomingResponseResource,
        "wasi:http/types.response-outparam": ResponseOutparamResource,
    },
});
