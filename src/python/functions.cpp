#include "python/functions.h"

#include <string_view>

namespace tutti::python {

void Record::refuse(const char* what, const char* which) const {
  PyErr_Format(PyExc_TypeError, "%s() %s%s", name, what, which);
  throw PythonError();
}

std::vector<PyObject*> Record::match(PyObject* given, PyObject* named) const {
  std::vector<PyObject*> values(arguments.size(), nullptr);
  const Py_ssize_t count = given != nullptr ? PyTuple_Size(given) : 0;
  if (static_cast<size_t>(count) > values.size()) refuse("has too many arguments", "");
  for (Py_ssize_t at = 0; at < count; ++at)
    values[static_cast<size_t>(at)] = PyTuple_GetItem(given, at);
  PyObject *key = nullptr, *value = nullptr;
  for (Py_ssize_t at = 0; named != nullptr && PyDict_Next(named, &at, &key, &value) != 0;) {
    const auto word = from_python<std::string>(key);
    size_t which = 0;
    while (which < arguments.size() && arguments[which].name != word) ++which;
    if (which == arguments.size()) refuse("has no argument named ", word.c_str());
    if (values[which] != nullptr) refuse("is given twice its argument ", word.c_str());
    values[which] = value;
  }
  for (size_t at = 0; at < values.size(); ++at) {
    if (values[at] == nullptr) values[at] = arguments[at].default_value.get();
    if (values[at] == nullptr) refuse("lacks its argument ", arguments[at].name);
  }
  return values;
}

}  // namespace tutti::python
