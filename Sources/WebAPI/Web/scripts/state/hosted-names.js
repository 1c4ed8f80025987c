// Which of the services that work with texts and speech are hosted by others.

/**
 * The names of those that a level allows, each once: `translate` those that translate and transcribe, `full` all of them.
 * They are of what the server says of itself, each `{name, hosted}`.
 */
export function hostedNames({ translators = [], transcriber, embedder, languageModel }, level) {
    const allowed = { translate: [...translators, transcriber], full: [languageModel, ...translators, transcriber, embedder] }[level] ?? [];
    return [...new Set(allowed.filter((one) => one?.hosted).map(({ name }) => name))];
}
