//! Properties of long collections, of bounds, and one that skips nearly everything.
#![cfg(target_arch = "wasm32")]

use fozzy_sdk::prelude::*;
use fozzy_sdk::scenario::Skip;

/// A length that is written as one byte.
#[property]
fn length_fits_a_byte(bytes: Vec<u8>) {
    always!(bytes.len() < 256, "a length has one byte");
}

#[property]
fn bounds_hold(#[draw(length = 300..=400)] bytes: Vec<u8>, #[draw(range = 5..=9)] number: u16) {
    always!((300..=400).contains(&bytes.len()) && (5..=9).contains(&number), "bounds hold");
}

/// Which numbers it takes is beyond what a campaign can solve.
#[property]
fn nearly_never(number: u32) -> Result<(), Skip> {
    if number.wrapping_mul(0x9e37_79b9) >> 22 != 77 {
        skip!("another number");
    }
    Ok(())
}

/// What it says by its result is told by the environment.
#[property]
fn told_verdict(#[draw(range = 0..=9)] number: u8) -> Result<bool, String> {
    match std::env::var("VERDICT").as_deref() {
        Ok("false") => Ok(number < 3),
        Ok("error") if number >= 3 => Err(format!("{number} is too many")),
        _ => Ok(true),
    }
}
