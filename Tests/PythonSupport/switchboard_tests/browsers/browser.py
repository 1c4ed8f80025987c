"""A Chromium with a profile, a fake camera and a fake microphone of its own."""

from __future__ import annotations

import contextlib
import ctypes
import os
import pathlib
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, TypeVar

from selenium import webdriver
from selenium.common.exceptions import (
    ElementClickInterceptedException,
    ElementNotInteractableException,
    StaleElementReferenceException,
    WebDriverException,
)
from selenium.webdriver.support.wait import WebDriverWait

from switchboard_tests import asyncapi
from switchboard_tests.browsers.frames import LOGGING, PageFrames
from switchboard_tests.reaper import ends_with_tests
from switchboard_tests.waiting import TIMEOUT

T = TypeVar("T")

DESK = (1280, 800)
TABLET = (1024, 768)
PHONE = (390, 844)

FLAGS = [
    # Painting costs less without the software emulation of a graphics card.
    "--disable-gpu",
    "--no-sandbox",
    "--use-fake-device-for-media-stream",
    "--use-fake-ui-for-media-stream",
    "--allow-loopback-in-peer-connection",
    "--disable-features=WebRtcHideLocalIpsWithMdns",
    "--autoplay-policy=no-user-gesture-required",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--mute-audio",
    # Resolves no host names: its start page would look one up, and the tests' networks have no DNS.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE 20.0.0.*",
]

# Keeps every connection that the page makes, so that tests can read the browser's own media statistics, and logs its
# ICE progress to the console, for a failed test.
WATCH_PEERS = """
(() => {
    const Native = window.RTCPeerConnection;
    window.peers = [];
    window.RTCPeerConnection = class extends Native {
        constructor(...options) {
            super(...options);
            const number = window.peers.push(this);
            const log = (...words) => console.info(`peer ${number} at ${Math.round(performance.now())}:`, ...words);
            this.addEventListener("icecandidate", ({ candidate }) => log(candidate?.candidate ?? "all candidates"));
            this.addEventListener("icecandidateerror", (error) => log(error.url, error.errorCode, error.errorText));
            this.addEventListener("iceconnectionstatechange", () => log("ICE", this.iceConnectionState));
            this.addEventListener("connectionstatechange", () => log("connection", this.connectionState));
        }
        setRemoteDescription(description) {
            console.info(`peer ${window.peers.indexOf(this) + 1} sets an`, description?.type);
            return super.setRemoteDescription(description);
        }
    };
})();
"""

# Logs what the content security policy has refused.
WATCH_POLICY = """
addEventListener("securitypolicyviolation", ({ effectiveDirective, blockedURI, sample, sourceFile, lineNumber }) => {
    console.error("policy violation:", effectiveDirective, blockedURI, sample, `${sourceFile}:${lineNumber}`);
});
"""

MEDIA = """
const done = arguments[arguments.length - 1];
(async () => {
    const peer = window.peers?.filter((one) => one.signalingState !== "closed").at(-1);
    if (!peer) return null;
    const reports = [...(await peer.getStats()).values()];
    const of = (type, kind) => reports.filter((one) => one.type === type && one.kind === kind);
    const sum = (list, field) => list.reduce((total, one) => total + (one[field] ?? 0), 0);
    const transport = reports.find((one) => one.type === "transport");
    const pair = reports.find((one) => one.id === transport?.selectedCandidatePairId);
    const candidate = (id) => reports.find((one) => one.id === id)?.candidateType;
    return {
        frames: sum(of("inbound-rtp", "video"), "framesDecoded"),
        audio: sum(of("inbound-rtp", "audio"), "packetsReceived"),
        audioSent: sum(of("outbound-rtp", "audio"), "packetsSent"),
        local: candidate(pair?.localCandidateId), remote: candidate(pair?.remoteCandidateId),
        ufrag: /a=ice-ufrag:(\\S+)/.exec(peer.localDescription?.sdp ?? "")?.[1],
        state: peer.connectionState, connections: window.peers.length,
    };
})().then(done, (error) => done({ error: String(error) }));
"""

PIXELS = """
const video = document.querySelector(arguments[0]);
if (!video?.videoWidth) return 0;
const canvas = document.createElement("canvas");
[canvas.width, canvas.height] = [32, 32];
const pen = canvas.getContext("2d");
pen.drawImage(video, 0, 0, 32, 32);
const { data } = pen.getImageData(0, 0, 32, 32);
let brightest = 0;
for (let i = 0; i < data.length; i += 4) brightest = Math.max(brightest, data[i] + data[i + 1] + data[i + 2]);
return brightest;
"""


# The visible text of the page: the call and the incoming call first, since the pages behind are long.
SHOWN = """
const of = (selector) => [...document.querySelectorAll(selector)].map((one) =>
    `${selector} ${JSON.stringify(one.dataset)} ${one.innerText.slice(0, 300)}`);
return [
    ...of("#call"), ...of("#incoming"), ...of("#notices, .notice, .toast"), document.body.innerText.slice(0, 800),
].join("\\n");
"""


# An element that was drawn anew meanwhile, or over which something lies: it is tried again.
PASSING = (StaleElementReferenceException, ElementNotInteractableException, ElementClickInterceptedException)

LIBC = ctypes.CDLL(None)
PR_CAPBSET_DROP, CAP_SYS_NICE = 24, 23


def lower_priority() -> None:
    """Run in a browser's process before it starts: gives the server and the Python peers precedence.

    Three browsers keep two cores busy with painting alone. As root, Chromium raises the priority of its compositor, and
    the rest is less than aiortc needs for the packets of one call: then the responses to its consent checks wait for
    seconds in its socket, or are dropped, and it considers the other end gone.
    """
    LIBC.prctl(PR_CAPBSET_DROP, CAP_SYS_NICE, 0, 0, 0)
    os.nice(5)


class Browser:
    living: ClassVar[list[Browser]] = []
    # Scripts of tests see the page's globals, such as `switchboard`.
    shares_globals = True

    def __init__(
        self,
        name: str,
        profile: str | pathlib.Path,
        flags: Sequence[str] = (),
        dark: bool = False,
        home: pathlib.Path | None = None,
        is_whole: bool = False,
    ) -> None:
        """Starts it: Chromium's engine alone, or the whole browser, which costs a third more processor time.

        The engine has no notifications, and its `navigator.permissions` knows nothing of what flags have granted.
        """
        options = webdriver.ChromeOptions()
        if is_whole:
            options.binary_location = "/usr/bin/chromium"
            options.add_argument("--headless=new")
        else:
            options.binary_location = "/usr/lib/chromium/chromium-headless-shell"
            options.set_capability("browserName", "chrome-headless-shell")
        for flag in [*FLAGS, *flags, f"--user-data-dir={profile}", f"--window-size={DESK[0]},{DESK[1]}"]:
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        options.add_experimental_option("perfLoggingPrefs", LOGGING)
        # A tab that is in a call asks before it closes.
        options.set_capability("unhandledPromptBehavior", "accept")
        # Its trusted certificate authorities are in the home directory.
        environment = {**os.environ, "HOME": str(home)} if home else None
        service = webdriver.ChromeService(
            "/usr/bin/chromedriver",
            env=environment,
            # The engine alone saves files in the current directory, whatever it is asked to.
            popen_kw={"preexec_fn": lower_priority, "cwd": pathlib.Path(profile).resolve()},
        )
        self.name = name
        self.driver = webdriver.Chrome(options, service)
        ends_with_tests(service.process.pid)
        self.driver.execute_cdp_cmd(
            "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(pathlib.Path(profile).resolve())}
        )
        self.watch_tab()
        self.resize(DESK)
        self.set_dark(dark)
        self.frames = PageFrames()
        # What the pages have logged, and which of that were violations of their content security policy.
        self.console: list[str] = []
        self.violations: list[str] = []
        asyncapi.readers.append(self.check_frames)
        Browser.living.append(self)

    # The window

    def resize(self, size: tuple[int, int]) -> None:
        mobile = size in (PHONE, TABLET)
        self.driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": size[0], "height": size[1], "deviceScaleFactor": 2 if size == PHONE else 1, "mobile": mobile},
        )

    def set_dark(self, dark: bool, **more: str) -> None:
        """`more` are other media features, with underscores for the hyphens: `forced_colors="active"`."""
        features = {"prefers_color_scheme": "dark" if dark else "light"} | more
        listed = [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": listed})

    def screenshot(self, path: str | pathlib.Path) -> None:
        pathlib.Path(path).parent.mkdir(parents=True, exist_ok=True)
        self.driver.save_screenshot(str(path))

    def open(self, url: str) -> None:
        """Opens the page with empty storage."""
        self.driver.get("about:blank")
        self.driver.execute_cdp_cmd("Storage.clearDataForOrigin", {"origin": url, "storageTypes": "all"})
        # That does not clear the session storage.
        script = self.driver.execute_cdp_cmd(
            "Page.addScriptToEvaluateOnNewDocument", {"source": "sessionStorage.clear()"}
        )
        self.driver.get(url)
        self.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", script)

    def new_tab(self, url: str) -> tuple[str, str]:
        """Opens another tab of the same profile and returns its handle and the one before."""
        before = self.driver.current_window_handle
        self.driver.switch_to.new_window("tab")
        self.watch_tab()
        self.driver.get(url)
        return self.driver.current_window_handle, before

    def switch(self, handle: str) -> None:
        self.driver.switch_to.window(handle)

    def keep_one_tab(self) -> None:
        first, *others = self.driver.window_handles
        for handle in others:
            self.driver.switch_to.window(handle)
            self.driver.close()
        self.driver.switch_to.window(first)

    def watch_tab(self) -> None:
        """Runs the scripts that watch in every page of this tab."""
        self.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": WATCH_PEERS + WATCH_POLICY})

    def read_console(self) -> None:
        """Takes what the pages have logged since the last time."""
        lines = [entry["message"] for entry in self.driver.get_log("browser")]  # type: ignore[no-untyped-call]
        self.violations += [line for line in lines if "policy violation:" in line]
        self.console = [*self.console, *lines][-40:]

    def take_violations(self) -> list[str]:
        """The violations of the pages' content security policy since the last time."""
        self.read_console()
        taken, self.violations = self.violations, []
        return taken

    def check_frames(self) -> None:
        """Checks the realtime frames of all pages since the last time."""
        self.frames.read(self.driver.get_log("performance"))  # type: ignore[no-untyped-call]

    def quit(self) -> None:
        Browser.living.remove(self)
        asyncapi.readers.remove(self.check_frames)
        # A browser that has crashed is the test's to notice.
        with contextlib.suppress(WebDriverException):
            self.check_frames()
        self.driver.quit()

    # Waiting

    def wait(self, what: str, condition: Callable[[], T], limit: float = TIMEOUT) -> T:
        """Waits until `condition()` is true and returns its value; fails with `what` it waited for."""
        last: Any = None

        def met(_: Any) -> Any:
            nonlocal last
            try:
                last = condition()
            except PASSING as error:
                last = error
                return False
            return last

        try:
            return WebDriverWait(self.driver, limit, poll_frequency=0.05).until(met)
        except WebDriverException as error:
            seen = f"{self.name}: waited {limit} s for {what}; last seen: {str(last)[:500]!r}"
            raise AssertionError(f"{seen}\n{self.state()}") from error

    def state(self) -> str:
        """The page's text and console, for a failed test."""
        text = self.driver.execute_script(SHOWN)
        self.read_console()
        log = "\n".join(line[:200] for line in self.console)
        return f"--- page\n{text}\n--- console\n{log}\n--- media\n{self.media()}"

    # Media

    def media(self) -> Any:
        return self.driver.execute_async_script(MEDIA)

    def brightness(self, selector: str) -> int:
        """The brightest pixel of a video, 0 to 765; 0 when there is none."""
        return self.driver.execute_script(PIXELS, selector)
