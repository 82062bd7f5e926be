// SPDX-License-Identifier: Apache-2.0
//
// Shared by the files of the fake driver: the state (fake_cuda.cpp) and the streams (fake_cuda_streams.cpp),
// for the calls that a tool observes (fake_cuda_calls.cpp), and the graphs (fake_cuda_graphs.cpp).
#pragma once

#include "tests/injection/fake_tool.h"

struct CUfunc_st {
  const char* name;
};

namespace fake {

/// CUDA_SUCCESS if this thread may call CUDA now.
[[nodiscard]] CUresult ready(const char* function);
/// The same for functions that neither wait nor submit. Those may be called inside callbacks.
[[nodiscard]] CUresult ready_anywhere(const char* function);

/// The hooks of the fake CUPTI; nullptr without a tool.
[[nodiscard]] const Hooks* tool();
[[nodiscard]] CUcontext current_context();  ///< nullptr: none, or it was destroyed
[[nodiscard]] std::uint32_t correlation();
[[nodiscard]] std::uint32_t stream_id(CUstream stream);

/// Appends work to its stream and notifies the tool.
void run_work(const Work& work);
void wait_for_gpu();
/// Adds the work to the capture of its stream. False: the stream is not being captured.
[[nodiscard]] bool captured(const Work& work, CUstream stream);
/// A stream of the process is being captured.
[[nodiscard]] bool is_capturing();
/// The calling thread waits for the GPU: captures of mode global become invalid. True: there were some.
[[nodiscard]] bool breaks_captures();

/// One driver call: `body(call)` executes it and returns its result.
template <typename Params, typename Body>
CUresult traced(CUpti_CallbackId cbid, const char* function, const Params& params, const char* symbol,
                Body body) {
  if (const CUresult r = ready(function); r != CUDA_SUCCESS) return r;
  Call call{cbid, function, &params, symbol, current_context(), correlation(), CUDA_SUCCESS, 0};
  if (call.context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  const Hooks* const table = tool();
  if (table != nullptr) table->enter(call);
  call.result = body(call);
  if (table != nullptr) table->exit(call);
  return call.result;
}
#define TRACED(function, params, symbol, ...) \
  fake::traced(CUPTI_DRIVER_TRACE_CBID_##function, #function, params, symbol, __VA_ARGS__)

}  // namespace fake
