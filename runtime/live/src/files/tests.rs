//! What the real disk answers beyond what it shares with the virtual one: escapes, special files, bounds, times.

use super::*;
use fozzy_trace::Digest;
use std::os::unix::fs::symlink;
use tempfile::TempDir;

struct Machine {
    directory: TempDir,
    files: FileBackend,
    inputs: Inputs,
    secrets: Secrets,
}

/// What there is to hide for who hides nothing.
pub(super) fn no_secrets() -> Secrets {
    Secrets::new(&[], &fozzy_trace::plan::RedactionPolicy::default()).expect("none")
}

impl Machine {
    fn new() -> Machine {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let files = FileBackend::new(directory.path(), None).expect("it is there");
        Machine { directory, files, inputs: Inputs::default(), secrets: no_secrets() }
    }

    fn run(&mut self, on: u32, operation: FileOperation) -> Result<FileResponse, Errno> {
        self.files.answer(&FileRequest { on, operation }, &self.secrets, &mut self.inputs)
    }

    /// Opens for reading, or for reading and writing, creating what is missing.
    fn open(&mut self, path: &str, write: bool, opened: u32) -> Result<FileResponse, Errno> {
        let path = path.to_owned();
        let operation = FileOperation::OpenAt {
            path,
            follow: true,
            create: write,
            directory: false,
            exclusive: false,
            truncate: false,
            read: true,
            write,
            opened,
        };
        self.run(0, operation)
    }

    fn write(&mut self, on: u32, offset: u64, bytes: &[u8]) -> Result<FileResponse, Errno> {
        let bytes = self.inputs.add(bytes);
        self.run(on, FileOperation::Write { offset, bytes })
    }
}

const FILE: Result<FileResponse, Errno> = Ok(FileResponse::Opened(FileKind::File));

#[test]
fn what_is_written_is_on_the_disk_and_what_is_read_is_stored_once() {
    let mut machine = Machine::new();
    assert_eq!(machine.open("f", true, 1), FILE);
    assert_eq!(machine.write(1, 0, b"hello"), Ok(FileResponse::Written(5)));
    let bytes = machine.inputs.add(&b" world"[..]);
    assert_eq!(machine.run(1, FileOperation::Append { bytes }), Ok(FileResponse::Written(6)));
    assert_eq!(machine.run(1, FileOperation::Sync), Ok(FileResponse::Done));
    assert_eq!(machine.run(0, FileOperation::SyncData), Ok(FileResponse::Done));
    assert_eq!(std::fs::read(machine.directory.path().join("f")).expect("there"), b"hello world");
    let read = machine.run(1, FileOperation::Read { offset: 6, length: u64::MAX >> 2 });
    assert_eq!(read, Ok(FileResponse::Bytes { bytes: Digest::of(b"world"), end: false }));
    assert_eq!(&*machine.inputs.get(&Digest::of(b"world")).expect("stored"), b"world");
    let end = machine.run(1, FileOperation::Read { offset: 11, length: 1 });
    assert_eq!(end, Ok(FileResponse::Bytes { bytes: Digest::of(b""), end: true }));
    assert_eq!(machine.write(9, 0, b"x"), Err(Errno::BadDescriptor));
    let unknown = FileOperation::Write { offset: 0, bytes: Digest::of(b"not among the inputs") };
    assert_eq!(machine.run(1, unknown), Err(Errno::Io));
}

#[test]
fn nothing_outside_is_reached() {
    let mut machine = Machine::new();
    let outside = tempfile::tempdir().expect("a temporary directory");
    std::fs::write(outside.path().join("secret"), "never read").expect("written");
    let absolute = outside.path().join("secret").to_str().expect("UTF-8").to_owned();
    let up = format!("../{}/secret", outside.path().file_name().expect("named").to_string_lossy());
    symlink(&absolute, machine.directory.path().join("absolute")).expect("linked");
    symlink(&up, machine.directory.path().join("up")).expect("linked");
    symlink(outside.path(), machine.directory.path().join("out")).expect("linked");
    for path in [&absolute, &up, "absolute", "up", "..", "../..", "out/secret", "/etc/passwd", "/"] {
        let path = path.to_string();
        assert_eq!(machine.open(&path, false, 1), Err(Errno::NotPermitted), "{path}");
        assert_eq!(machine.open(&path, true, 1), Err(Errno::NotPermitted), "{path}");
        let stat = FileOperation::StatAt { path: path.clone(), follow: true };
        assert_eq!(machine.run(0, stat), Err(Errno::NotPermitted), "{path}");
        let times = |path| FileOperation::SetTimes {
            path,
            follow: true,
            accessed: TimestampUpdate::Now,
            modified: TimestampUpdate::Now,
        };
        assert_eq!(machine.run(0, times(Some(path.clone()))), Err(Errno::NotPermitted), "{path}");
    }
    for path in [&absolute, &up, "out/new"] {
        let path = path.to_string();
        for operation in [
            FileOperation::UnlinkFileAt { path: path.clone() },
            FileOperation::CreateDirectoryAt { path: path.clone() },
            FileOperation::SymlinkAt { text: "x".to_owned(), path: path.clone() },
            FileOperation::RenameAt { path: "up".to_owned(), to: 0, new_path: path.clone() },
            FileOperation::RenameAt { path: path.clone(), to: 0, new_path: "in".to_owned() },
            FileOperation::LinkAt { path: path.clone(), follow: false, to: 0, new_path: "in".to_owned() },
        ] {
            assert_eq!(machine.run(0, operation.clone()), Err(Errno::NotPermitted), "{operation:?}");
        }
    }
    assert_eq!(std::fs::read(outside.path().join("secret")).expect("untouched"), b"never read");
    assert_eq!(std::fs::read_dir(outside.path()).expect("there").count(), 1);
}

#[test]
fn pipes_sockets_and_devices_are_seen_and_never_waited_for() {
    let mut machine = Machine::new();
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    let pipe = machine.directory.path().join("pipe");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).expect("a pipe");
    let _socket = std::os::unix::net::UnixListener::bind(machine.directory.path().join("socket")).expect("bound");
    symlink("pipe", machine.directory.path().join("link")).expect("linked");
    for path in ["pipe", "socket", "link"] {
        for write in [false, true] {
            assert_eq!(machine.open(path, write, 1), Err(Errno::NotPermitted), "{path}");
        }
    }
    let directory = |path: &str, follow| FileOperation::OpenAt {
        path: path.to_owned(),
        follow,
        create: false,
        directory: true,
        exclusive: false,
        truncate: false,
        read: true,
        write: false,
        opened: 1,
    };
    assert_eq!(machine.run(0, directory("pipe", true)), Err(Errno::NotDirectory));
    let Ok(FileResponse::Entries(entries)) = machine.run(0, FileOperation::ReadDirectory) else { panic!("no listing") };
    let expected = [("link", FileKind::Link), ("pipe", FileKind::Other), ("socket", FileKind::Other)];
    assert_eq!(entries, expected.map(|(name, kind)| (name.to_owned(), kind)));

    // A device can be reached only where devices are: the root is opened there.
    let mut devices = FileBackend::new(Path::new("/dev"), None).expect("there");
    let zero = FileOperation::OpenAt {
        path: "zero".to_owned(),
        follow: true,
        create: false,
        directory: false,
        exclusive: false,
        truncate: false,
        read: true,
        write: false,
        opened: 1,
    };
    assert_eq!(
        devices.answer(&FileRequest { on: 0, operation: zero }, &no_secrets(), &mut Inputs::default()),
        Err(Errno::NotPermitted)
    );
}

#[test]
fn numbers_are_given_once_and_open_files_are_bounded() {
    let mut machine = Machine::new();
    assert_eq!(machine.open("f", true, 0), Err(Errno::BadDescriptor));
    for number in 1..=OPEN_FILES_MAX as u32 {
        assert_eq!(machine.open("f", true, number), FILE);
    }
    assert_eq!(machine.open("f", true, 7), Err(Errno::BadDescriptor));
    assert_eq!(machine.open("f", true, 100_000), Err(Errno::InsufficientMemory));
    for closed in [7, 7, 0, 99_999] {
        assert_eq!(machine.run(closed, FileOperation::Close), Ok(FileResponse::Done));
    }
    assert_eq!(machine.open("f", true, 100_000), FILE);
    assert_eq!(
        machine.run(0, FileOperation::IsSameObject { other: 0 }),
        Ok(FileResponse::Same(true)),
        "the root stays"
    );
}

#[test]
fn times_and_identities_are_the_disk_s() {
    let mut machine = Machine::new();
    assert_eq!(machine.open("f", true, 1), FILE);
    let times = |path: Option<&str>, accessed, modified| FileOperation::SetTimes {
        path: path.map(str::to_owned),
        follow: false,
        accessed,
        modified,
    };
    let stat = |machine: &mut Machine, on| match machine.run(on, FileOperation::Stat) {
        Ok(FileResponse::Stat(stat)) => stat,
        other => panic!("{other:?}"),
    };
    let before = stat(&mut machine, 1);
    assert_eq!(machine.run(1, times(None, TimestampUpdate::At(5), TimestampUpdate::NoChange)), Ok(FileResponse::Done));
    assert_eq!((stat(&mut machine, 1).accessed_ns, stat(&mut machine, 1).modified_ns), (5, before.modified_ns));
    let whole = 1_700_000_000_123_456_789;
    assert_eq!(
        machine.run(0, times(Some("f"), TimestampUpdate::NoChange, TimestampUpdate::At(whole))),
        Ok(FileResponse::Done)
    );
    assert_eq!((stat(&mut machine, 1).accessed_ns, stat(&mut machine, 1).modified_ns), (5, whole));
    assert_eq!(machine.run(0, times(None, TimestampUpdate::At(7), TimestampUpdate::At(8))), Ok(FileResponse::Done));
    assert_eq!((stat(&mut machine, 0).accessed_ns, stat(&mut machine, 0).kind), (7, FileKind::Directory));
    assert_eq!(machine.run(1, times(None, TimestampUpdate::Now, TimestampUpdate::Now)), Ok(FileResponse::Done));
    assert!(stat(&mut machine, 1).modified_ns >= before.modified_ns);

    let hash = |machine: &mut Machine, on, path: Option<&str>| {
        machine.run(on, FileOperation::MetadataHash { path: path.map(str::to_owned), follow: true })
    };
    let of_file = hash(&mut machine, 1, None);
    assert_eq!(of_file, hash(&mut machine, 0, Some("f")));
    assert_ne!(of_file, hash(&mut machine, 0, None));
    assert_eq!(machine.open("f", false, 2), FILE);
    assert_eq!(machine.run(1, FileOperation::IsSameObject { other: 2 }), Ok(FileResponse::Same(true)));
    assert_eq!(machine.run(1, FileOperation::IsSameObject { other: 0 }), Ok(FileResponse::Same(false)));
    assert_eq!(since_1970(-1, 5), 0);
    assert_eq!(since_1970(i64::MAX, 5), u64::MAX);
}

#[test]
fn the_run_store_is_not_there() {
    let mut machine = Machine::new();
    let root = machine.directory.path().to_owned();
    std::fs::create_dir_all(root.join(".fozzy/runs")).expect("room");
    std::fs::write(root.join(".fozzy/runs/sequence"), "7\n").expect("room");
    std::fs::write(root.join("seen"), "").expect("room");
    std::fs::create_dir(root.join("sub")).expect("room");
    symlink(".fozzy/runs", root.join("link")).expect("room");
    machine.files = FileBackend::new(&root, Some(".fozzy".into())).expect("it is there");
    let gone = Err(Errno::NoEntry);
    for path in [
        ".fozzy",
        ".fozzy/",
        "./.fozzy/runs/sequence",
        "sub/../.fozzy/runs",
        ".fozzy/../.fozzy",
        "link/sequence",
        "link",
        ".fozzy/new",
        "link/new",
    ] {
        for write in [false, true] {
            assert_eq!(machine.open(path, write, 1), gone, "{path}");
        }
        let path = || path.to_owned();
        assert_eq!(machine.run(0, FileOperation::StatAt { path: path(), follow: true }), gone, "{}", path());
        assert_eq!(
            machine.run(0, FileOperation::RenameAt { path: "seen".into(), to: 0, new_path: format!("{}/x", path()) }),
            gone
        );
        assert_eq!(machine.run(0, FileOperation::MetadataHash { path: Some(path()), follow: true }), gone);
    }
    for operation in [
        FileOperation::CreateDirectoryAt { path: ".fozzy".into() },
        FileOperation::RemoveDirectoryAt { path: ".fozzy/runs".into() },
        FileOperation::UnlinkFileAt { path: "link/sequence".into() },
        FileOperation::LinkAt { path: ".fozzy/runs/sequence".into(), follow: false, to: 0, new_path: "mine".into() },
        FileOperation::SymlinkAt { text: "x".into(), path: ".fozzy/x".into() },
        FileOperation::RenameAt { path: ".fozzy".into(), to: 0, new_path: "mine".into() },
    ] {
        assert_eq!(machine.run(0, operation.clone()), gone, "{operation:?}");
    }
    let listed = |machine: &mut Machine, on| match machine.run(on, FileOperation::ReadDirectory) {
        Ok(FileResponse::Entries(entries)) => entries.into_iter().map(|(name, _)| name).collect::<Vec<_>>(),
        other => panic!("{other:?}"),
    };
    assert_eq!(listed(&mut machine, 0), ["link", "seen", "sub"]);
    // The root once more, and another directory that has the name.
    std::fs::create_dir(root.join("sub/.fozzy")).expect("room");
    assert_eq!(machine.open(".", false, 1), Ok(FileResponse::Opened(FileKind::Directory)));
    assert_eq!(listed(&mut machine, 1), ["link", "seen", "sub"]);
    assert_eq!(machine.run(1, FileOperation::StatAt { path: ".fozzy".into(), follow: true }), gone);
    assert_eq!(machine.open("sub", false, 2), Ok(FileResponse::Opened(FileKind::Directory)));
    assert_eq!(listed(&mut machine, 2), [".fozzy"]);
    assert!(root.join(".fozzy/runs/sequence").exists());
}

#[test]
fn a_secret_is_read_as_asterisks_whatever_the_borders_of_the_reads() {
    let mut machine = Machine::new();
    let known = [("<redacted:TOKEN>".to_owned(), "s3cr3t/token".to_owned())];
    machine.secrets = Secrets::new(&known, &fozzy_trace::plan::RedactionPolicy::default()).expect("one");
    let content = "PORT=80\nTOKEN=s3cr3t/token\n\"s3cr3t\\/token\" czNjcjN0L3Rva2Vu s3cr3t%2Ftoken";
    let path = machine.directory.path().join("env");
    std::fs::write(&path, content).expect("it is ours");
    let mut whole = None;
    for step in [1, 2, 3, 5, 7, 13, content.len(), content.len() + 9] {
        assert_eq!(machine.open("env", false, 1), FILE);
        let mut read = Vec::new();
        loop {
            let operation = FileOperation::Read { offset: read.len() as u64, length: step as u64 };
            let Ok(FileResponse::Bytes { bytes, end }) = machine.run(1, operation) else { panic!("it can be read") };
            if end {
                break;
            }
            read.extend_from_slice(&machine.inputs.get(&bytes).expect("stored"));
        }
        assert_eq!(machine.run(1, FileOperation::Close), Ok(FileResponse::Done));
        let text = String::from_utf8(read).expect("text");
        assert_eq!(*whole.get_or_insert_with(|| text.clone()), text, "in steps of {step}");
    }
    let text = whole.expect("read");
    assert!(
        text.starts_with("PORT=80\nTOKEN=************\n\"*************\" ") && text.ends_with(" **************"),
        "{text}"
    );
    assert!(text.len() == content.len() && !text.contains("czNjcjN0L3Rva2Vu"), "{text}");

    // What came instead of the secret never takes its place.
    assert_eq!(machine.open("env", true, 2), FILE);
    assert_eq!(machine.write(2, 0, b"PORT=81"), Err(Errno::NotPermitted));
    let bytes = machine.inputs.add(&b"x"[..]);
    assert_eq!(machine.run(2, FileOperation::Append { bytes }), Err(Errno::NotPermitted));
    assert_eq!(machine.run(2, FileOperation::SetSize { size: 0 }), Err(Errno::NotPermitted));
    let truncating = FileOperation::OpenAt {
        path: "env".to_owned(),
        follow: true,
        create: false,
        directory: false,
        exclusive: false,
        truncate: true,
        read: false,
        write: true,
        opened: 3,
    };
    assert_eq!(machine.run(0, truncating), Err(Errno::NotPermitted));
    assert_eq!(machine.open("other", true, 4), FILE);
    assert_eq!(machine.write(4, 0, b"PORT=81"), Ok(FileResponse::Written(7)));
    let rename = FileOperation::RenameAt { path: "other".to_owned(), to: 0, new_path: "env".to_owned() };
    assert_eq!(machine.run(0, rename), Err(Errno::NotPermitted));
    assert_eq!(std::fs::read_to_string(path).expect("there"), content);
}
