/** `read_file`: a text file of the workspace or of the conversation, or some lines of it. */
import type { AgentTool } from "./agent-tool.ts";
import type { ConfinedFiles } from "./confined-files.ts";
import { toolSchema } from "./define-schema.ts";
import { readText } from "./file-text.ts";

const MAX_FILE_BYTES = 10 * 1024 * 1024;
const MAX_CHARACTERS = 60_000;

export function createReadFile(files: ConfinedFiles): AgentTool {
  return {
    name: "read_file",
    description:
      "Reads a text file, whole or some lines of it: one of your workspace, or one that was attached to a message. " +
      `At most ${MAX_CHARACTERS} characters at once; what is longer says on which line to go on.`,
    inputSchema: toolSchema({
      path: { type: "string", description: "The file, below the workspace, or the path of an attached file" },
      "startLine?": { type: "integer", description: "The first line, from 1. Default: 1" },
      "endLine?": { type: "integer", description: "The last line. Default: the end" },
    }),
    run: async ({ path, startLine = 1, endLine = Number.MAX_SAFE_INTEGER }, { attached }) => {
      const said = String(path);
      await using handle = (await attached.open(said)) ?? (await files.openFile(said));
      const text = await readText(handle, said, MAX_FILE_BYTES);
      return text === "" ? "The file is empty." : selectLines(text, Number(startLine), Number(endLine));
    },
  };
}

function selectLines(text: string, startLine: number, endLine: number): string {
  const lines = text.replace(/\n$/, "").split("\n");
  const first = Math.max(1, startLine);
  const wanted = lines.slice(first - 1, Math.max(first, endLine));
  if (wanted.length === 0) return `The file has only ${lines.length} lines.`;
  const whole = wanted.join("\n");
  if (whole.length <= MAX_CHARACTERS) return whole;

  const cut = whole.slice(0, MAX_CHARACTERS);
  const end = cut.lastIndexOf("\n");
  // One line that is longer than everything allowed cannot be read on.
  if (end === -1) return `${cut}\n[the rest of line ${first} is left out]`;
  const next = first + cut.slice(0, end).split("\n").length;
  return `${cut.slice(0, end)}\n[the file has ${lines.length} lines; go on with startLine ${next}]`;
}
