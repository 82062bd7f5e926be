// SPDX-License-Identifier: Apache-2.0
//
// rangefinder: GPU time, DRAM and L2 bytes of every part of a CUDA program.
#include "tools/command_line/command_line.h"
#include "tools/rangefinder/program.h"
#include "tools/rangefinder/verb.h"

namespace {

constexpr const char* kAbout =
    "Measures how long each part of a CUDA program runs on the GPU, and how many bytes it moves\n"
    "through DRAM and L2. A part is an NVTX range. The program needs no change.";

constexpr const char* kStart =
    "Start with:\n"
    "  rangefinder demo                                        the page of a recorded program\n"
    "  rangefinder doctor                                      can this machine trace?\n"
    "  rangefinder run -- ./app --its options                  trace a program\n"
    "  rangefinder report rangefinder-4711                     show the trace\n"
    "  rangefinder diff rangefinder-4711 rangefinder-4712      compare two traces\n"
    "  rangefinder attach 4711 --window 5s                     record 5 s of a program that `run` started\n"
    "  rangefinder serve                                       pages of the traces below this folder\n"
    "  rangefinder help report                                 options of a verb\n"
    "  rangefinder --help                                      all verbs\n";

constexpr const char* kFooter =
    "Exit codes: 0 ok, 1 a check failed, 2 wrong use or nothing selected, 3 something is missing,\n"
    "4 a check could not be made. `run` returns the program's exit code.\n";

void add_verbs(rangefinder::CommandLine& line, rangefinder::Action& action,
               const std::vector<std::string>& program) {
  rangefinder::add_run(line, action, program);
  rangefinder::add_attach(line, action);
  rangefinder::add_top(line, action);
  rangefinder::add_reading_verbs(line, action);
  rangefinder::add_metrics(line, action);
  rangefinder::add_doctor(line, action);
}

}  // namespace

int main(int argc, char** argv) {
  return rangefinder::run_program({"", kAbout, kStart, kFooter, add_verbs}, argc, argv);
}
