/** Percent-encoding to unreserved bytes (RFC 3986, section 2.3): what comes out means nothing in any part of a URL. */
export function percentEncode(text: string): string {
  // A lone surrogate has no UTF-8; like everywhere else it becomes U+FFFD.
  const whole = text.replace(LONE_SURROGATE, "\ufffd");
  return encodeURIComponent(whole).replace(/[!'()*]/g, (char) => {
    return `%${char.charCodeAt(0).toString(16).toUpperCase()}`;
  });
}

const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
