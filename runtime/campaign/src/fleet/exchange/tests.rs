//! Two machines, a folder each, and one store between them.

use super::*;
use crate::fleet::discovery::FleetTargetKind;
use crate::fleet::shared_store::DirectoryStore;
use crate::fleet::store_copy::copy_store;

struct Machine {
    folder: tempfile::TempDir,
    target: FleetTarget,
}

impl Machine {
    fn new(kind: FleetTargetKind) -> Machine {
        let folder = tempfile::tempdir().expect("a folder");
        let target = FleetTarget::app(kind);
        Machine { folder, target }
    }

    fn on<T>(&self, store: &dyn SharedStore, work: impl FnOnce(CorpusExchange<'_>) -> T) -> T {
        let (base_dir, state) = (self.folder.path(), self.folder.path().join("state.json"));
        let program = Some(Digest::of(b"a build"));
        work(CorpusExchange { store, base_dir, target: &self.target, program, state: &state })
    }

    fn corpus(&self) -> PathBuf {
        self.target.corpus(self.folder.path()).expect("it is fuzzed")
    }

    fn finds(&self, input: &[u8]) -> Digest {
        let name = Digest::of(input);
        CorpusFolder::open(&self.corpus()).expect("a folder").add(input, &name).expect("written");
        name
    }

    fn has(&self, name: &Digest) -> bool {
        self.corpus().join(name.to_string()).exists()
    }
}

fn store() -> (tempfile::TempDir, DirectoryStore) {
    let folder = tempfile::tempdir().expect("a folder");
    let store = DirectoryStore::open(&folder.path().join("store"), "shop").expect("a store");
    (folder, store)
}

#[test]
fn machines_get_what_the_other_has_found_and_nothing_that_adds_nothing_or_is_damaged() {
    let (_folder, store) = store();
    let [here, there] = [(); 2].map(|()| Machine::new(FleetTargetKind::Fuzz("parse".into())));
    let (new, spare) = (here.finds(b"new"), here.finds(b"adds nothing"));
    here.on(&store, |exchange| {
        let mut taken = exchange.take(None).expect("an empty store");
        exchange.share_testcases(&here.corpus(), &[new, Digest::of(b"gone")], &mut taken).expect("shared");
        let [warning] = &taken.warnings[..] else { panic!("what is gone is said: {:?}", taken.warnings) };
        assert!(warning.contains("its corpus has them under no name of their own"), "{warning}");
    });
    let long = Digest::of(&vec![7; TESTCASE_BYTES_MAX + 1]);
    store.put_blob(&vec![7; TESTCASE_BYTES_MAX + 1]).expect("kept");
    store.put(&StoreKey::new(&["corpus", "app-1", &long.to_string()]), b"1\n").expect("kept");
    store.put(&StoreKey::new(&["corpus", "app-1", "../up"]), b"1\n").expect("kept");
    there.on(&store, |exchange| {
        let taken = exchange.take(None).expect("taken");
        assert!(taken.warnings.len() == 1 && taken.warnings[0].contains("left out"), "{:?}", taken.warnings);
        assert_eq!(taken.testcases, BTreeSet::from([new]));
    });
    assert!(there.has(&new) && !there.has(&spare) && !there.has(&long));
    // Changed in place: whoever has it shares it again.
    fs::write(store.blob_path(&new).expect("a file"), b"old").expect("changed");
    let third = Machine::new(FleetTargetKind::Fuzz("parse".into()));
    third.on(&store, |exchange| assert_eq!(exchange.take(None).expect("taken").testcases.len(), 0));
    assert!(!third.has(&new));
    there.on(&store, |exchange| {
        let mut taken = exchange.take(None).expect("taken");
        exchange.share_testcases(&there.corpus(), &[new], &mut taken).expect("shared");
    });
    third.on(&store, |exchange| exchange.take(None).expect("taken"));
    assert!(third.has(&new));
}

fn state(runs: u64, steps: &[u32]) -> Vec<u8> {
    let stories: Vec<_> = steps.iter().map(|steps| serde_json::json!({"answers": [], "steps": steps})).collect();
    let (component, plan) = (Digest::of(b"program"), Digest::of(b"plan"));
    let head = serde_json::json!({"format": "fozzy-explore-state", "version": 1, "component": component, "plan": plan});
    let mut state = head;
    for (key, value) in [("seed", 1.into()), ("runs", runs.into()), ("steps", 9.into()), ("stories", stories.into())] {
        state[key] = value;
    }
    serde_json::to_vec(&state).expect("JSON")
}

#[test]
fn a_copy_of_a_store_has_the_explored_paths_of_both() {
    let ((_one, from), (_other, to)) = (store(), store());
    for (store, steps) in [(&from, [1, 2]), (&to, [1, 3])] {
        let machine = Machine::new(FleetTargetKind::Explore);
        fs::write(machine.folder.path().join("state.json"), state(10, &steps)).expect("written");
        machine.on(store, |exchange| exchange.share_state(&mut TakenCorpus::default()).expect("shared"));
    }
    let copy = || copy_store(&from, &to).expect("copied").kinds;
    assert_eq!(copy().iter().map(|row| (&*row.kind, row.merged)).collect::<Vec<_>>(), [("explored", 1)]);
    assert_eq!(copy().iter().map(|row| (&*row.kind, row.left)).collect::<Vec<_>>(), [("explored", 1)]);
    assert_eq!(to.blobs().expect("listed").len(), 1, "the state of before is gone");
    // A slice ends while they are copied, and the state that was there goes: what the other store has stays.
    let key = StoreKey::new(&["explored", "app-1", &format!("{}-known", Digest::of(b"a build").short())]);
    let gone = ExploredRecord { state: Digest::of(b"gone"), content: Digest::of(b"it"), kept_at_s: u64::MAX };
    from.put(&key, &serde_json::to_vec(&gone).expect("JSON")).expect("kept");
    assert_eq!(copy().iter().map(|row| (&*row.kind, row.lost)).collect::<Vec<_>>(), [("explored", 1)]);
    let machine = Machine::new(FleetTargetKind::Explore);
    machine.on(&to, |exchange| exchange.take(None).expect("taken"));
    let taken = fs::read(machine.folder.path().join("state.json")).expect("there");
    assert_eq!(taken, state(10, &[1, 3, 2]));
}

#[test]
fn an_exploration_goes_on_elsewhere_and_two_that_went_on_apart_are_joined() {
    let (_folder, store) = store();
    let [here, there] = [(); 2].map(|()| Machine::new(FleetTargetKind::Explore));
    let write = |machine: &Machine, state: &[u8]| {
        fs::write(machine.folder.path().join("state.json"), state).expect("written");
    };
    let read = |machine: &Machine| fs::read(machine.folder.path().join("state.json")).expect("there");
    write(&here, &state(10, &[1, 2]));
    let first = here.on(&store, |exchange| {
        let mut taken = exchange.take(None).expect("an empty store");
        exchange.share_state(&mut taken).expect("shared");
        taken.state
    });
    assert_eq!(first, Some(Digest::of(&state(10, &[1, 2]))));
    there.on(&store, |exchange| assert_eq!(exchange.take(None).expect("taken").state, first));
    assert_eq!(read(&there), state(10, &[1, 2]));
    // There goes on; here takes it as it is, since it has done nothing itself.
    write(&there, &state(20, &[1, 2, 3]));
    there.on(&store, |exchange| {
        let mut taken = exchange.take(first).expect("taken");
        exchange.share_state(&mut taken).expect("shared");
    });
    here.on(&store, |exchange| exchange.take(first).expect("taken"));
    assert_eq!(read(&here), state(20, &[1, 2, 3]));
    assert_eq!(store.blobs().expect("listed").len(), 1, "the older state is gone");
    // Both go on alone.
    write(&here, &state(30, &[1, 2, 3, 4]));
    write(&there, &state(25, &[1, 2, 3, 5]));
    there.on(&store, |exchange| exchange.share_state(&mut TakenCorpus::default()).expect("shared"));
    here.on(&store, |exchange| exchange.take(first).expect("taken"));
    assert_eq!(read(&here), state(30, &[1, 2, 3, 4, 5]));
    // There shares while here works, which is a worker too that the store was away for: both have all.
    here.on(&store, |exchange| {
        let mut taken = exchange.take(first).expect("taken");
        write(&there, &state(40, &[1, 2, 3, 5, 6]));
        there.on(&store, |exchange| exchange.share_state(&mut TakenCorpus::default()).expect("shared"));
        write(&here, &state(50, &[1, 2, 3, 4, 5, 7]));
        exchange.share_state(&mut taken).expect("shared");
    });
    let third = Machine::new(FleetTargetKind::Explore);
    third.on(&store, |exchange| exchange.take(None).expect("taken"));
    let paths = |machine: &Machine| serde_json::from_slice::<serde_json::Value>(&read(machine)).expect("JSON");
    let steps = |all: &serde_json::Value| -> BTreeSet<u64> {
        all["stories"].as_array().expect("a list").iter().filter_map(|story| story["steps"].as_u64()).collect()
    };
    assert_eq!(steps(&paths(&third)), (1..=7).collect(), "what one of them has found is gone");
    // Another build of it has a state of its own, and no state of ours is taken for it.
    let other = |exchange: CorpusExchange<'_>| {
        CorpusExchange { program: Some(Digest::of(b"other")), ..exchange }.take(None).expect("taken").state
    };
    assert_eq!(there.on(&store, other), None);
}

#[test]
fn an_older_version_beside_this_one_loses_nothing_and_takes_nothing_away() {
    let (_folder, store) = store();
    let [here, there] = [(); 2].map(|()| Machine::new(FleetTargetKind::Explore));
    let path = |machine: &Machine| machine.folder.path().join("state.json");
    // As an older version keeps them. It would drop a state with something that it does not know, and keep a new one in its place.
    let key = StoreKey::new(&["explored", "app-1", &Digest::of(b"a build").short()]);
    let keeps = |state: &[u8]| {
        let record = ExploredRecord::keep(&store, state, 7).expect("kept");
        store.put(&key, &serde_json::to_vec(&record).expect("JSON")).expect("kept");
        record
    };
    let older = keeps(&state(10, &[1, 2]));
    let file = here.folder.path().join("app-1.json");
    fs::write(&file, state(5, &[3])).expect("written");
    here.on(&store, |exchange| {
        let mut taken = exchange.take(None).expect("taken");
        assert_eq!(fs::read(path(&here)).expect("there"), state(10, &[3, 1, 2]));
        fs::write(path(&here), state(20, &[1, 2, 3, 4])).expect("written");
        exchange.share_state(&mut taken).expect("shared");
    });
    assert_eq!(fs::read(&file).expect("there"), state(5, &[3]));
    assert_eq!(older.state_in(&store).expect("read"), Some(state(10, &[1, 2])));
    // It has begun anew, whatever the reason.
    keeps(&state(1, &[9]));
    there.on(&store, |exchange| exchange.take(None).expect("taken"));
    assert_eq!(fs::read(path(&there)).expect("there"), state(20, &[1, 2, 3, 4]));
}
