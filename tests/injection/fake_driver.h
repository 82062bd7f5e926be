// SPDX-License-Identifier: Apache-2.0
//
// What the two halves of the fake driver share: its state (fake_cuda.cpp) for its calls
// that a tool sees (fake_cuda_calls.cpp).
#pragma once

#include "tests/injection/fake_tool.h"

namespace fake {

/// CUDA_SUCCESS if CUDA can be used in this process, now, on this thread.
[[nodiscard]] CUresult ready(const char* function);

/// The tool's table; nullptr without a tool.
[[nodiscard]] const Hooks* tool();
[[nodiscard]] CUcontext current_context();  ///< nullptr: none, or it was destroyed
[[nodiscard]] std::uint32_t correlation();
[[nodiscard]] std::uint32_t stream_id(CUstream stream);

/// Puts work at the end of the GPU's queue and tells the tool.
void run_work(Work work);
void wait_for_gpu();

}  // namespace fake
