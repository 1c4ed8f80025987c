"""app/main.js: what is left on the screen of who has signed out."""

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
