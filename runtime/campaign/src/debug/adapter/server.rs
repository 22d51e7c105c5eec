//! Requests of an editor, one after the other, and the movements that they ask for.

use super::breakpoints::{AdapterBreakpoint, BreakpointList, BreakpointRequest, counted_to, pass, uncounted};
use super::wire::{self, ClientMessage};
use crate::debug::session::{DebugSession, Inspector, MomentKind, RunPoint};
use crate::debug::stepping::StepKind;
use crate::debug::values::{Programs, StoppedFrame, code_place, programs_of};
use crate::debug::words;
use crate::error::CampaignError;
use fozzy_engine::{DebugPlace, Position, StopReason};
use fozzy_instrument::debug_info::{CodePlace, DebugInfo, Expression, FunctionScope, Value as ProgramValue};
use fozzy_trace::outcome::StackFrame;
use fozzy_trace::{Digest, Instant, Status};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::{BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::mpsc::{Receiver, sync_channel};

/// Instructions between two looks at what the client wants: some tenths of a second.
const STRETCH: u64 = 1 << 25;
/// Messages that wait; a client that sends more waits itself.
const WAITING_MAX: usize = 1024;
/// Texts of log points of one movement. Further ones are counted.
const LOGGED_MAX: usize = 10_000;
/// Parts of a value that are told at once, unless the client asks for fewer.
const PARTS_MAX: u64 = 1000;
/// Names that are offered to complete a word.
const COMPLETIONS_MAX: usize = 100;
/// Most bytes of memory that are told at once.
const MEMORY_BYTES_MAX: u64 = 1 << 20;

/// A server for one client of the Debug Adapter Protocol.
pub struct DebugAdapter {
    trace: PathBuf,
    source_map: Vec<(String, String)>,
    session: Option<DebugSession>,
    programs: Rc<Programs>,
    output: Box<dyn Write>,
    sequence: u64,
    waiting: VecDeque<ClientMessage>,
    breakpoints: BTreeMap<BreakpointList, Vec<AdapterBreakpoint>>,
    next_id: u64,
    filters: BTreeSet<String>,
    stops_on_entry: bool,
    /// Whether the client has been told that the run is over.
    end_is_told: bool,
    exception: Option<(&'static str, String)>,
    /// Frames that the client knows: those of the machine whose turn it is, then those of others that it has asked for.
    stack: Option<Vec<ShownFrame>>,
    references: Vec<Reference>,
    goto_targets: Vec<(BTreeSet<DebugPlace>, bool)>,
}

/// A frame that the client knows by a number.
#[derive(Clone)]
struct ShownFrame {
    machine: u32,
    /// Position among the frames of the program.
    frame: usize,
    /// Which of the functions that are inlined there, innermost first.
    inlined: usize,
    place: DebugPlace,
    source: StackFrame,
}

/// What a number of variables stands for.
#[derive(Clone)]
enum Reference {
    Locals(usize),
    Statics(usize),
    WebAssembly(usize),
    Parts(usize, ProgramValue),
}

/// What is done when a response is out.
enum AfterResponse {
    Nothing,
    Initialized,
    Move(Movement),
    Leave,
}

enum Movement {
    Start,
    Continue,
    ReverseContinue,
    Step(StepKind),
    StepBack(StepKind),
    Goto(BTreeSet<DebugPlace>, bool),
    Moment(MomentKind),
    Position(Position),
    End,
}

type Answer = Result<(Value, AfterResponse), String>;

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct SourceArgument {
    path: Option<String>,
    name: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Arguments {
    source: SourceArgument,
    breakpoints: Vec<BreakpointRequest>,
    filters: Vec<String>,
    line: u32,
    end_line: Option<u32>,
    thread_id: u64,
    start_frame: usize,
    levels: usize,
    frame_id: Option<usize>,
    variables_reference: usize,
    filter: Option<String>,
    start: u64,
    count: u64,
    expression: String,
    name: String,
    text: String,
    column: usize,
    granularity: Option<String>,
    target_id: usize,
    memory_reference: String,
    offset: i64,
    stop_on_entry: Option<bool>,
    call: Option<u64>,
    decision: Option<u64>,
    time_ns: Option<u64>,
    position: Option<u64>,
    to: Option<String>,
}

fn arguments<T: DeserializeOwned + Default>(message: &Value) -> Result<T, String> {
    match message.get("arguments") {
        None | Some(Value::Null) => Ok(T::default()),
        Some(given) => T::deserialize(given).map_err(|error| format!("its arguments: {error}")),
    }
}

fn words_of(error: &CampaignError) -> String {
    error.to_string()
}

impl DebugAdapter {
    /// A server for the recording of a trace or bundle. `source_map` has beginnings of paths of the source with what stands for
    /// them here.
    #[must_use]
    pub fn new(trace: &Path, source_map: Vec<(String, String)>) -> DebugAdapter {
        DebugAdapter {
            trace: trace.to_owned(),
            source_map,
            session: None,
            programs: Rc::default(),
            output: Box::new(std::io::sink()),
            sequence: 0,
            waiting: VecDeque::new(),
            breakpoints: BTreeMap::new(),
            next_id: 1,
            filters: ["trap", "finding"].map(str::to_owned).into(),
            stops_on_entry: false,
            end_is_told: false,
            exception: None,
            stack: None,
            references: Vec::new(),
            goto_targets: Vec::new(),
        }
    }

    /// Serves the client until it leaves. What was wrong with the connection, if it ended by that.
    ///
    /// # Errors
    /// When the client sends what is no message of the protocol.
    #[allow(
        clippy::disallowed_methods,
        reason = "a client may ask for a pause while the run goes on; nothing of the run depends on it"
    )]
    pub fn serve(mut self, input: impl Read + Send + 'static, output: impl Write + 'static) -> Result<(), String> {
        self.output = Box::new(output);
        let (sender, incoming) = sync_channel(WAITING_MAX);
        // It ends with the process, or with its input.
        std::thread::spawn(move || {
            let mut input = BufReader::new(input);
            loop {
                let next = wire::receive(&mut input);
                let is_last = matches!(next, ClientMessage::Closed(_));
                if sender.send(next).is_err() || is_last {
                    return;
                }
            }
        });
        loop {
            let next = match self.waiting.pop_front() {
                Some(next) => next,
                None => incoming.recv().unwrap_or(ClientMessage::Closed(None)),
            };
            match next {
                ClientMessage::Message(message) => {
                    if !self.answer(&message, &incoming) {
                        return Ok(());
                    }
                }
                ClientMessage::Unreadable(why) => self.say("stderr", &format!("{why}\n")),
                ClientMessage::Closed(None) => return Ok(()),
                ClientMessage::Closed(Some(why)) => {
                    self.say("stderr", &format!("{why}\n"));
                    return Err(why);
                }
            }
        }
    }

    /// Answers a request, and does what it asks for; whether the client stays.
    fn answer(&mut self, message: &Value, incoming: &Receiver<ClientMessage>) -> bool {
        if message.get("type").and_then(Value::as_str) != Some("request") {
            return true;
        }
        let Some(command) = message.get("command").and_then(Value::as_str) else { return true };
        let answer = self.request(command, message);
        let after = match answer {
            Ok((body, after)) => {
                self.respond(message, command, Ok(body));
                after
            }
            Err(why) => {
                self.respond(message, command, Err(why));
                AfterResponse::Nothing
            }
        };
        match after {
            AfterResponse::Nothing => {}
            AfterResponse::Initialized => self.event("initialized", json!({})),
            AfterResponse::Leave => return false,
            AfterResponse::Move(movement) => self.move_by(movement, incoming),
        }
        true
    }

    fn send(&mut self, mut message: Value) {
        self.sequence += 1;
        message["seq"] = json!(self.sequence);
        // A client that has left is noticed by its input.
        let _ = wire::send(&mut *self.output, &message);
    }

    fn respond(&mut self, request: &Value, command: &str, answer: Result<Value, String>) {
        let sequence = request.get("seq").cloned().unwrap_or(json!(0));
        let mut response = json!({
            "type": "response", "request_seq": sequence, "success": answer.is_ok(), "command": command,
        });
        match answer {
            Ok(body) => response["body"] = body,
            Err(why) => {
                response["message"] = json!(why);
                response["body"] = json!({"error": {"id": 1, "format": why, "showUser": true}});
            }
        }
        self.send(response);
    }

    fn event(&mut self, event: &str, body: Value) {
        self.send(json!({"type": "event", "event": event, "body": body}));
    }

    fn say(&mut self, category: &str, text: &str) {
        self.event("output", json!({"category": category, "output": text}));
    }

    fn session(&mut self) -> Result<&mut DebugSession, String> {
        self.session.as_mut().ok_or_else(|| "the run is not opened yet: `launch` or `attach` comes first".to_owned())
    }

    fn request(&mut self, command: &str, message: &Value) -> Answer {
        let nothing = |body: Value| Ok((body, AfterResponse::Nothing));
        let moving = |movement: Movement| Ok((json!({}), AfterResponse::Move(movement)));
        let given: Arguments = arguments(message)?;
        match command {
            "initialize" => nothing(capabilities()),
            "launch" | "attach" => {
                self.open()?;
                self.stops_on_entry = given.stop_on_entry.unwrap_or(command == "attach");
                Ok((json!({}), AfterResponse::Initialized))
            }
            "configurationDone" => {
                self.session()?;
                moving(Movement::Start)
            }
            "restart" => {
                self.session()?;
                moving(Movement::Start)
            }
            "disconnect" => Ok((json!({}), AfterResponse::Leave)),
            "terminate" => {
                self.event("terminated", json!({}));
                nothing(json!({}))
            }
            "cancel" => nothing(json!({})),
            "setBreakpoints" => {
                let path = given.source.path.or(given.source.name).ok_or("expected the path of a source")?;
                self.set_breakpoints(BreakpointList::Source(path), &given.breakpoints).and_then(nothing)
            }
            "setFunctionBreakpoints" => {
                self.set_breakpoints(BreakpointList::Functions, &given.breakpoints).and_then(nothing)
            }
            "setInstructionBreakpoints" => {
                self.set_breakpoints(BreakpointList::Instructions, &given.breakpoints).and_then(nothing)
            }
            "setDataBreakpoints" => self.set_data_breakpoints(&given.breakpoints).and_then(nothing),
            "dataBreakpointInfo" => self.data_breakpoint_info(&given).and_then(nothing),
            "setExceptionBreakpoints" => {
                self.filters = given.filters.into_iter().collect();
                nothing(json!({}))
            }
            "breakpointLocations" => {
                let path = given.source.path.or(given.source.name).unwrap_or_default();
                let lines = given.line..given.end_line.unwrap_or(given.line).saturating_add(1);
                let programs = self.programs.values();
                let found: BTreeSet<u32> =
                    programs.flat_map(|info| info.lines_with_code(&path, lines.clone())).collect();
                let list: Vec<Value> = found.into_iter().map(|line| json!({"line": line})).collect();
                nothing(json!({"breakpoints": list}))
            }
            "threads" => self.threads().and_then(nothing),
            "stackTrace" => self.stack_trace(&given).and_then(nothing),
            "scopes" => self.scopes(&given).and_then(nothing),
            "variables" => self.variables(&given).and_then(nothing),
            "evaluate" => self.evaluate(&given).and_then(nothing),
            "completions" => self.completions(&given).and_then(nothing),
            "exceptionInfo" => match &self.exception {
                Some((id, text)) => nothing(json!({
                    "exceptionId": id, "description": text, "breakMode": "always", "details": {"message": text},
                })),
                None => Err("the run does not stand at a trap or finding".to_owned()),
            },
            "readMemory" => self.read_memory(&given).and_then(nothing),
            "source" => {
                let path = given.source.path.or(given.source.name).unwrap_or_default();
                let mapped = self.mapped(&path);
                match std::fs::read_to_string(&mapped) {
                    Ok(text) => nothing(json!({"content": text})),
                    Err(error) => Err(format!("{mapped}: {error}; --source-map OLD=NEW says where sources are")),
                }
            }
            "loadedSources" => {
                let paths: BTreeSet<String> =
                    self.programs.values().flat_map(DebugInfo::source_files).map(|file| file.path).collect();
                let sources: Vec<Value> = paths.iter().map(|path| self.source(path)).collect();
                nothing(json!({"sources": sources}))
            }
            "modules" => {
                let name = |(number, (digest, info)): (usize, (&Digest, &DebugInfo))| {
                    let symbols = if info.is_present() { "debug information" } else { "no debug information" };
                    json!({"id": number, "name": digest.to_string(), "symbolStatus": symbols})
                };
                let modules: Vec<Value> = self.programs.iter().enumerate().map(name).collect();
                nothing(json!({"totalModules": modules.len(), "modules": modules}))
            }
            "continue" => {
                self.session()?;
                Ok((json!({"allThreadsContinued": true}), AfterResponse::Move(Movement::Continue)))
            }
            "reverseContinue" => {
                self.session()?;
                moving(Movement::ReverseContinue)
            }
            "next" | "stepIn" | "stepOut" | "stepBack" => {
                self.session()?;
                let kind = match (given.granularity.as_deref(), command) {
                    (Some("instruction"), _) => StepKind::Instruction,
                    (_, "stepIn") => StepKind::Into,
                    (_, "stepOut") => StepKind::Out,
                    _ => StepKind::Over,
                };
                moving(if command == "stepBack" { Movement::StepBack(kind) } else { Movement::Step(kind) })
            }
            // Whoever asks for it while the run goes on is answered by the movement.
            "pause" => nothing(json!({})),
            "gotoTargets" => self.goto_targets(&given).and_then(nothing),
            "goto" => {
                let chosen = given.target_id.checked_sub(1).and_then(|at| self.goto_targets.get(at).cloned());
                let (places, is_forward) = chosen.ok_or("there is no such target")?;
                self.session()?;
                moving(Movement::Goto(places, is_forward))
            }
            "fozzyGoTo" => {
                self.session()?;
                let movement = match (given.call, given.decision, given.time_ns, given.position, given.to.as_deref()) {
                    (Some(call), None, None, None, None) => Movement::Moment(MomentKind::Call(call)),
                    (None, Some(decision), None, None, None) => Movement::Moment(MomentKind::Decision(decision)),
                    (None, None, Some(time), None, None) => Movement::Moment(MomentKind::Time(Instant(time))),
                    (None, None, None, Some(position), None) => Movement::Position(Position(position)),
                    (None, None, None, None, Some("beginning")) => Movement::Position(Position(0)),
                    (None, None, None, None, Some("end")) => Movement::End,
                    _ => {
                        let one = "expected one of `call`, `decision`, `timeNs`, `position`, and `to` with `beginning` or `end`";
                        return Err(one.to_owned());
                    }
                };
                self.expect_moment(&movement)?;
                moving(movement)
            }
            other => Err(format!("`{other}` is not a request that this adapter knows")),
        }
    }

    /// Whether the run has the moment that is to be gone to.
    fn expect_moment(&mut self, movement: &Movement) -> Result<(), String> {
        let (kind, what) = match movement {
            Movement::Moment(kind @ MomentKind::Call(number)) => (*kind, format!("call {number}")),
            Movement::Moment(kind @ MomentKind::Decision(number)) => (*kind, format!("decision {number}")),
            Movement::Moment(kind @ MomentKind::Time(time)) => (*kind, format!("moment {time}")),
            Movement::Position(position) => {
                let has = self.session()?.has_position(*position).map_err(|error| words_of(&error))?;
                return if has { Ok(()) } else { Err(format!("the run has no position {}", position.0)) };
            }
            _ => return Ok(()),
        };
        let has = self.session()?.has_moment(kind).map_err(|error| words_of(&error))?;
        if has { Ok(()) } else { Err(format!("the run has no {what}")) }
    }

    fn open(&mut self) -> Result<(), String> {
        if self.session.is_some() {
            return Err("the run is opened already".to_owned());
        }
        let session = DebugSession::open(&self.trace).map_err(|error| words_of(&error))?;
        self.programs = Rc::new(programs_of(session.code()));
        self.session = Some(session);
        Ok(())
    }

    /// The operator of a program at or behind which a debugger can stop.
    fn counted(&self, component: Digest, place: CodePlace) -> Option<DebugPlace> {
        let program = self.session.as_ref()?.code().programs().get(&component)?;
        let offset = program.position_sites().module(place.module)?.next_counted(place.offset)?;
        Some(DebugPlace { component, module: place.module, offset: offset.0 })
    }

    /// Places of a breakpoint, and the line that they are at.
    fn places(
        &self,
        list: &BreakpointList,
        asked: &BreakpointRequest,
    ) -> Result<(BTreeSet<DebugPlace>, Option<u32>), String> {
        let mut places = BTreeSet::new();
        let mut at = None;
        for (component, info) in self.programs.iter() {
            let found = match list {
                BreakpointList::Source(path) => {
                    let Some(found) = info.line_places(path, asked.line) else { continue };
                    at = Some(found.line);
                    found.places
                }
                BreakpointList::Functions => info.function_places(&asked.name),
                BreakpointList::Instructions => {
                    let Some(place) = self.instruction(*component, asked) else { continue };
                    places.insert(place);
                    continue;
                }
            };
            places.extend(found.into_iter().filter_map(|place| self.counted(*component, place)));
        }
        if !places.is_empty() {
            return Ok((places, at));
        }
        let code = self.session.as_ref().map(DebugSession::code);
        Err(match list {
            _ if !self.programs.values().any(DebugInfo::is_present) => {
                "the program has no debug information: build it with -g".to_owned()
            }
            BreakpointList::Source(path) => format!("no code of {path} is at line {} or behind it", asked.line),
            BreakpointList::Functions if code.is_some_and(|code| code.only_traps(&asked.name)) => {
                format!("the run cannot be stopped in {}: it traps at once, and stops there", asked.name)
            }
            BreakpointList::Functions => format!("no function is named {}", asked.name),
            BreakpointList::Instructions => format!("no instruction is at {}", asked.instruction_reference),
        })
    }

    fn instruction(&self, component: Digest, asked: &BreakpointRequest) -> Option<DebugPlace> {
        let offset = address(&asked.instruction_reference)?.checked_add_signed(asked.offset)?;
        let place = self.session.as_ref()?.code().at_offset(offset)?;
        (place.component == component).then_some(place)
    }

    fn set_breakpoints(&mut self, list: BreakpointList, asked: &[BreakpointRequest]) -> Result<Value, String> {
        self.session()?;
        let mut own = Vec::new();
        let mut told = Vec::new();
        for asked in asked {
            let id = self.next_id;
            self.next_id += 1;
            let made = self.places(&list, asked).and_then(|(places, line)| {
                AdapterBreakpoint::new(id, places, asked).map(|breakpoint| (breakpoint, line))
            });
            told.push(match made {
                Ok((breakpoint, line)) => {
                    own.push(breakpoint);
                    match line {
                        Some(line) => json!({"id": id, "verified": true, "line": line}),
                        None => json!({"id": id, "verified": true}),
                    }
                }
                Err(why) => json!({"id": id, "verified": false, "message": why}),
            });
        }
        self.breakpoints.insert(list, own);
        self.arm(|_| true);
        Ok(json!({"breakpoints": told}))
    }

    /// Has the session stop at the breakpoints that are chosen.
    fn arm(&mut self, chosen: impl Fn(&AdapterBreakpoint) -> bool) {
        let all = self.breakpoints.values().flatten().filter(|breakpoint| chosen(breakpoint));
        let places = all.flat_map(|breakpoint| breakpoint.places.iter().copied()).collect();
        if let Some(session) = &mut self.session {
            session.set_breakpoints(places);
        }
    }

    fn set_data_breakpoints(&mut self, asked: &[BreakpointRequest]) -> Result<Value, String> {
        let range = |asked: &BreakpointRequest| {
            let (at, length) = asked.data_id.split_once('+')?;
            let at = u32::try_from(address(at)?).ok()?;
            Some((at, length.parse().ok().filter(|length| *length > 0)?))
        };
        let first = asked.first().and_then(range);
        self.session()?.watch(first).map_err(|error| words_of(&error))?;
        self.forget_stop();
        let told = asked.iter().enumerate().map(|(position, asked)| match (position, range(asked)) {
            (0, Some(_)) => json!({"verified": true}),
            (_, Some(_)) => json!({"verified": false, "message": "one piece of memory can be watched at a time"}),
            (_, None) => json!({"verified": false, "message": format!("`{}` is no piece of memory", asked.data_id)}),
        });
        Ok(json!({"breakpoints": told.collect::<Vec<_>>()}))
    }

    fn data_breakpoint_info(&mut self, given: &Arguments) -> Result<Value, String> {
        let value = match given.variables_reference {
            0 => self.value_of(given.frame_id, &given.name)?,
            reference => {
                let parts = self.parts(reference, 0, PARTS_MAX)?;
                let found = parts.into_iter().find(|(name, _)| *name == given.name).map(|(_, value)| value);
                found.ok_or_else(|| format!("there is no `{}`", given.name))?
            }
        };
        let bytes = self.programs.values().next().map_or(0, |info| info.byte_size(&value));
        Ok(match value.address() {
            Some(at) if bytes > 0 => json!({
                "dataId": format!("{at:#x}+{bytes}"), "description": format!("{} ({bytes} bytes at {at:#x})", given.name),
                "accessTypes": ["write"], "canPersist": false,
            }),
            _ => json!({"dataId": null, "description": format!("{} is in no memory here", given.name)}),
        })
    }

    fn threads(&mut self) -> Result<Value, String> {
        let machines = self.session()?.inspect().machines().unwrap_or_default();
        let name =
            |name: &str, number: u32| if name.is_empty() { format!("machine {number}") } else { name.to_owned() };
        let mut threads: Vec<Value> = machines
            .iter()
            .map(|machine| {
                let waits = match machine.waits_for.as_slice() {
                    _ if machine.has_ended => " (has ended)".to_owned(),
                    [] => String::new(),
                    waits => format!(" (waits for {})", waits.join(", ")),
                };
                json!({"id": machine.number + 1, "name": name(&machine.name, machine.number) + &waits})
            })
            .collect();
        if threads.is_empty() {
            threads.push(json!({"id": 1, "name": "program"}));
        }
        Ok(json!({"threads": threads}))
    }

    /// The machine whose turn it is.
    fn thread(&self) -> u64 {
        let moment = self.session.as_ref().and_then(|session| session.here().moment());
        moment.map_or(1, |moment| u64::from(moment.stop.machine.0) + 1)
    }

    fn stack(&mut self) -> Result<Vec<ShownFrame>, String> {
        if let Some(stack) = &self.stack {
            return Ok(stack.clone());
        }
        let session = self.session()?;
        // What a step has not entered is not there yet.
        let not_entered = session.functions_not_entered();
        let machine = session.here().moment().map(|moment| moment.stop.machine.0);
        let mut stack = machine.map(|machine| self.frames_of(machine)).transpose()?.unwrap_or_default();
        stack.drain(..not_entered.min(stack.len()));
        self.stack = Some(stack.clone());
        Ok(stack)
    }

    /// The frames of a machine: of one whose turn it is not, those that it waits in.
    fn frames_of(&mut self, machine: u32) -> Result<Vec<ShownFrame>, String> {
        let mut found = self.session()?.inspect_machine(machine).map_err(|error| words_of(&error))?;
        let entries = found.as_mut().map(Inspector::frames).transpose().map_err(|error| words_of(&error))?;
        let mut frames = Vec::new();
        for (frame, entry) in entries.unwrap_or_default().into_iter().enumerate() {
            let place = entry.place;
            let shown = |(inlined, source)| ShownFrame { machine, frame, inlined, place, source };
            frames.extend(entry.source.into_iter().enumerate().map(shown));
        }
        Ok(frames)
    }

    fn stack_trace(&mut self, given: &Arguments) -> Result<Value, String> {
        let mut stack = self.stack()?;
        let machine = u32::try_from(given.thread_id.saturating_sub(1)).unwrap_or(u32::MAX);
        if given.thread_id != self.thread() && !stack.iter().any(|frame| frame.machine == machine) {
            stack.extend(self.frames_of(machine)?);
            self.stack = Some(stack.clone());
        }
        let own: Vec<(usize, &ShownFrame)> =
            stack.iter().enumerate().filter(|(_, frame)| frame.machine == machine).collect();
        let levels = if given.levels == 0 { usize::MAX } else { given.levels };
        let shown = own.iter().skip(given.start_frame).take(levels);
        let frames: Vec<Value> = shown.map(|(position, frame)| self.shown_frame(*position, frame)).collect();
        Ok(json!({"stackFrames": frames, "totalFrames": own.len()}))
    }

    fn shown_frame(&self, position: usize, frame: &ShownFrame) -> Value {
        let source = &frame.source.source;
        let mut shown = json!({
            "id": position + 1, "name": frame.source.function, "line": source.line.unwrap_or(0), "column": source.col.unwrap_or(0),
            "instructionPointerReference": format!("{:#x}", frame.place.offset),
        });
        match &source.file {
            Some(file) => shown["source"] = self.source(file),
            None => shown["presentationHint"] = json!("subtle"),
        }
        shown
    }

    /// Where a file of the compiler is here.
    fn mapped(&self, file: &str) -> String {
        let mapped =
            self.source_map.iter().find_map(|(old, new)| Some(format!("{new}{}", file.strip_prefix(old.as_str())?)));
        let mapped = mapped.unwrap_or_else(|| file.to_owned());
        match std::path::absolute(&mapped) {
            Ok(path) if path.exists() => path.display().to_string(),
            _ => mapped,
        }
    }

    fn source(&self, file: &str) -> Value {
        let path = self.mapped(file);
        let name = path.rsplit(['/', '\\']).next().unwrap_or(&path);
        let mut source = json!({"name": name, "path": path});
        if !Path::new(&path).exists() {
            source["presentationHint"] = json!("deemphasize");
            source["origin"] = json!("not on this machine: --source-map OLD=NEW says where sources are");
        }
        source
    }

    fn shown(&mut self, frame_id: Option<usize>) -> Result<(usize, ShownFrame), String> {
        let stack = self.stack()?;
        let position = frame_id.map_or(Some(0), |id| id.checked_sub(1));
        let position = position.filter(|position| *position < stack.len());
        let position = position.ok_or("there is no such frame where the run stands")?;
        Ok((position, stack[position].clone()))
    }

    /// Does something with a frame, its debug information and its state.
    fn with_frame<T>(
        &mut self,
        position: usize,
        act: impl FnOnce(&DebugInfo, CodePlace, Option<&FunctionScope>, &StoppedFrame<'_, '_>) -> T,
    ) -> Result<T, String> {
        let (_, frame) = self.shown(Some(position + 1))?;
        let programs = Rc::clone(&self.programs);
        let info = programs.get(&frame.place.component).ok_or("the program is not known")?;
        let place = code_place(frame.place);
        let scopes = info.scopes(place);
        let found = self.session()?.inspect_machine(frame.machine).map_err(|error| words_of(&error))?;
        let mut inspector = found.ok_or("that machine has no stack any more")?;
        let state = StoppedFrame::new(&mut inspector, frame.frame);
        Ok(act(info, place, scopes.get(frame.inlined), &state))
    }

    fn refer(&mut self, reference: Reference) -> usize {
        self.references.push(reference);
        self.references.len()
    }

    fn scopes(&mut self, given: &Arguments) -> Result<Value, String> {
        let (position, _) = self.shown(given.frame_id)?;
        let (locals, statics) =
            self.with_frame(position, |info, place, scope, _| (scope.is_some(), info.statics(place).len()))?;
        let mut list = Vec::new();
        if locals {
            let reference = self.refer(Reference::Locals(position));
            list.push(json!({"name": "Locals", "presentationHint": "locals", "variablesReference": reference, "expensive": false}));
        }
        if statics > 0 {
            let reference = self.refer(Reference::Statics(position));
            list.push(json!({"name": "Statics", "variablesReference": reference, "namedVariables": statics, "expensive": true}));
        }
        let reference = self.refer(Reference::WebAssembly(position));
        list.push(json!({"name": "WebAssembly", "presentationHint": "registers", "variablesReference": reference, "expensive": locals}));
        Ok(json!({"scopes": list}))
    }

    /// The parts of what a number stands for.
    fn parts(&mut self, reference: usize, start: u64, count: u64) -> Result<Vec<(String, ProgramValue)>, String> {
        let known = reference.checked_sub(1).and_then(|at| self.references.get(at).cloned());
        let known = known.ok_or("these variables are those of another stop")?;
        let (skip, take) = (usize::try_from(start).unwrap_or(usize::MAX), usize::try_from(count).unwrap_or(usize::MAX));
        match known {
            Reference::Locals(position) => self.with_frame(position, |info, _, scope, state| {
                let variables = scope.map(|scope| scope.variables.as_slice()).unwrap_or_default();
                let shown = variables.iter().skip(skip).take(take);
                shown.map(|variable| (variable.name.clone(), info.value(variable, state))).collect()
            }),
            Reference::Statics(position) => self.with_frame(position, |info, place, _, state| {
                let shown = info.statics(place).into_iter().skip(skip).take(take);
                shown.map(|variable| (variable.name.clone(), info.value(&variable, state))).collect()
            }),
            Reference::Parts(position, value) => {
                self.with_frame(position, |info, _, _, state| info.parts(&value, state, start, count))
            }
            Reference::WebAssembly(_) => Ok(Vec::new()),
        }
    }

    fn variables(&mut self, given: &Arguments) -> Result<Value, String> {
        let reference = given.variables_reference;
        let known = reference.checked_sub(1).and_then(|at| self.references.get(at).cloned());
        let known = known.ok_or("these variables are those of another stop")?;
        let position = match known {
            Reference::WebAssembly(position) => {
                let list = self.with_frame(position, |_, _, _, state| {
                    let named = |kind: &str, values: &[fozzy_engine::DebugValue]| -> Vec<Value> {
                        let shown = values.iter().enumerate();
                        let one = |(index, value): (usize, &fozzy_engine::DebugValue)| {
                            json!({"name": format!("{kind} {index}"), "value": words::value(*value), "variablesReference": 0})
                        };
                        shown.map(one).collect()
                    };
                    [named("local", state.locals()), named("operand", state.operands())].concat()
                })?;
                return Ok(json!({"variables": list}));
            }
            Reference::Locals(position) | Reference::Statics(position) | Reference::Parts(position, _) => position,
        };
        let count = if given.count == 0 { PARTS_MAX } else { given.count.min(PARTS_MAX) };
        let parts = self.parts(reference, given.start, count)?;
        let is_wanted = |name: &str| match given.filter.as_deref() {
            Some("indexed") => name.starts_with('['),
            Some("named") => !name.starts_with('['),
            _ => true,
        };
        let mut list = Vec::new();
        for (name, value) in parts.into_iter().filter(|(name, _)| is_wanted(name)) {
            let mut shown = self.shown_value(position, value, "value")?;
            shown["name"] = json!(name);
            list.push(shown);
        }
        Ok(json!({"variables": list}))
    }

    /// A value as the protocol has it; its text is in the field `text_field`.
    fn shown_value(&mut self, position: usize, value: ProgramValue, text_field: &str) -> Result<Value, String> {
        let text = self.with_frame(position, |info, _, _, state| info.render(&value, state))?;
        let has_parts = text.named + text.indexed > 0;
        let reference = if has_parts { self.refer(Reference::Parts(position, value)) } else { 0 };
        let mut shown = json!({"type": text.type_name, "variablesReference": reference});
        shown[text_field] = json!(text.text);
        if text.named > 0 {
            shown["namedVariables"] = json!(text.named);
        }
        if text.indexed > 0 {
            shown["indexedVariables"] = json!(text.indexed);
        }
        if let Some(at) = text.address {
            shown["memoryReference"] = json!(format!("{at:#x}"));
        }
        Ok(shown)
    }

    fn value_of(&mut self, frame_id: Option<usize>, expression: &str) -> Result<ProgramValue, String> {
        let (position, _) = self.shown(frame_id)?;
        let parsed = Expression::parse(expression).map_err(|error| error.to_string())?;
        self.with_frame(position, |info, place, scope, state| info.evaluate(&parsed, place, scope, state))?
            .map_err(|error| error.to_string())
    }

    fn evaluate(&mut self, given: &Arguments) -> Result<Value, String> {
        let (position, _) = self.shown(given.frame_id)?;
        let value = self.value_of(given.frame_id, &given.expression)?;
        self.shown_value(position, value, "result")
    }

    fn completions(&mut self, given: &Arguments) -> Result<Value, String> {
        let until = given.column.saturating_sub(1).min(given.text.len());
        let before = given.text.get(..until).unwrap_or(&given.text);
        let start = before.rfind(|letter: char| !letter.is_alphanumeric() && letter != '_').map_or(0, |at| at + 1);
        let word = before.get(start..).unwrap_or_default().to_owned();
        let (position, _) = self.shown(given.frame_id)?;
        let names: Vec<String> = self.with_frame(position, |info, place, scope, _| {
            let locals = scope.map(|scope| scope.variables.clone()).unwrap_or_default();
            let all = locals.into_iter().chain(info.statics(place)).map(|variable| variable.name);
            all.filter(|name| name.starts_with(&word)).take(COMPLETIONS_MAX).collect()
        })?;
        let targets: Vec<Value> = names.iter().map(|name| json!({"label": name, "type": "variable"})).collect();
        Ok(json!({"targets": targets}))
    }

    fn read_memory(&mut self, given: &Arguments) -> Result<Value, String> {
        let at = address(&given.memory_reference).and_then(|at| at.checked_add_signed(given.offset));
        let at = at.ok_or("expected an address such as 0x1000")?;
        let count = given.count.min(MEMORY_BYTES_MAX);
        let found =
            self.session()?.inspect().memory(0, at, count).map_err(|error| words_of(&error))?.unwrap_or_default();
        let missing = given.count - found.len() as u64;
        Ok(json!({"address": format!("{at:#x}"), "data": base64(&found), "unreadableBytes": missing}))
    }

    fn goto_targets(&mut self, given: &Arguments) -> Result<Value, String> {
        let path = given.source.path.clone().or(given.source.name.clone()).unwrap_or_default();
        let asked = BreakpointRequest { line: given.line, ..BreakpointRequest::default() };
        let (places, line) = self.places(&BreakpointList::Source(path), &asked)?;
        let line = line.unwrap_or(given.line);
        let mut targets = Vec::new();
        for (label, is_forward) in [("the next time", true), ("the last time before", false)] {
            self.goto_targets.push((places.clone(), is_forward));
            targets
                .push(json!({"id": self.goto_targets.len(), "label": format!("line {line}: {label}"), "line": line}));
        }
        Ok(json!({"targets": targets}))
    }

    fn forget_stop(&mut self) {
        self.stack = None;
        self.references.clear();
        self.exception = None;
    }

    /// Moves, and says where the run stands then.
    fn move_by(&mut self, movement: Movement, incoming: &Receiver<ClientMessage>) {
        self.forget_stop();
        let is_ended = matches!(self.session.as_ref().map(DebugSession::here), Some(RunPoint::Ended(_)));
        if matches!(movement, Movement::Continue) && is_ended && self.end_is_told {
            return self.finish();
        }
        self.end_is_told = false;
        match self.moved(movement, incoming) {
            Ok(Some(reason)) => self.tell_stop(reason),
            // The client has left.
            Ok(None) => {}
            Err(error) => {
                self.say("stderr", &format!("{error}\n"));
                self.tell_stop(StopWords { reason: "pause", ids: Vec::new() });
            }
        }
    }

    fn moved(
        &mut self,
        movement: Movement,
        incoming: &Receiver<ClientMessage>,
    ) -> Result<Option<StopWords>, CampaignError> {
        let words = |reason: &'static str| Ok(Some(StopWords { reason, ids: Vec::new() }));
        let Some(session) = &mut self.session else { return words("pause") };
        match movement {
            Movement::Start => {
                session.beginning()?;
                if self.stops_on_entry {
                    return words("entry");
                }
                self.go_on(incoming)
            }
            Movement::Continue => self.go_on(incoming),
            Movement::ReverseContinue => self.go_back(),
            Movement::Step(kind) => {
                self.arm(AdapterBreakpoint::is_plain);
                let stepped = self.session.as_mut().map(|session| session.step(kind, &mut |_, _| Ok(true)).map(|_| ()));
                let stepped = stepped.transpose();
                self.arm(|_| true);
                stepped?;
                words("step")
            }
            Movement::StepBack(kind) => {
                session.step_back(kind)?;
                words("step")
            }
            Movement::Goto(places, is_forward) => {
                session.set_breakpoints(places);
                let gone = match is_forward {
                    true => session.go_on(&mut |_, _| Ok(true)).map(|_| ()),
                    false => session.go_back(&mut |_, _| Ok(true)).map(|_| ()),
                };
                self.arm(|_| true);
                gone?;
                words("goto")
            }
            Movement::Moment(kind) => {
                session.go_to_moment(kind)?;
                words("goto")
            }
            Movement::Position(position) => {
                session.go_to(position)?;
                words("goto")
            }
            Movement::End => {
                session.end()?;
                words("goto")
            }
        }
    }

    /// Counts passes of breakpoints that are not counted yet, up to here.
    fn count_passes(&mut self) -> Result<(), CampaignError> {
        let Some(session) = &mut self.session else { return Ok(()) };
        let here = session.here().position();
        let Some((places, from)) = uncounted(&self.breakpoints, here) else { return Ok(()) };
        let (programs, breakpoints) = (Rc::clone(&self.programs), &mut self.breakpoints);
        session.pass_through(places, from, here, &mut |inspector, moment| {
            if let Some(place) = moment.stop.place {
                pass(breakpoints, &programs, inspector, (place, moment.stop.position), false);
            }
            Ok(false)
        })?;
        counted_to(&mut self.breakpoints, here);
        Ok(())
    }

    fn go_on(&mut self, incoming: &Receiver<ClientMessage>) -> Result<Option<StopWords>, CampaignError> {
        self.count_passes()?;
        let mut logged = 0usize;
        loop {
            let mut breakpoints = std::mem::take(&mut self.breakpoints);
            let (programs, mut said, mut hit) = (Rc::clone(&self.programs), Vec::new(), Vec::new());
            let Some(session) = &mut self.session else { return Ok(None) };
            let target = session.here().position().0.saturating_add(STRETCH);
            let stopped = session.run_while(target, &mut |inspector, moment| {
                let Some(place) = moment.stop.place.filter(|_| moment.stop.reason == StopReason::Breakpoint) else {
                    return Ok(true);
                };
                let passed = pass(&mut breakpoints, &programs, inspector, (place, moment.stop.position), true);
                logged += passed.said.len();
                said.extend(passed.said.into_iter().take(LOGGED_MAX.saturating_sub(logged.saturating_sub(1))));
                hit = passed.hit;
                Ok(!hit.is_empty())
            });
            let is_ended = matches!(session.here(), RunPoint::Ended(_));
            let reason = session.here().moment().map(|moment| moment.stop.reason.clone());
            // A stop at a place is behind its breakpoint.
            let gone_to = Position(session.here().position().0 + 1);
            self.breakpoints = breakpoints;
            counted_to(&mut self.breakpoints, gone_to);
            for text in said {
                self.say("console", &text);
            }
            let is_stop = stopped? || is_ended;
            if is_stop {
                let is_wanted = match &reason {
                    Some(StopReason::Trap(_)) => self.filters.contains("trap"),
                    Some(StopReason::HostEnd(_)) => self.filters.contains("exit"),
                    _ => true,
                };
                if is_wanted || is_ended {
                    if logged > LOGGED_MAX {
                        self.say(
                            "console",
                            &format!("{} more texts of log points were left out\n", logged - LOGGED_MAX),
                        );
                    }
                    return Ok(Some(StopWords { reason: "breakpoint", ids: hit }));
                }
            }
            match self.interruption(incoming) {
                Interruption::None => {}
                Interruption::Pause => return Ok(Some(StopWords { reason: "pause", ids: Vec::new() })),
                Interruption::Leave => return Ok(None),
            }
        }
    }

    fn go_back(&mut self) -> Result<Option<StopWords>, CampaignError> {
        self.count_passes()?;
        let mut breakpoints = std::mem::take(&mut self.breakpoints);
        let (programs, mut said) = (Rc::clone(&self.programs), BTreeSet::new());
        let Some(session) = &mut self.session else { return Ok(None) };
        let gone = session.go_back(&mut |inspector, moment| {
            let Some(place) = moment.stop.place.filter(|_| moment.stop.reason == StopReason::Breakpoint) else {
                return Ok(true);
            };
            let passed = pass(&mut breakpoints, &programs, inspector, (place, moment.stop.position), false);
            said.extend(passed.said);
            Ok(!passed.hit.is_empty())
        });
        let gone = gone.map(|_| ());
        let here = session.here().moment().cloned();
        let place = here.as_ref().and_then(|moment| moment.stop.place);
        let is_breakpoint = here.is_some_and(|moment| moment.stop.reason == StopReason::Breakpoint);
        let ids = match place.filter(|_| is_breakpoint) {
            Some(place) => {
                let at = (place, session.here().position());
                pass(&mut breakpoints, &programs, &mut session.inspect(), at, false).hit
            }
            None => Vec::new(),
        };
        self.breakpoints = breakpoints;
        for text in said.into_iter().take(LOGGED_MAX) {
            self.say("console", &text);
        }
        gone?;
        Ok(Some(StopWords { reason: "breakpoint", ids }))
    }

    /// Looks at what the client has sent while the run went on.
    fn interruption(&mut self, incoming: &Receiver<ClientMessage>) -> Interruption {
        while self.waiting.len() < WAITING_MAX
            && let Ok(next) = incoming.try_recv()
        {
            self.waiting.push_back(next);
        }
        let command = |incoming: &ClientMessage| match incoming {
            ClientMessage::Message(message) => {
                message.get("command").and_then(Value::as_str).unwrap_or_default().to_owned()
            }
            ClientMessage::Closed(_) => "disconnect".to_owned(),
            ClientMessage::Unreadable(_) => String::new(),
        };
        let commands: Vec<String> = self.waiting.iter().map(command).collect();
        if commands.iter().any(|command| command == "disconnect" || command == "terminate") {
            return Interruption::Leave;
        }
        let Some(position) = commands.iter().position(|command| command == "pause") else { return Interruption::None };
        if let Some(ClientMessage::Message(message)) = self.waiting.remove(position) {
            self.respond(&message, "pause", Ok(json!({})));
        }
        Interruption::Pause
    }

    fn tell_stop(&mut self, words: StopWords) {
        let Some(session) = &self.session else { return };
        let mut reason = words.reason;
        let (description, mut text) = match session.here() {
            RunPoint::Beginning(_) if reason != "goto" => {
                reason = "entry";
                ("the beginning of the run".to_owned(), None)
            }
            RunPoint::Beginning(moment) | RunPoint::At(moment) => {
                let stop = &moment.stop;
                match &stop.reason {
                    StopReason::Trap(what) => {
                        self.exception = Some(("trap", what.clone()));
                        reason = "exception";
                    }
                    StopReason::HostEnd(what) => {
                        self.exception = Some(("exit", what.clone()));
                        reason = "exception";
                    }
                    StopReason::Watch => reason = "data breakpoint",
                    StopReason::Breakpoint if reason == "step" && !words.ids.is_empty() => reason = "breakpoint",
                    _ => {}
                }
                (format!("instruction {}, call {}, decision {}", stop.position.0, stop.calls, stop.decisions), None)
            }
            RunPoint::Ended(end) => {
                self.end_is_told = true;
                let is_finding = end.status != Status::Pass && self.filters.contains("finding");
                reason = if is_finding { "exception" } else { "end" };
                if is_finding {
                    self.exception = Some(("finding", end.words.clone()));
                }
                (format!("the run is over: {}", end.words), end.difference.clone())
            }
        };
        if let Some((_, what)) = &self.exception {
            text = Some(what.clone());
        }
        let mut body = json!({
            "reason": reason, "description": description, "threadId": self.thread(), "allThreadsStopped": true,
        });
        if !words.ids.is_empty() {
            body["hitBreakpointIds"] = json!(words.ids);
        }
        if let Some(text) = text {
            body["text"] = json!(text);
        }
        self.event("stopped", body);
    }

    /// The client goes on at the end of the run: it is over.
    fn finish(&mut self) {
        let passed = match self.session.as_ref().map(DebugSession::here) {
            Some(RunPoint::Ended(end)) => end.status == Status::Pass,
            _ => true,
        };
        self.event("exited", json!({"exitCode": u8::from(!passed)}));
        self.event("terminated", json!({}));
    }
}

/// Why a movement has ended.
struct StopWords {
    reason: &'static str,
    /// Breakpoints of the client.
    ids: Vec<u64>,
}

enum Interruption {
    None,
    Pause,
    Leave,
}

fn capabilities() -> Value {
    let filter = |name: &str, label: &str, is_on: bool| json!({"filter": name, "label": label, "default": is_on});
    json!({
        "supportsConfigurationDoneRequest": true,
        "supportsStepBack": true,
        "supportsRestartRequest": true,
        "supportsFunctionBreakpoints": true,
        "supportsConditionalBreakpoints": true,
        "supportsHitConditionalBreakpoints": true,
        "supportsLogPoints": true,
        "supportsDataBreakpoints": true,
        "supportsInstructionBreakpoints": true,
        "supportsSteppingGranularity": true,
        "supportsEvaluateForHovers": true,
        "supportsGotoTargetsRequest": true,
        "supportsCompletionsRequest": true,
        "supportsExceptionInfoRequest": true,
        "supportsReadMemoryRequest": true,
        "supportsLoadedSourcesRequest": true,
        "supportsModulesRequest": true,
        "supportsBreakpointLocationsRequest": true,
        "supportsDelayedStackTraceLoading": true,
        "supportsTerminateRequest": true,
        "supportsCancelRequest": true,
        "exceptionBreakpointFilters": [
            filter("trap", "Traps, with panics that abort", true),
            filter("exit", "Ends of a program by a call", false),
            filter("finding", "The end of a run that has failed", true),
        ],
    })
}

/// A number as references have it.
fn address(text: &str) -> Option<u64> {
    words::number(text).ok()
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let mut wide = [0; 4];
        wide[1..=group.len()].copy_from_slice(group);
        let bits = u32::from_be_bytes(wide);
        for position in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * position) & 63) as usize];
            text.push(if position > group.len() { '=' } else { char::from(letter) });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_written_as_base64() {
        let cases = [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")];
        for (bytes, expected) in cases {
            assert_eq!(base64(bytes.as_bytes()), expected);
        }
    }
}
