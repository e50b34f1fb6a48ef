"""`python -m node` goes in; the command line `gear-node` comes out."""

from node.cli import main

if __name__ == "__main__":
    main(prog_name="gear-node")
