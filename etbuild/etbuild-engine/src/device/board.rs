//! A board: etbuild flashes firmware, and reads the report that the firmware writes to its console.

use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_link::report::{self, Listener};
use etbuild_system::{Invocation, Outcome, System};
use etbuild_target::{Board, Console, Flash};

use super::Line;
use super::failure::last_lines;

/// Where drives appear when a person plugs a board in.
const MOUNTS: [&str; 3] = ["/media", "/run/media", "/mnt"];

/// The most time that flashing may take.
const FLASHING: Duration = Duration::from_secs(300);

/// How often the end of a report is looked for.
const POLL: Duration = Duration::from_millis(20);

/// The characters of a line of a board that are shown.
const SHOWN: usize = 100;

/// What programs say where no board is attached: OpenOCD, probe-rs.
const NO_BOARD: [&str; 4] = ["open failed", "unable to find", "No connected probes", "probe could not be"];

/// Firmware for a board.
pub struct Firmware<'a> {
    /// The machine.
    pub system: &'a dyn System,
    /// The board.
    pub board: &'a Board,
    /// Where the firmware writes its report.
    pub console: &'a Console,
    /// The linked file.
    pub binary: &'a Path,
    /// The name and the bytes of the image for a drive.
    pub image: (&'a str, &'a [u8]),
    /// The first line of the firmware's report.
    pub banner: &'a str,
    /// The most time that the firmware may take.
    pub timeout: Duration,
}

impl Firmware<'_> {
    /// Flashes the firmware, which starts; returns its report.
    ///
    /// # Errors
    /// A line that the console does not write to; a board or a port that is not there; a report that does not end in time.
    pub fn run(&self, line: &Line) -> Result<Vec<u8>, Diagnostic> {
        line.check(self.console)?;
        match (line, self.console) {
            (Line::Serial(port), Console::Uart(uart)) => self.listening(port.as_deref(), uart.baud),
            _ => self.probed(),
        }
    }

    /// Flashes while a thread reads the port: firmware may begin before the program that flashes ends.
    fn listening(&self, port: Option<&Path>, baud: u32) -> Result<Vec<u8>, Diagnostic> {
        let port = port.map_or_else(|| self.only_port(), |port| Ok(port.to_owned()))?;
        let mut line = self.system.open_serial(&port, baud).map_err(|error| self.not_opened(&port, &error))?;
        let (stop, mut listener) = (AtomicBool::new(false), Listener::new(self.banner));
        let (flashed, read) = thread::scope(|scope| {
            let reader = scope.spawn(|| read(line.as_mut(), &mut listener, &stop));
            let flashed = self.flash();
            if flashed.is_ok() {
                let start = self.system.now();
                while !reader.is_finished()
                    && self.system.now().saturating_sub(start) < self.timeout
                    && !self.system.is_interrupted()
                {
                    thread::sleep(POLL);
                }
            }
            stop.store(true, Ordering::Relaxed);
            (flashed, reader.join().unwrap_or_else(|_| Err(ErrorKind::Other.into())))
        });
        flashed?;
        let is_whole = read.map_err(|error| {
            let message = format!("serial port `{}` broke off: {error}", port.display());
            Diagnostic::error(Code::RunFailed, message).help(self.board.attach.clone())
        })?;
        match (self.system.is_interrupted(), is_whole) {
            (true, _) => Err(Diagnostic::error(Code::Interrupted, "interrupted")),
            (false, true) => Ok(listener.text().into_bytes()),
            (false, false) => Err(self.not_whole(&port, baud, &listener.text())),
        }
    }

    /// The report on a serial line did not end.
    fn not_whole(&self, port: &Path, baud: u32, text: &str) -> Diagnostic {
        let message = format!("the report of the board at `{}` did not end within {:?}", port.display(), self.timeout);
        let diagnostic = Diagnostic::error(Code::RunTimedOut, message)
            .help(format!("check the wires and the rate of {baud} baud, or raise `verify.timeout`"));
        let shown: Vec<String> = text.lines().map(|line| line.chars().take(SHOWN).collect()).collect();
        last_lines(diagnostic, &shown.join("\n"))
    }

    /// Flashes with a program that answers semihosting and ends with the firmware. What the firmware says of a failure counts before the end
    /// of the program, whose status may be the firmware's.
    fn probed(&self) -> Result<Vec<u8>, Diagnostic> {
        let Some(flash) = &self.board.flash else {
            let message = "a debug probe needs a program that flashes";
            return Err(Diagnostic::error(Code::Usage, message).help("write `flash:` in the target: docs/targets.md"));
        };
        let outcome = self.ran(flash, self.timeout)?;
        let text = said(&outcome);
        let report = text.rfind(self.banner.trim_end()).map(|start| &text[start..]);
        match report {
            Some(report) if outcome.success() || says_end(report, &outcome) => Ok(report.as_bytes().to_vec()),
            _ if outcome.success() => {
                let message = format!("`{}` ended without a report of the firmware", flash.program);
                Err(last_lines(Diagnostic::error(Code::RunFailed, message), &text))
            }
            _ if outcome.timed_out && !is_absent(&text) => {
                let message = format!("`{}` did not end within {:?}", flash.program, self.timeout);
                let help = "raise `verify.timeout`, which limits flashing and the firmware's run together";
                Err(last_lines(Diagnostic::error(Code::RunTimedOut, message).help(help), &text))
            }
            _ => Err(self.not_flashed(flash, &outcome)),
        }
    }

    fn flash(&self) -> Result<(), Diagnostic> {
        match &self.board.flash {
            Some(flash) => {
                let outcome = self.ran(flash, FLASHING)?;
                if outcome.success() { Ok(()) } else { Err(self.not_flashed(flash, &outcome)) }
            }
            None => install(self.system, &drive(self.system, self.board)?, self.image),
        }
    }

    /// The end of the program that flashes.
    fn ran(&self, flash: &Flash, timeout: Duration) -> Result<Outcome, Diagnostic> {
        let binary = self.binary.to_string_lossy();
        let arguments = flash.arguments.iter().map(|argument| argument.replace("{binary}", &binary));
        let mut invocation = Invocation::new(&flash.program).args(arguments);
        invocation.timeout = Some(timeout);
        self.system.run(&invocation).map_err(|error| match self.system.is_interrupted() {
            true => Diagnostic::error(Code::Interrupted, "interrupted"),
            false => {
                let message = format!("`{}` cannot be started: {error}", flash.program);
                Diagnostic::error(Code::ToolMissing, message).help(format!("install it: `{}`", flash.install))
            }
        })
    }

    fn not_flashed(&self, flash: &Flash, outcome: &Outcome) -> Diagnostic {
        let said = said(outcome);
        let diagnostic = match (is_absent(&said), outcome.timed_out) {
            (true, _) => Diagnostic::error(Code::DeviceMissing, format!("`{}` finds no board", flash.program)),
            (_, true) => {
                let message = format!("`{}` did not end within {FLASHING:?}", flash.program);
                Diagnostic::error(Code::RunTimedOut, message)
            }
            _ => Diagnostic::error(Code::RunFailed, format!("`{}` ended {}", flash.program, outcome.ending())),
        };
        last_lines(diagnostic.help(self.board.attach.clone()), &said)
    }

    fn only_port(&self) -> Result<PathBuf, Diagnostic> {
        let mut ports = self.system.serial_ports();
        match ports.len() {
            1 => Ok(ports.remove(0)),
            0 => {
                let message = "this machine has no serial port beside built-in ones";
                Err(Diagnostic::error(Code::DeviceMissing, message).help(self.board.attach.clone()))
            }
            count => {
                let message = format!("this machine has {count} serial ports: {}", listed(&ports));
                Err(Diagnostic::error(Code::DeviceMissing, message).help("name the board's: `--device serial:PORT`"))
            }
        }
    }

    fn not_opened(&self, port: &Path, error: &std::io::Error) -> Diagnostic {
        let name = port.display();
        match error.kind() {
            ErrorKind::NotFound => {
                let ports = self.system.serial_ports();
                let others =
                    if ports.is_empty() { "no serial port beside built-in ones".to_owned() } else { listed(&ports) };
                let message = format!("there is no serial port `{name}`; this machine has {others}");
                Diagnostic::error(Code::DeviceMissing, message).help(self.board.attach.clone())
            }
            ErrorKind::PermissionDenied => {
                let message = format!("serial port `{name}` may not be opened by this user");
                let help = "join the group that owns the port, and log in again: `sudo usermod -aG dialout $USER`";
                Diagnostic::error(Code::DeviceRefused, message).help(help)
            }
            _ => {
                let message = format!("serial port `{name}` cannot be opened: {error}");
                Diagnostic::error(Code::DeviceRefused, message).help("close other programs that use the port")
            }
        }
    }
}

/// Hands a listener what comes on a line, until the report is whole or nobody waits for it; whether the report is whole.
fn read(line: &mut dyn Read, listener: &mut Listener<'_>, stop: &AtomicBool) -> std::io::Result<bool> {
    let mut buffer = [0; 4096];
    while !stop.load(Ordering::Relaxed) {
        let length = match line.read(&mut buffer) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(length) => length,
            Err(error) if matches!(error.kind(), ErrorKind::TimedOut | ErrorKind::Interrupted) => continue,
            Err(error) => return Err(error),
        };
        if listener.hear(&buffer[..length]).map_err(std::io::Error::other)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a report says how the firmware ended, or is malformed; one that breaks off as time runs out is neither.
fn says_end(report: &str, outcome: &Outcome) -> bool {
    report::parse(report).map_or(!outcome.timed_out, |report| report.end.is_some())
}

/// What a program wrote.
fn said(outcome: &Outcome) -> String {
    String::from_utf8_lossy(&[&*outcome.stdout, &*outcome.stderr].concat()).into_owned()
}

/// Whether a program says that no board is attached.
fn is_absent(said: &str) -> bool {
    NO_BOARD.iter().any(|text| said.contains(text))
}

fn listed(ports: &[PathBuf]) -> String {
    ports.iter().map(|port| format!("`{}`", port.display())).collect::<Vec<_>>().join(", ")
}

/// Copies an image, a name and the bytes, to the drive of a board. The board starts the firmware with the last byte, and the drive goes away:
/// the file is written in its place, where a file beside could not be renamed any more.
///
/// # Errors
/// A drive that is full or cannot be written to.
pub fn install(system: &dyn System, drive: &Path, (name, bytes): (&str, &[u8])) -> Result<(), Diagnostic> {
    let path = drive.join(name);
    system.write_in_place(&path, bytes).map_err(|error| {
        Diagnostic::error(Code::OutputUnwritable, format!("`{}` cannot be written: {error}", path.display()))
    })
}

/// The drive of a board, directly below a mount folder or below a user's folder there.
///
/// # Errors
/// A board that is not attached, or has no drive.
pub fn drive(system: &dyn System, board: &Board) -> Result<PathBuf, Diagnostic> {
    let users = MOUNTS.iter().flat_map(|mount| system.list(Path::new(mount)).unwrap_or_default());
    let folders: Vec<PathBuf> = MOUNTS.iter().map(PathBuf::from).chain(users).collect();
    let name = board.drive.as_ref().map_or("", |drive| drive.as_str());
    let found = folders.iter().map(|folder| folder.join(name)).find(|drive| !name.is_empty() && system.is_dir(drive));
    found.ok_or_else(|| {
        let message = format!("no board is attached: there is no drive `{name}`");
        Diagnostic::error(Code::DeviceMissing, message).help(board.attach.clone())
    })
}
