"""A client that the user brings along: whose server it talks to is the client's own business."""

from .base import Provider

CLIENT = Provider(name="client", advice="check the client's `base_url` and the network")
