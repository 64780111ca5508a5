//! Sets the revision of the backend.

#[path = "../../revision.rs"]
mod revision;

fn main() {
    let folders = [
        "backends/ethos-u/et-ethos-u/src",
        "backends/ethos-u/etbuild-ethos-u/src",
        "backends/etbuild-backend/src/int8",
        "runtime/et-record/src",
    ];
    revision::set("ETBUILD_ETHOS_U_REVISION", &folders);
}
