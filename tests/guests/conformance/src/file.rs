//! What can be done with an open file: flags, reading, writing, resizing, streams, advice, syncing.

use crate::cases;
use crate::place::{AS_IS, BOTH, CREATE, NO_FLAGS, READ, STAY, WRITE, drain, plain};
use crate::show::Bytes;
use wasip2::filesystem::types::{Advice, Descriptor};

/// What a read answers.
fn read(file: &Descriptor, length: u64, offset: u64) -> crate::place::Answer<(Bytes, bool)> {
    file.read(length, offset).map(|(bytes, end)| (Bytes(bytes), end))
}

cases! {
    Together "filesystem/types.descriptor.get-flags" "of files" |d| {
        d.put("a", b"");
        [READ, WRITE, BOTH, NO_FLAGS].map(|flags| d.open("a", flags).get_flags())
    };
    Together "filesystem/types.descriptor.get-flags" "of directories" |d| {
        d.folder("a");
        [READ, NO_FLAGS].map(|flags| d.open("a", flags).get_flags())
    };
    Together "filesystem/types.descriptor.get-flags" "of a file just made" |d| {
        [READ, WRITE, NO_FLAGS].map(|flags| d.open_at(STAY, "a", CREATE, flags).unwrap().get_flags())
    };
    Together "filesystem/types.descriptor.get-type" "of a file and a directory" |d| {
        (d.made("a", b"").get_type(), d.get_type())
    };

    Together "filesystem/types.descriptor.read" "all, some, none, the end" |d| {
        let file = d.made("a", b"hello");
        (read(&file, 100, 0), read(&file, 2, 1), read(&file, 0, 0), read(&file, 9, 5), read(&file, 9, 99))
    };
    Together "filesystem/types.descriptor.read" "an empty file" |d| {
        let file = d.made("a", b"");
        (read(&file, 9, 0), read(&file, 0, 0))
    };
    Together "filesystem/types.descriptor.read" "more than is read at once" |d| {
        let file = d.made("a", &[b'x'; 100_000]);
        (read(&file, 200_000, 0), read(&file, u64::MAX, 99_990))
    };
    Together "filesystem/types.descriptor.read" "impossible offsets" |d| {
        let file = d.made("a", b"hello");
        [i64::MAX as u64 - 1, i64::MAX as u64, 1 << 63, u64::MAX].map(|offset| read(&file, 1, offset))
    };
    Together "filesystem/types.descriptor.read" "a file opened for writing only" |d| {
        d.put("a", b"hello");
        read(&d.open("a", WRITE), 9, 0)
    };
    Together "filesystem/types.descriptor.read" "a directory" |d| read(d, 9, 0);
    Together "filesystem/types.descriptor.read" "a removed file" |d| {
        let file = d.made("a", b"hello");
        d.unlink_file_at("a").unwrap();
        (read(&file, 9, 0), file.write(b"J", 0), read(&file, 9, 0), d.kind("a"))
    };

    Together "filesystem/types.descriptor.write" "into, over, after" |d| {
        let file = d.made("a", b"hello");
        (file.write(b"j", 0), file.write(b"y!", 4), d.text("a"))
    };
    Together "filesystem/types.descriptor.write" "beyond the end" |d| {
        let file = d.made("a", b"ab");
        (file.write(b"z", 5), d.text("a"))
    };
    Together "filesystem/types.descriptor.write" "far beyond the end" |d| {
        let file = d.made("a", b"ab");
        (file.write(b"z", 10_000_000), file.stat().map(plain), read(&file, 3, 9_999_999))
    };
    Together "filesystem/types.descriptor.write" "nothing, far beyond the end" |d| {
        let file = d.made("a", b"ab");
        (file.write(b"", 50), d.text("a"))
    };
    Together "filesystem/types.descriptor.write" "across the borders of pages" |d| {
        let file = d.made("a", &[b'-'; 9000]);
        (file.write(&[b'x'; 4100], 4090), d.text("a"))
    };
    Together "filesystem/types.descriptor.write" "much at once" |d| {
        let file = d.made("a", b"");
        (file.write(&[b'm'; 300_000], 0).map(|written| written > 0), d.text("a").map(|text| text.0.first() == Some(&b'm')))
    };
    Together "filesystem/types.descriptor.write" "impossible offsets" |d| {
        let file = d.made("a", b"hello");
        [file.write(b"x", i64::MAX as u64), file.write(b"x", 1 << 63), file.write(b"x", u64::MAX)]
    };
    Together "filesystem/types.descriptor.write" "a file opened for reading only" |d| {
        d.put("a", b"hello");
        (d.open("a", READ).write(b"x", 0), d.open("a", NO_FLAGS).write(b"x", 0), d.text("a"))
    };
    Together "filesystem/types.descriptor.write" "a directory" |d| d.write(b"x", 0);
    Together "filesystem/types.descriptor.write" "through one of two names" |d| {
        let file = d.made("a", b"old");
        d.link_at(STAY, "a", d, "b").unwrap();
        (file.write(b"new", 0), d.text("b"))
    };

    Together "filesystem/types.descriptor.set-size" "smaller, larger, none" |d| {
        let file = d.made("a", b"hello");
        let mut steps = Vec::new();
        for size in [3, 6, 0, 2] {
            steps.push((file.set_size(size), d.text("a")));
        }
        steps
    };
    Together "filesystem/types.descriptor.set-size" "what was cut off is zero afterwards" |d| {
        let file = d.made("a", &[b'x'; 10_000]);
        (file.set_size(4000), file.set_size(9000), d.text("a"))
    };
    Together "filesystem/types.descriptor.set-size" "huge" |d| {
        let file = d.made("a", b"hello");
        (file.set_size(1 << 40), file.stat().map(plain), file.set_size(0))
    };
    Together "filesystem/types.descriptor.set-size" "impossible" |d| {
        let file = d.made("a", b"hello");
        (file.set_size(1 << 63), file.set_size(u64::MAX), d.text("a"))
    };
    Together "filesystem/types.descriptor.set-size" "a file opened for reading only" |d| {
        d.put("a", b"hello");
        (d.open("a", READ).set_size(1), d.text("a"))
    };
    Together "filesystem/types.descriptor.set-size" "a directory" |d| d.set_size(0);

    Together "filesystem/types.descriptor.read-via-stream" "from the start, the middle, beyond the end" |d| {
        let file = d.made("a", b"hello");
        [0, 3, 99].map(|offset| file.read_via_stream(offset).map(|stream| drain(&stream)))
    };
    Together "filesystem/types.descriptor.read-via-stream" "a directory" |d| d.read_via_stream(0).map(|_| ());
    Together "filesystem/types.descriptor.read-via-stream" "two at once" |d| {
        let file = d.made("a", b"hello");
        let (one, other) = (file.read_via_stream(0).unwrap(), file.read_via_stream(0).unwrap());
        (one.blocking_read(2).map(Bytes), other.blocking_read(3).map(Bytes), drain(&one), drain(&other))
    };
    Together "filesystem/types.descriptor.write-via-stream" "a directory" |d| d.write_via_stream(0).map(|_| ());
    Together "filesystem/types.descriptor.write-via-stream" "a file opened for reading only" |d| {
        d.put("a", b"");
        d.open("a", READ).write_via_stream(0).map(|_| ())
    };
    Together "filesystem/types.descriptor.write-via-stream" "beyond what positions can be" |d| {
        let stream = d.made("a", b"").write_via_stream(u64::MAX).unwrap();
        (stream.blocking_write_and_flush(b"x"), d.text("a"))
    };
    Together "filesystem/types.descriptor.append-via-stream" "a directory" |d| d.append_via_stream().map(|_| ());
    Together "filesystem/types.descriptor.append-via-stream" "two streams in turns" |d| {
        let file = d.made("a", b"0");
        let (one, other) = (file.append_via_stream().unwrap(), file.append_via_stream().unwrap());
        let done = [&one, &other, &one].map(|stream| stream.blocking_write_and_flush(b"xy"));
        (done, d.text("a"))
    };

    Together "filesystem/types.descriptor.advise" "every kind" |d| {
        let file = d.made("a", b"hello");
        [Advice::Normal, Advice::Sequential, Advice::Random, Advice::WillNeed, Advice::DontNeed, Advice::NoReuse]
            .map(|advice| file.advise(0, 5, advice))
    };
    Together "filesystem/types.descriptor.advise" "about what is not there" |d| {
        let file = d.made("a", b"");
        (file.advise(100, 100, Advice::WillNeed), file.advise(0, 0, Advice::Normal), file.advise(0, 1 << 63, Advice::Normal))
    };
    Together "filesystem/types.descriptor.advise" "a directory" |d| d.advise(0, 0, Advice::Normal);
    Together "filesystem/types.descriptor.sync" "files and directories" |d| {
        let file = d.made("a", b"hello");
        (file.write(b"j", 0), file.sync(), d.open("a", READ).sync(), d.sync(), d.text("a"))
    };
    Together "filesystem/types.descriptor.sync-data" "files and directories" |d| {
        let file = d.made("a", b"hello");
        (file.write(b"j", 0), file.sync_data(), d.open("a", READ).sync_data(), d.sync_data(), d.text("a"))
    };

    Together "filesystem/types.descriptor.is-same-object" "opened twice" |d| {
        let one = d.made("a", b"");
        (one.is_same_object(&d.open("a", READ)), one.is_same_object(&one))
    };
    Together "filesystem/types.descriptor.is-same-object" "by two names" |d| {
        let one = d.made("a", b"");
        d.link_at(STAY, "a", d, "b").unwrap();
        one.is_same_object(&d.open("b", READ))
    };
    Together "filesystem/types.descriptor.is-same-object" "by a symbolic link" |d| {
        let one = d.made("a", b"");
        d.link("a", "b");
        one.is_same_object(&d.open_at(crate::place::FOLLOW, "b", AS_IS, READ).unwrap())
    };
    Together "filesystem/types.descriptor.is-same-object" "equal content" |d| {
        d.made("a", b"x").is_same_object(&d.made("b", b"x"))
    };
    Together "filesystem/types.descriptor.is-same-object" "after a rename" |d| {
        let one = d.made("a", b"x");
        d.rename_at("a", d, "b").unwrap();
        one.is_same_object(&d.open("b", READ))
    };
    Together "filesystem/types.descriptor.is-same-object" "a directory and a file in it" |d| {
        d.is_same_object(&d.made("a", b""))
    };
}
