//! `etbuild bundle`: one file with the versions for several targets.

mod extract;
mod list;
mod make;
mod open;
mod play;

use super::Outcome;
use crate::arguments::Bundle;
use crate::session::Session;

pub fn run(session: &Session, command: &Bundle) -> Outcome {
    match command {
        Bundle::Make { folders, file, key } => make::run(session, folders, file, key.as_deref()),
        Bundle::List { bundle } => list::run(session, bundle),
        Bundle::Extract { bundle, folder, key } => extract::run(session, bundle, folder, key.as_deref()),
        Bundle::Play { bundle, folder, key } => play::run(session, bundle, folder, key.as_deref()),
    }
}
