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
    /// The version of Metal's shading language, beside `api: metal`; default: 2.3, of iOS 14 and macOS 11.
    #[serde(default)]
    msl: Option<Spanned<MslVersion>>,
    /// The object that keeps texels of four channels where both objects can.
    storage: Spanned<TexelStorage>,
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
    /// Apple's Metal, which takes kernels in its own language.
    Metal,
}

/// A version of Metal's shading language.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize, JsonSchema)]
pub enum MslVersion {
    /// Of iOS 14 and macOS 11.
    #[default]
    #[serde(rename = "2.3")]
    V2_3,
    /// Of iOS 15 and macOS 12.
    #[serde(rename = "2.4")]
    V2_4,
    /// Of iOS 16 and macOS 13.
    #[serde(rename = "3.0")]
    V3_0,
    /// Of iOS 17 and macOS 14.
    #[serde(rename = "3.1")]
    V3_1,
}

impl MslVersion {
    /// Major and minor version.
    pub const fn numbers(self) -> [u8; 2] {
        match self {
            Self::V2_3 => [2, 3],
            Self::V2_4 => [2, 4],
            Self::V3_0 => [3, 0],
            Self::V3_1 => [3, 1],
        }
    }

    /// The first versions of iOS and macOS that have the language.
    pub const fn systems(self) -> [&'static str; 2] {
        match self {
            Self::V2_3 => ["14.0", "11.0"],
            Self::V2_4 => ["15.0", "12.0"],
            Self::V3_0 => ["16.0", "13.0"],
            Self::V3_1 => ["17.0", "14.0"],
        }
    }
}

/// The checked interface to a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum GpuInterface {
    /// Vulkan.
    Vulkan,
    /// WebGPU in a page.
    Webgpu,
    /// Metal, with a version of the shading language.
    Metal(MslVersion),
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
    pub api: GpuInterface,
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
        let api = self.interface()?;
        Ok(Gpu {
            name: self.name,
            api,
            storage: self.storage.value,
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

    /// The interface, which has what the class states.
    fn interface(&self) -> Result<GpuInterface, Diagnostic> {
        if let (Some(version), GpuApi::Vulkan | GpuApi::Webgpu) = (&self.msl, self.api) {
            return Err(language_without_metal(version));
        }
        let images = self.storage.value == TexelStorage::Image;
        match self.api {
            GpuApi::Vulkan => Ok(GpuInterface::Vulkan),
            GpuApi::Webgpu if images || self.subgroup.value > 0 || self.int64 || self.float64 => {
                Err(more_than_webgpu(&self.subgroup))
            }
            GpuApi::Webgpu => Ok(GpuInterface::Webgpu),
            GpuApi::Metal if images || self.float64 => Err(more_than_metal(&self.storage)),
            GpuApi::Metal => Ok(GpuInterface::Metal(self.msl.as_ref().map(|msl| msl.value).unwrap_or_default())),
        }
    }
}

/// Vulkan's least `maxStorageBufferRange`, in MiB.
const LEAST_BUFFER: u32 = 128;

fn more_than_webgpu(at: &Spanned<u32>) -> Diagnostic {
    let message = "kernels for WebGPU have texels in buffers, and neither subgroups nor types of 64 bits";
    let diagnostic = Diagnostic::error(Code::TargetInconsistent, message).at((*at.span).clone());
    diagnostic.help("write `storage: buffer`, `subgroup: 0`, `int64: false` and `float64: false` beside `api: webgpu`")
}

fn more_than_metal(at: &Spanned<TexelStorage>) -> Diagnostic {
    let message = "kernels for Metal have texels in buffers and no float64";
    let diagnostic = Diagnostic::error(Code::TargetInconsistent, message).at((*at.span).clone());
    diagnostic.help("write `storage: buffer` and `float64: false` beside `api: metal`")
}

fn language_without_metal(at: &Spanned<MslVersion>) -> Diagnostic {
    let message = "`msl` is the version of Metal's shading language";
    let diagnostic = Diagnostic::error(Code::TargetInconsistent, message).at((*at.span).clone());
    diagnostic.help("write `api: metal`, or leave `msl` out")
}

fn positive(key: &str, number: &Spanned<u32>) -> Result<u32, Diagnostic> {
    if number.value > 0 {
        return Ok(number.value);
    }
    let diagnostic = Diagnostic::error(Code::BadValue, format!("`{key}` is 0")).at((*number.span).clone());
    Err(diagnostic.help("write the limit of the GPU's driver"))
}

fn subgroup(size: &Spanned<u32>) -> Result<u32, Diagnostic> {
    if size.value == 0 || size.value.is_power_of_two() && size.value <= LARGEST_SUBGROUP {
        return Ok(size.value);
    }
    let message = format!("no GPU has subgroups of {}", size.value);
    let diagnostic = Diagnostic::error(Code::BadValue, message).at((*size.span).clone());
    Err(diagnostic.help(format!("write a power of two up to {LARGEST_SUBGROUP}, or 0 for kernels without subgroups")))
}
