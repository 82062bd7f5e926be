// SPDX-License-Identifier: Apache-2.0
//
// The hot path of NVTX push and pop in the application.
#include <sys/prctl.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "profiler/events/fold_digits.h"
#include "profiler/events/hold_scope.h"
#include "profiler/events/recorder.h"
#include "profiler/events/thread_state.h"
#include "profiler/guest/host_lock.h"

namespace rangefinder {
namespace {

constexpr int kNoPushPopTracking = -2;  // NVTX_NO_PUSH_POP_TRACKING
constexpr auto kRelaxed = std::memory_order_relaxed;

inline void describe(const RangeStack::Range& range, std::uint64_t id, Event& event) noexcept {
  event.kind = EventKind::range;
  event.range = id;
  event.start_ns = range.start_ns.load(std::memory_order_acquire);
  event.path = range.path.load(std::memory_order_acquire);
  event.nvtx.payload = range.payload.load(std::memory_order_acquire);
  event.nvtx.domain = range.domain.load(std::memory_order_acquire);
  event.nvtx.category = range.category.load(std::memory_order_acquire);
  event.color = range.color.load(std::memory_order_acquire);
  event.payload_type = static_cast<std::uint8_t>(range.payload_type.load(std::memory_order_acquire));
}

// A trigger that opens or closes a window may make driver calls, which emit events of this thread. So the
// state is not in use during the call.
template <typename Call>
inline void notify(const std::atomic<RangeTrigger*>& trigger, volatile bool& in_use,
                   const Call& call) noexcept {
  RangeTrigger* const listener = trigger.load(std::memory_order_acquire);
  if (listener == nullptr) [[likely]]
    return;
  const bool before = in_use;
  in_use = false;
  call(*listener);
  in_use = before;
}

}  // namespace

std::uint32_t ThreadState::name_of(std::string_view text) noexcept {
  const std::uint64_t hash = hash_text(text);
  CachedName& cached = names_[hash % names_.size()];
  if (cached.hash == hash && std::string_view(cached.data, cached.bytes) == text && cached.id != 0)
      [[likely]] {
    return cached.id;
  }
  const std::uint32_t id = recorder_.names.intern(text, hash);
  emit_lock_wait();
  const std::string_view kept = recorder_.names.text(id);
  if (id != kOtherName) cached = {hash, id, static_cast<std::uint32_t>(kept.size()), kept.data()};
  return id;
}

std::uint32_t ThreadState::folded_name_of(std::string_view text) noexcept {
  char folded[NameTable::kLongTextBytes];
  return name_of(fold_digits(text, folded));
}

std::uint32_t ThreadState::path_of(std::uint32_t parent, std::uint32_t name, std::uint32_t domain) noexcept {
  const std::uint32_t hash = (parent * 0x9E3779B1u) ^ (name * 0x85EBCA77u) ^ domain;
  CachedPath& cached = paths_[(hash ^ hash >> 16) % paths_.size()];
  if (cached.parent == parent && cached.name == name && cached.domain == domain && cached.id != 0) {
    return cached.id;
  }
  const std::uint32_t id = recorder_.paths.child({parent, name, domain});
  emit_lock_wait();
  if (id != kOtherPath) cached = {parent, name, domain, id};  // kOtherPath is counted each time
  return id;
}

// Read the clock first: it waits for all earlier instructions, so work placed after it is cheaper.
int ThreadState::push(std::uint32_t domain, std::string_view text,
                      const NvtxAttributes& attributes) noexcept {
  const std::int64_t now_ns = recorder_.clock.now_ns();
  const bool fold = recorder_.fold_digits.load(kRelaxed);
  return push_at(now_ns, domain, fold ? folded_name_of(text) : name_of(text), attributes);
}

int ThreadState::push_name(std::uint32_t domain, std::uint32_t name,
                           const NvtxAttributes& attributes) noexcept {
  const std::int64_t now_ns = recorder_.clock.now_ns();
  const bool fold = recorder_.fold_digits.load(kRelaxed);
  return push_at(now_ns, domain, fold ? folded_name_of(recorder_.names.text(name)) : name, attributes);
}

int ThreadState::push_at(std::int64_t now_ns, std::uint32_t domain, std::uint32_t name,
                         const NvtxAttributes& attributes) noexcept {
  const std::uint32_t depth = stack_.depth();
  if (depth == 0 && inherits_.load(kRelaxed)) [[unlikely]]
    set_base(name, domain);
  if (stack_.is_too_deep(domain)) [[unlikely]] {
    recorder_.loss.add(Loss::nvtx_too_deep);
    return stack_.push_too_deep(domain);
  }
  const std::uint32_t path = path_of(stack_.path(), name, domain);
  const int level = stack_.push(domain, name, path, next_range_id(), now_ns, attributes);
  if (attributes.extended != nullptr && !stack_.store_payload(*attributes.extended)) [[unlikely]]
    recorder_.loss.add(Loss::payloads_truncated);
  notify(recorder_.trigger, in_use_,
         [&](RangeTrigger& trigger) { trigger.on_push(stack_.range(), stack_.path(), depth, now_ns); });
  return level;
}

int ThreadState::pop(std::uint32_t domain, const NvtxPayload* extended) noexcept {
  if (stack_.is_counted(domain)) [[unlikely]]
    return stack_.pop_too_deep(domain);
  const std::int64_t now_ns = recorder_.clock.now_ns();
  const int level = stack_.pop(
      domain,
      [&](const RangeStack::Range& range, std::uint64_t id) {
        emit_closed(range, id, now_ns, extended);
        notify(recorder_.trigger, in_use_, [&](RangeTrigger& trigger) { trigger.on_pop(id, now_ns); });
      },
      [this](std::uint32_t parent, std::uint32_t name, std::uint32_t of) {
        return path_of(parent, name, of);
      });
  if (level != RangeStack::kNotOpen) [[likely]]
    return level;
  recorder_.loss.add(Loss::nvtx_pop_without_push);
  return kNoPushPopTracking;
}

void ThreadState::emit_closed(const RangeStack::Range& range, std::uint64_t id, std::int64_t end_ns,
                              const NvtxPayload* at_end) noexcept {
  if (!recorder_.admits(range.start_ns.load(kRelaxed))) return;
  if (range.extended_bytes == 0 && at_end == nullptr) [[likely]] {
    return finish_emit(ring_.push_in_place([&](Event& event) {
      describe(range, id, event);
      event.end_ns = end_ns;
    }));
  }
  Event event;
  describe(range, id, event);
  event.end_ns = end_ns;
  if (range.extended_bytes == 0) return emit_extended(event, *at_end);
  if (at_end != nullptr) recorder_.loss.add(Loss::payloads_truncated);  // a record holds one payload
  emit_extended(event, stack_.payload_of(range));
}

std::size_t ThreadState::close_all(std::int64_t now_ns) noexcept {
  std::size_t closed = 0;
  stack_.for_each([&](const RangeStack::Range& range, std::uint64_t id) {
    Event event;
    describe(range, id, event);
    // Another id, or none: the owner closed it meanwhile and emits the event itself.
    if (id == 0 || range.id.load(kRelaxed) != id || event.start_ns > now_ns) return;
    event.flags = kRangeUnclosed;
    event.end_ns = kNoTime;
    try {
      ring_.add_late(event);
      ++closed;
    } catch (...) {
      recorder_.loss.add(Loss::record_sink_errors);
    }
  });
  recorder_.loss.add(Loss::nvtx_unclosed, closed);
  return closed;
}

ThreadState::Place ThreadState::inherited_place() const noexcept {
  if (stack_.depth() != 0) return {stack_.path(), stack_.range(), stack_.has_base()};
  return recorder_.threads.only_place();
}

// The outermost range of a thread that inherits hangs below the inherited path. If that ends with the same
// name, they are one level: `backward` of the caller, `backward` of autograd's own thread.
void ThreadState::set_base(std::uint32_t name, std::uint32_t domain) noexcept {
  std::uint32_t base = recorder_.threads.only_place().path;
  const PathNode node = base != 0 ? recorder_.paths.node(base) : PathNode();
  if (base != 0 && node.name == name && node.domain == domain) base = node.parent;
  std::uint32_t levels = 0;
  for (std::uint32_t path = base; path != 0; path = recorder_.paths.node(path).parent) ++levels;
  stack_.set_base(base, levels);
}

void ThreadState::abandon_open() noexcept {
  recorder_.loss.add(Loss::nvtx_unclosed, stack_.depth());
  stack_.for_each([this](const RangeStack::Range& range, std::uint64_t id) {
    Event event;
    describe(range, id, event);
    event.flags = kRangeUnclosed;
    event.end_ns = kNoTime;
    emit(event);
  });
  stack_.clear();
}

std::uint64_t ThreadState::next_range_id() noexcept {
  if (next_range_ == last_range_) {
    next_range_ = recorder_.take_range_ids();
    last_range_ = next_range_ + Recorder::kRangeIdBlock;
  }
  return next_range_++;
}

void ThreadState::emit_extended(Event event, const NvtxPayload& payload) noexcept {
  std::byte extra[sizeof payload.schema + kMaxPayloadBytes];
  const std::size_t data_bytes = std::min<std::size_t>(payload.bytes, kMaxPayloadBytes);
  if (data_bytes < payload.bytes) recorder_.loss.add(Loss::payloads_truncated);
  const std::size_t bytes = sizeof payload.schema + data_bytes;
  std::memcpy(extra, &payload.schema, sizeof payload.schema);
  if (data_bytes != 0) std::memcpy(extra + sizeof payload.schema, payload.data, data_bytes);
  event.extra_bytes = static_cast<std::uint16_t>(bytes);
  event.extra_slots = static_cast<std::uint8_t>((bytes + sizeof(Event) - 1) / sizeof(Event));
  emit(event, {extra, bytes});
}

void ThreadState::emit(const Event& event, std::span<const std::byte> extra) noexcept {
  if (names_something(event.kind) && !recorder_.naming.add(thread(), event)) [[unlikely]]
    recorder_.loss.add(Loss::record_sink_errors);
  if (!recorder_.admits(event.start_ns)) return;  // between two windows
  finish_emit(ring_.push(event, extra));
}

// Cold: called where a cache missed and a table was locked. Inlined it would cost push() instructions.
[[gnu::cold, gnu::noinline]] void ThreadState::emit_lock_wait() noexcept {
  const LockWait wait = take_lock_wait();
  if (wait.end_ns == 0) return;
  const auto steady_ns =
      std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
  const std::int64_t end_ns = recorder_.clock.now_ns() - (steady_ns - wait.end_ns);
  emit(hold_event(HoldCause::lock, end_ns - (wait.end_ns - wait.start_ns), end_ns));
}

void ThreadState::count_refused() noexcept {
  recorder_.loss.add(Loss::events_dropped);
}

void ThreadState::finish_emit(bool pushed) noexcept {
  if (!pushed) [[unlikely]]
    recorder_.loss.add(Loss::events_dropped);
  if (ring_.half_full()) [[unlikely]]
    recorder_.wake_drain();
}

// With the registry's mutex held. The caches stay valid: they belong to the same tables.
void ThreadState::reset(std::uint32_t thread) noexcept {
  status_ = Status::owned;
  in_use_ = false;
  thread_.store(thread, kRelaxed);
  leave_call();
  prctl(PR_GET_NAME, first_comm_.data());
  stack_.clear();
  graph_calls_ = {};
  last_graph_ = {};
}

}  // namespace rangefinder
