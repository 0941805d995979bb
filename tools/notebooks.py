"""Shows the notebooks of docs/notebooks on the site: runs them, and turns them into pages."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import nbformat
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from nbclient import NotebookClient


def on_files(files: Files, config: Any) -> Files:
    """Adds a page for each notebook, and its pictures."""
    for path in sorted(Path(config.docs_dir, "notebooks").glob("*.ipynb")):
        text, pictures = as_page(executed(path), path.stem)
        files.append(File.generated(config, f"notebooks/{path.stem}.md", content=text))
        for name, content in pictures.items():
            files.append(File.generated(config, f"notebooks/{name}", content=content))
    return files


def executed(path: Path) -> Any:
    """The notebook with its outputs, run in its folder as Jupyter does."""
    notebook = nbformat.read(path, as_version=4)
    place = {"metadata": {"path": str(path.parent)}}
    quiet = ["--log-level=40"]  # of the kernel: errors only
    client = NotebookClient(notebook, timeout=300, resources=place, extra_arguments=quiet)
    return client.execute()


def as_page(notebook: Any, name: str) -> tuple[str, dict[str, bytes]]:
    """A notebook as Markdown, and its pictures by the name of their file."""
    blocks: list[str] = []
    pictures: dict[str, bytes] = {}
    for cell in notebook.cells:
        blocks.append(
            cell.source if cell.cell_type == "markdown" else f"```python\n{cell.source}\n```"
        )
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if output.get("name") == "stderr":
                raise PluginError(f"{name}: a cell printed a warning: {output.text}")
            if "image/png" in data:
                picture = f"{name}-{len(pictures)}.png"
                pictures[picture] = base64.b64decode(data["image/png"])
                blocks.append(f"![]({picture})")
            else:
                text = output.get("text") or data["text/plain"]
                blocks.append(f"```text\n{text.rstrip()}\n```")
    source = f'This page is a notebook: <a href="{name}.ipynb" download>{name}.ipynb</a>.'
    return "\n\n".join([blocks[0], source, *blocks[1:]]), pictures
