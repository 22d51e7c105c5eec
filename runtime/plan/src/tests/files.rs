//! Files of the real computer that plans name, and the messages when they are missing.

use super::parsed;
use crate::{PLAN_BYTES_MAX, PlanFile, read_text, validate_deep};
use fozzy_trace::plan::Inputs;
use std::fs;
use std::path::Path;

#[test]
fn all_that_is_missing_is_named_at_its_place() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("dir")).expect("a folder");
    let text = "stdin = { file = 'none.txt' }
[dirs]
'/d' = 'nowhere'
[[http]]
url = '/'
body = { file = 'dir' }
[[node]]
name = 'a'
component = 'a.wasm'
[[node]]
name = 'b'
component = 'a.wasm'
[cluster]
clients = 'c.wasm'
";
    let path = folder.path().join("plan.toml");
    let mut asked = 0;
    let mut loader = |path: &Path| {
        asked += 1;
        Err(format!("cannot load {}", path.file_name().expect("a name").display()))
    };
    let found = validate_deep(text, &path, &mut loader);
    let found: Vec<String> = found.iter().map(ToString::to_string).collect();
    let shown = folder.path().display();
    assert_eq!(asked, 2, "of two machines once, and of the clients");
    assert_eq!(
        found,
        [
            format!("1:1: `stdin`: cannot read `{shown}/none.txt`: No such file or directory (os error 2)"),
            format!("3:1: `dirs.\"/d\"`: cannot capture `{shown}/nowhere`: there is no such directory"),
            format!("6:1: `http[0].body`: cannot read `{shown}/dir`: expected a file, found something else"),
            "9:1: `node[0].component`: cannot load a.wasm".to_owned(),
            "14:1: `cluster.clients`: cannot load c.wasm".to_owned(),
        ]
    );
    // Merged, there are no places, but keys and paths.
    let merged = PlanFile::parse(text, &path).expect("sound").over(PlanFile::default());
    let error = merged.resolve("app", &mut |_| Ok(Vec::new()), &mut Inputs::default()).expect_err("three problems");
    assert!(error.to_string().starts_with("`stdin`: cannot read"), "{error}");
    assert_eq!(error.problems.len(), 3);
}

#[test]
fn a_single_file_takes_the_place_of_a_captured_one_but_not_of_a_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir_all(folder.path().join("d/sub")).expect("folders");
    fs::write(folder.path().join("d/f"), "old").expect("a file");
    let path = folder.path().join("plan.toml");
    for (file, problem) in [
        ("/d/f", None),
        ("/d/sub/new", None),
        ("/dd", None),
        ("/d/sub", Some("there is a directory `sub` in `/d` already")),
        ("/d/f/g", Some("`f` is no directory in `/d`, so nothing can be in it")),
    ] {
        let text = format!("dirs = {{ '/d' = 'd' }}\nfiles = {{ '{file}' = 'new' }}");
        let plan = PlanFile::parse(&text, &path).expect("sound");
        let mut inputs = Inputs::default();
        let found = plan.resolve("app", &mut |_| Ok(Vec::new()), &mut inputs);
        match problem {
            Some(problem) => assert!(found.expect_err(file).to_string().ends_with(problem), "{file}"),
            None => {
                // The disk itself is the judge of whether mounts go together.
                let plan = found.expect(file).plan;
                let limits = fozzy_world::files::DiskLimits { bytes: 1 << 20, nodes: 100 };
                let mut disk = fozzy_world::Disk::new(limits, 0);
                for mount in &plan.main.dirs {
                    disk.mount(mount, &inputs, 0).expect(file);
                }
            }
        }
    }
}

#[test]
fn faults_name_machines_that_there_are() {
    use fozzy_world::fault::{FAULTS, FaultTarget};
    for kind in FAULTS.iter().filter(|kind| kind.target == FaultTarget::Node) {
        let node = "[[node]]\nname = 'Server'\ncomponent = 'a'\n";
        let text = |target: &str| format!("{node}[[fault]]\nkind = '{}'\ntarget = '{target}'", kind.name);
        let resolve = |text: &str| parsed(text).resolve("app", &mut |_| Ok(Vec::new()), &mut Inputs::default());
        let main = Some("main").filter(|_| kind.name != "kill");
        for target in main.into_iter().chain(["server", "SERVER", "s*"]) {
            resolve(&text(target)).expect(target);
        }
        let error = resolve(&text("sever")).expect_err("no such machine").to_string();
        assert_eq!(error, "`fault[0].target`: there is no machine `sever`; did you mean `server`?");
    }
    let text = |target: &str| {
        let node = "[[node]]\nname = 'Server'\ncomponent = 'a'\n";
        format!("{node}[[fault]]\nkind = 'disk-full'\ntarget = '{target}'")
    };
    let resolve = |target: &str| parsed(&text(target)).resolve("app", &mut |_| Ok(Vec::new()), &mut Inputs::default());
    assert_eq!(resolve("SERVER:/Data/*").expect("it is there").plan.faults[0].target, "server:/Data/*");
    let error = resolve("sever:/data/*").expect_err("no such machine").to_string();
    assert_eq!(error, "`fault[0].target`: there is no machine `sever`; did you mean `server`?");
}

#[test]
fn files_that_are_no_plans_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("plan.toml");
    let refused = |path: &Path| read_text(path).expect_err("no plan").to_string();
    assert!(refused(&path).contains("cannot read it"), "{}", refused(&path));
    assert!(refused(folder.path()).contains("something that is no file"));
    fs::write(&path, b"args = ['a']\n# \xff").expect("a file");
    assert!(refused(&path).ends_with(":2:3: expected UTF-8, found other bytes"), "{}", refused(&path));
    // A sparse file of a hundred megabytes.
    fs::File::create(&path).and_then(|file| file.set_len(100 << 20)).expect("a file");
    assert!(refused(&path).contains("more than the 4194304 bytes"), "{}", refused(&path));
    fs::write(&path, " ".repeat(PLAN_BYTES_MAX)).expect("a file");
    assert_eq!(read_text(&path).map(|text| text.len()), Ok(PLAN_BYTES_MAX));
}
