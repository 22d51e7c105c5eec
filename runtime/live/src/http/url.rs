//! The parts of an `http` or `https` URL that a request needs.
//!
//! ```text
//! https://user@[::1]:8443/a?b#c   tls, host "::1", port 8443, authority "[::1]:8443", target "/a?b"
//! ```
//!
//! Invariant: nothing in the parts can end a line or a word of the request. Not here: what the path means; it is
//! sent as it is.

/// See the module.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Url {
    /// Whether the connection is encrypted.
    pub(super) tls: bool,
    /// A name, or an address without brackets.
    pub(super) host: String,
    /// As given, or the scheme's own.
    pub(super) port: u16,
    /// Host and port, as the server gets them.
    pub(super) authority: String,
    /// Path and query.
    pub(super) target: String,
}

impl Url {
    /// The parts of `url`; `None` if it is none, or none of these schemes.
    pub(super) fn parse(url: &str) -> Option<Url> {
        if url.bytes().any(|byte| byte <= b' ' || byte == 0x7f) {
            return None;
        }
        let (scheme, rest) = url.split_once("://")?;
        let tls = match scheme.to_ascii_lowercase().as_str() {
            "http" => false,
            "https" => true,
            _ => return None,
        };
        let rest = rest.split('#').next().unwrap_or("");
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, target) = rest.split_at(end);
        // The user of a URL is not sent: the header `authorization` is for that.
        let authority = authority.rsplit('@').next().unwrap_or(authority);
        let (host, port) = match authority.strip_prefix('[') {
            Some(address) => address.split_once(']')?,
            None => authority.split_at(authority.find(':').unwrap_or(authority.len())),
        };
        let port = match port.strip_prefix(':') {
            None if !port.is_empty() => return None,
            None | Some("") => {
                if tls {
                    443
                } else {
                    80
                }
            }
            Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => digits.parse().ok()?,
            Some(_) => return None,
        };
        if host.is_empty() {
            return None;
        }
        let target = if target.starts_with('/') { target.to_owned() } else { format!("/{target}") };
        Some(Url { tls, host: host.to_owned(), port, authority: authority.to_owned(), target })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_have_parts() {
        for (url, expected) in [
            ("http://h", "false h 80 h /"),
            ("HTTPS://h:/a?b#c", "true h 443 h: /a?b"),
            ("http://u:p@h:8080?q=/", "false h 8080 h:8080 /?q=/"),
            ("https://[::1]:1/x", "true ::1 1 [::1]:1 /x"),
            ("http://h/ä", "false h 80 h /ä"),
        ] {
            let Url { tls, host, port, authority, target } = Url::parse(url).expect(url);
            assert_eq!(format!("{tls} {host} {port} {authority} {target}"), expected, "{url}");
        }
        for url in [
            "h",
            "ftp://h",
            "http://",
            "http:///a",
            "http://h:x",
            "http://h:+1",
            "http://h:65536",
            "http://[::1",
            "http://[::1]x",
            "http://h/a b",
            "http://h/\r\nx: y",
            "http://:80",
        ] {
            assert_eq!(Url::parse(url), None, "{url}");
        }
    }
}
