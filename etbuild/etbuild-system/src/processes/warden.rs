//! The watchdog that ends a process group if etbuild is killed.

use std::process::{Child, Command, Stdio};

/// Waits for a line. End of file without a line means that etbuild was killed, because the pipe closes with the
/// process.
const SCRIPT: &str = "read -r _ || kill -s KILL -- \"-$0\"";

/// A shell that ends a group when etbuild is gone, until dropped.
pub struct Warden(Child);

impl Warden {
    /// Watches the group of this leader; `None` on a system without a shell.
    pub fn of(leader: u32) -> Option<Self> {
        let mut command = Command::new("sh");
        command.args(["-c", SCRIPT, &leader.to_string()]).stdin(Stdio::piped());
        command.stdout(Stdio::null()).stderr(Stdio::null());
        // A signal to etbuild's group must not end the watchdog.
        super::group::own(&mut command).spawn().ok().map(Self)
    }
}

impl Drop for Warden {
    fn drop(&mut self) {
        // A failed write means that the watchdog has ended already.
        let _ = self.0.stdin.take().map(|mut pipe| std::io::Write::write_all(&mut pipe, b"\n"));
        let _ = self.0.wait();
    }
}
