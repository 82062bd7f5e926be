// SPDX-License-Identifier: Apache-2.0
#include "profiler/counters/exact/exact_filter.h"

#include <memory>
#include <string>

#include "tests/catch.h"

using namespace rangefinder;

namespace {

constexpr const char* kScale = "_Z5scalePfi";                  // scale(float*, int)
constexpr const char* kNccl = "_Z24ncclDevKernel_AllReducev";  // ncclDevKernel_AllReduce()

/// Tables with the path model/decoder and one whose name contains a slash.
struct Tables {
  std::unique_ptr<Recorder> recorder = std::make_unique<Recorder>();
  std::uint32_t model = child(0, "model");
  std::uint32_t decoder = child(model, "decoder");
  std::uint32_t slash = child(0, "a/b");
  std::uint32_t scale = recorder->names.intern(kScale);
  std::uint32_t nccl = recorder->names.intern(kNccl);

  std::uint32_t child(std::uint32_t parent, const char* name) const {
    return recorder->paths.child({parent, recorder->names.intern(name), 0});
  }
};

}  // namespace

TEST_CASE("without options everything is measured except kernels that may wait") {
  const Tables t;
  ExactFilter filter({}, *t.recorder);

  CHECK(filter.choose(t.scale, t.decoder) == ExactChoice::measure);
  CHECK(filter.choose(t.scale, 0) == ExactChoice::measure);
  CHECK(filter.choose(0, t.decoder) == ExactChoice::measure);
  CHECK(filter.choose(t.nccl, t.decoder) == ExactChoice::may_wait);
}

TEST_CASE("a glob selects by path, and excludes launches without one") {
  const Tables t;
  Options options;
  options.exact_range = "model/dec*";
  ExactFilter filter(options, *t.recorder);

  CHECK(filter.choose(t.scale, t.decoder) == ExactChoice::measure);
  CHECK(filter.choose(0, t.decoder) == ExactChoice::measure);
  CHECK(filter.choose(t.scale, t.model) == ExactChoice::not_wanted);
  CHECK(filter.choose(t.scale, 0) == ExactChoice::not_wanted);
}

TEST_CASE("a kernel that may wait is reported even if its bytes are not wanted") {
  const Tables t;
  Options options;
  options.exact_range = "model/decoder";
  ExactFilter filter(options, *t.recorder);

  CHECK(filter.choose(t.nccl, t.model) == ExactChoice::may_wait);
}

TEST_CASE("a slash inside a name is no level") {
  const Tables t;
  Options options;
  options.exact_range = "a/b";
  ExactFilter levels(options, *t.recorder);
  options.exact_range = R"(a\/b)";
  ExactFilter escaped(options, *t.recorder);

  CHECK(levels.choose(t.scale, t.slash) == ExactChoice::not_wanted);
  CHECK(escaped.choose(t.scale, t.slash) == ExactChoice::measure);
}

TEST_CASE("a regular expression searches the demangled name, and excludes copies") {
  const Tables t;
  Options options;
  options.exact_kernel = R"(^scale\(float)";
  ExactFilter filter(options, *t.recorder);

  CHECK(filter.choose(t.scale, t.decoder) == ExactChoice::measure);
  CHECK(filter.choose(t.recorder->names.intern("_Z6reducePf"), t.decoder) == ExactChoice::not_wanted);
  CHECK(filter.choose(0, t.decoder) == ExactChoice::not_wanted);
  CHECK(filter.choose(t.nccl, t.decoder) == ExactChoice::may_wait);
}

TEST_CASE("a kernel of --exact-skip counts as one that may wait") {
  const Tables t;
  Options options;
  options.exact_skip = "sca.e";
  ExactFilter filter(options, *t.recorder);

  CHECK(filter.choose(t.scale, t.decoder) == ExactChoice::may_wait);
  CHECK(filter.choose(t.recorder->names.intern("_Z6reducePf"), t.decoder) == ExactChoice::measure);
}

TEST_CASE("a kernel of --communication may wait") {
  const Tables t;
  Options options;
  options.communication = "^scale";

  CHECK(ExactFilter(options, *t.recorder).choose(t.scale, t.decoder) == ExactChoice::may_wait);
}

TEST_CASE("a kernel that was found waiting may wait from then on") {
  const Tables t;
  ExactFilter filter({}, *t.recorder);
  REQUIRE(filter.choose(t.scale, t.decoder) == ExactChoice::measure);

  filter.add_waiter(t.scale);
  filter.add_waiter(0);  // unknown kernel

  CHECK(filter.choose(t.scale, t.decoder) == ExactChoice::may_wait);
  CHECK(filter.choose(0, t.decoder) == ExactChoice::measure);
}

TEST_CASE("kernels of libraries that wait for peers are known by name") {
  for (const char* name :
       {"ncclDevKernel_AllReduce_Sum_f32_RING_LL", "void nvshmemi_transfer(int)", "mscclpp::allreduce<float>",
        "void transformer_engine::userbuffers_fp16()", "void deep_ep::intranode::dispatch()",
        "void vllm::cross_device_reduce_1stage<float, 2>()", "one_shot_all_reduce_kernel"}) {
    INFO(name);
    CHECK(is_known_waiter(name));
  }
  for (const char* name : {"void gemm(float*)", "reduce(float*)", "void at::native::reduce_kernel<512>()"}) {
    INFO(name);
    CHECK_FALSE(is_known_waiter(name));
  }
}

TEST_CASE("names of any length and out-of-range ids are handled") {
  const Tables t;
  Options options;
  options.exact_kernel = "(a|b)*c";  // a matcher's stack grows with the text
  ExactFilter filter(options, *t.recorder);
  const std::uint32_t endless = t.recorder->names.intern(std::string(500'000, 'a'));

  CHECK(filter.choose(endless, t.decoder) == ExactChoice::not_wanted);
  CHECK(filter.choose(NameTable::kMaxNames + 7, PathTable::kMaxPaths + 7) != ExactChoice::unknown);
}
