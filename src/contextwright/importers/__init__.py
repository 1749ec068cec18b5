"""Conversations from the files of other tools: account exports, agents' logs, data sets.

```python
for conversation in importers.read("export.zip"):
    print(conversation.title, sum(1 for _ in conversation.messages))
```
"""

from contextwright.importers.base import Imported, Report
from contextwright.importers.detection import detect
from contextwright.importers.read import find, open_files, read

__all__ = ["Imported", "Report", "detect", "find", "open_files", "read"]
