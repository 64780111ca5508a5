//! The remote cache behind the store, in the form for stages.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_remote::{Job, JobResult, RemoteCache};
use etbuild_store::{ActionKey, BlobRef, Digest, Key, Store, StoreError};

use super::{Transient, interrupt};

/// The outputs of a stage: blobs by the names of the artifacts' kinds.
pub type Outputs = Vec<(String, BlobRef)>;

/// A remote cache, and the results found there in this session.
pub struct Remote {
    cache: RemoteCache,
    store: Arc<Store>,
    found: Mutex<Vec<(Arc<Key>, Outputs)>>,
}

impl Remote {
    /// No result yet.
    pub fn new(cache: RemoteCache, store: Arc<Store>) -> Self {
        Self { cache, store, found: Mutex::default() }
    }

    /// Connects where a build must not begin without the remote cache.
    ///
    /// # Errors
    /// A required remote cache is lost.
    pub fn greet_required(&self) -> Result<(), Box<Diagnostic>> {
        if self.cache.is_required() {
            self.cache.greet();
        }
        self.failure().map_or(Ok(()), Err)
    }

    /// The outputs of the stage of `key` elsewhere. Interrupts the query where the remote is required and lost.
    pub fn find(&self, key: &Arc<Key>) -> Option<Outputs> {
        let outputs = self.sound(self.cache.find(&key.action()))?.outputs;
        self.found().push((key.clone(), outputs.clone()));
        Some(outputs)
    }

    /// Brings an artifact into the store that [`Remote::find`] has told of; `false` where that is not to be had.
    pub fn fetch(&self, blob: &BlobRef) -> bool {
        self.sound(self.cache.fetch(blob))
    }

    /// Sends the outputs of a stage, beside the build.
    pub fn publish(&self, action: ActionKey, outputs: &Outputs) {
        self.cache.publish(&action, outputs);
    }

    /// The note of another machine about a subject.
    pub fn note(&self, subject: &Digest) -> Option<Vec<u8>> {
        let found = self.sound(self.cache.find(&ActionKey(*subject)))?;
        let [(_, blob)] = found.outputs[..] else { return None };
        let is_here = self.store.contains(&blob).unwrap_or(false) || self.fetch(&blob);
        Some(self.store.open_blob(&blob).ok().filter(|_| is_here)?.to_vec())
    }

    /// Writes a note about a subject for other machines.
    pub fn leave_note(&self, subject: &Digest, note: &[u8]) {
        // Only time is lost where this fails.
        if let Ok(blob) = self.store.put(note) {
            self.publish(ActionKey(*subject), &vec![("note".to_owned(), blob)]);
        }
    }

    /// Whether jobs are sent to workers.
    pub fn executes(&self) -> bool {
        self.cache.executes()
    }

    /// Has a worker run a job; `None` where that is not to be had. Interrupts the query where the remote is required.
    pub fn execute(&self, job: &Job) -> Option<JobResult> {
        let result = self.cache.execute(job);
        self.sound(Ok(result))
    }

    /// Sends no more jobs, because of the result of a job. Interrupts the query where the remote is required.
    pub fn stop_executing(&self, reason: &str) {
        self.cache.stop_executing(reason);
        self.sound(Ok(()));
    }

    /// Asks for nothing more: twice the remote did not give a promised blob.
    pub fn stop_reading(&self) {
        self.cache.stop_reading();
    }

    /// Ends a build: complete results from the remote are recorded here; outputs of stages are
    /// sent.
    ///
    /// # Errors
    /// A required remote cache is lost.
    pub fn settle(&self) -> Result<(), Box<Diagnostic>> {
        self.record_found();
        self.cache.finish();
        self.failure().map_or(Ok(()), Err)
    }

    fn record_found(&self) {
        for (key, outputs) in std::mem::take(&mut *self.found()) {
            let is_here = |(_, blob): &(String, BlobRef)| self.store.contains(blob).unwrap_or(false);
            if outputs.iter().all(is_here) {
                // A result without a record is found at the remote again.
                let _ = self.store.record(&key, &outputs);
            }
        }
    }

    fn sound<T>(&self, outcome: Result<T, StoreError>) -> T {
        match self.failure() {
            Some(diagnostic) => interrupt(Transient::Environment(diagnostic)),
            None => outcome.unwrap_or_else(|error| interrupt(error)),
        }
    }

    fn failure(&self) -> Option<Box<Diagnostic>> {
        let reason = self.cache.failure()?;
        let diagnostic = Diagnostic::error(Code::RemoteLost, format!("the remote cache is required: {reason}"));
        Some(Box::new(diagnostic.help("build without it with `--remote-mode read-write`")))
    }

    fn found(&self) -> MutexGuard<'_, Vec<(Arc<Key>, Outputs)>> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Remote {
    /// Commands that end without a deploy may have run and fetched stages too.
    fn drop(&mut self) {
        self.record_found();
        self.cache.finish();
    }
}
