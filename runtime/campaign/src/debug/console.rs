//! The debugger's commands as a person types them, in the manner of gdb and rr: a line in, text out.
//!
//! ```text
//! (fozzy) break pay            Breakpoint 1: pay, at src/lib.rs:41
//! (fozzy) reverse-continue     Breakpoint 1 at 18 204: pay at src/lib.rs:41:9
//! ```
//!
//! Not here: reading lines and writing text (`fozzy-cli`).

use super::breakpoints::{BreakpointCheck, ConsoleBreakpoint, WatchedBytes, holds};
use super::names::{self, SeenFrame, SeenValue};
use super::protocol::{EndReport, MachineState};
use super::session::{DebugSession, Inspector, Moment, MomentKind, RunPoint, StackEntry};
use super::stepping::StepKind;
use super::values::{Programs, programs_of};
use super::words::{self, number};
use crate::error::{CampaignError, ErrorKind};
use fozzy_engine::{DebugPlace, DebugValue, Position, StopReason};
use fozzy_instrument::debug_info::{CodePlace, DebugInfo};
use fozzy_trace::outcome::StackFrame;
use fozzy_trace::{Digest, Duration, Instant, counted, grouped};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;
use std::rc::Rc;

/// Lines of source around a place.
const SOURCE_LINES: u32 = 10;
/// Most bytes that `x` shows.
const EXAMINED_BYTES_MAX: u64 = 4096;
/// Frames that `bt` shows unless it is told how many.
const FRAMES_SHOWN: usize = 40;

/// What a command has to say.
pub struct ConsoleReply {
    /// For standard output; ends with a line break unless it is empty.
    pub text: String,
    /// Whether the command was refused, or failed.
    pub is_refused: bool,
    /// Whether the person has left.
    pub is_over: bool,
}

/// A person's view of a debugged run.
pub struct Console {
    session: DebugSession,
    breakpoints: Vec<ConsoleBreakpoint>,
    watched: Option<WatchedBytes>,
    next_number: u32,
    /// The machine that is looked at, unless it is the one whose turn it is.
    machine: Option<u32>,
    /// The frame that is looked at, counted with inlined ones.
    frame: usize,
    /// Beginnings of paths of the source, and what stands here for them.
    source_map: Vec<(String, String)>,
    /// Read when a variable is asked for.
    programs: Option<Rc<Programs>>,
    /// What an empty line repeats.
    last: String,
}

/// A frame as it is shown: a function, or one that is inlined.
struct ShownFrame {
    /// Position among the frames of the program.
    frame: usize,
    /// Which of the functions that are inlined there, innermost first.
    inlined: usize,
    place: DebugPlace,
    source: StackFrame,
}

const HELP: &str = "\
Breakpoints: break WHERE [if COND], tbreak WHERE, condition N [COND],
  delete [N], watch ADDRESS[:LENGTH], info breakpoints
  log WHERE TEXT prints a text with {EXPR} in it on the way forwards
  WHERE: FUNCTION, FILE:LINE, #INDEX of a function, or *OFFSET
Forwards: continue (c), step (s), next (n), finish, stepi (si)
Backwards: reverse-continue (rc), reverse-step (rs), reverse-next (rn),
  reverse-finish (rf), reverse-stepi (rsi)
Go: goto POSITION | start | end | call N | decision N | time T
Look: backtrace (bt) [N], frame N, up, down, list (l), where, print EXPR (p),
  x ADDRESS[:LENGTH], info locals | wasm | stack | globals N | memory | machines
  machine N (thread) looks at another machine, as it waits
Ask: last ADDRESS[:LENGTH] goes back to who wrote it last
  whatif DECISION SEED answers from that decision on by another seed
EXPR: variables of the source, as order.lines[2].price or *next; with debug
  information. Or numbers: $0 (a local), $g0 (a global), $s0 (an operand),
  u8[A] u16[A] u32[A] u64[A] i32[A] (memory), + - * == != < > <= >= && ||
An empty line repeats the last command; quit (q) leaves.
";

impl Console {
    /// A console of a session; `source_map` has beginnings of paths of the source with what stands for them here.
    #[must_use]
    pub fn new(session: DebugSession, source_map: Vec<(String, String)>) -> Console {
        Console {
            session,
            breakpoints: Vec::new(),
            watched: None,
            next_number: 1,
            machine: None,
            frame: 0,
            source_map,
            programs: None,
            last: String::new(),
        }
    }

    /// What a person sees first.
    ///
    /// # Errors
    /// When the process of the run is gone.
    pub fn greeting(&mut self) -> Result<String, CampaignError> {
        let recording = self.session.recording();
        let outcome = &recording.outcome;
        let calls = counted(outcome.calls, "call");
        let decisions = counted(outcome.decisions, "decision");
        let mut text = format!("{}: {calls}, {decisions}; it {}\n", recording.target.name, outcome.end.words());
        if !self.session.code().has_lines() {
            text.push_str(
                "The program has no lines of source: functions stand here by name or index,\n\
                 and places by their offset. Build it with debug information to have them.\n",
            );
        }
        text.push_str(&self.shown()?);
        Ok(text)
    }

    /// Does what a line says.
    pub fn command(&mut self, line: &str) -> ConsoleReply {
        let line = line.trim();
        let line = if line.is_empty() { self.last.clone() } else { line.to_owned() };
        self.last.clone_from(&line);
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line.as_str(), ""));
        let (word, rest) = (word.to_owned(), rest.trim().to_owned());
        if matches!(word.as_str(), "quit" | "q" | "exit") {
            return ConsoleReply { text: String::new(), is_refused: false, is_over: true };
        }
        match self.act(&word, &rest) {
            Ok(text) => ConsoleReply { text, is_refused: false, is_over: false },
            Err(error) => {
                let hint = error.hint.map(|hint| format!("\n  {hint}")).unwrap_or_default();
                ConsoleReply { text: format!("{}{hint}\n", error.message), is_refused: true, is_over: false }
            }
        }
    }

    fn act(&mut self, word: &str, rest: &str) -> Result<String, CampaignError> {
        match word {
            "" | "#" => Ok(String::new()),
            "help" | "h" => Ok(HELP.to_owned()),
            "break" | "b" | "br" => self.set_breakpoint(rest, false),
            "tbreak" | "tb" => self.set_breakpoint(rest, true),
            "log" => self.set_log(rest),
            "condition" | "cond" => self.set_condition(rest),
            "delete" | "d" => self.delete(rest),
            "watch" => self.watch(rest),
            "continue" | "c" => self.go_on(true),
            "reverse-continue" | "rc" => self.go_on(false),
            "step" | "s" => self.step(StepKind::Into, true, rest),
            "next" | "n" => self.step(StepKind::Over, true, rest),
            "finish" | "fin" => self.step(StepKind::Out, true, rest),
            "stepi" | "si" => self.step(StepKind::Instruction, true, rest),
            "reverse-step" | "rs" => self.step(StepKind::Into, false, rest),
            "reverse-next" | "rn" => self.step(StepKind::Over, false, rest),
            "reverse-finish" | "rf" => self.step(StepKind::Out, false, rest),
            "reverse-stepi" | "rsi" => self.step(StepKind::Instruction, false, rest),
            "goto" => self.go_to(rest),
            "start" => self.go_to("start"),
            "end" => self.go_to("end"),
            "machine" | "thread" | "t" => self.select_machine(rest),
            "where" | "w" => match self.machine {
                Some(machine) => self.machine_shown(machine),
                None => self.shown(),
            },
            "backtrace" | "bt" => self.backtrace(rest),
            "frame" | "f" => self.select(number(rest)?.try_into().unwrap_or(usize::MAX)),
            "up" => self.select(self.frame + 1),
            "down" => self.select(self.frame.saturating_sub(1)),
            "list" | "l" => self.list(rest),
            "print" | "p" => self.print(rest),
            "x" => self.examine(rest),
            "info" | "i" => self.info(rest),
            "last" => self.last_write(rest),
            "whatif" => self.what_if(rest),
            _ => {
                let nearest = fozzy_plan::nearest(word, WORDS.iter().copied());
                let error = refused(format!("there is no command `{word}`"));
                Err(match nearest {
                    Some(nearest) => error.hint(format!("did you mean `{nearest}`? `help` lists all")),
                    None => error.hint("`help` lists all"),
                })
            }
        }
    }

    /// Where a person means.
    fn places(&mut self, what: &str) -> Result<(BTreeSet<DebugPlace>, String), CampaignError> {
        let programs = self.programs();
        let code = self.session.code();
        if let Some(offset) = what.strip_prefix('*') {
            let offset = number(offset)?;
            let missing = || match code.behind_offset(offset) {
                Some(next) => refused(format!("the run cannot be stopped at {offset:#x}")).hint(format!(
                    "no instruction that is counted stands there; the next one is at *{:#x}",
                    next.offset
                )),
                None => refused(format!("no instruction at which the run can be stopped stands at {offset:#x}")),
            };
            return code.at_offset(offset).map(|place| (BTreeSet::from([place]), String::new())).ok_or_else(missing);
        }
        if let Some((file, line)) =
            what.rsplit_once(':').filter(|(file, line)| !file.ends_with(':') && line.parse::<u32>().is_ok())
        {
            let line = line.parse().unwrap_or_default();
            return self.line_places(file, line);
        }
        if let Ok(line) = what.parse::<u32>() {
            let file = self.file_here().ok_or_else(|| refused("no line of source is here: name a file, too"))?;
            return self.line_places(&file, line);
        }
        // Where the source has it: behind its prologue, and where it is inlined. In optimised code what stands behind a prologue can be another
        // function that is inlined there: then it is the function's beginning.
        let places = programs.iter().flat_map(|(program, info)| self.counted(*program, info.function_places(what)));
        let in_source = places.flat_map(|place| match code.is_inside(place, what) {
            true => BTreeSet::from([place]),
            false => code.functions_named(what),
        });
        let mut found: BTreeSet<DebugPlace> = if code.has_lines() { in_source.collect() } else { BTreeSet::new() };
        if found.is_empty() {
            found = code.functions_named(what);
        }
        if !found.is_empty() {
            return Ok((found, String::new()));
        }
        if code.only_traps(what) {
            return Err(refused(format!("the run cannot be stopped in `{what}`: it has nothing but `unreachable`"))
                .hint("the run stops by itself where that traps: `continue`"));
        }
        let error = refused(format!("no function of the program is called `{what}`"));
        Err(match code.near(what) {
            Some(near) => error.hint(format!("did you mean `{near}`?")),
            None => error,
        })
    }

    /// Places of the debug information of a program, as a run can be stopped there.
    fn counted(&self, component: Digest, places: Vec<CodePlace>) -> impl Iterator<Item = DebugPlace> {
        let place = move |place: CodePlace| DebugPlace { component, module: place.module, offset: place.offset.0 };
        places.into_iter().filter_map(move |found| self.session.code().counted_from(place(found)))
    }

    fn line_places(&mut self, file: &str, line: u32) -> Result<(BTreeSet<DebugPlace>, String), CampaignError> {
        let programs = self.programs();
        let code = self.session.code();
        if let Some((found, _)) = code.line(file, line) {
            let of = |(program, info): (&Digest, &DebugInfo)| {
                let of_line = info.line_places(file, found).filter(|places| places.line == found);
                self.counted(*program, of_line.map(|line| line.places).unwrap_or_default()).collect::<Vec<_>>()
            };
            let in_source: BTreeSet<DebugPlace> = programs.iter().flat_map(of).collect();
            let places = match in_source.is_empty() {
                false => in_source,
                true => code.line(file, found).map(|(_, places)| places).unwrap_or_default(),
            };
            let moved = if found == line { String::new() } else { format!(" (line {line} has no code: {found})") };
            return Ok((places, moved));
        }
        let files = code.files();
        if files.is_empty() {
            return Err(refused("the program has no lines of source")
                .hint("build it with debug information, or name a function"));
        }
        let known = files.iter().any(|known| *known == file || known.ends_with(&format!("/{file}")));
        if known {
            return Err(refused(format!("no line from {line} on of `{file}` has code")));
        }
        let names = files.iter().map(|name| name.rsplit('/').next().unwrap_or(name));
        let error = refused(format!("no code of the program comes from a file `{file}`"));
        Err(match fozzy_plan::nearest(file, names) {
            Some(near) => error.hint(format!("did you mean `{near}`?")),
            None => error,
        })
    }

    /// The file of the frame that is looked at.
    fn file_here(&self) -> Option<String> {
        let place = self.session.here().moment()?.stop.place?;
        self.session.code().source(place).into_iter().find_map(|frame| frame.source.file)
    }

    fn set_breakpoint(&mut self, what: &str, is_temporary: bool) -> Result<String, CampaignError> {
        let (what, condition) = match what.split_once(" if ") {
            Some((what, condition)) => (what.trim(), Some(condition.trim().to_owned())),
            None => (what, None),
        };
        if what.is_empty() {
            return Err(refused("break: where? A function, FILE:LINE, or *OFFSET"));
        }
        self.add_point("Breakpoint", what, |point| ConsoleBreakpoint { condition, is_temporary, ..point })
    }

    /// A text that is printed wherever the run passes a place.
    fn set_log(&mut self, rest: &str) -> Result<String, CampaignError> {
        let (what, text) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let text = text.trim();
        let text = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text).to_owned();
        if what.is_empty() || text.is_empty() {
            return Err(refused("log: WHERE TEXT").hint("as in `log main.rs:12 \"the sum is {sum}\"`"));
        }
        self.add_point("Log point", what, |point| ConsoleBreakpoint { log: Some(text), ..point })
    }

    fn add_point(
        &mut self,
        kind: &str,
        what: &str,
        with: impl FnOnce(ConsoleBreakpoint) -> ConsoleBreakpoint,
    ) -> Result<String, CampaignError> {
        let (places, moved) = self.places(what)?;
        let number = self.next_number;
        self.next_number += 1;
        let many = if places.len() > 1 { format!(", and {} more", places.len() - 1) } else { String::new() };
        let begin = format!("{kind} {number}: ");
        let first = places.first().map(|place| words::place(&self.session.code().source(*place), *place, begin.len()));
        let text = words::joined(&format!("{begin}{}", first.unwrap_or_default()), &(many + &moved));
        self.breakpoints.push(with(ConsoleBreakpoint {
            number,
            what: what.to_owned(),
            places,
            condition: None,
            is_temporary: false,
            log: None,
            hits: 0,
        }));
        self.apply();
        Ok(text)
    }

    fn set_condition(&mut self, rest: &str) -> Result<String, CampaignError> {
        let (which, condition) = rest.split_once(' ').unwrap_or((rest, ""));
        let which = number(which)?;
        let found = self.breakpoints.iter_mut().find(|point| u64::from(point.number) == which);
        let point = found.ok_or_else(|| refused(format!("there is no breakpoint {which}")))?;
        point.condition = (!condition.trim().is_empty()).then(|| condition.trim().to_owned());
        Ok(String::new())
    }

    fn delete(&mut self, rest: &str) -> Result<String, CampaignError> {
        if rest.is_empty() {
            self.breakpoints.clear();
            self.watched = None;
            self.session.watch(None)?;
        } else {
            let which = number(rest)?;
            let before = self.breakpoints.len();
            self.breakpoints.retain(|point| u64::from(point.number) != which);
            if before == self.breakpoints.len() {
                return Err(refused(format!("there is no breakpoint {which}")));
            }
        }
        self.apply();
        Ok(String::new())
    }

    fn apply(&mut self) {
        let places = self.breakpoints.iter().flat_map(|point| point.places.iter().copied()).collect();
        self.session.set_breakpoints(places);
    }

    /// Bytes of memory: an address, with a length behind a colon.
    fn range(&mut self, text: &str) -> Result<(u32, u32), CampaignError> {
        // The colon of a length, not one of a path.
        let (address, length) = match text.rsplit_once(':').filter(|(before, _)| !before.ends_with(':')) {
            Some((address, length)) => (address, Some(number(length)?)),
            None => (text, None),
        };
        if address.trim().is_empty() {
            return Err(refused("which bytes? ADDRESS or ADDRESS:LENGTH, or a variable"));
        }
        let is_number = names::is_numeric(address) || address.trim().starts_with(|first: char| first.is_ascii_digit());
        let (address, bytes) = if is_number {
            let frame = self.program_frame()?;
            (super::expression::value(address, frame, &mut self.look()?)?, 4)
        } else {
            match self.value(address)? {
                SeenValue { memory: Some((address, bytes)), .. } => (i128::from(address), bytes),
                SeenValue { number, .. } => (number.unwrap_or(-1), 4),
            }
        };
        let address = u32::try_from(address).ok();
        let length = u32::try_from(length.unwrap_or(bytes)).ok();
        let (Some(address), Some(length)) = (address, length.filter(|length| *length > 0)) else {
            return Err(refused(format!("`{text}` is in no memory of 32-bit addresses")));
        };
        Ok((address, length))
    }

    fn watch(&mut self, rest: &str) -> Result<String, CampaignError> {
        let (address, length) = self.range(rest)?;
        let is_there = self.look()?.memory(0, u64::from(address), u64::from(length))?;
        if is_there.is_none_or(|bytes| bytes.len() < length as usize) && self.session.here().moment().is_some() {
            return Err(refused(format!("{} at {address:#x} are not all in the memory", bytes_words(length))));
        }
        self.session.watch(Some((address, length)))?;
        let machine = self.machine.or(self.session.here().moment().map(|moment| moment.stop.machine.0));
        let before = self.watched.replace(WatchedBytes { range: (address, length), machine });
        let instead = before.map(|WatchedBytes { range: (address, length), .. }| {
            format!(", instead of {} at {address:#x}", bytes_words(length))
        });
        let instead = instead.unwrap_or_default();
        Ok(format!("Watching {} at {address:#x}{instead}: stops before the program writes\n", bytes_words(length)))
    }

    fn go_on(&mut self, forwards: bool) -> Result<String, CampaignError> {
        let said = self.moved(forwards, |session, check| {
            let mut accept = |inspector: &mut Inspector<'_>, at: &Moment| Ok(check.stops(inspector, at));
            match forwards {
                true => session.go_on(&mut accept).map(|_| ()),
                false => session.go_back(&mut accept).map(|_| ()),
            }
        })?;
        self.look_here();
        Ok(said + &self.hit()? + &self.shown()?)
    }

    /// Moves by `act`, which asks the breakpoints; what log points have said.
    fn moved(
        &mut self,
        forwards: bool,
        act: impl FnOnce(&mut DebugSession, &mut BreakpointCheck<'_>) -> Result<(), CampaignError>,
    ) -> Result<String, CampaignError> {
        let programs = self.programs();
        let mut check = BreakpointCheck::new(&mut self.breakpoints, &programs, self.watched, forwards);
        act(&mut self.session, &mut check)?;
        Ok(check.said())
    }

    /// Which breakpoints the run stands at; those for one stop are gone then.
    fn hit(&mut self) -> Result<String, CampaignError> {
        let stopped = self.session.here().moment().filter(|moment| moment.stop.reason == StopReason::Breakpoint);
        let Some(place) = stopped.and_then(|moment| moment.stop.place) else { return Ok(String::new()) };
        let programs = self.programs();
        let (mut text, mut failed, mut gone) = (String::new(), String::new(), Vec::new());
        for point in self.breakpoints.iter().filter(|point| point.log.is_none() && point.places.contains(&place)) {
            match holds(point, &programs, &mut self.session.inspect(), place) {
                Ok(false) => continue,
                Ok(true) => {}
                Err(why) => {
                    let _ = writeln!(failed, "The condition of breakpoint {}: {why}", point.number);
                }
            }
            let _ = write!(text, "Breakpoint {}, ", point.number);
            gone.extend(point.is_temporary.then_some(point.number));
        }
        self.breakpoints.retain(|point| !gone.contains(&point.number));
        self.apply();
        Ok(failed + &text)
    }

    fn step(&mut self, kind: StepKind, forwards: bool, rest: &str) -> Result<String, CampaignError> {
        let times = if rest.is_empty() { 1 } else { number(rest)? };
        let mut said = String::new();
        for _ in 0..times {
            let place = |session: &DebugSession| (session.here().position(), session.functions_not_entered());
            let before = place(&self.session);
            said += &self.moved(forwards, |session, check| match forwards {
                true => session.step(kind, &mut |inspector, at| Ok(check.stops(inspector, at))).map(|_| ()),
                false => session.step_back(kind).map(|_| ()),
            })?;
            if place(&self.session) == before {
                break;
            }
        }
        self.look_here();
        let is_stop = forwards && self.session.functions_not_entered() == 0;
        let hit = if is_stop { self.hit()? } else { String::new() };
        Ok(said + &hit + &self.shown()?)
    }

    fn go_to(&mut self, rest: &str) -> Result<String, CampaignError> {
        let (word, what) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let found = match word {
            "start" => self.session.beginning().map(|_| true)?,
            "end" => self.session.end().map(|_| true)?,
            "call" => self.session.go_to_moment(MomentKind::Call(number(what)?))?,
            "decision" => self.session.go_to_moment(MomentKind::Decision(number(what)?))?,
            "time" => {
                let time = match what {
                    "0" => Duration(0),
                    _ => Duration::parse(what).map_err(|error| no_duration(what, &error))?,
                };
                self.session.go_to_moment(MomentKind::Time(Instant::START.after(time)))?
            }
            "" => return Err(refused("goto: POSITION, start, end, call N, decision N or time T")),
            _ => self.session.go_to(Position(number(rest)?)).map(|_| true)?,
        };
        if !found {
            return Err(refused(format!("the run has no {word} {what}")));
        }
        self.look_here();
        self.shown()
    }

    /// Where the run is, in one or two lines.
    fn shown(&mut self) -> Result<String, CampaignError> {
        let at = self.session.here().clone();
        let (moment, begins) = match &at {
            RunPoint::Ended(end) => return Ok(self.ended(end)),
            RunPoint::Beginning(moment) => (moment, true),
            RunPoint::At(moment) => (moment, false),
        };
        let stop = &moment.stop;
        let machine = self.machine_name(stop.machine.0)?;
        let why = match &stop.reason {
            StopReason::Position if begins => "start of the run, ".to_owned(),
            StopReason::Position | StopReason::Breakpoint => String::new(),
            StopReason::Watch => "about to write what is watched, ".to_owned(),
            StopReason::Trap(trap) => format!("trap: {trap}, "),
            StopReason::HostEnd(what) => format!("ended by the host: {what}, "),
        };
        let frames = self.frames()?;
        let place = match frames.get(self.frame) {
            Some(frame) => words::frame(&frame.source, frame.place, 0),
            None => "no function of the program is active".to_owned(),
        };
        let mut text = format!("{why}position {}{machine}, {}\n{place}\n", grouped(stop.position.0), stop.time);
        if let Some(line) = frames.get(self.frame).and_then(|frame| self.source_line(&frame.source)) {
            text.push_str(&line);
        }
        Ok(text)
    }

    fn ended(&self, end: &EndReport) -> String {
        let mut text =
            format!("end of the run, position {}, {}: it {}\n", grouped(end.position.0), end.time, end.words);
        if let Some(difference) = &end.difference {
            let _ = writeln!(text, "It is not the recorded run: {difference}");
        }
        text
    }

    /// The name of a machine, where there are several.
    fn machine_name(&mut self, number: u32) -> Result<String, CampaignError> {
        let machines = self.session.inspect().machines()?;
        if machines.len() < 2 {
            return Ok(String::new());
        }
        let name = machines.iter().find(|machine| machine.number == number).map(|machine| machine.name.clone());
        Ok(format!(" on {}", name.unwrap_or_default()))
    }

    /// The frames as they are shown, with inlined ones.
    fn frames(&mut self) -> Result<Vec<ShownFrame>, CampaignError> {
        if self.session.here().moment().is_none() {
            return Ok(Vec::new());
        }
        let frames = self.look()?.frames()?;
        let shown = |(frame, entry): (usize, StackEntry)| {
            let place = entry.place;
            let sources = entry.source.into_iter().enumerate();
            sources.map(move |(inlined, source)| ShownFrame { frame, inlined, place, source })
        };
        // What a step has not entered is not there yet.
        let not_entered = if self.machine.is_none() { self.session.functions_not_entered() } else { 0 };
        Ok(frames.into_iter().enumerate().flat_map(shown).skip(not_entered).collect())
    }

    /// What is looked at is the machine whose turn it is, and its innermost frame.
    fn look_here(&mut self) {
        (self.machine, self.frame) = (None, 0);
    }

    /// Looks at the machine that is chosen.
    fn look(&mut self) -> Result<Inspector<'_>, CampaignError> {
        match self.machine {
            None => Ok(self.session.inspect()),
            Some(machine) => {
                let found = self.session.inspect_machine(machine)?;
                found.ok_or_else(|| refused(format!("machine {machine} has no stack here")))
            }
        }
    }

    /// Another machine is looked at from now on, until the run moves.
    fn select_machine(&mut self, rest: &str) -> Result<String, CampaignError> {
        let machines = self.session.inspect().machines()?;
        let is_meant = |machine: &&MachineState| machine.name == rest || machine.number.to_string() == rest;
        let Some(machine) = machines.iter().find(is_meant) else {
            return Err(refused(format!("there is no machine `{rest}`")).hint("`info machines` lists them"));
        };
        let current = self.session.here().moment().map(|moment| moment.stop.machine.0);
        if Some(machine.number) == current {
            self.look_here();
        } else {
            if self.session.inspect_machine(machine.number)?.is_none() {
                let why = if machine.has_ended { "has ended" } else { "has not begun" };
                return Err(refused(format!("{} {why}, and has no stack", machine.name)));
            }
            (self.machine, self.frame) = (Some(machine.number), 0);
        }
        self.machine_shown(machine.number)
    }

    /// A machine, what it waits for, and where it is.
    fn machine_shown(&mut self, number: u32) -> Result<String, CampaignError> {
        let machines = self.session.inspect().machines()?;
        let machine = machines.iter().find(|machine| machine.number == number);
        let text = machine.map(|machine| format!("{} {}: {}\n", machine.number, machine.name, state_of(machine)));
        let text = text.unwrap_or_default();
        let Ok(frame) = self.select(self.frame) else { return Ok(text) };
        Ok(text + &frame)
    }

    fn backtrace(&mut self, rest: &str) -> Result<String, CampaignError> {
        let most = if rest.is_empty() { FRAMES_SHOWN } else { number(rest)?.try_into().unwrap_or(usize::MAX) };
        let frames = self.frames()?;
        if frames.is_empty() {
            return Err(refused("no function of the program is active"));
        }
        let mut text = String::new();
        for (position, frame) in frames.iter().enumerate().take(most) {
            let mark = if position == self.frame { '*' } else { ' ' };
            let _ = writeln!(text, "{mark}#{position:<3}{}", words::frame(&frame.source, frame.place, 6));
        }
        if frames.len() > most {
            let _ = writeln!(text, "  and {} more", frames.len() - most);
        }
        Ok(text)
    }

    fn select(&mut self, frame: usize) -> Result<String, CampaignError> {
        let frames = self.frames()?;
        if frame >= frames.len() {
            return Err(refused(format!("there is no frame {frame}: the stack has {}", frames.len())));
        }
        self.frame = frame;
        let line = self.source_line(&frames[frame].source).unwrap_or_default();
        Ok(format!("#{frame}  {}\n{line}", words::frame(&frames[frame].source, frames[frame].place, 6)))
    }

    /// The position of the selected frame among those of the program.
    fn program_frame(&mut self) -> Result<usize, CampaignError> {
        Ok(self.frames()?.get(self.frame).map_or(0, |frame| frame.frame))
    }

    /// A file of the source as it stands here.
    fn source_text(&self, file: &str) -> Option<String> {
        let mapped =
            self.source_map.iter().find_map(|(old, new)| Some(format!("{new}{}", file.strip_prefix(old.as_str())?)));
        std::fs::read_to_string(Path::new(mapped.as_deref().unwrap_or(file))).ok()
    }

    fn source_line(&self, frame: &StackFrame) -> Option<String> {
        let (file, line) = (frame.source.file.as_ref()?, frame.source.line?);
        let text = self.source_text(file)?;
        let shown = text.lines().nth(line.checked_sub(1)? as usize)?;
        Some(format!("{line:>6}  {shown}\n"))
    }

    fn list(&mut self, rest: &str) -> Result<String, CampaignError> {
        let frames = self.frames()?;
        let Some(frame) = frames.get(self.frame) else { return Err(refused("no function of the program is active")) };
        let (Some(file), Some(here)) = (&frame.source.source.file, frame.source.source.line) else {
            return Err(refused("no line of source is known here"));
        };
        let middle = if rest.is_empty() { here } else { u32::try_from(number(rest)?).unwrap_or(u32::MAX) };
        let Some(text) = self.source_text(file) else {
            let error = refused(format!("`{file}` cannot be read here"));
            return Err(error.hint("say where it is: --source-map OLD=NEW"));
        };
        let first = middle.saturating_sub(SOURCE_LINES / 2).max(1);
        let mut out = String::new();
        for (line, text) in (1..).zip(text.lines()).skip(first as usize - 1).take(SOURCE_LINES as usize) {
            let mark = if line == here { '>' } else { ' ' };
            let _ = writeln!(out, "{mark}{line:>5}  {text}");
        }
        Ok(out)
    }

    fn programs(&mut self) -> Rc<Programs> {
        let code = self.session.code();
        Rc::clone(self.programs.get_or_insert_with(|| Rc::new(programs_of(code))))
    }

    fn seen_frame(&mut self) -> Result<Option<SeenFrame>, CampaignError> {
        let frames = self.frames()?;
        Ok(frames.get(self.frame).map(|frame| SeenFrame {
            frame: frame.frame,
            inlined: frame.inlined,
            place: frame.place,
        }))
    }

    fn value(&mut self, text: &str) -> Result<SeenValue, CampaignError> {
        let programs = self.programs();
        let Some(seen) = self.seen_frame()? else {
            return Err(refused("no function of the program is active, so that nothing has a value"));
        };
        names::evaluate(&programs, &mut self.look()?, seen, text)
    }

    fn print(&mut self, rest: &str) -> Result<String, CampaignError> {
        if rest.is_empty() {
            return Err(refused("print: what?"));
        }
        Ok(format!("{}\n", self.value(rest)?.text))
    }

    fn examine(&mut self, rest: &str) -> Result<String, CampaignError> {
        let (address, length) = self.range(rest)?;
        let length = u64::from(length).min(EXAMINED_BYTES_MAX);
        let frame = self.program_frame()?;
        let bytes = self.look()?.memory(frame, u64::from(address), length)?;
        let Some(bytes) = bytes else { return Err(refused(format!("{address:#x} is not in the memory"))) };
        Ok(words::dump(u64::from(address), &bytes))
    }

    fn info(&mut self, rest: &str) -> Result<String, CampaignError> {
        let (word, what) = rest.split_once(' ').unwrap_or((rest, ""));
        match word {
            "locals" | "l" | "args" => self.variables(),
            "wasm" | "w" => {
                let frame = self.program_frame()?;
                let found = self.look()?.locals(frame)?;
                listed("$", found, "the function has no parameters and locals")
            }
            "stack" | "s" => {
                let frame = self.program_frame()?;
                let found = self.look()?.operands(frame)?;
                listed("$s", found, "the operand stack is empty")
            }
            "globals" | "g" => {
                let frame = self.program_frame()?;
                let index = u32::try_from(number(what)?).unwrap_or(u32::MAX);
                let found = self.look()?.global(frame, index)?;
                let value = found.ok_or_else(|| refused(format!("there is no global {index}")))?;
                Ok(format!("$g{index} = {}\n", words::value(value)))
            }
            "memory" => {
                let frame = self.program_frame()?;
                let found = self.look()?.memory_digest(frame)?;
                let (bytes, digest) = found.ok_or_else(|| refused("no memory of a program is here"))?;
                Ok(format!("{} bytes, digest {digest}\n", grouped(bytes)))
            }
            "breakpoints" | "b" | "break" => Ok(self.listed_breakpoints()),
            "machines" | "m" | "threads" => self.machines(),
            "" => Err(refused("info: locals, wasm, stack, globals N, memory, breakpoints or machines")),
            _ => Err(refused(format!(
                "info: there is no `{word}`: locals, wasm, stack, globals N, memory, breakpoints, machines"
            ))),
        }
    }

    /// Variables of the source; without debug information, those of WebAssembly.
    fn variables(&mut self) -> Result<String, CampaignError> {
        let programs = self.programs();
        let seen = self.seen_frame()?.ok_or_else(|| refused("no function of the program is active"))?;
        match names::variables(&programs, &mut self.look()?, seen) {
            Some(found) if found.is_empty() => Err(refused("the function has no variables here")),
            Some(found) => Ok(found.iter().map(|(name, value)| format!("{name} = {value}\n")).collect()),
            None => self.info("wasm"),
        }
    }

    fn listed_breakpoints(&self) -> String {
        let mut text = String::new();
        for point in &self.breakpoints {
            let condition = point.condition.as_ref().map(|text| format!(" if {text}")).unwrap_or_default();
            let hits = counted(point.hits, "hit");
            let log = point.log.as_ref().map(|text| format!(" prints \"{text}\"")).unwrap_or_default();
            let _ = writeln!(text, "{:<3} {}{condition}{log}, {hits}", point.number, point.what);
        }
        if let Some(WatchedBytes { range: (address, length), .. }) = self.watched {
            let _ = writeln!(text, "    watching {} at {address:#x}", bytes_words(length));
        }
        if text.is_empty() { "no breakpoints\n".to_owned() } else { text }
    }

    fn machines(&mut self) -> Result<String, CampaignError> {
        let current = self.session.here().moment().map(|moment| moment.stop.machine.0);
        let machines = self.session.inspect().machines()?;
        let mut text = String::new();
        for machine in machines {
            let mark = if Some(machine.number) == current { '*' } else { ' ' };
            let _ = writeln!(text, "{mark} {} {}: {}", machine.number, machine.name, state_of(&machine));
            // The innermost function of each, as far as it is known.
            let frames = self.session.inspect_machine(machine.number)?.map(|mut machine| machine.frames());
            if let Some((place, source)) = frames.transpose()?.and_then(innermost) {
                let _ = writeln!(text, "      {}", words::frame(&source, place, 6));
            }
        }
        Ok(text)
    }

    /// Back to who wrote bytes last: a store of the program, or the host. Another machine, and another life of this one, have memories of their own.
    fn last_write(&mut self, rest: &str) -> Result<String, CampaignError> {
        let (address, length) = self.range(rest)?;
        let Some(moment) = self.session.here().moment().cloned() else {
            return Err(refused("the run is over, and with it its memory: go to a moment of it, as by `rsi`"));
        };
        let (here, machine) = (moment.stop.position, self.machine.unwrap_or(moment.stop.machine.0));
        let bytes = OwnBytes { machine, address, length };
        let Some(now) = bytes.read(&mut self.session)?.filter(|bytes| bytes.len() == length as usize) else {
            return Err(refused(format!("{} at {address:#x} are not all in the memory", bytes_words(length))));
        };
        let states = self.session.inspect().machines()?;
        let began = states.iter().find(|state| state.number == machine).map_or(Position(0), |state| state.began);
        self.session.watch(Some((address, length)))?;
        let places = self.session.breakpoints().clone();
        self.session.set_breakpoints(BTreeSet::new());
        let is_own = |at: &Moment| at.stop.reason == StopReason::Watch && at.stop.machine.0 == machine;
        let found = self.session.go_back_to(began, &mut |_, moment| Ok(is_own(moment))).map(|_| ());
        self.session.set_breakpoints(places);
        self.session.watch(self.watched.map(|watched| watched.range))?;
        found?;
        self.look_here();
        let store = self.session.here().moment().filter(|at| is_own(at)).cloned();
        // What it wrote is there still, unless the host wrote later.
        let from = store.as_ref().map_or(began, |at| Position(at.stop.position.0 + 1));
        self.session.go_to(from)?;
        if bytes.read(&mut self.session)?.as_ref() == Some(&now) {
            return match &store {
                Some(at) => {
                    self.session.go_to(at.stop.position)?;
                    Ok(format!("Written last by this instruction of the program:\n{}", self.shown()?))
                }
                None => self.never_written(here, &now),
            };
        }
        self.written_by_host(bytes, (from, store.is_none()), here, &now)
    }

    fn never_written(&mut self, here: Position, now: &[u8]) -> Result<String, CampaignError> {
        self.session.go_to(here)?;
        let is_zero = now.iter().all(|byte| *byte == 0);
        Err(refused("nothing has written there since the program began").hint(match is_zero {
            true => "it is zero, as memory is at the beginning",
            false => "it stands there from the program's data",
        }))
    }

    /// The call of the host by which bytes became what they are: the first position between two from which on they are. `is_unstored` says that the
    /// former is where a life begins, and not behind a store.
    fn written_by_host(
        &mut self,
        bytes: OwnBytes,
        (from, is_unstored): (Position, bool),
        here: Position,
        now: &[u8],
    ) -> Result<String, CampaignError> {
        let (mut low, mut high) = (from.0, here.0);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            self.session.go_to(Position(middle))?;
            if bytes.read(&mut self.session)?.as_deref() == Some(now) {
                high = middle;
            } else {
                low = middle;
            }
        }
        self.session.go_to(Position(low))?;
        if bytes.read(&mut self.session)?.is_none() || (is_unstored && low == from.0) {
            // They were so in the first moment in which the machine had this memory.
            return self.never_written(here, now);
        }
        let calls = self.session.here().moment().map_or(0, |at| at.stop.calls);
        let decisions = self.session.here().moment().map_or(0, |at| at.stop.decisions);
        self.session.go_to(Position(high))?;
        let after = self.session.here().moment().map_or(0, |at| at.stop.decisions);
        self.session.go_to(Position(low))?;
        let by = if after > decisions { format!(", answered by decision {decisions}") } else { String::new() };
        Ok(format!("Written last by the host, in call {calls}{by}:\n{}", self.shown()?))
    }

    fn what_if(&mut self, rest: &str) -> Result<String, CampaignError> {
        let mut parts = rest.split_whitespace();
        let (Some(at), seed) = (parts.next(), parts.next().unwrap_or("1")) else {
            return Err(refused("whatif: DECISION SEED"));
        };
        let (at, seed) = (number(at)?, number(seed)?);
        let mut other = self.session.what_if(at, seed)?;
        other.go_to_moment(MomentKind::Decision(at))?;
        self.session = other;
        self.look_here();
        let text = format!("Another run: from decision {at} on, seed {seed} answers.\n");
        Ok(text + &self.shown()?)
    }
}

/// Bytes of the memory of one machine.
#[derive(Clone, Copy)]
struct OwnBytes {
    machine: u32,
    address: u32,
    length: u32,
}

impl OwnBytes {
    /// As they are: of a machine whose turn it is not, as they were when it began to wait.
    fn read(self, session: &mut DebugSession) -> Result<Option<Vec<u8>>, CampaignError> {
        match session.inspect_machine(self.machine)? {
            Some(mut machine) => machine.memory(0, u64::from(self.address), u64::from(self.length)),
            None => Ok(None),
        }
    }
}

/// The words of commands, for who mistypes one.
const WORDS: &[&str] = &[
    "help",
    "break",
    "tbreak",
    "log",
    "condition",
    "delete",
    "watch",
    "continue",
    "reverse-continue",
    "step",
    "next",
    "finish",
    "stepi",
    "reverse-step",
    "reverse-next",
    "reverse-finish",
    "reverse-stepi",
    "goto",
    "start",
    "end",
    "machine",
    "where",
    "backtrace",
    "frame",
    "up",
    "down",
    "list",
    "print",
    "info",
    "last",
    "whatif",
    "quit",
];

/// What a machine does.
fn state_of(machine: &MachineState) -> String {
    match (machine.has_ended, machine.waits_for.is_empty()) {
        (true, _) => "has ended".to_owned(),
        (false, true) => "runs".to_owned(),
        (false, false) => format!("waits for {}", machine.waits_for.join(", ")),
    }
}

/// The innermost function of a stack.
fn innermost(frames: Vec<StackEntry>) -> Option<(DebugPlace, StackFrame)> {
    let first = frames.into_iter().next()?;
    Some((first.place, first.source.into_iter().next()?))
}

fn listed(prefix: &str, values: Option<Vec<DebugValue>>, nothing: &str) -> Result<String, CampaignError> {
    let values = values.unwrap_or_default();
    if values.is_empty() {
        return Err(refused(nothing));
    }
    let lines = values.iter().enumerate().map(|(index, value)| format!("{prefix}{index} = {}\n", words::value(*value)));
    Ok(lines.collect())
}

/// What is wrong with a time, most often that its unit is missing.
fn no_duration(what: &str, error: &str) -> CampaignError {
    if number(what).is_ok() {
        return refused(format!("goto time {what}: the unit is missing"))
            .hint(format!("as in `goto time {what}s`, or ms, us, ns"));
    }
    refused(format!("goto time: {error}"))
}

fn bytes_words(length: u32) -> String {
    counted(u64::from(length), "byte")
}

fn refused(what: impl Into<String>) -> CampaignError {
    CampaignError::new(ErrorKind::Usage, what.into())
}
