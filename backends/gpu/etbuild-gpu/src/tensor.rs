//! Stored tensors: a GPU object, and the place of each element in the object.

use et_core::ScalarType;
use et_gpu::Kind;

/// The number of channels in a texel.
pub const TEXEL: usize = 4;

/// A tensor in a GPU object.
#[derive(Clone, Debug)]
pub struct Tensor {
    /// The type of the elements.
    pub scalar_type: ScalarType,
    /// The shape.
    pub sizes: Vec<usize>,
    /// The place of each element.
    pub layout: Layout,
    /// The contents.
    pub source: Source,
}

/// What fills a tensor.
#[derive(Clone, Debug)]
pub enum Source {
    /// An input of the partition.
    Input(usize),
    /// An input of the partition that kernels change in place.
    State(usize),
    /// Weights, by number.
    Weights(usize),
    /// An output of the partition.
    Output(usize),
    /// Kernels.
    Scratch,
}

/// The place of each element in an object: coordinate translation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Layout {
    /// A buffer with a stride for each dimension, in elements.
    Elements(Vec<usize>),
    /// Texels of four channels.
    Texels(Texels),
}

/// A layout in texels: each holds four consecutive indices of one dimension, a slice.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Texels {
    /// The object that holds the texels.
    pub storage: Storage,
    /// The dimension that is sliced.
    pub channel: usize,
    /// The strides of every dimension in x, y and layers of texels; of the channel dimension, those of its slices.
    pub strides: [Vec<usize>; 3],
    /// Width, height and layers.
    pub extent: [usize; 3],
}

/// The object that holds texels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Storage {
    /// An image, or an array of images.
    Image,
    /// A buffer of four-element vectors, layer by layer, row by row.
    Buffer,
}

/// The limits of layouts in texels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TexelLimits {
    /// The preferred object.
    pub storage: Storage,
    /// The greatest width and height of an image.
    pub side: usize,
    /// The most layers of an image.
    pub layers: usize,
}

/// The strides of a contiguous tensor whose dimensions are in this memory order, outermost first.
pub fn dense_strides(sizes: &[usize], order: impl DoubleEndedIterator<Item = usize>) -> Vec<usize> {
    let mut strides = vec![0; sizes.len()];
    order.rev().fold(1, |stride, dim| {
        strides[dim] = stride;
        stride * sizes[dim].max(1)
    });
    strides
}

impl Layout {
    /// A buffer in row-major order.
    pub fn row_major(sizes: &[usize]) -> Self {
        Self::Elements(dense_strides(sizes, 0..sizes.len()))
    }

    /// Texels of a feature map `[batch, channels, height, width]`, or of rows whose last dimension is sliced. In a buffer where no
    /// image holds the tensor.
    pub fn texels(sizes: &[usize], channel: usize, limits: TexelLimits) -> Self {
        let others: Vec<usize> = (0..sizes.len()).filter(|dim| *dim != channel).collect();
        let candidates: Vec<[Vec<usize>; 3]> = match others[..] {
            // (x * batch + b, y * slices + s), or a layer for each slice.
            [b, y, x] if channel == 1 => {
                vec![[vec![x, b], vec![y, channel], vec![]], [vec![x, b], vec![y], vec![channel]]]
            }
            // Rows in y, slices in x, or a layer for each outer index.
            [ref outer @ .., row] => {
                vec![[vec![channel], others.clone(), vec![]], [vec![channel], vec![row], outer.to_vec()]]
            }
            [] => vec![[vec![channel], vec![], vec![]]],
        };
        let layouts = candidates.iter().map(|axes| Texels::new(sizes, channel, axes));
        let is_image = |layout: &Texels| {
            let [width, height, layers] = layout.extent;
            width <= limits.side && height <= limits.side && layers <= limits.layers
        };
        let image = layouts.clone().find(|layout| limits.storage == Storage::Image && is_image(layout));
        let buffer = || Texels { storage: Storage::Buffer, ..Texels::new(sizes, channel, &candidates[0]) };
        Self::Texels(image.unwrap_or_else(buffer))
    }

    /// A row-major buffer whose last dimension is whole texels.
    pub fn texel_buffer(sizes: &[usize]) -> Self {
        let channel = sizes.len().saturating_sub(1);
        let outer: Vec<usize> = (0..channel).collect();
        Self::Texels(Texels {
            storage: Storage::Buffer,
            ..Texels::new(sizes, channel, &[vec![channel], outer, vec![]])
        })
    }

    /// The layout if it is in texels.
    pub const fn as_texels(&self) -> Option<&Texels> {
        match self {
            Self::Elements(_) => None,
            Self::Texels(texels) => Some(texels),
        }
    }
}

impl Texels {
    /// An image whose axes count these dimensions, outermost first.
    fn new(sizes: &[usize], channel: usize, axes: &[Vec<usize>; 3]) -> Self {
        let strides = [(); 3].map(|()| vec![0; sizes.len()]);
        let mut layout = Self { storage: Storage::Image, channel, strides, extent: [1; 3] };
        for (axis, dims) in axes.iter().enumerate() {
            for dim in dims.iter().rev() {
                let size = if *dim == channel { sizes[*dim].div_ceil(TEXEL) } else { sizes[*dim] };
                layout.strides[axis][*dim] = layout.extent[axis];
                layout.extent[axis] *= size.max(1);
            }
        }
        layout
    }

    /// The number of texels.
    pub fn count(&self) -> usize {
        self.extent.iter().product()
    }
}

impl Tensor {
    /// The number of elements.
    pub fn numel(&self) -> usize {
        self.sizes.iter().product()
    }

    /// Whether the tensor is in an image.
    pub const fn is_image(&self) -> bool {
        matches!(&self.layout, Layout::Texels(texels) if matches!(texels.storage, Storage::Image))
    }

    /// Whether every index outside of a dimension is outside of the image: the dimension is the outermost one of an axis.
    pub fn is_bounded(&self, dim: usize) -> bool {
        let Some(Texels { storage: Storage::Image, strides, extent, .. }) = self.layout.as_texels() else {
            return false;
        };
        let is_outermost =
            |(strides, extent): (&Vec<usize>, &usize)| strides[dim] > 0 && strides[dim] * self.sizes[dim] == *extent;
        strides.iter().zip(extent).any(is_outermost)
    }

    /// The kind of GPU memory.
    pub fn kind(&self) -> Kind {
        match &self.layout {
            Layout::Texels(texels) if texels.storage == Storage::Image => {
                match (self.scalar_type == ScalarType::Half, texels.extent[2] > 1) {
                    (false, false) => Kind::Image32,
                    (false, true) => Kind::Array32,
                    (true, false) => Kind::Image16,
                    (true, true) => Kind::Array16,
                }
            }
            Layout::Texels(_) | Layout::Elements(_) => Kind::Buffer,
        }
    }

    /// The size of the object in bytes; at least a word.
    pub fn bytes(&self) -> u64 {
        let numel = match &self.layout {
            Layout::Elements(_) => self.numel().max(1),
            Layout::Texels(texels) => TEXEL * texels.count(),
        };
        (numel * self.scalar_type.size()).next_multiple_of(4) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The dimensions of an image of this shape, sliced along the channels, outside of which is nothing of the image.
    fn bounded(sizes: &[usize]) -> Vec<usize> {
        let limits = TexelLimits { storage: Storage::Image, side: 64, layers: 64 };
        let layout = Layout::texels(sizes, 1, limits);
        let tensor = Tensor { scalar_type: ScalarType::Float, sizes: sizes.to_vec(), layout, source: Source::Scratch };
        (2..sizes.len()).filter(|dim| tensor.is_bounded(*dim)).collect()
    }

    #[test]
    fn rows_and_columns_of_a_feature_map_end_at_the_border_of_the_image() {
        assert_eq!(bounded(&[2, 8, 5, 6]), [2, 3]);
        // A layer for each slice.
        assert_eq!(bounded(&[2, 200, 5, 6]), [2, 3]);
    }

    #[test]
    fn dimensions_that_share_an_axis_lie_side_by_side() {
        assert_eq!(bounded(&[2, 8, 5]), []);
        assert_eq!(bounded(&[1, 8, 5]), [2]);
        assert_eq!(bounded(&[1, 4, 2, 3, 5]), [2]);
        // A layer for each depth and row.
        assert_eq!(bounded(&[1, 4, 3, 5, 6]), [2, 4]);
    }
}
