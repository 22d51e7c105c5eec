//! Secrets in every notation, at every place, there and back.

use super::*;

fn secrets(known: &[(&str, &str)]) -> Secrets {
    let known: Vec<_> = known.iter().map(|(name, value)| (format!("<redacted:{name}>"), (*value).into())).collect();
    Secrets::new(&known, &RedactionPolicy::default()).expect("placeholders")
}

fn revealed(secrets: &Secrets, text: &str) -> String {
    String::from_utf8(secrets.revealing(true).bytes(text.as_bytes()).into_owned()).expect("text")
}

fn hidden(secrets: &Secrets, text: &str) -> String {
    String::from_utf8(secrets.hide(text.as_bytes()).into_owned()).expect("text")
}

#[test]
fn placeholders_become_values_and_values_placeholders() {
    let secrets = secrets(&[("A", "alpha"), ("B", "alphabet"), ("C", "<redacted:A>"), ("D", "no")]);
    assert_eq!(
        revealed(&secrets, "x <redacted:A><redacted:B> <redacted:X> <redacted:"),
        "x alphaalphabet <redacted:X> <redacted:"
    );
    assert_eq!(revealed(&secrets, "<redacted:<redacted:C>"), "<redacted:<redacted:A>", "what is put in is not read");
    assert_eq!(hidden(&secrets, "alphabet alpha alph no"), "<redacted:B> <redacted:A> alph no", "the longest first");
    assert_eq!(revealed(&secrets, "<redacted:D>"), "no", "short ones are put in all the same");
    assert!(matches!(secrets.hide(b"nothing"), Cow::Borrowed(_)));
}

#[test]
fn urls_hold_placeholders_in_two_notations() {
    let secrets = secrets(&[("KEY", "a/b c")]);
    assert_eq!(secrets.revealing(true).text("http://h/<redacted:KEY>"), "http://h/a/b c");
    for encoded in ["%3Credacted:KEY%3E", "%3credacted%3AKEY%3e"] {
        assert_eq!(
            secrets.revealing(true).text(&format!("http://h/?k={encoded}&x=%3Credacted")),
            "http://h/?k=a%2Fb%20c&x=%3Credacted"
        );
    }
    assert_eq!(hidden(&secrets, "/?k=a%2Fb%20c"), "/?k=%3Credacted%3AKEY%3E");
}

#[test]
fn response_headers_are_learned_once_and_understood_when_they_come_back() {
    let mut secrets = secrets(&[]);
    let header = |name: &str, value: &str| (name.to_owned(), value.as_bytes().to_vec());
    let mut headers = [
        header("set-cookie", "sid=abcdef; Path=/; HttpOnly"),
        header("set-cookie", "other=abcdef"),
        header("set-cookie", "gone=; Max-Age=0"),
        header("set-cookie", "opaque"),
        header("cookie", "a=b"),
        header("x-copy", "it is abcdef"),
    ];
    secrets.hide_headers(&mut headers).expect("few");
    let values: Vec<_> = headers.iter().map(|(_, value)| String::from_utf8_lossy(value).into_owned()).collect();
    let expected = [
        "sid=<redacted:set-cookie:1>; Path=/; HttpOnly",
        "other=<redacted:set-cookie:1>",
        "gone=; Max-Age=0",
        "<redacted:set-cookie:2>",
        "<redacted:cookie:1>",
        "it is <redacted:set-cookie:1>",
    ];
    assert_eq!(values, expected);
    assert_eq!(revealed(&secrets, "sid=<redacted:set-cookie:1>; <redacted:cookie:1>"), "sid=abcdef; a=b");
    assert_eq!(hidden(&secrets, "abcdef"), "<redacted:set-cookie:1>");
    let mut echo = [header("set-cookie", "again=<redacted:set-cookie:1>")];
    secrets.hide_headers(&mut echo).expect("few");
    assert_eq!(echo[0].1, b"again=<redacted:set-cookie:1>");
}

#[test]
fn a_flood_of_secrets_is_hidden_without_being_remembered() {
    let mut secrets = secrets(&[]);
    let cookie = |n: usize| ("set-cookie".to_owned(), format!("c=value-{n}").into_bytes());
    let mut headers: Vec<_> = (0..SECRETS_LEARNED_MAX + 2).map(cookie).collect();
    secrets.hide_headers(&mut headers).expect("bounded");
    assert_eq!(headers[SECRETS_LEARNED_MAX - 1].1, b"c=<redacted:set-cookie:1024>");
    assert_eq!(headers[SECRETS_LEARNED_MAX + 1].1, b"c=<redacted:set-cookie>");
    assert_eq!(secrets.values.len(), SECRETS_LEARNED_MAX);
}

#[test]
fn what_is_no_placeholder_is_refused() {
    for name in ["TOKEN", "<redacted:>", "<redacted:a>b>", "<redacted:a"] {
        let error = Secrets::new(&[(name.to_owned(), "v".to_owned())], &RedactionPolicy::default());
        assert!(error.is_err_and(|error| error.contains(name)), "{name}");
    }
}

/// A secret with every kind of character that some notation writes in its own way.
const TOKEN: &str = "s3/cr+t \"k&y\" <é>";

fn percent(text: &str, upper: bool) -> String {
    let encoded = percent_encoded(text.as_bytes());
    let lower = |part: &str| part[..2].to_ascii_lowercase() + &part[2..];
    let (first, parts) = encoded.split_once('%').unwrap_or((&encoded, ""));
    match upper || parts.is_empty() {
        true => encoded.clone(),
        false => parts.split('%').map(lower).fold(first.to_owned(), |all, part| all + "%" + &part),
    }
}

fn url_safe(text: &[u8]) -> String {
    String::from_utf8(dense::encode_base64(text)).expect("text").replace('+', "-").replace('/', "_").replace('=', "")
}

fn hexadecimal(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn a_secret_is_found_as_other_programs_write_it() {
    let secrets = secrets(&[("T", TOKEN)]);
    let json = r#"s3\/cr+t \"k&y\" <\u00e9>"#;
    let html = "s3/cr+t &quot;k&amp;y&quot; &lt;&eacute;&gt;";
    let lower = percent(TOKEN, false);
    for (text, expected) in [
        (TOKEN, "<redacted:T>"),
        (json, "<redacted:T>"),
        (r#"s3/cr\u002bt\u0020\x22k\u0026y\u{22} \u003cé\u003E"#, "<redacted:T>"),
        (r#"s3/cr+t \"k&y\" <\303\251>"#, "<redacted:T>"),
        (html, "&lt;redacted:T&gt;"),
        ("s3&#47;cr&#43;t&#x20;&#34;k&#38y&#x22; &#x3c;&#233;&#X3E;", "&lt;redacted:T&gt;"),
        (&percent(TOKEN, true), "%3Credacted%3AT%3E"),
        (&lower, "%3Credacted%3AT%3E"),
        (&percent(TOKEN, true).replace("%20", "+"), "%3Credacted%3AT%3E"),
        (&percent(TOKEN, false).replace("%20", "+"), "%3Credacted%3AT%3E"),
        (r#"s3\\/cr+t \\\"k\\u0026y\\\" <\\u00e9>"#, "<redacted:T>"),
        (&lower.replace('%', "%25"), "%3Credacted%3AT%3E"),
        (&html.replace('&', "&amp;"), "&lt;redacted:T&gt;"),
        (&hexadecimal(TOKEN), &hexadecimal("<redacted:T>")),
        (&hexadecimal(TOKEN).to_ascii_uppercase(), &hexadecimal("<redacted:T>").to_ascii_uppercase()),
    ] {
        assert_eq!(hidden(&secrets, text), expected, "{text}");
        let around = format!("{{\"a\": \"{text}\", 'x{text}y'}}");
        assert_eq!(hidden(&secrets, &around), format!("{{\"a\": \"{expected}\", 'x{expected}y'}}"), "{text}");
    }
}

#[test]
fn every_alignment_of_base64_keeps_what_stands_around() {
    for token in ["s3cr3t", "s3cr3tx", "s3cr3txy", TOKEN] {
        let secrets = secrets(&[("T", token)]);
        for before in ["", "u", "us", "use", "user:", "\u{ff}\u{ff}?"] {
            for after in ["", "1", "12", "123", "\u{ff}\u{ff}"] {
                let plain = format!("{before}{token}{after}");
                for (encoded, front) in [
                    (String::from_utf8(dense::encode_base64(plain.as_bytes())).expect("text"), "Basic "),
                    (url_safe(plain.as_bytes()), "x.y."),
                    (url_safe(plain.as_bytes()), "/path/"),
                ] {
                    let covered = hidden(&secrets, &format!("{front}{encoded}, more"));
                    let inner = covered.strip_prefix(front).and_then(|rest| rest.strip_suffix(", more"));
                    let meant = dense::decode_base64(inner.expect("the rest stays").as_bytes()).expect("Base64");
                    let meant = String::from_utf8(meant).expect("text").replace('~', "");
                    assert_eq!(meant, format!("{before}<redacted:T>{after}"), "{front}{encoded}");
                    assert_eq!(revealed(&secrets, &meant), plain);
                }
            }
        }
    }
}

#[test]
fn base64_is_found_in_lines_in_json_and_in_urls() {
    let secrets = secrets(&[("T", "\u{ff}s3cr3t?token>of/many?bytes~")]);
    let encoded =
        String::from_utf8(dense::encode_base64("\u{ff}s3cr3t?token>of/many?bytes~".as_bytes())).expect("text");
    assert!(encoded.contains('/'), "{encoded}");
    let lines: String = encoded.as_bytes().chunks(8).map(|line| format!("{}\r\n", line.escape_ascii())).collect();
    for text in [lines, encoded.replace('/', "\\/"), percent(&encoded, true), percent(&encoded, false)] {
        let covered = hidden(&secrets, &text);
        let bytes = percent_decoded(&covered.replace("\\/", "/").replace(['\r', '\n'], ""));
        let meant = dense::decode_base64(&bytes).expect("Base64");
        assert!(meant.starts_with(b"<redacted:T") && !meant.windows(6).any(|part| part == b"s3cr3t"), "{covered}");
    }
    // A JSON text in Base64, as tokens carry it.
    let quoted = Secrets::new(&[("<redacted:Q>".into(), "a\"quoted\"b".into())], &RedactionPolicy::default());
    let text = url_safe(br#"{"key":"a\"quoted\"b"}"#);
    let covered = dense::decode_base64(&quoted.expect("one").hide(text.as_bytes())).expect("Base64");
    assert!(covered.starts_with(br#"{"key":"<redacted:Q"#) && covered.ends_with(br#">"}"#));
}

fn percent_decoded(text: &str) -> Vec<u8> {
    notation::Notation::PERCENT.decode(text.as_bytes()).map_or_else(|| text.as_bytes().to_vec(), |text| text.bytes)
}

#[test]
fn a_secret_with_escapes_in_it_is_found_wherever_escapes_are_undone() {
    let value = r"dir\new%41&amp;x";
    let secrets = secrets(&[("T", value)]);
    let json = value.replace('\\', "\\\\");
    let html = value.replace('&', "&amp;");
    for text in [value, &json, &html, &percent(value, true), &json.replace('&', "\\u0026"), &json.replace('\\', "\\\\")]
    {
        let covered = hidden(&secrets, text);
        assert!(covered.contains("redacted") && covered.len() < 32, "{text}: {covered}");
    }
}

#[test]
fn placeholders_are_understood_in_the_notation_of_the_guest() {
    let secrets = secrets(&[("T", "a\"b&c d")]);
    for (text, expected) in [
        (r#"{"t":"\u003credacted:T\u003e"}"#, r#"{"t":"a\"b&c d"}"#),
        ("t=%3Credacted%3AT%3E&u=1", "t=a%22b%26c%20d&u=1"),
        ("<b>&lt;redacted:T&gt;</b>", "<b>a&#34;b&amp;c d</b>"),
    ] {
        assert_eq!(revealed(&secrets, text), expected);
    }
    let header = |plain: &str| [b"Basic ", &dense::encode_base64(plain.as_bytes())[..]].concat();
    assert_eq!(*secrets.revealing(true).header(&header("user:<redacted:T>")), header("user:a\"b&c d"));
    assert_eq!(*secrets.revealing(true).header(b"Bearer <redacted:T>"), *b"Bearer a\"b&c d");
    assert_eq!(*secrets.revealing(true).header(b"basic"), *b"basic");
}

#[test]
fn no_border_of_a_block_hides_a_secret() {
    let secrets = secrets(&[("T", "s3cr3t-token")]);
    const BLOCK: usize = 64 << 10;
    for text in ["s3cr3t-token", r"s3cr3t\u002dtoken", "czNjcjN0LXRva2Vu"] {
        for shift in [0, 1, text.len() / 2, text.len() - 1, text.len()] {
            let long = format!("{}{text}{}", " ".repeat(BLOCK - shift), " ".repeat(BLOCK));
            let covered = hidden(&secrets, &long);
            assert!(!covered.contains(text) && covered.len() < long.len() + 16, "{text} at {shift}");
            let masked = secrets.mask(long.as_bytes());
            assert!(masked.len() == long.len() && masked != long.as_bytes(), "{text} at {shift}");
        }
    }
}

#[test]
fn a_mask_has_the_length_of_what_it_covers() {
    let secrets = secrets(&[("T", TOKEN)]);
    let lines = "czMvY3Ir\ndCAia";
    for text in
        [TOKEN.to_owned(), percent(TOKEN, false), url_safe(TOKEN.as_bytes()), lines.to_owned() + "yZ5IiA8w6k+\n"]
    {
        let covered = String::from_utf8(secrets.mask(text.as_bytes()).into_owned()).expect("text");
        assert_eq!((covered.len(), covered.matches('\n').count()), (text.len(), text.matches('\n').count()));
        assert_ne!(covered, text);
        assert_eq!(hidden(&secrets, &covered), covered, "nothing is left");
    }
}

#[test]
fn hostile_texts_take_no_more_than_a_few_passes() {
    let secrets = secrets(&[("A", "s3cr3t"), ("B", "aaaaaaaaaaaaaaaa"), ("C", "\\\\\\\\\\\\\\\\")]);
    for unit in ["\\", "%25", "&amp;", "a", "YWFh", "\\u005c", "&#38;", "61", "%", "&#", "\\u{", "A\n"] {
        let text = unit.repeat((16 << 10) / unit.len());
        let covered = secrets.hide(text.as_bytes());
        assert!(covered.len() <= text.len() + 16, "{unit}: {}", covered.len());
    }
}
