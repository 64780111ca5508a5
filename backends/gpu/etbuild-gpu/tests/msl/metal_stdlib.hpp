// The part of Metal's standard library that kernels use, for a compiler of C++.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>

typedef unsigned int uint;
typedef unsigned long ulong;

namespace metal {

using ::uint;

/// fp16 as storage: computed in fp32, as by conversions before and after each operation.
struct half {
    uint16_t bits;
    half() = default;
    half(float value);
    operator float() const;
};

template <class T, int N> struct vec;

template <class T> struct vec<T, 2> {
    T x, y;
    vec() = default;
    explicit vec(T all) : x(all), y(all) {}
    vec(T a, T b) : x(a), y(b) {}
    template <class U> explicit vec(vec<U, 2> v) : x(T(v.x)), y(T(v.y)) {}
    T& operator[](int lane) { return (&x)[lane]; }
    const T& operator[](int lane) const { return (&x)[lane]; }
};

template <class T> struct vec<T, 3> {
    T x, y, z;
    vec() = default;
    explicit vec(T all) : x(all), y(all), z(all) {}
    vec(T a, T b, T c) : x(a), y(b), z(c) {}
    T& operator[](int lane) { return (&x)[lane]; }
    const T& operator[](int lane) const { return (&x)[lane]; }
};

template <class T> struct alignas(4 * sizeof(T)) vec<T, 4> {
    T x, y, z, w;
    vec() = default;
    explicit vec(T all) : x(all), y(all), z(all), w(all) {}
    vec(T a, T b, T c, T d) : x(a), y(b), z(c), w(d) {}
    vec(vec<T, 2> a, vec<T, 2> b) : x(a.x), y(a.y), z(b.x), w(b.y) {}
    T& operator[](int lane) { return (&x)[lane]; }
    const T& operator[](int lane) const { return (&x)[lane]; }
};

typedef vec<float, 2> float2;
typedef vec<float, 3> float3;
typedef vec<float, 4> float4;
typedef vec<int, 2> int2;
typedef vec<int, 3> int3;
typedef vec<int, 4> int4;
typedef vec<uint, 2> uint2;
typedef vec<uint, 3> uint3;
typedef vec<uint, 4> uint4;
typedef vec<half, 2> half2;
typedef vec<bool, 4> bool4;

#define METAL_OPERATOR(OP)                                                                \
    template <class T, int N> vec<T, N> operator OP(vec<T, N> a, vec<T, N> b) {           \
        for (int lane = 0; lane < N; ++lane) a[lane] = a[lane] OP b[lane];                \
        return a;                                                                         \
    }                                                                                     \
    template <class T, int N> vec<T, N> operator OP(vec<T, N> a, T b) { return a OP vec<T, N>(b); } \
    template <class T, int N> vec<T, N> operator OP(T a, vec<T, N> b) { return vec<T, N>(a) OP b; }
METAL_OPERATOR(+)
METAL_OPERATOR(-)
METAL_OPERATOR(*)
METAL_OPERATOR(/)
METAL_OPERATOR(&)
METAL_OPERATOR(|)
METAL_OPERATOR(^)
METAL_OPERATOR(<<)
METAL_OPERATOR(>>)
#undef METAL_OPERATOR

template <class T, int N> vec<T, N> operator-(vec<T, N> a) {
    for (int lane = 0; lane < N; ++lane) a[lane] = -a[lane];
    return a;
}

inline float abs(float value) { return std::fabs(value); }
inline int abs(int value) { return value < 0 ? int(-uint(value)) : value; }
inline long abs(long value) { return value < 0 ? long(-ulong(value)) : value; }
inline float ceil(float value) { return std::ceil(value); }
inline float floor(float value) { return std::floor(value); }
inline float trunc(float value) { return std::trunc(value); }
inline float rint(float value) { return std::nearbyint(value); }
inline float sqrt(float value) { return std::sqrt(value); }
inline float rsqrt(float value) { return 1.0f / std::sqrt(value); }
inline float exp(float value) { return std::exp(value); }
inline float fma(float a, float b, float c) { return std::fma(a, b, c); }
inline float min(float a, float b) { return std::fmin(a, b); }
inline float max(float a, float b) { return std::fmax(a, b); }
template <class T> T min(T a, T b) { return b < a ? b : a; }
template <class T> T max(T a, T b) { return a < b ? b : a; }
template <class T> T clamp(T value, T least, T most) { return min(max(value, least), most); }
template <class T> T select(T no, T yes, bool condition) { return condition ? yes : no; }

template <int N> float dot(vec<float, N> a, vec<float, N> b) {
    float sum = 0;
    for (int lane = 0; lane < N; ++lane) sum += a[lane] * b[lane];
    return sum;
}

template <int N> vec<float, N> fma(vec<float, N> a, vec<float, N> b, vec<float, N> c) {
    for (int lane = 0; lane < N; ++lane) a[lane] = fma(a[lane], b[lane], c[lane]);
    return a;
}

enum class mem_flags { mem_none, mem_device, mem_threadgroup, mem_texture };

inline mem_flags operator|(mem_flags a, mem_flags) { return a; }

/// Waits for the other invocations of the workgroup.
void threadgroup_barrier(mem_flags);

} // namespace metal

template <class To, class From> To as_type(From value) {
    static_assert(sizeof(To) == sizeof(From), "a type of the same size");
    To result;
    std::memcpy(&result, &value, sizeof(To));
    return result;
}

/// An invocation's place, by the attributes of parameters.
struct Place {
    metal::uint3 thread_position_in_grid, thread_position_in_threadgroup, threadgroup_position_in_grid;
    uint thread_index_in_threadgroup;
};

/// A compiled kernel.
struct Kernel {
    void (*invoke)(const Place&, char* const* buffers);
    /// Fills workgroup memory with NaN.
    void (*forget)();
    /// Whether invocations meet at barriers.
    bool meets;
    metal::uint3 workgroup;
};

// The words of MSL before functions and types: address spaces are the same memory here.
#define kernel static
#define device
#define constant static const
#define thread
#define threadgroup
