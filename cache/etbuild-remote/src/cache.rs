//! A remote as a build uses it: a second place to look, which may go away at any moment.

use std::sync::Arc;
use std::time::Duration;

use etbuild_store::{ActionKey, BlobRef, Observer, Store, StoreError};

#[cfg(feature = "reapi")]
use crate::reapi::Reapi;
use crate::standing::Standing;
use crate::upload::Uploads;
use crate::{Access, Event, Job, JobResult, Options, OptionsError, Remote, RemoteError, fetch};

/// For so long the end of a build waits for what is still being sent.
const LAST_UPLOADS: Duration = Duration::from_secs(300);

/// What an action made, as a remote knows it. The names of outputs are the remote's, and may be any text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The blobs by name, in order.
    pub outputs: Vec<(String, BlobRef)>,
}

/// A remote behind the local store. All its failures count as "not there": the observer hears of each kind once.
pub struct RemoteCache {
    standing: Arc<Standing>,
    uploads: Uploads,
}

impl RemoteCache {
    /// The remote that the options name. Nothing is sent before it is asked for something.
    ///
    /// # Errors
    /// The options make no sense.
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

    /// Speaks to the remote, so that one that is lost is known before anything is built on it.
    pub fn greet(&self) {
        self.standing.remote.greet().unwrap_or_else(|error| self.standing.not_read(&error));
    }

    /// Whether a build that loses the remote fails.
    pub fn is_required(&self) -> bool {
        self.standing.access == Access::Required
    }

    /// What an action made. Small blobs are in the store then, and [`RemoteCache::fetch`] brings the others.
    ///
    /// # Errors
    /// The store's.
    pub fn find(&self, action: &ActionKey) -> Result<Option<Found>, StoreError> {
        if !self.standing.reads() {
            return Ok(None);
        }
        let outputs = self.counted(fetch::action(&self.standing, action))?.flatten();
        let blobs = |outputs: crate::Outputs| outputs.into_iter().map(|(name, blob)| (name, blob.blob)).collect();
        Ok(outputs.map(|outputs| Found { outputs: blobs(outputs) }))
    }

    /// Brings a blob that [`RemoteCache::find`] has told of into the store; `false` where that is not to be had.
    ///
    /// # Errors
    /// The store's.
    pub fn fetch(&self, blob: &BlobRef) -> Result<bool, StoreError> {
        match self.standing.promised(blob).filter(|_| self.standing.reads()) {
            Some(promised) => Ok(self.counted(fetch::blob(&self.standing, &promised))?.is_some()),
            None => Ok(false),
        }
    }

    /// Sends what an action made, where that is wanted, beside the build. All blobs must be in the store.
    pub fn publish(&self, action: &ActionKey, outputs: &[(String, BlobRef)]) {
        if self.standing.writes() {
            self.uploads.push(&self.standing, *action, outputs.to_vec());
        }
    }

    /// Whether jobs are sent to workers.
    pub fn executes(&self) -> bool {
        self.standing.executes()
    }

    /// Has a worker run a job; `None` where that is not to be had, or was not asked for.
    pub fn execute(&self, job: &Job) -> Option<JobResult> {
        if !self.standing.executes() {
            return None;
        }
        let result = self.standing.remote.execute(job);
        result.map_err(|error| self.standing.not_executed(&error)).ok()
    }

    /// Sends no more jobs: what workers make of them is no good.
    pub fn stop_executing(&self, reason: &str) {
        self.standing.not_executed(&RemoteError::Refused(reason.to_owned()));
    }

    /// Waits for what is still being sent, but not for ever.
    pub fn finish(&self) {
        if !self.uploads.wait(LAST_UPLOADS) {
            let reason = format!("what stages made was not sent within {} s", LAST_UPLOADS.as_secs());
            self.standing.not_written(&RemoteError::Refused(reason));
        }
    }

    /// Asks for nothing more in this session: what the remote gives does not hold.
    pub fn stop_reading(&self) {
        self.standing.stop_reading();
    }

    /// Why a build that requires the remote fails; `None` as long as all is well, or the remote is not required.
    pub fn failure(&self) -> Option<String> {
        self.standing.failure()
    }

    /// `None` for a failure of the remote, which has been noted.
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

/// The kind of remote that the URL calls for.
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

/// What a person is told.
impl std::fmt::Display for Event {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Lost { url, reason } => write!(formatter, "the remote cache {url} is lost: {reason}"),
            Self::Wrong { url, blob } => {
                write!(formatter, "the remote cache {url} gave wrong bytes for blob {blob}; they were thrown away")
            }
            Self::Mismatched { url, action } => {
                write!(
                    formatter,
                    "the remote cache {url} gave a result for action {action} that the action did not make; the stage runs here"
                )
            }
            Self::NotExecuted { url, reason } => {
                write!(formatter, "the remote cache {url} does not do the work of stages: {reason}")
            }
            Self::NotStored { url, reason } => {
                write!(formatter, "the remote cache {url} does not take what stages make: {reason}")
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
