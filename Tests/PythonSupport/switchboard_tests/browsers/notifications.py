"""Firefox's notifications: a headless browser has no desktop that shows them, so these are shown to the test.

Everything before and after that is the browser's: what a page or worker shows comes as the desktop would get it, and
what the user does goes to the worker as from the desktop.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from switchboard_tests.browsers.firefox import Firefox

# Replaces the service of the desktop, as Firefox's own tests do. For an hour after a click a worker may open a tab, and
# not for a second, which is short on a busy machine.
INSTALL = """
const alerts = window.switchboardAlerts = new Map();
const service = {
    QueryInterface: ChromeUtils.generateQI(["nsIAlertsService"]),
    createInstance(id) { return this.QueryInterface(id); },
    showAlert(alert, listener) {
        alerts.set(alert.name, { alert, listener });
        Services.tm.dispatchToMainThread(() => listener?.observe(null, "alertshow", alert.cookie));
    },
    showPersistentNotification(_, alert, listener) { this.showAlert(alert, listener); },
    closeAlert(name) {
        const shown = alerts.get(name);
        alerts.delete(name);
        shown?.listener?.observe(null, "alertfinished", shown.alert.cookie);
    },
    async getHistory() { return []; },
    teardown() {},
    pbmTeardown() {},
};
Components.manager.QueryInterface(Ci.nsIComponentRegistrar).registerFactory(
    Components.ID("{7f3c9d3e-51f4-4d0c-9e3b-3d2d62f5b6a1}"), "alerts of tests", "@mozilla.org/alerts-service;1",
    service);
Services.prefs.setIntPref("dom.webnotifications.disable_open_click_delay", 3_600_000);
// Marionette turns it off.
Services.prefs.setBoolPref("dom.push.connection.enabled", true);
"""
SHOWN = """
return [...window.switchboardAlerts.values()].map(({ alert }) => ({
    name: alert.name, title: alert.title, body: alert.text, silent: alert.silent, stays: alert.requireInteraction,
    actions: [...alert.actions].map((one) => one.action),
}));
"""
CLICK = """
const [name, action] = arguments;
const { alert, listener } = window.switchboardAlerts.get(name);
const button = action ? [...alert.actions].find((one) => one.action === action) : null;
listener.observe(button, "alertclickcallback", alert.cookie);
"""
CLOSE_ALL = """
for (const [name, { alert, listener }] of window.switchboardAlerts) {
    window.switchboardAlerts.delete(name);
    listener?.observe(null, "alertfinished", alert.cookie);
}
"""
# Clicks what the browser asks for a page, as soon as it asks.
CONSENT = """
const prompt = window.PopupNotifications.getNotification("web-notifications", window.gBrowser.selectedBrowser);
prompt?.mainAction.callback({ checkboxChecked: false, source: "button" });
prompt?.remove();
return Boolean(prompt);
"""
ALLOW = """
const [origin, names] = arguments;
const principal = Services.scriptSecurityManager.createContentPrincipalFromOrigin(origin);
for (const name of names) Services.perms.addFromPrincipal(principal, name, Services.perms.ALLOW_ACTION);
"""


@dataclasses.dataclass(frozen=True)
class Shown:
    name: str
    title: str
    body: str
    silent: bool
    # Until the user does something.
    stays: bool
    actions: list[str]


class Notifications:
    """Those of a Firefox, whose push service it connects to."""

    def __init__(self, browser: Firefox) -> None:
        self.browser = browser
        self.driver = browser.driver
        self.driver.execute_in_browser(INSTALL)

    def allow(self, origin: str, *permissions: str) -> None:
        """Lets the pages of a site have them without a question."""
        self.driver.execute_in_browser(ALLOW, origin, list(permissions))

    def consent(self) -> None:
        """To the question of the browser whether the page may show notifications."""
        self.browser.wait("the browser to ask", lambda: self.driver.execute_in_browser(CONSENT))

    def close_all(self) -> None:
        self.driver.execute_in_browser(CLOSE_ALL)

    def shows(self, title: str, *bodies: str) -> list[Shown]:
        """Waits until those with this title have these texts, and returns them in the order of the texts."""
        last: list[Shown] = []

        def are_shown() -> bool:
            found: list[dict[str, Any]] | None = self.driver.execute_in_browser(SHOWN)
            # Marionette returns nothing while tabs come and go.
            if found is None:
                return False
            last[:] = sorted((Shown(**one) for one in found), key=lambda one: one.body)
            return [one.body for one in last if one.title == title] == sorted(bodies)

        try:
            self.browser.wait(f"the notifications of {title}", are_shown)
        except AssertionError as error:
            raise AssertionError(f"not the notifications {bodies} of {title}, but {last}") from error
        return [one for one in last if one.title == title]

    def click(self, shown: Shown, action: str = "") -> None:
        """The notification itself, or one of its buttons."""
        self.driver.execute_in_browser(CLICK, shown.name, action)
