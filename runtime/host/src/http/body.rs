//! The streams of bodies, among all other streams.
//!
//! A body is there whole or not at all, so a reader waits once; a writer never waits. A stream that failed or was read to its
//! end is closed, and stays a child of its body until it is dropped.

use crate::call::{CallProgress, Host};
use crate::streams::{Attempt, BlockingMode, StreamOpFailure};
use fozzy_world::Wait;
use fozzy_world::http::body::{BodyRead, BodyWriteError};
use fozzy_world::http::{BodyId, BodySide};
use fozzy_world::table::{Handle, StreamSink as Output, StreamSource as Input};

impl Host {
    /// Reads from the body of a message.
    pub(crate) fn read_body(
        &mut self,
        rep: u32,
        (body, offset): (BodyId, u64),
        len: u64,
        patience: BlockingMode,
    ) -> Attempt<Vec<u8>> {
        let world = &self.run.world;
        let failure = match world.http.bodies.read(body, offset, len, world.clock.now(), &world.signals) {
            BodyRead::Nothing if patience == BlockingMode::Blocking && len > 0 => {
                return Ok(CallProgress::Wait(vec![Wait::Signal(world.http.bodies.readable(body))]));
            }
            BodyRead::Nothing => return Ok(CallProgress::Done(Ok(Vec::new()))),
            BodyRead::Bytes(bytes) => {
                let bytes = bytes.to_vec();
                self.set_input(rep, Input::Http { body, offset: offset + bytes.len() as u64, closed: false });
                return Ok(CallProgress::Done(Ok(bytes)));
            }
            BodyRead::End => StreamOpFailure::Closed,
            BodyRead::Failed(error) => StreamOpFailure::Http(error),
        };
        self.set_input(rep, Input::Http { body, offset, closed: true });
        Ok(CallProgress::Done(Err(failure)))
    }

    fn set_input(&mut self, rep: u32, input: Input) {
        let stream = self.node_mut().table.get_mut(rep).expect("it was just used");
        *stream = Handle::InputStream(input);
    }

    /// Writes to the body of a message.
    pub(crate) fn write_body(&mut self, rep: u32, body: BodyId, bytes: &[u8]) -> Attempt<()> {
        let failure = match self.world().http.bodies.write(body, bytes) {
            Ok(()) => return Ok(CallProgress::Done(Ok(()))),
            Err(BodyWriteError::Closed) => StreamOpFailure::Closed,
            Err(BodyWriteError::Failed(error)) => StreamOpFailure::Http(error),
        };
        let stream = self.node_mut().table.get_mut(rep).expect("it was just used");
        *stream = Handle::OutputStream(Output::Http { body, closed: true });
        Ok(CallProgress::Done(Err(failure)))
    }

    /// The stream of a body is dropped.
    pub(crate) fn release_body(&mut self, stream: &Handle) {
        let (body, side) = match stream {
            Handle::InputStream(Input::Http { body, .. }) => (*body, BodySide::Reader),
            Handle::OutputStream(Output::Http { body, .. }) => (*body, BodySide::Writer),
            _ => return,
        };
        self.world().http.bodies.drop_stream(body, side);
    }
}
