// SPDX-License-Identifier: Apache-2.0
//
// Property: whatever an activity buffer holds, decoding it through libcupti's own iterator ends, reads
// nothing beyond the valid bytes (AddressSanitizer reports it), and gives records that can be written.
//
// Buffers are made of CUPTI's structs, or taken from recorded runs, and then damaged: bytes changed, words
// replaced by extremes, records cut, doubled and swapped. Pointers are made valid again afterwards: CUPTI
// gives valid ones, and nothing could check them.
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

#include "profiler/activity/activity_decoder.h"
#include "profiler/cupti/loader.h"
#include "profiler/drain/recording.h"
#include "schema/write_line.h"
#include "tests/property/fuzz.h"
#include "tests/unit/activity/activity_buffer.h"
#include "tests/unit/analysis/model/trace_on_disk.h"

namespace rangefinder::fuzz {
namespace {

constexpr char kKernelName[] = "_Z3addPfS_i";

/// Writes each record and checks what is written.
class WritingSink final : public RecordSink {
 public:
  void on_kernel(const KernelActivity& kernel) override {
    write(KernelRecord{kernel.work, 1, 1});
    write(kernel.config);
    bad_ = bad_ || std::strcmp(kernel.name, kKernelName) != 0;
  }
  void on_memcpy(MemcpyRecord copy) override { write(copy); }
  void on_memset(MemsetRecord memset) override { write(memset); }
  void on_graph(GraphRecord graph) override { write(graph); }
  void on_host_function(HostFunctionRecord function) override { write(function); }
  void on_overhead(OverheadRecord overhead, void*) override { write(overhead); }
  void on_context(const ContextRecord& context) override { write(context); }
  void on_stream(const StreamRecord& stream) override { write(stream); }

  [[nodiscard]] bool bad() const { return bad_; }

 private:
  template <typename Record>
  void write(const Record& record) {
    text_.clear();
    write_line(text_, record);
    if constexpr (requires { record.work; }) {
      // Times are both there and in order, or both absent.
      const GpuWork& work = record.work;
      bad_ = bad_ || (work.start_ns == kNoTime) != (work.end_ns == kNoTime) || work.end_ns < work.start_ns;
    }
    bad_ = bad_ || text_.empty() || text_.back() != '\n';
  }
  std::string text_;
  bool bad_ = false;
};

void append_any(test::ActivityBuffer& buffer, Random& random) {
  const std::size_t kind = random.below(7);
  if (kind == 0) return buffer.append(test::memcpy_htod(random.any()));
  if (kind == 1) return buffer.append(test::memcpy_peer(0, 1));
  if (kind == 2) return buffer.append(test::memset_of(random.any()));
  if (kind == 3)
    return buffer.append(test::overhead(CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING, 3, nullptr));
  if (kind == 4) return buffer.append(test::context(1, 0));
  if (kind == 5) return buffer.append(test::stream(7, 1));
  buffer.append(test::kernel(kKernelName, static_cast<std::uint32_t>(random.any())));
}

/// The bytes of a buffer while they are being damaged; records stay aligned to 8 bytes.
class ActivityBytes {
 public:
  explicit ActivityBytes(std::vector<std::uint8_t> bytes) : bytes_(std::move(bytes)) {}

  void corrupt(Random& random) {
    if (bytes_.empty()) return;
    static constexpr std::uint32_t kWords[] = {0, 1, 0x7fff'ffff, 0x8000'0000, 0xffff'ffff};
    const std::size_t word = random.below(bytes_.size() / 4) * 4;
    switch (random.below(6)) {
      case 0:
        bytes_[random.below(bytes_.size())] = static_cast<std::uint8_t>(random.any());
        break;
      case 1:
        std::memcpy(&bytes_[word], &random.element(kWords), 4);
        break;
      case 2:
        bytes_.resize(random.below(bytes_.size() + 1) / 8 * 8);
        break;
      case 3: {  // a part of it again, at the end
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
      reinterpret_cast<CUpti_ActivityKernel10*>(record)->name = kKernelName;
    }
  }
}

/// A recording in a file that is gone when closed.
RecordingReader::File decompressed(const std::filesystem::path& path) {
  const std::string packed = test::content(path);
  std::string whole(ZSTD_getFrameContentSize(packed.data(), packed.size()), '\0');
  RecordingReader::File out(std::tmpfile(), &std::fclose);
  if (!out || ZSTD_decompress(whole.data(), whole.size(), packed.data(), packed.size()) != whole.size())
    throw std::runtime_error("cannot decompress " + path.string());
  std::fwrite(whole.data(), 1, whole.size(), out.get());
  std::rewind(out.get());
  return out;
}

/// The beginnings (up to 8 KiB) of up to 64 buffers of each recording.
std::vector<std::vector<std::uint8_t>> recorded_buffers() {
  constexpr std::size_t kMaxBytes = 8192, kMaxBuffers = 64;
  std::vector<std::vector<std::uint8_t>> out;
  for (const auto& entry : std::filesystem::directory_iterator(RANGEFINDER_TEST_RECORDINGS)) {
    const std::filesystem::path file = entry.path() / "recording.zst";
    if (!std::filesystem::exists(file)) continue;
    RecordingReader reader(decompressed(file), file);
    RecordingReader::Chunk chunk;
    for (std::size_t taken = 0; taken < kMaxBuffers && reader.next(chunk);) {
      if (chunk.kind != ChunkKind::activity) continue;
      chunk.bytes.resize(std::min(chunk.bytes.size() / 8 * 8, kMaxBytes));
      out.push_back(chunk.bytes);
      ++taken;
    }
  }
  return out;
}

class ActivityFuzzer final : public Fuzzer {
 public:
  ActivityFuzzer() {
    CuptiFailure failure;
    if (!load_cupti({}, library_, failure)) throw Skipped(failure.reason);
    recorded_ = recorded_buffers();
    if (recorded_.empty()) throw std::runtime_error("no recordings in " RANGEFINDER_TEST_RECORDINGS);
  }

  std::string check(Random& random) override {
    ActivityBytes bytes = any_buffer(random);
    for (std::size_t i = random.below(8); i > 0; --i) bytes.corrupt(random);
    const auto data = bytes.exact_copy();
    auto* const start = reinterpret_cast<std::uint8_t*>(data.get());
    mend_pointers(library_.functions, start, bytes.size());

    WritingSink sink;
    const DecodeResult result = decode_activity(library_.functions, start, bytes.size(), sink);

    if (sink.bad()) return "a record is wrong";
    // The smallest record is 8 bytes: more of them than fit means that the iterator went in circles.
    return result.records <= bytes.size() / 8 && result.unknown <= result.records ? "" : "too many records";
  }

 private:
  [[nodiscard]] ActivityBytes any_buffer(Random& random) const {
    if (random.one_in(2)) return ActivityBytes(random.element(recorded_));
    test::ActivityBuffer buffer;
    for (std::size_t i = random.below(12); i > 0; --i) append_any(buffer, random);
    return ActivityBytes({buffer.data(), buffer.data() + buffer.bytes()});
  }

  CuptiLibrary library_;
  std::vector<std::vector<std::uint8_t>> recorded_;
};

}  // namespace

MakeFuzzer* const make_activity = &made<ActivityFuzzer>;

}  // namespace rangefinder::fuzz
