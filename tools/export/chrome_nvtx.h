// SPDX-License-Identifier: Apache-2.0
//
// NVTX ranges and marks on the rows of their threads.
//
// Push/pop ranges of one domain nest, but those of two domains need not. So ranges of the default domain are
// on the thread's row, together with its calls, and every other domain has its own row. Start/end ranges may
// cross threads and each other: they are asynchronous events (b, e). A range that was never closed lasts to
// the end of the trace and has the argument "unclosed".
#pragma once

#include <cstdint>

#include "tools/export/chrome_timeline.h"

namespace rangefinder {

class ChromeNvtx {
 public:
  explicit ChromeNvtx(ChromeContext& context) : context_(context) {}

  void add(const RangeRecord& range);
  void add(const MarkRecord& mark);

 private:
  [[nodiscard]] ChromeRow row(std::uint32_t thread, std::uint32_t domain);
  [[nodiscard]] bool is_step(const RangeRecord& range);
  void args(const NvtxExtras& extras, std::uint32_t domain, std::uint64_t external_id, std::uint32_t path,
            bool unclosed);

  ChromeContext& context_;
  std::unordered_map<std::uint32_t, bool> step_paths_;
  std::uint64_t steps_ = 0;
};

}  // namespace rangefinder
