"""How soon the page of a campaign with 150 runs can be used, in a real Chromium.

python benchmarks/page.py
"""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from footprint import EXAMPLES, write_runs
from playwright.sync_api import sync_playwright

from becbo.campaign.campaign import Campaign
from becbo.tables.importing import import_table

RESULTS = Path(__file__).parent / "results" / "page.json"
TOKEN = "only-for-this-measurement"
# When the document can be read and typed into, and when its scripts have run, in milliseconds.
TIMES = """() => {
    const seen = performance.getEntriesByType("navigation")[0];
    return [seen.domInteractive, seen.domContentLoadedEventEnd];
}"""


def loads(address: str, n: int) -> list[tuple[float, float]]:
    """The times of n loads of the page in one window, in seconds."""
    with sync_playwright() as tool:
        browser = tool.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page()
        page.goto(f"{address}/login?token={TOKEN}")
        page.get_by_role("heading", name="Campaigns").wait_for()
        found = []
        for _ in range(n):
            page.goto(f"{address}/c/adhesive")
            found.append(tuple(time / 1000 for time in page.evaluate(TIMES)))
        browser.close()
    return found


def main() -> None:
    with TemporaryDirectory() as folder:
        where, table = Path(folder) / "lab.db", Path(folder) / "runs.csv"
        write_runs(EXAMPLES / "adhesive.yaml", 150, table)
        import_table(Campaign.create(EXAMPLES / "adhesive.yaml", where), table)
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        command = [sys.executable, "-m", "becbo", "serve", "-f", str(where), "--token", TOKEN]
        server = subprocess.Popen([*command, "--port", str(port)])
        try:
            while socket.socket().connect_ex(("127.0.0.1", port)):
                time.sleep(0.1)
            times = loads(f"http://127.0.0.1:{port}", 9)
        finally:
            server.terminate()
            server.wait()
    interactive, loaded = zip(*times, strict=True)
    result = {"interactive_seconds": median(interactive), "scripts_seconds": median(loaded)}
    RESULTS.write_text(json.dumps(result, indent=1) + "\n")
    print(result, "slowest", max(loaded))


if __name__ == "__main__":
    main()
