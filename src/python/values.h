// Values between Python and C++, by Python's stable interface.
//
// The module is compiled once for every Python from 3.10 on (Py_LIMITED_API), which is why it is
// bound by this header and functions.h and not by a library: those need Python 3.12 for that, or
// are compiled for each version.
//
// to_python() makes an object of a value, and Loader<T> a value of an object. Both throw
// PythonError once Python's error is set. All of this runs with the interpreter's lock.
#pragma once

#define Py_LIMITED_API 0x030A0000
#include <Python.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace tutti::python {

// Python's error is set; the function that Python called returns nullptr.
struct PythonError {};

[[noreturn]] inline void refuse_type(const char* wanted, PyObject* given) {
  PyErr_Format(PyExc_TypeError, "%s is wanted, not %R", wanted, given);
  throw PythonError();
}

// A reference to an object of Python.
class Object {
 public:
  Object() = default;
  // Takes over a new reference; nullptr is the error of the call that returned it.
  static Object take(PyObject* made) {
    if (made == nullptr) throw PythonError();
    Object object;
    object.object_ = made;
    return object;
  }
  Object(const Object& other) : object_(other.object_) { Py_XINCREF(object_); }
  Object(Object&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Object& operator=(Object other) {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Object() { Py_XDECREF(object_); }

  PyObject* get() const { return object_; }
  PyObject* release() { return std::exchange(object_, nullptr); }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  PyObject* object_ = nullptr;
};

inline Object none() {
  Py_INCREF(Py_None);
  return Object::take(Py_None);
}

// The class of Python whose objects hold a T; functions.h makes it. An object owns its value.
template <class T>
struct Held {
  PyObject_HEAD T* value;
  static inline PyObject* type = nullptr;

  static Object wrap(T made) {
    auto* const cls = reinterpret_cast<PyTypeObject*>(type);
    const auto make = reinterpret_cast<allocfunc>(PyType_GetSlot(cls, Py_tp_alloc));
    Object object = Object::take(make(cls, 0));
    reinterpret_cast<Held*>(object.get())->value = new T(std::move(made));
    return object;
  }
};

template <class>
constexpr bool is_list = false;
template <class T>
constexpr bool is_list<std::vector<T>> = true;
template <class>
constexpr bool is_optional = false;
template <class T>
constexpr bool is_optional<std::optional<T>> = true;
template <class>
constexpr bool is_tuple = false;
template <class... T>
constexpr bool is_tuple<std::tuple<T...>> = true;
template <class A, class B>
constexpr bool is_tuple<std::pair<A, B>> = true;

template <class T>
Object to_python(const T& value);

template <class... T>
Object tuple_of(const T&... values) {
  Object tuple = Object::take(PyTuple_New(sizeof...(values)));
  Py_ssize_t at = 0;
  (PyTuple_SetItem(tuple.get(), at++, to_python(values).release()), ...);
  return tuple;
}

class List : public Object {
 public:
  List() : Object(Object::take(PyList_New(0))) {}
  template <class T>
  void append(const T& value) {
    if (PyList_Append(get(), to_python(value).get()) != 0) throw PythonError();
  }
};

class Dict : public Object {
 public:
  Dict() : Object(Object::take(PyDict_New())) {}

  class Item {
   public:
    Item(PyObject* dict, Object key) : dict_(dict), key_(std::move(key)) {}
    template <class T>
    void operator=(const T& value) {
      if (PyDict_SetItem(dict_, key_.get(), to_python(value).get()) != 0) throw PythonError();
    }

   private:
    PyObject* const dict_;
    const Object key_;
  };
  Item operator[](std::string_view key) { return {get(), to_python(key)}; }
};

template <class T>
Object to_python(const T& value) {
  if constexpr (std::is_base_of_v<Object, T>) {
    return value;
  } else if constexpr (std::is_same_v<T, bool>) {
    return Object::take(PyBool_FromLong(value));
  } else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
    return Object::take(PyLong_FromLongLong(value));
  } else if constexpr (std::is_integral_v<T>) {
    return Object::take(PyLong_FromUnsignedLongLong(value));
  } else if constexpr (std::is_floating_point_v<T>) {
    return Object::take(PyFloat_FromDouble(value));
  } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    const std::string_view text = value;
    return Object::take(
        PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size())));
  } else if constexpr (is_optional<T>) {
    return value ? to_python(*value) : none();
  } else if constexpr (is_list<T>) {
    List list;
    for (const auto& one : value) list.append(one);
    return list;
  } else if constexpr (is_tuple<T>) {
    return std::apply([](const auto&... values) { return tuple_of(values...); }, value);
  } else {
    return Held<T>::wrap(value);
  }
}

// Reads an argument; it keeps what the value refers to for as long as it lives.
template <class T>
T from_python(PyObject* object);

template <class... T>
std::tuple<T...> tuple_from_python(PyObject* object, std::tuple<T...>*) {
  if (!PySequence_Check(object) || PySequence_Size(object) != sizeof...(T))
    refuse_type("a tuple", object);
  Py_ssize_t at = 0;
  const auto next = [&] { return Object::take(PySequence_GetItem(object, at++)); };
  return std::tuple<T...>{from_python<T>(next().get())...};
}

template <class A, class B>
std::pair<A, B> tuple_from_python(PyObject* object, std::pair<A, B>*) {
  auto [first, second] = tuple_from_python(object, static_cast<std::tuple<A, B>*>(nullptr));
  return {std::move(first), std::move(second)};
}

template <class T>
T integer_from_python(PyObject* object) {
  if (PyFloat_Check(object)) refuse_type("a whole number", object);
  const Object number = Object::take(PyNumber_Index(object));
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(number.get(), &overflow);
  if (overflow == 0 && std::in_range<T>(value)) return static_cast<T>(value);
  if (overflow > 0 && std::is_same_v<T, size_t>) {
    const unsigned long long large = PyLong_AsUnsignedLongLong(number.get());
    if (PyErr_Occurred() == nullptr) return static_cast<T>(large);
    PyErr_Clear();
  }
  PyErr_Format(PyExc_TypeError, "%R is not within the range of this number", object);
  throw PythonError();
}

template <class T>
T from_python(PyObject* object) {
  if constexpr (std::is_same_v<T, bool>) {
    if (!PyBool_Check(object)) refuse_type("True or False", object);
    return object == Py_True;
  } else if constexpr (std::is_integral_v<T>) {
    return integer_from_python<T>(object);
  } else if constexpr (std::is_floating_point_v<T>) {
    const double value = PyFloat_AsDouble(object);
    if (PyErr_Occurred() != nullptr) throw PythonError();
    return value;
  } else if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, std::string_view>) {
    if (!PyUnicode_Check(object)) refuse_type("a text", object);
    Py_ssize_t length = 0;
    const char* const text = PyUnicode_AsUTF8AndSize(object, &length);
    if (text == nullptr) throw PythonError();
    return T(text, static_cast<size_t>(length));
  } else if constexpr (is_optional<T>) {
    if (object == Py_None) return std::nullopt;
    return from_python<typename T::value_type>(object);
  } else if constexpr (is_list<T>) {
    if (!PySequence_Check(object) || PyUnicode_Check(object)) refuse_type("a list", object);
    T list;
    const Py_ssize_t count = PySequence_Size(object);
    for (Py_ssize_t at = 0; at < count; ++at)
      list.push_back(
          from_python<typename T::value_type>(Object::take(PySequence_GetItem(object, at)).get()));
    return list;
  } else {
    return tuple_from_python(object, static_cast<T*>(nullptr));
  }
}

// The parameter of a function for an argument: a value, or a reference to the value that an object
// holds.
template <class T>
constexpr bool is_held =
    std::is_class_v<T> && !std::is_same_v<T, std::string> && !std::is_same_v<T, std::string_view> &&
    !is_optional<T> && !is_list<T> && !is_tuple<T>;

template <class T>
T& held_by(PyObject* object) {
  const int is = PyObject_IsInstance(object, Held<T>::type);
  if (is < 0) throw PythonError();
  if (is == 0) {
    PyErr_Format(PyExc_TypeError, "%R is not of %R", object, Held<T>::type);
    throw PythonError();
  }
  return *reinterpret_cast<Held<T>*>(object)->value;
}

template <class Parameter>
decltype(auto) argument_of(PyObject* object) {
  using T = std::remove_cvref_t<Parameter>;
  if constexpr (is_held<T>)
    return held_by<T>(object);
  else
    return from_python<T>(object);
}

}  // namespace tutti::python
