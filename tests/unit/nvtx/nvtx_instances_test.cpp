// SPDX-License-Identifier: Apache-2.0
//
// Every call goes through the real nvtx3 headers (static_injection.cpp).
#include <nvtx3/nvToolsExt.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>

#include <array>
#include <bit>
#include <string>
#include <thread>
#include <vector>

#include "profiler/nvtx/nvtx.h"
#include "tests/catch.h"
#include "tests/unit/nvtx/recorded_events.h"

using namespace rangefinder;

TEST_CASE("a start/end range may end on another thread and records both") {
  nvtxRangePushA("around");
  const nvtxRangeId_t id = nvtxRangeStartA("across");
  nvtxRangePop();
  CHECK(id != 0);
  std::thread([id] { nvtxRangeEnd(id); }).join();

  std::vector<Seen> ranges;
  for (const Seen& seen : take_events()) {
    if (seen.event.kind == EventKind::range_start_end) ranges.push_back(seen);
  }

  REQUIRE(ranges.size() == 1);
  const Event& event = ranges[0].event;
  CHECK(event.range == id);
  CHECK(name_text(event.nvtx.name) == "across");
  CHECK(event.nvtx.start_thread == recorder().threads.current()->thread());
  CHECK(ranges[0].thread != recorder().threads.current()->thread());
  CHECK(path_name(event.path) == "around");
  CHECK(event.end_ns >= event.start_ns);
  recorder().threads.recycle();
}

TEST_CASE("start/end ranges overlap, keep their domain and attributes, and end once") {
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("test.start");
  nvtxEventAttributes_t event = event_of("with attributes");
  event.category = 5;
  const nvtxRangeId_t first = nvtxDomainRangeStartEx(domain, &event);
  const nvtxRangeId_t second = nvtxRangeStartEx(&event);
  const nvtxRangeId_t third = nvtxRangeStartW(L"wide");
  nvtxDomainRangeEnd(domain, first);
  nvtxRangeEnd(third);
  nvtxRangeEnd(second);

  const auto seen = take_events();

  REQUIRE(seen.size() == 3);
  CHECK(seen[0].event.range == first);
  CHECK(name_text(recorder().domain_name(seen[0].event.nvtx.domain)) == "test.start");
  CHECK(seen[0].event.nvtx.category == 5);
  CHECK(seen[2].event.range == second);
  CHECK(seen[2].event.nvtx.domain == 0);
  CHECK(counted(Loss::nvtx_end_unknown, [=] { nvtxRangeEnd(second); }) == 1);
  CHECK(counted(Loss::nvtx_end_unknown, [=] { nvtxRangeEnd(987'654'321); }) == 1);
}

TEST_CASE("65,536 start/end ranges may be open; one more is counted; all of them end") {
  std::vector<nvtxRangeId_t> ids(65'536);
  CHECK(counted(Loss::nvtx_open_table_full, [&ids] {
          for (nvtxRangeId_t& id : ids) id = nvtxRangeStartA("open");
        }) == 0);

  CHECK(counted(Loss::nvtx_open_table_full, [] { nvtxRangeStartA("one too many"); }) == 1);

  std::size_t ended = 0;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    nvtxRangeEnd(ids[i]);
    if (i % 4096 == 4095) ended += take_events().size();
  }
  CHECK(ended == ids.size());
}

TEST_CASE("start/end ranges still open when recording stops are recorded as unclosed") {
  const nvtxRangeId_t id = nvtxRangeStartA("never ended");

  CHECK(counted(Loss::nvtx_unclosed, [] { CHECK(nvtx_close_all(clock_now_ns()) == 1); }) == 1);

  const auto seen = take_events();
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].event.range == id);
  CHECK(seen[0].event.flags == kRangeUnclosed);
  CHECK(seen[0].event.end_ns == kNoTime);
  CHECK(seen[0].event.nvtx.start_thread == recorder().threads.current()->thread());
  nvtxRangeEnd(id);
  take_events();
}

TEST_CASE("threads use NVTX at the same time without losing a range") {
  constexpr int kThreads = 4, kRanges = 1500;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([t] {
      const nvtxDomainHandle_t domain = nvtxDomainCreateA("test.threads");
      const std::string own = "thread " + std::to_string(t);
      const nvtxEventAttributes_t event = event_of("shared");
      for (int i = 0; i < kRanges; ++i) {
        nvtxRangePushA(own.c_str());
        nvtxDomainRangePushEx(domain, &event);
        const nvtxRangeId_t id = nvtxRangeStartA("started");
        nvtxDomainRangePop(domain);
        nvtxRangeEnd(id);
        nvtxRangePop();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();

  const auto events = take_events();
  // A thread that waited for a table's lock has a hold beside its ranges.
  const auto is_range = [](const Seen& seen) { return seen.event.kind != EventKind::hold; };
  CHECK(std::count_if(events.begin(), events.end(), is_range) == 3L * kThreads * kRanges);
  recorder().threads.recycle();
}

TEST_CASE("in a silent child NVTX still works and records nothing") {
  recorder().recording = true;
  const pid_t child = fork();
  if (child == 0) {
    const bool levels =
        nvtxRangePushA("child") == NVTX_NO_PUSH_POP_TRACKING && nvtxRangePop() == NVTX_NO_PUSH_POP_TRACKING;
    nvtxMarkA("child");
    nvtxRangeEnd(nvtxRangeStartA("child"));
    const bool handles =
        nvtxDomainCreateA("child") != nullptr && nvtxDomainRegisterStringA(nullptr, "c") != nullptr;
    const bool quiet = take_events().empty() && recorder().loss.get(Loss::nvtx_end_unknown) == 2;
    _exit(levels && handles && quiet ? 0 : 1);
  }
  recorder().recording = false;
  int status = -1;
  waitpid(child, &status, 0);

  CHECK(status == 0);
}

namespace {

// A second instance of NVTX, as in another shared object, with the shorter tables of an old version.
NvtxFunctionPointer g_slots[12];
NvtxFunctionPointer* g_table[12];

int old_table(NvtxCallbackModule module, NvtxFunctionTable* table, unsigned* size) {
  if (module != NVTX_CB_MODULE_CORE) return 0;
  for (int i = 1; i < 12; ++i) g_table[i] = &g_slots[i];
  *table = g_table;
  *size = 12;
  return 1;
}

const void* old_export(std::uint32_t id) {
  static const NvtxExportTableCallbacks callbacks{sizeof callbacks, old_table};
  return id == NVTX_ETID_CALLBACKS ? &callbacks : nullptr;
}

}  // namespace

TEST_CASE("a second instance of NVTX shares the thread's ranges, and its tables are not overrun") {
  REQUIRE(nvtx_initialize_v1(old_export) == 1);
  REQUIRE(nvtx_initialize_v1(old_export) == 1);
  const auto push = reinterpret_cast<nvtxRangePushA_impl_fntype>(g_slots[NVTX_CBID_CORE_RangePushA]);
  const auto pop = reinterpret_cast<nvtxRangePop_impl_fntype>(g_slots[NVTX_CBID_CORE_RangePop]);

  nvtxRangePushA("first instance");
  CHECK(push("second instance") == 1);
  CHECK(nvtxRangePop() == 1);
  CHECK(pop() == 0);
  CHECK(take_events().size() == 2);
}

TEST_CASE("tables that cannot be used are refused") {
  CHECK(nvtx_initialize_v2(nullptr) == 0);
  CHECK(nvtx_initialize_v2([](std::uint32_t) -> const void* { return nullptr; }) == 0);
  CHECK(nvtx_initialize_extension(nullptr) == 0);
  nvtxExtModuleInfo_t other{NVTX_VERSION, sizeof other, 77, 1, 0, nullptr, nullptr, nullptr};
  CHECK(nvtx_initialize_extension(&other) == 0);
}
