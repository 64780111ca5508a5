//! The engines of this etbuild: the one place that names them.

use et_module::Engine;
use etbuild_backend::Backend;

/// What recipes may name in `partition:` besides `portable`.
pub static BACKENDS: &[&dyn Backend] = &[];

/// What runs their blobs on this machine.
pub static ENGINES: &[Engine] = &[];
