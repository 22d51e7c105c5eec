//! Machines of a plan that differ by a number, and the same plan with fewer of them.
//!
//! ```text
//! count = 3    server1  server2  server3        --peers={others}   of server2: --peers=server1,server3
//! with two     server1  server2                                    of server2: --peers=server1
//! ```
//!
//! A machine remembers the texts that its names were filled into, since a smaller cluster has other names in them.
//! Not here: which braces are mistakes (`fozzy-plan`), which smaller clusters are tried (`fozzy-campaign`).

use super::{NodePlan, Plan};
use crate::NodeId;
use serde::{Deserialize, Serialize};

/// What stands in braces in arguments and variables of counted machines for their names.
pub const NODE_PLACEHOLDERS: [&str; 4] = ["name", "number", "nodes", "others"];
/// The variable in which the program of the run finds the names of all machines that are not called, with commas between them.
pub const NODES_VARIABLE: &str = "FOZZY_NODES";

/// One of several machines of a plan that differ by a number.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct CountedNode {
    /// Their name without the number.
    pub group: String,
    /// Those of its arguments that names are filled into, by their places.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<(usize, String)>,
    /// The same of its environment variables, by their names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<(String, String)>,
}

/// A part of an argument or a variable of a machine.
pub struct NodeTextPart<'a> {
    /// The word that stands in braces, if the part is one.
    pub word: Option<&'a str>,
    /// What it is where nothing takes its place: of `{word}` and of `{{word}}`, `{word}`.
    pub text: &'a str,
}

/// The parts of an argument or a variable of a machine: words of letters in braces, and what stands between them. Other braces are text.
#[must_use]
pub fn node_text_parts(mut text: &str) -> Vec<NodeTextPart<'_>> {
    let mut parts = Vec::new();
    while let Some(at) = text.find('{') {
        let (before, rest) = text.split_at(at);
        let braces = if rest.starts_with("{{") { 2 } else { 1 };
        let word = &rest[braces..];
        let word = &word[..word.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(word.len())];
        let is_braced = !word.is_empty() && rest[braces + word.len()..].starts_with(&"}}"[..braces]);
        parts.push(NodeTextPart { word: None, text: before });
        let length = match (is_braced, braces) {
            (false, _) => {
                parts.push(NodeTextPart { word: None, text: &rest[..1] });
                1
            }
            (true, 1) => {
                parts.push(NodeTextPart { word: Some(word), text: &rest[..word.len() + 2] });
                word.len() + 2
            }
            (true, _) => {
                parts.push(NodeTextPart { word: None, text: &rest[1..word.len() + 3] });
                word.len() + 4
            }
        };
        text = &rest[length..];
    }
    parts.push(NodeTextPart { word: None, text });
    parts
}

/// The names of `count` machines of a group.
#[must_use]
pub fn counted_names(group: &str, count: u32) -> Vec<String> {
    (1..=count).map(|number| format!("{group}{number}")).collect()
}

/// What stands in a machine for its placeholders; nothing of one that is not counted.
#[derive(Default)]
pub struct PlaceholderValues([Option<String>; NODE_PLACEHOLDERS.len()]);

impl PlaceholderValues {
    /// Those of the machine at this place among these names.
    ///
    /// # Panics
    /// When there is none at that place.
    #[must_use]
    pub fn of(place: usize, names: &[String]) -> PlaceholderValues {
        let name = &names[place];
        let others: Vec<&str> = names.iter().filter(|other| *other != name).map(String::as_str).collect();
        PlaceholderValues([name.clone(), (place + 1).to_string(), names.join(","), others.join(",")].map(Some))
    }

    /// A text with these values in it.
    #[must_use]
    pub fn filled(&self, text: &str) -> String {
        let value = |word: &str| {
            let place = NODE_PLACEHOLDERS.iter().position(|placeholder| *placeholder == word)?;
            self.0[place].as_deref()
        };
        node_text_parts(text).into_iter().map(|part| part.word.and_then(value).unwrap_or(part.text)).collect()
    }
}

impl NodePlan {
    /// The same machine among others; `None` if what it remembers is none of its own arguments or variables.
    fn among(mut self, place: usize, names: &[String]) -> Option<NodePlan> {
        let counted = self.counted.clone()?;
        let values = PlaceholderValues::of(place, names);
        for (place, text) in counted.args {
            *self.program.machine.args.get_mut(place)? = values.filled(&text);
        }
        for (name, text) in counted.env {
            let variable = self.program.machine.env.iter_mut().find(|(known, _)| *known == name);
            variable?.1 = values.filled(&text);
        }
        Some(self)
    }
}

impl Plan {
    /// The groups of machines that differ by a number, each with how many it has, in their order.
    #[must_use]
    pub fn counted_groups(&self) -> Vec<(&str, u32)> {
        let mut groups: Vec<(&str, u32)> = Vec::new();
        for group in self.nodes.iter().filter_map(|node| Some(node.counted.as_ref()?.group.as_str())) {
            match groups.iter_mut().find(|(known, _)| *known == group) {
                Some((_, count)) => *count += 1,
                None => groups.push((group, 1)),
            }
        }
        groups
    }

    /// Forgets texts that no longer are what a machine has: a secret was taken out of it, say, which a smaller cluster would have again.
    pub fn forget_unfit_texts(&mut self) {
        let groups: Vec<(String, u32)> =
            self.counted_groups().into_iter().map(|(group, count)| (group.to_owned(), count)).collect();
        for (group, count) in groups {
            let names = counted_names(&group, count);
            for node in &mut self.nodes {
                let Some(counted) = node.counted.as_mut().filter(|counted| counted.group == group) else { continue };
                let Some(place) = names.iter().position(|name| *name == node.name) else { continue };
                let (values, machine) = (PlaceholderValues::of(place, &names), &node.program.machine);
                counted.args.retain(|(at, text)| machine.args.get(*at) == Some(&values.filled(text)));
                counted.env.retain(|(name, text)| machine.env.contains(&(name.clone(), values.filled(text))));
            }
        }
    }

    /// The plan with the first `count` machines of a group, which know of each other only; `None` if it has no more than these, if the
    /// standard input of one that stays is the output of one that goes, or if they are not numbered as those that a plan file counts.
    #[must_use]
    pub fn with_counted(&self, group: &str, count: u32) -> Option<Plan> {
        let names = counted_names(group, count);
        let is_of_group = |node: &NodePlan| node.counted.as_ref().is_some_and(|counted| counted.group == group);
        let members: Vec<&NodePlan> = self.nodes.iter().filter(|node| is_of_group(node)).collect();
        let all = counted_names(group, members.len() as u32);
        let is_numbered = members.iter().zip(&all).all(|(node, name)| node.name == *name && !node.called);
        if count == 0 || members.len() <= count as usize || !is_numbered {
            return None;
        }
        let mut plan = self.clone();
        plan.nodes.clear();
        for node in &self.nodes {
            match names.iter().position(|name| *name == node.name) {
                Some(place) if is_of_group(node) => plan.nodes.push(node.clone().among(place, &names)?),
                _ if is_of_group(node) => {}
                _ => plan.nodes.push(node.clone()),
            }
        }
        let list = self.node_list();
        let smaller_list = plan.node_list();
        let told = plan.main.env.iter_mut().filter(|(name, value)| name == NODES_VARIABLE && *value == list);
        told.for_each(|(_, value)| value.clone_from(&smaller_list));
        let machines: Vec<Option<NodeId>> =
            (0..=self.nodes.len() as u32).map(|id| plan.node_of(self, NodeId(id))).collect();
        let all = std::iter::once(&mut plan.main).chain(plan.nodes.iter_mut().map(|node| &mut node.program.machine));
        for pipe in all.filter_map(|machine| machine.stdin.channel.as_mut()?.from.as_mut()) {
            pipe.node = *machines.get(pipe.node.0 as usize)?.as_ref()?;
        }
        Some(plan)
    }

    /// The names of all machines that are not called, with commas between them.
    #[must_use]
    pub fn node_list(&self) -> String {
        let names: Vec<&str> = self.nodes.iter().filter(|node| !node.called).map(|node| node.name.as_str()).collect();
        names.join(",")
    }

    /// The machine that has this number in a plan with more machines; `None` if this plan is without it. What comes behind those of the plan,
    /// programs that others start, stays behind them.
    #[must_use]
    pub fn node_of(&self, larger: &Plan, node: NodeId) -> Option<NodeId> {
        let Some(place) = node.0.checked_sub(1) else { return Some(node) };
        match larger.nodes.get(place as usize) {
            None => Some(NodeId(node.0 - larger.nodes.len().checked_sub(self.nodes.len())? as u32)),
            Some(there) => {
                let place = self.nodes.iter().position(|here| here.name == there.name)?;
                Some(NodeId(place as u32 + 1))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Duration;
    use crate::plan::{ChannelPlan, Inputs, MachinePlan, ProgramPlan, StdinPipe};

    fn node(name: &str, group: Option<&str>) -> NodePlan {
        let machine = MachinePlan {
            args: vec!["node.wasm".to_owned(), "?".to_owned()],
            env: vec![("SELF".to_owned(), "?".to_owned())],
            ..MachinePlan::default()
        };
        let counted = group.map(|group| CountedNode {
            group: group.to_owned(),
            args: vec![(1, "{number} of {nodes}, beside {others}".to_owned())],
            env: vec![("SELF".to_owned(), "{name} {{name}}".to_owned())],
        });
        let program = ProgramPlan { machine, component: Inputs::default().add(b"".as_slice()) };
        NodePlan { name: name.to_owned(), program, called: false, ends: None, restart: None, counted }
    }

    fn plan() -> Plan {
        let mut plan = Plan {
            nodes: [("a1", Some("a")), ("a2", Some("a")), ("a3", Some("a")), ("b", None)]
                .map(|(name, group)| node(name, group))
                .into(),
            ..Plan::default()
        };
        plan.main.env = vec![(NODES_VARIABLE.to_owned(), plan.node_list())];
        plan
    }

    #[test]
    fn fewer_machines_know_of_each_other_only() {
        let plan = plan();
        assert_eq!(plan.counted_groups(), [("a", 3)]);
        let smaller = plan.with_counted("a", 2).unwrap();
        let shown = |node: &NodePlan| format!("{} {}", node.program.machine.args[1], node.program.machine.env[0].1);
        assert_eq!(shown(&smaller.nodes[0]), "1 of a1,a2, beside a2 a1 {name}");
        assert_eq!(shown(&smaller.nodes[1]), "2 of a1,a2, beside a1 a2 {name}");
        assert_eq!(smaller.nodes[2], plan.nodes[3]);
        assert_eq!(smaller.main.env[0].1, "a1,a2,b");
        assert_eq!(plan.with_counted("a", 3), None);
        assert_eq!(plan.with_counted("a", 0), None);
        assert_eq!(plan.with_counted("b", 1), None);
    }

    #[test]
    fn a_list_that_the_plan_gives_itself_stays() {
        let mut plan = plan();
        plan.main.env[0].1 = "a1".to_owned();
        assert_eq!(plan.with_counted("a", 1).unwrap().main.env[0].1, "a1");
    }

    #[test]
    fn a_text_that_a_machine_no_longer_has_is_forgotten() {
        let mut plan = plan().with_counted("a", 2).unwrap();
        plan.nodes[0].program.machine.args[1] = "<redacted:TOKEN>".to_owned();
        plan.nodes[1].program.machine.env[0].1 = "<redacted:TOKEN>".to_owned();
        plan.forget_unfit_texts();
        let kept = |node: &NodePlan| node.counted.as_ref().map(|counted| (counted.args.len(), counted.env.len()));
        assert_eq!(plan.nodes.iter().map(kept).collect::<Vec<_>>(), [Some((0, 1)), Some((1, 0)), None]);
        let smaller = plan.with_counted("a", 1).unwrap();
        assert_eq!(smaller.nodes[0].program.machine.args[1], "<redacted:TOKEN>");
    }

    #[test]
    fn machines_that_no_plan_file_counts_so_stay() {
        for change in [|node: &mut NodePlan| node.name = "x".to_owned(), |node: &mut NodePlan| node.called = true] {
            let mut plan = plan();
            change(&mut plan.nodes[1]);
            assert_eq!(plan.with_counted("a", 1), None);
        }
    }

    #[test]
    fn machines_behind_those_that_go_move_up() {
        let mut larger = plan();
        let from = |node| {
            let pipe = StdinPipe { node: NodeId(node), latency: Duration(0), jitter: Duration(0) };
            Some(Box::new(ChannelPlan { from: Some(pipe), ..ChannelPlan::default() }))
        };
        larger.main.stdin.channel = from(4);
        let smaller = larger.with_counted("a", 1).unwrap();
        let moved: Vec<Option<u32>> =
            (0..6).map(|id| smaller.node_of(&larger, NodeId(id)).map(|node| node.0)).collect();
        assert_eq!(moved, [Some(0), Some(1), None, None, Some(2), Some(3)]);
        assert_eq!(smaller.main.stdin.channel, from(2));
        // One that stays reads what one that goes writes.
        larger.main.stdin.channel = from(3);
        assert_eq!(larger.with_counted("a", 1), None);
    }
}
