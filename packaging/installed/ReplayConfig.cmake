# find_package(Replay) gives:
#
#   Replay::api                                   where replay.h and replay.f90 are; no library is needed
#   replay_record_test(NAME name COMMAND ...)     a test that records what its command does, in name.replay in the folder
#                                                 where the test runs; the first word may be a target
#   Replay_RECORD, Replay_ANALYZE, Replay_SHOW    paths of the programs

set(Replay_RECORD "@PREFIX@/bin/replay-record")
set(Replay_ANALYZE "@PREFIX@/bin/replay-analyze")
set(Replay_SHOW "@PREFIX@/bin/replay-show")

if(NOT TARGET Replay::api)
  add_library(Replay::api INTERFACE IMPORTED)
  set_target_properties(Replay::api PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "@PREFIX@/include/replay")
endif()

function(replay_record_test)
  cmake_parse_arguments(PARSE_ARGV 0 test "" "NAME" "COMMAND")
  if(NOT test_NAME OR NOT test_COMMAND)
    message(FATAL_ERROR "replay_record_test needs NAME and COMMAND")
  endif()
  # Only behind COMMAND of add_test itself a target stands for its program.
  list(GET test_COMMAND 0 program)
  if(TARGET "${program}")
    list(REMOVE_AT test_COMMAND 0)
    list(INSERT test_COMMAND 0 "$<TARGET_FILE:${program}>")
  endif()
  set(experiment "${CMAKE_CURRENT_BINARY_DIR}/${test_NAME}.replay")
  # An experiment is never overwritten: that of the run before has to go.
  add_test(NAME "${test_NAME}.remove" COMMAND "${CMAKE_COMMAND}" -E rm -rf "${experiment}")
  add_test(NAME "${test_NAME}" COMMAND "${Replay_RECORD}" -o "${experiment}" ${test_COMMAND})
  set_tests_properties("${test_NAME}.remove" PROPERTIES FIXTURES_SETUP "${test_NAME}.replay")
  set_tests_properties("${test_NAME}" PROPERTIES FIXTURES_REQUIRED "${test_NAME}.replay")
endfunction()
