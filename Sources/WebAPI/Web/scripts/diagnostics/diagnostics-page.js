// The connection test: how calls from this network will connect, the result of every server, and what to do.

import { errorMessage } from "../connection/problems.js";
import { realtime } from "../connection/realtime.js";
import { request } from "../connection/requests.js";
import { open } from "../elements/dialogs.js";
import { announce, button, h, icon, toast } from "../elements/dom.js";
import { millisecondsText } from "../language/format.js";
import { t } from "../language/texts.js";
import { connection, device } from "./environment.js";
import { meaning, verdict } from "./findings.js";
import { probe } from "./probe.js";
import { facts, reportText } from "./report.js";
import { flattenServers } from "./server-url.js";

/** Test credentials are valid for a minute, and testing a server that does not respond takes a quarter of one. */
const MAX_CREDENTIALS_AGE = 20_000;

const icons = { waiting: "more", testing: "history", good: "check", unsure: "alert", bad: "close" };

export function diagnosticsPage() {
    const summary = h("section", { class: "card verdict", id: "verdict", "aria-labelledby": "verdict-title" });
    const servers = h("ul", { class: "probes", id: "probes" });
    const environmentList = h("ul", { class: "probes", id: "environment" });
    const again = button({ name: "history", label: t("diagnostics.again"), class: "soft", data: { action: "test-again" }, onclick: () => start() });
    const copy = button({ name: "copy", label: t("diagnostics.copy"), class: "primary", data: { action: "copy-report" }, disabled: true,
        onclick: () => copyReport(reportText(outcome)) });
    let outcome;
    let run = new AbortController();

    const start = async () => {
        run.abort();
        run = new AbortController();
        const { signal } = run;
        again.disabled = true;
        copy.disabled = true;
        try {
            outcome = await testAll({ summary, servers, environmentList, signal });
            copy.disabled = false;
        } catch (error) {
            if (signal.aborted) return;
            show(summary, { level: "bad", title: t("diagnostics.failed"), advice: [errorMessage(error)] });
        }
        again.disabled = false;
    };
    // Keeps the section about the browser up to date.
    const unsubscribe = realtime.on("state", async () => {
        if (outcome) outcome.environment = await showEnvironment(environmentList, run.signal);
    });
    start();
    return {
        node: h("div", { class: "page" }, h("h1", {}, t("diagnostics.title")), summary,
            h("h2", { class: "section-title" }, t("diagnostics.servers")), servers,
            h("h2", { class: "section-title" }, t("diagnostics.browser")), environmentList,
            h("div", { class: "actions" }, copy, again),
            h("p", { class: "hint" }, t("diagnostics.hint"))),
        close() {
            run.abort();
            unsubscribe();
        },
    };
}

/** Tests one server after the other, so that none disturbs another's times. */
async function testAll({ summary, servers, environmentList, signal }) {
    show(summary, { level: "testing", title: t("diagnostics.testing"), advice: [] });
    servers.replaceChildren();
    const environment = showEnvironment(environmentList, signal);
    let fetchedAt = Date.now();
    let list = await testServers();
    signal.throwIfAborted();
    const rows = list.map((server) => serverRow(server));
    servers.replaceChildren(...rows.map(({ node }) => node));
    const tests = [];
    for (const [index, first] of [...list.entries()]) {
        if (Date.now() - fetchedAt > MAX_CREDENTIALS_AGE) {
            fetchedAt = Date.now();
            list = await testServers();
            signal.throwIfAborted();
        }
        const server = list.find(({ url }) => url === first.url) ?? first;
        show(summary, { level: "testing", title: t("diagnostics.testingServer", { name: server.label }), advice: [], done: index, all: list.length });
        rows[index].testing();
        const test = { server, result: await probe(server, signal) };
        signal.throwIfAborted();
        tests.push(test);
        rows[index].finish(test);
    }
    const result = { summary: verdict(tests), tests, environment: await environment };
    signal.throwIfAborted();
    show(summary, result.summary);
    announce(t("diagnostics.finished", { result: result.summary.title }));
    return result;
}

async function testServers() {
    const { iceServers } = await request("iceServers.get", { scope: "test" });
    return flattenServers(iceServers);
}

function show(node, { level, title, advice, done = 0, all }) {
    node.dataset.level = level;
    node.setAttribute("aria-busy", String(level === "testing"));
    node.replaceChildren(levelIcon(level), h("div", {}, h("h2", { id: "verdict-title" }, title), advice.map((one) => h("p", {}, one)),
        all && h("progress", { max: String(all), value: done, "aria-label": t("diagnostics.progress", { done, count: all }) })));
}

function levelIcon(level) { return h("span", { class: "mark", "aria-hidden": "true" }, icon(icons[level])); }

function serverRow(server) {
    const node = h("li", { class: "probe", data: { url: server.url, kind: server.kind } });
    const draw = (level, word, ...content) => {
        node.dataset.level = level;
        node.replaceChildren(levelIcon(level), h("div", {},
            h("p", { class: "probe-head" }, h("strong", {}, server.label), h("span", { class: "probe-word" }, word)),
            h("p", { class: "probe-url" }, h("code", {}, server.url)), content));
    };
    draw("waiting", t("diagnostics.waiting"));
    return {
        node,
        testing: () => draw("testing", t("diagnostics.testing")),
        finish(test) {
            const { level, word, text, help } = meaning(test);
            const rows = facts(test.result);
            draw(level, word, h("p", { class: "probe-text" }, text), help && h("p", { class: "hint" }, help),
                rows.length > 0 && h("dl", { class: "facts" }, rows.map(([name, value]) =>
                    h("div", {}, h("dt", {}, name), h("dd", {}, value)))));
        },
    };
}

/** Microphone, camera and the realtime connection; returns what it shows, by name. */
async function showEnvironment(list, signal) {
    const [microphone, camera, server] = await Promise.all([device("microphone"), device("camera"), connection()]);
    const found = { microphone, camera, server };
    if (signal.aborted) return found;
    list.replaceChildren(...Object.entries(found).map(([name, { level, word, roundTrip, help }]) =>
        h("li", { class: "probe", data: { level, about: name } }, levelIcon(level), h("div", {},
            h("p", { class: "probe-head" }, h("strong", {}, t(`about.${name}`)), h("span", { class: "probe-word" }, word)),
            roundTrip !== undefined && h("p", { class: "hint" }, t("diagnostics.roundTrip", { time: millisecondsText(roundTrip, 1) })),
            help && h("p", { class: "hint" }, help)))));
    return found;
}

async function copyReport(text) {
    try {
        await navigator.clipboard.writeText(text);
        toast(t("diagnostics.copied"));
    } catch {
        // Over plain HTTP there is no clipboard: the text is shown, to be copied by hand.
        showReport(text);
    }
}

function showReport(text) {
    const area = h("textarea", { class: "report", readonly: true, rows: "14", "aria-label": t("diagnostics.report"), value: text });
    const dialog = open({ class: "dialog wide", "aria-labelledby": "report-title" },
        h("h2", { id: "report-title" }, t("diagnostics.report")), h("p", {}, t("diagnostics.reportHint")), area,
        h("div", { class: "choices" }, button({ label: t("common.close"), class: "quiet", onclick: () => dialog.close() })));
    area.select();
}
