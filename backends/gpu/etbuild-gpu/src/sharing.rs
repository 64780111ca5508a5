//! Folds that lanes of a workgroup share: on a GPU, one invocation per result of a long fold leaves most of the GPU idle.

use crate::expr::{Expr, ExprId, Exprs, Fold, operands};
use crate::profile::BUSY;
use crate::tensor::{Layout, TEXEL, Tensor};

/// The lanes of a workgroup that share the folds of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sharing {
    /// The lanes: a power of two, at least 2.
    pub lanes: usize,
    /// The results of a workgroup.
    pub across: usize,
}

/// The invocations of a workgroup.
const WORKGROUP: usize = 128;

/// The least lanes of a row.
const LEAST_LANES: usize = 8;

/// Shorter folds are not shared.
const LEAST_FOLDED: usize = 32;

impl Sharing {
    /// How a kernel with a workgroup's lanes for each row shares rows of so many texels or elements.
    pub fn of_rows(columns: usize) -> Self {
        let lanes = columns.div_ceil(2).next_power_of_two().clamp(LEAST_LANES, WORKGROUP);
        Self { lanes, across: WORKGROUP / lanes }
    }

    /// How the kernel that stores an expression shares its folds, on a GPU with so many compute units.
    pub fn of(exprs: &Exprs, expr: ExprId, tensor: &Tensor, units: usize) -> Option<Self> {
        let folded = folded(exprs, expr).filter(|folded| units > 0 && *folded >= LEAST_FOLDED)?;
        let results = match &tensor.layout {
            Layout::Texels(texels) => texels.count(),
            Layout::Elements(_) => tensor.numel(),
        };
        let wanted = (units * BUSY).div_ceil(results.max(1)).next_power_of_two();
        let lanes = wanted.min(folded.next_power_of_two() / 4).min(WORKGROUP);
        // Results that some lanes of a word or texel do not have are in a branch, which a workgroup takes as a whole.
        let is_partial = match &tensor.layout {
            Layout::Texels(texels) => !tensor.sizes[texels.channel].is_multiple_of(TEXEL),
            Layout::Elements(_) => tensor.scalar_type.size() < 4,
        };
        let across = if is_partial { 1 } else { WORKGROUP / lanes.max(1) };
        (lanes > 1).then_some(Self { lanes, across })
    }
}

/// Whether no fold of an expression depends on a coordinate of the expression, nor a fold within a fold on those of the outer one: the
/// folds of a row are computed once then.
pub fn folds_by_row(exprs: &Exprs, expr: ExprId, column: usize) -> bool {
    is_by_row(exprs, expr, &[column])
}

/// The same, where these coordinates vary within the row.
pub fn is_by_row(exprs: &Exprs, id: ExprId, varying: &[usize]) -> bool {
    if !exprs.folds(id) {
        return true;
    }
    match exprs.get(id) {
        Expr::Fold { fold: Fold::ArgMax | Fold::ArgMin, .. } => false,
        Expr::Fold { rank, extents, body, .. } => {
            let further: Vec<usize> = (*rank..rank + extents.len()).collect();
            let has_plain_extents = !extents.iter().any(|extent| exprs.folds(*extent));
            varying.is_empty() && has_plain_extents && is_by_row(exprs, *body, &further)
        }
        Expr::At(source, coordinates) => {
            let has_plain_place = !coordinates.iter().any(|coordinate| exprs.folds(*coordinate));
            has_plain_place && is_by_row(exprs, *source, &varying_of(exprs, coordinates, varying))
        }
        Expr::If { then, otherwise, .. } if exprs.folds(*then) || exprs.folds(*otherwise) => false,
        other => operands(other).into_iter().all(|operand| is_by_row(exprs, operand, varying)),
    }
}

/// The coordinates of a source that depend on varying coordinates of its reader.
pub fn varying_of(exprs: &Exprs, coordinates: &[ExprId], varying: &[usize]) -> Vec<usize> {
    let varies = |id: &ExprId| exprs.has(*id, |expr| matches!(expr, Expr::Coordinate(dim) if varying.contains(dim)));
    (0..coordinates.len()).filter(|dim| varies(&coordinates[*dim])).collect()
}

/// The elements of the longest fold of an expression; a single extent that is known at run time only is long. `None` without folds, and
/// for folds within folds or within branches, whose lanes would not meet.
fn folded(exprs: &Exprs, expr: ExprId) -> Option<usize> {
    let mut most = None;
    let mut open = vec![expr];
    let mut seen = std::collections::HashSet::new();
    while let Some(id) = open.pop() {
        if !seen.insert(id) {
            continue;
        }
        match exprs.get(id) {
            Expr::Fold { fold: Fold::ArgMax | Fold::ArgMin, .. } => return None,
            Expr::Fold { extents, body, .. } => {
                if exprs.folds(*body) || extents.iter().any(|extent| exprs.folds(*extent)) {
                    return None;
                }
                let unknown = if extents.len() == 1 { WORKGROUP } else { 1 };
                let sizes = extents.iter().map(|extent| exprs.known_index(*extent).unwrap_or(unknown));
                most = most.max(Some(sizes.product()));
            }
            Expr::If { then, otherwise, .. } if exprs.folds(*then) || exprs.folds(*otherwise) => return None,
            other => open.extend(operands(other)),
        }
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::IndexOp;
    use crate::types::Type;

    /// Rows of 64 whose elements are `x - fold(x)`, where the fold is at the row's coordinates and this column.
    fn row(exprs: &mut Exprs, column: ExprId) -> ExprId {
        let own = exprs.coordinates(2);
        let further = exprs.coordinate(2);
        let tensor = exprs.add(Expr::Load(crate::expr::TensorId(0)), Type::Float);
        let element = exprs.at(tensor, &[own[0], further]);
        let fold = exprs.fold(Fold::Sum, 2, &[64], element);
        let fold = exprs.at(fold, &[own[0], column]);
        exprs.apply("({0} - {1})", &[tensor, fold], Type::Float)
    }

    #[test]
    fn a_fold_of_the_row_does_not_depend_on_the_column() {
        let mut exprs = Exprs::default();
        let first = exprs.int(0);
        let by_row = row(&mut exprs, first);
        assert!(folds_by_row(&exprs, by_row, 1));
        let (column, four) = (exprs.coordinate(1), exprs.int(4));
        let group = exprs.index(IndexOp::Div, column, four);
        let by_group = row(&mut exprs, group);
        assert!(!folds_by_row(&exprs, by_group, 1));
    }

    #[test]
    fn a_row_has_lanes_for_its_texels() {
        assert_eq!(Sharing::of_rows(256), Sharing { lanes: 128, across: 1 });
        assert_eq!(Sharing::of_rows(16), Sharing { lanes: 8, across: 16 });
    }
}
