"""Another name for :mod:`torch_fl.flagos`, the module that ``torch.flagos`` is."""

import sys

from torch_fl import flagos

sys.modules[__name__] = flagos
flagos.alias_submodules(__name__)
