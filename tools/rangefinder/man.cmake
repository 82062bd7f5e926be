# SPDX-License-Identifier: Apache-2.0
#
# Manual pages, which help2man makes from --help: rangefinder(1) and one page per verb, as in
# rangefinder-report(1). Without help2man there are none, and CMake reports that.

if(RANGEFINDER_SANITIZE)
  return()  # a sanitized program takes too long for this
endif()
find_program(HELP2MAN help2man)
if(NOT HELP2MAN)
  message(STATUS "No manual pages: help2man is not installed")
  return()
endif()

set(_man_folder ${CMAKE_BINARY_DIR}/share/man/man1)
set(_man_pages)

# rangefinder_man_page(name title words…): the page of `rangefinder words…`.
function(rangefinder_man_page name title)
  set(page ${_man_folder}/${name}.1)
  string(JOIN " " words ${ARGN} --help)
  add_custom_command(OUTPUT ${page} VERBATIM
    COMMAND ${CMAKE_COMMAND} -E make_directory ${_man_folder}
    COMMAND ${HELP2MAN} --no-info --section=1 --source=Rangefinder --manual=Rangefinder --name=${title}
      --help-option=${words} --version-option=--version --no-discard-stderr
      --output=${page} $<TARGET_FILE:rangefinder>
    DEPENDS rangefinder)
  set(_man_pages ${_man_pages} ${page} PARENT_SCOPE)
endfunction()

rangefinder_man_page(rangefinder "time, DRAM and L2 bytes of every part of a CUDA program")
rangefinder_man_page(rangefinder-run "trace a program" run)
rangefinder_man_page(rangefinder-attach "control running processes: show state, record windows" attach)
rangefinder_man_page(rangefinder-report "show the modules, kernels and findings of a trace" report)
rangefinder_man_page(rangefinder-diff "compare two traces" diff)
rangefinder_man_page(rangefinder-top "show the modules of running programs, live" top)
rangefinder_man_page(rangefinder-validate "check that a trace is complete and follows its format" validate)
rangefinder_man_page(rangefinder-finalize "complete the summaries of ended programs" finalize)
rangefinder_man_page(rangefinder-export "convert traces to the format of another tool" export)
rangefinder_man_page(rangefinder-serve "serve traces and running programs to browsers, Grafana and Prometheus" serve)
rangefinder_man_page(rangefinder-metrics "list what the hardware counters of a chip can measure" metrics)
rangefinder_man_page(rangefinder-doctor "check whether this machine can trace" doctor)

add_custom_target(rangefinder_man ALL DEPENDS ${_man_pages})
install(FILES ${_man_pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
