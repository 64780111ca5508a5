//! What results are made of, in the forms that others read, and checking a folder of results against them.

mod bundle;
mod provenance;
mod sbom;
mod subject;

pub use bundle::check;
pub use provenance::{PROVENANCE, provenance};
pub use sbom::{SBOM, sbom};
pub use subject::Subject;
