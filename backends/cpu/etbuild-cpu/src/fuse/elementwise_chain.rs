//! Chains of element-wise operators become one chain.

use et_cpu::{Elementwise, Instruction, Step, Term};

use super::Change;
use super::legal::{Dense, absorbed};
use crate::chain::dense_in;
use crate::program::Program;

/// Fuses the producer of an operand of a chain; the first operand first.
pub fn find(program: &mut Program<'_>, consumer: usize) -> Option<Change> {
    let Instruction::Elementwise(last) = program.instruction(consumer)? else { return None };
    let streams = last.streams.iter().take(last.stream_count as usize);
    streams.filter_map(|stream| Dense::of_stream(&last, stream)).find_map(|read| {
        let (producer, instruction) = absorbed(program, consumer, read)?;
        let Instruction::Elementwise(first) = instruction else { return None };
        Some(Change::fuse(producer, joined(&first, &last)?))
    })
}

/// The fused chain of two chains; the second reads the output of the first with equal strides.
fn joined(first: &Elementwise, last: &Elementwise) -> Option<Elementwise> {
    if first.qparams.is_int8() {
        return None;
    }
    let mut chain = in_loops(first, last.sizes)?;
    let mut registers = Vec::new();
    let own_steps = first.step_count as usize;
    let own_streams = first.stream_count as usize;
    let mut streams: Vec<_> = chain.streams[..own_streams].to_vec();
    for stream in &last.streams[..last.stream_count as usize] {
        let is_result = stream.place.slot == first.output.slot;
        if is_result && stream.strides != dense_in(last.sizes) {
            return None;
        }
        registers.push(if is_result { None } else { Some(streams.len()) });
        if !is_result {
            streams.push(*stream);
        }
    }
    let shift = streams.len() - own_streams;
    let steps = own_steps + last.step_count as usize;
    if streams.len() > chain.streams.len() || steps > chain.steps.len() {
        return None;
    }
    let result = streams.len() + own_steps - 1;
    let moved = |step: &Step| moved(step, |register| if register < own_streams { register } else { register + shift });
    let mut made: Vec<Step> = first.steps[..own_steps].iter().map(moved).collect();
    let of_last = |register: usize| match registers.get(register) {
        Some(Some(stream)) => *stream,
        Some(None) => result,
        None => register - registers.len() + result + 1,
    };
    made.extend(last.steps[..last.step_count as usize].iter().map(|step| self::moved(step, of_last)));
    chain.streams[..streams.len()].copy_from_slice(&streams);
    chain.steps[..steps].copy_from_slice(&made);
    (chain.stream_count, chain.step_count) = (streams.len() as u32, steps as u32);
    (chain.output, chain.qparams) = (last.output, last.qparams);
    Some(chain)
}

fn moved(step: &Step, to: impl Fn(usize) -> usize) -> Step {
    let term = |term: Term| if term.kind == 0 { Term::register(to(term.bits as usize)) } else { term };
    Step { terms: step.terms.map(term), ..*step }
}

/// The chain in a loop nest of these sizes, if the strides of the operands allow the nest.
fn in_loops(chain: &Elementwise, sizes: [u32; 4]) -> Option<Elementwise> {
    if chain.sizes == sizes {
        return Some(*chain);
    }
    let own = dense_in(chain.sizes);
    let streams = chain.streams.iter().take(chain.stream_count as usize);
    let is_dense = streams.clone().all(|stream| stream.strides == own);
    let mut other = Elementwise { sizes, ..*chain };
    for stream in other.streams.iter_mut().take(chain.stream_count as usize) {
        stream.strides = dense_in(sizes);
    }
    is_dense.then_some(other)
}
