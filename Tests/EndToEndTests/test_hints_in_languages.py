"""What messages mean, to people whose page and language is none of the message's: the words of the page, what a model
writes and what is quoted each have their own language and direction. The model is a scripted server here."""

import dataclasses
import json

import pytest
from selenium.webdriver.common.keys import Keys
from switchboard_tests.browsers.chats import API, fits_both, menu, open_chat
from switchboard_tests.browsers.pages import Person
from switchboard_tests.browsers.server import Server
from switchboard_tests.translators import completion, serving

IDIOM = "My old car finally kicked the bucket yesterday"
# The language and direction of a page, and those of every text of one message's explanations.
ROOT = "return [document.documentElement.lang, document.documentElement.dir]"
PARTS = """
const parts = [...document.querySelectorAll(`#message-${arguments[0]} .hint-list :is(dt q, dd:not(.hint), dd q)`)];
return parts.map((one) => [one.textContent, one.closest("[lang]").lang, getComputedStyle(one).direction]);
"""
RIGHT_TO_LEFT = {"ar", "ur"}


@dataclasses.dataclass
class Reader:
    """Somebody who reads one language and gets a message in another, of which a model explains the quote."""

    language: str
    source: str
    text: str
    quote: str
    meaning: str
    equivalent: str
    # What the page says in the language: while the model is asked, then of one explanation, of other words for it, of
    # who has explained it, and where that failed.
    asking: str
    count: str
    equivalently: str
    explained: str
    failed: str


READERS = [
    Reader(
        "es", "ru", "Вчера мы весь день били баклуши на даче, а сегодня надо работать", "били баклуши",
        "no hicimos nada en todo el día", "estuvimos de brazos cruzados", "Preguntando a scripted-1…", "1 explicación",
        "Dicho de otro modo:", "Explicado por scripted-1", "scripted-1 no lo ha explicado.",
    ),
    Reader(
        "pt", "hi", "पुलिस को देखते ही चोर नौ दो ग्यारह हो गया और हम घर आ गए", "नौ दो ग्यारह हो गया",
        "fugiu muito depressa", "deu no pé", "Perguntando a scripted-1…", "1 explicação", "Em outras palavras:",
        "Explicado por scripted-1", "scripted-1 não explicou.",
    ),
    Reader(
        "ru", "ar", "وصلت متأخرا إلى المقابلة، لقد فاتك القطار يا صديقي", "فاتك القطار",
        "ты упустил возможность", "поезд ушёл", "Спрашиваем scripted-1…", "1 пояснение", "Другими словами:",
        "Пояснение: scripted-1", "scripted-1 не дал пояснения.",
    ),
    Reader(
        "hi", "es", "Mi abuelo estiró la pata el año pasado y todavía lo echamos de menos", "estiró la pata",
        "मर गए, बोलचाल में", "चल बसे", "scripted-1 से पूछा जा रहा है…", "1 व्याख्या", "दूसरे शब्दों में:",
        "scripted-1 ने समझाया", "scripted-1 ने नहीं समझाया।",
    ),
    Reader(
        "ar", "pt", "Amanhã não posso ir à festa porque estou sem grana e com muito trabalho", "sem grana",
        "بلا مال", "على الحديدة", "جارٍ سؤال \u2068scripted-1\u2069…", "شرح واحد", "بعبارة أخرى:",
        "شرحه \u2068scripted-1\u2069", "لم يشرحه \u2068scripted-1\u2069.",
    ),
]  # fmt: skip


def under(number, status="done"):
    return f"#message-{number} [data-hints={status}]"


def direction(language):
    return "rtl" if language in RIGHT_TO_LEFT else "ltr"


def wrote(quote, reader):
    hint = {
        "quote": quote, "kind": "idiom", "meaning": reader.meaning, "equivalent": reader.equivalent, "relevance": "high"
    }  # fmt: skip
    return lambda _: (200, {}, completion(json.dumps({"hints": [hint]}, ensure_ascii=False)))


@pytest.fixture(scope="module")
def provider():
    with serving() as provider:
        yield provider


@pytest.fixture(scope="module")
def stage(request, browsers, tmp_path_factory, provider):
    """Ann and Ben on a server whose members allow its hosted language model: `(ann, api of Ben)`."""
    server = Server(request.config.getoption("--binary"), tmp_path_factory.mktemp("hints"))
    model = {"provider": "openai", "url": provider.url, "name": "scripted-1", "timeoutSeconds": 20}
    languages = json.dumps({"defaultLevel": "full", "model": model})
    server.config.write_text(f"{server.config.read_text()}languages: {languages}\n")
    server.start()
    browsers[0].keep_one_tab()
    ann = Person(browsers[0], server.url, "Ann Abel").sign_up()
    yield ann, API.of_new_user(server.url, "Ben Brook")
    browsers[0].keep_one_tab()
    browsers[0].driver.get("about:blank")
    server.stop()


def is_explained(ann, number, *parts):
    """Each text in its own language and direction: what is quoted, what it means, and what is said instead."""
    wanted = [[text, language, direction(language)] for text, language in parts]
    ann.browser.wait(f"the texts {wanted}", lambda: ann.driver.execute_script(PARTS, number) == wanted)


@pytest.mark.parametrize("reader", READERS, ids=[f"{one.source}-to-{one.language}" for one in READERS])
def test_in_the_language_of_who_reads(stage, provider, reader, pictures):
    ann, ben = stage
    own, language = API(ann), reader.language
    own.ask("PATCH", "/v1/me", {"languages": [language], "hints": "onRequest"})
    ann.driver.execute_script("switchboard.preferences.set('language', arguments[0])", language)
    ann.driver.refresh()
    ann.browser.wait("the language", lambda: ann.driver.execute_script(ROOT) == [language, direction(language)])
    ann.is_online()
    here = ben.create("group", [own], name=reader.source)
    provider.script = wrote(reader.quote, reader)
    provider.responds.clear()
    number = ben.say(here, reader.text)
    open_chat(ann, here)
    menu(ann, number, "explain")
    ann.says(under(number, "queued"), reader.asking)
    provider.responds.set()
    explained = [(reader.meaning, language), (reader.equivalent, language)]
    is_explained(ann, number, (reader.quote, reader.source), *explained)
    ann.says(under(number), reader.equivalently)
    ann.says(under(number), reader.explained)
    assert f"in the language {language}" in " ".join(
        one["content"] for one in provider.requests[-1]["messages"] if one["role"] == "system"
    )
    fits_both(ann, pictures, f"hints-{reader.source}-to-{language}")
    # Closed, it is one badge, which a key opens.
    ann.click(f"{under(number)} [data-action=toggle-hints]")
    ann.gone(f"{under(number)} dl")
    ann.browser.wait("the badge", lambda: ann.text(f"{under(number)} [data-action=toggle-hints]") == reader.count)
    ann.press(Keys.ENTER)
    is_explained(ann, number, (reader.quote, reader.source), *explained)
    # An idiom that the server's lexicon knows, which is in English: the model fails, and is asked again.
    provider.script = lambda _: (401, {}, b'{"error": {"message": "no"}}')
    english = ben.say(here, IDIOM)
    menu(ann, english, "explain")
    ann.says(under(english, "failed"), reader.failed)
    quoted = ("kicked the bucket", "en")
    [quote, meaning] = ann.driver.execute_script(PARTS, english)[:2]
    assert quote == [*quoted, "ltr"]
    assert "pass from physical life" in meaning[0] and meaning[1:] == ["en", "ltr"]
    pictures(ann.browser, f"hints-lexicon-{language}")
    provider.script = wrote(quoted[0], reader)
    ann.click(f"{under(english, 'failed')} [data-action=retry-hints]")
    is_explained(ann, english, quoted, *explained)
