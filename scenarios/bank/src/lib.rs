//! A bank on a store with snapshot isolation, and a scenario that judges it.
//!
//! Every customer has two accounts. One of them may be overdrawn, as long as both together are not. The store gives
//! each transaction a snapshot, and lets the first of two that write the same account win. The planted fault is what
//! that allows (write skew): two transactions that read both accounts and write different ones.
//!
//! ```text
//! balances 60, 40      A reads 60 + 40, takes 80 from the first   ─▶ -20, 40   A commits
//!                      B reads 60 + 40, takes 80 from the second  ─▶ -20, -40  B wrote another account: commits too
//! ```
//!
//! With the feature `fixed`, a transaction also fails when somebody wrote what it read.

use fozzy_sdk::prelude::*;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Balances, each with the number of the commit that wrote it.
#[derive(Default)]
struct Store {
    accounts: Vec<(i64, u64)>,
    commits: u64,
}

/// A transaction: what it saw, and what it wants to change.
struct Transaction {
    snapshot: Vec<i64>,
    begun_at: u64,
    read: BTreeSet<usize>,
    written: BTreeMap<usize, i64>,
}

/// Somebody else was faster.
struct Conflict;

impl Store {
    fn begin(&self) -> Transaction {
        let snapshot = self.accounts.iter().map(|(balance, _)| *balance).collect();
        Transaction { snapshot, begun_at: self.commits, read: BTreeSet::new(), written: BTreeMap::new() }
    }

    fn commit(&mut self, transaction: Transaction) -> Result<(), Conflict> {
        let Transaction { begun_at, read, written, .. } = transaction;
        let mut checked: BTreeSet<usize> = written.keys().copied().collect();
        if cfg!(feature = "fixed") {
            checked.extend(read);
        }
        if checked.iter().any(|account| self.accounts[*account].1 > begun_at) {
            return Err(Conflict);
        }
        self.commits += 1;
        for (account, balance) in written {
            self.accounts[account] = (balance, self.commits);
        }
        Ok(())
    }
}

impl Transaction {
    fn read(&mut self, account: usize) -> i64 {
        self.read.insert(account);
        self.written.get(&account).copied().unwrap_or(self.snapshot[account])
    }

    fn add(&mut self, account: usize, amount: i64) {
        let balance = self.read(account) + amount;
        self.written.insert(account, balance);
    }

    /// Takes an amount from an account, if both of its owner's accounts together have it.
    fn withdraw(&mut self, account: usize, amount: i64) -> bool {
        let covered = self.read(account) + self.read(account ^ 1) >= amount;
        if covered {
            self.add(account, -amount);
        }
        covered
    }
}

/// An amount of money, mostly about what the accounts hold.
struct Amount(i64);

impl Draw for Amount {
    fn draw(site: &str) -> Amount {
        Amount(draw::range_at(site, 1..=100))
    }
}

/// The bank under test, and what it must hold in all.
#[derive(Default)]
pub struct Bank {
    store: Rc<RefCell<Store>>,
    model_total: i64,
}

impl Bank {
    fn accounts(&self) -> usize {
        self.store.borrow().accounts.len()
    }
}

#[scenario]
impl Bank {
    fn pre_sequence(&mut self) {
        self.open(Amount(60), Amount(40));
    }

    #[flow(weight = 20, max_times = 8)]
    fn open(&mut self, first: Amount, second: Amount) {
        let mut store = self.store.borrow_mut();
        let commits = store.commits;
        store.accounts.extend([(first.0, commits), (second.0, commits)]);
        self.model_total += first.0 + second.0;
    }

    #[flow(weight = 100, precondition = |b| b.accounts() > 1)]
    fn transfer(&mut self, from: usize, to: usize, amount: Amount) -> Result<(), Skip> {
        let (from, to) = (from % self.accounts(), to % self.accounts());
        let mut store = self.store.borrow_mut();
        let mut transaction = store.begin();
        if !transaction.withdraw(from, amount.0) {
            skip!("not covered");
        }
        transaction.add(to, amount.0);
        let committed = store.commit(transaction).is_ok();
        always!(committed, "a transaction alone has no conflict");
        Ok(())
    }

    /// Several withdrawals of one customer at once.
    #[flow(weight = 20)]
    async fn withdraw(&mut self, customer: usize) {
        let first = customer % (self.accounts() / 2) * 2;
        let tasks: Vec<_> = (0..draw::range(2..=3u8))
            .map(|number| {
                let store = Rc::clone(&self.store);
                let (account, amount) = (first + draw::index(2), draw::range(1..=100i64));
                task::spawn(&format!("withdrawal {number}"), async move {
                    let mut transaction = store.borrow().begin();
                    if !transaction.withdraw(account, amount) {
                        return 0;
                    }
                    task::yield_now().await;
                    let committed = store.borrow_mut().commit(transaction).is_ok();
                    sometimes!(!committed, "two withdrawals conflict");
                    if committed { amount } else { 0 }
                })
            })
            .collect();
        for task in tasks {
            self.model_total -= task.join().await;
        }
    }

    #[invariant]
    fn nobody_owes(&self) {
        let store = self.store.borrow();
        for (customer, accounts) in store.accounts.chunks(2).enumerate() {
            let together: i64 = accounts.iter().map(|(balance, _)| balance).sum();
            always!(together >= 0, "no customer owes", "customer {customer} owes {}", -together);
        }
    }

    #[invariant(period = 10)]
    fn total_is_constant(&self) {
        let total: i64 = self.store.borrow().accounts.iter().map(|(balance, _)| balance).sum();
        always!(total == self.model_total, "total is constant", "{total} instead of {}", self.model_total);
    }
}
