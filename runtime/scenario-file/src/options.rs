//! How a cluster is played, beside what its file says: what the flags of `fozzy explore` add.
//!
//! ```text
//! --schedule, --faults partition,crash, --faults crash-first, --checker kv_all_equal:k ─▶ ClusterOptions ─▶ player --cluster={…}
//! ```

use crate::cluster::{Cluster, ClusterInvariant, ClusterStep};

/// Which message arrives next, and what goes wrong without the file's saying so.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ClusterOptions {
    /// Whether what is next is asked each time; otherwise messages arrive at once, in the order in which they were sent.
    pub asks: bool,
    /// What may go wrong at any time, and is over before the end.
    pub faults: Vec<ClusterFault>,
    /// What goes wrong before the first step.
    pub first: Vec<ClusterPreset>,
    /// How many nodes there are, instead of those that the file names.
    pub nodes: Option<u32>,
    /// What must hold, instead of what the file says: `kv_all_equal:KEY`.
    pub checkers: Option<Vec<String>>,
}

/// A fault that is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClusterFault {
    /// Two nodes do not reach each other for a while.
    Partition,
    /// A node is down for a while.
    Crash,
}

/// Steps that come before those of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClusterPreset {
    /// The first two nodes do not reach each other.
    PartitionFirstTwo,
    /// They reach each other.
    HealFirstTwo,
    /// The first node crashes.
    CrashFirst,
    /// It starts again.
    RestartFirst,
}

impl ClusterOptions {
    /// Takes a word of `--faults`. `false` when it is none of a cluster's.
    pub fn take_fault(&mut self, word: &str) -> bool {
        match word {
            "none" => {}
            "partition" => self.faults.push(ClusterFault::Partition),
            "crash" => self.faults.push(ClusterFault::Crash),
            "partition-first-two" => self.first.push(ClusterPreset::PartitionFirstTwo),
            "heal-first-two" => self.first.push(ClusterPreset::HealFirstTwo),
            "crash-first" => self.first.push(ClusterPreset::CrashFirst),
            "restart-first" => self.first.push(ClusterPreset::RestartFirst),
            _ => return false,
        }
        true
    }

    /// The cluster with what they change in it.
    ///
    /// # Errors
    /// When a checker is of no kind or names a node that is not there, or a preset needs more nodes than there are.
    pub fn apply(&self, mut cluster: Cluster) -> Result<Cluster, String> {
        if let Some(nodes) = self.nodes {
            (cluster.nodes, cluster.node_count) = (None, Some(nodes));
        }
        let names = cluster.names();
        let unknown = cluster.named().into_iter().find(|name| !names.iter().any(|known| known == name));
        if let Some(unknown) = unknown {
            return Err(format!("there is no node `{unknown}` among {}, as --nodes says", names.join(", ")));
        }
        let first = names.first().cloned().unwrap_or_default();
        let mut steps = Vec::new();
        for preset in &self.first {
            let two = || {
                let second = names.get(1).cloned().ok_or("a preset of the first two nodes, and there is one")?;
                Ok::<_, String>((first.clone(), second))
            };
            steps.push(match preset {
                ClusterPreset::PartitionFirstTwo => two().map(|(a, b)| ClusterStep::Partition { a, b })?,
                ClusterPreset::HealFirstTwo => two().map(|(a, b)| ClusterStep::Heal { a, b })?,
                ClusterPreset::CrashFirst => ClusterStep::Crash { node: first.clone() },
                ClusterPreset::RestartFirst => ClusterStep::Restart { node: first.clone() },
            });
        }
        steps.append(&mut cluster.steps);
        cluster.steps = steps;
        if let Some(checkers) = &self.checkers {
            cluster.invariants = checkers.iter().map(|token| checker(token, &names)).collect::<Result<_, _>>()?;
        }
        Ok(cluster)
    }
}

/// `kv_all_equal:KEY`, `kv_present_on_all:KEY` or `kv_node_equals:NODE:KEY:VALUE`.
fn checker(token: &str, nodes: &[String]) -> Result<ClusterInvariant, String> {
    let (kind, rest) = token.split_once(':').unwrap_or((token, ""));
    let key = |key: &str| {
        if key.is_empty() { Err(format!("`{token}`: expected a key: `{kind}:KEY`")) } else { Ok(key.to_owned()) }
    };
    match kind {
        "kv_all_equal" => Ok(ClusterInvariant::KvAllEqual { key: key(rest)? }),
        "kv_present_on_all" => Ok(ClusterInvariant::KvPresentOnAll { key: key(rest)? }),
        "kv_node_equals" => {
            let mut parts = rest.splitn(3, ':');
            let (Some(node), Some(key), Some(equals)) = (parts.next(), parts.next(), parts.next()) else {
                return Err(format!("`{token}`: expected `kv_node_equals:NODE:KEY:VALUE`"));
            };
            if !nodes.iter().any(|name| name == node) {
                return Err(format!("`{token}`: there is no node `{node}`; there are {}", nodes.join(", ")));
            }
            Ok(ClusterInvariant::KvNodeEquals { node: node.to_owned(), key: key.to_owned(), equals: equals.to_owned() })
        }
        _ => {
            let kinds = ClusterInvariant::KINDS;
            Err(format!("`{token}`: {}", crate::read::unknown("checker", kind, kinds)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cluster(nodes: u32) -> Cluster {
        Cluster { nodes: None, node_count: Some(nodes), steps: Vec::new(), invariants: Vec::new() }
    }

    #[test]
    fn faults_and_presets_have_their_words() {
        let mut options = ClusterOptions::default();
        for word in
            ["none", "partition", "crash", "partition-first-two", "heal-first-two", "crash-first", "restart-first"]
        {
            assert!(options.take_fault(word), "{word}");
        }
        assert!(!options.take_fault("disk-full"));
        assert_eq!(options.faults, [ClusterFault::Partition, ClusterFault::Crash]);
        let kinds: Vec<&str> = options.apply(cluster(2)).expect("two").steps.iter().map(ClusterStep::kind).collect();
        assert_eq!(kinds, ["partition", "heal", "crash", "restart"]);
        assert!(options.apply(cluster(1)).expect_err("one").contains("there is one"));
        let fewer = ClusterOptions { nodes: Some(1), ..ClusterOptions::default() };
        let steps = vec![ClusterStep::Crash { node: "n1".to_owned() }];
        let why = fewer.apply(Cluster { steps, ..cluster(2) }).expect_err("it names another");
        assert!(why.contains("there is no node `n1` among n0"), "{why}");
    }

    #[test]
    fn checkers_replace_the_invariants() {
        let check = |token: &str| {
            let options = ClusterOptions { checkers: Some(vec![token.to_owned()]), ..ClusterOptions::default() };
            options.apply(cluster(2)).map(|cluster| format!("{:?}", cluster.invariants[0]))
        };
        assert_eq!(check("kv_all_equal:k").as_deref(), Ok(r#"KvAllEqual { key: "k" }"#));
        assert_eq!(check("kv_present_on_all:a:b").as_deref(), Ok(r#"KvPresentOnAll { key: "a:b" }"#));
        let equals = r#"KvNodeEquals { node: "n1", key: "k", equals: "v:w" }"#;
        assert_eq!(check("kv_node_equals:n1:k:v:w").as_deref(), Ok(equals));
        for (token, said) in [
            ("kv_all_equal", "expected a key"),
            ("kv_all_equals:k", "kv_all_equal"),
            ("kv_node_equals:n1:k", "NODE:KEY:VALUE"),
            ("kv_node_equals:n7:k:v", "there is no node `n7`; there are n0, n1"),
        ] {
            let why = check(token).expect_err("refused");
            assert!(why.contains(said), "{token}: {why}");
        }
    }
}
