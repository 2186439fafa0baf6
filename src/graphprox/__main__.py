"""``python -m graphprox`` is ``graphprox``."""

from graphprox.cli import main

if __name__ == "__main__":
    main()
