//! What `deploy/` promises: files that their own readers take, with commands that this fozzy has.
//!
//! ```text
//! kubernetes/*.yaml   each document, and what one says of another; kubernetes-validate (tier two)
//! systemd/*.service   sections and commands; systemd-analyze verify (tier two)
//! container/          the worker's exit codes and signals, with a `fozzy` that is a script
//! ```
//!
//! Not here: a cluster.

use crate::fozzy::{Fozzy, repository};
use crate::tier::{self, Requirement};
use crate::wait;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use yaml_rust2::{Yaml, YamlLoader};

/// The version of the schemas of Kubernetes.
const SCHEMAS: &str = "kubernetes-validate==1.37.0";

fn deploy(path: &str) -> PathBuf {
    repository().join("deploy").join(path)
}

fn files(folder: &str, ending: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(deploy(folder)).expect("a folder").flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|it| it == ending)).collect();
    files.sort();
    assert!(!files.is_empty());
    files
}

fn manifests() -> Vec<Yaml> {
    let load = |path: &PathBuf| YamlLoader::load_from_str(&fs::read_to_string(path).expect("text")).expect("YAML");
    files("kubernetes", "yaml").iter().flat_map(load).collect()
}

fn text(yaml: &Yaml) -> String {
    match yaml {
        Yaml::Integer(number) => number.to_string(),
        yaml => yaml.as_str().unwrap_or_else(|| panic!("{yaml:?} is no text")).to_owned(),
    }
}

fn list(yaml: &Yaml) -> &[Yaml] {
    yaml.as_vec().map_or(&[], Vec::as_slice)
}

fn names(rows: &Yaml) -> BTreeSet<String> {
    list(rows).iter().map(|row| text(&row["name"])).collect()
}

/// Refuses flags that the command does not have.
fn check_flags(fozzy: &Fozzy, command: &str, words: &[String]) {
    let help = fozzy.run(&[command, "--help"]).exits(0).out();
    for flag in words.iter().filter(|word| word.starts_with('-')) {
        assert!(help.contains(flag.as_str()), "{flag} is no flag of fozzy {command}");
    }
}

#[test]
fn manifests_agree_with_each_other_and_with_the_command() {
    let (fozzy, all) = (Fozzy::new(), manifests());
    let of_kind = |kind: &str| -> Vec<&Yaml> { all.iter().filter(|it| it["kind"].as_str() == Some(kind)).collect() };
    let job = &of_kind("Job")[0]["spec"];
    assert_eq!(
        (job["completionMode"].as_str(), job["podReplacementPolicy"].as_str()),
        (Some("Indexed"), Some("Failed"))
    );
    let pod = &job["template"]["spec"];
    assert_eq!(
        (pod["restartPolicy"].as_str(), pod["terminationGracePeriodSeconds"].as_i64()),
        (Some("Never"), Some(120))
    );
    let rules = list(&job["podFailurePolicy"]["rules"]);
    assert_eq!(rules[0]["action"].as_str(), Some("Ignore"));
    assert_eq!(rules[0]["onPodConditions"][0]["type"].as_str(), Some("DisruptionTarget"));
    // A store that is away for a while ends workers with 2 as well: that must not end the job.
    assert_eq!(rules.len(), 1, "{rules:?}");
    let args: Vec<String> = list(&pod["containers"][0]["args"]).iter().map(text).collect();
    check_flags(&fozzy, "fleet", &args);

    let pods: Vec<&Yaml> = all.iter().map(|it| &it["spec"]["template"]).filter(|it| !it.is_badvalue()).collect();
    assert_eq!(pods.len(), 3);
    let labels: BTreeSet<String> = pods.iter().map(|pod| text(&pod["metadata"]["labels"]["app"])).collect();
    let mut secrets = BTreeSet::new();
    for pod in &pods {
        let pod = &pod["spec"];
        let claims = of_kind("StatefulSet")[0]["spec"]["volumeClaimTemplates"].clone();
        let claims = list(&claims).iter().map(|claim| text(&claim["metadata"]["name"])).collect::<BTreeSet<_>>();
        assert!(pod["securityContext"]["runAsNonRoot"].as_bool() == Some(true), "{pod:?}");
        for container in list(&pod["containers"]) {
            let image = text(&container["image"]);
            assert!(!image.contains('/') && image.contains(':'), "{image}: no registry, and one version");
            assert_eq!(container["securityContext"]["readOnlyRootFilesystem"].as_bool(), Some(true));
            assert!(!container["resources"]["limits"]["memory"].is_badvalue(), "{image} has no bound");
            let mounts = names(&container["volumeMounts"]);
            assert!(
                mounts.iter().all(|name| names(&pod["volumes"]).contains(name) || claims.contains(name)),
                "{mounts:?}"
            );
            for variable in list(&container["env"]) {
                let secret = &variable["valueFrom"]["secretKeyRef"];
                if !secret.is_badvalue() {
                    secrets.insert(format!("{} {}", text(&secret["name"]), text(&secret["key"])));
                }
            }
            let command: Vec<String> = list(&container["command"]).iter().map(text).collect();
            if command.first().is_some_and(|word| word == "fozzy") {
                check_flags(&fozzy, &command[1], &command);
            }
        }
    }
    // The two of the recipe that is written above the first manifest.
    let secrets: Vec<String> = secrets.into_iter().collect();
    assert_eq!(secrets, ["fozzy-store address", "fozzy-store password"]);
    let policy = &of_kind("NetworkPolicy")[0]["spec"]["ingress"][0]["from"][0]["podSelector"]["matchExpressions"][0];
    assert!(list(&policy["values"]).iter().all(|value| labels.contains(&text(value))), "{policy:?}");
    let settings = text(&of_kind("ConfigMap")[0]["data"]["redis.conf"]);
    assert!(settings.contains("appendonly yes\n") && settings.contains("maxmemory-policy noeviction\n"), "{settings}");
}

/// The settings of a section of a unit.
fn settings(unit: &str, section: &str) -> Vec<(String, String)> {
    let rows = unit.lines().skip_while(|line| line.trim() != format!("[{section}]")).skip(1);
    let rows = rows.take_while(|line| !line.starts_with('[')).filter(|line| !line.starts_with('#'));
    rows.filter_map(|line| line.split_once('=')).map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
}

#[test]
fn units_run_what_the_command_takes_and_give_it_its_time() {
    let fozzy = Fozzy::new();
    for unit in files("systemd", "service") {
        let text = fs::read_to_string(&unit).expect("text");
        let service = settings(&text, "Service");
        let value = |key: &str| service.iter().find(|(name, _)| name == key).map(|(_, value)| value.clone());
        let words: Vec<String> = value("ExecStart").expect("a command").split(' ').map(str::to_owned).collect();
        assert_eq!(words[0], "/usr/local/bin/fozzy");
        check_flags(&fozzy, &words[1], &words[2..]);
        assert!(!text.contains("redis://:"), "passwords are in the file of the environment");
        if words[1] == "fleet" {
            let told = ["TimeoutStopSec", "SuccessExitStatus", "KillMode"].map(|key| value(key).unwrap_or_default());
            assert_eq!(told, ["120", "1 130", "mixed"], "{}", unit.display());
        }
    }
}

#[test]
fn scripts_pass_on_signals_and_take_standing_failures_for_no_failure() {
    let place = tempfile::tempdir().expect("a folder");
    let fake = |body: &str| {
        let path = place.path().join("fozzy");
        fs::write(&path, format!("#!/bin/sh\n{body}\n")).expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("made executable");
    };
    let mut folders = vec![place.path().to_owned()];
    folders.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
    let path = std::env::join_paths(folders).expect("a path");
    let worker = || {
        let mut command = Command::new(deploy("container/fozzy-worker"));
        command.args(["--project", "shop"]).env("PATH", &path).current_dir(place.path());
        command
    };
    for (code, expected) in [(0, 0), (1, 0), (130, 0), (2, 2), (101, 101)] {
        fake(&format!("echo \"$@\" >words\nexit {code}"));
        assert_eq!(wait::run(&mut worker()).status.code(), Some(expected), "{code}");
    }
    assert_eq!(fs::read_to_string(place.path().join("words")).expect("text"), "fleet --no-dashboard --project shop\n");
    fake("trap 'echo told >told; exit 130' TERM\necho begun >begun\nwhile :; do sleep 0.05; done");
    let mut child = worker().spawn().expect("it runs");
    wait::while_running(&mut child, "its worker", || place.path().join("begun").exists());
    let killed = wait::run(Command::new("kill").args(["-TERM", &child.id().to_string()]));
    assert!(killed.status.success());
    assert_eq!(wait::exit(&mut child).code(), Some(0));
    assert!(place.path().join("told").exists(), "it has waited for its worker");

    let script = deploy("systemd/roll-out");
    assert!(wait::run(Command::new("sh").arg("-n").arg(&script)).status.success());
    let refused = wait::run(Command::new(&script).args(["shop;x", "host"]));
    assert_eq!(refused.status.code(), Some(2), "{}", String::from_utf8_lossy(&refused.stderr));
}

/// What pip has installed once, in the folder of what is built.
fn schemas() -> PathBuf {
    let tools = Path::new(env!("CARGO_TARGET_TMPDIR")).join("deploy-readers");
    let stamp = tools.join("version");
    if !fs::read_to_string(&stamp).is_ok_and(|found| found == SCHEMAS) {
        let mut pip = Command::new("python3");
        let installed =
            wait::run(pip.args(["-m", "pip", "install", "--quiet", "--upgrade", "--target"]).arg(&tools).arg(SCHEMAS));
        assert!(installed.status.success(), "{}", String::from_utf8_lossy(&installed.stderr));
        fs::write(stamp, SCHEMAS).expect("written");
    }
    tools
}

/// The reader of units, which is installed where it is missing.
fn systemd_analyze() -> &'static str {
    let path = std::env::var_os("PATH").unwrap_or_default();
    if !std::env::split_paths(&path).any(|folder| folder.join("systemd-analyze").is_file()) {
        for words in [&["update"][..], &["install", "-y", "--no-install-recommends", "systemd"]] {
            let installed = wait::run(Command::new("apt-get").args(words).env("DEBIAN_FRONTEND", "noninteractive"));
            assert!(installed.status.success(), "{}", String::from_utf8_lossy(&installed.stderr));
        }
    }
    "systemd-analyze"
}

#[test]
fn the_schemas_of_kubernetes_take_the_manifests_and_systemd_takes_the_units() {
    tier::require(Requirement::DeployReaders);
    let (tools, place) = (schemas(), tempfile::tempdir().expect("a folder"));
    let validate = |manifest: &Path| {
        let script = "import sys; from kubernetes_validate.__main__ import main; sys.exit(main())";
        let mut python = Command::new("python3");
        wait::run(python.args(["-c", script, "--strict"]).arg(manifest).env("PYTHONPATH", &tools))
    };
    for manifest in files("kubernetes", "yaml") {
        let said = validate(&manifest);
        assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stdout));
    }
    let job = fs::read_to_string(deploy("kubernetes/fleet.yaml")).expect("text");
    let wrong = place.path().join("wrong.yaml");
    fs::write(&wrong, job.replace("completionMode:", "completionsMode:")).expect("written");
    assert!(!validate(&wrong).status.success(), "the schemas are not looked at");

    let verify = |from: &str, to: &str| {
        let units = files("systemd", "service").into_iter().map(|unit| {
            // An instance of it, with a command that is there.
            let name = unit.file_name().expect("a name").to_string_lossy().replace('@', "@shop");
            let text = fs::read_to_string(&unit).expect("text").replace("/usr/local/bin/fozzy ", "/bin/true ");
            fs::write(place.path().join(&name), text.replace(from, to)).expect("written");
            place.path().join(name)
        });
        wait::run(Command::new(systemd_analyze()).arg("verify").args(units))
    };
    let said = verify("", "");
    assert!(said.status.success() && said.stderr.is_empty(), "{}", String::from_utf8_lossy(&said.stderr));
    assert!(!verify("TimeoutStopSec=120", "TimeoutStopSec=soon").stderr.is_empty(), "values are not looked at");
}
