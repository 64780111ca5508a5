//! A request becomes units: recipes are read, targets looked up, options chosen for every stage.

mod compiler;
mod default_scheme;
mod diffusion;
mod encoder;
mod first_look;
mod front_end;
mod hub;
mod operators;
mod options;
mod program_file;
mod quantization;
mod reading;
mod recipes;
mod refusal;
mod resolve;
mod target_facts;
mod vision;

pub use encoder::is_encoder;
pub use first_look::{Subject, foreign, format as file_format, subject};
pub use operators::{MANIFEST, OPERATORS};
pub use program_file::{HostProgram, ProgramFiles, of_host, program_file, program_file_with_fallback, program_files};
pub use resolve::{Request, catalogue, chosen_targets, resolve, unit_folders};
pub use target_facts::of as target_facts;
