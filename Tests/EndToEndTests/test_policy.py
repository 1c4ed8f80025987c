"""The content security policy in Chromium: what it refuses, on every page."""

import pytest
from switchboard_tests.browsers.pages import Person

# Scripts that do what an attacker would, and the directive that refuses it.
ATTACKS = {
    "markup": ("document.body.innerHTML = '<b>text</b>'", "require-trusted-types-for"),
    "inserted markup": ("document.body.insertAdjacentHTML('beforeend', '<b>text</b>')", "require-trusted-types-for"),
    "written markup": ("document.write('<b>text</b>')", "require-trusted-types-for"),
    "a script's address": ("document.createElement('script').src = '/assets/app.js'", "require-trusted-types-for"),
    "a script's text": ("document.createElement('script').text = '1'", "require-trusted-types-for"),
    "another policy": ("trustedTypes.createPolicy('other', {})", "trusted-types"),
    "a frame": (
        "const frame = document.createElement('iframe'); frame.src = '/docs'; document.body.append(frame)",
        "frame-src",
    ),
    "a picture of another host": ("new Image().src = 'http://127.0.0.1:9/x.png'", "img-src"),
    "a request to another host": ("fetch('http://127.0.0.1:9/').catch(() => {})", "connect-src"),
    "a socket to another host": ("try { new WebSocket('ws://127.0.0.1:9/') } catch {}", "connect-src"),
    "styles in an attribute": ("document.body.setAttribute('style', 'color: red')", "style-src-attr"),
    "an object": (
        "const one = document.createElement('object'); one.data = '/favicon.svg'; document.body.append(one)",
        "require-trusted-types-for",
    ),
}
# The script runs in the page, and errors are part of being refused.
RUN = """
const [done] = arguments;
addEventListener("securitypolicyviolation", ({ effectiveDirective }) => done(effectiveDirective), { once: true });
%s
"""


@pytest.fixture
def browser(browsers):
    one = browsers[0]
    one.keep_one_tab()
    yield one
    one.driver.get("about:blank")


@pytest.mark.parametrize("page", ["/", "/docs", "/admin"])
def test_attacks_are_refused(browser, server, url, page):
    if page == "/admin":
        if server is None:
            pytest.skip("needs a server of its own")
        url = f"http://127.0.0.1:{server.admin_port}"
    browser.driver.get(url + page)
    refused = {
        attack: browser.driver.execute_async_script(RUN % f"try {{ {script} }} catch {{}}")
        for attack, (script, _) in ATTACKS.items()
    }
    assert refused == {attack: directive for attack, (_, directive) in ATTACKS.items()}
    assert len(browser.take_violations()) == len(ATTACKS)


def test_text_is_no_program(browser, url):
    """A page's own script cannot run text: one that DevTools inject may, so it is a handler in markup that is tried."""
    browser.driver.get(url)
    assert browser.driver.execute_async_script("""
        const [done] = arguments;
        addEventListener("securitypolicyviolation", (event) => done(event.effectiveDirective), { once: true });
        const timer = window.setTimeout;
        try { timer("document.title = 'owned'", 0); } catch { /* Trusted Types throws. */ }
    """) in ("require-trusted-types-for", "script-src")
    assert browser.take_violations()


def test_pictures_and_media_of_the_page_are_shown(browser, url):
    Person(browser, url, "Ann Abel").sign_up()
    shown = browser.driver.execute_async_script("""
        const [done] = arguments;
        const canvas = document.createElement("canvas");
        canvas.toBlob((blob) => {
            const image = new Image();
            image.onload = () => done(true);
            image.onerror = () => done(false);
            image.src = URL.createObjectURL(blob);
        });
    """)
    assert shown and browser.take_violations() == []
