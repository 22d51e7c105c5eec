//! What guests wait for and move bytes through, named for an observer of the run.
//!
//! Invariants: nothing here changes the computer; numbers of streams are the same on both sides, and of one run only.

use crate::network::TcpStreams;
use crate::table::{Handle, StreamSink, StreamSource};
use crate::{OpenFile, OutputKind, PipeEnd, PipeId, Wait, World};
use fozzy_trace::{AwaitedEvent, IoChannel, IoKind, NodeId, WaitKind};

impl World {
    /// What the guest of `waiting` waits for.
    #[must_use]
    pub fn awaited(&self, waiting: NodeId, wait: Wait) -> AwaitedEvent {
        let (kind, of, stream) = match wait {
            Wait::Nothing => (WaitKind::Nothing, None, None),
            Wait::Until(_) | Wait::OwnClock { .. } => (WaitKind::Timer, None, None),
            Wait::Stdin(node) => match self.find(node).and_then(|node| node.process) {
                Some(process) => (WaitKind::Pipe, self.processes.parent(process.pid), Some(process.stdin.number())),
                None => (WaitKind::Input, None, None),
            },
            Wait::Signal(_) => (WaitKind::Answer, None, None),
            Wait::Socket(readiness) => {
                let kind = if readiness.is_room() { WaitKind::Room } else { WaitKind::Network };
                let streams = self.network.streams_awaited(readiness);
                (kind, streams.as_ref().and_then(|streams| streams.peer), streams.map(|streams| streams.incoming))
            }
            Wait::Pipe(pipe, end) => {
                let kind = if end == PipeEnd::Read { WaitKind::Pipe } else { WaitKind::Room };
                (kind, self.other_side(waiting, pipe).1, Some(pipe.number()))
            }
            Wait::Process(pid) => (WaitKind::Process, self.processes.machine(pid), None),
        };
        let what = match wait {
            Wait::Nothing => "nothing".to_owned(),
            Wait::Until(_) | Wait::OwnClock { .. } => "a moment".to_owned(),
            Wait::Stdin(_) => "standard input".to_owned(),
            Wait::Signal(_) => "an answer".to_owned(),
            Wait::Socket(readiness) => self.network.peer_words(readiness),
            wait @ (Wait::Pipe(..) | Wait::Process(_)) => wait.to_string(),
        };
        AwaitedEvent { kind, what, of, stream }
    }

    /// Where a stream of the machine `node` leads.
    #[must_use]
    pub fn channel(&self, node: NodeId, handle: &Handle) -> Option<IoChannel> {
        let file = |name: String| IoChannel { kind: IoKind::File, name, stream: None };
        match handle {
            Handle::InputStream(StreamSource::Stdin) => Some(self.input_channel(node)),
            Handle::OutputStream(StreamSink::Standard(kind)) => Some(self.output_channel(node, *kind)),
            Handle::InputStream(StreamSource::File { file: open, .. })
            | Handle::OutputStream(StreamSink::File { file: open, .. })
            | Handle::Descriptor(open) => Some(file(self.node(node).disk.path_of(open.node))),
            Handle::InputStream(StreamSource::LiveFile { .. })
            | Handle::OutputStream(StreamSink::LiveFile { .. })
            | Handle::LiveDescriptor(_) => Some(file("[file of the real computer]".to_owned())),
            Handle::InputStream(StreamSource::Tcp(id)) => self.network.streams(*id).map(|it| connection(it, false)),
            Handle::OutputStream(StreamSink::Tcp(id)) => self.network.streams(*id).map(|it| connection(it, true)),
            Handle::InputStream(StreamSource::Http { .. }) => Some(body("bodies received")),
            Handle::OutputStream(StreamSink::Http { .. }) => Some(body("bodies sent")),
            Handle::InputStream(StreamSource::Pipe(pipe)) | Handle::OutputStream(StreamSink::Pipe(pipe)) => {
                Some(self.pipe_channel(node, *pipe))
            }
            Handle::IncomingDatagrams(id) | Handle::OutgoingDatagrams { socket: id, .. } => {
                let place = self.network.udp_local_address(*id).map(|address| format!("port {}", address.port()));
                let name = place.unwrap_or_else(|_| "unbound socket".to_owned());
                Some(IoChannel { kind: IoKind::Datagrams, name, stream: None })
            }
            _ => None,
        }
    }

    /// Where a file of preview 1 is.
    #[must_use]
    pub fn file_channel(&self, node: NodeId, file: OpenFile) -> IoChannel {
        let name = match file {
            OpenFile::Disk(file) => self.node(node).disk.path_of(file.node),
            OpenFile::Live(_) => "[file of the real computer]".to_owned(),
        };
        IoChannel { kind: IoKind::File, name, stream: None }
    }

    /// Where standard input comes from.
    #[must_use]
    pub fn input_channel(&self, node: NodeId) -> IoChannel {
        match self.node(node).process {
            Some(process) => self.pipe_channel(node, process.stdin),
            None => IoChannel { kind: IoKind::Standard, name: "standard input".to_owned(), stream: None },
        }
    }

    /// Where a standard output goes.
    #[must_use]
    pub fn output_channel(&self, node: NodeId, kind: OutputKind) -> IoChannel {
        let (name, pipe) = match kind {
            OutputKind::Stdout => ("standard output", self.node(node).process.map(|process| process.stdout)),
            OutputKind::Stderr => ("standard error", self.node(node).process.map(|process| process.stderr)),
        };
        let plain = || IoChannel { kind: IoKind::Standard, name: name.to_owned(), stream: None };
        pipe.map_or_else(plain, |pipe| self.pipe_channel(node, pipe))
    }

    fn pipe_channel(&self, node: NodeId, pipe: PipeId) -> IoChannel {
        let (name, _) = self.other_side(node, pipe);
        IoChannel { kind: IoKind::Process, name, stream: Some(pipe.number()) }
    }

    /// Who is on the other side of a pipe that `node` holds, in words, and on which machine.
    fn other_side(&self, node: NodeId, pipe: PipeId) -> (String, Option<NodeId>) {
        match self.processes.behind(pipe) {
            Some((_, Some(child), parent)) if child == node => ("its parent".to_owned(), Some(parent)),
            Some((pid, child, _)) => (format!("process {pid}"), child),
            None => ("[another process]".to_owned(), None),
        }
    }

    fn find(&self, node: NodeId) -> Option<&crate::Node> {
        self.nodes.get(node.0 as usize)?.as_deref()
    }
}

fn connection(streams: TcpStreams, is_write: bool) -> IoChannel {
    let stream = Some(if is_write { streams.outgoing } else { streams.incoming });
    IoChannel { kind: IoKind::Connection, name: streams.name, stream }
}

fn body(name: &str) -> IoChannel {
    IoChannel { kind: IoKind::Http, name: name.to_owned(), stream: None }
}
