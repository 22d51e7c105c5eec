//! Values that are drawn for a guest, before it is called: the arguments of a function, a request.
//!
//! ```text
//! below 5 ─▶ 3        fill 2 bytes ─▶ "hi"        asked of the run (and recorded), or of a source without a run
//! ```
//!
//! Not here: which values are drawn (`fozzy-engine`).

use crate::call::{Host, Import};
use fozzy_trace::facts::ScenarioPosition;
use fozzy_trace::{DecisionPart, DecisionSource, NodeId, Purpose, Question};
use fozzy_world::http::ReceivedRequest;
use fozzy_world::http::request::SentRequest;
use std::sync::Arc;
use wasmtime::Result;

const ARGUMENTS: Import = Import::new("fozzy:scenario/call.arguments");

/// The purpose of these decisions.
const PURPOSE: Purpose = Purpose::Choice(DecisionPart::beginning(0));

/// A source of drawn values.
pub trait DrawSource {
    /// A number below `bound`.
    fn below(&mut self, site: &str, bound: u64) -> u64;
    /// Bytes.
    fn fill(&mut self, site: &str, out: &mut [u8]);
}

/// Draws from a decision source, outside of any run.
pub struct DecisionDraws<'a>(pub &'a mut dyn DecisionSource);

fn question(site: &str) -> Question<'_> {
    Question { node: NodeId(0), purpose: PURPOSE, site }
}

impl DrawSource for DecisionDraws<'_> {
    fn below(&mut self, site: &str, bound: u64) -> u64 {
        self.0.below(question(site), bound).0
    }

    fn fill(&mut self, site: &str, out: &mut [u8]) {
        self.0.fill(question(site), out);
    }
}

struct HostDraws<'a>(&'a mut Host);

impl DrawSource for HostDraws<'_> {
    fn below(&mut self, site: &str, bound: u64) -> u64 {
        self.0.below(PURPOSE, site, bound)
    }

    fn fill(&mut self, site: &str, out: &mut [u8]) {
        self.0.draw(PURPOSE, site, out);
    }
}

impl Host {
    /// Gives the guest a request from outside.
    ///
    /// # Errors
    /// When there is no room for its fields.
    pub fn receive(&mut self, request: SentRequest, body: Arc<[u8]>) -> Result<ReceivedRequest> {
        let node = self.node;
        self.world().http_receive(node, request, body).map_err(wasmtime::Error::new)
    }

    /// Whether the guest has answered it.
    pub fn has_answered(&mut self, received: &ReceivedRequest) -> bool {
        self.world().http_answered(received.exchange).is_some()
    }

    /// Draws and records the arguments of the single call of a run. `draw` gives the values and their text. They are drawn in a
    /// part of their own, so that the guest's draws do not depend on them.
    ///
    /// # Errors
    /// When the guest's budget is used up.
    pub fn only_arguments<R>(
        &mut self,
        function: &str,
        draw: impl FnOnce(&mut dyn DrawSource) -> (R, String),
    ) -> Result<R> {
        self.at(ScenarioPosition { sequence: Some(0), step: None, flow: Some(0) });
        let mut drawn = None;
        self.call(ARGUMENTS, function, |host| {
            let (values, text) = draw(&mut HostDraws(host));
            drawn = Some(values);
            Ok(text)
        })?;
        Ok(drawn.expect("the call was answered"))
    }
}
