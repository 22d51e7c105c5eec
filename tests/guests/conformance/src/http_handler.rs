//! `wasi:http/incoming-handler`: this program handles requests too, and here it sends some to itself.
//!
//! Each case is a path below `/handled/`; what the handler saw or did comes back as the body of its response.

use crate::cases;
use crate::http_exchange::{answer, to, wait, whole, with};
use crate::http_fields::{fields, sorted};
use crate::show::{Bytes, Show};
use wasip2::http::outgoing_handler::handle;
use wasip2::http::types::{
    ErrorCode, Fields, IncomingBody, IncomingRequest, Method, OutgoingBody, OutgoingResponse, ResponseOutparam,
};

struct Handler;

wasip2::http::proxy::export!(Handler);

impl wasip2::exports::http::incoming_handler::Guest for Handler {
    fn handle(request: IncomingRequest, outparam: ResponseOutparam) {
        let path = request.path_with_query().unwrap_or_default();
        let seen = match path.trim_start_matches("/handled/").split('?').next().unwrap_or_default() {
            "method" => request.method().show(),
            "path" => request.path_with_query().show(),
            "scheme" => request.scheme().show(),
            "authority" => request.authority().show(),
            "headers" => {
                let headers = request.headers();
                (headers.append("a", b"b"), headers.get("x-key").len(), headers.has("host")).show()
            }
            "consume" => {
                let first = request.consume();
                (first.is_ok(), request.consume().is_ok()).show()
            }
            "echo" => echo(&request).show(),
            "silent" => return,
            "error" => return ResponseOutparam::set(outparam, Err(ErrorCode::LoopDetected)),
            "teapot" => return ResponseOutparam::set(outparam, Ok(teapot())),
            "cut" => {
                let response = OutgoingResponse::new(Fields::new());
                let body = response.body().unwrap();
                ResponseOutparam::set(outparam, Ok(response));
                let stream = body.write().unwrap();
                stream.blocking_write_and_flush(b"half").unwrap();
                drop(stream);
                return drop(body);
            }
            other => panic!("no such path: {other}"),
        };
        let response = OutgoingResponse::new(Fields::new());
        let body = response.body().unwrap();
        ResponseOutparam::set(outparam, Ok(response));
        let stream = body.write().unwrap();
        stream.blocking_write_and_flush(seen.as_bytes()).unwrap();
        drop(stream);
        OutgoingBody::finish(body, None).unwrap();
    }
}

fn teapot() -> OutgoingResponse {
    let response = OutgoingResponse::new(fields(&[("x-pot", "tea")]));
    response.set_status_code(418).unwrap();
    response
}

/// The whole body of a request, and its trailers.
fn echo(request: &IncomingRequest) -> (Bytes, bool) {
    let body = request.consume().unwrap();
    let bytes = crate::http_exchange::all(&body).0;
    let trailers = IncomingBody::finish(body);
    trailers.subscribe().block();
    let arrived = trailers.get().unwrap().unwrap().is_ok();
    (bytes, arrived)
}

cases! {
    Together "http/types.incoming-request.method" "as sent" |_d| {
        let request = to("/handled/method");
        request.set_method(&Method::Delete).unwrap();
        whole(answer(request))
    };
    Together "http/types.incoming-request.method" "another one" |_d| {
        let request = to("/handled/method");
        request.set_method(&Method::Other("BREW".to_owned())).unwrap();
        whole(answer(request))
    };
    Together "http/types.incoming-request.path-with-query" "as sent" |_d| whole(answer(to("/handled/path?a=b")));
    Together "http/types.incoming-request.scheme" "as sent" |_d| whole(answer(to("/handled/scheme")));
    Together "http/types.incoming-request.authority" "as sent" |_d| whole(answer(to("/handled/authority")));
    Together "http/types.incoming-request.headers" "as sent, and cannot be changed" |_d| {
        whole(answer(with("/handled/headers", &[("x-key", "1"), ("x-key", "2")])))
    };
    Together "http/types.incoming-request.consume" "once" |_d| whole(answer(to("/handled/consume")));
    Together "http/types.incoming-request.consume" "a body" |_d| {
        let request = to("/handled/echo");
        request.set_method(&Method::Put).unwrap();
        let body = request.body().unwrap();
        let future = handle(request, None).unwrap();
        let stream = body.write().unwrap();
        stream.blocking_write_and_flush(b"to and ").unwrap();
        stream.blocking_write_and_flush(b"fro").unwrap();
        drop(stream);
        (OutgoingBody::finish(body, None), whole(wait(&future)))
    };
    Together "http/types.response-outparam.set" "a response without a body" |_d| {
        answer(to("/handled/teapot")).map(|response| (u32::from(response.status()), sorted(&response.headers())))
    };
    Together "http/types.response-outparam.set" "an error" |_d| whole(answer(to("/handled/error")));
    Together "http/types.response-outparam.set" "never" |_d| answer(to("/handled/silent")).is_err();
    Together "http/types.response-outparam.set" "and the body is dropped" |_d| {
        answer(to("/handled/cut")).map(|response| {
            let (bytes, end) = crate::http_exchange::all(&response.consume().unwrap());
            (bytes, matches!(end, Err(wasip2::io::streams::StreamError::LastOperationFailed(_))))
        })
    };
}
