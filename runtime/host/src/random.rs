//! `wasi:random`: every draw is a question, each interface with a stream of its own.

use crate::bindings::wasi::random::{insecure, insecure_seed, random};
use crate::call::{GuestStop, Host, Import};
use fozzy_trace::Purpose;
use wasmtime::Result;

pub(crate) const GET_RANDOM_BYTES: Import = Import::new("wasi:random/random.get-random-bytes");
const GET_RANDOM_U64: Import = Import::new("wasi:random/random.get-random-u64");
const GET_INSECURE_RANDOM_BYTES: Import = Import::new("wasi:random/insecure.get-insecure-random-bytes");
const GET_INSECURE_RANDOM_U64: Import = Import::new("wasi:random/insecure.get-insecure-random-u64");
const INSECURE_SEED: Import = Import::new("wasi:random/insecure-seed.insecure-seed");

/// Bytes that one call may draw; more is a trap, as in wasmtime-wasi, since it would only serve to
/// exhaust the host's memory.
pub(crate) const DRAW_BYTES_MAX: u64 = 64 << 20;

impl Host {
    fn draw_bytes(&mut self, import: Import, purpose: Purpose, len: u64) -> Result<Vec<u8>> {
        self.call(import, len, |host| {
            if len > DRAW_BYTES_MAX {
                let what = format!("{len} bytes asked for at once, at most {DRAW_BYTES_MAX} can be drawn");
                return Err(GuestStop::Misuse { import: import.name, what });
            }
            let mut bytes = vec![0; len as usize];
            host.draw(purpose, import.name, &mut bytes);
            Ok(bytes)
        })
    }

    fn draw_u64(&mut self, import: Import, purpose: Purpose) -> Result<u64> {
        self.call(import, (), |host| {
            let mut bytes = [0; 8];
            host.draw(purpose, import.name, &mut bytes);
            Ok(u64::from_le_bytes(bytes))
        })
    }
}

impl random::Host for Host {
    fn get_random_bytes(&mut self, len: u64) -> Result<Vec<u8>> {
        self.draw_bytes(GET_RANDOM_BYTES, Purpose::Random, len)
    }

    fn get_random_u64(&mut self) -> Result<u64> {
        self.draw_u64(GET_RANDOM_U64, Purpose::Random)
    }
}

impl insecure::Host for Host {
    fn get_insecure_random_bytes(&mut self, len: u64) -> Result<Vec<u8>> {
        self.draw_bytes(GET_INSECURE_RANDOM_BYTES, Purpose::Insecure, len)
    }

    fn get_insecure_random_u64(&mut self) -> Result<u64> {
        self.draw_u64(GET_INSECURE_RANDOM_U64, Purpose::Insecure)
    }
}

impl insecure_seed::Host for Host {
    fn insecure_seed(&mut self) -> Result<(u64, u64)> {
        self.call(INSECURE_SEED, (), |host| {
            let mut bytes = [0; 16];
            host.draw(Purpose::InsecureSeed, INSECURE_SEED.name, &mut bytes);
            let (low, high) = bytes.split_at(8);
            let word = |half: &[u8]| u64::from_le_bytes(half.try_into().expect("eight bytes"));
            Ok((word(low), word(high)))
        })
    }
}
