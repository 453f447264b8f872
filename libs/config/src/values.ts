import { z } from 'zod';

/** A whole number within bounds, both included. */
export function wholeNumber(least: number, most: number) {
  return z
    .string()
    .regex(/^\d{1,15}$/, `must be a whole number from ${least} to ${most}`)
    .transform(Number)
    .refine((value) => value >= least && value <= most, `must be a whole number from ${least} to ${most}`);
}

/** `true` or `false`. */
export function flag() {
  return z.enum(['true', 'false'], 'must be true or false').transform((text) => text === 'true');
}

/** A TCP port; 0 lets the system choose. */
export function portNumber() {
  return wholeNumber(0, 65_535);
}

/** An http or https address; a trailing slash is cut, so that paths can be appended. */
export function httpUrl() {
  return z
    .string()
    .refine(
      (text) => URL.canParse(text) && /^https?:\/\//.test(text),
      'must be an http:// or https:// address',
    )
    .transform((text) => text.slice(0, endWithoutSlashes(text)));
}

/** Values separated by commas, at least one; blanks around them are cut. */
export function commaList() {
  return z
    .string()
    .transform((text) =>
      text
        .split(',')
        .map((part) => part.trim())
        .filter((part) => part !== ''),
    )
    .refine((parts) => parts.length > 0, 'must hold at least one value');
}

/** A key of exactly `bytes` bytes in base64. */
export function base64Key(bytes: number) {
  return z
    .string()
    .transform((text) => Buffer.from(text, 'base64'))
    .refine((key) => key.length === bytes, `must be ${bytes} bytes in base64`);
}

/** JSON that fits `schema`, given as text. */
export function jsonText<S extends z.ZodType>(schema: S, meaning: string) {
  return z.string().transform((text, context): z.infer<S> => {
    const parsed = schema.safeParse(parseJson(text));
    if (parsed.success) return parsed.data;
    context.addIssue({ code: 'custom', message: `must be ${meaning}` });
    return z.NEVER;
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // the schema refuses it, with the sentence that says what was expected
  }
}

function endWithoutSlashes(text: string): number {
  let end = text.length;
  while (end > 0 && text[end - 1] === '/') end -= 1;
  return end;
}
