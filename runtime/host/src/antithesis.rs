//! What a program tells by the public SDK of Antithesis, which writes lines of JSON to a file: properties and events like our own.
//!
//! ```text
//! fd_write(5, "{\"antithesis_assert\":…}\n")  ─▶ is it the SDK's file?  ─▶ properties · events · a failure, which ends the guest
//! ```
//!
//! Not here: the file (`fozzy_world::files`), what a line means (`fozzy_trace::facts`).

use crate::call::{GuestStop, Host};
use crate::events::EVENT;
use fozzy_world::files::{FileDescriptor, SDK_LINE_BYTES_MAX, SdkLine};

impl Host {
    /// Takes bytes that are written to a file, if it is the one of the SDK.
    #[inline]
    pub(crate) fn takes_sdk_output(&mut self, file: &FileDescriptor, bytes: &[u8]) -> Result<bool, GuestStop> {
        let is_it = self.node().disk.is_sdk_output(file);
        if is_it {
            self.take_sdk_output(bytes)?;
        }
        Ok(is_it)
    }

    #[cold]
    fn take_sdk_output(&mut self, bytes: &[u8]) -> Result<(), GuestStop> {
        let lines = self.node_mut().disk.take_sdk_lines(bytes);
        let edition = self.run.world.plan.edition;
        for SdkLine { number, text } in lines {
            let facts = &mut self.run.world.facts;
            let Some(text) = text else {
                facts.sdk_warnings.add(number, &format!("is longer than {SDK_LINE_BYTES_MAX} bytes"));
                continue;
            };
            match facts.sdk_line(number, &text, edition) {
                Ok(None) => {}
                Ok(Some(event)) => {
                    if event.ends_setup {
                        self.run.world.faults.end_setup();
                    }
                    let (node, at) = (self.node, self.run.world.clock.now());
                    let asked = (&*event.name, &*event.details);
                    self.run.recorder.call(EVENT.id(), EVENT.name, node, at, &asked, &());
                }
                Err(failure) => return Err(GuestStop::Failed(failure)),
            }
        }
        Ok(())
    }
}
