// SPDX-License-Identifier: Apache-2.0
// mudnncxx/mudnn.h: operator library of the emulated MUSA SDK, in the vendor's names.
//
// Declared from public call sites: which classes, setters, modes and Run forms exist and in which order their arguments
// stand is known; no vendor header is public. So it is *source*-compatible only: whoever calls it is compiled against this
// header for the emulated card and against the vendor's for a real one. What was not seen in use is marked "guess":
// numbers of enumerators, default values, the private parts of each class.
//
// Every call returns a Status and is asynchronous: it checks its arguments, copies the descriptors (which the caller may
// destroy at once) and queues the work on the handle's stream.
#pragma once

#include "mudnn_base.h"  // IWYU pragma: export
#include "mudnn_math.h"  // IWYU pragma: export
#include "mudnn_nn.h"    // IWYU pragma: export
