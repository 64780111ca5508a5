//! The GPU of this machine, for `etbuild doctor`, and the memory that programs allocate, for `etbuild trace`.

use serde_json::Value;

#[cfg(feature = "gpu")]
use crate::render::bytes;

/// The GPU or a fact about the GPU, as JSON and as a line of text.
pub struct Gpu {
    /// The description, or `problem`.
    pub value: Value,
    /// The same in words.
    pub text: String,
}

/// Opens the GPU and describes it. Without a GPU, the description gives the reason.
#[cfg(feature = "gpu")]
pub fn describe() -> Gpu {
    match et_gpu::device_summary() {
        Ok(summary) => Gpu { value: value(&summary), text: text(&summary) },
        Err(error) => none(&et_gpu::problem().unwrap_or_else(|| error.message().to_owned())),
    }
}

/// Says that this build cannot look.
#[cfg(not(feature = "gpu"))]
pub fn describe() -> Gpu {
    none("the feature `gpu` is not compiled into this etbuild")
}

/// The most memory of the GPU that programs of this process had at a time; `None` if no program ran there.
#[cfg(feature = "gpu")]
pub fn peak_memory() -> Option<Gpu> {
    let et_gpu::DeviceMemory { weights, scratch, arguments, states, staging, total, imported } = et_gpu::peak_memory();
    let value = serde_json::json!({
        "total": total, "weights": weights, "scratch": scratch, "arguments": arguments, "states": states,
        "staging": staging, "imported": imported,
    });
    let parts = [
        (weights, "weights"),
        (scratch, "scratch"),
        (arguments, "inputs and outputs"),
        (states, "states"),
        (staging, "staging"),
    ];
    let parts = parts.iter().filter(|(size, _)| *size > 0).map(|(size, name)| format!("{name} {}", bytes(*size)));
    let parts = parts.collect::<Vec<_>>().join(", ");
    let host = if imported > 0 { format!("; {} of the host in place", bytes(imported)) } else { String::new() };
    let text = format!("GPU memory: at most {} ({parts}){host}", bytes(total));
    (total > 0).then_some(Gpu { value, text })
}

/// Without the backend no program runs on a GPU.
#[cfg(not(feature = "gpu"))]
pub const fn peak_memory() -> Option<Gpu> {
    None
}

fn none(problem: &str) -> Gpu {
    Gpu { value: serde_json::json!({ "problem": problem }), text: format!("none: {problem}") }
}

#[cfg(feature = "gpu")]
fn value(summary: &et_gpu::Summary) -> Value {
    let features = features(summary);
    serde_json::json!({
        "name": summary.name,
        "kind": kind(summary.kind),
        "driver": summary.driver,
        "driver_version": summary.driver_version,
        "api": summary.api.to_lowercase(),
        "api_version": summary.api_version,
        "subgroup": summary.subgroup,
        "features": features,
        "max_buffer": summary.buffer,
        "max_image": summary.image,
        "memory": summary.heap,
    })
}

#[cfg(feature = "gpu")]
fn text(summary: &et_gpu::Summary) -> String {
    let et_gpu::Summary { name, driver, driver_version, api, api_version, subgroup, heap, .. } = summary;
    let features = features(summary).join(", ");
    format!(
        "{name}, {}; driver {driver} {driver_version}, {api} {api_version}, subgroups of {subgroup}, {} MiB; {features}",
        kind(summary.kind),
        heap >> 20,
    )
}

/// The features that kernels may need or that save memory, by name.
#[cfg(feature = "gpu")]
fn features(summary: &et_gpu::Summary) -> Vec<&'static str> {
    let features = [
        (summary.float16, "float16"),
        (summary.float64, "float64"),
        (summary.int64, "int64"),
        (summary.imports_weights, "weights in place"),
        (summary.validates, "validation"),
    ];
    features.into_iter().filter(|(has, _)| *has).map(|(_, name)| name).collect()
}

#[cfg(feature = "gpu")]
const fn kind(kind: et_gpu::DeviceKind) -> &'static str {
    match kind {
        et_gpu::DeviceKind::Discrete => "discrete",
        et_gpu::DeviceKind::Integrated => "integrated",
        et_gpu::DeviceKind::Virtual => "virtual",
        et_gpu::DeviceKind::Cpu => "CPU",
        et_gpu::DeviceKind::Other => "other",
    }
}
