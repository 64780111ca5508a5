//! `partition:`.

use etbuild_yaml::Spanned;
use schemars::JsonSchema;
use serde::Deserialize;

use super::OneOrMany;

/// The backends of a recipe in order of preference, as the recipe writes them. A missing key is [`Partition::AUTO`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Partition(Option<OneOrMany<String>>);

impl Partition {
    /// The word for the best backends of the target.
    pub const AUTO: &str = "auto";
    /// The word for the portable kernels, which run every operator: no backend after them is asked.
    pub const PORTABLE: &str = "portable";

    /// The names in the recipe, in order.
    pub fn names(&self) -> &[Spanned<String>] {
        self.0.as_ref().map_or(&[], |names| &names.0)
    }

    /// The backends to ask, in order and without the portable kernels. [`Partition::AUTO`] stands for `best`, the backends that
    /// run on the target, best first.
    pub fn backends(&self, best: &[&str]) -> Vec<String> {
        let mut backends: Vec<String> = Vec::new();
        let default = self.0.is_none().then_some(Self::AUTO);
        let names = self.names().iter().map(|name| name.value.as_str()).chain(default);
        for name in names.take_while(|name| *name != Self::PORTABLE) {
            let meant = if name == Self::AUTO { best } else { &[name] };
            for name in meant {
                if !backends.iter().any(|known| known == name) {
                    backends.push((*name).to_owned());
                }
            }
        }
        backends
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use etbuild_system::MemorySystem;

    use super::*;
    use crate::load;

    fn partition(line: &str) -> Partition {
        let text = format!("etbuild: 1\nname: x\nmodel: {{ pt2: m.pt2 }}\n{line}\n");
        let loaded = load(&MemorySystem::with_files([("r.yaml", text)]), Path::new("r.yaml"), &[]).unwrap();
        loaded.instances[0].partition.clone()
    }

    #[test]
    fn a_missing_key_asks_the_best_backends_of_the_target() {
        for line in ["", "partition: auto", "partition: [auto]"] {
            let partition = partition(line);
            assert_eq!(partition.backends(&["gpu", "cpu"]), ["gpu", "cpu"], "{line}");
            assert!(partition.backends(&[]).is_empty(), "{line}");
        }
    }

    #[test]
    fn named_backends_are_asked_whatever_is_best() {
        for (line, expected) in [
            ("partition: cpu", &["cpu"][..]),
            ("partition: [npu, cpu]", &["npu", "cpu"]),
            ("partition: [npu, auto]", &["npu", "gpu", "cpu"]),
            ("partition: [cpu, auto]", &["cpu", "gpu"]),
            ("partition: portable", &[]),
            ("partition: [portable]", &[]),
            ("partition: [cpu, portable, npu]", &["cpu"]),
        ] {
            let partition = partition(line);
            assert_eq!(partition.backends(&["gpu", "cpu"]), expected, "{line}");
        }
    }

    #[test]
    fn a_name_keeps_its_place_in_the_recipe() {
        let lines = ["partition: cpu", "partition: [cpu]"].map(|line| partition(line).names()[0].span.start.column);
        assert_eq!(lines, [12, 13]);
    }
}
