"""In a real browser: what a person sees and does, with JavaScript and a strict policy."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from web.lab import COATING, TOKEN, serving

from becbo.campaign.campaign import Campaign
from becbo.campaign.formatting import percent
from becbo.trial import Outcome
from becbo.web.app import make_app
from becbo.web.security import Access

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")

FLAGS = [
    "--no-sandbox",  # tests may run as root
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PATIENCE = 60_000  # milliseconds; far more than anything takes
expect = playwright.expect
expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="module")
def tool() -> Iterator[Any]:
    with playwright.sync_playwright() as tool:
        yield tool


@pytest.fixture(scope="module")
def chromium(tool: Any) -> Iterator[Any]:
    browser = tool.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
    yield browser
    browser.close()


@pytest.fixture(scope="module")
def lab(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(shutil.copy(made, tmp_path_factory.mktemp("browser") / "lab.db"))


@pytest.fixture(scope="module")
def address(lab: Path) -> Iterator[str]:
    with serving(make_app(lab)) as address:
        yield address


@pytest.fixture
def new_page(chromium: Any, address: str) -> Iterator[Any]:
    """Opens windows of different people; none may load anything from elsewhere or break."""
    contexts, wrong = [], []

    def start(path: str = "/", **settings: Any) -> Any:
        context = chromium.new_context(base_url=address, **settings)
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda said: _is_error(said) and wrong.append(said.text))
        page.on(
            "request",
            lambda request: request.url.startswith((address, "data:")) or wrong.append(request.url),
        )
        page.add_init_script(
            "window.blocked = [];"
            "addEventListener('securitypolicyviolation',"
            " (event) => window.blocked.push(event.effectiveDirective))"
        )
        page.goto(path)
        return page

    yield start
    for context in contexts:
        context.close()
    assert wrong == []


def _is_error(said: Any) -> bool:
    """What the browser says about a refused request is what some tests want."""
    return said.type == "error" and not said.text.startswith("Failed to load resource")


def map_data(page: Any) -> Any:
    """What the first map shows, once it is drawn for the present runs."""
    page.wait_for_function(
        """() => {
            const learned = document.querySelector("[data-learned]");
            const live = document.querySelector("[data-live]");
            const runs = live.dataset.state.split("-")[0];
            return learned.dataset.state === runs && document.querySelector("[data-figure=map-1]");
        }"""
    )
    return page.evaluate("JSON.stringify(document.querySelector('[data-figure=map-1]').data)")


def test_from_nothing_to_a_recorded_failure(new_page: Any, lab: Path) -> None:
    """Only the keyboard is used."""
    page = new_page("/")
    page.get_by_role("link", name="New campaign").press("Enter")
    first, second = page.get_by_role("group", name="Parameter").all()[:2]
    about = page.get_by_role("group", name="The campaign")
    measured = page.get_by_role("group", name="Output 1")
    about.get_by_label("Name").fill("spring")
    measured.get_by_label("Name").fill("mass")
    measured.get_by_label("Unit").fill("g")
    measured.get_by_label("Wanted").select_option("as small as possible")
    first.get_by_label("Name").fill("wire")
    first.get_by_label("Lowest").fill("0.1")
    first.get_by_label("Highest").fill("5")
    first.get_by_label("Unit").fill("mm")
    second.get_by_label("Name").fill("alloy")
    second.get_by_label("Kind").select_option("one of a list")
    expect(second.get_by_label("Lowest")).to_be_hidden()
    second.get_by_label("Choices").fill("A, B")
    page.get_by_role("link", name="One more parameter").press("Enter")
    expect(page.get_by_role("group", name="Parameter 5").get_by_label("Name")).to_be_focused()
    about.get_by_label("Name").press("Enter")
    expect(page.get_by_role("heading", name="spring", exact=True)).to_be_visible()
    expect(page.get_by_text("No experiment is pending")).to_be_visible()

    page.get_by_label("How many").fill("2")
    page.get_by_label("How many").press("Enter")
    expect(page.get_by_role("button", name="Record run 1")).to_be_visible()
    expect(page.get_by_text("Computing 2 suggestions")).to_be_hidden()
    # Typed while the page refreshes itself: the second suggestion must not take it away.
    run = page.get_by_role("article", name="Run 0")
    expect(run.get_by_text("Part of the initial design")).to_be_visible()
    run.get_by_label("mass in g").fill("12.5")
    run.get_by_label("mass in g").press("Enter")
    expect(page.get_by_role("status").first).to_contain_text("Run 0 is recorded: 12.5 g.")

    run = page.get_by_role("article", name="Run 1")
    run.get_by_role("radio", name="Worked").press("ArrowRight")
    expect(run.get_by_label("mass in g")).to_be_hidden()
    expect(run.get_by_text("The design does not work")).to_be_visible()
    run.get_by_label("Reason").fill("broke")
    run.get_by_label("Reason").press("Enter")
    expect(page.get_by_role("status").first).to_contain_text("Run 1 is recorded: failed (broke).")
    outcomes = [run.outcome for run in Campaign.open(lab, "spring").runs]
    assert outcomes == [Outcome.OK, Outcome.FAILED]


def test_the_map_changes_and_everybody_sees_it(new_page: Any, lab: Path) -> None:
    page = new_page("/c/coating")
    before = map_data(page)
    outlook = page.locator("[aria-labelledby=outlook]")
    expect(outlook.get_by_role("columnheader").nth(2)).to_have_text("in four of five cases")
    expect(outlook.get_by_text("Go on:")).to_be_visible()
    # A colleague, or an instrument, records; nobody touches this window.
    campaign = Campaign.open(lab, "coating")
    campaign.add({"temperature": 260.0, "gas": "nitrogen"}, failed="flaked")
    experiments = page.get_by_role("region", name="Table of experiments")
    expect(experiments.get_by_text("flaked")).to_be_visible()
    expect(page.get_by_role("heading", name="Why experiments failed")).to_be_visible()
    expect(page.locator("[data-learned]").get_by_role("cell", name="flaked")).to_be_visible()
    assert map_data(page) != before
    # Plotly draws under the policy of the page.
    assert page.evaluate("window.blocked") == []
    drawn = page.locator("[data-figure=map-1]")
    assert drawn.locator(".hm image").count() == 1
    assert drawn.locator(".main-svg").first.evaluate("e => getComputedStyle(e).position") == (
        "absolute"
    )


def test_a_problem_of_the_server_is_told_in_its_words(
    new_page: Any, lab: Path, tmp_path: Path
) -> None:
    Campaign.create({**COATING, "name": "moved"}, lab)
    page = new_page("/")
    page.request.get("/c/moved")  # from now on the server has it open
    away = lab.rename(tmp_path / "away.db")  # the workers have not
    page.goto("/c/moved")
    saying = page.locator("[data-saying]")
    try:
        expect(saying).to_contain_text(f"Not available: there is no file {lab}")
    finally:
        away.rename(lab)
    expect(saying).to_have_text("")
    expect(page.get_by_role("heading", name="Where designs work")).to_be_visible()


def test_a_table_with_bad_rows(new_page: Any, tmp_path: Path) -> None:
    table = tmp_path / "old.csv"
    page = new_page("/c/coating")

    def send(text: str) -> None:
        table.write_text(text)
        if page.get_by_label("A .csv or .xlsx file").is_hidden():
            page.get_by_text("Import a table").press("Enter")
        page.get_by_label("A .csv or .xlsx file").set_input_files(table)
        page.get_by_role("button", name="Import").press("Enter")

    send("temperature,gas,hardness\n205,argon,305\nhot,argon,1\n215,neon,2\n")
    alert = page.get_by_role("alert").first
    expect(alert).to_contain_text("2 rows must be corrected")
    expect(alert).to_contain_text("line 3")
    expect(alert).to_contain_text("line 4")
    expect(alert).to_be_focused()
    send("temperature,gas,hardness\n205,argon,305\n225,argon,1\n215,nitrogen,\n")
    expect(page.get_by_role("status").first).to_contain_text("Imported: 3 experiments added.")
    with page.expect_download() as started:
        page.get_by_role("link", name="CSV").click()
    exported = Path(started.value.path()).read_text(encoding="utf-8-sig").splitlines()
    assert started.value.suggested_filename == "coating.csv"
    assert exported[0].startswith("number,temperature [°C],gas,hardness [HV]")
    assert any("215.0,nitrogen,,failed" in line for line in exported)


def test_two_people_record_the_same_run(new_page: Any, lab: Path) -> None:
    # The second window does not refresh itself, as if the network were slow.
    fast, slow = new_page("/c/coating"), new_page("/c/coating/runs/4")
    run = fast.get_by_role("article", name="Run 4")
    run.get_by_label("hardness in HV").fill("410")
    run.get_by_role("button", name="Record run 4").click()
    expect(fast.get_by_role("status").first).to_contain_text("Run 4 is recorded: 410 HV.")
    slow.get_by_label("hardness in HV").fill("399")
    slow.get_by_role("button", name="Record run 4").click()
    alert = slow.get_by_role("alert").first
    expect(alert).to_contain_text("Somebody else was faster: run 4 is recorded already: 410")
    expect(slow.get_by_label("hardness in HV")).to_have_value("399")
    assert Campaign.open(lab, "coating").run(4).value == 410
    slow.get_by_role("button", name="Save the correction").click()
    expect(slow.get_by_role("status").first).to_contain_text("Run 4 is corrected: 399 HV.")


def test_a_pending_run_says_what_is_believed_now(new_page: Any, lab: Path) -> None:
    campaign = Campaign.create({**COATING, "name": "believed"}, lab)
    for heat in (200.0, 250.0, 300.0):
        campaign.add({"temperature": heat, "gas": "argon"}, heat + 100)
    campaign.add({"temperature": 440.0, "gas": "argon"}, failed="cracked")
    (run,) = campaign.suggest()
    assert run.believed is not None
    temperature = run.params["temperature"]
    for near in (temperature - 1, temperature + 1):
        campaign.add({**run.params, "temperature": min(max(near, 150.0), 450.0)}, failed="flaked")
    page = new_page(f"/c/believed/runs/{run.number}")
    expect(page.locator(".settings").filter(has_text="Predicted before")).to_contain_text(
        percent(run.believed.p_feasible)
    )
    now = page.locator(f"[data-why='{run.number}']")
    expect(now).to_contain_text("When it was suggested, the stated chance was")
    expect(now).to_contain_text("withdraw it and ask for another")
    campaign.delete()


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/new",
        "/c/coating",
        "/c/coating/change",
        "/c/coating/what-if",
        "/c/coating/runs/3",
        "/docs/api",
    ],
)
def test_nothing_is_wider_than_a_phone(new_page: Any, path: str) -> None:
    page = new_page(path, viewport={"width": 390, "height": 844}, has_touch=True)
    if path == "/c/coating":
        map_data(page)
    assert page.evaluate("document.documentElement.scrollWidth") == 390


def test_the_run_to_repeat_is_the_one_that_is_believed_to_be_the_best(
    new_page: Any, lab: Path
) -> None:
    noisy = Campaign.create({**COATING, "name": "noisy", "noisy": True}, lab)
    for heat, error in zip(range(150, 450, 15), 4 * [-9.0, 6.0, 0.0, -4.0, 7.0], strict=True):
        noisy.add({"temperature": float(heat), "gas": "argon"}, 400 - abs(heat - 240) + error)
    lucky = noisy.add({"temperature": 448.0, "gas": "argon"}, 520.0)
    page = new_page("/c/noisy")
    best = page.locator("[data-why=best]")
    expect(best).to_contain_text("the models believe the design of run")
    page.evaluate("refresh()")  # as when somebody asks for a suggestion
    expect(best).to_contain_text("the models believe the design of run")
    repeat = page.get_by_role("button", name="Repeat run")
    assert f": {repeat.inner_text().lower()} to confirm it" in best.inner_text()
    assert repeat.inner_text() != f"Repeat run {lucky.number}"
    repeat.click()
    expect(page.get_by_role("status").first).to_contain_text("is added to the next experiments.")
    planned = noisy.runs[-1]
    assert 200 < planned.params["temperature"] < 300
    expect(page.get_by_role("article", name=f"Run {planned.number}")).to_contain_text(
        "repeat of run"
    )
    noisy.delete()


def test_the_status_fits_a_phone(new_page: Any, lab: Path) -> None:
    careful = Campaign.create({**COATING, "name": "careful", "failures": {"budget": 10}}, lab)
    page = new_page("/c/careful", viewport={"width": 375, "height": 800})
    boxes = [tile.bounding_box() for tile in page.locator(".tile").all()]
    assert max(box["x"] + box["width"] for box in boxes) == 375 - min(box["x"] for box in boxes)
    careful.delete()


def test_figures_have_room_on_a_phone(new_page: Any) -> None:
    page = new_page("/c/coating", viewport={"width": 390, "height": 844})
    map_data(page)
    section = page.locator("[aria-labelledby=maps]")
    assert section.bounding_box()["width"] == 390
    margin = section.locator("[data-figure=map-1]").evaluate(
        "(e) => { e.classList.add('narrow'); return getComputedStyle(e).margin; }"
    )
    assert margin == "0px"  # a narrow figure is no narrow page


def test_every_call_can_be_read_on_a_phone(new_page: Any) -> None:
    page = new_page("/docs/api", viewport={"width": 390, "height": 844})
    described = page.locator("dl dd").all()
    assert len(described) > 10
    for words in described:
        box = words.bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= 390


@pytest.mark.parametrize(
    "path", ["/", "/new", "/c/coating", "/c/coating/change", "/c/coating/runs/3"]
)
def test_every_field_has_a_name(new_page: Any, path: str) -> None:
    page = new_page(path)
    nameless = page.evaluate(
        """() => [...document.querySelectorAll("input:not([type=hidden]), select, textarea")]
            .filter((field) => !field.labels.length).map((field) => field.name)"""
    )
    assert nameless == []
    assert page.locator("[tabindex]:not([tabindex='0'], [tabindex='-1'])").count() == 0


def test_a_new_user_with_a_mixture_and_two_outputs(new_page: Any, lab: Path) -> None:
    """From nothing to the third recorded run, without an error message."""
    page = new_page("/new")
    page.get_by_role("group", name="The campaign").get_by_label("Name").fill("adhesive")
    for number, name, unit, wanted in (
        (1, "strength", "kPa", "as large as possible"),
        (2, "viscosity", "mPas", "within a limit"),
    ):
        output = page.get_by_role("group", name=f"Output {number}")
        output.get_by_label("Name").fill(name)
        output.get_by_label("Unit").fill(unit)
        output.get_by_label("Wanted").select_option(wanted)
    output.get_by_label("At most").fill("200 mPas")
    for number, name in enumerate(("resin", "hardener", "filler"), start=1):
        parameter = page.get_by_role("group", name=f"Parameter {number}")
        parameter.get_by_label("Name").fill(name)
        for field, text in (("Lowest", "0"), ("Highest", "100 %"), ("In steps of", "5")):
            parameter.get_by_label(field).fill(text)
        parameter.get_by_label("Unit").fill("%")
    page.get_by_label("Known constraints").fill("resin + hardener + filler == 100")
    page.get_by_role("button", name="Create the campaign", exact=True).press("Enter")

    page.get_by_label("How many").fill("3")
    page.get_by_role("button", name="Suggest next").press("Enter")
    expect(page.get_by_role("button", name="Record run 2")).to_be_visible()
    results: list[dict[str, str]] = [
        {"strength in kPa": "118,3 kPa", "viscosity in mPas": "150"},
        {"strength in kPa": "72.4"},
        {"viscosity in mPas": "340 mPas", "Reason": "gel"},
    ]
    for number, typed in enumerate(results):
        run = page.get_by_role("article", name=f"Run {number}")
        if "Reason" in typed:
            run.get_by_role("radio", name="Worked").press("ArrowRight")
        for label, text in typed.items():
            run.get_by_label(label).fill(text)
        run.get_by_role("button", name="Record").press("Enter")
        expect(page.get_by_role("status").first).to_contain_text(f"Run {number} is recorded")
    expect(page.get_by_role("alert").locator("visible=true")).to_have_count(0)
    runs = Campaign.open(lab, "adhesive").runs
    assert [sum(run.params.values()) for run in runs] == [100, 100, 100]
    assert [list(run.values.values()) for run in runs] == [[118.3, 150], [72.4, None], [None, 340]]
    assert runs[2].reason == "gel"


def test_a_server_that_goes_away_loses_nothing_typed(new_page: Any, lab: Path) -> None:
    (waiting,) = Campaign.open(lab, "coating").suggest()
    page = new_page("/c/coating")
    run = page.get_by_role("article", name=f"Run {waiting.number}")
    run.get_by_label("hardness in HV").fill("433")
    page.route("**/*", lambda route: route.abort())  # no network from now on
    run.get_by_role("button", name="Record").press("Enter")
    expect(run.get_by_role("alert")).to_contain_text("nothing was sent. What you typed is still")
    expect(page.get_by_text("The server does not answer; trying again.")).to_be_in_viewport()
    expect(run.get_by_label("hardness in HV")).to_have_value("433")
    page.unroute("**/*")
    page.reload()
    expect(run.get_by_label("hardness in HV")).to_have_value("433")
    run.get_by_role("button", name="Record").press("Enter")
    expect(page.get_by_role("status").first).to_contain_text("is recorded: 433 HV.")


def test_a_margin_of_the_outlook(new_page: Any, lab: Path) -> None:
    (waiting,) = Campaign.open(lab, "coating").suggest()
    page = new_page("/c/coating")
    run = page.get_by_role("article", name=f"Run {waiting.number}")
    run.get_by_label("hardness in HV").fill("417")
    outlook = page.locator("[aria-labelledby=outlook]")
    for typed, heading in (("soon", None), ("2,5", "better by more than 2.5 HV")):
        page.get_by_label("Margin of the outlook in HV").fill(typed)
        page.get_by_role("button", name="Look ahead").press("Enter")
        alert = page.get_by_role("alert").filter(has_text="is not a number")
        expect(alert).to_have_count(0 if heading else 1)
        expect(page.get_by_label("Margin of the outlook in HV")).to_have_value(typed)
        expect(run.get_by_label("hardness in HV")).to_have_value("417")
        if heading:
            expect(outlook.get_by_role("columnheader").nth(3)).to_have_text(heading)
    Campaign.open(lab, "coating").withdraw(waiting.number)


def test_a_session_that_has_ended_loses_nothing_typed(chromium: Any, lab: Path) -> None:
    """Nor does any other problem, such as a database that does not answer."""
    (waiting,) = Campaign.open(lab, "coating").suggest()
    context = chromium.new_context()
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    run = page.get_by_role("article", name=f"Run {waiting.number}")
    access = Access(TOKEN)
    with serving(make_app(lab, access)) as address:
        page.goto(f"{address}/login?token={TOKEN}")
        page.goto(f"{address}/c/coating")
        run.get_by_label("Note").fill("slight haze")
        access.log_out(page.context.cookies()[0]["value"])
        run.get_by_role("button", name="Record").press("Enter")
        expect(page.get_by_role("heading", name="Please log in")).to_be_visible()
        page.goto(f"{address}/login?token={TOKEN}")
        page.goto(f"{address}/c/coating")
        expect(run.get_by_label("Note")).to_have_value("slight haze")
    context.close()
    Campaign.open(lab, "coating").withdraw(waiting.number)


def test_a_browser_that_is_closed_loses_nothing_typed(
    tool: Any, lab: Path, address: str, tmp_path: Path
) -> None:
    (waiting,) = Campaign.open(lab, "coating").suggest()

    def open_browser(path: str) -> Any:
        profile = tool.chromium.launch_persistent_context(
            tmp_path, executable_path=CHROMIUM, args=FLAGS, base_url=address
        )
        profile.set_default_timeout(PATIENCE)
        profile.pages[0].goto(path)
        return profile

    profile = open_browser("/c/coating")
    page = profile.pages[0]
    run = page.get_by_role("article", name=f"Run {waiting.number}")
    run.get_by_role("radio", name="Worked").press("ArrowRight")
    run.get_by_label("reason if known").fill("bent")
    run.get_by_label("Note").fill("slight haze")
    page.goto("/new")
    page.get_by_role("link", name="One more parameter").click()
    fifth = page.get_by_role("group", name="Parameter 5").get_by_label("Name")
    fifth.fill("pressure")
    profile.close()

    profile = open_browser("/new")
    page = profile.pages[0]
    fifth = page.get_by_role("group", name="Parameter 5").get_by_label("Name")
    expect(fifth).to_have_value("pressure")
    page.get_by_role("button", name="Discard it").click()
    expect(fifth).to_have_value("")
    page.goto("/c/coating")
    run = page.get_by_role("article", name=f"Run {waiting.number}")
    expect(run.get_by_text("This is what you typed before")).to_be_visible()
    expect(run.get_by_label("Note")).to_have_value("slight haze")
    run.get_by_role("button", name="Record").press("Enter")
    expect(page.get_by_role("status").first).to_contain_text("is recorded: failed (bent).")
    kept = "Object.keys(localStorage).filter((key) => key.startsWith('becbo draft'))"
    assert page.evaluate(kept) == []  # accepted or discarded
    profile.close()
    assert Campaign.open(lab, "coating").run(waiting.number).note == "slight haze"


def test_logging_out_forgets_what_was_typed(chromium: Any, lab: Path) -> None:
    """The next person at this browser may be somebody else."""
    with serving(make_app(lab, Access(TOKEN))) as address:
        context = chromium.new_context(base_url=address)
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        page.goto("/login")
        expect(page.get_by_role("button", name="Log out")).to_have_count(0)
        page.get_by_label("Token").fill(TOKEN)
        page.get_by_role("button", name="Log in").click()
        page.get_by_role("link", name="New", exact=True).click()
        page.get_by_role("group", name="The campaign").get_by_label("Name").fill("secret plan")
        assert "secret plan" in page.evaluate("JSON.stringify(localStorage)")
        page.get_by_role("button", name="Log out").click()
        expect(page.get_by_label("Token")).to_be_visible()
        assert page.evaluate("localStorage.length") == 0
        context.close()


def test_a_phone_shows_one_of_many_maps(new_page: Any, lab: Path) -> None:
    many = {n: {"low": 0, "high": 1} for n in "abcd"}
    campaign = Campaign.create({"name": "many", "parameters": many, "budget": 5}, lab)
    for i in range(6):
        campaign.add(dict.fromkeys("abcd", i / 5), float(i))
    page = new_page("/c/many", viewport={"width": 375, "height": 800})
    map_data(page)
    section = page.locator("[aria-labelledby=maps]")
    section.get_by_role("heading", name="Where designs work").click()
    expect(section.locator("figure:visible")).to_have_count(1)
    expect(section.locator("figcaption:visible")).to_have_text("a and b")
    section.get_by_label("Show").select_option("b and d")
    expect(section.locator("figcaption:visible")).to_have_text("b and d")
    expect(section.locator("figure:visible .main-svg").first).to_be_visible()
    expect(section.locator(".main-svg:visible").first).to_be_visible()
    wide = new_page("/c/many", viewport={"width": 1280, "height": 800})
    map_data(wide)
    expect(wide.locator("[aria-labelledby=maps] figure:visible")).to_have_count(6)
    assert wide.locator("[aria-labelledby=maps] select").count() == 0


def test_jumping_on_a_phone(new_page: Any) -> None:
    """The links stay in sight, and do not cover where they lead to."""
    page = new_page("/c/coating", viewport={"width": 375, "height": 800})
    map_data(page)
    links = page.get_by_role("navigation", name="On this page")
    for name, heading in (("Experiments", "Experiments"), ("Next", "Next experiments")):
        links.get_by_role("link", name=name).click()
        title = page.get_by_role("heading", name=heading, exact=True)
        expect(title).to_be_in_viewport()
        expect(links).to_be_in_viewport()
        page.wait_for_function(
            """([nav, title]) => {
                const [{ bottom }, { top }] = [nav, title].map((e) => e.getBoundingClientRect());
                return top >= bottom && top < 200;
            }""",
            arg=[links.element_handle(), title.element_handle()],
        )


def test_the_table_is_sorted_and_filtered(new_page: Any) -> None:
    page = new_page("/c/coating", viewport={"width": 1280, "height": 800})
    table = page.get_by_role("region", name="Table of experiments")
    assert table.evaluate("(e) => e.scrollWidth <= e.clientWidth")  # it fits

    def numbers() -> list[int]:
        texts: list[str] = table.locator("tbody tr:visible th").all_inner_texts()
        return [int(text) for text in texts]

    assert numbers() == sorted(numbers(), reverse=True)
    table.get_by_role("button", name="hardness").press("Enter")
    values = table.locator("tbody tr:visible td:nth-child(3)").all_inner_texts()
    measured = [float(text) for text in values if text]
    assert measured == sorted(measured) and values[: len(measured)] == [v for v in values if v]
    page.get_by_role("combobox", name="Outcome").select_option("failed")
    assert 3 in numbers() and 0 not in numbers()
    page.get_by_label("Search").fill("cracked")
    assert numbers() == [3]


PAGES = [
    "/", "/new", "/c/coating", "/c/coating/change", "/c/coating/runs/3", "/docs/api", "/c/nobody",
    "/login", "/c/coating/what-if", "/c/coating/what-if?setting-0=310&setting-1=argon",
]  # fmt: skip


@pytest.mark.parametrize("width", [1280, 375])
def test_every_page_is_accessible(new_page: Any, width: int) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page = new_page("/", viewport={"width": width, "height": 800})
    found = {}
    for path in PAGES:
        page.goto(path)
        if path == "/c/coating":
            map_data(page)
        violations = axe.run(page).response["violations"]
        found[path] = [(each["id"], each["nodes"][0]["html"]) for each in violations]
    assert found == {path: [] for path in PAGES}
