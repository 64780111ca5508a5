//! Orthogonal polynomials: arguments are positions and degrees.

use crate::math::special::polynomial;
use crate::prelude::*;
use crate::special::function;

/// `torch.special.chebyshev_polynomial_t`.
#[cfg(feature = "catalogue")]
pub const CHEBYSHEV_POLYNOMIAL_T: Operator = Operator {
    schema: "aten::special_chebyshev_polynomial_t.out(Tensor x, Tensor n, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::special_chebyshev_polynomial_t",
    path: kernel_path!(chebyshev_polynomial_t),
    dtypes: Dtypes::ALL,
    infer: function::promoted,
    kernel: chebyshev_polynomial_t::<ALL>,
    cases: &[
        Case::near(
            "floats",
            1e-05,
            &[
                Tensor(CaseTensor::float(&[6], &[0.5, -0.25, 0.99000001, 1.0, -1.0, 3.0])),
                Tensor(CaseTensor::float(&[6], &[0.0, 1.0, 5.0, 7.0, 4.0, 3.0])),
            ],
            &[CaseTensor::float(&[6], &[1.0, -0.25, 0.759860992, 1.0, 1.0, 99.0])],
        ),
        Case::near(
            "doubles, broadcast",
            1e-09,
            &[
                Tensor(CaseTensor::of(ScalarType::Double, &[6, 1], &[0.5, -0.25, 0.9900000095367432, 1.0, -1.0, 3.0])),
                Tensor(CaseTensor::of(ScalarType::Double, &[1], &[1.0])),
            ],
            &[CaseTensor::of(ScalarType::Double, &[6, 1], &[0.5, -0.25, 0.9900000095367432, 1.0, -1.0, 3.0])],
        ),
    ],
};

/// `torch.special.chebyshev_polynomial_u`.
#[cfg(feature = "catalogue")]
pub const CHEBYSHEV_POLYNOMIAL_U: Operator = Operator {
    schema: "aten::special_chebyshev_polynomial_u.out(Tensor x, Tensor n, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::special_chebyshev_polynomial_u",
    path: kernel_path!(chebyshev_polynomial_u),
    dtypes: Dtypes::ALL,
    infer: function::promoted,
    kernel: chebyshev_polynomial_u::<ALL>,
    cases: &[
        Case::near(
            "floats",
            1e-05,
            &[
                Tensor(CaseTensor::float(&[6], &[0.5, -0.25, 0.99000001, 1.0, -1.0, 3.0])),
                Tensor(CaseTensor::float(&[6], &[0.0, 1.0, 5.0, 7.0, 4.0, 3.0])),
            ],
            &[CaseTensor::float(&[6], &[1.0, -0.5, 5.32211399, 8.0, 5.0, 204.0])],
        ),
        Case::near(
            "doubles, broadcast",
            1e-09,
            &[
                Tensor(CaseTensor::of(ScalarType::Double, &[6, 1], &[0.5, -0.25, 0.9900000095367432, 1.0, -1.0, 3.0])),
                Tensor(CaseTensor::of(ScalarType::Double, &[1], &[1.0])),
            ],
            &[CaseTensor::of(ScalarType::Double, &[6, 1], &[1.0, -0.5, 1.9800000190734863, 2.0, -2.0, 6.0])],
        ),
    ],
};

/// `torch.special.chebyshev_polynomial_v`.
#[cfg(feature = "catalogue")]
pub const CHEBYSHEV_POLYNOMIAL_V: Operator = Operator {
    schema: "aten::special_chebyshev_polynomial_v.out(Tensor x, Tensor n, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::special_chebyshev_polynomial_v",
    path: kernel_path!(chebyshev_polynomial_v),
    dtypes: Dtypes::ALL,
    infer: function::promoted,
    kernel: chebyshev_polynomial_v::<ALL>,
    cases: &[
        Case::near(
            "floats",
            1e-05,
            &[
                Tensor(CaseTensor::float(&[6], &[0.5, -0.25, 0.99000001, 1.0, -1.0, 3.0])),
                Tensor(CaseTensor::float(&[6], &[0.0, 1.0, 5.0, 7.0, 4.0, 3.0])),
            ],
            &[CaseTensor::float(&[6], &[1.0, -1.5, 0.713777721, 1.0, 9.0, 169.0])],
        ),
        Case::near(
            "doubles, broadcast",
            1e-09,
            &[
                Tensor(CaseTensor::of(ScalarType::Double, &[6, 1], &[0.5, -0.25, 0.9900000095367432, 1.0, -1.0, 3.0])),
                Tensor(CaseTensor::of(ScalarType::Double, &[1], &[1.0])),
            ],
            &[CaseTensor::of(ScalarType::Double, &[6, 1], &[0.0, -1.5, 0.9800000190734863, 1.0, -3.0, 5.0])],
        ),
    ],
};

/// `torch.special.chebyshev_polynomial_w`.
#[cfg(feature = "catalogue")]
pub const CHEBYSHEV_POLYNOMIAL_W: Operator = Operator {
    schema: "aten::special_chebyshev_polynomial_w.out(Tensor x, Tensor n, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::special_chebyshev_polynomial_w",
    path: kernel_path!(chebyshev_polynomial_w),
    dtypes: Dtypes::ALL,
    infer: function::promoted,
    kernel: chebyshev_polynomial_w::<ALL>,
    cases: &[
        Case::near(
            "floats",
            1e-05,
            &[
                Tensor(CaseTensor::float(&[6], &[0.5, -0.25, 0.99000001, 1.0, -1.0, 3.0])),
                Tensor(CaseTensor::float(&[6], &[0.0, 1.0, 5.0, 7.0, 4.0, 3.0])),
            ],
            &[CaseTensor::float(&[6], &[1.0, 0.5, 9.93045044, 15.0, 1.0, 239.0])],
        ),
        Case::near(
            "doubles, broadcast",
            1e-09,
            &[
                Tensor(CaseTensor::of(ScalarType::Double, &[6, 1], &[0.5, -0.25, 0.9900000095367432, 1.0, -1.0, 3.0])),
                Tensor(CaseTensor::of(ScalarType::Double, &[1], &[1.0])),
            ],
            &[CaseTensor::of(ScalarType::Double, &[6, 1], &[2.0, 0.5, 2.9800000190734863, 3.0, -1.0, 7.0])],
        ),
    ],
};

/// `torch.special.hermite_polynomial_h`.
#[cfg(feature = "catalogue")]
pub const HERMITE_POLYNOMIAL_H: Operator = Operator {
    schema: "aten::special_hermite_polynomial_h.out(Tensor x, Tensor n, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::special_hermite_polynomial_h",
    path: kernel_path!(hermite_polynomial_h),
    dtypes: Dtypes::ALL,
    infer: function::promoted,
    kernel: hermite_polynomial_h::<ALL>,
    cases: &[
        Case::near(
            "floats",
            1e-05,
            &[
                Tensor(CaseTensor::float(&[6], &[0.5, -0.25, 0.99000001, 1.0, -1.0, 3.0])),
                Tensor(CaseTensor::float(&[6], &[0.0, 1.0, 5.0, 7.0, 4.0, 3.0])),
            ],
            &[CaseTensor::float(&[6], &[1.0, -0.5, -6.01616049, 464.0, -20.0, 180.0])],
        ),
        Case::near(
            "doubles, broadcast",
            1e-09,
            &[
                Tensor(CaseTensor::of(ScalarType::Double, &[6, 1], &[0.5, -0.25, 0.9900000095367432, 1.0, -1.0, 3.0])),
                Tensor(CaseTensor::of(ScalarType::Double, &[1], &[1.0])),
            ],
            &[CaseTensor::of(ScalarType::Double, &[6, 1], &[1.0, -0.5, 1.9800000190734863, 2.0, -2.0, 6.0])],
        ),
    ],
};

/// `torch.special.hermite_polynomial_he`.
#[cfg(feature = "catalogue")]
pub const HERMITE_POLYNOMIAL_HE: Operator = Operator {
    schema: "aten::special_hermite_polynomial_he.out(Tensor x, Tensor n, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::special_hermite_polynomial_he",
    path: kernel_path!(hermite_polynomial_he),
    dtypes: Dtypes::ALL,
    infer: function::promoted,
    kernel: hermite_polynomial_he::<ALL>,
    cases: &[
        Case::near(
            "floats",
            1e-05,
            &[
                Tensor(CaseTensor::float(&[6], &[0.5, -0.25, 0.99000001, 1.0, -1.0, 3.0])),
                Tensor(CaseTensor::float(&[6], &[0.0, 1.0, 5.0, 7.0, 4.0, 3.0])),
            ],
            &[CaseTensor::float(&[6], &[1.0, -0.25, 6.09800005, -20.0, -2.0, 18.0])],
        ),
        Case::near(
            "doubles, broadcast",
            1e-09,
            &[
                Tensor(CaseTensor::of(ScalarType::Double, &[6, 1], &[0.5, -0.25, 0.9900000095367432, 1.0, -1.0, 3.0])),
                Tensor(CaseTensor::of(ScalarType::Double, &[1], &[1.0])),
            ],
            &[CaseTensor::of(ScalarType::Double, &[6, 1], &[0.5, -0.25, 0.9900000095367432, 1.0, -1.0, 3.0])],
        ),
    ],
};

/// `torch.special.laguerre_polynomial_l`.
#[cfg(feature = "catalogue")]
pub const LAGUERRE_POLYNOMIAL_L: Operator = Operator {
    schema: "aten::special_laguerre_polynomial_l.out(Tensor x, Tensor n, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::special_laguerre_polynomial_l",
    path: kernel_path!(laguerre_polynomial_l),
    dtypes: Dtypes::ALL,
    infer: function::promoted,
    kernel: laguerre_polynomial_l::<ALL>,
    cases: &[
        Case::near(
            "floats",
            1e-05,
            &[
                Tensor(CaseTensor::float(&[6], &[0.5, -0.25, 0.99000001, 1.0, -1.0, 3.0])),
                Tensor(CaseTensor::float(&[6], &[0.0, 1.0, 5.0, 7.0, 4.0, 3.0])),
            ],
            &[CaseTensor::float(&[6], &[1.0, 1.25, -0.474465728, -0.0404761918, 8.70833302, 1.0])],
        ),
        Case::near(
            "doubles, broadcast",
            1e-09,
            &[
                Tensor(CaseTensor::of(ScalarType::Double, &[6, 1], &[0.5, -0.25, 0.9900000095367432, 1.0, -1.0, 3.0])),
                Tensor(CaseTensor::of(ScalarType::Double, &[1], &[1.0])),
            ],
            &[CaseTensor::of(ScalarType::Double, &[6, 1], &[0.5, 1.25, 0.009999990463256836, 0.0, 2.0, -2.0])],
        ),
    ],
};

/// `torch.special.legendre_polynomial_p`.
#[cfg(feature = "catalogue")]
pub const LEGENDRE_POLYNOMIAL_P: Operator = Operator {
    schema: "aten::special_legendre_polynomial_p.out(Tensor x, Tensor n, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::special_legendre_polynomial_p",
    path: kernel_path!(legendre_polynomial_p),
    dtypes: Dtypes::ALL,
    infer: function::promoted,
    kernel: legendre_polynomial_p::<ALL>,
    cases: &[
        Case::near(
            "floats",
            1e-05,
            &[
                Tensor(CaseTensor::float(&[6], &[0.5, -0.25, 0.99000001, 1.0, -1.0, 3.0])),
                Tensor(CaseTensor::float(&[6], &[0.0, 1.0, 5.0, 7.0, 4.0, 3.0])),
            ],
            &[CaseTensor::float(&[6], &[1.0, -0.25, 0.855180502, 1.0, 1.0, 63.0])],
        ),
        Case::near(
            "doubles, broadcast",
            1e-09,
            &[
                Tensor(CaseTensor::of(ScalarType::Double, &[6, 1], &[0.5, -0.25, 0.9900000095367432, 1.0, -1.0, 3.0])),
                Tensor(CaseTensor::of(ScalarType::Double, &[1], &[1.0])),
            ],
            &[CaseTensor::of(ScalarType::Double, &[6, 1], &[0.5, -0.25, 0.9900000095367432, 1.0, -1.0, 3.0])],
        ),
    ],
};

/// `torch.special.shifted_chebyshev_polynomial_t`.
#[cfg(feature = "catalogue")]
pub const SHIFTED_CHEBYSHEV_POLYNOMIAL_T: Operator = Operator {
    schema: "aten::special_shifted_chebyshev_polynomial_t.out(Tensor x, Tensor n, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::special_shifted_chebyshev_polynomial_t",
    path: kernel_path!(shifted_chebyshev_polynomial_t),
    dtypes: Dtypes::ALL,
    infer: function::promoted,
    kernel: shifted_chebyshev_polynomial_t::<ALL>,
    cases: &[
        Case::near(
            "floats",
            1e-05,
            &[
                Tensor(CaseTensor::float(&[6], &[0.5, -0.25, 0.99000001, 1.0, -1.0, 3.0])),
                Tensor(CaseTensor::float(&[6], &[0.0, 1.0, 5.0, 7.0, 4.0, 3.0])),
            ],
            &[CaseTensor::float(&[6], &[1.0, -1.5, 0.538893163, 1.0, 577.0, 485.0])],
        ),
        Case::near(
            "doubles, broadcast",
            1e-09,
            &[
                Tensor(CaseTensor::of(ScalarType::Double, &[6, 1], &[0.5, -0.25, 0.9900000095367432, 1.0, -1.0, 3.0])),
                Tensor(CaseTensor::of(ScalarType::Double, &[1], &[1.0])),
            ],
            &[CaseTensor::of(ScalarType::Double, &[6, 1], &[0.0, -1.5, 0.9800000190734863, 1.0, -3.0, 5.0])],
        ),
    ],
};

/// `torch.special.shifted_chebyshev_polynomial_u`.
#[cfg(feature = "catalogue")]
pub const SHIFTED_CHEBYSHEV_POLYNOMIAL_U: Operator = Operator {
    schema: "aten::special_shifted_chebyshev_polynomial_u.out(Tensor x, Tensor n, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::special_shifted_chebyshev_polynomial_u",
    path: kernel_path!(shifted_chebyshev_polynomial_u),
    dtypes: Dtypes::ALL,
    infer: function::promoted,
    kernel: shifted_chebyshev_polynomial_u::<ALL>,
    cases: &[
        Case::near(
            "floats",
            1e-05,
            &[
                Tensor(CaseTensor::float(&[6], &[0.5, -0.25, 0.99000001, 1.0, -1.0, 3.0])),
                Tensor(CaseTensor::float(&[6], &[0.0, 1.0, 5.0, 7.0, 4.0, 3.0])),
            ],
            &[CaseTensor::float(&[6], &[1.0, -3.0, 4.68732262, 8.0, 1189.0, 980.0])],
        ),
        Case::near(
            "doubles, broadcast",
            1e-09,
            &[
                Tensor(CaseTensor::of(ScalarType::Double, &[6, 1], &[0.5, -0.25, 0.9900000095367432, 1.0, -1.0, 3.0])),
                Tensor(CaseTensor::of(ScalarType::Double, &[1], &[1.0])),
            ],
            &[CaseTensor::of(ScalarType::Double, &[6, 1], &[0.0, -3.0, 1.9600000381469727, 2.0, -6.0, 10.0])],
        ),
    ],
};

/// `torch.special.shifted_chebyshev_polynomial_v`.
#[cfg(feature = "catalogue")]
pub const SHIFTED_CHEBYSHEV_POLYNOMIAL_V: Operator = Operator {
    schema: "aten::special_shifted_chebyshev_polynomial_v.out(Tensor x, Tensor n, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::special_shifted_chebyshev_polynomial_v",
    path: kernel_path!(shifted_chebyshev_polynomial_v),
    dtypes: Dtypes::ALL,
    infer: function::promoted,
    kernel: shifted_chebyshev_polynomial_v::<ALL>,
    cases: &[
        Case::near(
            "floats",
            1e-05,
            &[
                Tensor(CaseTensor::float(&[6], &[0.5, -0.25, 0.99000001, 1.0, -1.0, 3.0])),
                Tensor(CaseTensor::float(&[6], &[0.0, 1.0, 5.0, 7.0, 4.0, 3.0])),
            ],
            &[CaseTensor::float(&[6], &[1.0, -4.0, 0.454231411, 1.0, 1393.0, 881.0])],
        ),
        Case::near(
            "doubles, broadcast",
            1e-09,
            &[
                Tensor(CaseTensor::of(ScalarType::Double, &[6, 1], &[0.5, -0.25, 0.9900000095367432, 1.0, -1.0, 3.0])),
                Tensor(CaseTensor::of(ScalarType::Double, &[1], &[1.0])),
            ],
            &[CaseTensor::of(ScalarType::Double, &[6, 1], &[-1.0, -4.0, 0.9600000381469727, 1.0, -7.0, 9.0])],
        ),
    ],
};

/// `torch.special.shifted_chebyshev_polynomial_w`.
#[cfg(feature = "catalogue")]
pub const SHIFTED_CHEBYSHEV_POLYNOMIAL_W: Operator = Operator {
    schema: "aten::special_shifted_chebyshev_polynomial_w.out(Tensor x, Tensor n, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::special_shifted_chebyshev_polynomial_w",
    path: kernel_path!(shifted_chebyshev_polynomial_w),
    dtypes: Dtypes::ALL,
    infer: function::promoted,
    kernel: shifted_chebyshev_polynomial_w::<ALL>,
    cases: &[
        Case::near(
            "floats",
            1e-05,
            &[
                Tensor(CaseTensor::float(&[6], &[0.5, -0.25, 0.99000001, 1.0, -1.0, 3.0])),
                Tensor(CaseTensor::float(&[6], &[0.0, 1.0, 5.0, 7.0, 4.0, 3.0])),
            ],
            &[CaseTensor::float(&[6], &[1.0, -2.0, 8.92041397, 15.0, 985.0, 1079.0])],
        ),
        Case::near(
            "doubles, broadcast",
            1e-09,
            &[
                Tensor(CaseTensor::of(ScalarType::Double, &[6, 1], &[0.5, -0.25, 0.9900000095367432, 1.0, -1.0, 3.0])),
                Tensor(CaseTensor::of(ScalarType::Double, &[1], &[1.0])),
            ],
            &[CaseTensor::of(ScalarType::Double, &[6, 1], &[1.0, -2.0, 2.9600000381469727, 3.0, -5.0, 11.0])],
        ),
    ],
};

/// The portable kernel of `special_chebyshev_polynomial_t` for the types in `D`.
pub fn chebyshev_polynomial_t<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    function::zip::<D>(args, polynomial::chebyshev_t)
}

/// The portable kernel of `special_chebyshev_polynomial_u` for the types in `D`.
pub fn chebyshev_polynomial_u<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    function::zip::<D>(args, polynomial::chebyshev_u)
}

/// The portable kernel of `special_chebyshev_polynomial_v` for the types in `D`.
pub fn chebyshev_polynomial_v<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    function::zip::<D>(args, polynomial::chebyshev_v)
}

/// The portable kernel of `special_chebyshev_polynomial_w` for the types in `D`.
pub fn chebyshev_polynomial_w<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    function::zip::<D>(args, polynomial::chebyshev_w)
}

/// The portable kernel of `special_hermite_polynomial_h` for the types in `D`.
pub fn hermite_polynomial_h<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    function::zip::<D>(args, polynomial::hermite_h)
}

/// The portable kernel of `special_hermite_polynomial_he` for the types in `D`.
pub fn hermite_polynomial_he<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    function::zip::<D>(args, polynomial::hermite_he)
}

/// The portable kernel of `special_laguerre_polynomial_l` for the types in `D`.
pub fn laguerre_polynomial_l<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    function::zip::<D>(args, polynomial::laguerre_l)
}

/// The portable kernel of `special_legendre_polynomial_p` for the types in `D`.
pub fn legendre_polynomial_p<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    function::zip::<D>(args, polynomial::legendre_p)
}

/// The portable kernel of `special_shifted_chebyshev_polynomial_t` for the types in `D`.
pub fn shifted_chebyshev_polynomial_t<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    function::zip::<D>(args, polynomial::shifted_chebyshev_t)
}

/// The portable kernel of `special_shifted_chebyshev_polynomial_u` for the types in `D`.
pub fn shifted_chebyshev_polynomial_u<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    function::zip::<D>(args, polynomial::shifted_chebyshev_u)
}

/// The portable kernel of `special_shifted_chebyshev_polynomial_v` for the types in `D`.
pub fn shifted_chebyshev_polynomial_v<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    function::zip::<D>(args, polynomial::shifted_chebyshev_v)
}

/// The portable kernel of `special_shifted_chebyshev_polynomial_w` for the types in `D`.
pub fn shifted_chebyshev_polynomial_w<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    function::zip::<D>(args, polynomial::shifted_chebyshev_w)
}
