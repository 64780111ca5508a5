//! USB flashing format: an image in blocks that a boot ROM copies to the blocks' addresses.
//!
//! Specification: <https://github.com/microsoft/uf2>. Each block of 512 bytes carries 256 bytes of the image.

use object::read::elf::{ElfFile32, ProgramHeader};
use object::{Endianness, elf};

use crate::{LinkError, Region};

/// Image bytes per block: also the page that flash is written by.
const PAYLOAD: usize = 256;
/// Bytes per block.
const BLOCK: usize = 512;
/// The first, second and last word of a block.
const MAGIC: [u32; 3] = [0x0a32_4655, 0x9e5d_5157, 0x0ab1_6f30];
/// The flag of a block that names the family of chips.
const FAMILY_PRESENT: u32 = 0x2000;

/// Packs the loaded segments of the ELF file `binary`, which must lie inside `flash`, for the chips of `family`.
///
/// # Errors
/// [`LinkError::Image`] for a file other than 32-bit ELF, or with segments outside `flash`.
pub fn write(binary: &[u8], family: u32, flash: &Region) -> Result<Vec<u8>, LinkError> {
    let image = flash_image(binary, flash)?;
    let start = u32::try_from(flash.origin).map_err(|_| outside(flash, flash.origin))?;
    let pages = image.chunks(PAYLOAD);
    let count = u32::try_from(pages.len()).map_err(|_| outside(flash, flash.origin))?;
    let addresses = (start..).step_by(PAYLOAD);
    Ok((0..)
        .zip(addresses)
        .zip(pages)
        .flat_map(|((number, address), page)| block(page, address, number, count, family))
        .collect())
}

/// One block: eight words, the payload, zeros, and a last word.
fn block(page: &[u8], address: u32, number: u32, count: u32, family: u32) -> [u8; BLOCK] {
    let header = [MAGIC[0], MAGIC[1], FAMILY_PRESENT, address, PAYLOAD as u32, number, count, family];
    let mut block = [0; BLOCK];
    for (place, word) in block.chunks_exact_mut(4).zip(header) {
        place.copy_from_slice(&word.to_le_bytes());
    }
    block[32..32 + page.len()].copy_from_slice(page);
    block[BLOCK - 4..].copy_from_slice(&MAGIC[2].to_le_bytes());
    block
}

/// The contents of flash from its first address to the last byte that is loaded; gaps are zeros.
fn flash_image(binary: &[u8], flash: &Region) -> Result<Vec<u8>, LinkError> {
    let malformed = |error| LinkError::Image(format!("the linked file cannot be read: {error}"));
    let file: ElfFile32<'_, Endianness> = ElfFile32::parse(binary).map_err(malformed)?;
    let endian = file.endian();
    let mut image = Vec::new();
    for segment in file.elf_program_headers() {
        let data =
            segment.data(endian, binary).map_err(|()| LinkError::Image("a segment leaves the file".to_owned()))?;
        if segment.p_type(endian) == elf::PT_LOAD && !data.is_empty() {
            place(&mut image, data, u64::from(segment.p_paddr(endian)), flash)?;
        }
    }
    Ok(image)
}

/// Copies `data` to where `address` is in the image.
fn place(image: &mut Vec<u8>, data: &[u8], address: u64, flash: &Region) -> Result<(), LinkError> {
    let start = address.checked_sub(flash.origin).ok_or_else(|| outside(flash, address))?;
    let end = start + data.len() as u64;
    if end > flash.size {
        return Err(outside(flash, flash.origin + end));
    }
    let (start, end) = (start as usize, end as usize);
    image.resize(image.len().max(end), 0);
    image[start..end].copy_from_slice(data);
    Ok(())
}

fn outside(flash: &Region, address: u64) -> LinkError {
    LinkError::Image(format!("the image reaches {address:#x}, which is outside the bank `{}`", flash.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flash() -> Region {
        Region { name: "flash".to_owned(), origin: 0x1000_0000, size: 0x300 }
    }

    #[test]
    fn a_block_is_laid_out_as_specified() {
        let block = block(&[0xaa; PAYLOAD], 0x1000_0100, 1, 3, 0xe48b_ff59);
        let words: Vec<u32> = block.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
        let header = [0x0a32_4655, 0x9e5d_5157, 0x2000, 0x1000_0100, 256, 1, 3, 0xe48b_ff59];
        assert_eq!(words[..8], header);
        assert!(words[8..72].iter().all(|word| *word == 0xaaaa_aaaa) && words[72..127].iter().all(|word| *word == 0));
        assert_eq!(words[127], 0x0ab1_6f30);
    }

    #[test]
    fn data_lands_at_its_address_and_gaps_are_zeros() {
        let mut image = Vec::new();
        place(&mut image, &[1, 2], 0x1000_0004, &flash()).unwrap();
        place(&mut image, &[3], 0x1000_0000, &flash()).unwrap();
        assert_eq!(image, [3, 0, 0, 0, 1, 2]);
    }

    #[test]
    fn data_outside_the_bank_is_refused() {
        for address in [0x0fff_ffff, 0x1000_02ff] {
            let error = place(&mut Vec::new(), &[1, 2], address, &flash()).unwrap_err();
            assert!(error.to_string().contains("outside the bank `flash`"), "{error}");
        }
    }

    #[test]
    fn what_is_no_image_is_refused() {
        assert!(matches!(write(b"not an ELF file", 0, &flash()), Err(LinkError::Image(_))));
    }
}
