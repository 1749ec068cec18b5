"""`python -m contextwright` is the command `cw`."""

from __future__ import annotations

import sys

from contextwright.cli import main

sys.exit(main())
