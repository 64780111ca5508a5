//! Lowering of a partition with dynamic sizes: the partition is lowered at sample sizes, and the words of the blob that differ become
//! formulas of the sizes of the inputs.
//!
//! Lowering itself knows static sizes only. A partition whose programs differ in more than sizes, such as the number of instructions,
//! is refused.

mod fit;

use std::collections::BTreeSet;

use et_cpu::{Formula, Instruction, OutputShape, Quantity, Slot, Variable, Window};
use et_record::{Record, Words};
use etbuild_backend::Blob;
use etbuild_ir::{Graph, Links, TensorSpec, ValueId};

use crate::fuse::Fusions;
use crate::lower::compile;
use crate::memory::{lives, words};
use crate::program::{Program, Storage};
use crate::write::{self, DynamicSizes};
use crate::{Architecture, Problem};
use fit::{Fit, Series};

/// The blob of a partition for all sizes within `bounds`, from the partition at sample sizes. Fusions that pay at some of the
/// sizes only are left out.
pub fn blob(samples: &[Graph], bounds: &Graph, architecture: Architecture) -> Result<Blob, Problem> {
    let links: Vec<Links<'_>> = samples.iter().map(Links::of).collect();
    let compiled =
        |fusions| links.iter().map(|links| compile(links, architecture, fusions)).collect::<Result<Vec<_>, _>>();
    let mut programs = compiled(Fusions::All)?;
    if !are_alike(&programs) {
        programs = compiled(Fusions::AtAllSizes)?;
    }
    if !are_alike(&programs) {
        return Err(Problem::Sizes);
    }
    let dims = dynamic_dims(bounds);
    let mut fit = Fit::new(dims.iter().map(|dim| dim.of(samples)).collect());
    sizes(samples).into_iter().for_each(|series| fit.add(series));
    let calls: Vec<Vec<u32>> = programs.iter().map(call_words).collect::<Result<_, _>>()?;
    let formulas = formulas(&mut fit, &calls)?;
    let call = calls.first().ok_or(Problem::Sizes)?;
    let (program, others) = programs.split_first_mut().ok_or(Problem::Sizes)?;
    let at = |pick: fn(i64, i64) -> i64| {
        let variables: Vec<i64> = dims.iter().map(|dim| pick(dim.least, dim.most)).collect();
        Call::read(program, &words_at(&fit, call, &formulas, &variables)?)
    };
    let [least, usual, most] = [at(|least, _| least)?, at(i64::midpoint)?, at(|_, most| most)?];
    choose_algorithms(program, &least.instructions, &usual.instructions)?;
    let shapes = most.put(program);
    let workspace = others.iter_mut().map(|other| workspace_with(other, program)).max().unwrap_or(0);
    let (variables, quantities) = (fit.variables(), fit.quantities());
    Ok(write::blob(program, &DynamicSizes { shapes, variables, quantities, formulas, workspace }))
}

/// Packs the weights of convolutions for the algorithm that is the fastest for the smallest batch of images of a middle size.
fn choose_algorithms(program: &mut Program<'_>, least: &[Instruction], usual: &[Instruction]) -> Result<(), Problem> {
    for pair in least.iter().zip(usual) {
        let (Instruction::Conv2d(least), Instruction::Conv2d(usual)) = pair else { continue };
        let Some(buffer) = program.buffers.get_mut(usual.weights.slot.0 as usize) else { continue };
        if let Storage::Packed(packing) = &mut buffer.storage {
            packing.window = Window { batch: least.window.batch, ..usual.window };
            buffer.size = packing.size(program.architecture)?;
        }
    }
    Ok(())
}

/// The workspace of a program with the packed weights of another.
fn workspace_with(program: &mut Program<'_>, weights: &Program<'_>) -> usize {
    for (buffer, packed) in program.buffers.iter_mut().zip(&weights.buffers) {
        if matches!(packed.storage, Storage::Packed(_)) {
            buffer.size = packed.size;
        }
    }
    write::workspace_size(program)
}

/// Whether the programs differ in sizes only.
fn are_alike(programs: &[Program<'_>]) -> bool {
    programs.split_first().is_some_and(|(first, others)| others.iter().all(|other| is_alike(first, other)))
}

/// Whether two programs have the same kinds of instructions and buffers.
fn is_alike(one: &Program<'_>, other: &Program<'_>) -> bool {
    let kind = |instruction: &Option<Instruction>| instruction.as_ref().map(std::mem::discriminant);
    let mut buffers = one.buffers.iter().zip(&other.buffers);
    one.buffers.len() == other.buffers.len()
        && one.instructions.iter().map(kind).eq(other.instructions.iter().map(kind))
        && buffers.all(|(one, other)| stores_the_same(&one.storage, &other.storage))
}

fn stores_the_same(one: &Storage, other: &Storage) -> bool {
    match (one, other) {
        (Storage::Input(one), Storage::Input(other)) | (Storage::Output(one), Storage::Output(other)) => one == other,
        (Storage::Scratch, Storage::Scratch) => true,
        (Storage::Model(one), Storage::Model(other)) => one.digest() == other.digest(),
        (Storage::Made(one), Storage::Made(other)) => one == other,
        (Storage::Packed(one), Storage::Packed(other)) => {
            one.weights.digest() == other.weights.digest() && one.form == other.form && one.adapter == other.adapter
        }
        _ => false,
    }
}

/// A dynamic size of an input, with its limits.
struct DynamicDim {
    variable: Variable,
    least: i64,
    most: i64,
}

impl DynamicDim {
    /// The variable with its values in the samples.
    fn of(&self, samples: &[Graph]) -> (Variable, Series) {
        let Variable { input, dim } = self.variable;
        let in_sample =
            |sample: &Graph| size(sample.inputs.get(input as usize).map(|id| sample.spec(*id)), dim as usize);
        (self.variable, samples.iter().map(in_sample).collect())
    }
}

/// The dynamic sizes of the inputs. A call takes no numbers.
fn dynamic_dims(bounds: &Graph) -> Vec<DynamicDim> {
    let inputs = bounds.inputs.iter().filter(|id| bounds.number(**id).is_none()).map(|id| bounds.spec(*id));
    let dims = (0..).zip(inputs).flat_map(|(input, spec)| {
        spec.dynamic_dims().map(move |dim| DynamicDim {
            variable: Variable { input, dim: dim as u32 },
            least: i64::from(spec.least[dim]),
            most: i64::from(spec.sizes[dim]),
        })
    });
    dims.collect()
}

fn size(spec: Option<&TensorSpec>, dim: usize) -> i64 {
    spec.and_then(|spec| spec.sizes.get(dim)).map_or(0, |size| i64::from(*size))
}

/// Every size of every tensor.
fn sizes(samples: &[Graph]) -> BTreeSet<Series> {
    let values = samples.first().map_or(&[][..], |sample| &sample.values);
    let dims = values.iter().enumerate().flat_map(|(value, of)| (0..of.spec.rank()).map(move |dim| (value, dim)));
    let series = |(value, dim): (usize, usize)| {
        samples.iter().map(|sample| size(sample.values.get(value).map(|value| &value.spec), dim)).collect()
    };
    dims.map(series).collect()
}

/// The words of a call: the sizes of slots, the instructions, and the shapes of the outputs.
fn call_words(program: &Program<'_>) -> Result<Vec<u32>, Problem> {
    let instructions: Vec<Instruction> = program.instructions.iter().copied().flatten().collect();
    let lives = lives(program.buffers.len(), &instructions);
    let mut all = Vec::new();
    for (memory, life) in program.buffers.iter().zip(&lives) {
        // The size of packed weights depends on the algorithm, which is chosen at the end.
        let is_known = life.is_some() && !matches!(memory.storage, Storage::Packed(_));
        let size = if is_known { memory.size } else { 0 };
        let size = u32::try_from(size).map_err(|_| Problem::Large)?;
        all.extend(words(&Slot { size: u64::from(size), ..Slot::default() }));
    }
    all.extend(instructions.iter().flat_map(words));
    all.extend(shapes(program).iter().flat_map(words));
    Ok(all)
}

fn shapes(program: &Program<'_>) -> Vec<OutputShape> {
    let shape = |id: &ValueId| {
        let sizes = &program.graph.spec(*id).sizes;
        let mut shape = OutputShape { rank: sizes.len() as u32, ..OutputShape::default() };
        shape.sizes.iter_mut().zip(sizes).for_each(|(to, size)| *to = size.cast_unsigned());
        shape
    };
    program.graph.outputs.iter().map(shape).collect()
}

/// The formulas of the words that differ between samples.
fn formulas(fit: &mut Fit, calls: &[Vec<u32>]) -> Result<Vec<Formula>, Problem> {
    let count = calls.first().map_or(0, Vec::len);
    if calls.iter().any(|call| call.len() != count) {
        return Err(Problem::Sizes);
    }
    let series = |word: usize| calls.iter().map(|call| i64::from(call[word])).collect::<Series>();
    let differing = (0..count).filter(|word| calls.iter().any(|call| call[*word] != calls[0][*word]));
    differing.map(|word| fit.formula(word as u32, series(word)).ok_or(Problem::Sizes)).collect()
}

/// What the words of a call say.
struct Call {
    slots: Vec<Slot>,
    instructions: Vec<Instruction>,
    shapes: Vec<OutputShape>,
}

impl Call {
    /// Reads the words of a program's call.
    fn read(program: &Program<'_>, call: &[u32]) -> Result<Self, Problem> {
        let bytes: Vec<u8> = call.iter().flat_map(|word| word.to_le_bytes()).collect();
        let mut words = Words::new(&bytes);
        Ok(Self {
            slots: records(&mut words, program.buffers.len())?,
            instructions: records(&mut words, program.instructions.iter().flatten().count())?,
            shapes: records(&mut words, program.graph.outputs.len())?,
        })
    }

    /// Gives the program the sizes and instructions. Returns the shapes of the outputs.
    fn put(self, program: &mut Program<'_>) -> Vec<OutputShape> {
        for (memory, slot) in program.buffers.iter_mut().zip(self.slots).filter(|(_, slot)| slot.size > 0) {
            memory.size = slot.size as usize;
        }
        let instructions = program.instructions.iter_mut().flatten();
        instructions.zip(self.instructions).for_each(|(instruction, read)| *instruction = read);
        self.shapes
    }
}

fn records<T: Record>(words: &mut Words<'_>, count: usize) -> Result<Vec<T>, Problem> {
    (0..count).map(|_| T::read(words).ok_or(Problem::Sizes)).collect()
}

/// The words of a call for these values of the variables.
fn words_at(fit: &Fit, call: &[u32], formulas: &[Formula], variables: &[i64]) -> Result<Vec<u32>, Problem> {
    let value = |quantity: &Quantity| quantity.value(|index| variables.get(index as usize).copied());
    let values: Vec<i64> = fit.quantities().iter().map(value).collect::<Option<_>>().ok_or(Problem::Large)?;
    let mut call = call.to_vec();
    for formula in formulas {
        let value = formula.value(&values).ok_or(Problem::Large)?;
        *call.get_mut(formula.word as usize).ok_or(Problem::Sizes)? = value;
    }
    Ok(call)
}
