//! Cheap checks of kernels in WGSL. The browser validates every kernel, and no kernel accesses memory outside of its buffers.

use crate::descriptor::Descriptor;
use crate::problem::{Outcome, Problem};

/// Checks that a kernel is text, and that its bindings are buffers. Returns the size of a workgroup as far as the device half
/// needs it: the browser compares the size with its limits.
pub fn read(words: &[u32], descriptors: &[Descriptor]) -> Outcome<[u32; 3]> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    if core::str::from_utf8(&bytes).is_err() || bytes.is_empty() {
        return Err(Problem::blob("the words are no text in WGSL"));
    }
    match descriptors.iter().all(|descriptor| *descriptor == Descriptor::Buffer) {
        true => Ok([1; 3]),
        false => Err(Problem::blob("a kernel in WGSL has an image")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &[u8]) -> Vec<u32> {
        text.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect()
    }

    #[test]
    fn a_kernel_is_text_with_buffers() {
        let image = Descriptor::Sampled { array: false };
        assert!(read(&words(b"text"), &[Descriptor::Buffer]).is_ok());
        for (bytes, descriptor) in
            [(&b"text"[..], image), (b"\xff\xff\xff\xff", Descriptor::Buffer), (b"", Descriptor::Buffer)]
        {
            assert!(read(&words(bytes), &[descriptor]).is_err());
        }
    }
}
