"""``python -m torch_fl.survey``: the same as ``torch-fl survey``."""

import typer

from torch_fl.cli.survey import survey

if __name__ == "__main__":
    typer.run(survey)
