// The border of the C API: exceptions become status codes here and only here. Internal to
// src/api.
#pragma once

#include <exception>
#include <new>
#include <string>
#include <utility>

#include "base/error.h"
#include "api/arguments.h"
#include "tutti/tutti.h"

namespace tutti::api {

// Why the thread's last failed call failed (tutti_error_message).
inline thread_local std::string last_error;

inline tutti_status report(Code code, std::string message) {
  last_error = std::move(message);
  return static_cast<tutti_status>(code);
}

template <class Body>
tutti_status guarded(Body body) {
  try {
    return body();
  } catch (const Error& error) {
    return report(error.code(), error.what());
  } catch (const std::bad_alloc&) {
    return report(Code::unavailable, "out of memory");
  } catch (const std::exception& error) {
    return report(Code::internal, error.what());
  }
}

inline void require_group(const tutti_group* group) {
  require(group != nullptr, "group is null; tutti_team_join makes one");
}

}  // namespace tutti::api
