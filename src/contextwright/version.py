"""The version of the installed package; `pyproject.toml` sets it."""

from importlib.metadata import version

__all__ = ["__version__"]

__version__ = version("contextwright")
