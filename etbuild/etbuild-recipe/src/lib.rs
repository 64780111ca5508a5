//! Reads a recipe file as typed recipes.
//!
//! The steps, a module each: text to a tree with places ([`etbuild_yaml`]); `extends:` (`extends`); `--set`
//! (`overrides`); `matrix:` (`matrix`); `vars:` and `${name}` (`substitute`); tree to [`Recipe`]. [`load`] runs the
//! steps over a [`RecipeFiles`], the only input of a recipe, so that a caller can track inputs.
//!
//! The doc comments of [`Recipe`] and its parts are the reference: [`recipe_schema`] and [`reference_markdown`] are
//! derived from these comments.
//!
//! ```
//! use std::path::Path;
//!
//! use etbuild_recipe::{Model, load};
//! use etbuild_system::MemorySystem;
//!
//! let text = "etbuild: 1\nname: digits\nmodel: { pt2: digits.pt2 }\ntargets: [pico2]\n";
//! let system = MemorySystem::with_files([("digits.yaml", text)]);
//! let loaded = load(&system, Path::new("digits.yaml"), &[]).unwrap();
//! let [recipe] = &loaded.instances[..] else { panic!("a recipe without a matrix is one recipe") };
//! assert!(recipe.targets[0].value == "pico2" && matches!(recipe.model, Model::Pt2(_)));
//! ```

#![deny(clippy::iter_over_hash_type, reason = "the order of a hash map reaches no result")]

mod check;
mod extends;
mod file_path;
mod files;
mod foreign;
mod inputs;
mod load;
mod matrix;
mod merge;
mod missing;
mod options;
mod overrides;
mod recipe;
mod reference;
mod schema;
mod starter;
mod substitute;
mod tolerance;

pub use etbuild_yaml::Name;
pub use file_path::{FilePath, is_on_hub};
pub use files::{RecipeFiles, SystemFiles};
pub use load::{Loaded, load, load_from};
pub use missing::{missing_file, missing_files};
pub use options::{
    Accuracy, AudioInput, Budget, Cache, CameraPixels, Color, Dct, Diffusion, DiffusionScheduler, Embedding, Export,
    Features, Filter, FixedScalar, FixedValue, Float, Fraction, ImageInput, Input, LayerScheme, Layout, Link, Log,
    Memory, Method, Metric, Model, Norm, Number, Observer, OneOrMany, Optimize, Output, Partition, Planner, Pooling,
    Precision, PythonFunction, Quantize, Rotation, Runtime, Scale, Scheme, TextOptions, TimeLimit, Updates, Verify,
    Weights, WindowFunction,
};
pub use overrides::Override;
pub use recipe::Recipe;
pub use reference::reference_markdown;
pub use schema::recipe_schema;
pub use starter::{ModelKind, starter};
pub use tolerance::Tolerance;
