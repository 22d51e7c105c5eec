//! The HTTP client against servers that this file plays, well-behaved and hostile.

use super::*;
use fozzy_trace::plan::RedactionPolicy;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread::JoinHandle;

/// A server for one connection on loopback.
fn server<T: Send + 'static>(serve: impl FnOnce(TcpStream) -> T + Send + 'static) -> (SocketAddr, JoinHandle<T>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
    let address = listener.local_addr().expect("bound");
    let thread = std::thread::Builder::new().spawn(move || serve(listener.accept().expect("a client").0));
    (address, thread.expect("a thread"))
}

/// Reads a request up to the end of its head, and its body by its length.
fn read_request(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let mut one = [0];
    while !bytes.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut one).expect("a request");
        bytes.push(one[0]);
    }
    let head = String::from_utf8_lossy(&bytes).into_owned();
    let length =
        head.lines().find_map(|line| line.strip_prefix("content-length: ")).map_or(0, |n| n.parse().expect("n"));
    let mut body = vec![0; length];
    stream.read_exact(&mut body).expect("a body");
    head + &String::from_utf8_lossy(&body)
}

/// A server that answers one request with these bytes and hangs up; it gives the request.
fn says(response: &'static [u8]) -> (SocketAddr, JoinHandle<String>) {
    server(move |mut stream| {
        let request = read_request(&mut stream);
        // The client may have heard enough.
        let _ = stream.write_all(response);
        request
    })
}

fn secrets() -> Secrets {
    let known = [("<redacted:TOKEN>".to_owned(), "s3cr3t".to_owned())];
    Secrets::new(&known, &RedactionPolicy::default()).expect("a placeholder")
}

fn http() -> HttpBackend {
    let mut http = HttpBackend::new(&[], &LivePolicy::default()).expect("no certificates");
    http.bounds = Bounds { body: 1 << 20, head: 8192, ..http.bounds };
    http
}

fn ask(method: &str, url: &str, inputs: &mut Inputs, body: &[u8]) -> HttpBackendRequest {
    HttpBackendRequest {
        method: method.to_owned(),
        url: url.to_owned(),
        headers: Vec::new(),
        body: inputs.add(body),
        timeout: None,
    }
}

fn shown(answer: &Result<HttpBackendResponse, HttpFailure>, inputs: &Inputs) -> String {
    let Ok(answer) = answer else { return format!("{:?}", answer.as_ref().expect_err("not ok")) };
    let headers: Vec<_> =
        answer.headers.iter().map(|(name, value)| format!("{name}={}", value.escape_ascii())).collect();
    let body = inputs.get(&answer.body).expect("it was put there");
    let cut = if answer.cut { " cut" } else { "" };
    format!("{} [{}] {}{cut}", answer.status, headers.join(", "), body.escape_ascii())
}

/// What a GET of a server that says this is answered.
fn got_with(http: &HttpBackend, response: &'static [u8]) -> String {
    let (address, thread) = says(response);
    let mut inputs = Inputs::default();
    let ask = ask("GET", &format!("http://{address}/"), &mut inputs, b"");
    let answer = http.answer(&ask, &mut secrets(), &mut inputs).expect("the client works");
    thread.join().expect("the server works");
    shown(&answer, &inputs)
}

fn got(response: &'static [u8]) -> String {
    got_with(&http(), response)
}

#[test]
fn a_request_is_written_as_it_was_asked() {
    let (address, thread) =
        says(b"HTTP/1.1 201 Created\r\nX-B: 1\r\nx-a: 2\r\nX-B: \xff3\r\nContent-Length: 2\r\n\r\nok");
    let mut inputs = Inputs::default();
    let mut ask =
        ask("PUT", &format!("http://{address}/p?q=%3Credacted:TOKEN%3E#f"), &mut inputs, b"a <redacted:TOKEN>");
    let header = |name: &str, value: &str| (name.to_owned(), value.as_bytes().to_vec());
    ask.headers = vec![
        header("x-two", "1"),
        header("authorization", "Bearer <redacted:TOKEN>"),
        header("x-two", "2"),
        header("host", "elsewhere"),
        header("connection", "keep-alive"),
        header("content-length", "999"),
    ];
    let answer = http().answer(&ask, &mut secrets(), &mut inputs).expect("the client works");
    assert_eq!(shown(&answer, &inputs), "201 [x-b=1, x-a=2, x-b=\\xff3, content-length=2] ok");
    let expected = format!(
        "PUT /p?q=s3cr3t HTTP/1.1\r\nhost: {address}\r\nx-two: 1\r\nauthorization: Bearer s3cr3t\r\nx-two: 2\r\n\
         content-length: 8\r\nconnection: close\r\n\r\na s3cr3t"
    );
    assert_eq!(thread.join().expect("the server works"), expected);
}

#[test]
fn responses_are_answers_whatever_their_status() {
    assert_eq!(got(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n"), "404 [content-length=0] ");
    assert_eq!(
        got(b"HTTP/1.1 302 F\r\nlocation: /x\r\ncontent-length: 0\r\n\r\n"),
        "302 [location=/x, content-length=0] "
    );
    assert_eq!(got(b"HTTP/1.0 200 OK\r\n\r\nuntil the end"), "200 [] until the end");
    assert_eq!(got(b"HTTP/1.1 204 None\r\ncontent-length: 5\r\n\r\n"), "204 [content-length=5] ");
    assert_eq!(
        got(b"HTTP/1.1 103 Early\r\nlink: x\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nx"),
        "200 [content-length=1] x"
    );
    let chunked = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n\
                    5;e=1\r\nhello\r\n1\r\n!\r\n0\r\nx-t: 1\r\n\r\n";
    assert_eq!(got(chunked), "200 [] hello!");
    let packed = b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 3\r\n\r\n\x1f\x8b\x00";
    assert_eq!(got(packed), "200 [content-encoding=gzip, content-length=3] \\x1f\\x8b\\x00");
}

#[test]
fn bodies_that_break_off_are_cut() {
    assert_eq!(got(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhello"), "200 [content-length=9] hello cut");
    for rest in
        ["5\r\nhel", "3\r\nhel", "3\r\nhel\r\n", "3\r\nhel\r\nnonsense\r\n", "3\r\nhel\r\n0\r\n", "3\r\nhelp\r\n"]
    {
        let response = format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{rest}");
        assert_eq!(got(response.leak().as_bytes()), "200 [] hel cut", "{rest}");
    }
}

#[test]
fn what_is_no_http_is_a_reset() {
    let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "a: b\r\n".repeat(2000));
    let long = format!("HTTP/1.1 200 OK\r\na: {}\r\n\r\n", "b".repeat(9000));
    let interim = "HTTP/1.1 100 Continue\r\n\r\n".repeat(50);
    for response in [
        "",
        "HTTP/1.1 200 OK\r\na: b",
        "SSH-2.0-OpenSSH\r\n\r\n",
        "HTTP/1.1 99 x\r\n\r\n",
        "HTTP/1.1 200 OK\r\na b\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nx",
        "HTTP/1.1 200 OK\r\ncontent-length: 18446744073709551615\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 1048577\r\n\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nfffffffffffffff\r\n",
        &many,
        &long,
        &interim,
    ] {
        let text = response.to_owned().leak();
        assert_eq!(got(text.as_bytes()), "Reset", "{}", &text[..text.len().min(60)]);
    }
}

#[test]
fn nobody_there_is_refused_and_no_name_is_dns() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
    let address = listener.local_addr().expect("bound");
    drop(listener);
    let mut inputs = Inputs::default();
    // Names have parts of 63 bytes at the most, so that no resolver asks anybody about this one.
    let no_name = format!("http://{}.invalid/", "n".repeat(64));
    for (url, expected) in [
        (format!("http://{address}/"), "Refused"),
        (no_name, "Dns"),
        ("gopher://127.0.0.1/".to_owned(), "Reset"),
        (format!("http://{address}/a b"), "Reset"),
    ] {
        let ask = ask("GET", &url, &mut inputs, b"");
        let answer = http().answer(&ask, &mut secrets(), &mut inputs).expect("the client works");
        assert_eq!(shown(&answer, &inputs), expected, "{url}");
    }
    let mut broken =
        [("GET x", "a", "b"), ("GET", "a b", "c"), ("GET", "a", "b\r\nc: d")].map(|(method, name, value)| {
            let mut ask = ask(method, &format!("http://{address}/"), &mut inputs, b"");
            ask.headers.push((name.to_owned(), value.as_bytes().to_vec()));
            ask
        });
    for ask in &mut broken {
        let answer = http().answer(ask, &mut secrets(), &mut inputs).expect("the client works");
        assert_eq!(answer, Err(HttpFailure::Reset), "{ask:?}");
    }
}

#[test]
fn silence_ends_at_the_deadline() {
    // Nothing at all; a head that comes in drops; a body that does, after its head.
    let drops: [(&[u8], &str); 3] =
        [(b"", "Timeout"), (b"HTTP/1.1 200 OK\r\n", "Timeout"), (b"HTTP/1.1 200 OK\r\n\r\n", "200 [] ")];
    for (start, expected) in drops {
        let (address, thread) = server(move |mut stream| {
            let _ = read_request(&mut stream);
            let mut written = stream.write_all(start);
            while written.is_ok() {
                // The client hangs up at its deadline, which this server notices by the timeout of its read.
                stream.set_read_timeout(Some(Duration::from_millis(20))).expect("a timeout");
                match stream.read_exact(&mut [0]) {
                    Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => return,
                    Ok(()) => return,
                    Err(_) => written = stream.write_all(b"a"),
                }
            }
        });
        let mut http = http();
        http.bounds.head_time = Duration::from_millis(150);
        http.bounds.time = Duration::from_millis(300);
        let mut inputs = Inputs::default();
        let ask = ask("GET", &format!("http://{address}/"), &mut inputs, b"");
        let answer = http.answer(&ask, &mut secrets(), &mut inputs).expect("the client works");
        let shown = shown(&answer, &inputs);
        // The silent server also drips after a while, but no head comes of it.
        assert!(shown.starts_with(expected), "{shown}");
        assert_eq!(shown.ends_with(" cut"), expected.starts_with('2'), "{shown}");
        thread.join().expect("the server works");
    }
}

#[test]
fn the_timeout_of_the_ask_counts() {
    let (address, thread) = server(|mut stream| stream.read_to_end(&mut Vec::new()).expect("the client hangs up"));
    let mut inputs = Inputs::default();
    let mut ask = ask("GET", &format!("http://{address}/"), &mut inputs, b"");
    ask.timeout = Some(fozzy_trace::Duration(50_000_000));
    let answer = http().answer(&ask, &mut secrets(), &mut inputs).expect("the client works");
    assert_eq!(answer, Err(HttpFailure::Timeout));
    thread.join().expect("the server works");
}

#[test]
fn an_endless_body_is_hung_up_on() {
    for head in ["HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"] {
        let (address, thread) = server(move |mut stream| {
            let _ = read_request(&mut stream);
            let mut written = stream.write_all(head.as_bytes());
            let chunk = format!("{:x}\r\n{}\r\n", 10_000, "x".repeat(10_000));
            while written.is_ok() {
                written = stream.write_all(chunk.as_bytes());
            }
        });
        let mut inputs = Inputs::default();
        let ask = ask("GET", &format!("http://{address}/"), &mut inputs, b"");
        let answer = http().answer(&ask, &mut secrets(), &mut inputs).expect("the client works");
        assert_eq!(answer, Err(HttpFailure::Reset));
        thread.join().expect("the server works");
    }
}

#[test]
fn a_server_may_answer_before_it_has_read_everything() {
    // It hangs up without reading: what it said is the answer.
    let (address, thread) = server(|mut stream| {
        stream.read_exact(&mut [0; 10]).expect("a request begins");
        stream.write_all(b"HTTP/1.1 413 Too Large\r\ncontent-length: 2\r\n\r\nno").expect("the client listens");
        stream.shutdown(std::net::Shutdown::Write).expect("connected");
        // Reading on keeps the system from throwing away what was said.
        let _ = stream.read_to_end(&mut Vec::new());
    });
    let mut inputs = Inputs::default();
    let body = vec![b'x'; 8 << 20];
    let big = ask("POST", &format!("http://{address}/"), &mut inputs, &body);
    let answer = http().answer(&big, &mut secrets(), &mut inputs).expect("the client works");
    assert_eq!(shown(&answer, &inputs), "413 [content-length=2] no");
    thread.join().expect("the server works");

    // It echoes while it reads: with one direction at a time both sides would wait for ever.
    let (address, thread) = server(|mut stream| {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut one = [0];
            stream.read_exact(&mut one).expect("a request");
            head.push(one[0]);
        }
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 8388608\r\n\r\n").expect("the client listens");
        let (mut left, mut buffer) = (8 << 20, vec![0; 1000]);
        while left > 0 {
            let count = stream.read(&mut buffer).expect("a body");
            stream.write_all(&buffer[..count]).expect("the client listens");
            left -= count;
        }
    });
    let mut http = http();
    http.bounds.body = 8 << 20;
    let echo = ask("POST", &format!("http://{address}/"), &mut inputs, &body);
    let answer = http.answer(&echo, &mut secrets(), &mut inputs).expect("the client works").expect("an answer");
    assert_eq!((answer.body, answer.cut), (echo.body, false));
    thread.join().expect("the server works");
}

#[test]
fn secrets_that_come_back_are_hidden_and_cookies_are_learned() {
    let mut secrets = secrets();
    let response =
        b"HTTP/1.1 200 OK\r\nSet-Cookie: sid=cookie-value; Path=/\r\nx: s3cr3t\r\ncontent-length: 19\r\n\r\n\
                     s3cr3t cookie-value";
    let (address, thread) = says(response);
    let mut inputs = Inputs::default();
    let first = ask("GET", &format!("http://{address}/"), &mut inputs, b"");
    let answer = http().answer(&first, &mut secrets, &mut inputs).expect("the client works");
    let expected = "200 [set-cookie=sid=<redacted:set-cookie:1>; Path=/, x=<redacted:TOKEN>, content-length=40] \
                    <redacted:TOKEN> <redacted:set-cookie:1>";
    assert_eq!(shown(&answer, &inputs), expected);
    thread.join().expect("the server works");
    for (_, bytes) in inputs.iter() {
        assert!(!bytes.windows(6).any(|part| part == b"s3cr3t" || part == b"cookie-value"), "a secret was stored");
    }

    let (address, thread) = says(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
    let mut second = ask("GET", &format!("http://{address}/"), &mut inputs, b"");
    second.headers.push(("cookie".to_owned(), b"sid=<redacted:set-cookie:1>".to_vec()));
    http().answer(&second, &mut secrets, &mut inputs).expect("the client works").expect("an answer");
    assert!(thread.join().expect("the server works").contains("cookie: sid=cookie-value\r\n"));
}

/// A server with a certificate of its own, for one connection.
fn secure(close: bool) -> (Vec<u8>, SocketAddr, JoinHandle<()>) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned(), "127.0.0.1".to_owned()]).expect("made");
    let certificate = made.cert.der().clone();
    let key = rustls::pki_types::PrivateKeyDer::try_from(made.signing_key.serialize_der()).expect("a key");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("ring")
        .with_no_client_auth()
        .with_single_cert(vec![certificate.clone()], key)
        .expect("it is its own");
    let (address, thread) = server(move |socket| {
        let connection = rustls::ServerConnection::new(Arc::new(config)).expect("a server");
        let mut stream = rustls::StreamOwned::new(connection, socket);
        let mut request = Vec::new();
        while !request.ends_with(b"\r\n\r\n") {
            let mut one = [0];
            // A client that does not trust the certificate hangs up.
            if stream.read_exact(&mut one).is_err() {
                return;
            }
            request.push(one[0]);
        }
        let body = "y".repeat(200_000);
        stream.write_all(format!("HTTP/1.1 200 OK\r\n\r\n{body}").as_bytes()).expect("the client listens");
        if close {
            stream.conn.send_close_notify();
        }
        stream.flush().expect("the client listens");
    });
    (certificate.to_vec(), address, thread)
}

#[test]
fn https_is_spoken_with_those_who_are_trusted() {
    for (trusted, close) in [(true, true), (true, false), (false, true)] {
        let (certificate, address, thread) = secure(close);
        let http =
            HttpBackend::new(if trusted { std::slice::from_ref(&certificate) } else { &[] }, &LivePolicy::default())
                .expect("a certificate");
        let mut inputs = Inputs::default();
        let ask = ask("GET", &format!("https://{address}/"), &mut inputs, b"");
        let answer = http.answer(&ask, &mut secrets(), &mut inputs).expect("the client works");
        match answer {
            Ok(answer) => {
                assert!(trusted);
                assert_eq!(inputs.get(&answer.body).expect("a body").len(), 200_000);
                assert_eq!(answer.cut, !close, "a body without a length ends with a farewell, or it was cut");
            }
            Err(failure) => assert_eq!((failure, trusted), (HttpFailure::Reset, false)),
        }
        thread.join().expect("the server works");
    }
    assert!(HttpBackend::new(&[b"nonsense".to_vec()], &LivePolicy::default()).is_err());
    // A server that does not speak TLS at all.
    let (address, thread) = server(|mut stream| stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n"));
    let mut inputs = Inputs::default();
    let ask = ask("GET", &format!("https://{address}/"), &mut inputs, b"");
    assert_eq!(http().answer(&ask, &mut secrets(), &mut inputs).expect("works"), Err(HttpFailure::Reset));
    let _ = thread.join().expect("the server works");
}

#[test]
fn whatever_a_server_says_ends_in_an_answer_or_a_failure() {
    const PIECES: [&str; 16] = [
        "HTTP/1.1 200 OK",
        "HTTP/1.1 100 Continue",
        "\r\n",
        "\r\n\r\n",
        "\n",
        "content-length: 5",
        "transfer-encoding: chunked",
        "5",
        "0",
        "hello",
        "\r",
        "fffffffffffffffe",
        ": ",
        "\0",
        "\u{ff}",
        "HTTP/1.0 304 x",
    ];
    let mut http = http();
    // A server that hangs up leaves nothing to wait for; where it should be otherwise, the test is slow, not stuck.
    http.bounds.head_time = Duration::from_secs(5);
    let mut random = crate::disk_oracle::Lcg(5);
    let mut kinds = std::collections::BTreeMap::<&str, u32>::new();
    for _ in 0..400 {
        // Nothing proper; a status line; or a proper head, so that the body is what surprises.
        let mut text = match random.below(4) {
            0 => String::new(),
            1 => "HTTP/1.1 200 OK\r\n".to_owned(),
            2 => "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n".to_owned(),
            _ => "HTTP/1.1 200 OK\r\ncontent-length: 40\r\n\r\n".to_owned(),
        };
        for _ in 0..random.below(12) {
            text.push_str(PIECES[random.below(16) as usize]);
            if random.below(3) == 0 {
                text.push_str("\r\n");
            }
        }
        let shown = got_with(&http, text.leak().as_bytes());
        let kind = if shown.ends_with(" cut") {
            "cut"
        } else if shown.starts_with('R') {
            "reset"
        } else {
            "answer"
        };
        assert_ne!(shown, "Timeout");
        *kinds.entry(kind).or_default() += 1;
    }
    assert!(kinds.len() == 3 && kinds.values().all(|count| *count > 3), "{kinds:?}");
}
