//! The constants of data files, by name.

use std::collections::BTreeMap;

use et_format::write::{DataEntry, DataLayout};
use etbuild_ir::{ConstantData, TensorSpec, is_of_adapter};

/// Constants in the order of names, so that programs with the same constants have equal data files.
#[derive(Default)]
pub struct External<'a> {
    entries: BTreeMap<String, (&'a TensorSpec, &'a ConstantData)>,
}

impl<'a> External<'a> {
    /// Adds a constant and returns its name in the file: the qualified name, with the digest of the elements where
    /// another constant of the program already has the qualified name.
    pub fn add(&mut self, qualified_name: &str, spec: &'a TensorSpec, data: &'a ConstantData) -> String {
        let with_digest = || data.distinct_name(qualified_name);
        let numbered = (1_u32..).map(|number| format!("{}.{number}", with_digest()));
        let names = std::iter::once(qualified_name.to_owned()).chain(std::iter::once_with(with_digest)).chain(numbered);
        for name in names {
            if *self.entries.entry(name.clone()).or_insert((spec, data)) == (spec, data) {
                return name;
            }
        }
        qualified_name.to_owned()
    }

    /// The entries of the model's data file: all constants except the constants of an adapter.
    pub fn of_model(&self) -> Vec<DataEntry<'a>> {
        self.entries(|name| !is_of_adapter(name))
    }

    /// The entries of the adapter's data file.
    pub fn of_adapter(&self) -> Vec<DataEntry<'a>> {
        self.entries(is_of_adapter)
    }

    fn entries(&self, belongs: impl Fn(&str) -> bool) -> Vec<DataEntry<'a>> {
        let entries = self.entries.iter().filter(|(key, _)| belongs(key));
        entries
            .map(|(key, (spec, data))| DataEntry { key: key.clone(), data: data.bytes(), layout: Some(layout(spec)) })
            .collect()
    }
}

fn layout(spec: &TensorSpec) -> DataLayout {
    DataLayout { scalar_type: spec.scalar_type, sizes: spec.sizes.clone(), dim_order: spec.dim_order.clone() }
}

#[cfg(test)]
mod tests {
    use et_core::ScalarType;
    use etbuild_ir::adapter_name;

    use super::*;

    #[test]
    fn constants_with_equal_names_are_told_apart_by_digest() {
        let spec = TensorSpec::contiguous(ScalarType::Byte, [2]);
        let (one, other) = (ConstantData::new(vec![1, 2]), ConstantData::new(vec![3, 4]));
        let mut external = External::default();
        assert_eq!(external.add("weight", &spec, &one), "weight");
        assert_eq!(external.add("weight", &spec, &one), "weight");
        let name = external.add("weight", &spec, &other);
        assert!(name.starts_with("weight@") && name.len() == 23, "{name}");
        assert_eq!(external.add("weight", &spec, &other), name);
        let row = TensorSpec::contiguous(ScalarType::Byte, [1, 2]);
        assert_eq!(external.add("weight", &row, &other), format!("{name}.1"));
        assert_eq!(external.of_model().len(), 3);
    }

    #[test]
    fn constants_of_an_adapter_go_to_a_separate_file() {
        let spec = TensorSpec::contiguous(ScalarType::Byte, [2]);
        let data = ConstantData::new(vec![1, 2]);
        let mut external = External::default();
        let names = ["weight".to_owned(), adapter_name("weight"), adapter_name("other")];
        names.iter().for_each(|name| assert_eq!(&external.add(name, &spec, &data), name));
        let keys = |entries: Vec<DataEntry<'_>>| entries.into_iter().map(|entry| entry.key).collect::<Vec<_>>();
        assert_eq!(keys(external.of_model()), ["weight"]);
        assert_eq!(keys(external.of_adapter()), [adapter_name("other"), adapter_name("weight")]);
    }
}
