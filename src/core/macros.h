// SPDX-License-Identifier: Apache-2.0
// macros.h: what libtorch_fl shows to the extension `_C` and to kernel libraries.
#pragma once

#define TORCH_FL_API __attribute__((visibility("default")))
