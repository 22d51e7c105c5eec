//! Which hosts and commands of the real computer a program may ask.
//!
//! ```text
//! api.test         that host, at any port         git           that command, found by its name
//! api.test:8443    at this port only              /usr/bin/git  that file
//! *.test           every host below `test`        ./tool        that file, below the root of the run
//! [::1]:80         an address, as [::1] and ::1
//! *                every host
//! ```
//!
//! Names are compared without regard to capitals and to a dot at the end; addresses as numbers. A name never allows the
//! address that it has, nor an address the name.
//!
//! Invariant: what cannot be read as a host and a port is not allowed. Not here: who asks (`http`, `process`), what an allowed
//! command does, and rules of the plan, which answer without the real computer.

use fozzy_trace::plan::LivePolicy;
use std::net::IpAddr;

/// One host, or all hosts below one, at one port or all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostPattern {
    name: HostName,
    /// Whether `name` is what hosts end with.
    below: bool,
    port: Option<u16>,
}

/// A host in its one spelling; empty stands for every one.
#[derive(Clone, Debug, PartialEq, Eq)]
enum HostName {
    Address(IpAddr),
    Name(String),
}

impl HostName {
    fn of(host: &str) -> HostName {
        match host.parse() {
            Ok(address) => HostName::Address(address),
            Err(_) => HostName::Name(host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase()),
        }
    }
}

impl HostPattern {
    /// Reads one.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub fn parse(text: &str) -> Result<HostPattern, String> {
        let wrong =
            |problem: &str| Err(format!("`{text}` {problem}; write a host such as `api.test`, `*.test` or `[::1]:80`"));
        if text.contains("://") || text.contains(['/', '?', '#', '@']) {
            return wrong("is no host but an address of a page");
        }
        if let Ok(address) = text.parse::<IpAddr>() {
            return Ok(HostPattern { name: HostName::Address(address), below: false, port: None });
        }
        let Some((host, port)) = split_port(text) else { return wrong("has a port that is no number from 1 to 65535") };
        if text.starts_with('[') && host.parse::<std::net::Ipv6Addr>().is_err() {
            return wrong("has brackets around what is no IPv6 address");
        }
        let (host, below) = match (host, host.strip_prefix("*.")) {
            ("*", _) => ("", true),
            (_, Some(rest)) => (rest, true),
            _ => (host, false),
        };
        if host.is_empty() && !text.starts_with('*') || below && text.starts_with("*.") && host.is_empty() {
            return wrong("names no host");
        }
        if !host.is_ascii() {
            return wrong("has letters that names of hosts are not looked up with: write it as `xn--…`");
        }
        let name = HostName::of(host);
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        match &name {
            HostName::Address(_) if below => wrong("has a `*` before an address"),
            HostName::Name(host) if host.contains('*') => wrong("has a `*` elsewhere than as its first label"),
            HostName::Name(host) if !host.bytes().all(plain) || host.starts_with('.') || host.contains("..") => {
                wrong("has characters that names of hosts do not have")
            }
            _ => Ok(HostPattern { name, below, port }),
        }
    }

    /// Whether it is this host at this port.
    #[must_use]
    pub fn matches(&self, host: &str, port: u16) -> bool {
        let fits = match (&self.name, HostName::of(host)) {
            (HostName::Name(every), _) if self.below && every.is_empty() => true,
            (HostName::Name(end), HostName::Name(host)) if self.below => {
                host.strip_suffix(end.as_str()).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
            }
            (name, host) => *name == host,
        };
        fits && self.port.is_none_or(|own| own == port)
    }
}

/// Host and port of `HOST:PORT` or `[ADDRESS]:PORT`; `None` if what follows the host is no port.
fn split_port(text: &str) -> Option<(&str, Option<u16>)> {
    let (host, rest) = match text.strip_prefix('[') {
        Some(address) => address.split_once(']')?,
        None => text.split_at(text.find(':').unwrap_or(text.len())),
    };
    match rest.strip_prefix(':') {
        None if rest.is_empty() => Some((host, None)),
        Some(digits) if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            digits.parse().ok().filter(|port| *port > 0).map(|port| (host, Some(port)))
        }
        _ => None,
    }
}

/// The host of an authority of a URL, without brackets, and its port, or `default`.
#[must_use]
pub fn host_and_port(authority: &str, default: u16) -> Option<(&str, u16)> {
    // What ends an authority cannot stand in one: `evil.test/@api.test` is a page of evil.test.
    if authority.contains(['/', '?', '#', '\\']) || authority.contains(char::is_whitespace) {
        return None;
    }
    let authority = authority.rsplit('@').next().unwrap_or(authority);
    let authority = authority.strip_suffix(':').unwrap_or(authority);
    let (host, port) = match split_port(authority)? {
        (host, port) if !host.is_empty() => (host, port),
        _ => return None,
    };
    Some((host, port.unwrap_or(default)))
}

/// Whether a request may be sent there.
#[must_use]
pub fn allows_host(policy: &LivePolicy, authority: &str, default_port: u16) -> bool {
    let Some(hosts) = &policy.hosts else { return true };
    let Some((host, port)) = host_and_port(authority, default_port) else { return false };
    hosts.iter().filter_map(|text| HostPattern::parse(text).ok()).any(|pattern| pattern.matches(host, port))
}

/// Whether a command may be run. One that is named by a relative path is another file in another directory, so that it is
/// allowed in the root only.
#[must_use]
pub fn allows_command(policy: &LivePolicy, command: &str, cwd: Option<&str>) -> bool {
    let Some(commands) = &policy.commands else { return true };
    let is_relative = command.contains('/') && !command.starts_with('/');
    let at_root = matches!(cwd, None | Some("" | "." | "./"));
    commands.iter().any(|allowed| allowed == command) && (at_root || !is_relative)
}

/// What is wrong with the name of an allowed command.
///
/// # Errors
/// That, in words.
pub fn check_command(text: &str) -> Result<(), String> {
    let wrong =
        |problem: &str| Err(format!("`{}` {problem}; write a name such as `git`, or a path", text.escape_debug()));
    if text.is_empty() {
        return wrong("names no command");
    }
    if text.contains(['*', '\0']) {
        return wrong("has a `*` or a NUL byte in it, and commands are allowed one by one");
    }
    if text.split('/').any(|name| name == "..") || text.ends_with('/') {
        return wrong("is no path of a command");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(hosts: &[&str]) -> LivePolicy {
        LivePolicy { hosts: Some(hosts.iter().map(|host| (*host).to_owned()).collect()), ..LivePolicy::default() }
    }

    #[test]
    fn hosts_are_allowed_by_name_address_and_port() {
        for (pattern, yes, no) in [
            (
                "api.test",
                &["api.test", "API.test:81", "u:p@api.test", "api.test.", "api.test:"][..],
                &[
                    "a.api.test",
                    "xapi.test",
                    "api.test.evil",
                    "api.test@evil",
                    "evil/@api.test",
                    "evil#@api.test",
                    "evil\\@api.test",
                ][..],
            ),
            ("API.Test.:81", &["api.test:81"], &["api.test", "api.test:80"]),
            ("*.test", &["a.test", "a.b.TEST:9"], &["test", ".test", "xtest", "a.test.evil", "127.0.0.1"]),
            ("*", &["a", "127.0.0.1:1", "[::1]"], &["", ":80", "a:x", "a:99999"]),
            ("*:443", &["a:443"], &["a", "a:80"]),
            (
                "127.0.0.1",
                &["127.0.0.1:8080"],
                &["localhost", "127.0.0.2", "127.1", "2130706433", "[::ffff:127.0.0.1]"],
            ),
            ("[::1]:80", &["[::1]", "[0:0::1]:80"], &["[::1]:81", "[::2]", "::1"]),
            ("::1", &["[::1]:81"], &["localhost"]),
        ] {
            let policy = hosts(&[pattern]);
            yes.iter().for_each(|host| assert!(allows_host(&policy, host, 80), "{pattern} allows {host}"));
            no.iter().for_each(|host| assert!(!allows_host(&policy, host, 80), "{pattern} does not allow {host}"));
        }
        assert!(!allows_host(&hosts(&[]), "a", 80), "an empty list allows nothing");
        assert!(allows_host(&LivePolicy::default(), "a", 80), "no list bounds nothing");
        assert!(allows_host(&hosts(&["a", "a", "b"]), "b", 80), "named twice is named");
    }

    #[test]
    fn what_names_no_host_is_refused() {
        for text in [
            "",
            "http://a",
            "a/b",
            "a@b",
            "a?",
            "a b",
            "a:",
            "a:0",
            "a:x",
            "a:65536",
            "[::1",
            "[a]",
            "a*b",
            "a.*",
            "**",
            "*.",
            "*.*",
            "*.1.2.3.4",
            "é.test",
            "..",
            "a..b",
            ".a",
            "a\0",
            "[::1]x",
            ":80",
        ] {
            let error = HostPattern::parse(text).expect_err(text);
            assert!(error.contains("`api.test`"), "{error}");
        }
    }

    #[test]
    fn commands_are_allowed_one_by_one() {
        let commands = Some(["git", "/bin/sh", "./tool"].map(str::to_owned).to_vec());
        let policy = LivePolicy { commands, ..LivePolicy::default() };
        for (command, cwd, expected) in [
            ("git", Some("sub"), true),
            ("/bin/sh", None, true),
            ("./tool", None, true),
            ("./tool", Some("."), true),
            ("./tool", Some("sub"), false),
            ("tool", None, false),
            ("sh", None, false),
            ("/usr/bin/git", None, false),
            ("/bin/../bin/sh", None, false),
            ("", None, false),
        ] {
            assert_eq!(allows_command(&policy, command, cwd), expected, "{command} in {cwd:?}");
        }
        let none = LivePolicy { commands: Some(Vec::new()), ..LivePolicy::default() };
        assert!(!allows_command(&none, "git", None) && allows_command(&LivePolicy::default(), "git", None));
        for text in ["", "*", "a*", "../x", "a/../b", "bin/", "a\0"] {
            assert!(check_command(text).is_err(), "{text}");
        }
        assert!(["git", "./tool", "/a b/c"].iter().all(|text| check_command(text).is_ok()));
    }
}
