//! Serves the pages beside a fleet, or alone.

use crate::DashboardError;
use crate::changes::{LatestFleet, follow};
use crate::guard::Guard;
use crate::routes::{RouteState, router};
use crate::source::DashboardSource;
use crate::timed_stream::TimedListener;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::thread::JoinHandle;
use tokio::sync::{oneshot, watch};

/// Threads that read the store or wait for a file.
const READERS_MAX: usize = 4;

/// A dashboard that is served, until it is dropped.
pub struct DashboardServer {
    url: String,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl DashboardServer {
    /// Serves on this port of loopback; on a free one for 0.
    ///
    /// # Errors
    /// When the port is taken, or nothing can be started.
    pub fn start(source: DashboardSource, port: u16) -> Result<DashboardServer, DashboardError> {
        let listen = |error| DashboardError::Listen { port, error };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(listen)?;
        listener.set_nonblocking(true).map_err(listen)?;
        let port = listener.local_addr().map_err(listen)?.port();
        let token = uuid::Uuid::new_v4().simple().to_string();
        let url = format!("http://127.0.0.1:{port}/?token={token}");
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(READERS_MAX)
            .build()
            .map_err(DashboardError::Start)?;
        let (stop, stopped) = oneshot::channel();
        let latest = watch::Sender::new(LatestFleet::None);
        let shared = RouteState { source: Arc::new(source), latest, watchers: Arc::new(AtomicUsize::new(0)) };
        let serve = async move {
            let following = tokio::spawn(follow(Arc::clone(&shared.source), shared.latest.clone()));
            let served = async {
                let listener = tokio::net::TcpListener::from_std(listener)?;
                axum::serve(TimedListener(listener), router(shared, Guard::new(&token, port))).await
            };
            // Who still reads when it is stopped is cut off.
            tokio::select! {
                served = served => if let Err(error) = served { tracing::debug!(%error, "the dashboard ends"); },
                _ = stopped => {}
            }
            following.abort();
        };
        let builder = std::thread::Builder::new().name("dashboard".to_owned());
        let thread = builder.spawn(move || {
            runtime.block_on(serve);
            // A reader that waits for a file holds nobody up.
            runtime.shutdown_background();
        });
        let thread = thread.map_err(DashboardError::Start)?;
        Ok(DashboardServer { url, stop: Some(stop), thread: Some(thread) })
    }

    /// The address of the first page, with the token.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for DashboardServer {
    fn drop(&mut self) {
        // Its thread may have ended by itself.
        let _ = self.stop.take().map(|stop| stop.send(()));
        let _ = self.thread.take().map(JoinHandle::join);
    }
}
