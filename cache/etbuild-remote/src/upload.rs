//! From the store to a remote, beside the build.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use etbuild_store::{ActionKey, Blob, BlobRef, StoreError};

use crate::standing::Standing;
use crate::{Outputs, RemoteBlob, RemoteError, names, seal};

/// A pending upload: the result of an action.
struct Job {
    action: ActionKey,
    outputs: Vec<(String, BlobRef)>,
}

/// The upload queue: a background thread uploads one action result after the other.
#[derive(Default)]
pub struct Uploads {
    sender: Mutex<Option<Sender<Job>>>,
    pending: Arc<Pending>,
}

/// The number of pending uploads.
#[derive(Default)]
struct Pending {
    count: Mutex<usize>,
    changed: Condvar,
}

impl Uploads {
    /// Queues the result of an action.
    pub fn push(&self, standing: &Arc<Standing>, action: ActionKey, outputs: Vec<(String, BlobRef)>) {
        let mut sender = self.sender.lock().unwrap_or_else(PoisonError::into_inner);
        let sender = sender.get_or_insert_with(|| start(standing.clone(), self.pending.clone()));
        self.pending.add();
        if sender.send(Job { action, outputs }).is_err() {
            self.pending.done();
        }
    }

    /// Waits for all uploads, up to `limit`; `false` after the limit.
    pub fn wait(&self, limit: Duration) -> bool {
        let waited = self.pending.changed.wait_timeout_while(self.pending.count(), limit, |count| *count > 0);
        *waited.unwrap_or_else(PoisonError::into_inner).0 == 0
    }
}

impl Pending {
    fn count(&self) -> MutexGuard<'_, usize> {
        self.count.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self) {
        *self.count() += 1;
    }

    fn done(&self) {
        *self.count() -= 1;
        self.changed.notify_all();
    }
}

/// Starts the upload thread, which ends with the session.
fn start(standing: Arc<Standing>, pending: Arc<Pending>) -> Sender<Job> {
    let (sender, jobs) = channel();
    std::thread::spawn(move || work(&standing, &pending, &jobs));
    sender
}

fn work(standing: &Standing, pending: &Pending, jobs: &Receiver<Job>) {
    for job in jobs {
        if standing.writes() {
            match send(standing, &job) {
                Ok(()) => standing.written(),
                Err(error) => standing.not_written(&error),
            }
        }
        pending.done();
    }
}

/// Uploads blobs first, then the action result: a reader of the result finds its blobs.
fn send(standing: &Standing, job: &Job) -> Result<(), RemoteError> {
    let with_sha256 = standing.remote.wants_sha256()?;
    let open = |(name, blob): &(String, BlobRef)| {
        let blob = standing.store.open_blob(blob)?;
        let sha256 = with_sha256.then(|| names::sha256(&standing.store, &blob));
        Ok((name.clone(), RemoteBlob { blob: blob.reference(), sha256 }, blob))
    };
    let seal = seal::bytes(&job.action, job.outputs.iter().map(|(name, blob)| (name.as_str(), *blob)));
    let seal = (seal::NAME.to_owned(), standing.store.put(&seal)?);
    let opened = job.outputs.iter().chain([&seal]).map(open).collect::<Result<Vec<_>, StoreError>>()?;
    let mut blobs: Vec<RemoteBlob> = opened.iter().map(|(_, name, _)| *name).collect();
    blobs.sort_unstable();
    blobs.dedup();
    let mut lacking = standing.remote.missing(&blobs)?;
    // A server may list blobs that it failed to send.
    lacking.extend(blobs.iter().filter(|name| standing.is_distrusted(&name.blob)));
    let bytes_of = |name: &RemoteBlob| opened.iter().find(|(_, known, _)| known == name).map(|(.., blob)| blob.clone());
    let loads: Vec<(RemoteBlob, Blob)> = lacking.iter().filter_map(|name| Some((*name, bytes_of(name)?))).collect();
    standing.remote.put(&loads)?;
    let outputs: Outputs = opened.into_iter().map(|(name, blob, _)| (name, blob)).collect();
    standing.remote.record(&job.action, &outputs)
}
