//! Inputs that are bytes, varied by the mutators of campaigns.

use super::{InputSpace, SearchRng};
use crate::fuzz::{Dictionary, MutationContext, Mutator, Mutators};

/// One input in this many keeps its length, and only its bytes change: what is compared often has a fixed place.
const FILLED_ONE_IN: u64 = 8;

/// All inputs up to a length.
pub struct ByteSpace {
    mutators: Mutators,
    dictionary: Dictionary,
    bytes_max: usize,
}

impl ByteSpace {
    /// Inputs of up to `bytes_max` bytes, made of words of `dictionary` too, by all mutators or `only` one.
    #[must_use]
    pub fn new(bytes_max: usize, dictionary: Dictionary, only: Option<&'static Mutator>) -> ByteSpace {
        ByteSpace { mutators: Mutators::new(only), dictionary, bytes_max: bytes_max.max(1) }
    }
}

impl InputSpace for ByteSpace {
    type Input = Vec<u8>;

    fn draw(&self, rng: &mut SearchRng<'_>) -> Vec<u8> {
        let mut input = vec![0; rng.0.length(self.bytes_max)];
        rng.0.fill(&mut input);
        // Half of them are text.
        if rng.0.one_in(2) {
            input.iter_mut().for_each(|byte| *byte = b' ' + *byte % 95);
        }
        input
    }

    fn vary(&self, input: &mut Vec<u8>, other: &Vec<u8>, rng: &mut SearchRng<'_>) {
        if rng.0.one_in(FILLED_ONE_IN) && !input.is_empty() {
            let (from, byte) = (rng.0.index(input.len()), input[rng.0.index(input.len())]);
            let most = input.len() - from;
            let length = rng.0.length(most);
            input[from..from + length].fill(byte);
            return;
        }
        let mut context =
            MutationContext { rng: rng.0, dictionary: &self.dictionary, pairs: &[], other, bytes_max: self.bytes_max };
        self.mutators.mutate(input, &mut context);
    }

    fn size(&self, input: &Vec<u8>) -> u64 {
        input.len() as u64
    }
}
