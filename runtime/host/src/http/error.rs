//! Methods, schemes and error codes, from the world's words to those of WIT and back.
//!
//! Invariant: case by case, nothing is lost; a case that WIT gains does not compile until it stands here.

use crate::bindings::wasi::http::types::{
    DnsErrorPayload, ErrorCode, FieldSizePayload, HeaderError, Method, Scheme, TlsAlertReceivedPayload,
};
use fozzy_world::http::error::FieldSize;
use fozzy_world::http::{FieldsError, HttpErrorCode as Code, Method as Verb, Scheme as Protocol};

pub(super) fn method(method: &Verb) -> Method {
    match method {
        Verb::Get => Method::Get,
        Verb::Head => Method::Head,
        Verb::Post => Method::Post,
        Verb::Put => Method::Put,
        Verb::Delete => Method::Delete,
        Verb::Connect => Method::Connect,
        Verb::Options => Method::Options,
        Verb::Trace => Method::Trace,
        Verb::Patch => Method::Patch,
        Verb::Other(name) => Method::Other(name.clone()),
    }
}

pub(super) fn from_method(method: &Method) -> Verb {
    match method {
        Method::Get => Verb::Get,
        Method::Head => Verb::Head,
        Method::Post => Verb::Post,
        Method::Put => Verb::Put,
        Method::Delete => Verb::Delete,
        Method::Connect => Verb::Connect,
        Method::Options => Verb::Options,
        Method::Trace => Verb::Trace,
        Method::Patch => Verb::Patch,
        Method::Other(name) => Verb::Other(name.clone()),
    }
}

pub(super) fn scheme(scheme: &Protocol) -> Scheme {
    match scheme {
        Protocol::Http => Scheme::Http,
        Protocol::Https => Scheme::Https,
        Protocol::Other(name) => Scheme::Other(name.clone()),
    }
}

pub(super) fn from_scheme(scheme: &Scheme) -> Protocol {
    match scheme {
        Scheme::Http => Protocol::Http,
        Scheme::Https => Protocol::Https,
        Scheme::Other(name) => Protocol::Other(name.clone()),
    }
}

/// `None` is the bound of the fields, which WASI has no word for.
pub(super) fn header_error(error: FieldsError) -> Option<HeaderError> {
    match error {
        FieldsError::InvalidSyntax => Some(HeaderError::InvalidSyntax),
        FieldsError::Forbidden => Some(HeaderError::Forbidden),
        FieldsError::Immutable => Some(HeaderError::Immutable),
        FieldsError::TooLarge => None,
    }
}

fn field(field: FieldSize) -> FieldSizePayload {
    FieldSizePayload { field_name: field.name, field_size: field.size }
}

fn from_field(field: FieldSizePayload) -> FieldSize {
    FieldSize { name: field.field_name, size: field.field_size }
}

pub(super) fn code(code: Code) -> ErrorCode {
    match code {
        Code::DnsTimeout => ErrorCode::DnsTimeout,
        Code::DnsError { rcode, info_code } => ErrorCode::DnsError(DnsErrorPayload { rcode, info_code }),
        Code::DestinationNotFound => ErrorCode::DestinationNotFound,
        Code::DestinationUnavailable => ErrorCode::DestinationUnavailable,
        Code::DestinationIpProhibited => ErrorCode::DestinationIpProhibited,
        Code::DestinationIpUnroutable => ErrorCode::DestinationIpUnroutable,
        Code::ConnectionRefused => ErrorCode::ConnectionRefused,
        Code::ConnectionTerminated => ErrorCode::ConnectionTerminated,
        Code::ConnectionTimeout => ErrorCode::ConnectionTimeout,
        Code::ConnectionReadTimeout => ErrorCode::ConnectionReadTimeout,
        Code::ConnectionWriteTimeout => ErrorCode::ConnectionWriteTimeout,
        Code::ConnectionLimitReached => ErrorCode::ConnectionLimitReached,
        Code::TlsProtocolError => ErrorCode::TlsProtocolError,
        Code::TlsCertificateError => ErrorCode::TlsCertificateError,
        Code::TlsAlertReceived { id, message } => {
            ErrorCode::TlsAlertReceived(TlsAlertReceivedPayload { alert_id: id, alert_message: message })
        }
        Code::HttpRequestDenied => ErrorCode::HttpRequestDenied,
        Code::HttpRequestLengthRequired => ErrorCode::HttpRequestLengthRequired,
        Code::HttpRequestBodySize(size) => ErrorCode::HttpRequestBodySize(size),
        Code::HttpRequestMethodInvalid => ErrorCode::HttpRequestMethodInvalid,
        Code::HttpRequestUriInvalid => ErrorCode::HttpRequestUriInvalid,
        Code::HttpRequestUriTooLong => ErrorCode::HttpRequestUriTooLong,
        Code::HttpRequestHeaderSectionSize(size) => ErrorCode::HttpRequestHeaderSectionSize(size),
        Code::HttpRequestHeaderSize(size) => ErrorCode::HttpRequestHeaderSize(size.map(field)),
        Code::HttpRequestTrailerSectionSize(size) => ErrorCode::HttpRequestTrailerSectionSize(size),
        Code::HttpRequestTrailerSize(size) => ErrorCode::HttpRequestTrailerSize(field(size)),
        Code::HttpResponseIncomplete => ErrorCode::HttpResponseIncomplete,
        Code::HttpResponseHeaderSectionSize(size) => ErrorCode::HttpResponseHeaderSectionSize(size),
        Code::HttpResponseHeaderSize(size) => ErrorCode::HttpResponseHeaderSize(field(size)),
        Code::HttpResponseBodySize(size) => ErrorCode::HttpResponseBodySize(size),
        Code::HttpResponseTrailerSectionSize(size) => ErrorCode::HttpResponseTrailerSectionSize(size),
        Code::HttpResponseTrailerSize(size) => ErrorCode::HttpResponseTrailerSize(field(size)),
        Code::HttpResponseTransferCoding(name) => ErrorCode::HttpResponseTransferCoding(name),
        Code::HttpResponseContentCoding(name) => ErrorCode::HttpResponseContentCoding(name),
        Code::HttpResponseTimeout => ErrorCode::HttpResponseTimeout,
        Code::HttpUpgradeFailed => ErrorCode::HttpUpgradeFailed,
        Code::HttpProtocolError => ErrorCode::HttpProtocolError,
        Code::LoopDetected => ErrorCode::LoopDetected,
        Code::ConfigurationError => ErrorCode::ConfigurationError,
        Code::InternalError(what) => ErrorCode::InternalError(what),
    }
}

pub(super) fn from_code(code: ErrorCode) -> Code {
    match code {
        ErrorCode::DnsTimeout => Code::DnsTimeout,
        ErrorCode::DnsError(DnsErrorPayload { rcode, info_code }) => Code::DnsError { rcode, info_code },
        ErrorCode::DestinationNotFound => Code::DestinationNotFound,
        ErrorCode::DestinationUnavailable => Code::DestinationUnavailable,
        ErrorCode::DestinationIpProhibited => Code::DestinationIpProhibited,
        ErrorCode::DestinationIpUnroutable => Code::DestinationIpUnroutable,
        ErrorCode::ConnectionRefused => Code::ConnectionRefused,
        ErrorCode::ConnectionTerminated => Code::ConnectionTerminated,
        ErrorCode::ConnectionTimeout => Code::ConnectionTimeout,
        ErrorCode::ConnectionReadTimeout => Code::ConnectionReadTimeout,
        ErrorCode::ConnectionWriteTimeout => Code::ConnectionWriteTimeout,
        ErrorCode::ConnectionLimitReached => Code::ConnectionLimitReached,
        ErrorCode::TlsProtocolError => Code::TlsProtocolError,
        ErrorCode::TlsCertificateError => Code::TlsCertificateError,
        ErrorCode::TlsAlertReceived(TlsAlertReceivedPayload { alert_id, alert_message }) => {
            Code::TlsAlertReceived { id: alert_id, message: alert_message }
        }
        ErrorCode::HttpRequestDenied => Code::HttpRequestDenied,
        ErrorCode::HttpRequestLengthRequired => Code::HttpRequestLengthRequired,
        ErrorCode::HttpRequestBodySize(size) => Code::HttpRequestBodySize(size),
        ErrorCode::HttpRequestMethodInvalid => Code::HttpRequestMethodInvalid,
        ErrorCode::HttpRequestUriInvalid => Code::HttpRequestUriInvalid,
        ErrorCode::HttpRequestUriTooLong => Code::HttpRequestUriTooLong,
        ErrorCode::HttpRequestHeaderSectionSize(size) => Code::HttpRequestHeaderSectionSize(size),
        ErrorCode::HttpRequestHeaderSize(size) => Code::HttpRequestHeaderSize(size.map(from_field)),
        ErrorCode::HttpRequestTrailerSectionSize(size) => Code::HttpRequestTrailerSectionSize(size),
        ErrorCode::HttpRequestTrailerSize(size) => Code::HttpRequestTrailerSize(from_field(size)),
        ErrorCode::HttpResponseIncomplete => Code::HttpResponseIncomplete,
        ErrorCode::HttpResponseHeaderSectionSize(size) => Code::HttpResponseHeaderSectionSize(size),
        ErrorCode::HttpResponseHeaderSize(size) => Code::HttpResponseHeaderSize(from_field(size)),
        ErrorCode::HttpResponseBodySize(size) => Code::HttpResponseBodySize(size),
        ErrorCode::HttpResponseTrailerSectionSize(size) => Code::HttpResponseTrailerSectionSize(size),
        ErrorCode::HttpResponseTrailerSize(size) => Code::HttpResponseTrailerSize(from_field(size)),
        ErrorCode::HttpResponseTransferCoding(name) => Code::HttpResponseTransferCoding(name),
        ErrorCode::HttpResponseContentCoding(name) => Code::HttpResponseContentCoding(name),
        ErrorCode::HttpResponseTimeout => Code::HttpResponseTimeout,
        ErrorCode::HttpUpgradeFailed => Code::HttpUpgradeFailed,
        ErrorCode::HttpProtocolError => Code::HttpProtocolError,
        ErrorCode::LoopDetected => Code::LoopDetected,
        ErrorCode::ConfigurationError => Code::ConfigurationError,
        ErrorCode::InternalError(what) => Code::InternalError(what),
    }
}
