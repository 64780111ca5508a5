//! The legality rule of fusion.
//!
//! A consumer may do the work of a producer where
//!
//! 1. the producer is the only instruction that writes the buffer, and writes no other buffer,
//! 2. the consumer reads the whole buffer from the first to the last byte, in the order of the memory,
//! 3. no instruction between both writes memory that the producer reads, and
//! 4. no other instruction and no caller reads the buffer, so that the producer disappears.
//!
//! *Proof.* Lowering reads no memory before it is written. By 1 and 2 the producer therefore wrote every byte that the consumer
//! reads, so element `i` of the consumer's operand is element `i` of the producer's output: size and order agree, whatever shapes and
//! strides the graph gives both tensors, and elements of another dtype would have another size in bytes. By 3 the producer computes the same
//! elements at the position of the consumer. By 4 no reader observes the later computation or the missing buffer. Without 4 the
//! producer stays, and the consumer computes the elements again.

use et_cpu::{Access, Elementwise, Instruction, Place, QParams, SlotNumber, Stream};
use et_kernels::elementwise::Operation;

use crate::chain::{dense_in, numel};
use crate::program::{Program, Storage};

/// Contiguous elements that a consumer reads.
#[derive(Clone, Copy)]
pub struct Dense {
    place: Place,
    size: usize,
}

impl Dense {
    /// `count` f32 elements.
    pub const fn floats(place: Place, count: usize) -> Self {
        Self { place, size: count.saturating_mul(size_of::<f32>()) }
    }

    /// An operand of a chain that reads the elements in the order of the output; `None` for strided and broadcast operands.
    pub fn of_stream(chain: &Elementwise, stream: &Stream) -> Option<Self> {
        let width = if stream.qparams.is_int8() { 1 } else { size_of::<f32>() };
        let is_dense = stream.strides == dense_in(chain.sizes);
        is_dense.then(|| Self { place: stream.place, size: numel(chain).saturating_mul(width) })
    }
}

/// The producer that the consumer replaces, by the whole rule.
pub fn absorbed(program: &Program<'_>, consumer: usize, read: Dense) -> Option<(usize, Instruction)> {
    let slot = read.place.slot;
    let is_private = matches!(program.memory(slot)?.storage, Storage::Scratch);
    let found = recomputed(program, consumer, read)?;
    (is_private && program.only_reader(slot) == Some(consumer)).then_some(found)
}

/// The same for a consumer that reads the buffer with a single operand: with a second operand, such as a residual, the consumer would
/// read the buffer of a producer that disappeared.
pub fn absorbed_once(program: &Program<'_>, consumer: usize, read: Dense) -> Option<(usize, Instruction)> {
    let (mut reads, slot) = (0, read.place.slot);
    program.instruction(consumer)?.visit_slots(&mut |other, access| {
        reads += usize::from(access == Access::Read && SlotNumber(other) == slot);
    });
    absorbed(program, consumer, read).filter(|_| reads == 1)
}

/// The producer whose work the consumer does once more, by the rule without the single consumer.
pub fn recomputed(program: &Program<'_>, consumer: usize, read: Dense) -> Option<(usize, Instruction)> {
    let Place { slot, offset } = read.place;
    let position = program.only_writer(slot).filter(|position| *position < consumer)?;
    let producer = program.instruction(position)?;
    let is_whole = offset == 0 && program.memory(slot)?.size == read.size;
    let mut is_legal = is_whole;
    producer.visit_slots(&mut |other, access| {
        is_legal &= match access {
            Access::Read => !program.is_written_between(SlotNumber(other), position, consumer),
            Access::Write => SlotNumber(other) == slot,
        };
    });
    is_legal.then_some((position, producer))
}

/// The operand of a conversion from `from` to `to`, a chain of one copy; `None` for other instructions.
pub fn converted(instruction: &Instruction, is_int8: [bool; 2]) -> Option<(Elementwise, Stream)> {
    let Instruction::Elementwise(chain) = instruction else { return None };
    let [stream, ..] = chain.streams;
    let is_copy = [chain.stream_count, chain.step_count] == [1, 1] && chain.steps[0].operation.0 == Operation::Copy;
    let agrees = [stream.qparams, chain.qparams].map(|qparams: QParams| qparams.is_int8()) == is_int8;
    (is_copy && agrees).then_some((*chain, stream))
}

#[cfg(test)]
mod tests {
    use et_cpu::{Copy, Write};
    use etbuild_ir::Graph;

    use super::*;
    use crate::Architecture;

    const SIZE: usize = 16;

    /// A copy of four f32 elements.
    fn copy(from: u32, to: u32) -> Instruction {
        let place = |slot| Place { slot: SlotNumber(slot), offset: 0 };
        Copy { input: place(from), output: Write(place(to)), width: 4, ..Copy::default() }.into()
    }

    /// Whether the last copy may do the work of the first one. Buffers 0 to 3 are in the scratch arena; buffer 4 is an output.
    fn is_legal(copies: &[(u32, u32)]) -> bool {
        let graph = Graph::default();
        let mut program = Program::new(&graph, Architecture::Portable);
        let storages = [Storage::Scratch, Storage::Scratch, Storage::Scratch, Storage::Scratch, Storage::Output(0)];
        storages.into_iter().for_each(|storage| _ = program.buffer(storage, SIZE));
        copies.iter().for_each(|(from, to)| program.push(copy(*from, *to), 0));
        let read = |count| Dense::floats(Place { slot: SlotNumber(copies[0].1), offset: 0 }, count);
        let consumer = copies.len() - 1;
        assert!(absorbed(&program, consumer, read(3)).is_none(), "a part of the buffer");
        absorbed(&program, consumer, read(4)).is_some()
    }

    #[test]
    fn a_producer_with_one_consumer_is_absorbed() {
        assert!(is_legal(&[(0, 1), (1, 2)]));
        assert!(is_legal(&[(0, 1), (3, 4), (1, 2)]), "an instruction between both writes other memory");
    }

    #[test]
    fn a_producer_stays_where_its_output_is_read_elsewhere() {
        assert!(!is_legal(&[(0, 1), (1, 3), (1, 2)]), "another instruction reads the output");
        assert!(!is_legal(&[(0, 4), (4, 2)]), "the caller reads the output");
    }

    #[test]
    fn a_producer_stays_where_memory_is_written_in_between() {
        assert!(!is_legal(&[(0, 1), (3, 0), (1, 2)]), "the input of the producer is written");
        assert!(!is_legal(&[(0, 1), (3, 1), (1, 2)]), "the output of the producer is written");
    }
}
