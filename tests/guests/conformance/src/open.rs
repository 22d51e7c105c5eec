//! `open-at`: every way in which a path leads to something, and every way in which it does not.

use crate::cases;
use crate::place::{AS_IS, BOTH, CREATE, DIRECTORY, EXCLUSIVE, FOLLOW, NO_FLAGS, READ, STAY, TRUNCATE, WRITE, root};
use crate::show::Bytes;
use wasip2::filesystem::preopens::get_directories;
use wasip2::filesystem::types::{DescriptorFlags, OpenFlags};

const MUTATE: DescriptorFlags = DescriptorFlags::MUTATE_DIRECTORY;

/// A chain of links that ends at a file: the path of its beginning.
fn chain(d: &crate::place::Place, length: usize) -> String {
    d.put("0", b"end");
    for number in 1..=length {
        d.link(&(number - 1).to_string(), &number.to_string());
    }
    length.to_string()
}

cases! {
    Together "filesystem/preopens.get-directories" "the root alone" |_d| {
        get_directories().into_iter().map(|(_, path)| path).collect::<Vec<_>>()
    };
    Together "filesystem/preopens.get-directories" "each time a descriptor of the same" |_d| {
        root().is_same_object(&root())
    };
    Together "filesystem/preopens.get-directories" "its kind and flags" |_d| (root().get_type(), root().get_flags());

    Together "filesystem/types.descriptor.open-at" "a missing name" |d| d.try_open(STAY, "a", AS_IS, READ);
    Together "filesystem/types.descriptor.open-at" "a file" |d| {
        d.put("a", b"x");
        d.try_open(STAY, "a", AS_IS, READ)
    };
    Together "filesystem/types.descriptor.open-at" "a directory" |d| {
        d.folder("a");
        d.try_open(STAY, "a", AS_IS, READ)
    };
    Together "filesystem/types.descriptor.open-at" "a file in a directory" |d| {
        d.folder("a");
        d.put("a/b", b"x");
        ["a/b", "a//b", "./a/./b"].map(|path| d.try_open(STAY, path, AS_IS, READ))
    };
    Together "filesystem/types.descriptor.open-at" "create" |d| {
        (d.try_open(STAY, "a", CREATE, WRITE), d.names(""))
    };
    Together "filesystem/types.descriptor.open-at" "create what exists" |d| {
        d.put("a", b"kept");
        (d.try_open(STAY, "a", CREATE, WRITE), d.text("a"))
    };
    Together "filesystem/types.descriptor.open-at" "create without the right to write" |d| {
        (d.try_open(STAY, "a", CREATE, READ), d.try_open(STAY, "b", CREATE, NO_FLAGS), d.names(""))
    };
    Together "filesystem/types.descriptor.open-at" "create in a missing directory" |d| {
        d.try_open(STAY, "a/b", CREATE, WRITE)
    };
    Together "filesystem/types.descriptor.open-at" "create below a file" |d| {
        d.put("a", b"");
        d.try_open(STAY, "a/b", CREATE, WRITE)
    };
    Together "filesystem/types.descriptor.open-at" "create with a slash at the end" |d| {
        (d.try_open(STAY, "a/", CREATE, WRITE), d.names(""))
    };
    Together "filesystem/types.descriptor.open-at" "create over a directory" |d| {
        d.folder("a");
        d.try_open(STAY, "a", CREATE, WRITE)
    };
    Together "filesystem/types.descriptor.open-at" "exclusive, new" |d| {
        (d.try_open(STAY, "a", EXCLUSIVE, WRITE), d.names(""))
    };
    Together "filesystem/types.descriptor.open-at" "exclusive, a file is there" |d| {
        d.put("a", b"");
        d.try_open(STAY, "a", EXCLUSIVE, WRITE)
    };
    Together "filesystem/types.descriptor.open-at" "exclusive, a directory is there" |d| {
        d.folder("a");
        d.try_open(STAY, "a", EXCLUSIVE, WRITE)
    };
    Together "filesystem/types.descriptor.open-at" "exclusive, a dangling link is there" |d| {
        d.link("b", "a");
        (d.try_open(STAY, "a", EXCLUSIVE, WRITE), d.try_open(FOLLOW, "a", EXCLUSIVE, WRITE), d.names(""))
    };
    Together "filesystem/types.descriptor.open-at" "exclusive without create" |d| {
        d.put("a", b"x");
        d.try_open(STAY, "a", OpenFlags::EXCLUSIVE, READ)
    };
    Together "filesystem/types.descriptor.open-at" "truncate" |d| {
        d.put("a", b"gone");
        (d.try_open(STAY, "a", TRUNCATE, WRITE), d.text("a"))
    };
    Together "filesystem/types.descriptor.open-at" "truncate without the right to write" |d| {
        d.put("a", b"gone");
        (d.try_open(STAY, "a", TRUNCATE, READ), d.text("a"))
    };
    Together "filesystem/types.descriptor.open-at" "truncate a directory" |d| {
        d.folder("a");
        d.try_open(STAY, "a", TRUNCATE, WRITE)
    };
    Together "filesystem/types.descriptor.open-at" "truncate a missing name" |d| d.try_open(STAY, "a", TRUNCATE, WRITE);
    Together "filesystem/types.descriptor.open-at" "as a directory, a directory" |d| {
        d.folder("a");
        d.try_open(STAY, "a", DIRECTORY, READ)
    };
    Together "filesystem/types.descriptor.open-at" "as a directory, a file" |d| {
        d.put("a", b"");
        d.try_open(STAY, "a", DIRECTORY, READ)
    };
    Together "filesystem/types.descriptor.open-at" "as a directory, a missing name" |d| {
        d.try_open(STAY, "a", DIRECTORY, READ)
    };
    Together "filesystem/types.descriptor.open-at" "as a directory, to be made" |d| {
        (d.try_open(STAY, "a", DIRECTORY | CREATE, READ), d.names(""))
    };
    Together "filesystem/types.descriptor.open-at" "as a directory, emptied" |d| {
        d.folder("a");
        d.try_open(STAY, "a", DIRECTORY | TRUNCATE, READ)
    };
    Together "filesystem/types.descriptor.open-at" "as a directory, a link to one" |d| {
        d.folder("a");
        d.link("a", "b");
        (d.try_open(STAY, "b", DIRECTORY, READ), d.try_open(FOLLOW, "b", DIRECTORY, READ))
    };
    Together "filesystem/types.descriptor.open-at" "a directory for writing" |d| {
        d.folder("a");
        (d.try_open(STAY, "a", AS_IS, WRITE), d.try_open(STAY, "a", AS_IS, BOTH))
    };
    Together "filesystem/types.descriptor.open-at" "a directory to be changed" |d| {
        d.folder("a");
        let opened = d.open_at(STAY, "a", DIRECTORY, READ | MUTATE);
        opened.map(|a| (a.get_flags(), a.create_directory_at("b"), a.unlink_file_at("b")))
    };
    Together "filesystem/types.descriptor.open-at" "a directory not to be changed" |d| {
        d.folder("a");
        d.open_at(STAY, "a", DIRECTORY, READ).map(|a| (a.get_flags(), a.create_directory_at("b")))
    };
    Together "filesystem/types.descriptor.open-at" "a file with a slash at the end" |d| {
        d.put("a", b"");
        d.try_open(STAY, "a/", AS_IS, READ)
    };
    Together "filesystem/types.descriptor.open-at" "a directory with slashes at the end" |d| {
        d.folder("a");
        ["a/", "a//", "a/."].map(|path| d.try_open(STAY, path, AS_IS, READ))
    };
    Together "filesystem/types.descriptor.open-at" "the directory itself" |d| {
        d.open_at(STAY, ".", AS_IS, READ).map(|dot| dot.is_same_object(d))
    };
    Together "filesystem/types.descriptor.open-at" "out of the directory" |d| {
        ["..", "../x", "a/../.."].map(|path| d.try_open(STAY, path, AS_IS, READ))
    };
    Together "filesystem/types.descriptor.open-at" "up and down inside" |d| {
        d.folder("a");
        d.put("b", b"x");
        (d.try_open(STAY, "a/../b", AS_IS, READ), d.try_open(STAY, "missing/../b", AS_IS, READ))
    };
    Together "filesystem/types.descriptor.open-at" "out and in again" |d| {
        d.folder("a");
        let a = d.open("a", READ);
        d.put("b", b"x");
        a.open_at(STAY, "../b", AS_IS, READ).map(|_| ())
    };
    Together "filesystem/types.descriptor.open-at" "an absolute path" |d| {
        (d.try_open(STAY, "/", AS_IS, READ), d.try_open(STAY, "/a", CREATE, WRITE))
    };
    Together "filesystem/types.descriptor.open-at" "an empty path" |d| d.try_open(STAY, "", AS_IS, READ);
    Together "filesystem/types.descriptor.open-at" "below a file" |d| {
        d.put("a", b"");
        d.try_open(STAY, "a/b", AS_IS, READ)
    };
    Together "filesystem/types.descriptor.open-at" "from a file" |d| {
        d.made("a", b"").open_at(STAY, "b", AS_IS, READ).map(|_| ())
    };
    Together "filesystem/types.descriptor.open-at" "a link to a file" |d| {
        d.put("a", b"x");
        d.link("a", "b");
        (d.try_open(STAY, "b", AS_IS, READ), d.try_open(FOLLOW, "b", AS_IS, READ))
    };
    Together "filesystem/types.descriptor.open-at" "a dangling link" |d| {
        d.link("a", "b");
        (d.try_open(STAY, "b", AS_IS, READ), d.try_open(FOLLOW, "b", AS_IS, READ))
    };
    Together "filesystem/types.descriptor.open-at" "create through a dangling link" |d| {
        d.link("a", "b");
        (d.try_open(STAY, "b", CREATE, WRITE), d.try_open(FOLLOW, "b", CREATE, WRITE), d.names(""))
    };
    Together "filesystem/types.descriptor.open-at" "truncate through a link" |d| {
        d.put("a", b"gone");
        d.link("a", "b");
        (d.try_open(STAY, "b", TRUNCATE, WRITE), d.try_open(FOLLOW, "b", TRUNCATE, WRITE), d.text("a"))
    };
    Together "filesystem/types.descriptor.open-at" "a link to itself" |d| {
        d.link("a", "a");
        (d.try_open(STAY, "a", AS_IS, READ), d.try_open(FOLLOW, "a", AS_IS, READ))
    };
    Together "filesystem/types.descriptor.open-at" "links in a circle, on the way" |d| {
        d.link("b", "a");
        d.link("a", "b");
        d.try_open(STAY, "a/c", AS_IS, READ)
    };
    Together "filesystem/types.descriptor.open-at" "forty links" |d| {
        let path = chain(d, 40);
        d.try_open(FOLLOW, &path, AS_IS, READ)
    };
    Together "filesystem/types.descriptor.open-at" "forty-one links" |d| {
        let path = chain(d, 41);
        d.try_open(FOLLOW, &path, AS_IS, READ)
    };
    Together "filesystem/types.descriptor.open-at" "a link on the way" |d| {
        d.folder("a");
        d.put("a/x", b"x");
        d.link("a", "b");
        d.try_open(STAY, "b/x", AS_IS, READ)
    };
    Together "filesystem/types.descriptor.open-at" "a link out" |d| {
        d.link("..", "a");
        d.link("../..", "b");
        [(FOLLOW, "a"), (FOLLOW, "b"), (STAY, "a/x")].map(|(flags, path)| d.try_open(flags, path, AS_IS, READ))
    };
    Together "filesystem/types.descriptor.open-at" "a link up, not out" |d| {
        d.folder("a");
        d.put("b", b"x");
        d.link("../b", "a/up");
        let a = d.open("a", READ);
        (d.try_open(FOLLOW, "a/up", AS_IS, READ), a.open_at(FOLLOW, "up", AS_IS, READ).map(|_| ()))
    };
    Together "filesystem/types.descriptor.open-at" "a link to a directory, with a slash" |d| {
        d.folder("a");
        d.link("a", "b");
        d.try_open(STAY, "b/", AS_IS, READ)
    };
    Together "filesystem/types.descriptor.open-at" "a long name" |d| {
        let (longest, longer) = ("n".repeat(255), "n".repeat(256));
        [(longest, CREATE), (longer.clone(), CREATE), (longer, AS_IS)]
            .map(|(path, open)| d.try_open(STAY, &path, open, WRITE))
    };
    Together "filesystem/types.descriptor.open-at" "a long path" |d| {
        (d.try_open(STAY, &"./".repeat(2047), AS_IS, READ), d.try_open(STAY, &"./".repeat(2048), AS_IS, READ))
    };
    Together "filesystem/types.descriptor.open-at" "a deep path" |d| {
        let mut path = String::from("a");
        for _ in 0..50 {
            d.folder(&path);
            path.push_str("/a");
        }
        (d.try_open(STAY, &path, CREATE, WRITE), d.kind(&path))
    };
    Together "filesystem/types.descriptor.open-at" "a path with a NUL" |d| d.try_open(STAY, "a\0b", CREATE, WRITE);
    Together "filesystem/types.descriptor.open-at" "names beyond ASCII" |d| {
        d.put("größe 尺寸 🦀", b"x");
        d.put("back\\slash", b"y");
        d.put(" ", b"z");
        d.names("")
    };
    Together "filesystem/types.descriptor.open-at" "names that differ in case" |d| {
        d.put("a", b"small");
        d.put("A", b"large");
        (d.text("a"), d.text("A"))
    };
    Together "filesystem/types.descriptor.open-at" "with synchronous writes" |d| {
        d.put("a", b"");
        let (file, data) = (DescriptorFlags::FILE_INTEGRITY_SYNC, DescriptorFlags::DATA_INTEGRITY_SYNC);
        [file, data, DescriptorFlags::REQUESTED_WRITE_SYNC].map(|flag| d.try_open(STAY, "a", AS_IS, BOTH | flag))
    };
    Together "filesystem/types.descriptor.open-at" "in a removed directory" |d| {
        d.folder("a");
        let a = d.open("a", READ | MUTATE);
        d.remove_directory_at("a").unwrap();
        (a.open_at(STAY, "b", CREATE, WRITE).map(|_| ()), a.open_at(STAY, "b", AS_IS, READ).map(|_| ()))
    };
    Together "filesystem/types.descriptor.open-at" "in a moved directory" |d| {
        d.folder("a");
        let a = d.open("a", READ | MUTATE);
        d.rename_at("a", d, "b").unwrap();
        (a.open_at(STAY, "x", CREATE, WRITE).map(|_| ()), d.names("b"))
    };
    Together "filesystem/types.descriptor.open-at" "twice, one sees what the other writes" |d| {
        let (one, other) = (d.made("a", b"old"), d.open("a", READ));
        (one.write(b"new", 0), other.read(9, 0).map(|(bytes, end)| (Bytes(bytes), end)))
    };
}
