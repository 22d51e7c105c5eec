//! Exchanges from `handle` to the reply: rules, faults, timeouts, handlers, the real computer.

use super::*;
use crate::decide::tests::SeededDecider;
use crate::http::body::BodyRead;
use crate::http::exchange::EXCHANGES_MAX;
use fozzy_trace::plan::{Backends, FaultPlan, HttpRule, Inputs, LivePolicy, MachinePlan};
use fozzy_trace::source::SeededSource;
use fozzy_trace::{Plan, Seed};

const ME: NodeId = NodeId(0);
const MS: u64 = 1_000_000;

/// As the host does it: faults and chance stand beside the world.
fn at_moment<R>(world: &mut World, body: impl FnOnce(&mut World, &mut OpContext<'_>) -> R) -> R {
    let mut faults = std::mem::take(&mut world.faults);
    let mut decider = SeededDecider(SeededSource::new(Seed(7)));
    let mut context = OpContext { now: world.clock.now(), node: ME, faults: &mut faults, decider: &mut decider };
    let result = body(world, &mut context);
    world.faults = faults;
    result
}

type HandlerResult = Result<(ExchangeId, Option<LiveRequest>), HttpErrorCode>;

fn handle(world: &mut World, request: OutgoingRequest, options: RequestOptions) -> HandlerResult {
    at_moment(world, |world, context| world.http_handle(request, options, context))
}

fn finish(world: &mut World, body: BodyId) -> (Result<(), HttpErrorCode>, Option<LiveRequest>) {
    at_moment(world, |world, context| world.http_finish(body, None, context))
}

fn observed(world: &mut World, id: ExchangeId, answer: Result<&HttpBackendResponse, HttpFailure>) {
    let answer = answer.map(|answer| (answer, Arc::from(*b"abc")));
    at_moment(world, |world, context| world.http_observed(id, answer, None, context));
}

fn world(plan: Plan, inputs: &Inputs) -> World {
    World::new(Arc::new(plan), inputs).expect("a plain plan")
}

fn rule(answer: HttpReply) -> HttpRule {
    let (url, delay) = ("/*".to_owned(), Duration::from_millis(3));
    HttpRule { method: None, url, headers: Vec::new(), times: None, delay, answer, others: None }
}

fn text(body: &str, reset_after: Option<u64>) -> HttpReply {
    HttpReply::Response {
        status: 201,
        headers: vec![("x".into(), "y".into())],
        body: Digest::of(body.as_bytes()),
        reset_after,
    }
}

fn inputs(body: &str) -> Inputs {
    let mut inputs = Inputs::default();
    inputs.add(body.as_bytes().to_vec());
    inputs
}

fn request() -> OutgoingRequest {
    let (authority, path_with_query) = (Some("a.test".to_owned()), Some("/p".to_owned()));
    OutgoingRequest { authority, path_with_query, ..OutgoingRequest::new(HeaderFields::default()) }
}

fn send(world: &mut World, options: RequestOptions) -> ExchangeId {
    let (exchange, live) = handle(world, request(), options).expect("it can be sent");
    assert!(live.is_none());
    exchange
}

/// What arrives, and when.
fn reply(world: &mut World, id: ExchangeId) -> (u64, Result<IncomingResponse, HttpErrorCode>) {
    let arrived = world.http.exchanges.arrived(id);
    world.block(&[crate::Wait::Signal(arrived)]).expect("a deadline");
    let World { http, clock, signals, .. } = world;
    let reply = http.exchanges.take(id, clock.now(), &mut http.bodies, signals).expect("it has arrived").expect("once");
    assert!(matches!(http.exchanges.take(id, clock.now(), &mut http.bodies, signals), Some(Err(()))), "taken once");
    (clock.now().0, reply)
}

/// All of a response's body, and how it ended.
fn body(world: &mut World, response: &IncomingResponse) -> (String, Result<(), HttpErrorCode>) {
    let id = response.body.expect("not consumed");
    let readable = world.http.bodies.readable(id);
    world.block(&[crate::Wait::Signal(readable)]).expect("a deadline");
    let (bodies, mut seen) = (&world.http.bodies, Vec::new());
    loop {
        match bodies.read(id, seen.len() as u64, 2, world.clock.now(), &world.signals) {
            BodyRead::Bytes(bytes) => seen.extend_from_slice(bytes),
            BodyRead::End => return (String::from_utf8(seen).expect("text"), Ok(())),
            BodyRead::Failed(error) => return (String::from_utf8(seen).expect("text"), Err(error)),
            BodyRead::Nothing => panic!("it was waited for"),
        }
    }
}

#[test]
fn a_rule_answers_after_its_delay() {
    let plan = Plan { http: vec![rule(text("hello", None))], ..Plan::default() };
    let mut world = world(plan, &inputs("hello"));
    let id = send(&mut world, RequestOptions::default());
    let World { http, clock, signals, .. } = &mut world;
    assert!(http.exchanges.take(id, clock.now(), &mut http.bodies, signals).is_none());
    let (at, response) = reply(&mut world, id);
    let response = response.expect("a response");
    assert_eq!((at, response.status, response.headers.has("X")), (3 * MS, 201, true));
    assert_eq!(body(&mut world, &response), ("hello".to_owned(), Ok(())));
    world.http.bodies.let_go(response.body.expect("not consumed"), BodySide::Reader);
    let World { http, .. } = &mut world;
    http.exchanges.drop_future(id, &mut http.bodies);
    assert!(http.exchanges.is_empty() && http.bodies.is_empty());
}

#[test]
fn failures_have_their_codes_and_moments() {
    let failed = |answer, options| {
        let mut world = world(Plan { http: vec![rule(answer)], ..Plan::default() }, &inputs("hello"));
        let id = send(&mut world, options);
        let (at, response) = reply(&mut world, id);
        (at, response.expect_err("a failure"))
    };
    let failure = HttpReply::Failure;
    let plain = RequestOptions::default();
    assert_eq!(failed(failure(HttpFailure::Dns), plain), (3 * MS, HttpErrorCode::unknown_host()));
    assert_eq!(failed(failure(HttpFailure::Refused), plain), (3 * MS, HttpErrorCode::ConnectionRefused));
    assert_eq!(failed(failure(HttpFailure::Reset), plain), (3 * MS, HttpErrorCode::ConnectionTerminated));
    assert_eq!(failed(failure(HttpFailure::Timeout), plain), (600_000 * MS, HttpErrorCode::ConnectionTimeout));
    let head = |ns| RequestOptions { first_byte_timeout: Some(Duration(ns)), ..plain };
    assert_eq!(failed(failure(HttpFailure::Timeout), head(MS)), (MS, HttpErrorCode::ConnectionReadTimeout));
    assert_eq!(failed(text("hello", None), head(MS)), (MS, HttpErrorCode::ConnectionReadTimeout));
    let connect = RequestOptions { connect_timeout: Some(Duration(MS)), ..plain };
    assert_eq!(failed(failure(HttpFailure::Timeout), connect), (MS, HttpErrorCode::ConnectionTimeout));
}

#[test]
fn a_connection_that_breaks_gives_the_beginning_of_the_body() {
    let mut world = world(Plan { http: vec![rule(text("hello", Some(3)))], ..Plan::default() }, &inputs("hello"));
    let id = send(&mut world, RequestOptions::default());
    let response = reply(&mut world, id).1.expect("a head");
    assert_eq!(body(&mut world, &response), ("hel".to_owned(), Err(HttpErrorCode::HttpResponseIncomplete)));
}

#[test]
fn an_unmatched_request_is_remembered() {
    let mut world = world(Plan::default(), &Inputs::default());
    let id = send(&mut world, RequestOptions::default());
    assert_eq!(reply(&mut world, id).1.expect_err("nobody answers"), HttpErrorCode::DestinationNotFound);
    assert_eq!(world.unmatched.kept()[0].asked, "GET https://a.test/p");
}

#[test]
fn every_fault_strikes_and_the_rule_is_not_used() {
    let injected = |kind: &str, strength| {
        let fault = FaultPlan {
            kind: kind.to_owned(),
            target: "https://a.test/*".to_owned(),
            rate_ppm: 1_000_000,
            start: Duration::default(),
            length: None,
            strength,
            times: Some(1),
            nemesis: None,
        };
        let http = vec![HttpRule { times: Some(1), ..rule(text("hello", None)) }];
        let mut world = world(Plan { http, faults: vec![fault], ..Plan::default() }, &inputs("hello"));
        let id = send(&mut world, RequestOptions::default());
        let (at, response) = reply(&mut world, id);
        let id = send(&mut world, RequestOptions::default());
        let used = reply(&mut world, id).1.is_err();
        let shown = response.map(|response| (response.status, body(&mut world, &response)));
        (at, shown, used)
    };
    let whole = |text: &str| (text.to_owned(), Ok(()));
    assert_eq!(injected("http-dns", None), (0, Err(HttpErrorCode::unknown_host()), false));
    assert_eq!(injected("http-refused", None), (0, Err(HttpErrorCode::ConnectionRefused), false));
    assert_eq!(injected("http-timeout", None), (600_000 * MS, Err(HttpErrorCode::ConnectionTimeout), false));
    assert_eq!(injected("http-status", None), (0, Ok((503, whole(""))), false));
    assert_eq!(injected("http-status", Some(429)), (0, Ok((429, whole(""))), false));
    assert_eq!(injected("http-latency", Some(2 * MS)), (5 * MS, Ok((201, whole("hello"))), true));
    let cut = ("he".to_owned(), Err(HttpErrorCode::HttpResponseIncomplete));
    assert_eq!(injected("http-reset", Some(2)), (3 * MS, Ok((201, cut)), true));
}

#[test]
fn a_request_is_sent_when_its_body_is_finished() {
    let mut world = world(Plan { http: vec![rule(text("", None))], ..Plan::default() }, &Inputs::default());
    let open = |world: &mut World| {
        let World { http, signals, .. } = world;
        http.bodies.open(MessageKind::Request, ME, Some(2), signals)
    };
    let with = |body| OutgoingRequest { body: Some(body), ..request() };
    // Finished before, after, wrongly, and never.
    for (before, bytes, drops) in [(true, "ab", false), (false, "ab", false), (false, "a", false), (false, "", true)] {
        let upload = open(&mut world);
        world.http.bodies.write(upload, bytes.as_bytes()).expect("it is read");
        let start = world.clock.now().0;
        let end = |world: &mut World| match drops {
            true => world.http_abort(upload),
            false => assert_eq!(finish(world, upload).0.is_ok(), bytes.len() == 2),
        };
        if before {
            end(&mut world);
        }
        let sent = handle(&mut world, with(upload), RequestOptions::default());
        let (id, _) = sent.expect("it can be sent");
        if !before {
            end(&mut world);
        }
        let (at, response) = reply(&mut world, id);
        match bytes.len() {
            2 => assert_eq!((at - start, response.expect("a response").status), (3 * MS, 201)),
            _ => assert_eq!((at - start, response.expect_err("cut")), (0, HttpErrorCode::HttpProtocolError)),
        }
        assert_eq!(world.http.bodies.held_bytes(), 0);
    }
    // A future that is dropped before: the body has no reader.
    let upload = open(&mut world);
    let sent = handle(&mut world, with(upload), RequestOptions::default());
    let (id, _) = sent.expect("it can be sent");
    let World { http, .. } = &mut world;
    http.exchanges.drop_future(id, &mut http.bodies);
    assert_eq!(http.bodies.write(upload, b"ab"), Err(crate::http::body::BodyWriteError::Closed));
    assert!(finish(&mut world, upload).1.is_none());
}

#[test]
fn a_component_handles_a_request_on_a_machine_of_its_own() {
    let component = Digest::of(b"component");
    let program = ProgramPlan { component, machine: MachinePlan::default() };
    let plan = Plan { http: vec![rule(HttpReply::Component(program))], ..Plan::default() };
    let mut inputs = Inputs::default();
    inputs.add(b"component".to_vec());
    let mut world = world(plan, &inputs);
    let launched = |world: &World| {
        let launch = *world.launches.last().expect("a machine");
        let GuestEntry::Handle { request, outparam } = launch.entry else { panic!("{launch:?}") };
        assert_eq!(launch.component, Some(component));
        (launch.node, request, outparam)
    };
    let outparam_of = |world: &mut World, node, rep| match world.http_take(node, rep) {
        Ok(HttpHandle::ResponseOutparam(id)) => id,
        other => panic!("{other:?}"),
    };
    // It answers, and finishes its body later; both arrive after the rule's delay.
    let id = send(&mut world, RequestOptions::default());
    let (node, incoming, outparam) = launched(&world);
    let Ok(HttpHandle::IncomingRequest(incoming)) = world.http_get(node, incoming) else { panic!("no request") };
    assert_eq!(incoming.request.url(), "https://a.test/p");
    assert_eq!(outparam_of(&mut world, node, outparam), id);
    let mut response = OutgoingResponse::new(HeaderFields::default());
    assert!(response.set_status(404));
    let written = {
        let World { http, signals, .. } = &mut world;
        http.bodies.open(MessageKind::Response, node, None, signals)
    };
    response.body = Some(written);
    world.http_respond(id, Ok(response));
    let (at, response) = reply(&mut world, id);
    let response = response.expect("a response");
    assert_eq!((at, response.status), (3 * MS, 404));
    world.http.bodies.write(written, b"gone").expect("it is read");
    assert!(finish(&mut world, written).0.is_ok());
    assert_eq!(body(&mut world, &response), ("gone".to_owned(), Ok(())));
    assert_eq!(world.clock.now().0, 6 * MS);
    // It ends without an answer, by dropping or by ending.
    let id = send(&mut world, RequestOptions::default());
    let (node, ..) = launched(&world);
    world.http_guest_ended(node);
    assert_eq!(reply(&mut world, id).1.expect_err("no answer"), HttpErrorCode::ConnectionTerminated);
    // It answers, and ends before its body does.
    let id = send(&mut world, RequestOptions::default());
    let (node, _, outparam) = launched(&world);
    outparam_of(&mut world, node, outparam);
    let written = {
        let World { http, signals, .. } = &mut world;
        http.bodies.open(MessageKind::Response, node, None, signals)
    };
    world.http.bodies.write(written, b"half").expect("it is read");
    let mut response = OutgoingResponse::new(HeaderFields::default());
    response.body = Some(written);
    world.http_respond(id, Ok(response));
    world.http_guest_ended(node);
    let response = reply(&mut world, id).1.expect("a head");
    assert_eq!(body(&mut world, &response), ("half".to_owned(), Err(HttpErrorCode::HttpResponseIncomplete)));
    // It says itself what went wrong.
    let id = send(&mut world, RequestOptions::default());
    let (node, _, outparam) = launched(&world);
    outparam_of(&mut world, node, outparam);
    world.http_respond(id, Err(HttpErrorCode::LoopDetected));
    assert_eq!(reply(&mut world, id).1.expect_err("its own word"), HttpErrorCode::LoopDetected);
}

#[test]
fn the_real_computer_is_asked_when_no_rule_answers_and_its_answer_takes_virtual_time() {
    let mut scripted = rule(text("hello", None));
    scripted.url = "/scripted".to_owned();
    let backends = Backends { http: Backend::Host, ..Backends::default() };
    let mut world = world(Plan { http: vec![scripted], backends, ..Plan::default() }, &inputs("hello"));
    let ask = |world: &mut World, first_byte: Option<u64>| {
        let options = RequestOptions { first_byte_timeout: first_byte.map(Duration), ..RequestOptions::default() };
        let (id, live) = handle(world, request(), options).expect("it can be sent");
        let live = live.expect("a question to the real computer");
        assert_eq!((id, live.ask.url.as_str(), live.ask.method.as_str()), (live.exchange, "https://a.test/p", "GET"));
        assert_eq!(live.ask.timeout, first_byte.map(Duration));
        id
    };
    let answer = |cut| HttpBackendResponse {
        status: 200,
        headers: vec![("host".into(), b"x".to_vec())],
        body: Digest::of(b"abc"),
        cut,
    };
    let id = ask(&mut world, None);
    observed(&mut world, id, Ok(&answer(false)));
    let (at, response) = reply(&mut world, id);
    let response = response.expect("a response");
    assert!((2 * MS..70 * MS).contains(&at), "{at}");
    assert_eq!(response.headers.entries(), []);
    assert_eq!(body(&mut world, &response), ("abc".to_owned(), Ok(())));
    // The same draw, so the same moment.
    let again = {
        let start = world.clock.now().0;
        let id = ask(&mut world, None);
        observed(&mut world, id, Ok(&answer(true)));
        let (at, response) = reply(&mut world, id);
        let response = response.expect("a response");
        assert_eq!(body(&mut world, &response), ("abc".to_owned(), Err(HttpErrorCode::HttpResponseIncomplete)));
        at - start
    };
    assert_eq!(again, at);
    // What came in time in reality comes in time here.
    let start = world.clock.now().0;
    let id = ask(&mut world, Some(MS));
    observed(&mut world, id, Ok(&answer(false)));
    let (at, response) = reply(&mut world, id);
    assert_eq!((at - start, response.is_ok()), (MS, true));
    let id = ask(&mut world, None);
    observed(&mut world, id, Err(HttpFailure::Refused));
    assert_eq!(reply(&mut world, id).1.expect_err("refused"), HttpErrorCode::ConnectionRefused);
}

#[test]
fn what_was_measured_is_what_it_takes() {
    let backends = Backends { http: Backend::Host, ..Backends::default() };
    let mut world = world(Plan { backends, ..Plan::default() }, &Inputs::default());
    let (body_digest, cut) = (Digest::of(b"abc"), false);
    let answer = HttpBackendResponse { status: 200, headers: Vec::new(), body: body_digest, cut };
    let mut exchange = |first: u64, whole: u64, options: RequestOptions| {
        let start = world.clock.now().0;
        let (id, live) = handle(&mut world, request(), options).expect("it can be sent");
        assert!(live.is_some());
        let took = Some(AnswerTime { first: Duration(first * MS), whole: Duration(whole * MS) });
        at_moment(&mut world, |world, context| {
            world.http_observed(id, Ok((&answer, Arc::from(*b"abc"))), took, context);
        });
        let (head, response) = reply(&mut world, id);
        let response = response.expect("a response");
        assert_eq!(body(&mut world, &response), ("abc".to_owned(), Ok(())));
        ((head - start) / MS, (world.clock.now().0 - start) / MS)
    };
    let patient = RequestOptions::default();
    assert_eq!(exchange(3_000, 5_000, patient), (3_000, 5_000), "the head, then the body");
    assert_eq!(exchange(20, 20, patient), (20, 20));
    let hasty = RequestOptions { between_bytes_timeout: Some(Duration(100 * MS)), ..patient };
    assert_eq!(exchange(10, 900, hasty), (10, 110), "it came in pieces, each in time");
}

#[test]
fn hosts_that_may_not_be_asked_are_refused_and_found() {
    let backends = Backends { http: Backend::Host, ..Backends::default() };
    let live = LivePolicy { hosts: Some(vec!["b.test".to_owned()]), ..LivePolicy::default() };
    let mut world = world(Plan { backends, live, ..Plan::default() }, &Inputs::default());
    let (id, live) = handle(&mut world, request(), RequestOptions::default()).expect("it can be sent");
    assert!(live.is_none(), "the real computer is not asked");
    assert_eq!(reply(&mut world, id).1.expect_err("refused"), HttpErrorCode::HttpRequestDenied);
    let [found] = world.unmatched.kept() else { panic!("one finding") };
    assert_eq!(
        (found.asked.as_str(), found.allowed_by.as_deref()),
        ("GET https://a.test/p", Some("--allow-host a.test"))
    );
}

#[test]
fn open_exchanges_are_bounded() {
    let mut world = world(Plan { http: vec![rule(text("", None))], ..Plan::default() }, &Inputs::default());
    let open: Vec<_> = (0..EXCHANGES_MAX).map(|_| send(&mut world, RequestOptions::default())).collect();
    let refused = handle(&mut world, request(), RequestOptions::default());
    assert_eq!(refused.expect_err("full"), HttpErrorCode::ConnectionLimitReached);
    let World { http, .. } = &mut world;
    open.into_iter().for_each(|id| http.exchanges.drop_future(id, &mut http.bodies));
    assert!(http.exchanges.is_empty() && http.bodies.is_empty());
    send(&mut world, RequestOptions::default());
}

#[test]
fn the_fields_of_all_handles_are_bounded() {
    use crate::http::fields::FIELDS_BYTES_MAX;
    use crate::http::handle::{FIELDS_HELD_BYTES_MAX, HandleError};
    let mut world = world(Plan::default(), &Inputs::default());
    let large = HeaderFields::from_list([("a".to_owned(), vec![b'x'; FIELDS_BYTES_MAX - 100])]).expect("room");
    let room = FIELDS_HELD_BYTES_MAX / large.bytes();
    let reps: Vec<u32> =
        (0..room).map(|_| world.http_open(ME, HttpHandle::Fields(large.clone())).expect("room")).collect();
    let refused = world.http_open(ME, HttpHandle::Fields(large.clone()));
    assert_eq!(refused, Err(HandleError::FieldsTooLarge));
    reps.iter().for_each(|rep| world.http_drop(ME, *rep).expect("open"));
    assert_eq!(world.http.field_bytes, 0);
    let rep = world.http_open(ME, HttpHandle::Fields(HeaderFields::default())).expect("room");
    world.http_change(ME, rep, |fields| fields.append("a", b"b".to_vec())).expect("room").expect("valid");
    assert_eq!(
        world.http_change(ME, rep, |fields| fields.append("a b", Vec::new())),
        Ok(Err(crate::http::FieldsError::InvalidSyntax))
    );
    world.http_drop(ME, rep).expect("open");
    assert_eq!(world.http.field_bytes, 0);
    assert!(matches!(world.http_get(ME, rep), Err(HandleError::Table(crate::TableError::WrongHandle))));
}
