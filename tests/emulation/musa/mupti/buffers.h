// SPDX-License-Identifier: Apache-2.0
// buffers.h: records go into buffers that the user lends; what finds no room is dropped and counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "mupti_activity.h"

namespace mupti {

// Bytes of a record in a buffer; 0 for a kind that has none.
size_t record_bytes(MUpti_ActivityKind kind);

MUptiResult set_callbacks(MUpti_BuffersCallbackRequestFunc request, MUpti_BuffersCallbackCompleteFunc complete);

// Copies one record. From any thread; may give a full buffer back, on this thread.
void write_record(const void* record, MUpti_ActivityKind kind);

// Gives back the buffer in use.
void flush();

// The number since the last question.
size_t take_dropped();

}  // namespace mupti
