//! The services for queries besides their inputs: the machine, the store, and the observer.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use et_llm::MakeText;
use etbuild_backend::Backend;
use etbuild_diagnostic::{Code, Diagnostic, unwritable};
use etbuild_link::Toolchain;
use etbuild_remote::{Options, OptionsError, RemoteCache};
use etbuild_store::{Blob, BlobRef, Digest, Observer, Store, StoreError};
use etbuild_system::{Slots, System};

use crate::device::Device;

use super::{Event, Remote, Transient, interrupt};

/// The permission of the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Run the stages that the store lacks.
    Build,
    /// Look up only: a stage that the store lacks is reported as missing.
    Plan,
    /// Run every stage, without the store's results.
    Rebuild,
}

/// The number of stages that may compute on this machine at a time, for any number of jobs: the memory is then at most twice
/// the memory of the largest stage. Compilers and quantizers use all processors.
const AT_WORK: usize = 2;

/// Which revisions of models of the Hugging Face Hub are meant where a recipe states none.
#[derive(Clone, Copy, Debug, Default)]
pub enum Revisions {
    /// Those that the cache knows.
    #[default]
    Known,
    /// The commit of each repository that the lock file states, by the function that reads the file, and the known ones of the others.
    Locked(fn(&dyn System) -> BTreeMap<String, String>),
    /// The newest ones.
    Newest,
}

/// A backend that this build lacks.
#[derive(Clone, Copy, Debug)]
pub struct AbsentBackend {
    /// The name for `partition:`.
    pub name: &'static str,
    /// The diagnostic for a recipe that names the backend, without a place.
    pub refusal: fn() -> Diagnostic,
}

/// The machine, the store and the observer of one session.
pub struct World {
    system: Arc<dyn System>,
    store: Arc<Store>,
    remote: Option<Remote>,
    observer: Arc<dyn Observer<Event>>,
    mode: Mode,
    jobs: usize,
    slots: Slots,
    offline: bool,
    backends: &'static [&'static dyn Backend],
    absent: &'static [AbsentBackend],
    text_maker: Option<MakeText>,
    revisions: Revisions,
    devices: Vec<Device>,
    runtimes: Vec<PathBuf>,
    command: Option<PathBuf>,
    held: Mutex<BTreeMap<Digest, Blob>>,
    shared: Mutex<Vec<Blob>>,
    toolchains: Mutex<BTreeMap<Digest, Result<Toolchain, Box<Diagnostic>>>>,
}

impl World {
    /// Opens the store below `cache`. `jobs` is how many units are worked on at a time.
    pub fn open(
        system: Arc<dyn System>,
        cache: &Path,
        observer: Arc<dyn Observer<Event>>,
        mode: Mode,
        jobs: usize,
    ) -> Result<Self, StoreError> {
        let watcher = observer.clone();
        let forward = move |event: &etbuild_store::Event| watcher.observe(&Event::Store(event.clone()));
        let store = Arc::new(Store::open_observed(cache, Arc::new(forward))?);
        Ok(Self {
            system,
            store,
            remote: None,
            observer,
            mode,
            jobs,
            slots: Slots::new(AT_WORK),
            offline: false,
            backends: &[],
            absent: &[],
            text_maker: None,
            revisions: Revisions::default(),
            devices: Vec::new(),
            runtimes: Vec::new(),
            command: None,
            held: Mutex::default(),
            shared: Mutex::default(),
            toolchains: Mutex::default(),
        })
    }

    /// The same world, without network downloads if `offline`.
    #[must_use]
    pub fn offline(self, offline: bool) -> Self {
        Self { offline, ..self }
    }

    /// The same world with these revisions of models of the Hugging Face Hub.
    #[must_use]
    pub fn revisions_of_models(self, revisions: Revisions) -> Self {
        Self { revisions, ..self }
    }

    /// Which revisions of models of the Hugging Face Hub are meant where a recipe states none.
    pub const fn revisions(&self) -> Revisions {
        self.revisions
    }

    /// The same world with these engines, which recipes may name.
    #[must_use]
    pub fn backends(self, backends: &'static [&'static dyn Backend]) -> Self {
        Self { backends, ..self }
    }

    /// The same world, which knows of backends that this build lacks.
    #[must_use]
    pub fn absent_backends(self, absent: &'static [AbsentBackend]) -> Self {
        Self { absent, ..self }
    }

    /// The same world with prebuilt runtimes in these folders, for binaries where no Rust toolchain is installed.
    #[must_use]
    pub fn prebuilt_runtimes(self, runtimes: Vec<PathBuf>) -> Self {
        Self { runtimes, ..self }
    }

    /// The folders with prebuilt runtimes.
    pub fn runtimes(&self) -> &[PathBuf] {
        &self.runtimes
    }

    /// The same world with the file of the running command, which runs program files as `COMMAND run FILE`.
    #[must_use]
    pub fn run_by(self, command: Option<PathBuf>) -> Self {
        Self { command, ..self }
    }

    /// The file of the running command.
    pub fn command(&self) -> Option<&Path> {
        self.command.as_deref()
    }

    /// The same world with a remote cache behind the store.
    ///
    /// # Errors
    /// The options make no sense.
    pub fn with_remote(self, options: &Options) -> Result<Self, OptionsError> {
        let watcher = self.observer.clone();
        let forward = move |event: &etbuild_remote::Event| watcher.observe(&Event::Remote(event.clone()));
        let remote = RemoteCache::open(options, self.store.clone(), Arc::new(forward))?;
        Ok(Self { remote: Some(Remote::new(remote, self.store.clone())), ..self })
    }

    /// The same world, whose binaries run on these devices.
    #[must_use]
    pub fn on_devices(self, devices: Vec<Device>) -> Self {
        Self { devices, ..self }
    }

    /// The devices of binaries that the user names.
    pub fn devices(&self) -> &[Device] {
        &self.devices
    }

    /// The same world with the function that reads tokenizers; a build without tokenizers has none.
    #[must_use]
    pub fn reading_texts(self, make: Option<MakeText>) -> Self {
        Self { text_maker: make, ..self }
    }

    /// The function that makes the tokenizer of a checkpoint, if any.
    pub const fn text_maker(&self) -> Option<MakeText> {
        self.text_maker
    }

    /// The engines that recipes may name besides the portable kernels.
    pub fn engines(&self) -> &'static [&'static dyn Backend] {
        self.backends
    }

    /// The engine of this name.
    pub fn engine(&self, name: &str) -> Option<&'static dyn Backend> {
        self.backends.iter().copied().find(|backend| backend.name() == name)
    }

    /// The refusal of the backend of this name, if this build lacks it.
    pub fn absent_engine(&self, name: &str) -> Option<Diagnostic> {
        self.absent.iter().find(|absent| absent.name == name).map(|absent| (absent.refusal)())
    }

    /// Whether network downloads are off.
    pub fn is_offline(&self) -> bool {
        self.offline
    }

    /// The folder for compilers. Files there only save time.
    pub fn scratch(&self) -> PathBuf {
        self.store.root().join("v1").join("scratch")
    }

    /// The machine.
    pub fn system(&self) -> &dyn System {
        &*self.system
    }

    /// The store.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The remote cache behind the store, if any.
    pub fn remote(&self) -> Option<&Remote> {
        self.remote.as_ref()
    }

    /// The permission of the engine.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// The number of units in progress at a time: looked up, fetched, made by workers, or here, as far as the machine has
    /// [`World::slots`].
    pub fn jobs(&self) -> usize {
        self.jobs.max(1)
    }

    /// Places for stages that are at work on this machine.
    pub const fn slots(&self) -> &Slots {
        &self.slots
    }

    /// Tells the observer.
    pub fn tell(&self, event: &Event) {
        self.observer.observe(event);
    }

    /// The bytes of an artifact that a look-up has seen. A lost artifact interrupts the query.
    pub fn open_blob(&self, blob: &BlobRef) -> Blob {
        self.with_blob(blob, || self.store.open_blob(blob))
    }

    /// Writes the same artifact to a file.
    pub fn materialise(&self, blob: &BlobRef, destination: &Path, executable: bool) {
        let outcome = self.try_with_blob(blob, || self.store.materialise(blob, destination, executable));
        outcome.unwrap_or_else(|error| match of_destination(&error, destination) {
            Some(diagnostic) => interrupt(Transient::Environment(Box::new(diagnostic))),
            None => interrupt(error),
        });
    }

    /// The result of `read` on a blob, which is fetched first if only the remote cache has the blob.
    fn with_blob<T>(&self, blob: &BlobRef, read: impl Fn() -> Result<T, StoreError>) -> T {
        self.try_with_blob(blob, read).unwrap_or_else(|error| interrupt(error))
    }

    fn try_with_blob<T>(&self, blob: &BlobRef, read: impl Fn() -> Result<T, StoreError>) -> Result<T, StoreError> {
        match read() {
            Err(StoreError::Missing { .. } | StoreError::Corrupt { .. }) if self.fetch(blob) => read(),
            outcome => outcome,
        }
    }

    fn fetch(&self, blob: &BlobRef) -> bool {
        self.remote.as_ref().is_some_and(|remote| remote.fetch(blob))
    }

    /// The bytes of an artifact that several stages read, such as weights: the bytes are checked once in a session and stay
    /// mapped.
    pub fn open_weights(&self, blob: &BlobRef) -> Blob {
        match self.held(blob.digest) {
            Some(held) if self.store.contains(blob).unwrap_or_else(|error| interrupt(error)) => held,
            _ => {
                let opened = self.open_blob(blob);
                self.hold(&opened);
                opened
            }
        }
    }

    /// Keeps a blob mapped for [`World::open_weights`].
    pub fn hold(&self, blob: &Blob) {
        if blob.is_shared() {
            self.shared().push(blob.clone());
        }
        self.blobs().insert(blob.reference().digest, blob.clone());
    }

    /// The blob that [`World::hold`] keeps mapped.
    pub fn held(&self, digest: Digest) -> Option<Blob> {
        self.blobs().get(&digest).cloned()
    }

    /// The toolchain, or the reason for the absence: looked for once in a session, for any number of units.
    pub fn toolchain(
        &self,
        question: Digest,
        find: impl FnOnce() -> Result<Toolchain, Box<Diagnostic>>,
    ) -> Result<Toolchain, Box<Diagnostic>> {
        let mut known = self.toolchains.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry(question).or_insert_with(find).clone()
    }

    /// Interrupts the query where a file that is read in place was written to: no result is kept.
    pub fn check_unchanged(&self) {
        if self.shared().iter().all(Blob::is_as_opened) {
            return;
        }
        let diagnostic = Diagnostic::error(Code::FileUnreadable, "a file of the model changed while it was read");
        interrupt(Transient::Environment(Box::new(diagnostic.help("run the command again"))));
    }

    /// Frees the memory behind blobs that stay mapped: the memory of a stage is not counted to the next stage.
    pub fn release(&self) {
        self.blobs().values().for_each(|blob| blob.release(0..blob.len()));
    }

    fn shared(&self) -> MutexGuard<'_, Vec<Blob>> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn blobs(&self) -> MutexGuard<'_, BTreeMap<Digest, Blob>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The error for a copy that the system refused to write; `None` for a failure of the store itself.
fn of_destination(error: &StoreError, destination: &Path) -> Option<Diagnostic> {
    let (StoreError::Full { path, source, .. } | StoreError::Denied { path, source } | StoreError::Io { path, source }) =
        error
    else {
        return None;
    };
    path.starts_with(destination.parent()?).then(|| unwritable(destination, source))
}
