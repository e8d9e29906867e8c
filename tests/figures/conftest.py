import threading

import pytest
from browsing import browser, visit

from course_figures.pages import standalone
from setup import site_server

__all__ = ["browser", "visit"]

WIDE = {"width": 1300, "height": 900}
PHONE = {"width": 390, "height": 800}


@pytest.fixture
def figure_page(visit, tmp_path):
    """Opens a page that holds figures; at the end nothing may have gone wrong in any of them.

    Call it with figures and, if wanted, `over` ("http" or "file"), `theme` ("light" or "dark"),
    `phone`, `touch`, `calm` (reduced motion), `scripts` and `faulty` (do not look for faults at the
    end). It returns Playwright's page, mounted, with every request beyond this machine refused.
    """
    servers, visits = [], []

    def start(*figures, over="http", faulty=False, scripts=True, touch=False, **reader):
        path = tmp_path / f"figures-{len(visits)}.html"
        path.write_text(standalone(*figures), encoding="utf-8")
        address = tmp_path.as_uri()
        if over == "http":
            servers.append(site_server.server(tmp_path))
            threading.Thread(target=servers[-1].serve_forever, daemon=True).start()
            address = f"http://127.0.0.1:{servers[-1].server_address[1]}"
        visited = visit(
            address,
            viewport=PHONE if reader.get("phone") else WIDE,
            color_scheme=reader.get("theme", "light"),
            reduced_motion="reduce" if reader.get("calm") else "no-preference",
            has_touch=touch,
            java_script_enabled=scripts,
        )
        visits.append((visited, faulty))
        visited.page.set_default_timeout(20_000)
        visited.page.goto(f"{address}/{path.name}")
        if scripts:
            for index in range(len(figures)):
                place = visited.page.locator(".course-figure-mount").nth(index)
                place.and_(visited.page.locator("[data-mounted]")).wait_for()
        return visited.page

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()
    for visited, faulty in visits:
        assert faulty or visited.faults == []
