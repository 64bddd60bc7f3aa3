/** `dim` and the like; the same text without colours. */
export type Paint = (format: "bold" | "dim" | "inverse" | "green", text: string) => string;
