// SPDX-License-Identifier: Apache-2.0
//
// Property: whatever an application passes to NVTX, levels are those that NVTX promises, every event that
// comes out names existing things, and nothing outside of what was passed is read (AddressSanitizer reports
// it).
//
// Calls go through the real nvtx3 headers (static_injection.cpp): all forms of ranges, marks and names,
// domains, registered strings, resources, payloads. Attributes carry sizes, versions and kinds that do not
// exist. One case in 64 makes its calls on four threads at once.
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "tests/property/fuzz.h"
#include "tests/unit/nvtx/recorded_events.h"

namespace rangefinder::fuzz {
namespace {

constexpr int kDeepest = 100;  // of a thread: beyond 128 levels ranges are counted, not kept

/// What outlives a case, as an application's domains do.
struct NvtxHandles {
  std::vector<nvtxDomainHandle_t> domains{nullptr};
  std::vector<nvtxStringHandle_t> strings{nullptr};
  std::vector<std::uint64_t> schemas{0, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, 77, 1U << 25};
};

class NvtxCaller {
 public:
  NvtxCaller(const NvtxHandles& shared, Random& random) : shared_(shared), random_(random) {}

  bool call() {
    const std::size_t kind = random_.below(12);
    if (kind == 0) return push(nullptr, nvtxRangePushA(text().c_str()));
    if (kind == 1) return push(nullptr, nvtxRangePushW(wide().c_str()));
    if (kind == 2) {
      nvtxDomainHandle_t const domain = any_domain();
      return push(domain, nvtxDomainRangePushEx(domain, attributes()));
    }
    if (kind <= 5) return pop(any_domain());
    if (kind == 6) nvtxDomainMarkEx(any_domain(), attributes());
    if (kind == 7) started_.push_back(nvtxDomainRangeStartEx(any_domain(), attributes()));
    if (kind == 8) end_range();
    if (kind == 9) name_things();
    if (kind == 10) payload_push();
    if (kind == 11) nvtxMarkA(random_.one_in(8) ? nullptr : text().c_str());
    return true;
  }

  bool unwind() {
    for (auto& [domain, depth] : depths_) {
      while (depth > 0) {
        if (!pop(domain)) return false;
      }
    }
    for (const nvtxRangeId_t id : started_) nvtxRangeEnd(id);
    return true;
  }

 private:
  nvtxDomainHandle_t any_domain() { return random_.element(shared_.domains); }

  bool push(nvtxDomainHandle_t domain, int level) {
    const bool right = depth_ > kDeepest || level == depths_[domain];
    ++depths_[domain];
    ++depth_;
    return right;
  }

  bool pop(nvtxDomainHandle_t domain) {
    const int level = nvtxDomainRangePop(domain);
    if (depths_[domain] == 0) return level == NVTX_NO_PUSH_POP_TRACKING;
    --depths_[domain];
    const bool right = depth_ > kDeepest || level == depths_[domain];
    --depth_;
    return right;
  }

  void end_range() {
    if (started_.empty() || random_.one_in(8)) return nvtxRangeEnd(random_.any());
    nvtxRangeEnd(started_.back());
    started_.pop_back();
  }

  void name_things() {
    const auto number = static_cast<std::uint32_t>(random_.any());
    nvtxDomainNameCategoryA(any_domain(), number % 300, text().c_str());
    if (random_.one_in(4)) nvtxNameCategoryW(number % 300, wide().c_str());
    if (random_.one_in(50)) nvtxNameOsThreadA(number % 8, text().c_str());
    if (!random_.one_in(8)) return;
    nvtxResourceAttributes_t resource{};
    resource.version = static_cast<std::uint16_t>(random_.one_in(4) ? number : NVTX_VERSION);
    resource.size =
        static_cast<std::uint16_t>(random_.one_in(4) ? number >> 8 : NVTX_RESOURCE_ATTRIB_STRUCT_SIZE);
    resource.identifierType = static_cast<std::int32_t>(number % 9);
    resource.messageType = NVTX_MESSAGE_TYPE_ASCII;
    resource.message.ascii = keep(text());
    nvtxDomainResourceDestroy(nvtxDomainResourceCreate(any_domain(), &resource));
  }

  void payload_push() {
    const std::string& data = kept_.emplace_back(random_.below(5000), 'p');
    nvtxPayloadData_t payload{random_.element(shared_.schemas), data.size(), data.data()};
    nvtxDomainHandle_t const domain = any_domain();
    if (random_.one_in(3)) return nvtxMarkPayload(domain, &payload, 1);
    (void)push(domain, nvtxRangePushPayload(domain, &payload, 1));
    if (random_.one_in(2)) return;
    --depth_;
    --depths_[domain];
    (void)nvtxRangePopPayload(domain, &payload, 1);
  }

  const nvtxEventAttributes_t* attributes() {
    if (random_.one_in(40)) return nullptr;
    attributes_ = event_of(keep(text()));
    const std::uint64_t any = random_.any();
    if (random_.one_in(6)) attributes_.version = static_cast<std::uint16_t>(any);
    // Never more than there is: a size is a promise.
    if (random_.one_in(6)) attributes_.size = static_cast<std::uint16_t>(any % (sizeof(attributes_) + 1));
    attributes_.category = static_cast<std::uint32_t>(any >> 16) % 400;
    attributes_.colorType = static_cast<std::int32_t>(any % 4);
    attributes_.color = static_cast<std::uint32_t>(any >> 7);
    attributes_.payloadType = static_cast<std::int32_t>((any >> 3) % 9);
    attributes_.payload.ullValue = any;
    choose_message();
    return &attributes_;
  }

  void choose_message() {
    const std::size_t kind = random_.below(6);
    if (kind == 0) {
      attributes_.messageType = NVTX_MESSAGE_TYPE_UNICODE;
      attributes_.message.unicode = wides_.emplace_back(wide()).c_str();
    } else if (kind == 1) {
      attributes_.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
      attributes_.message.registered = random_.element(shared_.strings);
    } else if (kind == 2) {
      attributes_.messageType = static_cast<std::int32_t>(4 + random_.below(100));
    } else if (kind == 3) {
      attributes_.message.ascii = nullptr;
    }
  }

  /// Few names mostly, so that tables hold; any bytes otherwise.
  std::string text() {
    if (!random_.one_in(20)) return "name " + std::to_string(random_.below(200));
    std::string any(random_.one_in(30) ? random_.below(40'000) : random_.below(40), '\0');
    for (char& character : any) character = static_cast<char>(1 + random_.below(255));
    return any;
  }
  std::wstring wide() {
    std::wstring any(random_.below(20), L'w');
    for (wchar_t& character : any)
      character = static_cast<wchar_t>(1 + random_.below(random_.one_in(4) ? 0x120000 : 500));
    return any;
  }
  const char* keep(std::string text) { return kept_.emplace_back(std::move(text)).c_str(); }

  const NvtxHandles& shared_;
  Random& random_;
  std::map<nvtxDomainHandle_t, int> depths_;
  int depth_ = 0;
  std::vector<nvtxRangeId_t> started_;
  std::deque<std::string> kept_;
  std::deque<std::wstring> wides_;
  nvtxEventAttributes_t attributes_{};
};

bool calls_go_well(const NvtxHandles& shared, Random& random) {
  NvtxCaller caller(shared, random);
  for (std::size_t calls = 1 + random.below(60); calls > 0; --calls) {
    if (!caller.call()) return false;
  }
  return caller.unwind();
}

bool on_four_threads(const NvtxHandles& shared, std::uint64_t seed) {
  std::atomic<int> bad{0};
  std::vector<std::thread> threads;
  for (std::uint64_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      Random own(seed, thread);
      if (!calls_go_well(shared, own)) ++bad;
    });
  }
  for (std::thread& thread : threads) thread.join();
  return bad == 0;
}

void grow_handles(NvtxHandles& shared, Random& random) {
  if (shared.domains.size() < 20 && random.one_in(50))
    shared.domains.push_back(nvtxDomainCreateA(("domain " + std::to_string(random.below(30))).c_str()));
  if (shared.strings.size() < 50 && random.one_in(20))
    shared.strings.push_back(
        nvtxDomainRegisterStringA(random.element(shared.domains), std::to_string(random.any()).c_str()));
  if (shared.schemas.size() >= 40 || !random.one_in(30)) return;
  std::array<nvtxPayloadSchemaEntry_t, 3> entries{};
  for (nvtxPayloadSchemaEntry_t& entry : entries) {
    entry.flags = random.one_in(2) ? 0 : random.below(1024);
    entry.type = random.one_in(4) ? random.any() : random.below(90);
    entry.name = random.one_in(4) ? nullptr : "field";
    entry.arrayOrUnionDetail = random.one_in(2) ? random.below(9) : random.any();
    entry.offset = random.one_in(2) ? 0 : random.below(9000);
  }
  nvtxPayloadSchemaAttr_t schema{};
  schema.fieldMask = random.any() % 512;
  schema.name = "schema";
  schema.type = random.below(6);
  schema.entries = entries.data();
  schema.numEntries = entries.size();
  schema.payloadStaticSize = random.below(6000);
  shared.schemas.push_back(nvtxPayloadSchemaRegister(random.element(shared.domains), &schema));
}

/// Every name and path that an event has is in the tables.
bool events_make_sense() {
  const auto events = take_events();
  recorder().threads.recycle();
  return std::all_of(events.begin(), events.end(), [](const Seen& seen) {
    if (seen.event.path != 0) (void)path_name(seen.event.path);
    return seen.event.kind != EventKind::none && seen.event.start_ns > 0;
  });
}

class NvtxFuzzer final : public Fuzzer {
 public:
  std::string check(Random& random) override {
    grow_handles(shared_, random);
    const bool right =
        random.one_in(64) ? on_four_threads(shared_, random.any()) : calls_go_well(shared_, random);
    if (!right) return "a level is not what NVTX promises";
    return events_make_sense() ? "" : "an event has no kind or no time";
  }

 private:
  NvtxHandles shared_;
};

}  // namespace

MakeFuzzer* const make_nvtx = &made<NvtxFuzzer>;

}  // namespace rangefinder::fuzz
