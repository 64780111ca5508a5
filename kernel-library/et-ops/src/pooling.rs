//! Average and maximum pools of two and three dimensions.

mod adaptive;

pub mod adaptive_avg_pool2d;
pub mod adaptive_avg_pool3d;
pub mod adaptive_max_pool2d;
pub mod adaptive_max_pool3d;
pub mod avg_pool2d;
pub mod avg_pool3d;
pub mod max_pool2d_with_indices;
pub mod max_pool2d_with_indices_backward;
pub mod max_pool3d_with_indices;
