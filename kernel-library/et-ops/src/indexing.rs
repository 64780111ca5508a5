//! Gathering, scattering, masks and embeddings: elements chosen by the elements of another tensor.

mod elements;
mod scattering;

pub mod embedding;
pub mod embedding_bag;
pub mod gather;
pub mod index;
pub mod index_put;
pub mod index_select;
pub mod masked_fill;
pub mod masked_scatter;
pub mod masked_select;
pub mod nonzero;
pub mod nonzero_static;
pub mod scatter;
pub mod scatter_add;
pub mod scatter_reduce;
pub mod select_scatter;
pub mod slice_scatter;
