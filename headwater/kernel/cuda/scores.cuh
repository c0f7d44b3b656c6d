// From a product q k to a score: soft cap, bias, mask, and which keys a query sees.
// Macro: EXTRA 1 if there is a soft cap, a bias or a mask, else 0.
#pragma once
#include "arguments.h"

namespace headwater::kernel::cuda {

constexpr float log2_e = 1.4426950408889634f;
constexpr float ln_2 = 0.6931471805599453f;
__device__ inline float infinity() { return __int_as_float(0x7f800000); }

__device__ inline float exp2_of(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

__device__ inline float from_bfloat16(unsigned short bits) {
  return __uint_as_float(static_cast<unsigned>(bits) << 16);
}

__device__ inline float from_float16(unsigned short bits) {
  float y;
  asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(bits));
  return y;
}

template <class T>
__device__ inline T* moved(T* from, long long bytes) {
  return reinterpret_cast<T*>(reinterpret_cast<unsigned long long>(from) + bytes);
}

/// The arguments of the item that a block works on: blockIdx.z of a batch.
__device__ inline Arguments of_item(Arguments a) {
  const long long item = blockIdx.z;
  a.q = moved(a.q, item * a.items.q);
  a.k = moved(a.k, item * a.items.k);
  a.lse = moved(a.lse, item * a.items.lse);
  a.weights = moved(a.weights, item * a.items.weights);
  a.out = moved(a.out, item * a.items.out);
  a.mask.data = moved(a.mask.data, item * a.items.mask);
  a.bias.data = moved(a.bias.data, item * a.items.bias);
  return a;
}

/// What a mask or a bias adds to the score of a place.
__device__ inline float added(const Added& from, int head, int query, int key) {
  const long long at = head * from.head + query * from.query + key * from.key;
  switch (from.kind) {
    case Added::seen: return static_cast<const unsigned char*>(from.data)[at] != 0 ? 0.f : -infinity();
    case Added::float32: return static_cast<const float*>(from.data)[at];
    case Added::bfloat16: return from_bfloat16(static_cast<const unsigned short*>(from.data)[at]);
    case Added::float16: return from_float16(static_cast<const unsigned short*>(from.data)[at]);
    default: return 0.f;
  }
}

__device__ inline bool sees(const Arguments& a, int query, int key) {
  const int place = a.first + query;
  if (a.causal && key > place) return false;
  if (!a.window) return true;
  return key > place - a.window && (a.causal || key < place + a.window);
}

/// Whether every query of q0 ... q1 - 1 sees every key of k0 ... k1 - 1, and all of them exist.
__device__ inline bool all_see(const Arguments& a, int q0, int q1, int k0, int k1) {
  if (q1 > a.queries || k1 > a.keys) return false;
  return sees(a, q0, k1 - 1) && sees(a, q1 - 1, k0) && sees(a, q0, k0) && sees(a, q1 - 1, k1 - 1);
}

/// The queries that see a key of k0 ... k1 - 1 and have weights: begin ... end - 1.
__device__ inline void queries_of(const Arguments& a, int k0, int k1, int& begin, int& end) {
  begin = a.query_begin;
  end = a.query_end;
  if (a.causal) begin = max(begin, k0 - a.first);
  if (a.window && !a.causal) begin = max(begin, k0 - a.first - a.window + 1);
  if (a.window) end = min(end, k1 - 1 - a.first + a.window);
}

/// The keys that a query of q0 ... q1 - 1 sees: begin ... end - 1.
__device__ inline void keys_of(const Arguments& a, int q0, int q1, int& begin, int& end) {
  begin = a.window ? max(0, a.first + q0 - a.window + 1) : 0;
  end = a.keys;
  if (a.causal) end = min(end, a.first + q1);
  else if (a.window) end = min(end, a.first + q1 - 1 + a.window);
}

/// The score, in natural logarithms.
__device__ inline float score(const Arguments& a, float product, int head, int query, int key) {
  float s = product * a.scale;
#if EXTRA
  if (a.softcap > 0) s = a.softcap * tanhf(s / a.softcap);
  if (query < a.queries && key < a.keys)
    s += added(a.bias, head, query, key) + added(a.mask, head, query, key);
#endif
  return s;
}

__device__ inline bool exists(const Arguments& a, int query, int key) {
  return query < a.queries && key < a.keys && sees(a, query, key);
}

}  // namespace headwater::kernel::cuda
