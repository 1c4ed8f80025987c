"""state/translated-text.js and chat/messages/message-translation.js: what stands in a translation as in the original, and how it is shown."""

import pytest


def span(kind, start, length, **more):
    return {"kind": kind, "start": start, "length": length} | more


LINK = "https://a.example/b"


@pytest.mark.parametrize(
    ("source", "ranges", "text", "html"),
    [
        ("привіт <@u1>!", [span("mention", 7, 5, user="u1")], "привет, <@u1>!", 'привет, <bdi class="mention">@Name of u1</bdi>!'),
        (f"глянь {LINK}", [span("link", 6, len(LINK))], f"посмотри {LINK}",
         f'посмотри <a href="{LINK}" target="_blank" rel="noopener noreferrer nofollow">{LINK}</a>'),
        # The author has written no link: a translation cannot lead anywhere.
        ("глянь", [], "посмотри https://evil.example", "посмотри https://evil.example"),
        ("глянь <b>", [], "<img src=x>", "&lt;img src=x&gt;"),
        # The longer one is found first.
        ("https://a.example https://a.example/b", [span("link", 0, 17), span("link", 18, 19)], "/b https://a.example/b, https://a.example",
         '/b <a href="https://a.example/b" target="_blank" rel="noopener noreferrer nofollow">https://a.example/b</a>, '
         '<a href="https://a.example/" target="_blank" rel="noopener noreferrer nofollow">https://a.example</a>'),
        ("код `x`", [span("code", 4, 3)], "`x` код", "<code>x</code> код"),
        # Each as often as in the original.
        ("`x` y", [span("code", 0, 3)], "`x` `x`", "<code>x</code> `x`"),
        ("**дуже** добре", [span("bold", 0, 8)], "**очень** хорошо", "<b>очень</b> хорошо"),
        ("*дуже* ~~погано~~", [span("italic", 0, 6), span("strike", 7, 10)], "_очень_ ~~плохо~~", "<i>очень</i> <s>плохо</s>"),
        ("very _good_", [span("italic", 5, 6)], "これは_斜体_です", "これは<i>斜体</i>です"),
        ("very _good_", [span("italic", 5, 6)], "이것은 _기울임_입니다", "이것은 <i>기울임</i>입니다"),
        ("very _good_", [span("italic", 5, 6)], "보고서_최종_수정본", "보고서_최종_수정본"),
        ("very **good**", [span("bold", 5, 8)], "これは**太字**です", "これは<b>太字</b>です"),
        # Markers that the author has not written, or that are not all there, are text.
        ("дуже", [], "**очень**", "**очень**"), ("**дуже**", [span("bold", 0, 8)], "**очень", "**очень"),
        ("**a** b", [span("bold", 0, 5)], "**a** **b**", "**a** **b**"),
    ],
)
def test_what_stands_in_it_as_in_the_original(run, source, ranges, text, html):
    script = """
        const { translatedRanges } = await load("state/translated-text.js");
        const { messageText } = await load("elements/message-text.js");
        const node = document.createElement("div");
        node.append(...messageText({ text, ranges: translatedRanges(text, { text: source, ranges }) }, (user) => `Name of ${user}`).flat(Infinity));
        return node.innerHTML;
    """
    assert run(script, source=source, ranges=ranges, text=text) == html


@pytest.mark.parametrize(
    ("shown", "language", "text", "actions"),
    [
        ({"status": "queued"}, "ru", "Translating…", []),
        ({"status": "done", "row": {"text": "Hi", "engine": "apertium", "kind": "rules"}}, "ru",
         "Hi|Translated from Russian by rules · Apertium|Hide", ["toggle-translation"]),
        ({"status": "done", "row": {"text": "Hi", "engine": "gemma", "kind": "model"}}, None, "Hi|Translated · gemma|Hide", ["toggle-translation"]),
        ({"status": "done", "isHidden": True, "row": {"text": "Hi", "engine": "gemma", "kind": "model"}}, "ru", "Show translation", ["toggle-translation"]),
        ({"status": "failed", "row": {"reason": "provider_failed"}}, "ru", "Not translated. The translator did not respond.|Retry",
         ["retry-translation"]),
        ({"status": "unavailable", "row": {"reason": "pair_not_supported"}}, "ru",
         "This server doesn’t translate this language into English.", []),
    ],
)
def test_what_stands_under_a_message(run, shown, language, text, actions):
    script = """
        const { translationOf } = await load("chat/messages/message-translation.js");
        if (shown.row) shown.row.language = "en";
        const thread = { nameOf: () => "", translations: { of: () => shown } };
        const node = translationOf(thread, { number: 1, text: "Привет", ranges: [], ...(language && { language: { code: language, confidence: "high" } }) });
        const texts = [...node.querySelectorAll(".text, span, button, p")].filter((one) => one.childElementCount === 0 || one.lastChild.nodeType === 3)
            .map((one) => one.textContent);
        const words = node.querySelector(".text");
        return [[...new Set(texts)].join("|"), [...node.querySelectorAll("[data-action]")].map((one) => one.dataset.action), words && [words.lang, words.dir]];
    """
    words = ["en", "auto"] if shown["status"] == "done" and not shown.get("isHidden") else None
    assert run(script, shown=shown, language=language) == [text, actions, words]
