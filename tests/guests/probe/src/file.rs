//! Files, by paths relative to the working directory or absolute in the guest.

use std::fs::{self, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::UNIX_EPOCH;

use crate::{Arguments, argument, or_exit};

/// Walks through the life of a folder below the path given (default `.`): every step prints what it sees, and the last one leaves
/// nothing behind.
pub fn files(arguments: &Arguments) {
    let base = arguments.first().map_or(".", String::as_str);
    or_exit(
        life_of_a_folder(&Path::new(base).join("probe-files")),
        "files",
    );
}

fn life_of_a_folder(folder: &Path) -> io::Result<()> {
    fs::create_dir(folder)?;
    let (first, second) = (folder.join("first.txt"), folder.join("second.txt"));

    fs::write(&first, "one\ntwo\nthree\n")?;
    println!("written  {:?}", fs::read_to_string(&first)?);
    fs::rename(&first, &second)?;
    println!(
        "renamed  first is there: {}, second is there: {}",
        first.exists(),
        second.exists()
    );
    OpenOptions::new()
        .append(true)
        .open(&second)?
        .write_all(b"four\n")?;
    println!("appended {:?}", fs::read_to_string(&second)?);

    let mut file = OpenOptions::new().read(true).write(true).open(&second)?;
    file.seek(SeekFrom::Start(4))?;
    file.write_all(b"TWO")?;
    file.sync_all()?;
    file.set_len(8)?;
    file.rewind()?;
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    println!("cut      {text:?}");
    drop(file);

    fs::create_dir(folder.join("inner"))?;
    fs::copy(&second, folder.join("inner").join("copy.txt"))?;
    fs::hard_link(&second, folder.join("a-link.txt"))?;
    print_entries(folder)?;
    println!(
        "meta     {} bytes, file: {}",
        fs::metadata(&second)?.len(),
        fs::metadata(&second)?.is_file()
    );

    for (what, result) in [
        ("open a missing file", fs::read(&first).map(drop)),
        ("create a folder twice", fs::create_dir(folder)),
        ("remove a full folder", fs::remove_dir(folder)),
        ("read a folder", fs::read(folder).map(drop)),
    ] {
        println!(
            "refused  {what}: {:?}",
            result.map_err(|error| error.kind())
        );
    }

    fs::remove_file(&second)?;
    fs::remove_dir_all(folder)?;
    println!("removed  {}", !folder.exists());
    Ok(())
}

/// Prints the content of the file given.
pub fn read(arguments: &Arguments) {
    let path: String = argument(arguments, 0, "a path");
    let content = or_exit(fs::read(&path), &path);
    or_exit(io::stdout().write_all(&content), "stdout");
}

/// Writes the text given into the file given.
pub fn write(arguments: &Arguments) {
    let path: String = argument(arguments, 0, "a path");
    let text: String = argument(arguments, 1, "a text");
    or_exit(fs::write(&path, &text), &path);
    println!("wrote {} bytes", text.len());
}

/// Lists the folder given, in the order in which the system names the entries.
pub fn list(arguments: &Arguments) {
    let path: String = argument(arguments, 0, "a path");
    or_exit(print_entries(Path::new(&path)), &path);
}

/// Prints what the system says about the path given, times in nanoseconds since 1970.
pub fn stat(arguments: &Arguments) {
    let path: String = argument(arguments, 0, "a path");
    let metadata = or_exit(fs::metadata(&path), &path);
    println!("{:?}, {} bytes", metadata.file_type(), metadata.len());
    for (name, time) in [
        ("modified", metadata.modified()),
        ("accessed", metadata.accessed()),
        ("created", metadata.created()),
    ] {
        match time.map(|time| time.duration_since(UNIX_EPOCH)) {
            Ok(Ok(since)) => println!("{name} {}", since.as_nanos()),
            Ok(Err(_)) => println!("{name} before 1970"),
            Err(error) => println!("{name}: {error}"),
        }
    }
}

fn print_entries(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let kind = if entry.file_type()?.is_dir() {
            "folder"
        } else {
            "file"
        };
        println!("entry    {kind} {}", entry.file_name().display());
    }
    Ok(())
}
