//! The report of firmware: one JSON object per line, as the template `firmware` writes the report.

use serde::Deserialize;

use crate::LinkError;

/// A report.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// The producer of the firmware.
    pub producer: String,
    /// The bytes of all outputs of each case, one after the other.
    pub outputs: Vec<Vec<u8>>,
    /// The ticks of the processor's counter that each execution took which was measured, by case.
    pub bench: Vec<Vec<u32>>,
    /// The end; `None` where the report breaks off.
    pub end: Option<End>,
    /// The exit status, for a board without debugger or emulator.
    pub exit: Option<u32>,
}

/// How a run of all cases ended.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum End {
    /// All cases ran. The device computed the numbers, for outputs of `float32`.
    Finished {
        /// The number of cases.
        cases: u32,
        /// The largest absolute difference from the expected outputs, as the bits of a binary32.
        max_error_bits: u32,
        /// The number of cases whose largest output is at the expected position.
        argmax_equal: u32,
        /// The most ticks of the processor's counter that an inference took; 0 where that is not known.
        ticks: u32,
        /// The most bytes of the stack that were in use.
        stack: u32,
    },
    /// An error stopped the firmware.
    Failed {
        /// The number of the error (`et_core::Error`).
        error: u32,
        /// The part of the method that failed: `method`, `value`, `delegate` or `instruction`.
        place: String,
        /// The error code.
        index: u32,
    },
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    Producer { producer: String },
    Case { outputs: String },
    Bench { bench: Vec<u32> },
    End(End),
    Exit { exit: u32 },
}

/// What a banner begins with.
const BANNER: &str = "{\"producer\":";

/// What an exit status begins with: the last line of a report.
const EXIT: &str = "{\"exit\":";

/// The first line of a report: who made the firmware, and the digest of everything that the firmware is made from.
pub fn banner(producer: &str, build: &str) -> String {
    format!("{BANNER}{},\"build\":\"{build:.16}\"}}\n", serde_json::Value::from(producer))
}

/// The banner that `firmware` writes; `None` for a file without one.
pub fn banner_in(firmware: &[u8]) -> Option<&str> {
    let start = firmware.windows(BANNER.len()).position(|window| window == BANNER.as_bytes())?;
    let line = firmware[start..].split_inclusive(|byte| *byte == b'\n').next()?;
    std::str::from_utf8(line).ok()
}

/// The most bytes of a report on a serial line.
const MOST: usize = 64 << 20;

/// The most bytes of other lines that are kept, to be shown.
const KEPT: usize = 4096;

/// A serial line on which the report of the firmware with a banner is awaited: an earlier firmware of the board may write too.
pub struct Listener<'b> {
    banner: &'b str,
    /// The report from the banner on, or else the last lines.
    heard: Vec<u8>,
    /// Where the line begins that has no end yet.
    line: usize,
    is_report: bool,
}

impl<'b> Listener<'b> {
    /// A listener that heard nothing.
    pub const fn new(banner: &'b str) -> Self {
        Self { banner: banner.trim_ascii_end(), heard: Vec::new(), line: 0, is_report: false }
    }

    /// Takes the next bytes; whether the report is whole now, and bytes behind its end are passed over.
    ///
    /// # Errors
    /// [`LinkError::Report`] for a report without an end.
    pub fn hear(&mut self, bytes: &[u8]) -> Result<bool, LinkError> {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.heard.extend_from_slice(piece);
            if piece.ends_with(b"\n") && self.end_line() {
                return Ok(true);
            }
            if self.is_report && self.heard.len() > MOST {
                return Err(LinkError::Report(format!("more than {MOST} bytes")));
            }
            if !self.is_report && self.heard.len() > 2 * KEPT {
                self.forget(self.heard.len() - KEPT);
            }
        }
        Ok(false)
    }

    /// What was heard. Noise of the line is no part of a report, whose bytes are ASCII.
    pub fn text(&self) -> String {
        self.heard.iter().map(|byte| char::from(*byte)).collect()
    }

    /// Ends a line; whether the line is the last of the report.
    fn end_line(&mut self) -> bool {
        let line = &self.heard[self.line..];
        let is_end = self.is_report && line.starts_with(EXIT.as_bytes());
        let banner = line.windows(self.banner.len()).rposition(|part| part == self.banner.as_bytes());
        if let Some(start) = banner {
            self.forget(self.line + start);
            self.is_report = true;
        }
        self.line = self.heard.len();
        is_end
    }

    /// Forgets the first bytes.
    fn forget(&mut self, count: usize) {
        self.heard.drain(..count);
        self.line = self.line.saturating_sub(count);
    }
}

/// Reads a report. Other lines come from an emulator or a boot loader, and are passed over.
///
/// # Errors
/// [`LinkError::Report`] where a line is an object that firmware does not write.
pub fn parse(text: &str) -> Result<Report, LinkError> {
    let mut report = Report::default();
    for line in text.lines().filter(|line| line.starts_with('{')) {
        match serde_json::from_str(line).map_err(|_| malformed(line))? {
            Line::Producer { producer } => report.producer = producer,
            Line::Case { outputs } => report.outputs.push(bytes(&outputs).ok_or_else(|| malformed(line))?),
            Line::Bench { bench } => report.bench.push(bench),
            Line::End(end) => report.end = Some(end),
            Line::Exit { exit } => report.exit = Some(exit),
        }
    }
    Ok(report)
}

fn malformed(line: &str) -> LinkError {
    LinkError::Report(line.chars().take(120).collect())
}

/// The bytes that a text of hexadecimal digits stands for.
fn bytes(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> =
        text.chars().map(|digit| digit.to_digit(16).map(|digit| digit as u8)).collect::<Option<_>>()?;
    let (pairs, rest) = digits.as_chunks();
    rest.is_empty().then(|| pairs.iter().map(|[high, low]| high << 4 | low).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_report_is_read() {
        let text = "boot\n{\"producer\":\"p\"}\n{\"outputs\":\"00ff\"}\n{\"outputs\":\"1a\"}\n\
                    {\"bench\":[5,4294967295]}\n{\"bench\":[6]}\n\
                    {\"cases\":2,\"max_error_bits\":1,\"argmax_equal\":2,\"ticks\":3,\"stack\":4}\n{\"exit\":0}\n";
        let end = Some(End::Finished { cases: 2, max_error_bits: 1, argmax_equal: 2, ticks: 3, stack: 4 });
        let (outputs, bench) = (vec![vec![0, 255], vec![0x1a]], vec![vec![5, u32::MAX], vec![6]]);
        assert_eq!(parse(text).unwrap(), Report { producer: "p".to_owned(), outputs, bench, end, exit: Some(0) });
    }

    /// What a listener makes of a text that comes in pieces; `None` where the report is not whole.
    fn heard(banner: &str, text: &str, size: usize) -> Option<String> {
        let mut listener = Listener::new(banner);
        text.as_bytes().chunks(size).any(|bytes| listener.hear(bytes).unwrap()).then(|| listener.text())
    }

    #[test]
    fn a_report_is_whole_with_the_exit_status_behind_the_banner_of_the_firmware() {
        let (old, new) = (banner("p", "0"), banner("p \"q\"", "0123456789abcdef0123"));
        assert_eq!(new, "{\"producer\":\"p \\\"q\\\"\",\"build\":\"0123456789abcdef\"}\n");
        let firmware = [b"\x7fELF\xff".as_slice(), new.as_bytes(), b"{\"outputs\":\""].concat();
        assert_eq!((banner_in(&firmware), banner_in(b"\x7fELF")), (Some(new.as_str()), None));
        let exit = "{\"exit\":0}\r\n";
        for size in [1, 7, 4096] {
            assert_eq!(heard(&new, &format!("{old}{exit}"), size), None);
            assert_eq!(heard(&new, &format!("{new}{{\"exit\":"), size), None);
            // A report that breaks off, because the board starts again.
            let text = format!("{old}{exit}{new}{{\"outputs\":\"rubbish{new}{exit}");
            assert_eq!(heard(&new, &text, size).unwrap(), format!("{new}{exit}"));
        }
    }

    #[test]
    fn a_line_without_an_end_is_not_kept() {
        let new = banner("p", "0");
        let mut listener = Listener::new(&new);
        for _ in 0..100 {
            assert!(!listener.hear(&[b'x'; 1000]).unwrap());
            assert!(listener.heard.len() <= 2 * KEPT);
        }
        assert!(!listener.hear(format!("\nlast\n{new}").as_bytes()).unwrap());
        assert_eq!(listener.text(), new);
        let endless = vec![b'x'; MOST];
        assert!(listener.hear(&endless).is_err());
    }

    #[test]
    fn a_failure_says_where() {
        let report = parse("{\"error\":18,\"place\":\"instruction\",\"index\":5}").unwrap();
        assert_eq!(report.end, Some(End::Failed { error: 18, place: "instruction".to_owned(), index: 5 }));
    }

    #[test]
    fn a_line_that_firmware_does_not_write_is_an_error() {
        for line in [
            "{\"outputs\":\"0g\"}",
            "{\"outputs\":\"000\"}",
            "{\"outputs\":\"00",
            "{}",
            "{\"bench\":[-1]}",
            "{\"bench\":[4294967296]}",
            "{\"bench\":[1,",
        ] {
            assert!(matches!(parse(line), Err(LinkError::Report(_))), "{line}");
        }
    }
}
