"""The next experiment from a server, with the standard library: nothing is stored there.

python examples/suggest_client.py http://localhost:8000 TOKEN history.json
"""

import json
import sys
import urllib.error
import urllib.request

address, token, path = sys.argv[1:]
with open(path, encoding="utf-8") as file:
    asked = json.load(file)  # {"description": {...}, "trials": [...]}
headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
request = urllib.request.Request(f"{address}/api/suggest", json.dumps(asked).encode(), headers)
try:
    with urllib.request.urlopen(request, timeout=120) as answer:
        print(json.dumps(json.load(answer)[0], indent=2))
except urllib.error.HTTPError as error:
    sys.exit(f"{error}: {error.read().decode()}")  # `detail` names what cannot be used
