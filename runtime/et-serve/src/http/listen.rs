//! Connections, from the first to the end of the process.

use std::future::pending;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};

use super::race::first;
use super::routes::router;
use crate::server::Server;

/// The most connections at the same time; others wait in the system's queue.
const MOST_CONNECTIONS: usize = 1024;

/// How long answers that were cut may take to reach their clients.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Accepts connections until a signal ends the process, and then lets running answers end: on their own within `grace`, or else cut.
/// A second signal cuts answers at once.
pub async fn listen(server: Arc<Server>, listener: TcpListener, grace: Duration) {
    let (router, connections) = (router(Arc::clone(&server)), Arc::new(Semaphore::new(MOST_CONNECTIONS)));
    let (graceful, mut signals) = (GracefulShutdown::new(), pin!(Signals::new()));
    loop {
        let ended = async {
            signals.next().await;
            None
        };
        let accepted = async { Some(accept(&listener, &connections).await) };
        let Some((accepted, permit)) = first(ended, accepted).await else { break };
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(server.read_timeout)
            .serve_connection(TokioIo::new(accepted), TowerToHyperService::new(router.clone()));
        let connection = graceful.watch(connection);
        tokio::spawn(async move {
            // A client that goes away, or sends bytes that are not HTTP, gets no further response.
            let _gone = connection.await;
            drop(permit);
        });
    }
    drop(listener);
    server.stop();
    let mut drained = pin!(graceful.shutdown());
    let is_drained = async {
        drained.as_mut().await;
        true
    };
    let is_over = async {
        first(signals.next(), sleep(grace)).await;
        false
    };
    if first(is_drained, is_over).await {
        return;
    }
    server.model.cut();
    // Clients that do not read are left behind.
    let _left = timeout(LAST_WORDS, drained).await;
}

/// The next connection, with the permit that counts the connection. A failure concerns a single connection, or is a lack of file descriptors, which ends with other connections.
async fn accept(listener: &TcpListener, connections: &Arc<Semaphore>) -> (TcpStream, OwnedSemaphorePermit) {
    // The semaphore is never closed.
    let Ok(permit) = Arc::clone(connections).acquire_owned().await else { pending().await };
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                // Each token is sent at once.
                let _ignored = stream.set_nodelay(true);
                return (stream, permit);
            }
            Err(_) => sleep(Duration::from_millis(50)).await,
        }
    }
}

/// The signals that end the process.
struct Signals {
    #[cfg(unix)]
    terminate: Option<tokio::signal::unix::Signal>,
}

impl Signals {
    fn new() -> Self {
        #[cfg(unix)]
        return Self { terminate: tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()).ok() };
        #[cfg(not(unix))]
        return Self {};
    }

    /// Waits for SIGTERM or SIGINT (Ctrl-C).
    async fn next(&mut self) {
        let pressed = async {
            if tokio::signal::ctrl_c().await.is_err() {
                pending::<()>().await;
            }
        };
        first(pressed, self.terminated()).await;
    }

    #[cfg(unix)]
    async fn terminated(&mut self) {
        match &mut self.terminate {
            Some(signal) => drop(signal.recv().await),
            None => pending().await,
        }
    }

    #[cfg(not(unix))]
    async fn terminated(&mut self) {
        pending().await
    }
}
