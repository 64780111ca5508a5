//! The kernels of a blob: their checks, and the choice between a kernel and its alternative.

use et_core::Error;

use crate::blob::{Blob, Kernel, Language, Object};
use crate::descriptor::Descriptor;
use crate::limits::Limits;
use crate::msl::MetalKernel;
use crate::problem::{Outcome, Problem, within};
use crate::spirv;
use crate::step::Step;
use crate::wgsl;

/// A kernel with its bindings.
#[derive(Debug)]
pub struct Module {
    /// The module in the language of the driver.
    pub words: Vec<u32>,
    /// The bindings of the one set.
    pub descriptors: Vec<Descriptor>,
    /// The kernel exchanges values in subgroups of this many invocations; 0 for none.
    pub subgroup: u32,
    /// The size of a workgroup.
    pub workgroup: [u32; 3],
}

/// A checked kernel, and whether the device can execute the kernel.
struct Checked {
    module: Module,
    runs: Outcome<()>,
}

/// Checks the kernels, chooses the kernel of each step for the device, and returns the modules of the chosen kernels.
pub fn modules(blob: &Blob<'_>, objects: &[Object], steps: &mut [Step], limits: &Limits) -> Outcome<Vec<Module>> {
    let mut rest = blob.words;
    let words: Vec<u32> = core::iter::from_fn(|| rest.word()).collect();
    let kernels: Vec<Kernel> = blob.kernels.all("a kernel")?;
    check_order(&kernels, words.len())?;
    for (index, kernel) in kernels.iter().enumerate() {
        check_alternative(index, kernel, &kernels).map_err(within("kernel", index))?;
    }
    let (descriptors, language) = (descriptors(&kernels, objects, steps)?, blob.header.language);
    let check = |(index, (kernel, descriptors)): (usize, (&Kernel, Option<Vec<Descriptor>>))| {
        check(kernel, descriptors, &words, language, limits).map_err(within("kernel", index))
    };
    let checked: Outcome<Vec<Checked>> = kernels.iter().zip(descriptors).enumerate().map(check).collect();
    choose(&kernels, checked?, steps)
}

/// Checks that every module begins at the end of the previous module, so that no module is cut off.
fn check_order(kernels: &[Kernel], words: usize) -> Outcome<()> {
    let mut end = 0_u64;
    for kernel in kernels {
        if u64::from(kernel.start) != end {
            return Err(Problem::blob("the kernels of the GPU program do not follow each other"));
        }
        end += u64::from(kernel.words);
    }
    if end != words as u64 {
        return Err(Problem::blob("the kernels of the GPU program have other words"));
    }
    Ok(())
}

/// Checks that an alternative runs with any subgroups, so that it needs no alternative.
fn check_alternative(index: usize, kernel: &Kernel, kernels: &[Kernel]) -> Outcome<()> {
    let other = kernels.get(kernel.otherwise as usize);
    let other = other.ok_or_else(|| Problem::blob("the alternative does not exist"))?;
    match kernel.otherwise as usize == index {
        true => Ok(()),
        false if kernel.subgroup == 0 => Err(Problem::blob("a kernel without subgroups has an alternative")),
        false if other.subgroup != 0 => Err(Problem::blob("the alternative has subgroups")),
        false => Ok(()),
    }
}

/// The bindings of each kernel: the bindings of the steps that execute the kernel, also as an alternative.
fn descriptors(kernels: &[Kernel], objects: &[Object], steps: &[Step]) -> Outcome<Vec<Option<Vec<Descriptor>>>> {
    let mut all: Vec<Option<Vec<Descriptor>>> = vec![None; kernels.len()];
    for step in steps {
        let kind =
            |(object, writes): &(usize, bool)| objects.get(*object).map(|object| Descriptor::of(object.kind, *writes));
        let kinds: Option<Vec<_>> = step.bindings.iter().map(kind).collect();
        let kinds = kinds.ok_or_else(|| Problem::blob("an object does not exist"))?;
        let otherwise = kernels.get(step.kernel).map_or(step.kernel, |kernel| kernel.otherwise as usize);
        for index in [step.kernel, otherwise] {
            let known = all.get_mut(index).ok_or_else(|| Problem::blob("the kernel does not exist"))?;
            if known.get_or_insert_with(|| kinds.clone()) != &kinds {
                return Err(Problem::blob(format!("kernel {index} of the GPU program has bindings of two kinds")));
            }
        }
    }
    Ok(all)
}

fn check(
    kernel: &Kernel,
    descriptors: Option<Vec<Descriptor>>,
    words: &[u32],
    language: Language,
    limits: &Limits,
) -> Outcome<Checked> {
    let start = kernel.start as usize;
    let words = words.get(start..start.saturating_add(kernel.words as usize));
    let words = words.ok_or_else(|| Problem::blob("the words do not exist"))?;
    let descriptors = descriptors.ok_or_else(|| Problem::blob("no dispatch executes the kernel"))?;
    let subgroup = kernel.subgroup;
    let fits = check_counts(&descriptors, limits);
    let (workgroup, runs) = match language {
        Language::Spirv => {
            let requirements = spirv::read(words, &descriptors)?;
            (requirements.workgroup, fits.and_then(|()| requirements.check(subgroup, limits)))
        }
        Language::Wgsl => (wgsl::read(words, &descriptors)?, fits),
        Language::Msl => {
            let kernel = MetalKernel::read(words)?;
            kernel.check_bindings(&descriptors)?;
            (kernel.head.workgroup, fits.and_then(|()| kernel.check(subgroup, limits)))
        }
    };
    Ok(Checked { module: Module { words: words.to_vec(), descriptors, subgroup, workgroup }, runs })
}

fn check_counts(descriptors: &[Descriptor], limits: &Limits) -> Outcome<()> {
    let count = |is: fn(&&Descriptor) -> bool| descriptors.iter().filter(is).count();
    let counts = [
        (count(|descriptor| matches!(descriptor, Descriptor::Buffer)), limits.storage_buffers),
        (count(|descriptor| matches!(descriptor, Descriptor::Sampled { .. })), limits.sampled_images),
        (count(|descriptor| matches!(descriptor, Descriptor::Storage { .. })), limits.storage_images),
        (descriptors.len(), limits.bindings),
    ];
    if counts.iter().any(|(count, most)| *count > *most as usize) {
        return Err(Problem::unsupported(format!("there are too many bindings for the GPU ({})", limits.name)));
    }
    Ok(())
}

/// Chooses the kernel of each step, and returns the modules of the chosen kernels.
fn choose(kernels: &[Kernel], checked: Vec<Checked>, steps: &mut [Step]) -> Outcome<Vec<Module>> {
    let mut numbers: Vec<Option<usize>> = vec![None; kernels.len()];
    let mut count = 0;
    for step in steps {
        if let Some((kernel, Checked { runs: Err(_), .. })) = kernels.get(step.kernel).zip(checked.get(step.kernel)) {
            step.kernel = kernel.otherwise as usize;
        }
        let chosen = checked.get(step.kernel).zip(numbers.get_mut(step.kernel));
        let (chosen, number) = chosen.ok_or(Error::Internal)?;
        chosen.runs.clone().map_err(within("kernel", step.kernel))?;
        step.module = *number.get_or_insert_with(|| {
            count += 1;
            count - 1
        });
    }
    let numbered = checked.into_iter().zip(numbers);
    let mut chosen: Vec<_> = numbered.filter_map(|(checked, number)| Some((number?, checked.module))).collect();
    chosen.sort_by_key(|(number, _)| *number);
    Ok(chosen.into_iter().map(|(_, module)| module).collect())
}
