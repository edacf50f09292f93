/** What a tool of a server answered, as it is given to a model: data where the server sends data, else text. */
import type { Json } from "@millrace/contracts";
import type { CallToolResult } from "@modelcontextprotocol/client";

/** `structuredContent` is preferred over text. What is neither text nor data is named: `[image image/png]`. */
export function resultOf(result: CallToolResult): Json {
  if (result.structuredContent !== undefined) return result.structuredContent as Json;
  return textOf(result);
}

/** The text of an answer, one block a line. */
export function textOf({ content = [] }: CallToolResult): string {
  return content.map(blockText).join("\n");
}

function blockText(block: CallToolResult["content"][number]): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "image":
    case "audio":
      return `[${block.type} ${block.mimeType}]`;
    case "resource_link":
      return `[resource ${block.uri}]`;
    case "resource":
      return "text" in block.resource ? block.resource.text : `[resource ${block.resource.uri}]`;
    default:
      return "";
  }
}
