//! Packets of a client, one after the other, and the movements that they ask for.

use super::packets::{self, ClientPacket, PACKET_BYTES_MAX, hex};
use crate::debug::protocol::MachineState;
use crate::debug::session::{DebugSession, RunPoint};
use crate::error::CampaignError;
use fozzy_engine::{DebugPlace, DebugValue, Position, StopReason};
use fozzy_instrument::{ModuleOrdinal, OriginalOffset, operator_end};
use fozzy_trace::Digest;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, sync_channel};

/// Instructions between two looks at what the client wants: some tenths of a second.
const STRETCH: u64 = 1 << 25;
/// Packets that wait; a client that sends more waits itself.
const WAITING_MAX: usize = 64;
/// What is said of a request that cannot be met.
const ERROR: &str = "E01";
/// The triple of what is debugged.
const TRIPLE: &str = "wasm32-unknown-wasi-wasm";
/// Bits of addresses that say that it is code.
const CODE: u64 = 1 << 62;

/// A server for one client of the remote protocol.
pub struct GdbServer {
    trace: PathBuf,
    output: Box<dyn Write>,
    acknowledges: bool,
    modules: Vec<ServedModule>,
    /// Where each breakpoint stops, by the address that was asked for.
    breakpoints: BTreeMap<u64, DebugPlace>,
    /// The last stop.
    stop: String,
}

/// A core module, which the client knows by its position.
struct ServedModule {
    component: Digest,
    module: ModuleOrdinal,
    /// Its bytes in the component.
    start: u32,
    end: u32,
}

/// Whether the client stays, and what it is answered.
enum Answer {
    Text(String),
    Move(Movement),
    /// It leaves, after this.
    Leave(Option<&'static str>),
}

#[derive(Clone, Copy)]
enum Movement {
    Continue,
    ReverseContinue,
    Step,
    ReverseStep,
}

impl GdbServer {
    /// A server for the recording of a trace or bundle.
    #[must_use]
    pub fn new(trace: &Path) -> GdbServer {
        GdbServer {
            trace: trace.to_owned(),
            output: Box::new(std::io::sink()),
            acknowledges: true,
            modules: Vec::new(),
            breakpoints: BTreeMap::new(),
            stop: String::new(),
        }
    }

    /// Serves the client until it leaves.
    ///
    /// # Errors
    /// When the run cannot be executed.
    #[allow(
        clippy::disallowed_methods,
        reason = "a client may interrupt the run while it goes on; nothing of the run depends on it"
    )]
    pub fn serve(
        mut self,
        input: impl Read + Send + 'static,
        output: impl Write + 'static,
    ) -> Result<(), CampaignError> {
        self.output = Box::new(output);
        let mut session = DebugSession::open(&self.trace)?;
        self.modules = served_modules(&session);
        self.stop = self.stop_reply(&mut session, "");
        let (sender, incoming) = sync_channel(WAITING_MAX);
        // It ends with the process, or with its input.
        std::thread::spawn(move || {
            let mut input = BufReader::new(input);
            loop {
                let next = packets::receive(&mut input);
                let is_last = next == ClientPacket::Closed;
                if sender.send(next).is_err() || is_last {
                    return;
                }
            }
        });
        loop {
            let packet = match incoming.recv().unwrap_or(ClientPacket::Closed) {
                ClientPacket::Closed => return Ok(()),
                ClientPacket::Interrupt => continue,
                ClientPacket::Damaged => {
                    let _ = self.output.write_all(b"-");
                    continue;
                }
                ClientPacket::Packet(packet) => packet,
            };
            if self.acknowledges {
                let _ = self.output.write_all(b"+");
            }
            match self.answer(&mut session, &packet) {
                Answer::Text(text) => self.send(&text),
                Answer::Move(movement) => {
                    self.stop = match self.moved(&mut session, movement, &incoming) {
                        Ok(Some(stop)) => stop,
                        Ok(None) => return Ok(()),
                        Err(error) => return Err(error),
                    };
                    let stop = self.stop.clone();
                    self.send(&stop);
                }
                Answer::Leave(last) => {
                    last.into_iter().for_each(|text| self.send(text));
                    return Ok(());
                }
            }
        }
    }

    /// A client that has left is noticed by its input.
    fn send(&mut self, text: &str) {
        let _ = packets::send(&mut *self.output, text);
    }

    fn answer(&mut self, session: &mut DebugSession, packet: &str) -> Answer {
        let text = |text: &str| Answer::Text(text.to_owned());
        let (name, rest) = packet.split_at(packet.find([':', ';', ',']).unwrap_or(packet.len()));
        match name {
            "?" => return Answer::Text(self.stop.clone()),
            "QStartNoAckMode" => {
                self.acknowledges = false;
                return text("OK");
            }
            "qSupported" => {
                let supported = "qXfer:libraries:read+;QStartNoAckMode+;ReverseContinue+;ReverseStep+;vContSupported+";
                return Answer::Text(format!("PacketSize={PACKET_BYTES_MAX:x};{supported}"));
            }
            "qHostInfo" | "qProcessInfo" => {
                let triple = hex(TRIPLE.as_bytes());
                let process = if name == "qProcessInfo" { "pid:1;" } else { "" };
                return Answer::Text(format!(
                    "{process}triple:{triple};ostype:wasi;arch:wasm32;endian:little;ptrsize:4;"
                ));
            }
            "QThreadEvents" | "QListThreadsInStopReply" | "QEnableErrorStrings" => return text("OK"),
            "qAttached" => return text("1"),
            "qC" => return Answer::Text(format!("QC{:x}", thread(session))),
            "qfThreadInfo" => {
                let threads: Vec<String> =
                    machines(session).iter().map(|one| format!("{:x}", one.number + 1)).collect();
                return Answer::Text(format!("m{}", threads.join(",")));
            }
            "qsThreadInfo" => return text("l"),
            "qThreadExtraInfo" => return Answer::Text(extra_info(session, rest.trim_start_matches(','))),
            "qWatchpointSupportInfo" => return text("num:1;"),
            "qXfer" => return Answer::Text(self.libraries(rest)),
            "qWasmCallStack" => return Answer::Text(self.call_stack(session, rest.trim_start_matches(':'))),
            "qWasmLocal" | "qWasmGlobal" | "qWasmStackValue" => {
                return Answer::Text(wasm_value(session, name, rest).unwrap_or_else(|| ERROR.to_owned()));
            }
            "vCont?" => return text("vCont;c;C;s;S"),
            "vCont" => {
                let is_step = rest.starts_with(";s") || rest.starts_with(";S");
                return Answer::Move(if is_step { Movement::Step } else { Movement::Continue });
            }
            "bc" => return Answer::Move(Movement::ReverseContinue),
            "bs" => return Answer::Move(Movement::ReverseStep),
            "D" => return Answer::Leave(Some("OK")),
            "k" | "vKill" => return Answer::Leave(None),
            "qRegisterInfo0" => {
                return text(
                    "name:pc;alt-name:pc;bitsize:64;offset:0;encoding:uint;format:hex;set:General Purpose Registers;gcc:16;dwarf:16;generic:pc;",
                );
            }
            _ if name.starts_with("qRegisterInfo") => return text("E45"),
            _ if name.starts_with("qThreadStopInfo") => {
                let asked = u64::from_str_radix(&name["qThreadStopInfo".len()..], 16).ok();
                let is_own = asked == Some(thread(session));
                return Answer::Text(if is_own {
                    self.stop.clone()
                } else {
                    format!("T00thread:{:x};", asked.unwrap_or_default())
                });
            }
            _ => {}
        }
        match packet.as_bytes().first() {
            Some(b'H' | b'T') => text("OK"),
            Some(b'c' | b'C') => Answer::Move(Movement::Continue),
            Some(b's' | b'S') => Answer::Move(Movement::Step),
            Some(b'p') if packet.starts_with("p0") => Answer::Text(hex(&self.pc(session).to_le_bytes())),
            Some(b'g') => Answer::Text(hex(&self.pc(session).to_le_bytes())),
            Some(b'm') => Answer::Text(self.memory(session, &packet[1..]).unwrap_or_else(|| ERROR.to_owned())),
            Some(b'Z' | b'z') => {
                let done = self.set_breakpoint(session, packet);
                Answer::Text(done.unwrap_or_else(|| ERROR.to_owned()))
            }
            // What is not known is answered by nothing.
            _ => text(""),
        }
    }

    /// A breakpoint or watch point, set or taken away.
    fn set_breakpoint(&mut self, session: &mut DebugSession, packet: &str) -> Option<String> {
        let is_set = packet.starts_with('Z');
        let mut parts = packet[1..].split([',', ';']);
        let kind = parts.next()?;
        let address = u64::from_str_radix(parts.next()?, 16).ok()?;
        let length = u32::from_str_radix(parts.next()?, 16).ok()?;
        match kind {
            "0" | "1" => {
                if is_set {
                    let place = self.place(address)?;
                    self.breakpoints.insert(address, session.code().counted_from(place)?);
                } else {
                    self.breakpoints.remove(&address);
                }
                session.set_breakpoints(self.breakpoints.values().copied().collect::<BTreeSet<_>>());
            }
            // Writes only: reads are not looked at.
            "2" => {
                let range = is_set.then_some((u32::try_from(address).ok()?, length));
                session.watch(range).ok()?;
            }
            _ => return Some(String::new()),
        }
        Some("OK".to_owned())
    }

    /// The operator at an address of code.
    fn place(&self, address: u64) -> Option<DebugPlace> {
        let (module, offset) = self.module_at(address)?;
        Some(DebugPlace {
            component: module.component,
            module: module.module,
            offset: module.start.checked_add(offset)?,
        })
    }

    fn module_at(&self, address: u64) -> Option<(&ServedModule, u32)> {
        let number = address.checked_sub(CODE)? >> 32;
        let module = self.modules.get(usize::try_from(number).ok()?)?;
        Some((module, u32::try_from(address & u64::from(u32::MAX)).ok()?))
    }

    fn address(&self, place: DebugPlace) -> u64 {
        let is_own = |own: &ServedModule| own.component == place.component && own.module == place.module;
        let Some(number) = self.modules.iter().position(is_own) else { return CODE };
        CODE | (number as u64) << 32 | u64::from(place.offset.saturating_sub(self.modules[number].start))
    }

    /// The address of the innermost frame: that of the breakpoint that it stands at, if there is one.
    fn pc(&self, session: &DebugSession) -> u64 {
        let place = session.here().moment().and_then(|moment| moment.stop.place);
        let Some(place) = place else { return CODE };
        let asked = self.breakpoints.iter().find(|(_, own)| **own == place).map(|(address, _)| *address);
        asked.unwrap_or_else(|| self.address(place))
    }

    fn call_stack(&self, session: &mut DebugSession, asked: &str) -> String {
        if u64::from_str_radix(asked, 16).ok() != Some(thread(session)) {
            return String::new();
        }
        let innermost = self.pc(session);
        let frames = session.inspect().frames().unwrap_or_default();
        let mut text = String::new();
        for (position, frame) in frames.iter().enumerate() {
            // A caller goes on behind its call.
            let next = |place: DebugPlace| {
                let component = session.code().programs().get(&place.component)?.component();
                let end = operator_end(component, OriginalOffset(place.offset))?;
                Some(DebugPlace { offset: end.0, ..place })
            };
            let address = match position {
                0 => innermost,
                _ => self.address(next(frame.place).unwrap_or(frame.place)),
            };
            text.push_str(&hex(&address.to_le_bytes()));
        }
        text
    }

    fn memory(&self, session: &mut DebugSession, asked: &str) -> Option<String> {
        let (address, length) = asked.split_once(',')?;
        let address = u64::from_str_radix(address, 16).ok()?;
        let length = u64::from_str_radix(length, 16).ok()?.min(PACKET_BYTES_MAX as u64 / 2 - 16);
        if address < CODE {
            let found = session.inspect().memory(0, address & u64::from(u32::MAX), length).ok()??;
            return Some(hex(&found));
        }
        let (module, offset) = self.module_at(address)?;
        let component = session.code().programs().get(&module.component)?.component();
        let from = usize::try_from(module.start.checked_add(offset)?).ok()?;
        let to = from.checked_add(usize::try_from(length).ok()?)?.min(usize::try_from(module.end).ok()?);
        Some(hex(component.get(from..to)?))
    }

    /// The core modules, as the client reads them: by their addresses.
    fn libraries(&self, asked: &str) -> String {
        let Some(range) = asked.strip_prefix(":libraries:read::") else { return String::new() };
        let mut list = String::from("<library-list>");
        for number in 0..self.modules.len() {
            let address = CODE | (number as u64) << 32;
            list += &format!("<library name=\"module-{number}.wasm\"><section address=\"{address:#x}\"/></library>");
        }
        list += "</library-list>";
        let mut numbers = range.split(',').map(|number| usize::from_str_radix(number, 16).ok());
        let (Some(Some(from)), Some(Some(length))) = (numbers.next(), numbers.next()) else { return ERROR.to_owned() };
        let from = from.min(list.len());
        let to = from.saturating_add(length.min(PACKET_BYTES_MAX / 2)).min(list.len());
        format!("{}{}", if to < list.len() { 'm' } else { 'l' }, &list[from..to])
    }

    /// Moves, and says where the run stands then; `None` when the client has left.
    fn moved(
        &mut self,
        session: &mut DebugSession,
        movement: Movement,
        incoming: &Receiver<ClientPacket>,
    ) -> Result<Option<String>, CampaignError> {
        let here = session.here().position();
        match movement {
            Movement::Step => {
                session.go_to(Position(here.0 + 1))?;
            }
            Movement::ReverseStep => match here.0.checked_sub(1) {
                Some(before) => session.go_to(Position(before)).map(|_| ())?,
                None => return Ok(Some(self.stop_reply(session, "replaylog:begin;"))),
            },
            Movement::ReverseContinue => {
                session.go_back(&mut |_, _| Ok(true))?;
            }
            Movement::Continue => loop {
                let target = session.here().position().0.saturating_add(STRETCH);
                if session.run_while(target, &mut |_, _| Ok(true))? || session.here().moment().is_none() {
                    break;
                }
                match incoming.try_recv() {
                    Ok(ClientPacket::Interrupt) => return Ok(Some(self.stop_reply(session, "reason:signal;"))),
                    Ok(ClientPacket::Closed) => return Ok(None),
                    _ => {}
                }
            },
        }
        let is_step = matches!(movement, Movement::Step | Movement::ReverseStep);
        let why = match session.here() {
            RunPoint::Ended(end) => {
                // The client stays at the last instruction, from where it can go back.
                let last = end.position.0.saturating_sub(1);
                session.go_to(Position(last))?;
                "replaylog:end;".to_owned()
            }
            RunPoint::Beginning(_) if !is_step => "replaylog:begin;".to_owned(),
            RunPoint::Beginning(moment) | RunPoint::At(moment) => match &moment.stop.reason {
                StopReason::Trap(what) | StopReason::HostEnd(what) => {
                    format!("reason:exception;description:{};", hex(what.as_bytes()))
                }
                StopReason::Watch => {
                    let (address, _) = session.watched.unwrap_or_default();
                    format!("watch:{address:x};")
                }
                StopReason::Breakpoint => "reason:breakpoint;".to_owned(),
                StopReason::Position if is_step => "reason:trace;".to_owned(),
                StopReason::Position => String::new(),
            },
        };
        Ok(Some(self.stop_reply(session, &why)))
    }

    fn stop_reply(&self, session: &mut DebugSession, why: &str) -> String {
        let (pc, thread) = (self.pc(session), thread(session));
        let name = machines(session).into_iter().find(|machine| u64::from(machine.number) + 1 == thread);
        let name = name.map_or_else(String::new, |machine| format!("hexname:{};", hex(machine.name.as_bytes())));
        format!("T05thread:{thread:x};{name}thread-pcs:{pc:x};00:{};{why}", hex(&pc.to_le_bytes()))
    }
}

/// The core modules of the programs of a run.
fn served_modules(session: &DebugSession) -> Vec<ServedModule> {
    let programs = session.code().programs().iter();
    let modules = programs.flat_map(|(component, program)| {
        program.maps().modules().iter().map(|map| {
            let range = map.original();
            ServedModule { component: *component, module: map.ordinal(), start: range.start.0, end: range.end.0 }
        })
    });
    modules.collect()
}

/// The number of the machine whose turn it is.
fn thread(session: &DebugSession) -> u64 {
    session.here().moment().map_or(1, |moment| u64::from(moment.stop.machine.0) + 1)
}

/// The machines that have not ended; one at least.
fn machines(session: &mut DebugSession) -> Vec<MachineState> {
    let all = session.inspect().machines().unwrap_or_default();
    let mut running: Vec<MachineState> = all.into_iter().filter(|machine| !machine.has_ended).collect();
    if running.is_empty() {
        let name = "program".to_owned();
        let (waits_for, began) = (Vec::new(), Position(0));
        running.push(MachineState { number: 0, name, waits_for, has_ended: false, waits_in: None, began });
    }
    running
}

/// What a machine is, and what it waits for.
fn extra_info(session: &mut DebugSession, asked: &str) -> String {
    let number = u64::from_str_radix(asked, 16).ok();
    let machine = machines(session).into_iter().find(|machine| Some(u64::from(machine.number) + 1) == number);
    let Some(machine) = machine else { return ERROR.to_owned() };
    let waits = match machine.waits_for.is_empty() {
        true => String::new(),
        false => format!(", waits for {}", machine.waits_for.join(", ")),
    };
    hex(format!("{}{waits}", machine.name).as_bytes())
}

/// A local, global or operand of a frame, in as many bytes as it has.
fn wasm_value(session: &mut DebugSession, kind: &str, asked: &str) -> Option<String> {
    let mut numbers = asked.trim_start_matches(':').split(';').map(|number| number.parse::<u32>().ok());
    let (frame, index) = (usize::try_from(numbers.next()??).ok()?, numbers.next()??);
    let mut inspector = session.inspect();
    let at = usize::try_from(index).ok()?;
    let value = match kind {
        "qWasmLocal" => inspector.locals(frame).ok()??.get(at).copied()?,
        "qWasmGlobal" => inspector.global(frame, index).ok()??,
        _ => inspector.operands(frame).ok()??.get(at).copied()?,
    };
    Some(match value {
        DebugValue::I32(value) => hex(&value.to_le_bytes()),
        DebugValue::I64(value) => hex(&value.to_le_bytes()),
        DebugValue::F32(bits) => hex(&bits.to_le_bytes()),
        DebugValue::F64(bits) => hex(&bits.to_le_bytes()),
        DebugValue::V128(bits) => hex(&bits.to_le_bytes()),
        DebugValue::Reference { .. } => return None,
    })
}
