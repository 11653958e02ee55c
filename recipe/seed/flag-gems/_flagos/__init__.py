"""FlagGems' description of the vendor `flagos`: torch-fl's device, whichever hardware is behind it.

FlagGems imports this folder as a top-level module beside its own `backend_utils` and reads the two names below
(`flag_gems/runtime/backend/__init__.py` of 5.0.2).  It also imports it while it looks for a vendor, and leaves out a
folder that fails: so a process without the device never takes this one.
"""

import torch
from backend_utils import VendorInfoBase

if not hasattr(torch, "flagos"):
    raise ImportError(
        "FlagGems' vendor flagos needs torch-fl, which is not started in this process: install torch-fl, or do not set GEMS_VENDOR=flagos"
    )

vendor_info = VendorInfoBase(
    vendor_name="flagos",
    device_name="flagos",
    device_query_cmd="true",  # a program that succeeds: the check above has found the device
    dispatch_key="PrivateUse1",
    triton_extra_name="cuda",  # libdevice calls then become __nv_* symbols, which torch-fl-triton-host implements
)

# Which operators FlagGems gets wrong is measured and written into the routing files, not kept as a list here.
CUSTOMIZED_UNUSED_OPS = ()
