//! Models that differ in their weights only.

use std::fs;
use std::path::Path;

/// The end of the name of the first weight's member.
const WEIGHT: &[u8] = b"data/weights/weight_0";

/// Copies an archive and flips the sign of the first weight, as a stand-in for further training. Members of these
/// archives are stored uncompressed, so bytes and checksum are changed in place (APPNOTE.TXT 4.3.7 and 4.3.12).
pub fn retrain(from: &Path, to: &Path) {
    let mut bytes = fs::read(from).unwrap();
    let entry = directory_entry(&bytes);
    let header = word(&bytes, entry + 42);
    let start = header + 30 + half(&bytes, header + 26) + half(&bytes, header + 28);
    let end = start + word(&bytes, entry + 20);
    // The sign bit of a little-endian float is in its fourth byte.
    bytes[start + 3] ^= 0x80;
    let checksum = crc32(&bytes[start..end]).to_le_bytes();
    bytes[entry + 16..entry + 20].copy_from_slice(&checksum);
    fs::write(to, bytes).unwrap();
}

/// Where the directory describes the weight.
fn directory_entry(bytes: &[u8]) -> usize {
    let is_weight = |at: &usize| {
        let name = bytes[*at..].starts_with(b"PK\x01\x02").then(|| &bytes[at + 46..at + 46 + half(bytes, at + 28)]);
        name.is_some_and(|name| name.ends_with(WEIGHT))
    };
    (0..bytes.len() - 46).find(is_weight).unwrap()
}

fn half(bytes: &[u8], at: usize) -> usize {
    usize::from(u16::from_le_bytes(bytes[at..at + 2].try_into().unwrap()))
}

fn word(bytes: &[u8], at: usize) -> usize {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize
}

/// The checksum of zip archives, bit by bit.
fn crc32(bytes: &[u8]) -> u32 {
    let shift = |crc: u32| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
    !bytes.iter().fold(!0, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), |crc, _| shift(crc)))
}
