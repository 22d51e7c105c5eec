//! Everything that differs between two machines or two minutes, replaced by its name.
//!
//! ```text
//! 1f3a…-…-…            <run>       2026-11-21T04:40:08.7Z   <time>      "durationMs": 53   "durationMs": <n>
//! 64 hexadecimal digits <sha256>   /rustc/5980…/            /rustc/<commit>/
//! ```
//!
//! Also what another compiler would change without anybody caring: counts of instructions, offsets of code, frames of the
//! standard library. Not replaced: counts of calls and decisions, virtual time, sizes of memory - those are what we promise.

/// JSON keys whose numbers are volatile.
const NUMBERS: [&str; 4] = ["\"durationMs\": ", "\"durationNs\": ", "\"fuelUsed\": ", "\"offset\": "];

/// Before 16 digits that follow from the compiler; others are random numbers of a seed, which are promised.
const DIGEST_BEFORE: [&str; 2] = ["\"historyDigest\": \"", "probe-"];

/// `text` with `known` paths and everything volatile replaced.
pub(super) fn normalise(text: &str, known: &[(String, String)]) -> String {
    let mut text = text.to_owned();
    for (path, name) in known {
        text = text.replace(path, name);
    }
    let mut out = String::new();
    for line in text.lines() {
        out.push_str(&of_line(line));
        out.push('\n');
    }
    without_library_frames(&out)
}

fn of_line(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while !rest.is_empty() {
        if let Some(key) = NUMBERS.iter().find(|key| rest.starts_with(**key)) {
            let digits = digits(&rest[key.len()..], |c| c.is_ascii_digit());
            out.push_str(&format!("{key}<n>"));
            rest = &rest[key.len() + digits..];
            continue;
        }
        let hexadecimal = digits(rest, |c| c.is_ascii_digit() || ('a'..='f').contains(&c));
        let number = digits(rest, |c| c.is_ascii_digit() || c == ',');
        let decimal = digits(rest, |c| c.is_ascii_digit() || c == '.');
        let uuid = digits(rest, |c| c.is_ascii_hexdigit() || c == '-');
        let (taken, name) = if uuid == 36 && rest[..36].matches('-').count() == 4 {
            (36, "<run>")
        } else if hexadecimal == 64 {
            (64, "<sha256>")
        } else if hexadecimal == 40 {
            (40, "<commit>")
        } else if hexadecimal == 16 && DIGEST_BEFORE.iter().any(|before| out.ends_with(before)) {
            (16, "<digest>")
        } else if number > 0 && rest[number..].starts_with(" instructions") {
            (number, "<n>")
        } else if decimal > 0 && (rest[decimal..].starts_with(" s of wall time") || out.ends_with(" time=\"")) {
            (decimal, "<n>")
        } else if out.ends_with("/gates/steps-") {
            (digits(rest, |c| c.is_ascii_alphanumeric()), "<random>")
        } else if let Some(offset) = rest.strip_prefix("+0x") {
            (3 + digits(offset, |c| c.is_ascii_hexdigit()), "+<offset>")
        } else if is_timestamp(rest) {
            (digits(rest, |c| c.is_ascii_digit() || "-:.T".contains(c)) + 1, "<time>")
        } else {
            // A whole word at once, so that its middle is not taken for a number.
            let word = digits(rest, char::is_alphanumeric);
            let taken = if word > 0 { word } else { rest.chars().next().map_or(1, char::len_utf8) };
            out.push_str(&rest[..taken]);
            rest = &rest[taken..];
            continue;
        };
        out.push_str(name);
        rest = &rest[taken..];
    }
    out
}

/// Bytes at the beginning that are such characters.
fn digits(text: &str, is: impl Fn(char) -> bool) -> usize {
    text.find(|c| !is(c)).unwrap_or(text.len())
}

/// `2026-11-21T04:40:08`, with a fraction perhaps, and `Z`.
fn is_timestamp(text: &str) -> bool {
    let pattern = "0000-00-00T00:00:00";
    text.len() > pattern.len()
        && text.chars().zip(pattern.chars()).all(|(c, p)| if p == '0' { c.is_ascii_digit() } else { c == p })
        && text[digits(text, |c| c.is_ascii_digit() || "-:.T".contains(c))..].starts_with('Z')
}

/// Consecutive frames of Rust's and C's libraries as one line, without their number.
fn without_library_frames(text: &str) -> String {
    let mut out = String::new();
    let mut inside = false;
    for line in text.lines() {
        let library =
            ["/rustc/", "wasisdk://", "in libraries", ".wasm+<offset>"].iter().any(|mark| line.contains(mark));
        if library && !inside {
            out.push_str("    <frames of libraries>\n");
        }
        inside = library;
        if !library {
            out.push_str(line);
            out.push('\n');
        }
    }
    out
}

#[test]
fn what_is_volatile_gets_a_name() {
    let known = [("/tmp/x".to_owned(), "$DIR".to_owned())];
    let check = |input: &str, expected: &str| assert_eq!(normalise(input, &known), format!("{expected}\n"));
    check(
        "report /tmp/x/.fozzy/runs/7d143490-0af4-4916-8e58-3d1dfab61f33/report.json",
        "report $DIR/.fozzy/runs/<run>/report.json",
    );
    check("  \"startedAt\": \"2026-11-21T04:40:08.719186682Z\",", "  \"startedAt\": \"<time>\",");
    check("  \"durationMs\": 53,", "  \"durationMs\": <n>,");
    check("6 calls (0 decisions), 29,002 instructions, 1.1 MiB", "6 calls (0 decisions), <n> instructions, 1.1 MiB");
    check("1 passed  0.52 s of wall time", "1 passed  <n> s of wall time");
    check("<testcase name=\"a\" time=\"0.521\">", "<testcase name=\"a\" time=\"<n>\">");
    check("  \"historyDigest\": \"43c86a0d1bad65e3\",", "  \"historyDigest\": \"<digest>\",");
    check("/tmp/x/.fozzy/gates/steps-gNt0D7/run.fozzy", "$DIR/.fozzy/gates/steps-<random>/run.fozzy");
    check("secure 43c86a0d1bad65e3", "secure 43c86a0d1bad65e3");
    check("0  f  m+0xa5", "0  f  m+<offset>");
    check(
        "0  f  /rustc/a/x.rs:1:2\n1  g  /rustc/a/y.rs:1:2\n2  h  src/a.rs:3:4",
        "    <frames of libraries>\n2  h  src/a.rs:3:4",
    );
}
