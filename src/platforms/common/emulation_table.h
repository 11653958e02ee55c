// SPDX-License-Identifier: Apache-2.0
// The table of a platform whose SDK may be the emulated one: with the vendor's, the functions of flagos_emulation.h are null.
#pragma once

#include <flagos_emulation.h>

#include "table.h"

namespace flagos::TORCH_FL_PLATFORM_NAMESPACE {

inline flagos_platform make_table_with_emulation() {
  flagos_platform table = make_table(flagos_emulation_capabilities ? flagos_emulation_capabilities() : 0);
  if (flagos_emulation_host_offset) table.host_offset = guarded<&host_offset>;
  if (flagos_emulation_launch_host_function) table.launch_host_function = guarded<&launch_host_function>;
  return table;
}

}  // namespace flagos::TORCH_FL_PLATFORM_NAMESPACE
