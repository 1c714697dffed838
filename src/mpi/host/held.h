// Datatypes and operations that collectives under way use. MPI lets a program free them while an
// operation that it has started uses them, so Tutti frees them later (MPI 5.0, section 6.12).
//
// A handle may be held several times. While it is held, free_type and free_op only note that the
// program has freed it; the last release frees it. Predefined handles need not be held, because no
// program may free them. Each process has one table, with a lock, which is never destroyed; any
// thread may call. A program that holds nothing pays one load in each call that frees.
#pragma once

#include "mpi/host/host.h"

namespace tutti::mpi {

// Throw bad_alloc; the handle is then not held.
void hold_type(Datatype type);
void hold_op(Op op);
void release_type(Datatype type) noexcept;
void release_op(Op op) noexcept;

// The bodies of MPI_Type_free and MPI_Op_free, which are also those of PMPI_*.
int free_type(Datatype* type);
int free_op(Op* op);

}  // namespace tutti::mpi
