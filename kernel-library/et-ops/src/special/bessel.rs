//! Bessel functions of orders 0 and 1.

use crate::family::real;
use crate::math::special::bessel;
use crate::prelude::*;
use crate::special::function;

/// `torch.special.bessel_j0`.
#[cfg(feature = "catalogue")]
pub const BESSEL_J0: Operator = Operator {
    schema: "aten::special_bessel_j0.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::special_bessel_j0",
    path: kernel_path!(bessel_j0),
    dtypes: Dtypes::ALL,
    infer: real::promoted,
    kernel: bessel_j0::<ALL>,
    cases: &[
        Case::near(
            "floats",
            1e-05,
            &[Tensor(CaseTensor::float(&[7], &[0.5, -1.25, 3.0, -7.5, 15.0, 30.0, 0.00999999978]))],
            &[CaseTensor::float(
                &[7],
                &[0.938469827, 0.645906091, -0.260051966, 0.26633966, -0.0142244725, -0.0863679871, 0.999975026],
            )],
        ),
        Case::near(
            "doubles",
            1e-07,
            &[Tensor(CaseTensor::of(ScalarType::Double, &[4], &[0.5, -1.25, 3.0, -7.5]))],
            &[CaseTensor::of(
                ScalarType::Double,
                &[4],
                &[0.938469807240813, 0.6459060852712852, -0.2600519549074645, 0.26633966007879234],
            )],
        ),
        Case::near(
            "integers become floats",
            1e-05,
            &[Tensor(CaseTensor::long(&[2], &[1.0, 0.0]))],
            &[CaseTensor::float(&[2], &[0.765197694, 1.0])],
        ),
        Case::refused("a number is no tensor", &[Int(3)], Error::InvalidType),
    ],
};

/// `torch.special.bessel_j1`.
#[cfg(feature = "catalogue")]
pub const BESSEL_J1: Operator = Operator {
    schema: "aten::special_bessel_j1.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::special_bessel_j1",
    path: kernel_path!(bessel_j1),
    dtypes: Dtypes::ALL,
    infer: real::promoted,
    kernel: bessel_j1::<ALL>,
    cases: &[
        Case::near(
            "floats",
            1e-05,
            &[Tensor(CaseTensor::float(&[7], &[0.5, -1.25, 3.0, -7.5, 15.0, 30.0, 0.00999999978]))],
            &[CaseTensor::float(
                &[7],
                &[0.242268458, -0.510623276, 0.339058965, -0.135248438, 0.205104038, -0.118751064, 0.00499993749],
            )],
        ),
        Case::near(
            "doubles",
            1e-07,
            &[Tensor(CaseTensor::of(ScalarType::Double, &[4], &[0.5, -1.25, 3.0, -7.5]))],
            &[CaseTensor::of(
                ScalarType::Double,
                &[4],
                &[0.24226845767487387, -0.5106232603198805, 0.3390589585282922, -0.1352484382588624],
            )],
        ),
        Case::near(
            "integers become floats",
            1e-05,
            &[Tensor(CaseTensor::long(&[2], &[1.0, 0.0]))],
            &[CaseTensor::float(&[2], &[0.440050572, 0.0])],
        ),
        Case::refused("a number is no tensor", &[Int(3)], Error::InvalidType),
    ],
};

/// `torch.special.bessel_y0`.
#[cfg(feature = "catalogue")]
pub const BESSEL_Y0: Operator = Operator {
    schema: "aten::special_bessel_y0.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::special_bessel_y0",
    path: kernel_path!(bessel_y0),
    dtypes: Dtypes::ALL,
    infer: real::promoted,
    kernel: bessel_y0::<ALL>,
    cases: &[
        Case::near(
            "floats",
            1e-05,
            &[Tensor(CaseTensor::float(&[7], &[0.5, 1.25, 3.0, 7.5, 15.0, 30.0, 0.00999999978]))],
            &[CaseTensor::float(
                &[7],
                &[-0.444518745, 0.258216858, 0.376850009, 0.117313281, 0.205464289, -0.117295735, -3.00545573],
            )],
        ),
        Case::near(
            "doubles",
            1e-07,
            &[Tensor(CaseTensor::of(ScalarType::Double, &[4], &[0.5, 1.25, 3.0, 7.5]))],
            &[CaseTensor::of(
                ScalarType::Double,
                &[4],
                &[-0.4445187335067066, 0.25821685159454083, 0.3768500100184375, 0.11731328137254243],
            )],
        ),
        Case::near(
            "integers become floats",
            1e-05,
            &[Tensor(CaseTensor::long(&[2], &[1.0, 0.0]))],
            &[CaseTensor::float(&[2], &[0.0882569626, f64::NEG_INFINITY])],
        ),
        Case::refused("a number is no tensor", &[Int(3)], Error::InvalidType),
    ],
};

/// `torch.special.bessel_y1`.
#[cfg(feature = "catalogue")]
pub const BESSEL_Y1: Operator = Operator {
    schema: "aten::special_bessel_y1.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::special_bessel_y1",
    path: kernel_path!(bessel_y1),
    dtypes: Dtypes::ALL,
    infer: real::promoted,
    kernel: bessel_y1::<ALL>,
    cases: &[
        Case::near(
            "floats",
            1e-05,
            &[Tensor(CaseTensor::float(&[7], &[0.5, 1.25, 3.0, 7.5, 15.0, 30.0, 0.00999999978]))],
            &[CaseTensor::float(
                &[7],
                &[-1.47147238, -0.584364057, 0.324674428, -0.259128511, 0.0210736282, 0.0844255686, -63.6785965],
            )],
        ),
        Case::near(
            "doubles",
            1e-07,
            &[Tensor(CaseTensor::of(ScalarType::Double, &[4], &[0.5, 1.25, 3.0, 7.5]))],
            &[CaseTensor::of(
                ScalarType::Double,
                &[4],
                &[-1.4714723926702433, -0.5843640366150082, 0.32467442479622594, -0.2591285055701094],
            )],
        ),
        Case::near(
            "integers become floats",
            1e-05,
            &[Tensor(CaseTensor::long(&[2], &[1.0, 0.0]))],
            &[CaseTensor::float(&[2], &[-0.781212807, f64::NEG_INFINITY])],
        ),
        Case::refused("a number is no tensor", &[Int(3)], Error::InvalidType),
    ],
};

/// `torch.special.spherical_bessel_j0`.
#[cfg(feature = "catalogue")]
pub const SPHERICAL_BESSEL_J0: Operator = Operator {
    schema: "aten::special_spherical_bessel_j0.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::special_spherical_bessel_j0",
    path: kernel_path!(spherical_bessel_j0),
    dtypes: Dtypes::ALL,
    infer: real::promoted,
    kernel: spherical_bessel_j0::<ALL>,
    cases: &[
        Case::near(
            "floats",
            1e-05,
            &[Tensor(CaseTensor::float(&[7], &[0.5, -1.25, 3.0, -7.5, 15.0, 30.0, 0.00999999978]))],
            &[CaseTensor::float(
                &[7],
                &[0.958851099, 0.759187698, 0.0470400043, 0.125066668, 0.043352522, -0.0329343863, 0.999983311],
            )],
        ),
        Case::near(
            "doubles",
            1e-07,
            &[Tensor(CaseTensor::of(ScalarType::Double, &[4], &[0.5, -1.25, 3.0, -7.5]))],
            &[CaseTensor::of(
                ScalarType::Double,
                &[4],
                &[0.958851077208406, 0.759187695484469, 0.0470400026866224, 0.12506666356996518],
            )],
        ),
        Case::near(
            "integers become floats",
            1e-05,
            &[Tensor(CaseTensor::long(&[2], &[1.0, 0.0]))],
            &[CaseTensor::float(&[2], &[0.841470957, 1.0])],
        ),
        Case::refused("a number is no tensor", &[Int(3)], Error::InvalidType),
    ],
};

/// The portable kernel of `special_bessel_j0` for the types in `D`.
pub fn bessel_j0<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    function::map::<D>(args, bessel::j0)
}

/// The portable kernel of `special_bessel_j1` for the types in `D`.
pub fn bessel_j1<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    function::map::<D>(args, bessel::j1)
}

/// The portable kernel of `special_bessel_y0` for the types in `D`.
pub fn bessel_y0<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    function::map::<D>(args, bessel::y0)
}

/// The portable kernel of `special_bessel_y1` for the types in `D`.
pub fn bessel_y1<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    function::map::<D>(args, bessel::y1)
}

/// The portable kernel of `special_spherical_bessel_j0` for the types in `D`.
pub fn spherical_bessel_j0<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    function::map::<D>(args, bessel::spherical_j0)
}
