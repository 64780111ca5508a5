//! Who ends a group of processes where etbuild cannot any more.

use std::process::{Child, Command, Stdio};

/// Waits for a line. Without one etbuild has been killed: the other end of the pipe is closed with it.
const SCRIPT: &str = "read -r _ || kill -s KILL -- \"-$0\"";

/// A shell that ends a group when etbuild is gone, until dropped.
pub struct Warden(Child);

impl Warden {
    /// Over the group of this leader; `None` where there is no shell.
    pub fn of(leader: u32) -> Option<Self> {
        let mut command = Command::new("sh");
        command.args(["-c", SCRIPT, &leader.to_string()]).stdin(Stdio::piped());
        command.stdout(Stdio::null()).stderr(Stdio::null());
        // What ends the group of etbuild must not end this one.
        super::group::own(&mut command).spawn().ok().map(Self)
    }
}

impl Drop for Warden {
    fn drop(&mut self) {
        // One that has gone already needs no line.
        let _ = self.0.stdin.take().map(|mut pipe| std::io::Write::write_all(&mut pipe, b"\n"));
        let _ = self.0.wait();
    }
}
