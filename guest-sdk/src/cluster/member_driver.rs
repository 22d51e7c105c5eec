//! Has machines leave and join a cluster, as the nemesis `membership` of the plan asks.
//!
//! ```text
//! asked: n2 out ─▶ remove n2 ─▶ its end is not known ─▶ remove n2 ─▶ n1, n3 are members ─▶ asked: none out ─▶ add n2
//! ```
//!
//! Invariants: one change at a time; a machine is said to be out before its leaving is asked for, and until it is seen to be a member;
//! members that are no machines end the run as an error of the program that said so, and not of its nodes.
//! Not here: which change is next (`membership.rs`), whom the nemesis strikes (`fozzy-world`).

use super::membership::{Membership, MembershipChange};
use super::nodes;
use crate::host;
use crate::task;
use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::time::Duration;

/// How long it is waited before the nemesis is asked again.
const POLL: Duration = Duration::from_millis(100);
/// How long it is waited before a change is tried again.
const RETRY: Duration = Duration::from_millis(500);
/// The name of its events.
const EVENT: &str = "members";

/// What has machines leave and join. Behind a trait, so that a program without it does not import what it asks.
pub(crate) trait MemberDriver {
    /// Whether the plan has such a nemesis, and a machine may leave.
    fn is_planned(&self) -> bool;
    /// Does what the nemesis asks, to the end of the run; a change may take so long.
    fn keep(&self, timeout: Duration) -> Pin<Box<dyn Future<Output = ()>>>;
    /// What is still to do, and why it is not done.
    fn open(&self) -> Option<String>;
}

/// Performs changes by a function of the program.
pub(super) struct ChangeDriver<C> {
    change: Rc<C>,
    state: Rc<RefCell<MemberState>>,
}

struct MemberState {
    members: Membership,
    /// Why the last change is not done.
    why: String,
}

impl MemberState {
    /// Tells the nemesis who is out, and learns who is to be.
    fn wanted_out(&self) -> Option<Vec<String>> {
        host::wanted_out(&self.members.absent())
    }
}

impl<C> ChangeDriver<C> {
    pub(super) fn new(least: usize, change: C) -> ChangeDriver<C> {
        let state = MemberState { members: Membership::new(nodes(), least), why: String::new() };
        ChangeDriver { change: Rc::new(change), state: Rc::new(RefCell::new(state)) }
    }
}

impl<C, F> MemberDriver for ChangeDriver<C>
where
    C: Fn(MembershipChange) -> F + 'static,
    F: Future<Output = Result<Vec<String>, String>> + 'static,
{
    fn is_planned(&self) -> bool {
        let state = self.state.borrow();
        // A nemesis that is never asked never strikes.
        state.members.allows_leaving() && state.wanted_out().is_some()
    }

    fn keep(&self, timeout: Duration) -> Pin<Box<dyn Future<Output = ()>>> {
        let (change, state) = (Rc::clone(&self.change), Rc::clone(&self.state));
        Box::pin(async move {
            loop {
                let Some(out) = state.borrow().wanted_out() else { return };
                let next = state.borrow_mut().members.toward(&out);
                let Some(asked) = next else {
                    task::sleep(POLL).await;
                    continue;
                };
                // The strike may be over before the machine has left.
                let _ = state.borrow().wanted_out();
                let seen = task::timeout(timeout, change(asked.clone())).await;
                let why = match seen {
                    Ok(Ok(members)) => {
                        if let Err(why) = state.borrow().members.check(&members) {
                            host::invalid(
                                EVENT,
                                &format!("what changes members, asked to {}, has answered {why}", asked.order()),
                            );
                        }
                        let names = members.join(", ");
                        state.borrow_mut().members.seen(members);
                        if asked.is_done(state.borrow().members.members()) {
                            host::event(EVENT, &format!("{}: {names} are members", asked.words(true)));
                            continue;
                        }
                        format!("{names} are members")
                    }
                    Ok(Err(why)) => why,
                    Err(task::Elapsed) => "timeout".to_owned(),
                };
                let why = format!("{}: {why}", asked.words(false));
                host::event(EVENT, &why);
                state.borrow_mut().why = why;
                task::sleep(RETRY).await;
            }
        })
    }

    fn open(&self) -> Option<String> {
        let state = self.state.borrow();
        let out = state.wanted_out()?;
        let asked = state.members.clone().toward(&out)?;
        Some(if state.why.is_empty() { asked.words(false) } else { state.why.clone() })
    }
}
