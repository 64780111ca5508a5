//! Recipes for machines that nobody has: what is asked of them ends with the program file, in milliseconds.
#![allow(dead_code, reason = "each test file uses a part")]
#![allow(clippy::disallowed_methods, reason = "tests read files")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use etbuild_backend::Backend;
use etbuild_engine::{Event, Goal, Mode, Request, UnitReport, World, deploy};
use etbuild_store::Observer;
use etbuild_system::RealSystem;
use tempfile::TempDir;

/// A folder with recipes and targets, and a cache.
pub struct Place {
    folder: TempDir,
}

impl Place {
    /// With hosted targets of these names, that no compiler knows.
    pub fn with_targets(names: &[&str]) -> Self {
        let place = Self { folder: tempfile::tempdir().unwrap() };
        for name in names {
            place.write(&format!("targets/{name}.yaml"), &target(name));
        }
        place
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// A recipe for the digits' model with a line of options.
    pub fn recipe(&self, name: &str, options: &str, targets: &[&str]) -> PathBuf {
        let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/digits/digits.pt2");
        let (model, targets) = (model.display(), targets.join(", "));
        let text =
            format!("etbuild: 1\nname: {name}\nmodel: {{ pt2: \"{model}\" }}\n{options}\ntargets: [{targets}]\n");
        self.write(&format!("{name}.yaml"), &text)
    }

    /// Deploys recipes on four threads, telling `observer`.
    pub fn deploy(
        &self,
        recipes: &[PathBuf],
        backends: &'static [&'static dyn Backend],
        observer: Arc<dyn Observer<Event>>,
    ) -> (Arc<World>, Vec<UnitReport>) {
        let cache = self.folder.path().join("cache");
        let world = World::open(Arc::new(RealSystem::default()), &cache, observer, Mode::Build, 4).unwrap();
        let world = Arc::new(world.offline(true).backends(backends));
        let request = Request { recipes: recipes.to_vec(), ..Request::default() };
        let reports = deploy(&world, &request, Goal::Deploy, &self.folder.path().join("out")).unwrap();
        (world, reports)
    }
}

fn target(name: &str) -> String {
    format!(
        "etbuild: 1\nname: {name}\nsummary: A machine that nobody has\nkind: hosted\ntemplate: host-app\n\
         pointer_width: 64\nendian: little\nrust: {{ triple: none-unknown-none }}\nconsole: stdio\nimage: [elf]\nrun: native\n"
    )
}
