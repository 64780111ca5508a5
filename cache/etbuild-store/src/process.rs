//! Which process is which, though process numbers are used again.

use std::fmt;
use std::fs;
use std::str::FromStr;

/// A process: the number and the start time. Prints and parses as `pid-start`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ProcessId {
    /// The number by the system.
    pub pid: u32,
    /// Clock ticks from boot to the start; 0 on systems without this number.
    pub start: u64,
}

impl ProcessId {
    /// This process.
    pub fn current() -> Self {
        let pid = std::process::id();
        Self { pid, start: start_of(pid).unwrap_or_default() }
    }

    /// Whether the process is seen running. `false` may also mean that the system does not show the process, or that the process runs in another
    /// container.
    pub fn is_seen_running(self) -> bool {
        start_of(self.pid) == Some(self.start)
    }
}

impl fmt::Display for ProcessId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}-{}", self.pid, self.start)
    }
}

impl FromStr for ProcessId {
    type Err = NotAProcess;

    fn from_str(text: &str) -> Result<Self, NotAProcess> {
        let (pid, start) = text.split_once('-').ok_or(NotAProcess)?;
        Ok(Self { pid: pid.parse().map_err(|_| NotAProcess)?, start: start.parse().map_err(|_| NotAProcess)? })
    }
}

/// The text does not name a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotAProcess;

/// Field 22 of `/proc/<pid>/stat`, counted from behind the program's name, which may hold any characters (`proc(5)`).
fn start_of(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, after_name) = stat.rsplit_once(')')?;
    after_name.split_ascii_whitespace().nth(19)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn this_process_is_running_and_its_namesake_of_another_time_is_not() {
        let current = ProcessId::current();
        assert!(current.is_seen_running());
        assert!(!ProcessId { start: current.start + 1, ..current }.is_seen_running());
    }

    #[test]
    fn a_process_prints_and_parses() {
        let process = ProcessId { pid: 12, start: 345 };
        assert_eq!(process.to_string().parse(), Ok(process));
        assert_eq!("12".parse::<ProcessId>(), Err(NotAProcess));
        assert_eq!("a-3".parse::<ProcessId>(), Err(NotAProcess));
    }
}
