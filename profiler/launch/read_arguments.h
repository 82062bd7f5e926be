// SPDX-License-Identifier: Apache-2.0
//
// Reads a call's arguments from CUPTI's generated parameter struct (one per driver function).
//
//   cuMemcpyHtoD_v2_params{dstDevice, srcHost, ByteCount} ─▶ ApiArguments{bytes}
//
// A field is read if the struct has a member of that name, so driver_apis.cpp need not list
// fields by function. Follows a pointer only if the call itself must follow it.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "profiler/launch/driver_apis.h"

namespace rangefinder {

template <typename Handle>
std::uint64_t bits(Handle handle) noexcept {
  return reinterpret_cast<std::uint64_t>(handle);
}

template <typename P>
void read_bytes(const P& p, ApiArguments& out) noexcept {
  if constexpr (requires { p.ByteCount; }) out.bytes = p.ByteCount;
  if constexpr (requires { p.bytesize; }) out.bytes = p.bytesize;
  if constexpr (requires { p.WidthInBytes; }) out.bytes = p.WidthInBytes * p.Height;
  // nullptr is possible: the call is about to fail.
  if constexpr (requires { p.pCopy->WidthInBytes; }) {
    if (p.pCopy != nullptr) {
      out.bytes = p.pCopy->WidthInBytes * p.pCopy->Height;
      if constexpr (requires { p.pCopy->Depth; }) out.bytes *= p.pCopy->Depth;
    }
  }
  if constexpr (requires { p.sizes; }) {
    for (std::size_t i = 0; p.sizes != nullptr && i < p.count; ++i) out.bytes += p.sizes[i];
  }
  // The extent is in elements. For pointers that is bytes; for arrays the element size would need a query.
  if constexpr (requires { p.opList; }) {
    for (std::size_t i = 0; p.opList != nullptr && i < p.numOps; ++i) {
      const CUextent3D& extent = p.opList[i].extent;
      out.bytes += extent.width * extent.height * extent.depth;
    }
  }
  // Memsets: the value has the element's type: `uc` 1 byte, `us` 2, `ui` 4.
  std::uint64_t element_bytes = 0;
  if constexpr (requires { p.uc; }) element_bytes = 1;
  if constexpr (requires { p.us; }) element_bytes = 2;
  if constexpr (requires { p.ui; }) element_bytes = 4;
  if constexpr (requires { p.N; }) out.bytes = p.N * element_bytes;
  if constexpr (requires {
                  p.dstPitch;
                  p.Width;
                })
    out.bytes = p.Width * p.Height * element_bytes;
}

template <typename P>
void read_geometry(const P& p, ApiArguments& out) noexcept {
  if constexpr (requires { p.gridDimX; }) {
    out.grid = {p.gridDimX, p.gridDimY, p.gridDimZ};
    out.block = {p.blockDimX, p.blockDimY, p.blockDimZ};
  }
  if constexpr (requires { p.config->gridDimX; }) {
    if (p.config == nullptr) return;
    out.grid = {p.config->gridDimX, p.config->gridDimY, p.config->gridDimZ};
    out.block = {p.config->blockDimX, p.config->blockDimY, p.config->blockDimZ};
    out.stream = p.config->hStream;
  }
}

template <typename P>
void read_handles(const P& p, bool after, ApiArguments& out) noexcept {
  if constexpr (requires { p.hStream; }) out.stream = p.hStream;
  if constexpr (requires { p.stream; }) out.stream = p.stream;
  if constexpr (requires { p.hEvent; }) out.event = bits(p.hEvent);
  if constexpr (requires { p.pool; }) out.pool = bits(p.pool);
  if constexpr (requires { requires std::is_convertible_v<decltype(p.hGraph), CUgraphExec>; })
    out.executable = p.hGraph;
  if constexpr (requires { *p.phGraph; }) {
    if (after && p.phGraph != nullptr) out.graph = bits(*p.phGraph);
  }
  if constexpr (requires { p.mode == CU_STREAM_CAPTURE_MODE_RELAXED; })
    out.relaxed = p.mode == CU_STREAM_CAPTURE_MODE_RELAXED;
  if constexpr (requires { *p.dptr; }) {
    if (after && p.dptr != nullptr) out.address = *p.dptr;
  } else if constexpr (requires { p.dptr; }) {
    out.address = p.dptr;
  }
  if constexpr (requires { *p.pp; }) {
    if (after && p.pp != nullptr) out.address = bits(*p.pp);
  } else if constexpr (requires { p.p; }) {
    out.address = bits(p.p);
  }
}

template <typename P, AllocKind kKind>
void read_arguments(const void* params, bool after, ApiArguments& out) {
  const P& p = *static_cast<const P*>(params);
  out.alloc_kind = kKind;
  read_bytes(p, out);
  read_geometry(p, out);
  read_handles(p, after, out);
}

}  // namespace rangefinder
