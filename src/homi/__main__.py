"""``python -m homi`` and the command ``homi``."""

import sys


def _stopped() -> int:
    print("Stopped.", file=sys.stderr)
    return 130


def main() -> None:
    """Run the command, or say what to install for it."""
    try:
        from homi.cli.app import app
    except KeyboardInterrupt:
        sys.exit(_stopped())
    except ImportError as error:
        sys.exit(
            f"homi: the command needs the package {error.name}, which is not "
            "installed; install it with: pip install --upgrade homi-learn"
        )
    try:
        app()
    except KeyboardInterrupt:
        sys.exit(_stopped())


if __name__ == "__main__":
    main()
