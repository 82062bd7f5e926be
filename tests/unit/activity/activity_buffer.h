// SPDX-License-Identifier: Apache-2.0
//
// A hand-made activity buffer: CUPTI's own structs, one after another.
//
//   ActivityBuffer buffer;
//   buffer.append(kernel("name"));
//   decode_activity(cupti, buffer.data(), buffer.bytes(), sink);
//
// Every field is defined: a maker leaves the others 0.
#pragma once

#include <cupti.h>

#include <cstdint>
#include <cstring>
#include <vector>

namespace rangefinder::test {

class ActivityBuffer {
 public:
  template <typename Activity>
  void append(const Activity& activity) {
    static_assert(sizeof(Activity) % 8 == 0);
    starts_.push_back(bytes_);
    words_.resize((bytes_ + sizeof(activity)) / 8);
    std::memcpy(data() + bytes_, &activity, sizeof(activity));
    bytes_ += sizeof(activity);
  }
  /// Cuts `bytes` from the end of the last record.
  void cut(std::size_t bytes) { bytes_ -= bytes; }

  [[nodiscard]] std::uint8_t* data() { return reinterpret_cast<std::uint8_t*>(words_.data()); }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  /// Where each record begins.
  [[nodiscard]] const std::vector<std::size_t>& starts() const { return starts_; }

 private:
  std::vector<std::uint64_t> words_;  // CUPTI requires records aligned to 8 bytes
  std::vector<std::size_t> starts_;
  std::size_t bytes_ = 0;
};

inline CUpti_ActivityKernel10 kernel(const char* name, std::uint32_t correlation = 1) {
  CUpti_ActivityKernel10 a{};
  a.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  a.start = 1'000;
  a.end = 3'500;
  a.deviceId = 2;
  a.contextId = 3;
  a.streamId = 7;
  a.correlationId = correlation;
  a.name = name;
  a.gridX = 10, a.gridY = 20, a.gridZ = 30;
  a.blockX = 128, a.blockY = 2, a.blockZ = 1;
  a.clusterX = 2, a.clusterY = 1, a.clusterZ = 1;
  a.registersPerThread = 96;
  a.staticSharedMemory = 1'024;
  a.dynamicSharedMemory = 65'536;
  a.sharedMemoryExecuted = 102'400;
  a.localMemoryPerThread = 16;
  return a;
}

inline CUpti_ActivityMemcpy6 memcpy_htod(std::uint64_t bytes) {
  CUpti_ActivityMemcpy6 a{};
  a.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
  a.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
  a.srcKind = CUPTI_ACTIVITY_MEMORY_KIND_PINNED;
  a.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  a.bytes = bytes;
  a.start = 2'000;
  a.end = 2'100;
  a.deviceId = 1;
  a.contextId = 3;
  a.streamId = 13;
  a.correlationId = 77;
  return a;
}

inline CUpti_ActivityMemcpyPtoP4 memcpy_peer(std::uint32_t from_gpu, std::uint32_t to_gpu) {
  CUpti_ActivityMemcpyPtoP4 a{};
  a.kind = CUPTI_ACTIVITY_KIND_MEMCPY2;
  a.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_PTOP;
  a.srcKind = a.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  a.flags = CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC;
  a.bytes = 4'096;
  a.start = 5'000;
  a.end = 5'001;
  a.srcDeviceId = from_gpu;
  a.dstDeviceId = to_gpu;
  a.correlationId = 78;
  return a;
}

inline CUpti_ActivityMemset4 memset_of(std::uint64_t bytes) {
  CUpti_ActivityMemset4 a{};
  a.kind = CUPTI_ACTIVITY_KIND_MEMSET;
  a.value = 0xab;
  a.bytes = bytes;
  a.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_MANAGED;
  a.start = 6'000;
  a.end = 6'010;
  a.correlationId = 79;
  return a;
}

inline CUpti_ActivityOverhead3 overhead(CUpti_ActivityOverheadKind kind, std::uint32_t thread,
                                        void* details) {
  CUpti_ActivityOverhead3 a{};
  a.kind = CUPTI_ACTIVITY_KIND_OVERHEAD;
  a.overheadKind = kind;
  a.objectKind = CUPTI_ACTIVITY_OBJECT_THREAD;
  a.objectId.pt.processId = 4'711;
  a.objectId.pt.threadId = thread;
  a.start = 100;
  a.end = 200;
  a.correlationId = 80;
  a.overheadData = details;
  return a;
}

inline CUpti_ActivityContext3 context(std::uint32_t id, std::uint32_t gpu) {
  CUpti_ActivityContext3 a{};
  a.kind = CUPTI_ACTIVITY_KIND_CONTEXT;
  a.contextId = id;
  a.deviceId = gpu;
  a.nullStreamId = 7;
  return a;
}

inline CUpti_ActivityStream stream(std::uint32_t id, std::uint32_t context_id) {
  CUpti_ActivityStream a{};
  a.kind = CUPTI_ACTIVITY_KIND_STREAM;
  a.streamId = id;
  a.contextId = context_id;
  return a;
}

}  // namespace rangefinder::test
