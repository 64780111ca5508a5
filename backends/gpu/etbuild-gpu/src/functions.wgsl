fn of_bits(bits: u32) -> f32 {
    var value = bits;
    return bitcast<f32>(value);
}

fn nearest_i32(value: vec2<u32>) -> i32 {
    let low = bitcast<i32>(value.x);
    let high = bitcast<i32>(value.y);
    let border = select(2147483647i, -2147483647i - 1i, high < 0i);
    return select(border, low, high == (low >> 31u));
}

fn bf16(value: f32) -> u32 {
    let bits = bitcast<u32>(value);
    if (is_nan(value)) { return 32704u; }
    return (bits + 32767u + ((bits >> 16u) & 1u)) >> 16u;
}

fn as_half(value: f32) -> f32 {
    return unpack2x16float(pack2x16float(vec2<f32>(value, 0.0f))).x;
}

fn as_bf16(value: f32) -> f32 {
    return bitcast<f32>(bf16(value) << 16u);
}

fn is_nan(value: f32) -> bool {
    return (bitcast<u32>(value) & 2147483647u) > 2139095040u;
}

fn clamp_f32(value: f32, least: f32, most: f32) -> f32 {
    return select(select(select(value, least, value < least), most, value > most), value, is_nan(value));
}

fn clamped_f32(value: f32, least: f32) -> f32 {
    return select(value, least, value < least || is_nan(least));
}

fn capped_f32(value: f32, most: f32) -> f32 {
    return select(value, most, value > most || is_nan(most));
}

fn shift_left_i32(value: i32, count: i32) -> i32 {
    return select(0i, value << (u32(count) & 31u), count >= 0i && count < 32i);
}

fn shift_left_i64(value: i64, count: i64) -> i64 {
    return select(0li, value << (u32(i32(count)) & 63u), count >= 0li && count < 64li);
}

fn shift_right_i32(value: i32, count: i32) -> i32 {
    return value >> select(31u, u32(count) & 31u, count >= 0i && count < 32i);
}

fn shift_right_i64(value: i64, count: i64) -> i64 {
    return value >> select(63u, u32(i32(count)) & 63u, count >= 0li && count < 64li);
}

fn is_inf(value: f32) -> bool {
    return (bitcast<u32>(value) & 2147483647u) == 2139095040u;
}

fn max_f32(left: f32, right: f32) -> f32 {
    if (is_nan(left)) { return left; }
    if (is_nan(right)) { return right; }
    return max(left, right);
}

fn min_f32(left: f32, right: f32) -> f32 {
    if (is_nan(left)) { return left; }
    if (is_nan(right)) { return right; }
    return min(left, right);
}

fn relu_f32(value: f32) -> f32 {
    return select(value, 0.0f, bitcast<i32>(value) < 0i && !is_nan(value));
}

fn sign_f32(value: f32) -> f32 {
    return select(select(0.0f, -1.0f, value < 0.0f), 1.0f, value > 0.0f);
}

fn sign_i32(value: i32) -> i32 {
    return select(select(0i, -1i, value < 0i), 1i, value > 0i);
}

fn sign_i64(value: i64) -> i64 {
    return select(select(0li, -1li, value < 0li), 1li, value > 0li);
}

fn round_f32(value: f32) -> f32 {
    if (abs(value) >= 8388608.0f) { return value; }
    let down = floor(value);
    let part = value - down;
    let is_odd = down - 2.0f * floor(down * 0.5f) != 0.0f;
    return select(down, down + 1.0f, part > 0.5f || (part == 0.5f && is_odd));
}

fn exp_f32(value: f32) -> f32 {
    if (is_nan(value)) { return value; }
    if (value > 88.72284f) { return of_bits(2139095040u); }
    if (value < -104.0f) { return 0.0f; }
    let power = round_f32(value * 1.44269504f);
    let part = (value - power * 0.693145752f) - power * 0.00000142860677f;
    let series = 1.0f + part * (1.0f + part * (0.5f + part * (0.16666666f + part * (0.041666642f + part * (0.008333344f + part * (0.0013889048f + part * 0.00019841270f))))));
    let half = i32(power) / 2i;
    let other = i32(power) - half;
    return series * bitcast<f32>(u32(half + 127i) << 23u) * bitcast<f32>(u32(other + 127i) << 23u);
}

fn expm1_f32(value: f32) -> f32 {
    if (abs(value) < 0.35f) {
        return value * (1.0f + value * (0.5f + value * (0.16666667f + value * (0.041666668f + value * (0.0083333338f + value * (0.0013888889f + value * (0.00019841270f + value * 0.000024801587f)))))));
    }
    return exp_f32(value) - 1.0f;
}

fn log_f32(value: f32) -> f32 {
    if (is_nan(value) || value < 0.0f) { return of_bits(2143289344u); }
    if (value == 0.0f) { return of_bits(4286578688u); }
    if (is_inf(value)) { return value; }
    var scaled = value;
    var power = 0.0f;
    if (scaled < 1.1754944e-38f) { scaled = scaled * 16777216.0f; power = -24.0f; }
    let bits = bitcast<u32>(scaled);
    var mantissa = bitcast<f32>((bits & 8388607u) | 1065353216u);
    power = power + f32(i32(bits >> 23u) - 127i);
    if (mantissa > 1.41421356f) { mantissa = mantissa * 0.5f; power = power + 1.0f; }
    let ratio = (mantissa - 1.0f) / (mantissa + 1.0f);
    let square = ratio * ratio;
    let series = 2.0f * ratio * (1.0f + square * (0.33333333f + square * (0.2f + square * (0.14285715f + square * (0.11111111f + square * 0.09090909f)))));
    return power * 0.693145752f + (series + power * 0.00000142860677f);
}

fn log1p_f32(value: f32) -> f32 {
    let sum = 1.0f + value;
    if (abs(value) < 0.0001f) { return value * (1.0f - value * (0.5f - value * 0.33333333f)); }
    if (is_inf(sum) || sum <= 0.0f) { return log_f32(sum); }
    return log_f32(sum) - ((sum - 1.0f) - value) / sum;
}

fn pow_f32(base: f32, exponent: f32) -> f32 {
    if (exponent == 0.0f || base == 1.0f) { return 1.0f; }
    if (is_nan(base) || is_nan(exponent)) { return of_bits(2143289344u); }
    let is_whole = floor(exponent) == exponent;
    let is_odd = is_whole && abs(exponent) < 16777216.0f && abs(exponent - 2.0f * floor(exponent * 0.5f)) == 1.0f;
    let size = abs(base);
    var result: f32;
    if (size == 0.0f) {
        result = select(0.0f, of_bits(2139095040u), exponent < 0.0f);
    } else if (is_inf(exponent)) {
        if (size == 1.0f) { return 1.0f; }
        result = select(0.0f, of_bits(2139095040u), (size > 1.0f) == (exponent > 0.0f));
    } else if (is_inf(base)) {
        result = select(0.0f, of_bits(2139095040u), exponent > 0.0f);
    } else if (is_whole && abs(exponent) <= 32.0f) {
        var factor = size;
        var rest = u32(abs(exponent));
        result = 1.0f;
        while (rest > 0u) {
            if ((rest & 1u) == 1u) { result = result * factor; }
            factor = factor * factor;
            rest = rest >> 1u;
        }
        if (exponent < 0.0f) { result = 1.0f / result; }
    } else {
        result = exp_f32(exponent * log_f32(size));
    }
    if (base < 0.0f && !is_whole && !is_inf(base) && !is_inf(exponent)) { return of_bits(2143289344u); }
    return select(result, -result, (bitcast<u32>(base) >> 31u) == 1u && is_odd);
}

fn pow_i32(base: i32, exponent: i32) -> i32 {
    if (exponent < 0i) {
        return select(select(0i, select(1i, -1i, (exponent & 1i) == 1i), base == -1i), 1i, base == 1i);
    }
    var result = 1i;
    var factor = base;
    var rest = exponent;
    while (rest > 0i) {
        if ((rest & 1i) == 1i) { result = result * factor; }
        factor = factor * factor;
        rest = rest >> 1u;
    }
    return result;
}

fn pow_i64(base: i64, exponent: i64) -> i64 {
    if (exponent < 0li) {
        return select(select(0li, select(1li, -1li, (exponent & 1li) == 1li), base == -1li), 1li, base == 1li);
    }
    var result = 1li;
    var factor = base;
    var rest = exponent;
    while (rest > 0li) {
        if ((rest & 1li) == 1li) { result = result * factor; }
        factor = factor * factor;
        rest = rest >> 1u;
    }
    return result;
}

fn floor_divide_i32(left: i32, right: i32) -> i32 {
    let quotient = left / right;
    return select(quotient, quotient - 1i, quotient * right != left && ((left < 0i) != (right < 0i)));
}

fn floor_divide_i64(left: i64, right: i64) -> i64 {
    let quotient = left / right;
    return select(quotient, quotient - 1li, quotient * right != left && ((left < 0li) != (right < 0li)));
}

fn fmod_f32(left: f32, right: f32) -> f32 {
    if (right == 0.0f || is_inf(left) || is_nan(left) || is_nan(right)) { return of_bits(2143289344u); }
    if (is_inf(right)) { return left; }
    let quotient = trunc(left / right);
    let high = bitcast<f32>(bitcast<u32>(right) & 4294963200u);
    var rest = (left - quotient * high) - quotient * (right - high);
    if (rest != 0.0f && (rest < 0.0f) != (left < 0.0f)) { rest = rest + sign_f32(left) * abs(right); }
    if (abs(rest) >= abs(right)) { rest = rest - sign_f32(rest) * abs(right); }
    return rest;
}

fn remainder_f32(left: f32, right: f32) -> f32 {
    let rest = fmod_f32(left, right);
    return select(rest, rest + right, rest != 0.0f && ((rest < 0.0f) != (right < 0.0f)));
}

fn floor_divide_f32(left: f32, right: f32) -> f32 {
    if (right == 0.0f) { return left / right; }
    let rest = fmod_f32(left, right);
    var quotient = (left - rest) / right;
    if (rest != 0.0f && ((right < 0.0f) != (rest < 0.0f))) { quotient = quotient - 1.0f; }
    if (quotient == 0.0f) { return 0.0f * (left / right); }
    return round_f32(quotient);
}

fn sigmoid_f32(value: f32) -> f32 {
    return 1.0f / (1.0f + exp_f32(-value));
}

fn tanh_f32(value: f32) -> f32 {
    if (abs(value) < 0.0004f) { return value; }
    let double = expm1_f32(2.0f * min(abs(value), 10.0f));
    let size = double / (double + 2.0f);
    return select(select(size, -size, value < 0.0f), value, is_nan(value));
}

fn sinh_f32(value: f32) -> f32 {
    if (abs(value) < 1.0f) { let square = value * value; return value * (1.0f + square * (0.16666667f + square * (0.008333334f + square * (0.00019841270f + square * 0.0000027557319f)))); }
    let half = exp_f32(abs(value) * 0.5f);
    let size = 0.5f * half * half - 0.5f / half / half;
    return select(size, -size, value < 0.0f);
}

fn cosh_f32(value: f32) -> f32 {
    let half = exp_f32(abs(value) * 0.5f);
    return 0.5f * half * half + 0.5f / half / half;
}

fn asinh_f32(value: f32) -> f32 {
    let size = abs(value);
    var result: f32;
    if (size > 100000000.0f) { result = log_f32(size) + 0.69314718f; } else { result = log1p_f32(size + size * size / (1.0f + sqrt(size * size + 1.0f))); }
    return select(select(result, -result, value < 0.0f), value, is_nan(value));
}

fn acosh_f32(value: f32) -> f32 {
    if (value < 1.0f) { return of_bits(2143289344u); }
    if (value > 100000000.0f) { return log_f32(value) + 0.69314718f; }
    let above = value - 1.0f;
    return log1p_f32(above + sqrt(2.0f * above + above * above));
}

fn atanh_f32(value: f32) -> f32 {
    if (abs(value) == 1.0f) { return value * of_bits(2139095040u); }
    return 0.5f * log1p_f32(2.0f * value / (1.0f - value));
}

fn atan_f32(value: f32) -> f32 {
    let size = abs(value);
    var base = 0.0f;
    var part = size;
    if (size > 2.4142135f) { base = 1.5707964f; part = -1.0f / size; } else if (size > 0.41421357f) { base = 0.78539816f; part = (size - 1.0f) / (size + 1.0f); }
    let square = part * part;
    let series = ((8.05374449538e-2f * square - 1.38776856032e-1f) * square + 1.99777106478e-1f) * square - 3.33329491539e-1f;
    let result = base + (series * square * part + part);
    return select(select(result, -result, value < 0.0f), value, is_nan(value));
}

fn atan2_f32(y: f32, x: f32) -> f32 {
    if (is_nan(y) || is_nan(x)) { return of_bits(2143289344u); }
    let is_left = (bitcast<u32>(x) >> 31u) == 1u;
    let is_below = (bitcast<u32>(y) >> 31u) == 1u;
    var angle: f32;
    if (y == 0.0f) { angle = select(0.0f, 3.1415927f, is_left); } else if (is_inf(x) && is_inf(y)) { angle = select(0.78539816f, 2.3561945f, is_left); } else if (x == 0.0f || is_inf(y)) { angle = 1.5707964f; } else if (is_inf(x)) { angle = select(0.0f, 3.1415927f, is_left); } else {
        angle = atan_f32(abs(y / x));
        angle = select(angle, 3.1415927f - angle, is_left);
    }
    return select(angle, -angle, is_below);
}

fn asin_f32(value: f32) -> f32 {
    let size = abs(value);
    if (size > 1.0f || is_nan(value)) { return of_bits(2143289344u); }
    var part = size;
    var square = size * size;
    if (size > 0.5f) { square = 0.5f * (1.0f - size); part = sqrt(square); }
    let series = ((((4.2163199048e-2f * square + 2.4181311049e-2f) * square + 4.5470025998e-2f) * square + 7.4953002686e-2f) * square + 1.6666752422e-1f) * square * part + part;
    let result = select(series, 1.5707964f - 2.0f * series, size > 0.5f);
    return select(result, -result, value < 0.0f);
}

fn acos_f32(value: f32) -> f32 {
    if (value < -0.5f) { return 3.1415927f - 2.0f * asin_f32(sqrt(0.5f * (1.0f + value))); }
    if (value > 0.5f) { return 2.0f * asin_f32(sqrt(0.5f * (1.0f - value))); }
    return 1.5707964f - asin_f32(value);
}

fn quarter_f32(value: f32) -> vec2<f32> {
    let turns = round_f32(value * 0.63661977f);
    let part = ((value - turns * 1.5703125f) - turns * 0.00048351288f) - turns * 0.00000031385692f + turns * 0.0000000000061f;
    return vec2<f32>(turns, part);
}

fn sine_part_f32(part: f32) -> f32 {
    let square = part * part;
    return part * (1.0f + square * (-0.16666667f + square * (0.008333333f + square * (-0.00019841270f + square * 0.0000027557319f))));
}

fn cosine_part_f32(part: f32) -> f32 {
    let square = part * part;
    return 1.0f + square * (-0.5f + square * (0.041666668f + square * (-0.0013888889f + square * (0.000024801587f - square * 0.00000027557319f))));
}

fn sin_f32(value: f32) -> f32 {
    if (is_inf(value) || is_nan(value)) { return of_bits(2143289344u); }
    let reduced = quarter_f32(value);
    let quadrant = i32(reduced.x) & 3i;
    let size = select(sine_part_f32(reduced.y), cosine_part_f32(reduced.y), (quadrant & 1i) == 1i);
    return select(size, -size, quadrant >= 2i);
}

fn cos_f32(value: f32) -> f32 {
    if (is_inf(value) || is_nan(value)) { return of_bits(2143289344u); }
    let reduced = quarter_f32(value);
    let quadrant = i32(reduced.x) & 3i;
    let size = select(cosine_part_f32(reduced.y), sine_part_f32(reduced.y), (quadrant & 1i) == 1i);
    return select(size, -size, quadrant == 1i || quadrant == 2i);
}

fn erf_f32(value: f32) -> f32 {
    let size = abs(value);
    var result: f32;
    if (size > 0.921875f) {
        var series = fma(-1.72853470e-5f, size, 3.83197126e-4f);
        let square = value * value;
        let other = fma(-3.88396438e-3f, size, 2.42546219e-2f);
        series = fma(series, square, other);
        series = fma(series, size, -1.06777877e-1f);
        series = fma(series, size, -6.34846687e-1f);
        series = fma(series, size, -1.28717512e-1f);
        series = fma(series, size, -size);
        result = 1.0f - exp_f32(series);
        result = select(result, -result, value < 0.0f);
    } else {
        let square = value * value;
        var series = fma(-5.96761703e-4f, square, 4.99119423e-3f);
        series = fma(series, square, -2.67681349e-2f);
        series = fma(series, square, 1.12819925e-1f);
        series = fma(series, square, -3.76125336e-1f);
        series = fma(series, square, 1.28379166e-1f);
        result = fma(series, value, value);
    }
    return select(result, value, is_nan(value));
}

fn gelu_f32(value: f32) -> f32 {
    return 0.5f * value * (1.0f + erf_f32(value * 0.70710678f));
}

fn gelu_tanh_f32(value: f32) -> f32 {
    return 0.5f * value * (1.0f + tanh_f32(0.79788456f * (value + 0.044715f * value * value * value)));
}

fn elu_f32(value: f32, alpha: f32, scale: f32, input_scale: f32) -> f32 {
    return select(value * scale, expm1_f32(value * input_scale) * alpha * scale, value <= 0.0f);
}

fn softplus_f32(value: f32, beta: f32, threshold: f32) -> f32 {
    return select(log1p_f32(exp_f32(value * beta)) / beta, value, value * beta > threshold);
}

fn log_sigmoid_f32(value: f32) -> f32 {
    return select(0.0f, value, value < 0.0f || is_nan(value)) - log1p_f32(exp_f32(-abs(value)));
}

fn mish_f32(value: f32) -> f32 {
    return value * tanh_f32(softplus_f32(value, 1.0f, 20.0f));
}

fn logit_f32(value: f32, eps: f32) -> f32 {
    let inner = select(select(select(value, 1.0f - eps, value > 1.0f - eps), eps, value < eps), value, is_nan(value));
    return log_f32(inner / (1.0f - inner));
}

fn lerp_f32(start: f32, end: f32, weight: f32) -> f32 {
    return select(end - (end - start) * (1.0f - weight), start + weight * (end - start), abs(weight) < 0.5f);
}
