//! Linear layers as 1x1 convolutions: every row is a pixel.

use etbuild_backend::RefusalKind;
use etbuild_backend::int8::pattern::no;
use etbuild_ir::Node;

use super::build::Order;
use super::convolution::Product;
use super::{Done, Lowering, Target};
use crate::tosa::operation::{Conv2d, Window};

/// Lowers a linear layer.
pub fn lower(lowering: &mut Lowering<'_>, node: &Node, target: &Target) -> Done {
    let product = Product::of(lowering.links, node)?;
    let sizes = lowering.sizes(product.operand.id);
    let (Some((inner, rows)), [outputs, _]) = (sizes.split_last(), &product.weights.sizes[..]) else {
        return Err(no(RefusalKind::Shape, "the operand is a scalar, or the weights are no matrix"));
    };
    let rows: usize = rows.iter().product();
    let name = lowering.name(target.id);
    let image = lowering.row_major(product.operand)?;
    let image = lowering.reshaped(image, &[1, rows, 1, *inner], &format!("{name}.rows"));
    let bytes = product.weights.bytes.bytes().to_vec();
    let weights = lowering.bytes(&format!("{name}.weights"), &[*outputs, 1, 1, *inner], bytes);
    let window = Window { pad: [0; 4], stride: [1; 2], dilation: [1; 2] };
    let result = lowering.product(&product, Conv2d(window), [image, weights], &[1, rows, 1, *outputs], target)?;
    let result = lowering.reshaped(result, &lowering.sizes(target.id), &format!("{name}.view"));
    lowering.store(target, result, Order::RowMajor);
    Ok(())
}
