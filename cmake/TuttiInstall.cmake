# The files that leave the build tree: `cmake --install` (library, headers, launcher, CMake and
# pkg-config files) and the Python wheel (component "python", which a plain installation leaves
# out).
#
# In both, as in the build tree, bin/ and lib/ are in one directory, so that tutti-run finds the
# interposers in ../lib.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

get_property(interposers GLOBAL PROPERTY TUTTI_INTERPOSERS)
set(programs "")
if(TARGET tutti-run)
  list(APPEND programs tutti-run)
endif()
# Interposers find it in ../bin, in every installation.
set(helpers "")
if(TARGET tutti-server)
  list(APPEND helpers tutti-server)
endif()

# Programs that the Python command line starts: every executable of bench/ and of examples/apps/.
set(bench_programs "")
foreach(directory bench examples/apps)
  get_property(bench_targets DIRECTORY ${PROJECT_SOURCE_DIR}/${directory} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target ${bench_targets})
    get_target_property(type ${target} TYPE)
    if(type STREQUAL EXECUTABLE AND NOT target MATCHES "_test$")
      list(APPEND bench_programs ${target})
    endif()
  endforeach()
endforeach()

# only_export(target pattern...): the library exports no other symbols. Hidden visibility alone
# would export the templates of the C++ library that the target instantiates, and a program could
# bind to them by accident.
function(only_export target)
  list(JOIN ARGN "; " patterns)
  set(script ${PROJECT_BINARY_DIR}/${target}.version)
  file(CONFIGURE OUTPUT ${script} CONTENT "{ global: ${patterns}; local: *; };\n")
  target_link_options(${target} PRIVATE LINKER:--version-script=${script})
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${script})
endfunction()

# Interposers are loaded by file name, never linked: each is one file; its soname has the ABI's
# number.
foreach(target ${interposers})
  set_target_properties(${target} PROPERTIES NO_SONAME ON)
  target_link_options(${target} PRIVATE "LINKER:-soname,lib${target}.so.${PROJECT_VERSION_MAJOR}")
  only_export(${target} "tutti_*" "MPI_*" "MPIX_*" "PMPI_*" dlopen
    ucp_worker_create ucp_worker_destroy ucp_worker_progress) # the last four: entry/loader.cpp, progress/ucx.cpp
endforeach()
# tutti-run --shared-heap preloads this library like the interposers.
if(TARGET tutti-heap)
  list(APPEND interposers tutti-heap)
  set_target_properties(tutti-heap PROPERTIES NO_SONAME ON)
  target_link_options(tutti-heap PRIVATE "LINKER:-soname,libtutti-heap.so.${PROJECT_VERSION_MAJOR}")
  only_export(tutti-heap tutti_heap malloc calloc realloc reallocarray free memalign aligned_alloc posix_memalign valloc
    pvalloc malloc_usable_size)
endif()
tutti_portable(${interposers} ${programs} ${helpers} ${bench_programs})
foreach(target ${interposers} ${programs} ${helpers} ${bench_programs})
  set_target_properties(${target} PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
endforeach()

install(TARGETS ${interposers} ${programs} ${helpers}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT interposers
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT interposers)
# The man page is what --help says. A module file lets sites offer an installation.
if(TARGET tutti-run AND NOT CMAKE_CROSSCOMPILING)
  find_package(Python 3.10 COMPONENTS Interpreter REQUIRED)
  set(man_page ${PROJECT_BINARY_DIR}/tutti-run.1)
  add_custom_command(OUTPUT ${man_page}
    COMMAND ${Python_EXECUTABLE} ${PROJECT_SOURCE_DIR}/scripts/man_page.py $<TARGET_FILE:tutti-run> ${man_page}
    DEPENDS tutti-run ${PROJECT_SOURCE_DIR}/scripts/man_page.py VERBATIM)
  add_custom_target(tutti_man_page ALL DEPENDS ${man_page})
  install(FILES ${man_page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT interposers)
  if(SKBUILD_DATA_DIR)
    install(FILES ${man_page} DESTINATION ${SKBUILD_DATA_DIR}/share/man/man1 COMPONENT python EXCLUDE_FROM_ALL)
  endif()
endif()
configure_file(cmake/modulefile.in ${PROJECT_BINARY_DIR}/modulefile @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/modulefile DESTINATION ${CMAKE_INSTALL_DATADIR}/modulefiles/tutti
  RENAME ${PROJECT_VERSION} COMPONENT interposers)

install(TARGETS ${interposers} ${helpers} ${bench_programs}
  LIBRARY DESTINATION tutti/lib COMPONENT python EXCLUDE_FROM_ALL
  RUNTIME DESTINATION tutti/bin COMPONENT python EXCLUDE_FROM_ALL)
# SimGrid's smpirun, which `tutti sim` starts, loads these.
foreach(target tutti-sim tutti-sim-host)
  if(TARGET ${target})
    install(TARGETS ${target} LIBRARY DESTINATION tutti/lib COMPONENT python EXCLUDE_FROM_ALL)
  endif()
endforeach()
if(SKBUILD_SCRIPTS_DIR)
  install(TARGETS ${programs} RUNTIME DESTINATION ${SKBUILD_SCRIPTS_DIR} COMPONENT python EXCLUDE_FROM_ALL)
endif()

if(TARGET _core)
  tutti_portable(_core)
  only_export(_core "PyInit__core")
endif()

if(TARGET tutti)
  tutti_portable(tutti)
  only_export(tutti "tutti_*")
  set_target_properties(tutti PROPERTIES
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib
    INTERFACE_INCLUDE_DIRECTORIES
      "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>;$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
  if(NOT TARGET Tutti::tutti)
    add_library(Tutti::tutti ALIAS tutti)
  endif()
  install(TARGETS tutti EXPORT TuttiTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
  install(DIRECTORY include/tutti DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT library)
  # A wheel cannot contain symbolic links. Its file has the name that programs ask for when they
  # start, and a linker that looks for the plain name finds a script.
  set(library_in_wheel libtutti.so.${PROJECT_VERSION_MAJOR})
  install(FILES $<TARGET_FILE:tutti> DESTINATION tutti/lib RENAME ${library_in_wheel} COMPONENT python EXCLUDE_FROM_ALL)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/wheel_link/libtutti.so CONTENT "INPUT ( ${library_in_wheel} )\n")
  install(FILES ${PROJECT_BINARY_DIR}/wheel_link/libtutti.so DESTINATION tutti/lib COMPONENT python EXCLUDE_FROM_ALL)
  # The extension for torch is compiled where it is used.
  install(FILES include/tutti/tutti.h DESTINATION tutti/include/tutti COMPONENT python EXCLUDE_FROM_ALL)
  install(CODE "if(CMAKE_INSTALL_DO_STRIP) # files are copied as they are, unlike targets
    execute_process(COMMAND \"${CMAKE_STRIP}\" \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/tutti/lib/${library_in_wheel}\"
      COMMAND_ERROR_IS_FATAL ANY)
  endif()" COMPONENT python EXCLUDE_FROM_ALL)

  set(package_directory ${CMAKE_INSTALL_LIBDIR}/cmake/Tutti)
  install(EXPORT TuttiTargets NAMESPACE Tutti:: DESTINATION ${package_directory} COMPONENT library)
  configure_package_config_file(cmake/TuttiConfig.cmake.in ${PROJECT_BINARY_DIR}/TuttiConfig.cmake
    INSTALL_DESTINATION ${package_directory})
  # Before 1.0 a minor version may change the interface, so only patches count as compatible.
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/TuttiConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/TuttiConfig.cmake ${PROJECT_BINARY_DIR}/TuttiConfigVersion.cmake
    DESTINATION ${package_directory} COMPONENT library)
  # pkg-config derives the prefix from the place of this file, so that an installation can be moved.
  file(RELATIVE_PATH prefix_from_pc_file /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  configure_file(cmake/tutti.pc.in ${PROJECT_BINARY_DIR}/tutti.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/tutti.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT library)
endif()

install(FILES LICENSE THIRD_PARTY.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT library)
