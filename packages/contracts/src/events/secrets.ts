/** The forms in which a secret may hide in text: what a redactor replaces and a check looks for. */

/** Shorter ones are found everywhere and protect nothing. */
const MIN_SECRET_UNITS = 6;

/**
 * `secret` as it is, as JSON text (without the quotes, also with the escapes that only some writers make), percent-encoded
 * (as the common encoders do it, in both cases) and as base64 (both alphabets, at each of the three places where it may
 * begin inside a longer text). Shorter than 6 units: none.
 */
export function secretForms(secret: string): readonly string[] {
  if (secret.length < MIN_SECRET_UNITS) return [];
  const json = asJson(secret);
  const forms = new Set([secret]);
  for (const form of [json, asAscii(json)]) {
    forms.add(form);
    forms.add(form.replaceAll("/", "\\/"));
  }
  for (const form of percentForms(secret)) {
    forms.add(form);
    forms.add(form.replace(/%[0-9A-F]{2}/g, (hex) => hex.toLowerCase()));
  }
  for (const base64 of base64Forms(secret)) {
    forms.add(base64);
    forms.add(base64.replaceAll("+", "-").replaceAll("/", "_"));
  }
  return [...forms];
}

/** The forms of all secrets as they stand in a line, where every string is JSON text once more. */
export function lineForms(secrets: readonly string[]): readonly string[] {
  return [...new Set(secrets.flatMap(secretForms).flatMap((form) => [form, asJson(form)]))];
}

function asJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** JSON text as writers leave it that keep to ASCII. */
function asAscii(json: string): string {
  return json.replace(/[^\0-\x7f]/g, (unit) => {
    return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}

/** Characters that each encoder leaves unescaped: RFC 3986, `encodeURIComponent`, `encodeURI`, form data. */
const UNRESERVED = [
  /[A-Za-z0-9_.~-]/,
  /[A-Za-z0-9_.~!'()*-]/,
  /[A-Za-z0-9_.~!'()*;/?:@&=+$,#-]/,
  /[A-Za-z0-9_.*-]/,
];

/** Lone surrogates, which have no UTF-8, count as U+FFFD. */
function percentForms(text: string): string[] {
  const bytes = new TextEncoder().encode(text);
  const forms = UNRESERVED.map((unreserved) =>
    Array.from(bytes, (byte) => {
      const char = String.fromCharCode(byte);
      const hex = byte.toString(16).toUpperCase().padStart(2, "0");
      return unreserved.test(char) ? char : `%${hex}`;
    }).join(""),
  );
  return [...forms, ...forms.map((form) => form.replaceAll("%20", "+"))];
}

/** The parts of a secret's base64 text that do not depend on the text around the secret. */
function base64Forms(secret: string): string[] {
  const bytes = Array.from(new TextEncoder().encode(secret), (b) => String.fromCharCode(b)).join(
    "",
  );
  return [0, 1, 2].map((shift) => {
    const bits = (shift + bytes.length) * 8;
    const text = btoa("\0".repeat(shift) + bytes);
    return text.slice(Math.ceil((shift * 8) / 6), Math.floor(bits / 6));
  });
}
