//! The declarations of a SPIR-V module that devices and blobs restrict.
//!
//! Specification: SPIR-V 1.6, section 3 (numbers and operands of instructions).

use std::collections::BTreeMap;

use crate::descriptor::Descriptor;
use crate::problem::{Outcome, Problem};

const ENTRY_POINT: u32 = 15;
const EXECUTION_MODE: u32 = 16;
const TYPE_BOOL: u32 = 20;
const TYPE_INT: u32 = 21;
const TYPE_FLOAT: u32 = 22;
const TYPE_VECTOR: u32 = 23;
const TYPE_MATRIX: u32 = 24;
const TYPE_IMAGE: u32 = 25;
const TYPE_ARRAY: u32 = 28;
const TYPE_STRUCT: u32 = 30;
const TYPE_POINTER: u32 = 32;
const CONSTANT: u32 = 43;
const VARIABLE: u32 = 59;
const DECORATE: u32 = 71;

const GL_COMPUTE: u32 = 5;
const LOCAL_SIZE: u32 = 17;
const BINDING: u32 = 33;
const DESCRIPTOR_SET: u32 = 34;

const UNIFORM_CONSTANT: u32 = 0;
const WORKGROUP: u32 = 4;
const STORAGE_BUFFER: u32 = 12;
/// Input, Workgroup, Private and Function: variables without a binding.
const UNBOUND: [u32; 4] = [1, WORKGROUP, 6, 7];

const TWO_DIMENSIONS: u32 = 1;
const RGBA32F: u32 = 1;
const RGBA16F: u32 = 2;

/// `main` with its terminating zero, as words.
const MAIN: [u32; 2] = [u32::from_le_bytes(*b"main"), 0];

/// What a module declares, by the ids of SPIR-V.
#[derive(Default)]
pub struct Declared {
    /// The entry point `main` is a compute shader.
    pub entry: bool,
    /// The size of a workgroup.
    pub workgroup: Option<[u32; 3]>,
    /// The bytes of shared memory.
    pub shared: u64,
    /// The bytes of types; padding between members is not counted.
    sizes: BTreeMap<u32, u64>,
    /// The values of constants.
    constants: BTreeMap<u32, u32>,
    /// The descriptors of buffer and image types; `None` for an image that a blob cannot have.
    types: BTreeMap<u32, Option<Descriptor>>,
    /// The storage class and the type of pointer types.
    pointers: BTreeMap<u32, (u32, u32)>,
    /// The pointer type of variables.
    variables: BTreeMap<u32, u32>,
    /// The binding of variables.
    bindings: BTreeMap<u32, u32>,
}

impl Declared {
    /// Reads an instruction.
    pub fn read(&mut self, instruction: u32, operands: &[u32]) -> Outcome<()> {
        self.read_size(instruction, operands);
        match (instruction, operands) {
            (ENTRY_POINT, [model, _, name @ ..]) => self.entry |= *model == GL_COMPUTE && name.starts_with(&MAIN),
            (EXECUTION_MODE, [_, LOCAL_SIZE, x, y, z]) => self.workgroup = Some([*x, *y, *z]),
            (DECORATE, [variable, BINDING, number]) => {
                self.bindings.insert(*variable, *number);
            }
            (DECORATE, [_, DESCRIPTOR_SET, number]) if *number != 0 => {
                return Err(Problem::blob("a binding of the kernel is in another set"));
            }
            (TYPE_STRUCT, [result, ..]) => {
                self.types.insert(*result, Some(Descriptor::Buffer));
            }
            (TYPE_IMAGE, [result, _, dimensions, _, array, samples, sampled, format, ..]) => {
                let is_plain = *dimensions == TWO_DIMENSIONS && *samples == 0;
                self.types.insert(*result, image(*array == 1, *sampled, *format).filter(|_| is_plain));
            }
            (TYPE_POINTER, [result, class, pointee]) => {
                self.pointers.insert(*result, (*class, *pointee));
            }
            (VARIABLE, [kind, result, class, ..]) => {
                self.variables.insert(*result, *kind);
                if let Some((_, pointee)) = self.pointers.get(kind).filter(|_| *class == WORKGROUP) {
                    self.shared = self.shared.saturating_add(self.size(*pointee));
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Reads the size of a type, or the value of a constant.
    fn read_size(&mut self, instruction: u32, operands: &[u32]) {
        let (result, size) = match (instruction, operands) {
            (TYPE_BOOL, [result]) => (result, 4),
            (TYPE_INT, [result, bits, _]) | (TYPE_FLOAT, [result, bits]) => (result, u64::from(*bits / 8)),
            (TYPE_VECTOR | TYPE_MATRIX, [result, item, count]) => (result, self.array(*item, *count)),
            (TYPE_ARRAY, [result, item, count]) => {
                let count = self.constants.get(count).copied().unwrap_or_default();
                (result, self.array(*item, count))
            }
            (TYPE_STRUCT, [result, members @ ..]) => {
                let sizes = members.iter().map(|member| self.size(*member));
                (result, sizes.fold(0, u64::saturating_add))
            }
            (CONSTANT, [_, result, value]) => {
                self.constants.insert(*result, *value);
                return;
            }
            _ => return,
        };
        self.sizes.insert(*result, size);
    }

    fn size(&self, id: u32) -> u64 {
        self.sizes.get(&id).copied().unwrap_or_default()
    }

    fn array(&self, item: u32, count: u32) -> u64 {
        self.size(item).saturating_mul(u64::from(count))
    }

    /// Checks that the variables with bindings have the descriptors of the objects.
    pub fn check_bindings(&self, descriptors: &[Descriptor]) -> Outcome<()> {
        for (variable, kind) in &self.variables {
            let Some((class, pointee)) = self.pointers.get(kind) else { return Err(malformed()) };
            if UNBOUND.contains(class) {
                continue;
            }
            let number = self.bindings.get(variable).ok_or_else(malformed)?;
            let descriptor = descriptors.get(*number as usize);
            let descriptor = descriptor.ok_or_else(|| Problem::blob("a binding of the kernel has no object"))?;
            let declared = self.types.get(pointee).copied().flatten();
            let fits = match descriptor {
                Descriptor::Buffer => *class == STORAGE_BUFFER,
                _ => *class == UNIFORM_CONSTANT,
            };
            if declared != Some(*descriptor) || !fits {
                return Err(Problem::blob(format!("binding {number} of the kernel has an object of another kind")));
            }
        }
        Ok(())
    }
}

/// A module that is no compute shader.
pub fn malformed() -> Problem {
    Problem::blob("the words are no compute shader in SPIR-V")
}

const fn image(array: bool, sampled: u32, format: u32) -> Option<Descriptor> {
    match (sampled, format) {
        (1, _) => Some(Descriptor::Sampled { array }),
        (2, RGBA32F) => Some(Descriptor::Storage { array, half: false }),
        (2, RGBA16F) => Some(Descriptor::Storage { array, half: true }),
        _ => None,
    }
}
