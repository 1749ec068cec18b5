"""Record a client: run it behind a gateway of its own, then ask the store what it sent."""

import subprocess
import sys
import tempfile

import contextwright as cw

CLIENT = """
import json, os, urllib.request
body = {"model": "echo", "messages": [{"role": "user", "content": "Is there soup?"}]}
url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
head = {"content-type": "application/json"}
request = urllib.request.Request(url, json.dumps(body).encode(), head)
print(json.load(urllib.request.urlopen(request))["choices"][0]["message"]["content"])
"""

with tempfile.TemporaryDirectory() as folder:
    # cw record -- claude -p "What does this project do?"
    record = [sys.executable, "-m", "contextwright", "record", "--store", f"{folder}/calls.db"]
    done = subprocess.run(
        [*record, "--", sys.executable, "-c", CLIENT], capture_output=True, text=True
    )
    print(done.stdout.strip() or done.stderr)
    with cw.Store(f"{folder}/calls.db") as store:
        for request in store.requests():
            print(request.model, request.status, request.conversation)
