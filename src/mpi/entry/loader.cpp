// dlopen, so that Tutti learns when a program loads a GPU's library: from then on the buffers of
// its calls may be in the GPU's memory (base/gpu.h). The library is found by the next call. Tutti
// also learns when the host loads a plugin, whose calls stay with the host (mpi/host/tools.h).
//
// The loader looks at the address to which dlopen returns: it searches by the RUNPATH of the
// library that called it. So the entry point is a jump, not a call, to the next dlopen, with the
// caller's registers and return address. On other processors libraries are looked for at the first
// calls of a communicator only.
#include <dlfcn.h>

#include "base/gpu.h"
#include "mpi/communicators/registry.h"
#include "mpi/host/tools.h"

#if defined(__x86_64__) || defined(__aarch64__)

// Gets the arguments of dlopen, and returns the next one. With RTLD_NOLOAD no library comes.
extern "C" __attribute__((visibility("hidden"), used)) void* tutti_before_dlopen(const char* path,
                                                                                 int flags) {
  static void* const next = dlsym(RTLD_NEXT, "dlopen");
  if ((flags & RTLD_NOLOAD) == 0) {
    tutti::gpu::libraries_come();
    tutti::mpi::lead_plugin_to_host(path, flags,
                                    reinterpret_cast<void* (*)(const char*, int)>(next));
    tutti::mpi::forget_remembered();
  }
  return next;
}

#if defined(__x86_64__)
__asm__(R"(
  .text
  .globl dlopen
  .type dlopen, @function
dlopen:
  endbr64
  push %rdi
  push %rsi
  sub $8, %rsp
  call tutti_before_dlopen
  add $8, %rsp
  pop %rsi
  pop %rdi
  jmp *%rax
  .size dlopen, . - dlopen
)");
#else
__asm__(R"(
  .text
  .globl dlopen
  .type dlopen, %function
dlopen:
  hint #34
  stp x29, x30, [sp, #-32]!
  stp x0, x1, [sp, #16]
  bl tutti_before_dlopen
  mov x16, x0
  ldp x0, x1, [sp, #16]
  ldp x29, x30, [sp], #32
  br x16
  .size dlopen, . - dlopen
)");
#endif
#endif
