//! The text of convolutions, GEMMs and pooling.

use et_cpu::{
    Activation, ActivationKind, Conv2d, Depthwise, Epilogue, FusedMlp, Place, Pool, QParams, Weights, Window,
};

use super::{Describe, Names, typed, unless};

impl Describe for Conv2d {
    fn output(&self) -> Place {
        self.output.place
    }

    fn words(&self, names: &Names<'_>) -> String {
        let Window { batch, input: [height, width, channels], output, .. } = self.window;
        let is_matrix = self.window.kernel == [1, 1] && height == 1;
        let input = match (self.row_scales.is_present(), is_matrix) {
            (true, _) => format!(
                "{} int8{:?} (scales {})",
                names.place(self.input.place),
                [width, channels],
                names.place(self.row_scales)
            ),
            (false, true) => names.tensor(self.input.place, self.input_qparams, &[width, channels]),
            (false, false) => names.tensor(self.input.place, self.input_qparams, &[batch, height, width, channels]),
        };
        let name = if is_matrix { "gemm".to_owned() } else { format!("conv2d {}", window(&self.window)) };
        let scales = match self.channel_scales.is_present() {
            true => format!(" * channel scales {}", names.place(self.channel_scales)),
            false => String::new(),
        };
        let output: &[u32] = if is_matrix { &output[1..] } else { &[batch, output[0], output[1], output[2]] };
        let to = typed(self.output_qparams, output);
        let weights = format!("{} {}", names.slot(self.weights.slot), weights(&self.weights));
        format!("{name} of {input}{scales} and {weights}{} to {to}", epilogue(&self.epilogue, names))
    }
}

fn weights(weights: &Weights) -> String {
    match weights.bits {
        32 => "f32".to_owned(),
        4 => format!("int4 in blocks of {}", weights.group),
        bits => format!("int{bits}"),
    }
}

fn epilogue(epilogue: &Epilogue, names: &Names<'_>) -> String {
    let activation = activation(&epilogue.activation);
    let residual = match epilogue.residual.place.is_present() {
        true if epilogue.residual_qparams.is_int8() => {
            let QParams { scale, zero_point } = epilogue.residual_qparams;
            format!(", + {} int8 (scale {scale}, zero {zero_point})", names.place(epilogue.residual.place))
        }
        true => format!(", + {}", names.place(epilogue.residual.place)),
        false => String::new(),
    };
    let divided = if epilogue.is_divided == 1 { ", in units of the output" } else { "" };
    match epilogue.residual_last {
        0 => residual + &activation + divided,
        _ => activation + &residual + divided,
    }
}

fn activation(activation: &Activation) -> String {
    let name = match ActivationKind::from_number(activation.kind) {
        None => return ", unknown".to_owned(),
        Some(ActivationKind::Identity) => String::new(),
        Some(kind) => format!(", {kind:?}").to_lowercase(),
    };
    let Activation { low, high, .. } = *activation;
    match low > f32::NEG_INFINITY || high < f32::INFINITY {
        true => format!("{name}, clamp {low} to {high}"),
        false => name,
    }
}

fn window(window: &Window) -> String {
    let pair = |[vertical, horizontal]: [u32; 2]| format!("{vertical}x{horizontal}");
    let [stride, padding, dilation] = [window.stride, window.padding, window.dilation].map(pair);
    let strides = unless("stride", stride, pair([1; 2])) + &unless("padding", padding, pair([0; 2]));
    let planes = if window.is_planar == 1 { ", NCHW" } else { "" };
    pair(window.kernel)
        + &strides
        + &unless("dilation", dilation, pair([1; 2]))
        + &unless("groups", window.groups, 1)
        + planes
}

impl Describe for Depthwise {
    fn output(&self) -> Place {
        *self.output
    }

    fn words(&self, names: &Names<'_>) -> String {
        let Window { batch, input: [height, width, channels], output: [rows, columns, _], .. } = self.window;
        let input = names.tensor(self.input, self.input_qparams, &[batch, height, width, channels]);
        let window = window(&Window { groups: 1, ..self.window });
        let to = typed(self.output_qparams, &[batch, rows, columns, channels]);
        format!(
            "depthwise {window} of {input} and {}{} to {to}",
            names.slot(self.weights),
            activation(&self.activation)
        )
    }
}

impl Describe for Pool {
    fn output(&self) -> Place {
        *self.output
    }

    fn words(&self, names: &Names<'_>) -> String {
        let Window { batch, input: [height, width, channels], output: [rows, columns, _], .. } = self.window;
        let input = names.tensor(self.input, self.qparams, &[batch, height, width, channels]);
        let name = if self.kind == 0 { "max pool" } else { "average pool" };
        let window = window(&Window { groups: 1, ..self.window });
        format!("{name} {window} of {input} to {}", typed(self.qparams, &[batch, rows, columns, channels]))
    }
}

impl Describe for FusedMlp {
    fn output(&self) -> Place {
        self.second.output.place
    }

    fn words(&self, names: &Names<'_>) -> String {
        let normalized = match self.normalize.input.place.is_present() {
            true => format!("{}; ", self.normalize.words(names)),
            false => String::new(),
        };
        let (first, second) = (self.first.words(names), self.second.words(names));
        format!("fused mlp in {} bands ({normalized}{first}; {second})", self.bands)
    }
}
