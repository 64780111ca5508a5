//! Single flight: of all processes and threads that want an action's result, one runs the action and the rest waits.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::file_lock::{self, Mode};
use crate::process::ProcessId;
use crate::{ActionKey, Lease, Store, StoreError};

/// The right to run an action, until dropped. The right includes a [`Lease`].
#[derive(Debug)]
pub struct Guard {
    file: File,
    _lease: Lease,
}

impl Drop for Guard {
    fn drop(&mut self) {
        // The name is for waiters only: a stale name misleads only a reader of the message.
        let _ = self.file.set_len(0);
    }
}

/// The holder of an action's lock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Holder {
    /// The process; `None` in the instant between locking and signing.
    pub pid: Option<u32>,
    /// The time of locking.
    pub since: Option<SystemTime>,
}

impl Store {
    /// Waits for the right to run an action. After the wait, look the action up again: the last holder may have recorded the result.
    ///
    /// `on_wait` hears of another holder. The lock of a dead process is free.
    pub fn lock(&self, action: &ActionKey, on_wait: impl FnOnce(&Holder)) -> Result<Guard, StoreError> {
        let lease = self.lease()?;
        let path = self.layout().lock(action);
        let mut file = file_lock::open(&path)?;
        file_lock::lock(&file, Mode::Exclusive, &path, || on_wait(&Holder::of(&path)))?;
        // The lock holds without a signature, so that a full disk does not stop a build that needs no space.
        let _ = sign(&mut file);
        Ok(Guard { file, _lease: lease })
    }
}

/// Writes `pid-start seconds` into the lock file.
fn sign(file: &mut File) -> std::io::Result<()> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    file.set_len(0)?;
    writeln!(file, "{} {since}", ProcessId::current())
}

impl Holder {
    fn of(path: &Path) -> Self {
        std::fs::read_to_string(path).ok().and_then(|text| Self::parse(&text)).unwrap_or_default()
    }

    fn parse(text: &str) -> Option<Self> {
        let (process, since) = text.strip_suffix('\n')?.split_once(' ')?;
        let process: ProcessId = process.parse().ok()?;
        let since = UNIX_EPOCH.checked_add(Duration::from_secs(since.parse().ok()?));
        Some(Self { pid: Some(process.pid), since })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    use super::*;
    use crate::Digest;

    #[test]
    fn a_signature_reads_back_and_a_torn_one_names_nobody() {
        let holder = Holder::parse("12-345 1000\n").unwrap();
        assert_eq!((holder.pid, holder.since), (Some(12), UNIX_EPOCH.checked_add(Duration::from_secs(1000))));
        for torn in ["", "12-345 10", "12-345\n", "x 1\n"] {
            assert_eq!(Holder::parse(torn), None, "{torn}");
        }
    }

    #[test]
    fn threads_of_one_process_exclude_each_other_and_learn_who_holds() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let action = ActionKey(Digest::of(b"action"));
        let released = AtomicBool::new(false);
        let guard = store.lock(&action, |_| panic!("nobody else holds it")).unwrap();
        thread::scope(|scope| {
            let (sender, waiting) = std::sync::mpsc::channel();
            let (store, released) = (&store, &released);
            scope.spawn(move || {
                let _guard = store.lock(&action, |holder| sender.send(*holder).unwrap()).unwrap();
                assert!(released.load(Ordering::SeqCst));
            });
            assert_eq!(waiting.recv().unwrap().pid, Some(std::process::id()));
            released.store(true, Ordering::SeqCst);
            drop(guard);
        });
    }

    #[test]
    fn different_actions_do_not_wait_for_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let _one = store.lock(&ActionKey(Digest::of(b"one")), |_| panic!("free")).unwrap();
        let _other = store.lock(&ActionKey(Digest::of(b"other")), |_| panic!("free")).unwrap();
    }
}
