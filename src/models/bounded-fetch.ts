/**
 * `fetch` for model providers. An answer may not be larger than a limit, however long the server goes
 * on; and redirects are refused, because the key travels in a header that a redirect would carry along.
 */
import { HoldfastError } from "../base/errors.ts";

export interface BoundedFetchOptions {
  maxBytes: number;
  /** Called when the answer begins and for each piece of it. */
  onBytes?: () => void;
  /** Left out: the global one. */
  fetch?: typeof globalThis.fetch;
}

export function createBoundedFetch(options: BoundedFetchOptions): typeof globalThis.fetch {
  const send = options.fetch ?? fetch;
  return async (input, init) => {
    const response = await send(input, { ...init, redirect: "error" });
    options.onBytes?.();
    if (response.body === null) return response;
    const { status, statusText, headers } = response;
    return new Response(response.body.pipeThrough(byteLimit(options)), { status, statusText, headers });
  };
}

function byteLimit({ maxBytes, onBytes }: BoundedFetchOptions): TransformStream<Uint8Array, Uint8Array> {
  let seen = 0;
  return new TransformStream({
    transform: (chunk, controller) => {
      seen += chunk.byteLength;
      onBytes?.();
      if (seen > maxBytes) controller.error(tooLarge(maxBytes));
      else controller.enqueue(chunk);
    },
  });
}

function tooLarge(maxBytes: number): HoldfastError {
  return new HoldfastError("unavailable", "model-answer-too-large", `The model's answer exceeds ${maxBytes} bytes.`, {
    hint: "Check providers.<name>.baseUrl: what answers there is hardly a model.",
    data: { maxBytes },
  });
}
