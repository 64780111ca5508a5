// Executes dispatches on the CPU: reads objects and dispatches from the standard input, and writes the objects.
//
// The invocations of a workgroup are coroutines that take turns at barriers.
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <ucontext.h>
#include <vector>

#include "metal_stdlib.hpp"

extern const Kernel* const KERNELS[];
extern const uint KERNEL_COUNT;

static void fail(const char* sentence) {
    std::fprintf(stderr, "%s\n", sentence);
    std::exit(3);
}

namespace metal {

static float power(int exponent) { return std::ldexp(1.0f, exponent); }

half::operator float() const {
    int exponent = bits >> 10 & 31;
    float fraction = (bits & 1023) / 1024.0f, sign = bits >> 15 ? -1.0f : 1.0f;
    if (exponent == 31) return bits & 1023 ? NAN : sign * INFINITY;
    return sign * (exponent == 0 ? fraction * power(-14) : (1.0f + fraction) * power(exponent - 15));
}

half::half(float value) {
    uint32_t sign = as_type<uint32_t>(value) >> 16 & 0x8000;
    float size = std::fabs(value);
    if (std::isnan(value)) { bits = 0x7e00; return; }
    if (size >= 65520.0f) { bits = sign | 0x7c00; return; }
    int exponent;
    std::frexp(size, &exponent);
    exponent = size < power(-14) ? -14 : exponent - 1;
    // Whole steps of the last place, the nearest even one; a carry goes to the exponent.
    uint32_t steps = uint32_t(std::nearbyint(size / power(exponent - 10)));
    bits = sign | (size < power(-14) ? steps : steps + (uint32_t(exponent + 14) << 10));
}

} // namespace metal

/// An invocation with a stack of its own, whose switches make no system call.
struct Invocation {
    ucontext_t context;
    jmp_buf place_in_code;
    std::unique_ptr<char[]> stack;
    Place place;
    bool started, ended;
};

static jmp_buf turn;
static Invocation* current;
static const Kernel* executed;
static char* const* bound;

void metal::threadgroup_barrier(mem_flags) {
    if (_setjmp(current->place_in_code) == 0) _longjmp(turn, 1);
}

static void enter() {
    executed->invoke(current->place, bound);
    current->ended = true;
    _longjmp(turn, 1);
}

static const size_t STACK = 256 << 10;

/// Lets an invocation compute up to the next barrier or to the end.
static void resume(Invocation& one) {
    current = &one;
    if (_setjmp(turn) != 0) return;
    if (one.started) _longjmp(one.place_in_code, 1);
    one.started = true;
    getcontext(&one.context);
    one.context.uc_stack.ss_sp = one.stack.get();
    one.context.uc_stack.ss_size = STACK;
    one.context.uc_link = nullptr;
    makecontext(&one.context, enter, 0);
    setcontext(&one.context);
}

/// Executes a workgroup. All invocations meet at the same number of barriers.
static void workgroup(std::vector<Invocation>& all) {
    executed->forget();
    if (!executed->meets) {
        for (auto& one : all) executed->invoke(one.place, bound);
        return;
    }
    for (auto& one : all) one.started = one.ended = false;
    for (size_t ended = 0; ended == 0;) {
        for (auto& one : all) {
            resume(one);
            ended += one.ended;
        }
        if (ended != 0 && ended != all.size()) fail("some invocations of a workgroup miss a barrier");
    }
}

static void dispatch(const Kernel& compiled, metal::uint3 groups, char* const* buffers) {
    metal::uint3 size = compiled.workgroup;
    std::vector<Invocation> all(size_t(size.x) * size.y * size.z);
    for (auto& one : all) one.stack.reset(new char[STACK]);
    executed = &compiled;
    bound = buffers;
    for (uint z = 0; z < groups.z; ++z)
        for (uint y = 0; y < groups.y; ++y)
            for (uint x = 0; x < groups.x; ++x) {
                metal::uint3 group(x, y, z);
                for (uint index = 0; index < all.size(); ++index) {
                    metal::uint3 local(index % size.x, index / size.x % size.y, index / (size.x * size.y));
                    all[index].place = Place{group * size + local, local, group, index};
                }
                workgroup(all);
            }
}

static uint word() {
    uint word = 0;
    if (std::fread(&word, sizeof word, 1, stdin) != 1) fail("a word is missing");
    return word;
}

int main() {
    std::vector<std::pair<char*, uint>> objects(word());
    for (auto& object : objects) {
        object.second = word();
        object.first = static_cast<char*>(aligned_alloc(256, (object.second + 255) / 256 * 256));
        if (std::fread(object.first, 1, object.second, stdin) != object.second) fail("an object is short");
    }
    for (uint rest = word(); rest > 0; --rest) {
        uint number = word();
        if (number >= KERNEL_COUNT) fail("a kernel is missing");
        metal::uint3 groups(0);
        for (int lane = 0; lane < 3; ++lane) groups[lane] = word();
        std::vector<char*> buffers(word());
        for (auto& buffer : buffers) buffer = objects.at(word()).first;
        dispatch(*KERNELS[number], groups, buffers.data());
    }
    for (auto& object : objects) std::fwrite(object.first, 1, object.second, stdout);
}
