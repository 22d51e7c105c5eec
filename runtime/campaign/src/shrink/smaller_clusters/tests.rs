//! Which machines can go, and which stay since the plan names them.

use super::*;
use fozzy_trace::Duration;
use fozzy_trace::plan::{
    ClusterPlan, CountedNode, HealScope, Inputs, MachinePlan, NODES_VARIABLE, NemesisPlan, NodePlan, ProgramPlan,
};
use fozzy_world::fault::NEMESES;

fn plan(count: u32) -> Plan {
    let node = |number: u32| NodePlan {
        name: format!("n{number}"),
        program: ProgramPlan { machine: MachinePlan::default(), component: Inputs::default().add(b"".as_slice()) },
        called: false,
        ends: None,
        restart: None,
        counted: Some(CountedNode { group: "n".to_owned(), ..CountedNode::default() }),
    };
    let mut plan = Plan { nodes: (1..=count).map(node).collect(), ..Plan::default() };
    plan.main.env = vec![(NODES_VARIABLE.to_owned(), plan.node_list())];
    plan
}

fn fault(kind: &str, target: &str, hits: Option<&[&str]>) -> FaultPlan {
    let nemesis = hits.map(|hits| NemesisPlan {
        interval: Duration(1),
        lasts: None,
        hits: hits.iter().map(|word| (*word).to_owned()).collect(),
        path: None,
    });
    FaultPlan {
        kind: kind.to_owned(),
        target: target.to_owned(),
        rate_ppm: 1,
        start: Duration(0),
        length: None,
        strength: None,
        times: None,
        nemesis: nemesis.map(Box::new),
    }
}

/// The sizes of the smaller clusters of a plan.
fn sizes(plan: &Plan) -> Vec<usize> {
    smaller_clusters(plan, &Inputs::default()).iter().map(|plan| plan.nodes.len()).collect()
}

#[test]
fn the_smallest_comes_first() {
    assert_eq!(sizes(&plan(6)), [1, 2, 3, 4, 5]);
    assert_eq!(sizes(&plan(9)), [1, 2, 3, 4, 8]);
    assert_eq!(smaller_clusters(&plan(3), &Inputs::default())[1].main.env[0].1, "n1,n2");
    assert_eq!(sizes(&plan(1)), [0; 0]);
    let named = plan(3).nodes.into_iter().map(|node| NodePlan { counted: None, ..node }).collect();
    assert_eq!(sizes(&Plan { nodes: named, ..plan(3) }), [0; 0]);
}

#[test]
fn as_many_machines_stay_as_may_be_hit() {
    let bounded = |hit_max: Option<u32>| {
        let cluster = ClusterPlan { hit_max, faults_until: None, heals: HealScope::All, progress_within: None };
        sizes(&Plan { cluster: Some(cluster), ..plan(4) })
    };
    assert_eq!([None, Some(2), Some(4)].map(bounded), [vec![1, 2, 3], vec![2, 3], vec![]]);
}

#[test]
fn a_machine_that_is_named_stays() {
    for (text, expected) in
        [("n2:7000", vec![2]), ("--peer=N3", vec![]), ("n22 an3 n3-x", vec![1, 2]), ("n1", vec![1, 2])]
    {
        let mut plan = plan(3);
        plan.main.args.push(text.to_owned());
        assert_eq!(sizes(&plan), expected, "{text}");
    }
    let (mut plan, mut inputs) = (plan(3), Inputs::default());
    plan.main.stdin.bytes = inputs.add(b"peers:\n- n2\n".as_slice());
    assert_eq!(smaller_clusters(&plan, &inputs).len(), 1, "n3 alone is not named");
}

#[test]
fn faults_that_are_left_can_strike() {
    let nemesis =
        |word: &str| NEMESES[NemesisAction::ALL.iter().position(|action| action.word() == word).unwrap()].name;
    for (fault, expected) in [
        (fault("kill", "n2", None), vec![2, 3]),
        (fault("kill", "*", None), vec![1, 2, 3]),
        (fault("kill", "*4", None), vec![]),
        (fault("partition", "main->n3", None), vec![3]),
        (fault("partition", "*->main", None), vec![1, 2, 3]),
        (fault("io-error", "n2:/data/*", None), vec![2, 3]),
        (fault("io-error", "/n9/*", None), vec![1, 2, 3]),
        (fault(nemesis("kill"), "*", Some(&[])), vec![1, 2, 3]),
        (fault(nemesis("kill"), "n1, n3", Some(&[])), vec![3]),
        (fault(nemesis("loss"), "n1", Some(&[])), vec![2, 3]),
        (fault(nemesis("slow"), "n1", Some(&[])), vec![1, 2, 3]),
        (fault(nemesis("membership"), "n1", Some(&[])), vec![2, 3]),
        (fault(nemesis("membership"), "*", Some(&["one", "minority"])), vec![2, 3]),
        (fault(nemesis("membership"), "*", Some(&["majority"])), vec![3]),
        (fault(nemesis("membership"), "*", Some(&["some"])), vec![]),
        (fault(nemesis("membership"), "n1,n2", Some(&["one", "all"])), vec![3]),
        (fault(nemesis("partition"), "n1,n2", Some(&["one"])), vec![2, 3]),
        (fault(nemesis("partition"), "*", Some(&[])), vec![2, 3]),
        (fault(nemesis("partition"), "*", Some(&["halves", "bridge"])), vec![3]),
    ] {
        let name = format!("{} {}", fault.kind, fault.target);
        assert_eq!(sizes(&Plan { faults: vec![fault], ..plan(4) }), expected, "{name}");
    }
    // Where not all may be hit at once, some are left.
    let cluster = ClusterPlan { hit_max: Some(1), faults_until: None, heals: HealScope::All, progress_within: None };
    let faults = vec![fault(nemesis("membership"), "*", Some(&["some"]))];
    assert_eq!(sizes(&Plan { faults, cluster: Some(cluster), ..plan(4) }), [2, 3]);
}
