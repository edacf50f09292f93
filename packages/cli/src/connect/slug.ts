/** The name of a connection. */
import { usage } from "../errors.ts";
import { clean } from "../render/text.ts";

const SLUG = /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/;

/** Checks the slug of a connection. */
export function readSlug(text = ""): string {
  if (SLUG.test(text)) return text;
  throw usage(
    `"${clean(text)}" is no name of a connection`,
    "it has up to 64 small letters, digits and dashes, such as payments-eu",
  );
}
