//! The backends of the features: delegates that run the blobs of program files.

use et_module::Engine;

/// The backend of the feature `cpu`.
#[cfg(feature = "cpu")]
pub const CPU: Engine =
    Engine { id: et_cpu::ID, make: |host| Box::new(et_cpu::delegate(host.workers)), problem: || None };

/// The backend of the feature `cortex-m`.
#[cfg(feature = "cortex-m")]
pub const CORTEX_M: Engine =
    Engine { id: et_cortex_m::ID, make: |host| Box::new(et_cortex_m::delegate(host.workers)), problem: || None };

/// The backend of the feature `ethos-u`.
#[cfg(feature = "ethos-u")]
pub const ETHOS_U: Engine =
    Engine { id: et_ethos_u::ID, make: |host| Box::new(et_ethos_u::delegate(host.workers)), problem: || None };

/// The backend of the feature `gpu`.
#[cfg(feature = "gpu")]
pub const GPU: Engine =
    Engine { id: et_gpu::ID, make: |host| Box::new(et_gpu::delegate(host.workers)), problem: et_gpu::problem };

/// The backend of the feature `qnn`.
#[cfg(feature = "qnn")]
pub const QNN: Engine =
    Engine { id: et_qnn::ID, make: |host| Box::new(et_qnn::delegate(host.workers)), problem: et_qnn::problem };

/// The backends of all features that are on.
pub static ALL: &[Engine] = &[
    #[cfg(feature = "cpu")]
    CPU,
    #[cfg(feature = "cortex-m")]
    CORTEX_M,
    #[cfg(feature = "ethos-u")]
    ETHOS_U,
    #[cfg(feature = "gpu")]
    GPU,
    #[cfg(feature = "qnn")]
    QNN,
];

/// The names of [`ALL`] in program files.
pub fn names() -> Vec<&'static str> {
    ALL.iter().map(|engine| engine.id).collect()
}
