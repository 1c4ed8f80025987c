"""The web client as it is served: one request each for page, script and styles, which are small and kept by browsers;
and the folder of another client."""

from __future__ import annotations

import contextlib
import gzip
import http.client
import re

import pytest
from switchboard_tests.server import HTTP, ROOT
from switchboard_tests.waiting import TIMEOUT

WEB = ROOT / "Sources/WebAPI/Web"
# What a first visit downloads at most, compressed, and what the emoji do.
MAX_BYTES = 200_000
MAX_EMOJI_BYTES = 30_000


def assets(page: str) -> list[str]:
    """What a page loads as soon as it is opened."""
    return re.findall(r'(?:<script [^>]*src|<link rel="stylesheet" href)="([^"]+)"', page)


def sent(url: str, **headers: str) -> tuple[bytes, dict[str, str]]:
    """The body as it was sent, and the headers."""
    with HTTP.stream("GET", url, headers={"Accept-Encoding": "gzip"} | headers) as response:
        assert response.status_code == 200, url
        return b"".join(response.iter_raw()), dict(response.headers)


@pytest.mark.parametrize("path", ["/", "/index.html"])
def test_a_page_is_three_small_requests(server, path):
    page, headers = sent(server.url + path)
    text = gzip.decompress(page).decode()
    assert headers["cache-control"] == "no-cache" and headers["content-type"] == "text/html; charset=utf-8"
    names = assets(text)
    script, styles = sorted(names, key=lambda name: name.endswith(".css"))
    assert [re.sub("-[0-9a-f]{12}", "", one) for one in (script, styles)] == ["/assets/app.js", "/assets/app.css"]
    assert "import(" not in HTTP.get(server.url + script).text
    assert len(page) + sum(len(sent(server.url + one)[0]) for one in names) < MAX_BYTES


@pytest.mark.parametrize("page", ["/", "/docs", "/admin"])
def test_script_and_styles_are_kept_for_ever(server, page):
    base = server.admin_url if page == "/admin" else server.url
    names = assets(HTTP.get(base + page).text)
    assert len(names) == 2
    for name in names:
        body, headers = sent(base + name)
        assert headers["cache-control"] == "public, max-age=31536000, immutable"
        assert (headers["content-encoding"], headers["vary"]) == ("gzip", "Accept-Encoding")
        assert headers["x-content-type-options"] == "nosniff"
        plain, others = sent(base + name, **{"Accept-Encoding": "identity"})
        assert "content-encoding" not in others and gzip.decompress(body) == plain
        assert headers["etag"] != others["etag"]
        for encoding, tag in [("gzip", headers["etag"]), ("identity", others["etag"])]:
            again = HTTP.get(base + name, headers={"Accept-Encoding": encoding, "If-None-Match": tag})
            assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
        head = HTTP.head(base + name, headers={"Accept-Encoding": "gzip"})
        assert (head.status_code, head.content, head.headers["etag"]) == (200, b"", headers["etag"])
        assert head.headers["content-length"] == str(len(body))
        # Of another build.
        other = re.sub("-[0-9a-f]{12}", "-0123456789ab", name)
        missing = HTTP.get(base + other)
        assert missing.status_code == 404
        assert missing.headers["cache-control"] in ("no-store", "no-cache")


def test_emoji_are_one_small_file_with_its_licence(server):
    script = next(one for one in assets(HTTP.get(server.url + "/").text) if one.endswith(".js"))
    [path] = set(re.findall(r"/emoji/en-[0-9a-f]{12}\.json", HTTP.get(server.url + script).text))
    body, headers = sent(server.url + path)
    assert len(body) < MAX_EMOJI_BYTES and headers["content-type"] == "application/json"
    assert headers["cache-control"] == "public, max-age=31536000, immutable"
    licence = HTTP.get(server.url + HTTP.get(server.url + path).json()["licence"])
    assert licence.headers["content-type"].startswith("text/plain") and "Unicode, Inc." in licence.text


BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"


@pytest.mark.parametrize(
    "path",
    ["/nonsense", "/c/unknown-id", "/c/1/999999", "/u/unknown", "/a%20b", "/admin", "/assets/app-0123456789ab.js"],
)
def test_a_browser_gets_the_page_where_there_is_nothing(server, path):
    """What it loads is named from the root, so that it works at any path. It is kept nowhere."""
    page = HTTP.get(server.url + "/")
    found = HTTP.get(server.url + path, headers={"Accept": BROWSER, "If-None-Match": page.headers["etag"]})
    assert (found.status_code, found.text) == (404, page.text)
    assert found.headers["content-type"] == "text/html; charset=utf-8" and found.headers["cache-control"] == "no-store"
    assert found.headers["content-security-policy"] == page.headers["content-security-policy"]
    assert found.headers.get_list("vary", split_commas=True) == ["Accept-Encoding", "Accept"]
    assert "etag" not in found.headers
    assert all(one.startswith("/assets/") for one in assets(found.text))
    head = HTTP.head(server.url + path, headers={"Accept": BROWSER})
    assert (head.status_code, head.content) == (404, b"")
    for accept in ["*/*", "application/json", "image/avif,image/webp,*/*;q=0.8", "text/htmlx"]:
        problem = HTTP.get(server.url + path, headers={"Accept": accept})
        assert (problem.status_code, problem.json()["type"]) == (404, "not_found")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1"), ("GET", "/v1/nonsense"), ("GET", "/v1/conversations/1/nonsense"), ("POST", "/nonsense"),
        ("DELETE", "/c/1"),
    ],
)
def test_the_api_has_no_page(server, method, path):
    response = HTTP.request(method, server.url + path, headers={"Accept": BROWSER})
    assert (response.status_code, response.json()["type"]) == (404, "not_found")


def test_a_page_of_the_documentation_that_is_not_there_is_whole_each_time(server):
    first = HTTP.get(server.url + "/docs/nonsense")
    again = HTTP.get(server.url + "/docs/nonsense", headers={"If-None-Match": first.headers.get("etag", "*")})
    for one in (first, again):
        assert one.status_code == 404 and "There is no page at this address" in one.text


def test_pages_of_other_origins_vary_by_both(make_server):
    origin = "https://app.example.com"
    server = make_server({"http": {"allowedOrigins": [origin]}})
    headers = HTTP.get(server.url + "/", headers={"Origin": origin}).headers
    assert headers.get_list("vary", split_commas=True) == ["Accept-Encoding", "Origin"]


# The folder of another client.


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("client") / "web"
    path.mkdir()
    (path / "index.html").write_text("<!doctype html><title>Ours</title>")
    (path / "main.js").write_text("export {};\n")
    (path / "app.webmanifest").write_text("{}")
    (path / ".hidden").write_text("hidden")
    (path / "pages").mkdir()
    (path / "pages/one two.html").write_text("text")
    (path.parent / "secret").write_text("secret")
    return path


@pytest.fixture(scope="module")
def other(make_server, folder):
    server = make_server({"http": {"webDirectory": str(folder)}})
    yield server
    server.stop()


def test_a_folder_is_served_instead(server, other, folder):
    page = HTTP.get(other.url + "/")
    assert "Ours" in page.text
    policy = HTTP.get(server.url + "/").headers["content-security-policy"]
    types = {"/": "text/html", "/main.js": "text/javascript", "/app.webmanifest": "application/manifest+json"}
    for path, kind in types.items():
        response = HTTP.get(other.url + path)
        assert response.status_code == 200 and response.headers["content-type"].split(";")[0] == kind
        assert response.headers["cache-control"] == "no-cache"
        assert response.headers["content-security-policy"] == policy
        assert response.headers["x-content-type-options"] == "nosniff"
        again = HTTP.get(other.url + path, headers={"If-None-Match": response.headers["etag"]})
        assert again.status_code == 304
    assert HTTP.head(other.url + "/main.js").headers["content-length"] == "11"
    (folder / "main.js").write_text("export const changed = true;\n")
    assert "changed" in HTTP.get(other.url + "/main.js").text
    # The rest of the server is as it was.
    assert HTTP.get(other.url + "/v1/server").status_code == 200
    assert HTTP.get(other.url + "/docs").status_code == 200
    for path in ["/v1/nothing", "/nothing", "/assets/app.js", "/favicon.svg"]:
        response = HTTP.get(other.url + path, headers={"Accept": BROWSER})
        assert (response.status_code, response.json()["type"]) == (404, "not_found")
    assert HTTP.post(other.url + "/main.js").status_code == 404


@pytest.mark.parametrize("path", [
    "/../secret", "/pages/../../secret", "/%2e%2e/secret", "/..%2fsecret", "/.hidden", "/%2ehidden", "//secret",
    "/./.hidden", "/pages/one%20two.html", "/pages/%00", "/pages/..", "/main.js/..%2f..%2fsecret",
])
def test_nothing_else_of_the_disk_is_served(other, path):
    # Unlike others, this client sends the path as it is.
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", other.port, timeout=TIMEOUT)) as client:
        client.request("GET", path)
        response = client.getresponse()
        assert response.status in (400, 404), response.read()


def test_a_folder_has_its_own_worker_or_one_that_leaves(other, folder):
    """A browser that has the worker of the client in the binary would keep it, and its page, without another one."""
    worker = HTTP.get(other.url + "/worker.js")
    assert worker.headers["content-type"].startswith("text/javascript") and "unregister" in worker.text
    (folder / "worker.js").write_text("// Ours.\n")
    assert HTTP.get(other.url + "/worker.js").text == "// Ours.\n"
    (folder / "worker.js").unlink()


def test_the_plain_modules_of_the_source_are_a_client(make_server):
    server = make_server({"http": {"webDirectory": str(WEB)}})
    names = assets(HTTP.get(server.url + "/").text)
    assert names == ["/styles/main.css", "/scripts/app/main.js"]
    files = [*names, "/scripts/connection/api.js", "/styles/base.css"]
    assert all(HTTP.get(server.url + one).status_code == 200 for one in files)
    server.stop()


def test_a_folder_without_a_page_is_refused(make_server, tmp_path):
    server = make_server({"http": {"webDirectory": str(tmp_path)}}, started=False)
    with pytest.raises(AssertionError, match=r"http\.webDirectory: .* has no index\.html"):
        server.start()
    server.process = None
