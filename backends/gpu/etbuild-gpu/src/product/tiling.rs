//! Tiles of staged products, and the split of the inner dimension: which are fastest on a GPU.

use super::Product;
use crate::profile::Profile;
use crate::tensor::TEXEL;

/// A tile of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tile {
    /// The rows of a workgroup.
    pub rows: usize,
    /// The columns of a workgroup.
    pub columns: usize,
    /// The rows and the columns of an invocation, multiples of four.
    pub each: [usize; 2],
}

/// The slices of the inner dimension that a workgroup stages at a time.
pub const SLICES: usize = 4;

/// The indices of the inner dimension that a workgroup stages at a time.
pub const DEPTH: usize = SLICES * TEXEL;

/// The tiles, by how often an operand in workgroup memory is used.
const TILES: [Tile; 6] = [
    Tile { rows: 128, columns: 128, each: [8, 8] },
    Tile { rows: 128, columns: 64, each: [8, 4] },
    Tile { rows: 64, columns: 64, each: [4, 4] },
    Tile { rows: 64, columns: 32, each: [4, 4] },
    Tile { rows: 32, columns: 64, each: [4, 4] },
    Tile { rows: 32, columns: 32, each: [4, 4] },
];

/// The invocations that hide the latency of a compute unit's memory.
const BUSY: usize = 512;

/// The least indices of the inner dimension, over all kernel positions, that a part of a split product has.
const LEAST_DEPTH: usize = 128;

/// A tile, and the parts that the inner dimension is split in so that small results keep all compute units busy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tiling {
    /// The tile.
    pub tile: Tile,
    /// The most parts that are worthwhile; 1 for none.
    pub parts: usize,
}

impl Tiling {
    /// The fastest tiling of a product for a class of GPUs; none without compute units, and where a group of columns is smaller than
    /// every tile.
    pub fn of(product: &Product, profile: &Profile) -> Option<Self> {
        let units = profile.units;
        let fits = |tile: &Tile| {
            let is_in_group = product.group == product.column_count() || product.group.is_multiple_of(tile.columns);
            is_in_group && tile.bytes() <= profile.workgroup_memory()
        };
        let tiles = TILES.into_iter().filter(|tile| units > 0 && fits(tile));
        let tilings = tiles.map(|tile| Self { tile, parts: tile.parts(product, units) });
        tilings.min_by(|one, other| one.cost(product, units).total_cmp(&other.cost(product, units)))
    }

    /// The time of a product, in multiplications of a compute unit: a value in workgroup memory is about as slow as two multiplications,
    /// and with fewer invocations than hide the latency, units wait.
    fn cost(self, product: &Product, units: usize) -> f64 {
        let Self { tile, parts } = self;
        let [rows, columns] = tile.each.map(|size| size as f64);
        let workgroups = tile.workgroups(product).iter().product::<usize>() * parts;
        let rounds = workgroups.div_ceil(units);
        let work = rounds * tile.rows * tile.columns * product.depth().div_ceil(parts);
        let waiting = BUSY as f64 / (tile.invocations() * rounds).min(BUSY) as f64;
        let sums = if parts == 1 { 0 } else { parts * product.sizes.iter().product::<usize>() / units };
        work as f64 * (1.0 + 2.0 / rows + 2.0 / columns) * waiting + COPY * sums as f64
    }
}

/// The time of a stored and loaded sum, in multiplications.
const COPY: f64 = 32.0;

impl Tile {
    /// The workgroups of a product.
    pub fn workgroups(self, product: &Product) -> [usize; 3] {
        let rows = product.row_count().div_ceil(self.rows);
        [rows, product.column_count().div_ceil(self.columns), product.batch_count()]
    }

    /// The parts with which the product keeps all compute units busy.
    fn parts(self, product: &Product, units: usize) -> usize {
        let invocations = self.invocations() * self.workgroups(product).iter().product::<usize>();
        let most = (product.depth() / LEAST_DEPTH).max(1);
        if product.is_whole() { (BUSY * units / invocations).clamp(1, most) } else { 1 }
    }

    /// The vectors from an index of the inner dimension to the next in workgroup memory, for so many rows or columns: stores of neighbours
    /// in the inner dimension meet other banks.
    pub const fn stride(size: usize) -> usize {
        size / TEXEL + 1
    }

    /// The bytes of workgroup memory that the operands take.
    pub const fn bytes(self) -> usize {
        DEPTH * (Self::stride(self.rows) + Self::stride(self.columns)) * size_of::<[f32; TEXEL]>()
    }

    /// The invocations along rows and columns.
    pub const fn lanes(self) -> [usize; 2] {
        [self.rows / self.each[0], self.columns / self.each[1]]
    }

    /// The invocations of a workgroup.
    pub const fn invocations(self) -> usize {
        let [along, across] = self.lanes();
        along * across
    }
}

#[cfg(test)]
mod tests {
    use etbuild_backend::GpuApi;

    use super::*;
    use crate::expr::{Exprs, TensorId};
    use crate::product::{Limits, RightTexel};

    fn gpu(units: usize) -> Profile {
        Profile { units, ..Profile::default() }
    }

    fn product([rows, columns, inner]: [usize; 3], group: usize) -> Product {
        let operand = Exprs::default().add(crate::expr::Expr::Load(TensorId(0)), crate::types::Type::Float);
        Product {
            sizes: vec![rows, columns],
            rows: vec![0],
            batch: Vec::new(),
            column: 1,
            group,
            positions: Vec::new(),
            inner,
            limits: Limits::default(),
            left: operand,
            is_inside: None,
            right: operand,
            right_texel: RightTexel::Inner,
        }
    }

    #[test]
    fn a_large_product_has_large_tiles_and_a_small_one_is_split() {
        let tiling = |product: &Product| Tiling::of(product, &gpu(128)).unwrap();
        let large = tiling(&product([4096, 4096, 4096], 4096));
        assert_eq!((large.tile.rows, large.tile.columns, large.parts), (128, 128, 1));
        let small = tiling(&product([49, 512, 4608], 512));
        assert!(small.parts > 8, "{small:?}");
    }

    #[test]
    fn the_operands_of_a_tile_fit_in_workgroup_memory() {
        let page = Profile { api: GpuApi::WebGpu, ..gpu(128) };
        let tile = Tiling::of(&product([4096, 4096, 4096], 4096), &page).unwrap().tile;
        assert_eq!((tile.rows, tile.columns), (128, 64));
        assert!(TILES[0].bytes() > page.workgroup_memory());
    }

    #[test]
    fn a_tile_lies_within_a_group_of_columns() {
        assert_eq!(Tiling::of(&product([1024, 64, 64], 16), &gpu(128)), None);
        assert_eq!(Tiling::of(&product([1024, 64, 64], 32), &gpu(128)).unwrap().tile.columns, 32);
        assert_eq!(Tiling::of(&product([1024, 64, 64], 64), &gpu(0)), None);
    }
}
