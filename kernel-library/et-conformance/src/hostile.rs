//! Calls with arguments that no compiler makes: those of a case, changed. Program files come from anywhere, so a kernel answers each call
//! with outputs or an error, and neither panics nor reads beyond a tensor.

use et_core::{DimOrder, ScalarType, Shape};
use et_ops::call::{Argument, OwnedTensor, call_ordered, infer};
use et_ops::{Meta, OPERATORS, Operator};

use crate::convert::{Owned, owned_arguments};
use crate::order::{borrow_ordered, reversed};

/// The most elements of a tensor, so that a call ends soon.
const MOST: usize = 1 << 12;

/// The most changes of a call.
const CHANGES: usize = 6;

/// Integers near the ends of the types of sizes and indices.
const INTEGERS: [i64; 8] =
    [i64::MIN, i64::MAX, i32::MIN as i64, i32::MAX as i64, -1, 0, 1 << 32, 9_007_199_254_740_993];

const REALS: [f64; 6] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -1.0, 1e300];

/// Calls the operator with the arguments of the case that the first bytes choose, with the changes that the others choose. Returns the
/// operator's name, and whether the call gave outputs.
pub fn call_changed(bytes: &[u8]) -> Option<(&'static str, bool)> {
    let mut bytes = Bytes(bytes);
    let operator = OPERATORS.get(usize::from(u16::from_le_bytes([bytes.next()?, bytes.next()?])) % OPERATORS.len())?;
    let case = operator.cases.get(usize::from(bytes.next()?) % operator.cases.len().max(1))?;
    let mut arguments = owned_arguments(case.arguments);
    let mut outs = Vec::new();
    for _ in 0..CHANGES {
        let Some(position) = bytes.next() else { break };
        let position = usize::from(position) % (arguments.len() + 1);
        match arguments.get_mut(position) {
            Some(Owned::Tensor(_)) if bytes.chance(16) => arguments[position] = Owned::Plain(Argument::None),
            Some(Owned::Tensor(tensor)) => bytes.change_tensor(tensor),
            Some(Owned::Tensors(tensors)) => bytes.change_tensors(tensors),
            Some(Owned::Plain(argument)) => bytes.change_plain(argument),
            None => outs.push([bytes.number(), bytes.number()]),
        }
    }
    let order = if bytes.chance(4) { reversed } else { DimOrder::contiguous };
    let borrowed: Vec<Argument<'_>> = arguments.iter().map(|argument| borrow_ordered(argument, order)).collect();
    Some((operator.name(), call(operator, &borrowed, &outs, order)))
}

/// Whether a call gives outputs, of the rule's types and shapes with these changes.
fn call(operator: &Operator, arguments: &[Argument<'_>], outs: &[[u8; 2]], order: fn(usize) -> DimOrder) -> bool {
    let count = operator.outs().count().unwrap_or(2);
    let Ok(mut metas) = infer(operator, arguments, &vec![None; count]) else { return false };
    for [output, change] in outs {
        let index = usize::from(*output) % metas.len().max(1);
        let Some(meta) = metas.get_mut(index) else { break };
        match meta.shape.sizes_mut().get_mut(usize::from(*change) % 8) {
            Some(size) => *size = i32::from(*output % 5),
            None => meta.scalar_type = ScalarType::ALL[usize::from(*change) % ScalarType::ALL.len()],
        }
    }
    let is_small = |meta: &Meta| meta.shape.numel().is_ok_and(|count| count <= 16 * MOST);
    metas.iter().all(is_small) && call_ordered(operator, operator.kernel, arguments, &metas, order).is_ok()
}

/// Bytes that choose.
struct Bytes<'b>(&'b [u8]);

impl Bytes<'_> {
    fn next(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn number(&mut self) -> u8 {
        self.next().unwrap_or(0)
    }

    /// True once in `of`, and never at the end.
    fn chance(&mut self, of: u8) -> bool {
        self.number() % of == 1
    }

    fn integer(&mut self) -> i64 {
        match self.number() {
            small @ 0..192 => i64::from(small as i8 % 8),
            large => INTEGERS[usize::from(large) % INTEGERS.len()],
        }
    }

    fn real(&mut self) -> f64 {
        match self.number() {
            small @ 0..128 => f64::from(small) / 8.0 - 4.0,
            other => REALS[usize::from(other) % REALS.len()],
        }
    }

    fn change_tensor(&mut self, tensor: &mut OwnedTensor) {
        let (old, seed) = (tensor.clone(), self.number());
        match self.number() % 6 {
            0 => tensor.sizes.push(i32::from(seed % 4)),
            1 => drop(tensor.sizes.pop()),
            2 => tensor.scalar_type = ScalarType::ALL[usize::from(seed) % ScalarType::ALL.len()],
            3 => tensor.bytes.iter_mut().for_each(|byte| *byte = seed),
            4 => {
                let place = usize::from(self.number()) % tensor.bytes.len().max(1);
                tensor.bytes.get_mut(place).into_iter().for_each(|byte| *byte = seed);
            }
            _ => {
                let dim = usize::from(self.number()) % tensor.sizes.len().max(1);
                tensor.sizes.get_mut(dim).into_iter().for_each(|size| *size = i32::from(seed % 9));
            }
        }
        let count = Shape::new(&tensor.sizes).and_then(|shape| shape.numel()).unwrap_or(usize::MAX);
        if count > MOST {
            *tensor = old;
            return;
        }
        let source = if tensor.bytes.is_empty() { vec![seed] } else { std::mem::take(&mut tensor.bytes) };
        tensor.bytes = source.into_iter().cycle().take(count * tensor.scalar_type.size()).collect();
        if tensor.scalar_type == ScalarType::Bool {
            // The reader of program files lets no other bytes be booleans.
            tensor.bytes.iter_mut().for_each(|byte| *byte &= 1);
        }
    }

    fn change_tensors(&mut self, tensors: &mut Vec<Option<OwnedTensor>>) {
        let place = usize::from(self.number()) % tensors.len().max(1);
        match self.number() % 8 {
            0 => drop(tensors.pop()),
            1 => tensors.extend(tensors.first().cloned()),
            2 => tensors.get_mut(place).into_iter().for_each(|tensor| *tensor = None),
            _ => tensors.get_mut(place).into_iter().flatten().for_each(|tensor| self.change_tensor(tensor)),
        }
    }

    fn change_plain(&mut self, argument: &mut Argument<'static>) {
        match argument {
            Argument::Int(number) => *number = self.integer(),
            Argument::Bool(value) => *value = !*value,
            Argument::Double(number) => *number = self.real(),
            Argument::Ints(numbers) => match self.number() % 4 {
                0 => drop(numbers.pop()),
                1 => numbers.push(self.integer()),
                _ => {
                    let place = usize::from(self.number()) % numbers.len().max(1);
                    let integer = self.integer();
                    numbers.get_mut(place).into_iter().for_each(|number| *number = integer);
                }
            },
            Argument::Doubles(numbers) => numbers.push(self.real()),
            Argument::Bools(values) => values.push(self.chance(2)),
            Argument::None => *argument = Argument::Int(self.integer()),
            _ => *argument = Argument::None,
        }
    }
}
