// What the cache has. Another schema is another database: nothing is migrated, and older ones are erased.

export const CACHE_PREFIX = "cache.";
export const CACHE_SCHEMA = 2;

/**
 * `conversations` have what a thread holds except for its people (`rosters`), its messages, what the user has noted on
 * those (`own`), and their translations. `values` are single ones by name, such as the position of the inbox.
 */
export const CACHE_STORES = {
    values: { keyPath: "name" },
    rows: { keyPath: "id" },
    conversations: { keyPath: "id" },
    rosters: { keyPath: "id" },
    messages: { keyPath: ["conversation", "number"], indexes: { expiresAt: "expiresAt" } },
    own: { keyPath: ["conversation", "number"] },
    translations: { keyPath: ["conversation", "number"] },
};
