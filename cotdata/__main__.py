"""`python -m cotdata`, the same as the command `cotdata`."""

from cotdata.cli import main

main()
