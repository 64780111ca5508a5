//! Modified Bessel functions of orders 0 and 1.

use crate::family::real;
use crate::math::special::bessel;
use crate::prelude::*;
use crate::special::function;

/// `torch.special.modified_bessel_i0`.
#[cfg(feature = "catalogue")]
pub const MODIFIED_BESSEL_I0: Operator = Operator {
    schema: "aten::special_modified_bessel_i0.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::special_modified_bessel_i0",
    path: kernel_path!(modified_bessel_i0),
    dtypes: Dtypes::ALL,
    infer: real::promoted,
    kernel: modified_bessel_i0::<ALL>,
    cases: &[
        Case::near(
            "floats",
            1e-05,
            &[Tensor(CaseTensor::float(&[7], &[0.5, -1.25, 3.0, -7.5, 15.0, 30.0, 0.00999999978]))],
            &[CaseTensor::float(
                &[7],
                &[1.06348336, 1.43046868, 4.88079262, 268.161316, 339649.375, 781672316928.0, 1.00002503],
            )],
        ),
        Case::near(
            "doubles",
            1e-09,
            &[Tensor(CaseTensor::of(ScalarType::Double, &[4], &[0.5, -1.25, 3.0, -7.5]))],
            &[CaseTensor::of(
                ScalarType::Double,
                &[4],
                &[1.0634833707413236, 1.4304687177218296, 4.880792585865024, 268.1613115151893],
            )],
        ),
        Case::near(
            "integers become floats",
            1e-05,
            &[Tensor(CaseTensor::long(&[2], &[1.0, 0.0]))],
            &[CaseTensor::float(&[2], &[1.26606584, 1.0])],
        ),
        Case::refused("a number is no tensor", &[Int(3)], Error::InvalidType),
    ],
};

/// `torch.special.modified_bessel_i1`.
#[cfg(feature = "catalogue")]
pub const MODIFIED_BESSEL_I1: Operator = Operator {
    schema: "aten::special_modified_bessel_i1.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::special_modified_bessel_i1",
    path: kernel_path!(modified_bessel_i1),
    dtypes: Dtypes::ALL,
    infer: real::promoted,
    kernel: modified_bessel_i1::<ALL>,
    cases: &[
        Case::near(
            "floats",
            1e-05,
            &[Tensor(CaseTensor::float(&[7], &[0.5, -1.25, 3.0, -7.5, 15.0, 30.0, 0.00999999978]))],
            &[CaseTensor::float(
                &[7],
                &[0.257894307, -0.755281389, 3.95337033, -249.584366, 328124.938, 768532021248.0, 0.00500006229],
            )],
        ),
        Case::near(
            "doubles",
            1e-09,
            &[Tensor(CaseTensor::of(ScalarType::Double, &[4], &[0.5, -1.25, 3.0, -7.5]))],
            &[CaseTensor::of(
                ScalarType::Double,
                &[4],
                &[0.25789430539089636, -0.7552814183407471, 3.9533702174026093, -249.58436542268808],
            )],
        ),
        Case::near(
            "integers become floats",
            1e-05,
            &[Tensor(CaseTensor::long(&[2], &[1.0, 0.0]))],
            &[CaseTensor::float(&[2], &[0.565159082, 0.0])],
        ),
        Case::refused("a number is no tensor", &[Int(3)], Error::InvalidType),
    ],
};

/// `torch.special.modified_bessel_k0`.
#[cfg(feature = "catalogue")]
pub const MODIFIED_BESSEL_K0: Operator = Operator {
    schema: "aten::special_modified_bessel_k0.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::special_modified_bessel_k0",
    path: kernel_path!(modified_bessel_k0),
    dtypes: Dtypes::ALL,
    infer: real::promoted,
    kernel: modified_bessel_k0::<ALL>,
    cases: &[
        Case::near(
            "floats",
            1e-05,
            &[Tensor(CaseTensor::float(&[7], &[0.5, 1.25, 3.0, 7.5, 15.0, 30.0, 0.00999999978]))],
            &[CaseTensor::float(
                &[7],
                &[0.924419045, 0.297603101, 0.0347395055, 0.000249177625, 9.81953647e-08, 2.13247744e-14, 4.72124481],
            )],
        ),
        Case::near(
            "doubles",
            1e-09,
            &[Tensor(CaseTensor::of(ScalarType::Double, &[4], &[0.5, 1.25, 3.0, 7.5]))],
            &[CaseTensor::of(
                ScalarType::Double,
                &[4],
                &[0.924419071227666, 0.29760308908410593, 0.03473950438627925, 0.00024917761635611437],
            )],
        ),
        Case::near(
            "integers become floats",
            1e-05,
            &[Tensor(CaseTensor::long(&[2], &[1.0, 0.0]))],
            &[CaseTensor::float(&[2], &[0.421024442, f64::INFINITY])],
        ),
        Case::refused("a number is no tensor", &[Int(3)], Error::InvalidType),
    ],
};

/// `torch.special.modified_bessel_k1`.
#[cfg(feature = "catalogue")]
pub const MODIFIED_BESSEL_K1: Operator = Operator {
    schema: "aten::special_modified_bessel_k1.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::special_modified_bessel_k1",
    path: kernel_path!(modified_bessel_k1),
    dtypes: Dtypes::ALL,
    infer: real::promoted,
    kernel: modified_bessel_k1::<ALL>,
    cases: &[
        Case::near(
            "floats",
            1e-05,
            &[Tensor(CaseTensor::float(&[7], &[0.5, 1.25, 3.0, 7.5, 15.0, 30.0, 0.00999999978]))],
            &[CaseTensor::float(
                &[7],
                &[1.65644109, 0.402124077, 0.0401564315, 0.000265297393, 1.01417292e-07, 2.16773197e-14, 99.9738998],
            )],
        ),
        Case::near(
            "doubles",
            1e-09,
            &[Tensor(CaseTensor::of(ScalarType::Double, &[4], &[0.5, 1.25, 3.0, 7.5]))],
            &[CaseTensor::of(
                ScalarType::Double,
                &[4],
                &[1.6564411200033007, 0.40212407978419545, 0.04015643112819419, 0.00026529739012528955],
            )],
        ),
        Case::near(
            "integers become floats",
            1e-05,
            &[Tensor(CaseTensor::long(&[2], &[1.0, 0.0]))],
            &[CaseTensor::float(&[2], &[0.601907253, f64::INFINITY])],
        ),
        Case::refused("a number is no tensor", &[Int(3)], Error::InvalidType),
    ],
};

/// `torch.special.scaled_modified_bessel_k0`.
#[cfg(feature = "catalogue")]
pub const SCALED_MODIFIED_BESSEL_K0: Operator = Operator {
    schema: "aten::special_scaled_modified_bessel_k0.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::special_scaled_modified_bessel_k0",
    path: kernel_path!(scaled_modified_bessel_k0),
    dtypes: Dtypes::ALL,
    infer: real::promoted,
    kernel: scaled_modified_bessel_k0::<ALL>,
    cases: &[
        Case::near(
            "floats",
            1e-05,
            &[Tensor(CaseTensor::float(&[7], &[0.5, 1.25, 3.0, 7.5, 15.0, 30.0, 0.00999999978]))],
            &[CaseTensor::float(
                &[7],
                &[1.52410936, 1.03873682, 0.697761595, 0.450523704, 0.321002364, 0.227886662, 4.76869392],
            )],
        ),
        Case::near(
            "doubles",
            1e-09,
            &[Tensor(CaseTensor::of(ScalarType::Double, &[4], &[0.5, 1.25, 3.0, 7.5]))],
            &[CaseTensor::of(
                ScalarType::Double,
                &[4],
                &[1.5241093857739099, 1.0387368461035982, 0.6977615980438517, 0.45052369910491563],
            )],
        ),
        Case::near(
            "integers become floats",
            1e-05,
            &[Tensor(CaseTensor::long(&[2], &[1.0, 0.0]))],
            &[CaseTensor::float(&[2], &[1.14446306, f64::INFINITY])],
        ),
        Case::refused("a number is no tensor", &[Int(3)], Error::InvalidType),
    ],
};

/// `torch.special.scaled_modified_bessel_k1`.
#[cfg(feature = "catalogue")]
pub const SCALED_MODIFIED_BESSEL_K1: Operator = Operator {
    schema: "aten::special_scaled_modified_bessel_k1.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::special_scaled_modified_bessel_k1",
    path: kernel_path!(scaled_modified_bessel_k1),
    dtypes: Dtypes::ALL,
    infer: real::promoted,
    kernel: scaled_modified_bessel_k1::<ALL>,
    cases: &[
        Case::near(
            "floats",
            1e-05,
            &[Tensor(CaseTensor::float(&[7], &[0.5, 1.25, 3.0, 7.5, 15.0, 30.0, 0.00999999978]))],
            &[CaseTensor::float(
                &[7],
                &[2.73100972, 1.40355098, 0.806563497, 0.479668945, 0.331534892, 0.231654122, 100.978653],
            )],
        ),
        Case::near(
            "doubles",
            1e-09,
            &[Tensor(CaseTensor::of(ScalarType::Double, &[4], &[0.5, 1.25, 3.0, 7.5]))],
            &[CaseTensor::of(
                ScalarType::Double,
                &[4],
                &[2.7310097082117855, 1.4035509499005903, 0.806563480128787, 0.47966893379102066],
            )],
        ),
        Case::near(
            "integers become floats",
            1e-05,
            &[Tensor(CaseTensor::long(&[2], &[1.0, 0.0]))],
            &[CaseTensor::float(&[2], &[1.63615346, f64::INFINITY])],
        ),
        Case::refused("a number is no tensor", &[Int(3)], Error::InvalidType),
    ],
};

/// `torch.i0`.
#[cfg(feature = "catalogue")]
pub const I0: Operator = Operator {
    schema: "aten::i0.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::i0",
    path: kernel_path!(i0),
    dtypes: Dtypes::ALL,
    infer: real::promoted,
    kernel: i0::<ALL>,
    cases: &[
        Case::near(
            "floats",
            1e-05,
            &[Tensor(CaseTensor::float(&[7], &[0.5, -1.25, 3.0, -7.5, 15.0, 30.0, 0.00999999978]))],
            &[CaseTensor::float(
                &[7],
                &[1.06348336, 1.43046868, 4.88079262, 268.161316, 339649.375, 781672316928.0, 1.00002503],
            )],
        ),
        Case::near(
            "doubles",
            1e-09,
            &[Tensor(CaseTensor::of(ScalarType::Double, &[4], &[0.5, -1.25, 3.0, -7.5]))],
            &[CaseTensor::of(
                ScalarType::Double,
                &[4],
                &[1.0634833707413236, 1.4304687177218296, 4.880792585865024, 268.1613115151893],
            )],
        ),
        Case::near(
            "integers become floats",
            1e-05,
            &[Tensor(CaseTensor::long(&[2], &[1.0, 0.0]))],
            &[CaseTensor::float(&[2], &[1.26606584, 1.0])],
        ),
        Case::refused("a number is no tensor", &[Int(3)], Error::InvalidType),
    ],
};

/// `torch.special.i0e`.
#[cfg(feature = "catalogue")]
pub const I0E: Operator = Operator {
    schema: "aten::special_i0e.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::special_i0e",
    path: kernel_path!(i0e),
    dtypes: Dtypes::ALL,
    infer: real::promoted,
    kernel: i0e::<ALL>,
    cases: &[
        Case::near(
            "floats",
            1e-05,
            &[Tensor(CaseTensor::float(&[7], &[0.5, -1.25, 3.0, -7.5, 15.0, 30.0, 0.00999999978]))],
            &[CaseTensor::float(
                &[7],
                &[0.645035267, 0.409836143, 0.243000358, 0.148315832, 0.103899531, 0.0731459484, 0.990074575],
            )],
        ),
        Case::near(
            "doubles",
            1e-09,
            &[Tensor(CaseTensor::of(ScalarType::Double, &[4], &[0.5, -1.25, 3.0, -7.5]))],
            &[CaseTensor::of(
                ScalarType::Double,
                &[4],
                &[0.6450352704491501, 0.4098361493857494, 0.24300035416182536, 0.1483158300773955],
            )],
        ),
        Case::near(
            "integers become floats",
            1e-05,
            &[Tensor(CaseTensor::long(&[2], &[1.0, 0.0]))],
            &[CaseTensor::float(&[2], &[0.465759605, 1.0])],
        ),
        Case::refused("a number is no tensor", &[Int(3)], Error::InvalidType),
    ],
};

/// `torch.special.i1`.
#[cfg(feature = "catalogue")]
pub const I1: Operator = Operator {
    schema: "aten::special_i1.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::special_i1",
    path: kernel_path!(i1),
    dtypes: Dtypes::ALL,
    infer: real::promoted,
    kernel: i1::<ALL>,
    cases: &[
        Case::near(
            "floats",
            1e-05,
            &[Tensor(CaseTensor::float(&[7], &[0.5, -1.25, 3.0, -7.5, 15.0, 30.0, 0.00999999978]))],
            &[CaseTensor::float(
                &[7],
                &[0.257894307, -0.755281389, 3.95337033, -249.584366, 328124.938, 768532021248.0, 0.00500006229],
            )],
        ),
        Case::near(
            "doubles",
            1e-09,
            &[Tensor(CaseTensor::of(ScalarType::Double, &[4], &[0.5, -1.25, 3.0, -7.5]))],
            &[CaseTensor::of(
                ScalarType::Double,
                &[4],
                &[0.25789430539089636, -0.7552814183407471, 3.9533702174026093, -249.58436542268808],
            )],
        ),
        Case::near(
            "integers become floats",
            1e-05,
            &[Tensor(CaseTensor::long(&[2], &[1.0, 0.0]))],
            &[CaseTensor::float(&[2], &[0.565159082, 0.0])],
        ),
        Case::refused("a number is no tensor", &[Int(3)], Error::InvalidType),
    ],
};

/// `torch.special.i1e`.
#[cfg(feature = "catalogue")]
pub const I1E: Operator = Operator {
    schema: "aten::special_i1e.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::special_i1e",
    path: kernel_path!(i1e),
    dtypes: Dtypes::ALL,
    infer: real::promoted,
    kernel: i1e::<ALL>,
    cases: &[
        Case::near(
            "floats",
            1e-05,
            &[Tensor(CaseTensor::float(&[7], &[0.5, -1.25, 3.0, -7.5, 15.0, 30.0, 0.00999999978]))],
            &[CaseTensor::float(
                &[7],
                &[0.156420797, -0.216391742, 0.196826711, -0.138041213, 0.100374177, 0.0719163269, 0.00495031103],
            )],
        ),
        Case::near(
            "doubles",
            1e-09,
            &[Tensor(CaseTensor::of(ScalarType::Double, &[4], &[0.5, -1.25, 3.0, -7.5]))],
            &[CaseTensor::of(
                ScalarType::Double,
                &[4],
                &[0.15642080318487173, -0.21639174933399202, 0.19682671329730084, -0.13804121154855417],
            )],
        ),
        Case::near(
            "integers become floats",
            1e-05,
            &[Tensor(CaseTensor::long(&[2], &[1.0, 0.0]))],
            &[CaseTensor::float(&[2], &[0.207910419, 0.0])],
        ),
        Case::refused("a number is no tensor", &[Int(3)], Error::InvalidType),
    ],
};

/// The portable kernel of `special_modified_bessel_i0` for the types in `D`.
pub fn modified_bessel_i0<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    function::map::<D>(args, bessel::i0)
}

/// The portable kernel of `special_modified_bessel_i1` for the types in `D`.
pub fn modified_bessel_i1<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    function::map::<D>(args, bessel::i1)
}

/// The portable kernel of `special_modified_bessel_k0` for the types in `D`.
pub fn modified_bessel_k0<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    function::map::<D>(args, bessel::k0)
}

/// The portable kernel of `special_modified_bessel_k1` for the types in `D`.
pub fn modified_bessel_k1<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    function::map::<D>(args, bessel::k1)
}

/// The portable kernel of `special_scaled_modified_bessel_k0` for the types in `D`.
pub fn scaled_modified_bessel_k0<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    function::map::<D>(args, bessel::k0e)
}

/// The portable kernel of `special_scaled_modified_bessel_k1` for the types in `D`.
pub fn scaled_modified_bessel_k1<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    function::map::<D>(args, bessel::k1e)
}

/// The portable kernel of `i0` for the types in `D`.
pub fn i0<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    function::map::<D>(args, bessel::i0)
}

/// The portable kernel of `special_i0e` for the types in `D`.
pub fn i0e<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    function::map::<D>(args, bessel::i0e)
}

/// The portable kernel of `special_i1` for the types in `D`.
pub fn i1<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    function::map::<D>(args, bessel::i1)
}

/// The portable kernel of `special_i1e` for the types in `D`.
pub fn i1e<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    function::map::<D>(args, bessel::i1e)
}
