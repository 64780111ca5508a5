//! Sets the revision of the backend.

#[path = "../../revision.rs"]
mod revision;

fn main() {
    let folders = [
        "backends/cortex-m/et-cortex-m/src",
        "backends/cortex-m/etbuild-cortex-m/src",
        "backends/etbuild-backend/src/int8",
        "runtime/et-record/src",
    ];
    revision::set("ETBUILD_CORTEX_M_REVISION", &folders);
}
