"""What the tests of base/tests have to know of this SDK."""

prefix = "musa"  # of the runtime's names
library = "libmusart.so.5"
title = "MUSA"
driver = "Moore Threads driver"
visible_devices = "MUSA_VISIBLE_DEVICES"
root_variable = "MUSA_HOME"
root_prefixes = ("MUSA",)  # of the variables that name it
root = "/usr/local/musa"
probe = "include/musa_runtime.h"  # of a toolkit in which all else is missing
missing = ["libmusart.so", "libmudnn.so", "libmurand.so"]
quirks = ["pointer_device"]  # of base/runtime
versions_refused = ["40300", "4030", "60000"]
versions_accepted = ["50100", "50200", "5010", "12080"]
properties = "MTT S5000 (emulated)", 3, 1, 60, 32  # name, major, minor, multiprocessors, warp, as the device layer gives them
attributes = {75: 3, 76: 1, 16: 60}  # by the vendor's number
