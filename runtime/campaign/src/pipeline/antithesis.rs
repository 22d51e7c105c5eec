//! Programs with the public SDK of Antithesis are given the file to which it writes.
//!
//! ```text
//! the program names ANTITHESIS_SDK_LOCAL_OUTPUT  ─▶ env ANTITHESIS_SDK_LOCAL_OUTPUT=/antithesis.jsonl, and that file is understood
//! the plan names one itself                      ─▶ that one is
//! the program can say `setup_complete`           ─▶ planned faults wait until it does
//! ```
//!
//! Invariant: a program that does not name the variable is given nothing, and its directories are as they were.
//! Not here: what becomes of the lines (`fozzy-host`).

use fozzy_live::normalise_guest_path;
use fozzy_trace::facts::{SDK_OUTPUT_NAME, SDK_OUTPUT_VARIABLE, SDK_SETUP_KEY};
use fozzy_trace::plan::{Backend, Inputs, MachinePlan, Plan};

/// Gives it to each machine of the plan whose program has the SDK.
pub(super) fn equip(plan: &mut Plan, inputs: &Inputs, component: &[u8]) {
    let has_sdk = |program: &[u8]| memchr::memmem::find(program, SDK_OUTPUT_VARIABLE.as_bytes()).is_some();
    let mut awaits = false;
    // A real file is written by the real computer.
    if plan.backends.files != Backend::Host && has_sdk(component) {
        equip_machine(&mut plan.main);
        awaits |= plan.main.antithesis_output.is_some() && says_setup(component);
    }
    for node in &mut plan.nodes {
        let Some(program) = inputs.get(&node.program.component).filter(|program| has_sdk(program)) else { continue };
        equip_machine(&mut node.program.machine);
        awaits |= node.program.machine.antithesis_output.is_some() && says_setup(&program);
    }
    plan.faults_await_setup = awaits && !plan.faults.is_empty();
}

/// Whether the code that says `setup_complete` is in a program: linkers leave out what is never called.
fn says_setup(program: &[u8]) -> bool {
    memchr::memmem::find(program, SDK_SETUP_KEY.as_bytes()).is_some()
}

fn equip_machine(machine: &mut MachinePlan) {
    let named = machine.env.iter().find(|(name, _)| name == SDK_OUTPUT_VARIABLE).map(|(_, value)| value.clone());
    let output = match named {
        Some(name) => on_disk(machine, &name),
        None => {
            let Some((name, path)) = place(machine) else { return };
            machine.env.push((SDK_OUTPUT_VARIABLE.to_owned(), name));
            Some(path)
        }
    };
    machine.antithesis_output = output;
}

/// Where the program may write: the name under which it finds the file, and its path on the disk.
fn place(machine: &MachinePlan) -> Option<(String, String)> {
    let below = |directory: &str| format!("{}/{SDK_OUTPUT_NAME}", directory.trim_end_matches('/'));
    match &machine.preopens {
        None => Some((below("/"), below("/"))),
        Some(preopens) => {
            let preopen = preopens.iter().find(|preopen| !preopen.read_only)?;
            Some((below(&preopen.name), below(&preopen.path)))
        }
    }
}

/// The path on the disk of a file that the plan names as the program sees it, if it sees it.
fn on_disk(machine: &MachinePlan, name: &str) -> Option<String> {
    let from = machine.cwd.as_deref().unwrap_or("/");
    let is_absolute = name.starts_with('/');
    let path = match &machine.preopens {
        None if is_absolute => name.to_owned(),
        None => format!("{from}/{name}"),
        Some(preopens) => {
            let inside = |preopen: &str| {
                let rest = match preopen {
                    "." => (!is_absolute).then_some(name),
                    preopen => name.strip_prefix(preopen.trim_end_matches('/'))?.strip_prefix('/'),
                };
                rest.map(str::to_owned)
            };
            let found = preopens.iter().filter_map(|preopen| Some((preopen, inside(&preopen.name)?)));
            let (preopen, rest) = found.max_by_key(|(preopen, _)| preopen.name.len())?;
            format!("{}/{rest}", preopen.path)
        }
    };
    normalise_guest_path(&path).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fozzy_trace::Duration;
    use fozzy_trace::plan::{FaultPlan, Preopen};

    fn machine(named: Option<&str>, preopens: Option<&[(&str, &str, bool)]>) -> MachinePlan {
        let preopen = |(path, name, read_only): &(&str, &str, bool)| Preopen {
            path: (*path).to_owned(),
            name: (*name).to_owned(),
            read_only: *read_only,
        };
        MachinePlan {
            env: named.iter().map(|name| (SDK_OUTPUT_VARIABLE.to_owned(), (*name).to_owned())).collect(),
            preopens: preopens.map(|preopens| preopens.iter().map(preopen).collect()),
            ..MachinePlan::default()
        }
    }

    #[test]
    fn the_file_is_where_the_program_can_write_it() {
        let both: &[(&str, &str, bool)] = &[("/etc", "/etc", true), ("/srv/data", "work", false)];
        for (named, preopens, env, path) in [
            (None, None, Some("/antithesis.jsonl"), Some("/antithesis.jsonl")),
            (None, Some(both), Some("work/antithesis.jsonl"), Some("/srv/data/antithesis.jsonl")),
            (None, Some(&both[..1]), None, None),
            (Some("/a/b.jsonl"), None, Some("/a/b.jsonl"), Some("/a/b.jsonl")),
            (Some("b.jsonl"), None, Some("b.jsonl"), Some("/b.jsonl")),
            (Some("work/b.jsonl"), Some(both), Some("work/b.jsonl"), Some("/srv/data/b.jsonl")),
            (Some("/elsewhere/b.jsonl"), Some(both), Some("/elsewhere/b.jsonl"), None),
            (Some("../../b.jsonl"), None, Some("../../b.jsonl"), None),
        ] {
            let mut machine = machine(named, preopens);
            equip_machine(&mut machine);
            assert_eq!(machine.env.first().map(|(_, value)| value.as_str()), env, "{named:?} {preopens:?}");
            assert_eq!(machine.antithesis_output.as_deref(), path, "{named:?} {preopens:?}");
        }
    }

    #[test]
    fn only_who_names_the_variable_is_given_it() {
        let mut plan = Plan::default();
        equip(&mut plan, &Inputs::default(), b"ANTITHESIS_SDK");
        assert_eq!(plan, Plan::default());
        equip(&mut plan, &Inputs::default(), b"\0ANTITHESIS_SDK_LOCAL_OUTPUT\0");
        assert_eq!(plan.main.antithesis_output.as_deref(), Some("/antithesis.jsonl"));
        let fault = FaultPlan {
            kind: "io-error".to_owned(),
            target: "*".to_owned(),
            rate_ppm: 10_000,
            start: Duration(0),
            length: None,
            strength: None,
            times: None,
            nemesis: None,
        };
        for (program, faults, awaits) in [
            (&b"ANTITHESIS_SDK_LOCAL_OUTPUT antithesis_setup"[..], vec![fault.clone()], true),
            (b"ANTITHESIS_SDK_LOCAL_OUTPUT antithesis_setup", Vec::new(), false),
            (b"ANTITHESIS_SDK_LOCAL_OUTPUT", vec![fault.clone()], false),
            (b"antithesis_setup", vec![fault], false),
        ] {
            let mut plan = Plan { faults, ..Plan::default() };
            equip(&mut plan, &Inputs::default(), program);
            assert_eq!(plan.faults_await_setup, awaits);
        }
        let mut live = Plan::default();
        live.backends.files = Backend::Host;
        let before = live.clone();
        equip(&mut live, &Inputs::default(), b"ANTITHESIS_SDK_LOCAL_OUTPUT");
        assert_eq!(live, before);
    }
}
