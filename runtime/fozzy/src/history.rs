//! Histories of clients, judged: linearizability, sequential consistency, isolation of transactions, and properties of workloads.
//!
//! ```text
//! bytes of any notation, calls of a test, Run::history ─▶ OperationHistory ─┬─ check_linearizability    against a model
//!                                                                           ├─ check_isolation          levels of transactions
//!                                                                           └─ check_property           set-full, bank, kafka, …
//! ```
//!
//! It is what `fozzy check` does, without files, clocks and threads: bounds are the caller's.
//!
//! # A history that exists already
//!
//! ```
//! use fozzy::history::{CheckLimits, OperationHistory, Validity, check_linearizability, guess_model, minimize_violation};
//!
//! let history = OperationHistory::read(br#"
//!     {:type :invoke, :process 0, :f :write, :value 1} {:type :ok, :process 0, :f :write, :value 1}
//!     {:type :invoke, :process 0, :f :write, :value 2} {:type :ok, :process 0, :f :write, :value 2}
//!     {:type :invoke, :process 1, :f :read}            {:type :ok, :process 1, :f :read, :value 1}"#)?;
//! let (model, limits) = (guess_model(&history)?, CheckLimits::default());
//! let verdict = check_linearizability(&history, model, &limits)?;
//! assert_eq!((model.name, verdict.validity), ("register", Validity::Invalid));
//! // Which calls contradict each other, whatever became of the others: the second write, and the read after it.
//! let minimal = minimize_violation(&history, model, &verdict.partitions[0], &limits)?;
//! assert_eq!(minimal.map(|one| one.calls), Some(vec![2, 4]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Calls of a test in Rust
//!
//! ```
//! use fozzy::history::{CheckLimits, DatumId, OperationHistory, OperationType, Validity, check_linearizability, model};
//!
//! let mut history = OperationHistory::default();
//! for (process, value) in [(0, 7), (1, 8)] {
//!     let value = history.pool.integer(value);
//!     history.push(process, OperationType::Invoke, "enqueue", value);
//!     history.push(process, OperationType::Ok, "enqueue", value);
//! }
//! history.push(2, OperationType::Invoke, "dequeue", DatumId::NIL);
//! let value = history.pool.integer(8);
//! history.push(2, OperationType::Ok, "dequeue", value); // 7 was there first
//! let queue = model("fifo-queue").ok_or("no such model")?;
//! let verdict = check_linearizability(&history, queue, &CheckLimits::default())?;
//! assert_eq!(verdict.validity, Validity::Invalid);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Bounds, and a verdict that stays open
//!
//! ```
//! use fozzy::history::{CheckLimits, OperationHistory, Validity, check_linearizability, model};
//! use std::time::{Duration, Instant};
//!
//! let history = OperationHistory::read(b"{:type :invoke, :process 0, :f :acquire} {:type :ok, :process 0, :f :acquire}")?;
//! let begun = Instant::now();
//! let is_over = || begun.elapsed() > Duration::from_secs(10);
//! let limits = CheckLimits { memory_bytes_max: 256 << 20, is_over: &is_over };
//! let verdict = check_linearizability(&history, model("mutex").ok_or("no such model")?, &limits)?;
//! match verdict.validity {
//!     Validity::Valid => {}
//!     Validity::Unknown => println!("came past {:?} returns", verdict.partitions[0].returns),
//!     Validity::Invalid => unreachable!("it is one acquisition"),
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Isolation of transactions
//!
//! ```
//! use fozzy::history::{CheckLimits, OperationHistory, Validity, check_isolation, isolation_level};
//!
//! let history = OperationHistory::read(br#"
//!     {:type :invoke, :process 0, :f :txn, :value [[:r x nil] [:append y 1]]}
//!     {:type :invoke, :process 1, :f :txn, :value [[:r y nil] [:append x 1]]}
//!     {:type :ok, :process 0, :f :txn, :value [[:r x []] [:append y 1]]}
//!     {:type :ok, :process 1, :f :txn, :value [[:r y []] [:append x 1]]}"#)?;
//! let verdict = check_isolation(&history, &CheckLimits::default())?;
//! let validity = |name: &str| isolation_level(name).map(|level| verdict.validity(level));
//! assert_eq!(validity("snapshot-isolation"), Some(Validity::Valid));
//! assert_eq!(validity("serializable"), Some(Validity::Invalid)); // write skew
//! assert_eq!(verdict.anomalies[0].steps[0].because, "T1 read [] of key x, without T2's append of 1");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # A property of a workload
//!
//! ```
//! use fozzy::history::{OperationHistory, Validity, check_property, checker};
//!
//! let history = OperationHistory::read(br#"
//!     {:type :invoke, :process 0, :f :add, :value 1} {:type :ok, :process 0, :f :add, :value 1}
//!     {:type :invoke, :process 1, :f :read}          {:type :ok, :process 1, :f :read, :value []}"#)?;
//! let verdict = check_property(&history, checker("set").ok_or("no such checker")?)?;
//! assert_eq!(verdict.validity, Validity::Invalid);
//! assert_eq!(verdict.anomalies[0].message, "1 was added and is not in the last read");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # A model of one's own
//!
//! ```
//! use fozzy::history::{
//!     CallRecord, CheckLimits, DatumPool, ModelAction, ModelCall, ModelRow, NextStates, OperationHistory, OperationType,
//!     SequentialModel, Validity, check_linearizability,
//! };
//!
//! /// A number that only grows: `add` adds one, `read` returns it.
//! struct Counter;
//!
//! impl SequentialModel for Counter {
//!     fn initial(&self) -> Vec<u8> {
//!         0i64.to_le_bytes().to_vec()
//!     }
//!
//!     fn call(&self, _: &DatumPool, record: &CallRecord<'_>) -> Result<Option<ModelCall>, String> {
//!         match record.function {
//!             _ if record.outcome == OperationType::Fail => Ok(None),
//!             "add" => Ok(Some(record.call(ModelAction::Insert, record.asked, None))),
//!             "read" => Ok(record.result().map(|read| record.call(ModelAction::Read, record.asked, Some(read)))),
//!             _ => Err("add or read".to_owned()),
//!         }
//!     }
//!
//!     fn step(&self, pool: &DatumPool, state: &[u8], call: &ModelCall, next: &mut NextStates) {
//!         let number = state.as_array().copied().map_or(0, i64::from_le_bytes);
//!         match call.action {
//!             ModelAction::Insert => next.push(&(number + 1).to_le_bytes()),
//!             _ if call.result.and_then(|read| pool.as_integer(read)) == Some(number) => next.push(state),
//!             _ => {}
//!         }
//!     }
//!
//!     fn describe(&self, _: &DatumPool, state: &[u8]) -> String {
//!         state.as_array().copied().map_or(0, i64::from_le_bytes).to_string()
//!     }
//! }
//!
//! let history = OperationHistory::read(br#"
//!     {:type :invoke, :process 0, :f :add}  {:type :ok, :process 0, :f :add}
//!     {:type :invoke, :process 1, :f :read} {:type :ok, :process 1, :f :read, :value 2}"#)?;
//! let row = ModelRow { name: "counter", summary: "", functions: &["add", "read"], model: &Counter };
//! let verdict = check_linearizability(&history, &row, &CheckLimits::default())?;
//! assert_eq!((verdict.validity, verdict.partitions[0].state.as_str()), (Validity::Invalid, "1"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use fozzy_check::{
    CHECKERS, CallRecord, CheckLimits, CheckerRow, CheckerVerdict, ClientCall, Datum, DatumId, DatumPool,
    DependencyStep, HistoryAnomaly, HistoryError, HistoryFormat, HistoryNotation, HistoryOperation, HistoryOrder,
    ISOLATION_LEVELS, IsolationAnomaly, IsolationLevel, IsolationVerdict, LevelVerdict, LinearizabilityVerdict, MODELS,
    MinimalViolation, ModelAction, ModelCall, ModelRow, NOTATIONS, NextStates, OperationHistory, OperationType,
    PartitionVerdict, Process, SequentialModel, UndecidedReason, Validity, WrittenHistory, check_isolation,
    check_isolation_level, check_linearizability, check_property, check_sequential_consistency, checker, guess_model,
    has_transactions, isolation_level, minimize_sequential_violation, minimize_violation, model, notation, pair_calls,
    read_cobra,
};
