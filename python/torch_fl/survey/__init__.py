"""What FlagGems' operators do on this device, measured: every operator, dtype, layout and edge value against the CPU.

The command is ``torch-fl survey``; it writes the evidence (:mod:`.evidence`) and the routing file that follows from it
(:mod:`.policy`).
"""
