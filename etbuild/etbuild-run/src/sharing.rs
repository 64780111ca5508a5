//! Which methods of a program have state in common.

use std::ops::Range;

use et_core::Result;
use et_format::{ExecutionPlan, Kind, Tensor, View};
use et_runtime::Program;

/// The arena of the state, counted from 1.
const STATE: u32 = 1;

/// The names of the methods with state in common with the method `name`, itself among them, in the order of the file: their first arenas
/// have one size, and contain state alone. Empty for a method without state, such as a constant method.
pub fn sharing(program: &Program<'_>, name: &str) -> Result<Vec<String>> {
    let mut found: Vec<(String, usize)> = Vec::new();
    for index in 0..program.method_count()? {
        let method = program.method_at(index)?;
        let plan = method.plan();
        // Beside arenas of their own, methods of other exporters may have state without names in the first arena.
        if has_state_alone(plan)? || (method.arena_count()? > 1 && method.arena_size(0)? > 0) {
            found.push((plan.name()?.to_owned(), method.arena_size(0)?));
        }
    }
    let size = found.iter().find(|(sharer, _)| sharer == name).map(|(_, size)| *size);
    found.retain(|(_, other)| Some(*other) == size);
    Ok(found.into_iter().map(|(name, _)| name).collect())
}

/// Whether the first arena contains named tensors and nothing else: results of operators may lie in their memory.
fn has_state_alone(plan: ExecutionPlan<'_>) -> Result<bool> {
    let (mut state, mut others): (Vec<Range<u64>>, Vec<Range<u64>>) = (Vec::new(), Vec::new());
    for value in plan.values()?.iter() {
        let value = value?;
        if value.kind()? != Kind::Tensor {
            continue;
        }
        let tensor = Tensor::of(value.content()?);
        if let Some(place) = tensor.allocation()?.filter(|place| place.memory_id == STATE) {
            let range = place.offset..place.offset.saturating_add(nbytes(tensor)?);
            if tensor.extra()?.is_some() { state.push(range) } else { others.push(range) }
        }
    }
    let is_in_state = |other: &Range<u64>| state.iter().any(|one| one.start <= other.start && other.end <= one.end);
    Ok(!state.is_empty() && others.iter().all(is_in_state))
}

/// The bytes of the largest tensor.
fn nbytes(tensor: Tensor<'_>) -> Result<u64> {
    let size = tensor.scalar_type()?.size() as u64;
    let sizes = tensor.sizes()?;
    Ok(sizes.iter().fold(size, |count, size| count.saturating_mul(u64::try_from(size).unwrap_or(0))))
}
