//! Under what a failure was found: what flags of an exploration change, beside the program and the answers.
//!
//! ```text
//! found with --faults partition --checker kv_all_equal:k      today without      it says nothing about a run of today
//! ```
//!
//! A saved failure that needs other conditions than the command has is mentioned, and does not decide how the command ends.

use fozzy_scenario_file::ClusterOptions;
use fozzy_trace::Plan;
use fozzy_trace::plan::FaultPlan;

/// The conditions of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct FailureConditions {
    faults: Vec<FaultPlan>,
    cluster: ClusterOptions,
    /// Instances of a target; those of a cluster follow from its file.
    instances: usize,
}

impl FailureConditions {
    /// Those of a plan.
    pub fn of_plan(plan: &Plan) -> FailureConditions {
        // The program's own name stands first; behind it a program may be given any word.
        let is_cluster = plan.main.args.first().is_some_and(|name| name == "player");
        // An order of messages that is asked for is a part of the answers.
        let cluster = ClusterOptions { asks: false, ..crate::scenario::cluster_options(plan) };
        let instances = if is_cluster { 0 } else { plan.nodes.iter().filter(|node| node.called).count() };
        FailureConditions { faults: plan.faults.clone(), cluster, instances }
    }

    /// How they differ from those of `today`, in words; `None` when they do not.
    pub fn other_than(&self, today: &FailureConditions) -> Option<String> {
        if self == today {
            return None;
        }
        let (mine, theirs) = (&self.cluster, &today.cluster);
        let differs = [
            (mine.checkers != theirs.checkers, "checkers (--checker)"),
            (
                self.faults != today.faults || mine.faults != theirs.faults || mine.first != theirs.first,
                "faults (--faults)",
            ),
            (mine.nodes != theirs.nodes, "another number of nodes (--nodes)"),
            (self.instances != today.instances, "another number of instances (--target-instances)"),
        ];
        let words: Vec<&str> = differs.into_iter().filter(|(differs, _)| *differs).map(|(_, words)| words).collect();
        let words = match &words[..] {
            [first, ..] if !first.starts_with("another") => format!("other {}", words.join(", ")),
            words => words.join(", "),
        };
        Some(format!("found under {words}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_flags_change_makes_other_conditions() {
        let of = |options: &str| {
            let mut plan = Plan::default();
            plan.main.args = vec!["player".to_owned(), format!("--cluster={options}")];
            FailureConditions::of_plan(&plan)
        };
        let plain = of("{}");
        assert_eq!(of(r#"{"asks": true}"#).other_than(&plain), None);
        let differs = |options: &str| of(options).other_than(&plain).unwrap_or_default();
        assert_eq!(differs(r#"{"checkers": ["kv_all_equal:k"]}"#), "found under other checkers (--checker)");
        assert_eq!(differs(r#"{"faults": ["partition"]}"#), "found under other faults (--faults)");
        assert_eq!(differs(r#"{"nodes": 5}"#), "found under another number of nodes (--nodes)");
        assert_eq!(
            differs(r#"{"nodes": 5, "first": ["crash-first"]}"#),
            "found under other faults (--faults), another number of nodes (--nodes)"
        );
    }
}
