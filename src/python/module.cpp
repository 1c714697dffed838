#include "python/bindings.h"

#include "base/error.h"

NB_MODULE(_core, module) {
  module.attr("__version__") = TUTTI_VERSION;
  nanobind::exception<tutti::Error>(module, "Error", PyExc_ValueError);
  tutti::python::bind_definition(module);
  tutti::python::bind_plans(module);
  tutti::python::bind_builder(module);
  tutti::python::bind_maps(module);
  tutti::python::bind_selection(module);
  tutti::python::bind_machine(module);
  tutti::python::bind_model(module);
}
