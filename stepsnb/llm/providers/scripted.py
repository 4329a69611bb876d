"""Replies written by hand, for notebooks and tests that need no model; nothing goes over a network."""

from .base import Provider

SCRIPTED = Provider(name="scripted", base_url="http://scripted.invalid/v1", is_free=True)
