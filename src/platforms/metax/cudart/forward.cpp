// SPDX-License-Identifier: Apache-2.0
// forward.cpp: each of CUDA's names is a jump to cu-bridge's function of that name, whatever its arguments are.
//
// Both libraries have the same names, so this one cannot be linked with the other: it asks for the functions when it is loaded.
#include "bridge.h"

#include <dlfcn.h>

#include "names.h"

#if !defined(__x86_64__)
#error "the jumps below are x86-64's; MetaX's SDK is not known on another processor"
#endif

namespace {

int not_supported() { return torch_fl::cudart::kNotSupported; }

// cu-bridge's library: beside this one's folder (an emulated SDK), else in the SDK's default place, by this library's run path.
// Where there is none, every function says that it is not supported, and the platform's device layer says why.
void* bridge() {
  static void* const library = dlopen(TORCH_FL_CUDA_BRIDGE, RTLD_NOW | RTLD_LOCAL);
  return library;
}

}  // namespace

namespace torch_fl::cudart {

void* of_bridge(const char* name) { return bridge() ? dlsym(bridge(), name) : nullptr; }

}  // namespace torch_fl::cudart

#define TORCH_FL_SLOT(name) __attribute__((visibility("hidden"))) void* torch_fl_##name = reinterpret_cast<void*>(&not_supported);
extern "C" {
TORCH_FL_FORWARDED(TORCH_FL_SLOT)
}

#define TORCH_FL_JUMP(name)                                                                       \
  __asm__(".text\n.globl " #name "\n.type " #name ", @function\n" #name ":\n  jmp *torch_fl_" #name \
          "(%rip)\n.size " #name ", .-" #name "\n");
TORCH_FL_FORWARDED(TORCH_FL_JUMP)

namespace {

__attribute__((constructor)) void fill_slots() {
#define TORCH_FL_FILL(name) \
  if (void* function = torch_fl::cudart::of_bridge(#name)) torch_fl_##name = function;
  TORCH_FL_FORWARDED(TORCH_FL_FILL)
}

}  // namespace
