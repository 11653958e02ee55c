// SPDX-License-Identifier: Apache-2.0
// The contract table: the one symbol that this library exports.
#include "emulation_table.h"

extern "C" __attribute__((visibility("default"))) const flagos_platform* flagos_platform_entry() {
  static const flagos_platform table = flagos::TORCH_FL_PLATFORM_NAMESPACE::make_table_with_emulation();
  return &table;
}
