//! Names in directories: made, linked, renamed, removed, listed.

use crate::cases;
use crate::place::{FOLLOW, READ, STAY, names, plain};
use wasip2::filesystem::types::DescriptorFlags;

const CHANGE: DescriptorFlags = READ.union(DescriptorFlags::MUTATE_DIRECTORY);

cases! {
    Together "filesystem/types.descriptor.create-directory-at" "new" |d| {
        (d.create_directory_at("a"), d.names(""), d.names("a"))
    };
    Together "filesystem/types.descriptor.create-directory-at" "where one is" |d| {
        d.folder("a");
        d.create_directory_at("a")
    };
    Together "filesystem/types.descriptor.create-directory-at" "where something else is" |d| {
        d.put("a", b"");
        d.link("nowhere", "b");
        (d.create_directory_at("a"), d.create_directory_at("b"), d.create_directory_at("a/c"))
    };
    Together "filesystem/types.descriptor.create-directory-at" "in a missing one" |d| d.create_directory_at("a/b");
    Together "filesystem/types.descriptor.create-directory-at" "with slashes at the end" |d| {
        (d.create_directory_at("a/"), d.create_directory_at("b//"), d.names(""))
    };
    Together "filesystem/types.descriptor.create-directory-at" "dots" |d| {
        d.folder("a");
        [".", "..", "a/.", "a/..", "a/../b", "../b", "/b", ""].map(|path| d.create_directory_at(path))
    };
    Together "filesystem/types.descriptor.create-directory-at" "through a link" |d| {
        d.folder("a");
        d.link("a", "l");
        (d.create_directory_at("l/b"), d.names("a"))
    };
    Together "filesystem/types.descriptor.create-directory-at" "long names" |d| {
        (d.create_directory_at(&"n".repeat(255)), d.create_directory_at(&"n".repeat(256)))
    };
    Together "filesystem/types.descriptor.create-directory-at" "in a removed directory" |d| {
        d.folder("a");
        let a = d.open("a", CHANGE);
        d.remove_directory_at("a").unwrap();
        a.create_directory_at("b")
    };
    Together "filesystem/types.descriptor.create-directory-at" "from a file" |d| d.made("a", b"").create_directory_at("b");

    Together "filesystem/types.descriptor.remove-directory-at" "empty" |d| {
        d.folder("a");
        (d.remove_directory_at("a"), d.names(""))
    };
    Together "filesystem/types.descriptor.remove-directory-at" "full" |d| {
        d.folder("a");
        d.put("a/b", b"");
        (d.remove_directory_at("a"), d.unlink_file_at("a/b"), d.remove_directory_at("a"))
    };
    Together "filesystem/types.descriptor.remove-directory-at" "no directory" |d| {
        d.put("a", b"");
        d.link("nowhere", "b");
        d.folder("c");
        d.link("c", "l");
        ["a", "b", "l", "missing", "a/b"].map(|path| d.remove_directory_at(path))
    };
    Together "filesystem/types.descriptor.remove-directory-at" "with a slash at the end" |d| {
        d.folder("a");
        (d.remove_directory_at("a/"), d.names(""))
    };
    Together "filesystem/types.descriptor.remove-directory-at" "dots" |d| {
        d.folder("a");
        [".", "..", "a/.", "a/..", "../a", "/a", ""].map(|path| d.remove_directory_at(path))
    };
    Together "filesystem/types.descriptor.remove-directory-at" "that is open" |d| {
        d.folder("a");
        let a = d.open("a", CHANGE);
        (d.remove_directory_at("a"), names(&a), a.get_type(), d.kind("a"))
    };
    Together "filesystem/types.descriptor.remove-directory-at" "from a file" |d| d.made("a", b"").remove_directory_at("b");

    Together "filesystem/types.descriptor.unlink-file-at" "a file" |d| {
        d.put("a", b"");
        (d.unlink_file_at("a"), d.unlink_file_at("a"), d.names(""))
    };
    Together "filesystem/types.descriptor.unlink-file-at" "links, not what they lead to" |d| {
        d.put("a", b"");
        d.link("a", "b");
        d.link("nowhere", "c");
        (d.unlink_file_at("b"), d.unlink_file_at("c"), d.names(""))
    };
    Together "filesystem/types.descriptor.unlink-file-at" "a directory" |d| {
        d.folder("a");
        d.link("a", "l");
        ["a", "a/", "l/", ".", "..", "a/."].map(|path| d.unlink_file_at(path))
    };
    Together "filesystem/types.descriptor.unlink-file-at" "with a slash at the end" |d| {
        d.put("a", b"");
        (d.unlink_file_at("a/"), d.names(""))
    };
    Together "filesystem/types.descriptor.unlink-file-at" "through a directory and a link" |d| {
        d.folder("a");
        d.put("a/x", b"");
        d.link("a", "l");
        (d.unlink_file_at("l/x"), d.names("a"), d.unlink_file_at("a/x/y"))
    };
    Together "filesystem/types.descriptor.unlink-file-at" "out of the directory" |d| {
        ["../a", "/a", ""].map(|path| d.unlink_file_at(path))
    };
    Together "filesystem/types.descriptor.unlink-file-at" "one of two names" |d| {
        d.put("a", b"x");
        d.link_at(STAY, "a", d, "b").unwrap();
        (d.unlink_file_at("a"), d.text("b"), d.stat_at(STAY, "b").map(plain))
    };

    Together "filesystem/types.descriptor.rename-at" "a file" |d| {
        d.put("a", b"x");
        (d.rename_at("a", d, "b"), d.names(""), d.text("b"))
    };
    Together "filesystem/types.descriptor.rename-at" "a file over a file" |d| {
        d.put("a", b"x");
        d.put("b", b"y");
        (d.rename_at("a", d, "b"), d.names(""), d.text("b"))
    };
    Together "filesystem/types.descriptor.rename-at" "over an open file" |d| {
        d.put("a", b"x");
        let old = d.made("b", b"y");
        (d.rename_at("a", d, "b"), crate::place::content(&old), d.text("b"))
    };
    Together "filesystem/types.descriptor.rename-at" "to itself" |d| {
        d.put("a", b"x");
        d.folder("b");
        (d.rename_at("a", d, "a"), d.rename_at("b", d, "b"), d.names(""))
    };
    Together "filesystem/types.descriptor.rename-at" "one name of a file to its other" |d| {
        d.put("a", b"x");
        d.link_at(STAY, "a", d, "b").unwrap();
        (d.rename_at("a", d, "b"), d.names(""))
    };
    Together "filesystem/types.descriptor.rename-at" "a file over a directory" |d| {
        d.put("a", b"x");
        d.folder("b");
        d.rename_at("a", d, "b")
    };
    Together "filesystem/types.descriptor.rename-at" "a directory over a file" |d| {
        d.folder("a");
        d.put("b", b"x");
        d.rename_at("a", d, "b")
    };
    Together "filesystem/types.descriptor.rename-at" "a directory over an empty one" |d| {
        d.folder("a");
        d.put("a/x", b"x");
        d.folder("b");
        (d.rename_at("a", d, "b"), d.names(""), d.names("b"))
    };
    Together "filesystem/types.descriptor.rename-at" "a directory over a full one" |d| {
        d.folder("a");
        d.folder("b");
        d.put("b/x", b"x");
        d.rename_at("a", d, "b")
    };
    Together "filesystem/types.descriptor.rename-at" "a directory into itself" |d| {
        d.folder("a");
        d.folder("a/b");
        (d.rename_at("a", d, "a/c"), d.rename_at("a", d, "a/b/c"), d.rename_at("a/b", d, "a"))
    };
    Together "filesystem/types.descriptor.rename-at" "what is missing, to where nothing is" |d| {
        d.put("a", b"");
        (d.rename_at("x", d, "y"), d.rename_at("a", d, "x/y"), d.rename_at("a/b", d, "c"), d.rename_at("a", d, "a/b"))
    };
    Together "filesystem/types.descriptor.rename-at" "dots" |d| {
        d.folder("a");
        let from = [".", "..", "a/.", "/a", ""].map(|old| d.rename_at(old, d, "b"));
        (from, [".", "..", "../b", "/b", ""].map(|new| d.rename_at("a", d, new)))
    };
    Together "filesystem/types.descriptor.rename-at" "with slashes at the end" |d| {
        d.folder("a");
        d.put("f", b"");
        let done = [("f", "g/"), ("f/", "g"), ("a/", "b"), ("b", "c/")].map(|(old, new)| d.rename_at(old, d, new));
        (done, d.names(""))
    };
    Together "filesystem/types.descriptor.rename-at" "links, not what they lead to" |d| {
        d.put("a", b"x");
        d.link("a", "l");
        (d.rename_at("l", d, "m"), d.names(""), d.readlink_at("m"))
    };
    Together "filesystem/types.descriptor.rename-at" "over a link" |d| {
        d.put("a", b"x");
        d.put("b", b"y");
        d.link("b", "l");
        (d.rename_at("a", d, "l"), d.names(""), d.text("b"))
    };
    Together "filesystem/types.descriptor.rename-at" "into another descriptor's directory" |d| {
        d.folder("a");
        d.put("x", b"x");
        let a = d.open("a", CHANGE);
        (d.rename_at("x", &a, "y"), d.names(""), d.names("a"), a.rename_at("y", d, "z"), d.names(""))
    };
    Together "filesystem/types.descriptor.rename-at" "a tree keeps what is in it" |d| {
        d.folder("a");
        d.folder("a/b");
        d.put("a/b/x", b"deep");
        d.folder("c");
        (d.rename_at("a", d, "c/a"), d.text("c/a/b/x"), d.text("c/a/b/../b/x"))
    };
    Together "filesystem/types.descriptor.rename-at" "from and to a file" |d| {
        d.put("x", b"");
        let file = d.made("a", b"");
        (file.rename_at("x", d, "y"), d.rename_at("x", &file, "y"))
    };

    Together "filesystem/types.descriptor.link-at" "a file" |d| {
        d.put("a", b"x");
        (d.link_at(STAY, "a", d, "b"), d.text("b"), d.stat_at(STAY, "a").map(plain), d.names(""))
    };
    Together "filesystem/types.descriptor.link-at" "where something is" |d| {
        d.put("a", b"x");
        d.put("b", b"y");
        d.folder("c");
        ["a", "b", "c", "c/", "."].map(|path| d.link_at(STAY, "a", d, path))
    };
    Together "filesystem/types.descriptor.link-at" "what is missing" |d| {
        d.put("a", b"");
        (d.link_at(STAY, "x", d, "y"), d.link_at(STAY, "a", d, "x/y"), d.link_at(STAY, "a/x", d, "y"))
    };
    Together "filesystem/types.descriptor.link-at" "a directory" |d| {
        d.folder("a");
        (d.link_at(STAY, "a", d, "b"), d.link_at(STAY, ".", d, "b"), d.names(""))
    };
    Together "filesystem/types.descriptor.link-at" "a symbolic link itself" |d| {
        d.put("a", b"x");
        d.link("a", "l");
        (d.link_at(STAY, "l", d, "m"), d.kind("m"), d.readlink_at("m"))
    };
    Together "filesystem/types.descriptor.link-at" "following a link" |d| {
        d.put("a", b"x");
        d.link("a", "l");
        (d.link_at(FOLLOW, "l", d, "m"), d.link_at(FOLLOW, "a", d, "n"), d.names(""))
    };
    Together "filesystem/types.descriptor.link-at" "into another descriptor's directory" |d| {
        d.folder("a");
        d.put("x", b"x");
        (d.link_at(STAY, "x", &d.open("a", CHANGE), "y"), d.text("a/y"))
    };
    Together "filesystem/types.descriptor.link-at" "out of the directory" |d| {
        d.put("a", b"x");
        [("a", "../b"), ("../a", "b"), ("/a", "b"), ("a", "/b")].map(|(old, new)| d.link_at(STAY, old, d, new))
    };

    Together "filesystem/types.descriptor.symlink-at" "and what it leads to" |d| {
        d.put("a", b"x");
        (d.symlink_at("a", "l"), d.kind("l"), d.readlink_at("l"), d.text("l"))
    };
    Together "filesystem/types.descriptor.symlink-at" "where something is" |d| {
        d.put("a", b"x");
        (d.symlink_at("b", "a"), d.symlink_at("b", "."), d.symlink_at("b", "x/y"))
    };
    Together "filesystem/types.descriptor.symlink-at" "any text" |d| {
        let texts = ["nowhere", "..", "../../etc/passwd", "a//b/", "größe"];
        texts.map(|text| {
            let made = d.symlink_at(text, "l");
            let said = d.readlink_at("l");
            d.unlink_file_at("l").unwrap();
            (made, said)
        })
    };
    Together "filesystem/types.descriptor.symlink-at" "an absolute text" |d| (d.symlink_at("/etc/passwd", "l"), d.names(""));
    Together "filesystem/types.descriptor.symlink-at" "an empty text" |d| (d.symlink_at("", "l"), d.names(""));
    Together "filesystem/types.descriptor.symlink-at" "out of the directory" |d| {
        ["../l", "/l", "", ".."].map(|path| d.symlink_at("a", path))
    };
    Together "filesystem/types.descriptor.symlink-at" "with a slash at the end" |d| (d.symlink_at("a", "l/"), d.names(""));
    Together "filesystem/types.descriptor.symlink-at" "long texts" |d| {
        (d.symlink_at(&"t".repeat(1000), "l"), d.stat_at(STAY, "l").map(plain), d.symlink_at(&"t".repeat(4096), "m"))
    };
    Together "filesystem/types.descriptor.readlink-at" "what is no link" |d| {
        d.put("a", b"");
        d.folder("b");
        ["a", "b", ".", "missing", "a/b", "../x", "/x", ""].map(|path| d.readlink_at(path))
    };
    Together "filesystem/types.descriptor.readlink-at" "with a slash at the end" |d| {
        d.folder("a");
        d.link("a", "l");
        d.readlink_at("l/")
    };
    Together "filesystem/types.descriptor.readlink-at" "through a link" |d| {
        d.folder("a");
        d.link("text", "a/l");
        d.link("a", "m");
        d.readlink_at("m/l")
    };

    Together "filesystem/types.descriptor.read-directory" "empty" |d| d.names("");
    Together "filesystem/types.descriptor.read-directory" "each kind" |d| {
        d.put("file", b"");
        d.folder("folder");
        d.link("nowhere", "link");
        d.put(".hidden", b"");
        d.names("")
    };
    Together "filesystem/types.descriptor.read-directory" "many" |d| {
        for number in 0..300 {
            d.put(&format!("entry-{number}"), b"");
        }
        d.names("").map(|names| names.len())
    };
    Together "filesystem/types.descriptor.read-directory" "of a file" |d| d.made("a", b"").read_directory().map(|_| ());
    Together "filesystem/types.descriptor.read-directory" "twice at once" |d| {
        d.put("a", b"");
        let (one, other) = (d.read_directory().unwrap(), d.read_directory().unwrap());
        let next = || one.read_directory_entry().map(|entry| entry.map(|entry| entry.name));
        (next(), other.read_directory_entry().map(|entry| entry.map(|entry| entry.name)), next())
    };
    Together "filesystem/types.directory-entry-stream.read-directory-entry" "after the end" |d| {
        let stream = d.read_directory().unwrap();
        [(); 3].map(|()| stream.read_directory_entry().map(|entry| entry.is_none()))
    };
    Together "filesystem/types.directory-entry-stream.read-directory-entry" "of what is removed meanwhile" |d| {
        d.put("a", b"");
        let stream = d.read_directory().unwrap();
        d.unlink_file_at("a").unwrap();
        stream.read_directory_entry().map(|entry| entry.map(|entry| entry.name))
    };
    Together "filesystem/types.directory-entry-stream.read-directory-entry" "of what is added meanwhile" |d| {
        let stream = d.read_directory().unwrap();
        d.put("a", b"");
        stream.read_directory_entry().map(|entry| entry.map(|entry| entry.name))
    };
    Together "filesystem/types.directory-entry-stream.read-directory-entry" "after the descriptor is dropped" |d| {
        d.folder("a");
        d.put("a/x", b"");
        let stream = d.open("a", READ).read_directory().unwrap();
        stream.read_directory_entry().map(|entry| entry.map(|entry| (entry.name, entry.type_)))
    };
}
