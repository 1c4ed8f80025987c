"""Browsers in private networks behind NATs, and a server with public addresses, in network namespaces.

A test file uses these fixtures by `pytest_plugins = ["distant"]`.
"""

import contextlib
import shutil
import subprocess

import pytest
from switchboard_tests import namespaces
from switchboard_tests.browsers.browser import Browser
from switchboard_tests.browsers.pages import Person
from switchboard_tests.browsers.server import Server
from switchboard_tests.certificates import Authority
from switchboard_tests.namespaces import EVERYTHING, Internet
from switchboard_tests.waiting import TIMEOUT


class PublicServer(Server):
    """A server with two public addresses, and certificates for both."""

    url = "https://20.0.0.2"

    def __init__(self, binary, directory, authority):
        super().__init__(binary, directory)
        web, relay = authority.issue("20.0.0.2"), authority.issue("20.0.0.1")
        self.config.write_text(
            f"""
http: {{host: 20.0.0.2, port: 443, certificate: {web["certificate"]}, privateKey: {web["privateKey"]}}}
storage: {{path: {self.directory / "data"}}}
shutdown: {{drainSeconds: 0}}
relay:
  listen: [20.0.0.1]
  externalAddress: 20.0.0.1
  tlsPorts: [5349, 443]
  certificate: {relay["certificate"]}
  privateKey: {relay["privateKey"]}
"""
        )

    def read(self, path: str, timeout: float = TIMEOUT) -> bytes:
        command = ["curl", "-skf", "--max-time", str(timeout), self.url + path]
        done = subprocess.run(command, capture_output=True)
        if done.returncode != 0:
            raise ConnectionError(f"curl ended with {done.returncode}")
        return done.stdout


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def internet(request, tmp_path_factory, authority):
    namespaces.require()
    if not shutil.which("certutil"):
        pytest.skip("certutil is not installed (apt-get install libnss3-tools)")
    made = Internet()
    with made.namespace.inside():
        server = PublicServer(
            request.config.getoption("--binary"), tmp_path_factory.mktemp("server"), authority
        ).start()
    yield made
    server.stop()
    made.close()


class DistantBrowser(Browser):
    """A browser in a private network; all of its commands run in that network's namespace."""

    def __init__(self, name, profile, network, home, flags=()):
        self.network = network
        with network.host.inside():
            super().__init__(name, profile, flags, home=home)
        execute = self.driver.execute

        def inside(*arguments, **options):
            with network.host.inside():
                return execute(*arguments, **options)

        self.driver.execute = inside

    def quit(self):
        with self.network.host.inside():
            super().quit()


@pytest.fixture(scope="module")
def home(tmp_path_factory, authority):
    """A home directory whose browsers trust the tests' certificate authority."""
    directory = tmp_path_factory.mktemp("home")
    database = directory / ".pki" / "nssdb"
    database.mkdir(parents=True)
    for arguments in (["-N", "--empty-password"], ["-A", "-n", "tests", "-t", "C,,", "-i", str(authority.file)]):
        subprocess.run(["certutil", "-d", f"sql:{database}", *arguments], check=True, capture_output=True)
    return directory


@pytest.fixture(scope="module")
def make_person(internet, home, tmp_path_factory):
    """Makes people, each behind a NAT of their own; a context manager that closes the browser.

    With a `seed` their link can be impaired. They send small video by default, since one machine encodes all of it.
    """

    @contextlib.contextmanager
    def make(name, kind, lets_out=EVERYTHING, seed=None, save_data=True, flags=()):
        network = internet.network(kind, lets_out, seed)
        browser = DistantBrowser(name, tmp_path_factory.mktemp("profile"), network, home, flags)
        try:
            yield Person(browser, PublicServer.url, name).sign_up(save_data)
        finally:
            browser.quit()

    return make


@pytest.fixture
def person(make_person):
    """Makes people for one test, and closes their browsers after it, since idle ones would take CPU time."""
    with contextlib.ExitStack() as stack:
        yield lambda *options, **more: stack.enter_context(make_person(*options, **more))
