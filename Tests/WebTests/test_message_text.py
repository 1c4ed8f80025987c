"""state/pieces.js and elements/message-text.js: a message's text as nodes, of which none is made from the text."""

import pytest

SHOW = """
    const { messageText } = await load("elements/message-text.js");
    const node = document.createElement("div");
    node.append(...messageText({ text, ranges }, (user) => `Name of ${user}`).flat(Infinity));
    return node.innerHTML;
"""


def span(kind, start, length, **more):
    return {"kind": kind, "start": start, "length": length} | more


@pytest.mark.parametrize(
    ("text", "ranges", "html"),
    [
        ("plain", [], "plain"),
        ("<b onclick=x>&amp;</b>", [], "&lt;b onclick=x&gt;&amp;amp;&lt;/b&gt;"),
        # Nothing is parsed: without a range a link is a text.
        ("https://x.example *a*", [], "https://x.example *a*"),
        ("**a** b", [span("bold", 0, 5)], "<b>a</b> b"),
        ("~~a~~", [span("strike", 0, 5)], "<s>a</s>"),
        # UTF-16 units: the emoji has two of them.
        ("😀 `c`", [span("code", 3, 3)], "😀 <code>c</code>"),
        ("``a`b``", [span("code", 0, 7)], "<code>a`b</code>"),
        ("```\nx```", [span("block", 0, 8)], '<code class="block">x</code>'),
        ("```swift\nx\n```", [span("block", 0, 14)], '<code class="block">x</code>'),
        ("```x y```", [span("block", 0, 9)], '<code class="block">x y</code>'),
        # Markers that are not there, or have nothing between them, are text.
        ("*a* b", [span("bold", 0, 3)], "<b>*a*</b> b"),
        ("****", [span("bold", 0, 4)], "<b>****</b>"),
        ("hi <@u1>!", [span("mention", 3, 5, user="u1")], 'hi <bdi class="mention">@Name of u1</bdi>!'),
        ("<@all>", [span("mention", 0, 6)], '<bdi class="mention">@all</bdi>'),
        ("**a _b_**", [span("bold", 0, 9), span("italic", 4, 3)], "<b>a </b><i><b>b</b></i>"),
        ("***a***", [span("italic", 0, 7), span("bold", 1, 5)], "<b><i>a</i></b>"),
        # What does not lie in the text is left out.
        ("short", [span("bold", 3, 9), span("bold", -1, 2), span("bold", 0, 0)], "short"),
        ("javascript:alert(1)", [span("link", 0, 19)], "javascript:alert(1)"),
    ],
)
def test_text(run, text, ranges, html):
    assert run(SHOW, text=text, ranges=ranges) == html


def test_a_link(run):
    shown = run(SHOW, text="see https://x.example/a", ranges=[span("link", 4, 19)])
    assert shown == ('see <a href="https://x.example/a" target="_blank" rel="noopener noreferrer nofollow">'
                     "https://x.example/a</a>")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", []),
        ("plain", [{"text": "plain"}]),
        ("a\u202eb", [{"text": "a"}, {"code": "U+202E"}, {"text": "b"}]),
        ("\u200b\u2066x\ufeff", [{"code": "U+200B"}, {"code": "U+2066"}, {"text": "x"}, {"code": "U+FEFF"}]),
        # Joiners are part of emoji and of words, and are shown where they join nothing.
        ("👩\u200d💻", [{"text": "👩\u200d💻"}]),
        ("❤️\u200d🔥", [{"text": "❤️\u200d🔥"}]),
        ("می\u200cخواهم", [{"text": "می\u200cخواهم"}]),
        ("a \u200d b", [{"text": "a "}, {"code": "U+200D"}, {"text": " b"}]),
    ],
)
def test_invisible_characters_are_shown(call, text, parts):
    assert call("state/pieces.js", "visibleParts", text) == parts


def test_one_line(run):
    assert run("""
        const { plainText } = await load("state/pieces.js");
        return plainText("a\\n <@u1>  b", [{ kind: "mention", start: 3, length: 5, user: "u1" }], () => "Ben");
    """) == "a @Ben b"


@pytest.mark.parametrize(
    ("text", "is_few"),
    [
        ("🎉", True), ("❤️", True), ("👍🏽 👍", True), ("👩‍💻", True), ("🇦🇹🇮🇹", True), ("🎉🎉🎉", True),
        ("❤\u200d🔥", True), ("👁\u200d🗨 🎉", True), ("☝🏽", True), ("❤", False), ("☺ 🎉", False), ("👍\ufe0e", False),
        ("🎉🎉🎉🎉", False), ("🎉 yes", False), ("1", False), ("#", False), ("", False), ("text", False),
    ],
)  # fmt: skip
def test_a_few_emoji_are_large(call, text, is_few):
    assert call("state/pieces.js", "isFewEmoji", text) == is_few


@pytest.mark.parametrize(
    ("text", "ranges", "words", "plain", "marked"),
    [
        ("**Two beds** by the window", [span("bold", 0, 12)], ["beds", "window"], "Two beds by the window", ["beds", "window"]),
        ("a `needle`", [span("code", 2, 8)], ["needle"], "a needle", ["needle"]),
        ("**a _needle_** b", [span("bold", 0, 14), span("italic", 4, 8)], ["needle", "b"], "a needle b", ["needle", "b"]),
        ("<@u1> has the needle", [span("mention", 0, 5, user="u1")], ["needle"], "@Name of u1 has the needle", ["needle"]),
        # A match over a marker, one of a marker alone, and one of a mention.
        ("nee**dle**", [span("bold", 3, 7)], ["nee**dle", "**"], "needle", ["needle"]),
        ("ask <@u1>", [span("mention", 4, 5, user="u1")], ["u1"], "ask @Name of u1", ["@Name of u1"]),
        ("no *range* here", [], ["*range*"], "no *range* here", ["*range*"]),
    ],
)  # fmt: skip
def test_matches_in_a_text_without_markers(run, text, ranges, words, plain, marked):
    script = """
        const { plainMatches } = await load("state/pieces.js");
        const matches = words.map((word) => ({ start: text.indexOf(word), length: word.length }));
        const found = plainMatches(text, ranges, matches, (user) => `Name of ${user}`);
        return [found.text, found.matches.map(({ start, length }) => found.text.slice(start, start + length))];
    """
    assert run(script, text=text, ranges=ranges, words=words) == [plain, marked]
