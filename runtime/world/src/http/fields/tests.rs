//! Fields: the rules of the text of WASI, and the `http` crate as the oracle of what is valid.

use super::*;
use ::http::{HeaderMap, HeaderName, HeaderValue};

fn listed(fields: &HeaderFields) -> Vec<String> {
    fields.entries().iter().map(|(name, value)| format!("{name}={}", value.escape_ascii())).collect()
}

#[test]
fn names_are_equal_whatever_their_case_and_stay_as_given() {
    let mut fields = HeaderFields::default();
    for (name, value) in [("Accept", "a"), ("X", "1"), ("accept", "b")] {
        fields.append(name, value.as_bytes().to_vec()).expect("valid");
    }
    assert_eq!(listed(&fields), ["Accept=a", "accept=b", "X=1"]);
    assert_eq!(fields.get("ACCEPT").collect::<Vec<_>>(), [b"a", b"b"]);
    fields.set("ACCEPT", vec![b"c".to_vec()]).expect("valid");
    assert_eq!(listed(&fields), ["ACCEPT=c", "X=1"]);
    fields.set("aCCEPT", Vec::new()).expect("valid");
    assert!(!fields.has("accept"));
    fields.delete("x").expect("valid");
    fields.delete("missing").expect("nothing to do");
    assert_eq!((listed(&fields).len(), fields.bytes), (0, 0));
}

#[test]
fn what_was_sent_never_changes_and_its_copy_does() {
    let mut fields = HeaderFields::from_list([("a".to_owned(), b"1".to_vec())]).expect("valid").frozen();
    assert_eq!(fields.append("a", b"2".to_vec()), Err(FieldsError::Immutable));
    assert_eq!(fields.set("a", Vec::new()), Err(FieldsError::Immutable));
    assert_eq!(fields.delete("a"), Err(FieldsError::Immutable));
    let mut copy = fields.thawed();
    copy.append("a", b"2".to_vec()).expect("a copy can be changed");
    assert_eq!((listed(&fields), listed(&copy)), (vec!["a=1".to_owned()], vec!["a=1".to_owned(), "a=2".to_owned()]));
}

#[test]
fn forbidden_and_ambiguous_fields_are_refused() {
    let mut fields = HeaderFields::default();
    for name in ["Host", "connection", "TRANSFER-ENCODING", "upgrade", "http2-settings"] {
        assert_eq!(fields.append(name, b"x".to_vec()), Err(FieldsError::Forbidden), "{name}");
        assert_eq!(fields.set(name, Vec::new()), Err(FieldsError::Forbidden), "{name}");
        assert_eq!(fields.delete(name), Err(FieldsError::Forbidden), "{name}");
    }
    for wrong in ["+5", "-5", " 5", "", "5 ", "18446744073709551616", "0x1"] {
        let refused = fields.append("content-length", wrong.as_bytes().to_vec());
        assert_eq!(refused, Err(FieldsError::InvalidSyntax), "{wrong:?}");
    }
    fields.append("Content-Length", b"007".to_vec()).expect("a number");
    assert_eq!((fields.content_length(), listed(&fields)), (Some(7), vec!["Content-Length=7".to_owned()]));
    assert_eq!(fields.append("content-length", b"7".to_vec()), Err(FieldsError::InvalidSyntax));
    assert_eq!(fields.set("content-length", vec![b"7".to_vec(); 2]), Err(FieldsError::InvalidSyntax));
    // What came from outside is cleaned, not refused.
    let received = HeaderFields::received([("host".to_owned(), b"h".to_vec()), ("a".to_owned(), b"b".to_vec())]);
    assert_eq!(listed(&received), ["a=b"]);
}

#[test]
fn what_is_valid_is_what_the_http_crate_takes() {
    let forbidden = |name: &str| FORBIDDEN.contains(&name.to_ascii_lowercase().as_str());
    for byte in 0..=255u8 {
        for name in [vec![byte], vec![b'a', byte], vec![byte, b'-', b'Z']] {
            let theirs = HeaderName::from_bytes(&name).is_ok();
            let Ok(name) = String::from_utf8(name) else { continue };
            let ours = HeaderFields::default().append(&name, Vec::new());
            assert_eq!(ours.is_ok() || forbidden(&name), theirs, "{name:?}");
        }
        for value in [vec![byte], vec![byte, b'x'], vec![b' ', byte]] {
            let theirs = HeaderValue::from_bytes(&value).is_ok();
            assert_eq!(HeaderFields::default().append("a", value).is_ok(), theirs, "{byte}");
        }
    }
    for length in [0, 1, 65_535, 65_536] {
        let name = "a".repeat(length);
        let theirs = HeaderName::from_bytes(name.as_bytes()).is_ok();
        assert_eq!(HeaderFields::default().append(&name, Vec::new()).is_ok(), theirs, "{length}");
    }
}

#[test]
fn the_size_is_bounded_as_in_the_reference() {
    assert_eq!(NAME_BYTES, size_of::<HeaderName>());
    assert_eq!(VALUE_BYTES, size_of::<HeaderValue>());
    // The reference's own sum over a map with the same content.
    let mut fields = HeaderFields::default();
    let mut map = HeaderMap::new();
    for i in 0..200u32 {
        let (name, value) = (format!("n{}", i % 17), vec![b'v'; (i as usize * 37) % 900]);
        fields.append(&name, value.clone()).expect("room");
        let value = HeaderValue::from_bytes(&value).expect("valid");
        map.append(HeaderName::from_bytes(name.as_bytes()).expect("valid"), value);
    }
    fields.delete("n3").expect("valid");
    map.remove("n3");
    let names: usize = map.keys().map(|name| name.as_str().len() + NAME_BYTES).sum();
    let values: usize = map.values().map(|value| value.len() + VALUE_BYTES).sum();
    assert_eq!(fields.bytes, names + values);
    let theirs: Vec<_> =
        map.iter().map(|(name, value)| format!("{name}={}", value.as_bytes().escape_ascii())).collect();
    let sorted = |mut list: Vec<String>| {
        list.sort();
        list
    };
    assert_eq!(sorted(listed(&fields)), sorted(theirs));
    // Full is full, and changes nothing.
    let mut full = HeaderFields::default();
    let room = FIELDS_BYTES_MAX - NAME_BYTES - VALUE_BYTES - 1;
    full.append("a", vec![b'x'; room]).expect("exactly full");
    let before = full.clone();
    assert_eq!(full.append("b", Vec::new()), Err(FieldsError::TooLarge));
    assert_eq!(full.set("a", vec![vec![b'x'; room + 1]]), Err(FieldsError::TooLarge));
    assert_eq!(full, before);
}
