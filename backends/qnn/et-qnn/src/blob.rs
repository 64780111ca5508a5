//! The blob of the partitions of a program: a context binary of the vendor's compiler with a graph for each, and the tensors that each graph
//! reads and writes.

use et_core::{Error, Result};
use et_record::{Record, Words, numbered, records};

/// `ETQN`.
pub const MAGIC: u32 = u32::from_le_bytes(*b"ETQN");

/// The version of the blob format.
pub const VERSION: u32 = 4;

/// The name of a graph in context binaries.
pub fn graph_name(number: usize) -> String {
    format!("graph{number}")
}

records! {
    /// The beginning of a blob. For each graph, a [`Counts`], the [`Port`]s and their sizes follow, then the context binary.
    pub struct Header {
        /// [`MAGIC`].
        pub magic: u32,
        /// [`VERSION`].
        pub version: u32,
        /// The checksum of the bytes after the header: the vendor's library trusts its binaries.
        pub checksum: u64,
        /// The chip that the context binary is for, by the vendor's number.
        pub soc: u32,
        /// Whether the graphs share weights in the context binary.
        pub shares_weights: bool,
        /// The number of graphs.
        pub graphs: u32,
        /// The bytes of the context binary.
        pub binary: u32,
    }

    /// The beginning of a graph.
    pub struct Counts {
        /// The partition whose call the graph executes.
        pub partition: u32,
        /// The number of inputs.
        pub inputs: u32,
        /// The number of outputs.
        pub outputs: u32,
        /// The sizes of all ports together.
        pub sizes: u32,
    }

    /// An input or output of the graph.
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
    pub struct Port {
        /// The number of the tensor in the context binary.
        pub id: u32,
        /// The type of elements, by the vendor's number.
        pub data_type: u32,
        /// The number of sizes.
        pub rank: u32,
        /// The bytes of the elements.
        pub bytes: u32,
        /// What the elements are in the call.
        pub binding: Binding,
    }

    /// What the elements of an input or output are in the call.
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
    pub struct Binding {
        /// The kind.
        pub role: Role,
        /// The argument of the call whose memory is read or written.
        pub argument: u32,
        /// The tokens that the elements are about.
        pub span: Span,
        /// The KV cache or table of positions that the elements are about.
        pub ring: Ring,
    }

    /// The tokens of a call of a language model: rows of a tensor, of which the first ones hold tokens.
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
    pub struct Span {
        /// The argument with the position of the first row.
        pub start: u32,
        /// The argument with the index of the last row that holds a token; [`ALL_ROWS`] where all rows do.
        pub last: u32,
        /// The number of rows.
        pub rows: u32,
    }

    /// A KV cache, a ring buffer: a position has the slot `position % slots`.
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
    pub struct Ring {
        /// The number of slots.
        pub slots: u32,
        /// The number of positions that a row sees, up to its own; 0 for all.
        pub window: u32,
        /// The number of slots that the graph reads, the first ones.
        pub read: u32,
    }
}

numbered! {
    /// The kinds of inputs and outputs of a graph.
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
    pub enum Role {
        /// The argument itself.
        Argument,
        /// int32: the position of each row, in a table for the positions of the ring. Rows without a token have the position of the last token.
        Positions,
        /// int32: the last row that holds a token.
        Last,
        /// The slots of a KV cache that the graph reads, as they are before the call: the argument is the KV cache.
        Past,
        /// fp16, a row for each row of the span, with the slots that the graph reads and then the rows of the call: 0 for keys that a row sees, [`UNSEEN`] for others.
        Mask,
        /// Rows that become the KV cache's at their positions: the argument is the KV cache.
        Rows,
    }
}

/// The `last` of a [`Span`] all of whose rows hold tokens.
pub const ALL_ROWS: u32 = u32::MAX;

/// The score that is added for keys that a row does not see: the exponential of the sum is 0, and the sum is finite in fp16.
pub const UNSEEN: f32 = -30_000.0;

/// A port with the sizes of the tensor.
pub type SizedPort = (Port, Vec<u32>);

/// The inputs and outputs of a graph.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ports {
    /// The partition whose call the graph executes. The graphs of a partition read ever more slots of its KV caches, and the last one all.
    pub partition: u32,
    /// The inputs.
    pub inputs: Vec<SizedPort>,
    /// The outputs.
    pub outputs: Vec<SizedPort>,
}

/// A blob in parts.
#[derive(Clone, Debug, PartialEq)]
pub struct Blob<'a> {
    /// The chip, by the vendor's number.
    pub soc: u32,
    /// Whether the graphs share weights in the context binary.
    pub shares_weights: bool,
    /// The graphs by number.
    pub graphs: Vec<Ports>,
    /// The context binary.
    pub binary: &'a [u8],
}

impl<'a> Blob<'a> {
    /// Reads a blob.
    ///
    /// # Errors
    /// [`Error::DelegateInvalidCompatibility`] for other bytes, [`Error::InvalidProgram`] for missing parts.
    pub fn read(bytes: &'a [u8]) -> Result<Self> {
        let mut words = Words::new(bytes);
        let header = Header::read(&mut words).ok_or(Error::InvalidProgram)?;
        if (header.magic, header.version) != (MAGIC, VERSION) {
            return Err(Error::DelegateInvalidCompatibility);
        }
        if checksum(words.bytes().as_flattened()) != header.checksum {
            return Err(Error::InvalidProgram);
        }
        Self::parts(header, words).ok_or(Error::InvalidProgram)
    }

    fn parts(header: Header, mut words: Words<'a>) -> Option<Self> {
        let graphs = (words.len() >= header.graphs as usize).then_some(header.graphs)?;
        let graphs = (0..graphs).map(|_| Ports::read(&mut words)).collect::<Option<_>>()?;
        let binary = words.bytes().as_flattened().get(..header.binary as usize)?;
        Some(Self { soc: header.soc, shares_weights: header.shares_weights, graphs, binary })
    }

    /// The bytes of the blob.
    pub fn write(&self) -> Vec<u8> {
        let mut rest = Vec::with_capacity(self.binary.len() + 4096);
        self.graphs.iter().for_each(|ports| ports.write(&mut rest));
        rest.extend_from_slice(self.binary);
        rest.resize(rest.len().next_multiple_of(4), 0);
        let header = Header {
            magic: MAGIC,
            version: VERSION,
            checksum: checksum(&rest),
            soc: self.soc,
            shares_weights: self.shares_weights,
            graphs: self.graphs.len() as u32,
            binary: self.binary.len() as u32,
        };
        let mut bytes = Vec::with_capacity(rest.len() + 64);
        header.write(&mut |word| bytes.extend_from_slice(&word.to_le_bytes()));
        bytes.append(&mut rest);
        bytes
    }
}

impl Ports {
    fn read(words: &mut Words<'_>) -> Option<Self> {
        let counts = Counts::read(words)?;
        let ports = counts.inputs.checked_add(counts.outputs)?;
        let ports = (words.len() >= ports as usize).then_some(ports)?;
        let ports: Vec<Port> = (0..ports).map(|_| Port::read(words)).collect::<Option<_>>()?;
        let mut sizes = words.take(counts.sizes as usize)?;
        let with_sizes = ports.into_iter().map(|port| {
            let own = (0..sizes.len().min(port.rank as usize)).map(|_| sizes.word()).collect::<Option<Vec<u32>>>()?;
            (own.len() == port.rank as usize).then_some((port, own))
        });
        let mut inputs: Vec<SizedPort> = with_sizes.collect::<Option<_>>()?;
        let outputs = inputs.split_off(inputs.len().min(counts.inputs as usize));
        Some(Self { partition: counts.partition, inputs, outputs })
    }

    fn write(&self, bytes: &mut Vec<u8>) {
        let ports = || self.inputs.iter().chain(&self.outputs);
        let mut put = |word: u32| bytes.extend_from_slice(&word.to_le_bytes());
        let counts = Counts {
            partition: self.partition,
            inputs: self.inputs.len() as u32,
            outputs: self.outputs.len() as u32,
            sizes: ports().map(|(_, sizes)| sizes.len() as u32).sum(),
        };
        counts.write(&mut put);
        ports().for_each(|(port, _)| port.write(&mut put));
        ports().flat_map(|(_, sizes)| sizes).for_each(|size| put(*size));
    }
}

/// FNV-1a of 64 bits over words of 8 bytes: an eighth of the time that bytes take, which a context of gigabytes needs.
fn checksum(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let words = words.iter().map(|word| u64::from_le_bytes(*word)).chain(rest.iter().map(|byte| u64::from(*byte)));
    words.fold(0xcbf2_9ce4_8422_2325, |sum, word| (sum ^ word).wrapping_mul(0x0000_0100_0000_01b3))
}
