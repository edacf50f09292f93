/**
 * Where editors live. An editor adds a style element to a document, which the policy of the page forbids; in a shadow root it uses
 * constructed style sheets, which the policy allows.
 */

/** The open shadow root of an element. */
export function shadowOf(host: HTMLElement): ShadowRoot {
  return host.shadowRoot ?? host.attachShadow({ mode: "open" });
}

/** Options of an editor in a shadow root. The library reads no other members of it. */
export function placeIn(root: ShadowRoot): {
  readonly parent: DocumentFragment;
  readonly root: ShadowRoot;
} {
  return { parent: root, root };
}
