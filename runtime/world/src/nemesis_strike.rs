//! Strikes of nemeses: whether one comes, whom it hits and how hard, and what it does to machines, links and files.
//!
//! ```text
//! chance ─▶ drawn: whom · how hard · how long ─▶ orders to machines, windows on links, damage of files ─▶ the end undoes them
//! ```
//!
//! Invariants: what is drawn has a stream of its own for each chance, and once more for each strike; what has struck nobody is not told,
//! and does not count.
//! Not here: what lasts and for how long (`fault/nemesis.rs`), programs that end before a call (`before_call.rs`).

mod before_call;

use crate::fault::{
    ActiveNemesis, CHANCES_MAX, CallOrder, LinkEffect, LinkSet, LinkWindow, NEMESES, Nemeses, NemesisAction,
    NemesisEvent, NemesisRule, PartitionCut,
};
use crate::machine_order::{Doom, FileDamage, MachineOrder};
use crate::{Decider, FaultStrike, OpContext, World};
use fozzy_trace::facts::StrikeRecord;
use fozzy_trace::nemesis::{
    CLOCK_DRIFTS_PPM, CLOCK_STEPS_NS, DELAYS_MS, Grudge, LOSSES_PERCENT, PartitionShape, SLOW_MS, shuffled,
};
use fozzy_trace::plan::{Edition, HealScope};
use fozzy_trace::{DecisionPart, Duration, Instant, NodeId, Purpose, Question};
use std::collections::BTreeSet;

/// Nanoseconds by which a strobing clock jumps.
const STROBES_NS: [u64; 4] = [4_000_000, 200_000_000, 10_000_000_000, 262_000_000_000];
/// Jumps of a strobing clock, at most: the longer it lasts, the longer are the stretches between them.
const STROBES_MAX: u64 = 64;
/// How long a slow machine stands still of each cycle, in millionths, when the plan says nothing.
const SLOW_NODE_PPM: u64 = 900_000;
/// The shortest cycle of a slow machine, which stands still and then runs: shorter than most timeouts.
const HALT_CYCLE_NS: u64 = 100_000_000;
/// Cycles of a slow machine, at most: the longer it lasts, the longer they are.
const HALTS_MAX: u64 = 256;
/// Nanoseconds that messages between clogged machines take.
const CLOGS_NS: [u64; 4] = [100_000_000, 1_000_000_000, 5_000_000_000, 20_000_000_000];

/// Before which of its next calls a program ends that a nemesis ends. Zero is at once, while the machine waits. To take a request, answer
/// it and write it down are a few calls.
const CALLS: [u32; 16] = [0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 13, 20, 32];

/// Draws for one chance.
struct Chance<'a> {
    part: DecisionPart,
    decider: &'a mut dyn Decider,
}

impl Chance<'_> {
    fn below(&mut self, site: &str, bound: u64) -> u64 {
        let question = Question { node: NodeId(0), purpose: Purpose::Nemesis(self.part), site };
        self.decider.below(question, bound)
    }

    fn one_of<T: Copy>(&mut self, site: &str, menu: &[T]) -> T {
        match menu {
            [only] => *only,
            _ => menu[self.below(site, menu.len() as u64) as usize],
        }
    }
}

impl World {
    /// Lets nemeses begin and end whose moment has come.
    pub fn step_nemeses(&mut self, context: &mut OpContext<'_>) {
        if context.faults.nemeses.as_ref().is_none_or(|nemeses| nemeses.next_at().is_none_or(|at| at > context.now)) {
            return;
        }
        let Some(nemeses) = context.faults.nemeses.take() else { return };
        let mut nemeses = nemeses.into_inner();
        while let Some((at, event)) = nemeses.take_due(context.now) {
            match event {
                NemesisEvent::Chance { rule, slot } => take_chance(&mut nemeses, (rule, slot), at, context),
                NemesisEvent::Begin { rule, slot } => self.begin_nemesis(&mut nemeses, (rule, slot), at, context),
                NemesisEvent::Order { node, order } => self.obey(node, order),
                NemesisEvent::Halfway { id } => self.pass_halfway(&mut nemeses, id, at, context),
                NemesisEvent::End { id } => {
                    let ended = nemeses.active.iter().position(|active| active.id == id);
                    let undo = ended.map(|place| nemeses.active.remove(place).undo);
                    nemeses.windows.retain(|window| window.until > at);
                    undo.into_iter().flatten().for_each(|(node, order)| self.obey(node, order));
                }
                NemesisEvent::Heal => self.heal(&mut nemeses, at, context),
            }
        }
        context.faults.nemeses = Some(fozzy_trace::CopyOnWrite::new(nemeses));
        context.faults.heed_call_orders();
    }

    /// Faults end: for all machines, or for a majority.
    fn heal(&mut self, nemeses: &mut Nemeses, at: Instant, context: &mut OpContext<'_>) {
        let healed: BTreeSet<NodeId> = match nemeses.cluster.heals {
            HealScope::All => nemeses.nodes.iter().copied().collect(),
            HealScope::Majority => {
                let mut chance = Chance { part: DecisionPart::WHOLE, decider: &mut *context.decider };
                let order = shuffled(nemeses.nodes.len(), &mut |site, bound| chance.below(site, bound));
                order.into_iter().take(nemeses.nodes.len() / 2 + 1).map(|place| nemeses.nodes[place]).collect()
            }
        };
        nemeses.events.clear();
        nemeses.left_out = nemeses.absent.iter().flatten().filter(|node| !healed.contains(node)).copied().collect();
        for active in std::mem::take(&mut nemeses.active) {
            let (now, later): (Vec<_>, Vec<_>) =
                active.undo.iter().cloned().partition(|(node, _)| healed.contains(node));
            now.into_iter().for_each(|(node, order)| self.obey(node, order));
            // Those that stay slow have nobody any more who lets them go on and stand still.
            let slow = later.iter().filter(|(_, order)| *order == MachineOrder::EndHalt);
            slow.for_each(|(node, _)| self.obey(*node, MachineOrder::Halt));
            let hits: BTreeSet<NodeId> = active.hits.difference(&healed).copied().collect();
            if !hits.is_empty() {
                nemeses.active.push(ActiveNemesis { hits, undo: later, ..active });
            }
        }
        let is_whole = healed.len() == nemeses.nodes.len();
        nemeses.windows.retain_mut(|window| !is_whole && window.until >= at && window.heal(&healed));
    }

    fn begin_nemesis(
        &mut self,
        nemeses: &mut Nemeses,
        (rule, slot): (usize, u32),
        at: Instant,
        context: &mut OpContext<'_>,
    ) {
        if nemeses.active.iter().any(|active| active.rule == rule) {
            return;
        }
        let rule_of = nemeses.rules[rule].clone();
        let mut chance = Chance { part: rule_of.part(slot, true), decider: &mut *context.decider };
        let Some(strike) = self.draw_strike(nemeses, &rule_of, at, &mut chance) else { return };
        // Time went on without any machine, as it does while a slow disk is waited for: nobody has seen what is over by now.
        if nemeses.edition >= Edition::NINTH && strike.until > at && strike.until <= context.now {
            return;
        }
        nemeses.next += 1;
        let id = nemeses.next;
        let NemesisStrike { until, hits, grudge, orders, calls, windows, words, strength } = strike;
        let mut undo = Vec::new();
        for (node, order, back) in orders {
            if calls.iter().all(|call| call.node != node) {
                self.obey(node, order);
            }
            undo.extend(back.map(|back| (node, back)));
        }
        nemeses.windows.extend(windows);
        let has_struck = calls.is_empty() || calls.len() < hits.len();
        let machine = hits.first().map(|node| self.node(*node).name.clone()).unwrap_or_default();
        if until > at {
            let halfway = halfway(at, until);
            if !calls.is_empty() {
                nemeses.put(halfway, NemesisEvent::Halfway { id });
            }
            nemeses.active.push(ActiveNemesis { id, rule, hits, grudge, undo, until, halfway, calls, has_struck });
            nemeses.put(until, NemesisEvent::End { id });
        }
        nemeses.sent.clear();
        if has_struck {
            tell_strike(nemeses, StrikeNotice { rule, at, until, machine, words, strength }, context);
        }
    }

    /// Draws what a nemesis does that begins; `None` when nobody may be hit.
    fn draw_strike(
        &mut self,
        nemeses: &mut Nemeses,
        rule: &NemesisRule,
        at: Instant,
        chance: &mut Chance<'_>,
    ) -> Option<NemesisStrike> {
        let action = rule.action;
        // Programs that are gone cannot be hit, but what is for all messages needs none, and a dead member can be removed.
        let gone = self.gone(nemeses);
        let is_of_any = action.has_shapes() || action.is_everywhere() || action == NemesisAction::Membership;
        let nodes: Vec<NodeId> = match is_of_any {
            true => rule.nodes.clone(),
            false => rule.nodes.iter().copied().filter(|node| !gone.contains(node)).collect(),
        };
        if nodes.is_empty() {
            return None;
        }
        let primaries: Vec<usize> = nemeses.primary(&nodes).into_iter().collect();
        if action.has_shapes() {
            return self.draw_partition(nemeses, rule, &nodes, &primaries, at, chance);
        }
        let targets: Vec<NodeId> = match action.is_everywhere() {
            true if nodes.len() > 1 || nemeses.edition < Edition::EIGHTH => nodes.clone(),
            // All links of one machine are about it, as if it were slow.
            true => nemeses.allowed(nodes.clone(), &gone),
            false => {
                let menu = rule.plan.targets();
                // No plan file has such a one, and the plan of a trace may be anybody's.
                if menu.is_empty() {
                    return None;
                }
                let targets = chance.one_of("targets", &menu);
                let drawn = targets.draw(nodes.len(), &primaries, &mut |site, bound| chance.below(site, bound));
                nemeses.allowed(drawn.into_iter().map(|place| nodes[place]).collect(), &gone)
            }
        };
        if targets.is_empty() {
            return None;
        }
        let set: BTreeSet<NodeId> = targets.iter().copied().collect();
        let strength_of = |menu: &[u64], chance: &mut Chance<'_>| match rule.fault.strength {
            Some(strength) => strength,
            None => chance.one_of("strength", menu),
        };
        let ms = |menu: &[u64]| -> Vec<u64> { menu.iter().map(|ms| ms * 1_000_000).collect() };
        let names = self.names_of(&targets);
        // A fault of links was one between a single machine and itself.
        let others: &[NodeId] = if nemeses.edition < Edition::EIGHTH { &targets } else { &nemeses.nodes };
        let mut strike = NemesisStrike { hits: set.clone(), words: names, ..NemesisStrike::none(at) };
        match action {
            NemesisAction::Partition | NemesisAction::OneWay => unreachable!("they have shapes"),
            NemesisAction::Kill | NemesisAction::PowerLoss => {
                let doom = if action == NemesisAction::Kill { Doom::Killed } else { Doom::PowerLoss };
                strike.order(&targets, MachineOrder::End(doom), Some(MachineOrder::Start));
            }
            NemesisAction::Pause => strike.order(&targets, MachineOrder::Pause, Some(MachineOrder::Resume)),
            NemesisAction::ClockBump => {
                let ns = match rule.fault.strength {
                    Some(ns) => {
                        i64::try_from(ns).unwrap_or(i64::MAX) * if chance.below("back", 2) == 0 { 1 } else { -1 }
                    }
                    None => chance.one_of("strength", &CLOCK_STEPS_NS),
                };
                strike.order(&targets, MachineOrder::StepClock(ns), Some(MachineOrder::StepClock(-ns)));
                (strike.strength, strike.words) = (ns.unsigned_abs(), signed(&strike.words, ns, "back"));
            }
            NemesisAction::ClockDrift => {
                let ppm = match rule.fault.strength {
                    Some(ppm) => {
                        let ppm = i64::try_from(ppm).unwrap_or(i64::MAX);
                        if chance.below("slow", 2) == 0 { ppm } else { -ppm.min(999_999) }
                    }
                    None => chance.one_of("strength", &CLOCK_DRIFTS_PPM),
                };
                strike.order(&targets, MachineOrder::DriftClock(ppm), Some(MachineOrder::DriftClock(0)));
                (strike.strength, strike.words) = (ppm.unsigned_abs(), signed(&strike.words, ppm, "slow"));
            }
            NemesisAction::ClockStrobe => strike.strength = strength_of(&STROBES_NS, chance),
            NemesisAction::Delay => {
                let ns = strength_of(&ms(&DELAYS_MS), chance);
                strike.everywhere(&targets, others, LinkEffect::Delay(Duration(ns)), ns);
            }
            NemesisAction::Loss => {
                let shares: Vec<u64> = LOSSES_PERCENT.iter().map(|share| share * 10_000).collect();
                let ppm = strength_of(&shares, chance).min(1_000_000);
                strike.everywhere(&targets, others, LinkEffect::Loss(ppm), ppm);
            }
            NemesisAction::Duplicate => strike.everywhere(&targets, others, LinkEffect::Duplicate, 0),
            NemesisAction::Reorder => strike.everywhere(&targets, others, LinkEffect::Reorder, 0),
            NemesisAction::Slow => {
                let ns = strength_of(&ms(&[SLOW_MS]), chance);
                strike.strength = ns;
                strike.window(LinkSet::Touching(set), LinkEffect::Slow(Duration(ns)));
            }
            NemesisAction::SlowNode => {
                strike.strength = strength_of(&[SLOW_NODE_PPM], chance).min(1_000_000);
                strike.order(&targets, MachineOrder::Halt, Some(MachineOrder::EndHalt));
            }
            NemesisAction::Jam => {
                strike.window(LinkSet::Into(set, nemeses.nodes.iter().copied().collect()), LinkEffect::Hold);
            }
            NemesisAction::Clog => {
                let mut grudge = Grudge::default();
                let others = &nemeses.nodes;
                for node in &targets {
                    for other in others.iter().filter(|other| *other != node) {
                        if chance.below("clogged", 2) == 1 {
                            grudge.refuse(&[other.0 as usize], &[node.0 as usize]);
                        }
                    }
                }
                let ns = strength_of(&CLOGS_NS, chance);
                strike.strength = ns;
                strike.window(LinkSet::Grudge(grudge), LinkEffect::Slow(Duration(ns)));
            }
            NemesisAction::Swizzle | NemesisAction::Membership => {}
            action => {
                debug_assert!(action.is_of_files(), "all others stand above");
                return self.draw_damage(nemeses, rule, targets[0], strike, chance);
            }
        }
        strike.until = nemeses.length(rule, at, &mut |site, bound| chance.below(site, bound));
        // What is over before any machine goes on gives no orders either.
        let is_missed = nemeses.edition >= Edition::TENTH && strike.until <= self.clock.now();
        if strike.until <= at || is_missed {
            return None;
        }
        match action {
            NemesisAction::Kill if nemeses.edition >= Edition::TENTH => strike.draw_calls(at, Doom::Killed, chance),
            NemesisAction::PowerLoss if nemeses.edition >= Edition::TENTH => {
                strike.draw_calls(at, Doom::PowerLoss, chance);
            }
            NemesisAction::ClockStrobe => {
                let length = strike.until.since(at).0;
                let (ns, times) = (i64::try_from(strike.strength).unwrap_or(i64::MAX), STROBES_MAX.min(length.max(1)));
                let times = times - times % 2;
                for time in 0..times {
                    let moment = at.after(Duration(length / times.max(1) * time));
                    let order = MachineOrder::StepClock(if time % 2 == 0 { ns } else { -ns });
                    for node in &targets {
                        nemeses.put(moment, NemesisEvent::Order { node: *node, order });
                    }
                }
            }
            NemesisAction::SlowNode => {
                let length = strike.until.since(at).0;
                let cycles = (length / HALT_CYCLE_NS).clamp(1, HALTS_MAX);
                let cycle = length / cycles;
                let share = |ns: u64| ns / 1_000_000 * strike.strength + ns % 1_000_000 * strike.strength / 1_000_000;
                let still = Duration(share(cycle));
                for number in 0..cycles {
                    let from = at.after(Duration(cycle * number));
                    for node in &targets {
                        // The first one begins with the strike.
                        if number > 0 {
                            nemeses.put(from, NemesisEvent::Order { node: *node, order: MachineOrder::Halt });
                        }
                        nemeses
                            .put(from.after(still), NemesisEvent::Order { node: *node, order: MachineOrder::EndHalt });
                    }
                }
            }
            NemesisAction::Swizzle => {
                // Each is cut off a little later than the one before; they come back in another order.
                let step = strike.until.since(at).0 / (2 * targets.len() as u64).max(1);
                let back = shuffled(targets.len(), &mut |site, bound| chance.below(site, bound));
                for (place, node) in targets.iter().enumerate() {
                    let from = at.after(Duration(step * place as u64));
                    let until = at.after(Duration(step * (targets.len() + back[place] + 1) as u64)).min(strike.until);
                    let links = LinkSet::Around(*node, nemeses.nodes.iter().copied().collect());
                    strike.windows.push(LinkWindow::new(from, until, links, LinkEffect::Cut));
                }
            }
            _ => {}
        }
        // Such as one that has clogged no pair: what changes nothing has not struck.
        let is_of_links = nemeses.edition >= Edition::EIGHTH && !strike.windows.is_empty();
        if is_of_links && strike.windows.iter().all(LinkWindow::is_empty) {
            return None;
        }
        for window in strike.windows.iter_mut().filter(|window| window.until == Instant::NEVER) {
            window.until = strike.until;
        }
        Some(strike)
    }

    /// Machines whose programs are gone, by a nemesis or otherwise.
    fn gone(&self, nemeses: &Nemeses) -> BTreeSet<NodeId> {
        let is_gone = |node: &NodeId| {
            let machine = self.node(*node);
            machine.exit.is_some() || machine.doomed.is_some() || nemeses.is_down(*node)
        };
        nemeses.nodes.iter().copied().filter(is_gone).collect()
    }

    fn draw_partition(
        &self,
        nemeses: &Nemeses,
        rule: &NemesisRule,
        nodes: &[NodeId],
        primaries: &[usize],
        at: Instant,
        chance: &mut Chance<'_>,
    ) -> Option<NemesisStrike> {
        let numbers: Vec<usize> = nodes.iter().map(|node| node.0 as usize).collect();
        let lead: Vec<usize> = primaries.iter().map(|place| numbers[*place]).collect();
        let is_possible = |shape: &PartitionShape| {
            nodes.len() >= shape.nodes_min() && (*shape != PartitionShape::Primaries || !lead.is_empty())
        };
        let shapes: Vec<PartitionShape> = rule.plan.shapes().into_iter().filter(is_possible).collect();
        if shapes.is_empty() {
            return None;
        }
        let order = shuffled(nodes.len(), &mut |site, bound| chance.below(site, bound));
        let order: Vec<usize> = order.into_iter().map(|place| numbers[place]).collect();
        let ids = |hits: BTreeSet<usize>| -> BTreeSet<NodeId> { hits.into_iter().map(|n| NodeId(n as u32)).collect() };
        let grudge_of = |shape: &PartitionShape| shape.grudge(&order, &lead);
        let gone = self.gone(nemeses);
        let fits =
            |shape: &PartitionShape| nemeses.allows(PartitionCut { grudge: &grudge_of(shape), among: nodes }, &gone);
        let shapes: Vec<PartitionShape> = shapes.into_iter().filter(fits).collect();
        if shapes.is_empty() {
            return None;
        }
        let shape = chance.one_of("shape", &shapes);
        let mut grudge = grudge_of(&shape);
        let hits = ids(grudge.without_majority(&order));
        let both = grudge.clone();
        if rule.action == NemesisAction::OneWay {
            let is_deaf = chance.below("direction", 2) == 0;
            grudge = grudge.one_way(order[0], is_deaf);
        }
        let until = nemeses.length(rule, at, &mut |site, bound| chance.below(site, bound));
        if until <= at || grudge.0.is_empty() {
            return None;
        }
        let words = grudge.words(&|node| self.node(NodeId(node as u32)).name.clone());
        let mut strike = NemesisStrike { until, hits, grudge: both, words, ..NemesisStrike::none(at) };
        strike.windows.push(LinkWindow::new(at, until, LinkSet::Grudge(grudge), LinkEffect::Cut));
        Some(strike)
    }

    fn draw_damage(
        &mut self,
        nemeses: &mut Nemeses,
        rule: &NemesisRule,
        node: NodeId,
        strike: NemesisStrike,
        chance: &mut Chance<'_>,
    ) -> Option<NemesisStrike> {
        let pattern = rule.plan.path.as_deref().unwrap_or("*");
        let mut below = |site: &str, bound: u64| chance.below(site, bound);
        let machine = self.node_mut(node);
        let damage = FileDamage::of(rule.action.word())?;
        let words = format!("{}:{}", machine.name, machine.disk.damage_file(damage, pattern, &mut below)?);
        nemeses.damaged.insert(node);
        Some(NemesisStrike { words, hits: BTreeSet::from([node]), ..strike })
    }

    /// The program that has machines leave and join says which are no members, or perhaps not, and learns which are not to be; `None`
    /// without such a nemesis. Names of other machines say nothing.
    pub fn wanted_out(&mut self, out: &[String]) -> Option<Vec<String>> {
        let nemeses = self.faults.nemeses.as_ref().filter(|nemeses| nemeses.changes_members())?;
        let is_out = |node: &NodeId| out.contains(&self.node(*node).name);
        let absent: BTreeSet<NodeId> = nemeses.nodes.iter().copied().filter(is_out).collect();
        let wanted = nemeses.wanted_out().into_iter().map(|node| self.node(node).name.clone()).collect();
        if nemeses.absent.as_ref() != Some(&absent)
            && let Some(nemeses) = &mut self.faults.nemeses
        {
            nemeses.absent = Some(absent);
        }
        Some(wanted)
    }

    fn names_of(&self, nodes: &[NodeId]) -> String {
        let mut nodes = nodes.to_vec();
        nodes.sort_unstable();
        nodes.iter().map(|node| self.node(*node).name.as_str()).collect::<Vec<_>>().join(", ")
    }
}

/// What a nemesis does that begins.
struct NemesisStrike {
    /// When it ends; at once, if it only damages.
    until: Instant,
    hits: BTreeSet<NodeId>,
    /// Whom a partition parts, in both directions.
    grudge: Grudge,
    /// What becomes of machines, and what ends that.
    orders: Vec<(NodeId, MachineOrder, Option<MachineOrder>)>,
    /// Machines whose programs end before a call, of their own or of another one, instead of at once.
    calls: Vec<CallOrder>,
    windows: Vec<LinkWindow>,
    words: String,
    strength: u64,
}

impl NemesisStrike {
    fn none(at: Instant) -> NemesisStrike {
        let (orders, calls, windows, words) = (Vec::new(), Vec::new(), Vec::new(), String::new());
        NemesisStrike {
            until: at,
            hits: BTreeSet::new(),
            grudge: Grudge::default(),
            orders,
            calls,
            windows,
            words,
            strength: 0,
        }
    }

    /// Draws before which of its next calls a program ends: when it is killed for each machine, in the order of their numbers; when power
    /// is lost for one of them, as all lose it then. A nemesis that is too short for that ends programs at once.
    fn draw_calls(&mut self, at: Instant, doom: Doom, chance: &mut Chance<'_>) {
        if halfway(at, self.until) <= at {
            return;
        }
        // They are in order, and each stands there once.
        let nodes: Vec<NodeId> = self.hits.iter().copied().collect();
        match doom {
            Doom::Killed => {
                for node in nodes {
                    let nth = chance.one_of("call", &CALLS);
                    if nth > 0 {
                        self.calls.push(CallOrder::new(node, doom, Some(nth)));
                    }
                }
            }
            Doom::PowerLoss => {
                let nth = chance.one_of("call", &CALLS);
                if nth > 0 {
                    let first = chance.one_of("whose call", &nodes);
                    let order = |node: NodeId| CallOrder::new(node, doom, (node == first).then_some(nth));
                    self.calls.extend(nodes.iter().copied().map(order));
                }
            }
        }
    }

    fn order(&mut self, nodes: &[NodeId], order: MachineOrder, back: Option<MachineOrder>) {
        self.orders.extend(nodes.iter().map(|node| (*node, order, back)));
    }

    /// A window to the end of the strike.
    fn window(&mut self, links: LinkSet, effect: LinkEffect) {
        let from = self.until;
        self.windows.push(LinkWindow::new(from, Instant::NEVER, links, effect));
    }

    /// All messages among some nodes, and no machine is hit; or between a single one and all others, and it is hit.
    fn everywhere(&mut self, nodes: &[NodeId], all: &[NodeId], effect: LinkEffect, strength: u64) {
        self.strength = strength;
        let links = match nodes {
            [node] if all.len() > 1 => LinkSet::Around(*node, all.iter().copied().collect()),
            nodes => {
                self.hits.clear();
                LinkSet::Among(nodes.iter().copied().collect())
            }
        };
        self.window(links, effect);
    }
}

/// What is told of a nemesis that strikes.
struct StrikeNotice {
    /// Its place among the nemeses.
    rule: usize,
    at: Instant,
    until: Instant,
    machine: String,
    words: String,
    strength: u64,
}

/// A nemesis strikes: that is told, and counts, as does each other one that is at work.
fn tell_strike(nemeses: &mut Nemeses, notice: StrikeNotice, context: &mut OpContext<'_>) {
    let StrikeNotice { rule, at, until, machine, words, strength } = notice;
    let (place, kind) = (nemeses.rules[rule].place, NEMESES[nemeses.rules[rule].action as usize]);
    let others = nemeses.active.iter().filter(|other| other.has_struck && other.rule != rule);
    let others: BTreeSet<usize> = others.map(|other| nemeses.rules[other.rule].place).collect();
    for other in others {
        *nemeses.overlaps.pairs.entry((place.min(other), place.max(other))).or_default() += 1;
    }
    let target = if until > at { format!("{words} for {}", until.since(at)) } else { words };
    let node = context.node;
    context.decider.strike(FaultStrike { at, node, kind, target: &target, strength });
    let call = context.decider.calls();
    let strength = kind.strength_words(strength).unwrap_or_default();
    context.faults.tally(place, |tally| {
        tally.strike(at, || StrikeRecord { at, call, machine, target, strength });
    });
}

/// When half of a nemesis is over.
fn halfway(from: Instant, until: Instant) -> Instant {
    from.after(Duration(until.since(from).0 / 2))
}

/// With a word for negative amounts.
fn signed(words: &str, amount: i64, negative: &str) -> String {
    if amount < 0 { format!("{words} ({negative})") } else { words.to_owned() }
}

/// Decides at the beginning of an interval whether it strikes in it.
fn take_chance(nemeses: &mut Nemeses, (rule, slot): (usize, u32), at: Instant, context: &mut OpContext<'_>) {
    let of = &nemeses.rules[rule];
    let next = of.slot_at(slot + 1);
    let end = of.fault.length.map(|length| Instant::START.after(of.fault.start).after(length));
    let (place, kind) = (of.place, NEMESES[of.action as usize]);
    let interval = of.plan.interval;
    let is_over = |at: Instant| end.is_some_and(|end| at >= end) || nemeses.quiet_from().is_some_and(|end| at >= end);
    if is_over(at) {
        return;
    }
    if slot + 1 < CHANCES_MAX && !is_over(next) {
        nemeses.put(next, NemesisEvent::Chance { rule, slot: slot + 1 });
    }
    let of = &nemeses.rules[rule];
    // Where nobody can have machines leave, a strike would only count.
    let is_asked = of.action != NemesisAction::Membership || nemeses.absent.is_some();
    if context.faults.awaits_setup() || !is_asked {
        return;
    }
    let strikes = context.faults.tally_of(place).strikes;
    if of.fault.times.is_some_and(|times| strikes >= times) || nemeses.active.iter().any(|active| active.rule == rule) {
        return;
    }
    context.faults.tally(place, |tally| {
        tally.asked += 1;
        tally.matched += 1;
        tally.chances += 1;
    });
    let whole = u64::from(fozzy_trace::plan::fault::RATE_ALWAYS_PPM);
    let mut chance = Chance { part: of.part(slot, false), decider: &mut *context.decider };
    if chance.below(kind.name, whole) + u64::from(of.fault.rate_ppm) < whole {
        return;
    }
    // In whole milliseconds: the digits below make no difference, and fewer answers are searched sooner.
    let moment = chance.below("moment", (interval.0 / 1_000_000).max(1));
    nemeses.put(at.after(Duration(moment * 1_000_000)), NemesisEvent::Begin { rule, slot });
}

#[cfg(test)]
mod tests;
