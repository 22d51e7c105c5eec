//! What lies outside the program: HTTP, other programs, points that misbehave, snapshots of the files.
//!
//! ```text
//! GET  http://api.test/scripted      a rule answers
//! POST http://handler.test/echo      a component answers what came
//! tool …, upper …                    a script, and a component that answers in capitals
//! ```

use crate::fozzy::faults::points;
use crate::fozzy::files::snapshots;
use crate::fozzy::process::run::{self, Command, Output};
use crate::report::Report;
use crate::wasi::http::outgoing_handler::handle;
use crate::wasi::http::types::{ErrorCode, Fields, Method, OutgoingBody, OutgoingRequest, Scheme};
use crate::wasi::io::streams::StreamError;
use std::fmt::Debug;
use std::io;

/// Of each thing: so often that under faults some go well and some do not.
const TIMES: usize = 8;

fn other(error: impl Debug) -> io::Error {
    io::Error::other(format!("{error:?}"))
}

pub(crate) fn http(report: &mut Report) {
    for number in 0..TIMES {
        report.look("http.scripted", ask("api.test", &format!("/scripted?{number}"), None).map_err(other));
        let body = format!("body {number}");
        let echoed = report.look("http.handled", ask("handler.test", "/echo", Some(&body)).map_err(other));
        report.see("http.echoed", echoed.is_some_and(|(_, echoed)| echoed == body));
    }
}

/// Status and body of the answer.
fn ask(authority: &str, path: &str, body: Option<&str>) -> Result<(u16, String), ErrorCode> {
    let request = OutgoingRequest::new(Fields::new());
    request.set_scheme(Some(&Scheme::Http)).expect("a scheme");
    request.set_authority(Some(authority)).expect("an authority");
    request.set_path_with_query(Some(path)).expect("a path");
    if body.is_some() {
        request.set_method(&Method::Post).expect("a method");
    }
    let sent = request.body().expect("the first time");
    let future = handle(request, None)?;
    if let Some(bytes) = body {
        let stream = sent.write().expect("the first time");
        stream.blocking_write_and_flush(bytes.as_bytes()).map_err(|error| broken(&error))?;
    }
    OutgoingBody::finish(sent, None)?;
    future.subscribe().block();
    let response = future.get().expect("it was waited for").expect("the first time")?;
    let (status, body) = (response.status(), response.consume().expect("the first time"));
    let stream = body.stream().expect("the first time");
    let mut bytes = Vec::new();
    loop {
        match stream.blocking_read(4_096) {
            Ok(more) => bytes.extend(more),
            Err(StreamError::Closed) => return Ok((status, String::from_utf8_lossy(&bytes).into_owned())),
            Err(error) => return Err(broken(&error)),
        }
    }
}

fn broken(error: &StreamError) -> ErrorCode {
    ErrorCode::InternalError(Some(match error {
        StreamError::Closed => "closed".to_owned(),
        StreamError::LastOperationFailed(_) => "failed".to_owned(),
    }))
}

pub(crate) fn programs(report: &mut Report) {
    for number in 0..TIMES {
        let stdin = format!("line {number}\n").into_bytes();
        for (name, args) in [("tool", vec![number.to_string()]), ("child", vec!["upper".to_owned()])] {
            let (command, stdin) = (name.to_owned(), stdin.clone());
            let ran = run::run(&Command { command, args, env: Vec::new(), cwd: None, stdin, deadline: None });
            let shown =
                ran.map(|Output { status, stdout, .. }| (status, String::from_utf8_lossy(&stdout).into_owned()));
            report.look(if name == "tool" { "program.tool" } else { "program.child" }, shown.map_err(other));
        }
    }
}

pub(crate) fn misbehaving(report: &mut Report) {
    report.see("points.struck", (0..TIMES * TIMES).filter(|_| points::buggify("everything")).count());
    report.see("points.strength", points::buggify_with("everything"));
}

pub(crate) fn snapshot(report: &mut Report) {
    report.attempt("snapshot.take", snapshots::snapshot("everything").map_err(other));
    report.see("snapshot.names", snapshots::names());
    report.attempt("snapshot.forget", snapshots::forget("everything").map_err(other));
}
