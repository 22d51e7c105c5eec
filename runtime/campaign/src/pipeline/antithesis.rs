//! Programs with the public SDK of Antithesis are given the file to which it writes.
//!
//! ```text
//! the program names ANTITHESIS_SDK_LOCAL_OUTPUT  ─▶ env ANTITHESIS_SDK_LOCAL_OUTPUT=/antithesis.jsonl, and that file is understood
//! the plan names one itself                      ─▶ that one is
//! ```
//!
//! Invariant: a program that does not name the variable is given nothing, and its directories are as they were.
//! Not here: what becomes of the lines (`fozzy-host`).

use fozzy_live::normalise_guest_path;
use fozzy_trace::facts::{SDK_OUTPUT_NAME, SDK_OUTPUT_VARIABLE};
use fozzy_trace::plan::{Backend, Inputs, MachinePlan, Plan};

/// Gives it to each machine of the plan whose program has the SDK.
pub(super) fn equip(plan: &mut Plan, inputs: &Inputs, component: &[u8]) {
    let has_sdk = |program: &[u8]| memchr::memmem::find(program, SDK_OUTPUT_VARIABLE.as_bytes()).is_some();
    // A real file is written by the real computer.
    if plan.backends.files != Backend::Host && has_sdk(component) {
        equip_machine(&mut plan.main);
    }
    for node in &mut plan.nodes {
        if inputs.get(&node.program.component).is_some_and(|program| has_sdk(&program)) {
            equip_machine(&mut node.program.machine);
        }
    }
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
    use fozzy_trace::plan::Preopen;

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
        let mut live = Plan::default();
        live.backends.files = Backend::Host;
        let before = live.clone();
        equip(&mut live, &Inputs::default(), b"ANTITHESIS_SDK_LOCAL_OUTPUT");
        assert_eq!(live, before);
    }
}
