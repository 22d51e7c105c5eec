//! Passwords: values out of billions, which chance never meets and a comparison gives away.

/// The eight values.
const VALUES: [u32; 8] =
    [0x5eed_1234, 901_771_313, 70_000, 3_141_592_653, 0xdead_0042, 1_618_033_988, 271_828_182, 0xcafe_f00d];

/// How many values were right so far.
#[derive(Clone, Default)]
pub(crate) struct Password {
    right: usize,
    /// Whether a wrong one begins again.
    begins_again: bool,
}

impl Password {
    pub(crate) fn new(begins_again: bool) -> Password {
        Password { right: 0, begins_again }
    }

    pub(crate) fn enter(&mut self, value: u32) {
        if VALUES.get(self.right) == Some(&value) {
            self.right += 1;
        } else if self.begins_again {
            self.right = 0;
        }
    }

    pub(crate) fn state(&self) -> u64 {
        self.right as u64
    }

    pub(crate) fn is_solved(&self) -> bool {
        self.right == VALUES.len()
    }
}
