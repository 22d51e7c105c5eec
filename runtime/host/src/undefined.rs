//! Whether a program whose memory is checked lets out bytes that it has never written.
//!
//! Not here: how these are known ([`UndefinedBytes`]).

use crate::call::{Host, Import};
use fozzy_trace::{UndefinedBytes, UndefinedOutput};

impl Host {
    /// Looks at what a call is about to let out.
    #[inline]
    pub(crate) fn look_for_undefined(&mut self, import: Import, bytes: &[u8]) {
        if self.run.world.plan.memcheck {
            self.find_undefined(import, bytes);
        }
    }

    #[cold]
    fn find_undefined(&mut self, import: Import, bytes: &[u8]) {
        if let Some(found) = UndefinedBytes::find(bytes) {
            let (call, length) = (self.run.recorder.calls(), bytes.len() as u64);
            self.world().facts.undefined.note(UndefinedOutput { call, import: import.name, length, found });
        }
    }
}
