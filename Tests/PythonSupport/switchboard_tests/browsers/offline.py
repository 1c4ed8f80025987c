"""A page whose way to the server is cut, and what it keeps on the disk."""

from __future__ import annotations

from typing import Any

from switchboard_tests.browsers.pages import Person
from switchboard_tests.tcp_proxy import Proxy

# The names of this origin's databases with the number of rows in each of their stores.
DATABASES = """
const [done] = arguments;
const count = async (name) => {
    const opening = indexedDB.open(name);
    await new Promise((resolve) => { opening.onsuccess = resolve; });
    const database = opening.result;
    const counts = {};
    for (const store of database.objectStoreNames) {
        const request = database.transaction(store).objectStore(store).count();
        counts[store] = await new Promise((resolve) => { request.onsuccess = () => resolve(request.result); });
    }
    database.close();
    return [name.split(".")[0], counts];
};
indexedDB.databases().then((list) => Promise.all(list.map(({ name }) => count(name))))
    .then((all) => done(Object.fromEntries(all)), (error) => done(String(error)));
"""
# What the page has received of its conversation, and what is written on the disk.
POSITIONS = """
const [conversation, user, done] = arguments;
const received = globalThis.switchboard.realtime.position(`conversation:${conversation}`) ?? null;
indexedDB.open(`cache.2.${user}`).onsuccess = ({ target: { result: database } }) => {
    const request = database.transaction("conversations").objectStore("conversations").get(conversation);
    request.onsuccess = () => { database.close(); done([received, request.result?.position ?? null]); };
};
"""
# In which states the translations are that are written on the disk.
TRANSLATIONS = """
const [user, done] = arguments;
indexedDB.open(`cache.2.${user}`).onsuccess = ({ target: { result: database } }) => {
    const request = database.transaction("translations").objectStore("translations").getAll();
    request.onsuccess = () => { database.close(); done(request.result.map((one) => one.status)); };
};
"""
# How many friends, and requests to become some, are written on the disk.
FRIENDS = """
const [user, done] = arguments;
indexedDB.open(`cache.2.${user}`).onsuccess = ({ target: { result: database } }) => {
    const request = database.transaction("values").objectStore("values").get("friends");
    request.onsuccess = () => { database.close(); done(Object.keys(request.result?.value.state ?? {}).length); };
};
"""
# The menu of a message that is not stored, by its text.
OPEN_MENU = """
[...document.querySelectorAll("#messages [data-outgoing]")]
    .find((one) => one.querySelector(".text").textContent === arguments[0])
    .querySelector("[data-action=message-menu]").click();
"""
# What a browser does that stores nothing for the page.
REFUSED = "IDBFactory.prototype.open = () => { throw new DOMException('no', 'SecurityError'); };"
KEPT = "return navigator.serviceWorker.ready.then(() => caches.keys()).then((names) => names.length === 1)"


def waiting(person: Person, *want: str) -> None:
    """Waits until these messages are shown as not sent yet."""
    person.browser.wait(f"{want} to wait", lambda: person.texts(
        "#messages [data-outgoing=waiting] .text") == list(want))


def back(person: Person, proxy: Proxy) -> None:
    """The server can be reached again."""
    proxy.restore()
    person.is_online(40)


def is_saved(person: Person, conversation: str) -> None:
    """Waits until everything that was received of the thread is on the disk."""
    def same() -> bool:
        received, written = person.driver.execute_async_script(POSITIONS, conversation, person.user)
        return bool(received is not None and received == written)

    person.browser.wait("the thread to be written", same)


def databases(person: Person) -> dict[str, Any]:
    found: dict[str, Any] = person.driver.execute_async_script(DATABASES)
    return found


def stored_translations(person: Person) -> list[str]:
    """The states of the translations that are on the disk."""
    found: list[str] = person.driver.execute_async_script(TRANSLATIONS, person.user)
    return found


def outgoing_menu(person: Person, text: str, action: str) -> None:
    person.driver.execute_script(OPEN_MENU, text)
    person.click(f"#message-menu [data-action={action}]")
