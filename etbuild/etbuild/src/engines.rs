//! The engines of this etbuild: the one place that names them.

use et_module::Engine;
use etbuild_backend::Backend;

/// What recipes may name in `partition:` besides `portable`.
pub static BACKENDS: &[&dyn Backend] = &[
    // A row for each, and one below.
    &etbuild_cpu::BACKEND,
];

/// What runs their blobs on this machine.
pub static ENGINES: &[Engine] = &[
    // A row for each, and one above.
    Engine { id: et_cpu::ID, make: |workers| Box::new(et_cpu::delegate(workers)) },
];

/// The same, telling of their steps where they can.
pub static TELLING: &[Engine] = &[Engine {
    id: et_cpu::ID,
    make: |workers| Box::new(et_cpu::telling_delegate(workers, |step| crate::report::note_step(step))),
}];
