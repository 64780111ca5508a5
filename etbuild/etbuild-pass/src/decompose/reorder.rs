//! Everything that exchanges dimensions: `aten.permute`.

use crate::Reason;
use crate::edit::{Call, Editor, Rewritten};

/// `transpose(self, dim0, dim1)`.
pub fn swap(editor: &mut Editor, call: &Call) -> Rewritten {
    let input = call.value(0)?;
    let rank = editor.spec(input).rank();
    if rank == 0 {
        return Ok(vec![input]);
    }
    let mut dims: Vec<usize> = (0..rank).collect();
    dims.swap(call.dim(1, rank)?, call.dim(2, rank)?);
    Ok(vec![editor.permute(input, &dims)?])
}

/// `t(self)` and `numpy_T(self)`: the dimensions from last to first.
pub fn reverse(editor: &mut Editor, call: &Call) -> Rewritten {
    let input = call.value(0)?;
    let dims: Vec<usize> = (0..editor.spec(input).rank()).rev().collect();
    Ok(vec![editor.permute(input, &dims)?])
}

/// `movedim(self, source, destination)`.
pub fn move_one(editor: &mut Editor, call: &Call) -> Rewritten {
    let input = call.value(0)?;
    let rank = editor.spec(input).rank();
    let (source, destination) = (call.dim(1, rank)?, call.dim(2, rank)?);
    let mut dims: Vec<usize> = (0..rank).collect();
    if source >= dims.len() {
        return Err(Reason::Arguments);
    }
    let moved = dims.remove(source);
    dims.insert(destination, moved);
    Ok(vec![editor.permute(input, &dims)?])
}
