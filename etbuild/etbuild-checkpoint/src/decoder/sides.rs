//! Weights of a rotated model: matrices that read or make rotated vectors take the rotation in, with the gains of the normalization
//! ahead.

use et_core::ScalarType;
use etbuild_ir::TensorSpec;
use etbuild_weights::{Rotated, Space, reals};

use super::weights::Weights;
use crate::constant::{Constant, Part, vector_of};

/// Vectors that are rotated in a rotated model.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Tokens, between layers.
    Tokens,
    /// Heads of values. Heads of queries and keys get rotary position embedding instead.
    Heads,
}

/// The input and the output of a matrix.
#[derive(Clone, Copy, Default)]
pub struct Sides<'n> {
    /// The space of the input, if rotated.
    pub reads: Option<Side>,
    /// The module of the normalization ahead.
    pub norm: Option<&'n str>,
    /// The space of the output, if rotated.
    pub makes: Option<Side>,
}

impl<'n> Sides<'n> {
    /// A matrix that reads tokens behind a normalization.
    pub const fn behind(norm: Option<&'n str>) -> Self {
        Self { reads: Some(Side::Tokens), norm, makes: None }
    }
}

impl Weights<'_> {
    /// A matrix of a rotated model; the stored matrix where the model is not rotated, or after a mistake.
    pub fn matrix(&mut self, tensor: &str, part: Part, columns: usize, sides: Sides<'_>) -> Constant {
        let stored = self.stored_matrix(tensor, part, columns);
        if !self.rotates() {
            return stored;
        }
        let gains = sides.norm.map(|norm| self.gains(norm, columns)).unwrap_or_default();
        if self.failed() {
            return stored;
        }
        let keeper = self.keeper;
        let [reads, makes] = [sides.reads, sides.makes].map(|side| self.rotated_space(side));
        let name = format!("{}.rotated", stored.name);
        self.once(name, |_, _| {
            let Constant { name, spec: stored, data, .. } = stored;
            let rotated = Rotated { elements: data, scalar_type: stored.scalar_type, columns, gains, reads, makes };
            let spec = TensorSpec { scalar_type: ScalarType::Float, ..stored };
            Ok((spec, keeper.keep(&name, &rotated)))
        })
    }

    /// A bias in the space of `makes`.
    pub fn bias(&mut self, tensor: &str, part: Part, makes: Option<Side>) -> Constant {
        let stored = self.vector(tensor, part, 0.0);
        let Some(side) = makes.filter(|_| self.rotates() && !self.failed()) else { return stored };
        let (mut floats, space) = (reals::floats(stored.data.bytes()), self.space(side));
        self.once(format!("{}.rotated", stored.name), |_, _| {
            space.rotate(&mut floats, 1);
            Ok(vector_of(&[part.count], &floats))
        })
    }

    /// The weights and the biases of a normalization of tokens, where present: in a rotated model, the matrix that reads the output has
    /// the weights.
    pub fn norm(&mut self, module: &str) -> [Option<Constant>; 2] {
        let (width, norm) = (self.decoder.width, self.decoder.norm);
        if self.rotates() {
            return [Some(self.once("ones".to_owned(), |_, _| Ok(vector_of(&[width], &vec![1.0; width])))), None];
        }
        let weight = norm.has_weights.then(|| self.norm_weight(module, width));
        let bias = norm.has_biases.then(|| self.vector(&format!("{module}.bias"), Part::all(width), 0.0));
        [weight, bias]
    }

    /// The weights of the normalization `module` as a matrix `[1, width, width]` for rotated tokens: for readers whose
    /// matrix cannot take the weights in.
    pub fn rotated_norm(&mut self, module: &str) -> Constant {
        let (width, space) = (self.decoder.width, self.space(Side::Tokens));
        let gains = self.gains(module, width);
        self.once(format!("{module}.rotated"), |weights, _| {
            // Sizes that no tensor has confirmed are not allocated.
            let width = if weights.failed() { 0 } else { width };
            let mut matrix = vec![0.0; width * width];
            for (index, (row, gain)) in matrix.chunks_exact_mut(width.max(1)).zip(gains).enumerate() {
                row.iter_mut().skip(index).take(1).for_each(|element| *element = gain);
                space.rotate(row, 1);
            }
            if width > 0 {
                space.rotate(&mut matrix, width);
            }
            Ok(vector_of(&[1, width, width], &matrix))
        })
    }

    /// The space of vectors that are rotated here.
    pub(super) fn rotated_space(&self, side: Option<Side>) -> Option<Space> {
        side.filter(|_| self.rotates()).map(|side| self.space(side))
    }

    pub(super) fn gains(&mut self, module: &str, count: usize) -> Vec<f32> {
        reals::floats(self.norm_weight(module, count).data.bytes())
    }

    fn norm_weight(&mut self, module: &str, count: usize) -> Constant {
        let more = if self.decoder.norm.less_one { 1.0 } else { 0.0 };
        self.vector(&format!("{module}.weight"), Part::all(count), more)
    }

    fn space(&self, side: Side) -> Space {
        match side {
            Side::Tokens => Space::new(self.decoder.width),
            Side::Heads => Space::new(self.decoder.attention.depth),
        }
    }
}
