//! Values of WIT's types as text, in two notations.
//!
//! ```text
//! folded                                                                  shown, as in WAVE
//! ErrorCode::NoEntry                                                      no-entry                                  a case
//! ErrorCode::DnsError(DnsErrorPayload { rcode: None, info-code: Some(3) })  DNS-error({rcode: none, info-code: some(3)})
//! (READ|WRITE)                                                            {read, write}                             flags
//! ```
//!
//! What is folded into digests of histories is part of the determinism contract: a word stays for ever, whatever the type or the case
//! is called in Rust, and whatever its `Debug` prints. They began as what `Debug` printed. What is shown is for people only.
//!
//! Invariant: equal values have equal words, and different values of a type have different ones.

use crate::bindings::fozzy::files::{power, snapshots};
use crate::bindings::fozzy::http::rules;
use crate::bindings::fozzy::process::run;
use crate::bindings::wasi::clocks::wall_clock::Datetime;
use crate::bindings::wasi::filesystem::types as fs;
use crate::bindings::wasi::http::types as http;
use crate::bindings::wasi::sockets::network;
use crate::wave;
use fozzy_world::network::{AddressFamily, Shutdown};
use std::fmt::Write;
use std::net::{IpAddr, SocketAddr};

/// What words are for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValueNotation {
    /// The words that digests have.
    Folded,
    /// The notation of WAVE.
    Shown,
}

/// Writes the words of a value.
pub(crate) trait Words {
    fn words(&self, to: ValueNotation, out: &mut String);
}

/// Values that the standard library writes: numbers, texts in quotes, addresses.
macro_rules! standard {
    ($($kind:ty),* $(,)?) => {$(
        impl Words for $kind {
            fn words(&self, _: ValueNotation, out: &mut String) {
                let _ = write!(out, "{self:?}");
            }
        }
    )*};
}
standard!(bool, u8, u16, u32, u64, i32, IpAddr, SocketAddr);

impl Words for str {
    fn words(&self, to: ValueNotation, out: &mut String) {
        match to {
            ValueNotation::Folded => drop(write!(out, "{self:?}")),
            ValueNotation::Shown => wave::text(out, self),
        }
    }
}

impl Words for String {
    fn words(&self, to: ValueNotation, out: &mut String) {
        self.as_str().words(to, out);
    }
}

impl<T: Words + ?Sized> Words for &T {
    fn words(&self, to: ValueNotation, out: &mut String) {
        (**self).words(to, out);
    }
}

impl<T: Words> Words for Option<T> {
    fn words(&self, to: ValueNotation, out: &mut String) {
        match self {
            Some(value) => case(to, out, "Some", value),
            None => word(to, out, "None"),
        }
    }
}

impl<T: Words, E: Words> Words for Result<T, E> {
    fn words(&self, to: ValueNotation, out: &mut String) {
        match self {
            Ok(value) => case(to, out, "Ok", value),
            Err(error) => case(to, out, "Err", error),
        }
    }
}

impl<T: Words> Words for Vec<T> {
    fn words(&self, to: ValueNotation, out: &mut String) {
        list(to, out, ('[', ']'), self.iter().map(|value| value as &dyn Words));
    }
}

macro_rules! tuples {
    ($($($name:ident)+,)*) => {$(
        impl<$($name: Words),+> Words for ($($name,)+) {
            fn words(&self, to: ValueNotation, out: &mut String) {
                #[allow(non_snake_case, reason = "values are called as their types")]
                let ($($name,)+) = self;
                list(to, out, ('(', ')'), [$($name as &dyn Words),+].into_iter());
            }
        }
    )*};
}
tuples!(A B, A B C, A B C D, A B C D E,);

/// `[a, b]`, `(a, b)`.
fn list<'a>(
    to: ValueNotation,
    out: &mut String,
    (open, close): (char, char),
    values: impl Iterator<Item = &'a dyn Words>,
) {
    out.push(open);
    for (place, value) in values.enumerate() {
        if place > 0 {
            out.push_str(", ");
        }
        value.words(to, out);
    }
    out.push(close);
}

/// The name of a case: `Error::NotFound`, or `not-found`.
fn word(to: ValueNotation, out: &mut String, folded: &str) {
    match to {
        ValueNotation::Folded => out.push_str(folded),
        ValueNotation::Shown => kebab(folded.rsplit("::").next().unwrap_or(folded), out),
    }
}

/// A name of Rust as WIT has it: `NotFound` and `NOT_FOUND` are `not-found`. WIT writes some words in capitals.
fn kebab(name: &str, out: &mut String) {
    const CAPITALS: [&str; 7] = ["dns", "http", "https", "ip", "tls", "uri", "rst"];
    let is_upper = !name.contains(|c: char| c.is_ascii_lowercase());
    let mut parts: Vec<String> = Vec::new();
    for c in name.chars() {
        match parts.last_mut() {
            _ if c == '_' => parts.push(String::new()),
            Some(part) if is_upper || !c.is_ascii_uppercase() => part.push(c.to_ascii_lowercase()),
            _ => parts.push(c.to_ascii_lowercase().to_string()),
        }
    }
    for (place, part) in parts.iter().enumerate() {
        if place > 0 {
            out.push('-');
        }
        match CAPITALS.contains(&part.as_str()) {
            true => out.push_str(&part.to_ascii_uppercase()),
            false => out.push_str(part),
        }
    }
}

/// `word(value)`.
fn case(to: ValueNotation, out: &mut String, name: &str, value: &dyn Words) {
    word(to, out, name);
    out.push('(');
    value.words(to, out);
    out.push(')');
}

/// `Word { field: value, … }`, or `{field: value, …}`.
fn record(to: ValueNotation, out: &mut String, name: &str, fields: &[(&str, &dyn Words)]) {
    let (open, close) = match to {
        ValueNotation::Folded => (" { ", " }"),
        ValueNotation::Shown => ("{", "}"),
    };
    if to == ValueNotation::Folded {
        out.push_str(name);
    }
    for (place, (field, value)) in fields.iter().enumerate() {
        out.push_str(if place == 0 { open } else { ", " });
        out.push_str(field);
        out.push_str(": ");
        value.words(to, out);
    }
    out.push_str(close);
}

/// Types whose cases hold nothing, each with the words of its cases.
macro_rules! cases {
    ($($start:literal $kind:ty { $($case:ident),* $(,)? })*) => {$(
        impl Words for $kind {
            fn words(&self, to: ValueNotation, out: &mut String) {
                word(to, out, match self { $(<$kind>::$case => concat!($start, stringify!($case)),)* });
            }
        }
    )*};
}
cases! {
    "Advice::" fs::Advice { Normal, Sequential, Random, WillNeed, DontNeed, NoReuse }
    "DescriptorType::" fs::DescriptorType {
        Unknown, BlockDevice, CharacterDevice, Directory, Fifo, SymbolicLink, RegularFile, Socket,
    }
    "HeaderError::" http::HeaderError { InvalidSyntax, Forbidden, Immutable }
    "Error::" snapshots::Error { NotFound, Busy, InvalidName, TooMany, Unsupported }
    "Error::" power::Error { Busy, NotWatched, Unsupported }
    "Failure::" rules::Failure { Dns, Refused, Reset, Timeout }
    "IpAddressFamily::" network::IpAddressFamily { Ipv4, Ipv6 }
    "" AddressFamily { Ipv4, Ipv6 }
    "" Shutdown { Receive, Send, Both }
}

/// Types of flags, each with the words of its flags, in their order.
macro_rules! flags {
    ($($kind:ty { $($flag:ident),* $(,)? })*) => {$(
        impl Words for $kind {
            fn words(&self, to: ValueNotation, out: &mut String) {
                let all = [$((<$kind>::$flag, stringify!($flag)),)*];
                let set = all.iter().filter(|(flag, _)| self.contains(*flag)).map(|(_, name)| *name);
                let (open, between, close) = match to {
                    ValueNotation::Folded => ('(', "|", ')'),
                    ValueNotation::Shown => ('{', ", ", '}'),
                };
                out.push(open);
                for (place, name) in set.enumerate() {
                    if place > 0 {
                        out.push_str(between);
                    }
                    word(to, out, name);
                }
                out.push(close);
            }
        }
    )*};
}
flags! {
    fs::PathFlags { SYMLINK_FOLLOW }
    fs::OpenFlags { CREATE, DIRECTORY, EXCLUSIVE, TRUNCATE }
    fs::DescriptorFlags {
        READ, WRITE, FILE_INTEGRITY_SYNC, DATA_INTEGRITY_SYNC, REQUESTED_WRITE_SYNC, MUTATE_DIRECTORY,
    }
}

/// Records, each with the words of its fields.
macro_rules! records {
    ($($word:literal $kind:ty { $($name:literal $field:ident),* $(,)? })*) => {$(
        impl Words for $kind {
            fn words(&self, to: ValueNotation, out: &mut String) {
                record(to, out, $word, &[$(($name, &self.$field)),*]);
            }
        }
    )*};
}
records! {
    "Datetime" Datetime { "seconds" seconds, "nanoseconds" nanoseconds }
    "DescriptorStat" fs::DescriptorStat {
        "type" type_, "link-count" link_count, "size" size, "data-access-timestamp" data_access_timestamp,
        "data-modification-timestamp" data_modification_timestamp, "status-change-timestamp" status_change_timestamp,
    }
    "MetadataHashValue" fs::MetadataHashValue { "lower" lower, "upper" upper }
    "DirectoryEntry" fs::DirectoryEntry { "type" type_, "name" name }
    "Ending" run::Ending { "status" status, "deadline-passed" deadline_passed }
    "DnsErrorPayload" http::DnsErrorPayload { "rcode" rcode, "info-code" info_code }
    "TlsAlertReceivedPayload" http::TlsAlertReceivedPayload { "alert-id" alert_id, "alert-message" alert_message }
    "FieldSizePayload" http::FieldSizePayload { "field-name" field_name, "field-size" field_size }
}

impl Words for fs::NewTimestamp {
    fn words(&self, to: ValueNotation, out: &mut String) {
        match self {
            fs::NewTimestamp::NoChange => word(to, out, "NewTimestamp::NoChange"),
            fs::NewTimestamp::Now => word(to, out, "NewTimestamp::Now"),
            fs::NewTimestamp::Timestamp(time) => case(to, out, "NewTimestamp::Timestamp", time),
        }
    }
}

impl Words for run::ExitStatus {
    fn words(&self, to: ValueNotation, out: &mut String) {
        match self {
            run::ExitStatus::Code(code) => case(to, out, "ExitStatus::Code", code),
            run::ExitStatus::Signal(signal) => case(to, out, "ExitStatus::Signal", signal),
        }
    }
}

impl Words for run::Error {
    fn words(&self, to: ValueNotation, out: &mut String) {
        match self {
            run::Error::NotFound => word(to, out, "Error::NotFound"),
            run::Error::NotPermitted => word(to, out, "Error::NotPermitted"),
            run::Error::OutputTooLarge => word(to, out, "Error::OutputTooLarge"),
            run::Error::TooManyProcesses => word(to, out, "Error::TooManyProcesses"),
            run::Error::Other(why) => case(to, out, "Error::Other", why),
        }
    }
}

impl Words for http::Scheme {
    fn words(&self, to: ValueNotation, out: &mut String) {
        match self {
            http::Scheme::Http => word(to, out, "Scheme::Http"),
            http::Scheme::Https => word(to, out, "Scheme::Https"),
            http::Scheme::Other(name) => case(to, out, "Scheme::Other", name),
        }
    }
}

impl Words for http::Method {
    fn words(&self, to: ValueNotation, out: &mut String) {
        let name = match self {
            http::Method::Get => "Method::Get",
            http::Method::Head => "Method::Head",
            http::Method::Post => "Method::Post",
            http::Method::Put => "Method::Put",
            http::Method::Delete => "Method::Delete",
            http::Method::Connect => "Method::Connect",
            http::Method::Options => "Method::Options",
            http::Method::Trace => "Method::Trace",
            http::Method::Patch => "Method::Patch",
            http::Method::Other(name) => return case(to, out, "Method::Other", name),
        };
        word(to, out, name);
    }
}

/// Cases of the errors of HTTP, some of which hold a value.
macro_rules! http_errors {
    (plain { $($plain:ident),* $(,)? } with { $($with:ident),* $(,)? }) => {
        impl Words for http::ErrorCode {
            fn words(&self, to: ValueNotation, out: &mut String) {
                match self {
                    $(http::ErrorCode::$plain => word(to, out, concat!("ErrorCode::", stringify!($plain))),)*
                    $(http::ErrorCode::$with(value) => case(to, out, concat!("ErrorCode::", stringify!($with)), value),)*
                }
            }
        }
    };
}
http_errors! {
    plain {
        DnsTimeout, DestinationNotFound, DestinationUnavailable, DestinationIpProhibited, DestinationIpUnroutable, ConnectionRefused,
        ConnectionTerminated, ConnectionTimeout, ConnectionReadTimeout, ConnectionWriteTimeout, ConnectionLimitReached,
        TlsProtocolError, TlsCertificateError, HttpRequestDenied, HttpRequestLengthRequired, HttpRequestMethodInvalid,
        HttpRequestUriInvalid, HttpRequestUriTooLong, HttpResponseIncomplete, HttpResponseTimeout, HttpUpgradeFailed,
        HttpProtocolError, LoopDetected, ConfigurationError,
    }
    with {
        DnsError, TlsAlertReceived, HttpRequestBodySize, HttpRequestHeaderSectionSize, HttpRequestHeaderSize,
        HttpRequestTrailerSectionSize, HttpRequestTrailerSize, HttpResponseHeaderSectionSize, HttpResponseHeaderSize,
        HttpResponseBodySize, HttpResponseTrailerSectionSize, HttpResponseTrailerSize, HttpResponseTransferCoding,
        HttpResponseContentCoding, InternalError,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Debug;

    /// The words of a value, which are what `Debug` prints, as they were from the first trace on.
    fn pinned(value: &(impl Words + Debug), expected: &str) {
        let mut found = String::new();
        value.words(ValueNotation::Folded, &mut found);
        assert_eq!(found, expected);
        assert_eq!(found, format!("{value:?}"), "this is what old traces have");
    }

    #[test]
    fn words_are_those_of_old_traces() {
        let time = Datetime { seconds: 7, nanoseconds: 8 };
        let at = Some(time);
        pinned(
            &fs::ErrorCode::NoEntry,
            "ErrorCode { code: 20, name: \"no-entry\", message: \"No such file or directory, similar to `ENOENT` in POSIX.\" }",
        );
        pinned(&fs::Advice::WillNeed, "Advice::WillNeed");
        pinned(&fs::DescriptorType::SymbolicLink, "DescriptorType::SymbolicLink");
        pinned(&http::HeaderError::Immutable, "HeaderError::Immutable");
        pinned(&snapshots::Error::TooMany, "Error::TooMany");
        pinned(&power::Error::NotWatched, "Error::NotWatched");
        pinned(&rules::Failure::Refused, "Failure::Refused");
        pinned(&network::IpAddressFamily::Ipv6, "IpAddressFamily::Ipv6");
        pinned(&AddressFamily::Ipv4, "Ipv4");
        pinned(&Shutdown::Both, "Both");
        pinned(&fs::PathFlags::empty(), "()");
        pinned(&(fs::OpenFlags::CREATE | fs::OpenFlags::TRUNCATE), "(CREATE|TRUNCATE)");
        let all = "(READ|WRITE|FILE_INTEGRITY_SYNC|DATA_INTEGRITY_SYNC|REQUESTED_WRITE_SYNC|MUTATE_DIRECTORY)";
        let flags = fs::DescriptorFlags::READ
            | fs::DescriptorFlags::WRITE
            | fs::DescriptorFlags::FILE_INTEGRITY_SYNC
            | fs::DescriptorFlags::DATA_INTEGRITY_SYNC
            | fs::DescriptorFlags::REQUESTED_WRITE_SYNC
            | fs::DescriptorFlags::MUTATE_DIRECTORY;
        pinned(&flags, all);
        pinned(
            &fs::DescriptorStat {
                type_: fs::DescriptorType::RegularFile,
                link_count: 1,
                size: 2,
                data_access_timestamp: at,
                data_modification_timestamp: None,
                status_change_timestamp: at,
            },
            "DescriptorStat { type: DescriptorType::RegularFile, link-count: 1, size: 2, data-access-timestamp: Some(Datetime { \
             seconds: 7, nanoseconds: 8 }), data-modification-timestamp: None, status-change-timestamp: Some(Datetime { seconds: 7, \
             nanoseconds: 8 }) }",
        );
        pinned(&fs::MetadataHashValue { lower: 1, upper: 2 }, "MetadataHashValue { lower: 1, upper: 2 }");
        let entry = fs::DirectoryEntry { type_: fs::DescriptorType::Fifo, name: "a\"\n".to_owned() };
        pinned(&entry, r#"DirectoryEntry { type: DescriptorType::Fifo, name: "a\"\n" }"#);
        pinned(&(fs::NewTimestamp::Now, fs::NewTimestamp::NoChange), "(NewTimestamp::Now, NewTimestamp::NoChange)");
        pinned(&fs::NewTimestamp::Timestamp(time), "NewTimestamp::Timestamp(Datetime { seconds: 7, nanoseconds: 8 })");
        let ending = run::Ending { status: run::ExitStatus::Signal(9), deadline_passed: true };
        pinned(&ending, "Ending { status: ExitStatus::Signal(9), deadline-passed: true }");
        pinned(&run::Error::Other("why".to_owned()), r#"Error::Other("why")"#);
        pinned(&run::Error::TooManyProcesses, "Error::TooManyProcesses");
        pinned(&http::Scheme::Https, "Scheme::Https");
        pinned(&http::Method::Other("PURGE".to_owned()), r#"Method::Other("PURGE")"#);
        pinned(&http::Method::Options, "Method::Options");
        pinned(&http::ErrorCode::HttpRequestUriTooLong, "ErrorCode::HttpRequestUriTooLong");
        let payload = http::DnsErrorPayload { rcode: None, info_code: Some(3) };
        pinned(
            &http::ErrorCode::DnsError(payload),
            "ErrorCode::DnsError(DnsErrorPayload { rcode: None, info-code: Some(3) })",
        );
        let payload = http::TlsAlertReceivedPayload { alert_id: Some(40), alert_message: Some("bad".to_owned()) };
        pinned(
            &http::ErrorCode::TlsAlertReceived(payload),
            r#"ErrorCode::TlsAlertReceived(TlsAlertReceivedPayload { alert-id: Some(40), alert-message: Some("bad") })"#,
        );
        let size = http::FieldSizePayload { field_name: Some("x".to_owned()), field_size: None };
        pinned(
            &http::ErrorCode::HttpRequestHeaderSize(Some(size)),
            r#"ErrorCode::HttpRequestHeaderSize(Some(FieldSizePayload { field-name: Some("x"), field-size: None }))"#,
        );
        let (v4, v6): (SocketAddr, SocketAddr) =
            ("127.0.0.1:80".parse().expect("one"), "[::1]:80".parse().expect("one"));
        pinned(&(v4, v6.ip(), true), "(127.0.0.1:80, ::1, true)");
        let kind: Result<run::ExitStatus, String> = Err("not found".to_owned());
        pinned(&(Some(vec!["a".to_owned()]), None::<u64>, kind, 5_u64), r#"(Some(["a"]), None, Err("not found"), 5)"#);
    }

    /// The words of a value for people.
    fn shown(value: &impl Words) -> String {
        let mut found = String::new();
        value.words(ValueNotation::Shown, &mut found);
        found
    }

    #[test]
    fn people_are_shown_the_notation_of_wave() {
        assert_eq!(shown(&fs::ErrorCode::NoEntry), "no-entry");
        assert_eq!(shown(&fs::Advice::WillNeed), "will-need");
        assert_eq!(shown(&(fs::OpenFlags::CREATE | fs::OpenFlags::TRUNCATE)), "{create, truncate}");
        assert_eq!(shown(&fs::DescriptorFlags::FILE_INTEGRITY_SYNC), "{file-integrity-sync}");
        assert_eq!(shown(&fs::PathFlags::empty()), "{}");
        let time = Datetime { seconds: 7, nanoseconds: 8 };
        assert_eq!(shown(&fs::NewTimestamp::Timestamp(time)), "timestamp({seconds: 7, nanoseconds: 8})");
        let entry = fs::DirectoryEntry { type_: fs::DescriptorType::Fifo, name: "a\"\n".to_owned() };
        assert_eq!(shown(&entry), r#"{type: fifo, name: "a\"\n"}"#);
        let payload = http::DnsErrorPayload { rcode: None, info_code: Some(3) };
        assert_eq!(shown(&http::ErrorCode::DnsError(payload)), "DNS-error({rcode: none, info-code: some(3)})");
        assert_eq!(shown(&http::ErrorCode::HttpRequestUriTooLong), "HTTP-request-URI-too-long");
        assert_eq!(shown(&http::Scheme::Https), "HTTPS");
        assert_eq!(shown(&run::Error::Other("why".to_owned())), r#"other("why")"#);
        let ending = run::Ending { status: run::ExitStatus::Signal(9), deadline_passed: true };
        assert_eq!(shown(&ending), "{status: signal(9), deadline-passed: true}");
        assert_eq!(shown(&Shutdown::Both), "both");
        let kind: Result<run::ExitStatus, String> = Err("not found".to_owned());
        assert_eq!(shown(&(Some(vec!["a".to_owned()]), None::<u64>, kind)), r#"(some(["a"]), none, err("not found"))"#);
    }
}
