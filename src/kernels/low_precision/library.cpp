// SPDX-License-Identifier: Apache-2.0
#include "products.h"

FLAGOS_KERNELS("low_precision", table) { torch_fl::low_precision::add_products(table); }
