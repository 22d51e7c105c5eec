//! Nemeses: faults that begin at moments of the plan, hit machines and the links between them, and end.
//!
//! ```text
//! interval  |     5 s     |     5 s     |     5 s     |
//! chance    ? no          ? yes ─▶ begins somewhere in it: whom, how hard, for how long ─▶ ends      faults end: all heal
//! ```
//!
//! One nemesis begins once in an interval at the most, and not while it lasts. Whether it does is a chance as that of any fault, and all
//! answers have a stream of their own for each chance, so that one left out shifts no other.
//!
//! Invariants: never more machines are hit at once than the plan allows; what a window does to packets depends on the moment at which
//! they are sent, and its end is known when it begins. Damaged files stay damaged, and count for their machines until the end.
//! A machine counts from the moment at which it is to leave the cluster until it is said to be a member again; one whose program is to end
//! before a call, from the beginning of the nemesis on.
//! Not here: who counts as hit (`hits.rs`), which pairs cannot meet (`apart.rs`), ends before a call (`call_order.rs`), drawing a strike
//! and doing it (`nemesis_strike.rs`), packets (`network/link.rs`), files (`files/damage.rs`).

mod apart;
mod call_order;
mod hits;
mod kinds;
mod link_window;

pub(crate) use call_order::CallOrder;
pub(crate) use hits::PartitionCut;
pub use kinds::{NEMESES, NEMESIS_PREFIX, NemesisAction};
pub(crate) use link_window::{LinkEffect, LinkHarm, LinkSet, LinkWindow};

use crate::glob::matches_any;
use crate::machine_order::MachineOrder;
use fozzy_trace::facts::FaultOverlaps;
use fozzy_trace::nemesis::{Chooser, Grudge};
use fozzy_trace::plan::{ClusterPlan, Edition, FaultPlan, HealScope, NemesisPlan, Plan};
use fozzy_trace::{DecisionPart, Duration, Instant, NodeId};
use std::collections::{BTreeMap, BTreeSet};

/// Chances of one nemesis: with the shortest intervals, those of the first hours. Later, it begins no more.
pub(crate) const CHANCES_MAX: u32 = 20_000;
/// Lengths of a nemesis that are drawn, as shares of two intervals: so that some end before the next chance, and others outlast it.
const LENGTH_SHARES: [u64; 6] = [32, 16, 8, 4, 2, 1];
/// Different timers of the nodes that are remembered, the latest ones.
const TIMERS_MAX: usize = 8;
/// Shorter timers are no timeouts.
const TIMER_MIN: Duration = Duration::from_millis(1);
/// Longer ones are no lengths for a fault.
const TIMER_MAX: Duration = Duration::from_millis(120_000);
/// How a length is made of a timer: half of it, just before, just after, twice.
const TIMER_SIXTEENTHS: [u64; 4] = [8, 15, 17, 32];

/// The nemeses of a plan, and what they do at this moment.
#[derive(Clone, Debug)]
pub(crate) struct Nemeses {
    pub(crate) rules: Vec<NemesisRule>,
    pub(crate) cluster: ClusterPlan,
    /// Machines that nemeses can hit.
    pub(crate) nodes: Vec<NodeId>,
    pub(crate) events: BTreeMap<(Instant, u64), NemesisEvent>,
    /// Numbers of events and of strikes.
    pub(crate) next: u64,
    pub(crate) active: Vec<ActiveNemesis>,
    pub(crate) windows: Vec<LinkWindow>,
    pub(crate) damaged: BTreeSet<NodeId>,
    /// Machines that are no members of the cluster, or perhaps not, as the program says that has them leave and join; `None` before it
    /// does.
    pub(crate) absent: Option<BTreeSet<NodeId>>,
    /// Those of them that are not healed when faults end.
    pub(crate) left_out: BTreeSet<NodeId>,
    /// Timers that nodes have set, the latest ones last.
    pub(crate) timers: Vec<Duration>,
    /// Packets that each machine has sent to others since the last strike.
    pub(crate) sent: BTreeMap<NodeId, u64>,
    pub(crate) overlaps: FaultOverlaps,
    /// Of the plan.
    pub(crate) edition: Edition,
}

/// A nemesis of the plan.
#[derive(Clone, Debug)]
pub(crate) struct NemesisRule {
    /// Its place among the faults of the plan.
    pub(crate) place: usize,
    pub(crate) action: NemesisAction,
    pub(crate) fault: FaultPlan,
    pub(crate) plan: NemesisPlan,
    /// Which it is, whatever other rules there are.
    pub(crate) number: u32,
    pub(crate) nodes: Vec<NodeId>,
}

/// What happens at a moment.
#[derive(Clone, Debug)]
pub(crate) enum NemesisEvent {
    Chance {
        rule: usize,
        slot: u32,
    },
    Begin {
        rule: usize,
        slot: u32,
    },
    Order {
        node: NodeId,
        order: MachineOrder,
    },
    /// Half of a nemesis is over, which waits no longer for calls.
    Halfway {
        id: u64,
    },
    End {
        id: u64,
    },
    Heal,
}

/// A nemesis that has begun and not ended.
#[derive(Clone, Debug)]
pub(crate) struct ActiveNemesis {
    pub(crate) id: u64,
    pub(crate) rule: usize,
    /// Machines that are hit, so that they count.
    pub(crate) hits: BTreeSet<NodeId>,
    /// Whom it parts; of a partition in one direction both, as an answer needs both.
    pub(crate) grudge: Grudge,
    /// What ends it.
    pub(crate) undo: Vec<(NodeId, MachineOrder)>,
    /// When it ends.
    pub(crate) until: Instant,
    /// When it waits no longer for calls.
    pub(crate) halfway: Instant,
    /// Programs that end before a call, as far as they have not ended.
    pub(crate) calls: Vec<CallOrder>,
    /// Whether it has changed anything: one that only waits for calls has not.
    pub(crate) has_struck: bool,
}

impl NemesisRule {
    /// The part of a slot in which it is drawn whether it strikes, or how.
    pub(crate) fn part(&self, slot: u32, is_begin: bool) -> DecisionPart {
        DecisionPart::step(self.number, 2 * slot + u32::from(is_begin))
    }

    pub(crate) fn slot_at(&self, slot: u32) -> Instant {
        let span = self.plan.interval.0.saturating_mul(u64::from(slot));
        Instant::START.after(self.fault.start).after(Duration(span))
    }
}

impl Nemeses {
    /// Those of a plan; `None` if it has none, and no phases either.
    pub(crate) fn of(plan: &Plan) -> Option<Nemeses> {
        let nodes = (1..).map(NodeId).zip(&plan.nodes).filter(|(_, node)| !node.called);
        let nodes: Vec<(NodeId, &str)> = nodes.map(|(number, node)| (number, node.name.as_str())).collect();
        if nodes.is_empty() {
            return None;
        }
        let mut numbers: BTreeMap<u32, u32> = BTreeMap::new();
        let rules = plan.faults.iter().enumerate().filter_map(|(place, fault)| {
            let action = NemesisAction::of(&fault.kind)?;
            let hit = nodes.iter().filter(|(_, name)| matches_any(&fault.target, name)).map(|(number, _)| *number);
            let number = number_of(fault);
            let nth = numbers.entry(number).or_default();
            *nth += 1;
            Some(NemesisRule {
                place,
                action,
                fault: fault.clone(),
                plan: (**fault.nemesis.as_ref()?).clone(),
                number: number.wrapping_add(*nth) % (u32::MAX - 1),
                nodes: hit.collect(),
            })
        });
        let rules: Vec<NemesisRule> = rules.collect();
        let cluster = plan.cluster.clone();
        if rules.is_empty() && cluster.is_none() {
            return None;
        }
        let mut nemeses = Nemeses {
            rules,
            cluster: cluster.unwrap_or(ClusterPlan {
                hit_max: None,
                faults_until: None,
                heals: HealScope::All,
                progress_within: None,
            }),
            nodes: nodes.iter().map(|(number, _)| *number).collect(),
            events: BTreeMap::new(),
            next: 0,
            active: Vec::new(),
            windows: Vec::new(),
            damaged: BTreeSet::new(),
            absent: None,
            left_out: BTreeSet::new(),
            timers: Vec::new(),
            sent: BTreeMap::new(),
            overlaps: FaultOverlaps::default(),
            edition: plan.edition,
        };
        for rule in 0..nemeses.rules.len() {
            nemeses.put(nemeses.rules[rule].slot_at(0), NemesisEvent::Chance { rule, slot: 0 });
        }
        if let Some(until) = nemeses.cluster.faults_until {
            nemeses.put(Instant::START.after(until), NemesisEvent::Heal);
        }
        Some(nemeses)
    }

    pub(crate) fn put(&mut self, at: Instant, event: NemesisEvent) {
        self.next += 1;
        self.events.insert((at, self.next), event);
    }

    /// When the next thing happens.
    pub(crate) fn next_at(&self) -> Option<Instant> {
        self.events.keys().next().map(|(at, _)| *at)
    }

    pub(crate) fn take_due(&mut self, now: Instant) -> Option<(Instant, NemesisEvent)> {
        let entry = self.events.first_entry()?;
        let at = entry.key().0;
        (at <= now).then(|| (at, entry.remove()))
    }

    /// When all faults end, if they do.
    pub(crate) fn quiet_from(&self) -> Option<Instant> {
        self.cluster.faults_until.map(|until| Instant::START.after(until))
    }

    /// What happens to a packet that is sent at a moment.
    pub(crate) fn harm(&mut self, from: NodeId, to: NodeId, at: Instant) -> LinkHarm {
        if self.nodes.contains(&from) && self.nodes.contains(&to) {
            *self.sent.entry(from).or_default() += 1;
        }
        let mut harm = LinkHarm::default();
        let healed = self.healed_from();
        if at >= healed {
            return harm;
        }
        self.windows.iter().filter(|window| window.holds(from, to, at)).for_each(|window| window.add_to(&mut harm));
        harm.held_until = harm.held_until.min(healed);
        harm
    }

    /// From when on no nemesis does anything to packets, which is known before: where the plan says when all machines are healed.
    fn healed_from(&self) -> Instant {
        let is_known = self.edition >= Edition::NINTH && self.cluster.heals == HealScope::All;
        self.quiet_from().filter(|_| is_known).unwrap_or(Instant::NEVER)
    }

    /// Whether TCP sends again what arrives later than its sender waits.
    pub(crate) fn repeats_late_packets(&self) -> bool {
        self.edition >= Edition::NINTH
    }

    /// A node waits for so long at the most.
    pub(crate) fn note_timer(&mut self, node: NodeId, span: Duration) {
        if span < TIMER_MIN || span > TIMER_MAX || !self.nodes.contains(&node) {
            return;
        }
        // Two digits: a timeout that is drawn anew each time is one of few, and the digits below say nothing.
        let unit = 10_u64.pow(span.0.ilog10().saturating_sub(1));
        let span = Duration(span.0 / unit * unit);
        if self.timers.last() != Some(&span) {
            self.timers.retain(|known| *known != span);
            self.timers.push(span);
            if self.timers.len() > TIMERS_MAX {
                self.timers.remove(0);
            }
        }
    }

    /// An operation of a client begins or ends while nemeses are at work.
    pub(crate) fn note_operation(&mut self, operation: &str) {
        let name = operation.split_whitespace().next().unwrap_or_default();
        if !self.overlaps.note_name(name) {
            return;
        }
        for active in self.active.iter().filter(|active| active.has_struck) {
            let place = self.rules[active.rule].place;
            *self.overlaps.operations.entry((name.to_owned(), place)).or_default() += 1;
        }
    }

    /// Which nemeses were at work together, and while which operations began or ended.
    pub(crate) fn overlaps(&self) -> FaultOverlaps {
        let nemeses = self.rules.iter().map(|rule| rule.place).collect();
        FaultOverlaps { nemeses, apart: self.apart(), ..self.overlaps.clone() }
    }

    /// Whether machines leave and join.
    pub(crate) fn changes_members(&self) -> bool {
        self.rules.iter().any(|rule| rule.action == NemesisAction::Membership)
    }

    /// Machines that are not to be members now.
    pub(crate) fn wanted_out(&self) -> BTreeSet<NodeId> {
        let leaving = self.active.iter().filter(|active| self.rules[active.rule].action == NemesisAction::Membership);
        leaving.flat_map(|active| &active.hits).chain(&self.left_out).copied().collect()
    }

    /// Draws how long it lasts that begins at `at`.
    pub(crate) fn length(&self, rule: &NemesisRule, at: Instant, choose: &mut Chooser<'_>) -> Instant {
        let drawn = match rule.plan.lasts {
            // A plan file has both in order; the plan of a trace may be anybody's.
            Some((least, most)) if least >= most => least,
            Some((least, most)) => Duration(least.0 + choose("length", (most.0 - least.0).saturating_add(1))),
            None if !self.timers.is_empty() && choose("length by a timer", 2) == 1 => {
                let latest: Vec<Duration> = self.timers.iter().rev().copied().collect();
                let timer = latest[choose("timer", latest.len() as u64) as usize];
                let share = TIMER_SIXTEENTHS[choose("share of the timer", TIMER_SIXTEENTHS.len() as u64) as usize];
                Duration(timer.0 / 16 * share)
            }
            None => {
                let longest = rule.plan.interval.0.saturating_mul(2);
                Duration((longest / LENGTH_SHARES[choose("length", LENGTH_SHARES.len() as u64) as usize]).max(1))
            }
        };
        let end = at.after(drawn);
        self.quiet_from().map_or(end, |quiet| end.min(quiet))
    }
}

/// Which nemesis it is among those of a plan (FNV-1a of its kind and target), so that its chances keep their answers when others go.
fn number_of(fault: &FaultPlan) -> u32 {
    let bytes = fault.kind.bytes().chain([0]).chain(fault.target.bytes());
    bytes.fold(0x811C_9DC5, |hash: u32, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)) >> 1
}

impl Nemeses {
    /// The node that leads, as far as can be seen: who has sent most to the others lately.
    pub(crate) fn primary(&self, nodes: &[NodeId]) -> Option<usize> {
        let sent = |place: &usize| self.sent.get(&nodes[*place]).copied().unwrap_or(0);
        (0..nodes.len()).filter(|place| sent(place) > 0).max_by_key(|place| (sent(place), std::cmp::Reverse(*place)))
    }

    /// Whether the program of a node is gone until a nemesis ends.
    pub(crate) fn is_down(&self, node: NodeId) -> bool {
        let starts = |(of, order): &(NodeId, MachineOrder)| *of == node && *order == MachineOrder::Start;
        self.active.iter().any(|active| active.undo.iter().any(starts))
    }
}
