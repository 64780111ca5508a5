//! Sets the revision of the backend.

#[path = "../../revision.rs"]
mod revision;

fn main() {
    let folders =
        ["backends/qnn/et-qnn/src", "backends/qnn/etbuild-qnn/src", "runtime/et-problem/src", "runtime/et-record/src"];
    revision::set("ETBUILD_QNN_REVISION", &folders);
}
