//! Little-endian fields of a header, with a check at every access.

/// The rest of a header.
pub struct Reader<'b> {
    bytes: &'b [u8],
    position: usize,
    /// The list entries that may follow.
    entries: usize,
}

/// The most entries of all lists: a value takes more memory than a byte of a file.
const ENTRIES: usize = 1 << 24;

/// The mistake in a header, as the end of a sentence.
pub type Mistake = String;

impl<'b> Reader<'b> {
    /// The whole file.
    pub const fn new(bytes: &'b [u8]) -> Self {
        Self { bytes, position: 0, entries: ENTRIES }
    }

    /// Where the next field is.
    pub const fn position(&self) -> usize {
        self.position
    }

    /// The next bytes.
    pub fn take(&mut self, count: usize) -> Result<&'b [u8], Mistake> {
        let end = self.position.checked_add(count);
        let taken = end.and_then(|end| self.bytes.get(self.position..end));
        let taken = taken.ok_or_else(|| format!("it ends within its header, at byte {}", self.bytes.len()))?;
        self.position += count;
        Ok(taken)
    }

    /// The next bytes, as many as the array has.
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], Mistake> {
        let taken = self.take(N)?;
        taken.try_into().map_err(|_| "its header is too short".to_owned())
    }

    /// A 32-bit number.
    pub fn u32(&mut self) -> Result<u32, Mistake> {
        self.array().map(u32::from_le_bytes)
    }

    /// A 64-bit number.
    pub fn u64(&mut self) -> Result<u64, Mistake> {
        self.array().map(u64::from_le_bytes)
    }

    /// A count of entries that take at least `least` bytes each: a count beyond the rest of the file is a mistake, so that nothing is
    /// reserved for such a count.
    pub fn count(&mut self, least: usize) -> Result<usize, Mistake> {
        let (count, start) = (self.u64()?, self.position);
        let most = (self.bytes.len() - start) / least.max(1);
        let fits = usize::try_from(count).ok().filter(|count| *count <= most);
        fits.ok_or_else(|| {
            format!("its header states {count} entries at byte {start}, more than the file has room for")
        })
    }

    /// The count of the entries of a list.
    pub fn list(&mut self, least: usize) -> Result<usize, Mistake> {
        let count = self.count(least)?;
        let left = self.entries.checked_sub(count);
        self.entries = left.ok_or_else(|| format!("the lists of its metadata have more than {ENTRIES} entries"))?;
        Ok(count)
    }

    /// A text in UTF-8.
    pub fn text(&mut self) -> Result<String, Mistake> {
        let (length, start) = (self.count(1)?, self.position);
        let bytes = self.take(length)?;
        String::from_utf8(bytes.to_vec()).map_err(|_| format!("the text at byte {start} is not UTF-8"))
    }
}
