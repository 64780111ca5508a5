//! The remote cache of a build: a second store behind the local store, which may become unreachable at any time.

use std::sync::Arc;
use std::time::Duration;

use etbuild_store::{ActionKey, BlobRef, Observer, Store, StoreError};

#[cfg(feature = "reapi")]
use crate::reapi::Reapi;
use crate::standing::Standing;
use crate::upload::Uploads;
use crate::{Access, Event, Job, JobResult, Options, OptionsError, Remote, RemoteError, fetch};

/// How long the end of a build waits for pending uploads.
const LAST_UPLOADS: Duration = Duration::from_secs(300);

/// The result of an action on the remote. The remote chooses the names of outputs, so a name may be any text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The blobs by name, in order.
    pub outputs: Vec<(String, BlobRef)>,
}

/// A remote behind the local store. A failure of the remote counts as a miss; the observer hears of each kind of
/// failure once.
pub struct RemoteCache {
    standing: Arc<Standing>,
    uploads: Uploads,
}

impl RemoteCache {
    /// Opens the remote that the options name. The connection is made with the first request.
    ///
    /// # Errors
    /// The options contradict each other or are malformed.
    pub fn open(
        options: &Options,
        store: Arc<Store>,
        observer: Arc<dyn Observer<Event>>,
    ) -> Result<Self, OptionsError> {
        if options.execution.is_some() && !options.access.writes() {
            return Err(OptionsError::ReadOnlyExecution);
        }
        let remote = connect(options)?;
        let standing = Arc::new(Standing::new(remote, store, options, observer));
        Ok(Self { standing, uploads: Uploads::default() })
    }

    /// Contacts the remote, so that an unreachable remote is known before the build depends on its answers.
    pub fn greet(&self) {
        self.standing.remote.greet().unwrap_or_else(|error| self.standing.not_read(&error));
    }

    /// Whether a build that loses the remote fails.
    pub fn is_required(&self) -> bool {
        self.standing.access == Access::Required
    }

    /// The result of an action. This call stores small blobs locally, and [`RemoteCache::fetch`] downloads the large
    /// blobs.
    ///
    /// # Errors
    /// The store's errors.
    pub fn find(&self, action: &ActionKey) -> Result<Option<Found>, StoreError> {
        if !self.standing.reads() {
            return Ok(None);
        }
        let outputs = self.counted(fetch::action(&self.standing, action))?.flatten();
        let blobs = |outputs: crate::Outputs| outputs.into_iter().map(|(name, blob)| (name, blob.blob)).collect();
        Ok(outputs.map(|outputs| Found { outputs: blobs(outputs) }))
    }

    /// Downloads a blob that [`RemoteCache::find`] listed into the store; `false` if the download fails.
    ///
    /// # Errors
    /// The store's errors.
    pub fn fetch(&self, blob: &BlobRef) -> Result<bool, StoreError> {
        match self.standing.promised(blob).filter(|_| self.standing.reads()) {
            Some(promised) => Ok(self.counted(fetch::blob(&self.standing, &promised))?.is_some()),
            None => Ok(false),
        }
    }

    /// Uploads the result of an action in the background, if the access allows uploads. All blobs must be in the store.
    pub fn publish(&self, action: &ActionKey, outputs: &[(String, BlobRef)]) {
        if self.standing.writes() {
            self.uploads.push(&self.standing, *action, outputs.to_vec());
        }
    }

    /// Whether jobs are sent to workers.
    pub fn executes(&self) -> bool {
        self.standing.executes()
    }

    /// Executes a job on a worker; `None` if remote execution is off or fails.
    pub fn execute(&self, job: &Job) -> Option<JobResult> {
        if !self.standing.executes() {
            return None;
        }
        let result = self.standing.remote.execute(job);
        result.map_err(|error| self.standing.not_executed(&error)).ok()
    }

    /// Sends no more jobs, because the results of the workers are wrong.
    pub fn stop_executing(&self, reason: &str) {
        self.standing.not_executed(&RemoteError::Refused(reason.to_owned()));
    }

    /// Waits for pending uploads, for at most 300 s.
    pub fn finish(&self) {
        if !self.uploads.wait(LAST_UPLOADS) {
            let reason = format!("uploads did not finish within {} s", LAST_UPLOADS.as_secs());
            self.standing.not_written(&RemoteError::Refused(reason));
        }
    }

    /// Stops reading from the remote for this session, because its contents are wrong.
    pub fn stop_reading(&self) {
        self.standing.stop_reading();
    }

    /// The reason why a build that requires the remote fails; `None` without a failure or without that requirement.
    pub fn failure(&self) -> Option<String> {
        self.standing.failure()
    }

    /// `None` for a failure of the remote, which has been reported to the observer.
    fn counted<T>(&self, outcome: Result<T, RemoteError>) -> Result<Option<T>, StoreError> {
        match outcome {
            Ok(value) => Ok(Some(value)),
            Err(RemoteError::Store(error)) => Err(error),
            Err(error) => {
                self.standing.not_read(&error);
                Ok(None)
            }
        }
    }
}

/// Connects to the kind of remote that the URL names.
fn connect(options: &Options) -> Result<Box<dyn Remote>, OptionsError> {
    if is_object_store(&options.url) {
        #[cfg(feature = "object-stores")]
        return Ok(Box::new(crate::objects::Objects::new(options)?));
        #[cfg(not(feature = "object-stores"))]
        return Err(OptionsError::NoObjectStores(options.url.clone()));
    }
    #[cfg(feature = "reapi")]
    return Ok(Box::new(Reapi::new(options)?));
    #[cfg(not(feature = "reapi"))]
    Err(OptionsError::LeftOut(options.url.clone()))
}

/// Whether a URL names an object store in place of a server of the Remote Execution API.
fn is_object_store(url: &str) -> bool {
    ["s3://", "file://", "http://", "https://"].iter().any(|scheme| url.starts_with(scheme))
}

/// The message for the user.
impl std::fmt::Display for Event {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Lost { url, reason, .. } => write!(formatter, "the remote cache {url} is lost: {reason}"),
            Self::Wrong { url, blob } => {
                write!(
                    formatter,
                    "the remote cache {url} sent bytes with a wrong digest for blob {blob}; the bytes were discarded"
                )
            }
            Self::Mismatched { url, action } => {
                write!(
                    formatter,
                    "the remote cache {url} sent the result of another action for action {action}; the stage runs locally"
                )
            }
            Self::NotExecuted { url, reason } => {
                write!(formatter, "the remote cache {url} does not execute jobs: {reason}")
            }
            Self::NotStored { url, reason } => {
                write!(formatter, "the remote cache {url} rejects uploads: {reason}")
            }
        }
    }
}

#[cfg(all(test, not(feature = "object-stores")))]
mod tests {
    use super::*;

    #[test]
    fn a_build_without_object_stores_names_the_feature() {
        for url in ["s3://bucket/folder", "file:///folder", "https://host/folder"] {
            let error = connect(&Options::new(url)).err().map(|error| error.to_string());
            assert!(error.is_some_and(|error| error.contains("`object-stores`") && error.contains(url)), "{url}");
        }
    }
}
