export { fileLock } from "./file-lock.ts";
export { fileCredentialStore } from "./file-store.ts";
export { keyFile } from "./key-file.ts";
