"""A page that runs scripts of tests."""

from selenium import webdriver

FLAGS = [
    "--headless=new",
    "--disable-gpu",
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--mute-audio",
    "--autoplay-policy=no-user-gesture-required",
    "--allow-loopback-in-peer-connection",
    "--disable-features=WebRtcHideLocalIpsWithMdns",
    # Resolves no host names: its start page would look one up.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]

# The arguments become variables of the script. `load("language/format.js")` imports a module of the client.
RUN = """
const [source, values, done] = arguments;
const AsyncFunction = (async () => {}).constructor;
const load = (name) => import(`/scripts/${name}`);
const test = new AsyncFunction("load", ...Object.keys(values), source);
test(load, ...Object.values(values)).then(
    (value) => done({ value }), (error) => done({ error: String(error?.stack ?? error) }));
"""


def start_browser(profile):
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for flag in [*FLAGS, f"--user-data-dir={profile}"]:
        options.add_argument(flag)
    driver = webdriver.Chrome(options, webdriver.ChromeService("/usr/bin/chromedriver"))
    driver.set_script_timeout(30)
    # Dates and times look the same on every machine.
    driver.execute_cdp_cmd("Emulation.setTimezoneOverride", {"timezoneId": "Europe/Berlin"})
    driver.execute_cdp_cmd("Emulation.setLocaleOverride", {"locale": "en-GB"})
    return driver


class Page:
    def __init__(self, driver):
        self.driver = driver

    def run(self, script, **values):
        """The value that the script returns: `undefined` and `NaN` become None."""
        result = self.driver.execute_async_script(RUN, script, values)
        assert "error" not in result, result["error"]
        return result.get("value")

    def call(self, module, name, *arguments):
        return self.run("return (await load(module))[name](...values)", module=module, name=name, values=arguments)
