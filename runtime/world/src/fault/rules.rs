//! The faults of a plan at work: whether one strikes, and what is reported of it afterwards.
//!
//! ```text
//! asked     read of /data/log on server, at 2.1s
//! matched   does the target name it?  /data/* · server:/data/*
//! chance    in the fault's time, and not used up? ─▶ a question below 1,000,000 ─▶ strikes / does not
//! ```
//!
//! Invariants: what is counted changes no answer; a strike whose length is drawn asks for it at once, under a site of its own,
//! whose simplest answer is the shortest.

use super::allocation_failure::ALLOCATION_FAILURE;
use super::kill::KILL;
use super::memory_full::MEMORY_FULL;
use super::nemesis::LinkHarm;
use super::partition::{LinkCuts, PARTITION};
use super::pause::PAUSE;
use super::restart::RESTART;
use super::{FaultKind, FaultTarget, Nemeses, kind_of};
use crate::glob::matches;
use crate::{Decider, FaultStrike, share};
use fozzy_trace::facts::{FaultTally, InjectedFaults, MISSED_KEPT_MAX, PowerLossRecord, StrikeRecord};
use fozzy_trace::plan::FaultPlan;
use fozzy_trace::plan::fault::RATE_ALWAYS_PPM;
use fozzy_trace::{CopyOnWrite, Duration, Instant, NodeId, Plan, Purpose, Question};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// Lengths of drawn strikes: the strength, its half, and so on. The shortest is some hundredth of the longest, so that both an
/// interruption that is hardly noticed and one that outlasts every timeout come up.
const LENGTHS: u64 = 8;

/// A plan names a kind that there is not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no fault of kind `{0}`")]
pub struct UnknownFault(pub String);

/// The faults of a plan, and what became of them.
#[derive(Debug, Default)]
pub struct Faults {
    rules: Vec<Rule>,
    cuts: LinkCuts,
    losses: CopyOnWrite<InjectedFaults>,
    /// The names of the planned machines, by their numbers.
    machines: Arc<[String]>,
    has_machine_rules: bool,
    /// Whether machines are asked about at their calls: a fault that strikes them there is planned, or a nemesis waits for a call.
    asks_machines: bool,
    /// Those that begin at moments of the plan.
    pub(crate) nemeses: Option<CopyOnWrite<Nemeses>>,
    /// When all faults end.
    quiet_from: Option<Instant>,
    /// Whether none strikes as yet: the setup of the programs is not complete.
    awaits_setup: bool,
}

impl Clone for Faults {
    fn clone(&self) -> Faults {
        Faults {
            rules: self.rules.clone(),
            cuts: self.cuts.clone(),
            losses: self.losses.clone(),
            machines: Arc::clone(&self.machines),
            has_machine_rules: self.has_machine_rules,
            asks_machines: self.asks_machines,
            nemeses: self.nemeses.clone(),
            quiet_from: self.quiet_from,
            awaits_setup: self.awaits_setup,
        }
    }

    /// Into the allocations that are there; what both share stays as it is.
    fn clone_from(&mut self, source: &Faults) {
        let Faults {
            rules,
            cuts,
            losses,
            machines,
            has_machine_rules,
            asks_machines,
            nemeses,
            quiet_from,
            awaits_setup,
        } = source;
        self.rules.clone_from(rules);
        self.cuts.clone_from(cuts);
        self.losses.clone_from(losses);
        share(&mut self.machines, machines);
        (self.has_machine_rules, self.asks_machines) = (*has_machine_rules, *asks_machines);
        self.nemeses.clone_from(nemeses);
        (self.quiet_from, self.awaits_setup) = (*quiet_from, *awaits_setup);
    }
}

/// Where a computer keeps its faults. A call takes them while it works on the rest of the computer, which moves a pointer, and puts them back.
#[derive(Debug, Default)]
pub struct FaultSlot(Option<Box<Faults>>);

impl Clone for FaultSlot {
    fn clone(&self) -> FaultSlot {
        FaultSlot(self.0.clone())
    }

    fn clone_from(&mut self, source: &FaultSlot) {
        self.0.clone_from(&source.0);
    }
}

impl From<Faults> for FaultSlot {
    fn from(faults: Faults) -> FaultSlot {
        FaultSlot(Some(Box::new(faults)))
    }
}

impl FaultSlot {
    /// Whether a call has them.
    pub(crate) fn is_lent(&self) -> bool {
        self.0.is_none()
    }
}

impl Deref for FaultSlot {
    type Target = Faults;

    fn deref(&self) -> &Faults {
        self.0.as_deref().expect(IS_BACK)
    }
}

impl DerefMut for FaultSlot {
    fn deref_mut(&mut self) -> &mut Faults {
        self.0.as_deref_mut().expect(IS_BACK)
    }
}

/// Why there are faults.
const IS_BACK: &str = "who has taken the faults asks the context for them";

#[derive(Debug)]
struct Rule {
    kind: &'static FaultKind,
    plan: FaultPlan,
    /// The machine on whose disk alone it strikes, and the path there.
    on_disk_of: Option<(String, String)>,
    tally: CopyOnWrite<FaultTally>,
}

impl Clone for Rule {
    fn clone(&self) -> Rule {
        let Rule { kind, plan, on_disk_of, tally } = self;
        Rule { kind, plan: plan.clone(), on_disk_of: on_disk_of.clone(), tally: tally.clone() }
    }

    /// Two moments of one run have the same plan, which takes no allocation then.
    fn clone_from(&mut self, source: &Rule) {
        let Rule { kind, plan, on_disk_of, tally } = source;
        self.kind = *kind;
        if self.plan != *plan {
            self.plan.clone_from(plan);
        }
        if self.on_disk_of != *on_disk_of {
            self.on_disk_of.clone_from(on_disk_of);
        }
        self.tally.clone_from(tally);
    }
}

impl Faults {
    /// The faults that `plans` describe.
    ///
    /// # Errors
    /// When a kind is unknown.
    pub fn new(plans: &[FaultPlan]) -> Result<Faults, UnknownFault> {
        let rules = plans.iter().map(|plan| {
            let kind = kind_of(&plan.kind).ok_or_else(|| UnknownFault(plan.kind.clone()))?;
            let tally = FaultTally { kind: plan.kind.clone(), target: plan.target.clone(), ..FaultTally::default() };
            let tally = CopyOnWrite::new(tally);
            let of_disk = Some(kind.target).filter(|target| *target == FaultTarget::Path);
            let on_disk_of = of_disk.and_then(|_| machine_of(&plan.target));
            let on_disk_of = on_disk_of.map(|(machine, path)| (machine.to_owned(), path.to_owned()));
            Ok(Rule { kind, plan: plan.clone(), on_disk_of, tally })
        });
        let rules = rules.collect::<Result<Vec<Rule>, _>>()?;
        let has_machine_rules =
            rules.iter().any(|rule| [KILL.name, PAUSE.name, RESTART.name].contains(&rule.kind.name));
        Ok(Faults { rules, has_machine_rules, asks_machines: has_machine_rules, ..Faults::default() })
    }

    /// The same on machines of these names.
    #[must_use]
    pub fn on(self, machines: impl IntoIterator<Item = String>) -> Faults {
        Faults { machines: machines.into_iter().collect(), ..self }
    }

    /// The same with the nemeses of a plan, and its phases.
    #[must_use]
    pub fn with_nemeses(self, plan: &Plan) -> Faults {
        let nemeses = Nemeses::of(plan);
        let quiet_from = nemeses.as_ref().and_then(Nemeses::quiet_from);
        Faults { nemeses: nemeses.map(CopyOnWrite::new), quiet_from, awaits_setup: plan.faults_await_setup, ..self }
    }

    /// A program says that its setup is complete: faults may strike from here on.
    pub fn end_setup(&mut self) {
        self.awaits_setup = false;
    }

    /// Whether none strikes as yet.
    pub(crate) fn awaits_setup(&self) -> bool {
        self.awaits_setup
    }

    /// Whether something goes wrong at moments of the plan, or its faults end.
    #[inline]
    #[must_use]
    pub fn has_nemeses(&self) -> bool {
        self.nemeses.is_some()
    }

    /// When the next nemesis may begin or end.
    #[must_use]
    pub fn next_nemesis_at(&self) -> Option<Instant> {
        self.nemeses.as_ref().and_then(|nemeses| nemeses.next_at())
    }

    /// A client begins or ends an operation.
    pub fn note_operation(&mut self, operation: &str) {
        if let Some(nemeses) = &mut self.nemeses {
            nemeses.note_operation(operation);
        }
    }

    /// A machine sets a timer.
    pub(crate) fn note_timer(&mut self, node: NodeId, span: Duration) {
        if let Some(nemeses) = &mut self.nemeses {
            nemeses.note_timer(node, span);
        }
    }

    /// What nemeses do to a packet between two machines.
    #[inline]
    pub(crate) fn harm(&mut self, from: NodeId, to: NodeId, at: Instant) -> LinkHarm {
        self.nemeses.as_mut().map_or_else(LinkHarm::default, |nemeses| nemeses.harm(from, to, at))
    }

    /// Whether TCP sends again what arrives later than its sender waits; without nemeses there is nothing that would be sooner.
    pub(crate) fn repeats_late_packets(&self) -> bool {
        self.nemeses.as_ref().is_some_and(|nemeses| nemeses.repeats_late_packets())
    }

    /// What became of the fault at a place of the plan.
    pub(crate) fn tally_of(&self, place: usize) -> &FaultTally {
        &self.rules[place].tally
    }

    /// Adds to it.
    pub(crate) fn tally(&mut self, place: usize, add: impl FnOnce(&mut FaultTally)) {
        add(&mut self.rules[place].tally);
    }

    /// Whether nothing can go wrong.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Whether a whole machine may be struck at one of its calls now: such a fault is planned, or a nemesis waits for a call.
    #[inline]
    #[must_use]
    pub fn strikes_machines(&self) -> bool {
        self.asks_machines
    }

    /// Nemeses may have begun to wait for calls, or wait no longer.
    pub(crate) fn heed_call_orders(&mut self) {
        let awaits_call = self.nemeses.as_ref().is_some_and(|nemeses| nemeses.has_call_orders());
        self.asks_machines = self.has_machine_rules || awaits_call;
    }

    /// Whether any fault of `kind` is planned, whenever and wherever.
    #[must_use]
    pub fn plans(&self, kind: &FaultKind) -> bool {
        self.rules.iter().any(|rule| rule.kind.name == kind.name)
    }

    /// Whether a nemesis takes the power of machines.
    #[must_use]
    pub fn plans_power_loss_nemesis(&self) -> bool {
        self.rules.iter().any(|rule| super::NemesisAction::of(rule.kind.name) == Some(super::NemesisAction::PowerLoss))
    }

    /// Until when all faults of `kind` that can strike `target` now remain possible: the end of the first of them.
    pub(crate) fn open_until(&self, kind: &FaultKind, target: &str, now: Instant) -> Instant {
        let quiet_from = self.quiet_from.unwrap_or(Instant::NEVER);
        let open =
            self.rules.iter().filter(|rule| rule.kind.name == kind.name && rule.is_open(now) && now < quiet_from);
        let open = open.filter(|rule| matches(&rule.plan.target, target));
        open.map(|rule| rule.end().min(quiet_from)).min().unwrap_or(Instant::NEVER)
    }

    /// How often each of them has struck, in the order of the plan.
    pub fn injected(&self) -> impl Iterator<Item = u64> {
        self.rules.iter().map(|rule| rule.tally.strikes)
    }

    /// What became of them.
    #[must_use]
    pub fn report(&self) -> InjectedFaults {
        let rules = self.rules.iter().map(|rule| rule.tally.clone().into_inner());
        let overlaps = self.nemeses.as_ref().map(|nemeses| nemeses.overlaps()).unwrap_or_default();
        let awaits_setup = self.awaits_setup && !self.rules.is_empty();
        InjectedFaults { rules: rules.collect(), overlaps, awaits_setup, ..(*self.losses).clone() }
    }

    /// The name of a machine.
    pub(crate) fn machine(&self, node: NodeId) -> String {
        self.machines.get(node.0 as usize).cloned().unwrap_or_else(|| node.to_string())
    }

    /// A machine loses power, and its disk these things.
    pub(crate) fn power_lost(&mut self, at: Instant, node: NodeId, lost: Vec<String>) {
        let machine = self.machine(node);
        self.losses.lose(PowerLossRecord { at, machine, lost });
    }

    /// Whether a drawn cut of the link lasts.
    pub(super) fn is_in_cut(&self, link: &str, at: Instant) -> bool {
        self.quiet_from.is_none_or(|quiet| at < quiet) && self.cuts.contain(link, at)
    }

    /// Whether a fault of `kind` strikes what all of `targets` name now, and how hard. The first rule that strikes
    /// decides.
    pub(crate) fn inject(
        &mut self,
        kind: &FaultKind,
        targets: &[&str],
        now: Instant,
        node: NodeId,
        decider: &mut dyn Decider,
    ) -> Option<u64> {
        if self.awaits_setup || self.quiet_from.is_some_and(|quiet| now >= quiet) {
            return None;
        }
        let machine = self.machines.get(node.0 as usize).map_or("", String::as_str);
        let target = targets.first().copied().unwrap_or_default();
        let is_of_kind = |rule: &&mut Rule| std::ptr::eq(rule.kind, kind) || rule.kind.name == kind.name;
        let mut candidates = self.rules.iter_mut().filter(is_of_kind);
        let rule = loop {
            let rule = candidates.next()?;
            if rule.names(targets, machine) && rule.strikes(now, node, decider) {
                break rule;
            }
        };
        let chances = rule.tally.chances;
        let mut strength = rule.plan.strength.unwrap_or(kind.strength);
        if strength > 0 && [PARTITION.name, PAUSE.name].contains(&kind.name) {
            strength = drawn(Duration(strength), rule.kind, node, decider).0;
        }
        if kind.name == PARTITION.name && strength > 0 {
            self.cuts.begin(target, now, Duration(strength));
        }
        let struck = match kind.target {
            FaultTarget::Path if self.machines.len() > 1 => format!("{machine}:{target}"),
            _ if kind.name == ALLOCATION_FAILURE.name => format!("{target}, allocation {chances}"),
            _ if kind.name == MEMORY_FULL.name => format!("{target}, growth {chances}"),
            _ => target.to_owned(),
        };
        decider.strike(FaultStrike { at: now, node, kind: rule.kind, target: &struck, strength });
        let machine = self.machines.get(node.0 as usize).cloned().unwrap_or_else(|| node.to_string());
        let (call, strength_words) = (decider.calls(), rule.kind.strength_words(strength).unwrap_or_default());
        rule.tally.strike(now, || StrikeRecord { at: now, call, machine, target: struck, strength: strength_words });
        Some(strength)
    }
}

impl Rule {
    /// Whether its target is one of `targets`, on this machine.
    fn names(&mut self, targets: &[&str], machine: &str) -> bool {
        let is_named = match &self.on_disk_of {
            None => targets.iter().any(|target| matches(&self.plan.target, target)),
            Some((of, path)) => matches(of, machine) && targets.iter().any(|target| matches(path, target)),
        };
        self.tally.asked += 1;
        self.tally.matched += u64::from(is_named);
        if !is_named
            && self.tally.missed.len() < MISSED_KEPT_MAX
            && let Some(target) = targets.first()
        {
            match self.on_disk_of.is_some() {
                true => self.tally.miss(&format!("{machine}:{target}")),
                false => self.tally.miss(target),
            }
        }
        is_named
    }

    fn end(&self) -> Instant {
        self.plan.length.map_or(Instant::NEVER, |length| Instant::START.after(self.plan.start).after(length))
    }

    fn is_open(&self, now: Instant) -> bool {
        let start = Instant::START.after(self.plan.start);
        let over = self.plan.length.is_some_and(|length| now >= start.after(length));
        now >= start && !over && self.plan.times.is_none_or(|times| self.tally.strikes < times)
    }

    /// Decides at a chance whether it strikes.
    fn strikes(&mut self, now: Instant, node: NodeId, decider: &mut dyn Decider) -> bool {
        if !self.is_open(now) {
            return false;
        }
        self.tally.chances += 1;
        let question = Question { node, purpose: Purpose::Fault, site: self.kind.name };
        let answer = decider.below(question, u64::from(RATE_ALWAYS_PPM));
        answer >= u64::from(RATE_ALWAYS_PPM.saturating_sub(self.plan.rate_ppm))
    }
}

/// How long a strike lasts that may last up to `longest`.
fn drawn(longest: Duration, kind: &FaultKind, node: NodeId, decider: &mut dyn Decider) -> Duration {
    let site = format!("{}.length", kind.name);
    let answer = decider.below(Question { node, purpose: Purpose::Fault, site: &site }, LENGTHS);
    Duration((longest.0 >> (LENGTHS - 1 - answer)).max(1))
}

/// The machine and the path of a target on one machine's disk: `server:/data/*`. Paths begin with `/`, patterns of them also with `*`.
#[must_use]
pub fn machine_of(target: &str) -> Option<(&str, &str)> {
    let (machine, path) = target.split_once(':')?;
    let is_name = machine.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-.*".contains(&byte));
    (is_name && !machine.is_empty() && !machine.starts_with('*') && path.starts_with(['/', '*']))
        .then_some((machine, path))
}

#[cfg(test)]
mod tests;
