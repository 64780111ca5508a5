//! The words of `adb`, `ssh` and shells for what keeps a device away, as diagnostics.

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_system::Outcome;

use super::Shell;

/// A failure that a program tells of.
struct Known {
    /// A part of the program's message.
    text: &'static str,
    code: Code,
    /// What is the matter with the device.
    sentence: &'static str,
    help: &'static str,
}

const CONNECT: &str = "connect the device, with USB debugging on in its developer options; `adb devices` lists devices";
const ACCEPT: &str = "unlock the screen and accept the debugging prompt there";
const REACH: &str = "check the host's name, its network and its ssh server: `ssh HOST true` must succeed";
const KEYS: &str = "give the device your public key: `ssh-copy-id HOST`";

/// The known failures; the first whose text occurs is told.
const KNOWN: &[Known] = &[
    Known {
        text: "No space left on device",
        code: Code::DiskFull,
        sentence: "has no space left",
        help: "free some space there; etbuild's files are in the folder `etbuild` of /data/local/tmp (adb) or ~/.cache (ssh)",
    },
    Known {
        text: "more than one device",
        code: Code::DeviceMissing,
        sentence: "is one of several devices",
        help: "name one: `--device adb:SERIAL`; `adb devices` lists serial numbers",
    },
    Known { text: "no devices", code: Code::DeviceMissing, sentence: "is not attached", help: CONNECT },
    Known { text: "' not found", code: Code::DeviceMissing, sentence: "is not attached", help: CONNECT },
    Known { text: "unauthorized", code: Code::DeviceRefused, sentence: "does not trust this machine", help: ACCEPT },
    Known {
        text: "still authorizing",
        code: Code::DeviceRefused,
        sentence: "does not trust this machine",
        help: ACCEPT,
    },
    Known {
        text: "device offline",
        code: Code::DeviceRefused,
        sentence: "does not answer",
        help: "attach the device again",
    },
    Known {
        text: "Host key verification failed",
        code: Code::DeviceRefused,
        sentence: "has an unknown host key",
        help: "connect once by hand, `ssh HOST`, and compare the fingerprint",
    },
    Known { text: "Permission denied (", code: Code::DeviceRefused, sentence: "refuses the login", help: KEYS },
    Known {
        text: "Could not resolve hostname",
        code: Code::DeviceMissing,
        sentence: "has an unknown name",
        help: REACH,
    },
    Known { text: "Connection refused", code: Code::DeviceMissing, sentence: "has no ssh server", help: REACH },
    Known { text: "timed out", code: Code::DeviceMissing, sentence: "does not answer", help: REACH },
    Known { text: "No route to host", code: Code::DeviceMissing, sentence: "does not answer", help: REACH },
];

/// The way's program cannot be started.
pub fn no_program(device: &Shell, error: &std::io::Error) -> Diagnostic {
    let message = format!("`{}` cannot be started: {error}", device.program());
    Diagnostic::error(Code::ToolMissing, message).help(format!("install it: `apt-get install {}`", device.package()))
}

/// The failure that `outcome` tells of, if it is the device's or the way's.
pub fn known(device: &Shell, outcome: &Outcome) -> Option<Diagnostic> {
    let said = String::from_utf8_lossy(&outcome.stderr);
    // Else the words are the program's.
    let is_way = match device {
        Shell::Ssh(_) => outcome.status == Some(255),
        Shell::Adb(_) => said.lines().any(|line| line.starts_with("adb: ") || line.starts_with("error: ")),
    };
    let mut known = KNOWN.iter().filter(|known| is_way || known.code == Code::DiskFull);
    let known = known.find(|known| said.contains(known.text))?;
    let diagnostic = Diagnostic::error(known.code, format!("device `{device}` {}", known.sentence)).help(known.help);
    Some(last_lines(diagnostic, &said))
}

/// A step on the device failed.
pub fn failed(device: &Shell, step: &str, outcome: &Outcome) -> Diagnostic {
    known(device, outcome).unwrap_or_else(|| {
        let message = format!("{step} on device `{device}` ended {}", outcome.ending());
        last_lines(Diagnostic::error(Code::RunFailed, message), &String::from_utf8_lossy(&outcome.stderr))
    })
}

/// The last lines of what was said.
const LINES: usize = 3;

/// The diagnostic with the last lines of a text as notes.
pub fn last_lines(diagnostic: Diagnostic, said: &str) -> Diagnostic {
    let lines: Vec<&str> = said.lines().rev().take(LINES).collect();
    lines.into_iter().rev().fold(diagnostic, Diagnostic::note)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Device;

    #[test]
    fn what_programs_say_is_a_code_and_a_hint() {
        let code = |device: &str, said: &str| {
            let stderr = said.as_bytes().to_vec();
            let outcome = Outcome { status: Some(255), timed_out: false, stdout: Vec::new(), stderr };
            failed(&Device::parse(device).unwrap().shell().unwrap(), "the program", &outcome).code
        };
        assert_eq!(code("adb", "error: no devices/emulators found"), Code::DeviceMissing);
        assert_eq!(code("adb", "error: more than one device/emulator"), Code::DeviceMissing);
        assert_eq!(code("adb", "error: device unauthorized.\nThis adb server's"), Code::DeviceRefused);
        assert_eq!(code("ssh:h", "u@h: Permission denied (publickey)."), Code::DeviceRefused);
        assert_eq!(code("ssh:h", "ssh: Could not resolve hostname h: Name"), Code::DeviceMissing);
        assert_eq!(code("ssh:h", "cat: write error: No space left on device"), Code::DiskFull);
        assert_eq!(code("ssh:h", "a panic"), Code::RunFailed);
    }
}
