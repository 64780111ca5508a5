//! A method: interface, calls, memory.

use std::collections::BTreeMap;

use et_core::{Error, Result};
use et_format::{BackendDelegate, ExecutionPlan, Instruction, Kind, ProgramFile};
use serde::Serialize;

use super::body::{self, operator_names};
use super::constant::{Constant, Source};
use super::tensor::TensorType;

/// How many tensors are listed by size.
const LARGEST: usize = 10;

/// A method, described.
#[derive(Serialize)]
pub struct Method {
    /// The name.
    pub name: String,
    /// The inputs.
    pub inputs: Vec<Slot>,
    /// The outputs.
    pub outputs: Vec<Slot>,
    /// Entries of the value table.
    pub values: usize,
    /// Instructions of each kind.
    pub instructions: BTreeMap<&'static str, usize>,
    /// Kernel calls of each operator.
    pub operators: BTreeMap<String, usize>,
    /// Parts that backends execute.
    pub delegates: Vec<Delegate>,
    /// Bytes of each arena; the first belongs to memory id 1.
    pub arenas: Vec<u64>,
    /// Tensors that keep their elements from one execution to the next.
    pub state: Vec<Slot>,
    /// The largest tensors, largest first.
    pub largest: Vec<Slot>,
    /// A digest of all instructions and of the values that the instructions use.
    pub body: String,
}

/// A value of a method.
#[derive(Clone, Serialize)]
pub struct Slot {
    /// The name, where the file holds the name.
    pub name: Option<String>,
    /// The type in words, such as `float32[1, 10]`, or the kind of a value other than a tensor.
    pub r#type: String,
    /// `planned`, `constant`, `state`, `external`, `caller` (memory that the caller provides) or `number`.
    pub place: &'static str,
    /// The same of a tensor as plain data.
    pub tensor: Option<TensorType>,
}

/// A partition that a delegate executes.
#[derive(Serialize)]
pub struct Delegate {
    /// The delegate's id.
    pub name: String,
    /// Bytes of the blob.
    pub size: usize,
    /// The number of calls.
    pub calls: usize,
    /// The compile options, by name.
    pub options: Vec<String>,
}

impl Method {
    /// Describes a method whose inputs have these names, where known.
    pub fn of(
        file: &ProgramFile<'_>,
        plan: ExecutionPlan<'_>,
        constants: &BTreeMap<Source, Constant>,
        input_names: &[&str],
    ) -> Result<Self> {
        let slots: Vec<Slot> = (0..plan.values()?.len()).map(|index| slot(plan, index)).collect::<Result<_>>()?;
        let pick = |index: i32| slots.get(usize::try_from(index).ok()?).cloned();
        let pick = |index: i32| pick(index).ok_or(Error::InvalidProgram);
        let mut inputs: Vec<Slot> = plan.inputs()?.iter().map(pick).collect::<Result<_>>()?;
        inputs.iter_mut().zip(input_names).for_each(|(slot, name)| slot.name = Some((*name).to_owned()));
        let calls = Calls::of(plan)?;
        Ok(Self {
            name: plan.name()?.to_owned(),
            inputs,
            outputs: plan.outputs()?.iter().map(pick).collect::<Result<_>>()?,
            values: slots.len(),
            delegates: plan
                .delegates()?
                .iter()
                .zip(0..)
                .map(|(delegate, index)| of_delegate(file, delegate?, calls.delegates.get(&index)))
                .collect::<Result<_>>()?,
            instructions: calls.instructions,
            operators: calls.operators,
            arenas: plan.arena_sizes()?.iter().skip(1).map(i64::cast_unsigned).collect(),
            state: slots.iter().filter(|slot| slot.place == "state").cloned().collect(),
            body: body::digest(plan, constants)?,
            largest: largest(slots),
        })
    }
}

fn slot(plan: ExecutionPlan<'_>, index: usize) -> Result<Slot> {
    let kind = plan.value(index)?.kind()?;
    if kind != Kind::Tensor {
        return Ok(Slot { name: None, r#type: format!("{kind:?}").to_lowercase(), place: "number", tensor: None });
    }
    let tensor = plan.tensor(index)?;
    let tensor_type = TensorType::of(tensor)?;
    let name = tensor.extra()?.map(|extra| extra.fully_qualified_name()).transpose()?;
    let name = name.filter(|name| !name.is_empty()).map(str::to_owned);
    let place = match Source::of(tensor)? {
        Some(Source::Constant(_)) => "constant",
        Some(Source::Initial(_)) => "state",
        Some(Source::External(_)) => "external",
        // State whose first values are no bytes of the file, such as state that another method writes first.
        None if tensor.allocation()?.is_some() && name.is_some() => "state",
        None if tensor.allocation()?.is_some() => "planned",
        None => "caller",
    };
    Ok(Slot { name, r#type: tensor_type.to_string(), place, tensor: Some(tensor_type) })
}

fn of_delegate(file: &ProgramFile<'_>, delegate: BackendDelegate<'_>, calls: Option<&usize>) -> Result<Delegate> {
    let options = delegate.compile_specs()?;
    Ok(Delegate {
        name: delegate.id()?.to_owned(),
        size: file.delegate_blob(delegate)?.len(),
        calls: calls.copied().unwrap_or(0),
        options: options.iter().map(|option| Ok(option?.key()?.to_owned())).collect::<Result<_>>()?,
    })
}

/// The largest tensors; of equal size, in the order of the value table.
fn largest(mut slots: Vec<Slot>) -> Vec<Slot> {
    slots.retain(|slot| slot.tensor.is_some());
    slots.sort_by_key(|slot| std::cmp::Reverse(slot.tensor.as_ref().map(|tensor| tensor.size)));
    slots.truncate(LARGEST);
    slots
}

/// The number of calls by callee.
#[derive(Default)]
struct Calls {
    instructions: BTreeMap<&'static str, usize>,
    operators: BTreeMap<String, usize>,
    delegates: BTreeMap<u32, usize>,
}

impl Calls {
    fn of(plan: ExecutionPlan<'_>) -> Result<Self> {
        let names = operator_names(plan)?;
        let mut calls = Self::default();
        for chain in plan.chains()?.iter() {
            let chain = chain?;
            for index in 0..chain.instruction_count()? {
                calls.count(chain.instruction(index)?, &names)?;
            }
        }
        Ok(calls)
    }

    fn count(&mut self, instruction: Instruction<'_>, names: &[String]) -> Result<()> {
        let kind = match instruction {
            Instruction::KernelCall { operator, .. } => {
                let name = names.get(operator as usize).ok_or(Error::InvalidProgram)?;
                *self.operators.entry(name.clone()).or_insert(0) += 1;
                "kernel calls"
            }
            Instruction::DelegateCall { delegate, .. } => {
                *self.delegates.entry(delegate).or_insert(0) += 1;
                "delegate calls"
            }
            Instruction::MoveCall { .. } => "moves",
            Instruction::JumpFalseCall { .. } => "jumps",
            Instruction::FreeCall { .. } => "frees",
        };
        *self.instructions.entry(kind).or_insert(0) += 1;
        Ok(())
    }
}
