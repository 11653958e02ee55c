// SPDX-License-Identifier: Apache-2.0
// The contract table: the one symbol that this library exports.
#include "table.h"

#include "settings.h"

namespace flagos::host {
namespace {

// Guard pages need every block to come from here.  The core copies the table before initialize.
uint32_t capabilities() {
  Settings settings;  // what is wrong with them is told by initialize
  const bool known = read_settings(&settings) == FLAGOS_SUCCESS;
  return FLAGOS_CAP_HOST_FUNCTION | (known && settings.copies ? 0 : FLAGOS_CAP_HOST_ALIAS) |
         (known && settings.guard ? FLAGOS_CAP_NO_CACHING : 0);
}

flagos_platform whole_table() {
  flagos_platform table = make_table(capabilities());
  table.host_offset = guarded<&host_offset>;
  table.launch_host_function = guarded<&launch_host_function>;
  return table;
}

}  // namespace
}  // namespace flagos::host

extern "C" __attribute__((visibility("default"))) const flagos_platform* flagos_platform_entry() {
  static const flagos_platform table = flagos::host::whole_table();
  return &table;
}
