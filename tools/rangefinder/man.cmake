# SPDX-License-Identifier: Apache-2.0
#
# Manual pages from the program's own --help, by help2man where that is installed: rangefinder(1), and
# one page a verb, rangefinder-report(1). Without help2man there are none, and CMake says so.

if(RANGEFINDER_SANITIZE)
  return()  # a page is not worth a run of a sanitized program
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
rangefinder_man_page(rangefinder-attach "ask processes that run, record windows of them" attach)
rangefinder_man_page(rangefinder-report "what a trace says" report)
rangefinder_man_page(rangefinder-diff "what changed between two traces" diff)
rangefinder_man_page(rangefinder-top "modules of running programs, live" top)
rangefinder_man_page(rangefinder-validate "is a trace whole and true to its format" validate)
rangefinder_man_page(rangefinder-export "a trace in the format of another tool" export)
rangefinder_man_page(rangefinder-serve "traces and running programs, for browsers, Grafana and Prometheus" serve)
rangefinder_man_page(rangefinder-metrics "what the hardware counters of a chip can measure" metrics)
rangefinder_man_page(rangefinder-doctor "can this machine trace, and what is to be done" doctor)

add_custom_target(rangefinder_man ALL DEPENDS ${_man_pages})
install(FILES ${_man_pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
