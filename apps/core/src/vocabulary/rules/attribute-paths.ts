import { parseRule } from './parse-rule.js';
import { leavesOf } from './rule.js';

const ATTRIBUTES = 'attributes.';

/** The key of the attribute that a path names as a whole. */
export function attributeKeyOf(path: string): string | undefined {
  return path.startsWith(ATTRIBUTES) ? path.slice(ATTRIBUTES.length) : undefined;
}

/** The fields and attributes that a stored rule asks for. */
export function attributePathsOf(rule: unknown): string[] {
  return leavesOf(parseRule(rule)).flatMap((leaf) => (leaf.kind === 'attribute' ? leaf.path : []));
}

/** Whether some path asks for one of these attributes, or for something within it. */
export function asksForSome(paths: readonly string[], keys: readonly string[]): boolean {
  return paths.some((path) => {
    const name = attributeKeyOf(path);
    return name !== undefined && keys.some((key) => name === key || name.startsWith(`${key}.`));
  });
}
