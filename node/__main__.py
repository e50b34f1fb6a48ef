"""Runs the command line `gear-node` as `python -m node`."""

from node.cli import main

if __name__ == "__main__":
    main(prog_name="gear-node")
