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

# rangefinder_man_page(program folder pages name title words…): adds to the list `pages` the page of `program words…`.
function(rangefinder_man_page program folder pages name title)
  set(page ${folder}/${name}.1)
  string(JOIN " " words ${ARGN} --help)
  add_custom_command(OUTPUT ${page} VERBATIM
    COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
    COMMAND ${HELP2MAN} --no-info --section=1 --source=Rangefinder --manual=Rangefinder --name=${title}
      --help-option=${words} "--version-string=${name} ${PROJECT_VERSION}" --no-discard-stderr
      --output=${page} $<TARGET_FILE:${program}>
    DEPENDS ${program})
  set(${pages} ${${pages}} ${page} PARENT_SCOPE)
endfunction()

# The verbs of both editions.
macro(rangefinder_reading_pages program folder pages)
  rangefinder_man_page(${program} ${folder} ${pages} rangefinder "time, DRAM and L2 bytes of every part of a CUDA program")
  rangefinder_man_page(${program} ${folder} ${pages} rangefinder-demo "open the page of a recorded program" demo)
  rangefinder_man_page(${program} ${folder} ${pages} rangefinder-report
    "show the modules, kernels and findings of a trace" report)
  rangefinder_man_page(${program} ${folder} ${pages} rangefinder-diff "compare two traces" diff)
  rangefinder_man_page(${program} ${folder} ${pages} rangefinder-validate
    "check that a trace is complete and follows its format" validate)
  rangefinder_man_page(${program} ${folder} ${pages} rangefinder-finalize "complete the summaries of ended programs"
    finalize)
  rangefinder_man_page(${program} ${folder} ${pages} rangefinder-export "convert traces to the format of another tool"
    export)
  rangefinder_man_page(${program} ${folder} ${pages} rangefinder-lake
    "keep traces of many runs as Parquet files, for sql and other engines" lake)
  rangefinder_man_page(${program} ${folder} ${pages} rangefinder-sql "ask a lake or traces in SQL, with DuckDB" sql)
  rangefinder_man_page(${program} ${folder} ${pages} rangefinder-serve
    "serve traces and running programs to browsers, Grafana and Prometheus" serve)
endmacro()

set(_viewer_pages)
rangefinder_reading_pages(rangefinder_viewer ${CMAKE_BINARY_DIR}/share/viewer/man1 _viewer_pages)
set(_all ALL)
if(RANGEFINDER_COLLECTOR)
  set(_all)
endif()
add_custom_target(rangefinder_viewer_man ${_all} DEPENDS ${_viewer_pages})
install(FILES ${_viewer_pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 ${RANGEFINDER_VIEWER})
if(NOT RANGEFINDER_COLLECTOR)
  return()
endif()

set(_folder ${CMAKE_BINARY_DIR}/share/man/man1)
set(_pages)
rangefinder_reading_pages(rangefinder ${_folder} _pages)
rangefinder_man_page(rangefinder ${_folder} _pages rangefinder-run "trace a program" run)
rangefinder_man_page(rangefinder ${_folder} _pages rangefinder-attach
  "control running processes: show state, record windows" attach)
rangefinder_man_page(rangefinder ${_folder} _pages rangefinder-top "show the modules of running programs, live" top)
rangefinder_man_page(rangefinder ${_folder} _pages rangefinder-metrics
  "list what the hardware counters of a chip can measure" metrics)
rangefinder_man_page(rangefinder ${_folder} _pages rangefinder-doctor "check whether this machine can trace" doctor)
add_custom_target(rangefinder_man ALL DEPENDS ${_pages})
install(FILES ${_pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
