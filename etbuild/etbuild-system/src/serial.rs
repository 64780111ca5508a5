//! Serial ports of the machine.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serial2::SerialPort;

use crate::SERIAL_WAIT;

/// A port that is read.
struct Line(SerialPort);

impl Read for Line {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

/// The ports, sorted.
pub fn ports() -> Vec<PathBuf> {
    let mut ports = SerialPort::available_ports().unwrap_or_default();
    ports.sort();
    ports
}

/// Opens a port without bytes of earlier times.
pub fn open(port: &Path, baud: u32) -> io::Result<Box<dyn Read + Send>> {
    let mut line = SerialPort::open(port, baud)?;
    line.set_read_timeout(SERIAL_WAIT)?;
    line.discard_input_buffer()?;
    Ok(Box::new(Line(line)))
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
    fn a_port_that_is_none_is_an_error() {
        assert!(open(Path::new("/dev/null"), 115_200).is_err());
        assert!(open(Path::new("/absent"), 115_200).is_err());
    }
}
