// SPDX-License-Identifier: Apache-2.0
//
// ThreadState and RangeStack: the hot path of NVTX push and pop in the application.
#include <sys/prctl.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <new>

#include "profiler/events/fold_digits.h"
#include "profiler/events/hold_scope.h"
#include "profiler/events/recorder.h"
#include "profiler/events/thread_state.h"
#include "profiler/guest/host_lock.h"

namespace rangefinder {
namespace {

constexpr int kNoPushPopTracking = -2;  // NVTX_NO_PUSH_POP_TRACKING
constexpr auto kRelaxed = std::memory_order_relaxed;
constexpr auto kRelease = std::memory_order_release;

inline void describe(const OpenRange& range, std::uint64_t id, Event& event) noexcept {
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

void move_range(const OpenRange& from, OpenRange& to, std::uint32_t path) noexcept {
  to.id.store(0, kRelaxed);
  to.start_ns.store(from.start_ns.load(kRelaxed), kRelease);
  to.payload.store(from.payload.load(kRelaxed), kRelease);
  to.path.store(path, kRelease);
  to.domain.store(from.domain.load(kRelaxed), kRelease);
  to.category.store(from.category.load(kRelaxed), kRelease);
  to.color.store(from.color.load(kRelaxed), kRelease);
  to.payload_type.store(from.payload_type.load(kRelaxed), kRelease);
  to.extended_bytes = from.extended_bytes;
  to.extended_at = from.extended_at;
  to.name = from.name;
  to.level = from.level;
  to.id.store(from.id.load(kRelaxed), kRelease);
}

}  // namespace

RangeStack::TooDeep* RangeStack::too_deep(std::uint32_t domain, bool add) noexcept {
  if (too_deep_total_ == 0 && !add) return nullptr;
  const auto last = too_deep_.end() - 1;
  const auto found = std::find_if(too_deep_.begin(), last, [domain](const TooDeep& entry) {
    return entry.count != 0 && entry.domain == domain;
  });
  if (found != last) return &*found;
  if (last->count != 0) return &*last;  // some of them may be of this domain
  if (!add) return nullptr;
  const auto unused = std::find_if(too_deep_.begin(), last, [](const TooDeep& e) { return e.count == 0; });
  unused->domain = domain;
  return &*unused;
}

int RangeStack::depth(std::uint32_t domain) const noexcept {
  const std::size_t level = innermost(domain);
  int count = level == kNone ? 0 : static_cast<int>(open_[level].level) + 1;
  if (too_deep_total_ == 0) return count;
  for (const TooDeep& entry : too_deep_) {
    if (entry.domain == domain) count += static_cast<int>(entry.count);
  }
  return count;
}

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
  const std::uint32_t depth = stack_.depth_.load(kRelaxed);
  if (depth == 0 && inherits_.load(kRelaxed)) [[unlikely]]
    set_base(name, domain);
  if (depth + stack_.base_depth_ >= RangeStack::kMaxDepth || stack_.too_deep(domain, false) != nullptr)
      [[unlikely]] {
    return push_too_deep(domain);
  }
  OpenRange& range = stack_.open_[depth];
  const std::size_t below = stack_.innermost(domain);
  range.level = below == RangeStack::kNone ? 0 : stack_.open_[below].level + 1;
  open(range, now_ns, domain, name, attributes);
  stack_.depth_.store(depth + 1, kRelease);
  notify(recorder_.trigger, in_use_,
         [&](RangeTrigger& trigger) { trigger.on_push(stack_.range_, stack_.path_, depth, now_ns); });
  return static_cast<int>(range.level);
}

int ThreadState::push_too_deep(std::uint32_t domain) noexcept {
  const int level = stack_.depth(domain);
  ++stack_.too_deep(domain, true)->count;
  ++stack_.too_deep_total_;
  recorder_.loss.add(Loss::nvtx_too_deep);
  return level;
}

void ThreadState::open(OpenRange& range, std::int64_t now_ns, std::uint32_t domain, std::uint32_t name,
                       const NvtxAttributes& attributes) noexcept {
  const std::uint32_t path = path_of(stack_.path_, name, domain);
  const std::uint64_t id = next_range_id();
  range.id.store(0, kRelaxed);
  range.payload.store(attributes.payload, kRelease);
  range.path.store(path, kRelease);
  range.domain.store(domain, kRelease);
  range.category.store(attributes.category, kRelease);
  range.color.store(attributes.color, kRelease);
  range.payload_type.store(attributes.payload_type, kRelease);
  range.name = name;
  range.extended_bytes = 0;
  if (attributes.extended != nullptr) [[unlikely]]
    store_payload(range, *attributes.extended);
  stack_.path_ = path;
  stack_.range_ = id;
  range.start_ns.store(now_ns, kRelease);
  range.id.store(id, kRelease);
}

int ThreadState::pop(std::uint32_t domain, const NvtxPayload* extended) noexcept {
  if (RangeStack::TooDeep* const unnamed = stack_.too_deep(domain, false)) [[unlikely]] {
    --unnamed->count;
    --stack_.too_deep_total_;
    return std::max(0, stack_.depth(domain));
  }
  const std::int64_t now_ns = recorder_.clock.now_ns();
  const std::size_t level = stack_.innermost(domain);
  if (level == RangeStack::kNone) [[unlikely]] {
    recorder_.loss.add(Loss::nvtx_pop_without_push);
    return kNoPushPopTracking;
  }
  OpenRange& range = stack_.open_[level];
  const int domain_level = static_cast<int>(range.level);
  const std::uint64_t id = range.id.load(kRelaxed);
  // Hides the range from close_all(), which may run concurrently: its event is emitted here.
  range.id.store(0, kRelease);
  emit_closed(range, id, now_ns, extended);
  notify(recorder_.trigger, in_use_, [&](RangeTrigger& trigger) { trigger.on_pop(id, now_ns); });
  remove(level);
  return domain_level;
}

void ThreadState::remove(std::size_t level) noexcept {
  const std::size_t depth = stack_.depth_.load(kRelaxed) - 1;
  const bool had_payload = stack_.open_[level].extended_bytes != 0;
  std::uint32_t parent = level == 0 ? stack_.base_ : stack_.open_[level - 1].path.load(kRelaxed);
  for (std::size_t i = level; i < depth; ++i) {
    const OpenRange& above = stack_.open_[i + 1];
    parent = path_of(parent, above.name, above.domain.load(kRelaxed));
    move_range(above, stack_.open_[i], parent);
  }
  stack_.depth_.store(static_cast<std::uint32_t>(depth), kRelease);
  if (depth == 0) stack_.base_ = stack_.base_depth_ = parent = 0;
  stack_.path_ = parent;
  stack_.range_ = depth == 0 ? 0 : stack_.open_[depth - 1].id.load(kRelaxed);
  if (had_payload) [[unlikely]]
    remove_payload(depth);
}

void ThreadState::remove_payload(std::size_t depth) noexcept {
  payloads_used_ = 0;
  for (std::size_t i = 0; i < depth; ++i) {
    const OpenRange& range = stack_.open_[i];
    if (range.extended_bytes == 0) continue;
    payloads_used_ = std::max<std::size_t>(payloads_used_, range.extended_at + range.extended_bytes);
  }
}

void ThreadState::store_payload(OpenRange& range, const NvtxPayload& payload) noexcept {
  const std::size_t data_bytes = std::min<std::size_t>(payload.bytes, kMaxPayloadBytes);
  const std::size_t bytes = sizeof payload.schema + data_bytes;
  if (payloads_ == nullptr) payloads_.reset(new (std::nothrow) std::byte[kPayloadStoreBytes]);
  const bool fits = payloads_ != nullptr && payloads_used_ + bytes <= kPayloadStoreBytes;
  if (!fits || data_bytes < payload.bytes) recorder_.loss.add(Loss::payloads_truncated);
  if (!fits) return;
  std::byte* const at = payloads_.get() + payloads_used_;
  std::memcpy(at, &payload.schema, sizeof payload.schema);
  if (data_bytes != 0) std::memcpy(at + sizeof payload.schema, payload.data, data_bytes);
  range.extended_at = static_cast<std::uint32_t>(payloads_used_);
  range.extended_bytes = static_cast<std::uint16_t>(bytes);
  payloads_used_ += bytes;
}

void ThreadState::emit_closed(const OpenRange& range, std::uint64_t id, std::int64_t end_ns,
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
  NvtxPayload stored;
  const std::byte* const at = payloads_.get() + range.extended_at;
  std::memcpy(&stored.schema, at, sizeof stored.schema);
  stored.data = at + sizeof stored.schema;
  stored.bytes = range.extended_bytes - sizeof stored.schema;
  emit_extended(event, stored);
}

std::size_t ThreadState::close_all(std::int64_t now_ns) noexcept {
  std::size_t closed = 0;
  const std::size_t depth =
      std::min<std::size_t>(stack_.depth_.load(std::memory_order_acquire), RangeStack::kMaxDepth);
  for (std::size_t level = 0; level < depth; ++level) {
    const OpenRange& range = stack_.open_[level];
    const std::uint64_t id = range.id.load(std::memory_order_acquire);
    Event event;
    describe(range, id, event);
    // Another id, or none: the owner closed it meanwhile and emits the event itself.
    if (id == 0 || range.id.load(kRelaxed) != id || event.start_ns > now_ns) continue;
    event.flags = kRangeUnclosed;
    event.end_ns = kNoTime;
    try {
      ring_.add_late(event);
      ++closed;
    } catch (...) {
      recorder_.loss.add(Loss::record_sink_errors);
    }
  }
  recorder_.loss.add(Loss::nvtx_unclosed, closed);
  return closed;
}

ThreadState::Place ThreadState::inherited_place() const noexcept {
  if (stack_.depth_.load(kRelaxed) != 0) return {stack_.path(), stack_.range(), stack_.base_ != 0};
  return recorder_.threads.only_place();
}

// The outermost range of a thread that inherits hangs below the inherited path. If that ends with the same
// name, they are one level: `backward` of the caller, `backward` of autograd's own thread.
void ThreadState::set_base(std::uint32_t name, std::uint32_t domain) noexcept {
  std::uint32_t base = recorder_.threads.only_place().path;
  const PathNode node = base != 0 ? recorder_.paths.node(base) : PathNode();
  if (base != 0 && node.name == name && node.domain == domain) base = node.parent;
  stack_.base_ = stack_.path_ = base;
  stack_.base_depth_ = 0;
  for (; base != 0; base = recorder_.paths.node(base).parent) ++stack_.base_depth_;
}

void ThreadState::abandon_open() noexcept {
  const std::size_t depth = stack_.depth_.load(kRelaxed);
  for (std::size_t level = 0; level < depth; ++level) {
    Event event;
    describe(stack_.open_[level], stack_.open_[level].id.load(kRelaxed), event);
    event.flags = kRangeUnclosed;
    event.end_ns = kNoTime;
    emit(event);
  }
  recorder_.loss.add(Loss::nvtx_unclosed, depth);
  stack_.depth_.store(0, kRelease);
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
  stack_.depth_.store(0, std::memory_order_release);
  stack_.path_ = 0;
  stack_.range_ = 0;
  stack_.base_ = stack_.base_depth_ = 0;
  stack_.too_deep_total_ = 0;
  stack_.too_deep_ = {};
  payloads_used_ = 0;
  graph_calls_ = {};
  last_graph_ = {};
}

}  // namespace rangefinder
