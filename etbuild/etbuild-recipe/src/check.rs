//! Rules that no type expresses.

use std::collections::BTreeSet;

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_yaml::{Spanned, quote};

use crate::Recipe;

/// Every rule that a typed recipe breaks.
pub fn check(recipe: &Recipe) -> Vec<Diagnostic> {
    let group_size = recipe.quantize.as_ref().and_then(|quantize| quantize.group_size.as_ref());
    let group_size = group_size.filter(|size| !size.value.is_power_of_two()).map(odd_group_size);
    let context = recipe.export.context.as_ref().filter(|context| context.value == 0).map(empty_context);
    repeated(&recipe.targets).chain(repeated(&recipe.partition)).chain(group_size).chain(context).collect()
}

/// The names that stand in a list before.
fn repeated(names: &[Spanned<String>]) -> impl Iterator<Item = Diagnostic> {
    let mut seen = BTreeSet::new();
    let again = names.iter().filter(move |name| !seen.insert(name.value.as_str()));
    again.map(|name| {
        let message = format!("{} is in this list twice", quote(&name.value));
        Diagnostic::error(Code::BadValue, message).at((*name.span).clone()).help("remove one of the two")
    })
}

fn odd_group_size(size: &Spanned<u32>) -> Diagnostic {
    let message = format!("a group of {} weights cannot be packed", size.value);
    Diagnostic::error(Code::BadValue, message).at((*size.span).clone()).help("write a power of two, such as 32")
}

fn empty_context(context: &Spanned<u32>) -> Diagnostic {
    let message = "a context of 0 tokens holds nothing";
    Diagnostic::error(Code::BadValue, message).at((*context.span).clone()).help("write a number such as 2048")
}
