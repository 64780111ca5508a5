//! Which values are stored, where, and the kernels that store them.

use et_core::ScalarType;
use etbuild_backend::{Refusal, RefusalKind, dequantizes_constants};
use etbuild_ir::ValueId;

use super::{Builder, MOST_READS, check_size};
use crate::expr::{Expr, ExprId, Fold, ProductId, TensorId};
use crate::kernel::MOST_ITERATIONS;
use crate::product::Epilogue;
use crate::store::{self, RowWrite, rows_kernel};
use crate::tensor::{Layout, Source, TEXEL, Tensor, dense_strides};
use crate::types::Type;

impl Builder<'_> {
    /// The value for an operand at other coordinates, each of which is used at most once: what is costly is stored first.
    pub fn moved(&mut self, id: ValueId) -> Result<ExprId, Refusal> {
        let expr = self.value(id)?;
        if self.exprs.has(expr, |expr| matches!(expr, Expr::Fold { .. } | Expr::Product(_) | Expr::If { .. })) {
            self.stored(id)?;
        }
        self.value(id)
    }

    /// The value for an operand whose elements are used several times: what is computed is stored first.
    pub fn repeated(&mut self, id: ValueId) -> Result<ExprId, Refusal> {
        let expr = self.value(id)?;
        if !self.is_view(expr) {
            self.stored(id)?;
        }
        self.value(id)
    }

    /// Whether a value is a constant, or dequantizes constants.
    pub fn is_constant(&self, id: ValueId) -> bool {
        let links = self.links;
        links.graph.constant(id).is_some() || links.maker(id).is_some_and(|node| dequantizes_constants(links, node))
    }

    /// Whether an expression dequantizes weights whose words hold neighbours of a dimension: a product dequantizes what it loads.
    pub fn is_packed(&self, id: ExprId, dim: usize) -> bool {
        let (mut is_packed, mut others) = (false, false);
        self.exprs.visit(id, &mut |_, expr| match expr {
            Expr::Load(tensor) => {
                let Tensor { sizes, layout, source, scalar_type } = self.tensor(*tensor);
                others |= !matches!(source, Source::Weights(_));
                let is_whole = sizes.last().is_some_and(|size| size.is_multiple_of(TEXEL)) && sizes.len() == dim + 1;
                is_packed |= scalar_type.size() == 1 && is_whole && *layout == Layout::row_major(sizes);
            }
            Expr::Fold { .. } | Expr::Product(_) | Expr::If { .. } => others = true,
            _ => {}
        });
        is_packed && !others
    }

    /// Whether an expression only moves elements.
    fn is_view(&self, id: ExprId) -> bool {
        !self
            .exprs
            .has(id, |expr| matches!(expr, Expr::Fold { .. } | Expr::Product(_) | Expr::Apply(..) | Expr::If { .. }))
    }

    /// States the expression of a computed value. A value that several nodes read is stored unless it only moves elements, and so
    /// is a result of the partition.
    pub fn set(&mut self, id: ValueId, expr: ExprId) -> Result<(), Refusal> {
        let ty = self.ty(id)?;
        if self.profile.is_web() && self.links.graph.spec(id).scalar_type == ScalarType::Long {
            return Err(Refusal::new(RefusalKind::Type, "a page's GPU reads int64 and computes none"));
        }
        if ty == Type::Double && self.is_lossy(id, expr) {
            return Err(Refusal::new(RefusalKind::Type, "the function is not computed in float64"));
        }
        let expr = self.exprs.cast(expr, ty);
        let expr = self.narrowed(expr, self.links.graph.spec(id).scalar_type);
        self.values.insert(id, expr);
        let results = &self.links.graph.outputs;
        if let Some(position) = results.iter().position(|result| *result == id) {
            return self.result(id, position);
        }
        let is_shared = self.links.read_count(id) > 1 && !self.is_view(expr);
        if is_shared || self.reads(expr).0 > MOST_READS {
            self.stored(id)?;
        }
        Ok(())
    }

    /// Whether an expression computes a value in float64 of such values less exactly: in float32, or by a fold that drops NaN.
    fn is_lossy(&self, id: ValueId, expr: ExprId) -> bool {
        let links = self.links;
        let is_double = |id: ValueId| links.graph.spec(id).scalar_type == ScalarType::Double;
        let reads_double = links.maker(id).is_some_and(|node| node.uses().any(is_double));
        let drops_nan = |expr: &Expr| match expr {
            Expr::Fold { fold: Fold::Max | Fold::Min, body, .. } => self.exprs.ty(*body) == Type::Double,
            _ => false,
        };
        self.exprs.ty(expr) == Type::Float && reads_double || self.exprs.has(expr, drops_nan)
    }

    /// A computed narrow integer, without the bits beyond its type.
    fn narrowed(&mut self, expr: ExprId, scalar_type: ScalarType) -> ExprId {
        let template = match scalar_type {
            ScalarType::Byte => "({0} & 255i)",
            ScalarType::Char => "(({0} << 24u) >> 24u)",
            ScalarType::Short => "(({0} << 16u) >> 16u)",
            _ => return expr,
        };
        match self.exprs.get(expr) {
            Expr::Apply(own, _) if *own != template => self.exprs.apply(template, &[expr], Type::Int),
            _ => expr,
        }
    }

    /// Writes rows to an input in place, which is the value `result` from then on.
    pub fn write_state(&mut self, target: ValueId, result: ValueId, write: &RowWrite) -> Result<(), Refusal> {
        let expr = self.value(target)?;
        let (Expr::Load(tensor), links) = (self.exprs.get(expr), self.links) else {
            return Err(Refusal::new(RefusalKind::Partition, "what is written in place is no input"));
        };
        let tensor = *tensor;
        let is_input = matches!(self.tensor(tensor).source, Source::Input(_) | Source::State(_));
        let position = links.graph.outputs.iter().position(|output| *output == result);
        let (Some(position), true) = (position.or_else(|| self.is_alone.then_some(0)), is_input) else {
            return Err(Refusal::new(RefusalKind::Partition, "what is written in place is no input and output"));
        };
        if let Source::Input(input) = self.tensor(tensor).source {
            self.tensors[tensor.0 as usize].source = Source::State(input);
        }
        let kernel = rows_kernel(self.scope(), write, tensor, &links.graph.value(result).name);
        self.add_kernel(kernel)?;
        self.written.insert(position);
        self.values.insert(result, expr);
        Ok(())
    }

    /// The tensors and products that an expression reads.
    pub fn reads(&self, id: ExprId) -> (usize, Vec<ProductId>) {
        let (mut reads, mut products) = (0, Vec::new());
        self.exprs.visit(id, &mut |_, expr| match expr {
            Expr::Load(_) => reads += 1,
            Expr::Product(product) => products.push(*product),
            _ => {}
        });
        (reads, products)
    }

    /// Stores a result of the partition in an argument of the call.
    fn result(&mut self, id: ValueId, position: usize) -> Result<(), Refusal> {
        let spec = self.links.graph.spec(id);
        let sizes = self.sizes(id);
        let strides = dense_strides(&sizes, spec.dim_order.iter().map(|dim| usize::from(*dim)));
        let (scalar_type, layout) = (spec.scalar_type, Layout::Elements(strides));
        let tensor = Tensor { scalar_type, sizes, layout, source: Source::Output(position) };
        let expr = self.value(id)?;
        let tensor = self.write(id, expr, tensor)?;
        let load = self.load(tensor);
        self.values.insert(id, load);
        Ok(())
    }

    /// The results of the partition that are no node's first result: inputs, and values that are results twice.
    pub fn finish_results(&mut self) -> Result<(), Refusal> {
        let links = self.links;
        for (position, id) in links.graph.outputs.iter().enumerate() {
            let is_written = |tensor: &Tensor| matches!(tensor.source, Source::Output(output) if output == position);
            if !self.written.contains(&position) && !self.tensors.iter().any(is_written) {
                self.result(*id, position)?;
            }
        }
        Ok(())
    }

    /// The tensor of a value; a computed value is stored first.
    pub fn stored(&mut self, id: ValueId) -> Result<TensorId, Refusal> {
        let expr = self.value(id)?;
        if let Expr::Load(tensor) = self.exprs.get(expr) {
            return Ok(*tensor);
        }
        let (sizes, scalar_type) = (self.sizes(id), self.links.graph.spec(id).scalar_type);
        let is_texel = matches!(scalar_type, ScalarType::Float | ScalarType::Half);
        let layout = match self.sliced.get(id).filter(|_| is_texel) {
            Some(channel) => Layout::texels(&sizes, *channel, self.profile.texels),
            None => Layout::row_major(&sizes),
        };
        let tensor = self.write(id, expr, Tensor { scalar_type, sizes, layout, source: Source::Scratch })?;
        let load = self.load(tensor);
        self.values.insert(id, load);
        Ok(tensor)
    }

    /// The tensor of a value in texels along a dimension.
    pub fn texels(&mut self, id: ValueId, channel: usize) -> Result<TensorId, Refusal> {
        let expr = self.value(id)?;
        let sizes = self.sizes(id);
        let layout = Layout::texels(&sizes, channel, self.profile.texels);
        if let Expr::Load(tensor) = self.exprs.get(expr)
            && self.tensor(*tensor).layout == layout
        {
            return Ok(*tensor);
        }
        // The desk packs row-major constants only; a kernel packs those in another dimension order.
        if self.is_constant(id) && self.links.graph.spec(id).is_contiguous() {
            return self.weights(id, sizes, layout);
        }
        let scalar_type = self.links.graph.spec(id).scalar_type;
        let tensor = self.write(id, expr, Tensor { scalar_type, sizes, layout, source: Source::Scratch })?;
        // Other readers find the texels too.
        let load = self.load(tensor);
        self.values.insert(id, load);
        Ok(tensor)
    }

    /// Stores a part of the value that is being computed, of a shape; its elements.
    pub fn store_part(&mut self, expr: ExprId, sizes: Vec<usize>) -> Result<ExprId, Refusal> {
        let layout = Layout::row_major(&sizes);
        self.store_in(expr, sizes, layout)
    }

    /// The same in texels along the last dimension, of a part in float32.
    pub fn store_rows(&mut self, expr: ExprId, sizes: Vec<usize>) -> Result<ExprId, Refusal> {
        let layout = Layout::texels(&sizes, sizes.len() - 1, self.profile.texels);
        self.store_in(expr, sizes, layout)
    }

    /// States the expression of a value whose rows are folded, and stores the value: one kernel folds a row and writes its elements.
    pub fn set_folded_rows(&mut self, id: ValueId, expr: ExprId) -> Result<(), Refusal> {
        self.values.insert(id, expr);
        let tensor = self.texels(id, self.sizes(id).len() - 1)?;
        let load = self.load(tensor);
        self.set(id, load)
    }

    /// The same in a layout.
    pub fn store_in(&mut self, expr: ExprId, sizes: Vec<usize>, layout: Layout) -> Result<ExprId, Refusal> {
        let scalar_type = self.exprs.ty(expr).scalar_type();
        let id = self.current.ok_or_else(|| Refusal::new(RefusalKind::Partition, "no node is lowered"))?;
        let tensor = self.write(id, expr, Tensor { scalar_type, sizes, layout, source: Source::Scratch })?;
        Ok(self.load(tensor))
    }

    /// Writes the kernel that stores an expression in a tensor.
    fn write(&mut self, id: ValueId, expr: ExprId, tensor: Tensor) -> Result<TensorId, Refusal> {
        let label = &self.links.graph.value(id).name;
        let (_, products) = self.reads(expr);
        let expr = match products[..] {
            [product] if tensor.layout.as_texels().is_none() && tensor.scalar_type.size() != 4 => {
                self.product_in_texels(id, product, expr)?
            }
            _ => expr,
        };
        let (_, products) = self.reads(expr);
        check_size(&tensor, self.profile)?;
        if self.iterations(expr) > 2 * MOST_ITERATIONS {
            return Err(Refusal::new(RefusalKind::Shape, "a kernel loops more often than drivers allow"));
        }
        let output = self.add(tensor);
        let kernel = match products[..] {
            [] => store::kernel(self.scope(), self.profile, expr, output, label),
            [product] => {
                let result = self.exprs.add(Expr::Product(product), Type::Float);
                let product = &self.products[product.0 as usize];
                let epilogue = Epilogue { result, expr, output, label };
                product.kernel(self.scope(), self.profile, &epilogue)
            }
            _ => return Err(Refusal::new(RefusalKind::Partition, "an expression has two products")),
        };
        self.add_kernel(kernel)?;
        Ok(output)
    }

    /// The iterations of the longest fold of an expression, as far as they are known.
    fn iterations(&self, id: ExprId) -> usize {
        let mut most = 0;
        self.exprs.visit(id, &mut |_, expr| {
            if let Expr::Fold { extents, .. } = expr {
                let known = extents.iter().filter_map(|extent| self.exprs.known_index(*extent));
                most = most.max(known.fold(1, usize::saturating_mul));
            }
        });
        most
    }

    /// An expression of a product in a texel tensor of its own: words of narrow elements have several columns.
    fn product_in_texels(&mut self, id: ValueId, product: ProductId, expr: ExprId) -> Result<ExprId, Refusal> {
        let (sizes, column) = self.products[product.0 as usize].sizes_and_column();
        let (sizes, layout) = (sizes.to_vec(), Layout::texels(sizes, column, self.profile.texels));
        let expr = self.exprs.cast(expr, Type::Float);
        let tensor = Tensor { scalar_type: ScalarType::Float, sizes, layout, source: Source::Scratch };
        let tensor = self.write(id, expr, tensor)?;
        Ok(self.load(tensor))
    }
}
