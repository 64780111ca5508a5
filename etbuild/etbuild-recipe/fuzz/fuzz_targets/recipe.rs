//! The recipe reader on arbitrary text: a recipe, the extended file `b.yaml`, and a `--set` argument, separated by NUL
//! bytes. The result must be recipes, or diagnostics with places that render.
//!
//! `cargo +nightly fuzz run recipe --fuzz-dir etbuild/etbuild-recipe/fuzz CORPUS recipes`

#![no_main]

use std::path::Path;

use etbuild_diagnostic::{Diagnostic, render};
use etbuild_recipe::{Override, load};
use etbuild_system::MemorySystem;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let mut parts = text.split('\0');
    let (recipe, base) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let overrides = parts.next().map(Override::parse).transpose();
    let system = MemorySystem::with_files([("r.yaml", recipe), ("b.yaml", base)]).with_variable("N", "3");
    let loaded =
        overrides.map_err(|error| vec![error]).and_then(|set| load(&system, Path::new("r.yaml"), set.as_slice()));
    if let Err(diagnostics) = loaded {
        check(&diagnostics);
    }
});

/// Every diagnostic has a place and a hint, and every renderer renders every diagnostic.
fn check(diagnostics: &[Diagnostic]) {
    assert!(!diagnostics.is_empty());
    assert!(diagnostics.iter().all(|diagnostic| diagnostic.span.is_some() && diagnostic.help.is_some()));
    let _ = (render::human(diagnostics, true), render::github(diagnostics), render::sarif(diagnostics));
}
