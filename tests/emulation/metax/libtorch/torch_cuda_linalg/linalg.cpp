// SPDX-License-Identifier: Apache-2.0
// The real library registers the kernels of MAGMA and cuSOLVER when linear algebra is first asked for. Here the CPU's serve from
// the start, and the library only has its place among those that are bundled.
namespace at::maca {
__attribute__((visibility("default"))) bool emulated_linalg() { return true; }
}  // namespace at::maca
