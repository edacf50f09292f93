/** Results of tools as a model reads them. */
import type { Json } from "@millrace/contracts";

const utf8 = new TextEncoder();
const fromUtf8 = new TextDecoder();

/** A string as it is, anything else as JSON text, cut to `maxBytes` of UTF-8 on the border of a character. */
export function resultText(value: Json, maxBytes: number): { text: string; isCut: boolean } {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  if (text.length * 3 <= maxBytes) return { text, isCut: false };
  const bytes = utf8.encode(text);
  if (bytes.length <= maxBytes) return { text, isCut: false };
  let end = maxBytes;
  while (end > 0 && ((bytes[end] as number) & 0xc0) === 0x80) end -= 1;
  const kept = fromUtf8.decode(bytes.subarray(0, end));
  return { text: `${kept}[cut: ${bytes.length - end} bytes]`, isCut: true };
}
