//! An action: the inputs of a stage, and the work over the inputs.

use etbuild_diagnostic::Diagnostic;
use etbuild_store::{Key, KeyBuilder};

use super::Products;
use crate::input::Db;
use crate::pipeline::Stage;

/// Inputs that state themselves in a key.
///
/// An implementation takes `self` apart without `..`. A new field does not compile until the key states the field, or until
/// the field is bound to `_` beside the reason why no result depends on the field. `cargo dev tidy` looks for both.
pub trait Keyed {
    /// The key with every input that results depend on.
    fn key(&self, key: KeyBuilder) -> KeyBuilder;
}

/// The inputs of a run of a stage, and the work of the stage.
///
/// The work is a method, so that it captures nothing: it reads the fields, which the key states, and the services behind `db`.
pub trait Action: Keyed {
    /// The stage.
    const STAGE: Stage;

    /// Computes the artifacts.
    ///
    /// # Errors
    /// The diagnostics of a failure that equal inputs would cause again.
    fn run(&self, db: &dyn Db, products: &mut Products<'_>) -> Result<(), Vec<Diagnostic>>;

    /// The key of the action.
    fn action_key(&self) -> Key {
        self.key(Self::STAGE.key()).finish()
    }
}
