"""language/: texts with placeholders and plurals, gaps, lists, dates and numbers, and the pseudo-languages."""

import json
import pathlib
import re
import subprocess

import pytest

SCRIPTS = pathlib.Path(__file__).parents[2] / "Scripts"
# A language with all plural categories, written from right to left, of which little is translated.
ARABIC = {
    "message": {"replies": {"zero": "لا ردود", "one": "رد واحد", "two": "ردان", "few": "{count} ردود", "many": "{count} ردا",
                            "other": "{count} رد"}},
    "ring": {"isCalling": "{name} يتصل"},
    "openCall": {"others": {"one": "{names} في مكالمة", "other": "{names} في مكالمة"}},
}  # fmt: skip
IN = """
    const { format, locale, setLocale } = await load("language/locale.js");
    const { hasText, listNodes, listText, t } = await load("language/texts.js");
    setLocale(tag, texts ?? undefined);
    try {
        %s
    } finally { setLocale("en"); }
"""


@pytest.fixture
def within(run):
    """Runs the body of a function while the page is in a language."""
    return lambda body, tag="en", texts=None, **values: run(IN % body, tag=tag, texts=texts, **values)


@pytest.fixture(scope="module")
def pseudo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("catalogues")
    subprocess.run([SCRIPTS / "catalogues", folder], check=True)
    return {one.stem: json.loads(one.read_text()) for one in folder.iterdir()}


@pytest.fixture(scope="module")
def english():
    output = subprocess.run([SCRIPTS / "catalogues"], check=True, stdout=subprocess.PIPE, text=True).stdout
    return json.loads(output)


def test_the_scripts_read_what_the_page_has(run, english):
    """`Scripts/catalogues` reads the module by itself."""
    assert run('return (await import("/catalogues/en.js")).english') == english


@pytest.mark.parametrize(
    ("key", "values", "text"),
    [
        ("common.cancel", {}, "Cancel"),
        ("ring.isCalling", {"name": "Ann Abel"}, "Ann Abel is calling"),
        ("message.replies", {"count": 1}, "1 reply"),
        ("message.replies", {"count": 0}, "0 replies"),
        ("message.replies", {"count": 1234}, "1,234 replies"),
        # What a name has in braces is no placeholder.
        ("ring.isCalling", {"name": "{name} $& <b>"}, "{name} $& <b> is calling"),
        # Left out by mistake: seen, not fatal.
        ("ring.isCalling", {}, "{name} is calling"),
        ("ring.nothing", {}, "ring.nothing"),
        ("nothing", {}, "nothing"),
    ],
)
def test_texts(within, key, values, text):
    assert within("return t(key, values)", key=key, values=values) == text


@pytest.mark.parametrize(
    ("count", "text"), [(0, "لا ردود"), (1, "رد واحد"), (2, "ردان"), (5, "5 ردود"), (11, "11 ردا"), (100, "100 رد")])
def test_plurals_of_a_language(within, count, text):
    assert within("return t('message.replies', { count })", "ar-AE", ARABIC, count=count) == text


def test_gaps_are_in_english_with_its_plurals(within):
    """Two is a plural of its own in Arabic, and not in English."""
    body = "return [t('common.cancel'), t('members.count', { count: 2 }), t('members.count', { count: 1 }), hasText('common.cancel')]"
    assert within(body, "ar", ARABIC) == ["Cancel", "2 members", "1 member", True]


def test_a_form_that_is_missing(within):
    texts = {"message": {"replies": {"other": "{count} رد"}}}
    assert within("return t('message.replies', { count: 'x' })", "ar", texts) == "\u2068x\u2069 رد"


def test_placeholders_may_be_elements(within):
    found = within("""
        const names = document.createElement("b");
        names.textContent = "Ann";
        const parts = t.rich("openCall.others", { count: 1, names });
        const row = document.createElement("p");
        row.append(...parts);
        return [parts.length, parts[0] === names, row.innerHTML];
    """)
    assert found == [2, True, "<b>Ann</b> is in a call"]


def test_a_list_of_nodes_in_a_placeholder(within):
    body = "return t.rich('notices.added', { by: { name: 'Ann' }, people: listNodes([{ name: 'Ben' }, 'you', { name: 'Cem' }]) })"
    assert within(body) == [{"name": "Ann"}, " added ", {"name": "Ben"}, ", ", "you", " and ", {"name": "Cem"}, "."]


@pytest.mark.parametrize(
    ("tag", "name", "text"),
    [
        ("en", "Ann", "Ann is calling"),
        # What runs the other way is kept to itself, so that it moves nothing around it.
        ("en", "ليلى (2)", "\u2068ليلى (2)\u2069 is calling"),
        ("ar", "Ann (2)", "\u2068Ann (2)\u2069 يتصل"),
        ("ar", "ليلى", "ليلى يتصل"),
    ],
)
def test_names_of_the_other_direction(within, tag, name, text):
    assert within("return t('ring.isCalling', { name })", tag, ARABIC if tag == "ar" else None, name=name) == text


def test_lists(within):
    body = "return [[], ['A'], ['A', 'B'], ['A', 'B', 'C']].map(listText)"
    assert within(body) == ["", "A", "A and B", "A, B and C"]
    assert within(body, "de", {}) == ["", "A", "A und B", "A, B und C"]


def test_direction_and_region(within):
    body = "const { direction, locale: own } = locale(); return [direction, own]"
    # As the browser's region writes the language, where it is the same.
    assert within(body) == ["ltr", "en-GB"]
    assert within(body, "de", {}) == ["ltr", "de"]
    assert within(body, "ar-XB", {})[0] == within(body, "he", {})[0] == within(body, "fa-IR", {})[0] == "rtl"
    assert within(body, "art", {})[0] == "ltr"


def test_dates_and_numbers_follow(within):
    body = """
        const { dayText, numberText, timeText } = await load("language/format.js");
        return [dayText("2030-12-31T12:00:00Z", new Date("2031-05-06T12:00:00Z")), numberText(1.5, 1), timeText("2031-05-06T12:05:00Z")];
    """
    assert within(body) == ["31 December 2030", "1.5", "14:05"]
    assert within(body, "de", {}) == ["31. Dezember 2030", "1,5", "14:05"]


def test_the_catalogue_has_the_same_placeholders_in_each_form(english):
    for group, texts in english.items():
        for key, entry in texts.items():
            forms = entry.values() if isinstance(entry, dict) else [entry]
            found = {frozenset(re.findall(r"\{(\w+)\}", form)) - {"count"} for form in forms}
            assert len(found) == 1, f"{group}.{key}: {found}"


@pytest.mark.parametrize("tag", ["en-XA", "ar-XB"])
def test_pseudo_languages(pseudo, english, tag):
    catalogue = pseudo[tag]
    lengths = [0, 0]
    for group, texts in english.items():
        for key, entry in texts.items():
            made = catalogue[group][key]
            own, other = (one["other"] if isinstance(one, dict) else one for one in (entry, made))
            assert re.findall(r"\{\w+\}", other) == re.findall(r"\{\w+\}", own), f"{group}.{key}"
            own, other = (re.sub(r"\{\w+\}", "", one) for one in (own, other))
            assert not re.search(r"[A-Za-z]", other), f"{group}.{key}: {other}"
            lengths = [lengths[0] + len(own), lengths[1] + len(other)]
    if tag == "en-XA":
        assert 1.25 < lengths[1] / lengths[0] < 1.5


def test_the_pseudo_language_runs_from_right_to_left(within, pseudo):
    body = "return [t('common.cancel'), t('ring.isCalling', { name: 'Ann' }), t('message.replies', { count: 3 })]"
    assert within(body, "ar-XB", pseudo["ar-XB"]) == ["كانكهل", "\u2068Ann\u2069 يس كاللينج", "3 رهبليهس"]


@pytest.mark.parametrize("tag", ["en", "en-XA"])
@pytest.mark.parametrize(
    ("document", "english_text", "worded"),
    [
        ({"type": "invalid_request", "field": "currentPassword", "detail": "This is not your password."},
         "This is not your password.", True),
        # The catalogue has no words for this field: the server's English is better than nothing.
        ({"type": "invalid_request", "field": "maxUses", "detail": "maxUses is too large."}, "maxUses is too large.", False),
        ({"type": "conflict", "detail": "Ben is in your call."}, "Ben is in your call.", True),
        ({"type": "unauthenticated", "detail": "The token has expired."}, "The token has expired.", True),
        ({"type": "forbidden", "detail": "Only administrators may write."}, "Only administrators may write.", True),
        ({"type": "rate_limited", "detail": "token bucket"}, "Too many requests. Please wait a moment and try again.", True),
        ({"type": "something_new", "detail": "Turn it off and on."}, "Turn it off and on.", False),
    ],
)
def test_problems_are_worded_by_type_and_field(within, pseudo, tag, document, english_text, worded):
    body = 'const { Problem, errorMessage } = await load("connection/problems.js"); return errorMessage(new Problem(document))'
    text = within(body, tag, pseudo.get(tag), document=document)
    if tag == "en" or not worded:
        assert text == english_text
    else:
        assert text
        assert not re.search(r"[A-Za-z]", text)
