# Functions that the rooms' CMakeLists use.

# tutti_room(source...): adds a room's sources to tutti_core.
function(tutti_room)
  foreach(source ${ARGN})
    target_sources(tutti_core PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/${source})
  endforeach()
endfunction()

# Undefined behaviour is looked for in what is tested; in the tests it takes a third of the time to compile them.
set(tutti_test_options "")
if(TUTTI_SANITIZE MATCHES "undefined")
  set(tutti_test_options -fno-sanitize=undefined)
endif()

# tutti_precompile(target): compiles the standard library's headers once for the target and not once a source. Only for targets
# whose sources are compiled elsewhere, too, without it: there it is noticed if one includes less than it uses.
function(tutti_precompile target)
  # GCC takes what is inlined from a precompiled header for the program's own code, and warns of the library's.
  target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-invalid-pch)
  target_precompile_headers(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:${PROJECT_SOURCE_DIR}/cmake/standard_headers.h>)
endfunction()

# tutti_test(name source... [ONE_THREAD] [TIMEOUT seconds] [LABELS label...] [LIBRARIES target...]): a GoogleTest program beside
# the code. Label "quick" (the default) makes it part of `make check`. ONE_THREAD: it has no threads to race, so it is left out
# under ThreadSanitizer, and may run beside others, as the rest may not.
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
  add_executable(${name} ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE tutti_core GTest::gtest_main ${arg_LIBRARIES})
  target_compile_options(${name} PRIVATE ${tutti_test_options})
  # Every test includes it, and reading it is half the work to compile a short one.
  if(NOT TARGET tutti_gtest)
    # A program as the tests are: the compiler uses the header only where all of its options are the same.
    add_executable(tutti_gtest EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/cmake/gtest.cpp)
    target_link_libraries(tutti_gtest PRIVATE GTest::gtest_main)
    target_compile_options(tutti_gtest PRIVATE ${tutti_test_options})
    target_precompile_headers(tutti_gtest PRIVATE <gtest/gtest.h>)
  endif()
  if(NOT "${arg_UNPARSED_ARGUMENTS}" MATCHES "\\.c(;|$)") # the header is compiled for C++ alone
    target_precompile_headers(${name} REUSE_FROM tutti_gtest)
  endif()
  add_dependencies(unit_tests ${name})
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS "${arg_LABELS}")
  if(NOT arg_ONE_THREAD)
    set_tests_properties(${name} PROPERTIES RUN_SERIAL ON)
  endif()
endfunction()
