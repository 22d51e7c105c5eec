//! Quantities as people write them: `250ms`, `64MiB`, `2%`, `10MB/s`, `2025-01-01T00:00:00Z`.
//!
//! Each has a name under which the schema refers to it (`x-notation`), so that the walk over a document can say
//! what is wrong with a value before serde sees it.
//! Invariant: what is read is exact or refused; nothing is rounded but a rate, to the millionth that plans count in.

use crate::problem::quoted;
use fozzy_trace::Duration;
use fozzy_trace::plan::fault::RATE_ALWAYS_PPM;
use fozzy_trace::plan::{ALLOCATOR_ROLES, AllocatorChoice};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;

/// A span of virtual time: `250ms`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimeSpan(pub Duration);

/// A number of bytes: `4096`, `"64MiB"`, `"1GB"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ByteSize(pub u64);

/// How often a fault strikes, in millionths of the operations that it could strike: `0.02`, `"2%"`, `"1/50"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FaultRate(pub u32);

/// Bytes in a second: `1000000`, `"10MB/s"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bandwidth(pub u64);

/// A moment of wall time, in seconds since 1970: `1735689600`, `2025-01-01T00:00:00Z`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WallStart(pub u64);

/// A function of an allocator: `malloc=pool_get`, `free=func[13]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedAllocator(pub AllocatorChoice);

/// How hard a fault strikes: a number in its kind's unit, or a span or a size, which are turned into the unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strength {
    /// In the kind's unit.
    Number(u64),
    /// A span of time.
    Time(Duration),
    /// So many bytes.
    Bytes(u64),
    /// Bytes in a second.
    Bandwidth(u64),
    /// Millionths: `500ppm`, `"0.05%"`.
    Ppm(u32),
}

impl TimeSpan {
    /// Reads `250ms`, `1.5s`.
    ///
    /// # Errors
    /// A sentence that says what was expected and what was found.
    pub fn parse(text: &str) -> Result<TimeSpan, String> {
        let problem = |_| {
            let found = quoted(text);
            format!(
                "expected a duration such as \"250ms\", \"10s\", \"5m\" or \"2h\" (units ns, us, ms, s, m, h), found {found}"
            )
        };
        Duration::parse(text).map(TimeSpan).map_err(problem)
    }
}

/// Units of sizes, the longest first, since `B` ends them all.
const SIZE_UNITS: [(&str, u64); 9] = [
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
    ("kB", 1_000),
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("B", 1),
];

impl ByteSize {
    /// Reads `4096`, `64MiB`, `1.5GB`.
    ///
    /// # Errors
    /// A sentence that says what was expected and what was found.
    pub fn parse(text: &str) -> Result<ByteSize, String> {
        let refuse = || format!("expected a size such as 4096, \"64MiB\" or \"1GB\", found {}", quoted(text));
        let unit = SIZE_UNITS.iter().find_map(|(unit, scale)| Some((text.strip_suffix(unit)?, *scale)));
        let (number, scale) = unit.unwrap_or((text, 1));
        exact(number.trim_end(), scale).map(ByteSize).ok_or_else(refuse)
    }
}

/// `number` times `scale`, when the number is decimal and the product is whole and below 2^64.
fn exact(number: &str, scale: u64) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let dot = number.contains('.');
    if whole.is_empty() || (dot && fraction.is_empty()) || !digits(whole) || !digits(fraction) || fraction.len() > 12 {
        return None;
    }
    let total = whole.parse::<u64>().ok()?.checked_mul(scale)?;
    if fraction.is_empty() {
        return Some(total);
    }
    let product = fraction.parse::<u128>().ok()? * u128::from(scale);
    let one = 10_u128.pow(fraction.len() as u32);
    (product % one == 0).then_some(())?;
    total.checked_add(u64::try_from(product / one).ok()?)
}

impl FaultRate {
    /// Every operation.
    pub const ALWAYS: FaultRate = FaultRate(RATE_ALWAYS_PPM);

    /// Reads `0.02`, `2%`, `1/50`.
    ///
    /// # Errors
    /// A sentence that says what was expected and what was found.
    pub fn parse(text: &str) -> Result<FaultRate, String> {
        let refuse =
            || format!("expected a rate from 0 to 1, such as 0.02, \"2%\" or \"1/50\", found {}", quoted(text));
        let decimal = |text: &str| {
            let plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
            text.parse::<f64>().ok().filter(|_| plain)
        };
        let fraction = match (text.strip_suffix('%'), text.split_once('/')) {
            (Some(percent), _) => decimal(percent.trim_end()).map(|percent| percent / 100.0),
            (None, Some((part, whole))) => match (part.trim().parse::<u32>(), whole.trim().parse::<u32>()) {
                (Ok(part), Ok(whole)) if whole > 0 => Some(f64::from(part) / f64::from(whole)),
                _ => None,
            },
            (None, None) => decimal(text),
        };
        fraction.and_then(FaultRate::of).ok_or_else(refuse)
    }

    /// As a fraction.
    #[must_use]
    pub fn share(self) -> f64 {
        f64::from(self.0) / f64::from(RATE_ALWAYS_PPM)
    }

    /// The rate nearest to a fraction; `None` outside 0 to 1. One that is not zero never becomes zero: a fault that
    /// was asked for can strike.
    fn of(fraction: f64) -> Option<FaultRate> {
        if !(0.0..=1.0).contains(&fraction) {
            return None;
        }
        let ppm = (fraction * f64::from(RATE_ALWAYS_PPM)).round() as u32;
        Some(FaultRate(if fraction > 0.0 { ppm.max(1) } else { ppm }))
    }
}

impl fmt::Display for FaultRate {
    /// As a percentage, which [`FaultRate::parse`] reads back.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.0 / 10_000, self.0 % 10_000);
        match rest {
            0 => write!(f, "{whole}%"),
            rest => write!(f, "{whole}.{}%", format!("{rest:04}").trim_end_matches('0')),
        }
    }
}

impl Bandwidth {
    /// Reads `10MB/s`.
    ///
    /// # Errors
    /// A sentence that says what was expected and what was found.
    pub fn parse(text: &str) -> Result<Bandwidth, String> {
        let size = text.strip_suffix("/s").map(str::trim_end).and_then(|size| ByteSize::parse(size).ok());
        match size {
            Some(ByteSize(bytes)) if bytes > 0 => Ok(Bandwidth(bytes)),
            _ => Err(format!("expected bytes in a second, such as 1000000 or \"10MB/s\", found {}", quoted(text))),
        }
    }
}

impl WallStart {
    /// The last second at which a wall clock can start: the end of the year 2499.
    pub const SECONDS_MAX: u64 = 16_725_225_599;

    /// Reads `2025-01-01T00:00:00Z`, as RFC 3339 has it, in whole seconds.
    ///
    /// # Errors
    /// A sentence that says what was expected and what was found.
    pub fn parse(text: &str) -> Result<WallStart, String> {
        let refuse = |what: &str| format!("expected {what}, found {}", quoted(text));
        let usual = "a moment such as 2025-01-01T00:00:00Z or the seconds since 1970";
        let moment: jiff::Timestamp = text.parse().map_err(|_| refuse(usual))?;
        let seconds = u64::try_from(moment.as_second()).map_err(|_| refuse("a moment not before 1970"))?;
        if moment.subsec_nanosecond() != 0 {
            return Err(refuse("a whole second"));
        }
        WallStart::bounded(seconds)
    }

    /// Clocks count nanoseconds since 1970 in 64 bits.
    fn bounded(seconds: u64) -> Result<WallStart, String> {
        let is_bounded = seconds <= WallStart::SECONDS_MAX;
        is_bounded
            .then_some(WallStart(seconds))
            .ok_or_else(|| format!("expected a moment before the year 2500, found {seconds} s after 1970"))
    }
}

impl Strength {
    /// Reads `4`, `250ms`, `64KiB`, `10MB/s`, `500ppm`, `0.05%`.
    ///
    /// # Errors
    /// A sentence that says what was expected and what was found.
    pub fn parse(text: &str) -> Result<Strength, String> {
        let number = text.parse().map(Strength::Number).ok().filter(|_| !text.starts_with('+'));
        let time = || Duration::parse(text).map(Strength::Time).ok();
        let bytes = || ByteSize::parse(text).map(|ByteSize(bytes)| Strength::Bytes(bytes)).ok();
        let bandwidth = || Bandwidth::parse(text).map(|Bandwidth(bytes)| Strength::Bandwidth(bytes)).ok();
        let ppm = || match text.strip_suffix("ppm") {
            Some(number) => number.trim_end().parse().ok().filter(|_| !number.starts_with('+')),
            None => FaultRate::parse(text).ok().filter(|_| text.ends_with('%')).map(|FaultRate(ppm)| ppm),
        };
        number
            .or_else(time)
            .or_else(bytes)
            .or_else(bandwidth)
            .or_else(|| ppm().map(Strength::Ppm))
            .ok_or_else(|| format!("expected a strength such as 4, \"250ms\" or \"64KiB\", found {}", quoted(text)))
    }

    /// The number in the unit of a kind of fault.
    ///
    /// # Errors
    /// A sentence, when it is no quantity of that unit, or no whole number of it.
    pub fn in_unit(self, unit: &str) -> Result<u64, String> {
        let time_unit = match unit {
            "ns" | "nanoseconds" => Some(1),
            "us" | "microseconds" => Some(1_000),
            "ms" | "milliseconds" => Some(1_000_000),
            "s" | "seconds" => Some(1_000_000_000),
            _ => None,
        };
        match (self, time_unit) {
            (Strength::Number(number), _) => Ok(number),
            (Strength::Bytes(bytes), _) if unit == "bytes" => Ok(bytes),
            (Strength::Bandwidth(bytes), _) if unit == "bytes/s" => Ok(bytes),
            (Strength::Ppm(ppm), _) if unit == "ppm" => Ok(ppm.into()),
            (Strength::Time(Duration(ns)), Some(scale)) if ns % scale == 0 => Ok(ns / scale),
            (Strength::Time(_), Some(_)) => Err(format!("expected a whole number of {unit}, found {self}")),
            (_, _) if unit.is_empty() => Err(format!("expected a plain number, since it has no unit, found {self}")),
            (_, _) => Err(format!("expected a strength in {unit}, found {self}")),
        }
    }
}

impl fmt::Display for Strength {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Strength::Number(number) => write!(f, "{number}"),
            Strength::Time(time) => write!(f, "{time}"),
            Strength::Bytes(bytes) => write!(f, "{bytes}B"),
            Strength::Bandwidth(bytes) => write!(f, "{bytes}B/s"),
            Strength::Ppm(ppm) => write!(f, "{ppm}ppm"),
        }
    }
}

/// How a notation is read from a value of a document, and what the schema says of it.
trait Notation: Sized {
    const NAME: &'static str;
    fn of_text(text: &str) -> Result<Self, String>;
    /// `None` when a number is no spelling of it.
    fn of_number(number: &serde_json::Number) -> Option<Result<Self, String>>;
    fn schema() -> Schema;
}

fn not_negative(number: &serde_json::Number) -> Result<u64, String> {
    number.as_u64().ok_or_else(|| format!("expected a whole number, not negative, found {number}"))
}

impl Notation for TimeSpan {
    const NAME: &'static str = "duration";
    fn of_text(text: &str) -> Result<TimeSpan, String> {
        TimeSpan::parse(text)
    }
    fn of_number(_: &serde_json::Number) -> Option<Result<TimeSpan, String>> {
        None
    }
    fn schema() -> Schema {
        json_schema!({ "type": "string", "pattern": r"^[0-9]+(\.[0-9]{1,12})?(ns|us|ms|s|m|h)$" })
    }
}

impl Notation for ByteSize {
    const NAME: &'static str = "size";
    fn of_text(text: &str) -> Result<ByteSize, String> {
        ByteSize::parse(text)
    }
    fn of_number(number: &serde_json::Number) -> Option<Result<ByteSize, String>> {
        Some(not_negative(number).map(ByteSize))
    }
    fn schema() -> Schema {
        let pattern = r"^[0-9]+(\.[0-9]{1,12})? *(B|[kKMG]B|[KMGT]iB)?$";
        json_schema!({ "type": ["integer", "string"], "minimum": 0, "pattern": pattern })
    }
}

impl Notation for FaultRate {
    const NAME: &'static str = "rate";
    fn of_text(text: &str) -> Result<FaultRate, String> {
        FaultRate::parse(text)
    }
    fn of_number(number: &serde_json::Number) -> Option<Result<FaultRate, String>> {
        let rate = number.as_f64().and_then(FaultRate::of);
        Some(rate.ok_or_else(|| format!("expected a rate from 0 to 1, such as 0.02 or \"2%\", found {number}")))
    }
    fn schema() -> Schema {
        let pattern = r"^([0-9.]+ *%?|[0-9]+ */ *[0-9]+)$";
        json_schema!({ "type": ["number", "string"], "minimum": 0, "maximum": 1, "pattern": pattern })
    }
}

impl Notation for Bandwidth {
    const NAME: &'static str = "bandwidth";
    fn of_text(text: &str) -> Result<Bandwidth, String> {
        Bandwidth::parse(text)
    }
    fn of_number(number: &serde_json::Number) -> Option<Result<Bandwidth, String>> {
        let above_zero = |bytes| match bytes {
            0 => Err("expected more than 0 bytes in a second; leave it out for no bound".to_owned()),
            bytes => Ok(Bandwidth(bytes)),
        };
        Some(not_negative(number).and_then(above_zero))
    }
    fn schema() -> Schema {
        let pattern = r"^[0-9]+(\.[0-9]{1,12})? *(B|[kKMG]B|[KMGT]iB)? */s$";
        json_schema!({ "type": ["integer", "string"], "minimum": 1, "pattern": pattern })
    }
}

impl Notation for WallStart {
    const NAME: &'static str = "moment";
    fn of_text(text: &str) -> Result<WallStart, String> {
        WallStart::parse(text)
    }
    fn of_number(number: &serde_json::Number) -> Option<Result<WallStart, String>> {
        Some(not_negative(number).and_then(WallStart::bounded))
    }
    fn schema() -> Schema {
        json_schema!({ "type": ["integer", "string"], "minimum": 0, "format": "date-time" })
    }
}

impl Notation for NamedAllocator {
    const NAME: &'static str = "allocator";
    fn of_text(text: &str) -> Result<NamedAllocator, String> {
        text.parse().map(NamedAllocator)
    }
    fn of_number(_: &serde_json::Number) -> Option<Result<NamedAllocator, String>> {
        None
    }
    fn schema() -> Schema {
        json_schema!({ "type": "string", "pattern": format!("^({})=.+$", ALLOCATOR_ROLES.join("|")) })
    }
}

impl Notation for Strength {
    const NAME: &'static str = "strength";
    fn of_text(text: &str) -> Result<Strength, String> {
        Strength::parse(text)
    }
    fn of_number(number: &serde_json::Number) -> Option<Result<Strength, String>> {
        Some(not_negative(number).map(Strength::Number))
    }
    fn schema() -> Schema {
        json_schema!({ "type": ["integer", "string"], "minimum": 0 })
    }
}

fn of_value<N: Notation>(value: &Value) -> Result<N, String> {
    let unexpected = || format!("expected a {}, found {value}", N::NAME);
    match value {
        Value::String(text) => N::of_text(text),
        Value::Number(number) => N::of_number(number).unwrap_or_else(|| Err(unexpected())),
        _ => Err(unexpected()),
    }
}

/// Checks a value against the notation that a schema names.
///
/// # Errors
/// A sentence.
///
/// # Panics
/// When there is no such notation: the schema is ours.
pub(crate) fn check(notation: &str, value: &Value) -> Result<(), String> {
    match notation {
        TimeSpan::NAME => of_value::<TimeSpan>(value).map(drop),
        ByteSize::NAME => of_value::<ByteSize>(value).map(drop),
        FaultRate::NAME => of_value::<FaultRate>(value).map(drop),
        Bandwidth::NAME => of_value::<Bandwidth>(value).map(drop),
        WallStart::NAME => of_value::<WallStart>(value).map(drop),
        NamedAllocator::NAME => of_value::<NamedAllocator>(value).map(drop),
        Strength::NAME => of_value::<Strength>(value).map(drop),
        "base64" => crate::base64::decode(value.as_str().unwrap_or_default()).map(drop),
        other => panic!("the schema names the notation `{other}`, which nothing reads"),
    }
}

macro_rules! notations {
    ($($name:ident),*) => {$(
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<$name, D::Error> {
                of_value(&Value::deserialize(deserializer)?).map_err(de::Error::custom)
            }
        }

        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                let mut schema = <$name as Notation>::schema();
                schema.insert("x-notation".to_owned(), <$name as Notation>::NAME.into());
                schema
            }
        }
    )*};
}

notations!(TimeSpan, ByteSize, FaultRate, Bandwidth, WallStart, NamedAllocator, Strength);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        for (text, bytes) in [
            ("0", 0),
            ("4096", 4096),
            ("64MiB", 64 << 20),
            ("1.5GiB", 3 << 29),
            ("1GB", 1_000_000_000),
            ("3 kB", 3000),
            ("7B", 7),
            ("16777215TiB", 16_777_215 << 40),
        ] {
            assert_eq!(ByteSize::parse(text), Ok(ByteSize(bytes)), "{text}");
        }
        for text in ["", "B", "-1", "1.5", "1.0001kB", "16777216TiB", "1e3", "1 M", "1.MB", ".5MB", "٣"] {
            let message = ByteSize::parse(text).expect_err(text);
            assert!(message.contains(text), "{message}");
        }
    }

    #[test]
    fn rates_are_read_as_they_are_printed() {
        for ppm in [0, 1, 10, 20_000, 33_333, 123_456, 999_999, 1_000_000] {
            let text = FaultRate(ppm).to_string();
            assert_eq!(FaultRate::parse(&text), Ok(FaultRate(ppm)), "{text}");
        }
        for (text, ppm) in [("2%", 20_000), ("0.02", 20_000), ("1/50", 20_000), ("1", 1_000_000), ("1/9999999", 1)] {
            assert_eq!(FaultRate::parse(text), Ok(FaultRate(ppm)), "{text}");
        }
        for text in ["", "%", "-1%", "101%", "1.1", "2/1", "1/0", "1/", "nan", "inf", "1e-2", "half"] {
            let message = FaultRate::parse(text).expect_err(text);
            assert!(message.contains(text), "{message}");
        }
    }

    #[test]
    fn bandwidths_and_moments() {
        assert_eq!(Bandwidth::parse("10MB/s"), Ok(Bandwidth(10_000_000)));
        assert_eq!(Bandwidth::parse("1.5 KiB/s"), Ok(Bandwidth(1536)));
        for text in ["10MB", "0B/s", "/s", "10mbit/s", "1/s/s"] {
            assert!(Bandwidth::parse(text).is_err(), "{text}");
        }
        assert_eq!(WallStart::parse("2025-01-01T00:00:00Z"), Ok(WallStart(fozzy_trace::plan::WALL_START_DEFAULT)));
        assert_eq!(WallStart::parse("2025-01-01T02:00:00+02:00"), WallStart::parse("2025-01-01T00:00:00Z"));
        for text in ["yesterday", "2025-01-01", "2025-01-01T00:00:00", "1969-12-31T23:59:59Z", "2025-01-01T00:00:00.5Z"]
        {
            let message = WallStart::parse(text).expect_err(text);
            assert!(message.contains(text), "{message}");
        }
    }

    #[test]
    fn a_strength_is_turned_into_the_unit_of_its_kind() {
        let in_unit = |text: &str, unit: &str| Strength::parse(text).and_then(|strength| strength.in_unit(unit));
        for (text, unit, number) in [
            ("4", "bytes", 4),
            ("4", "", 4),
            ("4KiB", "bytes", 4096),
            ("2ms", "us", 2000),
            ("3s", "s", 3),
            ("10MB/s", "bytes/s", 10_000_000),
            ("4KiB/s", "bytes/s", 4096),
            ("500ppm", "ppm", 500),
            ("0.05%", "ppm", 500),
        ] {
            assert_eq!(in_unit(text, unit), Ok(number), "{text} {unit}");
        }
        for (text, unit) in [
            ("4KiB", "ns"),
            ("4KiB/s", "bytes"),
            ("4KiB", "bytes/s"),
            ("5%", "bytes"),
            ("+5ppm", "ppm"),
            ("4ms", "bytes"),
            ("1500ms", "s"),
            ("4ms", ""),
            ("+4", ""),
            ("four", ""),
        ] {
            assert!(in_unit(text, unit).is_err(), "{text} {unit}");
        }
    }
}
