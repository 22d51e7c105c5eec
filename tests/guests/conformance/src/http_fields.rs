//! `wasi:http/types.fields`.

use crate::cases;
use crate::show::Bytes;
use wasip2::http::types::{Fields, HeaderError, OutgoingRequest};

/// Fields of a list whose names are in small letters.
pub fn fields(list: &[(&str, &str)]) -> Fields {
    let list: Vec<_> = list.iter().map(|(name, value)| ((*name).to_owned(), value.as_bytes().to_vec())).collect();
    Fields::from_list(&list).expect("valid fields")
}

/// All names and values, sorted, where the order of different names is nobody's promise.
pub fn sorted(fields: &Fields) -> Vec<(String, Bytes)> {
    let mut list = fields.entries();
    list.sort();
    list.into_iter().map(|(name, value)| (name, Bytes(value))).collect()
}

fn values(fields: &Fields, name: &str) -> Vec<Bytes> {
    fields.get(name).into_iter().map(Bytes).collect()
}

/// What `append` says of each of these names.
fn appended<const N: usize>(names: [&str; N]) -> [Result<(), HeaderError>; N] {
    names.map(|name| Fields::new().append(name, b"x"))
}

cases! {
    Together "http/types.fields" "none at first" |_d| sorted(&Fields::new());
    Together "http/types.fields" "can be changed" |_d| Fields::new().append("a", b"b");
    Together "http/types.fields.from-list" "several values" |_d| sorted(&fields(&[("a", "1"), ("b", "2"), ("a", "3")]));
    Together "http/types.fields.from-list" "nothing" |_d| sorted(&fields(&[]));
    Together "http/types.fields.from-list" "a name that is none" |_d| {
        Fields::from_list(&[("a b".to_owned(), b"c".to_vec())]).map(|fields| sorted(&fields))
    };
    Together "http/types.fields.from-list" "a forbidden name" |_d| {
        Fields::from_list(&[("Host".to_owned(), b"c".to_vec())]).map(|fields| sorted(&fields))
    };
    Together "http/types.fields.get" "whatever the case" |_d| values(&fields(&[("a", "1"), ("b", "2"), ("a", "3")]), "A");
    Together "http/types.fields.get" "an unknown name" |_d| values(&fields(&[("a", "1")]), "b");
    Together "http/types.fields.get" "a name that is none" |_d| values(&fields(&[("a", "1")]), "a b");
    Together "http/types.fields.get" "an empty value" |_d| values(&fields(&[("a", "")]), "a");
    Together "http/types.fields.has" "whatever the case" |_d| {
        let fields = fields(&[("a", ""), ("b", "2")]);
        [fields.has("A"), fields.has("b"), fields.has("c"), fields.has("a b"), fields.has("")]
    };
    Together "http/types.fields.set" "replaces all" |_d| {
        let fields = fields(&[("a", "1"), ("b", "2"), ("a", "3")]);
        (fields.set("A", &[b"4".to_vec(), b"5".to_vec()]), values(&fields, "a"), values(&fields, "b"))
    };
    Together "http/types.fields.set" "to nothing removes" |_d| {
        let fields = fields(&[("a", "1")]);
        (fields.set("a", &[]), fields.has("a"), fields.set("c", &[]), fields.has("c"))
    };
    Together "http/types.fields.set" "a value that is none" |_d| {
        let fields = fields(&[("a", "1")]);
        (fields.set("a", &[b"2".to_vec(), b"\n".to_vec()]), values(&fields, "a"))
    };
    Together "http/types.fields.set" "a forbidden name" |_d| Fields::new().set("connection", &[b"close".to_vec()]);
    Together "http/types.fields.set" "two lengths" |_d| Fields::new().set("content-length", &[b"1".to_vec(), b"1".to_vec()]);
    Together "http/types.fields.delete" "all values" |_d| {
        let fields = fields(&[("a", "1"), ("b", "2"), ("a", "3")]);
        (fields.delete("A"), sorted(&fields))
    };
    Together "http/types.fields.delete" "what is not there" |_d| Fields::new().delete("a");
    Together "http/types.fields.delete" "a name that is none" |_d| Fields::new().delete("a b");
    Together "http/types.fields.delete" "a forbidden name" |_d| Fields::new().delete("upgrade");
    Together "http/types.fields.append" "after the others" |_d| {
        let fields = fields(&[("a", "1"), ("b", "2")]);
        (fields.append("a", b"3"), values(&fields, "a"))
    };
    Together "http/types.fields.append" "every character of a token" |_d| appended(["aZ09", "!#$%&'*+-.^_`|~", "a:b", "a b", "", "\u{fc}", "a\n"]);
    Together "http/types.fields.append" "every forbidden name" |_d| {
        (
            appended(["connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection"]),
            appended(["transfer-encoding", "upgrade", "host", "http2-settings", "te", "trailer", "expect"]),
        )
    };
    Together "http/types.fields.append" "every byte of a value" |_d| {
        (0..=255_u8).filter(|byte| Fields::new().append("a", &[*byte]).is_err()).map(u32::from).collect::<Vec<_>>()
    };
    Together "http/types.fields.append" "lengths that are none" |_d| {
        ["", "1", "007", "+1", "-1", " 1", "1 ", "0x1", "18446744073709551615", "18446744073709551616"]
            .map(|length| Fields::new().append("Content-Length", length.as_bytes()))
    };
    Together "http/types.fields.append" "a length in its shortest form, once" |_d| {
        let fields = Fields::new();
        (fields.append("content-length", b"007"), fields.append("content-length", b"7"), values(&fields, "content-length"))
    };
    Together "http/types.fields.append" "long names" |_d| {
        let name = |length| "a".repeat(length);
        [Fields::new().append(&name(65_535), b""), Fields::new().append(&name(65_536), b"")]
    };
    Alone "http/types.fields.append" "up to the bound" |_d| Fields::new().append("a", &vec![b'x'; (128 << 10) - 73]);
    Alone "http/types.fields.append" "beyond the bound" |_d| Fields::new().append("a", &vec![b'x'; (128 << 10) - 72]);
    Alone "http/types.fields.append" "many small ones" |_d| {
        let fields = Fields::new();
        for _ in 0..3_275 {
            fields.append("a", b"").unwrap();
        }
        fields.append("a", b"")
    };
    Together "http/types.fields.entries" "the case of names" |_d| {
        let fields = Fields::new();
        (fields.append("X-One", b"1"), fields.append("x-oNE", b"2"), sorted(&fields))
    };
    Together "http/types.fields.entries" "values of one name stand together" |_d| {
        let fields = fields(&[("a", "1"), ("b", "2"), ("a", "3")]);
        fields.entries().into_iter().map(|(name, value)| (name, Bytes(value))).collect::<Vec<_>>()
    };
    Together "http/types.fields.entries" "of a request cannot be changed" |_d| {
        let headers = OutgoingRequest::new(fields(&[("a", "1")])).headers();
        (headers.append("a", b"2"), headers.set("b", &[]), headers.delete("a"), headers.append("a b", b""), sorted(&headers))
    };
    Together "http/types.fields.clone" "can be changed, and changes nothing else" |_d| {
        let headers = OutgoingRequest::new(fields(&[("a", "1")])).headers();
        let copy = headers.clone();
        (copy.append("a", b"2"), sorted(&copy), sorted(&headers))
    };
}
