//! What README and book show is true: every block is run, and what it prints is what the page says.
//!
//! ````text
//! ```console                    a session, each command in the folder that the last one left; `…` stands for any text,
//! $ fozzy run app.wasm          alone on a line for any lines. Output that is shown must be the output; a command whose output
//! fozzy run PASS                is not shown must end with 0. Output that begins with `error:` is that of a refusal (exit code 2).
//!   …
//! ```
//! ```sh                         commands to be copied, each of which ends with 0
//! ```toml file=plan.toml        written to that file of the page's folder
//! ```text                       neither run nor read
//! ````
//!
//! In files, `FOZZY/` is the folder of this repository. A page works in a fresh folder, or with `<!-- in a clone -->` in a copy of this repository. `<!-- needs: C -->` says what a page
//! needs beside Rust, and `<!-- not run: WHY -->` stands before a block that changes the machine of whoever runs the tests.
//! Everything else that is in a fence is an error. Not here: goldens of single commands (`goldens`).

mod block;
mod compare;

use crate::corpus;
use crate::fozzy::{Fozzy, Ran, repository, target_folder};
use crate::harness;
use crate::wait;
use block::{Block, Command, Content, Page};
use libtest_mimic::Trial;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// A test for each page.
pub(crate) fn trials() -> Vec<Trial> {
    files().into_iter().map(|file| harness::trial(format!("pages::{file}"), move || check(&file))).collect()
}

/// README and the pages of the book, from the root of the repository.
fn files() -> Vec<String> {
    let pages = fs::read_dir(repository().join("book/src")).expect("the book is there");
    let names = pages.map(|entry| entry.expect("readable").file_name().to_string_lossy().into_owned());
    // Pictures stand beside the pages that show them.
    let names = names.filter(|name| name.ends_with(".md"));
    let mut files: Vec<String> = names.map(|name| format!("book/src/{name}")).collect();
    files.push("README.md".to_owned());
    files.sort();
    files
}

fn check(file: &str) {
    let text = fs::read_to_string(repository().join(file)).expect("a page is text");
    let page = Page::parse(&text).unwrap_or_else(|why| panic!("{file}:{why}"));
    let tools: Vec<PathBuf> = page.needs.iter().filter_map(|need| require(file, need)).collect();
    let folder = Folder::new(file, &page, tools);
    for block in &page.blocks {
        run(file, &folder, block);
    }
}

/// Makes sure that it is there, and where its commands are if they are not where commands are looked for.
fn require(file: &str, need: &str) -> Option<PathBuf> {
    match need {
        "C" => {
            corpus::c_toolchain();
            None
        }
        "Go" => corpus::go().0.parent().map(Path::to_owned),
        other => panic!("{file}: it needs {other}, which is not known here"),
    }
}

/// Where the commands of a page run.
struct Folder {
    /// A fresh one, whose environment all commands have.
    fozzy: Fozzy,
    /// The copy of the repository, on a page that is about one.
    clone: Option<PathBuf>,
    /// Where cargo builds what the page builds: kept, since the same crates are built each time.
    target: PathBuf,
    /// Where commands are looked for first.
    tools: Vec<PathBuf>,
}

impl Folder {
    fn new(file: &str, page: &Page, tools: Vec<PathBuf>) -> Folder {
        let home = target_folder().join("pages").join(file.replace('/', "-"));
        let clone = page.in_a_clone.then(|| home.join("fozzy"));
        if let Some(clone) = &clone {
            copy_repository(clone);
        }
        Folder { fozzy: Fozzy::new(), clone, target: home.join("target"), tools }
    }

    fn path(&self) -> PathBuf {
        self.clone.clone().unwrap_or_else(|| self.fozzy.path(""))
    }

    /// Runs one command where the last one ended; standard output and error are one text, as on a terminal.
    fn shell(&self, line: &str) -> Ran {
        let (folder, at) = (self.path().display().to_string(), self.fozzy.path(".at").display().to_string());
        let tools: String = self.tools.iter().map(|tools| format!("{}:", tools.display())).collect();
        let script = format!(
            "exec 2>&1\nPATH='{tools}'\"$PATH\"\ncd \"$(cat '{at}' 2>/dev/null || echo '{folder}')\"\n{line}\ncode=$?\npwd >'{at}'\nexit $code"
        );
        let mut command = self.fozzy.command(Path::new("sh"));
        command.args(["-c", &script]).env("CARGO_TARGET_DIR", &self.target).env("COLUMNS", "80").stdin(Stdio::null());
        Ran::of(&[line], wait::run(&mut command))
    }
}

fn run(file: &str, folder: &Folder, block: &Block) {
    match &block.content {
        Content::File { name, text } => {
            // Pages name the clone of a reader by this word.
            let text = text.replace("FOZZY/", &format!("{}/", repository().display()));
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("it is in the folder")).expect("the folder can be written");
            fs::write(path, text).expect("the folder can be written");
        }
        Content::Commands(commands) => {
            for Command { number, line, output } in commands {
                let ran = folder.shell(line);
                let said = ran.out();
                let (found, refusal) = (said.trim_end(), output.first().is_some_and(|line| line.starts_with("error:")));
                let code = ran.code.unwrap_or_else(|| panic!("{file}:{number}: a signal ended it\n{ran}"));
                let is_fine = if compare::is_blank(output) { code == 0 } else { (code == 2) == refusal };
                assert!(is_fine, "{file}:{number}: exit code {code}\n{ran}");
                if let Err(why) = compare::compare(output, found) {
                    panic!("{file}:{number}: {why}\n$ {line}\n{found}");
                }
            }
        }
    }
}

/// Copies what git knows of the repository; what is equal already is left as it is, so that cargo finds nothing to do, and what a page
/// left behind goes.
fn copy_repository(to: &Path) {
    let mut git = std::process::Command::new("git");
    let listed =
        wait::run(git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]).current_dir(repository()));
    assert!(listed.status.success(), "git ls-files: {}", String::from_utf8_lossy(&listed.stderr));
    let names = String::from_utf8(listed.stdout).expect("names are text");
    // What may be deleted from the working folder and not yet from the index is not there.
    let names: BTreeSet<&str> = names.split('\0').filter(|name| repository().join(name).is_file()).collect();
    let to_be_kept: BTreeSet<PathBuf> = names.iter().map(|name| to.join(name)).collect();
    remove_others(to, &to_be_kept);
    for name in names {
        let (content, path) = (fs::read(repository().join(name)).expect("readable"), to.join(name));
        if fs::read(&path).is_ok_and(|there| there == content) {
            continue;
        }
        fs::create_dir_all(path.parent().expect("it is in a folder")).expect("the target folder can be written");
        fs::write(path, content).expect("the target folder can be written");
    }
}

/// Removes each file of a folder, and of those in it, that is not to be kept.
fn remove_others(folder: &Path, to_be_kept: &BTreeSet<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_folder {
            remove_others(&path, to_be_kept);
        } else if !to_be_kept.contains(&path) {
            fs::remove_file(&path).expect("the target folder can be written");
        }
    }
}

/// Every page of the book is in its table of contents, and links between pages lead to files and headings that are there.
#[test]
fn the_book_lists_its_pages_and_links_lead_somewhere() {
    let summary = fs::read_to_string(repository().join("book/src/SUMMARY.md")).expect("it is text");
    for file in files() {
        let text = fs::read_to_string(repository().join(&file)).expect("a page is text");
        let name = file.rsplit('/').next().expect("it has a name");
        let is_page = file != "README.md" && name != "SUMMARY.md";
        assert!(!is_page || summary.contains(&format!("({name})")), "{file} is not in SUMMARY.md");
        for target in block::links(&text) {
            let (path, heading) = target.split_once('#').unwrap_or((&target, ""));
            let folder = Path::new(&file).parent().expect("it is in a folder");
            let linked = repository().join(if path.is_empty() { PathBuf::from(&file) } else { folder.join(path) });
            assert!(linked.exists(), "{file} links to {target}: there is no {}", linked.display());
            if !heading.is_empty() {
                let text = fs::read_to_string(&linked).expect("a page is text");
                let found =
                    text.lines().filter(|line| line.starts_with('#')).map(block::anchor).any(|found| found == heading);
                assert!(found, "{file} links to {target}: there is no such heading");
            }
        }
    }
}

/// The page on `fozzy.toml` names every key that the reader of it knows.
#[test]
fn the_page_on_settings_has_every_key() {
    let page = fs::read_to_string(repository().join("book/src/configuration.md")).expect("it is text");
    for table in ["", "[explore]\n", "[explore.report]\n"] {
        let fozzy = Fozzy::new();
        fozzy.write("fozzy.toml", format!("{table}nonsense = 1\n"));
        let said = fozzy.run(&["run", "app.wasm"]).exits(2).err();
        let (_, known) = said.split_once("expected ").unwrap_or_else(|| panic!("no list of keys in: {said}"));
        let keys: Vec<&str> = known.split('`').skip(1).step_by(2).collect();
        assert!(!keys.is_empty() && keys.iter().all(|key| page.contains(key)), "{keys:?} are not all on the page");
    }
}
