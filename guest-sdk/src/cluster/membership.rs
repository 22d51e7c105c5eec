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

impl MembershipChange {
    fn node(&self) -> &String {
        match self {
            MembershipChange::Add(node) | MembershipChange::Remove(node) => node,
        }
    }

    /// Whether it is done where these are the members.
    pub(super) fn is_done(&self, members: &[String]) -> bool {
        match self {
            MembershipChange::Add(node) => members.contains(node),
            MembershipChange::Remove(node) => !members.contains(node),
        }
    }

    /// What is asked, for people.
    pub(super) fn order(&self) -> String {
        match self {
            MembershipChange::Add(node) => format!("add {node}"),
            MembershipChange::Remove(node) => format!("remove {node}"),
        }
    }

    /// What has become of it, for people.
    pub(super) fn words(&self, is_done: bool) -> String {
        match (self, is_done) {
            (MembershipChange::Add(node), true) => format!("{node} has joined"),
            (MembershipChange::Remove(node), true) => format!("{node} has left"),
            (MembershipChange::Add(node), false) => format!("{node} has not joined, as far as is known"),
            (MembershipChange::Remove(node), false) => format!("{node} has not left, as far as is known"),
        }
    }
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

    /// The next change towards a cluster without these, and with all others, which is then asked for: one whose end is not known comes
    /// again, or its opposite. None when nothing is left to change, or there would be too few members.
    ///
    /// ```
    /// use fozzy_sdk::cluster::{Membership, MembershipChange};
    ///
    /// let mut members = Membership::new(["n1", "n2", "n3"].map(str::to_owned), 2);
    /// let [n1, n2] = ["n1", "n2"].map(str::to_owned);
    /// let remove = Some(MembershipChange::Remove(n2.clone()));
    /// assert_eq!(members.toward(&[n2.clone()]), remove);
    /// assert_eq!(members.toward(&[n2.clone()]), remove, "it is not known to be done");
    /// assert_eq!((members.members().len(), members.absent()), (3, vec![n2.clone()]));
    /// members.done();
    /// assert_eq!(members.toward(&[n1, n2.clone()]), None, "two are the least");
    /// assert_eq!(members.toward(&[]), Some(MembershipChange::Add(n2.clone())));
    /// assert_eq!(members.toward(&[n2]), remove, "what may be in is taken out");
    /// ```
    pub fn toward(&mut self, out: &[String]) -> Option<MembershipChange> {
        self.asked = match self.asked.take() {
            Some(MembershipChange::Add(node) | MembershipChange::Remove(node)) => Some(match out.contains(&node) {
                true => MembershipChange::Remove(node),
                false => MembershipChange::Add(node),
            }),
            None => {
                let mut nodes = self.nodes.iter().filter(|node| self.members.contains(node) == out.contains(node));
                // Who joins goes first, so that there are no fewer members than must be.
                let joins = nodes.clone().find(|node| !out.contains(node));
                let leaves = nodes.find(|node| out.contains(node)).filter(|_| self.members.len() > self.least);
                joins.cloned().map(MembershipChange::Add).or_else(|| leaves.cloned().map(MembershipChange::Remove))
            }
        };
        self.asked.clone()
    }

    /// Whether there are more nodes than must be members.
    pub(super) fn allows_leaving(&self) -> bool {
        self.nodes.len() > self.least
    }

    /// Whether these can be the members; says in words what they are if they cannot.
    pub(super) fn check(&self, members: &[String]) -> Result<(), String> {
        if members.is_empty() {
            return Err("that nobody is a member".to_owned());
        }
        match members.iter().find(|member| !self.nodes.contains(member)) {
            Some(unknown) => Err(format!(
                "that `{}` is a member: the machines are {}",
                unknown.escape_debug(),
                self.nodes.join(", ")
            )),
            None => Ok(()),
        }
    }

    /// Those that are no members, or perhaps not.
    ///
    /// ```
    /// use fozzy_sdk::cluster::Membership;
    ///
    /// let mut members = Membership::new(["n1", "n2"].map(str::to_owned), 1);
    /// members.seen(["n1".to_owned()]);
    /// assert_eq!(members.absent(), ["n2"]);
    /// ```
    #[must_use]
    pub fn absent(&self) -> Vec<String> {
        let asked = self.asked.as_ref().map(MembershipChange::node);
        let is_absent = |node: &&String| !self.members.contains(node) || asked == Some(*node);
        self.nodes.iter().filter(is_absent).cloned().collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_no_machine_is_no_member() {
        let names = ["n1", "n2"].map(str::to_owned);
        let members = Membership::new(names.clone(), 1);
        assert_eq!(members.check(&names), Ok(()));
        assert_eq!(members.check(&names[1..]), Ok(()));
        assert_eq!(members.check(&[]), Err("that nobody is a member".to_owned()));
        let mixed = [names[0].clone(), " zz".to_owned()];
        assert_eq!(members.check(&mixed), Err("that ` zz` is a member: the machines are n1, n2".to_owned()));
    }
}
