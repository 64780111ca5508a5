//! Cheap checks of SPIR-V modules: the structure, and what a device must have for a module.
//!
//! Specification: SPIR-V 1.6, sections 2.3 (layout of a module) and 3 (numbers of capabilities and instructions).

use crate::declared::{Declared, malformed};
use crate::descriptor::Descriptor;
use crate::limits::Limits;
use crate::problem::{Outcome, Problem};

const MAGIC: u32 = 0x0723_0203;
const HEADER: usize = 5;

const CAPABILITY: u32 = 17;
const FUNCTION_END: u32 = 56;

/// What a module needs of a device.
#[derive(Debug)]
pub struct Requirements {
    /// The size of a workgroup.
    pub workgroup: [u32; 3],
    version: u32,
    capabilities: Vec<u32>,
    shared: u64,
}

/// Checks that a module has these bindings.
pub fn read(words: &[u32], descriptors: &[Descriptor]) -> Outcome<Requirements> {
    let header: &[u32; HEADER] = words.first_chunk().ok_or_else(malformed)?;
    if header[0] != MAGIC {
        return Err(malformed());
    }
    let mut capabilities = Vec::new();
    let (mut rest, mut declared, mut last) = (words.get(HEADER..).unwrap_or_default(), Declared::default(), 0);
    while let Some((first, _)) = rest.split_first() {
        let length = (first >> 16) as usize;
        let (instruction, others) = rest.split_at_checked(length).ok_or_else(malformed)?;
        let operands = instruction.get(1..).ok_or_else(malformed)?;
        last = first & 0xffff;
        if let (CAPABILITY, [capability]) = (last, operands) {
            capabilities.push(*capability);
        }
        declared.read(last, operands)?;
        rest = others;
    }
    let workgroup = declared.workgroup.filter(|size| declared.entry && last == FUNCTION_END && !size.contains(&0));
    let workgroup = workgroup.ok_or_else(malformed)?;
    declared.check_bindings(descriptors)?;
    Ok(Requirements { workgroup, version: header[1], capabilities, shared: declared.shared })
}

impl Requirements {
    /// Checks that a device can execute the module in subgroups of `subgroup` invocations; 0 stands for any number.
    pub fn check(&self, subgroup: u32, limits: &Limits) -> Outcome<()> {
        let Self { workgroup, version, capabilities, shared } = self;
        if *version > limits.spirv {
            return Err(Problem::unsupported(format!("the GPU ({}) lacks the version of SPIR-V", limits.name)));
        }
        limits.check_subgroup(subgroup)?;
        capabilities.iter().try_for_each(|capability| check_capability(*capability, limits))?;
        limits.check_shared(*shared)?;
        limits.check_workgroup(*workgroup, subgroup)
    }
}

/// Checks that the device was opened with the feature of a capability.
fn check_capability(capability: u32, limits: &Limits) -> Outcome<()> {
    let is_there = match capability {
        // Matrix, Shader and ImageQuery.
        0 | 1 | 50 => true,
        // Float16, StorageBuffer16BitAccess and UniformAndStorageBuffer16BitAccess.
        9 | 4433 | 4434 => limits.float16,
        10 => limits.float64,
        11 => limits.int64,
        // GroupNonUniform and its operations, in the order of the bits.
        61..=68 => limits.has_subgroup_operation(capability - 61),
        _ => false,
    };
    if is_there {
        return Ok(());
    }
    let sentence = format!("the GPU ({}) lacks capability {capability} of SPIR-V", limits.name);
    Err(Problem::unsupported(sentence))
}

#[cfg(test)]
mod tests {
    use et_core::Error;

    use super::*;

    const ENTRY_POINT: u32 = 15;
    const EXECUTION_MODE: u32 = 16;
    const TYPE_STRUCT: u32 = 30;
    const TYPE_POINTER: u32 = 32;
    const VARIABLE: u32 = 59;
    const DECORATE: u32 = 71;
    const GL_COMPUTE: u32 = 5;
    const LOCAL_SIZE: u32 = 17;
    const BINDING: u32 = 33;
    const STORAGE_BUFFER: u32 = 12;
    const MAIN: [u32; 2] = [u32::from_le_bytes(*b"main"), 0];

    fn limits() -> Limits {
        Limits { spirv: 0x0001_0600, workgroup: [64; 3], invocations: 128, subgroups: (1, 0), ..Limits::default() }
    }

    /// A module without code, with a buffer at binding 1.
    fn module() -> Vec<u32> {
        let instructions: &[&[u32]] = &[
            &[CAPABILITY, 1],
            &[ENTRY_POINT, GL_COMPUTE, 1, MAIN[0], MAIN[1]],
            &[EXECUTION_MODE, 1, LOCAL_SIZE, 64, 2, 1],
            &[DECORATE, 2, BINDING, 1],
            &[TYPE_STRUCT, 3, 4],
            &[TYPE_POINTER, 5, STORAGE_BUFFER, 3],
            &[VARIABLE, 5, 2, STORAGE_BUFFER],
            &[FUNCTION_END],
        ];
        let mut words = vec![MAGIC, 0x0001_0300, 0, 9, 0];
        for instruction in instructions {
            words.push((instruction.len() as u32) << 16 | instruction[0]);
            words.extend(&instruction[1..]);
        }
        words
    }

    fn check(words: &[u32], descriptors: &[Descriptor], subgroup: u32, limits: &Limits) -> Outcome<[u32; 3]> {
        let requirements = read(words, descriptors)?;
        requirements.check(subgroup, limits).map(|()| requirements.workgroup)
    }

    const BUFFERS: [Descriptor; 2] = [Descriptor::Buffer; 2];

    #[test]
    fn the_size_of_a_workgroup_is_found() {
        assert_eq!(check(&module(), &BUFFERS, 0, &limits()), Ok([64, 2, 1]));
    }

    #[test]
    fn a_module_without_structure_is_malformed() {
        let whole = module();
        let error = |words: &[u32]| check(words, &BUFFERS, 0, &limits()).unwrap_err().error;
        for length in 0..whole.len() {
            assert_eq!(error(&whole[..length]), Error::InvalidProgram);
        }
        assert_eq!(error(&[&whole[..], &[0]].concat()), Error::InvalidProgram);
    }

    #[test]
    fn a_binding_without_an_object_of_its_kind_is_malformed() {
        let image = Descriptor::Sampled { array: false };
        for descriptors in [&[Descriptor::Buffer][..], &[Descriptor::Buffer, image]] {
            let error = check(&module(), descriptors, 0, &limits()).unwrap_err().error;
            assert_eq!(error, Error::InvalidProgram);
        }
        assert!(check(&module(), &[image, Descriptor::Buffer], 0, &limits()).is_ok());
    }

    #[test]
    fn missing_features_and_limits_are_unsupported() {
        let error = |words: &[u32], limits: &Limits| check(words, &BUFFERS, 0, limits).unwrap_err().error;
        let mut int64 = module();
        int64[6] = 11;
        assert_eq!(error(&int64, &limits()), Error::NotSupported);
        assert!(check(&int64, &BUFFERS, 0, &Limits { int64: true, ..limits() }).is_ok());
        assert_eq!(error(&module(), &Limits { invocations: 127, ..limits() }), Error::NotSupported);
        assert_eq!(error(&module(), &Limits { spirv: 0x0001_0000, ..limits() }), Error::NotSupported);
    }

    #[test]
    fn subgroups_need_their_size_and_their_operations() {
        let of_8 = Limits { subgroups: (8, 16), workgroup_subgroups: 16, subgroup_operations: 1, ..limits() };
        let mut basic = module();
        basic[6] = 61;
        let sentence = |words: &[u32], subgroup, limits: &Limits| {
            check(words, &BUFFERS, subgroup, limits).map_or_else(|problem| problem.sentence, |_| String::new())
        };
        assert_eq!(sentence(&basic, 8, &of_8), "");
        assert_eq!(sentence(&basic, 4, &of_8), "the GPU () lacks subgroups of 4 invocations");
        assert_eq!(sentence(&basic, 12, &of_8), "the GPU () lacks subgroups of 12 invocations");
        assert_eq!(sentence(&basic, 8, &limits()), "the GPU () lacks subgroups of 8 invocations");
        let none = Limits { subgroup_operations: 2, ..of_8.clone() };
        assert_eq!(sentence(&basic, 8, &none), "the GPU () lacks capability 61 of SPIR-V");
        let few = Limits { workgroup_subgroups: 15, ..of_8.clone() };
        assert_eq!(sentence(&basic, 8, &few), "the GPU () has no workgroups of 128 invocations");
        assert_eq!(sentence(&basic, 16, &few), "");
    }
}
