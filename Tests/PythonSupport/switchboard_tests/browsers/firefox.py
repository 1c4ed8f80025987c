"""A Firefox with the interface of the tests' Chromium, over Marionette, since Debian has no geckodriver."""

from __future__ import annotations

import contextlib
import json
import pathlib
import socket
import subprocess
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, TypeVar, cast

from selenium.webdriver.support.wait import WebDriverWait

from switchboard_tests import asyncapi
from switchboard_tests.browsers.browser import lower_priority
from switchboard_tests.browsers.frames import FirefoxFrames
from switchboard_tests.browsers.marionette import Marionette
from switchboard_tests.reaper import ends_with_tests
from switchboard_tests.waiting import TIMEOUT

T = TypeVar("T")

REFERENCE = "element-6066-11e4-a52e-4f735466cecf"
LOADED = "return location.protocol !== 'about:' && document.readyState === 'complete'"
PREFERENCES = {
    "media.navigator.streams.fake": True,
    "media.navigator.permission.disabled": True,
    "media.peerconnection.ice.obfuscate_host_addresses": False,
    "media.peerconnection.ice.loopback": True,
    "media.autoplay.default": 0,
    "datareporting.policy.dataSubmissionEnabled": False,
    "app.update.enabled": False,
    "media.gmp-manager.updateEnabled": False,
}

# A re-rendered element is looked up again, and one over which something lies is tried again; so are scripts that run
# while a tab closes.
PASSING = ("stale", "no longer", "not known", "obscures", "not be scrolled", "NS_ERROR_OUT_OF_MEMORY")


class Element:
    def __init__(self, driver: Driver, reference: dict[str, str]) -> None:
        self.driver = driver
        self.id = reference[REFERENCE]

    def _say(self, command: str, **parameters: Any) -> Any:
        return self.driver.say(f"WebDriver:{command}", id=self.id, **parameters)["value"]

    @property
    def text(self) -> str:
        return self._say("GetElementText")

    def is_displayed(self) -> bool:
        return self._say("IsElementDisplayed")

    def get_attribute(self, name: str) -> str | None:
        return self._say("GetElementAttribute", name=name)

    def click(self) -> None:
        self._say("ElementClick")

    def clear(self) -> None:
        self._say("ElementClear")

    def send_keys(self, *texts: str) -> None:
        self._say("ElementSendKeys", text="".join(texts))


class Driver:
    """The part of Selenium's driver interface that pages.py uses."""

    def __init__(self, port: int) -> None:
        self.say = Marionette(port).say
        self.say("WebDriver:NewSession", capabilities={"alwaysMatch": {"timeouts": {"script": 60000}}})

    def get(self, url: str) -> None:
        self.say("WebDriver:Navigate", url=url)

    def refresh(self) -> None:
        self.say("WebDriver:Refresh")

    @property
    def window_handles(self) -> list[str]:
        return cast("list[str]", self.say("WebDriver:GetWindowHandles"))

    def find_elements(self, _: Any, selector: str) -> list[Element]:
        found = self.say("WebDriver:FindElements", using="css selector", value=selector)
        return [Element(self, one) for one in found]

    def execute_script(self, script: str, *args: Any) -> Any:
        return self._execute("ExecuteScript", script, args)

    def execute_async_script(self, script: str, *args: Any) -> Any:
        return self._execute("ExecuteAsyncScript", script, args)

    def execute_in_browser(self, script: str, *args: Any) -> Any:
        """Runs a script with the rights of the browser itself."""
        self.say("Marionette:SetContext", value="chrome")
        try:
            return self.execute_script(script, *args)
        finally:
            self.say("Marionette:SetContext", value="content")

    def _execute(self, command: str, script: str, args: Sequence[Any]) -> Any:
        args = [{REFERENCE: one.id} if isinstance(one, Element) else one for one in args]
        value = self.say(f"WebDriver:{command}", script=script, args=args, newSandbox=False, sandbox=None)["value"]
        return Element(self, value) if isinstance(value, dict) and REFERENCE in value else value


class Firefox:
    """The interface of browser.Browser."""

    # Scripts of tests run in an isolated sandbox.
    shares_globals = False

    def __init__(self, name: str, driver: Driver) -> None:
        self.name = name
        self.driver = driver
        self.frames = FirefoxFrames()
        driver.execute_in_browser(FirefoxFrames.WATCH)

    def check_frames(self) -> None:
        """Checks the realtime frames of all pages since the last time."""
        self.frames.read(self.driver.execute_in_browser(FirefoxFrames.TAKE))

    def open(self, url: str) -> None:
        self.driver.get(url)

    def leave(self) -> None:
        """Closes every tab, and opens an empty one: the browser lives."""
        handles = self.driver.window_handles
        self.switch(self.driver.say("WebDriver:NewWindow", type="tab")["handle"])
        for handle in handles:
            self.switch(handle)
            self.driver.say("WebDriver:CloseWindow")
        [left] = self.driver.window_handles
        self.switch(left)

    def switch(self, handle: str) -> None:
        self.driver.say("WebDriver:SwitchToWindow", handle=handle, focus=True)

    def switch_to_new_tab(self) -> None:
        """Waits until the browser has opened a second tab, and its page is there."""
        self.wait("another tab", lambda: len(self.driver.window_handles) == 2)
        self.switch(self.driver.window_handles[1])
        self.wait("its page", lambda: self.driver.execute_script(LOADED))

    def wait(self, what: str, condition: Callable[[], T], limit: float = TIMEOUT) -> T:
        def met(_: Any) -> T | Literal[False]:
            try:
                return condition()
            except RuntimeError as error:
                if any(one in str(error) for one in PASSING):
                    return False
                raise

        try:
            return WebDriverWait(cast("Any", self.driver), limit, poll_frequency=0.1).until(met)
        except Exception as error:
            text = self.driver.execute_script("return document.body?.innerText.slice(0, 800)")
            raise AssertionError(f"{self.name}: waited {limit} s for {what}\n--- page\n{text}") from error


@contextlib.contextmanager
def firefox(profile: str | pathlib.Path, preferences: dict[str, Any] | None = None) -> Iterator[Firefox]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    every = PREFERENCES | (preferences or {})
    lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in every.items()]
    lines.append(f'user_pref("marionette.port", {port});')
    (pathlib.Path(profile) / "user.js").write_text("\n".join(lines))
    process = subprocess.Popen(
        [
            "firefox-esr", "--headless", "--no-remote", "--marionette", "-remote-allow-system-access", "--profile",
            profile,
        ],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=lower_priority,
    )
    ends_with_tests(process.pid)
    try:
        one = Firefox("firefox", Driver(port))
        asyncapi.readers.append(one.check_frames)
        try:
            yield one
            one.check_frames()
        finally:
            asyncapi.readers.remove(one.check_frames)
    finally:
        process.terminate()
        process.wait()
