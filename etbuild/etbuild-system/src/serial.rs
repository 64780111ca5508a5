//! Serial ports of the machine.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serial2::SerialPort;

use crate::SERIAL_WAIT;

/// A port that is read.
struct Line(SerialPort);

/// The port is free again, also while another process has had the port open all the time.
#[cfg(unix)]
impl Drop for Line {
    fn drop(&mut self) {
        let _ = rustix::termios::ioctl_tiocnxcl(&self.0);
    }
}

impl Read for Line {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

/// Ports of every Mac, which lead to no board.
const OF_MACS: [&str; 3] = ["cu.Bluetooth-Incoming-Port", "cu.debug-console", "cu.wlan-debug"];

/// The ports that boards are plugged into, sorted.
pub fn ports() -> Vec<PathBuf> {
    let mut ports = SerialPort::available_ports().unwrap_or_default();
    ports.retain(|port| is_pluggable(port));
    ports.sort();
    ports
}

/// Whether a board may have been plugged into a port. Linux lists the built-in ports of PCs, mostly without a plug, as `ttyS`; macOS lists each
/// port as `cu.` and as `tty.`, which waits for a modem.
fn is_pluggable(port: &Path) -> bool {
    let name = port.file_name().unwrap_or_default().to_string_lossy();
    let is_built_in = name.strip_prefix("ttyS").is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()));
    !is_built_in && !name.starts_with("tty.") && !OF_MACS.contains(&&*name)
}

/// Opens a port without bytes of earlier times, and for this process alone.
pub fn open(port: &Path, baud: u32) -> io::Result<Box<dyn Read + Send>> {
    let mut line = Line(SerialPort::open(port, baud)?);
    // Windows opens ports for one process anyway.
    #[cfg(unix)]
    rustix::termios::ioctl_tiocexcl(&line.0)?;
    line.0.set_read_timeout(SERIAL_WAIT)?;
    line.0.discard_input_buffer()?;
    Ok(Box::new(line))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_line_reads_what_the_other_end_writes_and_says_when_nothing_comes() {
        let (near, far) = SerialPort::pair().unwrap();
        let mut near = Line(near);
        near.0.set_read_timeout(SERIAL_WAIT).unwrap();
        far.write_all(b"{\"exit\":0}\n").unwrap();
        let mut buffer = [0; 64];
        let length = near.read(&mut buffer).unwrap();
        assert_eq!(&buffer[..length], b"{\"exit\":0}\n");
        assert_eq!(near.read(&mut buffer).unwrap_err().kind(), io::ErrorKind::TimedOut);
    }

    #[test]
    fn built_in_ports_and_second_names_are_no_places_for_boards() {
        let is = |name: &str| is_pluggable(&Path::new("/dev").join(name));
        assert!(["ttyACM0", "ttyUSB1", "ttyAMA0", "cu.usbmodem1", "COM3"].into_iter().all(is));
        assert!(!["ttyS0", "ttyS31", "tty.usbmodem1", "cu.Bluetooth-Incoming-Port"].into_iter().any(is));
    }

    /// A process of root may open any port.
    #[cfg(target_os = "linux")]
    #[test]
    fn an_open_port_is_closed_to_others() {
        use std::os::unix::fs::PermissionsExt;
        use std::os::unix::io::AsRawFd;
        use std::os::unix::process::CommandExt;

        let (near, far) = SerialPort::pair().unwrap();
        let name = |port: &SerialPort| std::fs::read_link(format!("/proc/self/fd/{}", port.as_raw_fd())).unwrap();
        let pair = [name(&near), name(&far)];
        let port = pair.iter().find(|name| name.starts_with("/dev/pts")).unwrap();
        let said = || {
            let mut shell = std::process::Command::new("sh");
            shell.args(["-c", ": < \"$0\""]).arg(port);
            if rustix::process::getuid().is_root() {
                shell.uid(65534);
            }
            String::from_utf8(shell.output().unwrap().stderr).unwrap()
        };
        std::fs::set_permissions(port, std::fs::Permissions::from_mode(0o666)).unwrap();
        assert_eq!(said(), "");
        let line = open(port, 115_200).unwrap();
        assert!(said().contains("busy"), "{}", said());
        drop(line);
        assert_eq!(said(), "");
    }

    #[test]
    fn a_port_that_is_none_is_an_error() {
        assert!(open(Path::new("/dev/null"), 115_200).is_err());
        assert!(open(Path::new("/absent"), 115_200).is_err());
    }
}
