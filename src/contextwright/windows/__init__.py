"""Which messages stay, and why."""

from contextwright.windows.clearing import Clearing
from contextwright.windows.decide import decide
from contextwright.windows.decisions import Action, Decision, Decisions, Run, Span
from contextwright.windows.history import History, View
from contextwright.windows.log import Log
from contextwright.windows.policies import (
    FirstAndRecent,
    KeepAll,
    KeepRecent,
    Layers,
    Stepped,
    Window,
)

__all__ = [
    "Action",
    "Clearing",
    "Decision",
    "Decisions",
    "FirstAndRecent",
    "History",
    "KeepAll",
    "KeepRecent",
    "Layers",
    "Log",
    "Run",
    "Span",
    "Stepped",
    "View",
    "Window",
    "decide",
]
