//! Partitions that become one context binary: those with the same weights, as those of the methods of a language model are, and others up
//! to a number of bytes.

use std::collections::BTreeMap;

use etbuild_ir::Digest;

use crate::partition::Partition;
use crate::program::Tensor;

/// The bytes of each constant, by digest.
type Weights = BTreeMap<Digest, u64>;

/// The groups so far.
pub struct Groups {
    most: u64,
    groups: Vec<Group>,
    count: usize,
}

#[derive(Default)]
struct Group {
    partitions: Vec<usize>,
    weights: Weights,
}

impl Groups {
    /// No groups, which may have `most` bytes of weights each.
    pub const fn new(most: u64) -> Self {
        Self { most, groups: Vec::new(), count: 0 }
    }

    /// Adds a partition: to the group with most of its weights, else to the last group that has room, else to a group of its own.
    pub fn add(&mut self, partition: &Partition) {
        let weights = weights(partition);
        let all = bytes(&weights);
        let shared = |group: &Group| -> u64 {
            weights.iter().filter(|(digest, _)| group.weights.contains_key(*digest)).map(|(_, bytes)| *bytes).sum()
        };
        let most = self.most;
        let twin = self.groups.iter().position(|group| all > 0 && 2 * shared(group) > all);
        let has_room = |group: &Group| bytes(&group.weights) + all - shared(group) <= most;
        let found = twin.or_else(|| self.groups.iter().rposition(has_room));
        let position = found.unwrap_or_else(|| {
            self.groups.push(Group::default());
            self.groups.len() - 1
        });
        let group = &mut self.groups[position];
        group.partitions.push(self.count);
        group.weights.extend(weights);
        self.count += 1;
    }

    /// The positions of the partitions of each group.
    pub fn finish(self) -> Vec<Vec<usize>> {
        self.groups.into_iter().map(|group| group.partitions).collect()
    }
}

fn bytes(weights: &Weights) -> u64 {
    weights.values().sum()
}

fn weights(partition: &Partition) -> Weights {
    let tensors = partition.graphs().iter().flat_map(|graph| &graph.tensors);
    let constants = tensors.filter(|tensor| !tensor.data.is_empty());
    constants.map(|Tensor { data, .. }| (Digest::of(data), data.len() as u64)).collect()
}

#[cfg(test)]
mod tests {
    use et_qnn::build::{DataType, Kind, Quantization};

    use super::*;
    use crate::program::Program;

    /// A partition with a constant of ten bytes for each letter.
    fn partition(letters: &str) -> Partition {
        let mut program = Program::default();
        for letter in letters.bytes() {
            let (kind, data_type, quantization) = (Kind::Static, DataType::Uint8, Quantization::None);
            let name = "w".to_owned();
            program.tensor(Tensor { name, kind, data_type, quantization, sizes: vec![10], data: vec![letter; 10] });
        }
        Partition::new(vec![program])
    }

    fn groups(most: u64, partitions: &[&str]) -> Vec<Vec<usize>> {
        let mut groups = Groups::new(most);
        partitions.iter().for_each(|letters| groups.add(&partition(letters)));
        groups.finish()
    }

    #[test]
    fn partitions_with_the_same_weights_are_one_group_however_large() {
        assert_eq!(groups(25, &["ab", "cd", "abx", "cd"]), [[0, 2], [1, 3]]);
        assert_eq!(groups(10, &["abc", "abc"]), [[0, 1]]);
    }

    #[test]
    fn others_are_one_group_as_long_as_it_has_room() {
        assert_eq!(groups(40, &["ab", "cd", "e"]), [vec![0, 1], vec![2]]);
        assert_eq!(groups(99, &["ab", "cd", "e", ""]), [[0, 1, 2, 3]]);
    }
}
