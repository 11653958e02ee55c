// SPDX-License-Identifier: Apache-2.0
// The contract table: the one symbol that this library exports.
#include "emulation_table.h"
#include "runtime.h"

namespace flagos::skeleton {
namespace {

// The emulated card's functions keep their own sentence.
flagos_status emulated(flagos_status status) {
  return status == FLAGOS_SUCCESS ? status : fail(status, "the emulated card refused: %s", skeletonLastError());
}

}  // namespace

flagos_status host_offset(ptrdiff_t* bytes) { return emulated(flagos_emulation_host_offset(bytes)); }
flagos_status launch_host_function(int32_t device, flagos_stream stream, flagos_host_function function, void* argument) {
  return emulated(flagos_emulation_launch_host_function(device, stream, function, argument));
}

}  // namespace flagos::skeleton

extern "C" __attribute__((visibility("default"))) const flagos_platform* flagos_platform_entry() {
  static const flagos_platform table = flagos::skeleton::make_table_with_emulation();
  return &table;
}
