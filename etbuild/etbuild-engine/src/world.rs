//! What queries may touch beside their inputs: the machine, the store, and whoever watches.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use et_llm::MakeText;
use etbuild_backend::Backend;
use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_link::Toolchain;
use etbuild_remote::{Options, OptionsError, RemoteCache};
use etbuild_store::{Blob, BlobRef, Digest, Observer, Store, StoreError};
use etbuild_system::{Slots, System};

use crate::event::Event;
use crate::remote::Remote;
use crate::stage::{Transient, interrupt};

/// What the engine may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Run what the store lacks.
    Build,
    /// Look up only: a stage that the store lacks is reported as missing.
    Plan,
    /// Run everything, whatever the store has.
    Rebuild,
}

/// How many stages may be at work on this machine at a time, whatever the number of jobs: what they need is then at most twice what
/// the largest of them needs. Compilers and quantizers use all processors themselves.
const AT_WORK: usize = 2;

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
    text_maker: Option<MakeText>,
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
            text_maker: None,
            held: Mutex::default(),
            shared: Mutex::default(),
            toolchains: Mutex::default(),
        })
    }

    /// The same world, where nothing may be fetched from the network if `offline`.
    #[must_use]
    pub fn offline(self, offline: bool) -> Self {
        Self { offline, ..self }
    }

    /// The same world with these engines, which recipes may name.
    #[must_use]
    pub fn backends(self, backends: &'static [&'static dyn Backend]) -> Self {
        Self { backends, ..self }
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

    /// The same world with what makes tokenizers.
    #[must_use]
    pub fn reading_texts(self, make: MakeText) -> Self {
        Self { text_maker: Some(make), ..self }
    }

    /// What makes the tokenizer of a checkpoint, if anything does.
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

    /// Whether nothing may be fetched from the network.
    pub fn is_offline(&self) -> bool {
        self.offline
    }

    /// The folder that compilers work in. What lies there only saves time.
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

    /// The remote cache behind the store, if there is one.
    pub fn remote(&self) -> Option<&Remote> {
        self.remote.as_ref()
    }

    /// What the engine may do.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// How many units are worked on at a time: looked up, fetched, made by workers, or here, as far as there are
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

    /// The bytes of an artifact that a look-up has seen. One that has gone since interrupts the query.
    pub fn open_blob(&self, blob: &BlobRef) -> Blob {
        self.with_blob(blob, || self.store.open_blob(blob))
    }

    /// Writes such an artifact to a file.
    pub fn materialise(&self, blob: &BlobRef, destination: &Path, executable: bool) {
        self.with_blob(blob, || self.store.materialise(blob, destination, executable));
    }

    /// What `read` makes of a blob, which is fetched first where it is still with the remote cache.
    fn with_blob<T>(&self, blob: &BlobRef, read: impl Fn() -> Result<T, StoreError>) -> T {
        let outcome = match read() {
            Err(StoreError::Missing { .. } | StoreError::Corrupt { .. }) if self.fetch(blob) => read(),
            outcome => outcome,
        };
        outcome.unwrap_or_else(|error| interrupt(error))
    }

    fn fetch(&self, blob: &BlobRef) -> bool {
        self.remote.as_ref().is_some_and(|remote| remote.fetch(blob))
    }

    /// The bytes of an artifact that one stage after the other reads, as weights are: they are checked once in a session and stay
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

    /// The toolchain that answers a question, or why there is none: looked for once in a session, for any number of units.
    pub fn toolchain(
        &self,
        question: Digest,
        find: impl FnOnce() -> Result<Toolchain, Box<Diagnostic>>,
    ) -> Result<Toolchain, Box<Diagnostic>> {
        let mut known = self.toolchains.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry(question).or_insert_with(find).clone()
    }

    /// Interrupts the query where somebody has written to a file that is read where it lies: nothing that was made of it is kept.
    pub fn check_unchanged(&self) {
        if self.shared().iter().all(Blob::is_as_opened) {
            return;
        }
        let diagnostic = Diagnostic::error(Code::FileUnreadable, "a file of the model changed while it was read");
        interrupt(Transient::Environment(Box::new(diagnostic.help("run the command again"))));
    }

    /// Lets go of the memory behind blobs that stay mapped: one stage's reading is not counted to the next one's.
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
