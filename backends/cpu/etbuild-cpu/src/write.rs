//! The blob's bytes.

use et_cpu::{
    ALIGNMENT, Header, Instruction, MAGIC, Slot, SlotKind, VARIANTS_MAGIC, VERSION, Variant, isa_number, workspace,
};
use etbuild_backend::Blob;

use crate::Isa;
use crate::builder::{Builder, Storage};
use crate::constants::Constants;
use crate::memory::{Layout, lay_out, lives, words};
use crate::shared::Shared;

/// The maximum threads in the memory plan of a call.
const THREADS: usize = 8;

/// The minimum bytes at which an unpacked constant, such as a RoPE table, is shared by all blobs.
const SHARED: usize = 1 << 12;

/// A blob but for the number of its inputs, which all variants have in common.
pub struct Draft {
    header: Header,
    /// The words of slots and instructions.
    body: Vec<u32>,
    constants: Constants,
    /// The graph value that each instruction computes.
    layers: Vec<String>,
}

/// The blob of what was gathered. Constants that no instruction reads are left out; equal ones are stored once.
pub fn draft(builder: Builder<'_>, shared: &mut Shared) -> Draft {
    let instructions: Vec<Instruction> = builder.instructions.iter().copied().flatten().collect();
    let lives = lives(builder.buffers.len(), &instructions);
    let layout = lay_out(&builder.buffers, &lives);
    let mut constants = Constants::default();
    let mut body = Vec::new();
    for (index, memory) in builder.buffers.iter().enumerate() {
        let lives = lives[index].is_some();
        let (kind, start) = match &memory.storage {
            Storage::Input(position) => (SlotKind::Input, *position as usize),
            Storage::Output(position) => (SlotKind::Output, *position as usize),
            Storage::Scratch => (SlotKind::Scratch, layout.starts[index]),
            Storage::Model(data) if lives && memory.size >= SHARED => (SlotKind::Input, shared.as_is(data)),
            Storage::Model(data) if lives => (SlotKind::Constant, constants.add(data.bytes())),
            Storage::Made(bytes) if lives => (SlotKind::Constant, constants.add(bytes)),
            Storage::Packed(packing) if lives => (SlotKind::Input, shared.position(packing, builder.isa, memory.size)),
            Storage::Model(_) | Storage::Made(_) | Storage::Packed(_) => (SlotKind::Constant, 0),
        };
        let size = if lives || start > 0 { memory.size } else { 0 };
        body.extend(words(&Slot { kind: kind as u32, start: start as u64, size: size as u64 }));
    }
    let workspace = instructions.iter().map(|instruction| workspace(instruction, builder.isa)).max().unwrap_or(0);
    let mut header = header(&builder, &instructions, &layout, workspace.next_multiple_of(ALIGNMENT));
    let slots = body.len();
    body.extend(instructions.iter().flat_map(words));
    header.words = (body.len() - slots) as u32;
    Draft { header, body, constants, layers: layers(&builder) }
}

fn layers(builder: &Builder<'_>) -> Vec<String> {
    let left = builder.instructions.iter().zip(&builder.origins).filter(|(instruction, _)| instruction.is_some());
    let value = |node: &usize| builder.graph.nodes.get(*node)?.outputs.first().copied();
    let name = |value| builder.graph.value(value).name.clone();
    left.map(|(_, node)| value(node).map(name).unwrap_or_default()).collect()
}

fn header(builder: &Builder<'_>, instructions: &[Instruction], layout: &Layout, workspace: usize) -> Header {
    let workspaces = layout.size.next_multiple_of(ALIGNMENT);
    Header {
        magic: MAGIC,
        version: VERSION,
        isa: isa_number(builder.isa),
        inputs: 0,
        outputs: builder.graph.outputs.len() as u32,
        slots: builder.buffers.len() as u32,
        instructions: instructions.len() as u32,
        words: 0,
        scratch: (workspaces + THREADS * workspace) as u64,
        workspaces: workspaces as u64,
        workspace: workspace as u64,
        threads: THREADS as u32,
        constants: 0,
    }
}

/// The blobs for several instruction sets as one, whose call has so many inputs.
pub fn variants(drafts: &[(Isa, Draft)], inputs: usize) -> Blob {
    let mut all = Blob::default();
    let blobs: Vec<Vec<u8>> = drafts.iter().map(|(_, draft)| draft.bytes(inputs)).collect();
    let head = 4 * (2 + blobs.len() * words(&Variant::default()).len());
    let mut start = head.next_multiple_of(ALIGNMENT);
    let mut table = vec![VARIANTS_MAGIC, blobs.len() as u32];
    for ((isa, draft), bytes) in drafts.iter().zip(&blobs) {
        let size = bytes.len();
        table.extend(words(&Variant { isa: isa_number(*isa), start: start as u64, size: size as u64 }));
        start = (start + size).next_multiple_of(ALIGNMENT);
        all.scratch = all.scratch.max(draft.scratch());
        all.layers.push(draft.layers.clone());
    }
    all.bytes = little_endian(&table);
    for bytes in blobs {
        all.bytes.resize(all.bytes.len().next_multiple_of(ALIGNMENT), 0);
        all.bytes.extend_from_slice(&bytes);
    }
    all
}

impl Draft {
    fn bytes(&self, inputs: usize) -> Vec<u8> {
        let begin = 4 * (words(&self.header).len() + self.body.len());
        let begin = begin.next_multiple_of(ALIGNMENT);
        let header = Header { inputs: inputs as u32, constants: begin as u64, ..self.header };
        let mut bytes = little_endian(&words(&header));
        bytes.extend(little_endian(&self.body));
        bytes.resize(begin, 0);
        bytes.extend_from_slice(self.constants.bytes());
        bytes
    }

    /// Bytes of memory that a call is given: it begins anywhere, and is used from a multiple of a cache line on.
    const fn scratch(&self) -> usize {
        match self.header.scratch as usize {
            0 => 0,
            size => size + ALIGNMENT,
        }
    }
}

fn little_endian(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use et_cpu::record::{Record, Words};

    use super::*;

    #[test]
    fn an_instruction_reads_back() {
        let instruction = Instruction::Mean(et_cpu::Mean { sizes: [2, 3, 4], ..et_cpu::Mean::default() });
        let bytes: Vec<u8> = words(&instruction).iter().flat_map(|word| word.to_le_bytes()).collect();
        assert_eq!(Instruction::read(&mut Words::new(&bytes)), Some(instruction));
    }
}
