//! The progress of a link: the crates that are compiled.

use std::collections::BTreeSet;

use etbuild_link::{Compiled, Project};
use etbuild_store::BlobRef;

use crate::session::{Event, World};

/// The crates of a binary that cargo has finished.
pub struct Crates<'a> {
    world: &'a World,
    finished: BTreeSet<String>,
    total: usize,
}

impl<'a> Crates<'a> {
    /// No crate of a project with these dependencies, a line each, is finished.
    pub fn new(world: &'a World, dependencies: &BlobRef, project: &Project) -> Self {
        let dependencies = world.open_blob(dependencies);
        let lines = dependencies.iter().filter(|byte| **byte == b'\n').count();
        let packages = project.package.keys().filter(|path| path.ends_with("Cargo.toml")).count();
        Self { world, finished: BTreeSet::new(), total: lines + packages }
    }

    /// Tells the observer of a crate that was compiled just now, or of a crate that takes long.
    pub fn tell(&mut self, compiled: Option<Compiled>) {
        let is_news = compiled.as_ref().is_none_or(|compiled| !compiled.is_fresh);
        let package = compiled.map(|compiled| compiled.package);
        self.finished.extend(package.clone());
        let done = self.finished.len();
        if is_news {
            self.world.tell(&Event::Compiled { package, done, total: self.total.max(done) });
        }
    }
}
