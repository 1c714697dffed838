// The host MPI's handles, counts and statuses as the rooms of src/mpi have them.
//
// Every MPI has types of its own for these: integers of 32 bits in MPICH, addresses in Open MPI and
// in the standard ABI. Code that used them would be compiled for each MPI. So only src/mpi/abi and
// src/mpi/entry see mpi.h, and all other rooms are compiled once, with the types below. A handle
// has the same bits in both forms (abi/convert.h converts them). Plain values, for any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace tutti::mpi {

enum class Comm : uint64_t {};
enum class Datatype : uint64_t {};
enum class Errhandler : uint64_t {};
enum class File : uint64_t {};
enum class Group : uint64_t {};
enum class Info : uint64_t {};
enum class Message : uint64_t {};
enum class Op : uint64_t {};
enum class Request : uint64_t {};
enum class Session : uint64_t {};
enum class Win : uint64_t {};

template <class Type>
concept Handle = std::is_enum_v<Type> && std::is_same_v<std::underlying_type_t<Type>, uint64_t>;

using Count = long long;
using Aint = std::ptrdiff_t;
using Offset = long long;
constexpr int success = 0;  // MPI_SUCCESS, the same in every MPI

// Memory for a status of the host's, which abi/convert.h checks to be large enough.
struct Status {
  alignas(8) std::byte of_host[64];
};

// A callback for errors, which must not look at its first argument: it points to a handle of the
// host's.
using ErrorHandler = void(void* comm, int* code, ...);

// The types of a function table (host_functions.h) in these rooms. Arrays of handles and of
// statuses, whose elements differ in size, are passed on as they are.
struct HouseTypes {
  using Comm = mpi::Comm;
  using Datatype = mpi::Datatype;
  using Errhandler = mpi::Errhandler;
  using File = mpi::File;
  using Group = mpi::Group;
  using Info = mpi::Info;
  using Message = mpi::Message;
  using Op = mpi::Op;
  using Request = mpi::Request;
  using Session = mpi::Session;
  using Win = mpi::Win;
  using Count = mpi::Count;
  using Aint = mpi::Aint;
  using Offset = mpi::Offset;
  using Status = mpi::Status;
  using ErrorHandler = mpi::ErrorHandler;
  using CopyAttribute = void;  // make_keyval() of host/host.h serves instead
  using DeleteAttribute = void;
  using Types = const void*;
  using TypesOut = void*;
  using Requests = void*;
  using ConstRequests = const void*;
  using Statuses = void*;
};

}  // namespace tutti::mpi
