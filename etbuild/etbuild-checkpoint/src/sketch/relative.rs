//! Biases of attention by the distance of two tokens, for texts of any length.

use et_core::ScalarType;
use etbuild_ir::{Argument, ConstantData, TensorSpec, ValueId};

use super::Sketch;
use crate::Relative;
use crate::constant::{Constant, spec};
use crate::relative::both_ways;

impl Sketch {
    /// The biases of the scores, `[1, heads, n, n]`, from the table of the buckets, `[buckets, heads]`; `end` is `n`, at most `most`. The second
    /// half of the buckets is for keys behind the token.
    pub fn relative_biases(&mut self, table: ValueId, relative: Relative, end: ValueId, most: usize) -> ValueId {
        let (size, heads) = (i32::try_from(most).unwrap_or(i32::MAX), self.size(table, 1) as i32);
        let buckets = both_ways(most, relative.buckets, relative.farthest);
        let bytes: Vec<u8> = buckets.iter().flat_map(|bucket| bucket.to_le_bytes()).collect();
        let data = ConstantData::new(bytes);
        let buckets = Constant::plain("relative.buckets", spec(ScalarType::Long, &[most, most]), data);
        let buckets = self.constant(&buckets);
        let buckets = self.first(buckets, 0, end, most);
        let buckets = self.first(buckets, 1, end, most);
        let rows = self.embedding(table, buckets);
        let output = TensorSpec::contiguous(ScalarType::Float, [heads, size, size]).with_least([heads, 1, 1]);
        let order = Argument::Ints(vec![2, 0, 1]);
        let turned = self.call("aten.permute.default", vec![Argument::Value(rows), order], output);
        let output = TensorSpec::contiguous(ScalarType::Float, [1, heads, size, size]).with_least([1, heads, 1, 1]);
        self.call("aten.unsqueeze.default", vec![Argument::Value(turned), Argument::Int(0)], output)
    }

    /// The first `end` elements of a dimension; `end` is at most `most`.
    pub fn first(&mut self, of: ValueId, dimension: usize, end: ValueId, most: usize) -> ValueId {
        let whole = self.like(of);
        let with = |sizes: &[i32], size: i32| -> Vec<i32> {
            sizes.iter().enumerate().map(|(index, own)| if index == dimension { size } else { *own }).collect()
        };
        let sizes = with(&whole.sizes, i32::try_from(most).unwrap_or(i32::MAX));
        let output = TensorSpec::contiguous(whole.scalar_type, sizes).with_least(with(&whole.least, 1));
        let range = [Argument::Int(dimension as i64), Argument::Int(0), Argument::Value(end), Argument::Int(1)];
        self.call("aten.slice.Tensor", std::iter::once(Argument::Value(of)).chain(range).collect(), output)
    }
}
