//! The child processes of etbuild, which end with etbuild.
//!
//! A child runs in its own process group together with its descendants (compilers and interpreters start processes
//! too). etbuild forwards a terminating signal to these groups. A watchdog shell per group kills the group if etbuild
//! is killed.

mod group;
mod warden;

use std::collections::BTreeSet;
use std::io;
use std::process::{Child, Command};
use std::sync::{Mutex, MutexGuard, PoisonError};

use warden::Warden;

/// The processes that run.
#[derive(Debug, Default)]
pub struct Processes(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    interrupted: bool,
    running: BTreeSet<u32>,
}

impl Processes {
    /// Starts a process, unless etbuild has been interrupted.
    pub(crate) fn start(&self, command: &mut Command) -> io::Result<Process<'_>> {
        // The lock is held until the process is registered, so that a process that starts during an interrupt is
        // interrupted too.
        let mut state = self.state();
        state.not_interrupted()?;
        let child = group::own(command).spawn()?;
        state.running.insert(child.id());
        let warden = Warden::of(child.id());
        Ok(Process { child, among: self, _warden: warden })
    }

    /// Terminates every process group, and starts no further process.
    pub fn interrupt(&self) {
        let mut state = self.state();
        state.interrupted = true;
        state.running.iter().for_each(|leader| group::terminate(*leader));
    }

    /// Kills every process group, and starts no further process.
    pub fn kill(&self) {
        let mut state = self.state();
        state.interrupted = true;
        state.running.iter().for_each(|leader| group::kill(*leader));
    }

    /// Whether no process runs.
    pub fn are_gone(&self) -> bool {
        self.state().running.is_empty()
    }

    /// Whether the processes were interrupted or killed.
    pub fn are_interrupted(&self) -> bool {
        self.state().interrupted
    }

    pub(crate) fn not_interrupted(&self) -> io::Result<()> {
        self.state().not_interrupted()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn not_interrupted(&self) -> io::Result<()> {
        if self.interrupted { Err(io::ErrorKind::Interrupted.into()) } else { Ok(()) }
    }
}

/// A process that runs, until dropped.
pub(crate) struct Process<'a> {
    child: Child,
    among: &'a Processes,
    _warden: Option<Warden>,
}

impl Process<'_> {
    pub fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Kills the process group.
    pub fn kill(&mut self) {
        group::kill(self.child.id());
        let _ = self.child.kill();
    }
}

impl Drop for Process<'_> {
    fn drop(&mut self) {
        let mut state = self.among.state();
        state.running.remove(&self.child.id());
        if state.interrupted {
            // A descendant may outlive the leader.
            group::kill(self.child.id());
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::path::Path;
    use std::thread;
    use std::time::Duration;

    use super::*;
    use crate::{Invocation, RealSystem, System};

    /// A process that ignores signals, with a child that ignores signals.
    const STUBBORN: &str = "trap '' TERM INT; sleep 600 & echo $! > \"$0\"; wait; wait";

    #[test]
    fn a_process_that_ignores_signals_is_killed_with_its_group() {
        let system = RealSystem::default();
        let folder = tempfile::tempdir().unwrap();
        let note = folder.path().join("child");
        let invocation = Invocation::new("sh").args(["-c", STUBBORN]).arg(&note);
        thread::scope(|scope| {
            let run = scope.spawn(|| system.run(&invocation));
            let child = loop {
                match std::fs::read_to_string(&note) {
                    Ok(text) if text.ends_with('\n') => break text.trim().to_owned(),
                    _ => thread::sleep(Duration::from_millis(1)),
                }
            };
            system.processes().interrupt();
            assert!(is_alive(&child), "the shell has told it to ignore what asks it to end");
            system.processes().kill();
            assert_eq!(run.join().unwrap().unwrap_err().kind(), io::ErrorKind::Interrupted);
            while is_alive(&child) {
                thread::sleep(Duration::from_millis(1));
            }
        });
        assert!(system.is_interrupted() && system.processes().are_gone());
        assert_eq!(system.run(&Invocation::new("true")).unwrap_err().kind(), io::ErrorKind::Interrupted);
    }

    /// Whether a process is running; a zombie counts as ended.
    fn is_alive(id: &str) -> bool {
        let stat = std::fs::read_to_string(Path::new("/proc").join(id).join("stat"));
        stat.is_ok_and(|text| !text.contains(") Z"))
    }
}
