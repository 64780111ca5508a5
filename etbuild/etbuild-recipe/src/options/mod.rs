//! The parts of a recipe, a file each. The doc comments are the reference.

mod budget;
mod diffusion;
mod export;
mod fixed_value;
mod input;
mod memory;
mod model;
mod number;
mod one_or_many;
mod optimize;
mod output;
mod partition;
mod quantize;
mod runtime;
mod text;
mod time_limit;
mod updates;
mod verify;

pub use budget::Budget;
pub use diffusion::{Diffusion, DiffusionScheduler};
pub use export::{Cache, Export, Precision, Weights};
pub use fixed_value::{FixedScalar, FixedValue, Float};
pub use input::{AudioInput, Color, Filter, ImageInput, Input, Layout};
pub use memory::{Memory, Planner};
pub use model::{Model, PythonFunction};
pub use number::{Fraction, Number};
pub use one_or_many::OneOrMany;
pub use optimize::Optimize;
pub use output::{Link, Output};
pub use partition::Partition;
pub use quantize::{Accuracy, Embedding, LayerScheme, Method, Metric, Observer, Quantize, Rotation, Scheme};
pub use runtime::Runtime;
pub use text::{Pooling, TextOptions};
pub use time_limit::TimeLimit;
pub use updates::Updates;
pub use verify::Verify;
