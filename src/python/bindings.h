// The parts of the Python module tutti._core; each binds one room. They are called once, when the
// module is imported.
//
// Objects are values: Python gets a copy or owns the object, which is immutable and safe to use
// from any thread (except PlanBuilder). tutti::Error becomes tutti._core.Error with the message of
// the C++ error.
#pragma once

#include <nanobind/nanobind.h>

namespace tutti::python {

void bind_definition(nanobind::module_& module);
void bind_plans(nanobind::module_& module);
void bind_builder(nanobind::module_& module);
void bind_maps(nanobind::module_& module);
void bind_selection(nanobind::module_& module);
void bind_machine(nanobind::module_& module);
void bind_model(nanobind::module_& module);

}  // namespace tutti::python
