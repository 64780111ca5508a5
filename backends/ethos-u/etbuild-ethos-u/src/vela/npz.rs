//! Arrays of numpy in a zip file whose entries are stored without compression, as Vela writes them.

/// The arrays by name.
pub struct Arrays<'a> {
    entries: Vec<(&'a str, &'a [u8])>,
}

/// The signature of a file's header in a zip file, and of an entry of the directory at its end.
const FILE: &[u8] = b"PK\x03\x04";
const ENTRY: &[u8] = b"PK\x01\x02";
/// The signature of the end of the directory.
const END: &[u8] = b"PK\x05\x06";
/// The signature of an array.
const ARRAY: &[u8] = b"\x93NUMPY\x01\x00";

impl<'a> Arrays<'a> {
    /// The arrays of a file; `None` for other files.
    pub fn of(file: &'a [u8]) -> Option<Self> {
        let end = file.windows(END.len()).rposition(|window| window == END)?;
        let (count, mut at) = (word16(file, end + 10)?, word32(file, end + 16)?);
        let mut entries = Vec::new();
        for _ in 0..count {
            let (entry, next) = entry(file, at)?;
            entries.push(entry);
            at = next;
        }
        Some(Self { entries })
    }

    /// The elements of an array of text or bytes, with the zeros at the end that numpy would drop.
    pub fn bytes(&self, name: &str) -> Option<&'a [u8]> {
        let (header, data) = self.array(name)?;
        header.contains("'descr': '|S").then_some(data)
    }

    /// The elements of an array of 64-bit integers.
    pub fn integers(&self, name: &str) -> Option<Vec<i64>> {
        let (header, data) = self.array(name)?;
        let is_contiguous = header.contains("'descr': '<i8'") && header.contains("'fortran_order': False");
        is_contiguous.then(|| data.as_chunks::<8>().0.iter().copied().map(i64::from_le_bytes).collect())
    }

    /// The header and the elements of an array.
    fn array(&self, name: &str) -> Option<(&'a str, &'a [u8])> {
        let file = format!("{name}.npy");
        let (_, bytes) = self.entries.iter().find(|(entry, _)| *entry == file)?;
        let length = word16(bytes, ARRAY.len()).filter(|_| bytes.starts_with(ARRAY))?;
        let (header, data) = bytes.get(ARRAY.len() + 2..)?.split_at_checked(length)?;
        Some((str::from_utf8(header).ok()?, data))
    }
}

/// An entry of the directory: the name and the bytes of the file, and the place of the next entry.
fn entry(file: &[u8], at: usize) -> Option<((&str, &[u8]), usize)> {
    let fixed = file.get(at..at.checked_add(46)?).filter(|fixed| fixed.starts_with(ENTRY))?;
    let (method, size, header) = (word16(fixed, 10)?, word32(fixed, 24)?, word32(fixed, 42)?);
    let (name, more) = (word16(fixed, 28)?, word16(fixed, 30)? + word16(fixed, 32)?);
    let text = str::from_utf8(file.get(at + 46..at + 46 + name)?).ok()?;
    let is_stored = method == 0 && file.get(header..)?.starts_with(FILE);
    let start = header + 30 + word16(file, header + 26)? + word16(file, header + 28)?;
    let bytes = file.get(start..start.checked_add(size)?).filter(|_| is_stored)?;
    Some(((text, bytes), at + 46 + name + more))
}

fn word16(bytes: &[u8], at: usize) -> Option<usize> {
    let word = bytes.get(at..at.checked_add(2)?)?.first_chunk::<2>()?;
    Some(usize::from(u16::from_le_bytes(*word)))
}

fn word32(bytes: &[u8], at: usize) -> Option<usize> {
    let word = bytes.get(at..at.checked_add(4)?)?.first_chunk::<4>()?;
    usize::try_from(u32::from_le_bytes(*word)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A zip file with one uncompressed array, in the layout of Python's `zipfile`.
    fn file(name: &str, array: &[u8]) -> Vec<u8> {
        let (size, length) = ((array.len() as u32).to_le_bytes(), (name.len() as u16).to_le_bytes());
        let header = [FILE, &[0; 14], &size, &size, &length, &[0, 0], name.as_bytes(), array].concat();
        let entry = [ENTRY, &[0; 16], &size, &size, &length, &[0; 16], name.as_bytes()].concat();
        let end = [
            END,
            &[0; 4],
            &[1, 0, 1, 0],
            &(entry.len() as u32).to_le_bytes(),
            &(header.len() as u32).to_le_bytes(),
            &[0, 0],
        ];
        [header, entry, end.concat()].concat()
    }

    fn array(descr: &str, data: &[u8]) -> Vec<u8> {
        let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': (), }}\n");
        [ARRAY, &(header.len() as u16).to_le_bytes(), header.as_bytes(), data].concat()
    }

    #[test]
    fn zeros_at_the_end_of_bytes_stay() {
        let file = file("cmd_data.npy", &array("|S4", &[1, 2, 0, 0]));
        assert_eq!(Arrays::of(&file).unwrap().bytes("cmd_data"), Some(&[1, 2, 0, 0][..]));
        assert_eq!(Arrays::of(&file).unwrap().integers("cmd_data"), None);
    }

    #[test]
    fn integers_are_little_endian() {
        let file = file("scratch_shape.npy", &array("<i8", &416_i64.to_le_bytes()));
        assert_eq!(Arrays::of(&file).unwrap().integers("scratch_shape"), Some(vec![416]));
    }

    #[test]
    fn damaged_files_are_no_files() {
        let file = file("a.npy", &array("<i8", &[0; 8]));
        // Without the length of the comment, the last two bytes, the file is still whole.
        for length in 0..file.len() - 2 {
            let read = Arrays::of(&file[..length]).and_then(|arrays| arrays.integers("a"));
            assert!(read.is_none(), "{length}");
        }
    }
}
