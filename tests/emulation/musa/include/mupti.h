/* SPDX-License-Identifier: Apache-2.0
 * mupti.h of the emulated MUSA SDK: our own declarations, from what public code calls. MUPTI follows CUPTI name by name
 * (prefix mupti, MUpti_, MUPTI_); where the vendor's header is not public, a number or the order of fields is a guess and says
 * so. Source compatible only: a build against the vendor's header needs no change, a binary of one does not fit the other.
 */
#ifndef MUPTI_H
#define MUPTI_H

#include "mupti_activity.h"
#include "mupti_callbacks.h"
#include "mupti_result.h"

#endif
