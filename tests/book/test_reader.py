"""The reader whose eyes tests borrow sees what fails, and takes nothing else for a failure."""

import http.server
import threading

import pytest
from browsing import browser, visit

__all__ = ["browser", "visit"]

pytestmark = pytest.mark.browser


@pytest.fixture
def served():
    """A site whose `waited.js` comes when `let_go` says so; its address, and that event."""
    asked, let_go = threading.Event(), threading.Event()

    class Site(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            if self.path == "/waited.js":
                asked.set()
                let_go.wait(30)
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<!doctype html><link rel=icon href=data:,><title>x</title>")

        def log_message(self, *_):
            pass

    site = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=site.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{site.server_address[1]}", asked, let_go
    let_go.set()
    site.shutdown()


def test_request_of_a_page_that_was_left_is_no_fault(visit, served):
    address, asked, let_go = served
    reader = visit(address)
    page = reader.open(f"{address}/one.html")
    page.evaluate("() => { import('/waited.js').catch(() => 0); }")
    while not asked.is_set():
        page.wait_for_timeout(10)  # requests pass through this process, so it may not sleep
    reader.open(f"{address}/two.html")
    let_go.set()
    assert reader.faults == []


def test_what_is_missing_or_lies_beyond_this_machine_is_a_fault(visit, served):
    address, _, _ = served
    reader = visit(address)
    page = reader.open(f"{address}/one.html")
    closed = "http://127.0.0.1:1/none.js"
    page.evaluate("(url) => fetch(url).catch(() => 0)", closed)
    assert f"leaves the machine: {closed}" in reader.faults
    assert f"failed: {closed}" in reader.faults
