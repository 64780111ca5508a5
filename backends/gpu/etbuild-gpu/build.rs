//! Sets the revision of the backend.

#[path = "../../revision.rs"]
mod revision;

fn main() {
    let folders =
        ["backends/gpu/et-gpu/src", "backends/gpu/etbuild-gpu/src", "runtime/et-problem/src", "runtime/et-record/src"];
    revision::set("ETBUILD_GPU_REVISION", &folders);
}
