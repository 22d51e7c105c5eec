//! Net server: axum on tokio as its documentation shows it, on one thread.
//!
//! ```text
//! net-server 0.0.0.0:8080                       serves for ever
//! net-server 127.0.0.1:0 --requests 100         ends after the hundredth answer
//!
//! GET  /hello   "hello"
//! POST /echo    the body that came
//! ```
//!
//! The first line on stdout names the address, so that whoever asked for port 0 learns the port. The same source is built for the
//! machine that the tests run on and for wasm32-wasip2.

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Request, State};
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::routing::{get, post};
use axum::serve::ListenerExt;
use fozzy_wasi_net as _;
use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::net::TcpListener;
use tokio::sync::Notify;

const USAGE: &str = "usage: net-server ADDRESS [--requests N]";

/// How many requests came, and who waits for the last of them.
struct Count {
    seen: AtomicU64,
    /// `None` serves for ever.
    wanted: Option<u64>,
    complete: Notify,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (address, wanted) = match &arguments[..] {
        [address] => (address, None),
        [address, flag, count] if flag == "--requests" => match count.parse() {
            Ok(count) => (address, Some(count)),
            Err(error) => return refuse(&format!("--requests {count}: {error}\n{USAGE}")),
        },
        _ => return refuse(USAGE),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime can be made");
    match runtime.block_on(serve(address, wanted)) {
        Ok(answered) => {
            say(&format!("answered {answered} requests"));
            ExitCode::SUCCESS
        }
        Err(error) => refuse(&format!("{address}: {error}")),
    }
}

async fn serve(address: &str, wanted: Option<u64>) -> std::io::Result<u64> {
    // Resolved by the standard library: tokio's own lookup wants a thread.
    let addresses: Vec<_> = std::net::ToSocketAddrs::to_socket_addrs(address)?.collect();
    let listener = TcpListener::bind(&addresses[..]).await?;
    say(&format!("listening on {}", listener.local_addr()?));
    let count = Arc::new(Count { seen: AtomicU64::new(0), wanted, complete: Notify::new() });
    let app = Router::new()
        .route("/hello", get(async || "hello"))
        .route("/echo", post(async |body: Bytes| body))
        .layer(middleware::from_fn_with_state(Arc::clone(&count), counted));
    let stop = Arc::clone(&count);
    let listener = listener.tap_io(|stream| {
        // Slower without, and otherwise the same.
        let _ = stream.set_nodelay(true);
    });
    axum::serve(listener, app).with_graceful_shutdown(async move { stop.complete.notified().await }).await?;
    Ok(count.seen.load(Ordering::Relaxed))
}

async fn counted(State(count): State<Arc<Count>>, request: Request, next: Next) -> Response {
    let response = next.run(request).await;
    let seen = count.seen.fetch_add(1, Ordering::Relaxed) + 1;
    if count.wanted == Some(seen) {
        count.complete.notify_one();
    }
    response
}

fn refuse(message: &str) -> ExitCode {
    eprintln!("net-server: {message}");
    ExitCode::from(2)
}

/// A line on stdout, at once: someone waits for it.
fn say(line: &str) {
    let mut stdout = std::io::stdout();
    // Whoever started it may not care for its words.
    let _ = writeln!(stdout, "{line}").and_then(|()| stdout.flush());
}
