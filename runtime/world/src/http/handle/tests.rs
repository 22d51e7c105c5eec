//! A guest that does anything in any order: nothing panics, and nothing is left when its handles are gone.

use super::*;
use crate::OpContext;
use crate::decide::tests::SeededDecider;
use crate::http::body::MessageKind;
use crate::table::{StreamSink, StreamSource};
use fozzy_trace::plan::{HttpFailure, HttpReply, HttpRule, Inputs, MachinePlan, ProgramPlan};
use fozzy_trace::source::SeededSource;
use fozzy_trace::{DecisionSource, Digest, Duration, NodeId, Plan, Purpose, Question, Seed};
use std::sync::Arc;

const ME: NodeId = NodeId(0);

/// Rules of every kind, each for some of the paths.
fn plan(inputs: &mut Inputs) -> Plan {
    let component = inputs.add(b"component".to_vec());
    let body = inputs.add(b"hello".to_vec());
    let response = |reset_after| HttpReply::Response { status: 200, headers: Vec::new(), body, reset_after };
    let answers = [
        response(None),
        response(Some(2)),
        HttpReply::Failure(HttpFailure::Timeout),
        HttpReply::Component(ProgramPlan { component, machine: MachinePlan::default() }),
    ];
    let rules = answers.into_iter().enumerate().map(|(path, answer)| HttpRule {
        method: None,
        url: format!("/{path}"),
        headers: Vec::new(),
        times: None,
        delay: Duration(path as u64),
        answer,
        others: None,
    });
    assert_eq!(component, Digest::of(b"component"));
    Plan { http: rules.collect(), ..Plan::default() }
}

struct Guest {
    world: World,
    dice: SeededSource,
}

impl Guest {
    fn below(&mut self, bound: u64) -> u64 {
        self.dice.below(Question { node: ME, purpose: Purpose::Random, site: "guest" }, bound).0
    }

    /// The machine that acts: the guest's own, or one that was started for a request.
    fn machine(&mut self) -> NodeId {
        let machines = self.world.nodes.len() as u64;
        NodeId(self.below(machines.min(3)) as u32)
    }

    fn at_moment<R>(&mut self, node: NodeId, body: impl FnOnce(&mut World, &mut OpContext<'_>) -> R) -> R {
        let mut faults = std::mem::take(&mut self.world.faults);
        let mut decider = SeededDecider(SeededSource::new(Seed(7)));
        let mut context = OpContext { now: self.world.clock.now(), node, faults: &mut faults, decider: &mut decider };
        let result = body(&mut self.world, &mut context);
        self.world.faults = faults;
        result
    }

    /// One call, with a handle that may be any, as the host would perform it.
    fn act(&mut self) -> Result<(), HandleError> {
        let node = self.machine();
        let rep = self.below(12) as u32;
        let room = self.world.nodes.len() < 200;
        match self.below(14) {
            0 => drop(self.world.http_open(node, HttpHandle::Fields(HeaderFields::default()))?),
            1 => {
                let value = vec![b'x'; self.below(300) as usize];
                let _ = self.world.http_change(node, rep, |fields| fields.append("a", value))?;
            }
            2 => {
                let HttpHandle::Fields(_) = self.world.http_get(node, rep)? else { return Ok(()) };
                let HttpHandle::Fields(headers) = self.world.http_take(node, rep)? else { unreachable!() };
                let path = self.below(if room { 5 } else { 3 });
                let (authority, path_with_query) = (Some("a".to_owned()), Some(format!("/{path}")));
                let request = OutgoingRequest { authority, path_with_query, ..OutgoingRequest::new(headers) };
                self.world.http_open(node, HttpHandle::OutgoingRequest(request))?;
            }
            3 => {
                let World { http, signals, .. } = &mut self.world;
                let body = http.bodies.open(MessageKind::Request, node, None, signals);
                match self.world.http_get(node, rep) {
                    Ok(HttpHandle::OutgoingRequest(OutgoingRequest { body: place @ None, .. })) => *place = Some(body),
                    Ok(HttpHandle::OutgoingResponse(OutgoingResponse { body: place @ None, .. })) => {
                        *place = Some(body);
                    }
                    _ => {
                        self.world.http.bodies.let_go(body, BodySide::Reader);
                        self.world.http.bodies.let_go(body, BodySide::Writer);
                        return Ok(());
                    }
                }
                self.world.http_open(node, HttpHandle::OutgoingBody(body))?;
            }
            4 => {
                let HttpHandle::OutgoingRequest(_) = self.world.http_get(node, rep)? else { return Ok(()) };
                let HttpHandle::OutgoingRequest(request) = self.world.http_take(node, rep)? else { unreachable!() };
                let handled = self
                    .at_moment(node, |world, context| world.http_handle(request, RequestOptions::default(), context));
                if let Ok((exchange, live)) = handled {
                    assert!(live.is_none(), "the backend is virtual");
                    self.world.http_open(node, HttpHandle::FutureIncomingResponse(exchange))?;
                }
            }
            5 => {
                let HttpHandle::OutgoingBody(body) = *self.world.http_get(node, rep)? else { return Ok(()) };
                self.world.http_take(node, rep)?;
                let (_, live) = self.at_moment(node, |world, context| world.http_finish(body, None, context));
                assert!(live.is_none(), "the backend is virtual");
            }
            6 => {
                let (handle, side) = match *self.world.http_get(node, rep)? {
                    HttpHandle::OutgoingBody(body) => {
                        (Handle::OutputStream(StreamSink::Http { body, closed: false }), (body, BodySide::Writer))
                    }
                    HttpHandle::IncomingBody(body) => (
                        Handle::InputStream(StreamSource::Http { body, offset: 0, closed: false }),
                        (body, BodySide::Reader),
                    ),
                    _ => return Ok(()),
                };
                if self.world.http.bodies.take_stream(side.0, side.1) {
                    self.world.node_mut(node).table.insert(handle)?;
                }
            }
            7 => self.use_stream(node, rep)?,
            8 => {
                let HttpHandle::FutureIncomingResponse(exchange) = *self.world.http_get(node, rep)? else {
                    return Ok(());
                };
                let World { http, signals, clock, .. } = &mut self.world;
                let taken = http.exchanges.take(exchange, clock.now(), &mut http.bodies, signals);
                if let Some(Ok(Ok(response))) = taken {
                    self.world.http_open(node, HttpHandle::IncomingResponse(response))?;
                }
            }
            9 => {
                let body = match self.world.http_get(node, rep)? {
                    HttpHandle::IncomingResponse(response) => response.body.take(),
                    HttpHandle::IncomingRequest(request) => request.body.take(),
                    _ => None,
                };
                if let Some(body) = body {
                    self.world.http_open(node, HttpHandle::IncomingBody(body))?;
                }
            }
            10 => {
                let HttpHandle::IncomingBody(body) = *self.world.http_get(node, rep)? else { return Ok(()) };
                self.world.http_take(node, rep)?;
                self.world.http_open(node, HttpHandle::FutureTrailers { body, taken: false })?;
            }
            11 => {
                let HttpHandle::ResponseOutparam(exchange) = *self.world.http_get(node, rep)? else { return Ok(()) };
                self.world.http_take(node, rep)?;
                self.world.http_respond(exchange, Ok(OutgoingResponse::new(HeaderFields::default())));
            }
            12 => self.world.http_drop(node, rep)?,
            _ => {
                let context = self.world.clock.now().after(Duration(self.below(4)));
                self.world.clock.advance_to(context);
                if node != ME && self.below(4) == 0 {
                    self.world.http_guest_ended(node);
                }
            }
        }
        Ok(())
    }

    fn use_stream(&mut self, node: NodeId, rep: u32) -> Result<(), HandleError> {
        let drops = self.below(3) == 0;
        let World { http, signals, clock, nodes, .. } = &mut self.world;
        let table = &mut nodes[node.0 as usize].as_mut().expect("nobody has ended").table;
        let (body, side) = match table.get(rep)? {
            Handle::InputStream(StreamSource::Http { body, .. }) => (*body, BodySide::Reader),
            Handle::OutputStream(StreamSink::Http { body, .. }) => (*body, BodySide::Writer),
            _ => return Ok(()),
        };
        match side {
            _ if drops => {
                table.remove(rep)?;
                http.bodies.drop_stream(body, side);
            }
            BodySide::Reader => drop(http.bodies.read(body, 1, 3, clock.now(), signals)),
            BodySide::Writer => drop(http.bodies.write(body, b"some bytes")),
        }
        Ok(())
    }
}

#[test]
fn whatever_a_guest_does_nothing_panics_and_nothing_stays() {
    let mut exchanges = 0;
    for seed in 0..300 {
        let mut inputs = Inputs::default();
        let plan = plan(&mut inputs);
        let world = World::new(Arc::new(plan), &inputs).expect("a plain plan");
        let mut guest = Guest { world, dice: SeededSource::new(Seed(seed)) };
        for _ in 0..600 {
            // Most calls are refused: that is what makes the guest hostile.
            let _ = guest.act();
        }
        exchanges +=
            (guest.world.unmatched.kept().len() as u64) + guest.world.unmatched.more() + guest.world.nodes.len() as u64
                - 1;
        for node in 0..guest.world.nodes.len() {
            guest.world.http_guest_ended(NodeId(node as u32));
        }
        let http = &guest.world.http;
        assert!(http.exchanges.is_empty() && http.bodies.is_empty(), "seed {seed}: {http:?}");
        assert_eq!((http.bodies.held_bytes(), http.field_bytes), (0, 0), "seed {seed}");
    }
    assert!(exchanges > 300, "requests get through: {exchanges}");
}
