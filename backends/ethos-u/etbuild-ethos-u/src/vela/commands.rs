//! The command stream in the form for Arm's driver: words, of which each begins an action.

/// A command stream, and the NPU that it is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commands {
    /// The words for the NPU.
    pub bytes: Vec<u8>,
    /// The value of the NPU's register for its kind and size.
    pub config: u32,
}

/// `COP1`.
const MAGIC: u32 = u32::from_le_bytes(*b"COP1");
/// The action that states the NPU, in two words.
const CONFIG: u32 = 1;
/// The action that has the command stream.
const STREAM: u32 = 2;
/// The action that aligns the next.
const NOTHING: u32 = 5;

impl Commands {
    /// The command stream of a driver's words; `None` for other actions, and for missing words.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        let words: Vec<u32> = bytes.as_chunks::<4>().0.iter().copied().map(u32::from_le_bytes).collect();
        let mut rest = words.strip_prefix(&[MAGIC])?;
        let mut config = None;
        while let Some((action, after)) = rest.split_first() {
            rest = after;
            match action & 0xff {
                CONFIG => {
                    config = rest.first().copied();
                    rest = rest.get(2..)?;
                }
                STREAM => {
                    // The middle byte has the upper bits of the length.
                    let length = (action >> 16 | (action >> 8 & 0xff) << 16) as usize;
                    let bytes = rest.get(..length)?.iter().flat_map(|word| word.to_le_bytes()).collect();
                    return Some(Self { bytes, config: config? });
                }
                NOTHING => {}
                _ => return None,
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_is_behind_the_configuration() {
        let words = [MAGIC, 0x10_0001, 0x1807, 0x1000_6001, 5, 5, 5, 0x2_0002, 0x1_010f, 0x4000];
        let bytes: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
        let found = Commands::of(&bytes).unwrap();
        assert_eq!((found.config, found.bytes.len()), (0x1807, 8));
        assert_eq!(Commands::of(&bytes[..bytes.len() - 4]), None);
    }
}
