"""The command `becbo serve`."""

import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx2 as httpx
import pytest
from commands import Done


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--file", "lab.txt"], "must end in"),
        (["--file", "nowhere/lab.db"], "no folder nowhere"),
        (["--token", "short"], "--token has 5 characters; use at least 12"),
        (["--host", "256.1.1.1"], "cannot listen on 256.1.1.1"),
        (["--certificate", "none.pem"], "--certificate none.pem is not a file"),
        (["--key", __file__], "--key needs --certificate"),
        (["--port", "70000"], "--port"),
    ],
)
def test_bad_options(becbo: Callable[..., Done], arguments: list[str], words: str) -> None:
    done = becbo("serve", *arguments)
    assert done.code == 2
    assert words in done.err and "Traceback" not in done.err


def test_the_file_of_the_other_commands(
    becbo: Callable[..., Done], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BECBO_FILE", "lab.txt")
    assert "lab.txt: a file name must end in" in becbo("serve").err


def test_a_port_that_is_taken(becbo: Callable[..., Done]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = becbo("serve", "--port", str(taken.getsockname()[1]))
    assert done.code == 2
    assert "choose another --host or --port" in done.err


COMMAND = [sys.executable, "-c", "from becbo.cli import main; main()", "serve", "--port", "0"]
Start = Callable[..., tuple[subprocess.Popen[str], str]]


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def start(where: Path) -> Iterator[Start]:
    """Starts the command and reads the link that it prints."""
    running = []

    def start(*options: str) -> tuple[subprocess.Popen[str], str]:
        process = subprocess.Popen(
            [*COMMAND, "--file", str(where), *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        running.append(process)
        assert process.stdout
        found = re.search(r"http://\S+", process.stdout.readline())
        assert found
        return process, found[0]

    yield start
    for process in running:
        process.kill()
        process.communicate()


def workers(process: subprocess.Popen[str]) -> list[Path]:
    """The processes that work for the server."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    return [Path(f"/proc/{child}") for child in children]


def wait_for_the_end(found: list[Path]) -> None:
    while any("spawn_main" in _command(worker) for worker in found):
        time.sleep(0.1)


def _command(process: Path) -> str:
    try:
        return (process / "cmdline").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def opened(link: str) -> httpx.Client:
    """A program that knows the token of a link."""
    address, _, token = link.partition("/login?token=")
    address = re.sub("//[^:]+", "//127.0.0.1", address)
    return httpx.Client(base_url=address, headers={"Authorization": f"Bearer {token}"}, timeout=60)


def test_on_this_machine(start: Start) -> None:
    process, link = start()
    assert "//127.0.0.1:" in link
    with opened(link) as client:
        assert client.post("/api/campaigns/coating/suggest", json={}).status_code == 201
        del client.headers["Authorization"]
        assert client.get("/api/campaigns").status_code == 401
        assert client.get(link).status_code == 200
        assert client.get("/").status_code == 200
    found = workers(process)
    assert found
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    assert (process.returncode, out, err) == (130, "", "")
    wait_for_the_end(found)


def test_the_token_is_remembered(start: Start, tmp_path: Path) -> None:
    _, link = start()
    _, again = start()
    token = (tmp_path / "state/becbo/token").read_text().strip()
    assert [text.partition("token=")[2] for text in (link, again)] == [token, token]
    assert (tmp_path / "state/becbo/token").stat().st_mode & 0o777 == 0o600
    process, address = start("--token", "a token of my own")
    assert "token" not in address  # nor is it printed anywhere else
    process.send_signal(signal.SIGINT)
    assert process.communicate() == ("", "")


@pytest.mark.parametrize(
    ("content", "mode", "words"),
    [("a token of my own", 0o644, "others can read"), ("short", 0o600, "too short")],
)
def test_a_token_that_cannot_be_used(
    becbo: Callable[..., Done], tmp_path: Path, content: str, mode: int, words: str
) -> None:
    path = tmp_path / "state/becbo/token"
    path.parent.mkdir(parents=True)
    path.write_text(content)
    path.chmod(mode)
    done = becbo("serve", "--file", "lab.db")
    assert done.code == 2
    assert words in done.err and "--token" in done.err


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs /proc")
def test_for_other_machines(start: Start) -> None:
    process, link = start("--host", "0.0.0.0")
    assert process.stdout
    assert "can read the token" in process.stdout.readline()
    assert "0.0.0.0" not in link  # which is nobody's address
    with opened(link) as client:
        assert client.get("/api/campaigns").status_code == 200
        assert client.post("/api/campaigns/coating/suggest", json={}).status_code == 201
    found = workers(process)
    process.kill()  # it cannot tell its workers to end any more
    wait_for_the_end(found)
