//! What a program tells by the public SDK of Antithesis, which writes lines of JSON to a file: properties and events like our own.
//!
//! ```text
//! fd_write(5, "{\"antithesis_assert\":…}\n")  ─▶ is it the SDK's file?  ─▶ properties · events · a failure, which ends the guest
//! the guest ends by itself                   ─▶ a line whose end has not come, and what waits for the end
//! ```
//!
//! Not here: the file (`fozzy_world::files`), what a line means (`fozzy_trace::facts`).

use crate::call::{GuestStop, Host};
use crate::events::EVENT;
use fozzy_trace::NodeId;
use fozzy_trace::facts::FailureKind;
use fozzy_trace::plan::Edition;
use fozzy_world::files::{FileDescriptor, SDK_WHOLE_LINE_BYTES_MAX, SdkLine, SdkText};

/// Bytes of a write that are taken at a time: of as many lines, each is held for a moment.
const PIECE_BYTES: usize = 64 << 10;

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
        let node = self.node;
        // In pieces, so that not all lines of a large write are held at once.
        for piece in bytes.chunks(PIECE_BYTES) {
            for line in self.node_mut().disk.take_sdk_lines(piece) {
                self.take_sdk_line(node, line, false)?;
            }
        }
        Ok(())
    }

    /// Takes a line of a machine; `is_last` if it is the last one of a guest that has ended by itself.
    fn take_sdk_line(&mut self, node: NodeId, line: SdkLine, is_last: bool) -> Result<(), GuestStop> {
        let SdkLine { number, text, has_end } = line;
        let plan = &self.run.world.plan;
        let edition = plan.edition;
        // What is called from outside does not end by itself each time.
        let ends_by_itself = plan.scenario.is_none() && plan.call.is_none();
        let is_before = edition < Edition::ELEVENTH;
        if is_before && !has_end {
            return Ok(());
        }
        let facts = &mut self.run.world.facts;
        let taken = match text {
            SdkText::Whole(text) => facts.sdk_line(number, &text, edition),
            SdkText::Long(_) if is_before => {
                facts.sdk_warnings.add(number, &format!("is longer than {SDK_WHOLE_LINE_BYTES_MAX} bytes"));
                return Ok(());
            }
            SdkText::Long(Ok(text)) => facts.sdk_line(number, text.as_bytes(), edition),
            SdkText::Long(Err(unread)) => facts.unread_sdk_line(number, &unread).map(|()| None),
        };
        match taken {
            Ok(None) => {}
            Ok(Some(event)) => {
                if event.ends_setup {
                    self.run.world.faults.end_setup();
                }
                let at = self.run.world.clock.now();
                let asked = (&*event.name, &*event.details);
                self.run.recorder.call(EVENT.id(), EVENT.name, node, at, &asked, &());
            }
            // A guest that was killed in the middle of a line has not said what it would.
            Err(failure) if failure.kind == FailureKind::Invalid && !has_end && !is_last => {
                facts.sdk_warnings.add(number, "has no end, and what there is of it cannot be read");
            }
            Err(failure) => return Err(GuestStop::Failed(failure)),
        }
        match self.run.world.facts.sdk_conflict.take_if(|_| !ends_by_itself) {
            Some(conflict) => Err(GuestStop::Failed(conflict)),
            None => Ok(()),
        }
    }

    /// The guest has ended by itself, or was killed for good: takes the line whose end it has not written, of all machines if it is that of
    /// the target, with which the run ends; and tells what has waited for that.
    pub(crate) fn end_sdk_output(&mut self, was_killed: bool) -> Result<(), GuestStop> {
        let is_target = self.node == NodeId(0);
        let (all, own) = (&self.run.world.nodes, self.node.0 as usize);
        // Guests for requests are many, and each ends.
        let ended = if is_target { &all[..] } else { all.get(own..=own).unwrap_or_default() };
        let nodes = ended.iter().flatten().filter(|node| node.disk.has_unended_sdk_line()).map(|node| node.id);
        for node in nodes.collect::<Vec<NodeId>>() {
            // What a life before has left is not what this one ends with.
            for line in self.run.world.node_mut(node).disk.take_sdk_lines(&[]) {
                self.take_sdk_line(node, line, false)?;
            }
            let is_last = !was_killed && node == self.node;
            for line in self.run.world.node_mut(node).disk.take_unended_sdk_lines() {
                self.take_sdk_line(node, line, is_last)?;
            }
        }
        match self.run.world.facts.sdk_conflict.take_if(|_| is_target) {
            Some(conflict) => Err(GuestStop::Failed(conflict)),
            None => Ok(()),
        }
    }
}
