import { LongText } from "./long-text.tsx";
import type { ShownTool } from "./message-blocks.ts";

const GLANCE_LENGTH = 90;

export function ToolCall({ tool }: { tool: ShownTool }) {
  const { name, input, output, isError } = tool;
  return (
    <details className="fold tool" data-failed={isError}>
      <summary>
        <span className="tool-name">{name}</span>
        <span className="tool-glance">{glance(input)}</span>
        {isError && <span className="tool-state">failed</span>}
        {output === undefined && <span className="tool-state">no result</span>}
      </summary>
      {input !== undefined && input !== "" && <LongText text={input} show={(text) => <pre tabIndex={0}>{text}</pre>} />}
      {output !== undefined && (
        <LongText text={output === "" ? "(nothing)" : output} show={(text) => <pre tabIndex={0}>{text}</pre>} />
      )}
    </details>
  );
}

/** The first value that it was called with says most. */
function glance(input: string | undefined): string {
  if (input === undefined) return "";
  const value = /^\{\s*"[^"]*":\s*"((?:[^"\\]|\\.)*)/.exec(input.slice(0, 1000))?.[1];
  return (value ?? input)
    .replace(/\\n|\s+/g, " ")
    .slice(0, GLANCE_LENGTH)
    .toWellFormed();
}
