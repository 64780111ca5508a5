//! Free ports for server processes.

use std::net::TcpListener;
use std::sync::atomic::{AtomicU32, Ordering};

/// The first port, below the ephemeral range: an outgoing connection must not take a server's port.
const FIRST: u32 = 20_000;
const COUNT: u32 = 12_000;

/// A free port that no other test has chosen.
pub fn free() -> u16 {
    static TAKEN: AtomicU32 = AtomicU32::new(0);
    let start = std::process::id().wrapping_mul(61);
    let next = || FIRST + start.wrapping_add(TAKEN.fetch_add(1, Ordering::Relaxed)) % COUNT;
    let ports = std::iter::repeat_with(|| u16::try_from(next()).unwrap()).take(COUNT as usize);
    let is_free = |port: &u16| TcpListener::bind(("127.0.0.1", *port)).is_ok();
    ports.into_iter().find(is_free).expect("a free port")
}
