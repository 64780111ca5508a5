//! The blob's bytes.

use et_cpu::{
    ALIGNMENT, Header, Instruction, MAGIC, Slot, SlotKind, VARIANTS_MAGIC, VERSION, Variant, isa_number, workspace,
};
use etbuild_backend::Blob;

use crate::builder::{Builder, Storage};
use crate::constants::Constants;
use crate::memory::{Layout, lay_out, lives, words};
use crate::{Isa, Problem};

/// The most threads that a call has memory for.
const THREADS: usize = 8;

/// The blob of what was gathered. Constants that no instruction reads are left out; equal ones are stored once.
pub fn blob(builder: Builder<'_>) -> Result<Blob, Problem> {
    let instructions: Vec<Instruction> = builder.instructions.iter().copied().flatten().collect();
    let lives = lives(builder.buffers.len(), &instructions);
    let layout = lay_out(&builder.buffers, &lives);
    let mut constants = Constants::new(builder.isa);
    let mut slots = Vec::new();
    for (index, memory) in builder.buffers.iter().enumerate() {
        let (kind, start) = match &memory.storage {
            Storage::Input(position) => (SlotKind::Input, *position as usize),
            Storage::Output(position) => (SlotKind::Output, *position as usize),
            Storage::Scratch => (SlotKind::Scratch, layout.starts[index]),
            Storage::Model(data) if lives[index].is_some() => (SlotKind::Constant, constants.add(data.bytes())),
            Storage::Made(bytes) if lives[index].is_some() => (SlotKind::Constant, constants.add(bytes)),
            Storage::Packed(packing) if lives[index].is_some() => {
                (SlotKind::Constant, constants.pack(packing, memory.size))
            }
            Storage::Model(_) | Storage::Made(_) | Storage::Packed(_) => (SlotKind::Constant, 0),
        };
        let size = if lives[index].is_some() || start > 0 { memory.size } else { 0 };
        slots.push(Slot { kind: kind as u32, start: start as u64, size: size as u64 });
    }
    let workspace = instructions.iter().map(|instruction| workspace(instruction, builder.isa)).max().unwrap_or(0);
    assemble(&builder, &instructions, &slots, &layout, workspace.next_multiple_of(ALIGNMENT), &constants)
}

/// The blobs for several instruction sets as one.
pub fn variants(blobs: Vec<(Isa, Blob)>) -> Blob {
    let mut all = Blob { bytes: Vec::new(), scratch: 0 };
    let head = 4 * (2 + blobs.len() * words(&Variant::default()).len());
    let mut start = head.next_multiple_of(ALIGNMENT);
    let mut table = vec![VARIANTS_MAGIC, blobs.len() as u32];
    for (isa, blob) in &blobs {
        let size = blob.bytes.len();
        table.extend(words(&Variant { isa: isa_number(*isa), start: start as u64, size: size as u64 }));
        start = (start + size).next_multiple_of(ALIGNMENT);
        all.scratch = all.scratch.max(blob.scratch);
    }
    all.bytes = table.iter().flat_map(|word| word.to_le_bytes()).collect();
    for (_, blob) in blobs {
        all.bytes.resize(all.bytes.len().next_multiple_of(ALIGNMENT), 0);
        all.bytes.extend_from_slice(&blob.bytes);
    }
    all
}

fn assemble(
    builder: &Builder<'_>,
    instructions: &[Instruction],
    slots: &[Slot],
    layout: &Layout,
    workspace: usize,
    constants: &Constants<'_>,
) -> Result<Blob, Problem> {
    let body: Vec<u32> = instructions.iter().flat_map(words).collect();
    let table: Vec<u32> = slots.iter().flat_map(words).collect();
    let workspaces = layout.size.next_multiple_of(ALIGNMENT);
    let scratch = workspaces + THREADS * workspace;
    let mut header = Header {
        magic: MAGIC,
        version: VERSION,
        isa: isa_number(builder.isa),
        inputs: builder.graph.inputs.len() as u32,
        outputs: builder.graph.outputs.len() as u32,
        slots: slots.len() as u32,
        instructions: instructions.len() as u32,
        words: body.len() as u32,
        scratch: scratch as u64,
        workspaces: workspaces as u64,
        workspace: workspace as u64,
        threads: THREADS as u32,
        constants: 0,
    };
    let begin = 4 * (words(&header).len() + table.len() + body.len());
    header.constants = begin.next_multiple_of(ALIGNMENT) as u64;
    let mut bytes: Vec<u8> =
        words(&header).iter().chain(&table).chain(&body).flat_map(|word| word.to_le_bytes()).collect();
    let begin = begin.next_multiple_of(ALIGNMENT);
    bytes.resize(begin + constants.size(), 0);
    constants.write(&mut bytes[begin..])?;
    // The memory begins anywhere; the engine uses it from a multiple of a cache line on.
    let scratch = if scratch == 0 { 0 } else { scratch + ALIGNMENT };
    Ok(Blob { bytes, scratch })
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
