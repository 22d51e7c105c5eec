//! Nemeses on a cluster without programs: time goes from one of their moments to the next.

use super::*;
use crate::GuestExit;
use crate::decide::tests::SeededDecider;
use crate::fault::NEMESIS_PREFIX;
use fozzy_trace::Seed;
use fozzy_trace::plan::{
    AllowedEnd, ClusterPlan, FaultPlan, Inputs, MachinePlan, NemesisPlan, NodePlan, Plan, ProgramPlan,
};
use fozzy_trace::source::SeededSource;
use std::sync::Arc;

const SECOND: u64 = 1_000_000_000;

fn nemesis(word: &str, hits: &[&str]) -> FaultPlan {
    FaultPlan {
        kind: format!("{NEMESIS_PREFIX}{word}"),
        target: "*".to_owned(),
        rate_ppm: 1_000_000,
        start: Duration(0),
        length: None,
        strength: None,
        times: None,
        nemesis: Some(Box::new(NemesisPlan {
            interval: Duration(5 * SECOND),
            lasts: Some((Duration(SECOND), Duration(8 * SECOND))),
            hits: hits.iter().map(|&word| word.to_owned()).collect(),
            path: None,
        })),
    }
}

/// Chance by seed, but for where it is given before which call a program ends; and a history of calls.
struct LabDecider {
    seeded: SeededDecider,
    call: Option<u64>,
    calls: u64,
}

impl Decider for LabDecider {
    fn below(&mut self, question: Question<'_>, bound: u64) -> u64 {
        let answer = self.seeded.below(question, bound);
        self.call.filter(|_| question.site == "call").unwrap_or(answer)
    }

    fn calls(&self) -> u64 {
        self.calls
    }
}

/// A cluster of `nodes` machines, by seed.
struct Lab {
    world: World,
    decider: LabDecider,
}

impl Lab {
    fn new(nodes: u32, faults: Vec<FaultPlan>, cluster: Option<ClusterPlan>, seed: u64) -> Lab {
        let mut inputs = Inputs::default();
        let component = inputs.add(b"node".to_vec());
        let node = |number: u32| NodePlan {
            name: format!("n{number}"),
            program: ProgramPlan { component, machine: MachinePlan::default() },
            called: false,
            ends: Some(AllowedEnd::Never),
            restart: None,
            counted: None,
        };
        let nodes = (1..=nodes).map(node).collect();
        let plan = Plan { nodes, faults, cluster, edition: Edition::LATEST, ..Plan::default() };
        let mut world = World::new(Arc::new(plan), &inputs).expect("a plain plan");
        // A program has machines leave and join; it has not begun to.
        world.wanted_out(&[]);
        let seeded = SeededDecider(SeededSource::new(Seed(seed)));
        Lab { world, decider: LabDecider { seeded, call: None, calls: 0 } }
    }

    /// Lets time pass to the next moment of a nemesis, and says which.
    fn step(&mut self) -> Option<Instant> {
        let at = self.world.faults.next_nemesis_at()?;
        self.step_to(at);
        Some(at)
    }

    /// Lets time pass to a moment, and takes what comes until then.
    fn step_to(&mut self, at: Instant) {
        self.world.clock.advance_to(at);
        self.ask(0, |world, context| world.step_nemeses(context));
    }

    fn ask<R>(&mut self, node: u32, body: impl FnOnce(&mut World, &mut OpContext<'_>) -> R) -> R {
        let mut faults = std::mem::take(&mut self.world.faults);
        let (now, decider) = (self.world.clock.now(), &mut self.decider);
        let mut context = OpContext { now, node: NodeId(node), faults: &mut faults, decider };
        let result = body(&mut self.world, &mut context);
        self.world.faults = faults;
        result
    }

    /// A machine makes a call, and is asked about twice during it. How its program ends instead.
    fn call(&mut self, node: u32) -> Option<Doom> {
        let doom = self.ask(node, |world, context| {
            let doom = world.doom_before_call(context);
            doom.or_else(|| world.doom_before_call(context))
        });
        self.decider.calls += 1;
        doom
    }

    /// Lets time pass until a nemesis begins, and says when.
    fn step_to_begin(&mut self) -> Instant {
        loop {
            let at = self.step().expect("one begins in each interval");
            if !self.nemeses().active.is_empty() {
                return at;
            }
        }
    }

    fn nemeses(&self) -> &Nemeses {
        self.world.faults.nemeses.as_ref().expect("there are some")
    }

    fn strikes(&self) -> u64 {
        self.world.faults.injected().sum()
    }
}

/// One that is at work until the end.
fn active_nemesis(hits: BTreeSet<NodeId>, grudge: Grudge) -> ActiveNemesis {
    let (undo, calls) = (Vec::new(), Vec::new());
    let (until, halfway) = (Instant::NEVER, Instant::NEVER);
    ActiveNemesis { id: 1, rule: 0, hits, grudge, undo, until, halfway, calls, has_struck: true }
}

fn phases(hit_max: Option<u32>, until: Option<u64>, heals: HealScope) -> Option<ClusterPlan> {
    let faults_until = until.map(|seconds| Duration(seconds * SECOND));
    Some(ClusterPlan { hit_max, faults_until, heals, progress_within: None })
}

#[test]
fn every_kind_begins_and_ends() {
    for action in NemesisAction::ALL {
        let mut lab = Lab::new(5, vec![nemesis(action.word(), &[])], phases(None, Some(60), HealScope::All), 1);
        for number in 1..=5 {
            let disk = &mut lab.world.node_mut(NodeId(number)).disk;
            let root = disk.open_root(true);
            let create = crate::files::OpenFlags { create: true, ..Default::default() };
            let flags = crate::files::DescriptorFlags { write: true, ..Default::default() };
            let file = disk.open_at(&root, Default::default(), "log", create, flags, 0).expect("new");
            disk.write(&file, 0, &[b'x'; 2_000], 0).expect("room");
        }
        while lab.step().is_some_and(|at| at < Instant(60 * SECOND)) {}
        assert!(lab.strikes() > 2, "{}: {:?}", action.word(), lab.world.faults.report().rules);
        assert!(lab.nemeses().active.is_empty() && lab.nemeses().windows.is_empty(), "{}", action.word());
        for number in 1..=5 {
            let node = lab.world.node(NodeId(number));
            assert!(!node.stands_still() && node.doomed.is_none(), "{}: n{number}", action.word());
            assert_eq!(node.drift.wall_offset_ns, 0, "{}: n{number}", action.word());
        }
        assert_eq!(lab.nemeses().damaged.is_empty(), !action.is_of_files(), "{}", action.word());
        assert_eq!(lab.world.faults.next_nemesis_at(), None, "nothing comes after the faults have ended");
    }
}

/// How many of five machines are hit by a nemesis, or hear no majority of those that are not, as packets go.
fn hit_or_without_majority(mut nemeses: Nemeses, now: Instant) -> usize {
    let mut hit: BTreeSet<NodeId> = nemeses.active.iter().flat_map(|active| active.hits.iter().copied()).collect();
    hit.extend(&nemeses.damaged);
    let mut has_majority = |to: NodeId| {
        let mut hears = |from: NodeId| !hit.contains(&from) && !nemeses.harm(from, to, now).is_cut;
        (1..=5).map(NodeId).filter(|from| *from == to || hears(*from)).count() > 2
    };
    (1..=5).map(NodeId).filter(|node| hit.contains(node) || !has_majority(*node)).count()
}

/// The machines that are hit, as the module says it: all are looked at again until nothing changes.
fn hits_by_definition(nemeses: &Nemeses, gone: &BTreeSet<NodeId>) -> BTreeSet<NodeId> {
    let mut hits: BTreeSet<NodeId> = nemeses.active.iter().flat_map(|active| active.hits.iter().copied()).collect();
    hits.extend(nemeses.damaged.iter().chain(nemeses.absent.iter().flatten()));
    let parts: Vec<(&Grudge, &[NodeId])> =
        nemeses.active.iter().map(|active| (&active.grudge, &nemeses.rules[active.rule].nodes[..])).collect();
    let refuses =
        |to: NodeId, from: NodeId| parts.iter().any(|(grudge, _)| grudge.cuts(from.0 as usize, to.0 as usize));
    loop {
        let before = hits.len();
        for (_, among) in parts.iter().filter(|(grudge, _)| !grudge.0.is_empty()) {
            for node in among.iter().copied() {
                let is_away = |from: NodeId| hits.contains(&from) || gone.contains(&from);
                let hears = |from: NodeId| from == node || !is_away(from) && !refuses(node, from);
                let heard = among.iter().filter(|from| hears(**from)).count();
                if among.iter().any(|from| refuses(node, *from)) && heard <= among.len() / 2 {
                    hits.insert(node);
                }
            }
        }
        if hits.len() == before {
            return hits;
        }
    }
}

#[test]
fn who_is_hit_is_found_as_it_is_defined() {
    let mut parted = 0;
    for seed in 0..3 {
        let words = ["partition", "one-way", "kill", "pause", "membership"];
        let faults = words.iter().map(|word| nemesis(word, &[])).collect();
        let mut lab = Lab::new(9, faults, phases(None, Some(60), HealScope::All), seed);
        while lab.step().is_some() {
            let nemeses = lab.nemeses();
            for gone in [vec![], vec![3], vec![1, 2, 7]] {
                let gone: BTreeSet<NodeId> = gone.into_iter().map(NodeId).collect();
                assert_eq!(nemeses.hits(&gone), hits_by_definition(nemeses, &gone), "seed {seed}, without {gone:?}");
                // One after the other, as long as the bound is kept.
                let bounded =
                    Nemeses { cluster: phases(Some(4), None, HealScope::All).expect("phases"), ..nemeses.clone() };
                let mut expected = (Vec::new(), bounded.clone());
                for node in (1..=9).map(NodeId) {
                    let mut then = expected.1.clone();
                    then.damaged.insert(node);
                    if hits_by_definition(&expected.1, &gone).contains(&node) {
                        expected.0.push(node);
                    } else if hits_by_definition(&expected.1, &gone).len() < 4
                        && hits_by_definition(&then, &gone).len() <= 4
                    {
                        expected = ([expected.0, vec![node]].concat(), then);
                    }
                }
                assert_eq!(bounded.allowed((1..=9).map(NodeId).collect(), &gone), expected.0, "seed {seed}");
            }
            parted += usize::from(nemeses.active.iter().any(|active| !active.grudge.0.is_empty()));
        }
    }
    assert!(parted > 20, "partitions were at work");
}

#[test]
fn never_more_machines_are_hit_than_the_plan_allows() {
    let words = [
        "kill",
        "pause",
        "partition",
        "one-way",
        "membership",
        "clock-bump",
        "slow",
        "jam",
        "file-flip",
        "swizzle",
        "slow-node",
    ];
    for seed in 0..40 {
        let faults = words.iter().map(|word| nemesis(word, &[])).collect();
        let mut lab = Lab::new(5, faults, phases(Some(2), Some(100), HealScope::All), seed);
        let mut most = 0;
        while let Some(at) = lab.step() {
            let hits = lab.nemeses().hits(&BTreeSet::new()).len();
            most = most.max(hits);
            assert!(hits <= 2, "seed {seed}: {hits} machines are hit");
            let lost = hit_or_without_majority(lab.nemeses().clone(), at);
            assert!(lost <= 2, "seed {seed}: {lost} machines are hit, or hear no majority of those that are not");
        }
        assert_eq!(most, 2, "seed {seed}: the bound is reached");
    }
}

#[test]
fn partitions_count_together_and_who_is_hit_is_not_heard() {
    let faults = vec![nemesis("partition", &[]), nemesis("one-way", &[])];
    let lab = Lab::new(5, faults, phases(Some(2), None, HealScope::All), 1);
    let ids = |numbers: &[u32]| -> BTreeSet<NodeId> { numbers.iter().copied().map(NodeId).collect() };
    let (none, among) = (BTreeSet::new(), lab.nemeses().nodes.clone());
    let parted = |first: &[usize], others: &[usize], hits: &[u32]| {
        let mut grudge = Grudge::default();
        grudge.refuse(first, others);
        grudge.refuse(others, first);
        let mut nemeses = lab.nemeses().clone();
        nemeses.active.push(active_nemesis(ids(hits), grudge));
        nemeses
    };

    // Each hears a majority, but not of those that it hears behind the partition.
    let mut ring = Grudge::default();
    for (to, from) in [(2, [4, 5]), (3, [1, 4]), (5, [1, 2])] {
        ring.refuse(&[to], &from);
    }
    let ring = PartitionCut { grudge: &ring, among: &among };
    assert!(lab.nemeses().allows(ring, &none));
    assert!(!parted(&[1, 4], &[2, 3, 5], &[1, 4]).allows(ring, &none));

    // The bridge is needed while it is one, and whoever else is gone leaves the others a majority.
    let bridge = parted(&[1, 2], &[4, 5], &[]);
    let drawn = || [3, 1, 2].map(NodeId).to_vec();
    assert_eq!(bridge.hits(&none), none);
    assert_eq!(bridge.hits(&ids(&[3])), ids(&[1, 2, 4, 5]), "its program is gone");
    assert_eq!(bridge.allowed(drawn(), &none), [1, 2].map(NodeId));
    assert_eq!(lab.nemeses().allowed(drawn(), &none), [3, 1].map(NodeId));

    let early = |nemeses: Nemeses| Nemeses { edition: Edition::SEVENTH, ..nemeses };
    assert!(early(parted(&[1, 4], &[2, 3, 5], &[1, 4])).allows(ring, &none), "as runs before were recorded");
    assert_eq!(early(bridge).allowed(drawn(), &none), [3, 1].map(NodeId));

    // Without a partition only those count that are hit, even where too few are left.
    let most = Lab::new(5, vec![nemesis("kill", &[])], phases(Some(3), None, HealScope::All), 1);
    assert_eq!(most.nemeses().allowed(drawn(), &none), drawn());
}

#[test]
fn what_is_about_links_touches_one_when_it_strikes() {
    let run =
        |nodes: u32, fault: FaultPlan| Lab::new(nodes, vec![fault], phases(Some(1), Some(200), HealScope::All), 1);
    let is_struck = |lab: &Lab, from: u32, to: u32, at: Instant| {
        let mut nemeses = lab.nemeses().clone();
        nemeses.windows.clear();
        let calm = nemeses.harm(NodeId(from), NodeId(to), at);
        lab.nemeses().clone().harm(NodeId(from), NodeId(to), at) != calm
    };
    for word in ["delay", "loss", "duplicate", "reorder"] {
        let mut lab = run(3, FaultPlan { target: "n1".to_owned(), ..nemesis(word, &[]) });
        let mut at = Instant::START;
        while lab.nemeses().active.is_empty() {
            at = lab.step().expect("it strikes in each interval");
        }
        for (from, to, expected) in [(1, 2, true), (3, 1, true), (2, 3, false), (0, 1, false)] {
            assert_eq!(is_struck(&lab, from, to, at), expected, "{word}: n{from} to n{to}");
        }
        assert_eq!(lab.nemeses().hits(&BTreeSet::new()), BTreeSet::from([NodeId(1)]), "{word}");
    }

    // One pair in two is clogged, and here is one.
    let mut lab = run(2, nemesis("clog", &["one"]));
    while let Some(at) = lab.step() {
        let is_clogged = is_struck(&lab, 1, 2, at) || is_struck(&lab, 2, 1, at);
        assert_eq!(is_clogged, !lab.nemeses().active.is_empty(), "at {at}");
    }
    let chances = lab.world.faults.report().rules[0].chances;
    assert!(lab.strikes() > 2 && lab.strikes() < chances, "{} of {chances}", lab.strikes());

    for action in NemesisAction::ALL {
        let mut plan = Plan { faults: vec![nemesis(action.word(), &[])], ..Plan::default() };
        plan.renew_edition();
        assert_eq!(plan.edition, Edition::TENTH, "{}", action.word());
        if action.is_between_machines() {
            let mut lab = run(1, plan.faults.remove(0));
            while lab.step().is_some() {}
            assert_eq!(lab.strikes(), 0, "{}", action.word());
        }
    }
    // As runs before were recorded.
    let mut lab = run(1, nemesis("loss", &[]));
    lab.world.faults.nemeses.as_mut().expect("there is one").edition = Edition::SEVENTH;
    while lab.step().is_some() {}
    assert!(lab.strikes() > 2, "{} strikes", lab.strikes());
}

#[test]
fn a_machine_counts_until_it_is_a_member_again() {
    let faults = vec![nemesis("membership", &["one"]), nemesis("kill", &["one"])];
    let mut lab = Lab::new(3, faults, phases(Some(1), None, HealScope::All), 1);
    let mut out = Vec::new();
    while out.is_empty() {
        lab.step();
        out = lab.world.wanted_out(&[]).expect("the plan has such a nemesis");
    }
    // It leaves, and does not come back: no other one is hit, by any nemesis.
    let mut is_over = false;
    for _ in 0..100 {
        let wanted = lab.world.wanted_out(&out).expect("as before");
        assert!(wanted.is_empty() || wanted == out, "{wanted:?} is not {out:?}");
        is_over |= wanted.is_empty();
        assert_eq!(lab.nemeses().hits(&BTreeSet::new()).len(), 1);
        lab.step();
    }
    assert!(is_over, "the strike ends");
    let mut hit: BTreeSet<String> = BTreeSet::new();
    for _ in 0..100 {
        hit.extend(lab.world.wanted_out(&[]).expect("as before"));
        lab.step();
    }
    assert!(hit.len() > 1, "{hit:?}");

    // Where nobody asks, it has no chance, and where the plan has no such nemesis, nobody is to leave.
    let mut lab = Lab::new(3, vec![nemesis("membership", &[])], None, 1);
    lab.world.faults.nemeses.as_mut().expect("there is one").absent = None;
    while lab.step().is_some_and(|at| at < Instant(60 * SECOND)) {}
    assert_eq!((lab.strikes(), lab.world.faults.report().rules[0].asked), (0, 0));
    assert_eq!(Lab::new(3, vec![nemesis("kill", &[])], None, 1).world.wanted_out(&[]), None);

    // A majority is healed, and joins; what was out of the others stays so.
    let faults = vec![nemesis("membership", &["some"])];
    let mut lab = Lab::new(5, faults, phases(None, Some(40), HealScope::Majority), 1);
    let all: Vec<String> = (1..=5).map(|number| format!("n{number}")).collect();
    lab.world.wanted_out(&all);
    while lab.step().is_some() {}
    assert_eq!(lab.world.wanted_out(&all).expect("the plan has such a nemesis").len(), 2);
}

#[test]
fn a_majority_heals_and_the_others_stay_hit() {
    let mut partly = 0;
    for seed in 0..30 {
        let faults = vec![nemesis("kill", &["all"]), nemesis("partition", &["halves"])];
        let mut lab = Lab::new(5, faults, phases(None, Some(40), HealScope::Majority), seed);
        while lab.step().is_some() {}
        let now = Instant(50 * SECOND);
        let mut nemeses = lab.nemeses().clone();
        let (mut down, mut cut) = (0, 0);
        for one in 1..=5 {
            down += u32::from(nemeses.is_down(NodeId(one)));
            let heard = (1..=5).filter(|from| *from == one || !nemeses.harm(NodeId(*from), NodeId(one), now).is_cut);
            cut += u32::from(heard.count() < 3);
        }
        assert!(down <= 2 && cut <= 2, "seed {seed}: {down} are down, {cut} hear no majority");
        partly += u32::from(down > 0 || cut > 0);
    }
    assert!(partly > 10, "in {partly} of 30 runs something lasts");
}

#[test]
fn a_slow_machine_stands_still_for_its_share_of_the_time() {
    let slow = FaultPlan { strength: Some(750_000), ..nemesis("slow-node", &["all"]) };
    let lasting = |seconds: u64| {
        let lasts = Some((Duration(seconds * SECOND), Duration(seconds * SECOND)));
        let plan = NemesisPlan { lasts, ..(**slow.nemesis.as_ref().expect("set")).clone() };
        FaultPlan { nemesis: Some(Box::new(plan)), ..slow.clone() }
    };
    // The other one lasts for weeks.
    for (slow, until, halt_max) in [(slow.clone(), 60, SECOND / 5), (lasting(9_000_000), 9_000_100, u64::MAX)] {
        let mut lab = Lab::new(3, vec![slow], phases(None, Some(until), HealScope::All), 1);
        lab.world.obey(NodeId(2), MachineOrder::Pause);
        let (mut now, mut of_strikes, mut still) = (Instant::START, 0, 0);
        loop {
            let (is_struck, is_halted) = (!lab.nemeses().active.is_empty(), lab.world.node(NodeId(1)).is_halted);
            let Some(at) = lab.step() else { break };
            let span = at.since(now).0;
            of_strikes += if is_struck { span } else { 0 };
            if is_halted {
                assert!(span < halt_max, "{span} ns at {now}");
                still += span;
            }
            now = at;
        }
        let expected = of_strikes * 3 / 4;
        assert!(of_strikes > 10 * SECOND, "{of_strikes} ns");
        assert!((expected - SECOND / 100_000..=expected).contains(&still), "{still} of {of_strikes} ns");
        assert!(lab.world.node(NodeId(2)).is_paused, "it is another order that lets it go on");
    }
    // Those that are left unhealed do not get faster.
    let mut lab = Lab::new(5, vec![lasting(100)], phases(None, Some(40), HealScope::Majority), 1);
    while lab.step().is_some() {}
    let halted = (1..=5).filter(|number| lab.world.node(NodeId(*number)).is_halted);
    assert_eq!(halted.count(), 2);
}

#[test]
fn a_chance_left_out_shifts_no_other() {
    let run = |word: &str, skip: Option<u32>| {
        struct Skipping(LabDecider, Option<u32>, u32);
        impl Decider for Skipping {
            fn below(&mut self, question: Question<'_>, bound: u64) -> u64 {
                let answer = self.0.below(question, bound);
                if ["nemesis-kill", "nemesis-membership"].contains(&question.site) {
                    self.2 += 1;
                    if Some(self.2 - 1) == self.1 {
                        return 0;
                    }
                }
                answer
            }
        }
        let fault = FaultPlan { rate_ppm: 900_000, ..nemesis(word, &["one"]) };
        let short =
            NemesisPlan { lasts: Some((Duration(1), Duration(1))), ..(**fault.nemesis.as_ref().expect("set")).clone() };
        let fault = FaultPlan { nemesis: Some(Box::new(short)), ..fault };
        let Lab { mut world, decider } = Lab::new(5, vec![fault], phases(None, Some(60), HealScope::All), 9);
        let mut decider = Skipping(decider, skip, 0);
        while let Some(at) = world.faults.next_nemesis_at() {
            world.clock.advance_to(at);
            let mut faults = std::mem::take(&mut world.faults);
            let mut context = OpContext { now: at, node: NodeId(0), faults: &mut faults, decider: &mut decider };
            world.step_nemeses(&mut context);
            world.faults = faults;
        }
        // A strike that is left out has no end, and those that are not have theirs.
        assert!(world.wanted_out(&[]).unwrap_or_default().is_empty(), "{word}");
        let report = world.faults.report();
        report.rules[0].first.iter().map(|strike| format!("{} {}", strike.at, strike.target)).collect::<Vec<_>>()
    };
    for word in ["kill", "membership"] {
        let all = run(word, None);
        assert!(all.len() > 5, "{word}: {all:?}");
        let mut left_out = 0;
        for chance in 2..6 {
            let mut expected = all.clone();
            let without = run(word, Some(chance));
            expected.retain(|strike| without.contains(strike));
            assert_eq!(without, expected, "{word} without chance {chance}");
            // A chance in ten does not strike anyway.
            assert!(all.len() - without.len() <= 1, "{word} without chance {chance}: {without:?}");
            left_out += all.len() - without.len();
        }
        assert!(left_out > 2, "{word}: {left_out}");
    }
}

#[test]
fn a_plan_that_no_plan_file_can_be_is_borne() {
    let odd: [(&[&str], (u64, u64)); 5] = [
        (&["halves"], (1, 2)),
        (&["nobody"], (1, 2)),
        (&["one"], (2, 1)),
        (&["one"], (0, u64::MAX)),
        (&["one"], (0, 0)),
    ];
    for (hits, (least, most)) in odd {
        for kind in ["kill", "partition", "membership", "swizzle", "slow-node"] {
            let fault = nemesis(kind, hits);
            let lasts = Some((Duration(least), Duration(most)));
            let plan = NemesisPlan { lasts, ..(**fault.nemesis.as_ref().expect("set")).clone() };
            let fault = FaultPlan { nemesis: Some(Box::new(plan)), ..fault };
            let mut lab = Lab::new(3, vec![fault], phases(None, Some(40), HealScope::All), 1);
            while lab.step().is_some() {}
            assert!(lab.nemeses().active.is_empty(), "{kind} {hits:?}");
        }
    }
}

#[test]
fn lengths_are_made_of_timers_that_nodes_set() {
    let mut lab = Lab::new(3, vec![nemesis("pause", &["one"])], None, 3);
    let mut nemeses = lab.nemeses().clone();
    for ms in [300, 0, 150, 10_000_000] {
        nemeses.note_timer(NodeId(1), Duration::from_millis(ms));
    }
    nemeses.note_timer(NodeId(0), Duration::from_millis(77));
    assert_eq!(
        nemeses.timers,
        [300, 150].map(Duration::from_millis),
        "the client's are none, nor what is too short or long"
    );
    for rule in &mut nemeses.rules {
        rule.plan.lasts = None;
    }
    let rule = nemeses.rules[0].clone();
    let lengths: BTreeSet<u64> = (0..400)
        .map(|slot| {
            let mut chance = Chance { part: rule.part(slot, true), decider: &mut lab.decider };
            nemeses.length(&rule, Instant::START, &mut |site, bound| chance.below(site, bound)).0 / 1_000
        })
        .collect();
    for expected in [150_000, 281_250, 318_750, 600_000, 75_000, 140_625, 159_375, 10_000_000] {
        assert!(lengths.contains(&expected), "{expected} us is none of {lengths:?}");
    }
}

#[test]
fn overlaps_count_pairs_and_operations() {
    let faults = vec![nemesis("pause", &["one"]), nemesis("delay", &[])];
    let mut lab = Lab::new(3, faults, None, 5);
    for _ in 0..40 {
        lab.step();
        lab.world.faults.note_operation("put x");
    }
    let overlaps = lab.world.faults.report().overlaps;
    assert!(overlaps.pairs[&(0, 1)] > 0 && overlaps.nemeses == [0, 1], "{overlaps:?}");
    assert!(overlaps.operations[&("put".to_owned(), 0)] > 0, "{overlaps:?}");
}

#[test]
fn the_busiest_node_leads() {
    let lab = Lab::new(3, vec![nemesis("partition", &["primaries"])], None, 5);
    let mut nemeses = lab.nemeses().clone();
    let nodes = nemeses.nodes.clone();
    assert_eq!(nemeses.primary(&nodes), None);
    for to in [1, 3, 1, 3] {
        nemeses.harm(NodeId(2), NodeId(to), Instant::START);
    }
    nemeses.harm(NodeId(1), NodeId(2), Instant::START);
    nemeses.harm(NodeId(0), NodeId(1), Instant::START);
    assert_eq!(nemeses.primary(&nodes).map(|place| nodes[place]), Some(NodeId(2)));
}

#[test]
fn what_is_over_before_any_machine_goes_on_has_not_struck() {
    for (edition, expected) in [(Edition::EIGHTH, 20..=200), (Edition::NINTH, 0..=1)] {
        let mut lab = Lab::new(3, vec![nemesis("pause", &["one"])], phases(None, None, HealScope::All), 1);
        lab.world.faults.nemeses.as_mut().expect("there is one").edition = edition;
        // As after a long call of one machine, in which time goes on for all.
        lab.step_to(Instant(200 * SECOND));
        assert!(expected.contains(&lab.strikes()), "{} strikes in {edition:?}", lab.strikes());
    }
    // Nor does it give orders, such as to a machine that stands still to go on.
    for (edition, expected) in [(Edition::NINTH, false), (Edition::TENTH, true)] {
        let slow = FaultPlan { length: Some(Duration(100 * SECOND)), ..nemesis("slow-node", &["all"]) };
        let mut lab = Lab::new(3, vec![slow], None, 1);
        lab.world.faults.nemeses.as_mut().expect("there is one").edition = edition;
        lab.world.obey(NodeId(1), MachineOrder::Halt);
        lab.step_to(Instant(200 * SECOND));
        assert_eq!((lab.strikes(), lab.world.node(NodeId(1)).is_halted), (0, expected), "{edition:?}");
    }
}

/// A nemesis of four seconds on machines of these names, whose programs end before calls by the answer.
fn ended_before_calls(word: &str, target: &str, answer: u64) -> Lab {
    let fault = nemesis(word, &["all"]);
    let lasts = Some((Duration(4 * SECOND), Duration(4 * SECOND)));
    let plan = NemesisPlan { lasts, ..(**fault.nemesis.as_ref().expect("set")).clone() };
    let fault = FaultPlan { target: target.to_owned(), nemesis: Some(Box::new(plan)), ..fault };
    let mut lab = Lab::new(3, vec![fault], phases(None, Some(200), HealScope::All), 1);
    lab.decider.call = Some(answer);
    lab
}

/// The answer that stands for a call.
fn answer_of(nth: u32) -> u64 {
    CALLS.iter().position(|call| *call == nth).expect("it is on the menu") as u64
}

#[test]
fn a_program_ends_before_the_drawn_one_of_its_calls() {
    for (word, expected) in [("kill", Doom::Killed), ("power-loss", Doom::PowerLoss)] {
        let mut lab = ended_before_calls(word, "n1", answer_of(3));
        let begin = lab.step_to_begin();
        assert_eq!((lab.strikes(), lab.world.node(NodeId(1)).doomed), (0, None), "{word}: it only waits");
        assert!(lab.world.faults.strikes_machines() && lab.nemeses().is_down(NodeId(1)));
        assert_eq!(lab.nemeses().hits(&BTreeSet::new()), BTreeSet::from([NodeId(1)]), "it counts already");
        let at = begin.after(Duration(SECOND / 2));
        lab.world.clock.advance_to(at);
        // Calls of other machines are none of its own.
        let calls = [(1, None), (2, None), (2, None), (1, None), (3, None), (1, Some(expected)), (1, None)];
        for (node, doom) in calls {
            assert_eq!(lab.call(node), doom, "{word}: n{node}");
        }
        assert!(!lab.world.faults.strikes_machines(), "nothing is asked any more");
        let report = lab.world.faults.report();
        let strike = &report.rules[0].first[0];
        assert_eq!((strike.at, strike.call, &*strike.machine, &*strike.target), (at, 5, "n1", "n1 for 3.5s"));
        // Nothing more comes halfway, and the end starts it again.
        while !lab.nemeses().active.is_empty() {
            assert_eq!(lab.world.node(NodeId(1)).doomed, None, "{word}: the host has ended it");
            lab.step();
        }
        assert_eq!((lab.strikes(), lab.world.clock.now()), (1, begin.after(Duration(4 * SECOND))));
    }
}

#[test]
fn a_program_that_makes_fewer_calls_ends_halfway() {
    let mut lab = ended_before_calls("kill", "*", answer_of(2));
    let begin = lab.step_to_begin();
    let halfway = begin.after(Duration(2 * SECOND));
    for node in [1, 2] {
        assert_eq!(lab.call(node), None);
    }
    lab.world.clock.advance_to(begin.after(Duration(SECOND)));
    assert_eq!(lab.call(2), Some(Doom::Killed));
    // From then on it comes when machines switch, and not before a call.
    lab.world.clock.advance_to(halfway);
    assert_eq!(lab.call(1), None);
    lab.step_to(halfway);
    assert_eq!(lab.strikes(), 1);
    let doomed = |lab: &Lab| [1, 2, 3].map(|node| lab.world.node(NodeId(node)).doomed);
    assert_eq!(doomed(&lab), [Some(Doom::Killed), None, Some(Doom::Killed)]);
    while !lab.nemeses().active.is_empty() {
        lab.step();
    }
    assert_eq!((lab.strikes(), doomed(&lab)), (1, [None; 3]), "one strike, whoever is struck when");
    assert_eq!(lab.world.faults.report().rules[0].first[0].target, "n1, n2, n3 for 3s");
}

#[test]
fn machines_that_lose_power_lose_it_at_one_moment() {
    let doomed = |lab: &Lab| [1, 2, 3].map(|node| lab.world.node(NodeId(node)).doomed);
    let call_twice = |lab: &mut Lab| [1, 2, 3, 1, 2, 3].into_iter().find(|node| lab.call(*node).is_some());
    let mut lab = ended_before_calls("power-loss", "*", answer_of(2));
    let begin = lab.step_to_begin();
    assert_eq!((lab.strikes(), doomed(&lab)), (0, [None; 3]));
    lab.world.clock.advance_to(begin.after(Duration(SECOND)));
    let struck = call_twice(&mut lab).expect("one of them is waited for");
    // The host ends the program of the one that makes the call.
    assert_eq!(doomed(&lab), [1, 2, 3].map(|node| (node != struck).then_some(Doom::PowerLoss)));
    assert_eq!((lab.strikes(), lab.world.faults.strikes_machines()), (1, false));
    assert_eq!(lab.world.faults.report().rules[0].first[0].target, "n1, n2, n3 for 3s");
    while !lab.nemeses().active.is_empty() {
        lab.step();
    }
    assert_eq!((lab.strikes(), doomed(&lab)), (1, [None; 3]));

    // Nor do those go on that have made none of the calls; who has ended by itself loses nothing.
    for (gone, others) in [(1, "n2, n3 for "), (2, "n1, n3 for "), (3, "n1, n2 for ")] {
        let mut lab = ended_before_calls("power-loss", "*", answer_of(2));
        let begin = lab.step_to_begin();
        lab.world.node_mut(NodeId(gone)).exit = Some(GuestExit::Code(0));
        let early = if gone == struck { None } else { call_twice(&mut lab) };
        assert_eq!((early.is_some(), lab.strikes() == 1), (gone != struck, gone != struck), "n{gone}");
        lab.step_to(begin.after(Duration(2 * SECOND)));
        let ended = doomed(&lab).into_iter().flatten().count() + usize::from(early.is_some());
        assert_eq!((lab.strikes(), ended), (1, 2), "n{gone}");
        let report = lab.world.faults.report();
        assert!(report.rules[0].first[0].target.starts_with(others), "{:?}", report.rules[0].first);
        assert!(!lab.nemeses().is_down(NodeId(gone)));
    }
}

#[test]
fn a_strike_that_comes_at_once_waits_for_no_call() {
    let mut ninth = ended_before_calls("kill", "n1", answer_of(3));
    ninth.world.faults.nemeses.as_mut().expect("there is one").edition = Edition::NINTH;
    for mut lab in [ended_before_calls("kill", "n1", 0), ninth] {
        lab.step_to_begin();
        assert_eq!((lab.strikes(), lab.world.node(NodeId(1)).doomed), (1, Some(Doom::Killed)));
        assert!(!lab.world.faults.strikes_machines() && lab.call(1).is_none());
    }
}

#[test]
fn a_strike_that_finds_nobody_any_more_has_not_struck() {
    let mut lab = ended_before_calls("kill", "n1,n2", answer_of(8));
    let begin = lab.step_to_begin();
    for node in [1, 2] {
        lab.world.node_mut(NodeId(node)).exit = Some(GuestExit::Code(0));
    }
    lab.step_to(begin.after(Duration(2 * SECOND)));
    assert!(lab.nemeses().active.is_empty() && !lab.world.faults.strikes_machines());
    assert_eq!((lab.strikes(), lab.world.node(NodeId(1)).doomed), (0, None));

    // One of two is there, and only that one is said to be struck.
    let mut lab = ended_before_calls("kill", "n1,n2", answer_of(8));
    let begin = lab.step_to_begin();
    lab.world.node_mut(NodeId(1)).exit = Some(GuestExit::Code(0));
    lab.step_to(begin.after(Duration(2 * SECOND)));
    assert_eq!(lab.world.faults.report().rules[0].first[0].target, "n2 for 2s");
    assert!(lab.nemeses().is_down(NodeId(2)) && !lab.nemeses().is_down(NodeId(1)));

    // Time goes on without any machine, to its end.
    let mut lab = ended_before_calls("kill", "n1", answer_of(8));
    let begin = lab.step_to_begin();
    lab.step_to(begin.after(Duration(4 * SECOND)));
    assert_eq!((lab.strikes(), lab.world.node(NodeId(1)).doomed), (0, None));
    assert!(!lab.nemeses().active.iter().any(|active| active.until <= lab.world.clock.now()));
}

#[test]
fn no_strike_waits_for_a_call_when_it_ends() {
    let (mut early, mut late) = (0, 0);
    for seed in 0..30 {
        let faults = ["kill", "power-loss", "pause"].iter().map(|word| nemesis(word, &[])).collect();
        let heals = if seed % 2 == 0 { HealScope::All } else { HealScope::Majority };
        let mut lab = Lab::new(5, faults, phases(Some(3), Some(60), heals), seed);
        let mut struck = lab.strikes();
        while let Some(at) = lab.step() {
            late += lab.strikes() - struck;
            assert!(lab.nemeses().hits(&BTreeSet::new()).len() <= 3, "seed {seed}");
            let waiting = lab.nemeses().active.iter().filter(|active| !active.calls.is_empty());
            assert!(waiting.clone().all(|active| at < active.halfway && active.halfway < active.until), "seed {seed}");
            assert_eq!(waiting.count() > 0, lab.world.faults.strikes_machines(), "seed {seed}");
            struck = lab.strikes();
            for node in 1..=5 {
                lab.call(node);
            }
            early += lab.strikes() - struck;
            struck = lab.strikes();
        }
        assert!(!lab.world.faults.strikes_machines(), "seed {seed}");
    }
    assert!(early > 20 && late > 20, "{early} and {late}");
}

#[test]
fn pairs_that_cannot_meet_are_known_and_never_meet() {
    let at = |word: &str, target: &str| FaultPlan { target: target.to_owned(), ..nemesis(word, &[]) };
    let cut = nemesis("partition", &[]);
    let cases = [
        (None, vec![at("kill", "n1"), at("power-loss", "n1")], true),
        (None, vec![at("kill", "n1"), at("power-loss", "n1,n2")], false),
        (Some(1), vec![at("kill", "*"), at("power-loss", "*")], true),
        (Some(2), vec![at("kill", "*"), at("power-loss", "*")], false),
        // Who is parted from a majority may be hit, too.
        (Some(1), vec![at("kill", "*"), at("power-loss", "*"), cut], false),
        (Some(1), vec![at("kill", "*"), at("power-loss", "*"), at("membership", "n1")], false),
        (Some(1), vec![at("pause", "n1"), at("clock-bump", "n2,n3")], true),
        (Some(1), vec![at("pause", "n1"), at("clock-bump", "n1,n2")], false),
        (Some(1), vec![at("pause", "n1"), at("delay", "n2,n3")], false),
        (Some(1), vec![at("pause", "n1"), at("kill", "n1")], false),
        (None, vec![at("file-flip", "*"), at("file-torn", "*")], true),
    ];
    for (number, (most, faults, expected)) in cases.into_iter().enumerate() {
        let mut times = 0;
        for seed in 0..40 {
            let mut lab = Lab::new(3, faults.clone(), phases(most, Some(200), HealScope::All), seed);
            while lab.step().is_some() {
                for node in 1..=3 {
                    lab.call(node);
                }
            }
            let overlaps = lab.world.faults.report().overlaps;
            assert_eq!(overlaps.apart.contains(&(0, 1)), expected, "case {number}");
            times += overlaps.pairs.get(&(0, 1)).copied().unwrap_or(0);
        }
        assert!(!expected || times == 0, "case {number}: they met {times} times");
        let are_one = faults.len() > 2;
        assert!(expected || are_one || times > 0, "case {number}: they never met");
    }
}
