//! `wasi:http/types`: requests, their options and responses, as long as nothing is sent.

use crate::cases;
use crate::http_fields::{fields, sorted};
use crate::place::pour;
use wasip2::http::types::{
    Fields, Method, OutgoingBody, OutgoingRequest, OutgoingResponse, RequestOptions, Scheme, http_error_code,
};
use wasip2::io::streams::StreamError;

pub fn request() -> OutgoingRequest {
    OutgoingRequest::new(Fields::new())
}

fn response() -> OutgoingResponse {
    OutgoingResponse::new(Fields::new())
}

/// What a write of so many bytes to a body that promised `promised` says, and then its end.
fn written(promised: &str, bytes: usize) -> (Result<(), StreamError>, Result<(), wasip2::http::types::ErrorCode>) {
    let request = OutgoingRequest::new(fields(&[("content-length", promised)]));
    let body = request.body().unwrap();
    let stream = body.write().unwrap();
    let wrote = stream.write(&vec![b'x'; bytes]);
    drop(stream);
    (wrote, OutgoingBody::finish(body, None))
}

cases! {
    Together "http/types.outgoing-request" "as it is at first" |_d| {
        let request = request();
        (request.method(), request.path_with_query(), request.scheme(), request.authority(), sorted(&request.headers()))
    };
    Together "http/types.outgoing-request.method" "as set" |_d| {
        let request = request();
        let set = |method| (request.set_method(&method), request.method());
        [set(Method::Post), set(Method::Patch), set(Method::Other("BREW".to_owned())), set(Method::Other("GET".to_owned()))]
    };
    Together "http/types.outgoing-request.set-method" "what is none" |_d| {
        let request = request();
        ["", "A B", "A\u{fc}", "a", "A/B", "~"].map(|name| request.set_method(&Method::Other(name.to_owned())))
    };
    Together "http/types.outgoing-request.path-with-query" "as set" |_d| {
        let request = request();
        let set = |path: Option<&str>| (request.set_path_with_query(path), request.path_with_query());
        [set(Some("/a?b=c")), set(Some("?b")), set(Some("/a#b")), set(None)]
    };
    Together "http/types.outgoing-request.set-path-with-query" "what is none" |_d| {
        let request = request();
        ["", "a", "*", "/", "//", "/a b", "/\u{fc}", "/{}", "/<", "/?<", "/?`", "/%zz", "http://a/b", "#a"]
            .map(|path| request.set_path_with_query(Some(path)))
    };
    Together "http/types.outgoing-request.set-path-with-query" "long ones" |_d| {
        let request = request();
        [65_533, 65_534].map(|length| request.set_path_with_query(Some(&format!("/{}", "a".repeat(length)))))
    };
    Together "http/types.outgoing-request.scheme" "as set" |_d| {
        let request = request();
        let set = |scheme: Option<Scheme>| (request.set_scheme(scheme.as_ref()), request.scheme());
        [set(Some(Scheme::Http)), set(Some(Scheme::Other("ftp".to_owned()))), set(None)]
    };
    Together "http/types.outgoing-request.set-scheme" "what is none" |_d| {
        let request = request();
        ["", "a b", "a:b", "1", "a+b-c.d", "a_b"].map(|name| request.set_scheme(Some(&Scheme::Other(name.to_owned()))))
    };
    Together "http/types.outgoing-request.authority" "as set" |_d| {
        let request = request();
        let set = |authority: Option<&str>| (request.set_authority(authority), request.authority());
        [set(Some("A.test:80")), set(Some("me:pw@a")), set(Some("[::1]:8080")), set(None)]
    };
    Together "http/types.outgoing-request.set-authority" "what is none" |_d| {
        let request = request();
        ["", "a/b", "a b", "a:b:c", "a:", "a:99999", ":80", "[::1", "a@", "a%20b", "a%20b@c", "a?b", "\u{fc}"]
            .map(|authority| request.set_authority(Some(authority)))
    };
    Together "http/types.outgoing-request.headers" "as given" |_d| {
        sorted(&OutgoingRequest::new(fields(&[("a", "1"), ("b", "2")])).headers())
    };
    Together "http/types.outgoing-request.body" "once" |_d| {
        let request = request();
        let first = request.body();
        (first.is_ok(), request.body().is_ok())
    };

    Together "http/types.request-options" "as it is at first" |_d| {
        let options = RequestOptions::new();
        [options.connect_timeout(), options.first_byte_timeout(), options.between_bytes_timeout()]
    };
    Together "http/types.request-options.connect-timeout" "as set" |_d| {
        let options = RequestOptions::new();
        (options.set_connect_timeout(Some(7)), options.connect_timeout(), options.first_byte_timeout())
    };
    Together "http/types.request-options.set-connect-timeout" "to none" |_d| {
        let options = RequestOptions::new();
        (options.set_connect_timeout(Some(7)), options.set_connect_timeout(None), options.connect_timeout())
    };
    Together "http/types.request-options.first-byte-timeout" "as set" |_d| {
        let options = RequestOptions::new();
        (options.set_first_byte_timeout(Some(u64::MAX)), options.first_byte_timeout())
    };
    Together "http/types.request-options.set-first-byte-timeout" "to nothing at all" |_d| {
        let options = RequestOptions::new();
        (options.set_first_byte_timeout(Some(0)), options.first_byte_timeout())
    };
    Together "http/types.request-options.between-bytes-timeout" "as set" |_d| {
        let options = RequestOptions::new();
        (options.set_between_bytes_timeout(Some(1_000_000_001)), options.between_bytes_timeout())
    };
    Together "http/types.request-options.set-between-bytes-timeout" "twice" |_d| {
        let options = RequestOptions::new();
        (options.set_between_bytes_timeout(Some(1)), options.set_between_bytes_timeout(Some(2)), options.between_bytes_timeout())
    };

    Together "http/types.outgoing-response" "as it is at first" |_d| {
        let response = response();
        (u32::from(response.status_code()), sorted(&response.headers()))
    };
    Together "http/types.outgoing-response.status-code" "as set" |_d| {
        let response = response();
        (response.set_status_code(404), u32::from(response.status_code()))
    };
    Together "http/types.outgoing-response.set-status-code" "what is none" |_d| {
        let response = response();
        let set = [0, 99, 100, 999, 1000, u16::MAX].map(|status| response.set_status_code(status));
        (set, u32::from(response.status_code()))
    };
    Together "http/types.outgoing-response.headers" "cannot be changed" |_d| {
        let headers = OutgoingResponse::new(fields(&[("a", "1")])).headers();
        (headers.append("b", b"2"), sorted(&headers))
    };
    Together "http/types.outgoing-response.body" "once" |_d| {
        let response = response();
        let first = response.body();
        (first.is_ok(), response.body().is_ok())
    };

    Together "http/types.outgoing-body.write" "once" |_d| {
        let (request, response) = (request(), response());
        let bodies = [request.body().unwrap(), response.body().unwrap()];
        bodies.map(|body| {
            let first = body.write();
            (first.is_ok(), body.write().is_ok())
        })
    };
    Together "http/types.outgoing-body.write" "what may be written" |_d| {
        let request = request();
        let body = request.body().unwrap();
        let stream = body.write().unwrap();
        (stream.check_write(), stream.flush(), stream.subscribe().ready())
    };
    Together "http/types.outgoing-body.write" "after the request is gone" |_d| {
        let request = request();
        let body = request.body().unwrap();
        let stream = body.write().unwrap();
        drop(request);
        (stream.check_write(), stream.write(b"x"), stream.flush())
    };
    Together "http/types.outgoing-body.finish" "the promised length" |_d| {
        [written("3", 3), written("3", 2), written("0", 0), written("1", 0)]
    };
    Together "http/types.outgoing-body.finish" "more than was promised" |_d| written("3", 4);
    Together "http/types.outgoing-body.finish" "without a stream" |_d| {
        let (empty, some) = (request(), OutgoingRequest::new(fields(&[("content-length", "2")])));
        (OutgoingBody::finish(empty.body().unwrap(), None), OutgoingBody::finish(some.body().unwrap(), None))
    };
    Together "http/types.outgoing-body.finish" "of a response" |_d| {
        let response = OutgoingResponse::new(fields(&[("content-length", "2")]));
        OutgoingBody::finish(response.body().unwrap(), None)
    };
    Together "http/types.outgoing-body.finish" "with trailers" |_d| {
        let request = request();
        OutgoingBody::finish(request.body().unwrap(), Some(fields(&[("a", "1")])))
    };
    Alone "http/types.outgoing-body.finish" "while its stream is open" |_d| {
        let request = request();
        let body = request.body().unwrap();
        let stream = body.write().unwrap();
        let finished = OutgoingBody::finish(body, None);
        (finished, pour(&stream, b"x"))
    };
    Alone "http/types.outgoing-body.write" "dropped before its stream" |_d| {
        let request = request();
        let body = request.body().unwrap();
        let stream = body.write().unwrap();
        drop(body);
        stream.check_write()
    };
    Alone "http/types.outgoing-body.write" "more than permitted" |_d| {
        let request = request();
        let body = request.body().unwrap();
        let stream = body.write().unwrap();
        stream.write(&vec![0; (1 << 20) + 1])
    };
    Together "http/types.http-error-code" "of a body" |_d| {
        let request = OutgoingRequest::new(fields(&[("content-length", "1")]));
        let body = request.body().unwrap();
        let stream = body.write().unwrap();
        match stream.write(b"xy") {
            Err(StreamError::LastOperationFailed(error)) => http_error_code(&error),
            _ => None,
        }
    };
    Together "http/types.http-error-code" "of a file" |d| {
        d.put("a", b"ab");
        let stream = d.open("a", crate::place::WRITE).read_via_stream(0).unwrap();
        match stream.blocking_read(1) {
            Err(StreamError::LastOperationFailed(error)) => http_error_code(&error),
            _ => None,
        }
    };
}
