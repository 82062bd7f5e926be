// SPDX-License-Identifier: Apache-2.0
#include "profiler/output/trace_writer.h"

#include <memory>
#include <set>
#include <string>

#include "profiler/events/module_chain.h"
#include "tests/catch.h"
#include "tests/unit/output/full_disk.h"
#include "tests/unit/output/written_trace.h"

using namespace rangefinder;
using namespace rangefinder::test;

namespace {

/// A writer over a temporary folder, with two paths: model and, below it, model/layer.
struct Writing {
  TemporaryFolder folder;
  std::unique_ptr<Recorder> recorder_owner = std::make_unique<Recorder>();
  Recorder& recorder = *recorder_owner;
  SegmentLog segments{{std::uint64_t{256} << 20, 0, false}, recorder.loss};
  KernelNames kernels{recorder.loss};
  TraceWriter writer{recorder, segments, kernels};
  std::uint32_t domain = recorder.add_domain(recorder.names.intern("torch"));
  std::uint32_t model = recorder.paths.child({0, recorder.names.intern("model"), 0});
  std::uint32_t layer = recorder.paths.child({model, recorder.names.intern("layer"), domain});

  Writing() {
    REQUIRE(segments.open_folder(folder.path(), false));
    writer.set_header(header());
  }
  [[nodiscard]] WrittenTrace read() {
    segments.flush();
    return WrittenTrace(folder.path());
  }
  [[nodiscard]] KernelRecord kernel_in(std::uint32_t path, std::uint32_t stream = 7) {
    KernelRecord record = kernel(1, path, 10, 20);
    record.name = kernels.intern("_Z3addPf");
    record.config = kernels.intern(config(0));
    record.work.stream = stream;
    return record;
  }
};

LaunchRecord launch_on(std::uint32_t thread, std::uint32_t path) {
  LaunchRecord record = launch(1, path);
  record.host.thread = thread;
  return record;
}

}  // namespace

TEST_CASE("a metric set's line comes before its first exact line, once per segment") {
  Writing trace;
  trace.writer.add_metric_set({1, "bytes", {"dram__bytes_read.sum"}});
  trace.writer.add_metric_set({2, "unused", {}});
  ExactRecord exact;
  exact.launch = launch_on(0, 0);
  exact.kind = WorkKind::memset;
  exact.measured = true;
  exact.values = {5};
  trace.writer.write(exact);
  exact.metric_set = 1;
  trace.writer.write(exact);
  trace.writer.write(exact);
  trace.segments.rotate();
  trace.writer.write(exact);

  CHECK(trace.read().kinds() == "header gpu exact metric_set exact exact header gpu metric_set exact");
}

TEST_CASE("a kernel's line follows the header, its paths from the outside in, its name and configuration") {
  Writing trace;

  trace.writer.write(trace.kernel_in(trace.layer));

  const WrittenTrace written = trace.read();
  CHECK(written.kinds() == "header gpu path domain path kernel_name config kernel");
  const auto paths = written.all<PathRecord>();
  CHECK(paths[0].name == "model");
  CHECK(paths[1].name == "layer");
  CHECK(paths[1].parent == paths[0].id);
  CHECK(paths[1].domain == trace.domain);
  CHECK(written.only<DomainRecord>().name == "torch");
  CHECK(written.only<KernelNameRecord>().demangled == "add(float*)");
  CHECK(written.only<KernelRecord>().name == written.only<KernelNameRecord>().id);
  CHECK(written.only<KernelRecord>().config == written.only<LaunchConfigRecord>().id);
}

TEST_CASE("a name has one line per segment") {
  Writing trace;

  for (int i = 0; i < 3; ++i) trace.writer.write(trace.kernel_in(trace.layer));
  trace.writer.write(trace.kernel_in(trace.model));

  CHECK(trace.read().kinds() == "header gpu path domain path kernel_name config kernel kernel kernel kernel");
}

TEST_CASE("the next segment repeats the names that its lines need, and no others") {
  Writing trace;
  trace.writer.add_gpu(gpu());
  trace.writer.add_context({1, 0, 7, false});
  trace.writer.add_category({trace.domain, 3, "rangefinder.bytes"});
  trace.writer.add_payload_schema({17, 0, R"({"fields":[]})"});
  trace.writer.write(trace.kernel_in(trace.layer));
  trace.writer.write(launch_on(42, trace.layer));
  trace.segments.rotate();

  trace.writer.write(trace.kernel_in(trace.model));

  CHECK(trace.read().kinds() ==
        "header gpu context domain category payload_schema path path kernel_name config kernel thread launch "
        "header gpu context domain category payload_schema path kernel_name config kernel");
}

TEST_CASE("a module's source lines follow its path, once per segment") {
  Writing trace;
  const auto name = [&trace](const char* text) { return trace.recorder.names.intern(text); };
  const std::uint64_t module = module_chain(0, name("layer"));
  trace.writer.add_module_source(trace.layer, module,
                                 {name("/app/model.py"), 214, name("/app/train.py"), 30});
  trace.writer.write(launch_on(0, trace.layer));
  trace.writer.write(launch_on(0, trace.layer));
  trace.segments.rotate();
  trace.writer.write(launch_on(0, trace.layer));

  const WrittenTrace written = trace.read();
  CHECK(written.kinds() ==
        "header path domain path module_source launch launch header path domain path module_source "
        "launch");
  const ModuleSourceRecord source = written.all<ModuleSourceRecord>().at(1);
  CHECK(source.path == trace.layer);
  CHECK(source.class_file == "/app/model.py");
  CHECK(source.class_line == 214);
  CHECK(source.call_file == "/app/train.py");
  CHECK(source.call_line == 30);
}

TEST_CASE("source lines of a path that was written already have their line at once, and only one") {
  Writing trace;
  trace.writer.write(launch_on(0, trace.layer));
  const std::uint32_t file = trace.recorder.names.intern("/app/model.py");
  const std::uint64_t module = module_chain(0, trace.recorder.names.intern("layer"));
  for (int i = 0; i < 2; ++i) trace.writer.add_module_source(trace.layer, module, {file, 214, 0, 0});

  const WrittenTrace written = trace.read();
  CHECK(written.kinds() == "header path domain path launch module_source");
  CHECK(written.only<ModuleSourceRecord>().call_file.empty());
}

TEST_CASE("origins of a kernel follow its name, once per segment") {
  Writing trace;
  const auto name = [&trace](const char* text) { return trace.recorder.names.intern(text); };
  const KernelRecord kernel = trace.kernel_in(trace.model);
  const std::uint32_t mangled = name(trace.kernels.name(kernel.name).mangled.c_str());
  const GeneratedKernel first{mangled, name("silu, mul"), name("/app/model.py"), 220};
  const GeneratedKernel second{mangled, name("pow"), 0, 0};
  for (int i = 0; i < 2; ++i) trace.writer.add_kernel_origin(trace.layer, first);
  trace.writer.write(kernel);
  trace.writer.add_kernel_origin(trace.model, second);
  trace.writer.add_kernel_origin(trace.model, second);
  trace.writer.add_kernel_origin(trace.layer, {name("never_launched"), name("add"), 0, 0});
  trace.segments.rotate();
  trace.writer.write(kernel);

  const WrittenTrace written = trace.read();
  CHECK(written.kinds() ==
        "header gpu path kernel_name domain path kernel_origin config kernel kernel_origin "
        "header gpu path kernel_name domain path kernel_origin kernel_origin config kernel");
  const KernelOriginRecord origin = written.all<KernelOriginRecord>().at(2);
  CHECK(origin.kernel == kernel.name);
  CHECK(origin.path == trace.layer);
  CHECK(origin.operators == "silu, mul");
  CHECK(origin.file + ":" + std::to_string(origin.line) == "/app/model.py:220");
  CHECK(written.all<KernelOriginRecord>().at(3).file.empty());
}

TEST_CASE("headers number the segments and repeat the other facts") {
  Writing trace;
  trace.writer.write(trace.kernel_in(0));
  trace.segments.rotate();
  trace.writer.write(trace.kernel_in(0));

  const auto headers = trace.read().all<Header>();

  REQUIRE(headers.size() == 2);
  CHECK(headers[0].segment == 0);
  CHECK(headers[1].segment == 1);
  CHECK(headers[1].base_unix_ns == headers[0].base_unix_ns);
  CHECK(headers[1].pid == headers[0].pid);
}

TEST_CASE("names whose lines could not be written are written again before they are used") {
  Writing trace;
  trace.writer.write(trace.kernel_in(trace.model));
  REQUIRE(trace.segments.flush());
  {
    const FullDisk full(1);
    trace.writer.write(trace.kernel_in(trace.layer));
    CHECK_FALSE(trace.segments.flush());
  }

  trace.writer.write(trace.kernel_in(trace.layer));

  CHECK(trace.read().kinds() ==
        "header gpu path kernel_name config kernel header gpu path domain path kernel_name config kernel");
  CHECK(trace.recorder.loss.get(Loss::lines_not_written) == 3);  // domain, path, kernel
}

TEST_CASE("threads are named once per segment, before their first line, and again when renamed") {
  Writing trace;
  trace.writer.name_thread(42, "loader");
  trace.writer.write(launch_on(42, 0));
  trace.writer.write(launch_on(42, 0));
  trace.writer.name_thread(42, "loader");
  trace.writer.write(launch_on(42, 0));
  trace.writer.name_thread(42, "writer");
  trace.writer.write(launch_on(42, 0));

  const WrittenTrace written = trace.read();
  CHECK(written.kinds() == "header thread launch launch launch thread launch");
  CHECK(written.all<ThreadRecord>()[0].name == "loader");
  CHECK(written.all<ThreadRecord>()[1].name == "writer");
}

TEST_CASE("a thread without a name has a line too") {
  Writing trace;

  trace.writer.write(launch_on(42, 0));

  CHECK(trace.read().only<ThreadRecord>().id == 42);
}

TEST_CASE("the names of a range's path, domain, text and both threads come before it") {
  Writing trace;
  RangeRecord record = range(1, trace.model, 10, 20);
  record.domain = trace.domain;
  record.name = trace.recorder.names.intern("request");
  record.thread = 1;
  record.end_thread = 2;

  trace.writer.write(record);

  const WrittenTrace written = trace.read();
  CHECK(written.kinds() == "header path domain name thread thread range");
  CHECK(written.only<NameRecord>().text == "request");
  CHECK(written.only<RangeRecord>().end_thread == 2);
}

TEST_CASE("a stream's line comes with the first work on it, once per segment") {
  Writing trace;
  trace.writer.add_stream({7, 1, -5, true});
  trace.writer.add_stream({8, 1, 0, false});

  trace.writer.write(trace.kernel_in(0, 7));
  trace.writer.write(trace.kernel_in(0, 7));
  trace.writer.write(trace.kernel_in(0, 9));  // an unknown stream

  const WrittenTrace written = trace.read();
  CHECK(written.kinds() == "header gpu stream kernel_name config kernel kernel kernel");
  CHECK(written.only<StreamRecord>().priority == -5);
}

TEST_CASE("event lines are counted by kind; lines of names and about the trace are not") {
  Writing trace;
  trace.writer.write(trace.kernel_in(trace.layer));
  trace.writer.write(trace.kernel_in(trace.layer));
  AllocRecord free;
  free.is_free = true;
  trace.writer.write(free);
  trace.writer.write(AllocRecord{});
  EventRecord wait;
  wait.wait = true;
  trace.writer.write(wait);
  trace.writer.write(ClockRecord{1, 1});
  trace.writer.write(FlushRecord{});

  const std::vector<std::pair<std::string, std::uint64_t>> expected{
      {"kernel", 2}, {"alloc", 1}, {"free", 1}, {"stream_wait", 1}};
  CHECK(trace.writer.counts() == expected);
  CHECK(trace.writer.records() == 5);
}

TEST_CASE("in many segments, the names of every line come earlier in the same segment") {
  Writing trace;
  std::vector<std::uint32_t> paths;
  for (int i = 0; i < 50; ++i) {
    const std::uint32_t parent = i % 5 == 0 ? 0 : paths.back();
    paths.push_back(
        trace.recorder.paths.child({parent, trace.recorder.names.intern("p" + std::to_string(i)), 0}));
  }
  for (std::uint32_t i = 0; i < 2000; ++i) {
    KernelRecord record = trace.kernel_in(paths[i * 7 % paths.size()]);
    record.name = trace.kernels.intern("kernel" + std::to_string(i % 30));
    trace.writer.write(record);
    trace.writer.write(launch_on(i % 5 + 1, paths[i * 11 % paths.size()]));
    if (i % 100 == 99) trace.segments.rotate();
  }

  std::uint64_t wrong = 0;
  std::set<std::pair<char, std::uint32_t>> known;
  const auto need = [&](char kind, std::uint32_t id) { wrong += id != 0 && known.count({kind, id}) == 0; };
  const WrittenTrace written = trace.read();
  for (const Line& line : written.lines()) {
    if (std::holds_alternative<Header>(line)) known.clear();
    if (const auto* const r = std::get_if<PathRecord>(&line))
      need('p', r->parent), known.insert({'p', r->id});
    if (const auto* const r = std::get_if<ThreadRecord>(&line)) known.insert({'t', r->id});
    if (const auto* const r = std::get_if<KernelNameRecord>(&line)) known.insert({'k', r->id});
    if (const auto* const r = std::get_if<LaunchConfigRecord>(&line)) known.insert({'c', r->id});
    if (const auto* const r = std::get_if<LaunchRecord>(&line))
      need('p', r->host.path), need('t', r->host.thread);
    if (const auto* const r = std::get_if<KernelRecord>(&line)) {
      need('p', r->work.path), need('k', r->name), need('c', r->config);
    }
  }

  CHECK(wrong == 0);
  CHECK(written.all<Header>().size() == 20);
  CHECK(written.all<KernelRecord>().size() == 2000);
}
