"""Every block of the README and of the guides runs, in order: Python as one program, commands."""

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import Done

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])


def shown(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p, "python")], ids=shown)
def test_python_blocks_run(page: Path, tmp_path: Path) -> None:
    program = "\n".join(blocks(page, "python"))
    done = subprocess.run(
        # optuna-dashboard imports botorch where it is installed, which torch warns about.
        [sys.executable, "-W", "error", "-W", "ignore:`torch.jit", "-c", program],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p, "console")], ids=shown)
def test_commands_run(page: Path, becbo: Callable[..., Done], tmp_path: Path) -> None:
    """Lines that begin with `$ becbo`; files that a page shows are written first."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    for name, content in re.findall(
        r"as `([\w.-]+)`[^#]{0,300}?:\n\n```\w*\n(.*?)```",
        page.read_text(encoding="utf-8"),
        re.DOTALL,
    ):
        Path(name).write_text(content)
    for block in blocks(page, "console"):
        for line in re.findall(r"^\$ becbo (.*)$", block, re.MULTILINE):
            done = becbo(*shlex.split(line, comments=True))
            assert done.code == 0, f"{line}\n{done.out}\n{done.err}"


@pytest.mark.parametrize("page", PAGES, ids=shown)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=shown)
def test_anchors_are_headings(page: Path) -> None:
    for target, anchor in re.findall(r"\]\(([^)#:]*)#([^)]+)\)", page.read_text(encoding="utf-8")):
        assert anchor in headings(page.parent / target if target else page), f"{target}#{anchor}"


def headings(page: Path) -> set[str]:
    """Anchors of a page's headings, as GitHub makes them."""
    titles = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}
