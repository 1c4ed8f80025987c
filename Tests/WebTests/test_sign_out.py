"""app/main.js: what is left of who has signed out, and of whose sign-in has expired."""

import pytest

SIGN_IN = """
const user = { id: "ann", displayName: "Ann Abel" };
const value = { user, session: { id: "s1" }, accessToken: "a", refreshToken: "r", expiresAt: Date.now() + 3_600_000 };
sessionStorage.setItem("switchboard.credentials", JSON.stringify(value));
"""
WAIT = """
const [selector, done] = arguments;
const timer = setInterval(() => {
    if (!document.querySelector(selector)) return;
    clearInterval(timer);
    done(true);
}, 20);
"""
# Of two calls the one behind the other says on the screen that it has ended.
SIGN_OUT = """
const { calls, credentials } = globalThis.switchboard;
const ended = { id: "c2", phase: "active", title: "Ben Brook", ending: "Call ended", hangUp() {
    this.phase = "ended";
    calls.emit("ended", this);
} };
calls.active = [{ id: "c1", phase: "active", hangUp() { this.phase = "ended"; } }, ended];
credentials.end();
return [ended.phase, document.getElementById("toasts").textContent, document.getElementById("announcer").textContent];
"""


@pytest.fixture
def tab(page, other_origin):
    before = page.driver.current_window_handle
    page.driver.switch_to.new_window("tab")
    yield other_origin
    page.driver.close()
    page.driver.switch_to.window(before)


def test_nothing_of_the_calls_of_who_signs_out_stays_on_the_screen(page, tab):
    driver = page.driver
    driver.get(f"{tab}/empty")
    driver.execute_script(SIGN_IN)
    driver.get(f"{tab}/")
    driver.execute_async_script(WAIT, "main[data-page]")
    assert driver.execute_script(SIGN_OUT) == ["ended", "", ""]
    driver.execute_async_script(WAIT, "form")


@pytest.fixture
def settings(page, tab):
    """The driver, with the settings of somebody who is not kept signed in."""
    page.driver.get(f"{tab}/empty")
    page.driver.execute_script(SIGN_IN)
    page.driver.get(f"{tab}/#/settings")
    page.driver.execute_async_script(WAIT, "main[data-page=settings]")
    return page.driver


# Signs in another time, without a server, and says what the address is as soon as the page is there.
SIGN_IN_AGAIN = """
const [id, done] = arguments;
const { credentials } = globalThis.switchboard;
credentials.begin({ user: { id, displayName: id }, session: { id: "s2" }, accessToken: "a", refreshToken: "r", expiresIn: 3_600 }, false);
const timer = setInterval(() => {
    if (!document.querySelector("main[data-page]")) return;
    clearInterval(timer);
    done(location.hash);
}, 20);
"""


@pytest.mark.parametrize(
    ("user", "address"), [("ann", "#/settings"), ("ben", "")], ids=["the same user", "somebody else"]
)
def test_the_address_waits_for_whose_sign_in_has_expired_though_it_was_not_kept(settings, user, address):
    settings.execute_script("globalThis.switchboard.credentials.end({ isExpired: true })")
    settings.execute_async_script(WAIT, "form")
    assert settings.execute_script("return location.hash") == "#/settings"
    assert settings.execute_async_script(SIGN_IN_AGAIN, user) == address


@pytest.mark.parametrize("earlier", ["kept", "not kept"])
def test_the_address_of_who_signs_out_is_gone_though_an_earlier_sign_in_has_expired(settings, earlier):
    if earlier == "kept":
        settings.execute_script("localStorage.setItem('switchboard.expired', JSON.stringify({ ann: Date.now() }))")
    else:
        settings.execute_script("globalThis.switchboard.credentials.end({ isExpired: true })")
        settings.execute_async_script(WAIT, "form")
        assert settings.execute_async_script(SIGN_IN_AGAIN, "ann") == "#/settings"
    settings.execute_script("globalThis.switchboard.credentials.end()")
    settings.execute_async_script(WAIT, "form")
    assert settings.execute_script("return location.hash") == ""
