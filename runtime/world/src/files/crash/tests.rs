//! Crashes: the classic losses, each as its smallest example; and random histories against a brute-force model that
//! lists every state which the specification allows.

use super::super::tests::Lcg;
use super::super::{DescriptorFlags, Disk, DiskLimits, Errno, FileDescriptor, InodeKind, OpenFlags, PathFlags};
use super::super::{JOURNAL_OPERATIONS_MAX, PENDING_BYTES_MAX, PENDING_CHANGES_MAX};
use super::SECTOR_BYTES;
use crate::{Decider, Faults, OpContext};
use fozzy_trace::plan::{Edition, FaultPlan, NameDurability};
use fozzy_trace::{Duration, Instant, NodeId, Question};
use std::collections::{BTreeMap, BTreeSet};

/// Answers from a list, and zero when it is used up.
struct ScriptedAnswers(Vec<u64>);

impl Decider for ScriptedAnswers {
    fn below(&mut self, question: Question<'_>, bound: u64) -> u64 {
        let answer = if self.0.is_empty() { 0 } else { self.0.remove(0) };
        assert!(answer < bound, "{question:?} has no answer {answer}");
        answer
    }
}

struct Random(Lcg);

impl Decider for Random {
    fn below(&mut self, _: Question<'_>, bound: u64) -> u64 {
        self.0.below(bound)
    }
}

const WRITE: DescriptorFlags = DescriptorFlags {
    read: true,
    write: true,
    file_integrity_sync: false,
    data_integrity_sync: false,
    requested_write_sync: false,
    mutate_directory: false,
};
const FOLLOW: PathFlags = PathFlags { symlink_follow: true };
const PLAIN: OpenFlags = OpenFlags { create: false, directory: false, exclusive: false, truncate: false };

/// A machine with a disk on which durability is tracked.
#[derive(Clone)]
struct Machine {
    disk: Disk,
    root: FileDescriptor,
}

impl Machine {
    fn new() -> Machine {
        Machine::with(DiskLimits { bytes: 1 << 30, nodes: 1 << 20 })
    }

    fn with(limits: DiskLimits) -> Machine {
        let mut disk = Disk::new(limits, 0);
        let root = disk.open_root(true);
        disk.remove_directory_at(&root, "tmp", 0).expect("it is empty");
        disk.track_durability(true);
        Machine { disk, root }
    }

    /// Opens, acts and closes.
    fn on<T>(
        &mut self,
        path: &str,
        open: OpenFlags,
        act: impl FnOnce(&mut Disk, &FileDescriptor) -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        let directory = path.is_empty();
        let file = match directory {
            true => self.disk.open_path("/", true)?,
            false if open == PLAIN => {
                let reading = DescriptorFlags { write: false, ..WRITE };
                match self.disk.open_at(&self.root, FOLLOW, path, open, WRITE, 0) {
                    Err(Errno::IsDirectory) => self.disk.open_at(&self.root, FOLLOW, path, open, reading, 0)?,
                    other => other?,
                }
            }
            false => self.disk.open_at(&self.root, FOLLOW, path, open, WRITE, 0)?,
        };
        let result = act(&mut self.disk, &file);
        self.disk.closed(file.node);
        result
    }

    fn create(&mut self, path: &str) -> Result<(), Errno> {
        self.on(path, OpenFlags { create: true, exclusive: true, ..PLAIN }, |_, _| Ok(()))
    }

    fn write(&mut self, path: &str, offset: u64, bytes: &[u8]) {
        let open = OpenFlags { create: true, ..PLAIN };
        let written = self.on(path, open, |disk, file| disk.write(file, offset, bytes, 0));
        assert_eq!(written, Ok(bytes.len() as u64));
    }

    fn sync(&mut self, path: &str) {
        self.on(path, PLAIN, |disk, file| disk.sync(file)).expect("a sync without faults");
    }

    fn fail_sync(&mut self, path: &str) {
        let failed = self.on(path, PLAIN, |disk, file| {
            disk.fail_sync(file);
            Ok(())
        });
        failed.expect("it can be opened");
    }

    fn read(&mut self, path: &str) -> Result<String, Errno> {
        let bytes = self.on(path, PLAIN, |disk, file| disk.read(file, 0, 1 << 16))?.0;
        Ok(String::from_utf8(bytes).expect("the tests write text"))
    }

    fn rename(&mut self, old: &str, new: &str) -> Result<(), Errno> {
        self.disk.rename_at(&self.root, old, &self.root, new, 0)
    }

    /// The machine after a crash with these answers.
    fn crashed(&self, faults: &[FaultPlan], decider: &mut dyn Decider) -> Machine {
        self.crashed_in(Edition::LATEST, faults, decider)
    }

    fn crashed_in(&self, edition: Edition, faults: &[FaultPlan], decider: &mut dyn Decider) -> Machine {
        let mut after = self.clone();
        after.disk.closed(after.root.node);
        let mut faults = Faults::new(faults).expect("kinds that there are");
        after
            .disk
            .crash(edition, &mut OpContext { now: Instant::START, node: NodeId(0), faults: &mut faults, decider });
        after.root = after.disk.open_root(true);
        after
    }

    fn answers(&self, answers: &[u64]) -> Machine {
        self.crashed(&[], &mut ScriptedAnswers(answers.to_vec()))
    }

    /// All paths with their contents; a directory has none.
    fn tree(&mut self) -> BTreeMap<String, Option<Vec<u8>>> {
        let mut tree = BTreeMap::new();
        let mut pending = vec![String::new()];
        while let Some(path) = pending.pop() {
            let entries = self.on(&path, PLAIN, |disk, at| disk.read_directory(at)).expect("a directory");
            for (name, kind) in entries {
                let path = if path.is_empty() { name.to_string() } else { format!("{path}/{name}") };
                let content = match kind {
                    InodeKind::Directory => {
                        pending.push(path.clone());
                        None
                    }
                    _ => Some(self.on(&path, PLAIN, |disk, file| disk.read(file, 0, 1 << 16)).expect("a file").0),
                };
                tree.insert(path, content);
            }
        }
        tree
    }
}

fn rule(kind: &str, rate_ppm: u32, strength: Option<u64>) -> FaultPlan {
    let target = "*".to_owned();
    FaultPlan {
        kind: kind.to_owned(),
        target,
        rate_ppm,
        start: Duration(0),
        length: None,
        strength,
        times: None,
        nemesis: None,
    }
}

/// `conf` is replaced the way that programs do it.
fn replaced(sync_data: bool) -> Machine {
    let mut machine = Machine::new();
    machine.write("conf", 0, b"old");
    machine.sync("conf");
    machine.sync("");
    machine.write("conf.new", 0, b"new");
    if sync_data {
        machine.sync("conf.new");
    }
    machine.rename("conf.new", "conf").expect("a rename");
    machine
}

#[test]
fn a_rename_without_sync_leaves_an_empty_file() {
    assert_eq!(replaced(false).answers(&[0, 1]).read("conf").as_deref(), Ok(""));
}

#[test]
fn a_synced_replacement_is_the_old_or_the_new() {
    let machine = replaced(true);
    let mut seen = BTreeSet::new();
    for seed in 0..50 {
        seen.insert(machine.crashed(&[], &mut Random(Lcg(seed << 40))).read("conf").expect("conf is never missing"));
    }
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), ["new", "old"]);
}

#[test]
fn the_mildest_crash_loses_nothing() {
    let mut machine = replaced(false);
    assert_eq!(machine.answers(&[]).tree(), machine.tree());
}

#[test]
fn a_new_file_needs_a_sync_of_its_directory() {
    let mut machine = Machine::new();
    machine.write("log", 0, b"first");
    machine.sync("log");
    assert_eq!(machine.answers(&[1]).read("log"), Err(Errno::NoEntry));
    machine.sync("");
    assert_eq!(machine.answers(&[]).read("log").as_deref(), Ok("first"));
    assert_eq!(machine.disk.names_pending(), 0);
}

#[test]
fn on_ext4_the_sync_of_a_file_keeps_its_name_and_those_before() {
    let mut machine = Machine::new();
    machine.disk.keep_names(NameDurability::Ext4);
    machine.create("before").expect("room");
    machine.write("log", 0, b"first");
    machine.sync("log");
    assert_eq!(machine.disk.names_pending(), 0, "its journal has one transaction");
    machine.create("after").expect("room");
    machine.sync("log");
    assert_eq!(machine.disk.names_pending(), 1, "nothing of the file is to be written, so nothing is committed");
    machine.rename("log", "log.1").expect("a rename");
    let sync_data = |machine: &mut Machine| machine.on("log.1", PLAIN, |disk, file| disk.sync_data(file));
    sync_data(&mut machine).expect("a sync without faults");
    assert_eq!(machine.disk.names_pending(), 2, "the data can be read without it");
    machine.sync("log.1");
    assert_eq!(machine.disk.names_pending(), 0);
    machine.create("last").expect("room");
    machine.write("log.1", 0, b"again");
    sync_data(&mut machine).expect("a sync without faults");
    assert_eq!(machine.disk.names_pending(), 0, "data finds its place in a transaction");
}

/// The sentences about a crash with these answers.
fn lost(machine: &Machine, faults: &[FaultPlan], answers: &[u64]) -> Vec<String> {
    let mut after = machine.clone();
    after.disk.closed(after.root.node);
    let mut faults = Faults::new(faults).expect("kinds that there are");
    let mut decider = ScriptedAnswers(answers.to_vec());
    let now = Instant(7);
    after
        .disk
        .crash(Edition::LATEST, &mut OpContext { now, node: NodeId(0), faults: &mut faults, decider: &mut decider });
    let [loss] = &faults.report().losses[..] else { panic!("one loss of power") };
    assert_eq!((loss.at, &*loss.machine), (now, "n0"));
    loss.lost.clone()
}

#[test]
fn what_a_crash_takes_is_told() {
    let mut machine = Machine::new();
    for record in 0..13 {
        machine.write("j", record * 4, b"abc\n");
    }
    machine.sync("j");
    assert_eq!(
        lost(&machine, &[], &[1]),
        ["the name /j: its directory was not synced since; 13 writes with it (52 bytes)"]
    );
    machine.sync("");
    assert_eq!(lost(&machine, &[], &[]), Vec::<String>::new());
    machine.disk.create_directory_at(&machine.root, "d", 0).expect("room");
    machine.rename("j", "d/j").expect("a rename");
    machine.write("d/j", 0, b"x");
    machine.write("d/j", 0, &[b'y'; 1000]);
    // Both names stay; of the writes each for itself: one lost, one torn.
    assert_eq!(
        lost(&machine, &[], &[0, 3, 1, 2, 0, 0]),
        ["1 of 2 unsynced writes to /d/j", "parts of 1 unsynced write to /d/j: torn"]
    );
    assert_eq!(
        lost(&machine, &[], &[2, 1]),
        ["the rename of /j to /d/j", "the directory /d", "2 unsynced writes to /j"]
    );
    machine.fail_sync("d/j");
    assert_eq!(lost(&machine, &[], &[]), ["what a failed sync left unwritten of /d/j"]);
    let mut many = Machine::new();
    (0..40).for_each(|number| many.create(&format!("f{number}")).expect("room"));
    let told = lost(&many, &[], &[40]);
    assert_eq!((told.len(), told.last().map(String::as_str)), (17, Some("and 24 more")));
}

#[test]
fn an_append_is_torn_at_a_sector() {
    let mut machine = Machine::new();
    machine.write("log", 0, &[b'a'; 500]);
    machine.sync("log");
    machine.sync("");
    machine.write("log", 500, &[b'b'; 1000]);
    // Each for itself, torn, at the second border, the beginning stays.
    let text = machine.answers(&[3, 2, 1, 0]).read("log").expect("it is there");
    assert_eq!((text.len(), &text[499..501]), (2 * SECTOR_BYTES as usize, "ab"));
    let text = machine.answers(&[3, 2, 1, 1]).read("log").expect("it is there");
    assert_eq!((text.len(), &text[499..501], &text[1023..1025]), (1500, "a\0", "\0b"));
}

#[test]
fn the_last_write_is_lost_and_the_first_is_not() {
    let mut machine = Machine::new();
    machine.write("log", 0, b"ab");
    machine.sync("");
    machine.write("log", 2, b"cd");
    assert_eq!(machine.answers(&[2, 1, 1]).read("log").as_deref(), Ok("ab"));
    assert_eq!(machine.answers(&[3, 1, 0]).read("log").as_deref(), Ok("\0\0cd"));
}

#[test]
fn what_a_failed_sync_lost_no_later_sync_saves() {
    let mut machine = Machine::new();
    machine.write("log", 0, b"ab");
    machine.sync("log");
    machine.sync("");
    machine.write("log", 0, b"X");
    machine.fail_sync("log");
    machine.write("log", 1, b"Y");
    machine.sync("log");
    assert_eq!(machine.read("log").as_deref(), Ok("XY"), "it is still seen");
    assert_eq!(machine.answers(&[]).read("log").as_deref(), Ok("aY"));
}

#[test]
fn planned_kinds_of_loss_decide_alone() {
    let mut machine = Machine::new();
    machine.write("log", 0, &[b'a'; 1024]);
    let torn = machine.crashed(&[rule("torn-write", 1_000_000, None)], &mut ScriptedAnswers(vec![0])).read("log");
    assert_eq!(torn.map(|text| text.len()), Ok(512));
    let torn =
        machine.crashed(&[rule("torn-write", 1_000_000, Some(1))], &mut ScriptedAnswers(vec![0, 0, 6, 0])).read("log");
    assert_eq!(torn.map(|text| text.len()), Ok(7));
    let lost = machine.crashed(&[rule("lost-write", 1_000_000, None)], &mut ScriptedAnswers(vec![])).read("log");
    assert_eq!(lost.as_deref(), Ok(""));
    let elsewhere = FaultPlan { target: "/other/*".to_owned(), ..rule("lost-write", 1_000_000, None) };
    let kept = machine.crashed(&[elsewhere], &mut ScriptedAnswers(vec![])).read("log");
    assert_eq!(kept.map(|text| text.len()), Ok(1024));
}

#[test]
fn names_are_lost_whatever_decides_about_contents() {
    let mut machine = Machine::new();
    machine.write("log", 0, b"a");
    let faults = [rule("lost-write", 1_000_000, None)];
    assert_eq!(machine.crashed(&faults, &mut ScriptedAnswers(vec![1])).read("log"), Err(Errno::NoEntry));
    assert_eq!(machine.crashed(&faults, &mut ScriptedAnswers(vec![0])).read("log").as_deref(), Ok(""));
    let before = machine.crashed_in(Edition::FOURTH, &faults, &mut ScriptedAnswers(vec![])).read("log");
    assert_eq!(before.as_deref(), Ok(""), "nobody was asked about names");
}

#[test]
fn without_tracking_nothing_is_lost() {
    let mut machine = replaced(false);
    machine.disk.track_durability(false);
    assert_eq!(machine.crashed(&[], &mut Random(Lcg(1))).read("conf").as_deref(), Ok("new"));
}

#[test]
fn what_is_pending_is_bounded() {
    let mut machine = Machine::new();
    for n in 0..2 * JOURNAL_OPERATIONS_MAX {
        machine.create(&n.to_string()).expect("room");
    }
    assert_eq!(machine.disk.names_pending(), JOURNAL_OPERATIONS_MAX);
    assert_eq!(machine.answers(&[JOURNAL_OPERATIONS_MAX]).tree().len() as u64, JOURNAL_OPERATIONS_MAX);
    machine.sync("");
    for n in 0..=PENDING_CHANGES_MAX {
        machine.write("0", n, b"x");
    }
    assert_eq!(machine.answers(&[1]).read("0").map(|text| text.len() as u64), Ok(PENDING_CHANGES_MAX + 1));
    machine.write("1", 0, &vec![b'x'; PENDING_BYTES_MAX as usize]);
    assert_eq!(machine.answers(&[1]).read("1").as_deref(), Ok(""));
    machine.write("2", 0, b"x");
    assert_eq!(machine.answers(&[1]).read("1").map(|text| text.len()), Ok(1 << 16));
}

#[test]
fn durable_contents_do_not_outgrow_the_disk() {
    let mut machine = Machine::with(DiskLimits { bytes: 1 << 20, nodes: 100 });
    let big = vec![b'x'; 900_000];
    for n in 0..50 {
        let path = n.to_string();
        machine.write(&path, 0, &big);
        machine.sync(&path);
        machine.on(&path, OpenFlags { truncate: true, ..PLAIN }, |_, _| Ok(())).expect("open");
        let kept: u64 = machine.disk.clone().take_pending().iter().map(|(_, file)| file.durable.usage().bytes).sum();
        assert!(kept <= 1 << 20, "{kept}");
        machine.fail_sync(&path);
    }
}

#[test]
fn a_full_disk_makes_removals_durable_and_goes_on() {
    let mut machine = Machine::with(DiskLimits { bytes: 10_000, nodes: 3 });
    for _ in 0..3 {
        machine.write("a", 0, &[b'x'; 10_000]);
        machine.create("b").expect("room for three");
        machine.disk.unlink_file_at(&machine.root, "a", 0).expect("it is there");
        machine.disk.unlink_file_at(&machine.root, "b", 0).expect("it is there");
    }
}

// The model, which shares nothing with the disk: versions of the tree, and every content that a file could have.

/// A change of a file: bytes at an offset, or a size.
#[derive(Clone)]
enum ContentChange {
    Bytes(usize, Vec<u8>),
    Size(usize),
}

fn apply(content: &[u8], change: &ContentChange) -> Vec<u8> {
    let mut content = content.to_vec();
    match change {
        ContentChange::Size(size) => content.resize(*size, 0),
        ContentChange::Bytes(offset, bytes) => {
            content.resize(content.len().max(offset + bytes.len()), 0);
            content[*offset..offset + bytes.len()].copy_from_slice(bytes);
        }
    }
    content
}

#[derive(Default)]
struct File {
    durable: Vec<u8>,
    pending: Vec<ContentChange>,
}

impl File {
    /// Every content after a crash.
    fn outcomes(&self) -> BTreeSet<Vec<u8>> {
        let sector = SECTOR_BYTES as usize;
        self.pending.iter().fold(BTreeSet::from([self.durable.clone()]), |before, change| {
            let mut after = before.clone();
            for content in &before {
                after.insert(apply(content, change));
                let ContentChange::Bytes(offset, bytes) = change else { continue };
                for border in (offset + 1..offset + bytes.len()).filter(|at| at % sector == 0) {
                    let (beginning, end) = bytes.split_at(border - offset);
                    after.insert(apply(content, &ContentChange::Bytes(*offset, beginning.to_vec())));
                    after.insert(apply(content, &ContentChange::Bytes(border, end.to_vec())));
                }
            }
            after
        })
    }
}

/// Paths to identities; a directory's identity is odd.
type Tree = BTreeMap<String, u64>;

struct Model {
    /// The tree after each change of names, and the directories that it changed.
    versions: Vec<(Tree, Vec<u64>)>,
    committed: usize,
    files: BTreeMap<u64, File>,
    made: u64,
}

impl Model {
    fn new() -> Model {
        Model { versions: vec![(Tree::new(), Vec::new())], committed: 0, files: BTreeMap::new(), made: 0 }
    }

    fn now(&self) -> &Tree {
        &self.versions.last().expect("there is a first").0
    }

    /// The identity of the directory that a path is in; the root's is 1.
    fn parent(&self, path: &str) -> u64 {
        path.rsplit_once('/').map_or(1, |(parent, _)| self.now()[parent])
    }

    fn change(&mut self, paths: &[&str], change: impl FnOnce(&mut Tree)) {
        let touched = paths.iter().map(|path| self.parent(path)).collect();
        let mut tree = self.now().clone();
        change(&mut tree);
        self.versions.push((tree, touched));
    }

    fn make(&mut self, path: &str, directory: bool) {
        self.made += 1;
        let id = 2 * self.made + u64::from(directory);
        self.change(&[path], |tree| {
            tree.insert(path.to_owned(), id);
        });
        if !directory {
            self.files.insert(id, File::default());
        }
    }

    fn rename(&mut self, old: &str, new: &str) {
        if self.now()[old] == self.now().get(new).copied().unwrap_or(0) {
            return;
        }
        self.change(&[old, new], |tree| {
            tree.remove(new);
            let below = format!("{old}/");
            let moved: Vec<String> =
                tree.keys().filter(|path| *path == old || path.starts_with(&below)).cloned().collect();
            for path in moved {
                let id = tree.remove(&path).expect("just seen");
                tree.insert(format!("{new}{}", &path[old.len()..]), id);
            }
        });
    }

    fn sync_directory(&mut self, path: &str) {
        let id = if path.is_empty() { 1 } else { self.now()[path] };
        let last = (0..self.versions.len()).rev().find(|version| self.versions[*version].1.contains(&id));
        self.committed = self.committed.max(last.unwrap_or(0));
    }

    /// Which version of the names the tree after a crash is, if it is one that may be.
    fn version_of(&self, found: &BTreeMap<String, Option<Vec<u8>>>) -> Option<usize> {
        (self.committed..self.versions.len()).rev().find(|version| {
            let tree = &self.versions[*version].0;
            let mut contents: BTreeMap<u64, &[u8]> = BTreeMap::new();
            tree.keys().eq(found.keys())
                && tree.iter().all(|(path, id)| match &found[path] {
                    None => id % 2 == 1,
                    Some(content) => {
                        let one_file = *contents.entry(*id).or_insert(content) == content.as_slice();
                        id % 2 == 0 && one_file && self.files[id].outcomes().contains(content)
                    }
                })
        })
    }
}

/// One random operation on both. What the disk refuses, the model does not do.
fn step(machine: &mut Machine, model: &mut Model, random: &mut Lcg) {
    const DIRECTORIES: [&str; 5] = ["", "d", "e", "d/s", "e/s"];
    let directory = DIRECTORIES[random.below(5) as usize];
    let path = |random: &mut Lcg| {
        let directory = DIRECTORIES[random.below(5) as usize];
        let name = ["a", "b"][random.below(2) as usize];
        if directory.is_empty() { name.to_owned() } else { format!("{directory}/{name}") }
    };
    let (one, other) = (path(random), path(random));
    let root = machine.root;
    match random.below(14) {
        0 | 1 => {
            if machine.create(&one).is_ok() {
                model.make(&one, false);
            }
        }
        2 => {
            if machine.disk.create_directory_at(&root, directory, 0).is_ok() {
                model.make(directory, true);
            }
        }
        3 => {
            if machine.disk.remove_directory_at(&root, directory, 0).is_ok() {
                model.change(&[directory], |tree| {
                    tree.remove(directory);
                });
            }
        }
        4 => {
            if machine.disk.unlink_file_at(&root, &one, 0).is_ok() {
                model.change(&[&one], |tree| {
                    tree.remove(&one);
                });
            }
        }
        5 => {
            if machine.disk.link_at(&root, PathFlags::default(), &one, &root, &other, 0).is_ok() {
                let id = model.now()[&one];
                model.change(&[&other], |tree| {
                    tree.insert(other.clone(), id);
                });
            }
        }
        6 | 7 => {
            if machine.rename(&one, &other).is_ok() {
                model.rename(&one, &other);
            }
        }
        8 => {
            let to = DIRECTORIES[random.below(5) as usize];
            if machine.rename(directory, to).is_ok() {
                model.rename(directory, to);
            }
        }
        9 => {
            if machine.on(directory, PLAIN, |disk, at| disk.sync(at)).is_ok() {
                model.sync_directory(directory);
            }
        }
        10 => {
            if machine.on(&one, PLAIN, |disk, file| disk.sync(file)).is_ok() {
                settle(model, &one);
            }
        }
        kind => {
            let Some(id) = model.now().get(&one).copied() else { return };
            if model.files[&id].pending.len() == 3 {
                machine.sync(&one);
                settle(model, &one);
            }
            let change = if kind == 11 {
                let size = random.below(1500);
                machine.on(&one, PLAIN, |disk, file| disk.set_size(file, size, 0)).expect("a size");
                ContentChange::Size(size as usize)
            } else {
                let offset = random.below(1500);
                let bytes = vec![b'a' + random.below(26) as u8; 1 + random.below(1400) as usize];
                machine.write(&one, offset, &bytes);
                ContentChange::Bytes(offset as usize, bytes)
            };
            model.files.get_mut(&id).expect("a file").pending.push(change);
        }
    }
}

/// The changes of a file are durable.
fn settle(model: &mut Model, path: &str) {
    let id = model.now()[path];
    let file = model.files.get_mut(&id).expect("a file");
    file.durable = file.pending.iter().fold(std::mem::take(&mut file.durable), |content, one| apply(&content, one));
    file.pending.clear();
}

#[test]
fn every_crash_is_one_that_the_model_allows() {
    let (mut names_lost, mut data_lost, mut nothing_lost) = (0, 0, 0);
    for seed in 0..150 {
        let mut random = Lcg(seed);
        let (mut machine, mut model) = (Machine::new(), Model::new());
        for number in 0..60 {
            step(&mut machine, &mut model, &mut random);
            if number % 4 != 3 {
                continue;
            }
            let before = machine.tree();
            let digest = machine.disk.digest();
            let mut after = machine.crashed(&[], &mut Random(Lcg(random.below(1 << 31))));
            let tree = after.tree();
            let version = model.version_of(&tree);
            assert!(version.is_some(), "seed {seed}, after {number} steps: {tree:?}\nwas {before:?}");
            assert_eq!(machine.disk.digest(), digest, "a crash of a clone is nobody else's");
            match version.map(|version| version + 1 < model.versions.len()) {
                Some(true) => names_lost += 1,
                _ if tree == before => nothing_lost += 1,
                _ => data_lost += 1,
            }
            check_counts(&mut after, &tree);
            assert_eq!(after.crashed(&[], &mut Random(Lcg(seed))).tree(), tree, "what survived is durable");
        }
    }
    assert!(names_lost > 200 && data_lost > 100 && nothing_lost > 100, "{names_lost} {data_lost} {nothing_lost}");
}

/// Links, nodes and bytes counted anew.
fn check_counts(machine: &mut Machine, tree: &BTreeMap<String, Option<Vec<u8>>>) {
    let mut names: BTreeMap<_, u64> = BTreeMap::new();
    for path in tree.keys() {
        let hash = machine.disk.metadata_hash_at(&machine.root, FOLLOW, path).expect("it is there");
        *names.entry(hash).or_default() += 1;
    }
    for (path, content) in tree.iter().filter(|(_, content)| content.is_some()) {
        let stat = machine.disk.stat_at(&machine.root, FOLLOW, path).expect("it is there");
        let hash = machine.disk.metadata_hash_at(&machine.root, FOLLOW, path).expect("it is there");
        assert_eq!(stat.links, names[&hash], "{path}");
        assert_eq!(stat.size, content.as_ref().map_or(0, Vec::len) as u64);
    }
    let usage = machine.disk.usage();
    assert_eq!((usage.nodes, usage.names), (names.len() as u64 + 1, tree.len() as u64));
    let shown: u64 = tree.values().flatten().map(|content| content.len() as u64).sum();
    assert!(usage.bytes <= shown, "holes cost nothing");
}

#[test]
fn a_path_is_found_again() {
    let mut machine = Machine::new();
    machine.disk.create_directory_at(&machine.root, "d", 0).expect("new");
    machine.write("d/a", 0, b"x");
    let file = machine.disk.open_path("/d", true).expect("a directory");
    assert_eq!(machine.disk.path_of(file.node), "/d");
    assert_eq!(machine.disk.path_at(file.node, "./x/../y//z"), "/d/y/z");
    assert_eq!(machine.disk.path_of(machine.root.node), "/");
    let path = |machine: &mut Machine, at: &str| {
        machine.on(at, PLAIN, |disk, file| Ok(disk.path_of(file.node))).expect("it is there")
    };
    assert_eq!(path(&mut machine, "d/a"), "/d/a");
    machine.rename("d", "e").expect("a rename");
    assert_eq!(path(&mut machine, "e/a"), "/e/a");
    machine.disk.link_at(&machine.root, PathFlags::default(), "e/a", &machine.root, "b", 0).expect("a link");
    assert_eq!(path(&mut machine, "e/a"), "/b", "the latest name");
    machine.disk.unlink_file_at(&machine.root, "b", 0).expect("it is there");
    assert_eq!(path(&mut machine, "e/a"), "/e/a", "the one that is left");
}
