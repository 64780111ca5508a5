//! Sets the revision of the backend.

#[path = "../../revision.rs"]
mod revision;

fn main() {
    revision::set(
        "ETBUILD_CPU_REVISION",
        &[
            "backends/cpu/et-cpu/src",
            "backends/cpu/etbuild-cpu/src",
            "backends/cpu/etbuild-cpu-weights/src",
            "kernel-library/et-gemm/src",
            "kernel-library/et-kernels/src",
            "kernel-library/et-simd/src",
            "runtime/et-record/src",
        ],
    );
}
