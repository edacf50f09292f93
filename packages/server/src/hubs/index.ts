/** Hubs: sources of templates, node packs and models, pinned by digest. */
export { type HubFolder, registerFolders } from "./hub-folders.ts";
export { isPublicKey } from "./hub-index.ts";
export { installItem } from "./install-item.ts";
export { itemsOf, knownHub } from "./known-hub.ts";
export { syncHub } from "./sync-hub.ts";
