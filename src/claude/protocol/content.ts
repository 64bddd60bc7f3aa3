/** The content of a message: a text, or a list of blocks. */
import { type JsonRecord, isRecord } from "../../base/json-record.ts";
import { flag, list, record, text } from "./members.ts";
import type { ContentBlock } from "./messages.ts";

export function contentBlocks(content: unknown): ContentBlock[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return list(content).filter(isRecord).map(readBlock);
}

function readBlock(raw: JsonRecord): ContentBlock {
  switch (raw["type"]) {
    case "text":
      return { type: "text", text: text(raw["text"]) ?? "" };
    case "thinking":
      return { type: "thinking", text: text(raw["thinking"]) ?? "" };
    case "tool_use": {
      const id = text(raw["id"]) ?? "";
      return { type: "tool_use", id, name: text(raw["name"]) ?? "", input: record(raw["input"]) };
    }
    case "tool_result": {
      const toolUseId = text(raw["tool_use_id"]) ?? "";
      return { type: "tool_result", toolUseId, text: plainText(raw["content"]), isError: flag(raw["is_error"]) };
    }
    default:
      return { type: "other", raw };
  }
}

/** The text blocks, one below the other. */
function plainText(content: unknown): string {
  return contentBlocks(content)
    .flatMap((block) => (block.type === "text" ? [block.text] : []))
    .join("\n");
}
