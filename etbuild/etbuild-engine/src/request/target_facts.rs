//! Targets in the form for backends.

use etbuild_backend::{GpuFacts, TargetFacts};
use etbuild_target::{Gpu, Kind, Target, TexelStorage};

/// The facts of a target that backends may read.
pub fn of(target: &Target) -> TargetFacts {
    let hosted = target.kind() == Kind::Hosted;
    let stated = target.rust().features.iter().filter_map(|feature| feature.enabled()).map(str::to_owned);
    let implied = (!hosted && has_dsp(target)).then(|| "dsp".to_owned());
    let mut features: Vec<String> = target.instruction_sets().iter().cloned().chain(stated).chain(implied).collect();
    features.sort();
    features.dedup();
    TargetFacts {
        architecture: architecture(target.rust().triple.as_str()),
        features,
        hosted,
        gpu: target.gpu().map(gpu),
    }
}

/// The facts of a GPU without its name.
fn gpu(gpu: &Gpu) -> GpuFacts {
    let Gpu { name: _, storage, max_image, max_layers, subgroup, zero_clamp, int64, float64 } = *gpu;
    let images = storage == TexelStorage::Image;
    GpuFacts { images, max_image, max_layers, subgroup, zero_clamp, int64, float64 }
}

/// Processors of Arm with the DSP extension, as the compiler assumes.
const WITH_DSP: [&str; 7] =
    ["cortex-m33", "cortex-m35p", "cortex-m4", "cortex-m52", "cortex-m55", "cortex-m7", "cortex-m85"];

/// Whether compiled code of a board may use the DSP extension of Armv7E-M and Armv8-M.
fn has_dsp(target: &Target) -> bool {
    let rust = target.rust();
    let is_removed = rust.features.iter().any(|feature| feature.to_string() == "-dsp");
    let cpu = rust.cpu.as_ref().map(ToString::to_string);
    let has = cpu.map_or(rust.triple.as_str().starts_with("thumbv7em-"), |cpu| WITH_DSP.contains(&cpu.as_str()));
    has && !is_removed
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
        assert_eq!((facts("pixel-9-pro-xl").gpu, facts("pico2").gpu), (facts("galaxy-s25").gpu, None));
        assert_eq!(server.gpu.map(|gpu| (gpu.images, gpu.subgroup, gpu.max_image)), Some((true, 8, 16384)));
        assert_eq!(["pico2", "pico", "riscv-virt"].map(|name| facts(name).has("dsp")), [true, false, false]);
    }
}
