//! A page of Markdown, taken apart into what is run.
//!
//! ```text
//! text of a page ─▶ Page { in_a_clone, needs, blocks: [ Block { Commands [ `fozzy run …`, its output ] | File { name, text } } ] }
//! ```
//!
//! Every fence is of a kind that is known here; errors name the line.

/// What a page has in its fences.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Page {
    /// Its commands run in a copy of the repository.
    pub(super) in_a_clone: bool,
    /// What it needs beside Rust.
    pub(super) needs: Vec<String>,
    pub(super) blocks: Vec<Block>,
}

/// One fence.
#[derive(Debug, PartialEq)]
pub(super) struct Block {
    pub(super) content: Content,
}

#[derive(Debug, PartialEq)]
pub(super) enum Content {
    Commands(Vec<Command>),
    File { name: String, text: String },
}

/// A command, and what is shown of its output.
#[derive(Debug, PartialEq)]
pub(super) struct Command {
    /// The line of the page, from 1.
    pub(super) number: usize,
    pub(super) line: String,
    pub(super) output: Vec<String>,
}

impl Page {
    pub(super) fn parse(text: &str) -> Result<Page, String> {
        let mut page = Page::default();
        let mut lines = text.lines().enumerate();
        let mut is_not_run = false;
        while let Some((index, line)) = lines.next() {
            if let Some(info) = line.trim_start().strip_prefix("```") {
                let fence: Vec<(usize, &str)> = lines.by_ref().take_while(|(_, line)| line.trim() != "```").collect();
                if !std::mem::take(&mut is_not_run) {
                    let content = content(info.trim(), &fence).map_err(|why| format!("{}: {why}", index + 1))?;
                    page.blocks.extend(content.map(|content| Block { content }));
                }
                continue;
            }
            match line.trim().strip_prefix("<!-- ").and_then(|rest| rest.strip_suffix(" -->")) {
                Some("in a clone") => page.in_a_clone = true,
                Some(said) if said.starts_with("needs: ") => page.needs.push(said["needs: ".len()..].to_owned()),
                Some(said) if said.starts_with("not run: ") => is_not_run = true,
                Some(said) => return Err(format!("{}: `{said}` says nothing to the tests", index + 1)),
                None => {}
            }
        }
        Ok(page)
    }
}

fn content(info: &str, fence: &[(usize, &str)]) -> Result<Option<Content>, String> {
    let (kind, rest) = info.split_once(' ').unwrap_or((info, ""));
    if let Some(name) = rest.strip_prefix("file=") {
        let text = fence.iter().map(|(_, line)| format!("{line}\n")).collect();
        return Ok(Some(Content::File { name: name.to_owned(), text }));
    }
    match kind {
        "console" => session(fence).map(|commands| Some(Content::Commands(commands))),
        "sh" => {
            let commands = fence.iter().filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
            let commands = commands.map(|(index, line)| command(*index, line));
            Ok(Some(Content::Commands(commands.collect())))
        }
        "text" => Ok(None),
        other => Err(format!(
            "a fence of `{other}` without file=NAME is neither run nor written: expected console, sh or text"
        )),
    }
}

fn session(fence: &[(usize, &str)]) -> Result<Vec<Command>, String> {
    let mut commands: Vec<Command> = Vec::new();
    for (index, line) in fence {
        match (line.strip_prefix("$ "), commands.last_mut()) {
            (Some(line), _) => commands.push(command(*index, line)),
            (None, Some(last)) => last.output.push((*line).to_owned()),
            (None, None) => return Err(format!("output before a command: `{line}`")),
        }
    }
    Ok(commands)
}

fn command(index: usize, line: &str) -> Command {
    Command { number: index + 1, line: line.to_owned(), output: Vec::new() }
}

/// Where the links of a page lead within the repository.
pub(super) fn links(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut in_fence = false;
    for line in text.lines() {
        in_fence ^= line.trim_start().starts_with("```");
        if !in_fence {
            let targets = line.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
            found.extend(targets.map(|(target, _)| target.to_owned()).filter(|target| !target.contains("://")));
        }
    }
    found
}

/// What a link to a heading says, as GitHub and mdBook make it.
pub(super) fn anchor(heading: &str) -> String {
    let words = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = words.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[test]
fn a_page_is_taken_apart() {
    let text = "# T\n<!-- in a clone -->\n<!-- needs: C -->\n```console\n$ a\nout\n\n$ b # why\n```\n```toml file=x/p.toml\na = 1\n```\n\
                <!-- not run: it installs -->\n```sh\nrm\n```\n```sh\n# first\nc\n```\n```text\nnothing\n```\n";
    let page = Page::parse(text).expect("it is a page");
    let run = |number, line: &str, output: &[&str]| Command {
        number,
        line: line.to_owned(),
        output: output.iter().map(|line| (*line).to_owned()).collect(),
    };
    let blocks = [
        Content::Commands(vec![run(5, "a", &["out", ""]), run(8, "b # why", &[])]),
        Content::File { name: "x/p.toml".to_owned(), text: "a = 1\n".to_owned() },
        Content::Commands(vec![run(19, "c", &[])]),
    ];
    assert_eq!((page.in_a_clone, page.needs), (true, vec!["C".to_owned()]));
    assert!(page.blocks.iter().map(|block| &block.content).eq(blocks.iter()), "{:#?}", page.blocks);
    assert!(Page::parse("```rust\n```\n").is_err_and(|why| why.starts_with("1: ")));
    assert!(Page::parse("```console\nout\n```\n").is_err());
    assert!(Page::parse("<!-- needed: C -->\n").is_err());
}
