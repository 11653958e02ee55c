// SPDX-License-Identifier: Apache-2.0
// The names of a runtime whose interface mirrors CUDA's: musaMalloc, mcMalloc, ... differ in the first letters alone. A
// platform with such a runtime writes one header, vendor.h; the sources of this folder are then its device layer.
//
// vendor.h includes the vendor's header, defines TORCH_FL_RUNTIME(name) as the vendor's spelling of a name, and in namespace
// flagos::<platform>::vendor
//   Properties, PointerAttributes, Attribute   the structures that are spelled in other ways
//   common(error)                   an error of the vendor's own as the one that says the same in CUDA's terms
//   complete(theirs, ours)          what the vendor's properties say in other words than CUDA's
//   kTitle, kDriver, kMonitor, kVisibleDevices    the SDK, its driver, the driver's command and the variable that chooses cards
#pragma once

#include "vendor.h"

namespace flagos::TORCH_FL_PLATFORM_NAMESPACE::runtime {

using Error = TORCH_FL_RUNTIME(Error_t);
using Stream = TORCH_FL_RUNTIME(Stream_t);
using Event = TORCH_FL_RUNTIME(Event_t);
using CopyKind = TORCH_FL_RUNTIME(MemcpyKind);

// What a function has said, and its name for the sentence about that.
struct Answer {
  Error error;
  const char* function;
};

// By name and not by address: a vendor's header may overload a function for C++.
#define TORCH_FL_TEXT(name) #name
#define TORCH_FL_NAME(name) TORCH_FL_TEXT(name)
#define TORCH_FL_FUNCTION(ours, theirs)                                                       \
  inline constexpr auto ours = [](auto... arguments) -> Answer {                              \
    return {TORCH_FL_RUNTIME(theirs)(arguments...), TORCH_FL_NAME(TORCH_FL_RUNTIME(theirs))}; \
  }

TORCH_FL_FUNCTION(runtime_version, RuntimeGetVersion);

TORCH_FL_FUNCTION(get_device_count, GetDeviceCount);
TORCH_FL_FUNCTION(get_device, GetDevice);
TORCH_FL_FUNCTION(set_device, SetDevice);
TORCH_FL_FUNCTION(get_properties, GetDeviceProperties);
TORCH_FL_FUNCTION(synchronize_device, DeviceSynchronize);
TORCH_FL_FUNCTION(can_access_peer, DeviceCanAccessPeer);
TORCH_FL_FUNCTION(enable_peer_access, DeviceEnablePeerAccess);

TORCH_FL_FUNCTION(malloc, Malloc);
TORCH_FL_FUNCTION(free, Free);
TORCH_FL_FUNCTION(malloc_pinned, MallocHost);
TORCH_FL_FUNCTION(free_pinned, FreeHost);
TORCH_FL_FUNCTION(memory_info, MemGetInfo);
TORCH_FL_FUNCTION(pointer_attributes, PointerGetAttributes);

TORCH_FL_FUNCTION(copy, MemcpyAsync);
TORCH_FL_FUNCTION(copy_between_peers, MemcpyPeerAsync);
TORCH_FL_FUNCTION(fill, MemsetAsync);

TORCH_FL_FUNCTION(stream_priority_range, DeviceGetStreamPriorityRange);
TORCH_FL_FUNCTION(create_stream, StreamCreateWithPriority);
TORCH_FL_FUNCTION(destroy_stream, StreamDestroy);
TORCH_FL_FUNCTION(query_stream, StreamQuery);
TORCH_FL_FUNCTION(synchronize_stream, StreamSynchronize);
TORCH_FL_FUNCTION(wait_for_event, StreamWaitEvent);

TORCH_FL_FUNCTION(create_event, EventCreateWithFlags);
TORCH_FL_FUNCTION(destroy_event, EventDestroy);
TORCH_FL_FUNCTION(record_event, EventRecord);
TORCH_FL_FUNCTION(query_event, EventQuery);
TORCH_FL_FUNCTION(synchronize_event, EventSynchronize);
TORCH_FL_FUNCTION(elapsed_time, EventElapsedTime);

#undef TORCH_FL_FUNCTION
#undef TORCH_FL_NAME
#undef TORCH_FL_TEXT

inline Error forget_last_error() { return TORCH_FL_RUNTIME(GetLastError)(); }
inline const char* name_of(Error error) { return TORCH_FL_RUNTIME(GetErrorName)(error); }
inline const char* text_of(Error error) { return TORCH_FL_RUNTIME(GetErrorString)(error); }

inline constexpr Error kSuccess = TORCH_FL_RUNTIME(Success);
inline constexpr Error kInvalidValue = TORCH_FL_RUNTIME(ErrorInvalidValue);
inline constexpr Error kOutOfMemory = TORCH_FL_RUNTIME(ErrorMemoryAllocation);
inline constexpr Error kNotInitialized = TORCH_FL_RUNTIME(ErrorInitializationError);
inline constexpr Error kInvalidDirection = TORCH_FL_RUNTIME(ErrorInvalidMemcpyDirection);
inline constexpr Error kOldDriver = TORCH_FL_RUNTIME(ErrorInsufficientDriver);
inline constexpr Error kNoDevice = TORCH_FL_RUNTIME(ErrorNoDevice);
inline constexpr Error kInvalidDevice = TORCH_FL_RUNTIME(ErrorInvalidDevice);
inline constexpr Error kInvalidHandle = TORCH_FL_RUNTIME(ErrorInvalidResourceHandle);
inline constexpr Error kNotReady = TORCH_FL_RUNTIME(ErrorNotReady);
inline constexpr Error kIllegalAddress = TORCH_FL_RUNTIME(ErrorIllegalAddress);
inline constexpr Error kLaunchFailure = TORCH_FL_RUNTIME(ErrorLaunchFailure);
inline constexpr Error kNotSupported = TORCH_FL_RUNTIME(ErrorNotSupported);

inline constexpr CopyKind kHostToDevice = TORCH_FL_RUNTIME(MemcpyHostToDevice);
inline constexpr CopyKind kDeviceToHost = TORCH_FL_RUNTIME(MemcpyDeviceToHost);
inline constexpr CopyKind kDeviceToDevice = TORCH_FL_RUNTIME(MemcpyDeviceToDevice);
inline constexpr auto kDeviceMemory = TORCH_FL_RUNTIME(MemoryTypeDevice);
inline constexpr auto kPinnedMemory = TORCH_FL_RUNTIME(MemoryTypeHost);

// PyTorch orders its streams itself and expects them not to wait for the default stream.
inline constexpr unsigned kStreamFlags = TORCH_FL_RUNTIME(StreamNonBlocking);
inline constexpr unsigned kWithTiming = TORCH_FL_RUNTIME(EventDefault);
inline constexpr unsigned kWithoutTiming = TORCH_FL_RUNTIME(EventDisableTiming);

}  // namespace flagos::TORCH_FL_PLATFORM_NAMESPACE::runtime
