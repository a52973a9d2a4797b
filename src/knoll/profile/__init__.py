"""A private first look at a table, column by column: `knoll.Profile`."""

from knoll.registry import exports

__all__, __getattr__ = exports(__name__)
