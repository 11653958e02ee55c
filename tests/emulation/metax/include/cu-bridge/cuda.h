/* SPDX-License-Identifier: Apache-2.0
 * cuda.h: PyTorch's headers ask the driver's interface for its version only. */
#ifndef CUDA_H
#define CUDA_H

#define CUDA_VERSION 11060

#endif
