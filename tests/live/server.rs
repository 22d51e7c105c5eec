//! A server on loopback that answers each request otherwise, and remembers what it was sent.
//!
//! ```text
//! /missing   404 with a body              /cut       half of the promised body
//! /garbage   bytes that are no HTTP       others     200, a cookie, the request's own words
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
    if path == "/garbage" {
        answer = b"\0\x01 no answer of any server\r\n\r\n".to_vec();
    }
    requests.push(request);
    // The client may have gone away.
    let _ = client.write_all(&answer);
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
