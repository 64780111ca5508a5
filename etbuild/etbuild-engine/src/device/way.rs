//! The devices that `--device` names.

use std::fmt;
use std::path::PathBuf;

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_target::{Console, Host};

use super::Shell;

/// A device, and the way there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Device {
    /// A device with a shell, which runs binaries of hosted targets.
    Shell(Shell),
    /// A board, which runs firmware.
    Board(Line),
}

/// Where a board reports.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Line {
    /// On a serial port; on the only one of the machine for `None`.
    Serial(Option<PathBuf>),
    /// Through the debug probe, whose program answers semihosting.
    Probe,
}

impl Device {
    /// The device in the text `adb`, `adb:SERIAL`, `ssh:HOST`, `serial`, `serial:PORT` or `probe`.
    ///
    /// # Errors
    /// `ETB0801` for other texts.
    pub fn parse(text: &str) -> Result<Self, Diagnostic> {
        let host = |text: &str| Host::new(text).ok_or_else(|| unknown(text));
        match text.split_once(':') {
            None if text == "adb" => Ok(Self::Shell(Shell::Adb(None))),
            None if text == "serial" => Ok(Self::Board(Line::Serial(None))),
            None if text == "probe" => Ok(Self::Board(Line::Probe)),
            Some(("adb", serial)) => Ok(Self::Shell(Shell::Adb(Some(host(serial)?)))),
            Some(("ssh", name)) if !name.starts_with("//") => Ok(Self::Shell(Shell::Ssh(host(name)?))),
            Some(("ssh", _)) => Ok(Self::Shell(Shell::Ssh(host(text)?))),
            Some(("serial", port)) if !port.is_empty() => Ok(Self::Board(Line::Serial(Some(port.into())))),
            _ => Err(unknown(text)),
        }
    }

    /// The device as one that runs binaries of hosted targets.
    ///
    /// # Errors
    /// `ETB0801` for a board.
    pub fn shell(self) -> Result<Shell, Diagnostic> {
        match self {
            Self::Shell(shell) => Ok(shell),
            Self::Board(_) => {
                let message = format!("device `{self}` is a board, which runs the verification cases alone");
                Err(Diagnostic::error(Code::Usage, message).help("bring firmware to it with `etbuild deploy`"))
            }
        }
    }
}

impl Line {
    /// Whether firmware that writes to `console` reports here.
    ///
    /// # Errors
    /// `ETB0801` for firmware that reports elsewhere, or nothing.
    pub fn check(&self, console: &Console) -> Result<(), Diagnostic> {
        let (place, help) = match (self, console) {
            (Self::Serial(_), Console::Uart(_)) | (Self::Probe, Console::Semihosting) => return Ok(()),
            (_, Console::Uart(_)) => ("to a serial port", "write `--device serial:PORT`"),
            (_, Console::Semihosting) => ("through a debug probe", "write `--device probe`"),
            (_, Console::None | Console::Stdio) => ("nowhere", "state the target's `console:`: docs/targets.md"),
        };
        let message = format!("the target's firmware reports {place}, and not to `{self}`");
        Err(Diagnostic::error(Code::Usage, message).help(help))
    }
}

impl fmt::Display for Device {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shell(shell) => shell.fmt(formatter),
            Self::Board(line) => line.fmt(formatter),
        }
    }
}

impl fmt::Display for Line {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Serial(None) => formatter.write_str("serial"),
            Self::Serial(Some(port)) => write!(formatter, "serial:{}", port.display()),
            Self::Probe => formatter.write_str("probe"),
        }
    }
}

fn unknown(text: &str) -> Diagnostic {
    let help = "write `adb`, `adb:SERIAL`, `ssh:HOST`, `serial:PORT` or `probe`";
    Diagnostic::error(Code::Usage, format!("`{text}` is no device")).help(help)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(device: &str) -> Vec<String> {
        let invocation = Device::parse(device).unwrap().shell().unwrap().invocation("true");
        let words = std::iter::once(&invocation.program).chain(&invocation.arguments);
        words.map(|word| word.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn a_device_is_the_command_that_reaches_it() {
        assert_eq!(words("adb"), ["adb", "shell", "-T", "exec sh -c 'true'"]);
        assert_eq!(words("adb:127.0.0.1:5555")[..3], ["adb", "-s", "127.0.0.1:5555"]);
        assert_eq!(words("ssh:pi@board")[4..6], ["--", "pi@board"]);
        assert_eq!(words("ssh://pi@board:2222")[5], "ssh://pi@board:2222");
        for text in ["adb", "adb:R5CX", "ssh:pi@board", "serial", "serial:/dev/ttyACM0", "serial:COM3", "probe"] {
            assert_eq!(Device::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn a_host_is_no_option_and_no_command() {
        for text in ["ssh:-oProxyCommand=x", "ssh:a b", "ssh:a;b", "ssh:", "adb:", "serial:", "probe:1", "usb:1"] {
            assert_eq!(Device::parse(text).unwrap_err().code, Code::Usage, "{text}");
        }
    }

    #[test]
    fn a_board_has_no_shell() {
        assert_eq!(Device::parse("serial:/dev/ttyACM0").unwrap().shell().unwrap_err().code, Code::Usage);
    }
}
