//! The blob's bytes.

use std::collections::BTreeMap;

use et_core::ScalarType;
use et_cpu::{
    ALIGNMENT, Access, Formula, Header, Instruction, MAGIC, OutputShape, Quantity, Slot, SlotKind, SlotNumber, VERSION,
    Variable, workspace,
};
use etbuild_backend::{Blob, Stored};
use etbuild_ir::Digest;

use crate::memory::{lay_out, lives, words};
use crate::program::{Program, Storage};
use crate::shared::Shared;

/// The maximum threads in the memory plan of a call.
const THREADS: usize = 8;

/// The minimum bytes at which an unpacked constant, such as a RoPE table, is shared by all blobs.
const SHARED: usize = 1 << 12;

/// What of a blob depends on the sizes of the inputs; empty for static sizes.
#[derive(Debug, Default)]
pub struct DynamicSizes {
    /// The shapes of the outputs.
    pub shapes: Vec<OutputShape>,
    /// The dynamic sizes of the inputs.
    pub variables: Vec<Variable>,
    /// The sizes of results.
    pub quantities: Vec<Quantity>,
    /// The words that change.
    pub formulas: Vec<Formula>,
    /// Bytes of a thread's workspace at other sizes than the program's.
    pub workspace: usize,
}

/// The blob of the instructions, with weights as further inputs. Constants that no instruction reads are omitted; equal constants
/// are stored once. With dynamic sizes, the program is that of the largest sizes.
pub fn blob(program: &Program<'_>, sizes: &DynamicSizes) -> Blob {
    let mut shared = Shared::new(program.graph, program.architecture);
    let instructions: Vec<Instruction> = program.instructions.iter().copied().flatten().collect();
    let lives = lives(program.buffers.len(), &instructions);
    let layout = lay_out(&program.buffers, &lives);
    let mut constants = Constants::default();
    let mut body = Vec::new();
    for (index, memory) in program.buffers.iter().enumerate() {
        let lives = lives[index].is_some();
        let (kind, start) = match &memory.storage {
            Storage::Input(position) => (SlotKind::Input, *position as usize),
            Storage::Output(position) => (SlotKind::Output, *position as usize),
            Storage::Scratch => (SlotKind::Scratch, layout.starts[index]),
            Storage::Model(data) if lives && memory.size >= SHARED => (SlotKind::Input, shared.as_is(data)),
            Storage::Model(data) if lives => (SlotKind::Constant, constants.add(data.bytes())),
            Storage::Made(bytes) if lives => (SlotKind::Constant, constants.add(bytes)),
            Storage::Packed(packing) if lives => (SlotKind::Input, shared.position(packing, memory.size)),
            Storage::Stacked(stack) if lives => (SlotKind::Input, shared.stack(stack, memory.size)),
            Storage::Model(_) | Storage::Made(_) | Storage::Packed(_) | Storage::Stacked(_) => (SlotKind::Constant, 0),
        };
        let size = if lives || start > 0 { memory.size } else { 0 };
        body.extend(words(&Slot { kind: kind as u32, start: start as u64, size: size as u64 }));
    }
    let slots = body.len();
    body.extend(instructions.iter().flat_map(words));
    let instruction_words = body.len() - slots;
    body.extend(sizes.shapes.iter().flat_map(words));
    let call_words = if sizes.formulas.is_empty() { 0 } else { body.len() };
    body.extend(sizes.variables.iter().flat_map(words));
    body.extend(sizes.quantities.iter().flat_map(words));
    body.extend(sizes.formulas.iter().flat_map(words));
    let words_of_call = layout.size.next_multiple_of(ALIGNMENT);
    let workspaces = (words_of_call + 4 * call_words).next_multiple_of(ALIGNMENT);
    let workspace = workspace_size(program).max(sizes.workspace).next_multiple_of(ALIGNMENT);
    let header = Header {
        magic: MAGIC,
        version: VERSION,
        architecture: program.architecture.number(),
        inputs: shared.inputs() as u32,
        outputs: program.graph.outputs.len() as u32,
        slots: program.buffers.len() as u32,
        instructions: instructions.len() as u32,
        words: instruction_words as u32,
        scratch: (workspaces + THREADS * workspace) as u64,
        workspaces: workspaces as u64,
        workspace: workspace as u64,
        threads: THREADS as u32,
        constants: 0,
        shapes: sizes.shapes.len() as u32,
        variables: sizes.variables.len() as u32,
        quantities: sizes.quantities.len() as u32,
        formulas: sizes.formulas.len() as u32,
        words_of_call: words_of_call as u64,
    };
    Blob {
        bytes: bytes(header, &body, &constants),
        scratch: scratch(&header),
        layers: vec![layers(program)],
        stored: if sizes.formulas.is_empty() { stored(program) } else { Vec::new() },
        weights: shared.into_weights(),
        ..Blob::default()
    }
}

/// The small constants of a blob, each aligned to a cache line; equal constants are stored once.
#[derive(Default)]
struct Constants {
    bytes: Vec<u8>,
    known: BTreeMap<Digest, usize>,
}

impl Constants {
    /// The offset of a constant.
    fn add(&mut self, bytes: &[u8]) -> usize {
        let digest = Digest::of(bytes);
        if let Some(start) = self.known.get(&digest) {
            return *start;
        }
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        self.bytes.resize(self.bytes.len().next_multiple_of(ALIGNMENT), 0);
        self.known.insert(digest, start);
        start
    }
}

fn layers(program: &Program<'_>) -> Vec<String> {
    let left = program.instructions.iter().zip(&program.origins).filter(|(instruction, _)| instruction.is_some());
    let value = |node: &usize| program.graph.nodes.get(*node)?.outputs.first().copied();
    let name = |value| program.graph.value(value).name.clone();
    left.map(|(_, node)| value(node).map(name).unwrap_or_default()).collect()
}

/// The values that are whole after each instruction: those of the buffers that no later instruction writes.
fn stored(program: &Program<'_>) -> Vec<Vec<Stored>> {
    let instructions: Vec<Instruction> = program.instructions.iter().copied().flatten().collect();
    let mut last = BTreeMap::new();
    for (position, instruction) in instructions.iter().enumerate() {
        written(instruction)
            .into_iter()
            .enumerate()
            .for_each(|(tensor, slot)| _ = last.insert(slot, (position, tensor)));
    }
    let mut stored = vec![Vec::new(); instructions.len()];
    for (id, tensor) in &program.tensors {
        let is_readable = program.graph.spec(*id).scalar_type == ScalarType::Float && tensor.row_scales.is_none();
        if let (true, Some((position, number))) = (is_readable, last.get(&tensor.buffer.0)) {
            stored[*position].push(Stored {
                value: program.graph.value(*id).name.clone(),
                tensor: *number,
                scalar_type: tensor.scalar_type,
                sizes: tensor.sizes.clone(),
                strides: tensor.strides.clone(),
                offset: tensor.offset,
                quantized: tensor.qparams.is_int8().then_some((tensor.qparams.scale, tensor.qparams.zero_point)),
            });
        }
    }
    stored
}

/// The slots that an instruction writes, in order.
fn written(instruction: &Instruction) -> Vec<u32> {
    let mut slots = Vec::new();
    instruction.visit_slots(&mut |slot, access| slots.extend((access == Access::Write).then_some(slot)));
    slots
}

/// The bytes of a thread's workspace.
pub fn workspace_size(program: &Program<'_>) -> usize {
    let size = |slot: SlotNumber| program.memory(slot).map_or(0, |memory| memory.size);
    let sizes = program.instructions.iter().flatten();
    sizes.map(|instruction| workspace(instruction, program.architecture, size)).max().unwrap_or(0)
}

fn bytes(header: Header, body: &[u32], constants: &Constants) -> Vec<u8> {
    let begin = 4 * (words(&header).len() + body.len());
    let begin = begin.next_multiple_of(ALIGNMENT);
    let mut bytes = little_endian(&words(&Header { constants: begin as u64, ..header }));
    bytes.extend(little_endian(body));
    bytes.resize(begin, 0);
    bytes.extend_from_slice(&constants.bytes);
    bytes
}

/// The scratch bytes of a call: scratch memory begins at any address, and is used from a cache line on.
const fn scratch(header: &Header) -> usize {
    match header.scratch as usize {
        0 => 0,
        size => size + ALIGNMENT,
    }
}

fn little_endian(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use et_record::{Record, Words};

    use super::*;

    #[test]
    fn an_instruction_reads_back() {
        let instruction = Instruction::Mean(et_cpu::Mean { sizes: [2, 3, 4], ..et_cpu::Mean::default() });
        let bytes: Vec<u8> = words(&instruction).iter().flat_map(|word| word.to_le_bytes()).collect();
        assert_eq!(Instruction::read(&mut Words::new(&bytes)), Some(instruction));
    }
}
