#include "python/functions.h"

namespace tutti::python {
namespace {

void bind_all(PyObject* made) {
  Module module(made);
  error_class = PyErr_NewException("tutti._core.Error", PyExc_ValueError, nullptr);
  if (error_class == nullptr || PyObject_SetAttrString(made, "Error", error_class) != 0)
    throw PythonError();
  module.set("__version__", TUTTI_VERSION);
  bind_definition(module);
  bind_plans(module);
  bind_builder(module);
  bind_maps(module);
  bind_selection(module);
  bind_machine(module);
  bind_model(module);
}

}  // namespace
}  // namespace tutti::python

PyMODINIT_FUNC PyInit__core() {
  static PyModuleDef definition{};
  definition.m_base = PyModuleDef_HEAD_INIT;
  definition.m_name = "tutti._core";
  definition.m_size = -1;
  PyObject* const made = PyModule_Create(&definition);
  if (made == nullptr) return nullptr;
  const auto bind = [&] {
    tutti::python::bind_all(made);
    return true;
  };
  if (tutti::python::guarded(bind, false)) return made;
  Py_DECREF(made);
  return nullptr;
}
