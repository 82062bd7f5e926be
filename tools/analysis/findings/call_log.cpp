// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/findings/call_log.h"

namespace rangefinder {

void CallLog::add(const SyncRecord& sync, const Holds& holds) {
  add(LoggedCall{}, sync.host, sync.api, holds);
}

void CallLog::add(const AllocRecord& alloc, const Holds& holds) {
  LoggedCall call;
  call.what = alloc.is_free ? LoggedCall::What::free : LoggedCall::What::alloc;
  call.memory = alloc.kind;
  call.bytes = alloc.bytes;
  add(call, alloc.host, alloc.api, holds);
}

void CallLog::add(LoggedCall call, const HostWork& host, std::string_view api, const Holds& holds) {
  if (calls_.size() == kMax) return;
  const auto [at, is_new] = api_ids_.emplace(std::string(api), static_cast<std::uint16_t>(apis_.size()));
  if (is_new) apis_.emplace_back(api);
  call.api = at->second;
  call.thread = host.thread;
  call.path = host.path;
  call.start_ns = host.start_ns;
  call.host_ns = holds.net_ns(host);
  calls_.push_back(call);
}

void CallLog::add(const WorkEvent& event) {
  if (event.kind == WorkKind::memcpy && copies_.size() < kMax) copies_.push_back({event});
  if (event.kind == WorkKind::memcpy || event.work.graph != 0 || !on_default_stream(event.work)) return;
  default_stream_kernels_ += event.kind == WorkKind::kernel ? 1 : 0;
  const std::size_t iteration = iterations_.at(event.called_ns());
  if (iteration == 0 || iteration == Iterations::kNone) return;
  ++default_stream_work_[{event.work.path, event.api}];
}

}  // namespace rangefinder
