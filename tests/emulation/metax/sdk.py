"""What the tests of base/tests have to know of this SDK."""

prefix = "mc"  # of the runtime's names
library = "libmcruntime.so"
title = "MACA"
driver = "MetaX driver"
visible_devices = "MACA_VISIBLE_DEVICES"
root_variable = "METAX_PATH"
root_prefixes = ("MACA", "METAX")  # of the variables that name it
root = "/opt/maca"
probe = "include/mcr/mc_runtime_api.h"  # of a toolkit in which all else is missing
missing = ["libmcruntime.so"]
quirks = ["unknown_pointer"]  # of base/runtime
versions_refused = ["20500", "40000", "4000"]
versions_accepted = ["30801", "30800", "3080", "11060"]
properties = "MetaX C550 (emulated)", 8, 0, 104, 64  # name, major, minor, multiprocessors, warp, as the device layer gives them
attributes = {10: 64, 16: 104, 21: 1000, 22: 0}  # by the vendor's number
