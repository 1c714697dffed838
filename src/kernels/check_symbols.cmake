# cmake -DNM=nm -DARCHIVE=libtutti_core.a -P check_symbols.cmake
# Fails if an object that is compiled for one instruction set defines any symbol but its table. The
# linker keeps only one of several weak definitions; if it kept the one with AVX-512, that would run
# on every processor.
execute_process(COMMAND ${NM} --defined-only --extern-only --print-file-name ${ARCHIVE}
  OUTPUT_VARIABLE listing ERROR_VARIABLE errors RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${NM} cannot read ${ARCHIVE}: ${errors}")
endif()
string(REGEX MATCHALL "[^\n]*isa_[a-z0-9_]+\\.cpp\\.o:[^\n]*" lines "${listing}")
set(tables 0)
foreach(line IN LISTS lines)
  if(line MATCHES " [DRB] [^ ]*kernels[0-9]*(table|folds)_[a-z0-9]+E?$")
    math(EXPR tables "${tables} + 1")
  else()
    message(SEND_ERROR "a kernel's object may define its table only, with internal linkage for the rest: ${line}")
  endif()
endforeach()
if(tables EQUAL 0)
  message(FATAL_ERROR "no table of kernels in ${ARCHIVE}")
endif()
message(STATUS "${tables} tables, nothing else")
