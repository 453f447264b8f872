/** Variables by name. */
export type Environment = Record<string, string>;

/** `NAME=value` lines, the value in single quotes or bare. */
export function readEnvironment(text: string): Environment {
  return Object.fromEntries(
    text
      .split('\n')
      .filter((line) => line.includes('=') && !line.startsWith('#'))
      .map((line) => {
        const at = line.indexOf('=');
        return [line.slice(0, at), line.slice(at + 1).replace(/^'(.*)'$/, '$1')];
      }),
  );
}
