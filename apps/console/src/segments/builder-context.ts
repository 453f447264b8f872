import { createContext, useContext } from 'react';
import type { Fault } from '../ui/problem-at.ts';
import { replace } from './edit-rule.ts';
import type { NewKey, Node } from './rule.ts';

/** What every part of the builder works on. */
export interface Builder {
  root: Node;
  /** Takes the changed rule; the focus then goes to the node with this key. */
  change: (root: Node, focus?: string) => void;
  newKey: NewKey;
  /** What is wrong, by the API's pointers. */
  problems: ReadonlyMap<string, Fault>;
}

const BuilderContext = createContext<Builder | undefined>(undefined);

export const BuilderProvider = BuilderContext.Provider;

/** @throws outside of a builder */
export function useBuilder(): Builder {
  const builder = useContext(BuilderContext);
  if (builder === undefined) throw new Error('No builder is around');
  return builder;
}

/** Puts another version of a node in its place. */
export function useReplace<Kind extends Node>(node: Kind): (changed: Partial<Kind>) => void {
  const { root, change } = useBuilder();
  return (changed) => change(replace(root, node.key, () => ({ ...node, ...changed })));
}
