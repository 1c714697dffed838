// Functions and classes of the Python module tutti._core, made of those of C++.
//
//   module.def<&check>("check", "plan"_a, "Proves that ...");
//   Class<Plan>(module, "Plan", "A collective ...").property<&Plan::ranks>("ranks").add();
//
// A function is a template argument, so each has a function of its own that Python can call; what
// that needs is in the static Function<f>::record. They are made when the module is imported, stay
// until the process ends, and never change.
//
// A name with _a is the name of an argument, in order; with `= value` the argument may be left out.
#pragma once

#include <exception>
#include <new>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/error.h"
#include "python/values.h"

namespace tutti::python {

struct Argument {
  const char* name;
  Object default_value;

  template <class T>
  Argument operator=(const T& value) const {
    return {name, to_python(value)};
  }
};

inline Argument operator""_a(const char* name, size_t) { return {name, {}}; }

// The class tutti._core.Error.
inline PyObject* error_class = nullptr;

// Calls f, and sets Python's error if it throws.
template <class F>
auto guarded(F f, decltype(f()) failed) -> decltype(f()) {
  try {
    return f();
  } catch (const PythonError&) {
  } catch (const Error& error) {
    PyErr_SetString(error_class, error.what());
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return failed;
}

// A function as Python calls it: its name and its arguments.
struct Record {
  const char* name = nullptr;
  std::string doc;
  std::vector<Argument> arguments;

  void add(Argument argument) { arguments.push_back(std::move(argument)); }
  void add(const char* text) { doc = text; }

  // The values of a call's arguments, in order; borrowed from the call and the record.
  std::vector<PyObject*> match(PyObject* given, PyObject* named) const;

 private:
  [[noreturn]] void refuse(const char* what, const char* which) const;
};

template <class>
struct Signature;
template <class R, class... P>
struct Signature<R (*)(P...)> {
  using Result = R;
  using Self = void;
  using Parameters = std::tuple<P...>;
};
template <class R, class C, class... P>
struct Signature<R (C::*)(P...)> : Signature<R (*)(P...)> {
  using Self = C;
};
template <class R, class C, class... P>
struct Signature<R (C::*)(P...) const> : Signature<R (C::*)(P...)> {};

template <auto f>
struct Function {
  // It is never destroyed, because the interpreter ends before static objects do.
  static inline Record& record = *new Record;
  using Of = Signature<decltype(f)>;
  using Parameters = typename Of::Parameters;

  static PyObject* value_of(PyObject* self, const std::vector<PyObject*>& values, size_t at) {
    if (self == nullptr) return values[at];
    return at == 0 ? self : values[at - 1];
  }

  // `self` is nullptr for a function without one. A free function takes it as its first parameter.
  template <size_t... at>
  static decltype(auto) call_by(PyObject* self, const std::vector<PyObject*>& values,
                                std::index_sequence<at...>) {
    if constexpr (std::is_void_v<typename Of::Self>) {
      return f(argument_of<std::tuple_element_t<at, Parameters>>(value_of(self, values, at))...);
    } else {
      return (held_by<typename Of::Self>(self).*
              f)(argument_of<std::tuple_element_t<at, Parameters>>(values[at])...);
    }
  }

  static decltype(auto) call_matched(PyObject* self, PyObject* given, PyObject* named) {
    return call_by(self, record.match(given, named),
                   std::make_index_sequence<std::tuple_size_v<Parameters>>());
  }

  static Object result_of(PyObject* self, PyObject* given, PyObject* named) {
    if constexpr (std::is_void_v<typename Of::Result>) {
      call_matched(self, given, named);
      return none();
    } else {
      return to_python(call_matched(self, given, named));
    }
  }

  static PyObject* method(PyObject* self, PyObject* given, PyObject* named) {
    return guarded([&] { return result_of(self, given, named).release(); },
                   static_cast<PyObject*>(nullptr));
  }
  // For functions of the module Python passes the module as self.
  static PyObject* function(PyObject*, PyObject* given, PyObject* named) {
    return method(nullptr, given, named);
  }
  static PyObject* make(PyTypeObject*, PyObject* given, PyObject* named) {
    return method(nullptr, given, named);
  }

  template <class... More>
  static void describe(const char* name, More... more) {
    record.name = name;
    (record.add(std::move(more)), ...);
  }
  static PyMethodDef entry(PyCFunctionWithKeywords called) {
    return {record.name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(called)),
            METH_VARARGS | METH_KEYWORDS, record.doc.c_str()};
  }
};

// A class whose objects hold a T.
template <class T>
class Class {
 public:
  Class(PyObject* module, const char* name, const char* doc)
      : module_(module),
        name_(name),
        full_name_(new std::string("tutti._core." + std::string(name))),
        doc_(doc) {}

  // A function that returns a T makes objects. Without one, only functions of the module do.
  template <auto f, class... More>
  Class& init(More... more) {
    Function<f>::describe(name_, std::move(more)...);
    make_ = Function<f>::make;
    return *this;
  }

  template <auto f, class... More>
  Class& def(const char* name, More... more) {
    Function<f>::describe(name, std::move(more)...);
    methods_.push_back(Function<f>::entry(Function<f>::method));
    return *this;
  }

  // A member, a member function or a function of a const T&.
  template <auto f>
  Class& property(const char* name, const char* doc = nullptr) {
    const getter get = [](PyObject* self, void*) -> PyObject* {
      return guarded(
          [&] {
            const T& value = held_by<T>(self);
            return to_python(std::invoke(f, value)).release();
          },
          static_cast<PyObject*>(nullptr));
    };
    properties_.push_back({name, get, nullptr, doc, nullptr});
    return *this;
  }

  void add() {
    // Python keeps the arrays.
    auto* const methods = new std::vector(methods_);
    auto* const properties = new std::vector(properties_);
    methods->push_back({});
    properties->push_back({});
    std::vector<PyType_Slot> slots = {
        {Py_tp_dealloc, reinterpret_cast<void*>(&destroy)},
        {Py_tp_doc, const_cast<char*>(doc_)},
        {Py_tp_methods, methods->data()},
        {Py_tp_getset, properties->data()},
    };
    unsigned int flags = Py_TPFLAGS_DEFAULT;
    if (make_ != nullptr)
      slots.push_back({Py_tp_new, reinterpret_cast<void*>(make_)});
    else
      flags |= Py_TPFLAGS_DISALLOW_INSTANTIATION;
    slots.push_back({});
    PyType_Spec spec = {full_name_->c_str(), sizeof(Held<T>), 0, flags, slots.data()};
    Object made = Object::take(PyType_FromSpec(&spec));
    if (PyObject_SetAttrString(module_, name_, made.get()) != 0) throw PythonError();
    Held<T>::type = made.release();
  }

 private:
  static void destroy(PyObject* self) {
    PyTypeObject* const type = Py_TYPE(self);
    delete reinterpret_cast<Held<T>*>(self)->value;
    reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(reinterpret_cast<PyObject*>(type));
  }

  PyObject* const module_;
  const char* const name_;
  const std::string* const full_name_;  // Python keeps it
  const char* const doc_;
  newfunc make_ = nullptr;
  std::vector<PyMethodDef> methods_;
  std::vector<PyGetSetDef> properties_;
};

// The module while it is being made.
class Module {
 public:
  explicit Module(PyObject* module) : module_(module) {}

  template <auto f, class... More>
  void def(const char* name, More... more) {
    Function<f>::describe(name, std::move(more)...);
    static PyMethodDef entry;
    entry = Function<f>::entry(Function<f>::function);
    set(name, Object::take(PyCFunction_NewEx(&entry, nullptr, name_of_module().get())));
  }

  template <class T>
  void set(const char* name, const T& value) {
    if (PyObject_SetAttrString(module_, name, to_python(value).get()) != 0) throw PythonError();
  }

  PyObject* get() const { return module_; }

 private:
  Object name_of_module() const {
    return Object::take(PyObject_GetAttrString(module_, "__name__"));
  }

  PyObject* const module_;
};

// The parts of the module, each of which binds one room.
void bind_definition(Module& module);
void bind_plans(Module& module);
void bind_builder(Module& module);
void bind_maps(Module& module);
void bind_selection(Module& module);
void bind_machine(Module& module);
void bind_model(Module& module);

}  // namespace tutti::python
