//! Kernels in the Metal shading language, and cheap checks of them. Metal compiles and checks the text itself.

use et_record::{Record, Words, records};

use crate::descriptor::Descriptor;
use crate::limits::Limits;
use crate::problem::{Outcome, Problem};

/// The name of the entry point of every kernel: `main` is a word of C++.
pub const METAL_ENTRY: &str = "main_";

records! {
    /// The beginning of a kernel in MSL. The lengths of the variables in workgroup memory follow, then the text.
    ///
    /// Tensor `n` of a dispatch is buffer `n` of the kernel, and variable `n` is workgroup memory `n`.
    pub struct Metal {
        /// Major and minor version of the language.
        pub version: [u32; 2],
        /// The size of a workgroup.
        pub workgroup: [u32; 3],
        /// The number of variables in workgroup memory.
        pub variables: u32,
    }
}

/// The most variables in workgroup memory that Metal takes.
const MOST_VARIABLES: usize = 31;

/// A kernel in MSL.
#[derive(Debug, PartialEq)]
pub struct MetalKernel {
    /// The beginning.
    pub head: Metal,
    /// The bytes of each variable in workgroup memory, a multiple of 16.
    pub lengths: Vec<u32>,
    /// The text.
    pub text: String,
}

impl MetalKernel {
    /// The kernel of the words of a blob.
    ///
    /// # Errors
    /// [`et_core::Error::InvalidProgram`] for other words.
    pub fn read(words: &[u32]) -> Outcome<Self> {
        Self::parts(words).ok_or_else(|| Problem::blob("the words are no kernel in MSL"))
    }

    fn parts(words: &[u32]) -> Option<Self> {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let mut words = Words::new(&bytes);
        let head = Metal::read(&mut words)?;
        let mut lengths = words.take(head.variables as usize)?;
        let lengths: Vec<u32> = core::iter::from_fn(|| lengths.word()).collect();
        let text = String::from_utf8(words.bytes().as_flattened().to_vec()).ok()?;
        let is_kernel = !text.trim().is_empty() && !head.workgroup.contains(&0);
        let is_whole =
            lengths.len() <= MOST_VARIABLES && lengths.iter().all(|length| *length > 0 && length.is_multiple_of(16));
        (is_kernel && is_whole).then_some(Self { head, lengths, text })
    }

    /// Checks that the bindings are buffers.
    pub fn check_bindings(&self, descriptors: &[Descriptor]) -> Outcome<()> {
        match descriptors.iter().all(|descriptor| *descriptor == Descriptor::Buffer) {
            true => Ok(()),
            false => Err(Problem::blob("a kernel in MSL has an image")),
        }
    }

    /// Checks that a device can execute the kernel in subgroups of `subgroup` invocations; 0 stands for any number.
    pub fn check(&self, subgroup: u32, limits: &Limits) -> Outcome<()> {
        let shared = self.lengths.iter().map(|length| u64::from(*length)).sum();
        limits.check_subgroup(subgroup)?;
        limits.check_shared(shared)?;
        limits.check_workgroup(self.head.workgroup, subgroup)
    }
}

#[cfg(test)]
mod tests {
    use et_core::Error;

    use super::*;

    fn words(head: Metal, lengths: &[u32], text: &[u8; 8]) -> Vec<u32> {
        let mut words = Vec::new();
        head.write(&mut |word| words.push(word));
        words.extend(lengths);
        words.extend(text.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes)));
        words
    }

    fn head() -> Metal {
        Metal { version: [2, 3], workgroup: [64, 2, 1], variables: 2 }
    }

    #[test]
    fn a_kernel_has_lengths_and_text() {
        let kernel = MetalKernel::read(&words(head(), &[16, 4096], b"kernel  ")).unwrap();
        assert_eq!(kernel, MetalKernel { head: head(), lengths: vec![16, 4096], text: "kernel  ".to_owned() });
        kernel.check_bindings(&[Descriptor::Buffer]).unwrap();
        assert!(kernel.check_bindings(&[Descriptor::Sampled { array: false }]).is_err());
    }

    #[test]
    fn other_words_are_an_error() {
        let whole = words(head(), &[16, 4096], b"kernel  ");
        let no_text = words(head(), &[16, 4096], b"        ");
        let bad_text = words(head(), &[16, 4096], b"\xff\xff\xff\xff    ");
        let odd = words(head(), &[8, 4096], b"kernel  ");
        let no_workgroup = words(Metal { workgroup: [64, 0, 1], ..head() }, &[16, 4096], b"kernel  ");
        let many = words(Metal { variables: u32::MAX, ..head() }, &[16, 4096], b"kernel  ");
        let too_many = words(Metal { variables: 32, ..head() }, &[16; 32], b"kernel  ");
        for damaged in
            [&whole[..5], &whole[..7], &whole[..8], &no_text, &bad_text, &odd, &no_workgroup, &many, &too_many]
        {
            assert_eq!(MetalKernel::read(damaged).unwrap_err().error, Error::InvalidProgram, "{damaged:?}");
        }
    }

    #[test]
    fn a_device_needs_the_workgroup_and_its_memory() {
        let kernel = MetalKernel::read(&words(head(), &[16, 4096], b"kernel  ")).unwrap();
        let limits = Limits {
            workgroup: [1024; 3],
            invocations: 512,
            shared: 16384,
            subgroups: (32, 32),
            workgroup_subgroups: 16,
            ..Limits::default()
        };
        kernel.check(32, &limits).unwrap();
        for (subgroup, limits) in [
            (8, limits.clone()),
            (0, Limits { shared: 4111, ..limits.clone() }),
            (0, Limits { invocations: 127, ..limits.clone() }),
            (0, Limits { workgroup: [63, 1024, 1024], ..limits.clone() }),
        ] {
            assert_eq!(kernel.check(subgroup, &limits).unwrap_err().error, Error::NotSupported);
        }
    }
}
