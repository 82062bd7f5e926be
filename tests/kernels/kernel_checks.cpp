// SPDX-License-Identifier: Apache-2.0
//
// Each launcher against its reference.   kernel_checks [OP…] [--share K/N]
// Prints a line per op, then the failed cases. Of N shares, the K-th checks every N-th case from the K-th on.
// Exit codes: 0; 1 a case failed; 2 unknown op or share; 77 no GPU.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "tests/kernels/check.h"

namespace rangefinder::kernel_checks {
namespace {

constexpr std::size_t kGuardBytes = 4096;
constexpr int kPoison = 0xFF;
constexpr int kSkipped = 77;

void require(cudaError_t status, const char* what) {
  if (status != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(status));
}

bool is_poison(const std::byte* bytes, std::size_t count) {
  return std::all_of(bytes, bytes + count, [](std::byte byte) { return byte == std::byte{kPoison}; });
}

/// "K/N", 1 <= K <= N; `of` is 0 for any other text.
Share share_from(const char* text) {
  Share share{0, 0};
  int length = 0;
  const int read = std::sscanf(text, "%d/%d%n", &share.number, &share.of, &length);
  const bool is_one = read == 2 && text[length] == '\0' && share.number >= 1 && share.number <= share.of;
  return is_one ? Share{share.number - 1, share.of} : Share{0, 0};
}

int run_checks(const std::vector<Check>& checks, Share share) {
  std::vector<std::string> failures;
  for (const Check& check : checks) {
    Report report(share);
    try {
      check.run(report);
      if (report.passed() == 0 && report.failures().empty()) report.fail("all", "no case ran");
    } catch (const std::exception& error) {
      report.fail("stopped", error.what());
    }
    std::printf("%-24s %5d passed %5zu failed\n", check.op, report.passed(), report.failures().size());
    for (const std::string& failure : report.failures())
      failures.push_back(std::string(check.op) + " " + failure);
  }
  for (const std::string& failure : failures) std::printf("FAILED %s\n", failure.c_str());
  return failures.empty() ? 0 : 1;
}

}  // namespace

std::vector<Check>& registered_checks() {
  static std::vector<Check> checks;
  return checks;
}

GuardedBuffer::GuardedBuffer(std::size_t bytes) : bytes_(bytes) {
  void* memory = nullptr;
  require(cudaMalloc(&memory, bytes + 2 * kGuardBytes), "cudaMalloc");
  base_ = static_cast<std::byte*>(memory);
  require(cudaMemset(base_, kPoison, bytes + 2 * kGuardBytes), "cudaMemset");
  require(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

GuardedBuffer::~GuardedBuffer() {
  cudaFree(base_);
}

void* GuardedBuffer::data() const {
  return base_ + kGuardBytes;
}

void GuardedBuffer::upload(const void* host, std::size_t bytes) {
  if (bytes > bytes_) throw std::logic_error("upload beyond the buffer");
  require(cudaMemcpy(data(), host, bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
}

void GuardedBuffer::upload_floats(ElementType element, const std::vector<float>& values) {
  std::vector<std::byte> stored(values.size() * kernels::element_bytes(element));
  kernels::convert_from_fp32(element, values.data(), stored.data(), values.size());
  upload(stored.data(), stored.size());
}

std::vector<std::byte> GuardedBuffer::content() const {
  std::vector<std::byte> read(bytes_);
  require(cudaMemcpy(read.data(), data(), bytes_, cudaMemcpyDeviceToHost), "cudaMemcpy");
  return read;
}

std::vector<float> GuardedBuffer::floats(ElementType element, std::size_t count) const {
  if (count * kernels::element_bytes(element) > bytes_) throw std::logic_error("read beyond the buffer");
  std::vector<float> values(count);
  kernels::convert_to_fp32(element, content().data(), values.data(), count);
  return values;
}

bool GuardedBuffer::guards_are_intact() const {
  std::vector<std::byte> guards(2 * kGuardBytes);
  require(cudaMemcpy(guards.data(), base_, kGuardBytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
  require(cudaMemcpy(guards.data() + kGuardBytes, base_ + kGuardBytes + bytes_, kGuardBytes,
                     cudaMemcpyDeviceToHost),
          "cudaMemcpy");
  return is_poison(guards.data(), guards.size());
}

std::vector<float> random_values(ElementType element, std::size_t count, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::vector<float> values(count);
  for (float& value : values) {
    const double unit = static_cast<double>(generator() >> 11) * 0x1p-53;
    value = kernels::rounded_to(element, static_cast<float>(2 * unit - 1));
  }
  return values;
}

std::string compare(const std::vector<float>& actual, const std::vector<float>& expected,
                    Tolerance tolerance) {
  if (actual.size() != expected.size()) return "sizes differ";
  double worst = 0;
  std::string text;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const double bound = tolerance.absolute + tolerance.relative * std::abs(static_cast<double>(expected[i]));
    const double error = std::abs(static_cast<double>(actual[i]) - static_cast<double>(expected[i]));
    const bool both_nan = std::isnan(actual[i]) && std::isnan(expected[i]);
    if (both_nan || actual[i] == expected[i] || error <= bound) continue;
    // NaN counts as the largest error, so that the message shows it.
    const double excess = std::isnan(error) ? HUGE_VAL : error / std::max(bound, 1e-30);
    if (excess <= worst) continue;
    worst = excess;
    char line[160];
    std::snprintf(line, sizeof line, "element %zu is %.9g, expected %.9g, bound %.3g", i,
                  static_cast<double>(actual[i]), static_cast<double>(expected[i]), bound);
    text = line;
  }
  return text;
}

std::string launch_and_capture(const std::function<cudaError_t(cudaStream_t)>& launch,
                               const std::function<void()>& between) {
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  std::string failed;
  const auto step = [&](cudaError_t status, const char* what) {
    if (status != cudaSuccess && failed.empty())
      failed = std::string(what) + ": " + cudaGetErrorString(status);
    return failed.empty();
  };
  step(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate") &&
      step(launch(stream), "launch") && step(cudaStreamSynchronize(stream), "after the launch");
  if (failed.empty() && between) between();
  if (failed.empty() && step(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "begin capture")) {
    step(launch(stream), "captured launch");
    step(cudaStreamEndCapture(stream, &graph), "end capture");
    step(graph != nullptr ? cudaGraphInstantiate(&executable, graph, 0) : cudaErrorInvalidValue,
         "instantiate") &&
        step(cudaGraphLaunch(executable, stream), "graph launch") &&
        step(cudaStreamSynchronize(stream), "after the graph");
  }
  if (executable != nullptr) cudaGraphExecDestroy(executable);
  if (graph != nullptr) cudaGraphDestroy(graph);
  if (stream != nullptr) cudaStreamDestroy(stream);
  return failed;
}

}  // namespace rangefinder::kernel_checks

int main(int argc, char** argv) {
  using namespace rangefinder::kernel_checks;
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::printf("skipped: there is no GPU\n");
    return kSkipped;
  }
  Share share;
  if (argc > 2 && std::strcmp(argv[argc - 2], "--share") == 0) {
    share = share_from(argv[argc - 1]);
    argc -= 2;
  }
  std::vector<Check> wanted;
  for (const Check& check : registered_checks()) {
    const auto is_named = [&](const char* name) { return std::strcmp(name, check.op) == 0; };
    if (argc == 1 || std::any_of(argv + 1, argv + argc, is_named)) wanted.push_back(check);
  }
  if (share.of == 0 || (argc > 1 && wanted.size() != static_cast<std::size_t>(argc - 1))) {
    std::printf("unknown op or share, or one named twice\n");
    return 2;
  }
  std::sort(wanted.begin(), wanted.end(),
            [](const Check& a, const Check& b) { return std::strcmp(a.op, b.op) < 0; });
  return run_checks(wanted, share);
}
