//! The blob of a partition: GPU objects, compute kernels, and dispatches in order.
//!
//! All numbers are little-endian words. A blob is the [`Header`], then the lists that the header counts, in the order of its
//! fields, then the words of all kernels.

use et_core::{Error, Result};
use et_record::{Record, Words, numbered, records};

use crate::problem::{Outcome, Problem};

/// `ETGP`.
pub const MAGIC: u32 = u32::from_le_bytes(*b"ETGP");

/// The version of the blob format.
pub const VERSION: u32 = 6;

records! {
    /// The beginning of a blob.
    pub struct Header {
        /// [`MAGIC`].
        pub magic: u32,
        /// [`VERSION`].
        pub version: u32,
        /// The [`checksum`] of the bytes after the header.
        pub checksum: u64,
        /// The language of the kernels.
        pub language: Language,
        /// What the kernels need of a device.
        pub needs: Needs,
        /// Arguments of the delegate call: inputs, weights, then outputs.
        pub arguments: u32,
        /// The outputs among the arguments: the last ones.
        pub outputs: u32,
        /// The number of [`Object`]s.
        pub objects: u32,
        /// The number of [`Kernel`]s.
        pub kernels: u32,
        /// The number of [`Dispatch`]es.
        pub dispatches: u32,
        /// The number of [`Binding`]s.
        pub bindings: u32,
        /// The words of all kernels together.
        pub words: u32,
    }

    /// The optional features of a device that the kernels of a blob use.
    pub struct Needs {
        /// 64-bit integers.
        pub int64: bool,
        /// 64-bit floating point.
        pub float64: bool,
        /// fp16 arithmetic, and fp16 in storage buffers.
        pub float16: bool,
        /// Reads outside of sampled images give 0 in all channels.
        pub zero_clamp: bool,
    }

    /// A buffer or an image.
    pub struct Object {
        /// The kind of GPU memory.
        pub kind: Kind,
        /// The host's use of the object.
        pub role: Role,
        /// The argument of the call of an input, output, state or weights; 0 for scratch.
        pub argument: u32,
        /// The size in bytes: of a buffer, rounded up to 4, or of the texels of an image. An argument may have up to 3 bytes
        /// less.
        pub size: u64,
        /// Width, height and layers of an image, in texels; 0 for buffers.
        pub extent: [u32; 3],
        /// The first and the last dispatch that uses the object: scratch objects with disjoint lifetimes share memory.
        pub life: [u32; 2],
    }

    /// A compute shader with the entry point `main`. A dispatch executes the kernel or the kernel's alternative.
    pub struct Kernel {
        /// The first word of the module within the words of all kernels.
        pub start: u32,
        /// The words of the module.
        pub words: u32,
        /// The kernel exchanges values in subgroups of exactly this many invocations; 0 for none.
        pub subgroup: u32,
        /// The number of the kernel that a device without such subgroups executes instead, of no subgroups, with the same
        /// bindings and the same workgroups; the kernel's own number for none.
        pub otherwise: u32,
    }

    /// An execution of a kernel. Bindings are numbered from 0 in descriptor set 0.
    pub struct Dispatch {
        /// The kernel.
        pub kernel: u32,
        /// Workgroups in x, y and z.
        pub workgroups: [u32; 3],
        /// The first of the dispatch's [`Binding`]s.
        pub first_binding: u32,
        /// The number of bindings.
        pub bindings: u32,
    }

    /// An object that a kernel accesses.
    pub struct Binding {
        /// The object.
        pub object: u32,
        /// The kernel writes the object; images are storage images then, and sampled images otherwise.
        pub writes: bool,
    }
}

numbered! {
    /// The language of kernels.
    pub enum Language {
        /// SPIR-V, for Vulkan.
        Spirv,
        /// WGSL in UTF-8, for WebGPU; spaces fill the last word.
        Wgsl,
        /// MSL in UTF-8 behind a [`Metal`](crate::Metal), for Metal; spaces fill the last word.
        Msl,
    }

    /// The kind of GPU memory of an [`Object`].
    pub enum Kind {
        /// A storage buffer.
        Buffer,
        /// A 2-D image of four fp32 channels.
        Image32,
        /// A 2-D image of four fp16 channels.
        Image16,
        /// A 2-D array image of four fp32 channels.
        Array32,
        /// A 2-D array image of four fp16 channels.
        Array16,
    }

    /// The host's use of an [`Object`].
    pub enum Role {
        /// No use: the contents are lost between executions.
        Scratch,
        /// The object holds an argument of the call, copied before each execution.
        Input,
        /// The object holds an argument of the call that never changes, copied before the first execution.
        Weights,
        /// The object is copied to an argument of the call after each execution.
        Output,
        /// The object is an argument of the call that the call changes in place, and no other object has the argument. The call
        /// may have the same memory among its outputs: those are arguments without an object, after the arguments of all
        /// inputs, weights and states. After a failed execution the contents are undefined.
        State,
    }
}

impl Kind {
    /// The bytes of a texel; `None` for buffers.
    pub const fn texel(self) -> Option<u64> {
        match self {
            Self::Buffer => None,
            Self::Image32 | Self::Array32 => Some(16),
            Self::Image16 | Self::Array16 => Some(8),
        }
    }
}

/// The checksum of the bytes after the header: FNV-1a of 64 bits.
pub fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// A list of records in a blob.
#[derive(Clone, Copy, Debug)]
pub struct Records<'a, T> {
    words: Words<'a>,
    each: usize,
    item: core::marker::PhantomData<T>,
}

impl<'a, T: Record + Default> Records<'a, T> {
    /// Takes `count` records.
    fn take(words: &mut Words<'a>, count: u32) -> Option<Self> {
        let mut each = 0_usize;
        T::default().write(&mut |_| each += 1);
        let words = words.take(each.checked_mul(count as usize)?)?;
        Some(Self { words, each, item: core::marker::PhantomData })
    }

    /// The records in order; an error for an invalid record.
    pub fn iter(&self) -> impl Iterator<Item = Result<T>> + use<'a, T> {
        let (mut words, each) = (self.words, self.each);
        core::iter::from_fn(move || {
            let mut record = words.take(each)?;
            (each > 0).then(|| T::read(&mut record).ok_or(Error::InvalidProgram))
        })
    }

    /// All records, each of which is `what` in the sentence of a failure.
    pub(crate) fn all(&self, what: &str) -> Outcome<Vec<T>> {
        let records: Result<Vec<T>> = self.iter().collect();
        records.map_err(|_| Problem::blob(format!("{what} of the GPU program is invalid")))
    }
}

/// A blob whose lists have been found; records are checked as they are read.
#[derive(Clone, Copy, Debug)]
pub struct Blob<'a> {
    /// The header.
    pub header: Header,
    /// The objects.
    pub objects: Records<'a, Object>,
    /// The kernels.
    pub kernels: Records<'a, Kernel>,
    /// The dispatches in order.
    pub dispatches: Records<'a, Dispatch>,
    /// The bindings of all dispatches.
    pub bindings: Records<'a, Binding>,
    /// The words of all kernels.
    pub words: Words<'a>,
}

impl<'a> Blob<'a> {
    /// Finds the lists.
    ///
    /// # Errors
    /// [`Error::DelegateInvalidCompatibility`] for other bytes, [`Error::InvalidProgram`] for missing parts or another
    /// checksum.
    pub fn read(bytes: &'a [u8]) -> Result<Self> {
        let mut words = Words::new(bytes);
        let header = Header::read(&mut words).ok_or(Error::InvalidProgram)?;
        if (header.magic, header.version) != (MAGIC, VERSION) {
            return Err(Error::DelegateInvalidCompatibility);
        }
        let mut header_words = 0_usize;
        header.write(&mut |_| header_words += 1);
        if bytes.get(4 * header_words..).map(checksum) != Some(header.checksum) {
            return Err(Error::InvalidProgram);
        }
        Self::lists(header, words).ok_or(Error::InvalidProgram)
    }

    fn lists(header: Header, mut words: Words<'a>) -> Option<Self> {
        Some(Self {
            header,
            objects: Records::take(&mut words, header.objects)?,
            kernels: Records::take(&mut words, header.kernels)?,
            dispatches: Records::take(&mut words, header.dispatches)?,
            bindings: Records::take(&mut words, header.bindings)?,
            words: words.take(header.words as usize)?,
        })
    }
}
