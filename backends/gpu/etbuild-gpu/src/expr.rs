//! Expressions: the value of a tensor's element as a function of the element's coordinates.
//!
//! Element-wise operators apply functions, views compute other coordinates, reductions fold over further coordinates. A kernel is
//! written from an expression, so that operators fuse and views cost nothing.

use std::collections::HashMap;

use crate::types::{Literal, Type};

/// An expression in its [`Exprs`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExprId(u32);

/// A stored tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TensorId(pub u32);

/// A kernel that computes sums of products, whose result an epilogue uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProductId(pub u32);

/// The value of an element at some coordinates.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Expr {
    /// A number.
    Literal(Literal),
    /// The coordinate along a dimension, an [`Type::Int`].
    Coordinate(usize),
    /// The element of a stored tensor at the coordinates.
    Load(TensorId),
    /// The element of a product at the coordinates.
    Product(ProductId),
    /// The product of a query and a key of an attention.
    Score(ProductId),
    /// A WGSL expression of operands at the same coordinates, which the template names `{0}`, `{1}` and so on.
    Apply(&'static str, Vec<ExprId>),
    /// Arithmetic on coordinates: operands are never negative.
    Index(IndexOp, ExprId, ExprId),
    /// The source at other coordinates.
    At(ExprId, Vec<ExprId>),
    /// A choice between two expressions by a condition: only the chosen expression is evaluated.
    If {
        /// The condition.
        condition: ExprId,
        /// The value if the condition holds.
        then: ExprId,
        /// The value otherwise.
        otherwise: ExprId,
    },
    /// A fold over further coordinates, which follow the fold's own coordinates.
    Fold {
        /// How elements are combined.
        fold: Fold,
        /// The number of dimensions of the fold itself.
        rank: usize,
        /// The extents of the further coordinates, at the coordinates of the fold.
        extents: Vec<ExprId>,
        /// The element at all coordinates.
        body: ExprId,
    },
}

/// Arithmetic on coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IndexOp {
    /// Sum.
    Add,
    /// Product.
    Mul,
    /// Quotient, rounded down.
    Div,
    /// Remainder.
    Rem,
}

/// How a fold combines elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fold {
    /// The sum.
    Sum,
    /// The product.
    Product,
    /// The greatest element; NaN if any element is NaN.
    Max,
    /// The smallest element; NaN if any element is NaN.
    Min,
    /// Whether any element is true.
    Any,
    /// The position of the first greatest element in row-major order of the further coordinates, or of the first NaN.
    ArgMax,
    /// The position of the first smallest element, or of the first NaN.
    ArgMin,
}

/// Expressions, each stored once.
#[derive(Debug, Default)]
pub struct Exprs {
    exprs: Vec<(Expr, Type)>,
    known: HashMap<Expr, ExprId>,
}

impl Exprs {
    /// The expression.
    pub fn get(&self, id: ExprId) -> &Expr {
        &self.exprs[id.0 as usize].0
    }

    /// The type of an expression.
    pub fn ty(&self, id: ExprId) -> Type {
        self.exprs[id.0 as usize].1
    }

    /// Adds an expression of a type.
    pub fn add(&mut self, expr: Expr, ty: Type) -> ExprId {
        if let Some(known) = self.known.get(&expr).filter(|known| self.ty(**known) == ty) {
            return *known;
        }
        let id = ExprId(self.exprs.len() as u32);
        self.exprs.push((expr.clone(), ty));
        self.known.insert(expr, id);
        id
    }

    /// A number.
    pub fn literal(&mut self, literal: Literal) -> ExprId {
        self.add(Expr::Literal(literal), literal.ty())
    }

    /// A number as a type.
    pub fn number(&mut self, number: f64, ty: Type) -> ExprId {
        self.literal(Literal::new(number, ty))
    }

    /// An index.
    pub fn int(&mut self, index: usize) -> ExprId {
        self.literal(Literal::Int(index as i32))
    }

    /// The coordinate along a dimension.
    pub fn coordinate(&mut self, dim: usize) -> ExprId {
        self.add(Expr::Coordinate(dim), Type::Int)
    }

    /// The coordinates of the first `rank` dimensions.
    pub fn coordinates(&mut self, rank: usize) -> Vec<ExprId> {
        self.coordinates_of(0..rank)
    }

    /// The coordinates along these dimensions.
    pub fn coordinates_of(&mut self, dims: impl IntoIterator<Item = usize>) -> Vec<ExprId> {
        dims.into_iter().map(|dim| self.coordinate(dim)).collect()
    }

    /// A WGSL expression of operands.
    pub fn apply(&mut self, template: &'static str, operands: &[ExprId], ty: Type) -> ExprId {
        self.add(Expr::Apply(template, operands.to_vec()), ty)
    }

    /// The source at other coordinates.
    pub fn at(&mut self, source: ExprId, coordinates: &[ExprId]) -> ExprId {
        let is_identity = coordinates.iter().enumerate().all(|(dim, id)| *self.get(*id) == Expr::Coordinate(dim));
        match self.get(source) {
            Expr::Literal(_) => source,
            _ if is_identity => source,
            _ => self.add(Expr::At(source, coordinates.to_vec()), self.ty(source)),
        }
    }

    /// A source of a shape that is broadcast to another shape, at the coordinates of the other shape: both end in the same dimensions.
    pub fn broadcast(&mut self, source: ExprId, sizes: &[usize], at: &[ExprId]) -> ExprId {
        let added = at.len().saturating_sub(sizes.len());
        let own = sizes.iter().enumerate().map(|(dim, size)| match at.get(dim + added) {
            Some(coordinate) if *size != 1 => *coordinate,
            _ => self.int(0),
        });
        let own: Vec<ExprId> = own.collect();
        self.at(source, &own)
    }

    /// Whether all conditions hold; `None` without conditions.
    pub fn all(&mut self, conditions: impl IntoIterator<Item = ExprId>) -> Option<ExprId> {
        conditions.into_iter().reduce(|all, one| self.apply("({0} && {1})", &[all, one], Type::Bool))
    }

    /// One of two expressions.
    pub fn choose(&mut self, condition: ExprId, then: ExprId, otherwise: ExprId) -> ExprId {
        self.add(Expr::If { condition, then, otherwise }, self.ty(then))
    }

    /// A fold over dimensions of these sizes, which follow the `rank` dimensions of the fold.
    pub fn fold(&mut self, fold: Fold, rank: usize, sizes: &[usize], body: ExprId) -> ExprId {
        let extents = sizes.iter().map(|size| self.int(*size)).collect();
        self.fold_to(fold, rank, extents, body)
    }

    /// A fold whose extents are computed.
    pub fn fold_to(&mut self, fold: Fold, rank: usize, extents: Vec<ExprId>, body: ExprId) -> ExprId {
        let ty = match fold {
            Fold::ArgMax | Fold::ArgMin => Type::Int,
            Fold::Any => Type::Bool,
            Fold::Sum | Fold::Product | Fold::Max | Fold::Min => self.ty(body),
        };
        self.add(Expr::Fold { fold, rank, extents, body }, ty)
    }

    /// The value of a constant index.
    pub fn known_index(&self, id: ExprId) -> Option<usize> {
        match self.get(id) {
            Expr::Literal(Literal::Int(index)) => usize::try_from(*index).ok(),
            _ => None,
        }
    }

    /// Arithmetic on coordinates.
    pub fn index(&mut self, op: IndexOp, left: ExprId, right: ExprId) -> ExprId {
        match (op, self.known_index(left), self.known_index(right)) {
            (IndexOp::Add, Some(left), Some(right)) => self.int(left + right),
            (IndexOp::Mul, Some(left), Some(right)) => self.int(left * right),
            (IndexOp::Div, Some(left), Some(right)) if right > 0 => self.int(left / right),
            (IndexOp::Rem, Some(left), Some(right)) if right > 0 => self.int(left % right),
            (IndexOp::Add, _, Some(0)) | (IndexOp::Mul | IndexOp::Div, _, Some(1)) => left,
            (IndexOp::Add, Some(0), _) | (IndexOp::Mul, Some(1), _) => right,
            (IndexOp::Mul, Some(0), _) | (IndexOp::Mul, _, Some(0)) | (IndexOp::Rem, _, Some(1)) => self.int(0),
            _ => self.add(Expr::Index(op, left, right), Type::Int),
        }
    }

    /// The sum of products of coordinates and strides, plus an offset.
    pub fn linear(&mut self, coordinates: &[ExprId], strides: &[usize], offset: usize) -> ExprId {
        let mut sum = self.int(offset);
        for (coordinate, stride) in coordinates.iter().zip(strides) {
            let stride = self.int(*stride);
            let part = self.index(IndexOp::Mul, *coordinate, stride);
            sum = self.index(IndexOp::Add, sum, part);
        }
        sum
    }

    /// A quotient of floating-point numbers; drivers do not divide by a literal 0.
    pub fn quotient(&mut self, left: ExprId, right: ExprId) -> ExprId {
        let ty = self.ty(left);
        let is_zero = matches!(self.get(right), Expr::Literal(Literal::Float(0)));
        let template = if is_zero { "({0} * of_bits(2139095040u))" } else { "({0} / {1})" };
        self.apply(template, &[left, right], ty)
    }

    /// Converts to a type.
    pub fn cast(&mut self, id: ExprId, ty: Type) -> ExprId {
        let from = self.ty(id);
        if from == ty {
            return id;
        }
        let template = match (from, ty) {
            (Type::Bool, Type::Float) => "select(0.0f, 1.0f, {0})",
            (Type::Bool, Type::Double) => "select(0.0lf, 1.0lf, {0})",
            (Type::Bool, Type::Int) => "select(0i, 1i, {0})",
            (Type::Bool, Type::Long) => "select(0li, 1li, {0})",
            (Type::Float, Type::Bool) => "(!({0} == 0.0f))",
            (Type::Double, Type::Bool) => "(!({0} == 0.0lf))",
            (Type::Int, Type::Bool) => "({0} != 0i)",
            (Type::Long, Type::Bool) => "({0} != 0li)",
            (Type::Float, Type::Int) => "i32(clamp({0}, -2147483648.0f, 2147483520.0f))",
            (_, Type::Float) => "f32({0})",
            (_, Type::Double) => "f64({0})",
            (_, Type::Int) => "i32({0})",
            (_, Type::Long) => "i64({0})",
            (Type::Bool, Type::Bool) => "{0}",
        };
        match self.get(id) {
            Expr::Literal(literal) => {
                let literal = converted(*literal, ty);
                self.literal(literal)
            }
            _ => self.apply(template, &[id], ty),
        }
    }

    /// Whether an expression loops.
    pub fn folds(&self, id: ExprId) -> bool {
        self.has(id, |expr| matches!(expr, Expr::Fold { .. }))
    }

    /// Whether a test holds for an expression or for an operand of the expression.
    pub fn has(&self, id: ExprId, is_wanted: impl Fn(&Expr) -> bool) -> bool {
        let mut found = false;
        self.visit(id, &mut |_, expr| found |= is_wanted(expr));
        found
    }

    /// Visits an expression and its operands. An operand read at several coordinates is visited once.
    pub fn visit(&self, root: ExprId, visit: &mut dyn FnMut(ExprId, &Expr)) {
        let (mut seen, mut open) = (std::collections::HashSet::new(), vec![root]);
        while let Some(id) = open.pop() {
            if !seen.insert(id) {
                continue;
            }
            let expr = self.get(id);
            visit(id, expr);
            open.extend(operands(expr));
        }
    }
}

/// The operands of an expression.
pub fn operands(expr: &Expr) -> Vec<ExprId> {
    match expr {
        Expr::Literal(_) | Expr::Coordinate(_) | Expr::Load(_) | Expr::Product(_) | Expr::Score(_) => Vec::new(),
        Expr::Apply(_, operands) => operands.clone(),
        Expr::Index(_, left, right) => vec![*left, *right],
        Expr::At(source, coordinates) => coordinates.iter().copied().chain([*source]).collect(),
        Expr::If { condition, then, otherwise } => vec![*condition, *then, *otherwise],
        Expr::Fold { extents, body, .. } => extents.iter().copied().chain([*body]).collect(),
    }
}

fn converted(literal: Literal, ty: Type) -> Literal {
    match literal {
        Literal::Float(bits) => Literal::new(f64::from(f32::from_bits(bits)), ty),
        Literal::Double(bits) => Literal::new(f64::from_bits(bits), ty),
        Literal::Int(number) => Literal::new(f64::from(number), ty),
        Literal::Long(number) if ty == Type::Int => Literal::Int(number as i32),
        Literal::Long(number) => Literal::new(number as f64, ty),
        Literal::Bool(flag) => Literal::new(f64::from(u8::from(flag)), ty),
    }
}
