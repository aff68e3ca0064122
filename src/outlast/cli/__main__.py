"""`python -m outlast.cli` is `outlast`, whatever is on the path."""

from outlast.cli.main import main

main()
