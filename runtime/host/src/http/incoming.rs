//! What a guest receives: `incoming-request`, `incoming-response`, `incoming-body`, `future-trailers`,
//! `future-incoming-response`.

use super::error::{code, method, scheme};
use super::{of_kind, wrong};
use crate::bindings::wasi::http::types::{self, ErrorCode, Method, Scheme};
use crate::bindings::{
    FieldsResource, FutureIncomingResponseResource, FutureTrailersResource, IncomingBodyResource,
    IncomingRequestResource, IncomingResponseResource, InputStreamResource, PollableResource,
};
use crate::call::{GuestStop, Host, Import, misuse};
use fozzy_world::http::{BodyId, BodySide, HttpHandle, request};
use fozzy_world::table::{Handle, StreamSource as Input};
use fozzy_world::{SignalId, Wait};
use wasmtime::Result;
use wasmtime::component::Resource;

const METHOD: Import = Import::new("wasi:http/types.incoming-request.method");
const PATH: Import = Import::new("wasi:http/types.incoming-request.path-with-query");
const SCHEME: Import = Import::new("wasi:http/types.incoming-request.scheme");
const AUTHORITY: Import = Import::new("wasi:http/types.incoming-request.authority");
const REQUEST_HEADERS: Import = Import::new("wasi:http/types.incoming-request.headers");
const CONSUME_REQUEST: Import = Import::new("wasi:http/types.incoming-request.consume");
const DROP_REQUEST: Import = Import::new("wasi:http/types.incoming-request.drop");
const STATUS: Import = Import::new("wasi:http/types.incoming-response.status");
const RESPONSE_HEADERS: Import = Import::new("wasi:http/types.incoming-response.headers");
const CONSUME_RESPONSE: Import = Import::new("wasi:http/types.incoming-response.consume");
const DROP_RESPONSE: Import = Import::new("wasi:http/types.incoming-response.drop");
const STREAM: Import = Import::new("wasi:http/types.incoming-body.stream");
const FINISH: Import = Import::new("wasi:http/types.incoming-body.finish");
const DROP_BODY: Import = Import::new("wasi:http/types.incoming-body.drop");
const SUBSCRIBE_TRAILERS: Import = Import::new("wasi:http/types.future-trailers.subscribe");
const GET_TRAILERS: Import = Import::new("wasi:http/types.future-trailers.get");
const DROP_TRAILERS: Import = Import::new("wasi:http/types.future-trailers.drop");
const SUBSCRIBE_RESPONSE: Import = Import::new("wasi:http/types.future-incoming-response.subscribe");
const GET_RESPONSE: Import = Import::new("wasi:http/types.future-incoming-response.get");
const DROP_FUTURE: Import = Import::new("wasi:http/types.future-incoming-response.drop");

/// What a future gives: nothing yet; or once a value or an error, and ever after that it was taken.
type Future<T> = Option<std::result::Result<std::result::Result<T, ErrorCode>, ()>>;

impl Host {
    /// Reads from a request that was received.
    fn of_incoming<T: fozzy_trace::Record>(
        &mut self,
        import: Import,
        handle: &Resource<IncomingRequestResource>,
        read: impl FnOnce(&request::SentRequest) -> T,
    ) -> Result<T> {
        let rep = handle.rep();
        self.call(import, rep, |host| Ok(read(&of_kind!(host.http(import, rep)?, import, IncomingRequest).request)))
    }

    fn signal_pollable(
        &mut self,
        import: Import,
        rep: u32,
        signal: impl FnOnce(&mut Host) -> std::result::Result<SignalId, GuestStop>,
    ) -> Result<Resource<PollableResource>> {
        let rep = self.call(import, rep, |host| {
            let wait = Wait::Signal(signal(host)?);
            host.node_mut().table.insert(Handle::Pollable(wait)).map_err(misuse(import))
        })?;
        Ok(Resource::new_own(rep))
    }

    fn trailers_of(&mut self, import: Import, rep: u32) -> std::result::Result<(BodyId, &mut bool), GuestStop> {
        match self.http(import, rep)? {
            HttpHandle::FutureTrailers { body, taken } => Ok((*body, taken)),
            _ => Err(wrong(import)),
        }
    }
}

impl types::HostIncomingRequest for Host {
    fn method(&mut self, handle: Resource<IncomingRequestResource>) -> Result<Method> {
        self.of_incoming(METHOD, &handle, |request| method(&request.method))
    }

    fn path_with_query(&mut self, handle: Resource<IncomingRequestResource>) -> Result<Option<String>> {
        self.of_incoming(PATH, &handle, |request| Some(request.path_with_query.clone()))
    }

    fn scheme(&mut self, handle: Resource<IncomingRequestResource>) -> Result<Option<Scheme>> {
        self.of_incoming(SCHEME, &handle, |request| Some(scheme(&request.scheme)))
    }

    fn authority(&mut self, handle: Resource<IncomingRequestResource>) -> Result<Option<String>> {
        self.of_incoming(AUTHORITY, &handle, |request| Some(request.authority.clone()))
    }

    fn headers(&mut self, handle: Resource<IncomingRequestResource>) -> Result<Resource<FieldsResource>> {
        let rep = handle.rep();
        self.http_open(REQUEST_HEADERS, rep, |host| {
            let incoming = of_kind!(host.http(REQUEST_HEADERS, rep)?, REQUEST_HEADERS, IncomingRequest);
            Ok(HttpHandle::Fields(incoming.request.headers.clone()))
        })
    }

    fn consume(
        &mut self,
        handle: Resource<IncomingRequestResource>,
    ) -> Result<std::result::Result<Resource<IncomingBodyResource>, ()>> {
        let rep = handle.rep();
        self.http_open_once(CONSUME_REQUEST, rep, |host| {
            let incoming = of_kind!(host.http(CONSUME_REQUEST, rep)?, CONSUME_REQUEST, IncomingRequest);
            Ok(incoming.body.take().map(HttpHandle::IncomingBody))
        })
    }

    fn drop(&mut self, handle: Resource<IncomingRequestResource>) -> Result<()> {
        self.http_close(DROP_REQUEST, handle.rep())
    }
}

impl types::HostIncomingResponse for Host {
    fn status(&mut self, handle: Resource<IncomingResponseResource>) -> Result<u16> {
        let rep = handle.rep();
        self.call(STATUS, rep, |host| Ok(of_kind!(host.http(STATUS, rep)?, STATUS, IncomingResponse).status))
    }

    fn headers(&mut self, handle: Resource<IncomingResponseResource>) -> Result<Resource<FieldsResource>> {
        let rep = handle.rep();
        self.http_open(RESPONSE_HEADERS, rep, |host| {
            let response = of_kind!(host.http(RESPONSE_HEADERS, rep)?, RESPONSE_HEADERS, IncomingResponse);
            Ok(HttpHandle::Fields(response.headers.clone()))
        })
    }

    fn consume(
        &mut self,
        handle: Resource<IncomingResponseResource>,
    ) -> Result<std::result::Result<Resource<IncomingBodyResource>, ()>> {
        let rep = handle.rep();
        self.http_open_once(CONSUME_RESPONSE, rep, |host| {
            let response = of_kind!(host.http(CONSUME_RESPONSE, rep)?, CONSUME_RESPONSE, IncomingResponse);
            Ok(response.body.take().map(HttpHandle::IncomingBody))
        })
    }

    fn drop(&mut self, handle: Resource<IncomingResponseResource>) -> Result<()> {
        self.http_close(DROP_RESPONSE, handle.rep())
    }
}

impl types::HostIncomingBody for Host {
    fn stream(
        &mut self,
        handle: Resource<IncomingBodyResource>,
    ) -> Result<std::result::Result<Resource<InputStreamResource>, ()>> {
        let rep = handle.rep();
        let stream = self.call(STREAM, rep, |host| {
            let body = *of_kind!(host.http(STREAM, rep)?, STREAM, IncomingBody);
            if !host.world().http.bodies.take_stream(body, BodySide::Reader) {
                return Ok(None);
            }
            let stream = Handle::InputStream(Input::Http { body, offset: 0, closed: false });
            host.node_mut().table.insert(stream).map(Some).map_err(misuse(STREAM))
        })?;
        Ok(stream.map(Resource::new_own).ok_or(()))
    }

    fn finish(&mut self, handle: Resource<IncomingBodyResource>) -> Result<Resource<FutureTrailersResource>> {
        let rep = handle.rep();
        self.http_open(FINISH, rep, |host| {
            let body = of_kind!(host.http_take(FINISH, rep)?, FINISH, IncomingBody);
            Ok(HttpHandle::FutureTrailers { body, taken: false })
        })
    }

    fn drop(&mut self, handle: Resource<IncomingBodyResource>) -> Result<()> {
        self.http_close(DROP_BODY, handle.rep())
    }
}

impl types::HostFutureTrailers for Host {
    fn subscribe(&mut self, handle: Resource<FutureTrailersResource>) -> Result<Resource<PollableResource>> {
        let rep = handle.rep();
        self.signal_pollable(SUBSCRIBE_TRAILERS, rep, |host| {
            let (body, _) = host.trailers_of(SUBSCRIBE_TRAILERS, rep)?;
            Ok(host.world().http.bodies.readable(body))
        })
    }

    fn get(&mut self, handle: Resource<FutureTrailersResource>) -> Result<Future<Option<Resource<FieldsResource>>>> {
        let rep = handle.rep();
        let trailers: Future<Option<u32>> = self.call(GET_TRAILERS, rep, |host| {
            let (body, taken) = host.trailers_of(GET_TRAILERS, rep)?;
            if *taken {
                return Ok(Some(Err(())));
            }
            let world = host.world();
            let Some(trailers) = world.http.bodies.trailers(body, world.clock.now(), &world.signals) else {
                return Ok(None);
            };
            *host.trailers_of(GET_TRAILERS, rep)?.1 = true;
            Ok(Some(Ok(match trailers {
                Ok(Some(trailers)) => Ok(Some(host.http_place(GET_TRAILERS, HttpHandle::Fields(trailers))?)),
                Ok(None) => Ok(None),
                Err(error) => Err(code(error)),
            })))
        })?;
        Ok(trailers.map(|taken| taken.map(|trailers| trailers.map(|fields| fields.map(Resource::new_own)))))
    }

    fn drop(&mut self, handle: Resource<FutureTrailersResource>) -> Result<()> {
        self.http_close(DROP_TRAILERS, handle.rep())
    }
}

impl types::HostFutureIncomingResponse for Host {
    fn subscribe(&mut self, handle: Resource<FutureIncomingResponseResource>) -> Result<Resource<PollableResource>> {
        let rep = handle.rep();
        self.signal_pollable(SUBSCRIBE_RESPONSE, rep, |host| {
            let exchange = *of_kind!(host.http(SUBSCRIBE_RESPONSE, rep)?, SUBSCRIBE_RESPONSE, FutureIncomingResponse);
            Ok(host.world().http.exchanges.arrived(exchange))
        })
    }

    fn get(
        &mut self,
        handle: Resource<FutureIncomingResponseResource>,
    ) -> Result<Future<Resource<IncomingResponseResource>>> {
        let rep = handle.rep();
        let response: Future<u32> = self.call(GET_RESPONSE, rep, |host| {
            let exchange = *of_kind!(host.http(GET_RESPONSE, rep)?, GET_RESPONSE, FutureIncomingResponse);
            let world = host.world();
            let (http, signals) = (&mut world.http, &mut world.signals);
            let taken = http.exchanges.take(exchange, world.clock.now(), &mut http.bodies, signals);
            Ok(match taken {
                None => None,
                Some(Err(())) => Some(Err(())),
                Some(Ok(Err(error))) => Some(Ok(Err(code(error)))),
                Some(Ok(Ok(response))) => {
                    Some(Ok(Ok(host.http_place(GET_RESPONSE, HttpHandle::IncomingResponse(response))?)))
                }
            })
        })?;
        Ok(response.map(|taken| taken.map(|response| response.map(Resource::new_own))))
    }

    fn drop(&mut self, handle: Resource<FutureIncomingResponseResource>) -> Result<()> {
        self.http_close(DROP_FUTURE, handle.rep())
    }
}
