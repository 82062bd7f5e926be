// SPDX-License-Identifier: Apache-2.0
#include "workloads/rtdetr/execution.h"

#include "workloads/probes/range.h"

namespace rangefinder::rtdetr {
namespace {

void push_range(const std::string& name, std::uint64_t declared_bytes) {
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = name.c_str();
  if (declared_bytes != 0) {
    attributes.category = probe::kBytesCategory;
    attributes.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
    attributes.payload.ullValue = declared_bytes;
  }
  nvtxRangePushEx(&attributes);
}

}  // namespace

void ModuleLedger::add_bytes(std::uint64_t bytes) {
  if (!measuring_) return;
  for (const std::string& path : open_) measured_by_path_[path].bytes += bytes;
}

std::uint64_t ModuleLedger::bytes_of(const std::string& path) const {
  const auto found = measured_by_path_.find(path);
  if (measuring_ || found == measured_by_path_.end() || found->second.calls == 0) return 0;
  return found->second.bytes / found->second.calls;
}

Module::Module(Execution& execution, std::string_view dotted_name)
    : ledger_(execution.ledger), has_ranges_(!execution.ledger.measuring_) {
  while (!dotted_name.empty()) {
    const std::size_t dot = dotted_name.find('.');
    const std::string name(dotted_name.substr(0, dot));
    dotted_name.remove_prefix(dot == std::string_view::npos ? dotted_name.size() : dot + 1);
    ledger_.open_.push_back(ledger_.open_.empty() ? name : ledger_.open_.back() + "." + name);
    ++levels_;
    // A container that opens once per child (stages.0, stages.1) declares nothing: the ledger holds the sum
    // over all its openings, not over this instance.
    const bool innermost = dotted_name.empty();
    if (innermost && ledger_.measuring_) ++ledger_.measured_by_path_[ledger_.open_.back()].calls;
    if (has_ranges_) push_range(name, innermost ? ledger_.bytes_of(ledger_.open_.back()) : 0);
  }
}

Module::~Module() {
  for (; levels_ > 0; --levels_) {
    if (has_ranges_) nvtxRangePop();
    ledger_.open_.pop_back();
  }
}

void dump(Execution& execution, std::string_view name, const Tensor& tensor) {
  if (execution.dumps != nullptr) execution.dumps->take(name, tensor);
}

}  // namespace rangefinder::rtdetr
