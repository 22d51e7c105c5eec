//! Coverage as one page: a table of files, and each file's source with what was hit.
//!
//! ```text
//! totals   ███████░░  81.2 %
//! files    path · lines · functions · edges          each a link to
//! source   41 │ 1 │ if header.len() > 4 {            green: hit · red: not hit · yellow: hit, and a branch of it was not taken
//! ```
//!
//! Invariants: nothing is loaded from anywhere, scripts sort the table and switch the colours and do nothing else; every
//! word of a component or source is escaped. Style and script are in files of their own beside this one.

use super::summary::{common_folder, one_way, percent, what};
use super::{
    ComponentCoverage, CoverageDocument, CoverageFormat, CoverageRatio, CoverageTotals, CoverageView, EdgeCoverage,
    FileCoverage,
};
use crate::html::escape;
use fozzy_trace::counted;
use std::collections::BTreeMap;

pub(super) const HTML: CoverageFormat = CoverageFormat { name: "html", shows_sources: true, write };

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Functions and branches that are listed of a file whose source is not shown. A runtime without debug information has ten
/// thousands of them; at the bound it is said how many are left out, and the other formats have them all.
const ROWS_MAX: usize = 1000;

fn write(document: &CoverageDocument, view: &CoverageView) -> String {
    let files: Vec<(&ComponentCoverage, &FileCoverage)> = document.shown(view.all).collect();
    let folded: Vec<&FileCoverage> = document
        .files()
        .map(|(_, file)| file)
        .filter(|file| !files.iter().any(|(_, shown)| std::ptr::eq(*shown, *file)))
        .collect();
    let prefix = common_folder(document);
    let names: Vec<String> = document.components.iter().map(|component| component.name.clone()).collect();
    let title = escape(&format!("coverage of {}", names.join(", ")));
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title}</title>\n\
         <style>\n{STYLE}</style>\n</head>\n<body>\n<header>\n<h1>{title}</h1>\n<p class=\"faint\">{}</p>\n\
         <button id=\"theme\" type=\"button\" title=\"dark or light\">◐</button>\n</header>\n<main>\n",
        escape(&traces(document)),
    );
    page.push_str(&cards(document.totals));
    for remark in &document.remarks {
        page.push_str(&format!("<p class=\"remark\">{}</p>\n", escape(remark)));
    }
    page.push_str(&table(&files, &folded, &prefix));
    page.push_str(LEGEND);
    for (position, (component, file)) in files.iter().enumerate() {
        page.push_str(&section(position, component, file, view, &prefix, document.components.len() > 1));
    }
    page.push_str(&format!("</main>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n"));
    page
}

const LEGEND: &str = "<p class=\"legend\"><span class=\"hit\">hit</span><span class=\"part\">hit, and a branch not taken</span>\
                      <span class=\"miss\">not hit</span><span>no code</span></p>\n";

fn traces(document: &CoverageDocument) -> String {
    match document.traces.as_slice() {
        [one] => format!("1 execution: {one}"),
        several => format!("{} together", counted(several.len() as u64, "execution")),
    }
}

fn cards(totals: CoverageTotals) -> String {
    let rows = [("lines", totals.lines), ("functions", totals.functions), ("edges", totals.edges)];
    let cards = rows.map(|(name, ratio)| {
        format!(
            "<div class=\"card\"><span class=\"name\">{name}</span><strong>{}</strong>{}<span class=\"faint\">{} of {}</span></div>\n",
            percent(ratio), bar(ratio), ratio.hit, ratio.total
        )
    });
    format!("<section class=\"cards\">\n{}</section>\n", cards.concat())
}

fn bar(ratio: CoverageRatio) -> String {
    let share = ratio.per_mille().unwrap_or(0);
    format!("<span class=\"bar {}\"><i style=\"width:{}.{}%\"></i></span>", class(ratio), share / 10, share % 10)
}

fn class(ratio: CoverageRatio) -> &'static str {
    match ratio.per_mille() {
        None => "none",
        Some(800..) => "good",
        Some(..500) => "bad",
        Some(_) => "fair",
    }
}

fn table(files: &[(&ComponentCoverage, &FileCoverage)], folded: &[&FileCoverage], prefix: &str) -> String {
    let cell = |ratio: CoverageRatio| {
        let order = ratio.per_mille().map_or(-1, |share| i64::try_from(share).unwrap_or(i64::MAX));
        let of = if ratio.total == 0 { String::new() } else { format!("{}/{}", ratio.hit, ratio.total) };
        format!(
            "<td data-order=\"{order}\">{}<span class=\"percent\">{}</span><span class=\"faint of\">{of}</span></td>",
            bar(ratio),
            percent(ratio)
        )
    };
    let row = |name: &str, totals: CoverageTotals, class: &str| {
        let cells = [totals.lines, totals.functions, totals.edges].map(cell).concat();
        format!("<tr{class}><td>{name}</td>{cells}</tr>\n")
    };
    let mut text = String::from(
        "<table id=\"files\">\n<thead><tr><th>file</th><th>lines</th><th>functions</th><th>edges</th></tr></thead>\n<tbody>\n",
    );
    for (position, (_, file)) in files.iter().enumerate() {
        let name = escape(file.path.strip_prefix(prefix).unwrap_or(&file.path));
        text.push_str(&row(&format!("<a href=\"#file-{position}\">{name}</a>"), file.totals, ""));
    }
    text.push_str("</tbody>\n");
    if !folded.is_empty() {
        let name = counted(folded.len() as u64, "file of dependencies and toolchain (--all shows them)");
        let sum = CoverageTotals::of(folded.iter().copied());
        text.push_str(&format!("<tfoot>{}</tfoot>\n", row(&name, sum, " class=\"faint\"")));
    }
    text.push_str("</table>\n");
    text
}

fn section(
    position: usize,
    component: &ComponentCoverage,
    file: &FileCoverage,
    view: &CoverageView,
    prefix: &str,
    several: bool,
) -> String {
    let name = escape(file.path.strip_prefix(prefix).unwrap_or(&file.path));
    let of =
        if several { format!(" <span class=\"faint\">in {}</span>", escape(&component.name)) } else { String::new() };
    let open = if position < 8 { " open" } else { "" };
    let ratio = file.totals.lines;
    let ratio = if ratio.total == 0 { file.totals.edges } else { ratio };
    let mut text = format!(
        "<details id=\"file-{position}\"{open}>\n<summary><code>{name}</code>{of} <span class=\"percent {}\">{}</span></summary>\n",
        class(ratio),
        percent(ratio)
    );
    match view.sources.get(&file.path) {
        Some(source) => text.push_str(&lines(file, source)),
        None => text.push_str(&without_source(file)),
    }
    text.push_str("</details>\n");
    text
}

/// The source, each line with its number, how often it was hit, and what never happened in it.
fn lines(file: &FileCoverage, source: &str) -> String {
    let hits: BTreeMap<u32, u64> = file.lines.iter().map(|line| (line.line, line.hits)).collect();
    let mut missing: BTreeMap<u32, Vec<&EdgeCoverage>> = BTreeMap::new();
    for edge in one_way(file) {
        missing.entry(edge.line.unwrap_or(0)).or_default().push(edge);
    }
    let mut text = String::from("<pre class=\"source\">");
    for (number, line) in (1_u32..).zip(source.lines()) {
        let notes = missing.get(&number).map(Vec::as_slice).unwrap_or_default();
        let (class, count) = match hits.get(&number) {
            None => ("", String::new()),
            Some(0) => ("miss", "0".to_owned()),
            Some(count) if notes.is_empty() => ("hit", count.to_string()),
            Some(count) => ("part", count.to_string()),
        };
        let notes: Vec<String> = notes
            .iter()
            .map(|edge| {
                edge.column.map_or_else(|| what(edge).to_owned(), |column| format!("column {column}: {}", what(edge)))
            })
            .collect();
        let title = if notes.is_empty() { String::new() } else { format!(" title=\"{}\"", escape(&notes.join("\n"))) };
        text.push_str(&format!(
            "<span class=\"line {class}\"{title}><b>{number}</b><u>{count}</u><code>{}</code></span>",
            escape(line)
        ));
    }
    text.push_str("</pre>\n");
    // What the compiler saw is not what lies here now.
    let last = u32::try_from(source.lines().count()).unwrap_or(u32::MAX);
    if file.lines.iter().any(|line| line.line > last) {
        text.push_str("<p class=\"remark\">The program has lines that this file has not: it was changed since.</p>\n");
    }
    text
}

/// What is known of a file that cannot be shown.
fn without_source(file: &FileCoverage) -> String {
    let why = if file.has_source {
        "The source is not readable here: --sources FOLDER says where it lies."
    } else {
        "There is no debug information for this code: build with -g to see its lines. Its functions:"
    };
    let mut text = format!("<p class=\"remark\">{why}</p>\n<table class=\"functions\">\n");
    for function in file.functions.iter().take(ROWS_MAX) {
        let class = if function.hits > 0 { "hit" } else { "miss" };
        let place = function.line.map_or_else(|| format!("{:#x}", function.offset), |line| format!("line {line}"));
        text.push_str(&format!(
            "<tr class=\"{class}\"><td><code>{}</code></td><td>{place}</td><td>{}</td></tr>\n",
            escape(&function.name),
            function.hits
        ));
    }
    text.push_str("</table>\n");
    let more = file.functions.len().saturating_sub(ROWS_MAX);
    if more > 0 {
        text.push_str(&format!(
            "<p class=\"remark\">and {}; --format json has them all</p>\n",
            counted(more as u64, "more function")
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::{COVERAGE_FORMATS, CoverageView, FunctionCoverage, LineCoverage};
    use super::*;

    /// Everything that comes from a program or its sources, as a program would have it that wants to be more than text.
    fn hostile(word: &str) -> CoverageDocument {
        let function = FunctionCoverage { name: word.to_owned(), ..FunctionCoverage::default() };
        let edge = |kind: &str, hits| EdgeCoverage {
            id: hits as u32,
            kind: kind.to_owned(),
            function: word.to_owned(),
            line: Some(1),
            hits,
            ..EdgeCoverage::default()
        };
        let file = |path: String, has_source| FileCoverage {
            path,
            has_source,
            own: true,
            lines: vec![LineCoverage { line: 1, hits: 1 }, LineCoverage { line: 2, hits: 0 }],
            functions: vec![function.clone()],
            edges: vec![edge("then", 1), edge("else", 0)],
            ..FileCoverage::default()
        };
        let component = ComponentCoverage {
            name: word.to_owned(),
            files: vec![file(format!("/src/{word}.rs"), true), file(word.to_owned(), false)],
            ..ComponentCoverage::default()
        };
        let mut document = CoverageDocument {
            traces: vec![word.to_owned()],
            remarks: vec![word.to_owned()],
            components: vec![component.clone(), component],
            ..CoverageDocument::default()
        };
        document.settle();
        document
    }

    fn page(word: &str) -> String {
        let document = hostile(word);
        let sources = document.files().map(|(_, file)| (file.path.clone(), format!("{word}\n{word}")));
        let sources = sources.take(1).collect();
        let view = CoverageView { all: true, uncovered: 9, style: crate::Style::PLAIN, sources };
        let html = COVERAGE_FORMATS.iter().find(|format| format.name == "html").expect("it is a format");
        (html.write)(&document, &view)
    }

    /// Tags and attributes of a page, without its words.
    fn skeleton(page: &str) -> Vec<String> {
        let tags = page.split('<').skip(1).map(|rest| rest.split('>').next().unwrap_or(rest));
        // What stands between quotes is of no matter as long as the quotes are where they were.
        let outside = |tag: &str| tag.split('"').step_by(2).collect::<Vec<_>>().join("\"");
        tags.map(outside).collect()
    }

    #[test]
    fn names_and_sources_stay_words_whatever_they_are() {
        let plain = skeleton(&page("plain"));
        for word in [
            "<script>alert(1)</script>",
            "</script><script>alert(1)</script>",
            "</title></style></pre><img src=x onerror=alert(1)>",
            "\" onmouseover=\"alert(1)",
            "' onmouseover='alert(1)",
            "<!--",
            "]]>",
            "&lt;script&gt;",
            "javascript:alert(1)//",
            "a\u{202e}b\u{0}\u{1b}[31m",
        ] {
            let page = page(word);
            assert_eq!(skeleton(&page), plain, "{word}");
            assert!(!page.contains("<script>alert") && !page.contains("<img"), "{word}");
            let unseen = ['\u{202e}', '\u{0}', '\u{1b}'];
            assert!(!page.contains(unseen), "{word}: what cannot be seen is shown");
        }
        assert!(page("<b>").contains("&lt;b&gt;"));
    }
}
