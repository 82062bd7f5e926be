// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/queries/host_stacks.h"

#include "tests/catch.h"
#include "tests/unit/analysis/queries/made_stacks.h"
#include "tools/analysis/queries/stack_places.h"

using namespace rangefinder;
using namespace rangefinder::test;

namespace {

const std::string kDataFile = "/app/data.py", kTrainFile = "/app/train.py";
const std::string kModuleFile = "/opt/venv/lib/python3.11/site-packages/torch/nn/modules/module.py";
const std::string kThreadingFile = "/usr/lib/python3.11/threading.py";
const std::string kLoaderFile = "/opt/venv/lib/python3.11/site-packages/torch/utils/data/dataloader.py";

/// Of samples of one stack, outermost first.
HostFunction only_function(std::initializer_list<MadeFrame> frames) {
  MadeStacks made;
  const std::uint32_t stack = made.stack(frames);
  StackTimes times;
  for (TimeNs at = 0; at < 20; ++at) times.add({at, stack, 10});
  const auto functions = host_functions(made.names, times);
  REQUIRE(functions.size() == 1);
  CHECK(functions[0].samples == 20);
  CHECK(functions[0].ns == 200);
  return functions[0];
}

}  // namespace

TEST_CASE("the innermost line of the user's own code is named") {
  const HostFunction in_library =
      only_function({{"train", kTrainFile, 30}, {"Data.load", kDataFile, 41}, {"call", kModuleFile, 9}});
  CHECK(in_library.text() == "data.py:41 Data.load");
  CHECK(in_library.self_ns == 0);

  const HostFunction own = only_function({{"train", kTrainFile, 30}, {"Data.load", kDataFile, 41}});
  CHECK(own.text() == "data.py:41 Data.load");
  CHECK(own.self_ns == 200);
}

TEST_CASE("without a line of the user's own code the innermost is named") {
  CHECK(only_function({{"run", kThreadingFile, 1}, {"call", kModuleFile, 9}}).text() == "module.py:9 call");
}

TEST_CASE("own code is neither of the standard library nor installed") {
  CHECK(is_own_code("/app/data.py"));
  CHECK(is_own_code("<string>"));
  CHECK(is_own_code("/app/library/python3.py"));
  CHECK(is_own_code(""));
  CHECK_FALSE(is_own_code("/usr/lib/python3.11/json/decoder.py"));
  CHECK_FALSE(is_own_code("/opt/python/lib/python3.13t/json/decoder.py"));
  CHECK_FALSE(is_own_code("/usr/lib/python3/dist-packages/yaml/reader.py"));
  CHECK_FALSE(is_own_code("/app/.venv/lib/python3.9/site-packages/numpy/core.py"));
  CHECK_FALSE(is_own_code("<frozen importlib._bootstrap>"));
  CHECK_FALSE(is_own_code("/usr/share/rangefinder/python/rangefinder/torch/hooks.py"));
}

TEST_CASE("garbage collection and imports are named with the user's line") {
  CHECK(only_function({{"load", kDataFile, 41}, {"(garbage collection)", "", 0}}).text() ==
        "(garbage collection) in data.py:41 load");
  CHECK(only_function({{"load", kDataFile, 41}, {"call", kModuleFile, 9}, {"(garbage collection)", "", 0}})
            .title() == "(garbage collection) in load");
  CHECK(only_function({{"(garbage collection)", "", 0}}).text() == "(garbage collection)");
  CHECK(only_function({{"load", kDataFile, 3}, {"_find_and_load", "<frozen importlib._bootstrap>", 1176}})
            .text() == "import in data.py:3 load");
  CHECK(only_function({{"load", kDataFile, 3},
                       {"_find_and_load", "<frozen importlib._bootstrap>", 1176},
                       {"<module>", kModuleFile, 9}})
            .text() == "import in data.py:3 load");
}

TEST_CASE("a wait in the standard library is named with the user's line") {
  const HostFunction wait = only_function({{"next_batch", kDataFile, 41},
                                           {"get", "/usr/lib/python3.11/queue.py", 171},
                                           {"Condition.wait", kThreadingFile, 327}});
  CHECK(wait.text() == "data.py:41 next_batch, in threading.py:327 Condition.wait");
  CHECK(wait.state == StackState::waits);
  CHECK(only_function({{"_bootstrap", kThreadingFile, 1002}, {"wait", kThreadingFile, 327}}).text() ==
        "threading.py:327 wait");
}

TEST_CASE("a wait for workers of a DataLoader says so") {
  MadeStacks made;
  const std::uint32_t stack = made.stack({{"train", kTrainFile, 30},
                                          {"_BaseDataLoaderIter.__next__", kLoaderFile, 733},
                                          {"_MultiProcessingDataLoaderIter._next_data", kLoaderFile, 1480},
                                          {"_MultiProcessingDataLoaderIter._get_data", kLoaderFile, 1440},
                                          {"_MultiProcessingDataLoaderIter._try_get_data", kLoaderFile, 1284},
                                          {"get", "/usr/lib/python3.11/queue.py", 180},
                                          {"wait", kThreadingFile, 331}});
  StackTimes times;
  for (TimeNs at = 0; at < 20; ++at) times.add({at, stack, 10});

  const auto main = main_function(made.names, times);

  REQUIRE(main);
  CHECK(
      main->text() ==
      "train.py:30 train, in dataloader.py:1284 _MultiProcessingDataLoaderIter._try_get_data (100 % of that "
      "time, of 20 samples)");
  CHECK(
      main->note() ==
      "The process waits for the workers of the DataLoader (_MultiProcessingDataLoaderIter) that train.py:30 "
      "iterates; workers use no CUDA and are not recorded");
}

TEST_CASE("a DataLoader without workers runs the user's code") {
  const HostFunction function = only_function({{"train", kTrainFile, 30},
                                               {"_SingleProcessDataLoaderIter._next_data", kLoaderFile, 789},
                                               {"Images.__getitem__", kDataFile, 12}});
  CHECK(function.text() == "data.py:12 Images.__getitem__");
  CHECK(function.state == StackState::runs);
}

TEST_CASE("functions have the line with most samples, and their shares add up") {
  MadeStacks made;
  const std::uint32_t first = made.stack({{"load", kDataFile, 40}}),
                      second = made.stack({{"load", kDataFile, 41}}),
                      other = made.stack({{"train", kTrainFile, 30}});
  StackTimes times;
  for (TimeNs at = 0; at < 2; ++at) times.add({at, first, 10});
  for (TimeNs at = 0; at < 4; ++at) times.add({at, second, 10});
  for (TimeNs at = 0; at < 4; ++at) times.add({at, other, 10});

  const auto functions = host_functions(made.names, times);

  REQUIRE(functions.size() == 2);
  CHECK(functions[0].text() == "data.py:41 load");
  CHECK(functions[0].ns + functions[1].ns == times.all().ns);
  CHECK(main_function(made.names, times)->text() ==
        "data.py:41 load (60 % of that time, of 10 samples), train.py:30 train (40 %)");
}

TEST_CASE("a second function is named from half of the first's time on") {
  MadeStacks made;
  const std::uint32_t first = made.stack({{"load", kDataFile, 41}}),
                      other = made.stack({{"train", kTrainFile, 30}});
  StackTimes times;
  for (TimeNs at = 0; at < 11; ++at) times.add({at, first, 10});
  for (TimeNs at = 0; at < 5; ++at) times.add({at, other, 10});
  CHECK_FALSE(main_function(made.names, times)->second);
  times.add({20, other, 5});
  const MainFunction main = *main_function(made.names, times);
  REQUIRE(main.second);
  CHECK(main.second->function == "train");
  CHECK(function_json(main)["second"]["samples"] == 6);
}

TEST_CASE("samples weigh their interval") {
  MadeStacks made;
  const std::uint32_t rare = made.stack({{"load", kDataFile, 41}}),
                      often = made.stack({{"train", kTrainFile, 30}});
  StackTimes times;
  times.add({0, rare, 1000});
  for (TimeNs at = 1; at < 12; ++at) times.add({at, often, 10});
  CHECK(main_function(made.names, times)->function.function == "load");
}

TEST_CASE("fewer than ten samples name nothing") {
  MadeStacks made;
  const std::uint32_t stack = made.stack({{"load", kDataFile, 41}});
  StackTimes times;
  for (TimeNs at = 0; at < 9; ++at) times.add({at, stack, 10});
  CHECK_FALSE(main_function(made.names, times));
  times.add({9, stack, 10});
  CHECK(main_function(made.names, times));
}

TEST_CASE("a redacted function has its name only") {
  CHECK(only_function({{"load", "", 0}}).text() == "load");
}

TEST_CASE("a stack whose caller is unknown or no smaller is outermost") {
  StackNames names;
  names.add(FrameRecord{1, "load", "/app/data.py", 41});
  names.add(StackRecord{2, 7, 1});  // unknown
  names.add(StackRecord{3, 3, 1});
  names.add(StackRecord{4, 5, 1});
  names.add(StackRecord{5, 4, 1});
  const auto depth = [&names](std::uint32_t stack) {
    int out = 0;
    names.each_stack(stack, [&out](std::uint32_t, std::uint32_t) { ++out; });
    return out;
  };
  CHECK(depth(2) == 1);
  CHECK(depth(3) == 1);
  CHECK(depth(4) == 1);
  CHECK(depth(5) == 2);
  CHECK(depth(99) == 0);
}
