// SPDX-License-Identifier: Apache-2.0
//
// The edition of rangefinder for machines without CUDA: the verbs that read traces.
#include "tools/rangefinder/program.h"
#include "tools/rangefinder/verb.h"

namespace {

constexpr const char* kAbout =
    "Shows and compares traces that Rangefinder recorded: GPU time, DRAM and L2 bytes of every part\n"
    "of a CUDA program. This is the viewer: run, attach, top, metrics and doctor are in the complete\n"
    "Rangefinder, on the machine with the GPU.";

constexpr const char* kStart =
    "Start with:\n"
    "  rangefinder demo                                        the page of a recorded program\n"
    "  rangefinder report rangefinder-4711                     show a trace\n"
    "  rangefinder diff rangefinder-4711 rangefinder-4712      compare two traces\n"
    "  rangefinder serve                                       pages of the traces below this folder\n"
    "  rangefinder help report                                 options of a verb\n"
    "  rangefinder --help                                      all verbs\n";

constexpr const char* kFooter =
    "Exit codes: 0 ok, 1 a check failed, 2 wrong use or nothing selected, 3 something is missing,\n"
    "4 a check could not be made.\n";

void add_verbs(rangefinder::CommandLine& line, rangefinder::Action& action, const std::vector<std::string>&) {
  rangefinder::add_reading_verbs(line, action);
}

}  // namespace

int main(int argc, char** argv) {
  return rangefinder::run_program({" (viewer)", kAbout, kStart, kFooter, add_verbs}, argc, argv);
}
