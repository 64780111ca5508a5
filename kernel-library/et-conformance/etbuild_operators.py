"""Our own operators as PyTorch computes them, for `check_with_torch.py`. They are registered where this is imported."""

import torch

library = torch.library.Library("etbuild", "DEF")


def operator(schema):
    def register(function):
        library.define(schema)
        library.impl(function.__name__, function, "CompositeExplicitAutograd")
        return function
    return register


@operator("rotate(Tensor input, Tensor cosines, Tensor sines, Tensor start, Tensor last, bool interleaved=False) -> Tensor")
def rotate(input, cosines, sines, start, last, interleaved=False):
    rows, pairs = input.shape[-3], cosines.shape[1]
    positions = start + torch.arange(rows).clamp(max=int(last))
    cosine, sine = cosines[positions].unsqueeze(1), sines[positions].unsqueeze(1)
    turned, rest = input.split([2 * pairs, input.shape[-1] - 2 * pairs], -1)
    if interleaved:
        left, right = turned[..., ::2], turned[..., 1::2]
        turned = torch.stack([left * cosine - right * sine, right * cosine + left * sine], -1).flatten(-2)
        return torch.cat([turned, rest], -1)
    left, right = turned.split(pairs, -1)
    return torch.cat([left * cosine - right * sine, right * cosine + left * sine, rest], -1)


def in_bytes(rows):
    """Symmetric bytes, and behind those of a row the four of its scale."""
    scale = (rows.abs().amax(-1, keepdim=True) / 127).clamp(min=torch.finfo(torch.float32).tiny)
    return torch.cat([torch.round(rows / scale).to(torch.int8), scale.view(torch.int8)], -1)


def numbers(rows):
    """What rows stand for: see `in_bytes`."""
    if rows.dtype != torch.int8:
        return rows
    return rows[..., :-4] * rows[..., -4:].contiguous().view(torch.float32)


@operator("write_cache(Tensor cache, Tensor rows, Tensor start, Tensor last) -> Tensor")
def write_cache(cache, rows, start, last):
    count, slots = int(last) + 1, cache.shape[1]
    if count > min(slots, rows.shape[1]):
        raise ValueError("more tokens than rows or slots")
    cache, is_narrowed = cache.clone(), (cache.dtype, rows.dtype) == (torch.int8, torch.float32)
    cache[:, (start + torch.arange(count)) % slots] = (in_bytes(rows) if is_narrowed else rows)[:, :count]
    return cache


@operator("attend_cache(Tensor query, Tensor keys, Tensor values, Tensor start, Tensor last, float scale, int window=0, "
          "float soft_cap=0.0, Tensor? slopes=None, Tensor? sinks=None, int columns=0) -> Tensor")
def attend_cache(query, keys, values, start, last, scale, window=0, soft_cap=0.0, slopes=None, sinks=None, columns=0,
                 is_mutual=False):
    end, slots, window = int(start + last) + 1, keys.shape[1], window or 1 << 40
    if end > slots and window + int(last) > slots:
        raise ValueError("the cache has no slot for what rows see")
    # The text as it was before it went around the end; what the cache has forgotten, no row sees.
    positions = torch.arange(end)
    sharing = query.shape[2] // keys.shape[2]
    assert sharing * keys.shape[2] == query.shape[2]
    keys, values = (numbers(cache)[:, positions % slots].repeat_interleave(sharing, 2) for cache in (keys, values))
    scores = torch.einsum("brhd,bkhd->bhrk", query, keys) * scale
    if soft_cap > 0:
        scores = (scores / soft_cap).tanh() * soft_cap
    if slopes is not None:
        scores = scores + slopes[:, None, None] * positions
    own = (start + torch.arange(query.shape[1]).clamp(max=int(last))).unsqueeze(1)
    hidden = (positions <= own - window) | ((positions > own) & (not is_mutual))
    scores = scores.masked_fill(hidden, -torch.inf)
    if sinks is not None:
        scores = torch.cat([scores, sinks[:, None, None].expand(*scores.shape[:-1], 1)], -1)
    weights = scores.softmax(-1)[..., :end]
    return torch.einsum("bhrk,bkhd->brhd", weights, values[..., :columns or None])


@operator("attend_block(Tensor query, Tensor keys, Tensor values, Tensor start, Tensor last, float scale, int window=0, "
          "float soft_cap=0.0, Tensor? slopes=None, Tensor? sinks=None, int columns=0) -> Tensor")
def attend_block(*arguments):
    return attend_cache(*arguments, is_mutual=True)


@operator("attend_segments(Tensor query, Tensor keys, Tensor values, Tensor ends, float scale) -> Tensor")
def attend_segments(query, keys, values, ends, scale):
    row = 0
    while row < len(ends):
        end = int(ends[row])
        if not row < end <= len(ends) or (ends[row:end] != end).any():
            raise ValueError("segments do not follow each other")
        row = end
    scores = torch.einsum("brhd,bkhd->bhrk", query, keys) * scale
    weights = scores.masked_fill(ends.unsqueeze(0) != ends.unsqueeze(1), -torch.inf).softmax(-1)
    return torch.einsum("bhrk,bkhd->brhd", weights, values)


@operator("choose_experts(Tensor scores, Tensor? biases, int count, int groups=1, int kept=1, int judged=1) -> (Tensor, Tensor)")
def choose_experts(scores, biases, count, groups=1, kept=1, judged=1):
    corrected = scores if biases is None else scores + biases
    grouped = corrected.reshape(len(scores), groups, scores.shape[1] // groups)
    if count > kept * grouped.shape[2]:
        raise ValueError("the kept groups have fewer experts")
    sums = grouped.sort(-1, descending=True)[0][..., :judged].sum(-1)
    others = sums.sort(dim=-1, descending=True, stable=True)[1][:, kept:]
    grouped = grouped.scatter(1, others[..., None].expand(-1, -1, grouped.shape[2]), -torch.inf)
    chosen = grouped.flatten(1).sort(dim=-1, descending=True, stable=True)[1][:, :count]
    return scores.gather(1, chosen), chosen


@operator("expert_linear(Tensor input, Tensor experts, Tensor[] weights, Tensor? biases=None, Tensor? offsets=None) -> Tensor")
def expert_linear(input, experts, weights, biases=None, offsets=None):
    shape = "rvc,rkoc->rko" if input.shape[1] == 1 else "rkc,rkoc->rko"
    made = torch.einsum(shape, input, torch.stack(weights)[experts])
    if offsets is not None:
        means = input.reshape(*input.shape[:2], offsets.shape[1], -1).mean(-1)
        made = made + torch.einsum(shape, means, offsets[experts].transpose(-2, -1))
    return made if biases is None else made + biases[experts]


@operator("conv_cache(Tensor rows, Tensor cache, Tensor weight, Tensor? bias, Tensor start, Tensor last) -> Tensor")
def conv_cache(rows, cache, weight, bias, start, last):
    kernel, slots = weight.shape[1], cache.shape[1]
    if start + last + 1 > slots and kernel + last > slots:
        raise ValueError("the cache has no slot for what rows see")
    before = torch.arange(int(start) - kernel + 1, int(start))
    old = cache[:, before % slots, 0] * (before >= 0).unsqueeze(-1)
    columns = torch.cat([old, rows], 1).transpose(1, 2)
    return torch.nn.functional.conv1d(columns, weight.unsqueeze(1), bias, groups=weight.shape[0]).transpose(1, 2).contiguous()


@operator("selective_scan(Tensor input, Tensor steps, Tensor rates, Tensor keys, Tensor queries, Tensor state, Tensor start, "
          "Tensor last, Tensor? biases=None, Tensor? skips=None) -> (Tensor, Tensor)")
def selective_scan(input, steps, rates, keys, queries, state, start, last, biases=None, skips=None):
    heads, groups = input.shape[2], keys.shape[2]
    state, out = state * (start > 0), torch.zeros_like(input)
    steps = torch.nn.functional.softplus(steps if biases is None else steps + biases)
    keys, queries = (value.repeat_interleave(heads // groups, 2)[0, :, :, None] for value in (keys, queries))
    for row in range(int(last) + 1):
        step = steps[0, row, :, None, None]
        state = (step * rates[:, None]).exp() * state + step * input[0, row, :, :, None] * keys[row]
        out[0, row] = (state * queries[row]).sum(-1)
        if skips is not None:
            out[0, row] += skips[:, None] * input[0, row]
    return out, state.clone()


@operator("gated_delta(Tensor values, Tensor keys, Tensor queries, Tensor steps, Tensor shares, Tensor rates, Tensor biases, "
          "Tensor state, Tensor start, Tensor last) -> (Tensor, Tensor)")
def gated_delta(values, keys, queries, steps, shares, rates, biases, state, start, last):
    heads, groups = values.shape[2], keys.shape[2]
    state, out = state * (start > 0), torch.zeros_like(values)
    decays = (torch.nn.functional.softplus(steps + biases) * rates).exp()[0, :, :, None, None]
    keys, queries = (value.repeat_interleave(heads // groups, 2)[0, :, :, None] for value in (keys, queries))
    for row in range(int(last) + 1):
        state = decays[row] * state
        known = (state * keys[row]).sum(-1)
        state = state + ((values[0, row] - known) * shares[0, row, :, None]).unsqueeze(-1) * keys[row]
        out[0, row] = (state * queries[row]).sum(-1)
    return out, state.clone()


@operator("pivot_order(Tensor pivots, int rows) -> Tensor")
def pivot_order(pivots, rows):
    orders = []
    for steps in pivots.reshape(-1, pivots.shape[-1]).tolist():
        order = list(range(rows))
        for step, row in enumerate(steps):
            order[step], order[row - 1] = order[row - 1], order[step]
        orders.append(order)
    return torch.tensor(orders).reshape(*pivots.shape[:-1], rows)


def signs(vectors):
    """For each column, the sign of the first element that is not 0."""
    first = (vectors.abs() > 1e-6).to(torch.int8).argmax(-2, keepdim=True)
    return vectors.gather(-2, first).sign()


@operator("eigh(Tensor self, bool upper) -> (Tensor, Tensor, Tensor)")
def eigh(self, upper):
    values, vectors = torch.linalg.eigh(self, "U" if upper else "L")
    return values, vectors * signs(vectors), torch.diag_embed(values)


@operator("svd(Tensor self) -> (Tensor, Tensor, Tensor)")
def svd(self):
    if self.shape[-2] < self.shape[-1]:
        raise ValueError("more columns than rows")
    left, values, right = torch.linalg.svd(self, full_matrices=False)
    return left * signs(left), values, right * signs(right.mT).mT


@operator("matrix_exp(Tensor self) -> (Tensor, Tensor)")
def matrix_exp(self):
    made = torch.linalg.matrix_exp(self)
    return made, made.clone()


@operator("log_mel(Tensor samples, Tensor window, Tensor turns, Tensor bands, Tensor weights, Tensor? cosines, int n_fft, "
          "int hop, bool center, bool magnitude, bool adds_floor, int unit, int range, int cosine_bits) -> (Tensor, Tensor)")
def log_mel(samples, window, turns, bands, weights, cosines, n_fft, hop, center, magnitude, adds_floor, unit, range, cosine_bits):
    spectrum = torch.stft(samples.flatten() / 32768, n_fft, hop, window.numel(), window / 2 ** 31, center, return_complex=True).abs().T
    energies = spectrum if magnitude else spectrum ** 2
    columns = []
    for first, count, start, gain, floor in bands.view(-1, 5).tolist():
        energy = energies[:, first:first + count] @ (weights[start:start + count] / 32768)
        floor = torch.tensor(floor, dtype=torch.int32).view(torch.float32)
        columns.append((energy + floor if adds_floor else energy.clamp(min=float(floor))).log2() + gain / 65536)
    logarithms = torch.stack(columns, -1)
    if range > 0:
        logarithms = logarithms.clamp(min=float(logarithms.max()) - range / 65536)
    features = logarithms * unit / 2 ** 28 if cosines is None else logarithms @ (cosines.view(-1, logarithms.shape[1]) / 2 ** cosine_bits).T
    words = n_fft + 2 + logarithms.shape[1] * (features.shape[0] if range > 0 else 1)
    return features, torch.zeros(words, dtype=torch.int32)


def channel_of(frame, format):
    """The channels of a camera's pixels, as bytes."""
    if format in (3, 4, 5):
        high, low = frame.int().unbind(-1)
        parts = [(high >> 3, 5), ((high & 7) << 3 | low >> 5, 6), (low & 31, 5)]
        frame = torch.stack([part << 8 - bits | part >> 2 * bits - 8 for part, bits in parts], -1).byte()
    if format in (2, 5):
        red, green, blue = frame.int().unbind(-1)
        return ((red * 19595 + green * 38470 + blue * 7471 + 32768) >> 16).byte().unsqueeze(-1)
    return frame.flip(-1) if format in (1, 4) else frame


def resized(image, places, weights):
    """The rows of an image, as bytes."""
    rows = []
    for first, count, start in places.view(-1, 3).tolist():
        taps = weights[start:start + count].view(-1, 1, 1)
        rows.append(((image[first:first + count].int() * taps).sum(0) + (1 << 21) >> 22).clamp(0, 255).byte())
    return torch.stack(rows)


@operator("pixels(Tensor frame, int[] size, Tensor rows, Tensor row_weights, Tensor columns, Tensor column_weights, Tensor values, "
          "int format, bool columns_first, int kept, bool channels_last) -> (Tensor, Tensor)")
def pixels(frame, size, rows, row_weights, columns, column_weights, values, format, columns_first, kept, channels_last):
    frame = frame.view(*size)
    if (format in (1, 2)) != (frame.shape[2] == 3) and format != 0:
        raise ValueError("another number of bytes")
    image = channel_of(frame, format)
    for is_row in [columns_first, not columns_first]:
        if is_row:
            image = resized(image, rows, row_weights)
        else:
            image = resized(image.transpose(0, 1), columns, column_weights).transpose(0, 1)
    channels = image.shape[2]
    table = values.view(-1, 256).expand(channels, 256)
    found = torch.stack([table[index][image[..., index].long()] for index in range(channels)], -1)
    words = (frame.shape[1] + (0 if columns_first else kept * (columns.numel() // 3))) * channels
    return found if channels_last else found.permute(2, 0, 1).contiguous(), torch.zeros(words, dtype=torch.uint8)


@operator("advance(Tensor kept, Tensor fresh) -> Tensor")
def advance(kept, fresh):
    if fresh.numel() > kept.numel() or fresh.dtype != kept.dtype:
        raise ValueError("another type, or more than there is room for")
    return torch.cat([kept.flatten()[fresh.numel():], fresh.flatten()]).view_as(kept)


def philox(counter, key):
    """A block of Philox 4x32-10."""
    for _ in range(10):
        left, right = counter[0] * 0xD2511F53, counter[2] * 0xCD9E8D57
        counter = [right >> 32 ^ counter[1] ^ key[0], right % 2**32, left >> 32 ^ counter[3] ^ key[1], left % 2**32]
        key = [(key[0] + 0x9E3779B9) % 2**32, (key[1] + 0xBB67AE85) % 2**32]
    return counter


def random_bits(state, number, count):
    """Integers of 64 bits."""
    seed, execution = (int(part) % 2**64 for part in state)
    blocks = (philox([at, number, execution % 2**32, execution >> 32], [seed % 2**32, seed >> 32]) for at in range(count // 2 + 1))
    return [block[at] << 32 | block[at + 1] for block in blocks for at in (0, 2)][:count]


@operator("uniform(Tensor state, SymInt[] size, int number) -> Tensor")
def uniform(state, size, number):
    state, size = state.reshape(2), torch.Size(size)
    bits = random_bits(state, number, size.numel())
    return torch.tensor([(word >> 40) / 2**24 for word in bits]).reshape(size)


@operator("normal(Tensor state, SymInt[] size, int number) -> Tensor")
def normal(state, size, number):
    state, size = state.reshape(2), torch.Size(size)
    fractions = torch.tensor([(word >> 11) / 2**53 for word in random_bits(state, number, 2 * size.numel())], dtype=torch.float64)
    distances, angles = (-2 * (1 - fractions[::2]).log()).sqrt(), 2 * torch.pi * fractions[1::2]
    return (distances * angles.cos()).float().reshape(size)
