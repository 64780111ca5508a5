//! What nearly every operator file uses.

pub(crate) use et_core::{Args, Dtypes, Error, Number, Result, ScalarType};

pub(crate) use crate::case::CaseArgument::{Double, Int, Tensor};
pub(crate) use crate::case::{Case, CaseTensor};
pub(crate) use crate::operator::{ALL, Operator, dispatch, kernel_path};
