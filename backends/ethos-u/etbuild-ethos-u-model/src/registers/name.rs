//! The registers, with the codes of the commands that set them. Bit 14 of a code says that the command has a payload.

/// A register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Register {
    /// The code of the command that sets the register.
    pub code: u16,
    /// The name in Arm's documents, without prefix.
    pub name: &'static str,
}

macro_rules! registers {
    ($(#[$doc:meta])* $list:ident: $($name:ident = $code:literal,)*) => {
        $(pub const $name: Register = Register { code: $code, name: stringify!($name) };)*
        $(#[$doc])*
        pub const $list: &[Register] = &[$($name),*];
    };
}

registers! {
    /// The registers of all series.
    COMMON:
    IFM_PAD_TOP = 0x100,
    IFM_PAD_LEFT = 0x101,
    IFM_PAD_RIGHT = 0x102,
    IFM_PAD_BOTTOM = 0x103,
    IFM_DEPTH_M1 = 0x104,
    IFM_PRECISION = 0x105,
    IFM_UPSCALE = 0x107,
    IFM_ZERO_POINT = 0x109,
    IFM_WIDTH0_M1 = 0x10a,
    IFM_HEIGHT0_M1 = 0x10b,
    IFM_HEIGHT1_M1 = 0x10c,
    IFM_REGION = 0x10f,
    OFM_WIDTH_M1 = 0x111,
    OFM_HEIGHT_M1 = 0x112,
    OFM_DEPTH_M1 = 0x113,
    OFM_PRECISION = 0x114,
    OFM_BLK_WIDTH_M1 = 0x115,
    OFM_BLK_HEIGHT_M1 = 0x116,
    OFM_BLK_DEPTH_M1 = 0x117,
    OFM_ZERO_POINT = 0x118,
    OFM_WIDTH0_M1 = 0x11a,
    OFM_HEIGHT0_M1 = 0x11b,
    OFM_HEIGHT1_M1 = 0x11c,
    OFM_REGION = 0x11f,
    KERNEL_WIDTH_M1 = 0x120,
    KERNEL_HEIGHT_M1 = 0x121,
    KERNEL_STRIDE = 0x122,
    ACC_FORMAT = 0x124,
    ACTIVATION = 0x125,
    ACTIVATION_MIN = 0x126,
    ACTIVATION_MAX = 0x127,
    WEIGHT_REGION = 0x128,
    SCALE_REGION = 0x129,
    BLOCKDEP = 0x12f,
    DMA0_SRC_REGION = 0x130,
    DMA0_DST_REGION = 0x131,
    DMA0_SIZE0 = 0x132,
    DMA0_SIZE1 = 0x133,
    IFM2_BROADCAST = 0x180,
    IFM2_PRECISION = 0x185,
    IFM2_ZERO_POINT = 0x189,
    IFM2_WIDTH0_M1 = 0x18a,
    IFM2_HEIGHT0_M1 = 0x18b,
    IFM2_HEIGHT1_M1 = 0x18c,
    IFM2_REGION = 0x18f,
    IFM_BASE0 = 0x4000,
    IFM_BASE1 = 0x4001,
    IFM_BASE2 = 0x4002,
    IFM_BASE3 = 0x4003,
    IFM_STRIDE_X = 0x4004,
    IFM_STRIDE_Y = 0x4005,
    IFM_STRIDE_C = 0x4006,
    OFM_BASE0 = 0x4010,
    OFM_BASE1 = 0x4011,
    OFM_BASE2 = 0x4012,
    OFM_BASE3 = 0x4013,
    OFM_STRIDE_X = 0x4014,
    OFM_STRIDE_Y = 0x4015,
    OFM_STRIDE_C = 0x4016,
    WEIGHT_BASE = 0x4020,
    WEIGHT_LENGTH = 0x4021,
    SCALE_BASE = 0x4022,
    SCALE_LENGTH = 0x4023,
    OFM_SCALE = 0x4024,
    DMA0_SRC = 0x4030,
    DMA0_DST = 0x4031,
    DMA0_LEN = 0x4032,
    IFM2_BASE0 = 0x4080,
    IFM2_BASE1 = 0x4081,
    IFM2_BASE2 = 0x4082,
    IFM2_BASE3 = 0x4083,
    IFM2_STRIDE_X = 0x4084,
    IFM2_STRIDE_Y = 0x4085,
    IFM2_STRIDE_C = 0x4086,
    WEIGHT1_BASE = 0x4090,
    WEIGHT1_LENGTH = 0x4091,
}

registers! {
    /// Further registers of U55 and U65.
    U55:
    IFM_IB_END = 0x10d,
    PARALLEL_MODE = 0x123,
    AB_START = 0x12d,
    IFM2_SCALAR = 0x181,
    IFM2_IB_START = 0x18d,
    OPA_SCALE = 0x4025,
    OPB_SCALE = 0x4026,
    DMA0_SKIP0 = 0x4033,
    DMA0_SKIP1 = 0x4034,
    SCALE1_BASE = 0x4092,
    SCALE1_LENGTH = 0x4093,
}

registers! {
    /// Further registers of U85.
    U85:
    IFM_BROADCAST = 0x108,
    RESIZE_X_SCALE_N_M1 = 0x12a,
    RESIZE_Y_SCALE_N_M1 = 0x12b,
    RESIZE_X_OFFSET = 0x12c,
    RESIZE_Y_OFFSET = 0x12d,
    WEIGHT_FORMAT = 0x12e,
    DMA0_IDX_REGION = 0x134,
    IFM_SCALE = 0x4025,
    IFM2_SCALE = 0x4026,
    OP_SCALAR = 0x4027,
    DMA0_SRC_STRIDE0 = 0x4033,
    DMA0_SRC_STRIDE1 = 0x4034,
    DMA0_DST_STRIDE0 = 0x4035,
    DMA0_DST_STRIDE1 = 0x4036,
    DMA0_IDX = 0x4037,
    DMA0_IDX_MAX = 0x4038,
    DMA0_IDX_SKIP1 = 0x4039,
    WEIGHT2_BASE = 0x4092,
    WEIGHT2_LENGTH = 0x4093,
    WEIGHT3_BASE = 0x4094,
    WEIGHT3_LENGTH = 0x4095,
    RESIZE_X = 0x4096,
    RESIZE_Y = 0x4097,
}
