//! `fozzy debug --gdb-port`: a recorded run by the remote protocol of gdb, with LLDB's extensions for WebAssembly.
//!
//! ```text
//! a small client here ──$bc#c5──▶ the server        what LLDB 22 sends was read from its log
//! ```

use crate::corpus::DebugSample;
use crate::fozzy::Fozzy;
use crate::wait::{self, Messages};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::process::Child;

/// A client with its server.
struct Client {
    child: Child,
    stream: TcpStream,
    packets: Messages<String>,
}

/// The next packet; `None` at the end.
fn packet(pipe: &mut impl BufRead) -> Option<String> {
    let mut before = Vec::new();
    pipe.read_until(b'$', &mut before).ok()?;
    let mut text = Vec::new();
    pipe.read_until(b'#', &mut text).ok()?;
    // The checksum is passed over, with what stands before the next packet.
    text.pop().filter(|end| *end == b'#')?;
    String::from_utf8(text).ok()
}

impl Client {
    fn open(fozzy: &Fozzy) -> Client {
        let mut child = fozzy.start(&["debug", "run.fozzy", "--gdb-port", "0"]);
        let mut said = String::new();
        BufReader::new(child.stderr.take().expect("a pipe")).read_line(&mut said).expect("text");
        assert!(said.contains("process connect --plugin wasm connect://"), "{said}");
        let address = said.trim().rsplit("//").next().expect("an address");
        let stream = TcpStream::connect(address).expect("it listens");
        let packets = Messages::of(stream.try_clone().expect("a socket"), packet);
        let mut client = Client { child, stream, packets };
        assert_eq!(client.ask("QStartNoAckMode"), "OK");
        client
    }

    fn send(&mut self, packet: &str) {
        let sum = packet.bytes().fold(0u8, u8::wrapping_add);
        write!(self.stream, "${packet}#{sum:02x}").expect("it listens");
    }

    fn ask(&mut self, packet: &str) -> String {
        self.send(packet);
        self.packets.next().expect("an answer")
    }

    /// Moves, and says where the run stands: the address, and what else is said of the stop.
    fn moved(&mut self, packet: &str) -> (String, String) {
        let stop = self.ask(packet);
        assert!(stop.starts_with("T05thread:1;"), "{stop}");
        let pc = stop.split("thread-pcs:").nth(1).and_then(|rest| rest.split(';').next()).expect("an address");
        let why = stop.split("00:").last().and_then(|rest| rest.split_once(';')).map_or("", |(_, why)| why);
        (pc.to_owned(), why.to_owned())
    }
}

fn recorded() -> Fozzy {
    let fozzy = Fozzy::new();
    let module = DebugSample::RustInlined.module().display().to_string();
    fozzy.run(&["run", &module, "--record", "run.fozzy"]).exits(0);
    fozzy
}

#[test]
fn a_client_of_the_remote_protocol_goes_forwards_and_back() {
    let fozzy = recorded();
    let mut client = Client::open(&fozzy);
    let supported = client.ask("qSupported:xmlRegisters=i386;multiprocess+");
    assert!(supported.contains("ReverseContinue+;ReverseStep+"), "{supported}");
    assert!(client.ask("qProcessInfo").contains("arch:wasm32;"));
    let libraries = client.ask("qXfer:libraries:read::0,fff");
    assert!(libraries.contains("module-0.wasm") && libraries.contains("0x4000000000000000"), "{libraries}");
    assert_eq!(client.ask("m4000000000000000,4"), "0061736d");
    assert_eq!((client.ask("qfThreadInfo"), client.ask("qC")), ("m1".to_owned(), "QC1".to_owned()));
    // By instructions there and back.
    let there: Vec<String> = (0..40).map(|_| client.moved("s").0).collect();
    let back: Vec<String> = (0..39).map(|_| client.moved("bs").0).collect();
    assert_eq!(back, there.iter().rev().skip(1).cloned().collect::<Vec<_>>());
    client.moved("bs");
    assert!(client.moved("bs").1.contains("replaylog:begin"));
    // A breakpoint in a function that is called four times.
    let breakpoint = &there[38];
    assert_eq!(client.ask(&format!("Z0,{breakpoint},1")), "OK");
    let hit = |client: &mut Client, packet: &str| {
        let (pc, why) = client.moved(packet);
        let stack = client.ask("qWasmCallStack:1");
        (pc, why, stack, client.ask("qWasmLocal:0;0"))
    };
    let forwards: Vec<_> = (0..4).map(|_| hit(&mut client, "vCont;c")).collect();
    assert!(forwards.iter().all(|(pc, why, ..)| pc == breakpoint && why == "reason:breakpoint;"), "{forwards:?}");
    // Two functions of the program are on the stack at least, the innermost first, and a local has four bytes.
    let innermost: String = (0..8).map(|byte| &breakpoint[14 - 2 * byte..16 - 2 * byte]).collect();
    assert!(forwards.iter().all(|(_, _, stack, local)| stack.starts_with(&innermost) && local.len() == 8));
    assert_ne!(forwards[0].2, forwards[3].2, "it is called from two places");
    assert!(client.moved("c").1.contains("replaylog:end"));
    let backwards: Vec<_> = (0..4).map(|_| hit(&mut client, "bc")).collect();
    assert_eq!(backwards, forwards.iter().rev().cloned().collect::<Vec<_>>());
    assert!(client.moved("bc").1.contains("replaylog:begin"));
    // A watch point: the stack of the program is written.
    assert_eq!(client.ask(&format!("z0,{breakpoint},1")), "OK");
    assert_eq!(client.ask("Z2,f00,100"), "OK");
    assert_eq!(client.moved("c").1, "watch:f00;");
    // What is not known is answered by nothing, and what cannot be by an error.
    assert_eq!((client.ask("qNonsense"), client.ask("mffffffffffffffff,4")), (String::new(), "E01".to_owned()));
    assert_eq!(client.ask("Z0,4fffffff00000000,1"), "E01");
    assert_eq!(client.ask("D"), "OK");
    assert!(wait::exit(&mut client.child).success());
}

#[test]
fn clients_that_send_rubbish_or_leave_end_the_server() {
    let fozzy = recorded();
    for bytes in [b"GET / HTTP/1.1\r\n\r\n".as_slice(), b"$qC#00", b"$qC", b""] {
        let mut client = Client::open(&fozzy);
        client.stream.write_all(bytes).expect("it listens");
        client.stream.shutdown(std::net::Shutdown::Both).expect("a socket");
        assert!(wait::exit(&mut client.child).success(), "{bytes:?}");
    }
}
