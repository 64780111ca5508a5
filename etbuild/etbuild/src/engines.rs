//! The backends of this etbuild, listed here only.

use et_module::Engine;
use etbuild_backend::Backend;

/// The names for `partition:` besides `portable`.
pub static BACKENDS: &[&dyn Backend] = &[
    // A row for each, and one below.
    &etbuild_cpu::BACKEND,
];

/// The delegates that run the blobs on this machine.
pub static ENGINES: &[Engine] = &[
    // A row for each, and one above.
    Engine { id: et_cpu::ID, make: |workers| Box::new(et_cpu::delegate(workers)) },
];

/// The same, with profiling of the instructions where the delegate can.
pub static TELLING: &[Engine] = &[Engine {
    id: et_cpu::ID,
    make: |workers| Box::new(et_cpu::telling_delegate(workers, |step| crate::report::note_step(step))),
}];
