//! The disk as a guest meets it: the smallest example of every operation, isolation of clones, limits.
//!
//! Each operation is written in one line and answered in one word (see [`Guest::run`]), so that the cases
//! outlive changes of the interface. The comparison with a real directory is in `fozzy-live`.

use super::*;
use fozzy_trace::plan::{Inputs, Mount, MountEntry, MountKind};

/// A small generator (Knuth's constants), so that every run tries the same.
pub(crate) struct Lcg(pub(crate) u64);

impl Lcg {
    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

const ROOMY: DiskLimits = DiskLimits { bytes: 1 << 30, nodes: 1 << 20 };
const FOLLOW: PathFlags = PathFlags { symlink_follow: true };
const NO_FOLLOW: PathFlags = PathFlags { symlink_follow: false };
const READ: DescriptorFlags = DescriptorFlags {
    read: true,
    write: false,
    file_integrity_sync: false,
    data_integrity_sync: false,
    requested_write_sync: false,
    mutate_directory: false,
};
const WRITE: DescriptorFlags = DescriptorFlags { write: true, ..READ };
const PLAIN: OpenFlags = OpenFlags { create: false, directory: false, exclusive: false, truncate: false };
const CREATE: OpenFlags = OpenFlags { create: true, ..PLAIN };

/// A disk with a descriptor of its root, and a clock that moves by one for each operation.
#[derive(Clone)]
struct Guest {
    disk: Disk,
    root: FileDescriptor,
    now_ns: u64,
}

impl Guest {
    fn new(limits: DiskLimits) -> Guest {
        let mut disk = Disk::new(limits, 0);
        let root = disk.open_root(true);
        Guest { disk, root, now_ns: 0 }
    }

    fn open(&mut self, path: &str, open: OpenFlags, flags: DescriptorFlags) -> Result<FileDescriptor, Errno> {
        self.disk.open_at(&self.root, FOLLOW, path, open, flags, self.now_ns)
    }

    fn file(&mut self, path: &str) -> FileDescriptor {
        self.open(path, CREATE, WRITE).expect("a file can be made")
    }

    /// One operation by name. The answer is `ok`, what was found, or the name of the error.
    fn run(&mut self, line: &str) -> String {
        self.now_ns += 1;
        let words: Vec<&str> = line.split(' ').collect();
        let (now, root) = (self.now_ns, self.root);
        let disk = &mut self.disk;
        let done = |result: Result<(), Errno>| result.map(|()| "ok".to_owned());
        let result = match words[..] {
            ["mkdir", path] => done(disk.create_directory_at(&root, path, now)),
            ["rmdir", path] => done(disk.remove_directory_at(&root, path, now)),
            ["unlink", path] => done(disk.unlink_file_at(&root, path, now)),
            ["rename", old, new] => done(disk.rename_at(&root, old, &root, new, now)),
            ["link", old, new] => done(disk.link_at(&root, NO_FOLLOW, old, &root, new, now)),
            ["symlink", text, path] => done(disk.symlink_at(&root, text, path, now)),
            ["readlink", path] => disk.readlink_at(&root, path).map(|text| text.to_string()),
            ["kind", path] => disk.stat_at(&root, FOLLOW, path).map(|stat| format!("{:?}", stat.kind)),
            ["lkind", path] => disk.stat_at(&root, NO_FOLLOW, path).map(|stat| format!("{:?}", stat.kind)),
            ["links", path] => disk.stat_at(&root, NO_FOLLOW, path).map(|stat| stat.links.to_string()),
            ["size", path] => disk.stat_at(&root, FOLLOW, path).map(|stat| stat.size.to_string()),
            ["times", path] => disk
                .stat_at(&root, NO_FOLLOW, path)
                .map(|stat| format!("{} {} {}", stat.accessed_ns, stat.modified_ns, stat.changed_ns)),
            ["touch", path, ns] => {
                let at = FileTimeChange::At(ns.parse().expect("nanoseconds"));
                done(disk.set_times_at(&root, NO_FOLLOW, path, FileTimeChange::NoChange, at, now))
            }
            ["write", path, text] => self.write(path, text).map(|count| count.to_string()),
            ["read", path] => self.read(path),
            ["ls", path] => self.list(path),
            ["open", path] => self.close(|guest| guest.open(path, PLAIN, READ)),
            ["openw", path] => self.close(|guest| guest.open(path, PLAIN, WRITE)),
            ["create", path] => self.close(|guest| guest.open(path, CREATE, WRITE)),
            ["exclusive", path] => self.close(|guest| guest.open(path, OpenFlags { exclusive: true, ..CREATE }, WRITE)),
            ["truncate", path] => self.close(|guest| guest.open(path, OpenFlags { truncate: true, ..PLAIN }, WRITE)),
            ["opendir", path] => self.close(|guest| guest.open(path, OpenFlags { directory: true, ..PLAIN }, READ)),
            ["open-nofollow", path] => {
                self.close(|guest| guest.disk.open_at(&guest.root, NO_FOLLOW, path, PLAIN, READ, now))
            }
            _ => panic!("`{line}` is no operation"),
        };
        result.unwrap_or_else(|error| error.name().to_owned())
    }

    fn close(&mut self, open: impl FnOnce(&mut Guest) -> Result<FileDescriptor, Errno>) -> Result<String, Errno> {
        let descriptor = open(self)?;
        self.disk.closed(descriptor.node);
        Ok("ok".to_owned())
    }

    fn write(&mut self, path: &str, text: &str) -> Result<u64, Errno> {
        let file = self.open(path, OpenFlags { truncate: true, ..CREATE }, WRITE)?;
        let written = self.disk.write(&file, 0, text.as_bytes(), self.now_ns);
        self.disk.closed(file.node);
        written
    }

    fn read(&mut self, path: &str) -> Result<String, Errno> {
        let file = self.open(path, PLAIN, READ)?;
        let read = self.disk.read(&file, 0, 1 << 16);
        self.disk.closed(file.node);
        Ok(String::from_utf8(read?.0).expect("the tests write text"))
    }

    fn list(&mut self, path: &str) -> Result<String, Errno> {
        let directory = self.open(path, PLAIN, READ)?;
        let all = self.disk.read_directory(&directory);
        let mut listing = self.disk.list(&directory)?;
        self.disk.closed(directory.node);
        let mut names = Vec::new();
        while let Some(next) = self.disk.next_entry(&mut listing) {
            names.push(next);
        }
        assert_eq!(Ok(&names), all.as_ref(), "two ways to list");
        Ok(names.iter().map(|(name, _)| &**name).collect::<Vec<_>>().join(" "))
    }
}

/// Runs `operation => answer` lines on a fresh disk.
fn check(script: &str) {
    let mut guest = Guest::new(ROOMY);
    for line in script.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (operation, expected) = line.split_once(" => ").expect("`operation => answer`");
        assert_eq!(guest.run(operation), expected, "in `{line}` of:\n{script}");
    }
}

#[test]
fn files_are_written_and_read() {
    check(
        "write a hello => 5
         read a => hello
         size a => 5
         kind a => File
         truncate a => ok
         size a => 0
         exclusive a => exist
         create a => ok
         open b => no-entry
         openw tmp => is-directory
         create tmp => is-directory
         exclusive tmp => exist
         opendir a => not-directory
         opendir tmp => ok
         create b/ => is-directory
         open a/ => not-directory
         open a/. => not-directory
         read tmp => bad-descriptor",
    );
}

#[test]
fn directories_are_made_listed_and_removed() {
    check(
        "mkdir d => ok
         mkdir d => exist
         mkdir d/e/ => ok
         mkdir x/y => no-entry
         write d/b 1 => 1
         write d/a 2 => 1
         mkdir d/b/c => not-directory
         ls d => a b e
         ls . => d tmp
         links d => 3
         rmdir d => not-empty
         rmdir d/a => not-directory
         unlink d/e => is-directory
         rmdir d/e/ => invalid
         rmdir d/e => ok
         links d => 2
         unlink d/a => ok
         unlink d/b => ok
         rmdir d => ok
         rmdir d => no-entry
         rmdir . => invalid
         unlink . => is-directory
         mkdir . => exist",
    );
}

#[test]
fn paths_do_not_leave_their_base() {
    check(
        "open .. => not-permitted
         open tmp/.. => ok
         open tmp/../.. => not-permitted
         open /tmp => not-permitted
         mkdir ../x => not-permitted
         mkdir / => not-permitted
         symlink ../.. out => ok
         open out/tmp => not-permitted
         open out => not-permitted
         symlink /etc abs => not-permitted
         symlink tmp/../tmp in => ok
         opendir in => ok
         rename tmp ../t => not-permitted
         link ../a b => not-permitted
         unlink ../a => not-permitted
         readlink ../a => not-permitted",
    );
    let mut guest = Guest::new(ROOMY);
    let long = "n".repeat(NAME_BYTES_MAX);
    assert_eq!(guest.run(&format!("create {long}")), "ok");
    assert_eq!(guest.run(&format!("create {long}n")), "name-too-long");
    assert_eq!(guest.run(&format!("open {}", "./".repeat(PATH_BYTES_MAX / 2))), "ok");
    assert_eq!(guest.run(&format!("open {}", "./".repeat(PATH_BYTES_MAX))), "name-too-long");
    assert_eq!(guest.run("open a\0b"), "invalid");
    assert_eq!(guest.run("open "), "no-entry");
    assert_eq!(guest.run("mkdir "), "no-entry");
}

#[test]
fn the_base_may_lie_deeper_than_the_root() {
    let mut guest = Guest::new(ROOMY);
    guest.run("mkdir a");
    guest.run("mkdir a/b");
    guest.run("write secret 1");
    let base = guest.open("a", PLAIN, READ).expect("made above");
    let open = |guest: &mut Guest, path: &str| guest.disk.open_at(&base, FOLLOW, path, PLAIN, READ, 0).map(|_| ());
    assert_eq!(open(&mut guest, "b/.."), Ok(()));
    assert_eq!(open(&mut guest, "../secret"), Err(Errno::NotPermitted));
    assert_eq!(open(&mut guest, "b/../../secret"), Err(Errno::NotPermitted));
    // The same node after it moved: its old parent does not open up.
    assert_eq!(guest.run("rename a tmp/a"), "ok");
    assert_eq!(open(&mut guest, "b/../.."), Err(Errno::NotPermitted));
    assert_eq!(open(&mut guest, "b"), Ok(()));
}

#[test]
fn links_lead_on_or_in_circles() {
    check(
        "write f text => 4
         symlink f l => ok
         readlink l => f
         readlink f => invalid
         read l => text
         lkind l => Link
         kind l => File
         open-nofollow l => loop
         symlink f l => exist
         symlink loop loop => ok
         open loop => loop
         lkind loop => Link
         symlink nowhere dangling => ok
         open dangling => no-entry
         exclusive dangling => exist
         create dangling => ok
         kind nowhere => File
         symlink tmp t => ok
         lkind t/ => Link
         kind t/ => Directory
         unlink t/ => is-directory
         unlink t => ok
         unlink l => ok
         read f => text",
    );
    let mut guest = Guest::new(ROOMY);
    guest.run("write l0 x");
    for n in 0..=LINKS_FOLLOWED_MAX {
        guest.run(&format!("symlink l{n} l{}", n + 1));
    }
    assert_eq!(guest.run(&format!("read l{LINKS_FOLLOWED_MAX}")), "x");
    assert_eq!(guest.run(&format!("read l{}", LINKS_FOLLOWED_MAX + 1)), "loop");
}

#[test]
fn hard_links_are_one_file() {
    check(
        "write f one => 3
         link f g => ok
         links f => 2
         write g other => 5
         read f => other
         link f g => exist
         link tmp h => not-permitted
         link nothing h => no-entry
         link f new/ => no-entry
         rename f g => ok
         ls . => f g tmp
         unlink f => ok
         links g => 1
         read g => other",
    );
    let mut guest = Guest::new(ROOMY);
    let root = guest.root;
    guest.run("write f 1");
    assert_eq!(guest.disk.link_at(&root, FOLLOW, "f", &root, "g", 0), Err(Errno::Invalid));
}

#[test]
fn renames_replace_at_one_stroke() {
    check(
        "write a 1 => 1
         write b 22 => 2
         rename a b => ok
         read b => 1
         ls . => b tmp
         mkdir d => ok
         mkdir d/e => ok
         rename d d/e/f => invalid
         rename d/e d => not-empty
         rename b d => is-directory
         rename d b => not-directory
         mkdir z => ok
         rename z d => not-empty
         rename d z => ok
         ls z => e
         links z => 3
         rename z/e tmp/e => ok
         links z => 2
         links tmp => 3
         rename b new/ => not-directory
         rename z new/ => ok
         rename . x => busy
         rename new . => busy
         rename b b => ok
         rename nothing b => no-entry
         ls . => b new tmp",
    );
}

#[test]
fn times_come_from_the_caller() {
    check(
        "mkdir d => ok
         times d => 1 1 1
         write d/f 123 => 3
         times d => 1 3 3
         times d/f => 3 3 3
         read d/f => 123
         times d/f => 3 3 3
         touch d/f 99 => ok
         times d/f => 3 99 8
         link d/f g => ok
         times g => 3 99 10
         unlink d/f => ok
         times g => 3 99 12
         times d => 1 12 12
         touch nothing 1 => no-entry",
    );
    assert_eq!(wall_ns(1, 5), Ok(1_000_000_005));
    assert_eq!(wall_ns(u64::MAX, 0), Err(Errno::Overflow));
}

#[test]
fn a_descriptor_allows_what_it_was_opened_for() {
    let mut guest = Guest::new(ROOMY);
    guest.run("write f data");
    let reader = guest.open("f", PLAIN, READ).expect("there");
    let writer = guest.open("f", PLAIN, DescriptorFlags { read: false, ..WRITE }).expect("there");
    let directory = guest.open("tmp", PLAIN, READ).expect("there");
    let disk = &mut guest.disk;
    assert_eq!(disk.write(&reader, 0, b"x", 1), Err(Errno::BadDescriptor));
    assert_eq!(disk.append(&reader, b"x", 1), Err(Errno::BadDescriptor));
    assert_eq!(disk.set_size(&reader, 0, 1), Err(Errno::Invalid));
    assert_eq!(disk.read(&writer, 0, 1), Err(Errno::BadDescriptor));
    assert_eq!(disk.read(&directory, 0, 1), Err(Errno::BadDescriptor));
    assert_eq!(disk.write(&directory, 0, b"x", 1), Err(Errno::BadDescriptor));
    assert_eq!(disk.set_size(&directory, 0, 1), Err(Errno::BadDescriptor));
    assert_eq!(disk.advise(&directory, 0, 0), Err(Errno::BadDescriptor));
    assert_eq!(disk.check_read_stream(&directory), Err(Errno::IsDirectory));
    assert_eq!(disk.check_write_stream(&directory), Err(Errno::BadDescriptor));
    assert_eq!(disk.read_directory(&reader), Err(Errno::NotDirectory));
    assert_eq!(disk.stat_at(&reader, FOLLOW, "x"), Err(Errno::NotDirectory));
    assert_eq!(disk.append(&writer, b"!", 1), Ok(1));
    assert_eq!(disk.read(&reader, 0, 9), Ok((b"data!".to_vec(), false)));
    assert_eq!(disk.read(&reader, 5, 9), Ok((Vec::new(), true)));
    assert_eq!(disk.read(&reader, 0, 0), Ok((Vec::new(), true)));
    assert_eq!(disk.read(&reader, u64::MAX, 1), Err(Errno::Invalid));
    assert_eq!(disk.write(&writer, u64::MAX, b"x", 1), Err(Errno::Invalid));
    assert_eq!(disk.write(&writer, FILE_BYTES_MAX, b"x", 1), Err(Errno::FileTooLarge));
    assert_eq!(disk.write(&writer, FILE_BYTES_MAX - 1, b"xy", 1), Ok(1));
    assert_eq!(disk.set_size(&writer, FILE_BYTES_MAX + 1, 1), Err(Errno::FileTooLarge));
    assert_eq!(disk.get_flags(&reader), READ);
    assert_eq!(disk.get_flags(&directory), READ);
    assert!(disk.is_same_object(&reader, &writer) && !disk.is_same_object(&reader, &directory));
    assert_eq!(disk.metadata_hash(&reader), disk.metadata_hash_at(&guest.root, FOLLOW, "f").expect("there"));
    assert_ne!(disk.metadata_hash(&reader), disk.metadata_hash(&directory));
    let sync = DescriptorFlags { data_integrity_sync: true, ..READ };
    assert_eq!(guest.open("f", PLAIN, sync), Err(Errno::Unsupported));
    assert_eq!(guest.open("f", OpenFlags { directory: true, ..CREATE }, READ), Err(Errno::Invalid));
}

#[test]
fn nothing_changes_through_a_read_only_directory() {
    let mut guest = Guest::new(ROOMY);
    guest.run("write f data");
    guest.root = guest.disk.open_path("/", false).expect("there");
    let before = guest.disk.digest();
    for operation in [
        "mkdir d",
        "rmdir tmp",
        "unlink f",
        "rename f g",
        "link f g",
        "symlink f g",
        "touch f 1",
        "openw f",
        "create f",
        "truncate f",
        // Permission is asked before the path is looked at.
        "unlink nothing",
    ] {
        assert_eq!(guest.run(operation), "not-permitted", "{operation}");
    }
    let file = guest.open("f", PLAIN, READ).expect("reading is allowed");
    assert!(!file.writable);
    assert_eq!(guest.disk.write(&file, 0, b"x", 1), Err(Errno::NotPermitted));
    assert_eq!(guest.disk.set_times(&file, FileTimeChange::Now, FileTimeChange::Now, 1), Err(Errno::NotPermitted));
    guest.disk.closed(file.node);
    assert_eq!(guest.disk.digest(), before);
    assert_eq!(guest.run("read f"), "data");
}

#[test]
fn a_removed_file_lives_until_it_is_closed() {
    let mut guest = Guest::new(ROOMY);
    let empty = guest.disk.usage();
    let file = guest.file("f");
    guest.disk.write(&file, 0, b"still here", 1).expect("fits");
    guest.disk.opened(file.node);
    assert_eq!(guest.run("unlink f"), "ok");
    assert_eq!(guest.run("create f"), "ok");
    assert_eq!(guest.disk.read(&file, 0, 99), Ok((b"still here".to_vec(), false)));
    assert_eq!(guest.disk.stat(&file).links, 0);
    guest.disk.closed(file.node);
    assert_eq!(guest.disk.read(&file, 6, 99), Ok((b"here".to_vec(), false)));
    guest.disk.closed(file.node);
    assert_eq!(guest.run("unlink f"), "ok");
    assert_eq!(guest.disk.usage(), empty);
}

#[test]
fn a_removed_directory_takes_no_names() {
    let mut guest = Guest::new(ROOMY);
    guest.run("mkdir d");
    let gone = guest.open("d", PLAIN, READ).expect("made above");
    let mut listing = guest.disk.list(&gone).expect("a directory");
    guest.run("rmdir d");
    let root = guest.root;
    let disk = &mut guest.disk;
    assert_eq!(disk.open_at(&gone, FOLLOW, "f", CREATE, WRITE, 1), Err(Errno::NoEntry));
    assert_eq!(disk.create_directory_at(&gone, "e", 1), Err(Errno::NoEntry));
    assert_eq!(disk.symlink_at(&gone, "x", "e", 1), Err(Errno::NoEntry));
    assert_eq!(disk.rename_at(&root, "tmp", &gone, "e", 1), Err(Errno::NoEntry));
    assert_eq!(disk.open_at(&gone, FOLLOW, "..", PLAIN, READ, 1), Err(Errno::NotPermitted));
    assert_eq!(disk.stat(&gone).links, 0);
    assert_eq!(disk.read_directory(&gone), Ok(Vec::new()));
    disk.closed(gone.node);
    // The index is used again; an old listing notices.
    guest.run("mkdir new");
    guest.run("create new/name");
    assert_eq!(guest.disk.next_entry(&mut listing), None);
}

#[test]
fn a_listing_survives_changes() {
    let mut guest = Guest::new(ROOMY);
    for name in ["a", "b", "c", "d"] {
        guest.run(&format!("create tmp/{name}"));
    }
    let directory = guest.open("tmp", PLAIN, READ).expect("there");
    let mut listing = guest.disk.list(&directory).expect("a directory");
    let mut next = |guest: &Guest| guest.disk.next_entry(&mut listing).map(|(name, _)| name.to_string());
    assert_eq!(next(&guest).as_deref(), Some("a"));
    for operation in ["unlink tmp/a", "unlink tmp/b", "create tmp/aa", "create tmp/cc"] {
        guest.run(operation);
    }
    assert_eq!(next(&guest).as_deref(), Some("aa"));
    assert_eq!(next(&guest).as_deref(), Some("c"));
    assert_eq!(next(&guest).as_deref(), Some("cc"));
    assert_eq!(next(&guest).as_deref(), Some("d"));
    assert_eq!(next(&guest), None);
}

#[test]
fn a_clone_is_another_disk() {
    let mut guest = Guest::new(ROOMY);
    guest.run("write f before");
    guest.run("mkdir d");
    guest.run("write d/g one");
    let file = guest.open("f", PLAIN, WRITE).expect("there");
    let original = guest.clone();
    let digest = original.disk.digest();
    guest.disk.write(&file, 0, b"AFTER!", 50).expect("fits");
    for operation in ["unlink d/g", "rmdir d", "rename f e", "symlink x y", "touch e 7"] {
        assert_eq!(guest.run(operation), "ok", "{operation}");
    }
    assert_ne!(guest.disk.digest(), digest);
    assert_eq!(original.disk.digest(), digest);
    let mut original = original;
    assert_eq!(original.disk.read(&file, 0, 9), Ok((b"before".to_vec(), false)));
    assert_eq!((original.run("read d/g"), original.run("ls .")), ("one".into(), "d f tmp".into()));
}

#[test]
fn the_digest_is_of_the_tree_and_not_of_its_history() {
    let build = |operations: &[&str]| {
        let mut guest = Guest::new(ROOMY);
        operations.iter().for_each(|operation| drop(guest.run(operation)));
        // Times are part of the digest; make them equal.
        for path in [".", "a", "b"] {
            guest.now_ns = 1000;
            let at = FileTimeChange::At(5);
            guest.disk.set_times_at(&guest.root, NO_FOLLOW, path, at, at, 9).expect("all exist");
        }
        guest.disk.digest()
    };
    let plain = build(&["write a 1", "write b 2"]);
    assert_eq!(build(&["write b 2", "mkdir x", "write a 1", "rmdir x"]), plain);
    assert_ne!(build(&["write a 2", "write b 1"]), plain);
    assert_ne!(build(&["write a 1", "link a b"]), build(&["write a 1", "write b 1"]));

    // A hole and written zeros are the same content.
    let mut holes = Guest::new(ROOMY);
    let mut zeros = Guest::new(ROOMY);
    for (guest, written) in [(&mut holes, false), (&mut zeros, true)] {
        let file = guest.file("f");
        if written {
            guest.disk.write(&file, 0, &[0; 10_000], 1).expect("fits");
        }
        guest.disk.set_size(&file, 10_000, 1).expect("fits");
    }
    assert_eq!(holes.disk.digest(), zeros.disk.digest());
}

#[test]
fn a_full_disk_takes_what_fits() {
    let mut guest = Guest::new(DiskLimits { bytes: 5000, nodes: 5 });
    let file = guest.file("f");
    assert_eq!(guest.disk.write(&file, 0, &[1; 4000], 1), Ok(4000));
    assert_eq!(guest.disk.write(&file, 4000, &[2; 4000], 1), Ok(1000));
    assert_eq!(guest.disk.write(&file, 5000, b"x", 1), Err(Errno::InsufficientSpace));
    assert_eq!(guest.disk.refused(), Some(guest.disk.usage().bytes + 1));
    assert_eq!(guest.disk.write(&file, 0, &[3; 4000], 1), Ok(4000), "overwriting costs nothing");
    assert_eq!(guest.run("symlink x l"), "insufficient-space");
    assert_eq!(guest.disk.set_size(&file, 1 << 40, 1), Ok(()), "a hole costs nothing");
    assert_eq!(guest.disk.set_size(&file, 4096, 1), Ok(()));
    assert_eq!(guest.disk.usage().bytes, 4096);
    assert_eq!(guest.run("symlink x l"), "ok");
    assert_eq!(guest.run("create g"), "ok");
    assert_eq!(guest.run("create h"), "insufficient-space");
    assert_eq!(guest.run("unlink g"), "ok");
    assert_eq!(guest.run("mkdir h"), "ok");
    assert_eq!(guest.run("link f i"), "ok");
    assert_eq!(guest.run("link f j"), "insufficient-space", "names are bounded too");
    assert_eq!(guest.run("rename f j"), "ok", "a rename needs no new name");
}

#[test]
fn sparse_bytes_do_not_outgrow_the_disk() {
    let mut guest = Guest::new(DiskLimits { bytes: 1 << 20, nodes: 10 });
    let file = guest.file("f");
    let written = (0..1000).filter(|n| guest.disk.write(&file, n << 30, b"x", 1).is_ok()).count();
    assert_eq!(written, 256 + 10, "one chunk for each chunk that the disk could hold, and each node");
    assert_eq!(guest.disk.usage().bytes, written as u64);
    guest.disk.set_size(&file, 0, 1).expect("open for writing");
    assert_eq!(guest.disk.write(&file, 1 << 40, b"x", 1), Ok(1));
}

#[test]
fn depth_is_bounded_by_nodes_alone() {
    let mut guest = Guest::new(DiskLimits { bytes: 1 << 20, nodes: 50_000 });
    let mut base = guest.root;
    let mut depth = 0;
    while guest.disk.create_directory_at(&base, "d", 1).is_ok() {
        let below = guest.disk.open_at(&base, FOLLOW, "d", PLAIN, READ, 1).expect("just made");
        guest.disk.closed(base.node);
        base = below;
        depth += 1;
    }
    assert_eq!(depth, 50_000 - 2);
    assert_eq!(guest.disk.digest(), guest.disk.clone().digest());
    let root = guest.disk.open_root(true);
    assert_eq!(guest.disk.rename_at(&root, "d", &base, "x", 1), Err(Errno::Invalid));
    drop(guest);
}

#[test]
fn entries_are_refused_at_the_bound_without_slowing_down() {
    let mut guest = Guest::new(DiskLimits { bytes: 1 << 20, nodes: 1 << 18 });
    let mut made = 0;
    let tmp = guest.open("tmp", PLAIN, READ).expect("there");
    while let Ok(file) = guest.disk.open_at(&tmp, FOLLOW, &made.to_string(), CREATE, WRITE, 1) {
        guest.disk.closed(file.node);
        made += 1;
    }
    assert_eq!(made, (1 << 18) - 2);
    assert_eq!(guest.run("create x"), "insufficient-space");
    assert_eq!(guest.run("unlink tmp/77"), "ok");
    assert_eq!(guest.run("create x"), "ok");
}

#[test]
fn mounts_are_copied_in() {
    let mut inputs = Inputs::default();
    let text = inputs.add(b"captured".to_vec());
    let entry = |path: &str, kind: &MountKind| MountEntry { path: path.into(), kind: kind.clone() };
    let mount = |guest: &str, entries: &[(&str, MountKind)]| Mount {
        guest: guest.into(),
        entries: entries.iter().map(|(path, kind)| entry(path, kind)).collect(),
    };
    let link = |text: &str| MountKind::Link(text.into());
    let mut guest = Guest::new(ROOMY);
    let data = mount(
        "/data/in",
        &[("a", MountKind::Directory), ("a/f", MountKind::File(text)), ("l", link("a/f")), ("out", link("../../.."))],
    );
    guest.disk.mount(&data, &inputs, 7).expect("a good mount");
    guest.disk.mount(&mount("/", &[("tmp", MountKind::Directory)]), &inputs, 7).expect("directories merge");
    assert_eq!(guest.run("read data/in/l"), "captured");
    assert_eq!(guest.run("times data/in/a/f"), "7 7 7");
    assert_eq!(guest.run("open data/in/out"), "not-permitted");
    assert_eq!(guest.disk.usage().bytes, 8 + 3 + 8);
    assert!(guest.disk.open_path("/data/in/", true).is_ok());
    assert_eq!(guest.disk.open_path("/nowhere", true), Err(Errno::NoEntry));

    let before = guest.disk.digest();
    let mut refused = |mount: &Mount, expected: &str| {
        let error = guest.disk.mount(mount, &inputs, 8).expect_err(expected).to_string();
        assert!(error.contains(expected), "{error}");
        assert_eq!(guest.disk.digest(), before, "nothing is left of a refused mount");
    };
    refused(&data, "`a/f` exists already");
    refused(&mount("data", &[]), "is not absolute");
    refused(&mount("/data/../x", &[]), "has `.` or `..` in it");
    refused(&mount("/x", &[("new", MountKind::Directory), ("a/b", MountKind::Directory)]), "`a/b` is not below");
    refused(&mount("/x", &[("l", link("..")), ("l/b", MountKind::File(text))]), "`l/b` is not below");
    refused(&mount("/x", &[("..", MountKind::Directory)]), "has `.` or `..` in it");
    refused(&mount("/x", &[("", MountKind::Directory)]), "empty name");
    refused(&mount("/x", &[("l", link("/etc"))]), "empty, absolute or too long");
    let elsewhere = fozzy_trace::Digest::of(b"elsewhere");
    refused(&mount("/x", &[("f", MountKind::File(elsewhere))]), &elsewhere.to_string());
    let mut small = Disk::new(DiskLimits { bytes: 7, nodes: 10 }, 0);
    let error = small.mount(&mount("/", &[("f", MountKind::File(text))]), &inputs, 0).expect_err("too big");
    assert!(error.to_string().contains("at most 7 bytes in 10 files"), "{error}");
}

#[test]
fn writing_after_capture_leaves_the_inputs_alone() {
    let mut inputs = Inputs::default();
    let digest = inputs.add(vec![b'a'; 10_000]);
    let entries = vec![MountEntry { path: "f".into(), kind: MountKind::File(digest) }];
    let mut guest = Guest::new(ROOMY);
    guest.disk.mount(&Mount { guest: "/".into(), entries }, &inputs, 0).expect("fits");
    let file = guest.open("f", PLAIN, WRITE).expect("mounted");
    guest.disk.write(&file, 5000, b"b", 1).expect("fits");
    assert_eq!(guest.disk.read(&file, 4999, 3), Ok((b"aba".to_vec(), false)));
    assert_eq!(guest.disk.usage().bytes, 10_000);
    assert_eq!(inputs.get(&digest).expect("there")[5000], b'a');
}
