# Finds Python's headers, which the Python module (src/python) needs, and sets TUTTI_PYTHON to ON if
# they are found. Without them everything but the module is built.
find_package(Python 3.10 COMPONENTS Interpreter Development.Module)
if(Python_Development.Module_FOUND)
  set(TUTTI_PYTHON ON)
elseif(SKBUILD)
  message(FATAL_ERROR "the wheel needs the headers of ${Python_EXECUTABLE} (Debian: python3-dev)")
else()
  set(TUTTI_PYTHON OFF)
  message(STATUS "no Python module: ${Python_EXECUTABLE} has no headers")
endif()
