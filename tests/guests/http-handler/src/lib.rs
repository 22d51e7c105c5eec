//! HTTP handler: a component that exports `wasi:http/incoming-handler`, through wstd.
//!
//! ```text
//! GET  /hello      200  hello
//! POST /echo       200  the body that came, streamed, with its content-type
//! GET  /headers    200  the headers that came, a line for each, sorted
//! GET  /status/N   N    nothing
//! GET  /fail       no response: internal-error
//! GET  /panic      no response: a trap
//! else             404  what was asked
//! ```

use wstd::http::{Body, Error, Method, Request, Response, StatusCode};

#[wstd::http_server]
async fn main(request: Request<Body>) -> Result<Response<Body>, Error> {
    let path = request.uri().path().to_owned();
    match (request.method(), path.as_str()) {
        (&Method::GET, "/hello") => Ok(Response::new("hello".into())),
        (&Method::POST, "/echo") => echo(request),
        (&Method::GET, "/headers") => Ok(Response::new(headers(&request).into())),
        (&Method::GET, "/fail") => Err(std::io::Error::other("as asked").into()),
        (&Method::GET, "/panic") => panic!("as asked"),
        (&Method::GET, path) if path.starts_with("/status/") => {
            let status = path["/status/".len()..].parse().unwrap_or(StatusCode::BAD_REQUEST);
            Ok(Response::builder().status(status).body(Body::empty())?)
        }
        (method, path) => {
            let what = format!("nothing answers {method} {path}\n");
            Ok(Response::builder().status(StatusCode::NOT_FOUND).body(what.into())?)
        }
    }
}

/// The body goes back while it still arrives.
fn echo(request: Request<Body>) -> Result<Response<Body>, Error> {
    let mut response = Response::builder();
    if let Some(kind) = request.headers().get("content-type") {
        response = response.header("content-type", kind);
    }
    Ok(response.body(request.into_body())?)
}

fn headers(request: &Request<Body>) -> String {
    let mut lines: Vec<String> = request
        .headers()
        .iter()
        .map(|(name, value)| format!("{name}: {}\n", String::from_utf8_lossy(value.as_bytes())))
        .collect();
    lines.sort();
    lines.concat()
}
