// SPDX-License-Identifier: Apache-2.0
// mudnn_base.h: status, handle, tensor descriptor and workspace provider (names as mudnn has them; see mudnn.h).
#pragma once

#include <musa_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <vector>

#ifndef MUDNN_VERSION
#define MUDNN_VERSION 3300  // mudnn v3300, of MUSA 5.1
#endif
#define MUDNN_API __attribute__((visibility("default")))

namespace musa {
namespace dnn {

namespace emulation {
struct Inspect;  // the emulation's own view into the classes below
}

MUDNN_API size_t GetVersion();

enum class Status {  // numbers: guess
  SUCCESS = 0,
  INVALID_PARAMETER,
  NOT_INITIALIZED,
  ALLOC_FAILED,
  NOT_SUPPORTED,
  INTERNAL_ERROR,
  ARCH_MISMATCH,
  EXECUTION_FAILED,
};

// Device memory that is given back through its deleter.
using MemoryHandler = std::unique_ptr<void, std::function<void(void*)>>;
// Gives `bytes` bytes of device memory. The library may keep the handler until the work on the stream is queued.
using MemoryMaintainer = std::function<MemoryHandler(size_t)>;

// One for each device and thread. TF32 is allowed until SetAllowTF32(false).
class MUDNN_API Handle {
 public:
  Handle();  // guess: on the current device
  explicit Handle(int device);
  ~Handle();
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  Status SetStream(musaStream_t stream);
  musaStream_t GetStream() const;
  Status SetAllowTF32(bool allow);

 private:
  friend struct emulation::Inspect;
  int device_;
  uint64_t thread_;
  musaStream_t stream_ = nullptr;
  bool allow_tf32_ = true;
};

// Describes device memory, and does not own it. A Tensor without SetNdInfo stands for "none" where an argument is optional.
class MUDNN_API Tensor {
 public:
  enum class Type {  // numbers: guess
    FLOAT,
    DOUBLE,
    HALF,
    BFLOAT16,
    INT64,
    INT32,
    INT16,
    INT8,
    UINT8,
    UINT64,
    BOOL,
    QINT8,
    FP8_E4M3,
    FP8_E5M2,
  };
  enum class Format { NCW, NCHW, NHWC, NCDHW, NDHWC, DHWCN };  // numbers: guess

  Status SetType(Type type);
  Status SetFormat(Format format);
  Status SetAddr(const void* address);
  // Sizes and strides in elements; a stride of 0 repeats. Rank 0 is INVALID_PARAMETER: a scalar is one element of rank 1.
  Status SetNdInfo(int rank, const int64_t* sizes, const int64_t* strides);
  Status SetNdInfo(int rank, const int64_t* sizes);  // contiguous
  Status SetNdInfo(std::initializer_list<int64_t> sizes);
  Status SetNdInfo(std::initializer_list<int64_t> sizes, std::initializer_list<int64_t> strides);

 private:
  friend struct emulation::Inspect;
  Type type_ = Type::FLOAT;
  Format format_ = Format::NCHW;
  const void* address_ = nullptr;
  std::vector<int64_t> sizes_;
  std::vector<int64_t> strides_;
};

}  // namespace dnn
}  // namespace musa
