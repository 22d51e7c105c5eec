//! Members of a cluster as they come and go: which change is possible next, as a state machine.
//!
//! ```text
//! n1 n2 n3 ─ remove n2 ─▶ (asked) ─ done ─▶ n1 n3 ─ add n2 ─▶ (asked) ─ not known ─▶ n1 n3 n2? ─ seen ─▶ n1 n2 n3
//! ```
//!
//! Invariants: one change at a time; never fewer members than the least number.

use crate::host;

/// A change of members.
///
/// ```
/// use fozzy_sdk::cluster::MembershipChange;
///
/// let request = match MembershipChange::Add("n4".to_owned()) {
///     MembershipChange::Add(node) => format!("add {node}"),
///     MembershipChange::Remove(node) => format!("remove {node}"),
/// };
/// assert_eq!(request, "add n4");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MembershipChange {
    /// This node joins.
    Add(String),
    /// This node leaves.
    Remove(String),
}

/// Who is a member, as far as is known.
///
/// ```
/// use fozzy_sdk::cluster::{Membership, MembershipChange};
///
/// let names = ["n1", "n2", "n3"].map(str::to_owned);
/// let mut members = Membership::new(names, 2);
/// let Some(MembershipChange::Remove(node)) = members.draw() else { panic!("all are members") };
/// assert_eq!(members.draw(), None, "a change is asked for already");
/// members.done();
/// assert_eq!(members.draw(), Some(MembershipChange::Add(node)), "two are the least");
/// ```
#[derive(Clone, Debug)]
pub struct Membership {
    nodes: Vec<String>,
    members: Vec<String>,
    least: usize,
    asked: Option<MembershipChange>,
}

impl Membership {
    /// All nodes are members; never fewer than `least` are.
    ///
    /// ```
    /// use fozzy_sdk::cluster::Membership;
    ///
    /// let mut members = Membership::new(["n1", "n2"].map(str::to_owned), 1);
    /// assert!(members.draw().is_some());
    /// ```
    #[must_use]
    pub fn new(nodes: impl IntoIterator<Item = String>, least: usize) -> Membership {
        let nodes: Vec<String> = nodes.into_iter().collect();
        Membership { members: nodes.clone(), nodes, least, asked: None }
    }

    /// The members.
    ///
    /// ```
    /// use fozzy_sdk::cluster::Membership;
    ///
    /// let mut members = Membership::new(["n1", "n2"].map(str::to_owned), 1);
    /// members.seen(["n2".to_owned()]);
    /// assert_eq!(members.members(), ["n2"]);
    /// ```
    #[must_use]
    pub fn members(&self) -> &[String] {
        &self.members
    }

    /// Draws the next change, which is then asked for; none while one is, or when none is possible.
    ///
    /// ```
    /// use fozzy_sdk::cluster::Membership;
    ///
    /// let mut members = Membership::new(["n1", "n2"].map(str::to_owned), 1);
    /// assert!(members.draw().is_some() && members.draw().is_none(), "one at a time");
    /// ```
    pub fn draw(&mut self) -> Option<MembershipChange> {
        if self.asked.is_some() {
            return None;
        }
        let removals = if self.members.len() > self.least { &self.members[..] } else { &[] };
        let changes = removals.iter().cloned().map(MembershipChange::Remove);
        let others = self.nodes.iter().filter(|node| !self.members.contains(node)).cloned();
        let changes: Vec<MembershipChange> = changes.chain(others.map(MembershipChange::Add)).collect();
        if changes.is_empty() {
            return None;
        }
        self.asked = Some(changes[host::choose("change of members", changes.len() as u64) as usize].clone());
        self.asked.clone()
    }

    /// The change that was asked for is done.
    ///
    /// ```
    /// use fozzy_sdk::cluster::Membership;
    ///
    /// let mut members = Membership::new(["n1", "n2"].map(str::to_owned), 1);
    /// members.draw();
    /// members.done();
    /// assert_eq!(members.members().len(), 1);
    /// ```
    pub fn done(&mut self) {
        match self.asked.take() {
            Some(MembershipChange::Add(node)) => self.members.push(node),
            Some(MembershipChange::Remove(node)) => self.members.retain(|member| *member != node),
            None => {}
        }
    }

    /// It is certainly not done.
    ///
    /// ```
    /// use fozzy_sdk::cluster::Membership;
    ///
    /// let mut members = Membership::new(["n1", "n2"].map(str::to_owned), 1);
    /// members.draw();
    /// members.refused();
    /// assert_eq!(members.members().len(), 2);
    /// ```
    pub fn refused(&mut self) {
        self.asked = None;
    }

    /// These are the members, as a node says: that decides what was not known.
    ///
    /// ```
    /// use fozzy_sdk::cluster::Membership;
    ///
    /// let mut members = Membership::new(["n1", "n2"].map(str::to_owned), 1);
    /// members.seen(["n2".to_owned()]);
    /// assert_eq!(members.members(), ["n2"]);
    /// ```
    pub fn seen(&mut self, members: impl IntoIterator<Item = String>) {
        self.members = members.into_iter().filter(|member| self.nodes.contains(member)).collect();
        self.asked = None;
    }
}
