//! A model of a user's own: a program that says what an object answers.
//!
//! ```text
//! {:f :add, :value 5} ok ─▶ step("0", 3, "add", none, "5", some("5")) ─▶ ["5"]
//! ```
//!
//! Calls are interned once and known by their number after that; each step is asked for once. Invariants: memory for what is known is
//! bounded; the first failure of the program ends the judging, and no verdict is taken from it.
//! Not here: how a program is run (`fozzy-engine`).

use super::{CallRecord, ModelAction, ModelCall, NextStates, SequentialModel};
use crate::history::{DatumId, DatumPool, HistoryError, OperationHistory, OperationType, pair_calls};
use fozzy_trace::{ModelProgram, ProgramCall};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

/// Bytes of the steps that are known; what is beyond is asked again.
const KNOWN_BYTES_MAX: usize = 256 << 20;
/// Bytes of a state, and states after a call.
const STATE_BYTES_MAX: usize = 1 << 20;
const STATES_MAX: usize = 4096;

/// A program, as a model of one history.
pub struct ProgramModel<'p> {
    program: RefCell<&'p mut dyn ModelProgram>,
    initial: String,
    calls: Vec<KnownCall>,
    numbers: BTreeMap<ProgramCall, u32>,
    steps: RefCell<BTreeMap<(u32, Vec<u8>), NextStates>>,
    known_bytes: Cell<usize>,
    failure: RefCell<Option<String>>,
}

struct KnownCall {
    call: ProgramCall,
    is_readonly: bool,
    part: Option<DatumId>,
}

impl<'p> ProgramModel<'p> {
    /// The model of a history, whose calls the program gets.
    ///
    /// # Errors
    /// When the calls do not pair, or the program fails.
    pub fn new(history: &mut OperationHistory, program: &'p mut dyn ModelProgram) -> Result<ProgramModel<'p>, String> {
        let initial = program.init()?;
        let (mut calls, mut numbers) = (Vec::new(), BTreeMap::new());
        for paired in pair_calls(history).map_err(|error: HistoryError| error.to_string())? {
            let record = CallRecord::whole(history, &paired);
            if record.outcome == OperationType::Fail {
                continue;
            }
            let call = program_call(&history.pool, &record);
            if numbers.contains_key(&call) {
                continue;
            }
            let is_readonly = program.is_readonly(&call)?;
            let part = program.partition(&call)?.map(|part| history.pool.text(&part));
            numbers.insert(call.clone(), calls.len() as u32);
            calls.push(KnownCall { call, is_readonly, part });
        }
        Ok(ProgramModel {
            program: RefCell::new(program),
            initial,
            calls,
            numbers,
            steps: RefCell::default(),
            known_bytes: Cell::new(0),
            failure: RefCell::default(),
        })
    }

    /// What went wrong with the program, if anything did: then verdicts mean nothing.
    #[must_use]
    pub fn failure(&self) -> Option<String> {
        self.failure.borrow().clone()
    }

    fn known(&self, call: &ModelCall) -> &KnownCall {
        &self.calls[call.argument.0 as usize]
    }

    fn failed(&self, why: String) {
        self.failure.borrow_mut().get_or_insert(why);
    }

    fn ask(&self, state: &[u8], call: &ModelCall) -> NextStates {
        let mut next = NextStates::default();
        let Ok(state) = std::str::from_utf8(state) else { return next };
        match self.program.borrow_mut().step(state, &self.known(call).call) {
            Ok(states) if states.len() > STATES_MAX => {
                self.failed(format!("step has {} states, at most {STATES_MAX} are allowed", states.len()));
            }
            Ok(states) => match states.iter().find(|state| state.len() > STATE_BYTES_MAX) {
                Some(state) => self.failed(format!("a state has {} bytes, at most {STATE_BYTES_MAX}", state.len())),
                None => states.iter().for_each(|state| next.push(state.as_bytes())),
            },
            Err(why) => self.failed(why),
        }
        next
    }
}

fn program_call(pool: &DatumPool, record: &CallRecord<'_>) -> ProgramCall {
    ProgramCall {
        process: record.process,
        name: record.function.to_owned(),
        key: record.key.map(|key| pool.json(key)),
        input: pool.json(record.asked),
        output: record.result().map(|result| pool.json(result)),
    }
}

impl SequentialModel for ProgramModel<'_> {
    fn initial(&self) -> Vec<u8> {
        self.initial.clone().into_bytes()
    }

    fn call(&self, pool: &DatumPool, record: &CallRecord<'_>) -> Result<Option<ModelCall>, String> {
        if record.outcome == OperationType::Fail {
            return Ok(None);
        }
        let number =
            self.numbers.get(&program_call(pool, record)).ok_or("a call of the history that the model was made of")?;
        Ok(Some(record.call(ModelAction::Transaction, DatumId(*number), None)))
    }

    fn step(&self, _pool: &DatumPool, state: &[u8], call: &ModelCall, next: &mut NextStates) {
        if self.failure.borrow().is_some() {
            return;
        }
        let place = (call.argument.0, state.to_vec());
        if let Some(known) = self.steps.borrow().get(&place) {
            known.iter().for_each(|state| next.push(state));
            return;
        }
        let states = self.ask(state, call);
        states.iter().for_each(|state| next.push(state));
        let bytes = self.known_bytes.get() + state.len() + states.iter().map(<[u8]>::len).sum::<usize>() + 128;
        if bytes <= KNOWN_BYTES_MAX {
            self.known_bytes.set(bytes);
            self.steps.borrow_mut().insert(place, states);
        }
    }

    fn describe(&self, _pool: &DatumPool, state: &[u8]) -> String {
        let state = String::from_utf8_lossy(state);
        // A program that has failed is not asked again.
        match self.failure.borrow().is_none().then(|| self.program.borrow_mut().describe(&state)) {
            Some(Ok(words)) => words,
            _ => state.into_owned(),
        }
    }

    fn is_readonly(&self, call: &ModelCall) -> bool {
        self.known(call).is_readonly
    }

    fn element(&self, call: &ModelCall) -> Option<DatumId> {
        self.known(call).part
    }

    fn parts_itself(&self) -> bool {
        true
    }

    fn knows_processes(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CheckLimits, ModelRow, Validity, check_linearizability, minimize_violation};

    /// A number for each key, to which all add.
    struct Adder {
        fails: bool,
    }

    impl ModelProgram for Adder {
        fn init(&mut self) -> Result<String, String> {
            Ok("0".to_owned())
        }

        fn step(&mut self, state: &str, call: &ProgramCall) -> Result<Vec<String>, String> {
            if self.fails {
                return Err("it trapped".to_owned());
            }
            let number: i64 = state.parse().map_err(|_| "no number")?;
            let input = call.input.trim_matches(['[', ']']).split(',').nth(1).unwrap_or_default();
            let answered =
                call.output.as_deref().map(|pair| pair.trim_matches(['[', ']']).split(',').nth(1).unwrap_or_default());
            Ok(match call.name.as_str() {
                "add" => vec![(number + input.parse::<i64>().map_err(|_| "no number")?).to_string()],
                _ if answered.is_none_or(|read| read == state) => vec![state.to_owned()],
                _ => Vec::new(),
            })
        }

        fn partition(&mut self, call: &ProgramCall) -> Result<Option<String>, String> {
            Ok(call.input.trim_matches(['[', ']']).split(',').next().map(str::to_owned))
        }

        fn is_readonly(&mut self, call: &ProgramCall) -> Result<bool, String> {
            Ok(call.name == "read")
        }

        fn describe(&mut self, state: &str) -> Result<String, String> {
            Ok(format!("sum {state}"))
        }
    }

    fn history() -> OperationHistory {
        let mut text = String::new();
        for (process, name, value, result) in [
            (0, "add", "[1 5]", "[1 5]"),
            (1, "add", "[2 7]", "[2 7]"),
            (0, "read", "[1 nil]", "[1 4]"),
            (1, "read", "[2 nil]", "[2 7]"),
        ] {
            text += &format!("{{:type :invoke, :process {process}, :f :{name}, :value {value}}}");
            text += &format!("{{:type :ok, :process {process}, :f :{name}, :value {result}}}");
        }
        OperationHistory::read(text.as_bytes()).expect("EDN")
    }

    #[test]
    fn a_program_says_what_is_legal_part_by_part() {
        let (mut history, mut adder) = (history(), Adder { fails: false });
        let model = ProgramModel::new(&mut history, &mut adder).expect("it fits");
        let row = ModelRow { name: "adder", summary: "", functions: &[], model: &model };
        let limits = CheckLimits::default();
        let verdict = check_linearizability(&history, &row, &limits).expect("it fits");
        let of_part = |number: usize| {
            (history.pool.edn(verdict.partitions[number].key.expect("a part")), verdict.partitions[number].validity)
        };
        assert_eq!((of_part(0), of_part(1).0), (("\"1\"".to_owned(), Validity::Invalid), "\"2\"".to_owned()));
        assert_eq!(verdict.partitions[0].state, "sum 5");
        let minimal =
            minimize_violation(&history, &row, &verdict.partitions[0], &limits).expect("it fits").expect("one");
        assert_eq!(minimal.calls, [4], "without the addition it would be wrong, too");
        assert_eq!(model.failure(), None);
    }

    #[test]
    fn a_program_that_fails_is_no_verdict() {
        let (mut history, mut adder) = (history(), Adder { fails: true });
        let model = ProgramModel::new(&mut history, &mut adder).expect("it begins");
        let row = ModelRow { name: "adder", summary: "", functions: &[], model: &model };
        check_linearizability(&history, &row, &CheckLimits::default()).expect("it fits");
        assert_eq!(model.failure().as_deref(), Some("it trapped"));
    }
}
