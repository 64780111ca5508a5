//! Devices with a shell, and the ways there.

use std::fmt;

use etbuild_system::Invocation;
use etbuild_target::{Host, Run};

use super::script::quoted;

/// A device that executes scripts, and the way there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Shell {
    /// The Android Debug Bridge, with the serial number of one of several devices.
    Adb(Option<Host>),
    /// A host, as `ssh` takes it: `user@host`, a name of the user's configuration, or `ssh://user@host:port`.
    Ssh(Host),
}

impl Shell {
    /// The device of a target that states one.
    pub fn of(run: &Run) -> Option<Self> {
        match run {
            Run::Adb => Some(Self::Adb(None)),
            Run::Ssh(host) => Some(Self::Ssh(host.clone())),
            Run::None | Run::Native | Run::Model | Run::Emulator(_) | Run::Device(_) => None,
        }
    }

    /// The program that executes `script` on the device.
    pub fn invocation(&self, script: &str) -> Invocation {
        let script = format!("exec sh -c {}", quoted(script));
        match self {
            Self::Adb(serial) => {
                let serial = serial.iter().flat_map(|serial| ["-s".to_owned(), serial.to_string()]);
                Invocation::new(self.program()).args(serial).args(["shell", "-T"]).arg(script)
            }
            // A question for a password would wait for ever.
            Self::Ssh(host) => Invocation::new(self.program())
                .args(["-T", "-oBatchMode=yes", "-oConnectTimeout=10", "--"])
                .arg(host.to_string())
                .arg(script),
        }
    }

    /// The program.
    pub fn program(&self) -> &'static str {
        match self {
            Self::Adb(_) => "adb",
            Self::Ssh(_) => "ssh",
        }
    }

    /// The Debian package of the program.
    pub fn package(&self) -> &'static str {
        match self {
            Self::Adb(_) => "adb",
            Self::Ssh(_) => "openssh-client",
        }
    }

    /// The folder on the device for everything of etbuild, from where a shell starts.
    pub fn folder(&self) -> &'static str {
        match self {
            // The one folder from which a shell of Android may execute files.
            Self::Adb(_) => "/data/local/tmp/etbuild",
            Self::Ssh(_) => ".cache/etbuild/device",
        }
    }
}

impl fmt::Display for Shell {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Adb(None) => formatter.write_str("adb"),
            Self::Adb(Some(serial)) => write!(formatter, "adb:{serial}"),
            Self::Ssh(host) => write!(formatter, "ssh:{host}"),
        }
    }
}
