"""Files are replaced as a whole, and only when asked: a full disk, a killed program, a link."""

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from becbo.errors import InvalidInput
from becbo.files import write_file


def test_only_when_asked(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    write_file(path, b"first")
    with pytest.raises(InvalidInput, match="exists already"):
        write_file(path, b"second")
    assert path.read_bytes() == b"first"
    path.chmod(0o640)
    write_file(path, b"third", overwrite=True)
    assert path.read_bytes() == b"third"
    assert path.stat().st_mode & 0o777 == 0o640
    assert os.listdir(tmp_path) == ["report.html"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "link.csv").symlink_to("real.csv")
    write_file(tmp_path / "link.csv", b"new")
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "real.csv").read_bytes() == b"new"


def test_permissions(tmp_path: Path) -> None:
    write_file(tmp_path / "token", b"secret", permissions=0o600)
    assert (tmp_path / "token").stat().st_mode & 0o777 == 0o600


def test_no_such_folder(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="cannot write .*No such file or directory"):
        write_file(tmp_path / "nowhere" / "report.html", b"")


def _small_disk() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))


COMMANDS = (
    "from becbo.files import write_file; from pathlib import Path; "
    "write_file(Path('report.html'), bytes(100_000), overwrite=True)"
)


def test_a_disk_that_is_full(tmp_path: Path) -> None:
    """As far as a program can see, which may not write more than 4 kB here."""
    (tmp_path / "report.html").write_bytes(b"the old one")
    code = f"import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); {COMMANDS}"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        preexec_fn=_small_disk,
        capture_output=True,
        text=True,
    )
    assert "InvalidInput: cannot write report.html: File too large" in done.stderr
    assert (tmp_path / "report.html").read_bytes() == b"the old one"
    assert os.listdir(tmp_path) == ["report.html"]
