/** A long regular expression in several lines: line breaks and the blanks around them do not count. */
export function pattern(strings: TemplateStringsArray, ...values: string[]): string {
  return String.raw(strings, ...values).replace(/\s*\n\s*/g, "");
}

/**
 * V8 turns a regular expression into bytecode at its first use and into machine code at its second. For
 * large ones the first costs more than the second, but is left out when the first subject is long. Nothing
 * begins with this character, so that no expression looks far.
 */
const LONG_SUBJECT = "\0".repeat(1024);

/** An expression that is compiled when it is first asked for. */
export class LateExpression {
  readonly source: string;
  readonly #flags: string;
  #compiled: RegExp | undefined;

  constructor(source: string, flags = "") {
    this.source = source;
    this.#flags = flags;
  }

  get regexp(): RegExp {
    return (this.#compiled ??= compile(this.source, this.#flags));
  }
}

export interface ExpressionOptions {
  flags?: string;
  /** It is tried on clauses, too, where "^" is the beginning of the clause. Default false. */
  isOfParts?: boolean;
}

/** One that is looked for in sentences, and only in those that may match it (see presence.ts). */
export class Expression extends LateExpression {
  readonly name: string;
  /** Its place among those that have triggers (see presence.ts); undefined until somebody asks. */
  place: number | undefined;
  readonly isOfParts: boolean;

  constructor(name: string, source: string, { flags = "", isOfParts = false }: ExpressionOptions) {
    super(source, flags);
    this.name = name;
    this.isOfParts = isOfParts;
  }
}

/** All there are, by name. */
export const EXPRESSIONS = new Map<string, Expression>();

/** After a change of its source, scripts/train-patterns.ts has to be run. */
export function expression(name: string, source: string, options: ExpressionOptions = {}): Expression {
  const made = new Expression(name, source, options);
  EXPRESSIONS.set(name, made);
  return made;
}

/** For an expression that is large, and will be used: costs half of what its first two uses would. */
function compile(source: string, flags: string): RegExp {
  const compiled = new RegExp(source, flags);
  compiled.test(LONG_SUBJECT);
  compiled.lastIndex = 0;
  return compiled;
}
