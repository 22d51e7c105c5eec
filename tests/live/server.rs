//! A server on loopback that answers each request otherwise, and remembers what it was sent.
//!
//! ```text
//! /missing   404 with a body              /cut       half of the promised body
//! /garbage   bytes that are no HTTP       /moved     302 to what the request's header `x-to` says
//! /notations its authorization in many    others     200, a cookie, the request's own words
//! ```

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// The secret of the cookie that it sets.
pub(super) const COOKIE: &str = "9c41deadbeef";

/// How long it waits for a client that does not go on. A client that is broken shall fail the test, not stop it.
const PATIENCE: Duration = Duration::from_secs(20);

pub(super) struct Server {
    address: SocketAddr,
    stopping: Arc<AtomicBool>,
    thread: JoinHandle<Vec<String>>,
}

impl Server {
    pub(super) fn start() -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
        let address = listener.local_addr().expect("it is bound");
        let stopping = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&stopping);
        let thread = std::thread::spawn(move || {
            let mut requests = Vec::new();
            for client in listener.incoming() {
                if told.load(Ordering::SeqCst) {
                    break;
                }
                serve(client.expect("a client"), &mut requests);
            }
            requests
        });
        Server { address, stopping, thread }
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Ends it. Afterwards nobody listens at the port; the requests are given in their order, each with its body.
    pub(super) fn stop(self) -> (u16, Vec<String>) {
        self.stopping.store(true, Ordering::SeqCst);
        // Its loop looks up when somebody comes.
        drop(TcpStream::connect(self.address));
        (self.address.port(), self.thread.join().expect("the server did not panic"))
    }
}

fn serve(mut client: TcpStream, requests: &mut Vec<String>) {
    client.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    let request = read(&mut client);
    let (head, body) = request.split_once("\r\n\r\n").unwrap_or((&request, ""));
    let field = |name: &str| head.lines().find_map(|line| line.strip_prefix(name)).unwrap_or("nothing").to_owned();
    let path = head.split(' ').nth(1).unwrap_or_default();
    let status = if path == "/missing" { "404 Not Found" } else { "200 OK" };
    let count = requests.len() + 1;
    let said = format!("you said {body} with {}\n", field("authorization: "));
    let mut content = said.into_bytes();
    content.extend(0..=u8::MAX);
    let promised = content.len() + if path == "/cut" { 1_000 } else { 0 };
    let mut answer = format!(
        "HTTP/1.1 {status}\r\nx-count: {count}\r\nset-cookie: sid={COOKIE}; Path=/\r\ncontent-length: {promised}\r\n\
         connection: close\r\n\r\n"
    )
    .into_bytes();
    answer.extend(content);
    if path == "/notations" {
        let content = notations(field("authorization: ").trim_start_matches("Bearer "));
        answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{content}", content.len()).into_bytes();
    }
    if path == "/moved" {
        let to = field("x-to: ");
        answer = format!("HTTP/1.1 302 Found\r\nlocation: {to}\r\ncontent-length: 0\r\n\r\n").into_bytes();
    }
    if path == "/garbage" {
        answer = b"\0\x01 no answer of any server\r\n\r\n".to_vec();
    }
    requests.push(request);
    // The client may have gone away.
    let _ = client.write_all(&answer);
}

/// A text as other programs write it, one notation a line.
pub(super) fn notations(text: &str) -> String {
    let each = |one: fn(u8) -> String| text.bytes().map(one).collect::<String>();
    let mut lines = vec![
        each(|byte| format!("\\u{byte:04x}")),
        each(|byte| format!("\\u{byte:04X}")),
        each(|byte| format!("\\x{byte:02x}")),
        each(|byte| format!("&#{byte};")),
        each(|byte| format!("&#x{byte:x};")),
        each(|byte| format!("%{byte:02x}")),
        each(|byte| format!("%{byte:02X}")),
        each(|byte| format!("%25{byte:02X}")),
        text.replace(' ', "+").replace('/', "%2f").replace('"', "%22"),
        text.replace('"', "\\\"").replace('/', "\\/"),
        text.replace('"', "&quot;"),
        each(|byte| format!("{byte:02x}")),
        each(|byte| format!("{byte:02X}")),
    ];
    for before in ["", "1", "12"] {
        let encoded = base64(format!("{before}{text}").as_bytes());
        lines.push(encoded.replace('+', "-").replace('/', "_"));
        lines.push(encoded);
    }
    lines.join("\n")
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let group = |group: &[u8]| {
        let bits = group.iter().fold(0_usize, |bits, byte| bits << 8 | usize::from(*byte)) << (8 * (3 - group.len()));
        let letter = |index: usize| char::from(LETTERS[bits >> (18 - 6 * index) & 63]);
        (0..4).map(|index| if index <= group.len() { letter(index) } else { '=' }).collect::<String>()
    };
    bytes.chunks(3).map(group).collect()
}

/// The head, and the body as far as its length is said.
fn read(client: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok()).unwrap_or(0);
            let chunked = head.contains("transfer-encoding: chunked");
            if (chunked && body.ends_with("0\r\n\r\n")) || (!chunked && body.len() >= length) {
                return text.into_owned();
            }
        }
        match client.read(&mut buffer) {
            Ok(0) | Err(_) => return text.into_owned(),
            Ok(count) => bytes.extend(&buffer[..count]),
        }
    }
}
