// SPDX-License-Identifier: Apache-2.0
#include "profiler/options/options.h"

#include <pthread.h>

#include <string>
#include <tuple>
#include <vector>

#include "profiler/options/option_table.h"
#include "tests/catch.h"

using namespace rangefinder;

namespace {

Options read(const std::vector<std::string>& variables) {
  std::vector<const char*> environment;
  for (const std::string& variable : variables) environment.push_back(variable.c_str());
  environment.push_back(nullptr);
  return read_options(environment.data());
}

/// All options except the problems.
auto values(const Options& o) {
  return std::tie(o.out, o.counters, o.counters_requested, o.sample_interval_us, o.sample_cpu_percent,
                  o.metrics, o.exact_at, o.exact_range, o.exact_kernel, o.exact_skip, o.communication,
                  o.exact_batch, o.start, o.capture.by, o.monitor.window_ns, o.monitor.period_ns, o.control,
                  o.children, o.run_pid, o.memory, o.events, o.conditions, o.redact, o.fold_digits,
                  o.segment_bytes, o.max_bytes, o.keep_last, o.buffers, o.flush_ms, o.summary_ms, o.report,
                  o.log, o.cupti, o.record, o.force, o.nvtx_chain, o.manifest);
}

std::string assignment(const OptionRow& option, const std::string& value) {
  return std::string(option.variable) + "=" + value;
}

}  // namespace

TEST_CASE("without variables every option has its default and there are no problems") {
  const Options options = read({"PATH=/bin", "CUDA_VISIBLE_DEVICES=0"});

  CHECK(values(options) == values(Options{}));
  CHECK(options.problems.empty());
}

TEST_CASE("a null environment is an empty one") {
  CHECK(values(read_options(nullptr)) == values(Options{}));
}

TEST_CASE("the default in the table is the default in use") {
  for (const OptionRow& option : kOptions) {
    INFO(option.variable);
    const Options options = read({assignment(option, option.fallback)});

    CHECK(values(options) == values(Options{}));
    CHECK(options.problems.empty());
  }
}

TEST_CASE("the value that a switch of run sets is understood and changes something") {
  for (const OptionRow& option : kOptions) {
    if (*option.switch_value == '\0') continue;
    INFO(option.variable);
    const Options options = read({assignment(option, option.switch_value)});

    CHECK(values(options) != values(Options{}));
    CHECK(options.problems.empty());
  }
}

TEST_CASE("every text variable sets its own option") {
  const Options options = read({"RANGEFINDER_OUT=/tmp/a=b", "RANGEFINDER_REPORT=stderr",
                                "RANGEFINDER_LOG=debug", "RANGEFINDER_CUPTI=c", "RANGEFINDER_RECORD=r",
                                "RANGEFINDER_NVTX_CHAIN=n", "RANGEFINDER_MANIFEST=m"});

  CHECK(options.out == "/tmp/a=b");  // the first '=' ends the name
  CHECK(options.report == "stderr");
  CHECK(options.log == "debug");
  CHECK(options.cupti == "c");
  CHECK(options.record == "r");
  CHECK(options.nvtx_chain == "n");
  CHECK(options.manifest == "m");
  CHECK(options.problems.empty());
}

TEST_CASE("each word of a choice sets its value") {
  const Options options =
      read({"RANGEFINDER_COUNTERS=exact", "RANGEFINDER_EXACT_AT=range", "RANGEFINDER_MEMORY=off",
            "RANGEFINDER_EVENTS=off", "RANGEFINDER_FOLD_DIGITS=on", "RANGEFINDER_KEEP=last",
            "RANGEFINDER_FORCE=on"});

  CHECK(options.counters == CounterMode::exact);
  CHECK(options.exact_at == ExactAt::range);
  CHECK_FALSE(options.memory);
  CHECK_FALSE(options.events);
  CHECK(options.fold_digits);
  CHECK(options.keep_last);
  CHECK(options.force);
}

TEST_CASE("counters are sampled on request, and by auto without counting as requested") {
  const Options requested = read({"RANGEFINDER_COUNTERS=sampled"});
  CHECK(requested.counters == CounterMode::sampled);
  CHECK(requested.counters_requested);

  const Options automatic = read({"RANGEFINDER_COUNTERS=auto"});
  CHECK(automatic.counters == CounterMode::sampled);
  CHECK_FALSE(automatic.counters_requested);
  CHECK(automatic.problems.empty());
  CHECK_FALSE(automatic.gpm);  // only where counters are refused
  const Options by_nvml = read({"RANGEFINDER_COUNTERS=gpm"});
  CHECK(by_nvml.counters == CounterMode::off);
  CHECK(by_nvml.gpm);
  const Options unread = read({"RANGEFINDER_COUNTERS=gpm", "RANGEFINDER_CONDITIONS=off"});
  CHECK_FALSE(unread.gpm);
  CHECK(unread.problems.size() == 1);
}

TEST_CASE("an invalid regular expression is refused") {
  const Options options = read({"RANGEFINDER_EXACT_KERNEL=gemm.*", "RANGEFINDER_EXACT_SKIP=("});

  CHECK(options.exact_kernel == "gemm.*");
  CHECK(options.exact_skip.empty());
  REQUIRE(options.problems.size() == 1);
  CHECK(options.problems[0].find("RANGEFINDER_EXACT_SKIP=( is not understood") == 0);
}

TEST_CASE("sizes given in MiB are kept in bytes") {
  const Options options = read({"RANGEFINDER_SEGMENT_MB=3", "RANGEFINDER_MAX_SIZE_MB=10000"});

  CHECK(options.segment_bytes == 3 * 1024 * 1024);
  CHECK(options.max_bytes == std::uint64_t{10'000} * 1024 * 1024);
}

TEST_CASE("numbers within the limits in the help are accepted, others are refused") {
  struct Bounds {
    const char* variable;
    const char* accepted[2];
    const char* refused[2];
  };
  const Bounds all[] = {
      {"RANGEFINDER_SAMPLE_INTERVAL", {"5", "10000"}, {"4", "10001"}},
      {"RANGEFINDER_SAMPLE_CPU", {"0", "400"}, {"-1", "401"}},
      {"RANGEFINDER_EXACT_BATCH", {"1", "1024"}, {"0", "1025"}},
      {"RANGEFINDER_SEGMENT_MB", {"1", "4096"}, {"0", "4097"}},
      {"RANGEFINDER_BUFFERS", {"4", "512"}, {"3", "513"}},
      {"RANGEFINDER_FLUSH_MS", {"50", "60000"}, {"49", "60001"}},
      {"RANGEFINDER_SUMMARY_MS", {"200", "3600000"}, {"199", "3600001"}},
  };
  for (const Bounds& bounds : all) {
    INFO(bounds.variable);
    const std::string name = std::string(bounds.variable) + "=";
    for (const char* text : bounds.accepted) {
      const Options options = read({name + text});
      CHECK(values(options) != values(Options{}));
      CHECK(options.problems.empty());
    }
    for (const char* text : bounds.refused) {
      const Options options = read({name + text});
      CHECK(values(options) == values(Options{}));
      CHECK(options.problems.size() == 1);
    }
  }
}

TEST_CASE("a summary interval of 0 ms means one summary, at the end") {
  const Options options = read({"RANGEFINDER_SUMMARY_MS=0"});

  CHECK(options.summary_ms == 0);
  CHECK(options.problems.empty());
}

TEST_CASE("a value that is not a whole number is refused with variable, value and limits") {
  for (const char* text : {"many", "-1", "+8", " 8", "8 ", "8.5", "0x10", "99999999999999999999"}) {
    INFO(text);
    const Options options = read({std::string("RANGEFINDER_BUFFERS=") + text});

    CHECK(options.buffers == 32);
    REQUIRE(options.problems.size() == 1);
    CHECK(options.problems[0] ==
          std::string("RANGEFINDER_BUFFERS=") + text +
              " is not understood: expected a whole number from 4 to 512. The default is used.");
  }
}

TEST_CASE("an unknown word for a choice is refused and the default is used") {
  const Options options = read({"RANGEFINDER_COUNTERS=Exact", "RANGEFINDER_KEEP=newest"});

  CHECK(options.counters == CounterMode::off);
  CHECK_FALSE(options.keep_last);
  REQUIRE(options.problems.size() == 2);
  CHECK(options.problems[1] ==
        "RANGEFINDER_COUNTERS=Exact is not understood: expected off, sampled, exact or gpm. The default is "
        "used.");
  CHECK(options.problems[0].find("last or first") != std::string::npos);
}

TEST_CASE("an unknown log level is reported") {
  const Options options = read({"RANGEFINDER_LOG=loud"});

  REQUIRE(options.problems.size() == 1);
  CHECK(options.problems[0].find("RANGEFINDER_LOG=loud") == 0);
}

TEST_CASE("an unknown variable is reported with the nearest known one") {
  const Options options = read({"RANGEFINDER_COUNTER=exact", "RANGEFINDER_OUTPUT=/tmp/x"});

  CHECK(options.counters == CounterMode::off);
  REQUIRE(options.problems.size() == 2);
  CHECK(options.problems[0] ==
        "RANGEFINDER_COUNTER is not a Rangefinder variable; did you mean RANGEFINDER_COUNTERS?");
  CHECK(options.problems[1].find("RANGEFINDER_OUT?") != std::string::npos);
}

TEST_CASE("a name that only begins like an option does not set it") {
  const Options options = read({"RANGEFINDER_OUTER=/tmp/x", "RANGEFINDER_BUFFERS2=64"});

  CHECK(options.out == "rangefinder-%p");
  CHECK(options.buffers == 32);
  CHECK(options.problems.size() == 2);
}

TEST_CASE("the first of two equal variables is used, as in getenv") {
  CHECK(read({"RANGEFINDER_OUT=first", "RANGEFINDER_OUT=second"}).out == "first");
}

TEST_CASE("start and capture together decide whether recording starts by itself") {
  CHECK(read({}).starts_recording());
  CHECK(read({"RANGEFINDER_START=on", "RANGEFINDER_CAPTURE="}).starts_recording());
  CHECK_FALSE(read({"RANGEFINDER_START=off"}).starts_recording());
  CHECK_FALSE(read({"RANGEFINDER_START=ready"}).starts_recording());
  CHECK_FALSE(read({"RANGEFINDER_CAPTURE=cudaProfilerApi"}).starts_recording());
}

TEST_CASE("a capture that is not understood is refused with the accepted forms") {
  const Options text = read({"RANGEFINDER_CAPTURE=now"});
  const Options end = read({"RANGEFINDER_CAPTURE=nvtx:a", "RANGEFINDER_CAPTURE_END=soon"});

  CHECK(text.capture.empty());
  REQUIRE(text.problems.size() == 1);
  CHECK(text.problems[0].find("cudaProfilerApi") != std::string::npos);
  CHECK(end.capture.by == CaptureBy::ranges);
  REQUIRE(end.problems.size() == 1);
  CHECK(end.problems[0].find("repeat:N") != std::string::npos);
}

TEST_CASE("monitor mode is a window and a period, with the cheapest settings by default") {
  const Options options = read({"RANGEFINDER_MONITOR=50ms/2s", "RANGEFINDER_EVENTS=on"});

  CHECK(options.monitor.window_ns == 50'000'000);
  CHECK(options.monitor.period_ns == 2'000'000'000);
  CHECK(options.sample_interval_us == 10'000);
  CHECK((!options.memory && options.events));
  CHECK(options.problems.empty());
  CHECK(read({"RANGEFINDER_MONITOR=on"}).monitor.period_ns == 10'000'000'000);
}

TEST_CASE("a monitor window of more than half a period is refused, and so are exact counters") {
  for (const char* const invalid : {"2s/3s", "1ms/10s", "100ms", "often"}) {
    INFO(invalid);
    const Options options = read({std::string("RANGEFINDER_MONITOR=") + invalid});
    CHECK(!options.monitor.on());
    CHECK(options.problems.size() == 1);
  }
  const Options exact = read({"RANGEFINDER_MONITOR=on", "RANGEFINDER_COUNTERS=exact"});
  CHECK(exact.counters == CounterMode::off);
  CHECK(exact.problems.size() == 1);
}

TEST_CASE("the end of a capture is refused without a capture, and not named beside a refused one") {
  const Options alone = read({"RANGEFINDER_CAPTURE_END=stop"});
  const Options refused = read({"RANGEFINDER_CAPTURE=now", "RANGEFINDER_CAPTURE_END=soon"});

  REQUIRE(alone.problems.size() == 1);
  CHECK(alone.problems[0].find("expected a --capture to go with it") != std::string::npos);
  REQUIRE(refused.problems.size() == 1);
  CHECK(refused.problems[0].find("RANGEFINDER_CAPTURE=now") == 0);
}

TEST_CASE("the help names the limits, words and defaults of its row") {
  std::string all;
  for (const OptionRow& option : kOptions) all += help_text(option) + "\n";

  CHECK(all.find("units of 2 MiB (4 to 512).") != std::string::npos);
  CHECK(all.find("(200 to 3600000); 0: only at the end") != std::string::npos);
  CHECK(all.find("stderr: trace, debug, info, warn or error.") != std::string::npos);
  CHECK(all.find("With --monitor the default is 10000\n") != std::string::npos);
  for (const char* const mark : {"{values}", "{default}", "{monitor}"})
    CHECK(all.find(mark) == std::string::npos);
}

TEST_CASE("a thread with a small stack can read a long regular expression") {
  pthread_attr_t attributes;
  pthread_t thread{};
  pthread_attr_init(&attributes);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  REQUIRE(pthread_attr_setstacksize(&attributes, 65'536) == 0);
#endif
  std::string kernel;
  const auto run = [](void* out) -> void* {
    const std::string variable = "RANGEFINDER_EXACT_KERNEL=" + std::string(255, '(') + std::string(255, ')');
    *static_cast<std::string*>(out) = read({variable}).exact_kernel;
    return nullptr;
  };

  REQUIRE(pthread_create(&thread, &attributes, run, &kernel) == 0);
  REQUIRE(pthread_join(thread, nullptr) == 0);
  pthread_attr_destroy(&attributes);

  CHECK(kernel.size() == 510);
}
