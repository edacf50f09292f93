/** Base64 (RFC 4648, section 4) on every platform. */

const BLOCK = 0x8000; // arguments of one call; more overflows the stack of some engines

/** Standard alphabet, with padding. */
export function toBase64(bytes: Uint8Array): string {
  let binary = "";
  for (let at = 0; at < bytes.length; at += BLOCK) {
    binary += String.fromCharCode(...bytes.subarray(at, at + BLOCK));
  }
  return btoa(binary);
}

/** The bytes; undefined for text that is not base64 in the standard alphabet with its padding. Line breaks are skipped. */
export function fromBase64(text: string): Uint8Array | undefined {
  const plain = text.replace(/[\r\n]/g, "");
  if (plain.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(plain)) return undefined;
  return Uint8Array.from(atob(plain), (each) => each.charCodeAt(0));
}
