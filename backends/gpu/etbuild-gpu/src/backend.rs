//! The backend as an etbuild backend.

use etbuild_backend::{Backend, Blob, DeviceReport, GpuFacts, Refusal, RefusalKind, TargetFacts};
use etbuild_ir::{Graph, Links, Node};

use crate::description::describe;
use crate::profile::Profile;
use crate::text::text;
use crate::{lower, write};

/// The backend `gpu`.
#[derive(Clone, Copy, Debug)]
pub struct Gpu;

/// The backend, for lists of backends.
pub static BACKEND: Gpu = Gpu;

impl Backend for Gpu {
    fn name(&self) -> &'static str {
        "gpu"
    }

    fn delegate_id(&self) -> &'static str {
        et_gpu::ID
    }

    fn device_crate(&self) -> &'static str {
        "et-gpu"
    }

    fn explains_failures(&self) -> bool {
        true
    }

    fn reports_instructions(&self) -> bool {
        true
    }

    fn opens_libraries(&self) -> bool {
        true
    }

    fn frameworks(&self) -> &'static [&'static str] {
        &["Foundation", "Metal"]
    }

    fn revision(&self) -> &'static str {
        env!("ETBUILD_GPU_REVISION")
    }

    fn facts(&self, target: &TargetFacts) -> Vec<(String, String)> {
        let of_gpu = |(position, gpu): (usize, &GpuFacts)| {
            let GpuFacts {
                api,
                images,
                max_image,
                max_layers,
                max_buffer,
                subgroup,
                units,
                zero_clamp,
                int64,
                float64,
            } = *gpu;
            let facts = [
                ("api", format!("{api:?}")),
                ("images", images.to_string()),
                ("max_image", max_image.to_string()),
                ("max_layers", max_layers.to_string()),
                ("max_buffer", max_buffer.to_string()),
                ("subgroup", subgroup.to_string()),
                ("units", units.to_string()),
                ("zero_clamp", zero_clamp.to_string()),
                ("int64", int64.to_string()),
                ("float64", float64.to_string()),
            ];
            facts.map(|(name, value)| (format!("{position}.{name}"), value))
        };
        target.gpus.iter().enumerate().flat_map(of_gpu).collect()
    }

    fn runs_on(&self, _target: &TargetFacts) -> bool {
        // Recipes ask for the GPU by name.
        false
    }

    fn executes_on(&self, target: &TargetFacts) -> bool {
        target.hosted && !target.gpus.is_empty()
    }

    fn writes_state(&self) -> bool {
        true
    }

    fn refusal(&self, links: &Links<'_>, node: &Node, target: &TargetFacts) -> Option<Refusal> {
        if target.gpus.is_empty() {
            return Some(no_gpu());
        }
        // The programs for all GPUs have the same nodes.
        target.gpus.iter().find_map(|gpu| lower::refusal(links, node, Profile::of(*gpu)))
    }

    fn lower(&self, graph: &Graph, target: &TargetFacts) -> Result<Blob, Refusal> {
        let links = Links::of(graph);
        let of_gpu = |gpu: &GpuFacts| lower::lower(&links, Profile::of(*gpu));
        let builders: Vec<_> = target.gpus.iter().map(of_gpu).collect::<Result<_, _>>()?;
        if builders.is_empty() {
            return Err(no_gpu());
        }
        let device = DeviceReport { gpu: builders.iter().map(describe).collect(), ..DeviceReport::default() };
        Ok(Blob { device, ..write::blob(&builders)? })
    }
}

fn no_gpu() -> Refusal {
    Refusal::new(RefusalKind::Target, "the target states no `gpus:`")
}

/// The kernels of a partition, a line each; with `sources`, the WGSL of each too.
///
/// # Errors
/// As lowering.
pub fn program_text(graph: &Graph, sources: bool) -> Result<String, Refusal> {
    Ok(text(&lower::lower(&Links::of(graph), Profile::default())?, sources))
}
