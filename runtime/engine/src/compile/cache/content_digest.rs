//! Digests of components in memory: each is hashed once, however many builds of it are made.
//!
//! ```text
//! component ─▶ run's build, search's build, exact build, …    one BLAKE3, of which each key is made
//! ```
//!
//! Invariant: what is known is known of the very allocation that is asked about. It cannot change: nobody gets a mutable reference to what
//! somebody else refers to, and the weak reference kept here is one. No other allocation is at its place as long as that is kept.
//! Not here: digests that users see.

use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Components whose digest is known at once: a program, its target, and the programs of a few machines.
const KNOWN_MAX: usize = 16;

static KNOWN: Mutex<Vec<(Weak<[u8]>, blake3::Hash)>> = Mutex::new(Vec::new());

/// The BLAKE3 of `content`.
pub(super) fn content_digest(content: &Arc<[u8]>) -> blake3::Hash {
    let find = |known: &[(Weak<[u8]>, blake3::Hash)]| {
        let is_it = |(weak, _): &&(Weak<[u8]>, blake3::Hash)| std::ptr::addr_eq(weak.as_ptr(), Arc::as_ptr(content));
        known.iter().find(is_it).map(|(_, digest)| *digest)
    };
    let found = find(&KNOWN.lock().unwrap_or_else(PoisonError::into_inner));
    found.unwrap_or_else(|| {
        // Not under the lock: others hash meanwhile.
        let digest = blake3::hash(content);
        note(content, digest);
        digest
    })
}

/// Tells the digest of `content`, which is known from elsewhere.
pub(super) fn note(content: &Arc<[u8]>, digest: blake3::Hash) {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    // What nobody has any more is not held for our sake.
    known.retain(|(weak, _)| weak.strong_count() > 0);
    if known.len() == KNOWN_MAX {
        known.remove(0);
    }
    known.push((Arc::downgrade(content), digest));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_content_has_its_own_digest_wherever_it_is() {
        for round in 0..100_u8 {
            // Allocations of one size come to be at the place of those that are gone.
            let content: Arc<[u8]> = vec![round; 64].into();
            for _ in 0..2 {
                assert_eq!(content_digest(&content), blake3::hash(&[round; 64]));
            }
        }
    }

    #[test]
    fn what_is_noted_is_not_hashed() {
        let (content, other): (Arc<[u8]>, Arc<[u8]>) = (vec![1; 64].into(), vec![1; 64].into());
        let told = blake3::hash(b"told");
        note(&content, told);
        assert_eq!((content_digest(&content), content_digest(&other)), (told, blake3::hash(&[1; 64])));
    }
}
