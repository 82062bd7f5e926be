// SPDX-License-Identifier: Apache-2.0
//
// The fake driver's streams, and the end times of work in them.
//
// There is one GPU clock: work runs serially and takes FAKE_CUDA_KERNEL_NS. A kernel whose name contains
// `wait_for_later`, and cuStreamWaitValue32, wait for a later launch into another stream of their context.
// Until then their stream is blocked. CUctx_st::waiting reports this, so that the fake CUPTI detects a
// synchronisation that would deadlock.
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <cupti_driver_cbid.h>
#include <generated_cuda_meta.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "tests/injection/fake_driver.h"

namespace fake {
namespace {

std::mutex mutex;  // guards everything below
std::int64_t gpu_busy_until_ns = 0;
// Never destroyed: other threads launch while the process exits.
auto& busy_until_ns = *new std::map<std::uint32_t, std::int64_t>;  // by stream id
auto& held = *new std::map<std::pair<CUcontext, std::uint32_t>, std::vector<Work>>;

bool waits_for_later(const Work& work) {
  return work.kind == WorkClass::kernel && std::strstr(work.symbol, "wait_for_later") != nullptr;
}

void run_now(Work& work) {
  static const std::int64_t took_ns = number_from("FAKE_CUDA_KERNEL_NS", 2'000);
  work.start_ns = std::max(now_ns(), gpu_busy_until_ns);
  gpu_busy_until_ns = busy_until_ns[work.stream] = work.end_ns = work.start_ns + took_ns;
}

/// Runs the work that other streams of the context held back until this launch into `stream`.
std::vector<Work> release(CUcontext context, std::uint32_t stream) {
  std::vector<Work> released;
  for (auto it = held.begin(); it != held.end();) {
    if (it->first.first != context || it->first.second == stream) {
      ++it;
      continue;
    }
    released.insert(released.end(), it->second.begin(), it->second.end());
    it = held.erase(it);
    --context->waiting;
  }
  for (Work& work : released) run_now(work);
  return released;
}

void hold(CUcontext context, std::uint32_t stream) {
  if (held.try_emplace({context, stream}).second) ++context->waiting;
}

}  // namespace

void run_work(const Work& submitted) {
  const Hooks* const table = tool();
  if (table != nullptr) table->submitted(submitted);
  std::vector<Work> known{submitted};
  {
    const std::lock_guard lock(mutex);
    if (waits_for_later(submitted)) hold(submitted.context, submitted.stream);
    if (const auto at = held.find({submitted.context, submitted.stream}); at != held.end()) {
      at->second.push_back(submitted);
      return;
    }
    run_now(known.front());
    for (const Work& work : release(submitted.context, submitted.stream)) known.push_back(work);
  }
  if (table == nullptr) return;
  for (const Work& work : known) table->work(work);
}

void wait_for_gpu() {
  for (;;) {
    std::int64_t left = 0;
    {
      const std::lock_guard lock(mutex);
      left = gpu_busy_until_ns - now_ns();
    }
    if (left <= 0) return;
    const timespec pause{static_cast<time_t>(left / 1'000'000'000), static_cast<long>(left % 1'000'000'000)};
    nanosleep(&pause, nullptr);
  }
}

}  // namespace fake

FAKE_EXPORT CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  static std::atomic<std::uint32_t> next_id{13};
  const cuStreamCreate_params params{stream, flags};
  return TRACED(cuStreamCreate, params, nullptr, [&](const fake::Call& call) {
    *stream = new CUstream_st{next_id.fetch_add(1), {true}};
    if (const fake::Hooks* const table = fake::tool()) table->stream(call.context, (*stream)->id);
    return CUDA_SUCCESS;
  });
}

FAKE_EXPORT CUresult cuStreamDestroy_v2(CUstream stream) {
  const cuStreamDestroy_v2_params params{stream};
  return TRACED(cuStreamDestroy_v2, params, nullptr, [&](const fake::Call&) {
    if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    return stream->alive.exchange(false) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
  });
}

FAKE_EXPORT CUresult cuStreamQuery(CUstream stream) {
  if (const CUresult r = fake::ready_anywhere("cuStreamQuery"); r != CUDA_SUCCESS) return r;
  CUcontext const context = fake::current_context();
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (stream != nullptr && !stream->alive) {
    fake::violation("cuStreamQuery called for a stream that was destroyed");
    return CUDA_ERROR_INVALID_HANDLE;
  }
  if (fake::is_capturing()) fake::violation("cuStreamQuery called while a stream is being captured");
  const std::uint32_t id = fake::stream_id(stream);
  const std::lock_guard lock(fake::mutex);
  const bool busy = fake::held.count({context, id}) != 0 || fake::busy_until_ns[id] > fake::now_ns();
  return busy ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value,
                                            unsigned flags) {
  const cuStreamWaitValue32_v2_params params{stream, address, value, flags};
  return TRACED(cuStreamWaitValue32_v2, params, nullptr, [&](const fake::Call& call) {
    const std::lock_guard lock(fake::mutex);
    fake::hold(call.context, fake::stream_id(stream));
    return CUDA_SUCCESS;
  });
}
