//! Process groups: a process with its descendants.

use std::process::Command;

/// Makes the process of `command` the leader of a new group, which signals of the terminal to etbuild's group do not
/// reach.
#[cfg(unix)]
pub fn own(command: &mut Command) -> &mut Command {
    std::os::unix::process::CommandExt::process_group(command, 0)
}

/// Asks the group of this leader to end.
#[cfg(unix)]
pub fn terminate(leader: u32) {
    signal(leader, rustix::process::Signal::TERM);
}

/// Ends the group of this leader.
#[cfg(unix)]
pub fn kill(leader: u32) {
    signal(leader, rustix::process::Signal::KILL);
}

#[cfg(unix)]
fn signal(leader: u32, signal: rustix::process::Signal) {
    if let Some(leader) = i32::try_from(leader).ok().and_then(rustix::process::Pid::from_raw) {
        // A group that is gone needs no signal.
        let _ = rustix::process::kill_process_group(leader, signal);
    }
}

#[cfg(windows)]
pub fn own(command: &mut Command) -> &mut Command {
    command
}

/// Windows has no request to end that a compiler would heed.
#[cfg(windows)]
pub fn terminate(leader: u32) {
    kill(leader);
}

/// Ends the leader and its descendants.
#[cfg(windows)]
pub fn kill(leader: u32) {
    let _ = Command::new("taskkill").args(["/T", "/F", "/PID", &leader.to_string()]).output();
}
