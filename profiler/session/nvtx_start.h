// SPDX-License-Identifier: Apache-2.0
//
// How NVTX finds this library, and what its first call must know. That call may come before cuInit.
#pragma once

namespace rangefinder {

/// Reads the options that the first NVTX call needs. Any thread, any number of times.
void prepare_nvtx() noexcept;

/// Sets NVTX_INJECTION64_PATH to this library, if `rangefinder run` has not. A tool that was named there is
/// called by ours. Affects only shared objects that have not used NVTX yet.
void set_nvtx_variable();

}  // namespace rangefinder
