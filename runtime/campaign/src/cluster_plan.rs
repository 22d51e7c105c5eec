//! A plan file as a target: its clients are the program, and the file is the plan.
//!
//! ```text
//! fozzy run scenarios/raft-store/plan.toml    [cluster] clients = "../store-clients"
//!    ─▶ fozzy run scenarios/raft-store/../store-clients --plan scenarios/raft-store/plan.toml
//! ```
//!
//! Invariants: everything behind sees a program and a plan, whichever of both forms they came in; a target that is no plan file goes
//! before the clients of its plan.
//! Not here: which commands take one (`cli/src/args/cluster_plan.rs`), how suites find some (`suite/find.rs`).

use crate::build;
use crate::error::{CampaignError, ErrorKind};
use crate::pipeline::plan_error;
use crate::remarks::Remarks;
use fozzy_plan::{PlanFile, is_plan_name, read_text};
use std::path::{Path, PathBuf};

/// What helps who has a plan file without clients.
const CLIENTS_HINT: &str = "`clients = \"../clients\"` in [cluster] is a path from the folder of the plan; \
                            or name the clients as TARGET, and this file by --plan";

/// Whether a target is a plan file: by its name, as that of a file that is not there is looked for as a program.
pub(crate) fn is_plan(target: &Path) -> bool {
    is_plan_name(target) && target.is_file()
}

/// The clients of a target that is a plan file, for a command that is given the plan `named` beside it; `None` of another target.
///
/// # Errors
/// When the file names no clients, or none that are there; or another plan is named.
pub fn clients_of_target(target: &Path, named: Option<&Path>) -> Result<Option<PathBuf>, CampaignError> {
    if !is_plan(target) {
        return Ok(None);
    }
    match named.filter(|named| !is_same(named, target)) {
        Some(named) => Err(two_plans(target, named)),
        None => clients(target).map(Some),
    }
}

/// The clients that a plan file names.
///
/// # Errors
/// When it cannot be read, names none, or none that are there.
pub(crate) fn clients(file: &Path) -> Result<PathBuf, CampaignError> {
    let text = read_text(file).map_err(plan_error)?;
    PlanFile::clients_of(&text, file).map_err(|error| {
        let is_of_clients = error.problems.iter().all(|problem| problem.key == "cluster.clients");
        let error = plan_error(error);
        match is_of_clients {
            true => error.hint(CLIENTS_HINT),
            false => error,
        }
    })
}

/// Whether a file is a plan that names its clients, be it sound otherwise or not.
pub(crate) fn names_clients(file: &Path) -> bool {
    let plan = || read_text(file).ok()?.parse::<toml::Table>().ok();
    let clients = |plan: toml::Table| plan.get("cluster").and_then(|cluster| cluster.get("clients")).is_some();
    is_plan(file) && plan().is_some_and(clients)
}

/// The program of the clients that a plan file names, built if they are a folder.
///
/// # Errors
/// As [`clients`], and those of the build.
pub(crate) fn built_clients(file: &Path, remarks: &Remarks) -> Result<PathBuf, CampaignError> {
    let clients = clients(file)?;
    if clients.is_dir() { build::build(&clients, remarks) } else { Ok(clients) }
}

/// What is wrong when a plan file is the target and another one its plan: which of both says what would be hard to tell.
fn two_plans(target: &Path, named: &Path) -> CampaignError {
    let (target, named) = (target.display(), named.display());
    let message = format!("{target} is a plan file, and so the plan of its clients; --plan names another one: {named}");
    CampaignError::new(ErrorKind::Usage, message)
        .hint("leave out --plan; or name the clients as TARGET, with the one plan that they are to have")
}

/// Whether two paths lead to one file.
pub(crate) fn is_same(one: &Path, other: &Path) -> bool {
    one == other || one.canonicalize().is_ok_and(|one| other.canonicalize().is_ok_and(|other| one == other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_file_is_a_target_by_the_clients_that_it_names() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).expect("written");
            path
        };
        let app = write("app.wasm", "");
        let plan = write("plan.toml", "[cluster]\nclients = 'app.wasm'\n");
        assert_eq!(clients_of_target(&plan, None).expect("sound"), Some(app.clone()));
        let again = folder.path().join("./plan.toml");
        assert_eq!(clients_of_target(&plan, Some(&again)).expect("one plan"), Some(app.clone()));
        assert_eq!(clients_of_target(&app, Some(&plan)).expect("a program"), None);
        assert_eq!(clients_of_target(&folder.path().join("none.toml"), None).expect("not there"), None);
        let refused = |file: &Path, named: Option<&Path>| {
            let error = clients_of_target(file, named).expect_err("refused");
            (error.message.replace(&format!("{}/", folder.path().display()), ""), error.hint.unwrap_or_default())
        };
        let (message, hint) = refused(&plan, Some(&app));
        assert!(
            message.ends_with("--plan names another one: app.wasm") && hint.contains("leave out --plan"),
            "{message}"
        );
        for (text, said) in [
            ("", "bad.toml: `cluster.clients`: this key is missing"),
            ("\n[cluster]\nfaults-until = '1s'", "bad.toml:2:2: `cluster.clients`: this key is missing"),
            ("[cluster]\nclients = 'none'", "bad.toml:2:1: `cluster.clients`: there is no file or folder `none`"),
        ] {
            let (message, hint) = refused(&write("bad.toml", text), None);
            assert!(
                message.starts_with(said) && hint.contains("name the clients as TARGET"),
                "{text}: {message} {hint}"
            );
        }
        let (message, hint) = refused(&write("bad.toml", "[clusters]\nclients = 'a'"), None);
        assert!(message.contains("did you mean `cluster`?") && hint.contains("fozzy schema plan"), "{message} {hint}");
    }
}
