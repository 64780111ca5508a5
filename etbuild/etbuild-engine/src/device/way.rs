//! The ways to a device.

use std::fmt;

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_system::Invocation;
use etbuild_target::{Host, Run};

use super::script::quoted;

/// A device, and the way there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Device {
    /// The Android Debug Bridge, with the serial number of one of several devices.
    Adb(Option<Host>),
    /// A host, as `ssh` takes it: `user@host`, a name of the user's configuration, or `ssh://user@host:port`.
    Ssh(Host),
}

impl Device {
    /// The device in the text `adb`, `adb:SERIAL` or `ssh:HOST`.
    ///
    /// # Errors
    /// `ETB0801` for other texts.
    pub fn parse(text: &str) -> Result<Self, Diagnostic> {
        let host = |text: &str| Host::new(text).ok_or_else(|| unknown(text));
        match text.split_once(':') {
            None if text == "adb" => Ok(Self::Adb(None)),
            Some(("adb", serial)) => host(serial).map(|serial| Self::Adb(Some(serial))),
            Some(("ssh", name)) if !name.starts_with("//") => host(name).map(Self::Ssh),
            Some(("ssh", _)) => host(text).map(Self::Ssh),
            _ => Err(unknown(text)),
        }
    }

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

impl fmt::Display for Device {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Adb(None) => formatter.write_str("adb"),
            Self::Adb(Some(serial)) => write!(formatter, "adb:{serial}"),
            Self::Ssh(host) => write!(formatter, "ssh:{host}"),
        }
    }
}

fn unknown(text: &str) -> Diagnostic {
    Diagnostic::error(Code::Usage, format!("`{text}` is no device")).help("write `adb`, `adb:SERIAL` or `ssh:HOST`")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(device: &str) -> Vec<String> {
        let invocation = Device::parse(device).unwrap().invocation("true");
        let words = std::iter::once(&invocation.program).chain(&invocation.arguments);
        words.map(|word| word.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn a_device_is_the_command_that_reaches_it() {
        assert_eq!(words("adb"), ["adb", "shell", "-T", "exec sh -c 'true'"]);
        assert_eq!(words("adb:127.0.0.1:5555")[..3], ["adb", "-s", "127.0.0.1:5555"]);
        assert_eq!(words("ssh:pi@board")[4..6], ["--", "pi@board"]);
        assert_eq!(words("ssh://pi@board:2222")[5], "ssh://pi@board:2222");
        for text in ["adb", "adb:R5CX", "ssh:pi@board"] {
            assert_eq!(Device::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn a_host_is_no_option_and_no_command() {
        for text in ["ssh:-oProxyCommand=x", "ssh:a b", "ssh:a;b", "ssh:", "adb:", "serial", "usb:1"] {
            assert_eq!(Device::parse(text).unwrap_err().code, Code::Usage, "{text}");
        }
    }
}
