"""Who may come in, and what every answer carries."""

import asyncio
import re

import pytest
from web.lab import TOKEN, Opens, Site

from becbo.campaign.campaign import Campaign
from becbo.web.security import DELAY, HEADERS, MAX_BODY, MAX_DELAY, SESSION_LIFE, WINDOW, Access

RECORD = "/c/coating/runs/4/record"
ENTRY = {"outcome": "ok", "output-0": "410", "version": "4"}


class Clock:
    now = 1000.0

    def __init__(self) -> None:
        self.waited: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.waited.append(seconds)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def guarded(open_site: Opens, clock: Clock) -> Site:
    return open_site(Access(TOKEN, clock, clock.sleep))


def log_in(site: Site, token: str = TOKEN) -> int:
    return site.send("/login", {"token": token}, page="/login").status_code


@pytest.mark.parametrize(
    "path", ["/", "/c/coating", "/nothing", "/static/none.js", "/api/campaigns", "/api/nothing"]
)
def test_every_answer_has_the_headers(shared_site: Site, path: str) -> None:
    answer = shared_site.get(path)
    assert {name: answer.headers.get(name) for name in HEADERS} == HEADERS
    assert answer.headers["cache-control"] == "no-store"


def test_scripts_are_never_inline(shared_site: Site) -> None:
    policy = HEADERS["Content-Security-Policy"]
    # Style attributes of Plotly, by their hashes.
    assert "unsafe" not in policy.replace("style-src-attr 'unsafe-hashes' 'sha256-", "")
    assert "default-src 'none'" in policy
    for path in ("/", "/new", "/c/coating", "/c/coating/runs/3", "/docs/api"):
        text = shared_site.get(path).text
        assert not re.search(r"<script(?! src=)|<style|\son\w+=|\sstyle=|javascript:", text), path
        assert not re.search(r'(src|href|action)="(https?:)?//', text), path


def test_the_names_of_files_change_with_their_content(shared_site: Site) -> None:
    names = re.findall(r'"(/static/[^"]+)"', shared_site.get("/c/coating").text)
    assert {name.rpartition(".")[2] for name in names} == {"css", "js"}
    for name in names:
        answer = shared_site.get(name)
        assert answer.status_code == 200 and "immutable" in answer.headers["cache-control"]


@pytest.mark.parametrize(
    "path",
    [
        "/static/..%2f..%2fapp.py",
        "/static/%2e%2e/app.py",
        "/static/style.css",
        "/c/..%2f..%2flab.db",
        "/c/%2e%2e",
        "/c/lab.db/export.csv",
        "/c/coating/export.py",
        "/c/coating/export.%2fetc%2fpasswd",
        "/c/nobody",
        "/c/coating/runs/99",
        "/c/coating/runs/-1",
        "/c/coating/runs/x",
    ],
)
def test_what_is_not_there_is_not_found(shared_site: Site, path: str) -> None:
    answer = shared_site.get(path)
    assert answer.status_code == 404
    assert "Traceback" not in answer.text and "To the campaigns" in answer.text


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost:8000", 200),
        ("127.0.0.1:8000", 200),
        ("[::1]:8000", 200),
        ("192.168.1.7", 200),
        ("LAB.example", 200),
        ("evil.example", 400),
        ("localhost.evil.example", 400),
        ("[::1", 400),
        ("", 400),
    ],
)
def test_the_host_name_is_checked(shared_site: Site, host: str, status: int) -> None:
    assert shared_site.get("/", headers={"host": host}).status_code == status


@pytest.mark.parametrize(
    "header",
    [
        {"origin": "https://evil.example"},
        {"origin": "http://localhost:9999"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_other_sites_cannot_send_anything(shared_site: Site, header: dict[str, str]) -> None:
    form = shared_site.send(RECORD, ENTRY, headers=header)
    api = shared_site.json("/api/campaigns/coating/runs/4/record", {"value": 410}, headers=header)
    assert (form.status_code, api.status_code) == (403, 403)
    assert "another site" in form.text and "another site" in api.json()["detail"]
    assert is_pending(shared_site)


def is_pending(site: Site) -> bool:
    return site.get("/api/campaigns/coating/runs/4").json()["outcome"] == "pending"


def test_our_own_pages_can(site: Site, campaign: Campaign) -> None:
    header = {"origin": "http://localhost:8000", "sec-fetch-site": "same-origin"}
    assert site.send(RECORD, ENTRY, headers=header).status_code == 303
    assert campaign.run(4).value == 410


@pytest.mark.parametrize("csrf", ["", "0" * 64, "é"])
@pytest.mark.parametrize(
    "path", [RECORD, "/new", "/new/file", "/c/coating/suggest", "/c/coating/import", "/login"]
)
def test_a_form_needs_its_token(shared_site: Site, path: str, csrf: str) -> None:
    answer = shared_site.client.post(path, data={**ENTRY, "csrf": csrf})
    assert answer.status_code == 403
    assert "reload the page" in answer.text
    assert is_pending(shared_site)


def test_the_token_of_another_session_does_not_count(shared_site: Site) -> None:
    stolen = {**ENTRY, "csrf": shared_site.csrf()}
    shared_site.client.cookies.clear()
    assert shared_site.client.post(RECORD, data=stolen).status_code == 403


def test_json_must_be_sent_as_json(shared_site: Site) -> None:
    # What a form of another site could send without being asked for permission.
    answer = shared_site.client.post(
        "/api/campaigns/coating/runs/4/record",
        content='{"value": 410}',
        headers={"content-type": "text/plain"},
    )
    assert answer.status_code == 422
    assert is_pending(shared_site)


def test_without_a_token_nobody_comes_in(guarded: Site) -> None:
    page, api = guarded.get("/c/coating"), guarded.get("/api/campaigns")
    assert (page.status_code, page.headers["location"]) == (303, "/login")
    assert (api.status_code, api.headers["www-authenticate"]) == (401, "Bearer")
    assert guarded.get("/api/openapi.json").status_code == 401
    assert guarded.client.post(RECORD, data=ENTRY).status_code == 401


def test_logging_in_and_out(guarded: Site) -> None:
    assert log_in(guarded, "a wrong token") == 401
    before = dict(guarded.client.cookies)
    assert log_in(guarded) == 303
    assert dict(guarded.client.cookies) != before
    assert guarded.get("/").status_code == 200
    assert guarded.get("/api/campaigns").status_code == 200
    assert guarded.send("/logout").status_code == 303
    assert guarded.get("/").status_code == 303


def test_the_session_cookie(open_site: Opens) -> None:
    plain, secure = open_site(), open_site(base_url="https://localhost:8000")
    cookie = plain.get("/").headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie and "Secure" not in cookie
    assert secure.get("/").headers["set-cookie"].endswith("; Secure")
    assert "set-cookie" not in plain.get("/").headers
    plain.client.cookies.clear()
    assert "set-cookie" not in plain.get("/api/campaigns").headers


def test_a_session_ends(guarded: Site, clock: Clock) -> None:
    log_in(guarded)
    clock.now += SESSION_LIFE - 1
    assert guarded.get("/").status_code == 200  # which prolongs it
    clock.now += SESSION_LIFE - 1
    assert guarded.get("/").status_code == 200
    clock.now += SESSION_LIFE
    assert guarded.get("/").status_code == 303


@pytest.mark.parametrize(
    ("header", "status"),
    [
        (f"Bearer {TOKEN}", 200),
        (f"bearer {TOKEN}", 200),
        ("Bearer wrong", 401),
        ("Bearer ", 401),
        (f"Basic {TOKEN}", 401),
        (TOKEN, 401),
    ],
)
def test_bearer_tokens(guarded: Site, header: str, status: int) -> None:
    answer = guarded.get("/api/campaigns", headers={"authorization": header})
    assert answer.status_code == status


def test_guessing_is_slow_and_locks_nobody_out(guarded: Site, clock: Clock) -> None:
    for _ in range(100):
        assert log_in(guarded, "a guess") == 401
    assert clock.waited[:3] == [DELAY, 2 * DELAY, 3 * DELAY]
    assert clock.waited[-1] == pytest.approx(MAX_DELAY)
    clock.waited.clear()
    bearer = {"authorization": f"Bearer {TOKEN}"}
    assert guarded.get("/api/campaigns", headers=bearer).status_code == 200
    assert log_in(guarded) == 303
    assert clock.waited == []
    clock.now += WINDOW
    wrong = {"authorization": "Bearer a guess"}
    assert guarded.get("/api/campaigns", headers=wrong).status_code == 401
    assert clock.waited == [DELAY]


def test_the_link_that_is_printed(guarded: Site) -> None:
    assert guarded.get("/login", params={"token": "a guess"}).status_code == 401
    assert guarded.get("/").status_code == 303
    answer = guarded.get("/login", params={"token": TOKEN})
    assert (answer.status_code, answer.headers["refresh"]) == (200, "0; url=/")
    assert TOKEN not in answer.text
    assert guarded.get("/").status_code == 200


def test_the_token_itself_is_not_kept(clock: Clock) -> None:
    access = Access(TOKEN, clock, clock.sleep)
    assert TOKEN not in repr(vars(access))
    assert asyncio.run(access.check_token(TOKEN))
    assert not asyncio.run(access.check_token("\ud800"))


def test_a_request_may_not_be_too_large(shared_site: Site) -> None:
    large = {"yaml": "x" * MAX_BODY}
    answer = shared_site.send("/new/file", large)
    assert answer.status_code == 413 and "at most 5 MB" in answer.text
    # In pieces and without its length.
    pieces = (b"x" * 500_000 for _ in range(11))
    headers = {"content-type": "application/json"}
    answer = shared_site.client.post("/api/campaigns", content=pieces, headers=headers)
    assert answer.status_code == 413 and "at most 5 MB" in answer.json()["detail"]
    answer = shared_site.client.post("/new", headers={"content-length": "9" * 30})
    assert answer.status_code == 413


def test_an_error_of_ours_shows_no_traceback(
    open_site: Opens, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(self: Campaign) -> None:
        raise RuntimeError("the secret of the house")

    monkeypatch.setattr(Campaign, "runs", property(broken))
    site = open_site(raise_server_exceptions=False)
    for path in ("/c/coating", "/api/campaigns/coating/runs"):
        answer = site.get(path)
        assert answer.status_code == 500
        assert "the secret of the house" not in answer.text and "Traceback" not in answer.text
        assert "log says what" in answer.text
        assert answer.headers["x-frame-options"] == "DENY"


def test_names_are_shown_and_never_run(site: Site) -> None:
    name = "<script>alert(1)</script> & / ../ ?x=1#y"
    described = {"name": name, "parameters": {"<b>": {"low": 0, "high": 1, "unit": "'\"><i>"}}}
    created = site.json("/api/campaigns", described)
    assert created.status_code == 201
    path = f"/c/{created.json()['id']}"
    for page in ("/", path):
        text = site.get(page).text
        assert "<script>alert" not in text and "<b>" not in text and "<i>" not in text
        assert "&lt;script&gt;alert" in text
    assert site.get(f"{path}/export.csv").status_code == 200
