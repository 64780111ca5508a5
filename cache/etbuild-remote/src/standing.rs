//! The state of a session's remote: reachable or lost, promised blobs, distrusted blobs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use etbuild_store::{BlobRef, Digest, Observer, Store};

use crate::{Access, Event, Options, Remote, RemoteBlob, RemoteError};

/// The number of consecutive failed uploads after which uploads stop.
const FAILURES: u32 = 3;

/// A remote and its state in a session. Threads share the state.
pub struct Standing {
    pub remote: Box<dyn Remote>,
    pub store: Arc<Store>,
    pub access: Access,
    jobs: bool,
    url: String,
    observer: Arc<dyn Observer<Event>>,
    facts: Mutex<Facts>,
}

#[derive(Default)]
struct Facts {
    /// The reason why requests stopped.
    lost: Option<String>,
    /// The reason why uploads stopped.
    not_stored: Option<String>,
    /// The reason why remote execution stopped.
    not_executed: Option<String>,
    failures: u32,
    told_wrong: bool,
    told_mismatched: bool,
    unread: bool,
    promised: BTreeMap<Digest, RemoteBlob>,
    distrusted: BTreeSet<Digest>,
}

impl Standing {
    /// The initial state.
    pub fn new(
        remote: Box<dyn Remote>,
        store: Arc<Store>,
        options: &Options,
        observer: Arc<dyn Observer<Event>>,
    ) -> Self {
        let (access, jobs, url) = (options.access, options.execution.is_some(), options.url.clone());
        Self { remote, store, access, jobs, url, observer, facts: Mutex::default() }
    }

    /// Whether the session downloads.
    pub fn reads(&self) -> bool {
        let facts = self.facts();
        facts.lost.is_none() && !facts.unread
    }

    /// Whether the session uploads.
    pub fn writes(&self) -> bool {
        let facts = self.facts();
        self.access.writes() && facts.lost.is_none() && facts.failures < FAILURES
    }

    /// Whether the session sends jobs.
    pub fn executes(&self) -> bool {
        let facts = self.facts();
        self.jobs && facts.lost.is_none() && facts.not_executed.is_none()
    }

    /// Stops downloads, because the remote's contents are wrong.
    pub fn stop_reading(&self) {
        self.facts().unread = true;
    }

    /// Why a build that requires the remote fails.
    pub fn failure(&self) -> Option<String> {
        let facts = self.facts();
        let reason = facts.lost.as_ref().or(facts.not_executed.as_ref()).or(facts.not_stored.as_ref()).cloned();
        reason.filter(|_| self.access == Access::Required)
    }

    /// Remembers that the remote has a blob.
    pub fn promise(&self, blob: &RemoteBlob) {
        self.facts().promised.insert(blob.blob.digest, *blob);
    }

    /// The remote's digests of a blob that it has.
    pub fn promised(&self, blob: &BlobRef) -> Option<RemoteBlob> {
        self.facts().promised.get(&blob.digest).copied().filter(|promised| promised.blob == *blob)
    }

    /// Whether the remote listed a blob and then failed to send it.
    pub fn is_distrusted(&self, blob: &BlobRef) -> bool {
        self.facts().distrusted.contains(&blob.digest)
    }

    /// Notes a failed download, and reports the first failure of a kind.
    pub fn not_read(&self, error: &RemoteError) {
        match error {
            RemoteError::Lost(reason) | RemoteError::Refused(reason) => self.lose(reason),
            RemoteError::Gone(blob) => self.distrust(*blob),
            RemoteError::Wrong(blob) => {
                self.distrust(*blob);
                if !std::mem::replace(&mut self.facts().told_wrong, true) {
                    self.tell(&Event::Wrong { url: self.url.clone(), blob: *blob });
                }
            }
            RemoteError::Mismatched(action) => {
                if !std::mem::replace(&mut self.facts().told_mismatched, true) {
                    self.tell(&Event::Mismatched { url: self.url.clone(), action: *action });
                }
            }
            RemoteError::Store(_) => {}
        }
    }

    /// Notes a successful upload.
    pub fn written(&self) {
        self.facts().failures = 0;
    }

    /// Notes a failed upload, and reports the first failure. A remote that only refuses uploads is still read.
    pub fn not_written(&self, error: &RemoteError) {
        match error {
            RemoteError::Lost(reason) => self.lose(reason),
            RemoteError::Store(_) => {}
            other => {
                let reason = plain(&other.to_string());
                let mut facts = self.facts();
                facts.failures += 1;
                let first = facts.not_stored.replace(reason.clone()).is_none();
                drop(facts);
                if first {
                    self.tell(&Event::NotStored { url: self.url.clone(), reason });
                }
            }
        }
    }

    /// Notes and reports a failed job: no more jobs are sent.
    pub fn not_executed(&self, error: &RemoteError) {
        match error {
            RemoteError::Lost(reason) => self.lose(reason),
            other => {
                let reason = plain(&other.to_string());
                if self.facts().not_executed.replace(reason.clone()).is_none() {
                    self.tell(&Event::NotExecuted { url: self.url.clone(), reason });
                }
            }
        }
    }

    fn lose(&self, reason: &str) {
        let before = self.facts().lost.replace(plain(reason));
        if before.is_none() {
            let fails = self.access == Access::Required;
            self.tell(&Event::Lost { url: self.url.clone(), reason: plain(reason), fails });
        }
    }

    fn distrust(&self, blob: Digest) {
        let mut facts = self.facts();
        facts.promised.remove(&blob);
        facts.distrusted.insert(blob);
    }

    fn tell(&self, event: &Event) {
        self.observer.observe(event);
    }

    fn facts(&self) -> MutexGuard<'_, Facts> {
        self.facts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The limit of a server's message in characters.
const WORDS: usize = 500;

/// A server's message on one line without control characters, so that a terminal or a CI runner cannot take the text
/// for commands.
fn plain(text: &str) -> String {
    let one_line = text.chars().map(|character| if character.is_control() { ' ' } else { character });
    one_line.take(WORDS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_servers_message_contains_no_control_characters() {
        assert_eq!(plain("no\n::error::x \u{1b}[2J\u{9b}y\r"), "no ::error::x  [2J y ");
        assert_eq!(plain(&"a".repeat(WORDS + 1)).len(), WORDS);
    }
}
