/**
 * Where editors live. An editor adds a style element to a document, which the policy of the page forbids; in a shadow root it uses
 * constructed style sheets, which the policy allows.
 */

/** The open shadow root of an element. */
export function shadowOf(host: HTMLElement): ShadowRoot {
  return host.shadowRoot ?? host.attachShadow({ mode: "open" });
}

/** What an editor is told about where it is. The library reads no more of its parent than a shadow root has. */
export function placeIn(root: ShadowRoot): {
  readonly parent: DocumentFragment;
  readonly root: ShadowRoot;
} {
  return { parent: root, root };
}
