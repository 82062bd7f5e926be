// SPDX-License-Identifier: Apache-2.0
//
// A program of its own, because a chained tool is set before the first NVTX call:
// static_injection.cpp names it by RANGEFINDER_TEST_CHAIN, the path of chained_tool.so.
#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>

#include <string>

#include "profiler/nvtx/nvtx.h"
#include "tests/catch.h"
#include "tests/unit/nvtx/chained_tool.h"
#include "tests/unit/nvtx/recorded_events.h"

using namespace rangefinder;

namespace {

// What the chained tool was told while `action` ran.
template <typename Action>
std::string told(const Action& action) {
  nvtxInitialize(nullptr);
  void* const tool = dlopen(RANGEFINDER_TEST_CHAIN, RTLD_NOLOAD | RTLD_LAZY);
  REQUIRE(tool != nullptr);
  const auto log = reinterpret_cast<const char* (*)()>(dlsym(tool, kChainedToolLog));
  REQUIRE(log != nullptr);
  const std::size_t before = std::string(log()).size();
  action();
  return std::string(log()).substr(before);
}

nvtxEventAttributes_t registered(nvtxStringHandle_t text) {
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = text;
  return event;
}

}  // namespace

TEST_CASE("the tool that was there before us is told what we are told") {
  CHECK(told([] {
          CHECK(nvtxRangePushA("both") == 0);
          CHECK(open_name() == "both");
          CHECK(nvtxRangePop() == 0);
        }) == "push both;pop;");

  CHECK(nvtx_chain_problem() == nullptr);
  CHECK(take_events().size() == 1);
}

TEST_CASE("it gets its own domain and string handles back, and we know them too") {
  const std::string seen = told([] {
    const nvtxDomainHandle_t domain = nvtxDomainCreateA("chained domain");
    const nvtxEventAttributes_t event = registered(nvtxDomainRegisterStringA(domain, "chained string"));
    nvtxDomainRangePushEx(domain, &event);
    CHECK(open_name() == "chained string");
    CHECK(nvtxDomainRangePop(domain) == 0);
  });

  CHECK(seen == "push chained domain @chained string;");
  const auto events = take_events();
  REQUIRE(events.size() == 1);
  CHECK(name_text(recorder().domain_name(events[0].event.c)) == "chained domain");
}

TEST_CASE("a handle that it never made is not handed to it") {
  // It has no wide form of these, so the handles are ours.
  CHECK(told([] {
          const nvtxDomainHandle_t domain = nvtxDomainCreateW(L"ours");
          const nvtxEventAttributes_t event = registered(nvtxDomainRegisterStringA(domain, "its own"));
          nvtxDomainRangePushEx(domain, &event);
          CHECK(nvtxDomainRangePop(domain) == 0);
        }) == "push - @its own;");
  CHECK(take_events().size() == 1);
}

TEST_CASE("its range ids are the application's, and end the right range on both sides") {
  CHECK(told([] {
          const nvtxRangeId_t id = nvtxRangeStartA("long");
          CHECK(id >= 0x7001000000000000);
          nvtxRangeEnd(id);
        }) == "start long;end last;");

  const auto events = take_events();
  REQUIRE(events.size() == 1);
  CHECK(name_text(events[0].event.b & 0xFFFFFFFF) == "long");
  CHECK(events[0].event.range < 0x7001000000000000);
}

TEST_CASE("calls that we have no work for reach it directly, with its own handles") {
  CHECK(told([] { nvtxDomainResourceCreate(nvtxDomainCreateA("d"), nullptr); }) == "resource d;");
}

TEST_CASE("of the payload extension it gets its part, and schemas have its ids") {
  CHECK(told([] {
          const nvtxDomainHandle_t domain = nvtxDomainCreateA("p");
          nvtxPayloadSchemaAttr_t schema{};
          CHECK(nvtxPayloadSchemaRegister(domain, &schema) == NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START + 4711);
          nvtxEventSubmit(domain, nullptr, 0);
          CHECK(nvtxDomainIsEnabled(domain) == 1);
        }) == "schema p;submit p;");
  const auto events = take_events();
  REQUIRE(events.size() == 1);
  CHECK(events[0].event.a == NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START + 4711);
}

TEST_CASE("a chain set after the first call changes nothing") {
  nvtx_set_chain("/nonexistent/tool.so");

  CHECK(told([] {
          nvtxRangePushA("still");
          nvtxRangePop();
        }) == "push still;pop;");
  take_events();
}
