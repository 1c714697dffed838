// The start of programs that are linked against an older glibc (cmake/TuttiOldGlibc.cmake).
//
// Since glibc 2.34 the C library itself runs a program's constructors, and the start code that
// compilers link leaves that to it. The C library before expects a function for it, which this file
// passes. Newer ones call that function instead of running the constructors themselves.
#include <stddef.h>

typedef void Constructor(int, char**, char**);
typedef int Main(int, char**, char**);

extern Constructor* __init_array_start[] __attribute__((visibility("hidden")));
extern Constructor* __init_array_end[] __attribute__((visibility("hidden")));
extern void _init(void);
int __real___libc_start_main(Main* main, int count, char** words, void (*init)(int, char**, char**),
                             void (*fini)(void), void (*linker_fini)(void), void* stack_end);

static void construct(int count, char** words, char** environment) {
  _init();
  for (Constructor** constructor = __init_array_start; constructor < __init_array_end;
       ++constructor)
    (*constructor)(count, words, environment);
}

// The linker's --wrap puts it in the place of __libc_start_main.
__attribute__((visibility("hidden"))) int __wrap___libc_start_main(
    Main* main, int count, char** words, void (*init)(int, char**, char**), void (*fini)(void),
    void (*linker_fini)(void), void* stack_end) {
  return __real___libc_start_main(main, count, words, init != NULL ? init : construct, fini,
                                  linker_fini, stack_end);
}
