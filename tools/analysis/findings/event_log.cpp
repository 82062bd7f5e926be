// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/findings/event_log.h"

namespace rangefinder {

std::uint16_t EventLog::api_id(std::string_view api) {
  const auto [at, is_new] = api_ids_.emplace(std::string(api), static_cast<std::uint16_t>(apis_.size()));
  if (is_new) apis_.emplace_back(api);
  return at->second;
}

void EventLog::line(const Line& line, const Holds& holds) {
  if (const auto* const context = std::get_if<ContextRecord>(&line)) {
    null_streams_[context->id] = context->null_stream;
  }
  if (calls_.size() == kMax) return;
  LoggedCall call;
  const HostWork* host = nullptr;
  if (const auto* const sync = std::get_if<SyncRecord>(&line)) {
    host = &sync->host;
    call.api = api_id(sync->api);
  } else if (const auto* const alloc = std::get_if<AllocRecord>(&line)) {
    host = &alloc->host;
    call.what = alloc->is_free ? LoggedCall::What::free : LoggedCall::What::alloc;
    call.memory = alloc->kind;
    call.bytes = alloc->bytes;
    call.api = api_id(alloc->api);
  }
  if (host == nullptr) return;
  call.thread = host->thread;
  call.path = host->path;
  call.start_ns = host->start_ns;
  call.host_ns = holds.net_ns(*host);
  calls_.push_back(call);
}

void EventLog::work(const WorkEvent& event) {
  if (event.kind == WorkKind::memcpy && copies_.size() < kMax) copies_.push_back({event});
  const bool launch = event.kind != WorkKind::memcpy && event.work.graph == 0;
  if (launch && on_default_stream(event.work) && default_stream_work_.size() < kMax) {
    default_stream_work_.push_back({event.api, event.called_ns(), event.work.path, event.kind});
  }
}

}  // namespace rangefinder
