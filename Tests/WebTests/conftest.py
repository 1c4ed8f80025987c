"""Tests of the web client's modules as functions: one Chromium with one page, and a server for static files only."""

import contextlib
import functools
import http.server
import pathlib
import threading

import pytest
from page import Page, start_browser

HERE = pathlib.Path(__file__).parent
WEB = HERE.parents[1] / "Sources/WebAPI/Web"


class Files(http.server.SimpleHTTPRequestHandler):
    """The web client, an empty page at `/empty`, and the scripts of this folder at `/tests/`."""

    extensions_map = {".js": "text/javascript", ".svg": "image/svg+xml"}

    def do_GET(self):
        if self.path != "/empty":
            super().do_GET()
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>tests</title>")

    def translate_path(self, path):
        if path.startswith("/tests/"):
            return str(HERE / pathlib.PurePosixPath(path.partition("?")[0]).name)
        return super().translate_path(path)

    def log_message(self, *_):
        """Only failed tests print something."""


@contextlib.contextmanager
def serve_files():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Files, directory=WEB))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="session")
def origin():
    with serve_files() as address:
        yield address


@pytest.fixture
def other_origin(page, origin):
    """The page is of an origin of its own, with a storage of its own, during a test."""
    with serve_files() as address:
        page.driver.get(f"{address}/empty")
        yield address
        page.driver.get(f"{origin}/empty")


@pytest.fixture(scope="session")
def page(origin, tmp_path_factory):
    driver = start_browser(tmp_path_factory.mktemp("profile"))
    try:
        driver.get(f"{origin}/empty")
        yield Page(driver)
    finally:
        driver.quit()


@pytest.fixture(scope="session")
def call(page):
    """Calls an exported function: `call("language/format.js", "initials", "Ann Abel")`."""
    return page.call


@pytest.fixture(scope="session")
def run(page):
    """Runs the body of an async function: `run("return one + two", one=1, two=2)`."""
    return page.run
