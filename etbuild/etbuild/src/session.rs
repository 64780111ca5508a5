//! The session of a command: system, terminal and store.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_engine::device::Device;
use etbuild_engine::{Mode, Request, Revisions, World};
use etbuild_recipe::Override;
use etbuild_store::StoreError;
use etbuild_system::{RealSystem, System, host};

use crate::arguments::{Global, RecipeOptions, Recipes};
use crate::engines::{BACKENDS, SIMULATED};
use crate::feature::{ABSENT, Feature, MAKE_TEXT};
#[cfg(unix)]
use crate::interrupt;
use crate::lock;
use crate::render::{ProgressView, Terminal};

/// A run of the command.
pub struct Session {
    /// Global options.
    pub global: Global,
    /// The machine.
    pub system: Arc<dyn System>,
    /// The output of results and messages.
    pub terminal: Terminal,
}

impl Session {
    /// Looks at the terminal, and listens to signals from now on.
    pub fn new(global: &Global) -> Self {
        let system = Arc::new(RealSystem::default());
        #[cfg(unix)]
        interrupt::end_with(system.processes());
        let terminal = Terminal::new(global, &*system);
        Self { global: global.clone(), system, terminal }
    }

    /// Enters the folder of `-C`.
    pub fn enter_folder(&self) -> Result<(), Vec<Diagnostic>> {
        let Some(directory) = &self.global.directory else { return Ok(()) };
        std::env::set_current_dir(directory).map_err(|error| vec![no_folder(directory, &error)])
    }

    /// Opens the store for a build, with progress shown.
    pub fn world(&self, mode: Mode) -> Result<Arc<World>, Vec<Diagnostic>> {
        self.world_on(mode, Vec::new())
    }

    /// The world of a mode, whose binaries run on `devices`; on this machine for none.
    pub fn world_on(&self, mode: Mode, devices: Vec<Device>) -> Result<Arc<World>, Vec<Diagnostic>> {
        let mode = if self.global.no_cache && mode == Mode::Build { Mode::Rebuild } else { mode };
        let world = self.open(mode, &self.cache_folder()?)?.on_devices(devices);
        self.connected(world, mode)
    }

    /// The world for a build in which a simulation stands in for each backend that has one.
    pub fn world_of_simulations(&self) -> Result<Arc<World>, Vec<Diagnostic>> {
        let mode = if self.global.no_cache { Mode::Rebuild } else { Mode::Build };
        self.connected(self.open(mode, &self.cache_folder()?)?.backends(&SIMULATED), mode)
    }

    /// The world for a build with the newest revisions of models.
    pub fn world_of_newest(&self) -> Result<Arc<World>, Vec<Diagnostic>> {
        let world = self.open(Mode::Build, &self.cache_folder()?)?.revisions_of_models(Revisions::Newest);
        self.connected(world, Mode::Build)
    }

    /// The same with the store in `folder`.
    pub fn world_in(&self, mode: Mode, folder: &Path) -> Result<Arc<World>, Vec<Diagnostic>> {
        self.connected(self.open(mode, folder)?, mode)
    }

    /// The world with the network that the arguments allow.
    fn connected(&self, world: World, mode: Mode) -> Result<Arc<World>, Vec<Diagnostic>> {
        let world = world.offline(self.global.offline);
        let remote = self.global.remote.options(&*self.system);
        let Some(options) = remote.filter(|_| mode != Mode::Rebuild && !self.global.offline) else {
            return Ok(Arc::new(world));
        };
        Feature::Remote.require("a remote cache")?;
        world
            .with_remote(&options)
            .map(Arc::new)
            .map_err(|error| vec![Diagnostic::error(Code::Usage, error.to_string())])
    }

    /// The world without remote cache and without leases of other commands.
    pub fn world_alone(&self, mode: Mode, folder: &Path) -> Result<Arc<World>, Vec<Diagnostic>> {
        self.open(mode, folder).map(|world| Arc::new(world.offline(self.global.offline)))
    }

    /// The world without access to the network.
    pub fn world_without_network(&self, mode: Mode) -> Result<Arc<World>, Vec<Diagnostic>> {
        self.open(mode, &self.cache_folder()?).map(|world| Arc::new(world.offline(true)))
    }

    fn open(&self, mode: Mode, folder: &Path) -> Result<World, Vec<Diagnostic>> {
        let view = Arc::new(ProgressView::new(&self.terminal, self.global.progress));
        let world = World::open(self.system.clone(), folder, view, mode, self.jobs());
        world
            .map(|world| world.backends(BACKENDS).absent_backends(ABSENT).reading_texts(MAKE_TEXT))
            .map(|world| world.revisions_of_models(Revisions::Locked(lock::commits)))
            .map(|world| world.prebuilt_runtimes(self.runtime_folders()).run_by(std::env::current_exe().ok()))
            .map_err(|error| vec![store_unavailable(&error)])
    }

    /// `ETBUILD_CACHE_DIR`, else the cache folder of the XDG specification.
    pub fn cache_folder(&self) -> Result<PathBuf, Vec<Diagnostic>> {
        let own = self.system.variable("ETBUILD_CACHE_DIR").filter(|value| !value.is_empty()).map(PathBuf::from);
        own.or_else(|| Some(host::caches(&*self.system)?.join("etbuild"))).ok_or_else(|| vec![no_home()])
    }

    /// The folders with prebuilt runtimes: that of `ETBUILD_RUNTIMES`, else those that a release installs with the command.
    fn runtime_folders(&self) -> Vec<PathBuf> {
        if let Some(folder) = self.system.variable("ETBUILD_RUNTIMES").filter(|value| !value.is_empty()) {
            return vec![PathBuf::from(folder)];
        }
        let own = std::env::current_exe().and_then(std::fs::canonicalize).unwrap_or_default();
        let folders = own.parent().map(|folder| [folder.join("runtimes"), folder.join("../share/etbuild/runtimes")]);
        folders.into_iter().flatten().collect()
    }

    /// The request that the arguments state.
    pub fn request(&self, recipes: &Recipes) -> Result<Request, Vec<Diagnostic>> {
        Ok(Request {
            recipes: recipes.recipes.clone(),
            overrides: self.recipe_overrides(recipes)?,
            targets: self.global.targets.clone(),
            only: recipes.only.clone(),
        })
    }

    /// The overrides that the arguments state.
    pub fn recipe_overrides(&self, recipes: &Recipes) -> Result<Vec<Override>, Vec<Diagnostic>> {
        self.overrides(shorthands(&recipes.options))
    }

    /// The overrides of `texts`, followed by `--set`.
    pub fn overrides(&self, mut texts: Vec<String>) -> Result<Vec<Override>, Vec<Diagnostic>> {
        texts.extend(self.global.overrides.iter().cloned());
        let parsed: Result<Vec<Override>, Diagnostic> = texts.iter().map(|text| Override::parse(text)).collect();
        parsed.map_err(|diagnostic| vec![diagnostic])
    }

    fn jobs(&self) -> usize {
        let processors = || std::thread::available_parallelism().map_or(1, usize::from);
        self.global.jobs.unwrap_or_else(processors)
    }
}

/// `--partition`, `--quantize` and `--calibrate` as `--set`s.
pub fn shorthands(options: &RecipeOptions) -> Vec<String> {
    let partition = options.partition.as_ref().map(|engines| format!("partition=[{engines}]"));
    let quantize = options.quantize.as_ref().map(|scheme| format!("quantize.scheme={scheme}"));
    let calibrate = options.calibrate.as_ref().map(|file| format!("quantize.calibrate={}", file.display()));
    [partition, quantize, calibrate].into_iter().flatten().collect()
}

fn no_folder(directory: &Path, error: &std::io::Error) -> Diagnostic {
    Diagnostic::error(Code::Usage, format!("failed to enter folder `{}`: {error}", directory.display()))
        .help("give `-C` the path of a folder")
}

fn store_unavailable(error: &StoreError) -> Diagnostic {
    let code = if matches!(error, StoreError::Full { .. }) { Code::DiskFull } else { Code::StoreUnavailable };
    Diagnostic::error(code, error.to_string()).help("set ETBUILD_CACHE_DIR to a writable folder")
}

fn no_home() -> Diagnostic {
    let message = "no cache folder: neither ETBUILD_CACHE_DIR nor HOME is set";
    Diagnostic::error(Code::StoreUnavailable, message).help("set ETBUILD_CACHE_DIR")
}
