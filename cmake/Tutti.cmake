# Functions that the rooms' CMakeLists use.

# tutti_room(source...): adds a room's sources to tutti_core. Where several sources are compiled
# together, they are of different rooms, so that their local names are in different namespaces.
function(tutti_room)
  get_property(place DIRECTORY PROPERTY tutti_room_sources)
  foreach(source ${ARGN})
    math(EXPR place "${place} + 1")
    set(path ${CMAKE_CURRENT_SOURCE_DIR}/${source})
    target_sources(tutti_core PRIVATE ${path})
    set_source_files_properties(${path} TARGET_DIRECTORY tutti_core PROPERTIES UNITY_GROUP ${place})
  endforeach()
  set_property(DIRECTORY PROPERTY tutti_room_sources ${place})
endfunction()

# The tests themselves are compiled with lower optimisation, and without checks of undefined
# behaviour: each takes a third of the time to compile.
set(tutti_test_options -O1)
if(TUTTI_SANITIZE MATCHES "undefined")
  set(tutti_test_options -fno-sanitize=undefined)
endif()

# tutti_precompile(target): compiles the standard library's common headers once for the target, not
# once for each source, which takes a third of the time off. The compiler then misses no #include of
# them; scripts/check_standard_headers.py finds what is missing.
function(tutti_precompile target)
  # GCC treats code inlined from a precompiled header as the program's own, and gives warnings for
  # the standard library.
  target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-invalid-pch)
  target_precompile_headers(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:${PROJECT_SOURCE_DIR}/cmake/standard_headers.h>)
endfunction()

# tutti_test(name source... [ONE_THREAD] [UNSANITIZED] [TIMEOUT seconds] [LABELS label...]
#   [LIBRARIES target...]):
# adds a GoogleTest program. Label "quick" (the default) makes it part of `make check`. ONE_THREAD:
# the test has one thread, so it is left out under ThreadSanitizer and may run beside other tests;
# tests without the word run alone. UNSANITIZED: a long walk over code that shorter tests and the
# fuzz targets execute too, so it is left out under every sanitizer.
function(tutti_test name)
  if(NOT TUTTI_TESTS)
    return()
  endif()
  cmake_parse_arguments(arg "ONE_THREAD;UNSANITIZED" "TIMEOUT" "LABELS;LIBRARIES" ${ARGN})
  if((arg_ONE_THREAD AND TUTTI_SANITIZE STREQUAL "thread") OR (arg_UNSANITIZED AND TUTTI_SANITIZE))
    return()
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  if(NOT arg_LABELS)
    set(arg_LABELS quick)
  endif()
  add_executable(${name} ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE tutti_core tutti_hwloc GTest::gtest_main ${arg_LIBRARIES})
  target_compile_options(${name} PRIVATE ${tutti_test_options})
  # Reading gtest.h and the standard library's headers takes more than half the time to compile a
  # short test, so they are precompiled.
  if(NOT TARGET tutti_gtest)
    # This target is an executable like the tests, because a precompiled header can be used only
    # with the same options.
    add_executable(tutti_gtest EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/cmake/gtest.cpp)
    target_link_libraries(tutti_gtest PRIVATE GTest::gtest_main)
    target_compile_options(tutti_gtest PRIVATE ${tutti_test_options})
    target_precompile_headers(tutti_gtest PRIVATE <gtest/gtest.h>
      ${PROJECT_SOURCE_DIR}/cmake/standard_headers.h)
  endif()
  if(NOT "${arg_UNPARSED_ARGUMENTS}" MATCHES "\\.c(;|$)") # the header is compiled for C++ only
    target_precompile_headers(${name} REUSE_FROM tutti_gtest)
  endif()
  add_dependencies(unit_tests ${name})
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS "${arg_LABELS}")
  if(NOT arg_ONE_THREAD)
    set_tests_properties(${name} PROPERTIES RUN_SERIAL ON)
  endif()
endfunction()

# tutti_mpi_program(name mpich|openmpi source... [LIBRARIES library...]): a C program for one MPI ABI
# that contains no path of the build machine; who starts it sets LD_LIBRARY_PATH to its MPI
# (`tutti bench` does). It uses the compiler wrapper of the environment in .mpi, else the system's by
# its full name. A plain mpicc on the PATH could belong to any MPI. Without a wrapper there is no
# such target.
function(tutti_mpi_program name mpi)
  cmake_parse_arguments(arg "" "" "LIBRARIES" ${ARGN})
  string(TOUPPER TUTTI_${mpi}_MPICC wrapper)
  find_program(${wrapper} NAMES mpicc PATHS ${PROJECT_SOURCE_DIR}/.mpi/${mpi}/bin NO_DEFAULT_PATH
    DOC "the compiler wrapper for programs of ${mpi}")
  find_program(${wrapper} NAMES mpicc.${mpi})
  if(NOT ${wrapper})
    message(STATUS "no ${name}: no compiler wrapper; set ${wrapper}")
    return()
  endif()
  execute_process(COMMAND ${${wrapper}} -show OUTPUT_VARIABLE command OUTPUT_STRIP_TRAILING_WHITESPACE
    RESULT_VARIABLE failed ERROR_QUIET)
  if(failed)
    message(STATUS "no ${name}: '${${wrapper}} -show' fails; set ${wrapper}")
    return()
  endif()
  # Only directories and libraries are taken: the wrapper's run-time search path must not get into
  # the program.
  string(REGEX MATCHALL "(^| )-[IL][^ ]+" directories "${command}")
  string(REGEX MATCHALL "(^| )-l[^ ]+" libraries "${command}")
  list(TRANSFORM libraries STRIP)
  add_executable(${name} ${arg_UNPARSED_ARGUMENTS})
  foreach(directory ${directories})
    string(STRIP "${directory}" directory)
    string(SUBSTRING "${directory}" 2 -1 path)
    if(directory MATCHES "^-I")
      target_include_directories(${name} SYSTEM PRIVATE ${path})
    else()
      target_link_directories(${name} PRIVATE ${path})
    endif()
  endforeach()
  target_compile_options(${name} PRIVATE -O3)
  target_link_options(${name} PRIVATE "LINKER:--allow-shlib-undefined")
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} ${libraries} ${CMAKE_DL_LIBS})
  set_target_properties(${name} PROPERTIES C_STANDARD 11 SKIP_BUILD_RPATH ON SKIP_INSTALL_RPATH ON)
endfunction()
