//! Planned faults: whole rules first, then each place where one strikes.
//!
//! An answer of zero is "does not strike".

use super::values::is_simplest;
use super::{ShrinkCandidate, ShrinkHalt, Shrinker};
use crate::keyed_source::{AnswerDomain, Decision, DecisionKey, is_chance};
use fozzy_trace::plan::fault::{FaultPlan, RATE_ALWAYS_PPM};
use fozzy_trace::source::Override;
use fozzy_trace::{Plan, Purpose};

/// Each planned fault that can go.
pub(super) fn plans(shrinker: &mut Shrinker<'_>) -> Result<(), ShrinkHalt> {
    let all = shrinker.smallest.plan.faults.clone();
    shrinker.remove_chunks(&all, |smallest, rest| ShrinkCandidate {
        plan: with(&smallest.plan, rest),
        ..smallest.clone()
    })?;
    Ok(())
}

fn with(plan: &Plan, faults: &[FaultPlan]) -> Plan {
    Plan { faults: faults.to_vec(), ..plan.clone() }
}

/// Each place where a fault strikes that need not.
pub(super) fn strikes(shrinker: &mut Shrinker<'_>) -> Result<(), ShrinkHalt> {
    let all = striking(shrinker);
    shrinker.remove_chunks(&all, |smallest, rest| without(smallest, &all, rest))?;
    Ok(())
}

/// Leaves out a block of strikes, none of which can be left out alone.
pub(super) fn block(shrinker: &mut Shrinker<'_>) -> Result<bool, ShrinkHalt> {
    let all = striking(shrinker);
    shrinker.remove_block(&all, |smallest, rest| without(smallest, &all, rest))
}

/// The decisions of chance and faults in an execution, except for those that a calm source answers in the same way.
pub(super) fn chance<'a>(plan: &'a Plan, log: &'a [Decision]) -> impl Iterator<Item = (DecisionKey, Override)> + 'a {
    let decided = log.iter().filter(|decision| is_chance(decision.key.purpose) && !is_simplest(decision));
    let is_told = |decision: &&Decision| strikes_at(plan, decision) || !is_strike(plan, decision);
    decided.filter(is_told).map(|decision| (decision.key, decision.answer.clone()))
}

/// The decisions by which a fault strikes.
pub(super) fn striking(shrinker: &Shrinker<'_>) -> Vec<DecisionKey> {
    let plan = &shrinker.smallest.plan;
    shrinker.log.iter().filter(|decision| strikes_at(plan, decision)).map(|decision| decision.key).collect()
}

/// Of `all` strikes only the `rest`.
fn without(smallest: &ShrinkCandidate, all: &[DecisionKey], rest: &[DecisionKey]) -> ShrinkCandidate {
    let mut smallest = smallest.clone();
    for key in all.iter().filter(|key| !rest.contains(key)) {
        smallest.answers.insert(*key, Override::Number(0));
    }
    smallest
}

/// Whether this decision is whether a planned fault strikes.
pub(super) fn is_strike(plan: &Plan, decision: &Decision) -> bool {
    matches!(decision.key.purpose, Purpose::Fault | Purpose::Nemesis(_))
        && decision.domain == AnswerDomain::Below(u64::from(RATE_ALWAYS_PPM))
        && plan.faults.iter().any(|fault| fault.kind == decision.site)
}

/// Whether it let one strike: the upper part of the numbers is what the rate gives it.
pub(super) fn strikes_at(plan: &Plan, decision: &Decision) -> bool {
    let Override::Number(answer) = &decision.answer else { return false };
    let rates = plan.faults.iter().filter(|fault| fault.kind == decision.site).map(|fault| u64::from(fault.rate_ppm));
    let whole = u64::from(RATE_ALWAYS_PPM);
    is_strike(plan, decision) && rates.max().is_some_and(|rate| answer + rate >= whole)
}
