//! A partition for several instruction sets: a blob for each, of which the machine's best is executed.

use et_core::{Error, Result};
use et_gemm::Isa;

use crate::isa;
use crate::record::{Record, Words, records};

/// `ETCS`.
pub const VARIANTS_MAGIC: u32 = u32::from_le_bytes(*b"ETCS");

records! {
    /// The blob for one instruction set.
    pub struct Variant {
        /// The number of the instruction set.
        pub isa: u32,
        /// Where the blob begins, in bytes.
        pub start: u64,
        /// Its bytes.
        pub size: u64,
    }
}

/// Every instruction set of a partition with its blob.
///
/// # Errors
/// [`Error::DelegateInvalidCompatibility`] for other bytes; in place of a blob, [`Error::InvalidProgram`] for what is none.
pub fn variants(bytes: &[u8]) -> Result<impl Iterator<Item = Result<(Isa, &[u8])>>> {
    let mut words = Words::new(bytes);
    let (magic, count) = (words.word(), words.word());
    if magic != Some(VARIANTS_MAGIC) {
        return Err(Error::DelegateInvalidCompatibility);
    }
    Ok((0..count.unwrap_or(0)).map(move |_| {
        let variant = Variant::read(&mut words).ok_or(Error::InvalidProgram)?;
        let isa = isa(variant.isa).ok_or(Error::InvalidProgram)?;
        Ok((isa, part(bytes, variant)?))
    }))
}

/// The blob for the best instruction set that this machine has.
///
/// # Errors
/// As [`variants`]; [`Error::DelegateInvalidCompatibility`] where the machine has none of the sets.
pub fn best(bytes: &[u8]) -> Result<(Isa, &[u8])> {
    let mut found = None;
    for variant in variants(bytes)? {
        let (isa, blob) = variant?;
        if isa.is_available() && found.is_none_or(|(best, _)| isa > best) {
            found = Some((isa, blob));
        }
    }
    found.ok_or(Error::DelegateInvalidCompatibility)
}

fn part(bytes: &[u8], variant: Variant) -> Result<&[u8]> {
    let (start, size) = (usize::try_from(variant.start), usize::try_from(variant.size));
    let (Ok(start), Ok(size)) = (start, size) else { return Err(Error::InvalidProgram) };
    let end = start.checked_add(size).ok_or(Error::InvalidProgram)?;
    bytes.get(start..end).ok_or(Error::InvalidProgram)
}
