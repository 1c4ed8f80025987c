"""What messages mean, under them, and help with writing: by the server's lexicons, and by a language model that is a
scripted server here. It says nothing about what a real model would write."""

import json
import time

import pytest
from selenium.webdriver.common.keys import Keys
from switchboard_tests.browsers.chats import API, fits_both, menu, open_chat, reach
from switchboard_tests.browsers.pages import Person
from switchboard_tests.browsers.server import Server
from switchboard_tests.translators import completion, serving

IDIOM = "My old car finally kicked the bucket yesterday, brb"
PLAIN = "I left the keys on the kitchen table this morning"
FIELD = "#write"
# The settings that the page knows of itself.
MODE_OF_PAGE = "return globalThis.switchboard.credentials.user.hints"
# What is said of the choice of levels in the settings.
LEVEL_HINT = ".field:has(#setting-intelligence) .hint"
ANNOUNCED = "return document.getElementById('announcer').textContent"


def under(number, status="done"):
    return f"#message-{number} [data-hints={status}]"


def wrote(document):
    return 200, {}, completion(json.dumps(document))


def hint(quote, meaning):
    return {"quote": quote, "kind": "idiom", "meaning": meaning, "equivalent": "estiró la pata", "relevance": "high"}


@pytest.fixture(scope="module")
def provider():
    with serving() as provider:
        yield provider


@pytest.fixture(scope="module")
def scripted(request, browsers, tmp_path_factory, provider):
    """Ann, who reads Spanish, and Ben on a server with a hosted language model: `(ann, api of Ben)`."""
    folder = tmp_path_factory.mktemp("model")
    server = Server(request.config.getoption("--binary"), folder)
    model = f"provider: openai\n    url: {provider.url}\n    name: scripted-1\n    timeoutSeconds: 20\n"
    server.config.write_text(f"{server.config.read_text()}languages:\n  model:\n    {model}")
    server.start()
    browsers[0].keep_one_tab()
    ann = Person(browsers[0], server.url, "Ann Abel").sign_up()
    ben = API.of_new_user(server.url, "Ben Brook")
    # Who wrote something has to allow that it is given away.
    ben.ask("PATCH", "/v1/me", {"intelligence": "full"})
    yield ann, ben
    browsers[0].keep_one_tab()
    browsers[0].driver.get("about:blank")
    server.stop()


@pytest.fixture
def here(scripted):
    """A group of both, whose members may have everything given to the model."""
    ann, ben = scripted
    API(ann).ask("PATCH", "/v1/me", {"languages": ["es"], "hints": "onRequest"})
    here = ben.create("group", [API(ann)], name=f"Help {time.monotonic_ns() % 1000}")
    ben.ask("PATCH", f"/v1/conversations/{here}", {"settings": {"intelligence": "full"}})
    return here


def test_lexicons_explain_by_themselves_and_on_request(chatters, apis, group, pictures):
    ann, _ = chatters
    apis[0].ask("PATCH", "/v1/me", {"languages": ["es"]})
    first, plain = apis[1].say(group, IDIOM), apis[1].say(group, PLAIN)
    open_chat(ann, group)
    ann.find(f"#message-{plain} .text")
    assert not ann.all(".hints")
    menu(ann, first, "explain")
    ann.says(f"{under(first)} dt", "kicked the bucket")
    # What was asked for is open, and said to who listens to the page.
    assert ann.attribute(f"{under(first)} [data-action=toggle-hints]", "aria-expanded") == "true"
    assert ann.text(f"{under(first)} [data-kind=slang] dd") == "I will be back in a moment"
    assert ann.attribute(f"{under(first)} dd", "lang") == "en"
    ann.browser.wait("it to be announced", lambda: "kicked the bucket" in ann.driver.execute_script(ANNOUNCED))
    fits_both(ann, pictures, "hints")
    ann.click(f"{under(first)} [data-action=toggle-hints]")
    ann.browser.wait("it to close", lambda: not ann.all(f"{under(first)} dl:not([hidden])"))
    assert ann.driver.execute_script("return document.activeElement.dataset.action") == "toggle-hints"
    # By a key, where there is nothing to explain.
    reach(ann, plain)
    ann.press("x")
    ann.says(under(plain), "There is nothing to explain in it.")
    # Without a model nothing is rewritten, and no replies are suggested.
    ann.click(f"#message-{plain} [data-action=message-menu]")
    ann.find("#message-menu")
    assert not ann.all("#message-menu [data-action=suggest-replies]")
    ann.press(Keys.ESCAPE)
    # Unasked, in this chat.
    ann.click("[data-action=members]")
    ann.click("#explain-here option[value=automatic]")
    own = f"/v1/conversations/{group}"
    ann.browser.wait("the choice", lambda: apis[0].ask("GET", own)["membership"].get("hints") == "automatic")
    pictures(ann.browser, "hints-details")
    ann.press(Keys.ESCAPE)
    number = apis[1].say(group, "idk tbh, ask Maria about the meeting tomorrow")
    ann.says(under(number), "2 explanations")
    assert not ann.all(f"{under(number)} dl:not([hidden])")
    ann.click(f"{under(number)} [data-action=toggle-hints]")
    ann.says(under(number), "to be honest")
    # They stay over a reload.
    ann.driver.refresh()
    ann.says(under(number), "2 explanations")
    # With another text they go.
    path = f"/v1/conversations/{group}/messages/{number}"
    version = apis[1].ask("GET", path)["message"]["textVersion"]
    apis[1].ask("PATCH", path, {"text": PLAIN, "textVersion": version})
    ann.gone(f"#message-{number} .hints")
    ann.click("[data-action=members]")
    ann.click("#explain-here option[value=off]")
    ann.press(Keys.ESCAPE)
    ann.gone(".hint-list")


def test_settings(chatters, apis):
    ann, _ = chatters
    ann.go("settings")
    ann.click("#setting-hints option[value=automatic]")
    ann.browser.wait("the choice", lambda: apis[0].ask("GET", "/v1/me").get("hints") == "automatic")
    ann.browser.wait("the page", lambda: ann.driver.execute_script(MODE_OF_PAGE) == "automatic")
    ann.click("#setting-hints option[value=onRequest]")
    ann.browser.wait("the choice", lambda: apis[0].ask("GET", "/v1/me").get("hints") == "onRequest")


def test_drafts_are_checked_by_rules(chatters, apis, group, pictures):
    ann, _ = chatters
    for _ in range(2):
        apis[1].say(group, "¿Cómo está usted? Le escribo por la reunión de mañana en la oficina")
    open_chat(ann, group)
    ann.find(FIELD).send_keys("¿TÚ VIENES MAÑANA A LA REUNIÓN?")
    ann.click("[data-action=writing-help]")
    ann.says("#writing-help [data-finding=shouting]", "may look like shouting.")
    ann.says("#writing-help [data-finding=too_informal]", "is less formal than what the others write here.")
    fits_both(ann, pictures, "writing-help-rules")
    # Nothing but rules is offered.
    assert not ann.all("#writing-help [data-style]")
    ann.press(Keys.ESCAPE)
    ann.find(FIELD).clear()


def test_a_model_explains(scripted, here, provider, pictures):
    ann, ben = scripted
    provider.script = lambda _: wrote({"hints": [hint("kicked the bucket", "se murió, dejó de funcionar")]})
    provider.responds.clear()
    number = ben.say(here, IDIOM)
    open_chat(ann, here)
    menu(ann, number, "explain")
    # What lexicons know is there meanwhile.
    ann.says(under(number, "queued"), "Asking scripted-1…")
    ann.says(f"{under(number, 'queued')} dd", "pass from physical life")
    provider.responds.set()
    ann.says(f"{under(number)} dd", "se murió, dejó de funcionar")
    assert ann.attribute(f"{under(number)} dd", "lang") == "es"
    ann.says(under(number), "In other words: estiró la pata")
    ann.says(under(number), "Explained by scripted-1")
    pictures(ann.browser, "hints-model")
    # One that fails says so, and is tried again.
    provider.script = lambda _: (401, {}, b'{"error": {"message": "no"}}')
    second = ben.say(here, IDIOM)
    menu(ann, second, "explain")
    ann.says(under(second, "failed"), "scripted-1 did not explain it.")
    provider.script = lambda _: wrote({"hints": [hint("kicked the bucket", "se murió")]})
    ann.click(f"{under(second, 'failed')} [data-action=retry-hints]")
    ann.says(f"{under(second)} dd", "se murió")


def test_a_draft_is_rewritten_with_consent(scripted, here, provider, pictures):
    ann, ben = scripted
    ben.say(here, "Shall we meet in the office or at the station tomorrow?")
    open_chat(ann, here)
    ann.find(FIELD).send_keys("hey come to https://example.org/map at nine")
    ann.click("[data-action=writing-help]")
    ann.says("#writing-help", "Nothing stands out.")
    ann.click("#writing-help [data-style=formal]")
    # By the provider's name.
    ann.says("#writing-help [role=alert]", "scripted-1 is a service elsewhere. It may be given what you write")
    pictures(ann.browser, "writing-help-consent")
    before = len(provider.received)
    provider.script = lambda data: wrote({"text": data["draft"].replace("hey", "Good morning, please")})
    ann.click("#writing-help [data-action=allow-model]")
    ann.says("#rewritten", "Good morning, please come to https://example.org/map at nine")
    assert len(provider.received) == before + 1 and not provider.observed("example.org/map at")
    fits_both(ann, pictures, "writing-help")
    # It is there beside the draft, which stays as it is.
    assert ann.find(FIELD).get_attribute("value") == "hey come to https://example.org/map at nine"
    ann.click("#writing-help [data-action=leave-proposal]")
    ann.gone("#rewritten")
    provider.script = lambda _: (500, {}, b"{}")
    ann.click("#writing-help [data-style=shorter]")
    ann.find("#writing-help [data-action=retry-writing]")
    assert len(provider.received) == before + 2
    provider.script = lambda data: wrote({"text": data["draft"].replace("hey come", "Come")})
    ann.click("#writing-help [data-action=retry-writing]")
    ann.says("#rewritten", "Come to")
    provider.script = lambda _: wrote(
        {"tone": "informal", "findings": [{"quote": "hey", "advice": "suena brusco", "suggestion": "hello"}]}
    )
    ann.click("#writing-help [data-action=ask-model]")
    ann.says("#writing-help [data-finding=tone]", "suena brusco")
    ann.click("#writing-help [data-action=take-proposal]")
    ann.gone("#writing-help")
    assert ann.find(FIELD).get_attribute("value") == "Come to https://example.org/map at nine"
    ann.find(FIELD).clear()


def test_replies_are_suggested(scripted, here, provider, pictures):
    ann, ben = scripted
    number = ben.say(here, "Shall we meet in the office or at the station tomorrow?")
    open_chat(ann, here)
    provider.script = lambda _: wrote({"replies": ["At the office", "At the station", "Neither, sorry"]})
    menu(ann, number, "suggest-replies")
    ann.browser.wait("the replies", lambda: len(ann.all(".reply-chips [data-action=take-reply]")) == 3)
    fits_both(ann, pictures, "replies")
    ann.all(".reply-chips [data-action=take-reply]")[1].click()
    ann.gone(".reply-chips [data-action=take-reply]")
    # It is a draft: nothing was sent.
    assert ann.find(FIELD).get_attribute("value") == "At the station"
    ann.find("[data-action=cancel-target]")
    assert ben.ask("GET", f"/v1/conversations/{here}")["conversation"]["lastNumber"] == number
    provider.script = lambda _: (500, {}, b"{}")
    menu(ann, number, "suggest-replies")
    ann.find(".reply-chips [data-action=retry-replies]")
    ann.click(".reply-chips [data-action=close-replies]")
    ann.gone(".reply-chips [data-action=retry-replies]")


@pytest.fixture
def hosting(request, tmp_path):
    """Starts a server with services at addresses where nothing listens: `hosting(hosted)`."""
    servers = []

    def start(hosted):
        server = Server(request.config.getoption("--binary"), tmp_path)
        service = {"provider": "openai", "url": "https://localhost:9/v1", "hosted": hosted}
        languages = {
            "apertium": True,
            "translation": service | {"model": "translator-1"},
            "embeddings": service | {"model": "embedder-1"},
            "model": service | {"name": "writer-1"},
        }
        known = server.config.read_text().replace("transcription:\n  provider: command\n", "")
        transcription = service | {"model": "speech-1"}
        settings = {"transcription": transcription, "languages": languages}
        lines = [f"{name}: {json.dumps(values)}\n" for name, values in settings.items()]
        server.config.write_text(known + "".join(lines))
        servers.append(server.start())
        return server

    yield start
    for one in servers:
        one.stop()


def test_consent_is_asked_for_by_the_names_of_all_that_is_allowed(hosting, browsers, pictures):
    browsers[1].keep_one_tab()
    server = hosting("auto")
    ann = Person(browsers[1], server.url, "Ann Abel").sign_up()
    here = API(ann).create("self")
    open_chat(ann, here)
    ann.find(FIELD).send_keys("hey come at nine")
    ann.click("[data-action=writing-help]")
    ann.click("#writing-help [data-style=formal]")
    ann.says("#writing-help [role=alert]", "writer-1 is a service elsewhere. It may be given what you write")
    # What is asked is read to the end by who listens to the page. Apertium is on this server.
    ann.says("#writing-help [role=alert]", "by meaning: translator-1, speech-1 and embedder-1.")
    allow = ann.text("#writing-help [data-action=allow-model]")
    assert allow == "Allow writer-1, translator-1, speech-1 and embedder-1 here"
    fits_both(ann, pictures, "consent-to-all")
    ann.press(Keys.ESCAPE)
    # The same to the assistant, and where a level is chosen.
    ann.go("assistant")
    ann.find("#question").send_keys("When do we meet?", Keys.ENTER)
    ann.says("#question-form [role=alert]", "by meaning: translator-1, speech-1 and embedder-1.")
    assert ann.text("#question-form [data-action=allow-model]") == allow.removesuffix(" here")
    wanted = "To translate and to transcribe: translator-1 and speech-1. For everything else: writer-1 and embedder-1."
    ann.go("settings")
    ann.says(LEVEL_HINT, wanted)
    # A page that opens there says it as soon as it knows what the server has.
    ann.driver.execute_cdp_cmd("Network.enable", {})
    ann.driver.execute_cdp_cmd("Network.setBlockedURLs", {"urls": ["*/v1/server"]})
    ann.driver.refresh()
    ann.says(LEVEL_HINT, "Elsewhere means services")
    assert "-1" not in ann.text(LEVEL_HINT) and "has none" not in ann.text(LEVEL_HINT)
    ann.driver.execute_cdp_cmd("Network.setBlockedURLs", {"urls": []})
    server.stop()
    server.start()
    ann.says(LEVEL_HINT, wanted)
    open_chat(ann, here)
    ann.click("[data-action=members]")
    ann.says(".field:has(#own-level) .hint", wanted)
    assert API(ann).ask("GET", "/v1/me").get("intelligence") is None, "nothing was allowed"
    browsers[1].driver.get("about:blank")


def test_what_the_operator_runs_needs_no_name(hosting, browsers):
    browsers[1].keep_one_tab()
    ann = Person(browsers[1], hosting("false").url, "Ann Abel").sign_up()
    ann.go("settings")
    ann.says(LEVEL_HINT, "This server has none at the moment.")
    assert "-1" not in ann.text(LEVEL_HINT)
    browsers[1].driver.get("about:blank")
