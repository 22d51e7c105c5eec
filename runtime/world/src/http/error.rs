//! The error codes of `wasi:http/types`, as values.
//!
//! Invariant: one case for each case of the WIT, with the same name when printed.

use std::fmt;

/// Which field is too large, and how large.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSize {
    /// Its name.
    pub name: Option<String>,
    /// Its size, in bytes.
    pub size: Option<u32>,
}

/// Why an exchange failed: `wasi:http/types.error-code`, where each case is described.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the cases of the WIT, where the documentation is")]
pub enum ErrorCode {
    DnsTimeout,
    DnsError { rcode: Option<String>, info_code: Option<u16> },
    DestinationNotFound,
    DestinationUnavailable,
    DestinationIpProhibited,
    DestinationIpUnroutable,
    ConnectionRefused,
    ConnectionTerminated,
    ConnectionTimeout,
    ConnectionReadTimeout,
    ConnectionWriteTimeout,
    ConnectionLimitReached,
    TlsProtocolError,
    TlsCertificateError,
    TlsAlertReceived { id: Option<u8>, message: Option<String> },
    HttpRequestDenied,
    HttpRequestLengthRequired,
    HttpRequestBodySize(Option<u64>),
    HttpRequestMethodInvalid,
    HttpRequestUriInvalid,
    HttpRequestUriTooLong,
    HttpRequestHeaderSectionSize(Option<u32>),
    HttpRequestHeaderSize(Option<FieldSize>),
    HttpRequestTrailerSectionSize(Option<u32>),
    HttpRequestTrailerSize(FieldSize),
    HttpResponseIncomplete,
    HttpResponseHeaderSectionSize(Option<u32>),
    HttpResponseHeaderSize(FieldSize),
    HttpResponseBodySize(Option<u64>),
    HttpResponseTrailerSectionSize(Option<u32>),
    HttpResponseTrailerSize(FieldSize),
    HttpResponseTransferCoding(Option<String>),
    HttpResponseContentCoding(Option<String>),
    HttpResponseTimeout,
    HttpUpgradeFailed,
    HttpProtocolError,
    LoopDetected,
    ConfigurationError,
    InternalError(Option<String>),
}

impl ErrorCode {
    /// The case's name in the WIT.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            ErrorCode::DnsTimeout => "DNS-timeout",
            ErrorCode::DnsError { .. } => "DNS-error",
            ErrorCode::DestinationNotFound => "destination-not-found",
            ErrorCode::DestinationUnavailable => "destination-unavailable",
            ErrorCode::DestinationIpProhibited => "destination-IP-prohibited",
            ErrorCode::DestinationIpUnroutable => "destination-IP-unroutable",
            ErrorCode::ConnectionRefused => "connection-refused",
            ErrorCode::ConnectionTerminated => "connection-terminated",
            ErrorCode::ConnectionTimeout => "connection-timeout",
            ErrorCode::ConnectionReadTimeout => "connection-read-timeout",
            ErrorCode::ConnectionWriteTimeout => "connection-write-timeout",
            ErrorCode::ConnectionLimitReached => "connection-limit-reached",
            ErrorCode::TlsProtocolError => "TLS-protocol-error",
            ErrorCode::TlsCertificateError => "TLS-certificate-error",
            ErrorCode::TlsAlertReceived { .. } => "TLS-alert-received",
            ErrorCode::HttpRequestDenied => "HTTP-request-denied",
            ErrorCode::HttpRequestLengthRequired => "HTTP-request-length-required",
            ErrorCode::HttpRequestBodySize(_) => "HTTP-request-body-size",
            ErrorCode::HttpRequestMethodInvalid => "HTTP-request-method-invalid",
            ErrorCode::HttpRequestUriInvalid => "HTTP-request-URI-invalid",
            ErrorCode::HttpRequestUriTooLong => "HTTP-request-URI-too-long",
            ErrorCode::HttpRequestHeaderSectionSize(_) => "HTTP-request-header-section-size",
            ErrorCode::HttpRequestHeaderSize(_) => "HTTP-request-header-size",
            ErrorCode::HttpRequestTrailerSectionSize(_) => "HTTP-request-trailer-section-size",
            ErrorCode::HttpRequestTrailerSize(_) => "HTTP-request-trailer-size",
            ErrorCode::HttpResponseIncomplete => "HTTP-response-incomplete",
            ErrorCode::HttpResponseHeaderSectionSize(_) => "HTTP-response-header-section-size",
            ErrorCode::HttpResponseHeaderSize(_) => "HTTP-response-header-size",
            ErrorCode::HttpResponseBodySize(_) => "HTTP-response-body-size",
            ErrorCode::HttpResponseTrailerSectionSize(_) => "HTTP-response-trailer-section-size",
            ErrorCode::HttpResponseTrailerSize(_) => "HTTP-response-trailer-size",
            ErrorCode::HttpResponseTransferCoding(_) => "HTTP-response-transfer-coding",
            ErrorCode::HttpResponseContentCoding(_) => "HTTP-response-content-coding",
            ErrorCode::HttpResponseTimeout => "HTTP-response-timeout",
            ErrorCode::HttpUpgradeFailed => "HTTP-upgrade-failed",
            ErrorCode::HttpProtocolError => "HTTP-protocol-error",
            ErrorCode::LoopDetected => "loop-detected",
            ErrorCode::ConfigurationError => "configuration-error",
            ErrorCode::InternalError(_) => "internal-error",
        }
    }

    /// A name that nobody knows, in the words of wasmtime-wasi-http.
    #[must_use]
    pub fn unknown_host() -> ErrorCode {
        ErrorCode::DnsError { rcode: Some("address not available".to_owned()), info_code: None }
    }
}

impl fmt::Display for ErrorCode {
    /// The name, and what the case carries.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self {
            ErrorCode::DnsError { rcode, info_code } => write!(f, "({rcode:?}, {info_code:?})"),
            ErrorCode::TlsAlertReceived { id, message } => write!(f, "({id:?}, {message:?})"),
            ErrorCode::HttpRequestBodySize(size) | ErrorCode::HttpResponseBodySize(size) => write!(f, "({size:?})"),
            ErrorCode::HttpRequestHeaderSectionSize(size)
            | ErrorCode::HttpRequestTrailerSectionSize(size)
            | ErrorCode::HttpResponseHeaderSectionSize(size)
            | ErrorCode::HttpResponseTrailerSectionSize(size) => write!(f, "({size:?})"),
            ErrorCode::HttpRequestHeaderSize(field) => write!(f, "({field:?})"),
            ErrorCode::HttpRequestTrailerSize(field)
            | ErrorCode::HttpResponseHeaderSize(field)
            | ErrorCode::HttpResponseTrailerSize(field) => write!(f, "({field:?})"),
            ErrorCode::HttpResponseTransferCoding(text)
            | ErrorCode::HttpResponseContentCoding(text)
            | ErrorCode::InternalError(text) => write!(f, "({text:?})"),
            _ => Ok(()),
        }
    }
}

impl std::error::Error for ErrorCode {}
