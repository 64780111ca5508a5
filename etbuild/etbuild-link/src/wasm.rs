//! Sections of WebAssembly modules. A parser of all instructions takes two seconds to compile, and no more than sizes are needed.

/// What every module of version 1 starts with.
const START: &[u8] = b"\0asm\x01\0\0\0";

const CODE: u8 = 10;
const DATA: u8 = 11;

/// The bytes of a module's instructions and of its data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ModuleSizes {
    /// The section of code.
    pub code: u64,
    /// The section of data.
    pub data: u64,
}

/// Whether a file is a WebAssembly module.
pub fn is_module(file: &[u8]) -> bool {
    file.starts_with(START)
}

/// Reads the sizes of a module. `None` for a file that is cut or no module.
pub fn sizes(module: &[u8]) -> Option<ModuleSizes> {
    let (mut rest, mut sizes) = (module.strip_prefix(START)?, ModuleSizes::default());
    while let Some((&id, section)) = rest.split_first() {
        let (size, content) = number(section)?;
        rest = content.get(usize::try_from(size).ok()?..)?;
        match id {
            CODE => sizes.code += size,
            DATA => sizes.data += size,
            _ => {} // Types, imports, names.
        }
    }
    Some(sizes)
}

/// A number of at most 32 bits in LEB128, seven bits per byte from the lowest, and the bytes behind the number.
fn number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let length = bytes.iter().take(5).position(|byte| byte & 0x80 == 0)? + 1;
    let (digits, rest) = bytes.split_at_checked(length)?;
    Some((digits.iter().rev().fold(0, |number, digit| number << 7 | u64::from(digit & 0x7f)), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(sections: &[(u8, usize)]) -> Vec<u8> {
        let mut module = START.to_vec();
        for &(id, size) in sections {
            module.extend([id, (size & 0x7f) as u8 | 0x80, (size >> 7) as u8]);
            module.resize(module.len() + size, 0);
        }
        module
    }

    #[test]
    fn code_and_data_count_without_their_headers() {
        let sizes = sizes(&module(&[(1, 7), (CODE, 300), (0, 9), (DATA, 5)]));
        assert_eq!(sizes, Some(ModuleSizes { code: 300, data: 5 }));
    }

    #[test]
    fn a_cut_module_is_refused() {
        let whole = module(&[(CODE, 300), (DATA, 5)]);
        let is_read = |length: &usize| sizes(&whole[..*length]).is_some();
        // Between sections, a module is whole.
        assert_eq!((0..=whole.len()).filter(is_read).collect::<Vec<_>>(), [8, 311, 319]);
        assert!(sizes(&[START, &[CODE, 0xff, 0xff, 0xff, 0xff, 0xff]].concat()).is_none());
    }
}
