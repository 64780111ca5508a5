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
    /// No crate of a project with so many dependencies is finished.
    pub fn new(world: &'a World, dependencies: usize, project: &Project) -> Self {
        let packages = project.package.keys().filter(|path| path.ends_with("Cargo.toml")).count();
        Self { world, finished: BTreeSet::new(), total: dependencies + packages }
    }

    /// The number of dependencies that the stage `select` has listed, a line each.
    pub fn listed(world: &World, dependencies: &BlobRef) -> usize {
        world.open_blob(dependencies).iter().filter(|byte| **byte == b'\n').count()
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
