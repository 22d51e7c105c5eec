//! `wasi:http/outgoing-handler`, and what comes back: from a server on one side, from rules that say the same on the other.
//!
//! The server's routes stand in `tests/conformance/http.rs`.

use crate::cases;
use crate::http_fields::{fields, sorted};
use crate::show::Bytes;
use wasip2::http::outgoing_handler::handle;
use wasip2::http::types::{
    ErrorCode, FutureIncomingResponse, FutureTrailers, IncomingBody, IncomingResponse, Method, OutgoingBody,
    OutgoingRequest, RequestOptions, Scheme,
};
use wasip2::io::streams::StreamError;

/// A request to the server.
pub fn to(path: &str) -> OutgoingRequest {
    with(path, &[])
}

/// A request with headers.
pub fn with(path: &str, headers: &[(&str, &str)]) -> OutgoingRequest {
    let request = OutgoingRequest::new(fields(headers));
    request.set_scheme(Some(&Scheme::Http)).unwrap();
    request.set_authority(Some("server.test")).unwrap();
    request.set_path_with_query(Some(path)).unwrap();
    request
}

/// Waits for the response.
pub fn wait(future: &FutureIncomingResponse) -> Result<IncomingResponse, ErrorCode> {
    future.subscribe().block();
    future.get().expect("it was waited for").expect("the first time")
}

/// Sends and waits.
pub fn answer(request: OutgoingRequest) -> Result<IncomingResponse, ErrorCode> {
    wait(&handle(request, None)?)
}

fn hasty(request: OutgoingRequest) -> Result<IncomingResponse, ErrorCode> {
    let options = RequestOptions::new();
    options.set_first_byte_timeout(Some(30_000_000)).unwrap();
    wait(&handle(request, Some(options))?)
}

/// All bytes of a body, and how it ends.
pub fn all(body: &IncomingBody) -> (Bytes, Result<Vec<u8>, StreamError>) {
    let stream = body.stream().expect("the first time");
    let mut bytes = Vec::new();
    loop {
        match stream.blocking_read(4_096) {
            Ok(more) => bytes.extend(more),
            end => return (Bytes(bytes), end),
        }
    }
}

/// Status and body.
pub fn whole(response: Result<IncomingResponse, ErrorCode>) -> Result<(u32, Bytes), ErrorCode> {
    let response = response?;
    Ok((u32::from(response.status()), all(&response.consume().expect("the first time")).0))
}

fn posted(path: &str, headers: &[(&str, &str)], chunks: &[&[u8]]) -> Result<(u32, Bytes), ErrorCode> {
    let request = with(path, headers);
    request.set_method(&Method::Post).unwrap();
    let body = request.body().unwrap();
    let future = handle(request, None)?;
    let stream = body.write().unwrap();
    chunks.iter().for_each(|chunk| stream.blocking_write_and_flush(chunk).unwrap());
    drop(stream);
    OutgoingBody::finish(body, None)?;
    whole(wait(&future))
}

fn trailers(future: &FutureTrailers) -> Result<Option<bool>, ErrorCode> {
    future.subscribe().block();
    future.get().expect("it was waited for").expect("the first time").map(|fields| fields.map(|_| true))
}

cases! {
    Together "http/outgoing-handler.handle" "a response" |_d| whole(answer(to("/plain")));
    Together "http/outgoing-handler.handle" "path and query" |_d| whole(answer(to("/query?a=b")));
    Together "http/outgoing-handler.handle" "another method" |_d| {
        let request = to("/method");
        request.set_method(&Method::Other("BREW".to_owned())).unwrap();
        whole(answer(request))
    };
    Together "http/outgoing-handler.handle" "with a header" |_d| whole(answer(with("/header", &[("x-key", "v")])));
    Together "http/outgoing-handler.handle" "a status of its own" |_d| whole(answer(to("/gone")));
    Together "http/outgoing-handler.handle" "no body" |_d| whole(answer(to("/empty")));
    Together "http/outgoing-handler.handle" "a large body" |_d| whole(answer(to("/large")));
    Together "http/outgoing-handler.handle" "a body is sent" |_d| posted("/upload", &[], &[b"ab", b"c"]);
    Together "http/outgoing-handler.handle" "a body of a length is sent" |_d| posted("/upload", &[("content-length", "3")], &[b"abc"]);
    Together "http/outgoing-handler.handle" "a body is too short" |_d| posted("/upload", &[("content-length", "4")], &[b"abc"]);
    Together "http/outgoing-handler.handle" "a body was finished before" |_d| {
        let request = to("/upload");
        request.set_method(&Method::Post).unwrap();
        let finished = OutgoingBody::finish(request.body().unwrap(), None);
        (finished, whole(answer(request)))
    };
    Together "http/outgoing-handler.handle" "a length and no body" |_d| whole(answer(with("/upload", &[("content-length", "3")])));
    Together "http/outgoing-handler.handle" "a body that is dropped" |_d| {
        let request = to("/upload");
        request.set_method(&Method::Post).unwrap();
        let body = request.body().unwrap();
        let future = handle(request, None).unwrap();
        drop(body);
        whole(wait(&future))
    };
    Together "http/outgoing-handler.handle" "nobody listens" |_d| {
        let request = to("/refused");
        request.set_authority(Some("refused.test")).unwrap();
        whole(answer(request))
    };
    Together "http/outgoing-handler.handle" "no answer in time" |_d| whole(hasty(to("/silent")));
    Together "http/outgoing-handler.handle" "the connection breaks before the response" |_d| whole(answer(to("/reset")));
    Together "http/outgoing-handler.handle" "no authority" |_d| {
        let request = to("/plain");
        request.set_authority(None).unwrap();
        whole(answer(request))
    };
    Together "http/outgoing-handler.handle" "no path" |_d| {
        let request = to("/plain");
        request.set_path_with_query(None).unwrap();
        whole(answer(request))
    };
    Together "http/outgoing-handler.handle" "another scheme" |_d| {
        let request = to("/plain");
        request.set_scheme(Some(&Scheme::Other("ftp".to_owned()))).unwrap();
        whole(answer(request))
    };
    Together "http/types.future-incoming-response.subscribe" "is ready at last" |_d| {
        let future = handle(to("/plain"), None).unwrap();
        future.subscribe().block();
        [future.subscribe().ready(), future.get().is_some(), future.subscribe().ready()]
    };
    Together "http/types.future-incoming-response.get" "once" |_d| {
        let future = handle(to("/plain"), None).unwrap();
        future.subscribe().block();
        let show = |got: Option<Result<Result<IncomingResponse, ErrorCode>, ()>>| {
            got.map(|got| got.map(|response| response.map(|response| u32::from(response.status()))))
        };
        [show(future.get()), show(future.get()), show(future.get())]
    };
    Together "http/types.incoming-response.status" "of a response" |_d| {
        answer(to("/gone")).map(|response| u32::from(response.status()))
    };
    Together "http/types.incoming-response.headers" "as the server sent them" |_d| {
        answer(to("/plain")).map(|response| sorted(&response.headers()))
    };
    Together "http/types.incoming-response.headers" "cannot be changed" |_d| {
        answer(to("/plain")).map(|response| response.headers().append("a", b"b"))
    };
    Together "http/types.incoming-response.consume" "once" |_d| {
        answer(to("/plain")).map(|response| {
            let first = response.consume();
            (first.is_ok(), response.consume().is_ok())
        })
    };
    Together "http/types.incoming-body.stream" "once" |_d| {
        answer(to("/plain")).map(|response| {
            let body = response.consume().unwrap();
            let first = body.stream();
            (first.is_ok(), body.stream().is_ok())
        })
    };
    Together "http/types.incoming-body.stream" "closed at its end, for ever" |_d| {
        answer(to("/plain")).map(|response| {
            let body = response.consume().unwrap();
            let stream = body.stream().unwrap();
            let bytes = stream.blocking_read(100).map(Bytes);
            let end = [stream.blocking_read(1).map(Bytes), stream.blocking_read(1).map(Bytes), stream.read(1).map(Bytes)];
            (bytes, end, stream.subscribe().ready())
        })
    };
    Together "http/types.incoming-body.stream" "skipped and read" |_d| {
        answer(to("/plain")).map(|response| {
            let body = response.consume().unwrap();
            let stream = body.stream().unwrap();
            (stream.blocking_skip(2), stream.blocking_read(2).map(Bytes))
        })
    };
    Together "http/types.incoming-body.stream" "after the response is gone" |_d| {
        answer(to("/plain")).map(|response| {
            let body = response.consume().unwrap();
            drop(response);
            all(&body).0
        })
    };
    Together "http/types.incoming-body.stream" "the connection breaks in the body" |_d| {
        answer(to("/cut")).map(|response| {
            let body = response.consume().unwrap();
            let (bytes, end) = all(&body);
            (bytes, end.map(Bytes))
        })
    };
    Together "http/types.incoming-body.finish" "unread" |_d| {
        answer(to("/plain")).map(|response| trailers(&IncomingBody::finish(response.consume().unwrap())))
    };
    Together "http/types.incoming-body.finish" "after all was read" |_d| {
        answer(to("/plain")).map(|response| {
            let body = response.consume().unwrap();
            (all(&body).0, trailers(&IncomingBody::finish(body)))
        })
    };
    Alone "http/types.incoming-body.finish" "while its stream is open" |_d| {
        answer(to("/plain")).map(|response| {
            let body = response.consume().unwrap();
            let stream = body.stream().unwrap();
            let future = IncomingBody::finish(body);
            (stream.blocking_read(1).map(Bytes), trailers(&future))
        })
    };
    Together "http/types.future-trailers.subscribe" "is ready at last" |_d| {
        answer(to("/plain")).map(|response| {
            let future = IncomingBody::finish(response.consume().unwrap());
            future.subscribe().block();
            future.subscribe().ready()
        })
    };
    Together "http/types.future-trailers.get" "once" |_d| {
        answer(to("/plain")).map(|response| {
            let future = IncomingBody::finish(response.consume().unwrap());
            future.subscribe().block();
            [(); 2].map(|()| future.get().map(|got| got.map(|trailers| trailers.map(|fields| fields.map(|_| true)))))
        })
    };
}
