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
pub enum HttpErrorCode {
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

impl HttpErrorCode {
    /// The case's name in the WIT.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            HttpErrorCode::DnsTimeout => "DNS-timeout",
            HttpErrorCode::DnsError { .. } => "DNS-error",
            HttpErrorCode::DestinationNotFound => "destination-not-found",
            HttpErrorCode::DestinationUnavailable => "destination-unavailable",
            HttpErrorCode::DestinationIpProhibited => "destination-IP-prohibited",
            HttpErrorCode::DestinationIpUnroutable => "destination-IP-unroutable",
            HttpErrorCode::ConnectionRefused => "connection-refused",
            HttpErrorCode::ConnectionTerminated => "connection-terminated",
            HttpErrorCode::ConnectionTimeout => "connection-timeout",
            HttpErrorCode::ConnectionReadTimeout => "connection-read-timeout",
            HttpErrorCode::ConnectionWriteTimeout => "connection-write-timeout",
            HttpErrorCode::ConnectionLimitReached => "connection-limit-reached",
            HttpErrorCode::TlsProtocolError => "TLS-protocol-error",
            HttpErrorCode::TlsCertificateError => "TLS-certificate-error",
            HttpErrorCode::TlsAlertReceived { .. } => "TLS-alert-received",
            HttpErrorCode::HttpRequestDenied => "HTTP-request-denied",
            HttpErrorCode::HttpRequestLengthRequired => "HTTP-request-length-required",
            HttpErrorCode::HttpRequestBodySize(_) => "HTTP-request-body-size",
            HttpErrorCode::HttpRequestMethodInvalid => "HTTP-request-method-invalid",
            HttpErrorCode::HttpRequestUriInvalid => "HTTP-request-URI-invalid",
            HttpErrorCode::HttpRequestUriTooLong => "HTTP-request-URI-too-long",
            HttpErrorCode::HttpRequestHeaderSectionSize(_) => "HTTP-request-header-section-size",
            HttpErrorCode::HttpRequestHeaderSize(_) => "HTTP-request-header-size",
            HttpErrorCode::HttpRequestTrailerSectionSize(_) => "HTTP-request-trailer-section-size",
            HttpErrorCode::HttpRequestTrailerSize(_) => "HTTP-request-trailer-size",
            HttpErrorCode::HttpResponseIncomplete => "HTTP-response-incomplete",
            HttpErrorCode::HttpResponseHeaderSectionSize(_) => "HTTP-response-header-section-size",
            HttpErrorCode::HttpResponseHeaderSize(_) => "HTTP-response-header-size",
            HttpErrorCode::HttpResponseBodySize(_) => "HTTP-response-body-size",
            HttpErrorCode::HttpResponseTrailerSectionSize(_) => "HTTP-response-trailer-section-size",
            HttpErrorCode::HttpResponseTrailerSize(_) => "HTTP-response-trailer-size",
            HttpErrorCode::HttpResponseTransferCoding(_) => "HTTP-response-transfer-coding",
            HttpErrorCode::HttpResponseContentCoding(_) => "HTTP-response-content-coding",
            HttpErrorCode::HttpResponseTimeout => "HTTP-response-timeout",
            HttpErrorCode::HttpUpgradeFailed => "HTTP-upgrade-failed",
            HttpErrorCode::HttpProtocolError => "HTTP-protocol-error",
            HttpErrorCode::LoopDetected => "loop-detected",
            HttpErrorCode::ConfigurationError => "configuration-error",
            HttpErrorCode::InternalError(_) => "internal-error",
        }
    }

    /// An unknown name, in the words of wasmtime-wasi-http.
    #[must_use]
    pub fn unknown_host() -> HttpErrorCode {
        HttpErrorCode::DnsError { rcode: Some("address not available".to_owned()), info_code: None }
    }
}

impl fmt::Display for HttpErrorCode {
    /// The name, and what the case carries.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self {
            HttpErrorCode::DnsError { rcode, info_code } => write!(f, "({rcode:?}, {info_code:?})"),
            HttpErrorCode::TlsAlertReceived { id, message } => write!(f, "({id:?}, {message:?})"),
            HttpErrorCode::HttpRequestBodySize(size) | HttpErrorCode::HttpResponseBodySize(size) => {
                write!(f, "({size:?})")
            }
            HttpErrorCode::HttpRequestHeaderSectionSize(size)
            | HttpErrorCode::HttpRequestTrailerSectionSize(size)
            | HttpErrorCode::HttpResponseHeaderSectionSize(size)
            | HttpErrorCode::HttpResponseTrailerSectionSize(size) => write!(f, "({size:?})"),
            HttpErrorCode::HttpRequestHeaderSize(field) => write!(f, "({field:?})"),
            HttpErrorCode::HttpRequestTrailerSize(field)
            | HttpErrorCode::HttpResponseHeaderSize(field)
            | HttpErrorCode::HttpResponseTrailerSize(field) => write!(f, "({field:?})"),
            HttpErrorCode::HttpResponseTransferCoding(text)
            | HttpErrorCode::HttpResponseContentCoding(text)
            | HttpErrorCode::InternalError(text) => write!(f, "({text:?})"),
            _ => Ok(()),
        }
    }
}

impl std::error::Error for HttpErrorCode {}
