//! Connections of tasks: whoever waits for the network lets the others run.
//!
//! ```no_run
//! use fozzy_sdk::task::{self, net::TcpStream};
//!
//! let answer = task::block_on(async {
//!     let mut store = TcpStream::connect("n1:7000").await?;
//!     store.write_all(b"get x\n").await?;
//!     store.read_line().await
//! });
//! # drop(answer);
//! ```
//!
//! In the sandbox these are connections to the machines of the plan, by their names. Natively they are real, and a task that waits for
//! one keeps all others waiting.
//!
//! Invariant: what was read beyond a line is read next.

use std::io::{Error, ErrorKind, Result};

/// Bytes of a line at the most.
const LINE_BYTES_MAX: usize = 16 << 20;

/// A connection.
///
/// ```no_run
/// # async fn example() -> std::io::Result<()> {
/// let mut stream = fozzy_sdk::task::net::TcpStream::connect("n1:7000").await?;
/// stream.write_all(b"ping\n").await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct TcpStream {
    connection: connection::Connection,
    /// What was read and not taken.
    unread: Vec<u8>,
}

impl TcpStream {
    /// Connects to `name:port`.
    ///
    /// # Errors
    /// As the connect of std: the name is unknown, nobody listens, no answer comes.
    ///
    /// ```no_run
    /// # async fn example() -> std::io::Result<()> {
    /// let mut stream = fozzy_sdk::task::net::TcpStream::connect("n1:7000").await?;
    /// stream.write_all(b"ping\n").await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn connect(address: &str) -> Result<TcpStream> {
        let (name, port) = address.rsplit_once(':').ok_or_else(|| wrong(address))?;
        let port = port.parse().map_err(|_| wrong(address))?;
        let connection = connection::Connection::open(name, port).await?;
        Ok(TcpStream { connection, unread: Vec::new() })
    }

    /// The next bytes; none at the end.
    ///
    /// # Errors
    /// When the connection is broken.
    ///
    /// ```no_run
    /// # async fn example() -> std::io::Result<()> {
    /// let mut stream = fozzy_sdk::task::net::TcpStream::connect("n1:7000").await?;
    /// let bytes = stream.read().await?;
    /// assert!(!bytes.is_empty(), "it has not ended");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn read(&mut self) -> Result<Vec<u8>> {
        match self.unread.is_empty() {
            true => self.connection.read().await,
            false => Ok(std::mem::take(&mut self.unread)),
        }
    }

    /// The next line, without its end.
    ///
    /// # Errors
    /// When the connection is broken, ends within the line, or the line is no UTF-8 or too long.
    ///
    /// ```no_run
    /// # async fn example() -> std::io::Result<()> {
    /// let mut stream = fozzy_sdk::task::net::TcpStream::connect("n1:7000").await?;
    /// assert_eq!(stream.read_line().await?, "pong");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn read_line(&mut self) -> Result<String> {
        let mut looked = 0;
        loop {
            if let Some(end) = self.unread[looked..].iter().position(|byte| *byte == b'\n') {
                let rest = self.unread.split_off(looked + end + 1);
                let mut line = std::mem::replace(&mut self.unread, rest);
                line.pop();
                return String::from_utf8(line).map_err(|_| ErrorKind::InvalidData.into());
            }
            looked = self.unread.len();
            if looked > LINE_BYTES_MAX {
                return Err(Error::new(ErrorKind::InvalidData, "the line is too long"));
            }
            let more = self.connection.read().await?;
            if more.is_empty() {
                return Err(ErrorKind::UnexpectedEof.into());
            }
            self.unread.extend(more);
        }
    }

    /// All bytes to the end of the connection.
    ///
    /// # Errors
    /// When it is broken.
    ///
    /// ```no_run
    /// # async fn example() -> std::io::Result<()> {
    /// let mut stream = fozzy_sdk::task::net::TcpStream::connect("n1:7000").await?;
    /// println!("{} bytes", stream.read_to_end().await?.len());
    /// # Ok(())
    /// # }
    /// ```
    pub async fn read_to_end(&mut self) -> Result<Vec<u8>> {
        let mut all = std::mem::take(&mut self.unread);
        loop {
            match self.connection.read().await? {
                more if more.is_empty() => return Ok(all),
                more => all.extend(more),
            }
        }
    }

    /// Sends bytes.
    ///
    /// # Errors
    /// When the connection is broken.
    ///
    /// ```no_run
    /// # async fn example() -> std::io::Result<()> {
    /// let mut stream = fozzy_sdk::task::net::TcpStream::connect("n1:7000").await?;
    /// stream.write_all(b"ping\n").await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn write_all(&mut self, bytes: &[u8]) -> Result<()> {
        self.connection.write_all(bytes).await
    }
}

/// One request by HTTP/1.1, over a connection of its own: the status and the body of the answer.
///
/// ```no_run
/// use fozzy_sdk::task::{self, net};
///
/// let answer = task::block_on(net::http("n1:8080", "PUT", "/x", b"7"));
/// # drop(answer);
/// ```
///
/// # Errors
/// As those of [`TcpStream`], and for an answer that is none.
pub async fn http(address: &str, method: &str, path: &str, body: &[u8]) -> Result<(u16, Vec<u8>)> {
    let mut stream = TcpStream::connect(address).await?;
    let length = body.len();
    let head =
        format!("{method} {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n");
    stream.write_all(&[head.as_bytes(), body].concat()).await?;
    response(&stream.read_to_end().await?).ok_or_else(|| ErrorKind::InvalidData.into())
}

/// The status and the body of an answer that is there as a whole.
fn response(bytes: &[u8]) -> Option<(u16, Vec<u8>)> {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
    let (head, body) = (std::str::from_utf8(&bytes[..end]).ok()?, &bytes[end + 4..]);
    let status = head.split(' ').nth(1)?.parse().ok()?;
    let header = |name: &str| {
        let lines = head.lines().filter_map(|line| line.split_once(':'));
        lines.into_iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim().to_owned())
    };
    if header("transfer-encoding").is_some_and(|coding| coding.eq_ignore_ascii_case("chunked")) {
        return Some((status, chunks(body)?));
    }
    let length = header("content-length").and_then(|length| length.parse().ok()).unwrap_or(body.len());
    Some((status, body.get(..length)?.to_vec()))
}

/// The bytes of a chunked body: RFC 9112, section 7.1.
fn chunks(mut body: &[u8]) -> Option<Vec<u8>> {
    let mut all = Vec::new();
    loop {
        let end = body.windows(2).position(|two| two == b"\r\n")?;
        let length = std::str::from_utf8(&body[..end]).ok()?.split(';').next()?;
        let length = usize::from_str_radix(length.trim(), 16).ok()?;
        if length == 0 {
            return Some(all);
        }
        let chunk = body.get(end + 2..(end + 2).checked_add(length)?)?;
        all.extend_from_slice(chunk);
        body = body.get(end + 2 + length + 2..)?;
    }
}

fn wrong(address: &str) -> Error {
    Error::new(ErrorKind::InvalidInput, format!("expected `name:port`, found `{address}`"))
}

#[cfg(not(target_arch = "wasm32"))]
mod connection {
    use std::io::{Read, Result, Write};

    #[derive(Debug)]
    pub(super) struct Connection(std::net::TcpStream);

    impl Connection {
        pub(super) async fn open(name: &str, port: u16) -> Result<Connection> {
            std::net::TcpStream::connect((name, port)).map(Connection)
        }

        pub(super) async fn read(&mut self) -> Result<Vec<u8>> {
            let mut bytes = vec![0; 1 << 16];
            let length = self.0.read(&mut bytes)?;
            bytes.truncate(length);
            Ok(bytes)
        }

        pub(super) async fn write_all(&mut self, bytes: &[u8]) -> Result<()> {
            self.0.write_all(bytes)
        }
    }
}

#[cfg(target_arch = "wasm32")]
mod connection {
    use super::super::executor;
    use super::super::waiting::Resource;
    use crate::bindings::net::wasi::io::poll::Pollable;
    use crate::bindings::net::wasi::io::streams::{InputStream, OutputStream, StreamError};
    use crate::bindings::net::wasi::sockets::network::{ErrorCode, IpAddress, IpAddressFamily, IpSocketAddress};
    use crate::bindings::net::wasi::sockets::network::{Ipv4SocketAddress, Ipv6SocketAddress};
    use crate::bindings::net::wasi::sockets::tcp::TcpSocket;
    use crate::bindings::net::wasi::sockets::{instance_network, ip_name_lookup, tcp_create_socket};
    use std::future::Future;
    use std::io::{Error, ErrorKind, Result};
    use std::pin::Pin;
    use std::rc::Rc;
    use std::task::{Context, Poll};

    /// Bytes that are read at once.
    const READ_BYTES: u64 = 1 << 16;

    // Streams are dropped before the socket that they are of.
    #[derive(Debug)]
    pub(super) struct Connection {
        input: InputStream,
        output: OutputStream,
        _socket: TcpSocket,
    }

    impl Connection {
        pub(super) async fn open(name: &str, port: u16) -> Result<Connection> {
            let network = instance_network::instance_network();
            let addresses = ip_name_lookup::resolve_addresses(&network, name).map_err(error)?;
            let address = loop {
                match addresses.resolve_next_address() {
                    Ok(Some(address)) => break address,
                    Ok(None) => return Err(Error::new(ErrorKind::NotFound, "the name has no address")),
                    Err(ErrorCode::WouldBlock) => Ready::of(addresses.subscribe(), "the address of a name").await,
                    Err(code) => return Err(error(code)),
                }
            };
            let (family, remote) = match address {
                IpAddress::Ipv4(address) => {
                    (IpAddressFamily::Ipv4, IpSocketAddress::Ipv4(Ipv4SocketAddress { port, address }))
                }
                IpAddress::Ipv6(address) => {
                    let remote = Ipv6SocketAddress { port, flow_info: 0, address, scope_id: 0 };
                    (IpAddressFamily::Ipv6, IpSocketAddress::Ipv6(remote))
                }
            };
            let socket = tcp_create_socket::create_tcp_socket(family).map_err(error)?;
            socket.start_connect(&network, remote).map_err(error)?;
            let (input, output) = loop {
                match socket.finish_connect() {
                    Ok(streams) => break streams,
                    Err(ErrorCode::WouldBlock) => Ready::of(socket.subscribe(), "a connection").await,
                    Err(code) => return Err(error(code)),
                }
            };
            Ok(Connection { input, output, _socket: socket })
        }

        pub(super) async fn read(&mut self) -> Result<Vec<u8>> {
            loop {
                match self.input.read(READ_BYTES) {
                    Ok(bytes) if bytes.is_empty() => Ready::of(self.input.subscribe(), "bytes of a connection").await,
                    Ok(bytes) => return Ok(bytes),
                    Err(StreamError::Closed) => return Ok(Vec::new()),
                    Err(StreamError::LastOperationFailed(_)) => return Err(ErrorKind::ConnectionReset.into()),
                }
            }
        }

        pub(super) async fn write_all(&mut self, mut bytes: &[u8]) -> Result<()> {
            let broken = |_: StreamError| Error::from(ErrorKind::ConnectionReset);
            while !bytes.is_empty() {
                let room = self.output.check_write().map_err(broken)?;
                if room == 0 {
                    Ready::of(self.output.subscribe(), "room in a connection").await;
                    continue;
                }
                let (now, later) = bytes.split_at(bytes.len().min(usize::try_from(room).unwrap_or(usize::MAX)));
                self.output.write(now).map_err(broken)?;
                bytes = later;
            }
            self.output.flush().map_err(broken)
        }
    }

    fn error(code: ErrorCode) -> Error {
        let kind = match code {
            ErrorCode::ConnectionRefused => ErrorKind::ConnectionRefused,
            ErrorCode::ConnectionReset => ErrorKind::ConnectionReset,
            ErrorCode::ConnectionAborted => ErrorKind::ConnectionAborted,
            ErrorCode::Timeout => ErrorKind::TimedOut,
            ErrorCode::NameUnresolvable => ErrorKind::NotFound,
            _ => ErrorKind::Other,
        };
        Error::new(kind, code.name())
    }

    /// Waits until something outside is ready.
    struct Ready {
        event: Rc<Pollable>,
        what: &'static str,
        registered: Option<u64>,
    }

    impl Ready {
        fn of(event: Pollable, what: &'static str) -> Ready {
            Ready { event: Rc::new(event), what, registered: None }
        }
    }

    impl Resource for &'static str {
        fn name(&self) -> String {
            (*self).to_owned()
        }
        fn describe(&self) -> String {
            (*self).to_owned()
        }
    }

    impl Future for Ready {
        type Output = ();

        fn poll(mut self: Pin<&mut Ready>, context: &mut Context<'_>) -> Poll<()> {
            if self.event.ready() {
                return Poll::Ready(());
            }
            let (event, what) = (Rc::clone(&self.event), self.what);
            executor::with(|executor| {
                self.registered.take().into_iter().for_each(|number| executor.remove_event(number));
                self.registered = Some(executor.add_event(event, context.waker().clone()));
                executor.waits_for(Rc::new(what), None);
            });
            Poll::Pending
        }
    }

    impl Drop for Ready {
        fn drop(&mut self) {
            if let Some(number) = self.registered {
                executor::with(|executor| executor.remove_event(number));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_with_a_length_in_chunks_or_to_the_end() {
        let check = |bytes: &str, expected: Option<(u16, &str)>| {
            let expected = expected.map(|(status, body)| (status, body.as_bytes().to_vec()));
            assert_eq!(response(bytes.as_bytes()), expected, "{bytes:?}");
        };
        check("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokay", Some((200, "ok")));
        check("HTTP/1.1 404 Not Found\r\n\r\nno", Some((404, "no")));
        check(
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n1;x=y\r\nd\r\n0\r\n\r\n",
            Some((200, "abcd")),
        );
        check("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nshort", None);
        check("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nff\r\nabc", None);
        check("nothing", None);
    }

    #[test]
    #[allow(clippy::disallowed_methods, reason = "a native server beside the client that is tested")]
    fn lines_of_a_connection() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("loopback");
        let address = listener.local_addr().expect("it is bound").to_string();
        let server = std::thread::spawn(move || {
            use std::io::Write;
            let (mut stream, _) = listener.accept().expect("a client");
            stream.write_all(b"one\ntwo\nthr").expect("it is open");
        });
        crate::task::block_on(async {
            let mut stream = TcpStream::connect(&address).await.expect("it listens");
            assert_eq!(stream.read_line().await.expect("a line"), "one");
            assert_eq!(stream.read_line().await.expect("a line"), "two");
            assert_eq!(stream.read_line().await.expect_err("half a line").kind(), ErrorKind::UnexpectedEof);
        });
        server.join().expect("it ends");
    }
}
