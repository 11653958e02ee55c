"""Does this artifact fit this machine, and may it be released?  Answered from its compatibility.json, without PyTorch."""
