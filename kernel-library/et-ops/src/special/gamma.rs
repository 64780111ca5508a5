//! The gamma function's logarithm with derivatives, incomplete gamma functions, and the zeta function.

use crate::family::real;
use crate::math::special::{gamma, incomplete, zeta};
use crate::prelude::*;
use crate::special::function;

/// `torch.lgamma`.
#[cfg(feature = "catalogue")]
pub const LGAMMA: Operator = Operator {
    schema: "aten::lgamma.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::lgamma",
    path: kernel_path!(lgamma),
    dtypes: Dtypes::ALL,
    infer: real::promoted,
    kernel: lgamma::<ALL>,
    cases: &[
        Case::near(
            "floats",
            1e-05,
            &[Tensor(CaseTensor::float(&[9], &[0.5, -1.25, 3.5, -7.5, 15.0, 30000.0, 0.00999999978, -0.0, 2.0]))],
            &[CaseTensor::float(
                &[9],
                &[
                    0.572364926,
                    1.36643171,
                    1.20097363,
                    -8.4045372,
                    25.1912212,
                    279264.344,
                    4.59947968,
                    f64::INFINITY,
                    0.0,
                ],
            )],
        ),
        Case::near(
            "doubles",
            1e-09,
            &[Tensor(CaseTensor::of(ScalarType::Double, &[4], &[0.5, -1.25, 3.5, -7.5]))],
            &[CaseTensor::of(
                ScalarType::Double,
                &[4],
                &[0.5723649429247001, 1.3664317612369763, 1.2009736023470743, -8.404537371451598],
            )],
        ),
        Case::near(
            "integers become floats",
            1e-05,
            &[Tensor(CaseTensor::long(&[2], &[1.0, 0.0]))],
            &[CaseTensor::float(&[2], &[0.0, f64::INFINITY])],
        ),
        Case::refused("a number is no tensor", &[Int(3)], Error::InvalidType),
    ],
};

/// `torch.digamma`.
#[cfg(feature = "catalogue")]
pub const DIGAMMA: Operator = Operator {
    schema: "aten::digamma.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::digamma",
    path: kernel_path!(digamma),
    dtypes: Dtypes::ALL,
    infer: real::promoted,
    kernel: digamma::<ALL>,
    cases: &[
        Case::near(
            "floats",
            1e-05,
            &[Tensor(CaseTensor::float(&[9], &[0.5, -1.25, 3.0, -7.5, 15.0, 30000.0, 0.00999999978, -2.0, 0.0]))],
            &[CaseTensor::float(
                &[9],
                &[
                    -1.96351004,
                    3.71413922,
                    0.922784328,
                    2.08009076,
                    2.67434669,
                    10.3089361,
                    -100.56089,
                    f64::NAN,
                    f64::NEG_INFINITY,
                ],
            )],
        ),
        Case::near(
            "doubles",
            1e-09,
            &[Tensor(CaseTensor::of(ScalarType::Double, &[4], &[0.5, -1.25, 3.0, -7.5]))],
            &[CaseTensor::of(
                ScalarType::Double,
                &[4],
                &[-1.9635100260214229, 3.714139120213528, 0.922784335098467, 2.0800908175794204],
            )],
        ),
        Case::near(
            "integers become floats",
            1e-05,
            &[Tensor(CaseTensor::long(&[2], &[1.0, 0.0]))],
            &[CaseTensor::float(&[2], &[-0.577215672, f64::NEG_INFINITY])],
        ),
        Case::refused("a number is no tensor", &[Int(3)], Error::InvalidType),
    ],
};

/// `torch.polygamma`.
#[cfg(feature = "catalogue")]
pub const POLYGAMMA: Operator = Operator {
    schema: "aten::polygamma.out(int n, Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::polygamma",
    path: kernel_path!(polygamma),
    dtypes: Dtypes::ALL,
    infer,
    kernel: polygamma::<ALL>,
    cases: &[
        Case::near(
            "the first derivative",
            1e-05,
            &[Int(1), Tensor(CaseTensor::float(&[5], &[0.5, 1.25, 3.0, 30.0, -2.25]))],
            &[CaseTensor::float(&[5], &[4.93480206, 1.19732916, 0.394934058, 0.0338950604, 19.3794098])],
        ),
        Case::near(
            "the second derivative of doubles",
            1e-09,
            &[Int(2), Tensor(CaseTensor::of(ScalarType::Double, &[4], &[0.5, 1.25, 3.0, 30.0]))],
            &[CaseTensor::of(
                ScalarType::Double,
                &[4],
                &[-16.828796644234316, -1.32773993753692, -0.15411380631918856, -0.0011487652037285997],
            )],
        ),
        Case::near(
            "no derivative, integers",
            1e-05,
            &[Int(0), Tensor(CaseTensor::long(&[2], &[1.0, 2.0]))],
            &[CaseTensor::float(&[2], &[-0.57721591, 0.422784209])],
        ),
        Case::refused("a negative order", &[Int(-1), Tensor(CaseTensor::float(&[1], &[1.0]))], Error::InvalidArgument),
    ],
};

/// `torch.igamma`: the regularized lower incomplete gamma function.
#[cfg(feature = "catalogue")]
pub const IGAMMA: Operator = Operator {
    schema: "aten::igamma.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::igamma",
    path: kernel_path!(igamma),
    dtypes: Dtypes::ALL,
    infer: function::promoted,
    kernel: igamma::<ALL>,
    cases: &[
        Case::near(
            "floats",
            1e-05,
            &[
                Tensor(CaseTensor::float(&[4], &[0.5, 2.0, 30.0, 4.0])),
                Tensor(CaseTensor::float(&[4], &[0.25, 3.0, 28.0, 0.5])),
            ],
            &[CaseTensor::float(&[4], &[0.520499885, 0.800851703, 0.377389699, 0.00175162253])],
        ),
        Case::near(
            "doubles, broadcast",
            1e-09,
            &[
                Tensor(CaseTensor::of(ScalarType::Double, &[4, 1], &[0.5, 2.0, 30.0, 4.0])),
                Tensor(CaseTensor::of(ScalarType::Double, &[1], &[3.0])),
            ],
            &[CaseTensor::of(
                ScalarType::Double,
                &[4, 1],
                &[0.9856941215645704, 0.8008517265285442, 4.277047721426874e-20, 0.35276811121776874],
            )],
        ),
    ],
};

/// `torch.igammac`: the regularized upper incomplete gamma function.
#[cfg(feature = "catalogue")]
pub const IGAMMAC: Operator = Operator {
    schema: "aten::igammac.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::igammac",
    path: kernel_path!(igammac),
    dtypes: Dtypes::ALL,
    infer: function::promoted,
    kernel: igammac::<ALL>,
    cases: &[
        Case::near(
            "floats",
            1e-05,
            &[
                Tensor(CaseTensor::float(&[4], &[0.5, 2.0, 30.0, 4.0])),
                Tensor(CaseTensor::float(&[4], &[0.25, 3.0, 28.0, 0.5])),
            ],
            &[CaseTensor::float(&[4], &[0.479500115, 0.199148268, 0.622610331, 0.998248398])],
        ),
        Case::near(
            "doubles, broadcast",
            1e-09,
            &[
                Tensor(CaseTensor::of(ScalarType::Double, &[4, 1], &[0.5, 2.0, 30.0, 4.0])),
                Tensor(CaseTensor::of(ScalarType::Double, &[1], &[3.0])),
            ],
            &[CaseTensor::of(
                ScalarType::Double,
                &[4, 1],
                &[0.014305878435429645, 0.1991482734714558, 1.0, 0.6472318887822313],
            )],
        ),
    ],
};

/// `torch.special.zeta`: the Hurwitz zeta function.
#[cfg(feature = "catalogue")]
pub const ZETA: Operator = Operator {
    schema: "aten::special_zeta.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::special_zeta",
    path: kernel_path!(zeta),
    dtypes: Dtypes::ALL,
    infer: function::promoted,
    kernel: zeta::<ALL>,
    cases: &[
        Case::near(
            "floats",
            1e-05,
            &[
                Tensor(CaseTensor::float(&[4], &[1.5, 2.0, 7.0, 4.0])),
                Tensor(CaseTensor::float(&[4], &[0.25, 3.0, 28.0, 0.5])),
            ],
            &[CaseTensor::float(&[4], &[10.2130556, 0.394934058, 3.84458299e-10, 16.234848])],
        ),
        Case::near(
            "doubles, broadcast",
            1e-09,
            &[
                Tensor(CaseTensor::of(ScalarType::Double, &[4, 1], &[1.5, 2.0, 7.0, 4.0])),
                Tensor(CaseTensor::of(ScalarType::Double, &[1], &[3.0])),
            ],
            &[CaseTensor::of(
                ScalarType::Double,
                &[4, 1],
                &[1.2588219580922144, 0.39493406684822646, 0.0005367773819228268, 0.019823233711138193],
            )],
        ),
    ],
};

/// The portable kernel of `lgamma` for the types in `D`.
pub fn lgamma<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    function::map::<D>(args, gamma::ln_gamma)
}

/// The portable kernel of `digamma` for the types in `D`.
pub fn digamma<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    function::map::<D>(args, gamma::digamma)
}

/// The portable kernel of `igamma` for the types in `D`.
pub fn igamma<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    function::zip::<D>(args, incomplete::lower)
}

/// The portable kernel of `igammac` for the types in `D`.
pub fn igammac<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    function::zip::<D>(args, incomplete::upper)
}

/// The portable kernel of `special_zeta` for the types in `D`.
pub fn zeta<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    function::zip::<D>(args, zeta::zeta)
}

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let input = args.tensor(1)?;
    order(args)?;
    Ok(Meta { scalar_type: real::floated(input.scalar_type()), shape: input.shape() })
}

fn order(args: &Args<'_, '_>) -> Result<u32> {
    u32::try_from(args.int(0)?).map_err(|_| Error::InvalidArgument)
}

/// The portable kernel of `polygamma` for the types in `D`.
pub fn polygamma<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let order = order(args)?;
    function::map_tensor::<D>(&args.tensor(1)?, &args.tensor(2)?, &|x| gamma::polygamma(order, x))
}
