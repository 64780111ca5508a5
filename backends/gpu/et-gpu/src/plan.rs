//! A checked blob: every number is in range, and the device can execute the kernels.

use et_core::Error;

use crate::blob::{Binding, Blob, Dispatch, Kind, Language, Needs, Object, Role};
use crate::kernels::{Module, modules};
use crate::limits::Limits;
use crate::problem::{Outcome, Problem, within};
use crate::step::Step;

/// A checked blob.
#[derive(Debug)]
pub struct Plan {
    /// Arguments of the delegate call.
    pub arguments: usize,
    /// The outputs among the arguments: the last ones.
    pub outputs: usize,
    /// The objects.
    pub objects: Vec<Object>,
    /// The kernels that the device executes.
    pub modules: Vec<Module>,
    /// The dispatches in order.
    pub steps: Vec<Step>,
}

impl Plan {
    /// Checks a blob for a device.
    ///
    /// # Errors
    /// [`Error::InvalidProgram`] for a malformed blob, [`Error::NotSupported`] where the device lacks something.
    pub fn read(bytes: &[u8], limits: &Limits) -> Outcome<Self> {
        let blob = Blob::read(bytes).map_err(|error| match error {
            Error::DelegateInvalidCompatibility => Problem::new(error, "the GPU program is of another version"),
            _ => Problem::new(error, "the GPU program is damaged"),
        })?;
        let (arguments, outputs) = (blob.header.arguments as usize, blob.header.outputs as usize);
        if outputs > arguments {
            return Err(Problem::blob("the GPU program has more outputs than arguments"));
        }
        check_language(blob.header.language, limits)?;
        check_needs(&blob.header.needs, limits)?;
        let objects: Vec<Object> = blob.objects.all("an object")?;
        for (index, object) in objects.iter().enumerate() {
            check_object(object, &blob, limits).map_err(within("object", index))?;
        }
        check_states(&objects)?;
        let mut steps = steps(&blob, limits)?;
        check_accesses(&objects, &steps)?;
        let modules = modules(&blob, &objects, &mut steps, limits)?;
        Ok(Self { arguments, outputs, objects, modules, steps })
    }
}

fn check_language(language: Language, limits: &Limits) -> Outcome<()> {
    if language == limits.language {
        return Ok(());
    }
    let driver = match language {
        Language::Spirv => "Vulkan",
        Language::Wgsl => "WebGPU",
        Language::Msl => "Metal",
    };
    Err(Problem::unsupported(format!("the GPU program is for {driver}")))
}

fn check_needs(needs: &Needs, limits: &Limits) -> Outcome<()> {
    let features = [
        (needs.int64 && !limits.int64, "64-bit integers"),
        (needs.float64 && !limits.float64, "64-bit floating point"),
        (needs.float16 && !limits.float16, "fp16 arithmetic"),
        (needs.zero_clamp && !limits.zero_clamp, "zeros outside of images"),
    ];
    match features.into_iter().find(|(lacks, _)| *lacks) {
        Some((_, feature)) => Err(Problem::unsupported(format!("the GPU ({}) lacks {feature}", limits.name))),
        None => Ok(()),
    }
}

fn check_object(object: &Object, blob: &Blob<'_>, limits: &Limits) -> Outcome<()> {
    let [first, last] = object.life;
    if first > last || last >= blob.header.dispatches {
        return Err(Problem::blob("the lifetime is not within the dispatches"));
    }
    match object.role {
        Role::Scratch if object.argument != 0 => return Err(Problem::blob("scratch has an argument")),
        Role::Scratch => {}
        _ if object.argument >= blob.header.arguments => return Err(Problem::blob("the argument does not exist")),
        Role::Input | Role::Output | Role::State if object.kind != Kind::Buffer => {
            return Err(Problem::blob("an input, output or state is an image"));
        }
        _ => {}
    }
    match object.kind.texel() {
        None => check_buffer(object, limits),
        Some(texel) => check_image(object, texel, limits),
    }
}

fn check_buffer(object: &Object, limits: &Limits) -> Outcome<()> {
    if object.size == 0 || !object.size.is_multiple_of(4) || object.extent != [0; 3] {
        return Err(Problem::blob("the size of the buffer is invalid"));
    }
    if object.size > limits.buffer {
        let most = limits.buffer;
        let sentence = format!("the buffer has {} bytes, and the GPU ({}) allows {most}", object.size, limits.name);
        return Err(Problem::unsupported(sentence));
    }
    Ok(())
}

fn check_image(object: &Object, texel: u64, limits: &Limits) -> Outcome<()> {
    let [width, height, layers] = object.extent.map(u64::from);
    let size = width.checked_mul(height).and_then(|area| area.checked_mul(layers)?.checked_mul(texel));
    let is_array = matches!(object.kind, Kind::Array32 | Kind::Array16);
    if size != Some(object.size) || object.size == 0 || (!is_array && layers != 1) {
        return Err(Problem::blob("the size of the image is invalid"));
    }
    let fits = object.extent.iter().zip(limits.image).all(|(size, most)| *size <= most);
    if !fits || object.size > limits.image_bytes {
        let sentence =
            format!("the image of {width} x {height} x {layers} texels is too large for the GPU ({})", limits.name);
        return Err(Problem::unsupported(sentence));
    }
    Ok(())
}

fn steps(blob: &Blob<'_>, limits: &Limits) -> Outcome<Vec<Step>> {
    let bindings: Vec<Binding> = blob.bindings.all("a binding")?;
    let dispatches: Vec<Dispatch> = blob.dispatches.all("a dispatch")?;
    let step = |(index, dispatch): (usize, &Dispatch)| {
        step(dispatch, &bindings, blob, limits).map_err(within("dispatch", index))
    };
    dispatches.iter().enumerate().map(step).collect()
}

fn step(dispatch: &Dispatch, bindings: &[Binding], blob: &Blob<'_>, limits: &Limits) -> Outcome<Step> {
    if dispatch.kernel >= blob.header.kernels {
        return Err(Problem::blob("the kernel does not exist"));
    }
    if dispatch.workgroups.contains(&0) {
        return Err(Problem::blob("there are no workgroups"));
    }
    if dispatch.workgroups.iter().zip(limits.workgroups).any(|(count, most)| *count > most) {
        return Err(Problem::unsupported(format!("there are too many workgroups for the GPU ({})", limits.name)));
    }
    let range =
        dispatch.first_binding as usize..(dispatch.first_binding as usize).saturating_add(dispatch.bindings as usize);
    let bindings = bindings.get(range).filter(|bindings| !bindings.is_empty());
    let bindings = bindings.ok_or_else(|| Problem::blob("the bindings do not exist"))?;
    if bindings.iter().any(|binding| binding.object >= blob.header.objects) {
        return Err(Problem::blob("an object does not exist"));
    }
    Ok(Step {
        kernel: dispatch.kernel as usize,
        module: 0,
        workgroups: dispatch.workgroups,
        bindings: bindings.iter().map(|binding| (binding.object as usize, binding.writes)).collect(),
    })
}

/// Checks that the argument of a state has no other object.
fn check_states(objects: &[Object]) -> Outcome<()> {
    let of_argument = |argument: u32| {
        objects.iter().filter(move |object| object.role != Role::Scratch && object.argument == argument)
    };
    let states = objects.iter().enumerate().filter(|(_, object)| object.role == Role::State);
    for (index, state) in states {
        if of_argument(state.argument).count() > 1 {
            let sentence = format!("object {index} of the GPU program: another object has the argument of the state");
            return Err(Problem::new(Error::InvalidProgram, sentence));
        }
    }
    Ok(())
}

/// Checks that objects are used within their lifetimes, that weights are never written, and that scratch is written before reads.
fn check_accesses(objects: &[Object], steps: &[Step]) -> Outcome<()> {
    let mut written = vec![false; objects.len()];
    for (dispatch, step) in (0_u32..).zip(steps) {
        for (index, writes) in &step.bindings {
            let (Some(object), Some(written)) = (objects.get(*index), written.get_mut(*index)) else {
                return Err(Problem::blob("an object does not exist"));
            };
            let fail = |sentence| Err(within("object", *index)(Problem::blob(sentence)));
            *written |= writes;
            match object.role {
                _ if dispatch < object.life[0] || dispatch > object.life[1] => {
                    return fail("a dispatch outside the lifetime uses the object");
                }
                Role::Weights if *writes => return fail("a kernel writes weights"),
                Role::Scratch if !*written => return fail("scratch is read before a kernel writes"),
                _ => {}
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_feature_has_a_sentence() {
        let limits = Limits { name: "device".to_owned(), ..Limits::default() };
        let cases = [
            (Needs { int64: true, ..Needs::default() }, "the GPU (device) lacks 64-bit integers"),
            (Needs { float64: true, ..Needs::default() }, "the GPU (device) lacks 64-bit floating point"),
            (Needs { float16: true, ..Needs::default() }, "the GPU (device) lacks fp16 arithmetic"),
            (Needs { zero_clamp: true, ..Needs::default() }, "the GPU (device) lacks zeros outside of images"),
        ];
        for (needs, sentence) in cases {
            assert_eq!(check_needs(&needs, &limits), Err(Problem::unsupported(sentence)));
        }
        assert_eq!(check_needs(&Needs::default(), &limits), Ok(()));
    }

    fn object(role: Role, argument: u32) -> Object {
        Object { role, argument, ..Object::default() }
    }

    #[test]
    fn the_argument_of_a_state_has_one_object() {
        for role in [Role::Input, Role::Weights, Role::Output, Role::State] {
            assert!(check_states(&[object(Role::State, 1), object(role, 0)]).is_ok());
            assert_eq!(
                check_states(&[object(Role::State, 1), object(role, 1)]).unwrap_err().error,
                Error::InvalidProgram
            );
        }
        assert!(check_states(&[object(Role::State, 0), object(Role::Scratch, 0)]).is_ok());
        assert!(check_states(&[object(Role::Input, 0), object(Role::Input, 0)]).is_ok());
    }
}
