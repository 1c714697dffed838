// The parts of the Python module tutti._core, each of which binds one room. Called once, when the
// module is imported.
//
// Objects are values: what Python gets is a copy or is owned by Python, immutable, and safe to use
// from any thread (but for PlanBuilder, which says so). tutti::Error becomes tutti._core.Error,
// whose message is that of the C++ error.
#pragma once

#include <nanobind/nanobind.h>

namespace tutti::python {

void bind_definition(nanobind::module_& module);
void bind_plans(nanobind::module_& module);
void bind_builder(nanobind::module_& module);
void bind_maps(nanobind::module_& module);
void bind_selection(nanobind::module_& module);
void bind_machine(nanobind::module_& module);

}  // namespace tutti::python
