//! What the command carries: the players of scenario files, a node, and the sources of the SDK, deflated, each inflated once when
//! it is asked for.
//!
//! ```text
//! OUT_DIR/steps.wasm  ─deflate (build.rs)─▶ include_bytes! ─▶ EmbeddedFile ─ bytes() ─▶ the component
//! ```
//!
//! So they are a third as large in the binary; inflating one takes a millisecond or two. Its length is known, so that it is inflated
//! into the place from which it is shared, and copied nowhere.

use fozzy_trace::Digest;
use miniz_oxide::inflate::decompress_slice_iter_to_slice;
use std::sync::{Arc, OnceLock};

/// A file in the binary.
pub(crate) struct EmbeddedFile {
    deflated: &'static [u8],
    /// Bytes of it when it is inflated.
    length: usize,
    plain: OnceLock<Arc<[u8]>>,
}

macro_rules! embedded {
    ($name:literal) => {
        EmbeddedFile {
            deflated: include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".deflate")),
            // Of the bytes themselves, nothing comes into the binary.
            length: include_bytes!(concat!(env!("OUT_DIR"), "/", $name)).len(),
            plain: OnceLock::new(),
        }
    };
}

/// The component that plays scenario files of version 1; see `runtime/campaign/build.rs`.
pub(crate) static STEPS_PLAYER: EmbeddedFile = embedded!("steps.wasm");
/// The one that plays those of version 2.
pub(crate) static PROGRAM_PLAYER: EmbeddedFile = embedded!("program.wasm");
/// The one that plays distributed ones: it imports the interface of a node.
pub(crate) static CLUSTER_PLAYER: EmbeddedFile = embedded!("cluster.wasm");
/// The program that tests nodes of the Maelstrom protocol.
pub(crate) static MAELSTROM_DRIVER: EmbeddedFile = embedded!("maelstrom.wasm");
/// The node of version 1, which is played with unless `--target` names another.
pub(crate) static KV_NODE: EmbeddedFile = embedded!("kv-node.wasm");
/// All files of the SDK; `build/sdk.rs` says how.
pub(crate) static SDK: EmbeddedFile = embedded!("sdk.txt");

impl EmbeddedFile {
    /// What it holds.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.plain()
    }

    /// The same, shared.
    pub(crate) fn shared(&self) -> Arc<[u8]> {
        Arc::clone(self.plain())
    }

    fn plain(&self) -> &Arc<[u8]> {
        self.plain.get_or_init(|| {
            let mut plain: Arc<[u8]> = std::iter::repeat_n(0, self.length).collect();
            let place = Arc::get_mut(&mut plain).expect("nobody else has it yet");
            let inflated = decompress_slice_iter_to_slice(place, std::iter::once(self.deflated), false, true);
            assert_eq!(inflated, Ok(self.length), "the build script has deflated it");
            plain
        })
    }
}

/// Whether a component is one of these: no program of a project.
pub(crate) fn is_embedded(component: Digest) -> bool {
    static DIGESTS: OnceLock<[Digest; 5]> = OnceLock::new();
    let all = || {
        [&STEPS_PLAYER, &PROGRAM_PLAYER, &CLUSTER_PLAYER, &MAELSTROM_DRIVER, &KV_NODE]
            .map(|file| Digest::of(file.bytes()))
    };
    DIGESTS.get_or_init(all).contains(&component)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_embedded_is_what_was_built() {
        let of = |name: &str| std::fs::read(format!("{}/{name}", env!("OUT_DIR"))).expect("the build script wrote it");
        for (file, name) in [
            (&STEPS_PLAYER, "steps.wasm"),
            (&PROGRAM_PLAYER, "program.wasm"),
            (&CLUSTER_PLAYER, "cluster.wasm"),
            (&MAELSTROM_DRIVER, "maelstrom.wasm"),
            (&KV_NODE, "kv-node.wasm"),
            (&SDK, "sdk.txt"),
        ] {
            assert!(file.bytes() == of(name) && *file.shared() == *file.bytes(), "{name}");
            assert!(file.deflated.len() * 2 < file.bytes().len(), "{name}: {} bytes", file.deflated.len());
        }
    }
}
