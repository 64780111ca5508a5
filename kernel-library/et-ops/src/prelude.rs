//! The imports of nearly every operator file.

pub(crate) use et_core::{Args, Dtypes, Error, Number, Result, ScalarType, Shape};

pub(crate) use crate::case::CaseArgument::{self, Bool, Bools, Double, Doubles, Int, Ints, Tensor, Tensors, Text};
pub(crate) use crate::case::{Case, CaseTensor};
pub(crate) use crate::operator::{ALL, Meta, Operator, dispatch, kernel_path};
