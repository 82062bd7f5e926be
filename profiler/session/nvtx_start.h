// SPDX-License-Identifier: Apache-2.0
//
// The environment variable by which NVTX finds this library, and the options of the first NVTX call, which
// may come before cuInit.
#pragma once

namespace rangefinder {

/// Reads the options that the first NVTX call needs. Any thread, any number of times.
void prepare_nvtx() noexcept;

/// Sets NVTX_INJECTION64_PATH to this library, if `rangefinder run` has not. The tool that it
/// named before is called by our handlers. Affects only shared objects that have not used NVTX yet.
void set_nvtx_variable();

}  // namespace rangefinder
