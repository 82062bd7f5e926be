// SPDX-License-Identifier: Apache-2.0
//
// `--section communication`: operations of NCCL, MPI and other libraries, copies between GPUs, their bytes,
// and exposed communication: the time in which a GPU communicated and ran no other kernel.
//
//   computing      ──[ kernel ]──────[ kernel ]──
//   communicating  ───────[ AllReduce ]──────────
//                         |ov|exposed|ov            communication = overlapped + exposed
#include "tools/analysis/queries/cells.h"
#include "tools/analysis/queries/communication_log.h"
#include "tools/analysis/queries/section.h"

namespace rangefinder {
namespace {

class CommunicationSection final : public Section {
 public:
  void add(const SelectedRows& rows) override { log_.add(rows); }
  void finish() override { log_.finish(); }

  std::vector<Table> tables(const SectionInput&) override { return {operation_rows(), overlap_rows()}; }

 private:
  Table operation_rows() const {
    Table table;
    table.name = "communication";
    table.empty =
        "No kernel of this trace communicates, as far as names tell (--communication adds some).\n"
        "It has no call of NCCL or MPI and no copy to another GPU.";
    table.columns = {{"operation", "operation"},
                     {"reduction", "reduction"},
                     {"library", "library"},
                     {"calls", "calls", Unit::count},
                     {"bytes", "bytes", Unit::bytes},
                     {"kernels", "kernels", Unit::count, 60},
                     {"copies", "copies", Unit::count, 60},
                     {"gpu_ns", "GPU time", Unit::ns},
                     {"host_ns", "host time", Unit::ns, 70},
                     {"bytes_per_s", "bytes/GPU time", Unit::bytes_per_s, 50}};
    for (const auto& [key, totals] : log_.operations()) {
      const bool has_bytes = totals.calls_with_bytes + totals.copies != 0;
      table.add({text_cell(key.operation), key.reduction.empty() ? Cell() : text_cell(key.reduction),
                 text_cell(std::string(key.from_library)), cell_if(totals.calls != 0, totals.calls),
                 cell_if(has_bytes, totals.bytes), cell_if(totals.kernels != 0, totals.kernels),
                 cell_if(totals.copies != 0, totals.copies),
                 cell_if(totals.kernels + totals.copies != 0, totals.gpu_ns),
                 cell_if(totals.calls != 0, totals.host_ns),
                 has_bytes ? rate_cell(totals.bytes, totals.gpu_ns) : Cell()});
    }
    sort_rows(table, "gpu_ns");
    table.remarks =
        "bytes: what one rank sends or receives, from the arguments of the call, at each replay of its "
        "graph.\n"
        "GPU time includes waiting for other ranks.\n";
    return without_empty_columns(std::move(table));
  }

  Table overlap_rows() const {
    Table table;
    table.name = "overlap";
    table.title = "Overlap of communication and computation";
    if (log_.overlaps().empty()) return table;
    table.columns = {{"gpu", "GPU", Unit::count},
                     {"span_ns", "first to last", Unit::ns, 60},
                     {"compute_ns", "computing", Unit::ns},
                     {"communication_ns", "communicating", Unit::ns},
                     {"overlapped_ns", "both", Unit::ns},
                     {"exposed_ns", "exposed", Unit::ns},
                     {"exposed_share", "of communication", Unit::share},
                     {"exposed_of_span", "of span", Unit::share, 70}};
    for (const auto& [gpu, overlap] : log_.overlaps()) {
      table.add({number_cell(std::uint64_t{gpu}), number_cell(overlap.span_ns),
                 number_cell(overlap.compute_ns), number_cell(overlap.communication_ns),
                 number_cell(overlap.communication_ns - overlap.exposed_ns), number_cell(overlap.exposed_ns),
                 ratio_cell(overlap.exposed_ns, overlap.communication_ns),
                 ratio_cell(overlap.exposed_ns, overlap.span_ns)});
    }
    table.remarks = "exposed: a communication kernel ran and no other kernel.\n";
    return table;
  }

  CommunicationLog log_;
};

}  // namespace

const SectionKind kCommunicationSection{
    "communication", "operations of NCCL, MPI and other libraries with their bytes and exposed time",
    make_section<CommunicationSection>, CommunicationLog::kColumns};

}  // namespace rangefinder
