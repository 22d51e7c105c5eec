//! Distributed scenarios, version 1: nodes of a replicated key-value store, what clients do, and what goes wrong.

use crate::json::JsonNode;
use crate::read::ReadProblem;
use crate::time::StepDuration;
use std::collections::BTreeSet;

/// Nodes that a cluster can have.
pub(crate) const NODES_MAX: usize = 64;

/// A file with `distributed`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ClusterFile {
    /// The version of the format: 1.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 1)))]
    pub version: u32,
    /// The name of the scenario.
    pub name: String,
    /// The cluster.
    pub distributed: Cluster,
}

/// A cluster, and what happens to it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Cluster {
    /// The names of the nodes. Not beside `node_count`.
    #[serde(default)]
    pub nodes: Option<Vec<String>>,
    /// How many nodes there are, which are called `n0`, `n1` and so on.
    #[serde(default)]
    pub node_count: Option<u32>,
    /// What happens, in this order.
    pub steps: Vec<ClusterStep>,
    /// What must hold.
    #[serde(default)]
    pub invariants: Vec<ClusterInvariant>,
}

/// Something that happens to a cluster.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(tag = "type"))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ClusterStep {
    /// A client stores a value at a node.
    ClientPut {
        /// The node.
        node: String,
        /// The key.
        key: String,
        /// The value.
        value: String,
    },
    /// A client reads at a node, and must find what is said; without `equals` and `is_null`, anything.
    ClientGetAssert {
        /// The node.
        node: String,
        /// The key.
        key: String,
        /// The value that is to be there.
        #[serde(default)]
        equals: Option<String>,
        /// Whether nothing is to be there. Not beside `equals`.
        #[serde(default)]
        is_null: Option<bool>,
    },
    /// Two nodes do not reach each other.
    Partition {
        /// One node.
        a: String,
        /// The other.
        b: String,
    },
    /// They reach each other again.
    Heal {
        /// One node.
        a: String,
        /// The other.
        b: String,
    },
    /// A node loses its power.
    Crash {
        /// The node.
        node: String,
    },
    /// It starts again.
    Restart {
        /// The node.
        node: String,
    },
    /// Time passes.
    Tick {
        /// How much.
        duration: StepDuration,
    },
}

/// What must hold of a cluster; nodes that are down do not count.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(tag = "type"))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ClusterInvariant {
    /// At the end all nodes have the same value under a key.
    KvAllEqual {
        /// The key.
        key: String,
    },
    /// All nodes have a value under a key.
    KvPresentOnAll {
        /// The key.
        key: String,
    },
    /// A node has this value under a key.
    KvNodeEquals {
        /// The node.
        node: String,
        /// The key.
        key: String,
        /// The value.
        equals: String,
    },
}

impl Cluster {
    /// The names of its nodes.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let numbered = || (0..self.node_count.unwrap_or_default()).map(|number| format!("n{number}")).collect();
        self.nodes.clone().unwrap_or_else(numbered)
    }

    /// The nodes that its steps and invariants name.
    pub(crate) fn named(&self) -> Vec<&str> {
        let of_steps = self.steps.iter().flat_map(|step| step.named()).map(|(_, name)| name);
        let of_invariants = self.invariants.iter().filter_map(|invariant| match invariant {
            ClusterInvariant::KvNodeEquals { node, .. } => Some(node.as_str()),
            ClusterInvariant::KvAllEqual { .. } | ClusterInvariant::KvPresentOnAll { .. } => None,
        });
        of_steps.chain(of_invariants).collect()
    }
}

impl ClusterStep {
    /// The names of all kinds.
    pub const KINDS: &'static [&'static str] =
        &["client_put", "client_get_assert", "partition", "heal", "crash", "restart", "tick"];

    /// The name of its kind.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            ClusterStep::ClientPut { .. } => "client_put",
            ClusterStep::ClientGetAssert { .. } => "client_get_assert",
            ClusterStep::Partition { .. } => "partition",
            ClusterStep::Heal { .. } => "heal",
            ClusterStep::Crash { .. } => "crash",
            ClusterStep::Restart { .. } => "restart",
            ClusterStep::Tick { .. } => "tick",
        }
    }

    /// The nodes that it names, by their fields.
    fn named(&self) -> Vec<(&'static str, &str)> {
        match self {
            ClusterStep::ClientPut { node, .. }
            | ClusterStep::ClientGetAssert { node, .. }
            | ClusterStep::Crash { node }
            | ClusterStep::Restart { node } => vec![("node", node)],
            ClusterStep::Partition { a, b } | ClusterStep::Heal { a, b } => vec![("a", a), ("b", b)],
            ClusterStep::Tick { .. } => Vec::new(),
        }
    }
}

impl ClusterInvariant {
    /// The key that it looks at.
    #[must_use]
    pub fn key(&self) -> &str {
        match self {
            ClusterInvariant::KvAllEqual { key }
            | ClusterInvariant::KvPresentOnAll { key }
            | ClusterInvariant::KvNodeEquals { key, .. } => key,
        }
    }

    /// The names of all kinds.
    pub const KINDS: &'static [&'static str] = &["kv_all_equal", "kv_present_on_all", "kv_node_equals"];

    /// The name of its kind.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            ClusterInvariant::KvAllEqual { .. } => "kv_all_equal",
            ClusterInvariant::KvPresentOnAll { .. } => "kv_present_on_all",
            ClusterInvariant::KvNodeEquals { .. } => "kv_node_equals",
        }
    }
}

impl ClusterFile {
    pub(crate) fn check(&self, root: &JsonNode) -> Result<(), ReadProblem> {
        let cluster = &self.distributed;
        let node = root.member("distributed").unwrap_or(root);
        let at = |field: &str| node.member(field).unwrap_or(node).at;
        if cluster.nodes.is_some() && cluster.node_count.is_some() {
            return Err(ReadProblem::at(at("node_count"), "node_count: not beside `nodes`"));
        }
        if cluster.nodes.is_none() && cluster.node_count.is_none() {
            let what = "distributed: expected `nodes` (their names) or `node_count` (how many), found neither";
            return Err(ReadProblem::at(node.at, what));
        }
        let many = cluster.node_count.is_some_and(|count| count as usize > NODES_MAX);
        let names = if many { Vec::new() } else { cluster.names() };
        if many || names.is_empty() || names.len() > NODES_MAX {
            let field = if cluster.nodes.is_some() { "nodes" } else { "node_count" };
            return Err(ReadProblem::at(at(field), format!("{field}: expected 1 to {NODES_MAX} nodes")));
        }
        let known: BTreeSet<&str> = names.iter().map(String::as_str).collect();
        if known.len() < names.len() || known.contains("") {
            return Err(ReadProblem::at(at("nodes"), "nodes: expected a name for each node, and no name twice"));
        }
        if cluster.steps.is_empty() {
            return Err(ReadProblem::at(
                at("steps"),
                "steps: no_steps_executed: there is no step, so nothing would be tested",
            ));
        }
        let check = |list: &str, number: usize, kind: &str, named: &[(&'static str, &str)]| {
            let Some((field, name)) = named.iter().find(|(_, name)| !known.contains(name)) else { return Ok(()) };
            let here = node.member(list).and_then(|list| list.element(number)).unwrap_or(node);
            let known: Vec<&str> = known.iter().copied().collect();
            let what = format!("{kind}: {field}: {}", crate::read::unknown("node", name, &known));
            Err(ReadProblem::at(here.member(field).unwrap_or(here).at, what))
        };
        for (number, step) in cluster.steps.iter().enumerate() {
            check("steps", number, step.kind(), &step.named())?;
            if let ClusterStep::ClientGetAssert { equals: Some(_), is_null: Some(_), .. } = step {
                let here = node.member("steps").and_then(|list| list.element(number)).unwrap_or(node);
                return Err(ReadProblem::at(here.at, "client_get_assert: is_null: not beside `equals`"));
            }
        }
        for (number, invariant) in cluster.invariants.iter().enumerate() {
            if let ClusterInvariant::KvNodeEquals { node, .. } = invariant {
                check("invariants", number, invariant.kind(), &[("node", node)])?;
            }
        }
        Ok(())
    }
}
