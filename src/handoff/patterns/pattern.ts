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
export interface LateExpression {
  source: string;
  readonly regexp: RegExp;
}

/** One that has a name. */
export interface Expression extends LateExpression {
  name: string;
  /** Its place among all expressions. */
  number: number;
}

/** The number of each expression by its name. */
export const EXPRESSION_NUMBERS = new Map<string, number>();

export function expression(name: string, source: string, flags = ""): Expression {
  const number = EXPRESSION_NUMBERS.size;
  EXPRESSION_NUMBERS.set(name, number);
  return Object.assign(lateExpression(source, flags), { name, number });
}

export function lateExpression(source: string, flags = ""): LateExpression {
  let compiled: RegExp | undefined;
  return {
    source,
    get regexp() {
      return (compiled ??= compile(source, flags));
    },
  };
}

/** For a process in which V8 leaves the bytecode out anyway. */
export function compileAtFirstUse(): void {
  compilesAhead = false;
}

let compilesAhead = true;

/** For an expression that is large, and will be used: costs half of what its first two uses would. */
function compile(source: string, flags: string): RegExp {
  const compiled = new RegExp(source, flags);
  if (compilesAhead) compiled.test(LONG_SUBJECT);
  compiled.lastIndex = 0;
  return compiled;
}
