"""`python -m touchstone`: the command line."""

from touchstone.cli.main import main

main()
