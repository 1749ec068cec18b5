"""A gateway: clients of the four wire APIs on one side, any provider on the other.

Needs `pip install 'contextwright[serve]'`.
"""

from contextwright.serve.app import create_app
from contextwright.serve.settings import GatewaySettings, Route, read_settings

__all__ = ["GatewaySettings", "Route", "create_app", "read_settings"]
