//! Deploying: the units of a request are built, verified and written out.

mod android;
mod apple;
mod bench;
mod bits;
mod budget;
mod build;
mod joined;
mod limits;
mod on_board;
mod on_device;
mod on_each;
mod package;
mod record;
mod report;
mod run;
mod verdict;
mod verification;

pub use build::Goal;
pub use limits::{judged, placed};
pub use record::slot;
pub use report::{DeviceReport, OutputFile, StageRow, UnitReport, Verification, stage_name};
pub use run::deploy;
