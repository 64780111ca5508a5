//! `torchvision`: operators of detectors on boxes and regions of images, and deformable convolutions.

mod pixels;

pub mod deform_conv2d;
pub mod nms;
pub mod roi_align;
