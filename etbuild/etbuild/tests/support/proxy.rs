//! A proxy that breaks the connection to a server after a number of bytes.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

/// Forwards connections until both directions together have passed a number of bytes, and then closes.
pub struct Proxy {
    address: SocketAddr,
    state: Arc<State>,
}

struct State {
    passed: AtomicUsize,
    allowed: usize,
    ended: AtomicBool,
}

impl Proxy {
    /// A line to `server`, as `HOST:PORT`.
    pub fn to(server: &str, allowed: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let state = Arc::new(State { passed: AtomicUsize::new(0), allowed, ended: AtomicBool::new(false) });
        let proxy = Self { address: listener.local_addr().unwrap(), state: state.clone() };
        let server = server.to_owned();
        std::thread::spawn(move || accept(&listener, &server, &state));
        proxy
    }

    /// The proxy's URL.
    pub fn url(&self) -> String {
        format!("grpc://{}", self.address)
    }

    /// How many bytes have passed.
    pub fn passed(&self) -> usize {
        self.state.passed.load(Ordering::SeqCst)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.state.ended.store(true, Ordering::SeqCst);
    }
}

fn accept(listener: &TcpListener, server: &str, state: &Arc<State>) {
    while !state.ended.load(Ordering::SeqCst) {
        let Ok((client, _)) = listener.accept() else {
            std::thread::sleep(Duration::from_millis(2));
            continue;
        };
        client.set_nonblocking(false).unwrap();
        let Ok(server) = TcpStream::connect(server) else { continue };
        for (from, to) in [(&client, &server), (&server, &client)] {
            let (from, to, state) = (from.try_clone().unwrap(), to.try_clone().unwrap(), state.clone());
            std::thread::spawn(move || forward(&from, &to, &state));
        }
    }
}

fn forward(mut from: &TcpStream, mut to: &TcpStream, state: &State) {
    let mut piece = [0; 4096];
    while let Ok(length @ 1..) = from.read(&mut piece) {
        if state.passed.fetch_add(length, Ordering::SeqCst) + length > state.allowed {
            state.ended.store(true, Ordering::SeqCst);
            break;
        }
        if to.write_all(&piece[..length]).is_err() {
            break;
        }
    }
    let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
}
