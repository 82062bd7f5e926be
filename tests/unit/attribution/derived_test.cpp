// SPDX-License-Identifier: Apache-2.0
#include "profiler/attribution/derived.h"

#include <string>
#include <vector>

#include "profiler/attribution/sampled_rows.h"
#include "tests/catch.h"
#include "tests/unit/attribution/totals_records.h"

using namespace rangefinder;
using namespace rangefinder::totals_records;

namespace {

constexpr std::uint64_t kL2 = 60'000'000;

GpuRecord gpu() {
  GpuRecord record;
  record.l2_bytes = kL2;
  record.peak_dram_bytes_per_s = 4'000'000'000'000;
  record.peak_flops = {{"fp32", 60e12}, {"fp16_tensor", 1000e12}};
  return record;
}

// One set with these metrics, measured in one kernel: 1000 ns, 2,000,000 DRAM bytes, 3,000,000 L2 bytes.
struct Measured {
  TotalsBuilder totals = tree();
  GpuPeaks peaks = common_peaks({gpu()});
  Measured(std::vector<std::string> names, std::vector<double> values) {
    totals.add(MetricSetRecord{1, "roofline", std::move(names)});
    ExactRecord record = exact(2, WorkKind::kernel, 1000, 0);
    record.dram_read_bytes = 1'500'000;
    record.dram_write_bytes = 500'000;
    record.l2_bytes = 3'000'000;
    record.metric_set = 1;
    record.values = std::move(values);
    totals.add(record);
  }
  [[nodiscard]] MetricsByName metrics() const {
    const auto all = totals.path_metrics();
    const auto at = all.find(2);
    return at == all.end() ? MetricsByName() : MetricsByName(at->second, totals.groups());
  }
  [[nodiscard]] Derived derived() const {
    const PathTotals row = row_of(totals, 2);
    return derive(row, exact_bytes(row, peaks), peaks, metrics());
  }
};

// The bytes of `calls` calls of path 2, each with two kernels.
RowBytes called(std::uint64_t calls, std::uint64_t read, std::uint64_t write, const GpuPeaks& peaks) {
  TotalsBuilder totals = tree();
  for (std::uint64_t i = 0; i < calls; ++i) {
    totals.add(range(2, 0, 10));
    for (int launch = 0; launch < 2; ++launch) {
      ExactRecord record = exact(2, WorkKind::kernel, 100, 0);
      record.dram_read_bytes = read / 2;
      record.dram_write_bytes = write / 2;
      totals.add(record);
    }
  }
  return exact_bytes(row_of(totals, 2), peaks);
}

}  // namespace

TEST_CASE("the carry-over of exact bytes is one L2 capacity per call, at most the bytes written") {
  const GpuPeaks peaks = common_peaks({gpu()});
  const RowBytes large = called(10, 6 * kL2, 4 * kL2, peaks);
  CHECK(*large.carry_over == 10 * kL2);
  CHECK_FALSE(large.read_error.has_value());
  CHECK_FALSE(large.write_error.has_value());
  CHECK_FALSE(large.l2_error.has_value());
  CHECK_FALSE(large.error_pct().has_value());
  CHECK(*called(10, 3000, 1000, peaks).carry_over == 10 * 1000);
  CHECK_FALSE(called(1, 100, 100, {}).carry_over.has_value());  // the size of L2 is unknown
}

TEST_CASE("carry-over is marked above 10 % of the traffic, and forbids a ratio to fewer declared bytes") {
  CHECK(marks_carry_over(101, 1000));
  CHECK_FALSE(marks_carry_over(100, 1000));
  CHECK_FALSE(marks_carry_over(std::nullopt, 1000));
  RowBytes bytes;
  CHECK(bytes.comparable_with(0));
  bytes.carry_over = 100;
  CHECK(bytes.comparable_with(100));
  CHECK_FALSE(bytes.comparable_with(99));
}

TEST_CASE("a value with an error bound above 100 % is shown as a dash and a reason") {
  const auto text = [](std::uint64_t bytes, std::optional<double> bound) {
    const BoundedText shown = bounded_text(bytes, bound);
    return shown.value + "; " + shown.error;
  };
  CHECK(text(1'000, 20.0) == "1.00 kB; 2.0 %");
  CHECK(text(1'000, 1'000.0) == "1.00 kB; 100 %");
  CHECK(text(1'000, 1'001.0) == "–; too short");
  CHECK(text(1'000, std::nullopt) == "1.00 kB; ");
  CHECK(text(0, 1'000.0) == "–; too short");
  CHECK(text(0, 0.0) == "0 B; ");
  CHECK(bounded_text(1'000, 1'001.0, "another reason").error == "another reason");
}

TEST_CASE("a row without bytes has no source, and derives nothing") {
  const PathTotals row = row_of(tree(kernel(2, 0, 10)), 2);
  const RowBytes bytes = exact_bytes(row, common_peaks({gpu()}));

  CHECK(bytes.source == RowBytes::Source::none);
  CHECK_FALSE(derive(row, bytes, common_peaks({gpu()}), {}).dram_bytes_per_s.has_value());
}

TEST_CASE("an estimate's error is twice its standard error and 1 % of the unmeasured part") {
  const TotalsBuilder totals = tree(exact(2, WorkKind::kernel, 100, 10), with_values(2, 100, {}),
                                    exact(2, WorkKind::kernel, 100, 30), with_values(2, 100, {}));
  const RowBytes bytes = exact_bytes(row_of(totals, 2), common_peaks({gpu()}));

  CHECK(bytes.estimated);
  CHECK_FALSE(bytes.partial());
  CHECK(bytes.read == 80);
  CHECK(bytes.write == 160);
  CHECK(bytes.measured_launches == 2);
  CHECK(bytes.missing_launches == 2);
  const double half_t = 6.35;  // two were measured
  CHECK(*bytes.read_error == Approx(2 * 28.2843 * half_t + 0.4).epsilon(1e-4));
  CHECK(*bytes.write_error == Approx(2 * 56.5685 * half_t + 0.8).epsilon(1e-4));
  CHECK(*bytes.carry_over == 160);  // all written bytes
}

TEST_CASE("rates and shares use the time in which the bytes moved") {
  const Derived derived = Measured({}, {}).derived();
  CHECK(*derived.dram_bytes_per_s == Approx(2e12));
  CHECK(*derived.dram_peak_share == Approx(0.5));
  CHECK(*derived.l2_bytes_per_s == Approx(3e12));
  CHECK_FALSE(derived.l2_peak_share.has_value());
  CHECK_FALSE(derived.limiter.has_value());  // below one roof, the others are unknown
}

TEST_CASE("operations and bytes are compared by the same clock") {
  Measured measured({"smsp__thread_inst_executed_pipe_fma_pred_on.sum"}, {15e6});
  measured.totals.add(launched(kernel(2, 0, 500), 0));  // counters measured 1000

  CHECK(*measured.derived().dram_bytes_per_s == Approx(4e12));
  CHECK(*measured.derived().flop_per_dram_byte == Approx(15));
}

TEST_CASE("GPUs with different peaks have no common peak, the largest L2 counts") {
  GpuRecord other = gpu();
  other.peak_dram_bytes_per_s = 1;
  other.peak_flops.clear();
  other.l2_bytes = 2 * kL2;
  const GpuPeaks peaks = common_peaks({gpu(), other});
  CHECK(peaks.dram_bytes_per_s == 0);
  CHECK(peaks.flops.empty());
  CHECK(peaks.l2_bytes == 2 * kL2);
}

TEST_CASE("operations of a type are counted once, even if several metrics count them") {
  const Measured tensor({"sm__ops_path_tensor_src_fp16.sum", "sm__ops_path_tensor_src_fp16_dst_fp32.sum",
                         "sm__ops_path_tensor_op_hgmma_src_fp16.sum"},
                        {5e8, 4e8, 3e8});
  CHECK(operations_of(tensor.metrics(), tensor.peaks)->total == Approx(5e8));
  CHECK(*operations_of(tensor.metrics(), tensor.peaks)->peak_share == Approx(0.5));
  const Measured parts(
      {"sm__ops_path_tensor_op_hmma_src_fp16_dst_fp16.sum", "sm__ops_path_tensor_op_hgmma_src_fp16.sum",
       "sm__ops_path_tensor_src_fp16_dst_fp32.sum"},
      {1e8, 3e8, 4e8});
  CHECK(operations_of(parts.metrics(), parts.peaks)->total == Approx(4e8));
}

TEST_CASE("pipe instructions count as multiply-adds, and a type without a peak has no share") {
  const Measured fp32({"smsp__thread_inst_executed_pipe_fma_pred_on.sum"}, {15e6});
  const auto operations = operations_of(fp32.metrics(), fp32.peaks);
  CHECK(operations->total == Approx(30e6));
  CHECK(*operations->peak_share == Approx(0.5));
  CHECK(*fp32.derived().flop_per_dram_byte == Approx(15));
  const Measured fp64({"smsp__thread_inst_executed_pipe_fp64_pred_on.sum"}, {1e6});
  CHECK_FALSE(operations_of(fp64.metrics(), fp64.peaks)->peak_share.has_value());
  CHECK_FALSE(operations_of(Measured({"a.sum"}, {1}).metrics(), fp32.peaks).has_value());
}

TEST_CASE("the highest roof of 60 % or more is the limiter; below all roofs it is latency") {
  const auto limiter = [](double l2_percent, double fma) {
    return Measured({"lts__t_bytes.sum.pct_of_peak_sustained_elapsed",
                     "smsp__thread_inst_executed_pipe_fma_pred_on.sum"},
                    {l2_percent, fma})
        .derived()
        .limiter;
  };
  CHECK(limiter(70, 1e6) == Limiter::l2);
  CHECK(limiter(70, 24e6) == Limiter::compute);
  CHECK(limiter(59.9, 17.9e6) == Limiter::latency);
  CHECK(limiter(60, 1e6) == Limiter::l2);
  CHECK(limiter_name(Limiter::latency) == "latency");
  CHECK(limiter_name(Limiter::dram) == "dram");
}

TEST_CASE("the share of the L2's peak is over the launch's own time, by bytes or sectors") {
  const Derived by_bytes = Measured({"lts__t_bytes.sum.peak_sustained_elapsed.per_second"}, {8e12}).derived();
  const Derived by_sectors =
      Measured({"lts__t_sectors.sum.peak_sustained_elapsed.per_second"}, {8e12 / 32}).derived();

  REQUIRE(by_bytes.l2_bytes_per_s.has_value());
  CHECK(*by_bytes.l2_peak_share == Approx(*by_bytes.l2_bytes_per_s / 8e12));
  CHECK(*by_sectors.l2_peak_share == Approx(*by_bytes.l2_peak_share));
}

TEST_CASE("a path with a missing set has no operations: they may be incomplete") {
  Measured measured({"smsp__thread_inst_executed_pipe_fma_pred_on.sum"}, {15e6});
  ExactRecord other = exact(2, WorkKind::kernel, 1000, 10);
  other.metric_set = 7;
  other.grid = {2, 1, 1};
  measured.totals.add(other);

  CHECK_FALSE(measured.derived().flop_per_dram_byte.has_value());
}

TEST_CASE("amplification is measured over declared bytes") {
  PathTotals row;
  row.declared_bytes = 100;
  RowBytes bytes;
  bytes.source = RowBytes::Source::sampled;
  bytes.read = 120;
  bytes.write = 30;
  bytes.l2 = 400;
  CHECK(*derive(row, bytes, {}, {}).dram_amplification == Approx(1.5));
  CHECK(*derive(row, bytes, {}, {}).l2_amplification == Approx(4));
}

TEST_CASE("sampled rates use busy time, or summed time if copies move bytes too") {
  PathTotals row;
  row.gpu_busy_ns = 500;
  row.gpu_ns = 800;
  const RowBytes kernels = sampled_bytes(row, {10, 20, 30}, 1000, 900);
  CHECK(kernels.read == 10);
  CHECK(kernels.write == 20);
  CHECK(kernels.l2 == 30);
  CHECK(kernels.sampled_share == Approx(0.9));
  CHECK(kernels.rate_ns == Approx(450));
  CHECK_FALSE(kernels.error_pct().has_value());
  CHECK(kernels.partly_sampled());
  const RowBytes estimated = sampled_bytes(row, {10, 20, 30}, 1000, 900, 80);
  CHECK(estimated.estimated);
  CHECK_FALSE(estimated.partly_sampled());
  CHECK(estimated.sampled_share == Approx(0.9));
  CHECK(estimated.rate_ns == Approx(490));
  CHECK_FALSE(sampled_bytes(row, {10, 20, 30}, 1000, 1000).has_gaps());
  row.memcpy_bytes[1] = 5;
  CHECK(sampled_bytes(row, {1, 1, 1}, 1000, 1000).rate_ns == Approx(1000));
}

TEST_CASE("live sampled bytes are summed up the tree, and idle paths have none") {
  TotalsBuilder totals = tree();
  SampleSharing samples;
  for (const std::uint32_t path : {2u, 3u, 0u}) {
    const TimeNs start = 1000 * path;
    const KernelRecord record = kernel(path, start, start + 500);
    totals.add(record);
    samples.add(record);
    SamplesRecord line;
    line.runs = {{start, start + 500, 1}};
    for (const auto column : {kSampleDramRead, kSampleDramWrite, kSampleL2})
      line.columns[column] = {path + 1};
    samples.add(line);
  }
  totals.add(range(4, 0, 10));
  samples.finish();

  const std::vector<PathTotals> rows = totals.paths();
  const std::vector<RowBytes> bytes = live_sampled_bytes(rows, samples);
  REQUIRE(rows.size() == 5);  // model, encoder, decoder, other, outside
  CHECK(bytes[0].read == 32 * (3 + 4));
  CHECK(bytes[1].read == 32 * 3);
  CHECK(bytes[2].l2 == 32 * 4);
  CHECK(bytes[3].source == RowBytes::Source::none);
  CHECK(bytes[4].write == 32);
  CHECK(bytes[1].samples == 1);
}
