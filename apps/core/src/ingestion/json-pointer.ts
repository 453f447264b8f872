/** One step further in a JSON pointer (RFC 6901 §3). */
export function childPointer(parent: string, name: string): string {
  const escaped =
    name.includes('~') || name.includes('/') ? name.replaceAll('~', '~0').replaceAll('/', '~1') : name;
  return `${parent}/${escaped}`;
}
