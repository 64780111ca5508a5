//! Targets in the form for backends.

use etbuild_backend::{EthosU, GpuApi, GpuFacts, NpuFacts, TargetFacts};
use etbuild_target::{Gpu, GpuInterface, Kind, Npu, Target, TexelStorage};

/// The facts of a target that backends may read.
pub fn of(target: &Target) -> TargetFacts {
    let hosted = target.kind() == Kind::Hosted;
    let stated = target.rust().features.iter().filter_map(|feature| feature.enabled()).map(str::to_owned);
    let implied = EXTENSIONS.iter().filter(|extension| !hosted && extension.is_of(target));
    let implied = implied.map(|extension| extension.name.to_owned());
    let mut features: Vec<String> = target.instruction_sets().iter().cloned().chain(stated).chain(implied).collect();
    features.sort();
    features.dedup();
    TargetFacts {
        architecture: architecture(target.rust().triple.as_str()),
        features,
        hosted,
        gpus: target.gpus().iter().map(gpu).collect(),
        npu: target.npu().map(npu),
        contexts: Vec::new(),
        npu_context: None,
        memory: None,
    }
}

/// The facts of a GPU without its name.
fn gpu(gpu: &Gpu) -> GpuFacts {
    let Gpu { name: _, api, storage, max_image, max_layers, max_buffer, subgroup, units, zero_clamp, int64, float64 } =
        *gpu;
    let images = storage == TexelStorage::Image;
    let api = match api {
        GpuInterface::Vulkan => GpuApi::Vulkan,
        GpuInterface::Webgpu => GpuApi::WebGpu,
        GpuInterface::Metal(msl) => GpuApi::Metal { msl: msl.numbers() },
    };
    GpuFacts { api, images, max_image, max_layers, max_buffer, subgroup, units, zero_clamp, int64, float64 }
}

/// The facts of an NPU.
fn npu(npu: &Npu) -> NpuFacts {
    match npu {
        Npu::Qualcomm(chip) => NpuFacts::Qualcomm { soc: chip.soc.to_string() },
        Npu::EthosU(npu) => NpuFacts::EthosU(EthosU {
            accelerator: npu.accelerator.name().to_owned(),
            system_config: npu.system_config.clone(),
            memory_mode: npu.memory_mode.clone(),
            registers: npu.registers,
        }),
    }
}

/// An extension of Arm's microcontrollers that compiled code may use.
struct Extension {
    /// The name in rustc's features.
    name: &'static str,
    /// The processors that have it, as the compiler assumes.
    processors: &'static [&'static str],
    /// The beginnings of triples that imply it for targets without a processor.
    triples: &'static [&'static str],
}

const EXTENSIONS: &[Extension] = &[
    Extension {
        name: "dsp",
        processors: &["cortex-m33", "cortex-m35p", "cortex-m4", "cortex-m52", "cortex-m55", "cortex-m7", "cortex-m85"],
        triples: &["thumbv7em-"],
    },
    Extension { name: "mve", processors: &["cortex-m52", "cortex-m55", "cortex-m85"], triples: &[] },
    Extension {
        name: "thumb2",
        processors: &[
            "cortex-m3",
            "cortex-m33",
            "cortex-m35p",
            "cortex-m4",
            "cortex-m52",
            "cortex-m55",
            "cortex-m7",
            "cortex-m85",
        ],
        triples: &["thumbv7m-", "thumbv7em-", "thumbv8m.main-"],
    },
];

impl Extension {
    /// Whether compiled code of a board may use the extension.
    fn is_of(&self, target: &Target) -> bool {
        let rust = target.rust();
        let removal = format!("-{}", self.name);
        let is_removed = rust.features.iter().any(|feature| feature.to_string() == removal);
        let triple = rust.triple.as_str();
        let by_triple = || self.triples.iter().any(|start| triple.starts_with(start));
        let cpu = rust.cpu.as_ref().map(ToString::to_string);
        let has = cpu.map_or_else(by_triple, |cpu| self.processors.contains(&cpu.as_str()));
        has && !is_removed
    }
}

/// The architectures whose triples begin with a version or with extensions: `thumbv8m.main` is `thumb`, `riscv32imac` is `riscv32`.
const FAMILIES: [(&str, &str); 3] = [("thumbv", "thumb"), ("armv", "arm"), ("riscv32", "riscv32")];

/// The first part of a triple, without version and extensions.
fn architecture(triple: &str) -> String {
    let first = triple.split('-').next().unwrap_or_default();
    let family = FAMILIES.into_iter().find(|(start, _)| first.starts_with(start));
    family.map_or(first, |(_, family)| family).to_owned()
}

#[cfg(test)]
mod tests {
    use etbuild_target::Catalogue;

    use super::*;

    #[test]
    fn a_target_is_an_architecture_and_instruction_sets() {
        let catalogue = Catalogue::shipped().unwrap();
        let facts = |name| of(catalogue.get(name).unwrap());
        let server = facts("linux-x86_64");
        assert_eq!((server.architecture.as_str(), server.hosted, server.has("avx2")), ("x86_64", true, true));
        assert_eq!(facts("linux-aarch64").architecture, "aarch64");
        assert_eq!((facts("pico2").architecture.as_str(), facts("pico2").hosted), ("thumb", false));
        assert_eq!(facts("riscv-virt").architecture, "riscv32");
        assert_eq!((facts("pixel-9-pro-xl").gpus, facts("pico2").gpus), (facts("galaxy-s25").gpus, Vec::new()));
        let classes: Vec<_> = server.gpus.iter().map(|gpu| (gpu.images, gpu.subgroup, gpu.units > 0)).collect();
        assert_eq!(classes, [(false, 0, true), (true, 8, false)]);
        let boards = |feature: &str| ["pico2", "pico", "riscv-virt"].map(|name| facts(name).has(feature));
        assert_eq!(["dsp", "thumb2", "mve"].map(boards), [[true, false, false], [true, false, false], [false; 3]]);
    }
}
