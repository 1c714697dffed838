# tutti_portable(target...): makes programs and libraries that run on other machines than this one:
# with every glibc from 2.28 on, and with no other library of this machine.
#
# They are linked against stand-ins of the older glibc (scripts/old_glibc.py), GCC's libraries are
# linked statically, and src/old_glibc has the few functions that these take from newer versions of
# glibc. If this compiler cannot do that, TUTTI_OLD_GLIBC is OFF, and the targets need this
# machine's libraries (docs/decisions/one-file-for-every-glibc.md).
set(TUTTI_OLD_GLIBC ON CACHE BOOL "link against glibc 2.28, so that what is built runs on older systems too")

set(old_glibc ${PROJECT_BINARY_DIR}/old_glibc)
set(old_glibc_sources ${PROJECT_SOURCE_DIR}/src/old_glibc)
set(old_glibc_options -L${old_glibc} -static-libstdc++ -static-libgcc)

# find_old_glibc(RESULT): makes the stand-ins and tries them.
function(find_old_glibc result)
  set(${result} OFF PARENT_SCOPE)
  if(NOT CMAKE_SYSTEM_NAME STREQUAL "Linux" OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU" OR TUTTI_SANITIZE)
    return()
  endif()
  find_package(Python 3.10 COMPONENTS Interpreter REQUIRED)
  set(script ${PROJECT_SOURCE_DIR}/scripts/old_glibc.py)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${script})
  if(NOT EXISTS ${old_glibc}/libc.so OR ${script} IS_NEWER_THAN ${old_glibc}/libc.so)
    execute_process(COMMAND ${Python_EXECUTABLE} ${script} ${old_glibc} ${CMAKE_C_COMPILER}
      RESULT_VARIABLE failed ERROR_VARIABLE why)
    if(failed)
      string(REGEX REPLACE ".*\n(.+)" "\\1" why "${why}")
      message(STATUS "no stand-ins of an older glibc: ${why}")
      return()
    endif()
  endif()
  if(NOT DEFINED TUTTI_LINKS_FOR_OLD_GLIBC)
    try_compile(TUTTI_LINKS_FOR_OLD_GLIBC
      SOURCES ${old_glibc_sources}/trial.cpp ${old_glibc_sources}/functions.c ${old_glibc_sources}/start.c
      LINK_OPTIONS ${old_glibc_options} LINKER:--wrap=__libc_start_main)
  endif()
  set(${result} ${TUTTI_LINKS_FOR_OLD_GLIBC} PARENT_SCOPE)
endfunction()

if(TUTTI_OLD_GLIBC)
  find_old_glibc(old_glibc_works)
  if(old_glibc_works)
    add_library(tutti_old_glibc OBJECT ${old_glibc_sources}/functions.c)
    add_library(tutti_old_glibc_start OBJECT ${old_glibc_sources}/start.c)
  elseif(NOT TUTTI_SANITIZE)
    message(STATUS "what is built here needs the glibc of this machine, because its compiler cannot link for an older one")
  endif()
endif()

function(tutti_portable)
  if(NOT TARGET tutti_old_glibc)
    return()
  endif()
  foreach(target ${ARGN})
    target_link_options(${target} PRIVATE ${old_glibc_options})
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:tutti_old_glibc>)
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${old_glibc}/libc.so)
    get_target_property(type ${target} TYPE)
    if(type STREQUAL EXECUTABLE)
      target_sources(${target} PRIVATE $<TARGET_OBJECTS:tutti_old_glibc_start>)
      target_link_options(${target} PRIVATE LINKER:--wrap=__libc_start_main)
    endif()
  endforeach()
endfunction()
