//! A description of the GPU for people.

/// The GPU that delegates use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// The name of the GPU.
    pub name: String,
    /// Discrete, integrated or virtual GPU, or CPU.
    pub kind: DeviceKind,
    /// The name of the driver.
    pub driver: String,
    /// The version of the driver in the driver's words.
    pub driver_version: String,
    /// The interface to the driver: `Vulkan` or `Metal`.
    pub api: &'static str,
    /// The version of the interface.
    pub api_version: String,
    /// The number of invocations of a subgroup.
    pub subgroup: u32,
    /// fp16 arithmetic, and fp16 in storage buffers.
    pub float16: bool,
    /// 64-bit floating point.
    pub float64: bool,
    /// 64-bit integers.
    pub int64: bool,
    /// Reads outside of sampled images give 0 in all channels.
    pub zero_clamp: bool,
    /// The largest storage buffer, in bytes.
    pub buffer: u64,
    /// The largest width, height and number of layers of an image.
    pub image: [u32; 3],
    /// The largest heap of GPU memory, in bytes.
    pub heap: u64,
    /// Weights stay in the memory of the program file, without a copy.
    pub imports_weights: bool,
    /// The validation layer is on.
    pub validates: bool,
}

/// The kind of a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceKind {
    /// A GPU with memory of its own.
    Discrete,
    /// A GPU in the memory of the CPU.
    Integrated,
    /// A part of a GPU, in a virtual machine.
    Virtual,
    /// A driver that computes on the CPU.
    Cpu,
    /// Another device.
    Other,
}
