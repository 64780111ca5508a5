//! The backend as an etbuild backend.

use etbuild_backend::{Backend, Blob, GpuFacts, Refusal, RefusalKind, TargetFacts};
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

    fn opens_libraries(&self) -> bool {
        true
    }

    fn revision(&self) -> &'static str {
        env!("ETBUILD_GPU_REVISION")
    }

    fn facts(&self, target: &TargetFacts) -> Vec<(String, String)> {
        let Some(gpu) = target.gpu else { return vec![("gpu".to_owned(), "none".to_owned())] };
        let GpuFacts { images, max_image, max_layers, subgroup, zero_clamp, int64, float64 } = gpu;
        let facts = [
            ("images", images.to_string()),
            ("max_image", max_image.to_string()),
            ("max_layers", max_layers.to_string()),
            ("subgroup", subgroup.to_string()),
            ("zero_clamp", zero_clamp.to_string()),
            ("int64", int64.to_string()),
            ("float64", float64.to_string()),
        ];
        facts.map(|(name, value)| (name.to_owned(), value)).into()
    }

    fn runs_on(&self, _target: &TargetFacts) -> bool {
        // Recipes ask for the GPU by name.
        false
    }

    fn writes_state(&self) -> bool {
        true
    }

    fn refusal(&self, links: &Links<'_>, node: &Node, target: &TargetFacts) -> Option<Refusal> {
        match target.gpu {
            Some(gpu) => lower::refusal(links, node, Profile::of(gpu)),
            None => Some(no_gpu()),
        }
    }

    fn lower(&self, graph: &Graph, target: &TargetFacts) -> Result<Blob, Refusal> {
        let profile = target.gpu.map(Profile::of).ok_or_else(no_gpu)?;
        let links = Links::of(graph);
        let builder = lower::lower(&links, profile)?;
        Ok(Blob { gpu: Some(describe(&builder)), ..write::blob(&builder)? })
    }
}

fn no_gpu() -> Refusal {
    Refusal::new(RefusalKind::Target, "the target states no `gpu:`")
}

/// The kernels of a partition, a line each; with `sources`, the WGSL of each too.
///
/// # Errors
/// As lowering.
pub fn program_text(graph: &Graph, sources: bool) -> Result<String, Refusal> {
    Ok(text(&lower::lower(&Links::of(graph), Profile::default())?, sources))
}
