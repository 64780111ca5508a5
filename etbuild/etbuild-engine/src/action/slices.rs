//! The list of the constants that are slices of the model's archive: a line each, with the constant's digest, the
//! start, and the length in bytes.

use std::fmt::Write;

use etbuild_ir::Digest;

/// Kernels read elements in place, so a slice begins where every element type may: an archive is mapped at a page. Tensors of
/// safetensors files begin at multiples of eight.
pub const ALIGNMENT: u64 = 8;

/// A constant as part of an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// Of the constant's bytes.
    pub digest: Digest,
    /// The starts in the archive.
    pub start: u64,
    /// Their number.
    pub length: u64,
}

/// The list as text.
pub fn print(slices: &[Slice]) -> String {
    slices.iter().fold(String::new(), |mut text, Slice { digest, start, length }| {
        let _ = writeln!(text, "{digest} {start} {length}");
        text
    })
}

/// The list that [`print`] wrote; `None` for other bytes.
pub fn parse(bytes: &[u8]) -> Option<Vec<Slice>> {
    std::str::from_utf8(bytes).ok()?.lines().map(line).collect()
}

fn line(line: &str) -> Option<Slice> {
    let (digest, rest) = line.split_once(' ')?;
    let (start, length) = rest.split_once(' ')?;
    Some(Slice { digest: Digest::parse(digest)?, start: start.parse().ok()?, length: length.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_reads_back_and_a_torn_one_does_not() {
        let slices = [(b"one", 64, 3), (b"two", 128, 70)];
        let slices = slices.map(|(bytes, start, length)| Slice { digest: Digest::of(bytes), start, length });
        let text = print(&slices);
        assert_eq!(parse(text.as_bytes()).unwrap(), slices);
        assert_eq!(parse(&text.as_bytes()[..66]), None);
        assert_eq!(parse(b""), Some(Vec::new()));
    }
}
