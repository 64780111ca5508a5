//! The error function's complement and inverse, and the normal distribution.

use crate::family::real;
use crate::math::special::normal;
use crate::prelude::*;
use crate::special::function;

/// `torch.erfc`.
#[cfg(feature = "catalogue")]
pub const ERFC: Operator = Operator {
    schema: "aten::erfc.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::erfc",
    path: kernel_path!(erfc),
    dtypes: Dtypes::ALL,
    infer: real::promoted,
    kernel: erfc::<ALL>,
    cases: &[
        Case::near(
            "floats",
            1e-05,
            &[Tensor(CaseTensor::float(&[7], &[0.5, -1.25, 3.0, -7.5, 15.0, 30.0, 0.00999999978]))],
            &[CaseTensor::float(&[7], &[0.479500115, 1.92290008, 2.20904967e-05, 2.0, 0.0, 0.0, 0.988716602])],
        ),
        Case::near(
            "doubles",
            1e-09,
            &[Tensor(CaseTensor::of(ScalarType::Double, &[4], &[0.5, -1.25, 3.0, -7.5]))],
            &[CaseTensor::of(
                ScalarType::Double,
                &[4],
                &[0.4795001221869535, 1.9229001282564582, 2.209049699858544e-05, 2.0],
            )],
        ),
        Case::near(
            "integers become floats",
            1e-05,
            &[Tensor(CaseTensor::long(&[2], &[1.0, 0.0]))],
            &[CaseTensor::float(&[2], &[0.157299206, 1.0])],
        ),
        Case::refused("a number is no tensor", &[Int(3)], Error::InvalidType),
    ],
};

/// `torch.erfinv`.
#[cfg(feature = "catalogue")]
pub const ERFINV: Operator = Operator {
    schema: "aten::erfinv.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::erfinv",
    path: kernel_path!(erfinv),
    dtypes: Dtypes::ALL,
    infer: real::promoted,
    kernel: erfinv::<ALL>,
    cases: &[
        Case::near(
            "floats",
            1e-05,
            &[Tensor(CaseTensor::float(&[7], &[0.5, -0.25, 0.99000001, -0.899999976, 0.0, 1.0, 0.00100000005]))],
            &[CaseTensor::float(
                &[7],
                &[0.476936281, -0.225312054, 1.82138658, -1.16308713, 0.0, f64::INFINITY, 0.000886227179],
            )],
        ),
        Case::near(
            "doubles",
            1e-09,
            &[Tensor(CaseTensor::of(ScalarType::Double, &[4], &[0.5, -0.25, 0.9900000095367432, -0.8999999761581421]))],
            &[CaseTensor::of(
                ScalarType::Double,
                &[4],
                &[0.4769362762044699, -0.2253120550121781, 1.8213866009002777, -1.1630870719457722],
            )],
        ),
        Case::near(
            "integers become floats",
            1e-05,
            &[Tensor(CaseTensor::long(&[2], &[1.0, 0.0]))],
            &[CaseTensor::float(&[2], &[f64::INFINITY, 0.0])],
        ),
        Case::refused("a number is no tensor", &[Int(3)], Error::InvalidType),
    ],
};

/// `torch.special.erfcx`.
#[cfg(feature = "catalogue")]
pub const ERFCX: Operator = Operator {
    schema: "aten::special_erfcx.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::special_erfcx",
    path: kernel_path!(erfcx),
    dtypes: Dtypes::ALL,
    infer: real::promoted,
    kernel: erfcx::<ALL>,
    cases: &[
        Case::near(
            "floats",
            1e-05,
            &[Tensor(CaseTensor::float(&[7], &[0.5, -1.25, 3.0, -2.5, 15.0, 30.0, 0.00999999978]))],
            &[CaseTensor::float(
                &[7],
                &[0.615690351, 9.17364311, 0.179001153, 1035.81482, 0.0375296064, 0.0187958889, 0.988815486],
            )],
        ),
        Case::near(
            "doubles",
            1e-09,
            &[Tensor(CaseTensor::of(ScalarType::Double, &[4], &[0.5, -1.25, 3.0, -2.5]))],
            &[CaseTensor::of(
                ScalarType::Double,
                &[4],
                &[0.6156903441929258, 9.173643447482844, 0.17900115118138998, 1035.8148429726227],
            )],
        ),
        Case::near(
            "integers become floats",
            1e-05,
            &[Tensor(CaseTensor::long(&[2], &[1.0, 0.0]))],
            &[CaseTensor::float(&[2], &[0.427583575, 1.0])],
        ),
        Case::refused("a number is no tensor", &[Int(3)], Error::InvalidType),
    ],
};

/// `torch.special.log_ndtr`.
#[cfg(feature = "catalogue")]
pub const LOG_NDTR: Operator = Operator {
    schema: "aten::special_log_ndtr.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::special_log_ndtr",
    path: kernel_path!(log_ndtr),
    dtypes: Dtypes::ALL,
    infer: real::promoted,
    kernel: log_ndtr::<ALL>,
    cases: &[
        Case::near(
            "floats",
            1e-05,
            &[Tensor(CaseTensor::float(&[7], &[0.5, -1.25, 3.0, -7.5, 15.0, 30.0, 0.00999999978]))],
            &[CaseTensor::float(
                &[7],
                &[-0.368946403, -2.24762559, -0.00135080994, -31.0758915, -0.0, -0.0, -0.685200155],
            )],
        ),
        Case::near(
            "doubles",
            1e-09,
            &[Tensor(CaseTensor::of(ScalarType::Double, &[4], &[0.5, -1.25, 3.0, -7.5]))],
            &[CaseTensor::of(
                ScalarType::Double,
                &[4],
                &[-0.36894641528865635, -2.247625677214318, -0.0013508099647481923, -31.075890902890006],
            )],
        ),
        Case::near(
            "integers become floats",
            1e-05,
            &[Tensor(CaseTensor::long(&[2], &[1.0, 0.0]))],
            &[CaseTensor::float(&[2], &[-0.172753781, -0.693147182])],
        ),
        Case::refused("a number is no tensor", &[Int(3)], Error::InvalidType),
    ],
};

/// `torch.special.ndtri`.
#[cfg(feature = "catalogue")]
pub const NDTRI: Operator = Operator {
    schema: "aten::special_ndtri.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::special_ndtri",
    path: kernel_path!(ndtri),
    dtypes: Dtypes::ALL,
    infer: real::promoted,
    kernel: ndtri::<ALL>,
    cases: &[
        Case::near(
            "floats",
            1e-05,
            &[Tensor(CaseTensor::float(&[7], &[0.5, 0.25, 0.99000001, 0.899999976, 0.0, 1.0, 0.00100000005]))],
            &[CaseTensor::float(
                &[7],
                &[0.0, -0.674489737, 2.3263483, 1.28155148, f64::NEG_INFINITY, f64::INFINITY, -3.09023237],
            )],
        ),
        Case::near(
            "doubles",
            1e-09,
            &[Tensor(CaseTensor::of(ScalarType::Double, &[4], &[0.5, 0.25, 0.9900000095367432, 0.8999999761581421]))],
            &[CaseTensor::of(
                ScalarType::Double,
                &[4],
                &[0.0, -0.6744897501960817, 2.326348231863753, 1.281551429692279],
            )],
        ),
        Case::near(
            "integers become floats",
            1e-05,
            &[Tensor(CaseTensor::long(&[2], &[1.0, 0.0]))],
            &[CaseTensor::float(&[2], &[f64::INFINITY, f64::NEG_INFINITY])],
        ),
        Case::refused("a number is no tensor", &[Int(3)], Error::InvalidType),
    ],
};

/// The portable kernel of `erfc` for the types in `D`.
pub fn erfc<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    function::map::<D>(args, normal::erfc)
}

/// The portable kernel of `erfinv` for the types in `D`.
pub fn erfinv<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    function::map::<D>(args, normal::erfinv)
}

/// The portable kernel of `special_erfcx` for the types in `D`.
pub fn erfcx<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    function::map::<D>(args, normal::erfcx)
}

/// The portable kernel of `special_log_ndtr` for the types in `D`.
pub fn log_ndtr<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    function::map::<D>(args, normal::log_ndtr)
}

/// The portable kernel of `special_ndtri` for the types in `D`.
pub fn ndtri<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    function::map::<D>(args, normal::ndtri)
}
