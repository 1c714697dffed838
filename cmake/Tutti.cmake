# Functions that the rooms' CMakeLists use.

# tutti_room(source...): adds a room's sources to tutti_core.
function(tutti_room)
  foreach(source ${ARGN})
    target_sources(tutti_core PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/${source})
  endforeach()
endfunction()

# tutti_test(name source... [ONE_THREAD] [TIMEOUT seconds] [LABELS label...] [LIBRARIES target...]): a GoogleTest program beside
# the code. Label "quick" (the default) makes it part of `make check`. ONE_THREAD: it has no threads to race, so it is left out
# under ThreadSanitizer, and may run beside others (label "one_thread").
function(tutti_test name)
  if(NOT TUTTI_TESTS)
    return()
  endif()
  cmake_parse_arguments(arg "ONE_THREAD" "TIMEOUT" "LABELS;LIBRARIES" ${ARGN})
  if(arg_ONE_THREAD AND TUTTI_SANITIZE STREQUAL "thread")
    return()
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  if(NOT arg_LABELS)
    set(arg_LABELS quick)
  endif()
  if(arg_ONE_THREAD)
    list(APPEND arg_LABELS one_thread)
  endif()
  add_executable(${name} ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE tutti_core GTest::gtest_main ${arg_LIBRARIES})
  if(TUTTI_SANITIZE MATCHES "undefined")
    # It is looked for in what is tested; in the tests it takes a third of the time to compile them.
    target_compile_options(${name} PRIVATE -fno-sanitize=undefined)
  endif()
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS "${arg_LABELS}")
endfunction()
