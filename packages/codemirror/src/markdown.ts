/** The Markdown that an analysis answers, as nodes of the page: paragraphs, code, bold. Whatever else stands in it is text. */

const INLINE = /(`+)( ?)([\s\S]*?)\2\1(?!`)|\*\*((?:\\.|[^*\\])+)\*\*|\\(.)| {2}(\n)/g;

/** A node that shows a text in Markdown. Nothing in it becomes an element or leads anywhere but what is named above. */
export function markdownNode(markdown: string): HTMLElement {
  const node = document.createElement("div");
  for (const text of markdown.split("\n\n")) {
    node.appendChild(document.createElement("p")).append(...inlineNodes(text));
  }
  return node;
}

function* inlineNodes(text: string): Generator<string | Node> {
  let done = 0;
  for (const { index, 0: whole, 3: code, 4: bold, 5: escaped, 6: lineEnd } of text.matchAll(
    INLINE,
  )) {
    yield text.slice(done, index);
    done = index + whole.length;
    if (code !== undefined) yield element("code", code);
    else if (bold !== undefined) yield element("strong", ...inlineNodes(bold));
    else if (lineEnd !== undefined) yield document.createElement("br");
    else yield escaped ?? "";
  }
  yield text.slice(done);
}

function element(name: string, ...children: readonly (string | Node)[]): HTMLElement {
  const node = document.createElement(name);
  node.append(...children);
  return node;
}
