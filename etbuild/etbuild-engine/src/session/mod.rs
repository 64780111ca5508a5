//! The services behind queries: the machine, the store, the remote cache, the observer, and the end of interrupted work.

mod event;
mod guard;
mod remote;
mod schedule;
mod transient;
mod world;

pub use event::Event;
pub use guard::{guarded, or_again};
pub use remote::Remote;
pub use schedule::side_by_side;
pub use transient::{Transient, interrupt};
pub use world::{AbsentBackend, Mode, Revisions, World};
