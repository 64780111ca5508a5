//! Matrix products, linear layers and distances between rows.

mod distance;

pub mod addmm;
pub mod bmm;
pub mod cdist_forward;
pub mod grouped_mm;
pub mod linear;
pub mod mm;
pub mod pdist_forward;
