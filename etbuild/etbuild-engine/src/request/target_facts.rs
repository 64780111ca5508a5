//! Targets in the form for backends.

use etbuild_backend::TargetFacts;
use etbuild_target::{Kind, Target};

/// The facts of a target that backends may read.
pub fn of(target: &Target) -> TargetFacts {
    let stated = target.rust().features.iter().filter_map(|feature| feature.enabled()).map(str::to_owned);
    let mut features: Vec<String> = target.instruction_sets().iter().cloned().chain(stated).collect();
    features.sort();
    features.dedup();
    let hosted = target.kind() == Kind::Hosted;
    TargetFacts { architecture: architecture(target.rust().triple.as_str()), features, hosted }
}

/// The first part of a triple, without the version that Arm's have: `thumbv8m.main` is `thumb`.
fn architecture(triple: &str) -> String {
    let first = triple.split('-').next().unwrap_or_default();
    let family = ["thumb", "arm"].into_iter().find(|family| first.starts_with(&format!("{family}v")));
    family.unwrap_or(first).to_owned()
}

#[cfg(test)]
mod tests {
    use etbuild_target::Catalogue;

    use super::*;

    #[test]
    fn a_target_is_an_architecture_and_instruction_sets() {
        let catalogue = Catalogue::shipped().unwrap();
        let facts = |name| of(catalogue.get(name).unwrap());
        let server = facts("linux-x86_64");
        assert_eq!((server.architecture.as_str(), server.hosted, server.has("avx2")), ("x86_64", true, true));
        assert_eq!(facts("linux-aarch64").architecture, "aarch64");
        assert_eq!((facts("pico2").architecture.as_str(), facts("pico2").hosted), ("thumb", false));
    }
}
