// SPDX-License-Identifier: Apache-2.0
//
// Property: whatever stands in an activity buffer, decoding it through libcupti's own
// iterator ends, reads nothing beyond the valid bytes (red under AddressSanitizer), and
// gives records that can be written and read again.
//
// Buffers are made of CUPTI's structs, or taken from recorded runs, and then spoiled: bytes changed, words
// replaced by extremes, records cut, doubled and swapped. Pointers are set right again afterwards: CUPTI
// gives valid ones, and nothing could check them.
#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "profiler/activity/activity_decoder.h"
#include "profiler/cupti/loader.h"
#include "schema/write_line.h"
#include "tests/property/cases.h"
#include "tests/property/recorded_buffers.h"
#include "tests/unit/activity/activity_buffer.h"

using namespace rangefinder;
using property::Random;

namespace {

constexpr char kName[] = "_Z3addPfS_i";

/// Writes what it gets and counts it.
class WritingSink final : public RecordSink {
 public:
  void on_kernel(const KernelActivity& kernel) override {
    count(KernelRecord{kernel.work, 1, 1});
    count(kernel.config);
    bad_ = bad_ || std::strcmp(kernel.name, kName) != 0;
  }
  void on_memcpy(MemcpyRecord copy) override { count(copy); }
  void on_memset(MemsetRecord memset) override { count(memset); }
  void on_graph(GraphRecord graph) override { count(graph); }
  void on_overhead(OverheadRecord overhead, void*) override { count(overhead); }
  void on_context(const ContextRecord& context) override { count(context); }
  void on_stream(const StreamRecord& stream) override { count(stream); }

  [[nodiscard]] bool bad() const { return bad_; }
  [[nodiscard]] std::uint64_t records() const { return records_; }

 private:
  template <typename Record>
  void count(const Record& record) {
    text_.clear();
    write_line(text_, record);
    if constexpr (requires { record.work; }) {
      // Times are both there and in order, or both absent.
      const GpuWork& work = record.work;
      bad_ = bad_ || (work.start_ns == kNoTime) != (work.end_ns == kNoTime) || work.end_ns < work.start_ns;
    }
    bad_ = bad_ || text_.empty() || text_.back() != '\n';
    ++records_;
  }
  std::string text_;
  std::uint64_t records_ = 0;
  bool bad_ = false;
};

void append_any(test::ActivityBuffer& buffer, Random& random) {
  switch (random.below(7)) {
    case 0:
      return buffer.append(test::memcpy_htod(random.any()));
    case 1:
      return buffer.append(test::memcpy_peer(0, 1));
    case 2:
      return buffer.append(test::memset_of(random.any()));
    case 3:
      return buffer.append(test::overhead(CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING, 3, nullptr));
    case 4:
      return buffer.append(test::context(1, 0));
    case 5:
      return buffer.append(test::stream(7, 1));
    default:
      return buffer.append(test::kernel(kName, static_cast<std::uint32_t>(random.any())));
  }
}

/// The bytes of a buffer while they are being spoiled, always on 8 bytes.
class Bytes {
 public:
  explicit Bytes(std::vector<std::uint8_t> bytes) : bytes_(std::move(bytes)) {}

  void corrupt(Random& random) {
    if (bytes_.empty()) return;
    static constexpr std::uint32_t kExtremes[] = {0, 1, 0x7fff'ffff, 0x8000'0000, 0xffff'ffff};
    const std::size_t word = random.below(bytes_.size() / 4) * 4;
    switch (random.below(6)) {
      case 0:
        bytes_[random.below(bytes_.size())] = static_cast<std::uint8_t>(random.any());
        break;
      case 1:
        std::memcpy(&bytes_[word], &kExtremes[random.below(std::size(kExtremes))], 4);
        break;
      case 2:
        bytes_.resize(random.below(bytes_.size() + 1) / 8 * 8);
        break;   // cut
      case 3: {  // a part of it again, behind it
        const std::size_t from = random.below(bytes_.size()) / 8 * 8;
        const std::vector<std::uint8_t> part(bytes_.begin() + static_cast<std::ptrdiff_t>(from),
                                             bytes_.end());
        if (bytes_.size() < 16'384) bytes_.insert(bytes_.end(), part.begin(), part.end());
        break;
      }
      case 4:
        set_kind(random);
        break;
      default:
        std::rotate(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(word / 8 * 8), bytes_.end());
    }
  }

  /// A copy of exactly this size, so that AddressSanitizer guards both its ends.
  [[nodiscard]] std::unique_ptr<std::uint64_t[]> exact_copy() const {
    auto copy = std::make_unique<std::uint64_t[]>(bytes_.size() / 8);
    std::copy(bytes_.begin(), bytes_.end(), reinterpret_cast<std::uint8_t*>(copy.get()));
    return copy;
  }
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }

 private:
  void set_kind(Random& random) {
    const auto kind = static_cast<std::uint32_t>(random.below(CUPTI_ACTIVITY_KIND_COUNT + 2));
    std::memcpy(&bytes_[random.below(bytes_.size() / 8) * 8], &kind, 4);
  }
  std::vector<std::uint8_t> bytes_;
};

/// Sets the pointers of all records right, finding the records as the decoder does.
void mend_pointers(const CuptiFunctions& cupti, std::uint8_t* data, std::size_t bytes) {
  CUpti_Activity* record = nullptr;
  while (cupti.ActivityGetNextRecord(data, bytes, &record) == CUPTI_SUCCESS && record != nullptr) {
    std::uint32_t kind = 0;
    std::memcpy(&kind, &record->kind, sizeof(kind));  // it may be no value of the enumeration
    if (kind == CUPTI_ACTIVITY_KIND_KERNEL || kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
      reinterpret_cast<CUpti_ActivityKernel10*>(record)->name = kName;
    }
  }
}

using Buffers = std::vector<std::vector<std::uint8_t>>;

/// Made by hand, or one of `recorded` in half of the cases, if there are any.
Bytes any_buffer(Random& random, const Buffers& recorded) {
  if (!recorded.empty() && random.one_in(2)) return Bytes(recorded[random.below(recorded.size())]);
  test::ActivityBuffer buffer;
  for (std::size_t i = random.below(12); i > 0; --i) append_any(buffer, random);
  return Bytes({buffer.data(), buffer.data() + buffer.bytes()});
}

/// False: something is wrong with this case.
bool check_case(const CuptiFunctions& cupti, Random& random, const Buffers& recorded) {
  Bytes bytes = any_buffer(random, recorded);
  for (std::size_t i = random.below(8); i > 0; --i) bytes.corrupt(random);

  const auto data = bytes.exact_copy();
  auto* const start = reinterpret_cast<std::uint8_t*>(data.get());
  mend_pointers(cupti, start, bytes.size());
  WritingSink sink;
  const DecodeResult result = decode_activity(cupti, start, bytes.size(), sink);

  // The smallest record is 8 bytes: more of them than fit would be a walk in circles.
  return !sink.bad() && result.records <= bytes.size() / 8 && result.unknown <= result.records;
}

}  // namespace

int main(int argc, char** argv) {
  const property::Cases cases(argc, argv);
  static CuptiLibrary library;
  CuptiFailure failure;
  if (!load_cupti({}, library, failure)) {
    std::fprintf(stderr, "skipped: %s\n", failure.reason.c_str());
    return property::kSkipped;
  }
  const Buffers recorded = property::recorded_buffers(RANGEFINDER_TEST_RECORDINGS);
  std::printf("%zu recorded buffers\n", recorded.size());
  for (std::uint64_t number = 0; number < cases.count; ++number) {
    Random random(cases.seed, number);
    if (!check_case(library.functions, random, recorded)) {
      std::fprintf(stderr, "case %llu is wrong\n", static_cast<unsigned long long>(number));
      return 1;
    }
  }
  return 0;
}
