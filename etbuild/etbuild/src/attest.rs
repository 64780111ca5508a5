//! Bills of materials and provenance in standard forms, and checking a folder of results against both.

mod bundle;
mod provenance;
mod sbom;
mod subject;

pub use bundle::check;
pub use provenance::{PROVENANCE, provenance};
pub use sbom::{SBOM, sbom};
pub use subject::Subject;
