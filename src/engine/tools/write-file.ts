/** `write_file`: a text file of the workspace, whole or with something added. */
import { HoldfastError } from "../../base/errors.ts";
import type { AgentTool } from "./agent-tool.ts";
import type { ConfinedFiles } from "./confined-files.ts";
import { toolSchema } from "./define-schema.ts";

const MAX_CONTENT_BYTES = 1024 * 1024;
const MAX_FILE_BYTES = 10 * 1024 * 1024;

export function createWriteFile(files: ConfinedFiles): AgentTool {
  return {
    name: "write_file",
    description:
      "Writes a text file of your workspace; missing folders are made. It replaces what is there, " +
      "or, with append, adds to the end of it: use that for memory files.",
    inputSchema: toolSchema({
      path: { type: "string", description: "The file, below the workspace" },
      content: { type: "string", description: "The text" },
      "append?": { type: "boolean", description: "Add to the end and keep what is there. Default: false" },
    }),
    run: async ({ path, content, append = false }) => {
      const said = String(path);
      const text = String(content).toWellFormed();
      const bytes = Buffer.byteLength(text);
      if (bytes > MAX_CONTENT_BYTES) throw tooMuch(bytes);
      if (append === true) {
        const line = text.endsWith("\n") ? text : `${text}\n`;
        const { created } = await files.appendFile(said, line, MAX_FILE_BYTES);
        return `Added ${Buffer.byteLength(line)} bytes to ${created ? "a new file" : "the end of the file"}.`;
      }
      const { created } = await files.writeFile(said, text);
      return `Wrote ${bytes} bytes; the file ${created ? "is new" : "was replaced"}.`;
    },
  };
}

function tooMuch(bytes: number): HoldfastError {
  return new HoldfastError("usage", "file-too-large", `${bytes} bytes are more than ${MAX_CONTENT_BYTES} at once.`, {
    hint: "Write the first part, then add the others with append.",
  });
}
