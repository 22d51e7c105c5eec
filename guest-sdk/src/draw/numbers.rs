//! Numbers, truth values, characters.
//!
//! Invariant: exact: a range of n values gives each with 1/n, up to 2^-64.

use super::Draw;
use crate::host;
use core::time::Duration;

/// Integers of up to 64 bits.
///
/// ```
/// use fozzy_sdk::draw::{self, Int};
///
/// fn percent_of<T: Int>(zero: T, hundred: T) -> T { draw::range(zero..=hundred) }
/// assert!(percent_of(0u8, 100) <= 100);
/// ```
pub trait Int: Copy + Ord + core::fmt::Display {
    /// As a wide number.
    fn wide(self) -> i128;
    /// From a wide number that is one of this type.
    fn narrow(wide: i128) -> Self;
}

/// A number from `min` to `max`.
pub(crate) fn uniform<T: Int>(site: &str, min: T, max: T) -> T {
    T::narrow(uniform_wide(site, min.wide(), max.wide()))
}

/// The same for numbers that are at the most 2^64 - 1 apart.
pub(crate) fn uniform_wide(site: &str, min: i128, max: i128) -> i128 {
    if min > max {
        host::invalid(site, &format!("at `{site}`: the range is empty: the minimum {min} is above the maximum {max}"));
    }
    min + i128::from(below_or_at(site, (max - min) as u64))
}

/// A number from 0 to `last`.
pub(crate) fn below_or_at(site: &str, last: u64) -> u64 {
    match last.checked_add(1) {
        Some(count) => host::choose(site, count),
        None => host::choose(site, 1 << 32) << 32 | host::choose(site, 1 << 32),
    }
}

/// Small, any, edge: see the module above.
const BIAS: [u32; 3] = [4, 3, 1];

macro_rules! unsigned {
    ($($int:ident as $drawn:ident),*) => {$(
        impl Int for $int {
            fn wide(self) -> i128 {
                self as i128
            }
            fn narrow(wide: i128) -> $int {
                wide as $int
            }
        }

        impl Draw for $int {
            fn draw(site: &str) -> $int {
                const EDGES: [$drawn; 6] = [0, 1, $drawn::MAX, $drawn::MAX - 1, $drawn::MAX / 2, $drawn::MAX / 2 + 1];
                match host::weighted(site, &BIAS) {
                    0 => host::choose(site, 256) as $int,
                    1 => below_or_at(site, $drawn::MAX.into()) as $int,
                    _ => EDGES[host::choose(site, EDGES.len() as u64) as usize] as $int,
                }
            }
        }
    )*};
}
unsigned!(u8 as u8, u16 as u16, u32 as u32, u64 as u64, usize as u32);

macro_rules! signed {
    ($($int:ident as $drawn:ident),*) => {$(
        impl Int for $int {
            fn wide(self) -> i128 {
                self as i128
            }
            fn narrow(wide: i128) -> $int {
                wide as $int
            }
        }

        impl Draw for $int {
            fn draw(site: &str) -> $int {
                const EDGES: [$drawn; 7] = [0, 1, -1, $drawn::MAX, $drawn::MIN, $drawn::MAX - 1, $drawn::MIN + 1];
                match host::weighted(site, &BIAS) {
                    // 0, -1, 1, -2, 2, so that zero is the simplest.
                    0 => folded(host::choose(site, 256)) as $int,
                    1 => uniform_wide(site, $drawn::MIN.into(), $drawn::MAX.into()) as $int,
                    _ => EDGES[host::choose(site, EDGES.len() as u64) as usize] as $int,
                }
            }
        }
    )*};
}
signed!(i8 as i8, i16 as i16, i32 as i32, i64 as i64, isize as i32);

/// 0, -1, 1, -2, 2 and so on.
fn folded(number: u64) -> i64 {
    let half = (number / 2) as i64;
    if number % 2 == 0 { half } else { -half - 1 }
}

impl Draw for u128 {
    fn draw(site: &str) -> u128 {
        let high = if host::weighted(site, &[7, 1]) == 0 { 0 } else { u64::draw(site) };
        u128::from(high) << 64 | u128::from(u64::draw(site))
    }
}

impl Draw for i128 {
    fn draw(site: &str) -> i128 {
        let negative = host::weighted(site, &[3, 1]) == 1;
        let magnitude = (u128::draw(site) >> 1) as i128;
        if negative { -magnitude - 1 } else { magnitude }
    }
}

macro_rules! floats {
    ($($float:ident of $bits:ident),*) => {$(
        impl Draw for $float {
            fn draw(site: &str) -> $float {
                const EDGES: [$float; 12] = [
                    0.0, -0.0, 1.0, -1.0, 0.5, $float::MAX, $float::MIN, $float::MIN_POSITIVE, $float::EPSILON,
                    $float::INFINITY, $float::NEG_INFINITY, $float::NAN,
                ];
                match host::weighted(site, &BIAS) {
                    0 => folded(host::choose(site, 256)) as $float,
                    1 => $float::from_bits(below_or_at(site, $bits::MAX.into()) as $bits),
                    _ => EDGES[host::choose(site, EDGES.len() as u64) as usize],
                }
            }
        }
    )*};
}
floats!(f32 of u32, f64 of u64);

impl Draw for bool {
    fn draw(site: &str) -> bool {
        host::choose(site, 2) == 1
    }
}

impl Draw for char {
    /// 7 of 8 printable ASCII, 1 of 8 any character.
    fn draw(site: &str) -> char {
        if host::weighted(site, &[7, 1]) == 0 {
            return (b' ' + host::choose(site, 95) as u8) as char;
        }
        // Numbers that are no character lie in one stretch, which is skipped.
        let number = host::choose(site, 0x11_0000 - 0x800) as u32;
        char::from_u32(if number < 0xD800 { number } else { number + 0x800 }).unwrap_or(' ')
    }
}

impl Draw for Duration {
    /// Up to a day, mostly below a second, in whole milliseconds.
    fn draw(site: &str) -> Duration {
        let most = if host::weighted(site, &[7, 1]) == 0 { 1000 } else { 86_400_000 };
        Duration::from_millis(host::choose(site, most))
    }
}
