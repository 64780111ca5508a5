//! Compute pipelines.

use std::sync::Arc;

use et_core::Error;
use objc2::rc::{Retained, autoreleasepool};
use objc2::runtime::ProtocolObject;
use objc2_foundation::NSString;
use objc2_metal::{
    MTLCompileOptions, MTLComputePipelineState, MTLDevice, MTLFunction, MTLFunctionType, MTLLanguageVersion,
    MTLLibrary, MTLSize,
};

use super::device::Device;
use super::failure::failed;
use crate::descriptor::Descriptor;
use crate::msl::{METAL_ENTRY, Metal, MetalKernel};
use crate::problem::{Outcome, Problem};

/// What determines a pipeline.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Shader {
    /// The kernel in MSL.
    pub words: Vec<u32>,
    /// The bindings, which the kernel states too.
    pub descriptors: Vec<Descriptor>,
    /// The invocations of a subgroup; 0 for any number.
    pub subgroup: u32,
    /// The size of a workgroup.
    pub workgroup: [u32; 3],
}

/// A compute pipeline, with what a dispatch sets.
#[derive(Clone)]
pub struct Pipeline {
    /// The pipeline.
    pub raw: Retained<ProtocolObject<dyn MTLComputePipelineState>>,
    /// The size of a workgroup.
    pub workgroup: MTLSize,
    /// The bytes of each variable in workgroup memory.
    pub lengths: Arc<[usize]>,
}

impl Pipeline {
    /// Compiles a shader.
    pub fn create(device: &Arc<Device>, shader: &Shader) -> Outcome<Self> {
        device.check()?;
        let MetalKernel { head, lengths, text } = MetalKernel::read(&shader.words)?;
        autoreleasepool(|_| {
            let function = function(device, &head, &text)?;
            let raw = pipeline(device, &function)?;
            check(&raw, shader, device)?;
            let lengths = lengths.iter().map(|length| *length as usize).collect();
            Ok(Self { raw, workgroup: size(head.workgroup), lengths })
        })
    }
}

/// The three numbers for Metal.
pub const fn size([width, height, depth]: [u32; 3]) -> MTLSize {
    MTLSize { width: width as usize, height: height as usize, depth: depth as usize }
}

/// Compiles a text.
fn function(device: &Device, head: &Metal, text: &str) -> Outcome<Retained<ProtocolObject<dyn MTLFunction>>> {
    let options = MTLCompileOptions::new();
    let [major, minor] = head.version.map(|number| number as usize & 0xff);
    options.setLanguageVersion(MTLLanguageVersion(major << 16 | minor));
    // Kernels tell NaN from numbers and infinity from large numbers.
    #[expect(deprecated, reason = "the replacement is missing in systems before iOS 18 and macOS 15")]
    options.setFastMathEnabled(false);
    let library = device.raw.newLibraryWithSource_options_error(&NSString::from_str(text), Some(&options));
    let library = library.map_err(|error| failed("compile a kernel")(&error))?;
    let function = library.newFunctionWithName(&NSString::from_str(METAL_ENTRY));
    let function = function.filter(|function| function.functionType() == MTLFunctionType::Kernel);
    function.ok_or_else(|| Problem::blob("a kernel in MSL has no entry point"))
}

fn pipeline(
    device: &Device,
    function: &ProtocolObject<dyn MTLFunction>,
) -> Outcome<Retained<ProtocolObject<dyn MTLComputePipelineState>>> {
    let made = device.raw.newComputePipelineStateWithFunction_error(function);
    made.map_err(|error| failed("compile a kernel")(&error))
}

/// Checks what the compiled kernel allows: the registers of a kernel limit its workgroups.
fn check(raw: &ProtocolObject<dyn MTLComputePipelineState>, shader: &Shader, device: &Device) -> Outcome<()> {
    let (name, subgroup) = (&device.limits().name, raw.threadExecutionWidth());
    if shader.subgroup > 0 && shader.subgroup as usize != subgroup {
        return Err(Problem::unsupported(format!("the GPU ({name}) compiled a kernel for subgroups of {subgroup}")));
    }
    let invocations = shader.workgroup.iter().try_fold(1_usize, |all, size| all.checked_mul(*size as usize));
    match invocations.ok_or(Error::Internal)? <= raw.maxTotalThreadsPerThreadgroup() {
        true => Ok(()),
        false => {
            Err(Problem::unsupported(format!("the GPU ({name}) has too few registers for the kernel's workgroups")))
        }
    }
}
