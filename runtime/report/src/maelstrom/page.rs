//! A test as one page that needs nothing else: results, operations with latencies and rates, and the run step by step.
//!
//! ```text
//! MaelstromResults ─▶ facts │ HistoryPage ─▶ calls on lanes, plots │ RunPlayback ─▶ messages, operations, logs and faults, linked
//! ```

use super::{MaelstromResults, MaelstromValidity};
use crate::history_page::{HistoryPage, page_of};
use crate::html::escape;
use crate::playback::RunPlayback;

/// The page of a test.
#[must_use]
pub fn maelstrom_page(results: &MaelstromResults, history: HistoryPage, playback: &RunPlayback) -> String {
    let (word, class) = match results.valid {
        MaelstromValidity::VALID => ("VALID", "valid"),
        MaelstromValidity::INVALID => ("INVALID", "invalid"),
        _ => ("UNKNOWN", "unknown"),
    };
    let name = &results.name;
    let mut rows: Vec<(&str, String)> = results.findings.iter().map(|finding| ("finding", finding.clone())).collect();
    rows.push(("virtual time", format!("{:.3} s", results.virtual_seconds)));
    if let Some(net) = &results.net {
        let of = |counts: &super::MessageCounts| format!("{} sent, {} received", counts.send_count, counts.recv_count);
        rows.push(("messages", format!("{}; {:.2} for each operation", of(&net.all), net.all.msgs_per_op)));
        let servers = format!("{}; {:.2} for each operation", of(&net.servers), net.servers.msgs_per_op);
        rows.push(("between servers", servers));
    }
    if let Some(availability) = &results.availability {
        rows.push(("succeeded", format!("{:.2} % of all operations", availability.ok_fraction * 100.0)));
    }
    if let Some(perf) = &results.perf {
        for (function, quantiles) in &perf.latencies {
            let quantiles = quantiles.iter().map(|(quantile, ms)| format!("{quantile}: {ms:.3} ms"));
            rows.push(("latency", format!("{function}  {}", quantiles.collect::<Vec<_>>().join(", "))));
        }
    }
    rows.extend(results.goals.iter().map(|goal| ("goal", goal.line())));
    for class in results.exceptions.iter().flat_map(|exceptions| &exceptions.classes) {
        rows.push(("not done", format!("{} times: {}", class.count, class.class)));
    }
    let rows: String =
        rows.iter().map(|(name, words)| format!("<dt>{name}</dt><dd>{}</dd>\n", escape(words))).collect();
    let before = format!(
        "<section>\n<h2>{}</h2>\n<p><span class=\"verdict {class}\">{word}</span></p>\n<dl>\n{rows}</dl>\n</section>\n",
        escape(name)
    );
    let after = match playback.is_empty() {
        true => String::new(),
        false => format!("<section>\n<h2>The run, step by step</h2>\n{}</section>\n", playback.html()),
    };
    page_of(&format!("{name}: {word}"), "fozzy maelstrom", &before, &[history], &after)
}
