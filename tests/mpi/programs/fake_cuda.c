// A libcuda.so.1 or libamdhip64.so.6 without a GPU: memory that it gives out can be read and
// written only by cuMemcpy, while the context that owns it is current, and by hipMemcpy. The rest
// of the address space is the host's.
#define _GNU_SOURCE
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { most = 64, context_of_all = 77, invalid_value = 1, not_current = 201 };
typedef struct {
  char *face, *body;  // what the program gets, without permissions, and where the bytes are
  size_t bytes;
} Block;
static Block blocks[most];
static int count;
static __thread void* current;
static long copies;

static Block* block_of(uintptr_t address) {
  for (int i = 0; i < count; ++i)
    if (address >= (uintptr_t)blocks[i].face &&
        address < (uintptr_t)blocks[i].face + blocks[i].bytes)
      return &blocks[i];
  return NULL;
}

void* fake_allocate(size_t bytes) {
  const int file = memfd_create("fake gpu", MFD_CLOEXEC);
  if (count == most || file < 0) return NULL;
  bytes = (bytes + 4095) & ~(size_t)4095;
  if (ftruncate(file, (off_t)bytes) != 0) return NULL;
  Block* const made = &blocks[count];
  made->bytes = bytes;
  made->face = mmap(NULL, bytes, PROT_NONE, MAP_SHARED, file, 0);
  made->body = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ++count;
  return made->face;
}
long fake_copies(void) { return copies; }

int cuPointerGetAttribute(void* value, int which, uintptr_t address) {
  if (block_of(address) == NULL) return invalid_value;
  if (which == 1) *(void**)value = (void*)(uintptr_t)context_of_all;
  if (which == 2) *(unsigned*)value = 2;
  if (which == 8) *(unsigned*)value = 0;
  if (which == 9) *(int*)value = 0;
  return 0;
}

int cuCtxPushCurrent_v2(void* context) {
  current = context;
  return 0;
}
int cuCtxPopCurrent_v2(void** context) {
  *context = current;
  current = NULL;
  return 0;
}
int cuDevicePrimaryCtxRetain(void** context, int device) {
  (void)device;
  *context = (void*)(uintptr_t)context_of_all;
  return 0;
}
int cuStreamSynchronize(void* stream) {
  (void)stream;
  return 0;
}

static char* readable(uintptr_t address, size_t bytes) {
  Block* const block = block_of(address);
  if (block == NULL) return (char*)address;
  const size_t from = address - (uintptr_t)block->face;
  return from + bytes <= block->bytes ? block->body + from : NULL;
}
int cuMemcpy(uintptr_t to, uintptr_t from, size_t bytes) {
  if (current != (void*)(uintptr_t)context_of_all) return not_current;
  char *const target = readable(to, bytes), *const source = readable(from, bytes);
  if (target == NULL || source == NULL) return invalid_value;
  memcpy(target, source, bytes);
  ++copies;
  return 0;
}

int hipRuntimeGetVersion(int* version) {
  *version = 60240000;
  return 0;
}
int hipPointerGetAttribute(void* value, int which, void* address) {
  return cuPointerGetAttribute(value, which, (uintptr_t)address);
}
int hipMemcpy(void* to, const void* from, size_t bytes, int kind) {
  void* const context = current;
  if (kind != 4) return invalid_value;
  current = (void*)(uintptr_t)context_of_all;
  const int code = cuMemcpy((uintptr_t)to, (uintptr_t)from, bytes);
  current = context;
  return code;
}
