import threading

import pytest
from browsing import browser, visit
from reader import ROOT, pages

from setup import book_site, site_server

__all__ = ["browser", "visit"]


@pytest.fixture(scope="session")
def book():
    """The built book; a state of the sources is built once, whoever asks first."""
    return book_site.build(ROOT)


@pytest.fixture(scope="session")
def self_study():
    """The built edition with solutions."""
    return book_site.build(ROOT, solutions=True)


@pytest.fixture(scope="session")
def served(book):
    """Address of the book on this machine, without a slash at the end."""
    with site_server.server(book) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_address[1]}"
        running.shutdown()


@pytest.fixture(scope="session")
def contents_pages():
    """Every page that the table of contents names."""
    return list(pages())
