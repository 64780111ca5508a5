//! Scaled dot product attention.

pub mod scaled_dot_product_attention;
