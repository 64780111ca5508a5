//! The scheme of a recipe without `quantize:`.

use etbuild_backend::TargetFacts;
use etbuild_recipe::{Model, Quantize, Recipe, Scheme};
use etbuild_yaml::Spanned;

use super::options::best_backends;
use crate::input::stores_integers;
use crate::session::World;

/// The recipe with the scheme that leaving `quantize` out stands for: that of the integers which a checkpoint stores, where the backend that is
/// asked first multiplies them by int8 rows. `None` for a recipe that stays as it is.
pub fn with_scheme(world: &World, recipe: &Recipe, target: &TargetFacts) -> Option<Recipe> {
    let Model::Checkpoint(folder) = &recipe.model else { return None };
    let engines = recipe.partition.backends(&best_backends(recipe, world, target));
    let first = engines.first().and_then(|name| world.engine(name));
    let is_default = recipe.quantize.is_none()
        && first.is_some_and(|backend| backend.multiplies_int8_rows())
        && stores_integers(world.system(), &folder.path);
    let scheme = is_default.then(|| Spanned::new(Scheme::Stored, (*folder.span).clone()))?;
    Some(Recipe { quantize: Some(Quantize::by(scheme)), ..recipe.clone() })
}
