//! The bank's flows by `proptest-state-machine`, natively: flows per CPU second.
//!
//! ```text
//! cargo run --release -- 2000 100      sequences, flows of each
//! ```

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, TestRunner};
use proptest_state_machine::{ReferenceStateMachine, StateMachineTest};

/// What the bank must hold, by which flows are drawn.
#[derive(Clone, Debug)]
struct Model {
    accounts: Vec<i64>,
    total: i64,
    opened: u32,
    steps: u32,
}

#[derive(Clone, Debug)]
enum Flow {
    Open(i64, i64),
    Transfer(usize, usize, i64),
    Withdraw(usize, i64),
}

impl Model {
    fn is_covered(&self, account: usize, amount: i64) -> bool {
        self.accounts[account] + self.accounts[account ^ 1] >= amount
    }

    fn apply(&mut self, flow: &Flow) {
        self.steps += 1;
        let accounts = self.accounts.len();
        match *flow {
            Flow::Open(first, second) => {
                self.opened += 1;
                self.accounts.extend([first, second]);
                self.total += first + second;
            }
            Flow::Transfer(from, to, amount) => {
                let (from, to) = (from % accounts, to % accounts);
                if self.is_covered(from, amount) {
                    self.accounts[from] -= amount;
                    self.accounts[to] += amount;
                }
            }
            Flow::Withdraw(account, amount) => {
                let account = account % accounts;
                if self.is_covered(account, amount) {
                    self.accounts[account] -= amount;
                    self.total -= amount;
                }
            }
        }
    }
}

impl ReferenceStateMachine for Model {
    type State = Model;
    type Transition = Flow;

    fn init_state() -> BoxedStrategy<Model> {
        Just(Model { accounts: vec![60, 40], total: 100, opened: 0, steps: 0 }).boxed()
    }

    fn transitions(state: &Model) -> BoxedStrategy<Flow> {
        let amount = || 1..=100_i64;
        let open = if state.opened < 8 { 20 } else { 0 };
        prop_oneof![
            open => (amount(), amount()).prop_map(|(first, second)| Flow::Open(first, second)),
            100 => (any::<usize>(), any::<usize>(), amount()).prop_map(|(from, to, amount)| Flow::Transfer(from, to, amount)),
            20 => (any::<usize>(), amount()).prop_map(|(account, amount)| Flow::Withdraw(account, amount)),
        ]
        .boxed()
    }

    fn apply(mut state: Model, flow: &Flow) -> Model {
        state.apply(flow);
        state
    }
}

/// The bank itself: the same, as no fault is planted.
struct Bank(Model);

impl StateMachineTest for Bank {
    type SystemUnderTest = Bank;
    type Reference = Model;

    fn init_test(state: &Model) -> Bank {
        Bank(state.clone())
    }

    fn apply(mut bank: Bank, _: &Model, flow: Flow) -> Bank {
        bank.0.apply(&flow);
        bank
    }

    fn check_invariants(bank: &Bank, _: &Model) {
        assert!(bank.0.accounts.chunks(2).all(|pair| pair.iter().sum::<i64>() >= 0));
        if bank.0.steps.is_multiple_of(10) {
            assert_eq!(bank.0.accounts.iter().sum::<i64>(), bank.0.total);
        }
    }
}

fn cpu_seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the clock exists on every Linux, and the pointer is to a value of ours.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

fn main() {
    let mut args = std::env::args().skip(1).map(|arg| arg.parse::<usize>().expect("a number"));
    let (sequences, flows) = (args.next().unwrap_or(2000), args.next().unwrap_or(100));
    let config = Config { failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config.clone(), proptest::test_runner::TestRng::deterministic_rng(config.rng_algorithm));
    let strategy = Model::sequential_strategy(flows..=flows);
    let before = cpu_seconds();
    let mut done = 0;
    for _ in 0..sequences {
        let (state, transitions, seen) = strategy.new_tree(&mut runner).expect("flows are drawn").current();
        done += transitions.len();
        Bank::test_sequential(config.clone(), state, transitions, seen);
    }
    let seconds = cpu_seconds() - before;
    let rate = format!("{:.0}", done as f64 / seconds);
    println!("{:<28}{rate:>14} flows/s   {done} flows in {seconds:.2} s", "proptest-state-machine");
}
