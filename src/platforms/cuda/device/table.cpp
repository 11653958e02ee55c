// SPDX-License-Identifier: Apache-2.0
// The contract table. Work of the CPU on a stream may not call CUDA, and freeing a tensor in it would, so there is no
// launch_host_function.
#include "table.h"

extern "C" __attribute__((visibility("default"))) const flagos_platform* flagos_platform_entry() {
  static const flagos_platform table = flagos::cuda::make_table(/*capabilities=*/0);
  return &table;
}
