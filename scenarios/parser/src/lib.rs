//! A parser of settings, `name=value` with a backslash before what is special, one setting a line.
//!
//! Two planted faults: a backslash at the end of the input is read beyond it (the fuzz target panics), and names are
//! written without their backslashes (what is written is not what is read; the property fails). With the feature
//! `fixed` neither is there.

use fozzy_sdk::prelude::*;

/// Settings, in their order.
type Settings = Vec<(String, String)>;

/// Reads settings; a line without `=` is left out.
fn parse(text: &[u8]) -> Settings {
    let mut settings = Settings::new();
    let (mut name, mut current, mut at) = (None, Vec::new(), 0);
    while at < text.len() {
        match text[at] {
            b'\\' => {
                at += 1;
                if cfg!(feature = "fixed") && at == text.len() {
                    break;
                }
                current.push(text[at]);
            }
            b'=' if name.is_none() => name = Some(std::mem::take(&mut current)),
            b'\n' => {
                let value = std::mem::take(&mut current);
                settings.extend(name.take().map(|name| (word(name), word(value))));
            }
            byte => current.push(byte),
        }
        at += 1;
    }
    settings.extend(name.map(|name| (word(name), word(current))));
    settings
}

fn word(bytes: Vec<u8>) -> String {
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Writes settings so that they are read again.
fn write(settings: &Settings) -> String {
    let name = |name: &str| if cfg!(feature = "fixed") { escaped(name) } else { name.to_owned() };
    settings.iter().map(|(key, value)| format!("{}={}\n", name(key), escaped(value))).collect()
}

fn escaped(word: &str) -> String {
    let special = |c: char| matches!(c, '\\' | '=' | '\n');
    word.chars().flat_map(|c| special(c).then_some('\\').into_iter().chain([c])).collect()
}

#[fuzz]
fn parse_anything(data: &[u8]) {
    let settings = parse(data);
    sometimes!(!settings.is_empty(), "there is a setting");
}

/// A few settings with much that is special in them.
struct Tricky(Settings);

impl Draw for Tricky {
    fn draw(site: &str) -> Tricky {
        let word = || draw::string_of_at(site, "ab=\\\n", 0..=4);
        Tricky((0..draw::range_at(site, 0..=3)).map(|_| (word(), word())).collect())
    }
}

#[property]
fn round_trip(Tricky(settings): Tricky) {
    let text = write(&settings);
    always!(parse(text.as_bytes()) == settings, "what is written is read", "{settings:?} is written as {text:?}");
}

#[property]
fn a_line_without_a_sign_is_no_setting() {
    let line = draw::string_of("ab\\", 0..=5);
    let settings = parse(line.trim_end_matches('\\').as_bytes());
    always!(settings.is_empty(), "a line without a sign is left out", "{line:?} is read as {settings:?}");
}
