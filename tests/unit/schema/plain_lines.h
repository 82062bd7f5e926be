// SPDX-License-Identifier: Apache-2.0
//
// Lines in the form of write_line(), of every kind that scan_line() reads, and many ways to change one. For
// tests that compare scan_line() with the JSON parser.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "schema/read_line.h"
#include "schema/scan_line.h"
#include "tests/unit/schema/example_trace.h"

namespace rangefinder::plain_lines {

// clang-format off
inline constexpr std::array kForms{
    R"({"t":"kernel","start":-12,"end":999999999999999999,"gpu":1,"ctx":2,"stream":7,"corr":4294967295,"path":3,"range":4,"graph":5,"node":6,"captured":true,"name":8,"config":9})",
    R"({"t":"kernel","start":0,"end":0,"gpu":0,"ctx":0,"stream":0,"corr":0,"name":1,"config":1})",
    R"({"t":"kernel","gpu":0,"ctx":0,"stream":0,"corr":0,"name":1,"config":1})",
    R"({"t":"kernel","start":12345678,"end":1234567890123456,"gpu":10,"ctx":12345678,"stream":1234567,"corr":123456,"range":123456789012345678,"graph":5,"node":0,"name":99,"config":100})",
    R"({"t":"launch","start":1,"end":2,"thread":3,"path":4,"range":5,"api":"cuLaunchKernel","corr":6,"ctx":7,"result":-701})",
    R"({"t":"launch","start":1000000,"end":1003000,"thread":4711,"inherited":true,"api":"cuMemcpyHtoDAsync","corr":1,"ctx":1,"result":2147483647})",
    R"({"t":"launch","start":1,"end":2,"thread":3,"api":"","corr":0,"result":-2147483648})",
    R"({"t":"range","start":1,"end":2,"id":3,"thread":4,"domain":5,"path":6})",
    R"({"t":"range","start":1,"end":2,"id":3,"thread":4,"path":6})",
    R"({"t":"range","start":1,"end":null,"id":3,"thread":4,"path":6})",
    R"({"t":"range","start":1,"end":2,"id":3,"thread":4,"name":5,"path":6,"end_thread":7})",
    R"({"t":"range","start":1,"end":2,"id":3,"thread":4,"name":5})",
    R"({"t":"range","start":1,"end":2,"id":3,"thread":4,"path":6,"category":7,"color":"#FF76B900"})",
    R"({"t":"range","start":1,"end":2,"id":3,"thread":4,"path":6,"payload":9007199254740992,"payload_type":"u64"})",
    R"({"t":"range","start":1,"end":2,"id":3,"thread":4,"path":6,"payload":"18446744073709551615","payload_type":"u64"})",
    R"({"t":"range","start":1,"end":2,"id":3,"thread":4,"path":6,"payload":-7,"payload_type":"i64"})",
    R"({"t":"range","start":1,"end":2,"id":3,"thread":4,"path":6,"payload":"-9223372036854775808","payload_type":"i64"})",
    R"({"t":"range","start":1,"end":2,"id":3,"thread":4,"path":6,"category":1,"payload":4294967295,"payload_type":"u32"})",
    R"({"t":"range","start":1,"end":2,"id":3,"thread":4,"path":6,"payload":-2147483648,"payload_type":"i32"})",
    R"({"t":"range","start":1,"end":2,"id":3,"thread":4,"path":6,"payload":0.1,"payload_type":"f64"})",
    R"({"t":"range","start":1,"end":2,"id":3,"thread":4,"path":6,"payload":-1.7976931348623157e+308,"payload_type":"f64"})",
    R"({"t":"range","start":1,"end":2,"id":3,"thread":4,"path":6,"payload":5e-324,"payload_type":"f64"})",
    R"({"t":"range","start":1,"end":2,"id":3,"thread":4,"path":6,"payload":-0e+00,"payload_type":"f64"})",
    R"({"t":"range","start":1,"end":2,"id":3,"thread":4,"path":6,"payload":"nan","payload_type":"f64"})",
    R"({"t":"range","start":1,"end":2,"id":3,"thread":4,"path":6,"payload":"-inf","payload_type":"f64"})",
    R"({"t":"range","start":1,"end":2,"id":3,"thread":4,"path":6,"payload":16777216,"payload_type":"f32"})",
    R"({"t":"range","start":1,"end":2,"id":3,"thread":4,"path":6,"payload":3.4028235e+38,"payload_type":"f32"})",
    R"({"t":"range","start":1,"end":2,"id":3,"thread":4,"path":6,"payload":"inf","payload_type":"f32"})",
    R"({"t":"range","start":1,"end":2,"id":3,"thread":4,"path":6,"payload_schema":16777216,"payload_data":"0001feff"})",
    R"({"t":"range","start":1,"end":2,"id":3,"thread":4,"path":6,"payload":1,"payload_type":"u32","payload_schema":1})",
    R"({"t":"mark","at":5,"thread":4,"domain":1,"name":2,"path":3,"range":4,"category":1,"color":"#00000001","payload":-1,"payload_type":"i32","payload_schema":7,"payload_data":"ab"})",
    R"({"t":"mark","at":5,"thread":4,"name":2})",
    R"({"t":"exact","start":1,"end":2,"thread":3,"path":4,"range":5,"api":"cuLaunchKernelEx","corr":6,"ctx":1,"kind":"kernel","gpu":0,"name":2,"grid":[10,1,1],"block":[128,1,1],"gpu_ns":3507,"dram_read_bytes":2304,"dram_write_bytes":0,"l2_bytes":277920})",
    R"({"t":"exact","start":1,"end":2,"thread":3,"api":"cuLaunchKernel","corr":6,"kind":"kernel","gpu":0,"name":2,"grid":[4294967295,65535,0],"block":[1,2,3],"gpu_ns":0,"set":16,"values":[14907,1659875690.6077347,0,null,0.1,-0.5,5e-324,1.7976931348623157e+308,9007199254740991,1e+16]})",
    R"({"t":"exact","start":1,"end":2,"thread":3,"api":"cuLaunchKernel","corr":6,"kind":"kernel","gpu":0,"gpu_ns":7,"dram_read_bytes":1,"dram_write_bytes":2,"l2_bytes":3,"set":1,"values":[1]})",
    R"({"t":"exact","start":1,"end":2,"thread":3,"api":"cuLaunchKernel","corr":6,"kind":"kernel","gpu":0,"gpu_ns":7,"set":1,"values":[]})",
    R"({"t":"exact","start":1,"end":2,"thread":3,"api":"cuMemcpyDtoDAsync","corr":6,"kind":"memcpy","gpu":0,"bytes":268435456,"dram_read_bytes":1,"dram_write_bytes":2,"l2_bytes":3})",
    R"({"t":"exact","start":1,"end":2,"thread":3,"api":"cuMemcpyDtoDAsync","corr":6,"kind":"memcpy","gpu":0,"bytes":512,"unmeasured":"the batch was cut off"})",
    R"({"t":"exact","start":1,"end":2,"thread":3,"api":"cuGraphLaunch","corr":6,"result":1,"kind":"graph","gpu":0,"bytes_path":9,"gpu_ns":7,"dram_read_bytes":1,"dram_write_bytes":2,"l2_bytes":3})",
    R"({"t":"exact","start":1,"end":2,"thread":3,"api":"cuMemsetD8Async","corr":6,"kind":"memset","gpu":0,"bytes":4096,"shared_range":1})",
    R"({"t":"exact","start":1,"end":2,"thread":3,"path":4,"ctx":1,"kind":"range","gpu":0,"counter_range":1,"launches":2,"kernels":1,"exclusive":false,"gpu_ns":10900,"dram_read_bytes":2097152,"dram_write_bytes":4096,"l2_bytes":4198400})",
    R"({"t":"exact","start":1,"end":2,"thread":3,"kind":"range","gpu":0,"counter_range":1,"launches":0,"kernels":0,"unmeasured":"no counters"})",
    R"({"t":"memcpy","start":1,"end":2,"gpu":0,"ctx":1,"stream":13,"corr":31,"path":4,"range":31,"kind":"HtoD","src":"pageable","dst":"device","bytes":39321600,"async":true})",
    R"({"t":"memcpy","gpu":0,"ctx":1,"stream":13,"corr":31,"kind":"PtoP","src":"device","dst":"device_static","bytes":0,"count":3,"src_gpu":0,"dst_gpu":1})",
    R"({"t":"memcpy","start":1,"end":2,"gpu":0,"ctx":1,"stream":13,"corr":31,"kind":"unknown","src":"managed_static","dst":"unknown","bytes":1})",
    R"({"t":"memset","start":1,"end":2,"gpu":0,"ctx":1,"stream":7,"corr":3,"path":1,"range":2,"bytes":4,"value":255,"memory":"device"})",
    R"({"t":"memset","start":1,"end":2,"gpu":0,"ctx":1,"stream":7,"corr":3,"bytes":4,"memory":"array"})",
    R"({"t":"graph","start":1,"end":2,"gpu":0,"ctx":1,"stream":7,"corr":3,"graph":6})",
    R"({"t":"sync","start":1,"end":2,"thread":3,"path":4,"range":5,"api":"cuStreamSynchronize","ctx":1,"stream":7})",
    R"({"t":"sync","start":1,"end":2,"thread":3,"api":"cuEventSynchronize","ctx":1,"event":"0x5653206f2000"})",
    R"({"t":"alloc","start":1,"end":2,"thread":3,"api":"cuMemAlloc","memory":"device","address":"0x7fb1c8000000","bytes":20971520,"ctx":1})",
    R"({"t":"alloc","start":1,"end":2,"thread":3,"api":"cuMemAllocFromPoolAsync","memory":"pool","address":"0xffffffffffffffff","bytes":8,"ctx":1,"stream":7,"pool":"0x1"})",
    R"({"t":"free","start":1,"end":2,"thread":3,"api":"cuMemFree","memory":"managed","address":"0x0"})",
    R"({"t":"event_record","start":1,"end":2,"thread":3,"event":"0x55eec51cb430","stream":13,"ctx":1})",
    R"({"t":"stream_wait","start":1,"end":2,"thread":3,"path":4,"event":"0x55aa","ctx":1})",
    R"({"t":"overhead","start":50,"end":90,"thread":4712,"what":"lazy_function_loading","corr":5})",
    R"({"t":"overhead","start":50,"end":90,"what":"command_buffer_full"})",
    R"({"t":"hold","start":30100,"end":66100,"thread":4712,"cause":"counter_batch"})",
    R"({"t":"monitor","start":0,"end":215000,"window":100000,"path":2,"launches":9,"ranges":3,"range_ns":85100,"window_launches":4,"kernels":4,"kernel_ns":21000,"copies":1,"copy_ns":1200})",
    R"({"t":"path","id":2,"parent":1,"name":"encoder/0 'a' <b>","domain":1})",
    R"({"t":"path","id":1,"parent":0,"name":""})",
    R"({"t":"samples","gpu":0,"runs":[[10000,50000,2],[70064,90064,1]],"dram_read":[1543210,7,0],"l2":[3000000,21,4294967295],"engine_active":[97,3,1],"idle_samples":12,"idle":{"dram_read":340,"pcie_write":5000000000}})",
    R"({"t":"samples","gpu":1,"runs":[[-20,-10,17]],"dram_write":{"0":5,"16":7},"nvlink_received":{"3":1}})",
    R"({"t":"samples","gpu":1,"runs":[],"idle_samples":3,"idle":{}})",
    R"({"t":"samples","gpu":1,"runs":[[5,5,1]],"sm_active":[1]})",
};
// clang-format on

/// The forms above, and the lines of the example of these kinds whose texts need no escape.
inline std::vector<std::string> lines() {
  std::vector<std::string> out(kForms.begin(), kForms.end());
  for (const Line& line : example::lines()) {
    std::string text = example::text_of(line);
    text.pop_back();
    const auto has_form = [&](const char* form) {
      const std::string_view whole = form;
      return text.starts_with(whole.substr(0, whole.find(',')));
    };
    if (std::any_of(kForms.begin(), kForms.end(), has_form)) out.push_back(std::move(text));
  }
  return out;
}

// ---- What was read

inline void add_bits(std::string& out, std::initializer_list<std::uint64_t> values) {
  for (const std::uint64_t value : values) out += ' ' + std::to_string(value);
}

inline void add_bits(std::string& out, const NvtxExtras& e) {
  add_bits(out,
           {e.category, e.color, static_cast<std::uint64_t>(e.payload_type), e.payload, e.payload_schema});
  for (const std::uint8_t byte : e.payload_data) add_bits(out, {byte});
}

inline void add_bits(std::string& out, const ExactRecord& r) {
  out += r.launch.api;
  out += r.reason;
  add_bits(out, {r.launch.correlation, r.launch.context, static_cast<std::uint32_t>(r.launch.result)});
  add_bits(out, {static_cast<std::uint64_t>(r.kind),
                 r.name,
                 r.grid.x,
                 r.grid.y,
                 r.grid.z,
                 r.block.x,
                 r.block.y,
                 r.block.z,
                 r.bytes,
                 r.bytes_path,
                 r.counter_range,
                 r.is_counter_range,
                 r.launches,
                 r.kernels,
                 r.exclusive,
                 r.measured,
                 r.gpu_ns,
                 r.has_bytes,
                 r.dram_read_bytes,
                 r.dram_write_bytes,
                 r.l2_bytes,
                 r.metric_set});
  for (const double value : r.values) add_bits(out, {std::bit_cast<std::uint64_t>(value)});
}

/// The line's text, and what a text does not show of a record: fields of its other forms, bits of numbers.
inline std::string content_of(const Line& line) {
  std::string out = std::to_string(line.index()) + example::text_of(line);
  if (const auto* const exact = std::get_if<ExactRecord>(&line)) add_bits(out, *exact);
  if (const auto* const mark = std::get_if<MarkRecord>(&line)) add_bits(out, mark->extras);
  if (const auto* const range = std::get_if<RangeRecord>(&line)) {
    add_bits(out, range->extras);
    add_bits(out, {range->end_thread, static_cast<std::uint64_t>(range->end_ns)});
  }
  if (const auto* const copy = std::get_if<MemcpyRecord>(&line)) {
    add_bits(out, {copy->count, copy->source_gpu, copy->destination_gpu});
  }
  return out;
}

/// As scan_line() reads it from memory that ends where its contract allows; "": it does not read it.
inline std::string scanned(const std::string& text, TextPool& pool) {
  std::vector<char> memory(text.begin(), text.end());
  memory.push_back('\n');
  const auto end = static_cast<std::ptrdiff_t>(memory.size());
  memory.insert(memory.end(), kScanPadding, '7');
  memory.shrink_to_fit();
  std::string out;
  const char* const next = scan_line(
      memory.data(), pool, [&](auto&& record) { out += content_of(std::forward<decltype(record)>(record)); });
  return next == memory.data() + end ? out : std::string(next == nullptr ? 0 : 1, '?');
}

// ---- Changes

// clang-format off
inline constexpr std::array<std::string_view, 82> kValues{
    "0", "1", "7", "10", "-1", "-7", "-0", "00", "01", "-01", "+1", "-", "1.0", "1e0", "0.0", "-0.0", "-0e0", "1.", ".5", "01.5", "1e", "1e+",
    "0.1", "1E5", "1e-5", "-2.5e+10", "123456789.123456789", "1e308", "1e309", "-1e309", "5e-324", "1e-400", "2.2250738585072011e-308", "9007199254740993.0",
    "255", "256", "65536", "1000000", "1000001", "2147483647", "2147483648", "-2147483648", "-2147483649", "4294967295", "4294967296", "9007199254740992", "9007199254740993",
    "12345678", "123456789012345", "1234567890123456", "999999999999999999", "-999999999999999999", "1000000000000000000", "4611686018427387903", "4611686018427387904", "-4611686018427387904",
    "9223372036854775807", "9223372036854775808", "-9223372036854775808", "18446744073709551615", "18446744073709551616", "999999999999999999999999",
    "null", "true", "false", R"("")", R"("7")", R"("nan")", R"("inf")", R"("-inf")", R"("0x")", R"("0X1")", R"("0x00ffFF")", R"("0x10000000000000000")", R"("#12345678")", R"("#1234567g")",
    "[]", "[1,2,3]", "[[1,2,3]]", "[null]", "{}", R"({"0":1})"};
// clang-format on

/// The places between which the members of the line are: of the '{' or ',' before each, and of the last '}'.
inline std::vector<std::size_t> member_places(const std::string& line) {
  std::vector<std::size_t> out;
  int depth = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"') in_text = !in_text;
    if (in_text) continue;
    if (c == '{' || c == '[') ++depth;
    if ((c == '{' || c == ',' || c == '}') && depth == 1) out.push_back(i);
    if (c == '}' || c == ']') --depth;
  }
  return out;
}

/// Members dropped, doubled, exchanged, moved; a new one; other values; spaces; escapes.
template <typename Check>
void for_each_change(const std::string& line, const Check& check) {
  const std::vector<std::size_t> places = member_places(line);
  const auto member = [&](std::size_t i) {
    return line.substr(places[i] + 1, places[i + 1] - places[i] - 1);
  };
  const std::string kind = line.substr(0, places[1]);
  for (std::size_t i = 1; i + 1 < places.size(); ++i) {
    const std::string before = line.substr(0, places[i]), after = line.substr(places[i + 1]);
    const std::string key = member(i).substr(0, member(i).find(':') + 1);
    check(before + after);
    check(before + "," + member(i) + "," + member(i) + after);
    check(line.substr(0, line.size() - 1) + "," + member(i) + "}");
    check(before + ",\"new\":1," + member(i) + after);
    check("{" + member(i) + "," + line.substr(1));
    if (i > 1) check(kind + "," + member(i) + line.substr(places[1], places[i] - places[1]) + after);
    for (const std::string_view value : kValues) check(before + "," + key + std::string(value) + after);
  }
  for (std::size_t i = 0; i < line.size(); ++i) {
    const auto is_digit = [&](std::size_t at) {
      return std::isdigit(static_cast<unsigned char>(line[at])) != 0;
    };
    const std::string before = line.substr(0, i);
    check(before + " " + line.substr(i));
    check(before + "\\u00" + "0123456789abcdef"[line[i] >> 4 & 7] + "0123456789abcdef"[line[i] & 15] +
          line.substr(i + 1));
    if (!is_digit(i) || is_digit(i - 1)) continue;
    std::size_t end = i;
    while (is_digit(end)) ++end;
    for (const std::string_view value : kValues) check(before + std::string(value) + line.substr(end));
  }
}

}  // namespace rangefinder::plain_lines
