// SPDX-License-Identifier: Apache-2.0
#include "kernels.h"

FLAGOS_KERNELS("musa", table) {
  using namespace torch_fl::mudnn;
  add_tables(table);
  add_copy_and_fill(table);
  add_selection(table);
  add_statistics(table);
  add_convolution(table);
  add_normalization(table);
  add_pooling(table);
  add_dropout(table);
  add_random(table);
}
