// The search of /docs: filters an index of titles and sentences, which is loaded when it is first needed.

const search = document.getElementById("search");
const input = document.getElementById("words");
const list = document.getElementById("found");
const count = document.getElementById("count");
const MAX_RESULTS = 12;

let index;

/** The entries with every word, those with words in their title first. */
function find(entries, words) {
    const rank = ({ title, page, text }) => {
        const [inTitle, inAll] = [title, `${title} ${page} ${text}`].map((one) => one.toLowerCase());
        if (!words.every((word) => inAll.includes(word))) return 0;
        return 1 + words.filter((word) => inTitle.includes(word)).length + (inTitle === words.join(" ") ? 1 : 0);
    };
    return entries.map((entry) => [rank(entry), entry]).filter(([score]) => score > 0)
        .sort(([a], [b]) => b - a).slice(0, MAX_RESULTS).map(([, entry]) => entry);
}

function item({ address, title, page, text }) {
    const link = document.createElement("a");
    link.href = address;
    const note = document.createElement("small");
    note.textContent = [page, text].filter(Boolean).join(": ");
    link.append(title, note);
    const element = document.createElement("li");
    element.append(link);
    return element;
}

async function update() {
    index ??= fetch("/docs/search.json").then((response) => response.json());
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = words.length > 0 ? find(await index, words) : [];
    list.replaceChildren(...found.map(item));
    list.hidden = found.length === 0;
    count.textContent = words.length > 0 ? `${found.length} results` : "";
}

search.hidden = false;
input.addEventListener("input", () => update().catch(() => { index = undefined; }));
search.addEventListener("keydown", (event) => {
    const links = [...list.querySelectorAll("a")];
    const now = links.indexOf(document.activeElement);
    if (event.key === "Escape") {
        input.value = "";
        update();
        input.focus();
    } else if (event.key === "ArrowDown" && links.length > 0) {
        links[Math.min(now + 1, links.length - 1)].focus();
        event.preventDefault();
    } else if (event.key === "ArrowUp" && now >= 0) {
        (links[now - 1] ?? input).focus();
        event.preventDefault();
    } else if (event.key === "Enter" && event.target === input) {
        links[0]?.click();
    }
});
document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !event.target.closest("input, textarea")) {
        event.preventDefault();
        input.focus();
    }
});
