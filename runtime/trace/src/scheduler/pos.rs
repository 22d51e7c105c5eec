//! Partial order sampling.
//!
//! ```text
//! pending    a: lock m (31)   b: lock m (77)   c: step (50)        b runs, and touches m
//! then       a: lock m (92)   b: unlock (8)    c: step (50)        a is drawn again, c is not
//! ```
//!
//! Source: Yuan, Yang, Gu (CAV 2018), algorithm POS: each pending step has a priority of its own, the highest runs, and a
//! step that is in a race with the one that went is drawn again.
//!
//! In a race are: a step that is about to touch an object (a mutex, a channel, a semaphore, a notification, a task that is
//! waited for, a machine that gets a message), and one that has touched it. What a step does beside that is not known: steps
//! without an object race with none, and keep their priority, which is the paper's algorithm BasicPOS.

use super::ReadyTask;
use super::draws::Draws;
use std::collections::BTreeMap;

/// One run.
#[derive(Clone, Debug, Default)]
pub(super) struct Pos {
    /// By task: how many steps it had taken, and the priority of the next one.
    pending: BTreeMap<u64, (u64, u64)>,
}

impl Pos {
    pub(super) fn pick(&mut self, touched: &[u64], ready: &[ReadyTask], draws: &mut Draws) -> usize {
        for task in ready {
            let pending = self.pending.get(&task.number);
            let is_new = pending.is_none_or(|(steps, _)| *steps != task.steps);
            let is_in_a_race = task.object != 0 && touched.contains(&task.object);
            if is_new || is_in_a_race {
                self.pending.insert(task.number, (task.steps, draws.next()));
            }
        }
        let priority = |at: &usize| self.pending.get(&ready[*at].number).map(|(_, priority)| *priority);
        (0..ready.len()).rev().max_by_key(priority).expect("somebody can go on")
    }
}
