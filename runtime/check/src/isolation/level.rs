//! Isolation levels: which is stronger than which, and what each forbids.
//!
//! ```text
//! strict-serializable ─▶ serializable ─▶ snapshot-isolation ─▶ parallel-snapshot-isolation ─▶ … ─▶ read-uncommitted
//! ```
//!
//! A level forbids what those that it implies forbid, and more. Sources: Adya (1999); Bailis et al., "Highly Available Transactions" (2013);
//! Cerone, Bernardi, Gotsman, "A Framework for Transactional Consistency Models" (2015); the table of Elle.

/// An isolation level.
pub struct IsolationLevel {
    /// Its name, as `--model` has it.
    pub name: &'static str,
    /// Other names of it.
    pub aliases: &'static [&'static str],
    /// The next weaker levels, by name.
    pub implies: &'static [&'static str],
    /// Anomalies that it forbids beside what these forbid.
    pub forbids: &'static [&'static str],
}

const fn level(
    name: &'static str,
    aliases: &'static [&'static str],
    implies: &'static [&'static str],
    forbids: &'static [&'static str],
) -> IsolationLevel {
    IsolationLevel { name, aliases, implies, forbids }
}

/// All levels; each stands before those that it implies.
pub const ISOLATION_LEVELS: &[IsolationLevel] = &[
    level(
        "strict-serializable",
        &["strong-serializable", "strong-strict-serializable", "PL-SS"],
        &["strong-session-serializable", "linearizable", "strong-snapshot-isolation"],
        &["G1c-realtime", "G2-item-realtime", "unserializable-realtime"],
    ),
    level(
        "strong-session-serializable",
        &[],
        &["serializable", "strong-session-snapshot-isolation"],
        &["G1c-process", "G2-item-process", "unserializable-process"],
    ),
    level(
        "serializable",
        &["PL-3"],
        &["repeatable-read", "snapshot-isolation", "update-serializable", "view-serializable"],
        &["G2-item", "write-skew", "unserializable"],
    ),
    level(
        "strong-snapshot-isolation",
        &[],
        &["strong-session-snapshot-isolation", "strong-read-committed"],
        &["G1c-realtime", "G-nonadjacent-item-realtime", "no-snapshots-realtime"],
    ),
    level(
        "strong-session-snapshot-isolation",
        &[],
        &["snapshot-isolation", "session-causal"],
        &["G1c-process", "G-nonadjacent-item-process", "no-snapshots-process"],
    ),
    // Those of Biswas and Enea (2019), as AWDIT, Plume and dbcop check them: with the order of sessions.
    level(
        "session-causal",
        &["transactional-causal-consistency", "TCC"],
        &["session-read-atomic", "causal-transactional"],
        &["causal-violation-process"],
    ),
    level("session-read-atomic", &[], &["session-read-committed", "read-atomic"], &["fractured-read-process"]),
    level(
        "session-read-committed",
        &[],
        &["strong-session-read-committed", "monotonic-atomic-view"],
        &["non-monotonic-read-process"],
    ),
    level(
        "snapshot-isolation",
        &["PL-SI"],
        &["forward-consistent-view", "monotonic-snapshot-read", "parallel-snapshot-isolation", "prefix"],
        &["G-nonadjacent-item", "no-snapshots"],
    ),
    // PSI forbids a cycle with one rw (Cerone, Gotsman 2018, theorem 12); Elle's table lacks that.
    level("parallel-snapshot-isolation", &["PSI"], &["causal-transactional", "update-atomic"], &["G-single-item"]),
    level("prefix", &["prefix-consistency"], &["causal-transactional"], &["G-prefix"]),
    level("causal-transactional", &["causal-cerone", "causal"], &["read-atomic"], &["internal", "causal-violation"]),
    level("update-serializable", &["PL-3U"], &["forward-consistent-view"], &["G-update"]),
    level("view-serializable", &[], &[], &["view-cycle"]),
    level("forward-consistent-view", &["PL-FCV"], &["consistent-view"], &[]),
    level("consistent-view", &["PL-2+"], &["cursor-stability", "monotonic-view"], &["G-single-item"]),
    level("update-atomic", &[], &["read-atomic"], &["lost-update"]),
    level("read-atomic", &["RA"], &["monotonic-atomic-view"], &["internal", "future-read", "fractured-read"]),
    level("repeatable-read", &["PL-2.99"], &["cursor-stability", "monotonic-atomic-view"], &["G2-item", "lost-update"]),
    level("cursor-stability", &["PL-CS"], &["read-committed"], &["lost-update"]),
    level("monotonic-view", &["PL-2L"], &["read-committed"], &[]),
    level("monotonic-snapshot-read", &["PL-MSR"], &["read-committed"], &[]),
    level("monotonic-atomic-view", &["MAV"], &["read-committed"], &["non-monotonic-read"]),
    level(
        "strong-read-committed",
        &[],
        &["strong-read-uncommitted", "strong-session-read-committed"],
        &["G1c-realtime"],
    ),
    level(
        "strong-session-read-committed",
        &[],
        &["strong-session-read-uncommitted", "read-committed"],
        &["G1c-process"],
    ),
    level("read-committed", &["PL-2", "RC"], &["read-uncommitted"], &["G1a", "G1b", "G1c"]),
    level("strong-read-uncommitted", &[], &["strong-session-read-uncommitted"], &["G0-realtime"]),
    level("strong-session-read-uncommitted", &[], &["read-uncommitted"], &["G0-process"]),
    // That a transaction sees its own writes is no level, but what makes a history one (Adya, 1999, section 3.1).
    level(
        "read-uncommitted",
        &["PL-1"],
        &[],
        &["G0", "duplicate-elements", "cyclic-versions", "unwritten-read", "own-write-unseen"],
    ),
    // Levels of single operations, which strict serializability implies.
    level("linearizable", &[], &["sequential"], &[]),
    level("sequential", &[], &["causal-memory"], &[]),
    level("causal-memory", &[], &["writes-follow-reads", "pram"], &[]),
    level("pram", &[], &["monotonic-reads", "monotonic-writes", "read-your-writes"], &[]),
    level("writes-follow-reads", &[], &[], &[]),
    level("monotonic-reads", &[], &[], &[]),
    level("monotonic-writes", &[], &[], &[]),
    level("read-your-writes", &[], &[], &[]),
];

/// Levels of single operations, and one that no cycle alone rules out. They are not listed as possible levels.
const UNNAMED: [&str; 9] = [
    "view-serializable",
    "linearizable",
    "sequential",
    "causal-memory",
    "pram",
    "writes-follow-reads",
    "monotonic-reads",
    "monotonic-writes",
    "read-your-writes",
];

/// What an anomaly implies beside itself.
const IMPLIED: &[(&str, &[&str])] = &[
    ("incompatible-order", &["G1a"]),
    ("dirty-update", &["G1a"]),
    ("future-read", &["G1c"]),
    ("G0", &["G1c"]),
    ("G-single-item", &["G-nonadjacent-item"]),
    ("G-nonadjacent-item", &["G2-item"]),
    ("lost-update", &["G2-item", "write-skew"]),
    // Without predicates, no order of versions is without a cycle.
    ("unserializable", &["G2-item"]),
    ("fractured-read", &["causal-violation"]),
    ("non-monotonic-read", &["fractured-read"]),
];

/// Anomalies that are cycles, beside those whose names begin with `G`: with the order of processes they are weaker.
const CYCLES: [&str; 5] =
    ["unserializable", "no-snapshots", "causal-violation", "fractured-read", "non-monotonic-read"];

/// The level that has a name.
#[must_use]
pub fn isolation_level(name: &str) -> Option<&'static IsolationLevel> {
    let is_named = |one: &&IsolationLevel| one.name == name || one.aliases.contains(&name);
    ISOLATION_LEVELS.iter().find(is_named)
}

/// What anomalies say of levels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LevelVerdict {
    /// The weakest levels that the history cannot have.
    pub impossible: Vec<&'static str>,
    /// All stronger ones, which it cannot have either.
    pub also_impossible: Vec<&'static str>,
    /// The strongest levels of transactions that are left.
    pub possible: Vec<&'static str>,
}

impl LevelVerdict {
    /// Whether a history can have a level.
    #[must_use]
    pub fn allows(&self, level: &IsolationLevel) -> bool {
        !self.impossible.contains(&level.name) && !self.also_impossible.contains(&level.name)
    }
}

/// Whether a level forbids an anomaly.
pub(super) fn forbids(level: &IsolationLevel, anomaly: &str) -> bool {
    !verdict(&[anomaly]).allows(level)
}

/// The verdict of some anomalies, by name.
pub(super) fn verdict(anomalies: &[&str]) -> LevelVerdict {
    let all = with_implied(anomalies);
    let count = ISOLATION_LEVELS.len();
    let mut is_impossible = vec![false; count];
    // Weaker levels stand later.
    for at in (0..count).rev() {
        let level = &ISOLATION_LEVELS[at];
        let forbids = level.forbids.iter().any(|one| all.contains(&(*one).to_owned()));
        is_impossible[at] = forbids || weaker(level).any(|weaker| is_impossible[weaker]);
    }
    let is_implied_by_possible = |at: usize| {
        (0..count).any(|stronger| !is_impossible[stronger] && weaker(&ISOLATION_LEVELS[stronger]).any(|one| one == at))
    };
    let names = |is_wanted: &dyn Fn(usize) -> bool| -> Vec<&'static str> {
        (0..count).filter(|at| is_wanted(*at)).map(|at| ISOLATION_LEVELS[at].name).collect()
    };
    let is_weakest = |at: usize| is_impossible[at] && !weaker(&ISOLATION_LEVELS[at]).any(|one| is_impossible[one]);
    LevelVerdict {
        impossible: names(&is_weakest),
        also_impossible: names(&|at| is_impossible[at] && !is_weakest(at)),
        possible: names(&|at| {
            !is_impossible[at] && !UNNAMED.contains(&ISOLATION_LEVELS[at].name) && !is_implied_by_possible(at)
        }),
    }
}

/// Positions of the next weaker levels.
fn weaker(level: &IsolationLevel) -> impl Iterator<Item = usize> + '_ {
    level.implies.iter().filter_map(|name| ISOLATION_LEVELS.iter().position(|one| one.name == *name))
}

/// Anomalies with what they imply: of each kind of cycle also its weaker forms with processes and with time.
fn with_implied(anomalies: &[&str]) -> Vec<String> {
    let mut all: Vec<String> = anomalies.iter().map(|one| (*one).to_owned()).collect();
    let mut at = 0;
    while at < all.len() {
        let name = all[at].clone();
        at += 1;
        let (plain, suffix) = ["-process", "-realtime"]
            .iter()
            .find_map(|suffix| name.strip_suffix(suffix).map(|plain| (plain, *suffix)))
            .unwrap_or((&name, ""));
        let rows = IMPLIED.iter().filter(|(of, _)| *of == plain);
        let mut more: Vec<String> = rows.flat_map(|(_, to)| to.iter().map(|to| format!("{to}{suffix}"))).collect();
        let is_cycle = plain.starts_with('G') && !["G1a", "G1b"].contains(&plain) || CYCLES.contains(&plain);
        match suffix {
            "" if is_cycle => more.push(format!("{plain}-process")),
            "-process" => more.push(format!("{plain}-realtime")),
            _ => {}
        }
        for one in more {
            if !all.contains(&one) {
                all.push(one);
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_stand_before_weaker_ones_and_have_each_name_once() {
        let mut names: Vec<&str> =
            ISOLATION_LEVELS.iter().flat_map(|one| [one.name].into_iter().chain(one.aliases.iter().copied())).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        for (at, level) in ISOLATION_LEVELS.iter().enumerate() {
            assert_eq!(weaker(level).count(), level.implies.len(), "{}", level.name);
            assert!(weaker(level).all(|weaker| weaker > at), "{}", level.name);
        }
        assert_eq!(isolation_level("PL-3").map(|one| one.name), Some("serializable"));
    }

    #[test]
    fn anomalies_rule_levels_out() {
        let check = |anomalies: &[&'static str], impossible: &str, possible: &str| {
            let verdict = verdict(anomalies);
            assert_eq!(verdict.impossible.join(" "), impossible, "{anomalies:?}");
            assert_eq!(verdict.possible.join(" "), possible, "{anomalies:?}");
        };
        check(&[], "", "strict-serializable");
        check(&["G2-item"], "repeatable-read", "strong-snapshot-isolation update-serializable");
        check(&["G2-item-realtime"], "strict-serializable", "strong-session-serializable strong-snapshot-isolation");
        check(&["G0"], "read-uncommitted", "");
    }
}
