//! What a guest sends: `outgoing-request`, `request-options`, `outgoing-response`, `outgoing-body`, `response-outparam`, and
//! `wasi:http/outgoing-handler`.

use super::error::{code, from_code, from_method, from_scheme, method, scheme};
use super::of_kind;
use crate::bindings::wasi::http::{outgoing_handler, types};
use crate::bindings::{
    FieldsResource, FutureIncomingResponseResource, OutgoingBodyResource, OutgoingRequestResource,
    OutgoingResponseResource, OutputStreamResource, RequestOptionsResource, ResponseOutparamResource,
};
use crate::call::{GuestStop, Host, Import, misuse};
use fozzy_trace::Duration;
use fozzy_world::http::body::MessageKind;
use fozzy_world::http::message::{is_authority, is_path_with_query};
use fozzy_world::http::{BodyId, BodySide, HttpHandle, request, response};
use fozzy_world::table::{Handle, StreamSink as Output};
use types::{ErrorCode, Method, Scheme};
use wasmtime::Result;
use wasmtime::component::Resource;

const REQUEST: Import = Import::new("wasi:http/types.outgoing-request");
const REQUEST_BODY: Import = Import::new("wasi:http/types.outgoing-request.body");
const METHOD: Import = Import::new("wasi:http/types.outgoing-request.method");
const SET_METHOD: Import = Import::new("wasi:http/types.outgoing-request.set-method");
const PATH: Import = Import::new("wasi:http/types.outgoing-request.path-with-query");
const SET_PATH: Import = Import::new("wasi:http/types.outgoing-request.set-path-with-query");
const SCHEME: Import = Import::new("wasi:http/types.outgoing-request.scheme");
const SET_SCHEME: Import = Import::new("wasi:http/types.outgoing-request.set-scheme");
const AUTHORITY: Import = Import::new("wasi:http/types.outgoing-request.authority");
const SET_AUTHORITY: Import = Import::new("wasi:http/types.outgoing-request.set-authority");
const REQUEST_HEADERS: Import = Import::new("wasi:http/types.outgoing-request.headers");
const DROP_REQUEST: Import = Import::new("wasi:http/types.outgoing-request.drop");
const OPTIONS: Import = Import::new("wasi:http/types.request-options");
const CONNECT_TIMEOUT: Import = Import::new("wasi:http/types.request-options.connect-timeout");
const SET_CONNECT_TIMEOUT: Import = Import::new("wasi:http/types.request-options.set-connect-timeout");
const FIRST_BYTE_TIMEOUT: Import = Import::new("wasi:http/types.request-options.first-byte-timeout");
const SET_FIRST_BYTE_TIMEOUT: Import = Import::new("wasi:http/types.request-options.set-first-byte-timeout");
const BETWEEN_BYTES_TIMEOUT: Import = Import::new("wasi:http/types.request-options.between-bytes-timeout");
const SET_BETWEEN_BYTES_TIMEOUT: Import = Import::new("wasi:http/types.request-options.set-between-bytes-timeout");
const DROP_OPTIONS: Import = Import::new("wasi:http/types.request-options.drop");
const RESPONSE: Import = Import::new("wasi:http/types.outgoing-response");
const STATUS_CODE: Import = Import::new("wasi:http/types.outgoing-response.status-code");
const SET_STATUS_CODE: Import = Import::new("wasi:http/types.outgoing-response.set-status-code");
const RESPONSE_HEADERS: Import = Import::new("wasi:http/types.outgoing-response.headers");
const RESPONSE_BODY: Import = Import::new("wasi:http/types.outgoing-response.body");
const DROP_RESPONSE: Import = Import::new("wasi:http/types.outgoing-response.drop");
const WRITE: Import = Import::new("wasi:http/types.outgoing-body.write");
const FINISH: Import = Import::new("wasi:http/types.outgoing-body.finish");
const DROP_BODY: Import = Import::new("wasi:http/types.outgoing-body.drop");
const SEND_INFORMATIONAL: Import = Import::new("wasi:http/types.response-outparam.send-informational");
const SET: Import = Import::new("wasi:http/types.response-outparam.set");
const DROP_OUTPARAM: Import = Import::new("wasi:http/types.response-outparam.drop");
const HANDLE: Import = Import::new("wasi:http/outgoing-handler.handle");

type HttpResult<T> = Result<std::result::Result<T, ErrorCode>>;

impl Host {
    /// Reads from a request that is put together.
    fn of_request<T: fozzy_trace::Record>(
        &mut self,
        import: Import,
        rep: u32,
        read: impl FnOnce(&request::OutgoingRequest) -> T,
    ) -> Result<T> {
        self.call(import, rep, |host| Ok(read(of_kind!(host.http(import, rep)?, import, OutgoingRequest))))
    }

    /// Changes a request, if what is to be set is valid.
    fn set_request(
        &mut self,
        import: Import,
        asked: (u32, String),
        is_valid: bool,
        set: impl FnOnce(&mut request::OutgoingRequest),
    ) -> Result<std::result::Result<(), ()>> {
        let rep = asked.0;
        self.call(import, asked, |host| {
            let request = of_kind!(host.http(import, rep)?, import, OutgoingRequest);
            if !is_valid {
                return Ok(Err(()));
            }
            set(request);
            Ok(Ok(()))
        })
    }

    fn timeout(
        &mut self,
        import: Import,
        options: &Resource<RequestOptionsResource>,
        read: impl FnOnce(&request::RequestOptions) -> Option<Duration>,
    ) -> Result<Option<u64>> {
        let rep = options.rep();
        self.call(import, rep, |host| {
            Ok(read(of_kind!(host.http(import, rep)?, import, RequestOptions)).map(|span| span.0))
        })
    }

    fn set_timeout(
        &mut self,
        import: Import,
        options: &Resource<RequestOptionsResource>,
        span: Option<u64>,
        place: impl FnOnce(&mut request::RequestOptions) -> &mut Option<Duration>,
    ) -> Result<std::result::Result<(), ()>> {
        let rep = options.rep();
        self.call(import, (rep, span), |host| {
            *place(of_kind!(host.http(import, rep)?, import, RequestOptions)) = span.map(Duration);
            Ok(Ok(()))
        })
    }

    /// Fields that become those of a message.
    fn take_fields(
        &mut self,
        import: Import,
        rep: u32,
    ) -> std::result::Result<fozzy_world::http::HeaderFields, GuestStop> {
        Ok(of_kind!(self.http_take(import, rep)?, import, Fields))
    }

    /// The body that a message has room for, of the length that its fields promise.
    fn new_body(&mut self, of: MessageKind, declared: Option<u64>) -> BodyId {
        let node = self.node;
        let world = self.world();
        world.http.bodies.open(of, node, declared, &mut world.signals)
    }

    /// Method and URL of a request, for readers of the history.
    fn request_line(&mut self, rep: u32) -> String {
        match self.http(HANDLE, rep) {
            Ok(HttpHandle::OutgoingRequest(request)) => match request.clone().into_request() {
                Ok(sent) => format!("{} {}", sent.method.as_str(), sent.url()),
                Err(_) => request.method.as_str().to_owned(),
            },
            _ => String::new(),
        }
    }
}

impl types::HostOutgoingRequest for Host {
    fn new(&mut self, headers: Resource<FieldsResource>) -> Result<Resource<OutgoingRequestResource>> {
        let rep = headers.rep();
        self.http_open(REQUEST, rep, |host| {
            let headers = host.take_fields(REQUEST, rep)?;
            Ok(HttpHandle::OutgoingRequest(request::OutgoingRequest::new(headers)))
        })
    }

    fn body(
        &mut self,
        handle: Resource<OutgoingRequestResource>,
    ) -> Result<std::result::Result<Resource<OutgoingBodyResource>, ()>> {
        let rep = handle.rep();
        self.http_open_once(REQUEST_BODY, rep, |host| {
            let request = of_kind!(host.http(REQUEST_BODY, rep)?, REQUEST_BODY, OutgoingRequest);
            if request.body.is_some() {
                return Ok(None);
            }
            let declared = request.headers.content_length();
            let body = host.new_body(MessageKind::Request, declared);
            of_kind!(host.http(REQUEST_BODY, rep)?, REQUEST_BODY, OutgoingRequest).body = Some(body);
            Ok(Some(HttpHandle::OutgoingBody(body)))
        })
    }

    fn method(&mut self, handle: Resource<OutgoingRequestResource>) -> Result<Method> {
        self.of_request(METHOD, handle.rep(), |request| method(&request.method))
    }

    fn set_method(
        &mut self,
        handle: Resource<OutgoingRequestResource>,
        method: Method,
    ) -> Result<std::result::Result<(), ()>> {
        let method = from_method(&method);
        let (asked, is_valid) = ((handle.rep(), method.as_str().to_owned()), method.is_valid());
        self.set_request(SET_METHOD, asked, is_valid, |request| request.method = method)
    }

    fn path_with_query(&mut self, handle: Resource<OutgoingRequestResource>) -> Result<Option<String>> {
        self.of_request(PATH, handle.rep(), |request| request.path_with_query.clone())
    }

    fn set_path_with_query(
        &mut self,
        handle: Resource<OutgoingRequestResource>,
        path: Option<String>,
    ) -> Result<std::result::Result<(), ()>> {
        let asked = (handle.rep(), format!("{path:?}"));
        let is_valid = path.as_deref().is_none_or(is_path_with_query);
        self.set_request(SET_PATH, asked, is_valid, |request| request.path_with_query = path)
    }

    fn scheme(&mut self, handle: Resource<OutgoingRequestResource>) -> Result<Option<Scheme>> {
        self.of_request(SCHEME, handle.rep(), |request| request.scheme.as_ref().map(scheme))
    }

    fn set_scheme(
        &mut self,
        handle: Resource<OutgoingRequestResource>,
        scheme: Option<Scheme>,
    ) -> Result<std::result::Result<(), ()>> {
        let scheme = scheme.as_ref().map(from_scheme);
        let asked = (handle.rep(), format!("{scheme:?}"));
        let is_valid = scheme.as_ref().is_none_or(fozzy_world::http::Scheme::is_valid);
        self.set_request(SET_SCHEME, asked, is_valid, |request| request.scheme = scheme)
    }

    fn authority(&mut self, handle: Resource<OutgoingRequestResource>) -> Result<Option<String>> {
        self.of_request(AUTHORITY, handle.rep(), |request| request.authority.clone())
    }

    fn set_authority(
        &mut self,
        handle: Resource<OutgoingRequestResource>,
        authority: Option<String>,
    ) -> Result<std::result::Result<(), ()>> {
        let asked = (handle.rep(), format!("{authority:?}"));
        let is_valid = authority.as_deref().is_none_or(is_authority);
        self.set_request(SET_AUTHORITY, asked, is_valid, |request| request.authority = authority)
    }

    fn headers(&mut self, handle: Resource<OutgoingRequestResource>) -> Result<Resource<FieldsResource>> {
        let rep = handle.rep();
        self.http_open(REQUEST_HEADERS, rep, |host| {
            let request = of_kind!(host.http(REQUEST_HEADERS, rep)?, REQUEST_HEADERS, OutgoingRequest);
            Ok(HttpHandle::Fields(request.headers.clone()))
        })
    }

    fn drop(&mut self, handle: Resource<OutgoingRequestResource>) -> Result<()> {
        self.http_close(DROP_REQUEST, handle.rep())
    }
}

impl types::HostRequestOptions for Host {
    fn new(&mut self) -> Result<Resource<RequestOptionsResource>> {
        self.http_open(OPTIONS, (), |_| Ok(HttpHandle::RequestOptions(request::RequestOptions::default())))
    }

    fn connect_timeout(&mut self, options: Resource<RequestOptionsResource>) -> Result<Option<u64>> {
        self.timeout(CONNECT_TIMEOUT, &options, |options| options.connect_timeout)
    }

    fn set_connect_timeout(
        &mut self,
        options: Resource<RequestOptionsResource>,
        span: Option<u64>,
    ) -> Result<std::result::Result<(), ()>> {
        self.set_timeout(SET_CONNECT_TIMEOUT, &options, span, |options| &mut options.connect_timeout)
    }

    fn first_byte_timeout(&mut self, options: Resource<RequestOptionsResource>) -> Result<Option<u64>> {
        self.timeout(FIRST_BYTE_TIMEOUT, &options, |options| options.first_byte_timeout)
    }

    fn set_first_byte_timeout(
        &mut self,
        options: Resource<RequestOptionsResource>,
        span: Option<u64>,
    ) -> Result<std::result::Result<(), ()>> {
        self.set_timeout(SET_FIRST_BYTE_TIMEOUT, &options, span, |options| &mut options.first_byte_timeout)
    }

    fn between_bytes_timeout(&mut self, options: Resource<RequestOptionsResource>) -> Result<Option<u64>> {
        self.timeout(BETWEEN_BYTES_TIMEOUT, &options, |options| options.between_bytes_timeout)
    }

    fn set_between_bytes_timeout(
        &mut self,
        options: Resource<RequestOptionsResource>,
        span: Option<u64>,
    ) -> Result<std::result::Result<(), ()>> {
        self.set_timeout(SET_BETWEEN_BYTES_TIMEOUT, &options, span, |options| &mut options.between_bytes_timeout)
    }

    fn drop(&mut self, options: Resource<RequestOptionsResource>) -> Result<()> {
        self.http_close(DROP_OPTIONS, options.rep())
    }
}

impl types::HostOutgoingResponse for Host {
    fn new(&mut self, headers: Resource<FieldsResource>) -> Result<Resource<OutgoingResponseResource>> {
        let rep = headers.rep();
        self.http_open(RESPONSE, rep, |host| {
            let headers = host.take_fields(RESPONSE, rep)?;
            Ok(HttpHandle::OutgoingResponse(response::OutgoingResponse::new(headers)))
        })
    }

    fn status_code(&mut self, handle: Resource<OutgoingResponseResource>) -> Result<u16> {
        let rep = handle.rep();
        self.call(STATUS_CODE, rep, |host| {
            Ok(of_kind!(host.http(STATUS_CODE, rep)?, STATUS_CODE, OutgoingResponse).status())
        })
    }

    fn set_status_code(
        &mut self,
        handle: Resource<OutgoingResponseResource>,
        status: u16,
    ) -> Result<std::result::Result<(), ()>> {
        let rep = handle.rep();
        self.call(SET_STATUS_CODE, (rep, status), |host| {
            let response = of_kind!(host.http(SET_STATUS_CODE, rep)?, SET_STATUS_CODE, OutgoingResponse);
            Ok(if response.set_status(status) { Ok(()) } else { Err(()) })
        })
    }

    fn headers(&mut self, handle: Resource<OutgoingResponseResource>) -> Result<Resource<FieldsResource>> {
        let rep = handle.rep();
        self.http_open(RESPONSE_HEADERS, rep, |host| {
            let response = of_kind!(host.http(RESPONSE_HEADERS, rep)?, RESPONSE_HEADERS, OutgoingResponse);
            Ok(HttpHandle::Fields(response.headers.clone()))
        })
    }

    fn body(
        &mut self,
        handle: Resource<OutgoingResponseResource>,
    ) -> Result<std::result::Result<Resource<OutgoingBodyResource>, ()>> {
        let rep = handle.rep();
        self.http_open_once(RESPONSE_BODY, rep, |host| {
            let response = of_kind!(host.http(RESPONSE_BODY, rep)?, RESPONSE_BODY, OutgoingResponse);
            if response.body.is_some() {
                return Ok(None);
            }
            let declared = response.headers.content_length();
            let body = host.new_body(MessageKind::Response, declared);
            of_kind!(host.http(RESPONSE_BODY, rep)?, RESPONSE_BODY, OutgoingResponse).body = Some(body);
            Ok(Some(HttpHandle::OutgoingBody(body)))
        })
    }

    fn drop(&mut self, handle: Resource<OutgoingResponseResource>) -> Result<()> {
        self.http_close(DROP_RESPONSE, handle.rep())
    }
}

impl types::HostOutgoingBody for Host {
    fn write(
        &mut self,
        handle: Resource<OutgoingBodyResource>,
    ) -> Result<std::result::Result<Resource<OutputStreamResource>, ()>> {
        let rep = handle.rep();
        let stream = self.call(WRITE, rep, |host| {
            let body = *of_kind!(host.http(WRITE, rep)?, WRITE, OutgoingBody);
            if !host.world().http.bodies.take_stream(body, BodySide::Writer) {
                return Ok(None);
            }
            let stream = Handle::OutputStream(Output::Http { body, closed: false });
            host.node_mut().table.insert(stream).map(Some).map_err(misuse(WRITE))
        })?;
        Ok(stream.map(Resource::new_own).ok_or(()))
    }

    fn finish(
        &mut self,
        handle: Resource<OutgoingBodyResource>,
        trailers: Option<Resource<FieldsResource>>,
    ) -> HttpResult<()> {
        let (rep, trailers) = (handle.rep(), trailers.map(|trailers| trailers.rep()));
        self.call(FINISH, (rep, trailers), |host| {
            let body = of_kind!(host.http_take(FINISH, rep)?, FINISH, OutgoingBody);
            let trailers = trailers.map(|trailers| host.take_fields(FINISH, trailers)).transpose()?;
            let (finished, live) = host.with_context(|world, context| world.http_finish(body, trailers, context));
            host.http_ask(live)?;
            Ok(finished.map_err(code))
        })
    }

    fn drop(&mut self, handle: Resource<OutgoingBodyResource>) -> Result<()> {
        self.http_close(DROP_BODY, handle.rep())
    }
}

impl types::HostResponseOutparam for Host {
    // Unstable in WASI (feature informational-outbound-responses), so that the linker does not offer it; the text allows an
    // implementation to refuse.
    fn send_informational(
        &mut self,
        outparam: Resource<ResponseOutparamResource>,
        status: u16,
        headers: Resource<FieldsResource>,
    ) -> HttpResult<()> {
        let asked = (outparam.rep(), status, headers.rep());
        self.call(SEND_INFORMATIONAL, asked, |host| {
            let node = host.node;
            host.world().http_drop(node, headers.rep()).map_err(super::trap(SEND_INFORMATIONAL))?;
            let is_informational = (100..200).contains(&status);
            Ok(Err(if is_informational { ErrorCode::InternalError(None) } else { ErrorCode::HttpProtocolError }))
        })
    }

    fn set(
        &mut self,
        outparam: Resource<ResponseOutparamResource>,
        response: std::result::Result<Resource<OutgoingResponseResource>, ErrorCode>,
    ) -> Result<()> {
        let response = response.map(|response| response.rep());
        self.call(SET, (outparam.rep(), response.clone()), |host| {
            let exchange = of_kind!(host.http_take(SET, outparam.rep())?, SET, ResponseOutparam);
            let response = match response {
                Ok(rep) => Ok(of_kind!(host.http_take(SET, rep)?, SET, OutgoingResponse)),
                Err(error) => Err(from_code(error)),
            };
            host.world().http_respond(exchange, response);
            Ok(())
        })
    }

    fn drop(&mut self, outparam: Resource<ResponseOutparamResource>) -> Result<()> {
        self.http_close(DROP_OUTPARAM, outparam.rep())
    }
}

impl outgoing_handler::Host for Host {
    fn handle(
        &mut self,
        request: Resource<OutgoingRequestResource>,
        options: Option<Resource<RequestOptionsResource>>,
    ) -> HttpResult<Resource<FutureIncomingResponseResource>> {
        let (rep, options) = (request.rep(), options.map(|options| options.rep()));
        let asked = (rep, self.request_line(rep), options);
        let future = self.call(HANDLE, asked, |host| {
            let request = of_kind!(host.http_take(HANDLE, rep)?, HANDLE, OutgoingRequest);
            let options = match options {
                Some(options) => of_kind!(host.http_take(HANDLE, options)?, HANDLE, RequestOptions),
                None => request::RequestOptions::default(),
            };
            match host.with_context(|world, context| world.http_handle(request, options, context)) {
                Ok((exchange, live)) => {
                    host.http_ask(live)?;
                    host.http_place(HANDLE, HttpHandle::FutureIncomingResponse(exchange)).map(Ok)
                }
                Err(error) => Ok(Err(code(error))),
            }
        })?;
        Ok(future.map(Resource::new_own))
    }
}
