//! The virtual disk as a user lays it out: what stands at its root, what cannot be changed, what the program is given, and under
//! which names.
//!
//! ```text
//! --dir D::/          all that the disk has         --preopen /data::work   std::fs finds "work/x"
//! --dir D::/data::ro  nothing in it changes         --workdir /data         for programs that ask
//! ```
//!
//! Each run is replayed from its trace. Not here: the operations of the disk (`fozzy-world`), the notation (`fozzy-plan`).

use crate::corpus::{self, Target};
use crate::fozzy::{Fozzy, Ran};
use std::fs;

/// A folder with a directory `d` (`x`, `in/y`) and a directory `e` (`z`).
fn folder() -> Fozzy {
    let fozzy = Fozzy::new();
    for (folder, file) in [("d/in", "d/x"), ("d/in", "d/in/y"), ("e", "e/z")] {
        fs::create_dir_all(fozzy.path(folder)).expect("the folder is ours");
        fozzy.write(file, "words");
    }
    fozzy
}

/// Runs the probe, and replays what it did.
#[track_caller]
fn probe(fozzy: &Fozzy, target: Target, flags: &[&str], args: &[&str]) -> Ran {
    let guest = corpus::probe(target);
    let record = ["--record", "t.fozzy", "--record-collision", "overwrite"];
    let words = ["run", guest.to_str().expect("a plain path")];
    let ran = fozzy.run(&[&words[..], &record, flags, &["--"], args].concat());
    if ran.code == Some(0) {
        fozzy.run(&["replay", "t.fozzy"]).exits(0);
    }
    ran
}

#[test]
fn a_root_has_what_its_directory_has_and_nothing_beside_it() {
    let fozzy = folder();
    for target in Target::ALL {
        let ran = probe(&fozzy, target, &["--dir", "d::/"], &["ls", "/"]).exits(0);
        assert!(ran.out().contains("entry    file x\n") && !ran.out().contains("tmp"), "{ran}");
        // Anywhere else, the disk is as it was.
        let ran = probe(&fozzy, target, &["--dir", "d::/d"], &["ls", "/"]).exits(0);
        assert!(ran.out().contains("folder tmp") && ran.out().contains("folder d\n"), "{ran}");
    }
    fozzy.write("plan.toml", "dirs = { \"/\" = \"d\" }\nfiles = { \"/new\" = \"1\" }\n");
    let ran = probe(&fozzy, Target::Wasip2, &["--plan", "plan.toml"], &["ls", "/"]).exits(0);
    assert!(ran.out().contains("file new") && !ran.out().contains("tmp"), "{ran}");
    fozzy.write("plan.toml", "files = { \"/new\" = \"1\" }\n");
    let ran = probe(&fozzy, Target::Wasip2, &["--plan", "plan.toml"], &["ls", "/"]).exits(0);
    assert!(ran.out().contains("folder tmp"), "single files are no root: {ran}");
}

#[test]
fn what_is_read_only_is_not_changed() {
    let fozzy = folder();
    for target in Target::ALL {
        let run = |flags: &[&str], args: &[&str]| probe(&fozzy, target, flags, args);
        let sealed = ["--dir", "d::/data::ro", "--dir", "e::/data/in/e"];
        run(&sealed, &["read", "/data/in/y"]).exits(0);
        for path in ["/data/x", "/data/new", "/data/in/y"] {
            assert!(run(&sealed, &["write", path, "other"]).exits(1).err().contains(path), "{path}");
        }
        // Another directory that is mounted in it is as it is; so is the rest of the disk.
        run(&sealed, &["write", "/data/in/e/z", "other"]).exits(0);
        run(&sealed, &["write", "/data/in/e/new", "other"]).exits(0);
        run(&sealed, &["write", "/tmp/new", "other"]).exits(0);
        run(&["--dir", "d::/data::rw"], &["write", "/data/x", "other"]).exits(0);
    }
    fozzy.write("plan.toml", "dirs = { \"/data\" = \"d\" }\nread-only = [\"/data/in\"]\n");
    let plan = ["--plan", "plan.toml"];
    probe(&fozzy, Target::Wasip2, &plan, &["write", "/data/in/y", "other"]).exits(1);
    probe(&fozzy, Target::Wasip2, &plan, &["write", "/data/x", "other"]).exits(0);
    assert_eq!(fozzy.read("d/x"), b"words", "the real one is never written to");
}

#[test]
fn a_program_is_given_directories_by_names() {
    let fozzy = folder();
    let dirs = ["--dir", "d::/data", "--dir", "e::/e"];
    for target in Target::ALL {
        let given = |preopens: &[&str], args: &[&str]| probe(&fozzy, target, &[&dirs[..], preopens].concat(), args);
        let work = ["--preopen", "/data::work", "--preopen", "/e::ro"];
        given(&work, &["read", "work/x"]).exits(0);
        given(&work, &["read", "/e/z"]).exits(0);
        given(&work, &["write", "work/new", "text"]).exits(0);
        given(&work, &["write", "/e/new", "text"]).exits(1);
        given(&work, &["read", "/data/x"]).exits(1);
        given(&work, &["ls", "/tmp"]).exits(1);
        given(&["--preopen", "/data::."], &["read", "in/y"]).exits(0);
        given(&["--preopen", "/data::/"], &["read", "/in/y"]).exits(0);
    }
    fozzy.write("plan.toml", "preopens = []\n");
    probe(&fozzy, Target::Wasip2, &["--plan", "plan.toml"], &["ls", "/"]).exits(1);
}

#[test]
fn what_is_no_layout_is_refused() {
    let fozzy = folder();
    fozzy.write("tiny.wat", "(module (memory (export \"memory\") 1) (func (export \"_start\")))");
    for (flags, word) in [
        (&["--preopen", "/none"][..], "/none"),
        (&["--dir", "d::/d", "--preopen", "/d/x"], "/d/x"),
        (&["--workdir", "/none"], "/none"),
        (&["--workdir", "/../d"], ".."),
        (&["--dir", "d::/", "--preopen", "/tmp"], "/tmp"),
        (&["--preopen", "/tmp", "--preopen", "/::/tmp"], "/tmp"),
        (&["--preopen", "/a/../b"], ".."),
        (&["--preopen", "/tmp::a::b"], "parts"),
        (&["--preopen", ""], "names no directory"),
        (&["--dir", "d/x::/::ro"], "expected a directory"),
        (&["--dir", "none::/::ro"], "no such directory"),
        (&["--dir", "d::/../x::ro"], ".."),
        (&["--fs-backend", "host", "--preopen", "/"], "--preopen"),
        (&["--fs-backend", "host", "--workdir", "/"], "--workdir"),
    ] {
        let refused = fozzy.run(&[&["run", "tiny.wat"], flags].concat()).exits(2);
        assert!(refused.err().contains(word), "{flags:?}: {refused}");
    }
    fozzy.write("plan.toml", "read-only = [\"/none\"]\n");
    fozzy.run(&["run", "tiny.wat", "--plan", "plan.toml"]).exits(2);
    fozzy.write("plan.toml", "preopens = [\"/a::\"]\ncwd = \"../x\"\n");
    let refused = fozzy.run(&["validate", "plan.toml"]).exits(2);
    assert!(refused.out().contains("preopens") && refused.out().contains("cwd"), "{refused}");
}
