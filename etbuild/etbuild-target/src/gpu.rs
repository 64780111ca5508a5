//! The GPU of a target: what kernels may rely on.

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_yaml::{Name, Spanned};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The GPU of a target, which the backend `gpu` compiles kernels for. A device that lacks one of these refuses the program.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Gpu")]
pub struct GpuFile {
    /// The name of the GPU, for people, such as `adreno-830`.
    name: Name,
    /// The interface to the GPU; default: Vulkan.
    #[serde(default)]
    api: GpuApi,
    /// The object that keeps texels of four channels where both objects can.
    storage: TexelStorage,
    /// The greatest width and height of an image, in texels.
    max_image: Spanned<u32>,
    /// The most layers of an array of images.
    max_layers: Spanned<u32>,
    /// The largest buffer, in MiB; 128 is what every device has.
    #[serde(default)]
    max_buffer: Option<Spanned<u32>>,
    /// The size of subgroups that exchange values within kernels, a power of two; 0 for kernels without such exchanges.
    subgroup: Spanned<u32>,
    /// The compute units (multiprocessors, shader cores): kernels are made for workgroups that share what they load in workgroup memory, so many
    /// at a time. 0, the default, is for a driver that computes on the CPU.
    #[serde(default)]
    units: u32,
    /// Whether reads outside an image give 0; kernels compare coordinates otherwise.
    zero_clamp: bool,
    /// Whether kernels may compute in 64-bit integers.
    int64: bool,
    /// Whether kernels may compute in 64-bit floating point.
    float64: bool,
}

/// The interface to a GPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum GpuApi {
    /// Vulkan, which takes kernels in SPIR-V.
    #[default]
    Vulkan,
    /// WebGPU in a page, which takes kernels in WGSL, with the limits that every browser has.
    Webgpu,
}

/// The object that keeps texels of four channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TexelStorage {
    /// An image, whose reads have a cache of their own.
    Image,
    /// A buffer.
    Buffer,
}

/// A checked GPU.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Gpu {
    /// The name of the GPU, for people.
    pub name: Name,
    /// The interface to the GPU.
    pub api: GpuApi,
    /// The object that keeps texels of four channels where both objects can.
    pub storage: TexelStorage,
    /// The greatest width and height of an image, in texels; not 0.
    pub max_image: u32,
    /// The most layers of an array of images; not 0.
    pub max_layers: u32,
    /// The largest buffer, in MiB; not 0.
    pub max_buffer: u32,
    /// The size of subgroups, a power of two; 0 for kernels without subgroups.
    pub subgroup: u32,
    /// The compute units; 0 for a driver that computes on the CPU.
    pub units: u32,
    /// Whether reads outside an image give 0.
    pub zero_clamp: bool,
    /// Whether kernels may compute in 64-bit integers.
    pub int64: bool,
    /// Whether kernels may compute in 64-bit floating point.
    pub float64: bool,
}

/// The largest subgroup of any GPU.
const LARGEST_SUBGROUP: u32 = 128;

impl GpuFile {
    /// Checks the numbers.
    pub fn check(self) -> Result<Gpu, Diagnostic> {
        let has_more = self.storage == TexelStorage::Image || self.subgroup.value > 0 || self.int64 || self.float64;
        if self.api == GpuApi::Webgpu && has_more {
            return Err(more_than_webgpu(&self.subgroup));
        }
        Ok(Gpu {
            name: self.name,
            api: self.api,
            storage: self.storage,
            max_image: positive("max_image", &self.max_image)?,
            max_layers: positive("max_layers", &self.max_layers)?,
            max_buffer: self.max_buffer.as_ref().map_or(Ok(LEAST_BUFFER), |size| positive("max_buffer", size))?,
            subgroup: subgroup(&self.subgroup)?,
            units: self.units,
            zero_clamp: self.zero_clamp,
            int64: self.int64,
            float64: self.float64,
        })
    }
}

/// Vulkan's least `maxStorageBufferRange`, in MiB.
const LEAST_BUFFER: u32 = 128;

fn more_than_webgpu(at: &Spanned<u32>) -> Diagnostic {
    let message = "kernels for WebGPU have texels in buffers, and neither subgroups nor types of 64 bits";
    let diagnostic = Diagnostic::error(Code::TargetInconsistent, message).at((*at.span).clone());
    diagnostic.help("write `storage: buffer`, `subgroup: 0`, `int64: false` and `float64: false` beside `api: webgpu`")
}

fn positive(key: &str, number: &Spanned<u32>) -> Result<u32, Diagnostic> {
    if number.value > 0 {
        return Ok(number.value);
    }
    let diagnostic = Diagnostic::error(Code::BadValue, format!("`{key}` is 0")).at((*number.span).clone());
    Err(diagnostic.help("write the limit of the GPU's Vulkan driver"))
}

fn subgroup(size: &Spanned<u32>) -> Result<u32, Diagnostic> {
    if size.value == 0 || size.value.is_power_of_two() && size.value <= LARGEST_SUBGROUP {
        return Ok(size.value);
    }
    let message = format!("no GPU has subgroups of {}", size.value);
    let diagnostic = Diagnostic::error(Code::BadValue, message).at((*size.span).clone());
    Err(diagnostic.help(format!("write a power of two up to {LARGEST_SUBGROUP}, or 0 for kernels without subgroups")))
}
